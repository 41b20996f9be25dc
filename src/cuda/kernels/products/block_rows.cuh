/* block_rows.cuh - see block_rows.cu. */
#ifndef LT_CUDA_BLOCK_ROWS_CUH
#define LT_CUDA_BLOCK_ROWS_CUH

#include "cuda.h"

/* fixed: rows of the input whose sums fit into the registers */
enum { LT_CUDA_BLOCK_ROWS = 8 };

/* fixed: columns of a row whose bytes have indices of 32 bits */
enum { LT_CUDA_BLOCK_COLUMNS = 1 << 30 };

/* The product for m <= LT_CUDA_BLOCK_ROWS and columns <= LT_CUDA_BLOCK_COLUMNS; weight and in are
 * aligned to 16 bytes. */
void lt_cuda_multiply_block_rows(const lt_block_product *p, cudaStream_t stream);

#endif
