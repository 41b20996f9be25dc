/* dnnl.c - convolutions of float, bfloat16 and 8-bit integers by oneDNN, whose library is loaded when the first one is asked for: at the
 * start it would cost more than everything else together. Without it (or where it was not there at build time) nothing
 * is done here. Its version is the one that was there at build time: dnnl_versions.h.
 *
 * The library makes code for each shape and says in which layout it wants the operands; that, and the primitives that
 * bring them into it, are kept by shape. What they need of memory comes from the block cache, call by call. One call
 * runs at a time: it has all threads anyway. */
#include "dnnl.h"

#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>
#include <string.h>

#include "build_config.h" /* generated */
#include "libraries/library.h"
#include "mem.h"

#if defined(__has_include)
#if __has_include(<oneapi/dnnl/dnnl.h>)
#include <oneapi/dnnl/dnnl.h>
#endif
#endif

#if defined(DNNL_VERSION_MAJOR) && (DNNL_VERSION_MAJOR == 2 || DNNL_VERSION_MAJOR == 3)

#include "dnnl_versions.h"

static lt_library dnnl = LT_LIBRARY(LT_BUILD_ONEDNN, load);

bool lt_dnnl_found(void) { return lt_library_need(&dnnl) == LT_OK && lib.ready; }

bool lt_dnnl_multiplies_int8(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512vnni") && lt_dnnl_found();
#else
    return false;
#endif
}

/* ---- what is kept by shape --------------------------------------------------------------------------------------- */

#define KEPT 64
#define ALIGNMENT ((size_t)4096)

typedef struct key {
    int64_t dtype, part, bias, threads, batch, groups, in_channels, out_channels;
    int64_t in[3], out[3], kernel[3], stride[3], padding[3], dilation[3];
} key;

enum { X_ARRAY, W_ARRAY, Y_ARRAY, ARRAYS };

/* One array: as it lies in the tensor, and as the library wants it. */
typedef struct operand {
    dnnl_memory_t plain, wanted; /* wanted NULL: as it lies */
    dnnl_primitive_t reorder;    /* to what is wanted; of the result: back */
    size_t bytes;                /* of what is wanted */
} operand;

typedef struct plan {
    key key;
    uint64_t used;              /* the number of the last call */
    dnnl_primitive_t primitive; /* NULL: the library has no way */
    operand operands[ARRAYS];
    dnnl_memory_t bias, scratchpad;
    size_t scratchpad_bytes;
} plan;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static plan *plans[KEPT];
static uint64_t calls;

static size_t aligned(size_t n) { return (n + ALIGNMENT - 1) & ~(ALIGNMENT - 1); }

static void plan_free(plan *p)
{
    for (int i = 0; i < ARRAYS; i++) {
        if (p->operands[i].reorder != NULL) lib.primitive_destroy(p->operands[i].reorder);
        if (p->operands[i].wanted != NULL) lib.memory_destroy(p->operands[i].wanted);
        if (p->operands[i].plain != NULL) lib.memory_destroy(p->operands[i].plain);
    }
    if (p->bias != NULL) lib.memory_destroy(p->bias);
    if (p->scratchpad != NULL) lib.memory_destroy(p->scratchpad);
    if (p->primitive != NULL) lib.primitive_destroy(p->primitive);
    lt_mem_free(p);
}

/* Spatial dimensions that are more than ones before the others. */
static int spatial_of(const lt_conv *c)
{
    for (int d = 0; d < 2; d++)
        if (c->in[d] != 1 || c->out[d] != 1 || c->kernel[d] != 1 || c->padding[d] != 0 || c->stride[d] != 1) return 3 - d;
    return 1;
}

/* Geometry in the library's terms. */
typedef struct shape {
    int ndim, w_ndim;
    dnnl_dims_t x, w, y, bias, strides, dilates, low, high;
} shape;

static bool shape_of(const lt_conv *c, shape *s)
{
    const int spatial = spatial_of(c);
    int at = 0;
    s->ndim = spatial + 2;
    if (c->groups > 1) s->w[at++] = c->groups;
    s->w[at++] = c->out_channels / c->groups;
    s->w[at++] = c->in_channels / c->groups;
    s->x[0] = s->y[0] = c->batch;
    s->x[1] = c->in_channels;
    s->y[1] = s->bias[0] = c->out_channels;
    for (int i = 0; i < spatial; i++) {
        const int d = 3 - spatial + i;
        const int64_t reach = (c->kernel[d] - 1) * c->dilation[d] + 1;
        s->x[i + 2] = c->in[d];
        s->y[i + 2] = c->out[d];
        s->w[at++] = c->kernel[d];
        s->strides[i] = c->stride[d];
        s->dilates[i] = c->dilation[d] - 1;
        s->low[i] = c->padding[d];
        s->high[i] = (c->out[d] - 1) * c->stride[d] + reach - c->in[d] - c->padding[d];
        if (s->high[i] < 0 && s->high[i] > -c->stride[d]) s->high[i] = 0;
        if (s->high[i] < 0) return false; /* elements that no window covers */
    }
    s->w_ndim = at;
    return true;
}

static bool of_integers(const key *k) { return k->dtype == LT_UINT8 || k->dtype == LT_INT8; }

/* How an array lies in its tensor: images of integers have their channels last. */
static dnnl_format_tag_t plain_tag(const key *k, int array, int ndim)
{
    static const dnnl_format_tag_t tags[] = {dnnl_format_tag_undef, dnnl_a, dnnl_ab, dnnl_abc, dnnl_abcd, dnnl_abcde, dnnl_abcdef},
                                   last[] = {dnnl_format_tag_undef, dnnl_a, dnnl_ab, dnnl_acb, dnnl_acdb, dnnl_acdeb};
    return of_integers(k) && array != W_ARRAY ? last[ndim] : tags[ndim];
}

static dnnl_data_type_t type_of(const key *k, int array)
{
    if (!of_integers(k)) return k->dtype == LT_FLOAT32 ? dnnl_f32 : dnnl_bf16;
    return array == Y_ARRAY ? dnnl_s32 : array == X_ARRAY && k->dtype == LT_UINT8 ? dnnl_u8 : dnnl_s8;
}

static bool describe(layout *made, const key *k, int array, int ndim, const dnnl_dims_t dims, dnnl_format_tag_t tag)
{
    return layout_make(made, ndim, dims, type_of(k, array), tag);
}

/* The descriptor of the primitive, any layout allowed; NULL: there is none. */
static dnnl_primitive_desc_t choose(const key *k, const shape *s)
{
    layout layouts[ARRAYS + 1] = {0};
    const convolution c = {&layouts[X_ARRAY], &layouts[W_ARRAY], k->bias ? &layouts[ARRAYS] : NULL, &layouts[Y_ARRAY],
                           s->strides, s->dilates, s->low, s->high};
    dnnl_primitive_desc_t hint = NULL, chosen = NULL;
    dnnl_primitive_attr_t attributes = NULL;
    if (describe(&layouts[X_ARRAY], k, X_ARRAY, s->ndim, s->x, dnnl_format_tag_any) &&
        describe(&layouts[W_ARRAY], k, W_ARRAY, s->w_ndim, s->w, dnnl_format_tag_any) &&
        describe(&layouts[Y_ARRAY], k, Y_ARRAY, s->ndim, s->y, dnnl_format_tag_any) &&
        describe(&layouts[ARRAYS], k, ARRAYS, 1, s->bias, dnnl_a) && lib.primitive_attr_create(&attributes) == dnnl_success) {
        lib.primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user);
        hint = forward_desc(&c, attributes);
        if (k->part == LT_CONV_Y) {
            chosen = hint;
            hint = NULL;
        } else if (hint != NULL) {
            chosen = k->part == LT_CONV_X ? backward_data_desc(&c, hint, attributes) : backward_weights_desc(&c, hint, attributes);
        }
    }
    if (hint != NULL) lib.primitive_desc_destroy(hint);
    if (attributes != NULL) lib.primitive_attr_destroy(attributes);
    for (int i = 0; i <= ARRAYS; i++) layout_free(&layouts[i]);
    return chosen;
}

/* How an array gets from the tensor's layout to the wanted one, or back. */
static bool connect(plan *p, int array, int ndim, const dnnl_dims_t dims, known_layout wanted, bool back)
{
    operand *o = &p->operands[array];
    layout made = {0};
    dnnl_primitive_desc_t reorder = NULL;
    bool connected = false;
    if (!describe(&made, &p->key, array, ndim, dims, plain_tag(&p->key, array, ndim))) return false;
    const known_layout plain = layout_known(&made);
    if (lib.memory_create(&o->plain, plain, lib.engine, DNNL_MEMORY_NONE) != dnnl_success) goto done;
    if (lib.memory_desc_equal(plain, wanted)) {
        connected = true;
        goto done;
    }
    o->bytes = aligned(lib.memory_desc_get_size(wanted));
    if (lib.memory_create(&o->wanted, wanted, lib.engine, DNNL_MEMORY_NONE) != dnnl_success ||
        lib.reorder_primitive_desc_create(&reorder, back ? wanted : plain, lib.engine, back ? plain : wanted, lib.engine,
                                          NULL) != dnnl_success)
        goto done;
    connected = lib.primitive_create(&o->reorder, reorder) == dnnl_success;
    lib.primitive_desc_destroy(reorder);
done:
    layout_free(&made);
    return connected;
}

static bool connect_bias(plan *p, const shape *s)
{
    layout bias = {0};
    bool made = describe(&bias, &p->key, ARRAYS, 1, s->bias, dnnl_a) &&
                lib.memory_create(&p->bias, layout_known(&bias), lib.engine, DNNL_MEMORY_NONE) == dnnl_success;
    layout_free(&bias);
    return made;
}

static bool plan_fill(plan *p, const lt_conv *c)
{
    shape s;
    if (!shape_of(c, &s)) return false;
    dnnl_primitive_desc_t pd = choose(&p->key, &s);
    if (pd == NULL) return false;
    const int64_t part = p->key.part;
    const known_layout x = lib.primitive_desc_query_md(pd, part == LT_CONV_X ? dnnl_query_diff_src_md : dnnl_query_src_md, 0);
    const known_layout w =
        lib.primitive_desc_query_md(pd, part == LT_CONV_W ? dnnl_query_diff_weights_md : dnnl_query_weights_md, 0);
    const known_layout y = lib.primitive_desc_query_md(pd, part == LT_CONV_Y ? dnnl_query_dst_md : dnnl_query_diff_dst_md, 0);
    const known_layout scratchpad = lib.primitive_desc_query_md(pd, dnnl_query_scratchpad_md, 0);
    p->scratchpad_bytes = aligned(lib.memory_desc_get_size(scratchpad));
    bool made = connect(p, X_ARRAY, s.ndim, s.x, x, part == LT_CONV_X) &&
                connect(p, W_ARRAY, s.w_ndim, s.w, w, part == LT_CONV_W) &&
                connect(p, Y_ARRAY, s.ndim, s.y, y, part == LT_CONV_Y) &&
                lib.memory_create(&p->scratchpad, scratchpad, lib.engine, DNNL_MEMORY_NONE) == dnnl_success &&
                (!p->key.bias || connect_bias(p, &s)) &&
                lib.primitive_create(&p->primitive, pd) == dnnl_success;
    lib.primitive_desc_destroy(pd);
    if (!made && p->primitive != NULL) {
        lib.primitive_destroy(p->primitive);
        p->primitive = NULL;
    }
    return made;
}

/* The plan of this shape, made when there is none, in the place of the one that was not used for longest. NULL: out
 * of memory. The lock is held. */
static plan *plan_of(const key *k, const lt_conv *c)
{
    int oldest = 0;
    for (int i = 0; i < KEPT; i++) {
        if (plans[i] != NULL && memcmp(&plans[i]->key, k, sizeof *k) == 0) return plans[i];
        if (plans[oldest] != NULL && (plans[i] == NULL || plans[i]->used < plans[oldest]->used)) oldest = i;
    }
    plan *p = lt_mem_zalloc(sizeof *p);
    if (p == NULL) return NULL;
    p->key = *k;
    plan_fill(p, c);
    if (plans[oldest] != NULL) plan_free(plans[oldest]);
    plans[oldest] = p;
    return p;
}

/* ---- running ------------------------------------------------------------------------------------------------------ */

static bool reorder(const operand *o, bool back)
{
    if (o->reorder == NULL) return true;
    dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, back ? o->wanted : o->plain}, {DNNL_ARG_TO, back ? o->plain : o->wanted}};
    return lib.primitive_execute(o->reorder, lib.stream, 2, arguments) == dnnl_success;
}

static bool execute(plan *p, void *const *arrays, const void *bias, char *room)
{
    static const int names[][ARRAYS] = {
        [LT_CONV_Y] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST},
        [LT_CONV_X] = {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST},
        [LT_CONV_W] = {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST},
    };
    const int result = p->key.part == LT_CONV_Y ? Y_ARRAY : p->key.part == LT_CONV_X ? X_ARRAY : W_ARRAY;
    dnnl_exec_arg_t arguments[ARRAYS + 2];
    int n = 0;
    for (int i = 0; i < ARRAYS; i++) {
        operand *o = &p->operands[i];
        lib.memory_set_data_handle(o->plain, arrays[i]);
        if (o->wanted != NULL) {
            lib.memory_set_data_handle(o->wanted, room);
            room += o->bytes;
        }
        if (i != result && !reorder(o, false)) return false;
        arguments[n++] = (dnnl_exec_arg_t){names[p->key.part][i], o->wanted != NULL ? o->wanted : o->plain};
    }
    lib.memory_set_data_handle(p->scratchpad, room);
    arguments[n++] = (dnnl_exec_arg_t){DNNL_ARG_SCRATCHPAD, p->scratchpad};
    if (p->bias != NULL) {
        lib.memory_set_data_handle(p->bias, (void *)bias);
        arguments[n++] = (dnnl_exec_arg_t){DNNL_ARG_BIAS, p->bias};
    }
    return lib.primitive_execute(p->primitive, lib.stream, n, arguments) == dnnl_success && reorder(&p->operands[result], true);
}

static lt_status run(plan *p, void *const *arrays, const void *bias, bool *done)
{
    size_t capacity, bytes = p->scratchpad_bytes;
    for (int i = 0; i < ARRAYS; i++) bytes += p->operands[i].bytes;
    char *room = lt_block_alloc(bytes + ALIGNMENT, &capacity);
    if (room == NULL) return LT_ERR_MEMORY;
    *done = execute(p, arrays, bias, (char *)aligned((size_t)room));
    lt_block_free(room, capacity);
    return LT_OK;
}

lt_status lt_dnnl_convolution(lt_conv_part part, const lt_conv *c, int threads, void *x, void *w, void *y,
                              const void *bias, bool *done)
{
    *done = false;
    if (!lt_dnnl_found()) return LT_OK;
    key k;
    memset(&k, 0, sizeof k);
    k.dtype = c->dtype, k.part = part, k.bias = bias != NULL, k.threads = threads;
    k.batch = c->batch, k.groups = c->groups, k.in_channels = c->in_channels, k.out_channels = c->out_channels;
    for (int d = 0; d < 3; d++) {
        k.in[d] = c->in[d], k.out[d] = c->out[d], k.kernel[d] = c->kernel[d];
        k.stride[d] = c->stride[d], k.padding[d] = c->padding[d], k.dilation[d] = c->dilation[d];
    }
    void *const arrays[ARRAYS] = {x, w, y};
    const int before = omp_get_max_threads();
    pthread_mutex_lock(&lock);
    if (before != threads) omp_set_num_threads(threads);
    plan *p = plan_of(&k, c);
    lt_status status = p == NULL ? LT_ERR_MEMORY : LT_OK;
    if (p != NULL) p->used = ++calls;
    if (p != NULL && p->primitive != NULL) status = run(p, arrays, bias, done);
    if (before != threads) omp_set_num_threads(before);
    pthread_mutex_unlock(&lock);
    return status;
}

#else

bool lt_dnnl_found(void) { return false; }

bool lt_dnnl_multiplies_int8(void) { return false; }

lt_status lt_dnnl_convolution(lt_conv_part part, const lt_conv *c, int threads, void *x, void *w, void *y,
                              const void *bias, bool *done)
{
    (void)part, (void)c, (void)threads, (void)x, (void)w, (void)y, (void)bias;
    *done = false;
    return LT_OK;
}

#endif
