/* evaluate.c - see evaluate.h. Steps: collect the needed values, assign them to fusion groups, then
 * build and run one group after the other. */
#include "evaluate.h"

#include <string.h>

#include "devices/backend.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "iter.h"
#include "memory/alloc.h"

/* Memory of a value; owned by the evaluation until it is moved to the storage. */
typedef struct storage_block {
    lt_device device;
    void *data, *handle;
    size_t capacity;
} storage_block;

/* One evaluation: its values, in the order of recording, and their fusion groups. */
typedef struct fusion_plan {
    struct lt_trace *trace;
    lt_deferred *values[LT_TRACE_MAX];
    storage_block blocks[LT_TRACE_MAX]; /* of values that are written */
    int n, groups;
    const lt_consumed_value *consumed; /* the consumer of the last value; NULL: none */
    struct {
        const lt_deferred *shape; /* the first value of the group; all have its geometry */
        int steps, values;        /* upper bounds */
    } group[LT_TRACE_MAX];
    lt_fusion fusion; /* the current group */
    /* for each of its values: the input tensor; NULL: the result of a step, or of another group */
    const lt_tensor *read[LT_FUSED_VALUES];
    lt_iter *walks[LT_FUSED_VALUES];
} fusion_plan;

/* ---- grouping -------------------------------------------------------------------------------- */

static bool same_geometry(const lt_deferred *a, int ndim, const int64_t *sizes,
                          const int64_t *strides)
{
    const size_t bytes = (size_t)ndim * sizeof *sizes;
    return a->ndim == ndim && memcmp(a->sizes, sizes, bytes) == 0 &&
           memcmp(a->strides, strides, bytes) == 0;
}

bool lt_is_whole(const lt_tensor *t, const lt_deferred *p)
{
    return t->offset == 0 && t->dtype == (int8_t)p->dtype &&
           same_geometry(p, t->ndim, t->sizes, t->strides);
}

/* Collects the wanted values and all values that they depend on. Values are recorded after their
 * inputs. */
static void collect_deferred(fusion_plan *s, struct lt_trace *w)
{
    for (lt_deferred *p = w->first; p != NULL; p = p->after) {
        p->needed = p->wanted;
        p->written = p->wanted && (s->consumed == NULL || s->consumed->keep);
    }
    for (lt_deferred *p = w->last; p != NULL; p = p->before)
        for (int i = 0; p->needed && i < p->n; i++) {
            lt_deferred *input = lt_deferred_of(p->inputs[i]->storage);
            if (input != NULL) input->needed = true;
        }
    s->n = 0;
    for (lt_deferred *p = w->first; p != NULL; p = p->after)
        if (p->needed) s->values[s->n++] = p;
}

/* The index of p's group: the last one from `least` on with p's device and geometry and enough free
 * steps and values; else a new one. */
static int group_for(fusion_plan *s, const lt_deferred *p, int least)
{
    for (int g = s->groups - 1; g >= least; g--)
        if (lt_device_equal(s->group[g].shape->storage->device, p->storage->device) &&
            same_geometry(s->group[g].shape, p->ndim, p->sizes, p->strides) &&
            s->group[g].steps + 2 <= LT_FUSED_STEPS &&
            s->group[g].values + 2 + p->n <= LT_FUSED_VALUES)
            return g;
    s->group[s->groups].shape = p;
    s->group[s->groups].steps = s->group[s->groups].values = 0;
    return s->groups++;
}

/* Assigns each value to a group that runs after the groups that write its inputs to memory. A value
 * that another group reads is written to memory. */
static void group_all(fusion_plan *s)
{
    s->groups = 0;
    for (int v = 0; v < s->n; v++) {
        lt_deferred *p = s->values[v];
        int least = 0;
        for (int i = 0; i < p->n; i++) {
            lt_deferred *input = lt_deferred_of(p->inputs[i]->storage);
            if (input == NULL) continue;
            const bool inside = p->gather.read == NULL && lt_is_whole(p->inputs[i], input) &&
                                same_geometry(p, input->ndim, input->sizes, input->strides);
            if (!inside) input->written = true;
            const int from = inside ? input->group : input->group + 1;
            if (from > least) least = from;
        }
        p->group = group_for(s, p, least);
        s->group[p->group].steps += 2; /* one for p, one for a copy if an equal step exists */
        s->group[p->group].values += 2 + p->n;
        for (int i = 0; i < p->n; i++) {
            lt_deferred *input = lt_deferred_of(p->inputs[i]->storage);
            if (input != NULL && input->group != p->group) input->written = true;
        }
        if (p->passed && lt_is_held(p->storage)) p->written = true;
    }
}

/* ---- building one group ---------------------------------------------------------------------- */

static bool same_memory(const lt_tensor *a, const lt_tensor *b)
{
    if (a->dtype != b->dtype) return false;
    if (a->numel == 1 && b->numel == 1 && a->device.type == LT_CPU && b->device.type == LT_CPU)
        return memcmp(lt_data(a), lt_data(b), lt_dtype_size((lt_dtype)a->dtype)) == 0;
    return lt_same_elements(a, b);
}

/* Describes an input of a group: a scalar, dense in the order of the group, or strided. */
static lt_status add_input(const lt_deferred *shape, const lt_iter_array *input,
                           lt_fused_value *value, lt_iter **walk)
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
    *value = (lt_fused_value){
        .dtype = input->dtype, .number = number, .host = it.host_scalar[1], .data = input->data};
    if (number || flat) return LT_OK;
    *walk = lt_mem_alloc(sizeof it);
    if (*walk == NULL) return LT_ERR_MEMORY;
    **walk = it;
    value->walk = *walk;
    return LT_OK;
}

/* The i-th input of p. If it is being evaluated, its memory is in its block, not yet in its
 * storage. */
static lt_iter_array array_of(const fusion_plan *s, const lt_deferred *p, int i)
{
    const lt_tensor *t = p->inputs[i];
    const lt_deferred *input = lt_deferred_of(t->storage);
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

/* The index, in the group, of the i-th input of p: the result of an earlier step, or a value in
 * memory, which is added if missing. */
static lt_status fused_value_of(fusion_plan *s, const lt_deferred *shape, lt_deferred *p, int i,
                                int *out)
{
    lt_tensor *t = p->inputs[i];
    const lt_deferred *input = lt_deferred_of(t->storage);
    lt_fusion *c = &s->fusion;
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
    if (p->gather.read == NULL) return add_input(shape, &array, &c->values[made], &s->walks[made]);
    c->values[made] =
        (lt_fused_value){.dtype = array.dtype, .data = array.data, .gather = &p->gather};
    return LT_OK;
}

static bool same_step(const lt_fused_step *a, const lt_fused_step *b)
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

/* Appends the result of a step; data: its memory, or NULL. */
static int new_result(fusion_plan *s, lt_dtype dtype, char *data)
{
    lt_fusion *c = &s->fusion;
    c->values[c->n_values] = (lt_fused_value){.dtype = dtype, .data = data};
    s->read[c->n_values] = NULL;
    s->walks[c->n_values] = NULL;
    return c->n_values++;
}

/* Whether p is a copy that is not needed, so that its readers can read its input instead. */
static bool is_read_through(const fusion_plan *s, const lt_deferred *p)
{
    return p->op == LT_FUSED_COPY && p->dtype == (lt_dtype)p->inputs[0]->dtype && !p->written &&
           !(s->consumed != NULL && s->consumed->value == p);
}

static lt_status add_step(fusion_plan *s, const lt_deferred *shape, int v)
{
    lt_deferred *p = s->values[v];
    lt_fusion *c = &s->fusion;
    lt_fused_step step = {.op = p->op, .compute = p->compute, .n = p->n, .n_params = p->n_params};
    char *data = p->written ? s->blocks[v].data : NULL;
    if (is_read_through(s, p)) return fused_value_of(s, shape, p, 0, &p->value);
    memcpy(step.params, p->params, sizeof step.params);
    for (int i = 0; i < p->n; i++) LT_TRY(fused_value_of(s, shape, p, i, &step.in[i]));
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
        c->steps[c->n_steps++] = (lt_fused_step){.op = LT_FUSED_COPY,
                                                 .compute = p->dtype,
                                                 .n = 1,
                                                 .in = {p->value},
                                                 .out = new_result(s, p->dtype, data)};
    }
    return LT_OK;
}

static lt_status find_block(fusion_plan *s, int v)
{
    const lt_storage *storage = s->values[v]->storage;
    storage_block *b = &s->blocks[v];
    b->device = storage->device;
    return lt_storage_find_memory(storage, &b->data, &b->capacity, &b->handle);
}

/* Executes the op of one value with the eager kernel. */
static lt_status run_alone(fusion_plan *s, int v)
{
    const lt_deferred *p = s->values[v];
    const lt_backend *backend = lt_backends[p->storage->device.type];
    lt_iter_array arrays[1 + LT_FUSED_INPUTS];
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
    return p->op == LT_FUSED_COPY ? backend->copy(&it)
                                  : backend->pointwise(p->op, &it, p->compute, p->params);
}

static lt_status run_one_by_one(fusion_plan *s, int g, lt_evaluated *done)
{
    for (int v = 0; v < s->n; v++) {
        if (s->values[v]->group != g) continue;
        LT_TRY(run_alone(s, v));
        done->steps++;
        done->passes++;
    }
    return LT_OK;
}

/* Calls the consumer with its input in memory, after the steps were executed one by one. */
static lt_status consume_written(fusion_plan *s)
{
    const lt_consumed_value *consumed = s->consumed;
    lt_fusion *c = &s->fusion;
    int v = 0;
    bool taken = true;
    while (s->values[v] != consumed->value) v++;
    c->n_steps = 0;
    c->values[consumed->value->value].data = s->blocks[v].data;
    return consumed->take(consumed->context,
                          &(lt_fused_producer){c, consumed->value->value, &taken});
}

static lt_status run_group(fusion_plan *s, int g, lt_evaluated *done)
{
    const lt_deferred *shape = s->group[g].shape;
    const lt_backend *backend = lt_backends[shape->storage->device.type];
    lt_fusion *c = &s->fusion;
    lt_status status = LT_OK;
    bool together = true;
    c->device = shape->storage->device;
    c->numel = shape->numel;
    c->loop = NULL;
    c->n_steps = c->n_values = 0;
    for (int v = 0; v < s->n; v++)
        if (s->values[v]->group == g) LT_CHECK(add_step(s, shape, v));
    if (s->trace->observe != NULL) s->trace->observe(s->trace->observer, c, s->read);
    const lt_consumed_value *consumed = s->consumed;
    /* The consumed value is in the last group, since it depends on all others. */
    const bool consumes = consumed != NULL && consumed->value->group == g;
    if (consumes)
        status = consumed->take(consumed->context,
                                &(lt_fused_producer){c, consumed->value->value, &together});
    else
        status = backend->run_fusion(c, &together);
    if (c->numel > done->elements) done->elements = c->numel;
    if (status == LT_OK && !together) {
        status = run_one_by_one(s, g, done);
        if (status == LT_OK && consumes) status = consume_written(s);
    } else {
        done->steps += c->n_steps;
        done->passes++;
    }
done:
    for (int v = 0; v < c->n_values; v++) lt_mem_free(s->walks[v]);
    return status;
}

/* ---- evaluation ------------------------------------------------------------------------------ */

static lt_status compute_all(fusion_plan *s, lt_evaluated *done)
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
        lt_deferred *p = s->values[v];
        p->passed = true;
        if (!p->written) continue;
        lt_storage_give_memory(p->storage, s->blocks[v].data, s->blocks[v].capacity,
                               s->blocks[v].handle);
        s->blocks[v].data = NULL;
        s->values[given++] = p;
        done->written++;
    }
    /* Complete the values only after all of them own memory: completing one releases its inputs,
     * which may be another entry of this list. */
    for (int v = 0; v < given; v++) lt_deferred_done(s->values[v]);
done:
    for (int v = 0; v < n; v++) {
        const storage_block *b = &s->blocks[v];
        if (b->data != NULL)
            lt_backends[b->device.type]->free(b->device.index, b->data, b->capacity, b->handle);
    }
    return status;
}

lt_status lt_evaluate(struct lt_trace *w, const lt_consumed_value *consumed, lt_evaluated *done)
{
    fusion_plan *s = lt_mem_alloc(sizeof *s);
    lt_status status = s != NULL ? LT_OK : LT_ERR_MEMORY;
    if (s != NULL) {
        s->trace = w;
        s->consumed = consumed;
        collect_deferred(s, w);
        group_all(s);
        status = compute_all(s, done);
    }
    for (lt_deferred *p = w->first; p != NULL; p = p->after) p->wanted = false;
    lt_mem_free(s);
    return status;
}
