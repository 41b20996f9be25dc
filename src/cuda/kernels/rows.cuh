/* rows.cuh - partitions contiguous rows among teams of threads (row_passes.cuh). Launch kernels
 * that use this with LT_LAUNCH_BARRIER. A team is the block's threads along x: a warp, or the whole
 * block. */
#ifndef LT_CUDA_ROWS_CUH
#define LT_CUDA_ROWS_CUH

#include "block.cuh"
#include "element.cuh"
#include "offsets.cuh"
#include "row_passes.cuh"

enum { LT_ROW_BLOCK = 256 };

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

/* Block dimensions for rows of n elements of `size` bytes, one team per row. */
static inline dim3 lt_row_block_dim(int64_t n, int64_t size)
{
    const int threads =
        lt_threads_for(n, static_cast<int>(LT_ROW_VECTORS * 16 / size), LT_ROW_THREADS);
    return dim3(static_cast<unsigned>(threads), threads == LT_WARP ? LT_ROW_BLOCK / LT_WARP : 1);
}
/* Whether the team's registers can hold a row of n elements. */
static inline bool lt_row_held(int64_t n, int64_t size, dim3 team)
{
    return n <= static_cast<int64_t>(team.x) * (LT_ROW_VECTORS * 16 / size);
}
static inline unsigned lt_row_blocks(int64_t rows, dim3 team)
{
    return lt_blocks(rows, static_cast<int>(team.y));
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
