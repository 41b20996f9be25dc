/* check_values.c - see check_values.h. */
#include "ops/check_values.h"

#include "dtypes/dtype.h"
#include "error.h"
#include "compile/deferred.h"
#include "op/_to_copy.h"

lt_status lt_check_values(lt_tensor *t, lt_value_check rule)
{
    if (t->numel == 0) return LT_OK;
    const lt_dtype dtype = (lt_dtype)t->dtype;
    lt_tensor *row = NULL;
    if (lt_dtype_is_float(dtype))
        rule.dtype = dtype == LT_FLOAT64 ? LT_FLOAT64 : LT_FLOAT32;
    else
        /* a range is checked in floating point */
        rule.dtype = rule.nonzero ? LT_INT64 : LT_FLOAT64;
    rule.device = t->device;
    rule.n = t->numel;
    if (rule.dtype == dtype && lt_is_contiguous(t)) {
        row = lt_tensor_retain(t);
    } else {
        LT_TRY(lt__to_copy_impl(t, rule.dtype, NULL, false,
                                &row)); /* as a vector: the order does not matter */
    }
    lt_status status = lt_materialize("check_values", row); /* computes a deferred value */
    if (status == LT_OK) {
        rule.data = lt_data(row);
        status = lt_backend_of(row)->check_values(&rule);
    }
    lt_tensor_release(row);
    return status;
}
