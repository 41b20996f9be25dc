/* compare.c - comparisons of whole tensors, and comparisons in place. Results that are a C bool
 * wait for the device. */
#include <math.h>

#include "devices/transfer.h"
#include "ops/steps.h"
#include "op/allclose.h"
#include "op/eq.h"
#include "op/equal.h"
#include "op/ge.h"
#include "op/gt.h"
#include "op/is_nonzero.h"
#include "op/isclose.h"
#include "op/le.h"
#include "op/logical_and.h"
#include "op/logical_not.h"
#include "op/logical_not_.h"
#include "op/logical_or.h"
#include "op/logical_xor.h"
#include "op/lt.h"
#include "op/ne.h"
#include "step/isfinite.h"

/* Closes the scope; *out: whether all flags are set. */
static lt_status answer(lt_scope *s, lt_tensor *flags, bool *out)
{
    bool all = false;
    lt_all_set(s, flags, &all);
    lt_status status = lt_scope_close(s);
    if (status == LT_OK) *out = all;
    return status;
}

lt_status lt_equal_impl(lt_tensor *self, lt_tensor *other, bool *out)
{
    lt_device device;
    LT_TRY(lt_check_same_device("equal", (lt_tensor *[]){self, other}, 2, false, &device));
    const bool same = lt_same_sizes(self, other);
    if (!same || self->numel == 0) {
        *out = same;
        return LT_OK;
    }
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(equal));
    return answer(&s, do_eq(&s, self, other), out);
}

static lt_tensor *close_flags(lt_scope *s, lt_tensor *self, lt_tensor *other, double rtol,
                              double atol, bool equal_nan)
{
    lt_tensor *close = do_eq(s, self, other);
    if (equal_nan && lt_dtype_is_inexact((lt_dtype)self->dtype))
        close = do_logical_or(s, close, do_logical_and(s, do_isnan(s, self), do_isnan(s, other)));
    if (rtol == 0 && atol == 0) return close;
    /* Differences of integers could overflow. */
    lt_tensor *reference = lt_dtype_is_inexact((lt_dtype)other->dtype)
                               ? other
                               : do_cast(s, other, lt_get_default_dtype());
    lt_tensor *allowed =
        do_add(s, do_abs(s, do_mul(s, reference, do_number(s, rtol))), do_number(s, atol));
    lt_tensor *minuend = self->dtype == LT_BOOL ? do_cast(s, self, lt_get_default_dtype()) : self;
    lt_tensor *actual = do_abs(s, do_sub(s, minuend, reference));
    return do_logical_or(s, close,
                         do_logical_and(s, do_isfinite(s, actual), do_le(s, actual, allowed)));
}

static lt_status check_close(const lt_tensor *self, const lt_tensor *other, double rtol,
                             double atol)
{
    if (self->dtype != other->dtype)
        return lt_error(LT_ERR_RUNTIME, "%s did not match %s",
                        lt_dtype_scalar_name((lt_dtype)self->dtype),
                        lt_dtype_scalar_name((lt_dtype)other->dtype));
    if (!(rtol >= 0))
        return lt_error(LT_ERR_RUNTIME, "rtol must be greater than or equal to zero, but got %g",
                        rtol);
    if (!(atol >= 0))
        return lt_error(LT_ERR_RUNTIME, "atol must be greater than or equal to zero, but got %g",
                        atol);
    return LT_OK;
}

lt_status lt_isclose_impl(lt_tensor *self, lt_tensor *other, double rtol, double atol,
                          bool equal_nan, lt_tensor **out)
{
    LT_TRY(check_close(self, other, rtol, atol));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(isclose));
    return lt_scope_store(&s, close_flags(&s, self, other, rtol, atol, equal_nan), out);
}

lt_status lt_allclose_impl(lt_tensor *self, lt_tensor *other, double rtol, double atol,
                           bool equal_nan, bool *out)
{
    LT_TRY(check_close(self, other, rtol, atol));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(allclose));
    return answer(&s, close_flags(&s, self, other, rtol, atol, equal_nan), out);
}

lt_status lt_is_nonzero_impl(lt_tensor *self, bool *out)
{
    if (self->numel != 1)
        return lt_error(LT_ERR_RUNTIME, "Boolean value of Tensor with %s is ambiguous",
                        self->numel == 0 ? "no values" : "more than one value");
    lt_scalar value;
    LT_TRY(lt_tensor_item(self, &value));
    *out = lt_scalar_double(value) != 0;
    return LT_OK;
}

/* ---- in place -------------------------------------------------------------------------------- */

#define IN_PLACE(name)                                                                             \
    lt_status lt_##name##__impl(lt_tensor *self, lt_tensor *other)                                 \
    {                                                                                              \
        lt_tensor *out = self;                                                                     \
        return lt_##name##_impl(self, other, &out);                                                \
    }
IN_PLACE(eq)
IN_PLACE(ne)
IN_PLACE(lt)
IN_PLACE(le)
IN_PLACE(gt)
IN_PLACE(ge)
IN_PLACE(logical_and)
IN_PLACE(logical_or)
IN_PLACE(logical_xor)
#undef IN_PLACE

lt_status lt_logical_not__impl(lt_tensor *self)
{
    lt_tensor *out = self;
    return lt_logical_not_impl(self, &out);
}
