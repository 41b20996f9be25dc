/* special.c - the special functions and clamping activations that are formulas of several kernels or check what they
 * are given, and the derivatives that no single op computes. The kernels' formulas stand in formulas_special.inc. */
#include <float.h>
#include <math.h>

#include "compose.h"
#include "dtype.h"
#include "fits.h"
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
    lt_tensor *clamped = do_logical_or(&s, do_lt(&s, x, do_number(&s, low)), do_gt(&s, x, do_number(&s, 1 - low)));
    lt_tensor *there = do_number(&s, eps != NULL ? 0 : (double)NAN);
    return lt_scope_give(&s, do_narrow_to(&s, do_where(&s, clamped, there, slope), grad_output), out);
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
    lt_dtype dtype = (lt_dtype)self->dtype;
    if (!lt_dtype_is_float(dtype)) {
        lt_scope s;
        lt_scope_open(&s, false);
        lt_tensor *copy = *out == NULL ? do_clone(&s, self) : self;
        return lt_scope_store(&s, copy, out);
    }
    const double high = posinf != NULL ? *posinf : largest(dtype), low = neginf != NULL ? *neginf : -largest(dtype);
    return lt__nan_to_num_impl(self, lt_float(nan != NULL ? *nan : 0), lt_float(high), lt_float(low), out);
}

/* ---- activations ------------------------------------------------------------------------------------------------- */

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
    if (lt_dtype_is_integral((lt_dtype)self->dtype)) { /* the bounds are numbers of the dtype, too */
        LT_TRY(lt_check_fits(min_val, (lt_dtype)self->dtype));
        LT_TRY(lt_check_fits(max_val, (lt_dtype)self->dtype));
        min_val = lt_int(lt_scalar_int(min_val)), max_val = lt_int(lt_scalar_int(max_val));
    }
    return lt__clamp_both_impl(self, min_val, max_val, out);
}

lt_status lt_relu6_impl(lt_tensor *self, lt_tensor **out)
{
    LT_TRY(check_not_bool("hardtanh", self));
    return lt__clamp_both_impl(self, lt_int(0), lt_int(6), out);
}
