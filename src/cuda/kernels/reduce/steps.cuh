/* steps.cuh - accumulation steps of reductions, and the loop over contiguous elements. Used by the
 * eager kernels (reduce.cu) and by generated kernels that reduce a fused expression
 * (compile/device/lines.cuh). */
#ifndef LT_REDUCE_STEPS_CUH
#define LT_REDUCE_STEPS_CUH

#include "kernels/join.cuh"
#include "kernels/unrolled.cuh"

enum {
    LT_REDUCE_ITEMS = 4, /* elements per step of a thread, each with its own accumulator */
    LT_REDUCE_ROW = 8    /* the same for contiguous elements */
};

/* Maximum resident threads per multiprocessor. If the register limit of a kernel allows this many,
 * all shares of one large row run at once. */
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ == 800 || __CUDA_ARCH__ / 100 == 9 ||                  \
    __CUDA_ARCH__ / 100 == 10
enum { LT_RESIDENT = 2048 };
#elif __CUDA_ARCH__ < 800
enum { LT_RESIDENT = 1024 };
#else
enum { LT_RESIDENT = 1536 };
#endif

/* Identity elements; LEAST and GREATEST are infinities where the type has them. */
enum lt_identity { LT_ZERO, LT_ONE, LT_LEAST, LT_GREATEST };

/* A step has: identity; of(accumulated, element, parameter); join(accumulated, accumulated); for
 * floating types end(total / divisor, parameter, root), which returns the result. root: of norms
 * and standard deviations, else 0. */
struct ending_so {
    /* needs few enough registers for LT_RESIDENT threads */
    static constexpr bool light = true;
    static constexpr bool from_first = false;
    template <class C> static __device__ __forceinline__ C end(C total, C, C) { return total; }
};

struct adding : ending_so {
    static constexpr lt_identity identity = LT_ZERO;
    template <class C> static __device__ __forceinline__ C join(C a, C b)
    {
        return lt_add(a, b, static_cast<C>(1));
    }
};

struct sum_step : adding {
    static constexpr const char *name = "sum_step";
    template <class C> static __device__ __forceinline__ C of(C a, C x, C) { return join(a, x); }
};
struct sum_abs_step : adding {
    static constexpr const char *name = "sum_abs_step";
    template <class C> static __device__ __forceinline__ C of(C a, C x, C) { return a + lt_abs(x); }
};
struct sum_square_step : adding {
    static constexpr const char *name = "sum_square_step";
    template <class C> static __device__ __forceinline__ C of(C a, C x, C) { return a + x * x; }
    template <class C> static __device__ __forceinline__ C end(C total, C, C)
    {
        return lt_sqrt(total);
    }
};
/* The two steps of a variance. They subtract the row's first element from all, which keeps the
 * result accurate if the mean is large compared with the deviation. */
struct sum_off_step : sum_step {
    static constexpr bool from_first = true;
    static constexpr const char *name = "sum_off_step";
};
struct sum_square_off_step : adding {
    static constexpr bool from_first = true;
    static constexpr const char *name = "sum_square_off_step";
    template <class C> static __device__ __forceinline__ C of(C a, C x, C mean)
    {
        return a + (x - mean) * (x - mean);
    }
    template <class C> static __device__ __forceinline__ C end(C total, C, C root)
    {
        return root == 2 ? lt_sqrt(total) : total;
    }
};
struct sum_exp_step : adding {
    static constexpr bool light = false;
    static constexpr const char *name = "sum_exp_step";
    template <class C> static __device__ __forceinline__ C of(C a, C x, C shift)
    {
        return a + lt_exp(x - shift);
    }
    template <class C> static __device__ __forceinline__ C end(C total, C shift, C)
    {
        return lt_log(total) + shift;
    }
};
struct sum_numbers_step : adding {
    static constexpr const char *name = "sum_numbers_step";
    template <class C> static __device__ __forceinline__ C of(C a, C x, C)
    {
        return x == x ? a + x : a;
    }
};
struct sum_power_step : adding {
    static constexpr bool light = false;
    static constexpr const char *name = "sum_power_step";
    template <class C> static __device__ __forceinline__ C of(C a, C x, C power)
    {
        return a + lt_pow(lt_abs(x), power);
    }
    template <class C> static __device__ __forceinline__ C end(C total, C, C root)
    {
        return lt_pow(total, 1 / root);
    }
};
struct count_step : adding {
    static constexpr const char *name = "count_step";
    template <class C> static __device__ __forceinline__ C of(C a, C x, C) { return a + (x != 0); }
};
struct prod_step : ending_so {
    static constexpr const char *name = "prod_step";
    static constexpr lt_identity identity = LT_ONE;
    template <class C> static __device__ __forceinline__ C join(C a, C b) { return lt_mul(a, b); }
    template <class C> static __device__ __forceinline__ C of(C a, C x, C) { return lt_mul(a, x); }
};
/* NaN wins. */
struct max_step : ending_so {
    static constexpr const char *name = "max_step";
    static constexpr lt_identity identity = LT_LEAST;
    template <class C> static __device__ __forceinline__ C join(C a, C b)
    {
        return b > a || b != b ? b : a;
    }
    template <class C> static __device__ __forceinline__ C of(C a, C x, C) { return join(a, x); }
};
struct min_step : ending_so {
    static constexpr const char *name = "min_step";
    static constexpr lt_identity identity = LT_GREATEST;
    template <class C> static __device__ __forceinline__ C join(C a, C b)
    {
        return b < a || b != b ? b : a;
    }
    template <class C> static __device__ __forceinline__ C of(C a, C x, C) { return join(a, x); }
};
struct max_abs_step : max_step {
    static constexpr const char *name = "max_abs_step";
    static constexpr lt_identity identity = LT_ZERO;
    template <class C> static __device__ __forceinline__ C of(C a, C x, C)
    {
        return join(a, lt_abs(x));
    }
};
struct min_abs_step : min_step {
    static constexpr const char *name = "min_abs_step";
    template <class C> static __device__ __forceinline__ C of(C a, C x, C)
    {
        return join(a, lt_abs(x));
    }
};
struct any_step : ending_so {
    static constexpr const char *name = "any_step";
    static constexpr lt_identity identity = LT_ZERO;
    template <class C> static __device__ __forceinline__ C join(C a, C b) { return a || b; }
    template <class C> static __device__ __forceinline__ C of(C a, C x, C) { return a || x; }
};
struct all_step : ending_so {
    static constexpr const char *name = "all_step";
    static constexpr lt_identity identity = LT_ONE;
    template <class C> static __device__ __forceinline__ C join(C a, C b) { return a && b; }
    template <class C> static __device__ __forceinline__ C of(C a, C x, C) { return a && x; }
};

/* A thread's accumulators. */
template <class Step, class C> struct lt_accumulators {
    C totals[LT_REDUCE_ITEMS];
    __device__ __forceinline__ explicit lt_accumulators(C identity)
    {
        for (int j = 0; j < LT_REDUCE_ITEMS; j++) totals[j] = identity;
    }
    /* Accumulates n contiguous elements, n <= LT_REDUCE_ROW. */
    __device__ __forceinline__ void take(const C *x, int n, C parameter)
    {
        LT_UNROLLED
        for (int j = 0; j < LT_REDUCE_ROW; j++)
            if (j < n)
                totals[j % LT_REDUCE_ITEMS] =
                    Step::of(totals[j % LT_REDUCE_ITEMS], x[j], parameter);
    }
    /* The same, with one test for a full run instead of one per element; needs more registers. */
    __device__ __forceinline__ void take_run(const C *x, int n, C parameter)
    {
        if (n == LT_REDUCE_ROW)
            take(x, LT_REDUCE_ROW, parameter);
        else
            take(x, n, parameter);
    }
    __device__ __forceinline__ C joined() const
    {
        return Step::join(Step::join(totals[0], totals[1]), Step::join(totals[2], totals[3]));
    }
};

/* The value that a step subtracts from a row's elements: the first element, or 0. load(i, n, x):
 * loads n elements from index i on. */
template <class Step, class Index, class C, class Load>
static __device__ __forceinline__ C lt_slice_shift(bool there, Load load)
{
    C x[LT_REDUCE_ROW] = {0};
    if (Step::from_first && there) load(static_cast<Index>(0), 1, x);
    return x[0];
}

template <class Step, class C> static __device__ __forceinline__ void lt_shift_run(C *x, C shift)
{
    if constexpr (Step::from_first) {
        LT_UNROLLED
        for (int j = 0; j < LT_REDUCE_ROW; j++) x[j] -= shift;
    }
}

/* Accumulates a thread's part of the contiguous elements [from, to): LT_REDUCE_ROW of them from
 * each of first * LT_REDUCE_ROW, (first + step) * LT_REDUCE_ROW, ... load(i, n, x): loads n
 * elements from index i on. Index: int64_t, or uint32_t below 2^31. */
template <class Step, class Index, class C, class Load>
static __device__ __forceinline__ C lt_accumulate_rows(Index from, Index to, Index first,
                                                       Index step, C identity, C parameter,
                                                       Load load)
{
    lt_accumulators<Step, C> totals(identity);
    const C shift = lt_slice_shift<Step, Index, C>(from < to, load);
    Index i = from + first * LT_REDUCE_ROW;
    C x[LT_REDUCE_ROW];
    /* full runs, without a test per element */
    LT_NOT_UNROLLED
    for (; i + LT_REDUCE_ROW <= to; i += LT_REDUCE_ROW * step) {
        load(i, LT_REDUCE_ROW, x);
        lt_shift_run<Step>(x, shift);
        totals.take(x, LT_REDUCE_ROW, parameter);
    }
    if (i < to) {
        const int n = static_cast<int>(to - i);
        load(i, n, x);
        lt_shift_run<Step>(x, shift);
        totals.take(x, n, parameter);
    }
    return totals.joined();
}

/* ---- joining partial results ----------------------------------------------------------------- */

/* Joins the totals of a result's shares, `stride` elements apart, in order. */
template <class Step, class C>
static __device__ __forceinline__ C lt_parts_joined(const C *parts, int64_t stride, int64_t shares)
{
    C total = lt_left(parts);
    LT_NOT_UNROLLED
    for (int64_t share = 1; share < shares; share++) {
        parts += stride;
        total = Step::join(total, lt_left(parts));
    }
    return total;
}

/* Joins every 32nd partial result from the lane's own on; several loads are in flight at once.
 * Requires shares >= LT_WARP. */
template <class Step, class C>
static __device__ __forceinline__ C lt_parts_of_lane(const C *parts, int64_t stride, int64_t shares,
                                                     int64_t lane)
{
    constexpr int N = 4;
    C total = lt_left(parts + lane * stride);
    LT_NOT_UNROLLED
    for (int64_t first = lane + LT_WARP; first < shares; first += N * LT_WARP) {
        C x[N];
        LT_UNROLLED
        for (int j = 0; j < N; j++)
            x[j] = first + j * LT_WARP < shares ? lt_left(parts + (first + j * LT_WARP) * stride)
                                                : total;
        LT_UNROLLED
        for (int j = 0; j < N; j++)
            if (first + j * LT_WARP < shares) total = Step::join(total, x[j]);
    }
    return total;
}

/* Called by the last team (a whole block) to store its part: calls finish(result, total) for each
 * result. parts: [shares][results]. */
template <class Step, class C, class Finish>
static __device__ __forceinline__ void lt_join_shares(const lt_thread_group<C> &team,
                                                      const C *parts, int64_t results,
                                                      int64_t shares, Finish finish)
{
    if (shares < LT_WARP) {
        team.share(results, [&](int64_t result) {
            finish(result, lt_parts_joined<Step>(parts + result, results, shares));
        });
        return;
    }
    team.share_among_warps(results, [&](int64_t result, const lt_thread_group<C> &warp) {
        const C total =
            warp.joined([](C x, C y) { return Step::join(x, y); },
                        [&](int lane) {
                            return lt_parts_of_lane<Step>(parts + result, results, shares, lane);
                        });
        if (warp.leads()) finish(result, total);
    });
}

/* ---- two steps over the same elements -------------------------------------------------------- */

/* The second step's parameter from the first one's total: the mean, or the maximum that logsumexp
 * subtracts (logarithm), replaced by 0 if it is infinite. */
template <class C>
static __device__ __forceinline__ C lt_second_parameter(C total, C divisor, bool logarithm)
{
    total /= divisor;
    return logarithm && lt_isinf(total) ? 0 : total;
}

/* Arguments of both steps. */
template <class C> struct lt_two_steps {
    C first, second; /* identity elements */
    C divisor;
    bool logarithm;
};

/* Maximum runs of LT_REDUCE_ROW elements that a thread holds: 32 registers. */
template <class C> constexpr int lt_max_runs = 128 / (LT_REDUCE_ROW * static_cast<int>(sizeof(C)));

/* A thread's part of a row of `count` elements, in registers: RUNS runs, in the order of
 * lt_accumulate_rows. */
template <class C, int RUNS> struct lt_held_runs {
    C x[RUNS][LT_REDUCE_ROW];
    /* Calls f(i, n, x) for each run: n elements from index i on, stored in x. */
    template <class F> __device__ __forceinline__ void each(int count, int thread, int threads, F f)
    {
        LT_UNROLLED
        for (int r = 0; r < RUNS; r++) {
            const int i = (r * threads + thread) * LT_REDUCE_ROW, rest = count - i;
            if (rest > 0) f(i, rest < LT_REDUCE_ROW ? rest : LT_REDUCE_ROW, x[r]);
        }
    }
};

/* Both steps over a row that a team holds in registers, so that each element is loaded once.
 * Returns the second step's total and its parameter. load: as above. */
template <class First, class Second, int RUNS, class C, class Load>
static __device__ __forceinline__ C lt_reduce_held(const lt_thread_group<C> &team, int count,
                                                   const lt_two_steps<C> &steps, C *parameter,
                                                   Load load)
{
    using runs = lt_held_runs<C, RUNS>;
    lt_held<runs> held;
    const C first = lt_slice_shift<First, int64_t, C>(count > 0, load);
    const C total = team.joined([](C x, C y) { return First::join(x, y); },
                                [&](int thread, runs &own) {
                                    own.each(count, thread, team.threads, [&](int i, int n, C *x) {
                                        load(i, n, x);
                                        lt_shift_run<First>(x, first);
                                    });
                                    lt_accumulators<First, C> totals(steps.first);
                                    own.each(count, thread, team.threads,
                                             [&](int, int n, C *x) { totals.take_run(x, n, 0); });
                                    return totals.joined();
                                },
                                held);
    const C shift = lt_second_parameter(total, steps.divisor, steps.logarithm);
    *parameter = shift;
    return team.joined([](C x, C y) { return Second::join(x, y); },
                       [&](int thread, runs &own) {
                           lt_accumulators<Second, C> totals(steps.second);
                           own.each(count, thread, team.threads,
                                    [&](int, int n, C *x) { totals.take_run(x, n, shift); });
                           return totals.joined();
                       },
                       held);
}

#endif
