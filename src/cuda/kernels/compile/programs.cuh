/* programs.cuh - generated kernels that are ready to run: in memory by their plan's key, on disk by
 * their source (cache.cuh). */
#ifndef LT_FUSED_PROGRAMS_CUH
#define LT_FUSED_PROGRAMS_CUH

#include "plan.cuh"

/* NULL; or why kernels cannot be generated. */
const char *lt_fused_no_compiler();

/* The kernel of a plan on this device, the current one. Null where there is none: it does not
 * compile here, or (while a graph is recorded) it has not run yet, since nothing is loaded then.
 * LT_ERR_MEMORY, and what the runtime says. */
lt_status lt_fused_program(const lt_fused_plan &plan, int device, const void **kernel);

#endif
