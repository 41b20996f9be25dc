/* dims.h - lists of sizes. An lt_dims has capacity for LT_MAX_DIMS entries: always add a size to
 * the list of a tensor with lt_dims_insert, which checks the capacity. */
#ifndef LT_DIMS_H
#define LT_DIMS_H

#include "ltensor.h"

/* Inserts a size before index `at` (at = n: appends). LT_ERR_RUNTIME, with the list unchanged, if
 * it is full. */
lt_status lt_dims_insert(lt_dims *dims, int at, int64_t size);

/* The sizes of a tensor. */
lt_dims lt_dims_of(const lt_tensor *t);

#endif
