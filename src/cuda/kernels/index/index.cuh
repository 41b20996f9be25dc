/* index.cuh - functions shared by the indexing kernels: combining values with indexed elements. */
#ifndef LT_CUDA_INDEX_CUH
#define LT_CUDA_INDEX_CUH

#include "cuda.h"
#include "runtime/report.cuh"

/* Operands as for index_put. values: null if it->data[0] is in device memory, else one element in
 * host memory, of the indexed tensor's dtype, for all indices. */
lt_status lt_cuda_index_combine(const lt_iter *it, const lt_index_args *args, lt_scatter_mode mode,
                                const void *value);

/* row_sums.cu: whether the call adds whole rows to a matrix and is large enough for its kernels;
 * and the call itself. */
bool lt_cuda_adds_rows(const lt_iter *it, const lt_index_args *args);
lt_status lt_cuda_add_rows(const lt_iter *it, const lt_index_args *args, lt_cuda_report *report,
                           const char *op, cudaStream_t stream);

/* Converts an index with the given base to 0-based; returns LT_INDEX_NO_POSITION for position 0 of
 * base 1. */
static __device__ __forceinline__ int64_t lt_index_counted(int64_t value, int base)
{
    return base == 0 || value < 0 ? value : value > 0 ? value - 1 : LT_INDEX_NO_POSITION;
}

#endif
