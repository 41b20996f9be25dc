/* cuda_runtime.h - the main header of the simulated CUDA toolkit.
 *
 * The include path finds it before the real one when the host's compiler compiles src/cuda; nothing
 * else differs. It declares the subset of CUDA that the backend uses, with CUDA's names, values and
 * rules: runtime calls (sim/api.h), vector types, thread indices and warp operations
 * (sim/execution.h), atomics and intrinsics. Kernels are launched only through launch.cuh, never
 * with <<< >>>. */
#ifndef LT_SIM_CUDA_RUNTIME_H
#define LT_SIM_CUDA_RUNTIME_H

#define __global__
#define __device__
#define __host__
#define __constant__
#define __grid_constant__
/* Not forced: functions used in many places are compiled once. */
#define __forceinline__ inline
#define __align__(n)    __attribute__((aligned(n)))

/* In a build with checks (sim/check/), a kernel starts with one nop per warp of its launch bounds,
 * which the launch counts; the bounds cannot be queried from a function otherwise. */
#ifdef LT_SIM_CHECKED
#define __launch_bounds__(threads, ...)                                                            \
    __attribute__((patchable_function_entry(((threads) + 31) / 32)))
#define LT_SIM_CODE(kernel) reinterpret_cast<const void *>(+kernel)
#else
#define __launch_bounds__(...)
#define LT_SIM_CODE(kernel) nullptr
#endif

/* An OS thread runs one block at a time, so shared variables of a block are thread-local. */
#define __shared__ static thread_local

#include "sim/vector_types.h"
#include "sim/api.h"
#include "sim/execution.h"
#include "sim/atomics.h"
#include "sim/intrinsics.h"

#endif
