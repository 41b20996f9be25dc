/* complex.h - reductions of complex tensors, computed by parts. Included by src/core/ops/reduce
 * only. */
#ifndef LT_OPS_REDUCE_COMPLEX_H
#define LT_OPS_REDUCE_COMPLEX_H

#include "devices/reduction.h"
#include "ops/common.h"

/* As lt_reduce_over (statistics.h), over the dimensions in mask; norms, variances and truth values
 * are real. */
lt_status lt_reduce_complex(lt_reduction op, lt_tensor *self, uint32_t mask, bool keepdim,
                            lt_dtype result, double parameter, lt_tensor **out);

/* Prefix sums or products along dimension d, in dtype (LT_DTYPE_NONE: self's). */
lt_status lt_scan_complex(lt_scan op, lt_tensor *self, int d, lt_dtype dtype, lt_tensor **out);

#endif
