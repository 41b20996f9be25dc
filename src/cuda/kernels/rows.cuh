/* rows.cuh - rows of elements that lie together, each gone over by a team of threads 16 bytes at a time, once or several
 * times. What a team can hold of a row stays in its registers from one pass to the next, so that memory is read once; longer
 * rows are read again. Kernels that use this meet; a team is the block's threads along x, a warp or (alone) the block. */
#ifndef LT_CUDA_ROWS_CUH
#define LT_CUDA_ROWS_CUH

#include "block.cuh"
#include "element.cuh"
#include "offsets.cuh"

enum { LT_ROW_VECTORS = 2, LT_ROW_THREADS = 512, LT_ROW_BLOCK = 256 };

/* Elements S, computed with in C. */
template <class S, class C> struct lt_row {
    static constexpr int N = 16 / sizeof(S);
    const S *data;
    bool aligned; /* and of whole vectors */
    C x[LT_ROW_VECTORS][N];

    __device__ __forceinline__ lt_row(const void *p, bool aligned_)
        : data(static_cast<const S *>(p)), aligned(aligned_)
    {}
    template <class Index> __device__ __forceinline__ void load(Index from, Index n)
    {
        LT_UNROLLED
        for (int v = 0; v < LT_ROW_VECTORS; v++) {
            const Index i = from + static_cast<Index>(v * blockDim.x + threadIdx.x) * N;
            lt_load_row_as<S, C, N>(data + i, x[v],
                                    i < n ? (n - i < N ? static_cast<int>(n - i) : N) : 0, aligned);
        }
    }
};

/* f(i, m, x...) for this thread's vectors of the rows, n elements each: m elements from i on, which x has of each row and may
 * change for the next pass where the rows are held. FIRST: the rows have not been read. HELD: a team's threads have all of
 * them (lt_row_held). */
template <bool HELD, bool FIRST, class S, class F, class... Rows>
static __device__ __forceinline__ void lt_row_pass(int64_t n, F f, Rows &...rows)
{
    constexpr int N = 16 / sizeof(S);
    if constexpr (HELD) {
        const int length = static_cast<int>(n);
        if (FIRST) (rows.load(0, length), ...);
        LT_UNROLLED
        for (int v = 0; v < LT_ROW_VECTORS; v++) {
            const int i = static_cast<int>(v * blockDim.x + threadIdx.x) * N;
            if (i < length) f(i, length - i < N ? length - i : N, rows.x[v]...);
        }
    } else {
        for (int64_t from = 0; from < n;
             from += static_cast<int64_t>(blockDim.x) * (LT_ROW_VECTORS * N)) {
            (rows.load(from, n), ...);
            LT_UNROLLED
            for (int v = 0; v < LT_ROW_VECTORS; v++) {
                const int64_t i = from + static_cast<int64_t>(v * blockDim.x + threadIdx.x) * N;
                if (i < n) f(i, n - i < N ? static_cast<int>(n - i) : N, rows.x[v]...);
            }
        }
    }
}

/* The row of this thread's team. */
static __device__ __forceinline__ int64_t lt_row_number()
{
    return static_cast<int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
}

/* Blocks and threads for rows of n elements of this size: a team for each. */
static inline dim3 lt_row_team(int64_t n, int64_t size)
{
    const int threads =
        lt_threads_for(n, static_cast<int>(LT_ROW_VECTORS * 16 / size), LT_ROW_THREADS);
    return dim3(static_cast<unsigned>(threads), threads == LT_WARP ? LT_ROW_BLOCK / LT_WARP : 1);
}
/* Whether a team of this many threads holds rows of n elements. */
static inline bool lt_row_held(int64_t n, int64_t size, dim3 team)
{
    return n <= static_cast<int64_t>(team.x) * (LT_ROW_VECTORS * 16 / size);
}
static inline unsigned lt_row_blocks(int64_t rows, dim3 team)
{
    return lt_blocks(rows, static_cast<int>(team.y));
}

/* For each dtype that rows are computed in: CALL(element, computed in). */
#define LT_ROW_DTYPES(dtype, CALL)                                                                 \
    switch (dtype) {                                                                               \
    case LT_FLOAT16: CALL(__half, float); break;                                                   \
    case LT_BFLOAT16: CALL(__nv_bfloat16, float); break;                                           \
    case LT_FLOAT64: CALL(double, double); break;                                                  \
    default: CALL(float, float); break;                                                            \
    }

#endif
