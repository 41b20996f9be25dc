/* programs.cuh - the JIT compiler of fused kernels (NVRTC) and its two-level cache: in memory by the
 * plan's key, on disk by source (cache.cuh). */
#ifndef LT_FUSED_PROGRAMS_CUH
#define LT_FUSED_PROGRAMS_CUH

#include "plan.cuh"

/* Returns null if kernels can be generated, else the reason why not. */
const char *lt_fused_no_compiler();

/* Returns the plan's kernel for this device, which must be the current one. Null if it does not
 * compile, or if it has not run yet and a graph is being captured, because nothing is loaded during
 * a capture. Errors: LT_ERR_MEMORY and CUDA's. */
lt_status lt_fused_program(const lt_fused_plan &plan, int device, const void **kernel);

#endif
