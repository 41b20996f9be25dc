/* activation.c - activations with parameters and their derivatives, as formulas. Half types are
 * computed in float and rounded once at the end. */
#include <string.h>

#include "compose.h"
#include "pointwise.h"

#define SQRT_2_OVER_PI 0.79788456080286535588
#define TANH_CUBIC 0.044715 /* coefficient of gelu's approximation */

static lt_status check_float(const char *kernel, const lt_tensor *t)
{
    if (lt_dtype_is_float((lt_dtype)t->dtype)) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "\"%s\" not implemented for '%s'", kernel,
                    lt_dtype_scalar_name((lt_dtype)t->dtype));
}

/* ---- leaky_relu, threshold --------------------------------------------------------------------------------- */

/* `a` where x is positive, a * slope elsewhere. */
static lt_tensor *do_leak(lt_scope *s, lt_tensor *x, lt_tensor *a, lt_scalar slope)
{
    return do_where(s, do_gt(s, x, do_scalar(s, lt_int(0))), a, do_mul(s, a, do_scalar(s, slope)));
}

lt_status lt_leaky_relu_impl(lt_tensor *self, lt_scalar negative_slope, lt_tensor **out)
{
    lt_scope s;
    LT_TRY(check_float(self->device.type == LT_CPU ? "leaky_relu_cpu" : "leaky_relu_cuda", self));
    lt_scope_open(&s, false);
    return lt_scope_give(&s, do_leak(&s, self, self, negative_slope), out);
}

lt_status lt__leaky_relu_backward_impl(lt_tensor *grad_output, lt_tensor *self, lt_scalar negative_slope,
                                       lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, true);
    return lt_scope_give(&s, do_leak(&s, self, grad_output, negative_slope), out);
}

lt_status lt_threshold_impl(lt_tensor *self, lt_scalar threshold, lt_scalar value, lt_tensor **out)
{
    lt_scope s;
    lt_dtype dtype = (lt_dtype)self->dtype;
    lt_scope_open(&s, false);
    lt_tensor *bound = do_cast(&s, do_scalar(&s, threshold), dtype), *low = do_cast(&s, do_scalar(&s, value), dtype);
    return lt_scope_give(&s, do_where(&s, do_le(&s, self, bound), low, self), out);
}

/* ---- gelu ------------------------------------------------------------------------------------------------------ */

static lt_status check_approximate(const char *approximate, bool *by_tanh)
{
    *by_tanh = strcmp(approximate, "tanh") == 0;
    if (*by_tanh || strcmp(approximate, "none") == 0) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "approximate argument must be either none or tanh.");
}

/* tanh(sqrt(2 / pi) * (x + 0.044715 x^3)): from -1 to 1. gelu(x) is close to x * (odd + 1) / 2. */
static lt_tensor *do_gelu_odd(lt_scope *s, lt_tensor *x)
{
    lt_tensor *cubic = do_mul(s, x, plus(s, times(s, do_square(s, x), TANH_CUBIC), 1));
    return do_tanh(s, times(s, cubic, SQRT_2_OVER_PI));
}

static lt_tensor *do_gelu_share(lt_scope *s, lt_tensor *odd) { return times(s, plus(s, odd, 1), 0.5); }

lt_status lt_gelu_impl(lt_tensor *self, const char *approximate, lt_tensor **out)
{
    lt_scope s;
    bool by_tanh;
    LT_TRY(check_approximate(approximate, &by_tanh));
    LT_TRY(check_float(self->device.type == LT_CPU ? "GeluKernelImpl" : "GeluCUDAKernelImpl", self));
    if (!by_tanh) return lt__gelu_by_erf_impl(self, out);
    lt_scope_open(&s, false);
    lt_tensor *x = do_widen(&s, self);
    lt_tensor *share = do_gelu_share(&s, do_gelu_odd(&s, x));
    return lt_scope_give(&s, do_narrow_to(&s, do_mul(&s, x, share), self), out);
}

static lt_tensor *do_gelu_slope(lt_scope *s, lt_tensor *x)
{
    lt_tensor *slope = NULL;
    if (x == NULL) return NULL;
    lt_status status = lt__gelu_slope(x, &slope);
    return lt_scope_hold(s, status, slope);
}

static lt_tensor *do_gelu_slope_by_tanh(lt_scope *s, lt_tensor *x)
{
    lt_tensor *odd = do_gelu_odd(s, x);
    lt_tensor *rest = do_neg(s, plus(s, do_square(s, odd), -1));
    lt_tensor *inner = plus(s, times(s, do_square(s, x), 3 * TANH_CUBIC), 1);
    lt_tensor *slope = times(s, do_mul(s, rest, inner), 0.5 * SQRT_2_OVER_PI); /* of the share */
    return do_add(s, do_gelu_share(s, odd), do_mul(s, x, slope));
}

lt_status lt__gelu_backward_impl(lt_tensor *grad_output, lt_tensor *self, const char *approximate, lt_tensor **out)
{
    lt_scope s;
    bool by_tanh;
    LT_TRY(check_approximate(approximate, &by_tanh));
    lt_scope_open(&s, true);
    lt_tensor *x = do_widen(&s, self);
    lt_tensor *derivative = by_tanh ? do_gelu_slope_by_tanh(&s, x) : do_gelu_slope(&s, x);
    return lt_scope_give(&s, do_narrow_to(&s, do_mul(&s, do_widen(&s, grad_output), derivative), self), out);
}

/* ---- silu, softplus ---------------------------------------------------------------------------------------- */

lt_status lt_silu_impl(lt_tensor *self, lt_tensor **out)
{
    lt_scope s;
    LT_TRY(check_float(self->device.type == LT_CPU ? "silu_cpu" : "silu_cuda", self));
    lt_scope_open(&s, false);
    lt_tensor *x = do_widen(&s, self);
    return lt_scope_give(&s, do_narrow_to(&s, do_mul(&s, x, do_sigmoid(&s, x)), self), out);
}

/* sigmoid(x) * (1 + x * (1 - sigmoid(x))) */
lt_status lt__silu_backward_impl(lt_tensor *grad_output, lt_tensor *self, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *x = do_widen(&s, self), *share = do_sigmoid(&s, x);
    lt_tensor *rest = plus(&s, do_neg(&s, share), 1);
    lt_tensor *derivative = do_mul(&s, share, plus(&s, do_mul(&s, x, rest), 1));
    return lt_scope_give(&s, do_narrow_to(&s, do_mul(&s, do_widen(&s, grad_output), derivative), self), out);
}

lt_status lt_softplus_impl(lt_tensor *self, lt_scalar beta, lt_scalar threshold, lt_tensor **out)
{
    lt_scope s;
    LT_TRY(check_float(self->device.type == LT_CPU ? "softplus_cpu" : "softplus_cuda", self));
    lt_scope_open(&s, false);
    lt_tensor *x = do_widen(&s, self), *scaled = times(&s, x, lt_scalar_double(beta));
    lt_tensor *soft = do_div(&s, do_log1p(&s, do_exp(&s, scaled)), do_number(&s, lt_scalar_double(beta)));
    lt_tensor *result = do_where(&s, do_gt(&s, scaled, do_scalar(&s, threshold)), x, soft);
    return lt_scope_give(&s, do_narrow_to(&s, result, self), out);
}

lt_status lt__softplus_backward_impl(lt_tensor *grad_output, lt_tensor *self, lt_scalar beta, lt_scalar threshold,
                                     lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *scaled = times(&s, do_widen(&s, self), lt_scalar_double(beta)), *grad = do_widen(&s, grad_output);
    lt_tensor *result = do_where(&s, do_gt(&s, scaled, do_scalar(&s, threshold)), grad,
                                 do_mul(&s, grad, do_sigmoid(&s, scaled)));
    return lt_scope_give(&s, do_narrow_to(&s, result, self), out);
}
