/* attention_cudnn.cuh - attention by cuDNN, for attention.cu. */
#ifndef LT_CUDA_ATTENTION_CUDNN_CUH
#define LT_CUDA_ATTENTION_CUDNN_CUH

#include "cuda.h"

/* backward: computes the derivative. *done is false if cuDNN is missing, not preferred, or has no
 * plan; nothing was written then. */
lt_status lt_attention_by_cudnn(const lt_attention *a, bool backward, cudaStream_t stream,
                                bool *done);

#endif
