/* moments.cuh - count, mean and sum of squared deviations of some elements, joined exactly enough for
 * a variance in one pass over memory (T. Chan, G. Golub, R. LeVeque: Updating Formulae and a Pairwise
 * Algorithm for Computing Sample Variances, 1979). Used by reduce.cu and by generated kernels. */
#ifndef LT_REDUCE_MOMENTS_CUH
#define LT_REDUCE_MOMENTS_CUH

#include "steps.cuh"

template <class C> struct lt_moments {
    C count, mean, squares;
};

template <class C>
static __device__ __forceinline__ lt_moments<C> lt_join_moments(lt_moments<C> a, lt_moments<C> b)
{
    if (b.count == 0) return a;
    const C count = a.count + b.count, part = b.count / count, apart = b.mean - a.mean;
    /* `apart` times itself last: its square may overflow where a.count is 0 */
    return {count, a.mean + apart * part, a.squares + b.squares + a.count * part * apart * apart};
}

/* Of n elements, 0 < n <= LT_REDUCE_ROW. Differences from the first one keep equal elements exact. */
template <class C>
static __device__ __forceinline__ lt_moments<C> lt_moments_of_some(const C *x, int n)
{
    C sum = 0, squares = 0;
    LT_UNROLLED
    for (int j = 1; j < LT_REDUCE_ROW; j++)
        if (j < n) sum += x[j] - x[0];
    const C off = sum / static_cast<C>(n), mean = x[0] + off;
    LT_UNROLLED
    for (int j = 0; j < LT_REDUCE_ROW; j++)
        if (j < n) squares += (x[j] - x[0] - off) * (x[j] - x[0] - off);
    return {static_cast<C>(n), mean, squares};
}
/* The same, with one test for a full run instead of one per element. */
template <class C> static __device__ __forceinline__ lt_moments<C> lt_moments_of(const C *x, int n)
{
    if (n == LT_REDUCE_ROW) return lt_moments_of_some(x, LT_REDUCE_ROW);
    return lt_moments_of_some(x, n);
}

/* As lt_accumulate_rows (steps.cuh). */
template <class C, class Index, class Load>
static __device__ __forceinline__ lt_moments<C>
lt_accumulate_moments(Index from, Index to, Index first, Index step, Load load)
{
    lt_moments<C> total = {0, 0, 0};
    LT_NOT_UNROLLED
    for (Index i = from + first * LT_REDUCE_ROW; i < to; i += LT_REDUCE_ROW * step) {
        const int n = to - i < LT_REDUCE_ROW ? static_cast<int>(to - i) : LT_REDUCE_ROW;
        C x[LT_REDUCE_ROW];
        load(i, n, x);
        total = lt_join_moments(total, lt_moments_of(x, n));
    }
    return total;
}

/* The functions of join.cuh for this type. */
template <class C>
static __device__ __forceinline__ lt_moments<C> lt_from_lane(lt_moments<C> own, int lanes)
{
    return {lt_from_lane(own.count, lanes), lt_from_lane(own.mean, lanes),
            lt_from_lane(own.squares, lanes)};
}
template <class C>
static __device__ __forceinline__ void lt_leave(lt_moments<C> *p, lt_moments<C> value)
{
    lt_leave(&p->count, value.count);
    lt_leave(&p->mean, value.mean);
    lt_leave(&p->squares, value.squares);
}
template <class C> static __device__ __forceinline__ lt_moments<C> lt_left(const lt_moments<C> *p)
{
    return {lt_left(&p->count), lt_left(&p->mean), lt_left(&p->squares)};
}

struct moments_step {
    static constexpr const char *name = "moments_step";
    template <class C>
    static __device__ __forceinline__ lt_moments<C> join(lt_moments<C> a, lt_moments<C> b)
    {
        return lt_join_moments(a, b);
    }
};

#endif
