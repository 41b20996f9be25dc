/* special.c - the special functions and elu-like activations that are formulas of several kernels, and the
 * derivatives that no single op computes. The kernels' formulas stand in formulas_special.inc. */
#include <float.h>
#include <math.h>

#include "compose.h"
#include "dtype.h"
#include "pointwise.h"

/* ---- gamma functions, odds ---------------------------------------------------------------------------------- */

lt_status lt__polygamma_backward_impl(lt_tensor *grad_output, lt_tensor *self, lt_scalar n, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *next = NULL;
    lt_status status = lt__polygamma(self, lt_float(lt_scalar_double(n) + 1), &next);
    next = lt_scope_hold(&s, status, next);
    return lt_scope_give(&s, do_mul(&s, grad_output, next), out);
}

static lt_tensor *do_clamp(lt_scope *s, lt_tensor *a, double low, double high)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt__clamp_both(a, lt_float(low), lt_float(high), &out);
    return lt_scope_hold(s, status, out);
}

lt_status lt_logit_impl(lt_tensor *self, const double *eps, lt_tensor **out)
{
    lt_scope s;
    if (eps == NULL) return lt__logit_impl(self, out);
    lt_scope_open(&s, false);
    lt_tensor *x = do_clamp(&s, self, *eps, 1 - *eps), *result = NULL;
    if (s.status == LT_OK) {
        lt_status status = lt__logit(x, &result);
        result = lt_scope_hold(&s, status, result);
    }
    return lt_scope_store(&s, result, out);
}

lt_status lt__logit_backward_impl(lt_tensor *grad_output, lt_tensor *self, const double *eps, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *x = do_widen(&s, self), *grad = do_widen(&s, grad_output);
    lt_tensor *slope = do_div(&s, grad, do_mul(&s, x, plus(&s, do_neg(&s, x), 1)));
    const double low = eps != NULL ? *eps : 0;
    lt_tensor *inside = do_logical_and(&s, do_ge(&s, x, do_number(&s, low)), do_le(&s, x, do_number(&s, 1 - low)));
    lt_tensor *outside = do_number(&s, eps != NULL ? 0 : (double)NAN);
    return lt_scope_give(&s, do_narrow_to(&s, do_where(&s, inside, slope, outside), grad_output), out);
}

/* ---- nan and the infinities --------------------------------------------------------------------------------- */

static double largest(lt_dtype dtype)
{
    switch (dtype) {
    case LT_FLOAT16: return 65504;
    case LT_BFLOAT16: return 3.3895313892515355e38;
    case LT_FLOAT32: return FLT_MAX;
    default: return DBL_MAX;
    }
}

lt_status lt_nan_to_num_impl(lt_tensor *self, const double *nan, const double *posinf, const double *neginf,
                             lt_tensor **out)
{
    lt_scope s;
    lt_dtype dtype = (lt_dtype)self->dtype;
    lt_scope_open(&s, false);
    if (!lt_dtype_is_float(dtype)) {
        lt_tensor *copy = *out == NULL ? do_clone(&s, self) : self;
        return lt_scope_store(&s, copy, out);
    }
    const double high = posinf != NULL ? *posinf : largest(dtype), low = neginf != NULL ? *neginf : -largest(dtype);
    lt_tensor *result = do_where(&s, do_isnan(&s, self), do_number(&s, nan != NULL ? *nan : 0), self);
    result = do_where(&s, do_eq(&s, self, do_number(&s, (double)INFINITY)), do_number(&s, high), result);
    result = do_where(&s, do_eq(&s, self, do_number(&s, -(double)INFINITY)), do_number(&s, low), result);
    return lt_scope_store(&s, result, out);
}

/* ---- activations ------------------------------------------------------------------------------------------------- */

#define SELU_ALPHA 1.6732632423543772848170429916717
#define SELU_SCALE 1.0507009873554804934193349852946

static lt_status check_not_bool(const char *name, const lt_tensor *self)
{
    if ((lt_dtype)self->dtype != LT_BOOL) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "Bool inputs not supported for %s", name);
}

lt_status lt_hardtanh_impl(lt_tensor *self, lt_scalar min_val, lt_scalar max_val, lt_tensor **out)
{
    LT_TRY(check_not_bool("hardtanh", self));
    if (lt_scalar_double(min_val) > lt_scalar_double(max_val))
        return lt_error(LT_ERR_RUNTIME, "min_val cannot be greater than max_val");
    if ((lt_dtype)self->dtype == LT_UINT8 && lt_scalar_double(min_val) < 0)
        return lt_error(LT_ERR_RUNTIME, "cannot do hardtanh on an unsigned type with negative limits");
    return lt__clamp_both_impl(self, min_val, max_val, out);
}

lt_status lt_relu6_impl(lt_tensor *self, lt_tensor **out)
{
    LT_TRY(check_not_bool("hardtanh", self));
    return lt__clamp_both_impl(self, lt_int(0), lt_int(6), out);
}

/* Floating only, and under the name that messages have. */
static lt_status exponential_unit(lt_tensor *self, double alpha, double rate, lt_tensor **out)
{
    if (!lt_dtype_is_float((lt_dtype)self->dtype))
        return lt_error(LT_ERR_RUNTIME, "\"%s\" not implemented for '%s'",
                        self->device.type == LT_CPU ? "elu_cpu" : "elu_cuda", lt_dtype_scalar_name((lt_dtype)self->dtype));
    return lt__elu_impl(self, lt_float(alpha), lt_float(rate), out);
}

lt_status lt_elu_impl(lt_tensor *self, double alpha, lt_tensor **out) { return exponential_unit(self, alpha, 1, out); }

lt_status lt_celu_impl(lt_tensor *self, double alpha, lt_tensor **out)
{
    if (alpha == 0) return lt_error(LT_ERR_RUNTIME, "ZeroDivisionError: alpha cannot be 0 for CELU");
    return exponential_unit(self, alpha, 1 / alpha, out);
}

lt_status lt_selu_impl(lt_tensor *self, lt_tensor **out)
{
    lt_scope s;
    lt_tensor *curve = NULL;
    lt_scope_open(&s, false);
    lt_tensor *x = do_widen(&s, self);
    if (s.status == LT_OK) {
        lt_status status = exponential_unit(x, SELU_ALPHA, 1, &curve);
        curve = lt_scope_hold(&s, status, curve);
    }
    return lt_scope_store(&s, do_narrow_to(&s, times(&s, curve, SELU_SCALE), self), out);
}

/* scale where self is positive, else scale * alpha * rate * exp(rate * self). */
lt_status lt__elu_backward_impl(lt_tensor *grad_output, lt_tensor *self, double alpha, double scale, double rate,
                                lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *x = do_widen(&s, self), *grad = do_widen(&s, grad_output);
    /* no overflow in what is not chosen: its derivative would be nan */
    lt_tensor *curve = do_exp(&s, times(&s, do_minimum(&s, x, do_number(&s, 0)), rate));
    lt_tensor *slope = do_where(&s, do_gt(&s, x, do_number(&s, 0)), do_number(&s, scale),
                                times(&s, curve, scale * alpha * rate));
    return lt_scope_give(&s, do_narrow_to(&s, do_mul(&s, grad, slope), grad_output), out);
}

lt_status lt__celu_backward_impl(lt_tensor *grad_output, lt_tensor *self, double alpha, lt_tensor **out)
{
    return lt__elu_backward(grad_output, self, alpha, 1, 1 / alpha, out);
}

/* t + x * sigmoid(x) * (1 - t^2), t = tanh(softplus(x)). */
lt_status lt__mish_backward_impl(lt_tensor *grad_output, lt_tensor *self, lt_tensor **out)
{
    lt_scope s;
    lt_tensor *soft = NULL;
    lt_scope_open(&s, true);
    lt_tensor *x = do_widen(&s, self), *grad = do_widen(&s, grad_output);
    if (s.status == LT_OK) {
        lt_status status = lt_softplus(x, lt_int(1), lt_int(20), &soft);
        soft = lt_scope_hold(&s, status, soft);
    }
    lt_tensor *t = do_tanh(&s, soft), *rest = plus(&s, do_neg(&s, do_square(&s, t)), 1);
    lt_tensor *slope = do_add(&s, t, do_mul(&s, do_mul(&s, x, do_sigmoid(&s, x)), rest));
    return lt_scope_give(&s, do_narrow_to(&s, do_mul(&s, grad, slope), grad_output), out);
}
