/* float8_arguments.h - how ops refuse floats of one byte, which are stored and moved, but not
 * computed with: for the wrappers that scripts/gen/float8.lua makes. */
#ifndef LT_FLOAT8_ARGUMENTS_H
#define LT_FLOAT8_ARGUMENTS_H

#include "dtype.h"

/* Of the first tensor in the list that has such a dtype, LT_DTYPE_NONE where none has. */
lt_dtype lt_float8_of(const lt_tensor_list *list);
static inline bool lt_any_float8(const lt_tensor_list *list)
{
    return lt_float8_of(list) != LT_DTYPE_NONE;
}

/* The error of an op that has no kernel for the dtype. */
lt_status lt_refuse_dtype(const char *op, lt_dtype dtype);

#endif
