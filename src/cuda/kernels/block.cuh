/* block.cuh - block-wide reductions and prefix sums of the threads' values, in a fixed order, so
 * that results are deterministic. Launch kernels that use this with LT_LAUNCH_BARRIER, with whole
 * warps per block. */
#ifndef LT_CUDA_BLOCK_CUH
#define LT_CUDA_BLOCK_CUH

#include <cuda_runtime.h>

#include "join.cuh"
#include "launch.cuh"

/* Reduction over the threads of a block, or of a row of it; every thread gets the result. shared:
 * lt_shared_for(blockDim.x) elements of T (join.cuh). */
template <class T, class Join>
static __device__ __forceinline__ T lt_block_join(T value, T *shared, Join join)
{
    return lt_thread_group_join(value, shared, static_cast<int>(threadIdx.x),
                                static_cast<int>(blockDim.x), join);
}

/* Exclusive prefix sum over the threads of a block. shared: one element per warp. */
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

enum { LT_ENOUGH_THREADS = 1 << 17 /* enough to fill a GPU */ };

/* Number of blocks of 256 threads that fill the GPU; 8-byte types need twice the registers, so half
 * as many. */
template <class C>
constexpr int64_t lt_enough_blocks = sizeof(C) > sizeof(float) ? 1 << 9 : 1 << 10;

/* Threads per block for a row of n elements, `each` elements per thread: a power of two, at least a
 * warp, at most `most`. */
static inline int lt_threads_for(int64_t n, int each, int most)
{
    int threads = LT_WARP;
    while (threads < most && static_cast<int64_t>(threads) * each < n) threads *= 2;
    return threads;
}

#endif
