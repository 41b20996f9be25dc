/* each_index.c - batching rules of _index, _index_put_ and index_put for index tensors that differ
 * between samples or are not adjacent: the sample numbers become one more index tensor, before the
 * others. */
#include <string.h>

#include "batch.h"
#include "memory/alloc.h"
#include "op/_index.h"
#include "op/_index_put_.h"
#include "op/arange.h"
#include "op/clone.h"
#include "op/permute.h"
#include "op/reshape.h"

/* The dimensions of a sample and its index tensors. */
typedef struct index_layout {
    int indexed; /* dimensions that are indexed */
    /* dimensions of the broadcast index tensors, which replace the indexed ones in the result */
    int shape;
    int before; /* dimensions of the result before these */
    /* order of the shown tensor's dimensions: the batch, indexed ones, the others */
    lt_dims order;
} index_layout;

/* given has at most as many indices as self has dimensions, fewer than LT_MAX_DIMS. */
static index_layout layout_of(const lt_tensor *self, const lt_tensor_list *given)
{
    index_layout l = {.order = {.n = 1, .v = {0}}};
    bool ended = false, apart = false;
    int first = -1;
    for (int64_t k = 0; k < given->n; k++) {
        const lt_tensor *index = given->v[k];
        if (index == NULL) {
            ended = l.indexed > 0;
            continue;
        }
        if (first < 0) first = (int)k;
        apart = apart || ended;
        l.order.v[l.order.n++] = k + 1;
        l.indexed++;
        if (index->ndim > l.shape) l.shape = index->ndim;
    }
    for (int d = 0; d < self->ndim; d++)
        if (d >= given->n || given->v[d] == NULL) l.order.v[l.order.n++] = d + 1;
    l.before = apart || first < 0 ? 0 : first;
    return l;
}

/* New reference: 0 .. size - 1, followed by dimensions of size 1. */
static lt_status numbers(int64_t size, int ones, const lt_device *device, lt_tensor **out)
{
    const lt_scalar end = lt_scalar_from_int(size);
    lt_dims sizes = {.n = ones + 1, .v = {size}};
    lt_tensor *line = NULL;
    for (int d = 1; d < sizes.n; d++) sizes.v[d] = 1;
    LT_TRY(lt_arange(lt_scalar_from_int(0), &end, lt_scalar_from_int(1), LT_INT64, device, &line));
    lt_status status = lt_reshape(line, &sizes, out);
    lt_tensor_release(line);
    return status;
}

/* New reference: t [batch, ...] with the dimensions `from` .. `from` + n - 1 moved behind the
 * batch, or (back) from there to `from`. */
static lt_status move_dims(lt_tensor *t, int from, int n, bool back, lt_tensor **out)
{
    lt_dims order = {.n = t->ndim};
    int at = 1;
    order.v[0] = 0;
    if (back) {
        for (int d = 0; d < from; d++) order.v[at++] = 1 + n + d;
        for (int d = 0; d < n; d++) order.v[at++] = 1 + d;
    } else {
        for (int d = 0; d < n; d++) order.v[at++] = 1 + from + d;
        for (int d = 0; d < from; d++) order.v[at++] = 1 + d;
    }
    for (; at < t->ndim; at++) order.v[at] = at;
    return lt_permute(t, &order, out);
}

/* Reshapes the values of _index_put_ for the permuted tensor. */
static lt_status values_for(const index_layout *l, const lt_tensor *self, lt_tensor *values,
                            int level, lt_tensor **out)
{
    const int ndim = self->ndim - l->indexed + l->shape;
    lt_tensor *shown = NULL, *aligned = NULL;
    lt_status status;
    if (values->ndim == 0 && !lt_batch_has(values, level)) {
        *out = lt_tensor_retain(values);
        return LT_OK;
    }
    LT_CHECK(lt_batch_show(values, level, &shown));
    LT_CHECK(lt_batch_padded(shown, ndim, &aligned));
    LT_CHECK(move_dims(aligned, l->before, l->shape, false, out));
done:
    lt_tensor_release(shown);
    lt_tensor_release(aligned);
    return status;
}

lt_status lt_batch_each_index(lt_batch_call *c, int level, int64_t size)
{
    const lt_tensor_list *given = &c->v[1].list;
    const bool copies = strcmp(c->op->name, "index_put") == 0,
               puts = copies || c->op->form == LT_BATCH_INPLACE;
    lt_tensor *self = c->v[0].tensor, *whole = NULL, *shown = NULL, *turned = NULL, *values = NULL,
              *made = NULL, *result = NULL;
    lt_status status = LT_OK;
    if (strcmp(c->op->name, "_index") != 0 && !puts) return lt_batch_loop(c, level, size);
    if (given->n > self->ndim || self->ndim == LT_MAX_DIMS) return lt_batch_loop(c, level, size);
    const index_layout l = layout_of(self, given);
    for (int64_t k = 0; k < given->n; k++)
        if (given->v[k] != NULL && given->v[k]->dtype == LT_BOOL)
            return lt_batch_loop(c, level, size);
    if (self->ndim + l.shape + 1 > LT_MAX_DIMS ||
        (puts && c->v[2].tensor->ndim > self->ndim - l.indexed + l.shape))
        return lt_batch_loop(c, level, size);
    lt_tensor **indices = lt_mem_zarray(l.indexed + 1, sizeof *indices);
    if (indices == NULL) return LT_ERR_MEMORY;
    LT_CHECK(numbers(size, l.shape, &self->device, &indices[0]));
    for (int64_t k = 0, n = 1; k < given->n; k++) {
        lt_tensor *index = NULL;
        if (given->v[k] == NULL) continue;
        if (lt_batch_has(given->v[k], level)) {
            LT_CHECK(lt_batch_show(given->v[k], level, &index));
            status = lt_batch_padded(index, l.shape, &indices[n++]);
            lt_tensor_release(index);
            if (status != LT_OK) goto done;
        } else {
            indices[n++] = lt_tensor_retain(given->v[k]);
        }
    }
    LT_CHECK(lt_batch_show(self, level, &whole));
    if (copies)
        LT_CHECK(lt_clone(whole, &shown));
    else
        shown = lt_tensor_retain(whole);
    LT_CHECK(lt_permute(shown, &l.order, &turned));
    const lt_tensor_list all = {l.indexed + 1, indices};
    if (puts) {
        LT_CHECK(values_for(&l, self, c->v[2].tensor, level, &values));
        LT_CHECK(lt__index_put_(turned, &all, values, c->v[3].b));
        if (copies) LT_CHECK(lt_batch_hide(shown, level, &c->r[0].tensor));
    } else {
        LT_CHECK(lt__index(turned, &all, &made));
        LT_CHECK(move_dims(made, l.before, l.shape, true, &result));
        LT_CHECK(lt_batch_hide(result, level, &c->r[0].tensor));
    }
done:
    for (int i = 0; i < l.indexed + 1; i++) lt_tensor_release(indices[i]);
    lt_mem_free(indices);
    lt_tensor_release(whole);
    lt_tensor_release(shown);
    lt_tensor_release(turned);
    lt_tensor_release(values);
    lt_tensor_release(made);
    lt_tensor_release(result);
    return status;
}
