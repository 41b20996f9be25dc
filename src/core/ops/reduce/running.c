/* running.c - the derivatives of cumprod and logcumsumexp, nansum and nanmean, and softmin, as
 * formulas of other ops. */
#include "ops/pointwise.h"
#include "statistics.h"
#include "devices/transfer.h"
#include "ops/steps.h"
#include "op/_cumprod_backward.h"
#include "op/_cumprod_tangent.h"
#include "op/_logcumsumexp_backward.h"
#include "op/_logcumsumexp_tangent.h"
#include "op/_reverse_cumsum.h"
#include "op/logcumsumexp.h"
#include "op/nanmean.h"
#include "op/nansum.h"
#include "op/neg.h"
#include "op/softmax.h"
#include "op/softmin.h"
#include "op/sum.h"
#include "step/cumprod.h"
#include "step/cumsum.h"
#include "step/logcumsumexp.h"

/* ---- cumprod --------------------------------------------------------------------------------- */

static lt_tensor *do_reverse_cumsum(lt_scope *s, lt_tensor *a, int64_t dim)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt__reverse_cumsum(a, dim, &out);
    return lt_scope_hold(s, status, out);
}

/* Element i of a row is a factor of each product from i on. Without zeros the derivative is
 * sum(grad * result) / self from i on; with zeros the products without element i are computed one
 * by one, from rows in which it is 1. */
lt_status lt__cumprod_backward_impl(lt_tensor *grad_output, lt_tensor *self, int64_t dim,
                                    lt_tensor *result, lt_tensor **out)
{
    bool no_zero = true;
    lt_scope s;
    int d;
    LT_TRY(lt_wrap_dim(dim, self->ndim, &d));
    lt_scope_open(&s, LT_COMPOSITE(_cumprod_backward));
    if (self->ndim == 0 || self->numel == 0) {
        lt_dims sizes = lt_dims_of(self);
        return lt_scope_return(&s, do_expand(&s, grad_output, &sizes), out);
    }
    if (lt_all_set(&s, self, &no_zero) != LT_OK || no_zero)
        return lt_scope_return(
            &s, do_div(&s, do_reverse_cumsum(&s, do_mul(&s, grad_output, result), d), self), out);
    const int64_t n = self->sizes[d];
    lt_dims turned = lt_dims_of(self);
    lt_tensor *x = do_transpose(&s, self, d, -1), *grad = do_transpose(&s, grad_output, d, -1);
    /* [n, n]: omitted element by product */
    lt_tensor *places = do_range(&s, n, self->device);
    lt_tensor *own = do_eq(&s, do_unsqueeze(&s, places, 1), places);
    lt_tensor *after = do_ge(&s, places, do_unsqueeze(&s, places, 1));
    lt_dims flat = {.n = 3, .v = {self->numel / n, 1, n}};
    lt_tensor *rows = do_where(&s, own, do_number(&s, 1), do_reshape(&s, x, &flat));
    lt_tensor *products = do_where(&s, after, do_cumprod(&s, rows, 2), do_number(&s, 0));
    lt_tensor *sums = do_sum_dim(&s, do_mul(&s, do_reshape(&s, grad, &flat), products), 2, false);
    turned.v[d] = turned.v[turned.n - 1];
    turned.v[turned.n - 1] = n;
    return lt_scope_return(&s, do_transpose(&s, do_reshape(&s, sums, &turned), d, -1), out);
}

/* Without zeros the result times the sum of tangent / self up to there; with zeros the sum of the
 * products of rows in which one element is replaced by its tangent. */
lt_status lt__cumprod_tangent_impl(lt_tensor *self_t, lt_tensor *self, int64_t dim,
                                   lt_tensor *result, lt_tensor **out)
{
    bool no_zero = true;
    lt_scope s;
    int d;
    LT_TRY(lt_wrap_dim(dim, self->ndim, &d));
    lt_scope_open(&s, LT_COMPOSITE(_cumprod_tangent));
    lt_tensor *x = do_cast(&s, self, (lt_dtype)result->dtype),
              *tangent = do_cast(&s, self_t, (lt_dtype)result->dtype);
    if (self->ndim == 0 || self->numel == 0) return lt_scope_return(&s, tangent, out);
    if (lt_all_set(&s, self, &no_zero) != LT_OK || no_zero)
        return lt_scope_return(&s, do_mul(&s, do_cumsum(&s, do_div(&s, tangent, x), d), result),
                               out);
    const int64_t n = self->sizes[d];
    x = do_unsqueeze(&s, do_transpose(&s, x, d, -1), -2),
    tangent = do_unsqueeze(&s, do_transpose(&s, tangent, d, -1), -2);
    lt_tensor *places = do_range(&s, n, self->device), *rows = do_unsqueeze(&s, places, 1);
    /* [..., replaced element, n] */
    lt_tensor *lines = do_where(&s, do_eq(&s, rows, places), tangent, x);
    lt_tensor *products =
        do_where(&s, do_ge(&s, places, rows), do_cumprod(&s, lines, -1), do_number(&s, 0));
    return lt_scope_return(&s, do_transpose(&s, do_sum_dim(&s, products, -2, false), d, -1), out);
}

/* ---- logcumsumexp ---------------------------------------------------------------------------- */

/* stands for log(0): its exp is 0, and differences of it are numbers */
#define LEAST_LOGARITHM -1e30

static lt_tensor *do_reverse_logcumsumexp(lt_scope *s, lt_tensor *a, int64_t dim)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    if (a->ndim == 0) return a;
    lt_tensor *flipped = do_flip(s, a, dim);
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_logcumsumexp(flipped, dim, &out);
    return do_flip(s, lt_scope_hold(s, status, out), dim);
}

/* The gradient for the positive part of grad: exp(self + log of the sum of part * exp(-result) from
 * this element on). */
static lt_tensor *do_share(lt_scope *s, lt_tensor *part, lt_tensor *self, lt_tensor *result,
                           int64_t dim)
{
    lt_tensor *positive = do_gt(s, part, do_number(s, 0));
    lt_tensor *logarithm = do_log(s, do_where(s, positive, part, do_number(s, 1)));
    lt_tensor *terms =
        do_where(s, positive, do_sub(s, logarithm, result), do_number(s, LEAST_LOGARITHM));
    return do_exp(s, do_add(s, do_reverse_logcumsumexp(s, terms, dim), self));
}

lt_status lt__logcumsumexp_backward_impl(lt_tensor *grad_output, lt_tensor *self, lt_tensor *result,
                                         int64_t dim, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_logcumsumexp_backward));
    lt_tensor *x = do_widen(&s, self), *y = do_widen(&s, result), *grad = do_widen(&s, grad_output);
    if (lt_dtype_is_complex((lt_dtype)self->dtype)) { /* complex logarithms exist for all numbers */
        lt_tensor *terms = do_sub(&s, do_log(&s, grad), y);
        return lt_scope_return(
            &s, do_exp(&s, do_add(&s, do_reverse_logcumsumexp(&s, terms, dim), x)), out);
    }
    lt_tensor *shares =
        do_sub(&s, do_share(&s, grad, x, y, dim), do_share(&s, do_neg(&s, grad), x, y, dim));
    return lt_scope_return(&s, do_narrow_to(&s, shares, self), out);
}

/* The tangent for its positive part: exp(log of the sum of part * exp(self) up to this element -
 * result). */
static lt_tensor *do_share_of_tangent(lt_scope *s, lt_tensor *part, lt_tensor *self,
                                      lt_tensor *result, int64_t dim)
{
    lt_tensor *positive = do_gt(s, part, do_number(s, 0));
    lt_tensor *logarithm = do_log(s, do_where(s, positive, part, do_number(s, 1)));
    lt_tensor *terms =
        do_where(s, positive, do_add(s, logarithm, self), do_number(s, LEAST_LOGARITHM));
    return do_exp(s, do_sub(s, do_logcumsumexp(s, terms, dim), result));
}

lt_status lt__logcumsumexp_tangent_impl(lt_tensor *self_t, lt_tensor *self, lt_tensor *result,
                                        int64_t dim, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_logcumsumexp_tangent));
    lt_tensor *x = do_widen(&s, self), *y = do_widen(&s, result), *tangent = do_widen(&s, self_t);
    if (lt_dtype_is_complex((lt_dtype)self->dtype))
        return lt_scope_return(
            &s,
            do_exp(&s, do_sub(&s, do_logcumsumexp(&s, do_add(&s, do_log(&s, tangent), x), dim), y)),
            out);
    lt_tensor *up = do_share_of_tangent(&s, tangent, x, y, dim),
              *down = do_share_of_tangent(&s, do_neg(&s, tangent), x, y, dim);
    return lt_scope_return(&s, do_narrow_to(&s, do_sub(&s, up, down), self), out);
}

/* ---- without nan ----------------------------------------------------------------------------- */

lt_status lt_nansum_impl(lt_tensor *self, const lt_dims *dim, bool keepdim, lt_dtype dtype,
                         lt_tensor **out)
{
    lt_dtype own = (lt_dtype)self->dtype;
    if (lt_dtype_is_complex(own))
        return lt_error(LT_ERR_RUNTIME, "nansum does not support complex inputs");
    if (!lt_dtype_is_float(own)) return lt_sum_dim_impl(self, dim, keepdim, dtype, out);
    if (dtype == LT_DTYPE_NONE || dtype == own)
        return lt_reduce_over(LT_REDUCE_SUM_NUMBERS, self, dim, keepdim, own, 0, out);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(nansum));
    lt_tensor *numbers =
        do_where(&s, do_isnan(&s, self), do_scalar(&s, lt_scalar_from_int(0)), self);
    lt_tensor *sum = NULL;
    if (s.status == LT_OK) {
        lt_status status = lt_sum_dim(numbers, dim, keepdim, dtype, &sum);
        sum = lt_scope_hold(&s, status, sum);
    }
    return lt_scope_return(&s, sum, out);
}

lt_status lt_nanmean_impl(lt_tensor *self, const lt_dims *dim, bool keepdim, lt_dtype dtype,
                          lt_tensor **out)
{
    lt_scope s;
    if (!lt_dtype_is_float((lt_dtype)self->dtype))
        return lt_error(
            LT_ERR_RUNTIME,
            "nanmean(): expected input to have floating point or complex dtype but got %s",
            lt_dtype_scalar_name((lt_dtype)self->dtype));
    lt_scope_open(&s, LT_COMPOSITE(nanmean));
    lt_tensor *sum = NULL,
              *count = do_sum_dims(&s, do_logical_not(&s, do_isnan(&s, self)), dim, keepdim);
    if (s.status == LT_OK) {
        lt_status status = lt_nansum(self, dim, keepdim, dtype, &sum);
        sum = lt_scope_hold(&s, status, sum);
    }
    return lt_scope_return(&s, do_div(&s, sum, count), out);
}

lt_status lt_softmin_impl(lt_tensor *self, int64_t dim, lt_dtype dtype, lt_tensor **out)
{
    lt_tensor *negative = NULL;
    LT_TRY(lt_neg(self, &negative));
    lt_status status = lt_softmax(negative, dim, dtype, out);
    lt_tensor_release(negative);
    return status;
}
