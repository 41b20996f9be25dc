/* norm_rows.cuh - normalization of a row by a team of threads (row_passes.cuh). Used by the eager
 * kernels (norm.cu) and by generated kernels. */
#ifndef LT_NORM_ROWS_CUH
#define LT_NORM_ROWS_CUH

#include "kernels/row_passes.cuh"

static __device__ __forceinline__ float lt_root(float x) { return sqrtf(x); }
static __device__ __forceinline__ double lt_root(double x) { return sqrt(x); }

/* Mean and sum of squared deviations of some elements (Chan, Golub and LeVeque 1979). */
template <class C> struct lt_moments {
    C count, mean, squares;
};

/* Subtracts `shift` from the first m of N elements. */
template <int N, class C>
static __device__ __forceinline__ void lt_shift_elements(C *x, int m, C shift)
{
    LT_UNROLLED
    for (int j = 0; j < N; j++)
        if (j < m) x[j] -= shift;
}

/* The results of a row of `length` elements. mean NULL: no mean is subtracted (RMS norm). */
template <class S, class C> struct lt_norm_out {
    S *out;
    C *mean, *rstd;
    int64_t length;
    bool aligned;
    C eps;
};

/* The mean of row - shift, 0 unless `subtracts`, and the sum of squared deviations from it. */
template <class C> struct lt_row_moments {
    C mean = 0, squares = 0;
};

/* In two passes over a row in registers, which keeps the differences from shift. */
template <class C, class Row>
static __device__ __forceinline__ lt_row_moments<C> lt_held_moments(lt_held<Row> &row, int64_t n,
                                                                    C shift, bool subtracts,
                                                                    const lt_thread_group<C> &team)
{
    constexpr int N = Row::N;
    const int threads = team.threads;
    const auto add = [](C x, C y) { return x + y; };
    const auto sum_of = [&](int thread, Row &own) {
        C sum = 0;
        lt_row_pass<true, true>(
            n, thread, threads,
            [&](int64_t, int m, C *x) {
                lt_shift_elements<N>(x, m, shift);
                LT_UNROLLED
                for (int j = 0; j < N; j++) sum += x[j]; /* missing elements are 0 */
            },
            own);
        return sum;
    };
    lt_row_moments<C> result;
    if (subtracts)
        result.mean = team.joined(add, sum_of, row) / static_cast<C>(n);
    else
        team.each(sum_of, row);
    const C mean = result.mean;
    result.squares = team.joined(
        add,
        [&](int thread, Row &own) {
            C sum = 0;
            lt_row_pass<true, false>(
                n, thread, threads,
                [&](int64_t, int m, const C *x) {
                    LT_UNROLLED
                    for (int j = 0; j < N; j++)
                        if (j < m) sum += (x[j] - mean) * (x[j] - mean);
                },
                own);
            return sum;
        },
        row);
    return result;
}

/* In one pass over a row in memory. */
template <class C, class Row>
static __device__ __forceinline__ lt_row_moments<C>
lt_streamed_moments(lt_held<Row> &row, int64_t n, C shift, bool subtracts,
                    const lt_thread_group<C> &team)
{
    constexpr int N = Row::N;
    const int threads = team.threads;
    const auto add = [](C x, C y) { return x + y; };
    lt_held<lt_moments<C>> all = lt_moments<C>{0, 0, 0};
    const auto measure = [&](int thread, Row &own, lt_moments<C> &o) {
        lt_row_pass<false, true>(
            n, thread, threads,
            [&](int64_t, int m, C *x) {
                const C more = static_cast<C>(m);
                C sum = 0;
                lt_shift_elements<N>(x, m, shift);
                LT_UNROLLED
                for (int j = 0; j < N; j++) sum += x[j]; /* missing elements are 0 */
                const C part = sum / more, off = part - o.mean;
                o.count += more;
                const C share = more / o.count;
                o.squares += off * off * (o.count - more) * share;
                o.mean += off * share;
                LT_UNROLLED
                for (int j = 0; j < N; j++)
                    if (j < m) o.squares += (x[j] - part) * (x[j] - part);
            },
            own);
        return o.count * o.mean;
    };
    lt_row_moments<C> result;
    if (subtracts)
        result.mean = team.joined(add, measure, row, all) / static_cast<C>(n);
    else
        team.each(measure, row, all);
    const C mean = result.mean;
    result.squares = team.joined(
        add,
        [&](int, lt_moments<C> &o) {
            return o.squares + o.count * (o.mean - mean) * (o.mean - mean);
        },
        all);
    return result;
}

/* If a mean is subtracted, the row's first element is subtracted from all before, which keeps the
 * result accurate if the mean is large compared with the deviation. parameters(bias, i, m, values):
 * loads weights, or biases, of m elements from i on. */
template <bool HELD, class S, class C, class Row, class Parameters>
static __device__ __forceinline__ void lt_norm_row(const Row &in, const lt_norm_out<S, C> &to,
                                                   Parameters parameters,
                                                   const lt_thread_group<C> &team)
{
    constexpr int N = Row::N;
    const int threads = team.threads;
    const int64_t n = to.length;
    const bool subtracts = to.mean != nullptr;
    lt_held<Row> row = in;
    C first[N] = {0};
    if (subtracts) in.get(static_cast<int64_t>(0), 1, first);
    const C shift = first[0];
    const lt_row_moments<C> moments = HELD ? lt_held_moments<C>(row, n, shift, subtracts, team)
                                           : lt_streamed_moments<C>(row, n, shift, subtracts, team);
    const C mean = moments.mean, rstd = 1 / lt_root(moments.squares / static_cast<C>(n) + to.eps);
    team.each(
        [&](int thread, Row &own) {
            if (thread == 0) {
                if (subtracts) *to.mean = mean + shift;
                *to.rstd = rstd;
            }
            lt_row_pass<HELD, false>(
                n, thread, threads,
                [&](int64_t i, int m, C *x) {
                    if (!HELD) lt_shift_elements<N>(x, m, shift);
                    C parameter[N], y[N]; /* one array for both saves registers */
                    parameters(false, i, m, parameter);
                    LT_UNROLLED
                    for (int j = 0; j < N; j++) y[j] = (x[j] - mean) * rstd * parameter[j];
                    parameters(true, i, m, parameter);
                    LT_UNROLLED
                    for (int j = 0; j < N; j++) y[j] += parameter[j];
                    lt_store_row_as<S, C, N>(to.out + i, y, m, to.aligned);
                },
                own);
        },
        row);
}

#endif
