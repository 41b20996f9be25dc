/* rules.c - how an op treats one more leading dimension of its arguments: rules for kinds of ops.
 *
 * A rule makes one call for all samples and stores its results, hidden again, in the call. If it
 * does not support the arguments (a number along a dimension, a batched weight), it goes sample by
 * sample. */
#include "batch.h"
#include "dims.h"
#include "ops/compose.h"

#include <string.h>

#include "autograd/forward.h"
#include "inner.h"
#include "levels.h"
#include "memory/alloc.h"
#include "op/all.h"
#include "op/amax.h"
#include "op/amin.h"
#include "op/any.h"
#include "op/diagonal.h"
#include "op/mean.h"
#include "op/median.h"
#include "op/nanmedian.h"
#include "op/prod.h"
#include "op/reshape.h"
#include "op/select.h"
#include "op/squeeze.h"
#include "op/stack.h"
#include "op/sum.h"
#include "op/transpose.h"
#include "op/unsqueeze.h"

/* ---- sizes ----------------------------------------------------------------------------------- */

/* A scalar of the script or of the library, which is weak in promotion and broadcasts. */
static bool is_wrapped_number(const lt_tensor *t) { return t->flags & LT_FLAG_WRAPPED_NUMBER; }

int lt_batch_max_dims(const lt_batch_call *c)
{
    int most = 0;
    for (int i = 0; i < c->op->n_args; i++) {
        const lt_tensor *t = c->op->args[i].kind == LT_BATCH_TENSOR ? c->v[i].tensor : NULL;
        if (t != NULL && t->ndim > most) most = t->ndim;
        for (int64_t k = 0; c->op->args[i].kind == LT_BATCH_LIST && k < c->v[i].list.n; k++)
            if (c->v[i].list.v[k] != NULL && c->v[i].list.v[k]->ndim > most)
                most = c->v[i].list.v[k]->ndim;
    }
    return most;
}

lt_status lt_batch_padded(lt_tensor *shown, int ndim, lt_tensor **out)
{
    lt_tensor *t = lt_tensor_retain(shown);
    while (t->ndim - 1 < ndim) {
        lt_tensor *longer = NULL;
        lt_status status = lt_unsqueeze(t, 1, &longer);
        lt_tensor_release(t);
        LT_TRY(status);
        t = longer;
    }
    *out = t;
    return LT_OK;
}

typedef struct level_index {
    int level, ndim;
} level_index;

/* ---- ops that broadcast ---------------------------------------------------------------------- */

static lt_status show_aligned(lt_tensor *t, void *context, lt_tensor **out)
{
    const level_index *p = context;
    lt_tensor *shown = NULL;
    if (!lt_batch_has(t, p->level)) {
        *out = lt_tensor_retain(t);
        return LT_OK;
    }
    LT_TRY(lt_batch_show(t, p->level, &shown));
    lt_status status = lt_batch_padded(shown, p->ndim, out);
    lt_tensor_release(shown);
    return status;
}

lt_status lt_batch_broadcast(lt_batch_call *c, int level, int64_t size)
{
    (void)size;
    lt_batch_inner in;
    /* In place, self must have the most dimensions, or the op reports a shape error. */
    level_index p = {level,
                     c->op->form == LT_BATCH_INPLACE ? c->v[0].tensor->ndim : lt_batch_max_dims(c)};
    LT_TRY(lt_batch_inner_open(&in, c));
    lt_status status = lt_batch_each_tensor(&in, c, show_aligned, &p);
    if (status == LT_OK) status = lt_batch_finish(&in, c, level);
    lt_batch_inner_close(&in);
    return status;
}

/* ---- ops along dimensions -------------------------------------------------------------------- */

static lt_status show_argument(lt_tensor *t, void *context, lt_tensor **out)
{
    if (is_wrapped_number(t)) {
        *out = lt_tensor_retain(t);
        return LT_OK;
    }
    return lt_batch_show(t, ((level_index *)context)->level, out);
}

static lt_status shift(int64_t *dim, int ndim)
{
    int from_zero;
    LT_TRY(lt_wrap_dim(*dim, ndim, &from_zero));
    *dim = from_zero + 1;
    return LT_OK;
}

/* Increments the dims, or all of ndim if none are given, by one. */
static lt_status shift_dims(lt_batch_slot *slot, bool given, int ndim)
{
    if (!given) {
        slot->dims.n = ndim;
        for (int d = 0; d < ndim; d++) slot->dims.v[d] = d;
    }
    for (int i = 0; i < slot->dims.n; i++) LT_TRY(shift(&slot->dims.v[i], ndim));
    return LT_OK;
}

static lt_status prepend(lt_dims *dims, int64_t first)
{
    if (dims->n == LT_MAX_DIMS)
        return lt_error(LT_ERR_RUNTIME, "vmap: more than %d dimensions", LT_MAX_DIMS);
    memmove(dims->v + 1, dims->v, (size_t)dims->n * sizeof *dims->v);
    dims->v[0] = first;
    dims->n++;
    return LT_OK;
}

/* Whether all tensors except scalars have the same number of dimensions: otherwise the op defines
 * how they are aligned. */
static bool same_dims(const lt_batch_call *c)
{
    const int ndim = lt_batch_max_dims(c);
    for (int i = 0; i < c->op->n_args; i++) {
        const lt_tensor *t = c->op->args[i].kind == LT_BATCH_TENSOR ? c->v[i].tensor : NULL;
        if (t != NULL && !is_wrapped_number(t) && t->ndim != ndim) return false;
    }
    return true;
}

/* Dims are relative to the requested sizes, if the op has such an argument, else to the largest
 * tensor, plus `more` dimensions that the op adds. */
static lt_status call_along_level(lt_batch_call *c, int level, int64_t size, int more)
{
    lt_batch_inner in;
    level_index p = {level, 0};
    int ndim = lt_batch_max_dims(c);
    for (int i = 0; i < c->op->n_args; i++) {
        const lt_batch_kind kind = c->op->args[i].kind;
        if (kind == LT_BATCH_SIZE && c->v[i].dims.n > ndim) ndim = c->v[i].dims.n;
        if (kind == LT_BATCH_DIM && !c->present[i]) return lt_batch_loop(c, level, size);
    }
    if (ndim + more == 0) return lt_batch_loop(c, level, size);
    if (c->op->name[0] != '_' && !same_dims(c)) return lt_batch_loop(c, level, size);
    LT_TRY(lt_batch_inner_open(&in, c));
    lt_status status = lt_batch_each_tensor(&in, c, show_argument, &p);
    for (int i = 0; i < c->op->n_args && status == LT_OK; i++) {
        lt_batch_slot *slot = &in.call.v[i];
        const lt_batch_kind kind = c->op->args[i].kind;
        if (kind == LT_BATCH_DIM) status = shift(&slot->i, ndim + more);
        const bool dims = kind == LT_BATCH_DIMS || kind == LT_BATCH_REDUCED_DIMS;
        const bool given = c->present[i] && (kind == LT_BATCH_DIMS || slot->dims.n > 0);
        if (dims) status = shift_dims(slot, given, ndim + more);
        if (kind == LT_BATCH_SIZE && c->present[i]) status = prepend(&slot->dims, size);
        if (dims) in.call.present[i] = true;
    }
    if (status == LT_OK) status = lt_batch_finish(&in, c, level);
    lt_batch_inner_close(&in);
    return status;
}

lt_status lt_batch_dims(lt_batch_call *c, int level, int64_t size)
{
    return call_along_level(c, level, size, 0);
}
lt_status lt_batch_new_dim(lt_batch_call *c, int level, int64_t size)
{
    return call_along_level(c, level, size, 1);
}

lt_status lt_batch_expand(lt_batch_call *c, int level, int64_t size)
{
    lt_tensor *shown = NULL, *aligned = NULL;
    lt_batch_inner in;
    LT_TRY(lt_batch_inner_open(&in, c));
    lt_status status = lt_batch_show(c->v[0].tensor, level, &shown);
    if (status == LT_OK) status = lt_batch_padded(shown, c->v[1].dims.n, &aligned);
    if (status == LT_OK) status = prepend(&in.call.v[1].dims, size);
    in.call.v[0].tensor = aligned;
    if (status == LT_OK) status = lt_batch_finish(&in, c, level);
    lt_tensor_release(shown);
    lt_tensor_release(aligned);
    lt_batch_inner_close(&in);
    return status;
}

lt_status lt_batch_permute(lt_batch_call *c, int level, int64_t size)
{
    level_index p = {level, 0};
    lt_batch_inner in;
    (void)size;
    LT_TRY(lt_batch_inner_open(&in, c));
    lt_status status = lt_batch_each_tensor(&in, c, show_argument, &p);
    if (status == LT_OK) status = shift_dims(&in.call.v[1], true, c->v[0].tensor->ndim);
    if (status == LT_OK) status = prepend(&in.call.v[1].dims, 0);
    if (status == LT_OK) status = lt_batch_finish(&in, c, level);
    lt_batch_inner_close(&in);
    return status;
}

/* Along a dim of the first tensor; the others are lists shared by all samples. */
lt_status lt_batch_resampled(lt_batch_call *c, int level, int64_t size)
{
    lt_tensor *shown = NULL;
    lt_batch_inner in;
    for (int i = 1; i < c->op->n_args; i++)
        if (c->op->args[i].kind == LT_BATCH_TENSOR && lt_batch_has(c->v[i].tensor, level))
            return lt_batch_loop(c, level, size);
    LT_TRY(lt_batch_inner_open(&in, c));
    lt_status status = lt_batch_show(c->v[0].tensor, level, &shown);
    if (status == LT_OK) status = shift(&in.call.v[1].i, c->v[0].tensor->ndim);
    in.call.v[0].tensor = shown;
    if (status == LT_OK) status = lt_batch_finish(&in, c, level);
    lt_tensor_release(shown);
    lt_batch_inner_close(&in);
    return status;
}

/* as_strided: the strides given for one sample apply to each, from the beginning of its memory. */
lt_status lt_batch_strided(lt_batch_call *c, int level, int64_t size)
{
    level_index p = {level, 0};
    lt_batch_inner in;
    LT_TRY(lt_batch_inner_open(&in, c));
    lt_status status = lt_batch_each_tensor(&in, c, show_argument, &p);
    if (status == LT_OK) status = prepend(&in.call.v[1].dims, size);
    if (status == LT_OK) status = prepend(&in.call.v[2].dims, in.call.v[0].tensor->strides[0]);
    if (status == LT_OK) status = lt_batch_finish(&in, c, level);
    lt_batch_inner_close(&in);
    return status;
}

/* ---- ops on the last dimensions -------------------------------------------------------------- */

/* Ops with any number of leading dimensions in one of their tensors, if the others are not batched.
 */
lt_status lt_batch_front(lt_batch_call *c, int level, int64_t size)
{
    level_index p = {level, 0};
    int batched = 0;
    lt_batch_inner in;
    for (int i = 0; i < c->op->n_args; i++)
        if (c->op->args[i].kind == LT_BATCH_TENSOR && lt_batch_has(c->v[i].tensor, level))
            batched++;
    for (int i = 0; i < c->op->n_args; i++) {
        if (c->op->args[i].kind != LT_BATCH_TENSOR || !lt_batch_has(c->v[i].tensor, level))
            continue;
        const bool is_weight =
            strcmp(c->op->args[i].name, "weight") == 0 || strcmp(c->op->args[i].name, "bias") == 0;
        if (batched > 1 || is_weight) return lt_batch_loop(c, level, size);
    }
    LT_TRY(lt_batch_inner_open(&in, c));
    lt_status status = LT_OK;
    for (int i = 0; i < c->op->n_args && status == LT_OK; i++) {
        if (c->op->args[i].kind != LT_BATCH_TENSOR || !lt_batch_has(c->v[i].tensor, level))
            continue;
        status = show_argument(c->v[i].tensor, &p, &in.held[i]);
        in.call.v[i].tensor = in.held[i];
    }
    if (status == LT_OK) status = lt_batch_finish(&in, c, level);
    lt_batch_inner_close(&in);
    return status;
}

/* ---- ops on whole tensors -------------------------------------------------------------------- */

/* The values of median.dim or nanmedian.dim. */
static lt_status median_line(lt_batch_call *c, lt_tensor *line, lt_tensor **out)
{
    lt_tensor *indices = NULL;
    lt_status status = strcmp(c->op->name, "median") == 0
                           ? lt_median_dim(line, 1, false, out, &indices)
                           : lt_nanmedian_dim(line, 1, false, out, &indices);
    lt_tensor_release(indices);
    return status;
}

/* sum(self), max(self), ...: along one dimension to which a sample is flattened. */
static lt_status reduce_line(lt_batch_call *c, lt_tensor *line, lt_tensor **out)
{
    const char *name = c->op->name;
    const lt_dims last = {.n = 1, .v = {1}};
    if (strcmp(name, "sum") == 0) return lt_sum_dim(line, &last, false, c->v[1].dtype, out);
    if (strcmp(name, "mean") == 0) return lt_mean_dim(line, &last, false, c->v[1].dtype, out);
    if (strcmp(name, "prod") == 0) return lt_prod_dim(line, 1, false, c->v[1].dtype, out);
    if (strcmp(name, "max") == 0) return lt_amax(line, &last, false, out);
    if (strcmp(name, "min") == 0) return lt_amin(line, &last, false, out);
    if (strstr(name, "median") != NULL) return median_line(c, line, out);
    if (strcmp(name, "any") == 0) return lt_any_dim(line, &last, false, out);
    return lt_all_dim(line, &last, false, out);
}

lt_status lt_batch_whole(lt_batch_call *c, int level, int64_t size)
{
    lt_tensor *shown = NULL, *line = NULL;
    lt_status status;
    /* The median of an empty tensor is nan; along an empty dimension it is an error. */
    if (c->v[0].tensor->numel == 0 && strstr(c->op->name, "median") != NULL)
        return lt_batch_loop(c, level, size);
    LT_CHECK(lt_batch_show(c->v[0].tensor, level, &shown));
    LT_CHECK(lt_reshape(shown, &(lt_dims){.n = 2, .v = {size, c->v[0].tensor->numel}}, &line));
    LT_CHECK(reduce_line(c, line, &c->r[0].tensor));
    LT_CHECK(lt_batch_hide_results(c, level));
done:
    lt_tensor_release(shown);
    lt_tensor_release(line);
    return status;
}

lt_status lt_batch_trace(lt_batch_call *c, int level, int64_t size)
{
    const lt_dims last = {.n = 1, .v = {-1}};
    lt_tensor *diagonal = NULL;
    if (c->v[0].tensor->ndim != 2) return lt_batch_loop(c, level, size);
    LT_TRY(lt_diagonal(c->v[0].tensor, 0, 0, 1, &diagonal));
    lt_status status = lt_sum_dim(diagonal, &last, false, LT_DTYPE_NONE, &c->r[0].tensor);
    lt_tensor_release(diagonal);
    return status;
}

/* t and squeeze: calls the variants with explicit dimensions. */
lt_status lt_batch_turn(lt_batch_call *c, int level, int64_t size)
{
    lt_tensor *t = c->v[0].tensor;
    (void)level, (void)size;
    if (t->ndim == 2) return lt_transpose(t, 0, 1, &c->r[0].tensor);
    if (t->ndim > 2)
        return lt_error(LT_ERR_RUNTIME,
                        "t() expects a tensor with <= 2 dimensions, but self is %dD", t->ndim);
    c->r[0].tensor = lt_tensor_retain(t);
    return LT_OK;
}

lt_status lt_batch_squeeze(lt_batch_call *c, int level, int64_t size)
{
    lt_tensor *t = c->v[0].tensor;
    lt_dims ones = {.n = 0};
    (void)level, (void)size;
    for (int d = 0; d < t->ndim; d++)
        if (t->sizes[d] == 1) ones.v[ones.n++] = d;
    if (ones.n > 0) return lt_squeeze_dims(t, &ones, &c->r[0].tensor);
    c->r[0].tensor = lt_tensor_retain(t);
    return LT_OK;
}

/* ---- ops on images --------------------------------------------------------------------------- */

lt_status lt_batch_join(lt_tensor *t, lt_tensor **out)
{
    lt_dims size = {.n = t->ndim - 1, .v = {t->sizes[0] * t->sizes[1]}};
    for (int d = 1; d < size.n; d++) size.v[d] = t->sizes[d + 1];
    return lt_reshape(t, &size, out);
}

lt_status lt_batch_part(lt_tensor *t, int64_t first, lt_tensor **out)
{
    lt_dims size = lt_dims_of(t);
    size.v[0] = first > 0 ? size.v[0] / first : 0;
    LT_TRY(lt_dims_insert(&size, 0, first));
    return lt_reshape(t, &size, out);
}

/* Ops on a single tensor [n, channels, ...] with any n: the batch is joined with n. A tensor
 * without n gets the batch as n. */
lt_status lt_batch_fold(lt_batch_call *c, int level, int64_t size)
{
    lt_tensor *shown = NULL, *images = NULL;
    lt_batch_inner in;
    const char *digit = strpbrk(c->op->name, "123");
    const bool columns = strcmp(c->op->name, "col2im") == 0; /* [n, channels, windows] */
    const int whole = columns ? 3 : (digit != NULL ? *digit - '0' : 2) + 2;
    const bool has_n = c->v[0].tensor->ndim == whole;
    if (c->v[0].tensor->ndim != whole && c->v[0].tensor->ndim != whole - 1)
        return lt_batch_loop(c, level, size);
    LT_TRY(lt_batch_inner_open(&in, c));
    lt_status status = lt_batch_show(c->v[0].tensor, level, &shown);
    if (status == LT_OK && has_n) status = lt_batch_join(shown, &images);
    in.call.v[0].tensor = has_n ? images : shown;
    if (status == LT_OK) status = c->op->run(&in.call);
    for (int i = 0; i < c->op->n_results && status == LT_OK; i++) {
        c->r[i].tensor = in.call.r[i].tensor;
        if (!has_n) continue;
        c->r[i].tensor = NULL;
        status = lt_batch_part(in.call.r[i].tensor, size, &c->r[i].tensor);
        lt_tensor_release(in.call.r[i].tensor);
    }
    if (status == LT_OK) status = lt_batch_hide_results(c, level);
    lt_tensor_release(shown);
    lt_tensor_release(images);
    lt_batch_inner_close(&in);
    return status;
}

/* ---- in place -------------------------------------------------------------------------------- */

lt_status lt_batch_replaced(lt_batch_call *c, int level, int64_t size)
{
    lt_batch_call made = *c;
    made.op = c->op->result;
    LT_TRY(made.op->rule(&made, level, size));
    lt_status status = lt_replace_with(c->v[0].tensor, made.r[0].tensor);
    lt_tensor_release(made.r[0].tensor);
    return status;
}

/* ---- sample by sample ------------------------------------------------------------------------ */

static void warn(const lt_batch_op *op)
{
    static _Atomic(const char *) told[1024]; /* more than the number of ops */
    for (int i = 0; i < 1024; i++) {
        const char *none = NULL;
        if (atomic_compare_exchange_strong(&told[i], &none, op->name)) break;
        if (strcmp(none, op->name) == 0) return;
    }
    lt_log_line(LT_LOG_WARNING,
                "UserWarning: There is a performance drop because we have not yet implemented the "
                "batching rule for %s%s: it is done for one sample after the other.",
                strstr(op->name, "::") == NULL ? "aten::" : "", op->name);
}

typedef struct sample {
    int level;
    int64_t i;
} sample;

static lt_status take_sample(lt_tensor *t, void *context, lt_tensor **out)
{
    const sample *at = context;
    lt_tensor *shown = NULL;
    if (!lt_batch_has(t, at->level)) {
        *out = lt_tensor_retain(t);
        return LT_OK;
    }
    LT_TRY(lt_batch_show(t, at->level, &shown));
    lt_status status = lt_select(shown, 0, at->i, out);
    lt_tensor_release(shown);
    return status;
}

lt_status lt_batch_first(lt_tensor *t, int level, lt_tensor **out)
{
    sample first = {level, 0};
    return take_sample(t, &first, out);
}

/* Results of all samples: a row per result, or per entry of the only result. */
typedef struct rows {
    int64_t n, size;
    lt_tensor **v;
} rows;

static lt_status collect_row(rows *all, lt_batch_call *done, int64_t i)
{
    const lt_batch_op *op = done->op;
    const int64_t n = op->gives_list ? done->r[0].list.n : op->n_results;
    if (all->v == NULL) {
        all->v = lt_mem_zarray(n * all->size, sizeof *all->v);
        if (all->v != NULL) all->n = n;
    }
    lt_status status = all->v == NULL && n > 0 ? LT_ERR_MEMORY : LT_OK;
    if (status == LT_OK && n != all->n)
        status =
            lt_error(LT_ERR_RUNTIME,
                     "vmap: %s() returns lists of different lengths for the samples", op->name);
    for (int64_t k = 0; k < n && status == LT_OK; k++)
        all->v[k * all->size + i] =
            lt_tensor_retain(op->gives_list ? done->r[0].list.v[k] : done->r[k].tensor);
    lt_batch_release_results(done);
    return status;
}

static lt_status join_rows(rows *all, lt_batch_call *c)
{
    lt_tensor **entries = NULL;
    if (c->op->gives_list) {
        entries = lt_mem_zarray(all->n > 0 ? all->n : 1, sizeof *entries);
        if (entries == NULL) return LT_ERR_MEMORY;
        c->r[0].list = (lt_tensor_list){all->n, entries};
    }
    for (int64_t k = 0; k < all->n; k++) {
        const lt_tensor_list row = {all->size, all->v + k * all->size};
        LT_TRY(lt_stack(&row, 0, entries != NULL ? &entries[k] : &c->r[k].tensor));
    }
    return LT_OK;
}

lt_status lt_batch_loop(lt_batch_call *c, int level, int64_t size)
{
    lt_batch_inner in;
    rows all = {.size = size};
    if (size == 0)
        return lt_error(
            LT_ERR_RUNTIME,
            "vmap: %s() has no batching rule, and the dimension that is mapped over is empty",
            c->op->name);
    if (!c->op->random) warn(c->op);
    LT_TRY(lt_batch_inner_open(&in, c));
    lt_status status = LT_OK;
    for (int64_t i = 0; i < size && status == LT_OK; i++) {
        sample at = {level, i};
        status = lt_batch_each_tensor(&in, c, take_sample, &at);
        if (status == LT_OK) status = c->op->run(&in.call);
        if (status == LT_OK && c->op->form == LT_BATCH_NEW) status = collect_row(&all, &in.call, i);
        lt_batch_inner_release(&in);
    }
    if (status == LT_OK && c->op->form == LT_BATCH_NEW) {
        status = join_rows(&all, c);
        if (status == LT_OK)
            status = lt_batch_hide_results(c, level);
        else
            lt_batch_release_results(c);
    }
    for (int64_t i = 0; i < all.n * all.size; i++) lt_tensor_release(all.v[i]);
    lt_mem_free(all.v);
    lt_batch_inner_close(&in);
    return status;
}
