/* kernel.h - a reduction by the backend's kernel. Included by src/core/ops/reduce only. */
#ifndef LT_OPS_REDUCE_KERNEL_H
#define LT_OPS_REDUCE_KERNEL_H

#include "devices/reduction.h"
#include "ops/common.h"

/* The sizes of a tensor reduced over the dimensions in mask; returns their number. */
int lt_reduced_shape(const lt_tensor *in, uint32_t mask, bool keepdim, int64_t *sizes);

/* Reduces the dimensions in mask of a tensor that is not complex; the kernel reads its dtype
 * without conversion. *out as in lt_output. */
lt_status lt_reduce_real(lt_reduction op, lt_tensor *in, uint32_t mask, bool keepdim,
                         lt_dtype dtype, double parameter, lt_tensor **out);

#endif
