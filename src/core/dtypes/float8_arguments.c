/* float8_arguments.c - see float8_arguments.h. */
#include "float8_arguments.h"

#include "error.h"
#include "tensor.h"

lt_dtype lt_float8_of(const lt_tensor_list *list)
{
    for (int64_t i = 0; i < list->n; i++)
        if (list->v[i] != NULL && lt_dtype_is_float8((lt_dtype)list->v[i]->dtype))
            return (lt_dtype)list->v[i]->dtype;
    return LT_DTYPE_NONE;
}

lt_status lt_refuse_dtype(const char *op, lt_dtype dtype)
{
    return lt_error(LT_ERR_RUNTIME, "\"%s\" not implemented for '%s'", op,
                    lt_dtype_scalar_name(dtype));
}
