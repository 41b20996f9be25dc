/* block.cuh - joining the values of a block's threads, in an order that never changes. A kernel
 * that uses this meets (LT_LAUNCH_BARRIER) and has whole warps. */
#ifndef LT_CUDA_BLOCK_CUH
#define LT_CUDA_BLOCK_CUH

#include <cuda_runtime.h>

#include "join.cuh"
#include "launch.cuh"

/* Over the threads of a block, or of a row of it, in every thread. shared:
 * lt_shared_for(blockDim.x) of T (join.cuh). */
template <class T, class Join>
static __device__ __forceinline__ T lt_block_join(T value, T *shared, Join join)
{
    return lt_thread_group_join(value, shared, static_cast<int>(threadIdx.x),
                                static_cast<int>(blockDim.x), join);
}

/* The sum of the values of the threads before this one. shared: a number for each warp. */
static __device__ __forceinline__ unsigned lt_sum_before(unsigned own, unsigned *shared)
{
    const unsigned lane = threadIdx.x % LT_WARP, warp = threadIdx.x / LT_WARP;
    unsigned total = own;
    for (unsigned lanes = 1; lanes < LT_WARP; lanes *= 2) {
        const unsigned other = __shfl_up_sync(0xffffffffu, total, lanes);
        if (lane >= lanes) total += other;
    }
    if (lane == LT_WARP - 1) shared[warp] = total;
    __syncthreads();
    unsigned before = total - own;
    for (unsigned w = 0; w < warp; w++) before += shared[w];
    return before;
}

/* Blocks of 256 threads that run at once; numbers of 8 bytes take twice the registers. */
template <class C>
constexpr int64_t lt_enough_blocks = sizeof(C) > sizeof(float) ? 1 << 9 : 1 << 10;

/* Threads for a line of n elements, `each` of them a thread. */
static inline int lt_threads_for(int64_t n, int each, int most)
{
    int threads = LT_WARP;
    while (threads < most && static_cast<int64_t>(threads) * each < n) threads *= 2;
    return threads;
}

#endif
