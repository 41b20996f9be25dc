/* index.c - batching rules of ops with positions along a dimension. */
#include <string.h>

#include "batch.h"
#include "memory/alloc.h"
#include "op/expand.h"
#include "op/gather.h"
#include "op/index_select.h"
#include "op/reshape.h"

/* New reference: positions [size, k] expanded along all dimensions of `shape` except the first and
 * `dim`, which has k. */
static lt_status expand_index(lt_tensor *index, const lt_tensor *like, int dim, lt_tensor **out)
{
    lt_dims ones = {.n = like->ndim}, whole = {.n = like->ndim};
    lt_tensor *line = NULL;
    for (int d = 0; d < like->ndim; d++) {
        ones.v[d] = d == 0 ? index->sizes[0] : d == dim ? index->sizes[1] : 1;
        whole.v[d] = d == dim ? index->sizes[1] : like->sizes[d];
    }
    LT_TRY(lt_reshape(index, &ones, &line));
    lt_status status = lt_expand(line, &whole, out);
    lt_tensor_release(line);
    return status;
}

lt_status lt_batch_index_select(lt_batch_call *c, int level, int64_t size)
{
    lt_tensor *self = c->v[0].tensor, *index = c->v[2].tensor, *shown = NULL, *positions = NULL,
              *places = NULL, *made = NULL;
    lt_status status;
    int dim;
    const bool each = lt_batch_has(index, level);
    if (self->ndim == 0 || (each && index->ndim != 1)) return lt_batch_loop(c, level, size);
    LT_TRY(lt_wrap_dim(c->v[1].i, self->ndim, &dim));
    LT_CHECK(lt_batch_show(self, level, &shown));
    if (each) {
        LT_CHECK(lt_batch_show(index, level, &positions));
        LT_CHECK(expand_index(positions, shown, dim + 1, &places));
        LT_CHECK(lt_gather(shown, dim + 1, places, &made));
    } else {
        LT_CHECK(lt_index_select(shown, dim + 1, index, &made));
    }
    LT_CHECK(lt_batch_hide(made, level, &c->r[0].tensor));
done:
    lt_tensor_release(shown);
    lt_tensor_release(positions);
    lt_tensor_release(places);
    lt_tensor_release(made);
    return status;
}

/* Ops of self, a dim, an index shared by all samples, and a source. */
lt_status lt_batch_by_index(lt_batch_call *c, int level, int64_t size)
{
    lt_batch_call all = *c;
    lt_tensor *held[LT_BATCH_ARGS] = {NULL};
    lt_status status = LT_OK;
    const int ndim = c->v[0].tensor->ndim;
    for (int i = 1; i < c->op->n_args; i++) {
        const bool is_index = strcmp(c->op->args[i].name, "index") == 0;
        const lt_tensor *t = c->op->args[i].kind == LT_BATCH_TENSOR ? c->v[i].tensor : NULL;
        if (t != NULL && (is_index ? lt_batch_has(t, level) : t->ndim != ndim))
            return lt_batch_loop(c, level, size);
    }
    if (ndim == 0) return lt_batch_loop(c, level, size);
    for (int i = 0; i < c->op->n_args; i++) {
        int dim;
        if (c->op->args[i].kind == LT_BATCH_DIM) {
            LT_CHECK(lt_wrap_dim(c->v[i].i, ndim, &dim));
            all.v[i].i = dim + 1;
        }
        if (c->op->args[i].kind != LT_BATCH_TENSOR || strcmp(c->op->args[i].name, "index") == 0)
            continue;
        LT_CHECK(lt_batch_show(c->v[i].tensor, level, &held[i]));
        all.v[i].tensor = held[i];
    }
    LT_CHECK(c->op->run(&all));
    c->r[0] = all.r[0];
    status = lt_batch_hide_results(c, level);
done:
    for (int i = 0; i < c->op->n_args; i++) lt_tensor_release(held[i]);
    return status;
}

/* Ops of self, or its sizes, and a list of index tensors shared by all samples, one for each
 * leading dimension: the batch is one more dimension, without an index. Index tensors that are not
 * adjacent put their dimensions first: each_index.c handles this case. */
lt_status lt_batch_by_tensors(lt_batch_call *c, int level, int64_t size)
{
    lt_batch_call all = *c;
    lt_tensor *held[LT_BATCH_ARGS] = {NULL}, *shown = NULL;
    const lt_tensor_list *given = NULL;
    lt_status status = LT_OK;
    int taken = 0, indexed = 0, ndim = 0;
    bool ended = false, apart = false;
    for (int i = 0; i < c->op->n_args; i++)
        if (c->op->args[i].kind == LT_BATCH_LIST) given = &c->v[i].list;
    for (int64_t k = 0; k < given->n; k++) {
        const lt_tensor *index = given->v[k];
        if (index == NULL) {
            ended = taken > 0;
            continue;
        }
        if (lt_batch_has(index, level)) return lt_batch_each_index(c, level, size);
        apart = apart || ended;
        taken += index->dtype == LT_BOOL ? index->ndim : 1;
        if (index->dtype == LT_BOOL)
            indexed = indexed > 1 ? indexed : 1;
        else if (index->ndim > indexed)
            indexed = index->ndim;
    }
    if (apart || given->n >= LT_MAX_DIMS) return lt_batch_each_index(c, level, size);
    lt_tensor **indices = lt_mem_zarray(given->n + 1, sizeof *indices);
    if (indices == NULL) return LT_ERR_MEMORY;
    for (int64_t k = 0; k < given->n; k++) indices[k + 1] = given->v[k];
    for (int i = 0; i < c->op->n_args; i++) {
        if (c->op->args[i].kind == LT_BATCH_LIST)
            all.v[i].list = (lt_tensor_list){given->n + 1, indices};
        if (c->op->args[i].kind == LT_BATCH_SIZE) {
            if (all.v[i].dims.n == LT_MAX_DIMS)
                LT_CHECK(lt_error(LT_ERR_RUNTIME, "vmap: more than %d dimensions", LT_MAX_DIMS));
            memmove(all.v[i].dims.v + 1, all.v[i].dims.v,
                    (size_t)all.v[i].dims.n * sizeof *all.v[i].dims.v);
            all.v[i].dims.v[0] = size;
            all.v[i].dims.n++;
        }
        if (c->op->args[i].kind != LT_BATCH_TENSOR) continue;
        lt_tensor *t = c->v[i].tensor;
        if (i == 0) {
            ndim = t->ndim - taken + indexed;
            LT_CHECK(lt_batch_show(t, level, &held[i]));
        } else if (lt_batch_has(t, level)) { /* values, with the shape of an index of self */
            LT_CHECK(lt_batch_show(t, level, &shown));
            LT_CHECK(lt_batch_padded(shown, ndim, &held[i]));
            lt_tensor_release(shown);
            shown = NULL;
        } else {
            held[i] = lt_tensor_retain(t);
        }
        all.v[i].tensor = held[i];
    }
    LT_CHECK(c->op->run(&all));
    memcpy(c->r, all.r, sizeof c->r);
    if (c->op->form == LT_BATCH_NEW) status = lt_batch_hide_results(c, level);
done:
    lt_tensor_release(shown);
    for (int i = 0; i < c->op->n_args; i++) lt_tensor_release(held[i]);
    lt_mem_free(indices);
    return status;
}
