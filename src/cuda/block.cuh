/* block.cuh - joining the values of a block's threads, in an order that never changes. A kernel that uses
 * this meets (LT_LAUNCH_MEET) and has whole warps, at most 1024 threads. */
#ifndef LT_CUDA_BLOCK_CUH
#define LT_CUDA_BLOCK_CUH

#include <cuda_runtime.h>

#include "launch.cuh"

enum { LT_WARP = 32, LT_MOST_WARPS = 32 };

/* join(a, b) over the lanes of a warp, in every lane. */
template <class T, class Join> static __device__ __forceinline__ T lt_warp_join(T value, Join join)
{
    for (int lanes = LT_WARP / 2; lanes > 0; lanes /= 2) value = join(value, __shfl_xor_sync(0xffffffffu, value, lanes));
    return value;
}

/* Over the threads of a block, in every thread; shared: LT_MOST_WARPS of T, free again afterwards. */
template <class T, class Join> static __device__ __forceinline__ T lt_block_join(T value, T *shared, Join join)
{
    const int warps = static_cast<int>(blockDim.x) / LT_WARP;
    value = lt_warp_join(value, join);
    if (warps == 1) return value;
    if (threadIdx.x % LT_WARP == 0) shared[threadIdx.x / LT_WARP] = value;
    __syncthreads();
    value = shared[0];
    for (int w = 1; w < warps; w++) value = join(value, shared[w]);
    __syncthreads();
    return value;
}

/* Threads for a line of n elements, `each` of them a thread. */
static inline int lt_threads_for(int64_t n, int each, int most)
{
    int threads = LT_WARP;
    while (threads < most && static_cast<int64_t>(threads) * each < n) threads *= 2;
    return threads;
}

#endif
