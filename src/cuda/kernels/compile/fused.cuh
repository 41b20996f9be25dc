/* fused.cuh - reductions, softmax and norms of a fused expression, as one generated kernel. */
#ifndef LT_FUSED_FUSED_CUH
#define LT_FUSED_FUSED_CUH

#include <cuda_runtime.h>

#include "plan.cuh"

/* Reduces each row of the producer's value by a step of reduce/steps.cuh.
 * - wide: accumulates in double, else in float. light: the step's member of that name.
 * - out: C++ type of the results; "void": parameters of a second step, contiguous, of the
 *   accumulation type.
 * - Result: *producer->done is false if no kernel can be generated; nothing was written then.
 * - Errors: LT_ERR_MEMORY and CUDA's. */
lt_status lt_fused_reduce(const lt_fused_producer *producer, const char *step, bool wide,
                          bool light, const char *out, const lt_fused_lines &lines,
                          cudaStream_t stream);

/* The same by two steps in one kernel, for rows of one chunk that a team holds in registers. */
lt_status lt_fused_reduce_held(const lt_fused_producer *producer, const lt_fused_two_steps &steps,
                               bool wide, const char *out, const lt_fused_lines &lines,
                               cudaStream_t stream);

/* Applies `function` of device/rows.cuh to the rows of the producer's value, of the given dtype.
 * more: a further template argument, or null. *producer->done is false if no kernel can be
 * generated. Sets rows.team itself. */
lt_status lt_fused_take_rows(const lt_fused_producer *producer, const char *function,
                             lt_dtype dtype, const char *more, const lt_row_team &team,
                             lt_fused_rows rows, cudaStream_t stream);

#endif
