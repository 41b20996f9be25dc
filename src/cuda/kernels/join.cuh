/* join.cuh - teams of threads, whole warps, and joining what each has in an order that never
 * changes. Also a part of the source of generated kernels, whose teams' threads are gone over one
 * by one in the simulation. */
#ifndef LT_CUDA_JOIN_CUH
#define LT_CUDA_JOIN_CUH

#include "unrolled.cuh"

enum { LT_WARP = 32, LT_THREAD_GROUP_MAX = 512 /* threads of a team, at most */ };

static constexpr __host__ __device__ int lt_shared_for(int threads) { return threads + 1; }

/* What a block leaves for the last one, and that finds. */
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

/* Whether the caller is the last of `callers`. What each of them left before is there for it then.
 * The counter, in the GPU's memory, is 0 before the first and after the last. */
static __device__ __forceinline__ bool lt_is_last(unsigned *counter, unsigned callers)
{
    __threadfence();
    const bool last = atomicInc(counter, callers - 1) == callers - 1;
    __threadfence();
    return last;
}

#ifndef LT_FUSED_ON_HOST

/* What a lane of the warp has whose number differs in these bits; a struct has an overload beside
 * it. */
template <class T> static __device__ __forceinline__ T lt_from_lane(T own, int lanes)
{
    return __shfl_xor_sync(0xffffffffu, own, lanes);
}

/* join(a, b) over the lanes of a warp, in every lane. */
template <class T, class Join> static __device__ __forceinline__ T lt_warp_join(T value, Join join)
{
    for (int lanes = LT_WARP / 2; lanes > 0; lanes /= 2)
        value = join(value, lt_from_lane(value, lanes));
    return value;
}

/* Over the threads of a team, in every thread: a warp, or all threads of the block. shared:
 * lt_shared_for(threads) of T, which may be used for the next join at once. Threads wait for each
 * other twice, however many they are: waiting is what costs, most of all on a simulated GPU. */
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

/* f(thread, what that thread holds...) for each thread of a team, and what f returns, joined: here
 * a thread's own part. shared: lt_shared_for(threads) of C. */
template <class C> struct lt_thread_group {
    C *shared;
    int thread, threads;
    __device__ __forceinline__ bool leads() const { return thread == 0; } /* one of them does */
    template <class Join, class F, class... Held>
    __device__ __forceinline__ C joined(Join join, F f, Held &...held) const
    {
        return lt_thread_group_join(f(thread, held...), shared, thread, threads, join);
    }
    template <class F, class... Held> __device__ __forceinline__ void each(F f, Held &...held) const
    {
        f(thread, held...);
    }
    /* Of a team that is a whole block: lt_is_last among the first threads of so many. */
    __device__ __forceinline__ bool last(unsigned *counter, unsigned teams) const
    {
        __shared__ bool last_of_all;
        if (thread == 0) last_of_all = lt_is_last(counter, teams);
        __syncthreads();
        return last_of_all;
    }
    /* f(i) for i below n, by a thread each; f(i, its warp). */
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

/* What the first thread of a team has of the values of all, in that order, where there are no
 * threads: they are gone over one by one. */
template <class T, class Join> static T lt_thread_group_joined(T *values, int threads, Join join)
{
    for (int i = LT_WARP; i < threads; i++)
        values[i % LT_WARP] = join(values[i % LT_WARP], values[i]);
    for (int lanes = LT_WARP / 2; lanes > 0; lanes /= 2)
        for (int i = 0; i < lanes; i++) values[i] = join(values[i], values[i + lanes]);
    return values[0];
}

/* All threads of a team, one after the other. */
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
