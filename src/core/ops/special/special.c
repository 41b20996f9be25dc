/* special.c - the special functions that are formulas of several kernels or check their arguments,
 * and derivatives that take several ops. The kernels' formulas are in formulas/special.inc. */
#include <float.h>
#include <math.h>

#include "ops/compose.h"
#include "dtypes/dtype.h"
#include "dtypes/fits.h"
#include "ops/pointwise.h"
#include "op/_clamp_both.h"
#include "op/_logit.h"
#include "op/_logit_backward.h"
#include "op/_nan_to_num.h"
#include "op/_polygamma.h"
#include "op/_polygamma_backward.h"
#include "op/_sinc_backward.h"
#include "op/logit.h"
#include "op/nan_to_num.h"
#include "step/cos.h"
#include "step/sin.h"

/* ---- gamma functions, odds ------------------------------------------------------------------- */

lt_status lt__polygamma_backward_impl(lt_tensor *grad_output, lt_tensor *self, lt_scalar n,
                                      lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_polygamma_backward));
    lt_tensor *next = NULL;
    lt_status status = lt__polygamma(self, lt_scalar_from_float(lt_scalar_double(n) + 1), &next);
    next = lt_scope_hold(&s, status, next);
    return lt_scope_return(&s, do_mul(&s, grad_output, next), out);
}

static lt_tensor *do_clamp(lt_scope *s, lt_tensor *a, double low, double high)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status =
        lt__clamp_both(a, lt_scalar_from_float(low), lt_scalar_from_float(high), &out);
    return lt_scope_hold(s, status, out);
}

lt_status lt_logit_impl(lt_tensor *self, const double *eps, lt_tensor **out)
{
    lt_scope s;
    if (eps == NULL) return lt__logit_impl(self, out);
    lt_scope_open(&s, LT_COMPOSITE(logit));
    lt_tensor *x = do_clamp(&s, self, *eps, 1 - *eps), *result = NULL;
    if (s.status == LT_OK) {
        lt_status status = lt__logit(x, &result);
        result = lt_scope_hold(&s, status, result);
    }
    return lt_scope_store(&s, result, out);
}

lt_status lt__logit_backward_impl(lt_tensor *grad_output, lt_tensor *self, const double *eps,
                                  lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_logit_backward));
    lt_tensor *x = do_widen(&s, self), *grad = do_widen(&s, grad_output);
    lt_tensor *slope = do_div(
        &s, grad, do_mul(&s, plus(&s, x, 0), plus(&s, do_neg(&s, x), 1))) /* adding 0 avoids -0 */;
    const double low = eps != NULL ? *eps : 0;
    lt_tensor *clamped =
        do_logical_or(&s, do_lt(&s, x, do_number(&s, low)), do_gt(&s, x, do_number(&s, 1 - low)));
    lt_tensor *there = do_number(&s, eps != NULL ? 0 : (double)NAN);
    return lt_scope_return(&s, do_narrow_to(&s, do_where(&s, clamped, there, slope), grad_output),
                           out);
}

/* ---- nan and the infinities ------------------------------------------------------------------ */

static double largest(lt_dtype dtype)
{
    switch (dtype) {
    case LT_FLOAT16: return 65504;
    case LT_BFLOAT16: return 3.3895313892515355e38;
    case LT_FLOAT32: return FLT_MAX;
    default: return DBL_MAX;
    }
}

lt_status lt_nan_to_num_impl(lt_tensor *self, const double *nan, const double *posinf,
                             const double *neginf, lt_tensor **out)
{
    lt_dtype dtype = (lt_dtype)self->dtype;
    if (!lt_dtype_is_float(dtype)) {
        lt_scope s;
        lt_scope_open(&s, LT_COMPOSITE(nan_to_num));
        lt_tensor *copy = *out == NULL ? do_clone(&s, self) : self;
        return lt_scope_store(&s, copy, out);
    }
    const double high = posinf != NULL ? *posinf : largest(dtype),
                 low = neginf != NULL ? *neginf : -largest(dtype);
    return lt__nan_to_num_impl(self, lt_scalar_from_float(nan != NULL ? *nan : 0),
                               lt_scalar_from_float(high), lt_scalar_from_float(low), out);
}

/* ---- sinc ------------------------------------------------------------------------------------ */

/* (cos t - sin t / t) / t, which is -j1(t) of the spherical Bessel functions, by its series about 0
 * (DLMF 10.53.1), where the difference would lose digits. |t| < 0.32: the first omitted term is
 * below 2e-17 of the sum. */
static lt_status slope_near_zero(lt_tensor *t, lt_tensor **out)
{
    static const double divisors[] = {130, 88, 54, 28, 10};
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *square = do_mul(&s, t, t), *sum = do_number(&s, 1);
    for (int i = 0; i < 5; i++)
        sum = plus(&s, times(&s, do_mul(&s, square, sum), -1 / divisors[i]), 1);
    return lt_scope_return(&s, times(&s, do_mul(&s, t, sum), -1.0 / 3), out);
}

/* The derivative of sin t / t by x, t = pi x. */
lt_status lt__sinc_backward_impl(lt_tensor *grad_output, lt_tensor *self, lt_tensor **out)
{
    const double pi = 3.14159265358979323846;
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *near = do_lt(&s, do_abs(&s, self), do_number(&s, 0.1));
    lt_tensor *inside = times(&s, do_where(&s, near, self, do_number(&s, 0)), pi);
    lt_tensor *x = do_where(&s, near, do_number(&s, 1), self), *t = times(&s, x, pi);
    lt_tensor *outside =
        do_div(&s, do_sub(&s, do_mul(&s, t, do_cos(&s, t)), do_sin(&s, t)), do_mul(&s, t, x));
    lt_tensor *series = NULL;
    if (s.status == LT_OK) {
        const lt_status status = slope_near_zero(inside, &series);
        series = lt_scope_hold(&s, status, series);
    }
    lt_tensor *slope = do_where(&s, near, times(&s, series, pi), outside);
    return lt_scope_return(&s, do_mul(&s, grad_output, slope), out);
}
