/* join.cuh - thread teams (a warp or a block) and deterministic reductions over their threads: the
 * order of joins is fixed. Also part of the source of generated kernels; when the simulator
 * compiles one for the host, a team is a loop over its threads. */
#ifndef LT_CUDA_JOIN_CUH
#define LT_CUDA_JOIN_CUH

#include "unrolled.cuh"

enum { LT_WARP = 32, LT_THREAD_GROUP_MAX = 512 /* maximum threads per team */ };

static constexpr __host__ __device__ int lt_shared_for(int threads) { return threads + 1; }

/* Relaxed store and load of a partial result: each block stores its own, the last block
 * (lt_is_last) loads all of them. */
template <class T> static __device__ __forceinline__ void lt_leave(T *p, T value)
{
#ifdef __CUDA_ARCH__
    *p = value;
#else
    __atomic_store(p, &value, __ATOMIC_RELAXED);
#endif
}
template <class T> static __device__ __forceinline__ T lt_left(const T *p)
{
#ifdef __CUDA_ARCH__
    return *p;
#else
    T value;
    __atomic_load(p, &value, __ATOMIC_RELAXED);
    return value;
#endif
}

/* Returns true to the last of `callers` calls; that caller sees all memory that the others wrote
 * before their calls. *counter, in device memory, must be 0 at first; the last call resets it. */
static __device__ __forceinline__ bool lt_is_last(unsigned *counter, unsigned callers)
{
    __threadfence();
    const bool last = atomicInc(counter, callers - 1) == callers - 1;
    __threadfence();
    return last;
}

#ifndef LT_FUSED_ON_HOST

/* Xor shuffle: the value of the lane at index (own lane ^ lanes). Struct types overload this where
 * they are defined. */
template <class T> static __device__ __forceinline__ T lt_from_lane(T own, int lanes)
{
    return __shfl_xor_sync(0xffffffffu, own, lanes);
}

/* Reduces with join(a, b) over a warp; every lane gets the result. */
template <class T, class Join> static __device__ __forceinline__ T lt_warp_join(T value, Join join)
{
    for (int lanes = LT_WARP / 2; lanes > 0; lanes /= 2)
        value = join(value, lt_from_lane(value, lanes));
    return value;
}

/* Reduces over the threads of a team (a warp, or the whole block); every thread gets the result.
 * shared: lt_shared_for(threads) elements of T, reusable by the next call without a barrier. Two
 * barriers for any number of threads: barriers dominate the cost, most of all in the simulator. */
template <class T, class Join>
static __device__ __forceinline__ T lt_thread_group_join(T value, T *shared, int thread,
                                                         int threads, Join join)
{
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

/* A team as one of its threads sees it. each() calls f(thread, held...); joined() also reduces the
 * values that f returns. held: per-thread variables. shared: lt_shared_for(threads) elements of C.
 */
template <class C> struct lt_thread_group {
    C *shared;
    int thread, threads;
    /* true in one thread of the team */
    __device__ __forceinline__ bool leads() const { return thread == 0; }
    template <class Join, class F, class... Held>
    __device__ __forceinline__ C joined(Join join, F f, Held &...held) const
    {
        return lt_thread_group_join(f(thread, held...), shared, thread, threads, join);
    }
    template <class F, class... Held> __device__ __forceinline__ void each(F f, Held &...held) const
    {
        f(thread, held...);
    }
    /* lt_is_last over `teams` teams. The team must be a whole block. */
    __device__ __forceinline__ bool last(unsigned *counter, unsigned teams) const
    {
        __shared__ bool last_of_all;
        if (thread == 0) last_of_all = lt_is_last(counter, teams);
        __syncthreads();
        return last_of_all;
    }
    /* Partitions i < n: share() calls f(i) in one thread per i, share_among_warps() calls f(i,
     * warp) in one warp per i. */
    template <class F> __device__ __forceinline__ void share(int64_t n, F f) const
    {
        LT_NOT_UNROLLED
        for (int64_t i = thread; i < n; i += threads) f(i);
    }
    template <class F> __device__ __forceinline__ void share_among_warps(int64_t n, F f) const
    {
        LT_NOT_UNROLLED
        for (int64_t i = thread / LT_WARP; i < n; i += threads / LT_WARP)
            f(i, lt_thread_group{shared, thread % LT_WARP, LT_WARP});
    }
};
template <class T> using lt_held = T;

#else

/* lt_thread_group_join without threads: reduces the values of all threads sequentially, in the same order.
 */
template <class T, class Join> static T lt_thread_group_joined(T *values, int threads, Join join)
{
    for (int i = LT_WARP; i < threads; i++)
        values[i % LT_WARP] = join(values[i % LT_WARP], values[i]);
    for (int lanes = LT_WARP / 2; lanes > 0; lanes /= 2)
        for (int i = 0; i < lanes; i++) values[i] = join(values[i], values[i + lanes]);
    return values[0];
}

/* A team that runs its threads one after the other. */
template <class C> struct lt_thread_group {
    int threads;
    bool leads() const { return true; }
    template <class Join, class F, class... Held> C joined(Join join, F f, Held &...held) const
    {
        C values[LT_THREAD_GROUP_MAX];
        for (int t = 0; t < threads; t++) values[t] = f(t, held.of[t]...);
        return lt_thread_group_joined(values, threads, join);
    }
    template <class F, class... Held> void each(F f, Held &...held) const
    {
        for (int t = 0; t < threads; t++) f(t, held.of[t]...);
    }
    bool last(unsigned *counter, unsigned teams) const { return lt_is_last(counter, teams); }
    template <class F> void share(int64_t n, F f) const
    {
        for (int64_t i = 0; i < n; i++) f(i);
    }
    template <class F> void share_among_warps(int64_t n, F f) const
    {
        for (int64_t i = 0; i < n; i++) f(i, lt_thread_group{LT_WARP});
    }
};
template <class T> struct lt_held {
    T of[LT_THREAD_GROUP_MAX];
    lt_held() = default;
    lt_held(const T &value)
    {
        for (T &one : of) one = value;
    }
};

#endif

#endif
