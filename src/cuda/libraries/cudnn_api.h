/* cudnn_api.h - the convolution API of cuDNN 9 as far as in use (vendor.h): descriptors of tensors,
 * filters and convolutions, the heuristics that rank algorithms, and forward, backward data and
 * backward filter. */
#ifndef LT_CUDA_CUDNN_API_H
#define LT_CUDA_CUDNN_API_H

#include <cuda_runtime.h>

#include "libraries/vendor.h"

#define LT_CUDNN_LIBRARY                                                                           \
    {                                                                                              \
        "cuDNN", "a fast convolution on a GPU", "libcudnn.so.9", "libcudnn.so.9", "libcudnn.so",   \
            "nvidia-cudnn-cu13"                                                                    \
    }

#define LT_CUDNN_STATUSES(X)                                                                       \
    X(CUDNN_STATUS_SUCCESS, 0)                                                                     \
    X(CUDNN_STATUS_NOT_INITIALIZED, 1001)                                                          \
    X(CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH, 1002)                                              \
    X(CUDNN_STATUS_DEPRECATED, 1004)                                                               \
    X(CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED, 1008)                                                \
    X(CUDNN_STATUS_BAD_PARAM, 2000)                                                                \
    X(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, 2002)                                                   \
    X(CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER, 2003)                                             \
    X(CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND, 2005)                                                   \
    X(CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT, 2006)                                              \
    X(CUDNN_STATUS_BAD_PARAM_STREAM_MISMATCH, 2007)                                                \
    X(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, 2008)                                                 \
    X(CUDNN_STATUS_NOT_SUPPORTED, 3000)                                                            \
    X(CUDNN_STATUS_INTERNAL_ERROR, 4000)                                                           \
    X(CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED, 4003)                                    \
    X(CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED, 4004)                                  \
    X(CUDNN_STATUS_EXECUTION_FAILED, 5000)
#define LT_CUDNN_TYPES(X)                                                                          \
    X(CUDNN_DATA_FLOAT, 0) X(CUDNN_DATA_DOUBLE, 1) X(CUDNN_DATA_HALF, 2) X(CUDNN_DATA_BFLOAT16, 9)
#define LT_CUDNN_FORMATS(X) X(CUDNN_TENSOR_NCHW, 0) X(CUDNN_TENSOR_NHWC, 1)
#define LT_CUDNN_MODES(X)   X(CUDNN_CONVOLUTION, 0) X(CUDNN_CROSS_CORRELATION, 1)
/* DEFAULT_MATH permits TF32 for float, FMA_MATH does not. */
#define LT_CUDNN_MATHS(X)        X(CUDNN_DEFAULT_MATH, 0) X(CUDNN_TENSOR_OP_MATH, 1) X(CUDNN_FMA_MATH, 3)
#define LT_CUDNN_DETERMINISMS(X) X(CUDNN_NON_DETERMINISTIC, 0) X(CUDNN_DETERMINISTIC, 1)
#define LT_CUDNN_FORWARDS(X)                                                                       \
    X(CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, 0)                                                 \
    X(CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, 1)
#define LT_CUDNN_BACKWARD_DATAS(X)                                                                 \
    X(CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, 0) X(CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, 1)
#define LT_CUDNN_BACKWARD_FILTERS(X)                                                               \
    X(CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0, 0) X(CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, 1)

#ifndef LT_VENDOR_HEADERS
typedef struct cudnnContext *cudnnHandle_t;
typedef struct cudnnTensorStruct *cudnnTensorDescriptor_t;
typedef struct cudnnFilterStruct *cudnnFilterDescriptor_t;
typedef struct cudnnConvolutionStruct *cudnnConvolutionDescriptor_t;
typedef enum { LT_CUDNN_STATUSES(LT_ENUM) } cudnnStatus_t;
typedef enum { LT_CUDNN_TYPES(LT_ENUM) } cudnnDataType_t;
typedef enum { LT_CUDNN_FORMATS(LT_ENUM) } cudnnTensorFormat_t;
typedef enum { LT_CUDNN_MODES(LT_ENUM) } cudnnConvolutionMode_t;
typedef enum { LT_CUDNN_MATHS(LT_ENUM) } cudnnMathType_t;
typedef enum { LT_CUDNN_DETERMINISMS(LT_ENUM) } cudnnDeterminism_t;
typedef enum { LT_CUDNN_FORWARDS(LT_ENUM) } cudnnConvolutionFwdAlgo_t;
typedef enum { LT_CUDNN_BACKWARD_DATAS(LT_ENUM) } cudnnConvolutionBwdDataAlgo_t;
typedef enum { LT_CUDNN_BACKWARD_FILTERS(LT_ENUM) } cudnnConvolutionBwdFilterAlgo_t;
#define LT_CUDNN_PERFORMANCE(name, algorithm)                                                      \
    typedef struct {                                                                               \
        algorithm algo;                                                                            \
        cudnnStatus_t status;                                                                      \
        float time;                                                                                \
        size_t memory;                                                                             \
        cudnnDeterminism_t determinism;                                                            \
        cudnnMathType_t mathType;                                                                  \
        int reserved[3];                                                                           \
    } name;
LT_CUDNN_PERFORMANCE(cudnnConvolutionFwdAlgoPerf_t, cudnnConvolutionFwdAlgo_t)
LT_CUDNN_PERFORMANCE(cudnnConvolutionBwdDataAlgoPerf_t, cudnnConvolutionBwdDataAlgo_t)
LT_CUDNN_PERFORMANCE(cudnnConvolutionBwdFilterAlgoPerf_t, cudnnConvolutionBwdFilterAlgo_t)
#undef LT_CUDNN_PERFORMANCE
#endif

#define LT_CUDNN_FUNCTIONS(X)                                                                      \
    X(create, cudnnCreate, (cudnnHandle_t * handle))                                               \
    X(set_stream, cudnnSetStream, (cudnnHandle_t handle, cudaStream_t stream))                     \
    X(tensor_create, cudnnCreateTensorDescriptor, (cudnnTensorDescriptor_t * tensor))              \
    X(tensor_set, cudnnSetTensorNdDescriptor,                                                      \
      (cudnnTensorDescriptor_t tensor, cudnnDataType_t type, int n, const int *sizes,              \
       const int *strides))                                                                        \
    X(tensor_destroy, cudnnDestroyTensorDescriptor, (cudnnTensorDescriptor_t tensor))              \
    X(filter_create, cudnnCreateFilterDescriptor, (cudnnFilterDescriptor_t * filter))              \
    X(filter_set, cudnnSetFilterNdDescriptor,                                                      \
      (cudnnFilterDescriptor_t filter, cudnnDataType_t type, cudnnTensorFormat_t format, int n,    \
       const int *sizes))                                                                          \
    X(filter_destroy, cudnnDestroyFilterDescriptor, (cudnnFilterDescriptor_t filter))              \
    X(convolution_create, cudnnCreateConvolutionDescriptor,                                        \
      (cudnnConvolutionDescriptor_t * convolution))                                                \
    X(convolution_set, cudnnSetConvolutionNdDescriptor,                                            \
      (cudnnConvolutionDescriptor_t convolution, int n, const int *padding, const int *stride,     \
       const int *dilation, cudnnConvolutionMode_t mode, cudnnDataType_t compute))                 \
    X(convolution_set_groups, cudnnSetConvolutionGroupCount,                                       \
      (cudnnConvolutionDescriptor_t convolution, int groups))                                      \
    X(convolution_set_math, cudnnSetConvolutionMathType,                                           \
      (cudnnConvolutionDescriptor_t convolution, cudnnMathType_t math))                            \
    X(convolution_destroy, cudnnDestroyConvolutionDescriptor,                                      \
      (cudnnConvolutionDescriptor_t convolution))                                                  \
    X(rank_forward, cudnnGetConvolutionForwardAlgorithm_v7,                                        \
      (cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const cudnnFilterDescriptor_t w,     \
       const cudnnConvolutionDescriptor_t convolution, const cudnnTensorDescriptor_t y,            \
       const int asked, int *found, cudnnConvolutionFwdAlgoPerf_t *results))                       \
    X(forward, cudnnConvolutionForward,                                                            \
      (cudnnHandle_t handle, const void *alpha, const cudnnTensorDescriptor_t of_x, const void *x, \
       const cudnnFilterDescriptor_t of_w, const void *w,                                          \
       const cudnnConvolutionDescriptor_t convolution, cudnnConvolutionFwdAlgo_t algorithm,        \
       void *workspace, size_t bytes, const void *beta, const cudnnTensorDescriptor_t of_y,        \
       void *y))                                                                                   \
    X(rank_backward_data, cudnnGetConvolutionBackwardDataAlgorithm_v7,                             \
      (cudnnHandle_t handle, const cudnnFilterDescriptor_t w, const cudnnTensorDescriptor_t dy,    \
       const cudnnConvolutionDescriptor_t convolution, const cudnnTensorDescriptor_t dx,           \
       const int asked, int *found, cudnnConvolutionBwdDataAlgoPerf_t *results))                   \
    X(backward_data, cudnnConvolutionBackwardData,                                                 \
      (cudnnHandle_t handle, const void *alpha, const cudnnFilterDescriptor_t of_w, const void *w, \
       const cudnnTensorDescriptor_t of_dy, const void *dy,                                        \
       const cudnnConvolutionDescriptor_t convolution, cudnnConvolutionBwdDataAlgo_t algorithm,    \
       void *workspace, size_t bytes, const void *beta, const cudnnTensorDescriptor_t of_dx,       \
       void *dx))                                                                                  \
    X(rank_backward_filter, cudnnGetConvolutionBackwardFilterAlgorithm_v7,                         \
      (cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const cudnnTensorDescriptor_t dy,    \
       const cudnnConvolutionDescriptor_t convolution, const cudnnFilterDescriptor_t dw,           \
       const int asked, int *found, cudnnConvolutionBwdFilterAlgoPerf_t *results))                 \
    X(backward_filter, cudnnConvolutionBackwardFilter,                                             \
      (cudnnHandle_t handle, const void *alpha, const cudnnTensorDescriptor_t of_x, const void *x, \
       const cudnnTensorDescriptor_t of_dy, const void *dy,                                        \
       const cudnnConvolutionDescriptor_t convolution, cudnnConvolutionBwdFilterAlgo_t algorithm,  \
       void *workspace, size_t bytes, const void *beta, const cudnnFilterDescriptor_t of_dw,       \
       void *dw))

struct lt_cudnn {
#define X(field, symbol, arguments) cudnnStatus_t(*field) arguments;
    LT_CUDNN_FUNCTIONS(X)
#undef X
};

/* Returns the table; loads the library at the first call. */
lt_status lt_cudnn_get(const lt_cudnn **table);

#endif
