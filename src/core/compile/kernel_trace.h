/* kernel_trace.h - a trace that a formula from text opens for its own operations
 * (src/core/expression). */
#ifndef LT_KERNEL_TRACE_H
#define LT_KERNEL_TRACE_H

#include "ltensor.h"

/* As lt_trace_open_within, for a trace that also records operations on GPUs, where it generates
 * kernels. */
lt_status lt_trace_open_kernel(int64_t min_numel);

#endif
