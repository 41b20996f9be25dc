/* backward.c - the derivatives of reductions, as formulas of differentiable ops: grad_output is
 * expanded to the sizes before the reduction and weighted. */
#include <math.h>

#include "autograd/dual.h"
#include "ops/compose.h"
#include "step/gather.h"
#include "statistics.h"
#include "op/_extreme_backward.h"
#include "op/_logsumexp_backward.h"
#include "op/_mean_backward.h"
#include "op/_norm_backward.h"
#include "op/_pick.h"
#include "op/_pick_backward.h"
#include "op/_prod_backward.h"
#include "op/_reverse_cumsum.h"
#include "op/_std_backward.h"
#include "op/_sum_backward.h"
#include "op/_trace_backward.h"
#include "op/_var_backward.h"
#include "op/cat.h"
#include "op/cumsum.h"
#include "op/eye.h"
#include "op/flip.h"
#include "op/mean.h"
#include "op/mul.h"
#include "op/narrow.h"
#include "op/ones_like.h"
#include "op/prod.h"
#include "op/reshape.h"
#include "op/scatter.h"
#include "step/gt.h"
#include "step/isfinite.h"
#include "step/sgn.h"

static lt_tensor *zero(lt_scope *s) { return do_number(s, 0); }

/* ---- sums and means -------------------------------------------------------------------------- */

static lt_tensor *expand_grad(lt_scope *s, lt_tensor *grad, const lt_dims *sizes,
                              const lt_dims *dim, bool keepdim)
{
    return do_expand(s, do_restore_dims(s, grad, sizes->n, dim, keepdim), sizes);
}

lt_status lt__sum_backward_impl(lt_tensor *grad_output, const lt_dims *sizes, const lt_dims *dim,
                                bool keepdim, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_sum_backward));
    return lt_scope_return(&s, expand_grad(&s, grad_output, sizes, dim, keepdim), out);
}

lt_status lt__mean_backward_impl(lt_tensor *grad_output, const lt_dims *sizes, const lt_dims *dim,
                                 bool keepdim, lt_tensor **out)
{
    double count;
    LT_TRY(lt_count_reduced(sizes, dim, &count));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_mean_backward));
    lt_tensor *share = do_div(&s, grad_output, do_number(&s, count));
    return lt_scope_return(&s, expand_grad(&s, share, sizes, dim, keepdim), out);
}

lt_status lt__reverse_cumsum_impl(lt_tensor *self, int64_t dim, lt_tensor **out)
{
    lt_dims dims = {.n = 1, .v = {dim}};
    lt_tensor *flipped = NULL, *sums = NULL;
    lt_status status;
    if (self->ndim == 0) return lt_cumsum(self, dim, LT_DTYPE_NONE, out);
    LT_CHECK(lt_flip(self, &dims, &flipped));
    LT_CHECK(lt_cumsum(flipped, dim, LT_DTYPE_NONE, &sums));
    LT_CHECK(lt_flip(sums, &dims, out));
done:
    lt_tensor_release(flipped);
    lt_tensor_release(sums);
    return status;
}

lt_status lt__trace_backward_impl(lt_tensor *grad_output, const lt_dims *sizes, lt_tensor **out)
{
    lt_tensor *ones = NULL;
    LT_TRY(lt_eye(sizes->v[0], &sizes->v[1], (lt_dtype)grad_output->dtype, &grad_output->device,
                  &ones));
    lt_status status = lt_mul(ones, grad_output, out);
    lt_tensor_release(ones);
    return status;
}

/* ---- products -------------------------------------------------------------------------------- */

static lt_tensor *do_narrow(lt_scope *s, lt_tensor *a, int64_t start, int64_t length)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_narrow(a, 0, start, length, &out);
    return lt_scope_hold(s, status, out);
}

static lt_tensor *do_join(lt_scope *s, lt_tensor *a, lt_tensor *b, lt_tensor *rest)
{
    lt_tensor *parts[] = {a, b, rest}, *out = NULL;
    lt_tensor_list list = {.n = rest != NULL ? 3 : 2, .v = parts};
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_cat(&list, 0, &out);
    return lt_scope_hold(s, status, out);
}

/* For every entry of dimension 0 the product of all others, recursively: the first half is paired
 * with the second; the product for an entry is its partner times the other pairs. */
static lt_status products_of_others(lt_tensor *a, lt_tensor **out)
{
    int64_t n = a->sizes[0], half = n / 2;
    if (n <= 1) return lt_ones_like(a, LT_DTYPE_NONE, NULL, out);
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *first = do_narrow(&s, a, 0, half), *second = do_narrow(&s, a, half, half),
              *others = NULL;
    lt_tensor *pairs = do_mul(&s, first, second), *rest = NULL;
    if (n % 2 != 0) {
        rest = do_narrow(&s, a, n - 1, 1);
        pairs = s.status == LT_OK ? do_join(&s, pairs, rest, NULL) : NULL;
    }
    if (s.status == LT_OK) {
        lt_status status = products_of_others(pairs, &others);
        others = lt_scope_hold(&s, status, others);
    }
    lt_tensor *of_pairs = do_narrow(&s, others, 0, half);
    if (n % 2 != 0) rest = do_narrow(&s, others, half, 1);
    lt_tensor *of_first = do_mul(&s, of_pairs, second), *of_second = do_mul(&s, of_pairs, first);
    return lt_scope_return(&s, do_join(&s, of_first, of_second, rest), out);
}

/* grad times the product of all other elements along dim (NULL: all), in a form that can be
 * differentiated again where elements are 0. */
static lt_tensor *times_others_exactly(lt_scope *s, lt_tensor *grad, lt_tensor *self,
                                       const lt_dims *dim)
{
    lt_dims flat = {.n = 1, .v = {self->numel}}, sizes = lt_dims_of(self);
    bool whole = dim == NULL || self->ndim == 0;
    lt_tensor *lines = whole ? do_reshape(s, self, &flat) : do_transpose(s, self, 0, dim->v[0]),
              *others = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = products_of_others(lines, &others);
    others = lt_scope_hold(s, status, others);
    if (s->status != LT_OK) return NULL;
    others = whole ? do_reshape(s, others, &sizes) : do_transpose(s, others, 0, dim->v[0]);
    return do_mul(s, grad, others);
}

/* The product of a 0 and all but one of the other elements of each row: nan if one of them is not
 * finite, else 0. */
static lt_tensor *zero_times_others(lt_scope *s, lt_tensor *self, const lt_dims *dim)
{
    lt_tensor *odd = do_logical_not(s, do_isfinite(s, self));
    lt_tensor *others_odd = do_gt(s, do_sum_dims(s, odd, dim, dim != NULL), odd);
    return do_where(s, others_odd, do_number(s, NAN), zero(s));
}

/* The same in fewer steps, for gradients that are not differentiated. If one element is 0, only its
 * own derivative, the product of the others, is nonzero; if several are, none is. For a whole
 * tensor with several zeros all are 0, as in PyTorch. */
static lt_tensor *times_others(lt_scope *s, lt_tensor *grad, lt_tensor *self, const lt_dims *dim)
{
    if (lt_is_differentiated(self)) return times_others_exactly(s, grad, self, dim);
    lt_tensor *is_zero = do_eq(s, self, zero(s)), *product = NULL;
    lt_tensor *factors = do_where(s, is_zero, do_number(s, 1), self);
    lt_tensor *zeros = do_sum_dims(s, is_zero, dim, dim != NULL);
    if (s->status != LT_OK) return NULL;
    lt_status status = dim == NULL ? lt_prod(factors, LT_DTYPE_NONE, &product)
                                   : lt_prod_dim(factors, dim->v[0], true, LT_DTYPE_NONE, &product);
    product = lt_scope_hold(s, status, product);
    lt_tensor *one = do_eq(s, zeros, do_number(s, 1)), *none = do_eq(s, zeros, zero(s));
    lt_tensor *with_zero = zero_times_others(s, self, dim);
    if (dim == NULL) with_zero = do_where(s, one, with_zero, zero(s));
    lt_tensor *of_zeros = do_where(s, one, product, with_zero);
    lt_tensor *of_others = do_where(s, none, do_div(s, product, factors), with_zero);
    return do_mul(s, grad, do_where(s, is_zero, of_zeros, of_others));
}

lt_status lt__prod_backward_impl(lt_tensor *grad_output, lt_tensor *self, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_prod_backward));
    return lt_scope_return(&s, times_others(&s, grad_output, self, NULL), out);
}

lt_status lt__prod_backward_dim_impl(lt_tensor *grad_output, lt_tensor *self, int64_t dim,
                                     bool keepdim, lt_tensor **out)
{
    lt_dims dims = {.n = 1, .v = {dim}};
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_prod_backward_dim));
    lt_tensor *grad = do_restore_dims(&s, grad_output, self->ndim, &dims, keepdim);
    return lt_scope_return(&s, times_others(&s, grad, self, &dims), out);
}

/* ---- extremes -------------------------------------------------------------------------------- */

lt_status lt__pick_impl(lt_tensor *self, int64_t dim, lt_tensor *indices, bool keepdim,
                        lt_tensor **out)
{
    const lt_dims dims = {.n = 1, .v = {dim}};
    if (self->ndim == 0) return lt_clone(self, out);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_pick));
    lt_tensor *picked =
        do_gather(&s, self, dim, do_restore_dims(&s, indices, self->ndim, &dims, keepdim));
    return lt_scope_return(&s, keepdim ? picked : do_squeeze_dim(&s, picked, dim), out);
}

lt_status lt__pick_backward_impl(lt_tensor *grad_output, const lt_dims *sizes, int64_t dim,
                                 lt_tensor *indices, bool keepdim, lt_tensor **out)
{
    lt_dims dims = {.n = 1, .v = {dim}};
    if (sizes->n == 0) return lt_reshape(grad_output, sizes, out);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_pick_backward));
    lt_tensor *index = do_restore_dims(&s, indices, sizes->n, &dims, keepdim);
    lt_tensor *grad = do_restore_dims(&s, grad_output, sizes->n, &dims, keepdim);
    lt_tensor *placed = do_zeros(&s, grad_output, sizes);
    if (s.status == LT_OK) s.status = lt_scatter_(placed, dim, index, grad);
    return lt_scope_return(&s, placed, out);
}

/* grad where the mask is set, divided equally. */
static lt_tensor *shared(lt_scope *s, lt_tensor *grad, lt_tensor *mask, const lt_dims *dim)
{
    return do_mul(s, do_div(s, grad, do_sum_dims(s, mask, dim, true)), mask);
}

lt_status lt__extreme_backward_impl(lt_tensor *grad_output, lt_tensor *self, lt_tensor *result,
                                    const lt_dims *dim, bool keepdim, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_extreme_backward));
    lt_tensor *extreme = do_restore_dims(&s, result, self->ndim, dim, keepdim);
    lt_tensor *grad = do_restore_dims(&s, grad_output, self->ndim, dim, keepdim);
    lt_tensor *mask = do_eq(&s, self, extreme);
    /* For a whole tensor the gradient goes to nan elements; along dimensions PyTorch sets the whole
     * row to nan. */
    if (dim == NULL)
        mask =
            do_logical_or(&s, mask, do_logical_and(&s, do_isnan(&s, self), do_isnan(&s, extreme)));
    return lt_scope_return(&s, shared(&s, grad, mask, dim), out);
}

/* ---- norms ----------------------------------------------------------------------------------- */

/* a where `condition` is 0, else 0. */
static lt_tensor *unless(lt_scope *s, lt_tensor *condition, lt_tensor *a)
{
    return do_where(s, condition, zero(s), a);
}

static lt_tensor *norm_gradient(lt_scope *s, lt_tensor *grad, lt_tensor *self, double p,
                                lt_tensor *norm, const lt_dims *dim)
{
    lt_dims sizes = lt_dims_of(self);
    if (p == 0) return do_zeros(s, self, &sizes);
    if (p == 1) return do_mul(s, do_sgn(s, self), grad);
    if (isinf(p))
        return do_mul(s, do_sgn(s, self), shared(s, grad, do_eq(s, do_abs(s, self), norm), dim));
    lt_tensor *nothing = do_eq(s, norm, zero(s));
    if (p == 2) return do_mul(s, grad, unless(s, nothing, do_div(s, self, norm)));
    lt_tensor *scale = unless(s, nothing, do_div(s, grad, do_pow(s, norm, do_number(s, p - 1))));
    if (p > 2)
        return do_mul(s, do_mul(s, self, do_pow(s, do_abs(s, self), do_number(s, p - 2))), scale);
    lt_tensor *power = do_pow(s, do_abs(s, self), do_number(s, p - 1));
    if (p < 1) power = unless(s, do_eq(s, self, zero(s)), power);
    return do_mul(s, do_mul(s, do_sgn(s, self), power), scale);
}

lt_status lt__norm_backward_impl(lt_tensor *grad_output, lt_tensor *self, lt_scalar p,
                                 lt_tensor *result, const lt_dims *dim, bool keepdim,
                                 lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_norm_backward));
    lt_tensor *norm = do_restore_dims(&s, result, self->ndim, dim, keepdim);
    lt_tensor *grad = do_restore_dims(&s, grad_output, self->ndim, dim, keepdim);
    return lt_scope_return(&s, norm_gradient(&s, grad, self, lt_scalar_double(p), norm, dim), out);
}

/* ---- variance, logsumexp --------------------------------------------------------------------- */

/* Without degrees of freedom the gradient is infinite, or nan where self is its mean. */
static lt_tensor *variance_gradient(lt_scope *s, lt_tensor *grad, lt_tensor *self,
                                    const lt_dims *dim, lt_scalar correction, bool keepdim)
{
    double freedom;
    lt_tensor *mean = NULL;
    if (s->status == LT_OK) s->status = lt_degrees_of_freedom(self, dim, correction, &freedom);
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_mean_dim(self, dim, true, LT_DTYPE_NONE, &mean);
    mean = lt_scope_hold(s, status, mean);
    grad = do_mul(s, do_restore_dims(s, grad, self->ndim, dim, keepdim), do_number(s, 2 / freedom));
    return do_mul(s, grad, do_sub(s, self, mean));
}

lt_status lt__var_backward_impl(lt_tensor *grad_output, lt_tensor *self, const lt_dims *dim,
                                lt_scalar correction, bool keepdim, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_var_backward));
    return lt_scope_return(&s, variance_gradient(&s, grad_output, self, dim, correction, keepdim),
                           out);
}

lt_status lt__std_backward_impl(lt_tensor *grad_output, lt_tensor *self, lt_tensor *result,
                                const lt_dims *dim, lt_scalar correction, bool keepdim,
                                lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_std_backward));
    lt_tensor *of_variance = do_div(&s, grad_output, do_mul(&s, result, do_number(&s, 2)));
    of_variance = unless(&s, do_eq(&s, result, zero(&s)), of_variance);
    return lt_scope_return(&s, variance_gradient(&s, of_variance, self, dim, correction, keepdim),
                           out);
}

lt_status lt__logsumexp_backward_impl(lt_tensor *grad_output, lt_tensor *self, lt_tensor *result,
                                      const lt_dims *dim, bool keepdim, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_logsumexp_backward));
    lt_tensor *sum = do_restore_dims(&s, result, self->ndim, dim, keepdim);
    lt_tensor *grad = do_restore_dims(&s, grad_output, self->ndim, dim, keepdim);
    return lt_scope_return(&s, do_mul(&s, grad, do_exp(&s, do_sub(&s, self, sum))), out);
}
