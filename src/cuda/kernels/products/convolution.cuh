/* convolution.cuh - interface between the convolution files. */
#ifndef LT_CUDA_CONVOLUTION_CUH
#define LT_CUDA_CONVOLUTION_CUH

#include "cuda.h"

/* Convolution by cuDNN, without bias (convolution_cudnn.cu). channels_last: layout of all arrays.
 * *done is false if cuDNN is missing or does not support the case; nothing was written then. */
struct lt_cuda_conv_arrays {
    void *x, *w, *y;
};
lt_status lt_cuda_convolution_cudnn(lt_conv_part part, const lt_conv *c, bool channels_last,
                                    lt_cuda_conv_arrays arrays, cudaStream_t stream, bool *done);

#endif
