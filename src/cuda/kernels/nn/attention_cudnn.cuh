/* attention_cudnn.cuh - attention by cuDNN, for attention.cu. */
#ifndef LT_CUDA_ATTENTION_CUDNN_CUH
#define LT_CUDA_ATTENTION_CUDNN_CUH

#include "cuda.h"

/* backward: the derivative. *done says whether it was; false where cuDNN is not there, not
 * preferred, or has no plan. */
lt_status lt_attention_by_cudnn(const lt_attention *a, bool backward, cudaStream_t stream,
                                bool *done);

#endif
