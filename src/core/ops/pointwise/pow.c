/* pow.c - the derivatives of powers. */
#include <math.h>

#include "devices/transfer.h"
#include "ops/compose.h"
#include "op/_pow_backward_exponent.h"
#include "op/_pow_backward_self.h"
#include "op/real.h"

static lt_scalar logarithm_of(lt_scalar s)
{
    return lt_scalar_from_complex(log(hypot(s.v.d, s.imaginary)), atan2(s.imaginary, s.v.d));
}

static bool is_wrapped_number(const lt_tensor *t) { return t->flags & LT_FLAG_WRAPPED_NUMBER; }

lt_status lt__pow_backward_self_impl(lt_tensor *grad_output, lt_tensor *self, lt_tensor *exponent,
                                     lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_pow_backward_self));
    if (is_wrapped_number(exponent)) {
        lt_scalar value;
        s.status = lt_tensor_item(exponent, &value);
        if (s.status != LT_OK) return lt_scope_close(&s);
        const double power = lt_scalar_double(value);
        lt_dims sizes = lt_dims_of(grad_output);
        if (value.kind == LT_SCALAR_COMPLEX) {
            lt_tensor *slope =
                do_pow(&s, self, do_scalar(&s, lt_scalar_from_complex(power - 1, value.imaginary)));
            return lt_scope_return(&s, do_mul(&s, grad_output, do_mul(&s, slope, exponent)), out);
        }
        if (power == 0) return lt_scope_return(&s, do_zeros(&s, grad_output, &sizes), out);
        lt_tensor *slope = power == 2 ? self : do_pow(&s, self, do_number(&s, power - 1));
        return lt_scope_return(&s, do_mul(&s, grad_output, do_mul(&s, slope, exponent)), out);
    }
    lt_tensor *less = do_sub(&s, exponent, do_number(&s, 1));
    lt_tensor *slope = do_mul(&s, exponent, do_pow(&s, self, less));
    lt_tensor *flat = do_eq(&s, exponent, do_number(&s, 0));
    return lt_scope_return(&s, do_where(&s, flat, do_number(&s, 0), do_mul(&s, grad_output, slope)),
                           out);
}

lt_status lt__pow_backward_exponent_impl(lt_tensor *grad_output, lt_tensor *self,
                                         lt_tensor *exponent, lt_tensor *result, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_pow_backward_exponent));
    lt_tensor *zero = do_number(&s, 0), *logarithm;
    if (is_wrapped_number(self)) {
        /* The logarithm as a number, to avoid rounding to the default dtype. */
        lt_scalar value;
        if (s.status == LT_OK) s.status = lt_tensor_item(self, &value);
        logarithm = s.status != LT_OK                 ? NULL
                    : value.kind == LT_SCALAR_COMPLEX ? do_scalar(&s, logarithm_of(value))
                                                      : do_number(&s, log(lt_scalar_double(value)));
    } else {
        logarithm = do_log(&s, self);
    }
    lt_tensor *slope = do_mul(&s, grad_output, do_mul(&s, result, logarithm));
    lt_tensor *real = NULL;
    if (s.status == LT_OK) s.status = lt_real(exponent, &real);
    real = lt_scope_hold(&s, s.status, real);
    lt_tensor *flat = do_logical_and(&s, do_eq(&s, self, zero), do_ge(&s, real, zero));
    return lt_scope_return(&s, do_where(&s, flat, zero, slope), out);
}
