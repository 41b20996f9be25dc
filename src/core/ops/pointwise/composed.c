/* composed.c - elementwise operations that are composed of others: signs, scaling, parts of
 * floating-point numbers. */
#include <math.h>

#include "ops/compose.h"
#include "op/clamp.h"
#include "op/deg2rad.h"
#include "op/div.h"
#include "op/fill.h"
#include "op/fill_.h"
#include "op/float_power.h"
#include "op/frexp.h"
#include "op/isneginf.h"
#include "op/isposinf.h"
#include "op/ldexp.h"
#include "op/positive.h"
#include "op/rad2deg.h"
#include "op/rsub.h"
#include "op/signbit.h"
#include "op/sub.h"
#include "op/zeros_like.h"
#include "step/copysign.h"
#include "step/detach.h"
#include "step/exp2.h"
#include "step/floor.h"
#include "step/isfinite.h"
#include "step/log2.h"
#include "step/ones_like.h"

static bool is_real_float(const lt_tensor *t) { return lt_dtype_is_float((lt_dtype)t->dtype); }
static bool is_complex_number(const lt_tensor *t)
{
    return lt_dtype_is_complex((lt_dtype)t->dtype);
}

/* ---- scaling --------------------------------------------------------------------------------- */

static lt_status scaled(const char *op, lt_tensor *self, double factor, lt_tensor **out)
{
    if (is_complex_number(self))
        return lt_error(LT_ERR_RUNTIME, "%s is not supported for complex tensors.", op);
    lt_scope s;
    lt_scope_open(&s, true);
    return lt_scope_return(&s, times(&s, self, factor), out);
}

lt_status lt_deg2rad_impl(lt_tensor *self, lt_tensor **out)
{
    return scaled("deg2rad", self, acos(-1.0) / 180, out);
}

lt_status lt_rad2deg_impl(lt_tensor *self, lt_tensor **out)
{
    return scaled("rad2deg", self, 180 / acos(-1.0), out);
}

/* In double precision; numbers, which are wide, stay as they are. */
static lt_tensor *do_wide(lt_scope *s, lt_tensor *a)
{
    if (a->flags & LT_FLAG_WRAPPED_NUMBER) return a;
    return do_cast(s, a, is_complex_number(a) ? LT_COMPLEX128 : LT_FLOAT64);
}

lt_status lt_float_power_impl(lt_tensor *self, lt_tensor *exponent, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(float_power));
    return lt_scope_return(&s, do_pow(&s, do_wide(&s, self), do_wide(&s, exponent)), out);
}

/* self * 2^other of floats and integers keeps the dtype of self: in double precision and three
 * steps, in which no power leaves the range of a double. */
static lt_status scale_by_integers(lt_tensor *self, lt_tensor *other, lt_tensor **out)
{
    const lt_scalar low = lt_scalar_from_int(-2400), high = lt_scalar_from_int(2400);
    lt_tensor *exponent = NULL;
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *integers = do_cast(&s, other, LT_INT64), *result = do_cast(&s, self, LT_FLOAT64);
    lt_status status = s.status;
    if (status == LT_OK) status = lt_clamp(integers, &low, &high, &exponent);
    exponent = lt_scope_hold(&s, status, exponent);
    for (int parts = 3; parts > 0 && s.status == LT_OK; parts--) {
        lt_tensor *part = NULL;
        status = lt_div_rounding(exponent, do_number(&s, parts), "trunc", &part);
        part = lt_scope_hold(&s, status, part);
        if (parts > 1) exponent = do_sub(&s, exponent, part);
        lt_tensor *power = do_pow(&s, do_number(&s, 2), do_cast(&s, part, LT_FLOAT64));
        result = do_mul(&s, result, power);
    }
    return lt_scope_return(&s, do_narrow_to(&s, result, self), out);
}

lt_status lt_ldexp_impl(lt_tensor *self, lt_tensor *other, lt_tensor **out)
{
    const bool integer = !lt_dtype_is_inexact((lt_dtype)other->dtype);
    if (is_real_float(self) && integer) return scale_by_integers(self, other, out);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(ldexp));
    lt_tensor *product = do_mul(&s, self, do_pow(&s, do_number(&s, 2), other));
    return lt_scope_return(
        &s, integer && is_complex_number(self) ? do_narrow_to(&s, product, self) : product, out);
}

/* ---- parts of floating-point numbers --------------------------------------------------------- */

/* x * 2^e in two steps, because 2^e may overflow although the product does not. */
static lt_tensor *do_scaled(lt_scope *outer, lt_tensor *x, lt_tensor *e)
{
    lt_tensor *out = NULL;
    if (outer->status != LT_OK) return NULL;
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *half = do_floor(&s, times(&s, e, 0.5));
    lt_tensor *first = do_mul(&s, x, do_exp2(&s, half));
    lt_tensor *product = do_mul(&s, first, do_exp2(&s, do_sub(&s, e, half)));
    const lt_status status = lt_scope_return(&s, product, &out);
    return lt_scope_hold(outer, status, out);
}

/* The exponents of finite numbers that are not 0. */
static lt_tensor *do_exponent(lt_scope *outer, lt_tensor *x, lt_tensor *regular)
{
    lt_tensor *out = NULL;
    if (outer->status != LT_OK) return NULL;
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *zero = do_number(&s, 0), *one = do_number(&s, 1),
              *size = do_where(&s, regular, do_abs(&s, x), one);
    lt_tensor *guess = do_where(&s, regular, plus(&s, do_floor(&s, do_log2(&s, size)), 1), zero);
    /* corrects the rounding of log2 */
    lt_tensor *part = do_abs(&s, do_scaled(&s, x, do_neg(&s, guess)));
    lt_tensor *above = do_logical_and(&s, do_ge(&s, part, one), regular),
              *below = do_logical_and(&s, do_lt(&s, part, do_number(&s, 0.5)), regular);
    lt_tensor *rest = do_where(&s, below, plus(&s, guess, -1), guess);
    const lt_status status =
        lt_scope_return(&s, do_where(&s, above, plus(&s, guess, 1), rest), &out);
    return lt_scope_hold(outer, status, out);
}

lt_status lt_frexp_impl(lt_tensor *self, lt_tensor **mantissa, lt_tensor **exponent)
{
    if (!is_real_float(self))
        return lt_error(LT_ERR_RUNTIME, "torch.frexp() only supports floating-point dtypes");
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(frexp));
    lt_tensor *x = do_widen(&s, self), *constant = do_detach(&s, x);
    lt_tensor *nonzero = do_ne(&s, constant, do_number(&s, 0));
    lt_tensor *regular = do_logical_and(&s, do_isfinite(&s, constant), nonzero);
    lt_tensor *e = do_exponent(&s, constant, regular);
    lt_tensor *m = do_where(&s, regular, do_scaled(&s, x, do_neg(&s, e)), x);
    lt_tensor *own = do_narrow_to(&s, m, self), *integers = do_cast(&s, e, LT_INT32);
    if (s.status == LT_OK) {
        *mantissa = lt_tensor_retain(own);
        *exponent = lt_tensor_retain(integers);
    }
    return lt_scope_close(&s);
}

/* ---- signs ----------------------------------------------------------------------------------- */

lt_status lt_signbit_impl(lt_tensor *self, lt_tensor **out)
{
    if (self->dtype == LT_BOOL) return lt_zeros_like(self, LT_DTYPE_NONE, NULL, out);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(signbit));
    lt_tensor *signs = self;
    if (is_real_float(self)) {
        lt_tensor *constant = do_detach(&s, self);
        signs = do_copysign(&s, do_ones_like(&s, constant), constant);
    }
    return lt_scope_return(&s, do_lt(&s, signs, do_number(&s, 0)), out);
}

static lt_status equals_infinity(lt_tensor *self, double infinity, lt_tensor **out)
{
    if (!is_real_float(self)) return lt_zeros_like(self, LT_BOOL, NULL, out);
    lt_scope s;
    lt_scope_open(&s, true);
    return lt_scope_return(&s, do_eq(&s, do_detach(&s, self), do_number(&s, infinity)), out);
}

lt_status lt_isposinf_impl(lt_tensor *self, lt_tensor **out)
{
    return equals_infinity(self, INFINITY, out);
}

lt_status lt_isneginf_impl(lt_tensor *self, lt_tensor **out)
{
    return equals_infinity(self, -INFINITY, out);
}

lt_status lt_positive_impl(lt_tensor *self, lt_tensor **out)
{
    if (self->dtype == LT_BOOL)
        return lt_error(LT_ERR_RUNTIME, "The `+` operator, on a bool tensor is not supported.");
    *out = lt_tensor_retain(self);
    return LT_OK;
}

/* ---- other forms ----------------------------------------------------------------------------- */

lt_status lt_rsub_impl(lt_tensor *self, lt_tensor *other, lt_scalar alpha, lt_tensor **out)
{
    if (self->dtype == LT_BOOL || other->dtype == LT_BOOL)
        return lt_error(LT_ERR_RUNTIME,
                        "Subtraction, the `-` operator, with a bool tensor is not supported. If "
                        "you are trying to invert a mask, use the `~` or `logical_not()` operator "
                        "instead.");
    return lt_sub(other, self, alpha, out);
}

/* A copy of self with a sample for each sample of a batched tensor. */
static lt_tensor *do_batched_like(lt_scope *s, lt_tensor *self, lt_tensor *batched)
{
    const lt_dims sizes = lt_dims_of(self);
    lt_tensor *zeros = do_narrow_to(s, do_zeros(s, batched, &sizes), self);
    return do_add(s, self, zeros);
}

lt_status lt_fill_impl(lt_tensor *self, lt_tensor *value, lt_tensor **out)
{
    if (value->ndim > 0)
        return lt_error(LT_ERR_RUNTIME,
                        "fill only supports 0-dimension value tensor but got tensor with %d "
                        "dimensions.",
                        value->ndim);
    lt_scalar number = lt_scalar_from_int(0);
    const bool is_number = (value->flags & LT_FLAG_WRAPPED_NUMBER) != 0;
    if (is_number) LT_TRY(lt_tensor_item(value, &number));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(fill));
    lt_tensor *copy = lt_is_batched(value) ? do_batched_like(&s, self, value) : do_clone(&s, self);
    if (s.status == LT_OK)
        s.status = is_number ? lt_fill_(copy, number) : lt_fill_tensor(copy, value);
    return lt_scope_return(&s, copy, out);
}
