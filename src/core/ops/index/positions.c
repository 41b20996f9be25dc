/* positions.c - ops composed of gather, scatter and indexing: take_along_dim, put, masked_scatter,
 * scatter_reduce, and searchsorted. */
#include <math.h>
#include <string.h>

#include "autograd/dual.h"
#include "devices/transfer.h"
#include "dtypes/fits.h"
#include "ops/steps.h"
#include "iter.h"
#include "op/_index_put_.h"
#include "op/_masked_scatter_backward.h"
#include "op/_put_backward.h"
#include "op/_scatter_reduce_backward_self.h"
#include "op/_scatter_reduce_backward_src.h"
#include "op/argwhere.h"
#include "op/bucketize.h"
#include "op/clamp_min.h"
#include "op/clone.h"
#include "op/constant_pad_nd.h"
#include "op/index_put.h"
#include "op/masked_scatter.h"
#include "op/masked_select.h"
#include "op/nonzero.h"
#include "op/ones_like.h"
#include "op/put.h"
#include "op/scatter.h"
#include "op/scatter_reduce.h"
#include "op/searchsorted.h"
#include "op/take_along_dim.h"
#include "op/to.h"
#include "op/zeros.h"
#include "op/zeros_like.h"
#include "step/any.h"
#include "step/scatter_add.h"
#include "step/scatter_value.h"

lt_status lt_take_along_dim_impl(lt_tensor *self, lt_tensor *indices, const int64_t *dim,
                                 lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(take_along_dim));
    if (dim == NULL)
        return lt_scope_return(&s, do_gather(&s, do_flatten(&s, self), 0, do_flatten(&s, indices)),
                               out);
    int d;
    s.status = lt_wrap_dim(*dim, self->ndim, &d);
    if (s.status == LT_OK && self->ndim != indices->ndim)
        s.status =
            lt_error(LT_ERR_RUNTIME,
                     "torch.take_along_dim(): input and indices should have the same number of "
                     "dimensions, but got %d dimensions for input, and %d dimensions for indices",
                     self->ndim, indices->ndim);
    if (s.status != LT_OK) return lt_scope_close(&s);
    /* broadcast except along the dimension */
    lt_dims of_self = lt_dims_of(self), of_index = lt_dims_of(indices);
    for (int e = 0; e < self->ndim; e++) {
        if (e == d) continue;
        if (of_self.v[e] == 1) of_self.v[e] = of_index.v[e];
        if (of_index.v[e] == 1) of_index.v[e] = of_self.v[e];
    }
    return lt_scope_return(
        &s, do_gather(&s, do_expand(&s, self, &of_self), d, do_expand(&s, indices, &of_index)),
        out);
}

lt_status lt_index_put_impl(lt_tensor *self, const lt_tensor_list *indices, lt_tensor *values,
                            bool accumulate, lt_tensor **out)
{
    if (*out == self) return lt__index_put__impl(self, indices, values, accumulate);
    lt_tensor *copy = NULL;
    LT_TRY(lt_clone_impl(self, &copy));
    lt_status status = lt__index_put__impl(copy, indices, values, accumulate);
    if (status == LT_OK)
        *out = copy;
    else
        lt_tensor_release(copy);
    return status;
}

lt_status lt_argwhere_impl(lt_tensor *self, lt_tensor **out) { return lt_nonzero_impl(self, out); }

lt_status lt_put_impl(lt_tensor *self, lt_tensor *index, lt_tensor *source, bool accumulate,
                      lt_tensor **out)
{
    if (index->numel != source->numel)
        return lt_error(LT_ERR_INDEX,
                        "put_(): Expected source and index to have the same number of elements, "
                        "but got source.numel() = %lld, index.numel() = %lld",
                        (long long)source->numel, (long long)index->numel);
    if (source->dtype != self->dtype)
        return lt_error(LT_ERR_RUNTIME,
                        "put_(): self and source expected to have the same dtype, but got "
                        "self.dtype = %s and source.dtype = %s",
                        lt_dtype_scalar_name((lt_dtype)self->dtype),
                        lt_dtype_scalar_name((lt_dtype)source->dtype));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(put));
    lt_tensor *line = do_flatten(&s, self), *work = NULL, *at = do_flatten(&s, index),
              *values = do_flatten(&s, source);
    if (s.status == LT_OK) {
        lt_status status = lt_clone_impl(line, &work);
        work = lt_scope_hold(&s, status, work);
    }
    if (work != NULL)
        s.status = lt__index_put__impl(work, &(lt_tensor_list){1, &at}, values, accumulate);
    lt_dims sizes = lt_dims_of(self);
    return lt_scope_store(&s, do_reshape(&s, work, &sizes), out);
}

lt_status lt__put_backward_impl(lt_tensor *grad_output, lt_tensor *index, bool accumulate,
                                lt_tensor **out)
{
    if (accumulate) {
        *out = lt_tensor_retain(grad_output);
        return LT_OK;
    }
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_put_backward));
    lt_dims sizes = lt_dims_of(index);
    lt_tensor *zeros = do_zeros(&s, grad_output, &sizes), *result = NULL;
    if (zeros == NULL) return lt_scope_close(&s);
    lt_status status = lt_put(grad_output, index, zeros, false, &result);
    return lt_scope_return(&s, lt_scope_hold(&s, status, result), out);
}

/* ---- masked_scatter -------------------------------------------------------------------------- */

lt_status lt_masked_scatter_impl(lt_tensor *self, lt_tensor *mask, lt_tensor *source,
                                 lt_tensor **out)
{
    if ((lt_dtype)mask->dtype != LT_BOOL)
        return lt_error(LT_ERR_RUNTIME,
                        "masked_scatter_ only supports boolean masks, but got mask with dtype %s",
                        lt_dtype_scalar_name((lt_dtype)mask->dtype));
    if (self->dtype != source->dtype)
        return lt_error(
            LT_ERR_RUNTIME,
            "masked_scatter: expected self and source to have same dtypes but got %s and %s",
            lt_dtype_scalar_name((lt_dtype)self->dtype),
            lt_dtype_scalar_name((lt_dtype)source->dtype));
    lt_device device;
    lt_dims shape;
    LT_TRY(lt_check_same_device("masked_scatter", (lt_tensor *[]){self, mask, source}, 3, false,
                                &device));
    LT_TRY(lt_broadcast_shape((lt_tensor *[]){self, mask}, 2, &shape.n, shape.v));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(masked_scatter));
    lt_tensor *base = do_expand(&s, self, &shape), *flags = do_expand(&s, mask, &shape);
    lt_tensor *count = do_cumsum(&s, do_cast(&s, do_flatten(&s, flags), LT_INT64), 0),
              *result = base;
    if (count != NULL && device.type == LT_CPU && count->numel > 0) {
        lt_scalar wanted;
        lt_tensor *last = do_select(&s, count, 0, -1);
        if (s.status == LT_OK) s.status = lt_tensor_item(last, &wanted);
        if (s.status == LT_OK && wanted.v.i > source->numel)
            s.status = lt_error(
                LT_ERR_RUNTIME,
                "masked_scatter_: expected self and source to have the same number of elements "
                "where the mask is true: number of elements of source < number of ones in mask");
    }
    if (s.status == LT_OK && source->numel > 0 && base->numel > 0) {
        lt_tensor *place = do_clamp_within(
            &s, do_sub(&s, count, do_scalar(&s, lt_scalar_from_int(1))), 0, INT64_MAX);
        lt_tensor *values = do_reshape(&s, do_gather(&s, do_flatten(&s, source), 0, place), &shape);
        result = do_where(&s, flags, values, base);
    }
    if (s.status == LT_OK) {
        lt_tensor *dense = NULL;
        lt_status status = result == base ? lt_clone_format_impl(base, "contiguous_format", &dense)
                                          : lt_make_contiguous(result, &dense);
        result = lt_scope_hold(&s, status, dense);
    }
    return lt_scope_store(&s, result, out);
}

/* The gradients where the mask is true, in order, then zeros for the unused elements of the source.
 */
lt_status lt__masked_scatter_backward_impl(lt_tensor *grad_output, lt_tensor *mask,
                                           const lt_dims *sizes, lt_tensor **out)
{
    int64_t n = 1;
    for (int d = 0; d < sizes->n; d++) n *= sizes->v[d];
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_masked_scatter_backward));
    lt_tensor *used = NULL, *padded = NULL;
    lt_status status = lt_masked_select(grad_output, mask, &used);
    used = lt_scope_hold(&s, status, used);
    if (used == NULL) return lt_scope_close(&s);
    status = lt_constant_pad_nd(used, &(lt_dims){2, {0, n - used->numel}}, lt_scalar_from_int(0),
                                &padded);
    return lt_scope_return(&s, do_reshape(&s, lt_scope_hold(&s, status, padded), sizes), out);
}

/* ---- scatter_reduce -------------------------------------------------------------------------- */

typedef enum reduction { SUM, PROD, MEAN, AMAX, AMIN } reduction;

static lt_status reduction_named(const char *name, reduction *out)
{
    static const char *const names[] = {"sum", "prod", "mean", "amax", "amin"};
    for (int i = 0; i < 5; i++)
        if (strcmp(name, names[i]) == 0) {
            *out = (reduction)i;
            return LT_OK;
        }
    return lt_error(LT_ERR_RUNTIME,
                    "reduce argument must be either sum, prod, mean, amax or amin, got %s", name);
}

/* The number of elements combined at each position, with the element of self if included; at least
 * 1. */
static lt_tensor *do_counts(lt_scope *s, lt_tensor *self, int64_t dim, lt_tensor *index,
                            lt_tensor *src, bool include_self)
{
    lt_tensor *start = NULL, *ones = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = include_self ? lt_ones_like(self, LT_DTYPE_NONE, NULL, &start)
                                    : lt_zeros_like(self, LT_DTYPE_NONE, NULL, &start);
    start = lt_scope_hold(s, status, start);
    if (s->status != LT_OK) return NULL;
    status = lt_ones_like(src, LT_DTYPE_NONE, NULL, &ones);
    ones = lt_scope_hold(s, status, ones);
    lt_tensor *counts = do_scatter_add(s, start, dim, index, ones), *result = NULL;
    if (counts == NULL) return NULL;
    status = lt_clamp_min(counts, lt_scalar_from_int(1), &result);
    return lt_scope_hold(s, status, result);
}

/* The initial value of a reduction if self is not included. */
static lt_scalar neutral(reduction r, lt_dtype dtype)
{
    if (r == PROD) return lt_scalar_from_int(1);
    if (r != AMAX && r != AMIN) return lt_scalar_from_int(0);
    return lt_extreme_of(dtype, r == AMIN);
}

lt_status lt_scatter_reduce_impl(lt_tensor *self, int64_t dim, lt_tensor *index, lt_tensor *src,
                                 const char *reduce, bool include_self, lt_tensor **out)
{
    static const lt_scatter_mode modes[] = {LT_SCATTER_ADD, LT_SCATTER_MUL, LT_SCATTER_ADD,
                                            LT_SCATTER_MAX, LT_SCATTER_MIN};
    reduction r;
    LT_TRY(reduction_named(reduce, &r));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(scatter_reduce));
    lt_tensor *start = self, *result = NULL;
    if (!include_self)
        start = do_scatter_value(&s, self, dim, index, neutral(r, (lt_dtype)self->dtype));
    if (start != NULL) {
        lt_status status =
            lt_scatter_combine("scatter_reduce", modes[r], start, dim, index, src, &result);
        result = lt_scope_hold(&s, status, result);
    }
    if (r == MEAN && result != NULL) {
        lt_tensor *counts = do_counts(&s, self, dim, index, src, include_self);
        result = lt_dtype_is_float((lt_dtype)self->dtype) ? do_div(&s, result, counts)
                                                          : do_floor_divide(&s, result, counts);
    }
    return lt_scope_store(&s, result, out);
}

/* 1 where an element equals the extreme. */
static lt_tensor *do_winners(lt_scope *s, lt_tensor *values, lt_tensor *extremes,
                             const lt_tensor *like)
{
    return do_cast(s, do_eq(s, values, extremes), (lt_dtype)like->dtype);
}

/* The arguments and the result of a call of scatter_reduce. */
typedef struct scattered {
    lt_tensor *self, *index, *src, *result;
    int64_t dim;
    bool include_self;
} scattered;

/* amax, amin: the gradient for each element that equals the result: divided equally among all of
 * them. */
static lt_tensor *do_shared(lt_scope *s, lt_tensor *grad, const scattered *x)
{
    lt_tensor *of_self = do_winners(s, x->self, x->result, grad);
    lt_tensor *of_src = do_winners(s, x->src, do_gather(s, x->result, x->dim, x->index), grad);
    if (!x->include_self)
        of_self = do_scatter_value(s, of_self, x->dim, x->index, lt_scalar_from_int(0));
    return do_div(s, grad, do_scatter_add(s, of_self, x->dim, x->index, of_src));
}

/* ---- products: the derivative for an element is the product of the others at its position ---- */

typedef struct place_products {
    lt_tensor *self_zero, *src_zero;       /* which elements are 0 */
    lt_tensor *self_factors, *src_factors; /* the elements, with zeros replaced by 1 */
    /* a position's product without its zero, if there is one; 0 if there are more, or for the
     * others if there is any */
    lt_tensor *of_zero, *of_others;
} place_products;

/* The formula has no derivative where elements are 0: raises an error if one is needed there. */
static void refuse_zeros(lt_scope *s, lt_tensor *self_zero, lt_tensor *src_zero)
{
    lt_tensor *any = do_logical_or(s, do_any(s, self_zero), do_any(s, src_zero));
    lt_scalar found;
    if (s->status != LT_OK) return;
    s->status = lt_tensor_item(any, &found);
    if (s->status == LT_OK && lt_scalar_double(found) != 0)
        s->status = lt_error(LT_ERR_RUNTIME, "scatter_reduce(): the second derivative of 'prod' is "
                                             "not implemented where elements are 0");
}

static place_products do_place_products(lt_scope *s, lt_tensor *self, int64_t dim, lt_tensor *index,
                                        lt_tensor *src, bool include_self)
{
    place_products p = {0};
    lt_tensor *none = do_number(s, 0), *one = do_number(s, 1), *product = NULL;
    if (!include_self) self = do_scatter_value(s, self, dim, index, lt_scalar_from_int(1));
    p.self_zero = do_eq(s, self, none);
    p.src_zero = do_eq(s, src, none);
    if (s->status != LT_OK) return p;
    if (lt_is_differentiated(self) || lt_is_differentiated(src))
        refuse_zeros(s, p.self_zero, p.src_zero);
    p.self_factors = do_where(s, p.self_zero, one, self);
    p.src_factors = do_where(s, p.src_zero, one, src);
    if (s->status != LT_OK) return p;
    lt_status status =
        lt_scatter_reduce(p.self_factors, dim, index, p.src_factors, "prod", true, &product);
    product = lt_scope_hold(s, status, product);
    lt_tensor *zeros = do_scatter_add(s, do_cast(s, p.self_zero, (lt_dtype)self->dtype), dim, index,
                                      do_cast(s, p.src_zero, (lt_dtype)self->dtype));
    p.of_zero = do_where(s, do_eq(s, zeros, one), product, none);
    p.of_others = do_where(s, do_eq(s, zeros, none), product, none);
    return p;
}

lt_status lt__scatter_reduce_backward_self_impl(lt_tensor *grad_output, lt_tensor *self,
                                                int64_t dim, lt_tensor *index, lt_tensor *src,
                                                const char *reduce, bool include_self,
                                                lt_tensor *result, lt_tensor **out)
{
    reduction r;
    LT_TRY(reduction_named(reduce, &r));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_scatter_reduce_backward_self));
    lt_tensor *grad = grad_output;
    if (include_self) {
        if (r == MEAN) grad = do_div(&s, grad, do_counts(&s, self, dim, index, src, true));
        if (r == PROD) {
            place_products p = do_place_products(&s, self, dim, index, src, true);
            grad = do_mul(
                &s, grad,
                do_where(&s, p.self_zero, p.of_zero, do_div(&s, p.of_others, p.self_factors)));
        }
        if (r == AMAX || r == AMIN)
            grad = do_mul(&s, do_winners(&s, self, result, grad),
                          do_shared(&s, grad, &(scattered){self, index, src, result, dim, true}));
    } else {
        grad = do_scatter_value(&s, grad, dim, index, lt_scalar_from_int(0));
    }
    return lt_scope_return(&s, grad, out);
}

lt_status lt__scatter_reduce_backward_src_impl(lt_tensor *grad_output, lt_tensor *self, int64_t dim,
                                               lt_tensor *index, lt_tensor *src, const char *reduce,
                                               bool include_self, lt_tensor *result,
                                               lt_tensor **out)
{
    reduction r;
    LT_TRY(reduction_named(reduce, &r));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_scatter_reduce_backward_src));
    lt_tensor *grad = grad_output;
    if (r == MEAN) grad = do_div(&s, grad, do_counts(&s, self, dim, index, src, include_self));
    if (r == AMAX || r == AMIN)
        grad = do_shared(&s, grad, &(scattered){self, index, src, result, dim, include_self});
    grad = do_gather(&s, grad, dim, index);
    if (r == PROD) {
        place_products p = do_place_products(&s, self, dim, index, src, include_self);
        lt_tensor *of_zero = do_gather(&s, p.of_zero, dim, index),
                  *of_others = do_gather(&s, p.of_others, dim, index);
        grad = do_mul(&s, grad,
                      do_where(&s, p.src_zero, of_zero, do_div(&s, of_others, p.src_factors)));
    }
    if (r == AMAX || r == AMIN)
        grad =
            do_mul(&s, grad, do_winners(&s, src, do_gather(&s, result, dim, index), grad_output));
    return lt_scope_return(&s, grad, out);
}

/* ---- searchsorted ---------------------------------------------------------------------------- */

/* One step of a binary search: indices in `low` advance by `width` if the last element that they
 * pass is still before the value. */
static lt_status halve(lt_tensor *sorted, lt_tensor *values, bool right, int64_t width,
                       lt_tensor *low, lt_tensor **out)
{
    int64_t n = sorted->sizes[sorted->ndim - 1];
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *next = do_add(&s, low, do_scalar(&s, lt_scalar_from_int(width)));
    lt_tensor *at =
        do_clamp_within(&s, do_sub(&s, next, do_scalar(&s, lt_scalar_from_int(1))), 0, n - 1);
    lt_tensor *there = do_gather(&s, sorted, -1, at);
    lt_tensor *before = right ? do_le(&s, there, values) : do_lt(&s, there, values);
    /* nan counts as the largest value */
    if (lt_dtype_is_float((lt_dtype)values->dtype))
        before = do_logical_or(&s, before, do_isnan(&s, values));
    lt_tensor *moves =
        do_logical_and(&s, before, do_le(&s, next, do_scalar(&s, lt_scalar_from_int(n))));
    return lt_scope_return(&s, do_where(&s, moves, next, low), out);
}

/* By the backend's kernel, if it supports such tensors; else *out stays NULL. */
static lt_status search_natively(lt_tensor *sorted, lt_tensor *values, bool right, lt_tensor **out)
{
    const lt_backend *backend = lt_backend_of(values);
    const int64_t n = sorted->sizes[sorted->ndim - 1],
                  count = values->ndim > 0 ? values->sizes[values->ndim - 1] : 1;
    if (backend->search == NULL || sorted->dtype != values->dtype || !lt_is_contiguous(sorted) ||
        !lt_is_contiguous(values) || count == 0)
        return LT_OK;
    lt_tensor *found;
    LT_TRY(lt_tensor_new(LT_INT64, values->device, values->ndim, values->sizes, &found));
    const lt_search search = {.right = right,
                              .dtype = (lt_dtype)values->dtype,
                              .sorted = lt_data(sorted),
                              .values = lt_data(values),
                              .lines = values->numel / count,
                              .n = n,
                              .count = count,
                              .out = (int64_t *)(void *)lt_data(found)};
    lt_status status = backend->search(&search);
    if (status == LT_OK)
        *out = found;
    else
        lt_tensor_release(found);
    return status == LT_ERR_TYPE ? LT_OK : status;
}

/* sorted and values of the same batch. */
static lt_status do_searchsorted(lt_tensor *sorted, lt_tensor *values, bool right, lt_tensor **out)
{
    int64_t n = sorted->sizes[sorted->ndim - 1], width = 1;
    lt_dims sizes = lt_dims_of(values);
    lt_tensor *low = NULL, *next = NULL;
    LT_TRY(search_natively(sorted, values, right, &low));
    if (low != NULL) {
        *out = low;
        return LT_OK;
    }
    LT_TRY(lt_zeros(&sizes, LT_INT64, &values->device, &low));
    while (width <= n / 2) width *= 2;
    for (; n > 0 && width > 0; width /= 2) {
        lt_status status = halve(sorted, values, right, width, low, &next);
        lt_tensor_release(low);
        if (status != LT_OK) return status;
        low = next;
        next = NULL;
    }
    *out = low;
    return LT_OK;
}

lt_status lt_searchsorted_impl(lt_tensor *sorted_sequence, lt_tensor *input, bool out_int32,
                               bool right, const char *side, lt_tensor *sorter, lt_tensor **out)
{
    if (side != NULL && strcmp(side, "left") != 0 && strcmp(side, "right") != 0)
        return lt_error(LT_ERR_RUNTIME,
                        "torch.searchsorted(): side can only be 'left' or 'right' but got %s",
                        side);
    if (side != NULL && right && strcmp(side, "left") == 0)
        return lt_error(LT_ERR_RUNTIME, "torch.searchsorted(): side and right can't be set to "
                                        "opposites, got side of left while right was True");
    if (side != NULL) right = strcmp(side, "right") == 0;
    if (sorted_sequence->ndim == 0)
        return lt_error(LT_ERR_RUNTIME,
                        "torch.searchsorted(): boundaries tensor should have positive dimension");
    bool batches = sorted_sequence->ndim > 1,
         fits = !batches || sorted_sequence->ndim == input->ndim;
    for (int d = 0; batches && fits && d < input->ndim - 1; d++)
        fits = sorted_sequence->sizes[d] == input->sizes[d];
    char a[256], b[256];
    if (!fits)
        return lt_error(LT_ERR_RUNTIME,
                        "torch.searchsorted(): boundaries tensor should be 1 dimension or the "
                        "first N-1 dimensions of boundaries tensor and input value tensor must "
                        "match, but we got boundaries tensor %s and input value tensor %s",
                        lt_format_sizes(a, sizeof a, sorted_sequence->ndim, sorted_sequence->sizes),
                        lt_format_sizes(b, sizeof b, input->ndim, input->sizes));
    bool same = sorter == NULL || sorter->ndim == sorted_sequence->ndim;
    for (int d = 0; sorter != NULL && same && d < sorter->ndim; d++)
        same = sorter->sizes[d] == sorted_sequence->sizes[d];
    if (!same)
        return lt_error(LT_ERR_RUNTIME,
                        "torch.searchsorted(): boundary and sorter must have the same size, but "
                        "got boundary tensor %s and got sorter tensor %s",
                        lt_format_sizes(a, sizeof a, sorted_sequence->ndim, sorted_sequence->sizes),
                        lt_format_sizes(b, sizeof b, sorter->ndim, sorter->sizes));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(searchsorted));
    if (input->flags & LT_FLAG_WRAPPED_NUMBER) { /* a scalar is moved to the sequence's device */
        lt_tensor *there = NULL;
        lt_status status =
            lt_to(input, &sorted_sequence->device, LT_DTYPE_NONE, false, false, &there);
        input = lt_scope_hold(&s, status, there);
        if (input == NULL) return lt_scope_close(&s);
    }
    lt_tensor *sorted =
                  sorter != NULL ? do_gather(&s, sorted_sequence, -1, sorter) : sorted_sequence,
              *found = NULL;
    const bool as_it_is = batches || input->ndim == 1; /* else one row of values */
    lt_tensor *values = as_it_is ? input : do_flatten(&s, input);
    if (sorted != NULL && values != NULL) {
        lt_status status = do_searchsorted(sorted, values, right, &found);
        found = lt_scope_hold(&s, status, found);
    }
    lt_dims sizes = lt_dims_of(input);
    lt_tensor *result = as_it_is ? found : do_reshape(&s, found, &sizes);
    return lt_scope_return(&s, out_int32 ? do_cast(&s, result, LT_INT32) : result, out);
}

lt_status lt_bucketize_impl(lt_tensor *input, lt_tensor *boundaries, bool out_int32, bool right,
                            lt_tensor **out)
{
    if (boundaries->ndim != 1)
        return lt_error(LT_ERR_RUNTIME,
                        "bucketize(): boundaries tensor must be 1 dimension, but got dim(%d)",
                        boundaries->ndim);
    return lt_searchsorted(boundaries, input, out_int32, right, NULL, NULL, out);
}
