/* moments.cuh - count, mean and sum of squared deviations of some elements, for a variance in one pass
 * over memory (T. Chan, G. Golub, R. LeVeque: Updating Formulae and a Pairwise Algorithm for
 * Computing Sample Variances, 1979). Used by reduce.cu and by generated kernels.
 *
 * Only differences within a run of LT_REDUCE_ROW elements are computed in the elements' type. Means
 * of runs are joined in double: in float, a large mean has too few digits for the deviations. */
#ifndef LT_REDUCE_MOMENTS_CUH
#define LT_REDUCE_MOMENTS_CUH

#include "steps.cuh"

struct lt_wide_moments {
    double count, mean, squares;
};

static __device__ __forceinline__ lt_wide_moments lt_join_moments(lt_wide_moments a,
                                                                  lt_wide_moments b)
{
    if (b.count == 0) return a;
    const double count = a.count + b.count, part = b.count / count, apart = b.mean - a.mean;
    return {count, a.mean + apart * part, a.squares + b.squares + a.count * part * apart * apart};
}

/* Moments of runs. Sums of means are relative to the mean of the first run: with n runs, rounding
 * errors grow by at most n + 1, since no deviation of one run exceeds the root of all squares. */
struct lt_moments_sum {
    double count = 0, pivot = 0, sum = 0, squares = 0, within = 0;

    /* Adds a run of n elements, 0 < n <= LT_REDUCE_ROW. */
    template <class C> __device__ __forceinline__ void add_some(const C *x, int n)
    {
        C total = 0, deviations = 0;
        LT_UNROLLED
        for (int j = 1; j < LT_REDUCE_ROW; j++)
            if (j < n) total += x[j] - x[0];
        const C off = total / static_cast<C>(n);
        LT_UNROLLED
        for (int j = 0; j < LT_REDUCE_ROW; j++)
            if (j < n) deviations += (x[j] - x[0] - off) * (x[j] - x[0] - off);
        const double mean = static_cast<double>(x[0]) + static_cast<double>(off);
        if (count == 0) pivot = mean;
        const double apart = mean - pivot, weighted = n * apart;
        count += n;
        sum += weighted;
        squares += weighted * apart;
        within += static_cast<double>(deviations);
    }
    /* The same, with one test for a full run instead of one per element. */
    template <class C> __device__ __forceinline__ void add(const C *x, int n)
    {
        if (n == LT_REDUCE_ROW)
            add_some(x, LT_REDUCE_ROW);
        else
            add_some(x, n);
    }
    __device__ __forceinline__ lt_wide_moments moments() const
    {
        const double off = count > 0 ? sum / count : 0;
        return {count, pivot + off, within + (squares - sum * off)};
    }
};

/* As lt_accumulate_rows (steps.cuh). */
template <class C, class Index, class Load>
static __device__ __forceinline__ lt_wide_moments lt_accumulate_moments(Index from, Index to,
                                                                        Index first, Index step,
                                                                        Load load)
{
    lt_moments_sum total;
    LT_NOT_UNROLLED
    for (Index i = from + first * LT_REDUCE_ROW; i < to; i += LT_REDUCE_ROW * step) {
        const int n = to - i < LT_REDUCE_ROW ? static_cast<int>(to - i) : LT_REDUCE_ROW;
        C x[LT_REDUCE_ROW];
        load(i, n, x);
        total.add(x, n);
    }
    return total.moments();
}

/* The functions of join.cuh for this type. */
#ifndef LT_FUSED_ON_HOST
static __device__ __forceinline__ lt_wide_moments lt_from_lane(lt_wide_moments own, int lanes)
{
    return {lt_from_lane(own.count, lanes), lt_from_lane(own.mean, lanes),
            lt_from_lane(own.squares, lanes)};
}
#endif
static __device__ __forceinline__ void lt_leave(lt_wide_moments *p, lt_wide_moments value)
{
    lt_leave(&p->count, value.count);
    lt_leave(&p->mean, value.mean);
    lt_leave(&p->squares, value.squares);
}
static __device__ __forceinline__ lt_wide_moments lt_left(const lt_wide_moments *p)
{
    return {lt_left(&p->count), lt_left(&p->mean), lt_left(&p->squares)};
}

struct moments_step {
    static constexpr bool light = false;
    static constexpr const char *name = "moments_step";
    static __device__ __forceinline__ lt_wide_moments join(lt_wide_moments a, lt_wide_moments b)
    {
        return lt_join_moments(a, b);
    }
};

#endif
