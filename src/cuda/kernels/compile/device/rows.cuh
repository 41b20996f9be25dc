/* rows.cuh - generated kernel that applies softmax or a norm to the rows of a fused expression's
 * value, by the functions of the eager kernels. The source defines
 *
 *   lt_fused_row(arguments, first, n, x)   computes n elements of the fusion's value from index
 *                                          `first` on, n at most 16 bytes of elements
 *
 * Each row's first index is a multiple of this maximum. Generic lambdas are avoided: NVRTC 13.0
 * treats them as host functions. */
#include "norm_rows.cuh"
#include "softmax_rows.cuh"

/* Counterpart of lt_row: fusion A computes the elements (type S, computed in C) instead of loading
 * them. */
template <class S, class C, int OWN, class A> struct lt_computed_row {
    static constexpr int N = 16 / sizeof(S), VECTORS = OWN;
    const A *fusion;
    uint32_t first;
    C x[VECTORS][N];
    template <class Index> LT_FUSED_MEMBER void get(Index i, int m, C *values) const
    {
        if (m > 0) {
            lt_fused_row(*fusion, first + static_cast<uint32_t>(i), m, values);
            return;
        }
        LT_EACH(j, N) values[j] = 0;
    }
};

/* Calls take(row, number, team) for the row of this thread's team. */
template <class S, class C, int VECTORS, class A, class Take>
LT_FUSED_FN void lt_take_row(const A &a, uint32_t thread, Take take)
{
    const lt_fused_rows &r = a.taker;
    const uint32_t number = thread / static_cast<uint32_t>(r.team);
    const int lane = static_cast<int>(thread % static_cast<uint32_t>(r.team));
    if (number >= r.count) return;
    lt_computed_row<S, C, VECTORS, decltype(a.fusion)> row;
    row.fusion = &a.fusion;
    row.first = static_cast<uint32_t>(number * r.length);
#ifdef LT_FUSED_ON_HOST
    if (lane == 0) take(row, number, lt_thread_group<C>{static_cast<int>(r.team)});
#else
    __shared__ C shared[lt_shared_for(LT_ROW_THREADS)];
    take(row, number, lt_thread_group<C>{shared, lane, static_cast<int>(r.team)});
#endif
}

template <class S, class C, bool HELD, int VECTORS, class A>
LT_FUSED_FN void lt_softmax_rows(const A &a, uint32_t thread)
{
    const lt_fused_rows &r = a.taker;
    lt_take_row<S, C, VECTORS>(a, thread,
                               [&](const lt_computed_row<S, C, VECTORS, decltype(a.fusion)> &row,
                                   int64_t number, const lt_thread_group<C> &team) {
                                   lt_softmax_row<HELD>(row,
                                                        static_cast<S *>(r.out) + number * r.length,
                                                        r.length, r.log != 0, r.aligned != 0, team);
                               });
}

template <class S, class C, bool HELD, int VECTORS, class A>
LT_FUSED_FN void lt_softmax_rows_backward(const A &a, uint32_t thread)
{
    const lt_fused_rows &r = a.taker;
    lt_take_row<S, C, VECTORS>(
        a, thread,
        [&](const lt_computed_row<S, C, VECTORS, decltype(a.fusion)> &row, int64_t number,
            const lt_thread_group<C> &team) {
            const lt_row<S, C, VECTORS> result(static_cast<const S *>(r.result) + number * r.length,
                                               r.aligned != 0);
            lt_softmax_row_backward<HELD>(row, result, static_cast<S *>(r.out) + number * r.length,
                                          r.length, r.log != 0, r.aligned != 0, team);
        });
}

/* P: element type of weight and bias. */
template <class S, class C, bool HELD, int VECTORS, class P, class A>
LT_FUSED_FN void lt_norm_rows(const A &a, uint32_t thread)
{
    const lt_fused_rows &r = a.taker;
    lt_take_row<S, C, VECTORS>(
        a, thread,
        [&](const lt_computed_row<S, C, VECTORS, decltype(a.fusion)> &row, int64_t number,
            const lt_thread_group<C> &team) {
            constexpr int N = 16 / sizeof(S);
            const auto parameters = [&](bool bias, int64_t i, int m, C *values) {
                const P *const p = static_cast<const P *>(bias ? r.bias : r.weight);
                if (p != nullptr) {
                    lt_load_row_as<P, C, N>(p + i, values, m, r.parameters_aligned != 0);
                    return;
                }
                LT_EACH(j, N) values[j] = bias ? 0 : 1;
            };
            C *const mean = static_cast<C *>(r.mean), *const rstd = static_cast<C *>(r.rstd);
            lt_norm_row<HELD>(row,
                              lt_norm_out<S, C>{static_cast<S *>(r.out) + number * r.length,
                                                mean != nullptr ? mean + number : nullptr,
                                                rstd + number, r.length, r.aligned != 0,
                                                lt_number_in<C>(r.eps)},
                              parameters, team);
        });
}
