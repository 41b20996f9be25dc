/* evaluate.c - see evaluate.h. */
#include "evaluate.h"

#include <string.h>

#include "devices/backend.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "iter.h"
#include "memory/alloc.h"

/* Memory for a value, before its storage has it. */
typedef struct block {
    lt_device device;
    void *data, *handle;
    size_t capacity;
} block;

/* One evaluation: the values that it computes, in the order of recording, and their chains. */
typedef struct plan {
    lt_pending *values[LT_WINDOW_MOST];
    block blocks[LT_WINDOW_MOST]; /* of those that are written */
    int n, groups;
    const lt_fed_value *fed; /* what becomes of the last value; NULL: it is written */
    struct {
        const lt_pending *shape; /* the first: all have its geometry */
        int steps, values;       /* values: at most */
    } group[LT_WINDOW_MOST];
    lt_chain chain; /* of the group at hand */
    /* what each of its values is in memory; NULL: the result of a step, or of another chain */
    const lt_tensor *read[LT_CHAIN_VALUES];
    lt_iter *walks[LT_CHAIN_VALUES];
} plan;

/* ---- what belongs together ------------------------------------------------------------------- */

static bool same_geometry(const lt_pending *a, int ndim, const int64_t *sizes,
                          const int64_t *strides)
{
    const size_t bytes = (size_t)ndim * sizeof *sizes;
    return a->ndim == ndim && memcmp(a->sizes, sizes, bytes) == 0 &&
           memcmp(a->strides, strides, bytes) == 0;
}

bool lt_is_whole(const lt_tensor *t, const lt_pending *p)
{
    return t->offset == 0 && t->dtype == (int8_t)p->dtype &&
           same_geometry(p, t->ndim, t->sizes, t->strides);
}

/* The wanted values and what they are made of: inputs are recorded before what reads them. */
static void collect(plan *s, struct lt_window *w)
{
    for (lt_pending *p = w->first; p != NULL; p = p->after) {
        p->needed = p->wanted;
        p->written = p->wanted && (s->fed == NULL || s->fed->keep);
    }
    for (lt_pending *p = w->last; p != NULL; p = p->before)
        for (int i = 0; p->needed && i < p->n; i++) {
            lt_pending *input = lt_pending_of(p->inputs[i]->storage);
            if (input != NULL) input->needed = true;
        }
    s->n = 0;
    for (lt_pending *p = w->first; p != NULL; p = p->after)
        if (p->needed) s->values[s->n++] = p;
}

/* A chain that p may join: the last of its geometry there, unless it needs from memory what that
 * one or a later one writes. */
static int group_for(plan *s, const lt_pending *p, int least)
{
    for (int g = s->groups - 1; g >= least; g--)
        if (lt_device_equal(s->group[g].shape->storage->device, p->storage->device) &&
            same_geometry(s->group[g].shape, p->ndim, p->sizes, p->strides) &&
            s->group[g].steps + 2 <= LT_CHAIN_STEPS &&
            s->group[g].values + 2 + p->n <= LT_CHAIN_VALUES)
            return g;
    s->group[s->groups].shape = p;
    s->group[s->groups].steps = s->group[s->groups].values = 0;
    return s->groups++;
}

/* Puts each value into a chain; what is read across chains is written. */
static void group_all(plan *s)
{
    s->groups = 0;
    for (int v = 0; v < s->n; v++) {
        lt_pending *p = s->values[v];
        int least = 0;
        for (int i = 0; i < p->n; i++) {
            lt_pending *input = lt_pending_of(p->inputs[i]->storage);
            if (input == NULL) continue;
            const bool inside = p->gather.read == NULL && lt_is_whole(p->inputs[i], input) &&
                                same_geometry(p, input->ndim, input->sizes, input->strides);
            if (!inside) input->written = true;
            const int from = inside ? input->group : input->group + 1;
            if (from > least) least = from;
        }
        p->group = group_for(s, p, least);
        s->group[p->group].steps += 2; /* itself and, where an equal one was before it, a copy */
        s->group[p->group].values += 2 + p->n;
        for (int i = 0; i < p->n; i++) {
            lt_pending *input = lt_pending_of(p->inputs[i]->storage);
            if (input != NULL && input->group != p->group) input->written = true;
        }
        if (p->passed && lt_is_held(p->storage)) p->written = true;
    }
}

/* ---- one chain ------------------------------------------------------------------------------- */

static bool same_memory(const lt_tensor *a, const lt_tensor *b)
{
    if (a->dtype != b->dtype) return false;
    if (a->numel == 1 && b->numel == 1 && a->device.type == LT_CPU && b->device.type == LT_CPU)
        return memcmp(lt_data(a), lt_data(b), lt_dtype_size((lt_dtype)a->dtype)) == 0;
    return lt_same_elements(a, b);
}

/* Describes an input of a group: one element for all, dense in the order of the group, or strided. */
static lt_status describe(const lt_pending *shape, const lt_iter_array *input,
                          lt_chain_value *value, lt_iter **walk)
{
    const lt_iter_array dense = {.dtype = input->dtype,
                                 .device = shape->storage->device,
                                 .ndim = shape->ndim,
                                 .sizes = shape->sizes,
                                 .strides = shape->strides};
    lt_iter it;
    LT_TRY(lt_iter_arrays(&it, (const lt_iter_array[]){dense, *input}, 2));
    bool number = true, flat = it.ndim <= 1;
    for (int d = 0; d < it.ndim; d++) number = number && it.strides[1][d] == 0;
    if (it.ndim == 1) flat = it.strides[1][0] == (int64_t)lt_dtype_size(input->dtype);
    *value = (lt_chain_value){
        .dtype = input->dtype, .number = number, .host = it.host_scalar[1], .data = input->data};
    if (number || flat) return LT_OK;
    *walk = lt_mem_alloc(sizeof it);
    if (*walk == NULL) return LT_ERR_MEMORY;
    **walk = it;
    value->walk = *walk;
    return LT_OK;
}

/* The i-th input of p in memory, which its storage may not have yet. */
static lt_iter_array array_of(const plan *s, const lt_pending *p, int i)
{
    const lt_tensor *t = p->inputs[i];
    const lt_pending *input = lt_pending_of(t->storage);
    char *data = t->storage->data;
    for (int v = 0; v < s->n && input != NULL; v++)
        if (s->values[v] == input) data = s->blocks[v].data;
    return (lt_iter_array){.dtype = (lt_dtype)t->dtype,
                           .device = t->device,
                           .ndim = t->ndim,
                           .sizes = t->sizes,
                           .strides = t->strides,
                           .data = data + t->offset * (int64_t)lt_dtype_size((lt_dtype)t->dtype)};
}

static bool same_gather(const lt_fused_gather *a, const lt_fused_gather *b)
{
    static const lt_fused_gather none;
    return memcmp(a != NULL ? a : &none, b, sizeof none) == 0;
}

/* The chain's value that a step reads: an earlier result, or what lies in memory. */
static lt_status value_of(plan *s, const lt_pending *shape, lt_pending *p, int i, int *out)
{
    lt_tensor *t = p->inputs[i];
    const lt_pending *input = lt_pending_of(t->storage);
    lt_chain *c = &s->chain;
    if (input != NULL && input->group == p->group) {
        *out = input->value;
        return LT_OK;
    }
    for (int v = 0; v < c->n_values && input == NULL; v++) {
        if (s->read[v] == NULL || !same_memory(s->read[v], t) ||
            !same_gather(c->values[v].gather, &p->gather))
            continue;
        *out = v;
        return LT_OK;
    }
    const int made = c->n_values++;
    s->read[made] = input == NULL ? t : NULL;
    s->walks[made] = NULL;
    *out = made;
    const lt_iter_array array = array_of(s, p, i);
    if (p->gather.read == NULL) return describe(shape, &array, &c->values[made], &s->walks[made]);
    c->values[made] =
        (lt_chain_value){.dtype = array.dtype, .data = array.data, .gather = &p->gather};
    return LT_OK;
}

static bool same_step(const lt_chain_step *a, const lt_chain_step *b)
{
    if (a->op != b->op || a->compute != b->compute || a->n != b->n || a->n_params != b->n_params)
        return false;
    for (int i = 0; i < a->n; i++)
        if (a->in[i] != b->in[i]) return false;
    for (int i = 0; i < a->n_params; i++)
        if (a->params[i].kind != b->params[i].kind || a->params[i].v.i != b->params[i].v.i ||
            memcmp(&a->params[i].imaginary, &b->params[i].imaginary, sizeof(double)) != 0)
            return false;
    return true;
}

/* A new value that is the result of a step; data: where it is written, NULL: nowhere. */
static int new_result(plan *s, lt_dtype dtype, char *data)
{
    lt_chain *c = &s->chain;
    c->values[c->n_values] = (lt_chain_value){.dtype = dtype, .data = data};
    s->read[c->n_values] = NULL;
    s->walks[c->n_values] = NULL;
    return c->n_values++;
}

/* Whether who reads p may as well read what p copies. */
static bool is_read_through(const plan *s, const lt_pending *p)
{
    return p->op == LT_CHAIN_COPY && p->dtype == (lt_dtype)p->inputs[0]->dtype && !p->written &&
           !(s->fed != NULL && s->fed->value == p);
}

static lt_status add_step(plan *s, const lt_pending *shape, int v)
{
    lt_pending *p = s->values[v];
    lt_chain *c = &s->chain;
    lt_chain_step step = {.op = p->op, .compute = p->compute, .n = p->n, .n_params = p->n_params};
    char *data = p->written ? s->blocks[v].data : NULL;
    if (is_read_through(s, p)) return value_of(s, shape, p, 0, &p->value);
    memcpy(step.params, p->params, sizeof step.params);
    for (int i = 0; i < p->n; i++) LT_TRY(value_of(s, shape, p, i, &step.in[i]));
    int known = 0;
    while (known < c->n_steps && !same_step(&c->steps[known], &step)) known++;
    if (known == c->n_steps) {
        p->value = step.out = new_result(s, p->dtype, data);
        c->steps[c->n_steps++] = step;
        return LT_OK;
    }
    p->value = c->steps[known].out;
    if (data == NULL) return LT_OK;
    if (c->values[p->value].data == NULL) {
        c->values[p->value].data = data;
    } else {
        c->steps[c->n_steps++] = (lt_chain_step){.op = LT_CHAIN_COPY,
                                                 .compute = p->dtype,
                                                 .n = 1,
                                                 .in = {p->value},
                                                 .out = new_result(s, p->dtype, data)};
    }
    return LT_OK;
}

static lt_status find_block(plan *s, int v)
{
    const lt_storage *storage = s->values[v]->storage;
    block *b = &s->blocks[v];
    b->device = storage->device;
    return lt_storage_find_memory(storage, &b->data, &b->capacity, &b->handle);
}

/* The op of a value by its own kernel, into memory of its own. */
static lt_status run_alone(plan *s, int v)
{
    const lt_pending *p = s->values[v];
    const lt_backend *backend = lt_backends[p->storage->device.type];
    lt_iter_array arrays[1 + LT_CHAIN_INPUTS];
    lt_iter it;
    if (s->blocks[v].data == NULL) LT_TRY(find_block(s, v));
    arrays[0] = (lt_iter_array){.dtype = p->dtype,
                                .device = p->storage->device,
                                .ndim = p->ndim,
                                .sizes = p->sizes,
                                .strides = p->strides,
                                .data = s->blocks[v].data};
    for (int i = 0; i < p->n; i++) arrays[1 + i] = array_of(s, p, i);
    LT_TRY(lt_iter_arrays(&it, arrays, 1 + p->n));
    return p->op == LT_CHAIN_COPY ? backend->copy(&it)
                                  : backend->pointwise(p->op, &it, p->compute, p->params);
}

static lt_status run_one_by_one(plan *s, int g, lt_evaluated *done)
{
    for (int v = 0; v < s->n; v++) {
        if (s->values[v]->group != g) continue;
        LT_TRY(run_alone(s, v));
        done->steps++;
        done->passes++;
    }
    return LT_OK;
}

/* What is fed, when its steps have been done one by one. */
static lt_status feed_written(plan *s)
{
    const lt_fed_value *fed = s->fed;
    lt_chain *c = &s->chain;
    int v = 0;
    bool taken = true;
    while (s->values[v] != fed->value) v++;
    c->n_steps = 0;
    c->values[fed->value->value].data = s->blocks[v].data;
    return fed->take(fed->context, &(lt_fed){c, fed->value->value, &taken});
}

static lt_status run_group(plan *s, int g, lt_evaluated *done)
{
    const lt_pending *shape = s->group[g].shape;
    const lt_backend *backend = lt_backends[shape->storage->device.type];
    lt_chain *c = &s->chain;
    lt_status status = LT_OK;
    bool together = true;
    c->device = shape->storage->device;
    c->numel = shape->numel;
    c->n_steps = c->n_values = 0;
    for (int v = 0; v < s->n; v++)
        if (s->values[v]->group == g) LT_CHECK(add_step(s, shape, v));
    const lt_fed_value *fed = s->fed;
    /* which is the last one: it is made of all others */
    const bool feeds = fed != NULL && fed->value->group == g;
    if (feeds)
        status = fed->take(fed->context, &(lt_fed){c, fed->value->value, &together});
    else
        status = backend->chain(c, &together);
    if (c->numel > done->elements) done->elements = c->numel;
    if (status == LT_OK && !together) {
        status = run_one_by_one(s, g, done);
        if (status == LT_OK && feeds) status = feed_written(s);
    } else {
        done->steps += c->n_steps;
        done->passes++;
    }
done:
    for (int v = 0; v < c->n_values; v++) lt_mem_free(s->walks[v]);
    return status;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static lt_status compute_all(plan *s, lt_evaluated *done)
{
    lt_status status = LT_OK;
    const int n = s->n;
    int given = 0;
    memset(s->blocks, 0, sizeof s->blocks);
    for (int v = 0; v < n; v++)
        if (s->values[v]->written) LT_CHECK(find_block(s, v));
    for (int g = 0; g < s->groups; g++) LT_CHECK(run_group(s, g, done));
    done->ops = s->n;
    for (int v = 0; v < s->n; v++) {
        lt_pending *p = s->values[v];
        p->passed = true;
        if (!p->written) continue;
        lt_storage_give_memory(p->storage, s->blocks[v].data, s->blocks[v].capacity,
                               s->blocks[v].handle);
        s->blocks[v].data = NULL;
        s->values[given++] = p;
        done->written++;
    }
    /* Only now: what one of them reads may go with it. */
    for (int v = 0; v < given; v++) lt_pending_done(s->values[v]);
done:
    for (int v = 0; v < n; v++) {
        const block *b = &s->blocks[v];
        if (b->data != NULL)
            lt_backends[b->device.type]->free(b->device.index, b->data, b->capacity, b->handle);
    }
    return status;
}

lt_status lt_evaluate(struct lt_window *w, const lt_fed_value *fed, lt_evaluated *done)
{
    plan *s = lt_mem_alloc(sizeof *s);
    lt_status status = s != NULL ? LT_OK : LT_ERR_MEMORY;
    if (s != NULL) {
        s->fed = fed;
        collect(s, w);
        group_all(s);
        status = compute_all(s, done);
    }
    for (lt_pending *p = w->first; p != NULL; p = p->after) p->wanted = false;
    lt_mem_free(s);
    return status;
}
