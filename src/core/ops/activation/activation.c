/* activation.c - activations: argument checks and calls of kernels; the kernels' formulas are in
 * formulas/activation.inc. Second derivatives without a kernel are composed of other ops. */
#include <string.h>

#include "ops/compose.h"
#include "dtypes/dtype.h"
#include "dtypes/fits.h"
#include "ops/pointwise.h"
#include "op/_celu_backward.h"
#include "op/_clamp_both.h"
#include "op/_elu.h"
#include "op/_elu_backward.h"
#include "op/_gelu_backward.h"
#include "op/_gelu_by_erf.h"
#include "op/_gelu_by_erf_backward.h"
#include "op/_gelu_by_tanh.h"
#include "op/_gelu_by_tanh_backward.h"
#include "op/_gelu_by_tanh_curve.h"
#include "op/_hardshrink.h"
#include "op/_leaky_relu.h"
#include "op/_logsigmoid.h"
#include "op/_mish_curve.h"
#include "op/_silu.h"
#include "op/_softplus.h"
#include "op/_softshrink.h"
#include "op/_threshold.h"
#include "op/celu.h"
#include "op/elu.h"
#include "op/gelu.h"
#include "op/hardshrink.h"
#include "op/hardtanh.h"
#include "op/leaky_relu.h"
#include "op/logsigmoid.h"
#include "op/relu6.h"
#include "op/selu.h"
#include "op/silu.h"
#include "op/softplus.h"
#include "op/softshrink.h"
#include "op/threshold.h"

#define TANH_CUBIC     0.044715 /* coefficient of gelu's approximation */
#define SQRT_2_OVER_PI 0.79788456080286535588
#define SELU_ALPHA     1.6732632423543772848170429916717
#define SELU_SCALE     1.0507009873554804934193349852946

/* Accepts floating dtypes only; name: for the message. */
static lt_status check_activation_dtype(const char *name, const lt_tensor *t)
{
    if (lt_dtype_is_float((lt_dtype)t->dtype)) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "\"%s%s\" not implemented for '%s'", name,
                    t->device.type == LT_CPU ? "_cpu" : "_cuda",
                    lt_dtype_scalar_name((lt_dtype)t->dtype));
}

/* ---- piecewise linear ------------------------------------------------------------------------ */

lt_status lt_leaky_relu_impl(lt_tensor *self, lt_scalar negative_slope, lt_tensor **out)
{
    LT_TRY(check_activation_dtype("leaky_relu", self));
    return lt__leaky_relu_impl(self, negative_slope, out);
}

static lt_scalar rounded(lt_scalar value, lt_dtype dtype)
{
    char element[16]; /* complex128 */
    lt_store_scalar(element, dtype, value);
    return lt_load_scalar(element, dtype);
}

lt_status lt_threshold_impl(lt_tensor *self, lt_scalar threshold, lt_scalar value, lt_tensor **out)
{
    lt_dtype dtype = (lt_dtype)self->dtype;
    LT_TRY(lt_check_fits(threshold, dtype));
    LT_TRY(lt_check_fits(value, dtype));
    return lt__threshold_impl(self, rounded(threshold, dtype), rounded(value, dtype), out);
}

lt_status lt_hardshrink_impl(lt_tensor *self, lt_scalar lambd, lt_tensor **out)
{
    LT_TRY(check_activation_dtype("hardshrink", self));
    return lt__hardshrink_impl(self, lambd, out);
}

lt_status lt_softshrink_impl(lt_tensor *self, lt_scalar lambd, lt_tensor **out)
{
    LT_TRY(check_activation_dtype("softshrink", self));
    if (!(lt_scalar_double(lambd) >= 0))
        return lt_error(LT_ERR_RUNTIME,
                        "lambda must not be negative for input dtype %s, but found %g",
                        lt_dtype_scalar_name((lt_dtype)self->dtype), lt_scalar_double(lambd));
    return lt__softshrink_impl(self, lambd, out);
}

/* ---- gelu ------------------------------------------------------------------------------------ */

static lt_status check_approximate(const char *approximate, bool *by_tanh)
{
    *by_tanh = strcmp(approximate, "tanh") == 0;
    if (*by_tanh || strcmp(approximate, "none") == 0) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "approximate argument must be either none or tanh.");
}

lt_status lt_gelu_impl(lt_tensor *self, const char *approximate, lt_tensor **out)
{
    bool by_tanh;
    LT_TRY(check_approximate(approximate, &by_tanh));
    if (!lt_dtype_is_float((lt_dtype)self->dtype))
        return lt_error(LT_ERR_RUNTIME, "\"%s\" not implemented for '%s'",
                        self->device.type == LT_CPU ? "GeluKernelImpl" : "GeluCUDAKernelImpl",
                        lt_dtype_scalar_name((lt_dtype)self->dtype));
    return by_tanh ? lt__gelu_by_tanh_impl(self, out) : lt__gelu_by_erf_impl(self, out);
}

lt_status lt__gelu_backward_impl(lt_tensor *grad_output, lt_tensor *self, const char *approximate,
                                 lt_tensor **out)
{
    bool by_tanh;
    LT_TRY(check_approximate(approximate, &by_tanh));
    return by_tanh ? lt__gelu_by_tanh_backward(grad_output, self, out)
                   : lt__gelu_by_erf_backward(grad_output, self, out);
}

/* The second derivative of x (1 + t) / 2, t = tanh(u), u = sqrt(2 / pi) (x + c x^3): (1 - t^2) (u'
 * + x u'' / 2 - x t u'^2), x u'' / 2 being 3 c x^2 sqrt(2 / pi). */
lt_status lt__gelu_by_tanh_curve_impl(lt_tensor *grad_output, lt_tensor *self, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_gelu_by_tanh_curve));
    lt_tensor *x = do_widen(&s, self), *square = do_square(&s, x);
    lt_tensor *u =
        times(&s, do_mul(&s, x, plus(&s, times(&s, square, TANH_CUBIC), 1)), SQRT_2_OVER_PI);
    lt_tensor *rise = times(&s, plus(&s, times(&s, square, 3 * TANH_CUBIC), 1), SQRT_2_OVER_PI);
    lt_tensor *t = do_tanh(&s, u), *rest = plus(&s, do_neg(&s, do_square(&s, t)), 1);
    lt_tensor *sum = do_add(&s, rise, times(&s, square, 3 * TANH_CUBIC * SQRT_2_OVER_PI));
    sum = do_sub(&s, sum, do_mul(&s, do_mul(&s, x, t), do_square(&s, rise)));
    lt_tensor *curve = do_mul(&s, rest, sum);
    return lt_scope_return(&s, do_narrow_to(&s, do_mul(&s, do_widen(&s, grad_output), curve), self),
                           out);
}

/* ---- of exponentials and logarithms ---------------------------------------------------------- */

lt_status lt_silu_impl(lt_tensor *self, lt_tensor **out)
{
    if (!lt_dtype_is_complex((lt_dtype)self->dtype)) LT_TRY(check_activation_dtype("silu", self));
    return lt__silu_impl(self, out);
}

lt_status lt_softplus_impl(lt_tensor *self, lt_scalar beta, lt_scalar threshold, lt_tensor **out)
{
    LT_TRY(check_activation_dtype("softplus", self));
    return lt__softplus_impl(self, beta, threshold, out);
}

lt_status lt_logsigmoid_impl(lt_tensor *self, lt_tensor **out)
{
    LT_TRY(check_activation_dtype("log_sigmoid", self));
    return lt__logsigmoid_impl(self, out);
}

lt_status lt_elu_impl(lt_tensor *self, double alpha, lt_tensor **out)
{
    LT_TRY(check_activation_dtype("elu", self));
    return lt__elu_impl(self, lt_scalar_from_int(1), lt_scalar_from_float(alpha),
                        lt_scalar_from_int(1), out);
}

lt_status lt_celu_impl(lt_tensor *self, double alpha, lt_tensor **out)
{
    if (alpha == 0)
        return lt_error(LT_ERR_RUNTIME, "ZeroDivisionError: alpha cannot be 0 for CELU");
    LT_TRY(check_activation_dtype("elu", self));
    return lt__elu_impl(self, lt_scalar_from_int(1), lt_scalar_from_float(alpha),
                        lt_scalar_from_float(1 / alpha), out);
}

lt_status lt__celu_backward_impl(lt_tensor *grad_output, lt_tensor *self, double alpha,
                                 lt_tensor **out)
{
    return lt__elu_backward(grad_output, self, lt_scalar_from_int(1), lt_scalar_from_float(alpha),
                            lt_scalar_from_float(1 / alpha), out);
}

lt_status lt_selu_impl(lt_tensor *self, lt_tensor **out)
{
    LT_TRY(check_activation_dtype("elu", self));
    return lt__elu_impl(self, lt_scalar_from_float(SELU_SCALE),
                        lt_scalar_from_float(SELU_SCALE * SELU_ALPHA), lt_scalar_from_int(1), out);
}

/* s (1 - t^2) (2 + x (1 - s) - 2 x s t), s = sigmoid(x), t = tanh(softplus(x)). */
lt_status lt__mish_curve_impl(lt_tensor *grad_output, lt_tensor *self, lt_tensor **out)
{
    lt_scope s;
    lt_tensor *soft = NULL;
    lt_scope_open(&s, LT_COMPOSITE(_mish_curve));
    lt_tensor *x = do_widen(&s, self), *grad = do_widen(&s, grad_output);
    if (s.status == LT_OK) {
        lt_status status = lt_softplus(x, lt_scalar_from_int(1), lt_scalar_from_int(20), &soft);
        soft = lt_scope_hold(&s, status, soft);
    }
    lt_tensor *t = do_tanh(&s, soft), *share = do_sigmoid(&s, x);
    lt_tensor *rest = plus(&s, do_neg(&s, do_square(&s, t)), 1), *part = do_mul(&s, x, share);
    lt_tensor *sum =
        do_sub(&s, plus(&s, do_sub(&s, x, part), 2), times(&s, do_mul(&s, part, t), 2));
    lt_tensor *curve = do_mul(&s, do_mul(&s, share, rest), sum);
    return lt_scope_return(&s, do_narrow_to(&s, do_mul(&s, grad, curve), self), out);
}

/* ---- clamped --------------------------------------------------------------------------------- */

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
        return lt_error(LT_ERR_RUNTIME,
                        "cannot do hardtanh on an unsigned type with negative limits");
    /* the bounds must be of the dtype, too */
    if (lt_dtype_is_integral((lt_dtype)self->dtype)) {
        LT_TRY(lt_check_fits(min_val, (lt_dtype)self->dtype));
        LT_TRY(lt_check_fits(max_val, (lt_dtype)self->dtype));
        min_val = lt_scalar_from_int(lt_scalar_int(min_val)),
        max_val = lt_scalar_from_int(lt_scalar_int(max_val));
    }
    return lt__clamp_both_impl(self, min_val, max_val, out);
}

lt_status lt_relu6_impl(lt_tensor *self, lt_tensor **out)
{
    LT_TRY(check_not_bool("hardtanh", self));
    return lt__clamp_both_impl(self, lt_scalar_from_int(0), lt_scalar_from_int(6), out);
}
