/* launch.cuh - kernel launches, for nvcc and for the simulator.
 *
 *   LT_LAUNCH(kernel, grid, block, stream, arguments...)
 *     for kernels without __syncthreads, warp operations and shared memory. The simulator runs
 *     their threads as a plain loop.
 *   LT_LAUNCH_BARRIER(kernel, grid, block, shared_bytes, stream, arguments...)
 *     for kernels that use them; shared_bytes is the size of the dynamic shared memory, which the
 *     kernel declares by LT_DYNAMIC_SHARED(type, name);
 *   LT_LAUNCH_WIDE(kernel, grid, block, shared_bytes, stream, arguments...)
 *     the same for more than 48 KB, which needs an opt-in per kernel; at most the device's
 *     per-block opt-in limit.
 *   LT_INDEX_LIMIT
 *     element counts and offsets from this value on need 64 bits. LTENSOR_SIM_INDEX_LIMIT lowers
 *     it, so that tests reach the code for large tensors.
 *
 * Put a template in parentheses: LT_LAUNCH((fill<float, 4>), ...). Blocks must not wait for each
 * other, except as lookback.cuh does. Failed launches are recorded per thread; every entry point
 * ends with lt_cuda_launched (report.cu), which reports them without a further runtime call.
 * Includes the cuda_runtime.h of the include path: the toolkit's or the simulator's. */
#ifndef LT_LAUNCH_CUH
#define LT_LAUNCH_CUH

#include <cuda_runtime.h>
#include <stdint.h>

#include "unrolled.cuh"

/* The first launch failure of this thread that has not been reported yet. */
inline thread_local cudaError_t lt_launch_failure = cudaSuccess;

inline void lt_record_launch(cudaError_t error)
{
    if (error != cudaSuccess && lt_launch_failure == cudaSuccess) lt_launch_failure = error;
}

#ifdef __CUDACC__

/* An argument as the kernel's parameter type; not copied if it has that type. */
template <class P, class A> struct lt_parameter {
    const P value;
};
template <class P> struct lt_parameter<P, P> {
    const P &value;
};

/* One runtime call; <<<>>> makes three. */
template <class... P, class... A>
inline void lt_launch(void (*kernel)(P...), dim3 grid, dim3 block, size_t shared_bytes,
                      cudaStream_t stream, const A &...arguments)
{
    [&](const lt_parameter<P, A> &...parameters) {
        void *places[] = {(void *)&parameters.value..., nullptr};
        lt_record_launch(
            cudaLaunchKernel((const void *)kernel, grid, block, places, shared_bytes, stream));
    }(lt_parameter<P, A>{static_cast<const P &>(arguments)}...);
}

#define LT_LAUNCH(kernel, grid, block, stream, ...)                                                \
    lt_launch(kernel, dim3(grid), dim3(block), 0, (stream), ##__VA_ARGS__)
#define LT_LAUNCH_BARRIER(kernel, grid, block, shared_bytes, stream, ...)                          \
    lt_launch(kernel, dim3(grid), dim3(block), (shared_bytes), (stream), ##__VA_ARGS__)
#define LT_LAUNCH_WIDE(kernel, grid, block, shared_bytes, stream, ...)                             \
    (lt_record_launch(cudaFuncSetAttribute(reinterpret_cast<const void *>(&kernel),                \
                                           cudaFuncAttributeMaxDynamicSharedMemorySize,            \
                                           static_cast<int>(shared_bytes))),                       \
     lt_launch(kernel, dim3(grid), dim3(block), (shared_bytes), (stream), ##__VA_ARGS__))
#define LT_INDEX_LIMIT (int64_t{1} << 31)
#define LT_DYNAMIC_SHARED(type, name)                                                              \
    extern __shared__ __align__(16) unsigned char lt_dynamic_shared[];                             \
    type *name = reinterpret_cast<type *>(lt_dynamic_shared)

#else

#define LT_LAUNCH(kernel, grid, block, stream, ...)                                                \
    lt_record_launch(lt_sim::launch({#kernel, LT_SIM_CODE(kernel), __PRETTY_FUNCTION__},           \
                                    dim3(grid), dim3(block), (stream), kernel, ##__VA_ARGS__))
#define LT_LAUNCH_BARRIER(kernel, grid, block, shared_bytes, stream, ...)                          \
    lt_record_launch(lt_sim::launch_meet({#kernel, LT_SIM_CODE(kernel), __PRETTY_FUNCTION__},      \
                                         dim3(grid), dim3(block), (shared_bytes), (stream),        \
                                         kernel, ##__VA_ARGS__))
#define LT_LAUNCH_WIDE(kernel, grid, block, shared_bytes, stream, ...)                             \
    lt_record_launch(                                                                              \
        lt_sim::launch_meet({#kernel, LT_SIM_CODE(kernel), __PRETTY_FUNCTION__, true}, dim3(grid), \
                            dim3(block), (shared_bytes), (stream), kernel, ##__VA_ARGS__))
#define LT_INDEX_LIMIT lt_sim::index_limit()
#define LT_DYNAMIC_SHARED(type, name)                                                              \
    type *name = reinterpret_cast<type *>(lt_sim::context.dynamic_shared)

#endif

#endif
