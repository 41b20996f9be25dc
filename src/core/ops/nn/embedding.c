/* embedding.c - selecting rows of a matrix, and reducing bags of them. The ids count from 0 in this
 * file. */
#include <math.h>
#include <string.h>

#include "ops/compose.h"
#include "dims.h"
#include "ops/check_values.h"
#include "ops/steps.h"
#include "op/_embedding_backward.h"
#include "op/_sparse_coo.h"
#include "op/embedding.h"
#include "op/embedding_bag.h"
#include "op/index_add.h"
#include "op/index_copy.h"
#include "op/index_select.h"
#include "op/norm.h"
#include "op/scatter_reduce.h"
#include "op/searchsorted.h"
#include "user_index.h"
#include "step/masked_select.h"
#include "step/nonzero.h"

static lt_status check_table(const char *op, const lt_tensor *weight, const lt_tensor *indices)
{
    if (weight->ndim != 2) return lt_error(LT_ERR_RUNTIME, "'weight' must be 2-D");
    if ((lt_dtype)indices->dtype == LT_INT64 || (lt_dtype)indices->dtype == LT_INT32) return LT_OK;
    return lt_error(LT_ERR_RUNTIME,
                    "Expected tensor for argument #1 'indices' to have one of the following scalar "
                    "types: Long, Int; but got %s instead (while checking arguments for %s)",
                    lt_dtype_scalar_name((lt_dtype)indices->dtype), op);
}

/* ---- rows ------------------------------------------------------------------------------------ */

lt_status lt_embedding_impl(lt_tensor *weight, lt_tensor *indices, const int64_t *padding_idx,
                            bool scale_grad_by_freq, bool sparse, lt_tensor **out)
{
    (void)padding_idx, (void)scale_grad_by_freq, (void)sparse; /* these affect only the gradient */
    LT_TRY(check_table("embedding", weight, indices));
    lt_scope s;
    lt_dims sizes = lt_dims_of(indices);
    LT_TRY(lt_dims_insert(&sizes, sizes.n, weight->sizes[1]));
    lt_scope_open(&s, LT_COMPOSITE(embedding));
    const lt_dims table = {2, {indices->numel, weight->sizes[1]}};
    lt_tensor *line = do_reshape(&s, indices, &(lt_dims){1, {indices->numel}});
    lt_tensor *target =
        lt_scope_target(&s, out, (lt_dtype)weight->dtype, weight->device, &sizes, &table);
    if (s.status != LT_OK) return lt_scope_close(&s);
    lt_tensor *rows = target;
    lt_status status = lt_index_select_impl(weight, 0, line, &rows);
    if (target != NULL) {
        s.status = status;
        return lt_scope_close(&s);
    }
    return lt_scope_store(&s, do_reshape(&s, lt_scope_hold(&s, status, rows), &sizes), out);
}

/* In place: the scope owns a. */
static lt_tensor *do_index_add(lt_scope *s, lt_tensor *a, lt_tensor *index, lt_tensor *rows)
{
    if (s->status != LT_OK) return NULL;
    s->status = lt_index_add_(a, 0, index, rows, lt_scalar_from_int(1));
    return s->status == LT_OK ? a : NULL;
}

/* The number of occurrences of each index, as a column of like's dtype. */
static lt_tensor *do_counts(lt_scope *s, lt_tensor *line, int64_t n, const lt_tensor *like)
{
    if (s->status != LT_OK) return NULL;
    lt_tensor *ones = plus(s, do_zeros(s, like, &(lt_dims){1, {line->numel}}), 1);
    lt_tensor *counts = do_index_add(s, do_zeros(s, like, &(lt_dims){1, {n}}), line, ones);
    return do_unsqueeze(s, do_index_select(s, counts, 0, line), 1);
}

/* The gradient of the selected rows as a sparse tensor: one entry per index, except padding. */
static lt_tensor *do_sparse_rows(lt_scope *s, lt_tensor *line, lt_tensor *rows,
                                 const lt_dims *sizes, const int64_t *padding_idx)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    lt_tensor *from_0 = do_cast(s, line, LT_INT64);
    if (line->flags & LT_FLAG_POSITIONS)
        from_0 = do_sub(s, from_0, do_scalar(s, lt_scalar_from_int(1)));
    if (padding_idx != NULL) {
        const int64_t row = *padding_idx < 0 ? *padding_idx + sizes->v[0] : *padding_idx;
        lt_tensor *present =
            do_flatten(s, do_nonzero(s, do_ne(s, from_0, do_scalar(s, lt_scalar_from_int(row)))));
        from_0 = do_index_select(s, from_0, 0, present);
        rows = do_index_select(s, rows, 0, present);
    }
    lt_tensor *places = do_unsqueeze(s, from_0, 0);
    if (s->status != LT_OK) return NULL;
    const lt_status status = lt__sparse_coo(places, rows, sizes, false, &out);
    return lt_scope_hold(s, status, out);
}

lt_status lt__embedding_backward_impl(lt_tensor *grad_output, const lt_dims *sizes,
                                      lt_tensor *indices, const int64_t *padding_idx,
                                      bool scale_grad_by_freq, bool sparse, lt_tensor **out)
{
    lt_scope s;
    if (sparse && scale_grad_by_freq)
        return lt_error(
            LT_ERR_RUNTIME,
            "embedding_backward: scale_grad_by_freq not supported with sparse gradients");
    lt_scope_open(&s, LT_COMPOSITE(_embedding_backward));
    lt_tensor *line = do_reshape(&s, indices, &(lt_dims){1, {indices->numel}});
    lt_tensor *rows = do_reshape(&s, grad_output, &(lt_dims){2, {indices->numel, sizes->v[1]}});
    if (sparse) return lt_scope_return(&s, do_sparse_rows(&s, line, rows, sizes, padding_idx), out);
    if (padding_idx != NULL) {
        const int64_t row = *padding_idx < 0 ? *padding_idx + sizes->v[0] : *padding_idx;
        const int64_t given = row + ((indices->flags & LT_FLAG_POSITIONS) != 0);
        lt_tensor *padding =
            do_unsqueeze(&s, do_eq(&s, line, do_scalar(&s, lt_scalar_from_int(given))), 1);
        rows = do_where(&s, padding, do_scalar(&s, lt_scalar_from_int(0)), rows);
    }
    if (scale_grad_by_freq) rows = do_div(&s, rows, do_counts(&s, line, sizes->v[0], grad_output));
    return lt_scope_return(&s, do_index_add(&s, do_zeros(&s, grad_output, sizes), line, rows), out);
}

/* Scales selected rows that are longer than max_norm to this length, in place. */
static lt_status renormalize(lt_tensor *weight, lt_tensor *indices, double max_norm,
                             double norm_type)
{
    lt_scope s;
    lt_tensor *norms = NULL;
    lt_scope_open(&s, false);
    lt_tensor *line = do_reshape(&s, indices, &(lt_dims){1, {indices->numel}});
    lt_tensor *rows = do_index_select(&s, weight, 0, line);
    if (s.status == LT_OK) {
        lt_status status = lt_norm(rows, lt_scalar_from_float(norm_type), &(lt_dims){1, {1}}, true,
                                   LT_DTYPE_NONE, &norms);
        norms = lt_scope_hold(&s, status, norms);
    }
    lt_tensor *limit = do_number(&s, max_norm);
    lt_tensor *scale = do_div(&s, limit, plus(&s, norms, 1e-7));
    rows = do_where(&s, do_gt(&s, norms, limit), do_mul(&s, rows, scale), rows);
    if (s.status == LT_OK) s.status = lt_index_copy_(weight, 0, line, rows);
    return lt_scope_close(&s);
}

static lt_status check_padding(const lt_tensor *weight, const int64_t *padding_idx)
{
    if (padding_idx == NULL || weight->ndim == 0) return LT_OK;
    const int64_t n = weight->sizes[0];
    if (*padding_idx >= -n && *padding_idx < n) return LT_OK;
    return lt_error(LT_ERR_RUNTIME,
                    "padding_idx must be within the number of embeddings: %lld of %lld",
                    lt_user_index(*padding_idx), (long long)n);
}

lt_status lt_embedding_nn_impl(lt_tensor *input, lt_tensor *weight, const int64_t *padding_idx,
                               const double *max_norm, double norm_type, bool scale_grad_by_freq,
                               bool sparse, lt_tensor **out)
{
    LT_TRY(check_table("embedding", weight, input));
    LT_TRY(check_padding(weight, padding_idx));
    if (max_norm != NULL) LT_TRY(renormalize(weight, input, *max_norm, norm_type));
    if (*out != NULL)
        return lt_embedding_out(weight, input, padding_idx, scale_grad_by_freq, sparse, *out);
    return lt_embedding(weight, input, padding_idx, scale_grad_by_freq, sparse, out);
}

/* ---- bags ------------------------------------------------------------------------------------ */

/* Host offsets must begin with 0, not decrease and not exceed n. */
static lt_status check_offsets(const lt_tensor *offsets, int64_t n)
{
    if (offsets->device.type != LT_CPU || offsets->numel == 0) return LT_OK;
    const int64_t *v = (const int64_t *)lt_data(offsets);
    if (v[0] != 0)
        return lt_error(LT_ERR_RUNTIME,
                        "offsets[%lld] has to be %lld, i.e., the first sequence in the mini-batch "
                        "has to start from position %lld. However, got %lld",
                        lt_user_index(0), lt_user_index(0), lt_user_index(0), lt_user_index(v[0]));
    for (int64_t i = 0; i < offsets->numel; i++)
        if (v[i] < 0 || v[i] > n || (i > 0 && v[i] < v[i - 1]))
            return lt_error(
                LT_ERR_RUNTIME,
                "offsets[%lld] is %lld: offsets must not decrease, nor go beyond the %lld indices",
                lt_user_index(i), lt_user_index(v[i]), (long long)n);
    return LT_OK;
}

/* The same for offsets on a device, which reports an error at the next wait. */
static lt_status check_device_offsets(lt_scope *s, lt_tensor *offsets, int64_t n)
{
    if (s->status != LT_OK || offsets->device.type == LT_CPU || offsets->numel == 0)
        return s->status;
    lt_tensor *first = do_part(s, offsets, 0, 0, 1),
              *rest = do_part(s, offsets, 0, 1, offsets->numel);
    lt_tensor *end = do_add(s, do_mul(s, first, do_scalar(s, lt_scalar_from_int(0))),
                            do_scalar(s, lt_scalar_from_int(n)));
    lt_tensor *steps = do_sub(s, do_cat(s, (lt_tensor *[]){rest, end}, 2, 0), offsets);
    /* none is negative */
    lt_tensor *all = do_cat(s, (lt_tensor *[]){do_neg(s, do_abs(s, first)), steps}, 2, 0);
    all = do_cast(s, all, LT_FLOAT64);
    if (s->status != LT_OK) return s->status;
    return s->status = lt_check_values(
               all, (lt_value_check){.high = INFINITY,
                                     .text = "offsets have to begin with the first index, must not "
                                             "decrease, nor go beyond the last one"});
}

/* The bag of every index, from 0. */
static lt_tensor *do_bags(lt_scope *s, const lt_tensor *input, lt_tensor *offsets, int64_t bags)
{
    lt_tensor *found = NULL;
    if (s->status != LT_OK) return NULL;
    lt_tensor *each = do_range(s, input->numel, input->device);
    if (offsets == NULL)
        return do_floor_divide(
            s, each,
            do_scalar(s,
                      lt_scalar_from_int(bags > 0 && input->numel > 0 ? input->numel / bags : 1)));
    lt_tensor *starts = do_part(s, offsets, 0, 0, bags);
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_searchsorted(starts, each, false, true, NULL, NULL, &found);
    found = lt_scope_hold(s, status, found);
    return found != NULL ? do_sub(s, found, do_scalar(s, lt_scalar_from_int(1))) : NULL;
}

/* The maximum of the rows of each bag, 0 for none. */
static lt_tensor *do_largest(lt_scope *s, lt_tensor *rows, lt_tensor *bag, const lt_dims *sizes)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    const lt_dims wide = lt_dims_of(rows);
    lt_tensor *index = do_expand(s, do_unsqueeze(s, bag, 1), &wide),
              *zeros = do_zeros(s, rows, sizes);
    if (zeros == NULL) return NULL;
    lt_status status = lt_scatter_reduce(zeros, 0, index, rows, "amax", false, &out);
    return lt_scope_hold(s, status, out);
}

static lt_status check_bags(const lt_tensor *input, const lt_tensor *offsets, const char *mode,
                            const lt_tensor *each, bool include_last_offset)
{
    char a[256], b[256];
    if (strcmp(mode, "sum") != 0 && strcmp(mode, "mean") != 0 && strcmp(mode, "max") != 0)
        return lt_error(LT_ERR_RUNTIME, "mode has to be one of sum, mean or max");
    if (input->ndim != 1 && input->ndim != 2)
        return lt_error(LT_ERR_RUNTIME,
                        "input has to be 1D or 2D Tensor, but got Tensor of dimension %d",
                        input->ndim);
    if (input->ndim == 2 && offsets != NULL)
        return lt_error(LT_ERR_RUNTIME, "if input is 2D, then offsets has to be nil, as input is "
                                        "treated is a mini-batch of fixed length sequences.");
    if (input->ndim == 1 && offsets == NULL)
        return lt_error(LT_ERR_RUNTIME, "offsets has to be a 1D Tensor but got nil");
    if (offsets != NULL && offsets->ndim != 1)
        return lt_error(LT_ERR_RUNTIME, "offsets has to be a 1D Tensor");
    if (include_last_offset && (offsets == NULL || offsets->numel < 1))
        return lt_error(LT_ERR_RUNTIME,
                        "include_last_offset: number of offset should be at least 1");
    if (each == NULL) return LT_OK;
    if (strcmp(mode, "sum") != 0)
        return lt_error(
            LT_ERR_RUNTIME,
            "embedding_bag: per_sample_weights was not nil. per_sample_weights is only supported "
            "for mode='sum' (got mode='%s'). Please open a feature request on GitHub.",
            mode);
    if (lt_same_sizes(each, input)) return LT_OK;
    return lt_error(LT_ERR_RUNTIME,
                    "embedding_bag: If per_sample_weights (%s) is not nil, then it must have the "
                    "same shape as the input (%s)",
                    lt_format_sizes(a, sizeof a, each->ndim, each->sizes),
                    lt_format_sizes(b, sizeof b, input->ndim, input->sizes));
}

lt_status lt_embedding_bag_impl(lt_tensor *input, lt_tensor *weight, lt_tensor *offsets,
                                const double *max_norm, double norm_type, bool scale_grad_by_freq,
                                const char *mode, bool sparse, lt_tensor *per_sample_weights,
                                bool include_last_offset, const int64_t *padding_idx,
                                lt_tensor **out)
{
    lt_scope s;
    LT_TRY(check_table("embedding_bag", weight, input));
    if (sparse && strcmp(mode, "max") == 0)
        return lt_error(LT_ERR_RUNTIME, "embedding_bag: max mode does not support sparse weights");
    LT_TRY(check_bags(input, offsets, mode, per_sample_weights, include_last_offset));
    LT_TRY(check_padding(weight, padding_idx));
    const int64_t bags = offsets == NULL ? input->sizes[0] : offsets->numel - include_last_offset;
    const lt_dims line = {1, {input->numel}}, sizes = {2, {bags, weight->sizes[1]}};
    lt_scope_open(&s, LT_COMPOSITE(embedding_bag));
    lt_tensor *starts = offsets != NULL ? do_contiguous(&s, do_cast(&s, offsets, LT_INT64)) : NULL;
    if (starts != NULL) s.status = check_offsets(starts, input->numel);
    if (starts != NULL) check_device_offsets(&s, starts, input->numel);
    lt_tensor *ids = do_reshape(&s, do_cast(&s, input, LT_INT64), &line),
              *bag = do_bags(&s, input, starts, bags), *rows = NULL;
    if (padding_idx != NULL) { /* excluded */
        const int64_t row = *padding_idx < 0 ? *padding_idx + weight->sizes[0] : *padding_idx;
        lt_tensor *present = do_ne(&s, ids, do_scalar(&s, lt_scalar_from_int(row)));
        ids = do_masked_select(&s, ids, present);
        bag = do_masked_select(&s, bag, present);
        if (per_sample_weights != NULL)
            per_sample_weights =
                do_masked_select(&s, do_reshape(&s, per_sample_weights, &line), present);
    }
    if (s.status == LT_OK) {
        lt_status status = lt_embedding_nn(ids, weight, NULL, max_norm, norm_type,
                                           scale_grad_by_freq, sparse, &rows);
        rows = lt_scope_hold(&s, status, rows);
    }
    if (per_sample_weights != NULL && s.status == LT_OK)
        rows = do_mul(&s, rows, do_reshape(&s, per_sample_weights, &(lt_dims){2, {ids->numel, 1}}));
    if (strcmp(mode, "max") == 0)
        return lt_scope_return(&s, do_largest(&s, rows, bag, &sizes), out);
    lt_tensor *sum =
        s.status == LT_OK ? do_index_add(&s, do_zeros(&s, rows, &sizes), bag, rows) : NULL;
    if (strcmp(mode, "mean") == 0 && s.status == LT_OK) {
        lt_tensor *ones = plus(&s, do_zeros(&s, rows, &(lt_dims){1, {ids->numel}}), 1);
        lt_tensor *counts =
            s.status == LT_OK
                ? do_index_add(&s, do_zeros(&s, rows, &(lt_dims){1, {bags}}), bag, ones)
                : NULL;
        sum = do_div(&s, sum, do_unsqueeze(&s, do_maximum(&s, counts, do_number(&s, 1)), 1));
    }
    return lt_scope_return(&s, sum, out);
}
