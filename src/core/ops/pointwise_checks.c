/* pointwise_checks.c - see pointwise_checks.h. */
#include "pointwise_checks.h"

#include "devices/transfer.h"
#include "dtypes/dtype.h"
#include "dtypes/fits.h"
#include "error.h"

lt_status lt_check_power(lt_tensor *const *inputs, lt_dtype dtype)
{
    lt_tensor *exponent = inputs[1];
    if (!lt_dtype_is_half(dtype)) LT_TRY(lt_check_number_fits(exponent, dtype));
    if (lt_dtype_is_inexact(dtype) || !(exponent->flags & LT_FLAG_WRAPPED_NUMBER)) return LT_OK;
    lt_scalar value;
    LT_TRY(lt_tensor_item(exponent, &value));
    if (lt_scalar_double(value) >= 0) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "Integers to negative integer powers are not allowed.");
}

lt_status lt_check_lerp(lt_tensor *const *inputs, lt_dtype dtype)
{
    static const char *const arguments[] = {NULL, "end", "weight"};
    (void)dtype;
    for (int i = 1; i < 3; i++)
        if (inputs[i]->dtype != inputs[0]->dtype && !(inputs[i]->flags & LT_FLAG_WRAPPED_NUMBER))
            return lt_error(LT_ERR_RUNTIME, "lerp: expected dtype %s for `%s` but got dtype %s",
                            lt_dtype_name((lt_dtype)inputs[0]->dtype), arguments[i],
                            lt_dtype_name((lt_dtype)inputs[i]->dtype));
    if (lt_dtype_is_inexact((lt_dtype)inputs[0]->dtype)) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "\"lerp\" not implemented for '%s'",
                    lt_dtype_scalar_name((lt_dtype)inputs[0]->dtype));
}

lt_status lt_check_addcdiv(lt_tensor *const *inputs, lt_dtype dtype)
{
    (void)dtype;
    if (lt_dtype_is_inexact((lt_dtype)inputs[1]->dtype) ||
        lt_dtype_is_inexact((lt_dtype)inputs[2]->dtype))
        return LT_OK;
    return lt_error(LT_ERR_RUNTIME,
                    "Integer division with addcdiv is no longer supported: convert a tensor to a "
                    "floating point dtype, or truncate by div with the rounding mode 'trunc'.");
}

lt_status lt_check_choices(lt_tensor *const *inputs, lt_dtype dtype)
{
    /* a value out of range becomes infinity, as in PyTorch */
    if (lt_dtype_is_half(dtype)) return LT_OK;
    LT_TRY(lt_check_number_fits(inputs[1], dtype));
    return lt_check_number_fits(inputs[2], dtype);
}

lt_status lt_check_same_dtype(lt_tensor *const *inputs, lt_dtype dtype)
{
    (void)dtype;
    if (inputs[0]->dtype == inputs[1]->dtype) return LT_OK;
    return lt_error(LT_ERR_RUNTIME,
                    "heaviside is not yet implemented for tensors with different dtypes.");
}
