/* covariance.c - covariances and correlations of variables, deviations with means, distances. */
#include "devices/copies.h"
#include "ops/steps.h"
#include "op/clamp.h"
#include "op/complex.h"
#include "op/corrcoef.h"
#include "op/cov.h"
#include "op/dist.h"
#include "op/mean.h"
#include "op/norm.h"
#include "op/renorm.h"
#include "op/std.h"
#include "op/std_mean.h"
#include "op/var.h"
#include "op/var_mean.h"
#include "step/conj.h"
#include "step/diag.h"
#include "step/imag.h"
#include "step/real.h"
#include "step/squeeze.h"

/* ---- covariances ----------------------------------------------------------------------------- */

static lt_tensor *do_clamp_from(lt_scope *s, lt_tensor *a, double min, const lt_scalar *max)
{
    const lt_scalar low = lt_scalar_from_float(min);
    lt_tensor *out = NULL;
    const lt_status status = s->status == LT_OK ? lt_clamp(a, &low, max, &out) : s->status;
    return lt_scope_hold(s, status, out);
}

static lt_status check_variables(const char *op, const lt_tensor *self)
{
    if (self->ndim > 2)
        return lt_error(LT_ERR_RUNTIME,
                        "%s(): expected input to have two or fewer dimensions but got an input "
                        "with %d dimensions",
                        op, self->ndim);
    if (self->dtype == LT_BOOL)
        return lt_error(LT_ERR_RUNTIME, "%s(): bool dtype is not supported for input", op);
    return LT_OK;
}

/* Weights of n observations: integers (integral), or floats. */
static lt_status check_weights(lt_scope *s, const char *name, lt_tensor *w, int64_t n,
                               bool integral)
{
    bool negative = false;
    if (w->ndim > 1)
        return lt_error(LT_ERR_RUNTIME,
                        "cov(): expected %s to have one or fewer dimensions but got %s with %d "
                        "dimensions",
                        name, name, w->ndim);
    if (lt_dtype_is_inexact((lt_dtype)w->dtype) == integral || w->dtype == LT_BOOL)
        return lt_error(LT_ERR_RUNTIME,
                        "cov(): expected %s to have %s dtype but got %s with %s dtype", name,
                        integral ? "integral" : "floating point", name,
                        lt_dtype_scalar_name((lt_dtype)w->dtype));
    if (w->numel != n)
        return lt_error(LT_ERR_RUNTIME,
                        "cov(): expected %s to have the same numel as there are observations in "
                        "the input but got %lld != %lld",
                        name, (long long)w->numel, (long long)n);
    if (n > 0) LT_TRY(lt_any_set(s, do_lt(s, w, do_number(s, 0)), &negative));
    if (negative) return lt_error(LT_ERR_RUNTIME, "cov(): %s cannot be negative", name);
    return LT_OK;
}

/* The weights of the observations, NULL for none: fweights times aweights. */
static lt_tensor *do_weights(lt_scope *s, int64_t n, lt_tensor *fweights, lt_tensor *aweights)
{
    if (s->status == LT_OK && fweights != NULL)
        s->status = check_weights(s, "fweights", fweights, n, true);
    if (s->status == LT_OK && aweights != NULL)
        s->status = check_weights(s, "aweights", aweights, n, false);
    lt_tensor *counts = fweights != NULL ? do_flatten(s, fweights) : NULL;
    if (aweights == NULL) return counts;
    lt_tensor *relative = do_flatten(s, aweights);
    return fweights != NULL ? do_mul(s, do_narrow_to(s, counts, aweights), relative) : relative;
}

/* The divisor: the number of observations less the correction, not below 0. */
static lt_tensor *do_freedom(lt_scope *s, int64_t n, double correction, lt_tensor *weights,
                             lt_tensor *total, lt_tensor *aweights)
{
    if (weights == NULL) {
        const double rest = (double)n - correction;
        return do_number(s, rest > 0 ? rest : 0);
    }
    lt_tensor *freedom = total;
    if (correction != 0 && aweights == NULL) {
        freedom = plus(s, total, -correction);
    } else if (correction != 0) {
        lt_tensor *squares = do_sum(s, do_mul(s, weights, do_flatten(s, aweights)));
        freedom = do_sub(s, total, do_div(s, times(s, squares, correction), total));
    }
    return do_clamp_from(s, freedom, 0, NULL);
}

static lt_status refuse_zero(lt_tensor *total)
{
    lt_scalar value = lt_scalar_from_int(0);
    LT_TRY(lt_tensor_item(total, &value));
    if (lt_scalar_double(value) != 0) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "cov(): weights sum to zero, can't be normalized");
}

static lt_status covariances(lt_tensor *self, int64_t correction, lt_tensor *fweights,
                             lt_tensor *aweights, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *rows = self->ndim < 2 ? do_reshape(&s, self, &(lt_dims){2, {1, self->numel}}) : self;
    if (rows == NULL) return lt_scope_close(&s);
    const int64_t n = rows->sizes[1];
    lt_tensor *weights = do_weights(&s, n, fweights, aweights), *total = NULL, *mean = NULL;
    if (!lt_dtype_is_inexact((lt_dtype)rows->dtype))
        rows = do_cast(&s, rows, lt_get_default_dtype());
    if (s.status != LT_OK) return lt_scope_close(&s);
    if (weights != NULL) {
        total = do_sum(&s, weights);
        if (total != NULL) s.status = refuse_zero(total);
        mean = do_div(&s, do_sum_dim(&s, do_mul(&s, rows, weights), 1, true), total);
    } else {
        const lt_status status = lt_mean_dim(rows, &(lt_dims){1, {1}}, true, LT_DTYPE_NONE, &mean);
        mean = lt_scope_hold(&s, status, mean);
    }
    lt_tensor *freedom = do_freedom(&s, n, (double)correction, weights, total, aweights);
    lt_tensor *distance = do_sub(&s, rows, mean);
    lt_tensor *other = weights != NULL ? do_mul(&s, distance, weights) : distance;
    lt_tensor *product = do_matmul(&s, distance, do_conj(&s, do_t(&s, other)));
    return lt_scope_return(&s, do_squeeze(&s, do_div(&s, product, freedom)), out);
}

lt_status lt_cov_impl(lt_tensor *self, int64_t correction, lt_tensor *fweights, lt_tensor *aweights,
                      lt_tensor **out)
{
    LT_TRY(check_variables("cov", self));
    const lt_copy_cause previous = lt_copies_imply("cov");
    const lt_status status = covariances(self, correction, fweights, aweights, out);
    lt_copies_set_cause(previous);
    return status;
}

lt_status lt_corrcoef_impl(lt_tensor *self, lt_tensor **out)
{
    const lt_scalar one = lt_scalar_from_float(1);
    lt_tensor *c = NULL;
    LT_TRY(check_variables("corrcoef", self));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(corrcoef));
    const lt_status status = covariances(self, 1, NULL, NULL, &c);
    c = lt_scope_hold(&s, status, c);
    if (c == NULL) return lt_scope_close(&s);
    if (c->ndim == 0) return lt_scope_return(&s, do_div(&s, c, c), out);
    lt_tensor *deviation = do_sqrt(&s, do_real(&s, do_diag(&s, c)));
    lt_tensor *result = do_div(&s, do_div(&s, c, do_unsqueeze(&s, deviation, 1)), deviation);
    if (!lt_dtype_is_complex((lt_dtype)c->dtype))
        return lt_scope_return(&s, do_clamp_from(&s, result, -1, &one), out);
    lt_tensor *real = do_clamp_from(&s, do_real(&s, result), -1, &one),
              *imag = do_clamp_from(&s, do_imag(&s, result), -1, &one), *both = NULL;
    if (s.status == LT_OK) s.status = lt_complex(real, imag, &both);
    return lt_scope_return(&s, lt_scope_hold(&s, s.status, both), out);
}

/* ---- with the mean --------------------------------------------------------------------------- */

/* Computes the mean beside *first, the result of an operation with this status. */
static lt_status with_mean(lt_status status, lt_tensor **first, lt_tensor *self, const lt_dims *dim,
                           bool keepdim, lt_tensor **mean)
{
    LT_TRY(status);
    status = lt_mean_dim(self, dim, keepdim, LT_DTYPE_NONE, mean);
    if (status == LT_OK) return LT_OK;
    lt_tensor_release(*first);
    *first = NULL;
    return status;
}

lt_status lt_std_mean_impl(lt_tensor *self, const lt_dims *dim, lt_scalar correction, bool keepdim,
                           lt_tensor **std, lt_tensor **mean)
{
    return with_mean(lt_std(self, dim, correction, keepdim, std), std, self, dim, keepdim, mean);
}

lt_status lt_std_mean_unbiased_impl(lt_tensor *self, bool unbiased, lt_tensor **std,
                                    lt_tensor **mean)
{
    return with_mean(lt_std_unbiased(self, unbiased, std), std, self, NULL, false, mean);
}

lt_status lt_std_mean_dim_impl(lt_tensor *self, const lt_dims *dim, bool unbiased, bool keepdim,
                               lt_tensor **std, lt_tensor **mean)
{
    return with_mean(lt_std_dim(self, dim, unbiased, keepdim, std), std, self, dim, keepdim, mean);
}

lt_status lt_var_mean_impl(lt_tensor *self, const lt_dims *dim, lt_scalar correction, bool keepdim,
                           lt_tensor **var, lt_tensor **mean)
{
    return with_mean(lt_var(self, dim, correction, keepdim, var), var, self, dim, keepdim, mean);
}

lt_status lt_var_mean_unbiased_impl(lt_tensor *self, bool unbiased, lt_tensor **var,
                                    lt_tensor **mean)
{
    return with_mean(lt_var_unbiased(self, unbiased, var), var, self, NULL, false, mean);
}

lt_status lt_var_mean_dim_impl(lt_tensor *self, const lt_dims *dim, bool unbiased, bool keepdim,
                               lt_tensor **var, lt_tensor **mean)
{
    return with_mean(lt_var_dim(self, dim, unbiased, keepdim, var), var, self, dim, keepdim, mean);
}

/* ---- distances ------------------------------------------------------------------------------- */

lt_status lt_dist_impl(lt_tensor *self, lt_tensor *other, lt_scalar p, lt_tensor **out)
{
    lt_tensor *norm = NULL;
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(dist));
    lt_tensor *difference = do_sub(&s, self, other);
    if (s.status == LT_OK) s.status = lt_norm(difference, p, NULL, false, LT_DTYPE_NONE, &norm);
    return lt_scope_return(&s, lt_scope_hold(&s, s.status, norm), out);
}

lt_status lt_renorm_impl(lt_tensor *self, lt_scalar p, int64_t dim, lt_scalar maxnorm,
                         lt_tensor **out)
{
    int own;
    if (lt_scalar_double(p) <= 0)
        return lt_error(LT_ERR_RUNTIME, "non-positive-norm not supported");
    if (self->ndim < 2)
        return lt_error(LT_ERR_RUNTIME,
                        "renorm: input needs at least 2 dimensions, got %d dimensions", self->ndim);
    if (lt_scalar_double(maxnorm) < 0)
        return lt_error(LT_ERR_RUNTIME,
                        "renorm: expected maxnorm to be >= 0 but got a negative number");
    LT_TRY(lt_wrap_dim(dim, self->ndim, &own));
    lt_dims others = {.n = 0};
    for (int d = 0; d < self->ndim; d++)
        if (d != own) others.v[others.n++] = d;
    lt_tensor *norm = NULL;
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(renorm));
    lt_tensor *wide = do_widen(&s, self);
    if (s.status == LT_OK) s.status = lt_norm(wide, p, &others, true, LT_DTYPE_NONE, &norm);
    norm = lt_scope_hold(&s, s.status, norm);
    lt_tensor *most = do_scalar(&s, maxnorm), *one = do_number(&s, 1);
    lt_tensor *smaller = do_div(&s, most, plus(&s, norm, 1e-7));
    lt_tensor *factor = do_where(&s, do_gt(&s, norm, most), smaller, one);
    return lt_scope_return(&s, do_mul(&s, self, do_narrow_to(&s, factor, self)), out);
}
