/* fused.cuh - lines and rows of a fusion's value as they are taken by one generated kernel. */
#ifndef LT_FUSED_FUSED_CUH
#define LT_FUSED_FUSED_CUH

#include <cuda_runtime.h>

#include "plan.cuh"

/* Reduces each line by a step of reduce/steps.cuh. Where no kernel is generated for it *producer->done
 * becomes false; nothing was written then. LT_ERR_MEMORY, and what the runtime says. wide:
 * accumulated in double, else in float. out: the type of the results in the source; "void": they
 * are what a second step takes as its parameters, of the type accumulated in, one after the
 * other. */
lt_status lt_fused_reduce(const lt_fused_producer *producer, const char *step, bool wide,
                          const char *out, const lt_fused_slices &lines, cudaStream_t stream);

/* The same by two steps at once, of lines in one share that teams hold in so many runs of each
 * thread. */
lt_status lt_fused_reduce_held(const lt_fused_producer *producer, const char *first,
                               const char *second, int runs, bool wide, const char *out,
                               const lt_fused_slices &lines, cudaStream_t stream);

/* Rows of what `producer` computes, of the dtype, to `function` there; more: a further type of its
 * template, or null. Where no kernel is generated for it *producer->done becomes false. Fills in the
 * team. */
lt_status lt_fused_take_rows(const lt_fused_producer *producer, const char *function,
                             lt_dtype dtype, const char *more, lt_fused_rows rows,
                             cudaStream_t stream);

#endif
