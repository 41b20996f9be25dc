/* row_passes.cuh - one or more passes of a team of threads over a contiguous row, 16 bytes per
 * access. If the team's registers can hold the row, it is read once; longer rows are read again in
 * each pass. Also part of the source of generated kernels, where a fusion computes the row's
 * elements. */
#ifndef LT_CUDA_ROW_PASSES_CUH
#define LT_CUDA_ROW_PASSES_CUH

#include "kernels/conversion.cuh"
#include "kernels/join.cuh"

enum { LT_ROW_VECTORS = 2, LT_ROW_THREADS = LT_THREAD_GROUP_MAX };

/* A row with elements S in memory and compute type C; x: the elements that one thread holds. */
template <class S, class C, int OWN = LT_ROW_VECTORS> struct lt_row {
    static constexpr int N = 16 / sizeof(S), VECTORS = OWN;
    const S *data;
    bool aligned; /* and its length is a multiple of N */
    C x[VECTORS][N];

    lt_row() = default;
    __device__ __forceinline__ lt_row(const void *p, bool aligned_)
        : data(static_cast<const S *>(p)), aligned(aligned_)
    {}
    template <class Index> __device__ __forceinline__ void get(Index i, int m, C *values) const
    {
        lt_load_row_as<S, C, N>(data + i, values, m, aligned);
    }
};

template <class Row, class Index>
static __device__ __forceinline__ void lt_read_row(Row &row, Index from, Index n, int thread,
                                                   int threads)
{
    constexpr int N = Row::N;
    LT_UNROLLED
    for (int v = 0; v < Row::VECTORS; v++) {
        const Index i = from + static_cast<Index>(v * threads + thread) * N;
        row.get(i, i < n ? (n - i < N ? static_cast<int>(n - i) : N) : 0, row.x[v]);
    }
}

/* Calls f(i, m, x...) for each vector of this thread: x has, for each row, the m elements from
 * index i on. n: length of the rows. With HELD (the team holds whole rows, lt_row_held) f may
 * change x for the next pass. FIRST: the rows have not been read yet. */
template <bool HELD, bool FIRST, class F, class Row, class... Rows>
static __device__ __forceinline__ void lt_row_pass(int64_t n, int thread, int threads, F f,
                                                   Row &row, Rows &...rows)
{
    constexpr int N = Row::N;
    if constexpr (HELD) {
        const int length = static_cast<int>(n);
        if (FIRST) {
            lt_read_row(row, 0, length, thread, threads);
            (lt_read_row(rows, 0, length, thread, threads), ...);
        }
        LT_UNROLLED
        for (int v = 0; v < Row::VECTORS; v++) {
            const int i = (v * threads + thread) * N;
            if (i < length) f(i, length - i < N ? length - i : N, row.x[v], rows.x[v]...);
        }
    } else {
        for (int64_t from = 0; from < n;
             from += static_cast<int64_t>(threads) * (Row::VECTORS * N)) {
            lt_read_row(row, from, n, thread, threads);
            (lt_read_row(rows, from, n, thread, threads), ...);
            LT_UNROLLED
            for (int v = 0; v < Row::VECTORS; v++) {
                const int64_t i = from + static_cast<int64_t>(v * threads + thread) * N;
                if (i < n) f(i, n - i < N ? static_cast<int>(n - i) : N, row.x[v], rows.x[v]...);
            }
        }
    }
}

#endif
