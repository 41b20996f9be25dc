/* index.cuh - what index.cu does for gather.cu: combining values into places that indices name. */
#ifndef LT_CUDA_INDEX_CUH
#define LT_CUDA_INDEX_CUH

#include "cuda.h"

/* Operands as for index_put. values: null when it->data[0] is in device memory, else one element (in host
 * memory, of the indexed tensor's dtype) for all. */
lt_status lt_cuda_index_combine(const lt_iter *it, const lt_index_args *args, lt_scatter_mode mode,
                                const void *value);

#endif
