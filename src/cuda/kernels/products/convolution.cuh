/* convolution.cuh - what the files of convolutions share. */
#ifndef LT_CUDA_CONVOLUTION_CUH
#define LT_CUDA_CONVOLUTION_CUH

#include "cuda.h"

/* convolution_cudnn.cu, without a bias. channels_last: of all arrays. *done says whether it was;
 * false where cuDNN is not there or has nothing for it. */
struct lt_cuda_conv_arrays {
    void *x, *w, *y;
};
lt_status lt_cuda_convolution_cudnn(lt_conv_part part, const lt_conv *c, bool channels_last,
                                    lt_cuda_conv_arrays arrays, cudaStream_t stream, bool *done);

#endif
