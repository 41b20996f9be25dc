/* rows.cuh - partitions contiguous rows among teams of threads (row_passes.cuh). Launch kernels
 * that use this with LT_LAUNCH_BARRIER. A team is the block's threads along x: a warp, or the whole
 * block. */
#ifndef LT_CUDA_ROWS_CUH
#define LT_CUDA_ROWS_CUH

#include "block.cuh"
#include "element.cuh"
#include "offsets.cuh"
#include "row_passes.cuh"

enum {
    LT_ROW_BLOCK = 256,
    /* tuning: bytes; a warp holds rows of 1024 floats; 76 registers, no spills (nvcc 13.0 for sm_90,
     * 2026-11-30) */
    LT_ROW_LANE_BYTES = 128,
};

/* The row index of this thread's team. */
static __device__ __forceinline__ int64_t lt_row_number()
{
    return static_cast<int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
}

/* This thread's team. shared: lt_shared_for(LT_ROW_THREADS) elements of C. */
template <class C> static __device__ __forceinline__ lt_thread_group<C> lt_row_threads(C *shared)
{
    return {shared, static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x)};
}

/* A team per row. */
struct lt_row_team {
    dim3 block;  /* block dimensions */
    bool held;   /* its registers hold a row */
    int vectors; /* of 16 bytes, per thread */
};
/* For rows of n elements of `size` bytes. */
static inline lt_row_team lt_row_team_of(int64_t n, int64_t size)
{
    const int each = static_cast<int>(LT_ROW_VECTORS * 16 / size);
    const int threads = lt_threads_for(n, each, LT_ROW_THREADS);
    const unsigned teams = threads == LT_WARP ? LT_ROW_BLOCK / LT_WARP : 1;
    return {dim3(static_cast<unsigned>(threads), teams), n <= int64_t{threads} * each,
            LT_ROW_VECTORS};
}
/* Vectors of S in LT_ROW_LANE_BYTES of C. */
template <class S, class C>
constexpr int lt_warp_vectors = LT_ROW_LANE_BYTES / static_cast<int>(16 / sizeof(S) * sizeof(C));
/* For rows of elements S, computed in C: if there are enough to fill a GPU, a warp holds a row of up
 * to LT_ROW_LANE_BYTES per lane, without barriers. */
template <class S, class C> static inline lt_row_team lt_row_team_of_many(int64_t rows, int64_t n)
{
    const lt_row_team team = lt_row_team_of(n, sizeof(S));
    if (team.block.x == LT_WARP || rows * LT_WARP < LT_ENOUGH_THREADS ||
        n > LT_WARP * LT_ROW_LANE_BYTES / static_cast<int64_t>(sizeof(C)))
        return team;
    return {dim3(LT_WARP, LT_ROW_BLOCK / LT_WARP), true, lt_warp_vectors<S, C>};
}
static inline unsigned lt_row_blocks(int64_t rows, const lt_row_team &team)
{
    return lt_blocks(rows, static_cast<int>(team.block.y));
}

/* Instantiates CALL(element type, compute type) for the dtype. */
#define LT_ROW_DTYPES(dtype, CALL)                                                                 \
    switch (dtype) {                                                                               \
    case LT_FLOAT16: CALL(__half, float); break;                                                   \
    case LT_BFLOAT16: CALL(__nv_bfloat16, float); break;                                           \
    case LT_FLOAT64: CALL(double, double); break;                                                  \
    default: CALL(float, float); break;                                                            \
    }

#endif
