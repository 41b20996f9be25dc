/* cuda_runtime.h - the simulated toolkit's front door.
 *
 * Found before the real one when src/cuda is compiled by the host's compiler; nothing else differs.
 * It declares the subset of CUDA that the backend uses, with CUDA's names, numbers and rules: the
 * runtime calls (sim/api.h), vector types, what a kernel sees of its thread (sim/execution.h),
 * atomics and intrinsics. Kernels are launched only through launch.cuh, never with <<< >>>. */
#ifndef LT_SIM_CUDA_RUNTIME_H
#define LT_SIM_CUDA_RUNTIME_H

#define __global__
#define __device__
#define __host__
#define __constant__
#define __grid_constant__
/* A body that is much used is compiled once. */
#define __forceinline__ inline
#define __align__(n)    __attribute__((aligned(n)))

/* In a build with checks (sim/check/) a kernel begins with an instruction without effect per warp
 * that its bounds allow, for the launch to count: there is no other way to ask a function for
 * them. */
#ifdef LT_SIM_CHECKED
#define __launch_bounds__(threads, ...)                                                            \
    __attribute__((patchable_function_entry(((threads) + 31) / 32)))
#define LT_SIM_CODE(kernel) reinterpret_cast<const void *>(+kernel)
#else
#define __launch_bounds__(...)
#define LT_SIM_CODE(kernel) nullptr
#endif

/* An OS thread runs one block at a time, so a block's shared variables are the OS thread's. */
#define __shared__ static thread_local

#include "sim/vector_types.h"
#include "sim/api.h"
#include "sim/execution.h"
#include "sim/atomics.h"
#include "sim/intrinsics.h"

#endif
