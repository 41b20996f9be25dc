/* dims.h - lists of sizes that grow. An lt_dims has room for LT_MAX_DIMS: whatever adds a size to
 * one that comes from a tensor uses this function, which checks first. */
#ifndef LT_DIMS_H
#define LT_DIMS_H

#include "ltensor.h"

/* Puts a size before index `at` of the list (at = n: behind them all). LT_ERR_RUNTIME, and the list
 * as it was, where it is full. */
lt_status lt_dims_insert(lt_dims *dims, int at, int64_t size);

/* A tensor's sizes. */
lt_dims lt_dims_of(const lt_tensor *t);

#endif
