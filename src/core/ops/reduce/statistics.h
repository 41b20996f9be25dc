/* statistics.h - a reduction by its kernel, and counts used by variance and mean and their
 * derivatives. Included by src/core/ops only. */
#ifndef LT_OPS_STATISTICS_H
#define LT_OPS_STATISTICS_H

#include "devices/backend.h"
#include "devices/reduction.h"
#include "tensor.h"

/* The number of elements that a reduction over dims (NULL: all) combines into one, for a tensor of
 * these sizes. */
lt_status lt_count_reduced(const lt_dims *sizes, const lt_dims *dims, double *count);

/* The divisor of a variance: the count minus the correction, at least 0. */
lt_status lt_degrees_of_freedom(const lt_tensor *self, const lt_dims *dims, lt_scalar correction,
                                double *freedom);

/* Reduces self over dims (NULL: all); the kernel reads its dtype without conversion. */
lt_status lt_reduce_over(lt_reduction op, lt_tensor *self, const lt_dims *dims, bool keepdim,
                         lt_dtype result, double parameter, lt_tensor **out);

#endif
