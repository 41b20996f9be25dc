/* dnnl_plan.c - see dnnl_plan.h. The library is loaded by the first convolution: at the start of
 * the program it would take longer than everything else. dnnl_versions.h hides differences between
 * versions 2 and 3.
 *
 * oneDNN generates code for each shape and selects the layouts of the operands. The primitive and
 * the reorders into these layouts are cached by shape. A plan is immutable, so that threads can run
 * it concurrently. */
#include "dnnl_plan.h"

#include <stdatomic.h>
#include <string.h>

#include "context/context.h"
#include "context/fork.h"
#include "cpu_info.h"
#include "memory/alloc.h"
#include "system/threads.h"

#include "dnnl_versions.h"
#include "lock.h"

bool lt_dnnl_multiplies_int8(void) { return lt_processor.avx512_vnni && lt_dnnl_found(); }

/* ---- cache of plans by shape ----------------------------------------------------------------- */

/* fixed: maximum of cached plans, bounds their memory */
#define KEPT 64
/* fixed: whole pages */
#define ALIGNMENT ((size_t)4096)

typedef lt_dnnl_convolution_shape key;

enum { X_ARRAY, W_ARRAY, Y_ARRAY, ARRAYS };

/* One array: its layout in the tensor and the layout that the primitive reads or writes. */
typedef struct dnnl_operand {
    layout plain;
    known_layout wanted; /* belongs to the primitive */
    /* to the wanted layout; of the result: back. NULL: the layouts are equal */
    dnnl_primitive_t reorder;
    size_t bytes; /* of a copy in the wanted layout; 0: none is needed */
} dnnl_operand;

struct lt_dnnl_plan {
    key key;
    _Atomic int refs;
    uint64_t used;                /* number of the last call, for LRU */
    dnnl_primitive_desc_t chosen; /* owns the wanted layouts */
    dnnl_primitive_t primitive;   /* NULL: oneDNN does not support the shape */
    dnnl_operand operands[ARRAYS];
    layout bias;
    known_layout scratchpad;
    size_t scratchpad_bytes;
};

typedef lt_dnnl_plan dnnl_plan;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the variables below */
static dnnl_plan *plans[KEPT];
static uint64_t calls;

LT_HOLD_ACROSS_FORK(lock)

static size_t aligned_size(size_t n) { return (n + ALIGNMENT - 1) & ~(ALIGNMENT - 1); }

void lt_dnnl_plan_release(lt_dnnl_plan *p)
{
    if (p == NULL || atomic_fetch_sub(&p->refs, 1) != 1) return;
    for (int i = 0; i < ARRAYS; i++) {
        if (p->operands[i].reorder != NULL) lt_dnnl.primitive_destroy(p->operands[i].reorder);
        layout_free(&p->operands[i].plain);
    }
    layout_free(&p->bias);
    if (p->primitive != NULL) lt_dnnl.primitive_destroy(p->primitive);
    if (p->chosen != NULL) lt_dnnl.primitive_desc_destroy(p->chosen);
    lt_mem_free(p);
}

/* The number of spatial dimensions without leading trivial ones. */
static int spatial_of(const lt_conv *c)
{
    for (int d = 0; d < 2; d++)
        if (c->in[d] != 1 || c->out[d] != 1 || c->kernel[d] != 1 || c->padding[d] != 0 ||
            c->stride[d] != 1)
            return 3 - d;
    return 1;
}

/* The geometry in oneDNN's terms. */
typedef struct dnnl_shape {
    int ndim, w_ndim;
    dnnl_dims_t x, w, y, bias, strides, dilates, low, high;
} dnnl_shape;

static bool shape_of(const lt_conv *c, dnnl_shape *s)
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
        if (s->high[i] < 0) return false; /* no window covers some elements */
    }
    s->w_ndim = at;
    return true;
}

static bool of_integers(const key *k)
{
    return k->conv.dtype == LT_UINT8 || k->conv.dtype == LT_INT8;
}

static dnnl_data_type_t dnnl_type_of(const key *k, int array)
{
    if (!of_integers(k)) return k->conv.dtype == LT_FLOAT32 ? dnnl_f32 : dnnl_bf16;
    return array == Y_ARRAY                                ? dnnl_s32
           : array == X_ARRAY && k->conv.dtype == LT_UINT8 ? dnnl_u8
                                                           : dnnl_s8;
}

/* Strides of a part of a contiguous array that has `channels` of `plane` elements in dimension
 * `at`. */
static void dense_strides(int ndim, const dnnl_dims_t dims, int at, int64_t channels, int64_t plane,
                          dnnl_dims_t strides)
{
    int64_t stride = 1;
    for (int d = ndim; d-- > 0;) {
        if (d == at) stride = plane;
        strides[d] = stride;
        stride *= d == at ? channels : dims[d];
    }
}

/* The same for images with channels last. */
static void channels_last_strides(int ndim, const dnnl_dims_t dims, int64_t channels, int64_t plane,
                                  dnnl_dims_t strides)
{
    int64_t stride = channels;
    strides[1] = 1;
    for (int d = ndim; d-- > 2;) {
        strides[d] = stride;
        stride *= dims[d];
    }
    strides[0] = channels * plane;
}

/* The layout of an array in its tensor: integer images have channels last. */
static bool plain_layout(layout *made, const key *k, int array, int ndim, const dnnl_dims_t dims)
{
    dnnl_dims_t strides;
    const int64_t channels = array == X_ARRAY ? k->x_channels : k->y_channels,
                  plane = array == X_ARRAY ? k->x_plane : k->y_plane;
    if (array == W_ARRAY)
        dense_strides(ndim, dims, k->conv.groups > 1 ? 2 : 1, k->w_channels,
                      lt_volume(k->conv.kernel), strides);
    else if (of_integers(k))
        channels_last_strides(ndim, dims, channels, plane, strides);
    else
        dense_strides(ndim, dims, 1, channels, plane, strides);
    return layout_make_strided(made, ndim, dims, dnnl_type_of(k, array), strides);
}

static bool make_array_layout(layout *made, const key *k, int array, int ndim,
                              const dnnl_dims_t dims, dnnl_format_tag_t tag)
{
    return layout_make(made, ndim, dims, dnnl_type_of(k, array), tag);
}

/* The descriptor of the primitive with any layouts; NULL: not supported. */
static dnnl_primitive_desc_t choose_algorithm(const key *k, const dnnl_shape *s)
{
    layout layouts[ARRAYS + 1] = {0};
    dnnl_primitive_desc_t hint = NULL, chosen = NULL;
    dnnl_primitive_attr_t attributes = NULL;
    if (make_array_layout(&layouts[X_ARRAY], k, X_ARRAY, s->ndim, s->x, dnnl_format_tag_any) &&
        make_array_layout(&layouts[W_ARRAY], k, W_ARRAY, s->w_ndim, s->w, dnnl_format_tag_any) &&
        make_array_layout(&layouts[Y_ARRAY], k, Y_ARRAY, s->ndim, s->y, dnnl_format_tag_any) &&
        make_array_layout(&layouts[ARRAYS], k, ARRAYS, 1, s->bias, dnnl_a) &&
        lt_dnnl.primitive_attr_create(&attributes) == dnnl_success) {
        const convolution c = {layout_known(&layouts[X_ARRAY]),
                               layout_known(&layouts[W_ARRAY]),
                               k->bias ? layout_known(&layouts[ARRAYS]) : NULL,
                               layout_known(&layouts[Y_ARRAY]),
                               s->strides,
                               s->dilates,
                               s->low,
                               s->high};
        lt_dnnl.primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user);
        hint = forward_desc(&c, attributes);
        if (k->part == LT_CONV_Y) {
            chosen = hint;
            hint = NULL;
        } else if (hint != NULL) {
            chosen = k->part == LT_CONV_X ? backward_data_desc(&c, hint, attributes)
                                          : backward_weights_desc(&c, hint, attributes);
        }
    }
    if (hint != NULL) lt_dnnl.primitive_desc_destroy(hint);
    if (attributes != NULL) lt_dnnl.primitive_attr_destroy(attributes);
    for (int i = 0; i <= ARRAYS; i++) layout_free(&layouts[i]);
    return chosen;
}

/* Prepares the reorder between an array's layout in the tensor and that of the primitive. */
static bool connect(dnnl_plan *p, int array, int ndim, const dnnl_dims_t dims, bool is_result)
{
    dnnl_operand *o = &p->operands[array];
    dnnl_primitive_desc_t reorder = NULL;
    if (!plain_layout(&o->plain, &p->key, array, ndim, dims)) return false;
    const known_layout plain = layout_known(&o->plain);
    if (lt_dnnl.memory_desc_equal(plain, o->wanted)) return true;
    o->bytes = aligned_size(lt_dnnl.memory_desc_get_size(o->wanted));
    if (lt_dnnl.reorder_primitive_desc_create(&reorder, is_result ? o->wanted : plain,
                                              lt_dnnl.engine, is_result ? plain : o->wanted,
                                              lt_dnnl.engine, NULL) != dnnl_success)
        return false;
    const bool made = lt_dnnl.primitive_create(&o->reorder, reorder) == dnnl_success;
    lt_dnnl.primitive_desc_destroy(reorder);
    return made;
}

static bool plan_fill(dnnl_plan *p)
{
    static const dnnl_query_t queries[][ARRAYS] = {
        [LT_CONV_Y] = {dnnl_query_src_md, dnnl_query_weights_md, dnnl_query_dst_md},
        [LT_CONV_X] = {dnnl_query_diff_src_md, dnnl_query_weights_md, dnnl_query_diff_dst_md},
        [LT_CONV_W] = {dnnl_query_src_md, dnnl_query_diff_weights_md, dnnl_query_diff_dst_md},
    };
    const lt_conv_part part = p->key.part;
    dnnl_shape s;
    if (!shape_of(&p->key.conv, &s)) return false;
    p->chosen = choose_algorithm(&p->key, &s);
    if (p->chosen == NULL) return false;
    for (int i = 0; i < ARRAYS; i++)
        p->operands[i].wanted = lt_dnnl.primitive_desc_query_md(p->chosen, queries[part][i], 0);
    p->scratchpad = lt_dnnl.primitive_desc_query_md(p->chosen, dnnl_query_scratchpad_md, 0);
    p->scratchpad_bytes = aligned_size(lt_dnnl.memory_desc_get_size(p->scratchpad));
    return connect(p, X_ARRAY, s.ndim, s.x, part == LT_CONV_X) &&
           connect(p, W_ARRAY, s.w_ndim, s.w, part == LT_CONV_W) &&
           connect(p, Y_ARRAY, s.ndim, s.y, part == LT_CONV_Y) &&
           (!p->key.bias || make_array_layout(&p->bias, &p->key, ARRAYS, 1, s.bias, dnnl_a)) &&
           lt_dnnl.primitive_create(&p->primitive, p->chosen) == dnnl_success;
}

/* Finds or creates the plan of a shape; a new one replaces the least recently used. NULL: out of
 * memory. The caller holds the lock. */
static dnnl_plan *plan_of(const key *k)
{
    int oldest = 0;
    for (int i = 0; i < KEPT; i++) {
        if (plans[i] != NULL && memcmp(&plans[i]->key, k, sizeof *k) == 0) return plans[i];
        if (plans[oldest] != NULL && (plans[i] == NULL || plans[i]->used < plans[oldest]->used))
            oldest = i;
    }
    /* the process owns the plan */
    const lt_context_outer outer = lt_context_visit(&lt_process_context);
    dnnl_plan *p = lt_mem_zalloc(sizeof *p);
    lt_context_return(outer);
    if (p == NULL) return NULL;
    p->key = *k;
    p->refs = 1;
    const int threads = lt_openmp_set_threads(&lt_dnnl.openmp, 1);
    if (!plan_fill(p) && p->primitive != NULL) {
        lt_dnnl.primitive_destroy(p->primitive);
        p->primitive = NULL;
    }
    lt_openmp_set_threads(&lt_dnnl.openmp, threads);
    lt_dnnl_plan_release(plans[oldest]);
    plans[oldest] = p;
    return p;
}

lt_status lt_dnnl_plan_get(const lt_dnnl_convolution_shape *k, lt_dnnl_plan **out)
{
    *out = NULL;
    if (!lt_dnnl_found()) return LT_OK;
    pthread_mutex_lock(&lock);
    dnnl_plan *p = plan_of(k);
    if (p != NULL) p->used = ++calls;
    if (p != NULL && p->primitive != NULL) {
        atomic_fetch_add(&p->refs, 1);
        *out = p;
    }
    lt_unlock(&lock);
    return p == NULL ? LT_ERR_MEMORY : LT_OK;
}

size_t lt_dnnl_plan_scratch_bytes(const lt_dnnl_plan *p)
{
    size_t bytes = p->scratchpad_bytes;
    for (int i = 0; i < ARRAYS; i++) bytes += p->operands[i].bytes;
    return bytes + ALIGNMENT;
}

/* ---- running --------------------------------------------------------------------------------- */

/* The memory objects and the stream of a run; each run has its own, since threads share the plan.
 */
typedef struct running {
    dnnl_stream_t stream;
    dnnl_memory_t plain[ARRAYS], wanted[ARRAYS], bias, scratchpad;
} running;

static bool wrap_memory(dnnl_memory_t *made, known_layout of, const void *data)
{
    return lt_dnnl.memory_create(made, of, lt_dnnl.engine, (void *)(uintptr_t)data) == dnnl_success;
}

static bool running_make(running *r, const dnnl_plan *p, void *const *arrays, const void *bias,
                         char *room)
{
    if (lt_dnnl.stream_create(&r->stream, lt_dnnl.engine, dnnl_stream_default_flags) !=
        dnnl_success)
        return false;
    for (int i = 0; i < ARRAYS; i++) {
        const dnnl_operand *o = &p->operands[i];
        if (!wrap_memory(&r->plain[i], layout_known(&o->plain), arrays[i])) return false;
        if (o->bytes == 0) continue;
        if (!wrap_memory(&r->wanted[i], o->wanted, room)) return false;
        room += o->bytes;
    }
    return wrap_memory(&r->scratchpad, p->scratchpad, room) &&
           (!p->key.bias || wrap_memory(&r->bias, layout_known(&p->bias), bias));
}

static void running_free(running *r)
{
    for (int i = 0; i < ARRAYS; i++) {
        if (r->plain[i] != NULL) lt_dnnl.memory_destroy(r->plain[i]);
        if (r->wanted[i] != NULL) lt_dnnl.memory_destroy(r->wanted[i]);
    }
    if (r->bias != NULL) lt_dnnl.memory_destroy(r->bias);
    if (r->scratchpad != NULL) lt_dnnl.memory_destroy(r->scratchpad);
    if (r->stream != NULL) lt_dnnl.stream_destroy(r->stream);
}

static bool reorder(const running *r, const dnnl_plan *p, int array, bool back)
{
    if (p->operands[array].reorder == NULL) return true;
    dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, back ? r->wanted[array] : r->plain[array]},
                                   {DNNL_ARG_TO, back ? r->plain[array] : r->wanted[array]}};
    return lt_dnnl.primitive_execute(p->operands[array].reorder, r->stream, 2, arguments) ==
           dnnl_success;
}

static bool execute(const running *r, const dnnl_plan *p)
{
    static const int names[][ARRAYS] = {
        [LT_CONV_Y] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST},
        [LT_CONV_X] = {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST},
        [LT_CONV_W] = {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST},
    };
    const lt_conv_part part = p->key.part;
    const int result = part == LT_CONV_Y ? Y_ARRAY : part == LT_CONV_X ? X_ARRAY : W_ARRAY;
    dnnl_exec_arg_t arguments[ARRAYS + 2];
    int n = 0;
    for (int i = 0; i < ARRAYS; i++) {
        if (i != result && !reorder(r, p, i, false)) return false;
        arguments[n++] = (dnnl_exec_arg_t){names[part][i],
                                           p->operands[i].bytes > 0 ? r->wanted[i] : r->plain[i]};
    }
    arguments[n++] = (dnnl_exec_arg_t){DNNL_ARG_SCRATCHPAD, r->scratchpad};
    if (r->bias != NULL) arguments[n++] = (dnnl_exec_arg_t){DNNL_ARG_BIAS, r->bias};
    return lt_dnnl.primitive_execute(p->primitive, r->stream, n, arguments) == dnnl_success &&
           reorder(r, p, result, true);
}

bool lt_dnnl_plan_run(const lt_dnnl_plan *p, void *const arrays[3], const void *bias, char *room)
{
    running r = {NULL};
    const int threads = lt_openmp_set_threads(&lt_dnnl.openmp, 1);
    const bool done =
        running_make(&r, p, arrays, bias, (char *)aligned_size((size_t)room)) && execute(&r, p);
    running_free(&r);
    lt_openmp_set_threads(&lt_dnnl.openmp, threads);
    return done;
}
