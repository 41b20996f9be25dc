/* index.cuh - what the files of indexing share: combining values into places that indices name. */
#ifndef LT_CUDA_INDEX_CUH
#define LT_CUDA_INDEX_CUH

#include "cuda.h"
#include "runtime/report.cuh"

/* Operands as for index_put. values: null when it->data[0] is in device memory, else one element
 * (in host memory, of the indexed tensor's dtype) for all. */
lt_status lt_cuda_index_combine(const lt_iter *it, const lt_index_args *args, lt_scatter_mode mode,
                                const void *value);

/* row_sums.cu: whether a call adds rows, enough of them, to rows of a matrix; and the call. */
bool lt_cuda_adds_rows(const lt_iter *it, const lt_index_args *args);
lt_status lt_cuda_add_rows(const lt_iter *it, const lt_index_args *args, lt_cuda_report *report,
                           const char *op, cudaStream_t stream);

/* From 0; LT_INDEX_NO_POSITION for position 0. */
static __device__ __forceinline__ int64_t lt_index_counted(int64_t value, int base)
{
    return base == 0 || value < 0 ? value : value > 0 ? value - 1 : LT_INDEX_NO_POSITION;
}

#endif
