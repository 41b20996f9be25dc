/* block.cuh - joining the values of a block's threads, in an order that never changes. A kernel that uses
 * this meets (LT_LAUNCH_MEET) and has whole warps. */
#ifndef LT_CUDA_BLOCK_CUH
#define LT_CUDA_BLOCK_CUH

#include <cuda_runtime.h>

#include "launch.cuh"

enum { LT_WARP = 32 };

/* join(a, b) over the lanes of a warp, in every lane. */
template <class T, class Join> static __device__ __forceinline__ T lt_warp_join(T value, Join join)
{
    for (int lanes = LT_WARP / 2; lanes > 0; lanes /= 2)
        value = join(value, __shfl_xor_sync(0xffffffffu, value, lanes));
    return value;
}

/* Over the threads of a block, in every thread. shared: lt_shared_for(blockDim.x) of T, which may be used
 * for the next join at once. Threads wait for each other twice, however many they are: waiting is what
 * costs, most of all on a simulated GPU. */
template <class T, class Join>
static __device__ __forceinline__ T lt_block_join(T value, T *shared, Join join)
{
    const int threads = static_cast<int>(blockDim.x), thread = static_cast<int>(threadIdx.x);
    if (threads == LT_WARP) return lt_warp_join(value, join);
    shared[thread] = value;
    __syncthreads();
    if (thread < LT_WARP) {
        for (int i = thread + LT_WARP; i < threads; i += LT_WARP) value = join(value, shared[i]);
        value = lt_warp_join(value, join);
        if (thread == 0) shared[threads] = value;
    }
    __syncthreads();
    return shared[threads];
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

static constexpr __host__ __device__ int lt_shared_for(int threads) { return threads + 1; }

/* Threads for a line of n elements, `each` of them a thread. */
static inline int lt_threads_for(int64_t n, int each, int most)
{
    int threads = LT_WARP;
    while (threads < most && static_cast<int64_t>(threads) * each < n) threads *= 2;
    return threads;
}

#endif
