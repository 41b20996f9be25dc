/* softmax_rows.cuh - softmax and log_softmax of a row, and their derivatives, by a team of threads
 * (row_passes.cuh). Used by the eager kernels (softmax.cu) and by generated kernels. */
#ifndef LT_SOFTMAX_ROWS_CUH
#define LT_SOFTMAX_ROWS_CUH

#include "kernels/row_passes.cuh"

template <bool HELD, class S, class C, class Row>
static __device__ __forceinline__ void lt_softmax_row(const Row &in, S *out, int64_t n, bool log,
                                                      bool aligned, const lt_thread_group<C> &team)
{
    constexpr int N = Row::N;
    const int threads = team.threads;
    lt_held<Row> row = in;
    const C most = team.joined([](C x, C y) { return x > y ? x : y; },
                               [&](int thread, Row &own) {
                                   C largest = static_cast<C>(-INFINITY);
                                   lt_row_pass<HELD, true>(
                                       n, thread, threads,
                                       [&](int64_t, int m, C *x) {
                                           LT_UNROLLED
                                           for (int j = 0; j < N; j++)
                                               if (j < m) largest = x[j] > largest ? x[j] : largest;
                                       },
                                       own);
                                   return largest;
                               },
                               row);
    const C sum = team.joined([](C x, C y) { return x + y; },
                              [&](int thread, Row &own) {
                                  C total = 0;
                                  lt_row_pass<HELD, false>(
                                      n, thread, threads,
                                      [&](int64_t, int m, C *x) {
                                          LT_UNROLLED
                                          for (int j = 0; j < N; j++) {
                                              const C power = lt_exp(x[j] - most);
                                              if (j < m) total += power;
                                              if (!log) x[j] = power;
                                          }
                                      },
                                      own);
                                  return total;
                              },
                              row);
    const C shift = log ? most + lt_log(sum) : 0, scale = 1 / sum;
    team.each(
        [&](int thread, Row &own) {
            lt_row_pass<HELD, false>(
                n, thread, threads,
                [&](int64_t i, int m, C *x) {
                    C y[N];
                    LT_UNROLLED
                    for (int j = 0; j < N; j++)
                        y[j] = log ? x[j] - shift : (HELD ? x[j] : lt_exp(x[j] - most)) * scale;
                    lt_store_row_as<S, C, N>(out + i, y, m, aligned);
                },
                own);
        },
        row);
}

/* grad: row of the gradient; result: row of the forward result. */
template <bool HELD, class S, class C, class Grad, class Result>
static __device__ __forceinline__ void
lt_softmax_row_backward(const Grad &grad, const Result &result, S *out, int64_t n, bool log,
                        bool aligned, const lt_thread_group<C> &team)
{
    constexpr int N = Grad::N;
    const int threads = team.threads;
    lt_held<Grad> grads = grad;
    lt_held<Result> results = result;
    const C sum = team.joined([](C x, C y) { return x + y; },
                              [&](int thread, Grad &own, Result &own_result) {
                                  C total = 0;
                                  lt_row_pass<HELD, true>(
                                      n, thread, threads,
                                      [&](int64_t, int m, C *g, C *y) {
                                          LT_UNROLLED
                                          for (int j = 0; j < N; j++)
                                              if (j < m) total += log ? g[j] : g[j] * y[j];
                                      },
                                      own, own_result);
                                  return total;
                              },
                              grads, results);
    team.each(
        [&](int thread, Grad &own, Result &own_result) {
            lt_row_pass<HELD, false>(
                n, thread, threads,
                [&](int64_t i, int m, C *g, C *y) {
                    C d[N];
                    LT_UNROLLED
                    for (int j = 0; j < N; j++)
                        d[j] = log ? g[j] - lt_exp(y[j]) * sum : (g[j] - sum) * y[j];
                    lt_store_row_as<S, C, N>(out + i, d, m, aligned);
                },
                own, own_result);
        },
        grads, results);
}

#endif
