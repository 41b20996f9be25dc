/* statistics.h - a reduction by its kernel, and counts that variance and mean share with their
 * derivatives. Included by src/core/ops only. */
#ifndef LT_OPS_STATISTICS_H
#define LT_OPS_STATISTICS_H

#include "devices/backend.h"
#include "devices/reduction.h"
#include "tensor.h"

/* How many elements of a tensor of these sizes a reduction over dims (NULL: all) makes into one. */
lt_status lt_count_reduced(const lt_dims *sizes, const lt_dims *dims, double *count);

/* What a variance divides by: the count less the correction, 0 at least. */
lt_status lt_degrees_of_freedom(const lt_tensor *self, const lt_dims *dims, lt_scalar correction,
                                double *freedom);

/* Reduces self over dims (NULL: all); the kernel reads its dtype as it is. */
lt_status lt_reduce_over(lt_reduction op, lt_tensor *self, const lt_dims *dims, bool keepdim,
                         lt_dtype result, double parameter, lt_tensor **out);

#endif
