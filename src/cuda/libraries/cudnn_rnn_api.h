/* cudnn_rnn_api.h - the RNN API of cuDNN 9 as far as in use, in addition to cudnn_api.h:
 * descriptors of networks and sequences, sizes of workspace and reserve space, forward and
 * backward. */
#ifndef LT_CUDA_CUDNN_RNN_API_H
#define LT_CUDA_CUDNN_RNN_API_H

#include "libraries/cudnn_api.h"

#define LT_CUDNN_RNN_ALGORITHMS(X)                                                                 \
    X(CUDNN_RNN_ALGO_STANDARD, 0) X(CUDNN_RNN_ALGO_PERSIST_STATIC_SMALL_H, 3)
#define LT_CUDNN_RNN_FORWARDS(X) X(CUDNN_FWD_MODE_INFERENCE, 0) X(CUDNN_FWD_MODE_TRAINING, 1)
#define LT_CUDNN_RNN_CELLS(X)                                                                      \
    X(CUDNN_RNN_RELU, 0) X(CUDNN_RNN_TANH, 1) X(CUDNN_LSTM, 2) X(CUDNN_GRU, 3)
#define LT_CUDNN_RNN_BIASES(X)     X(CUDNN_RNN_NO_BIAS, 0) X(CUDNN_RNN_DOUBLE_BIAS, 2)
#define LT_CUDNN_RNN_DIRECTIONS(X) X(CUDNN_UNIDIRECTIONAL, 0) X(CUDNN_BIDIRECTIONAL, 1)
#define LT_CUDNN_RNN_INPUTS(X)     X(CUDNN_LINEAR_INPUT, 0)
#define LT_CUDNN_RNN_LAYOUTS(X)    X(CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED, 0)
#define LT_CUDNN_RNN_GRADIENTS(X)  X(CUDNN_WGRAD_MODE_ADD, 0)
/* Bit of cudnnSetRNNDescriptor_v8's last argument (CUDNN_RNN_PADDED_IO_ENABLED): the sequences have
 * different lengths or an unpacked layout. */
enum { LT_CUDNN_RNN_PADDED = 1 };

#ifndef LT_VENDOR_HEADERS
typedef struct cudnnRNNStruct *cudnnRNNDescriptor_t;
typedef struct cudnnRNNDataStruct *cudnnRNNDataDescriptor_t;
typedef struct cudnnDropoutStruct *cudnnDropoutDescriptor_t;
typedef enum { LT_CUDNN_RNN_ALGORITHMS(LT_ENUM) } cudnnRNNAlgo_t;
typedef enum { LT_CUDNN_RNN_FORWARDS(LT_ENUM) } cudnnForwardMode_t;
typedef enum { LT_CUDNN_RNN_CELLS(LT_ENUM) } cudnnRNNMode_t;
typedef enum { LT_CUDNN_RNN_BIASES(LT_ENUM) } cudnnRNNBiasMode_t;
typedef enum { LT_CUDNN_RNN_DIRECTIONS(LT_ENUM) } cudnnDirectionMode_t;
typedef enum { LT_CUDNN_RNN_INPUTS(LT_ENUM) } cudnnRNNInputMode_t;
typedef enum { LT_CUDNN_RNN_LAYOUTS(LT_ENUM) } cudnnRNNDataLayout_t;
typedef enum { LT_CUDNN_RNN_GRADIENTS(LT_ENUM) } cudnnWgradMode_t;
#endif

#define LT_CUDNN_RNN_FUNCTIONS(X)                                                                  \
    X(dropout_create, cudnnCreateDropoutDescriptor, (cudnnDropoutDescriptor_t * dropout))          \
    X(dropout_set, cudnnSetDropoutDescriptor,                                                      \
      (cudnnDropoutDescriptor_t dropout, cudnnHandle_t handle, float p, void *states,              \
       size_t bytes, unsigned long long seed))                                                     \
    X(dropout_destroy, cudnnDestroyDropoutDescriptor, (cudnnDropoutDescriptor_t dropout))          \
    X(network_create, cudnnCreateRNNDescriptor, (cudnnRNNDescriptor_t * network))                  \
    X(network_set, cudnnSetRNNDescriptor_v8,                                                       \
      (cudnnRNNDescriptor_t network, cudnnRNNAlgo_t algorithm, cudnnRNNMode_t cell,                \
       cudnnRNNBiasMode_t bias, cudnnDirectionMode_t direction, cudnnRNNInputMode_t input,         \
       cudnnDataType_t type, cudnnDataType_t compute, cudnnMathType_t math, int32_t input_size,    \
       int32_t hidden, int32_t projection, int32_t layers, cudnnDropoutDescriptor_t dropout,       \
       uint32_t flags))                                                                            \
    X(network_destroy, cudnnDestroyRNNDescriptor, (cudnnRNNDescriptor_t network))                  \
    X(data_create, cudnnCreateRNNDataDescriptor, (cudnnRNNDataDescriptor_t * data))                \
    X(data_set, cudnnSetRNNDataDescriptor,                                                         \
      (cudnnRNNDataDescriptor_t data, cudnnDataType_t type, cudnnRNNDataLayout_t layout,           \
       int steps, int batch, int size, const int *lengths, void *padding))                         \
    X(data_destroy, cudnnDestroyRNNDataDescriptor, (cudnnRNNDataDescriptor_t data))                \
    X(weight_bytes, cudnnGetRNNWeightSpaceSize,                                                    \
      (cudnnHandle_t handle, cudnnRNNDescriptor_t network, size_t * bytes))                        \
    X(work_bytes, cudnnGetRNNTempSpaceSizes,                                                       \
      (cudnnHandle_t handle, cudnnRNNDescriptor_t network, cudnnForwardMode_t mode,                \
       cudnnRNNDataDescriptor_t x, size_t * work, size_t * reserve))                               \
    X(weight_place, cudnnGetRNNWeightParams,                                                       \
      (cudnnHandle_t handle, cudnnRNNDescriptor_t network, int32_t layer, size_t bytes,            \
       const void *weights, int32_t product, cudnnTensorDescriptor_t of_matrix, void **matrix,     \
       cudnnTensorDescriptor_t of_bias, void **bias))                                              \
    X(forward, cudnnRNNForward,                                                                    \
      (cudnnHandle_t handle, cudnnRNNDescriptor_t network, cudnnForwardMode_t mode,                \
       const int32_t *lengths, cudnnRNNDataDescriptor_t of_x, const void *x,                       \
       cudnnRNNDataDescriptor_t of_y, void *y, cudnnTensorDescriptor_t of_h, const void *hx,       \
       void *hy, cudnnTensorDescriptor_t of_c, const void *cx, void *cy, size_t weight_bytes,      \
       const void *weights, size_t work_bytes, void *work, size_t reserve_bytes, void *reserve))   \
    X(backward_data, cudnnRNNBackwardData_v8,                                                      \
      (cudnnHandle_t handle, cudnnRNNDescriptor_t network, const int32_t *lengths,                 \
       cudnnRNNDataDescriptor_t of_y, const void *y, const void *dy,                               \
       cudnnRNNDataDescriptor_t of_x, void *dx, cudnnTensorDescriptor_t of_h, const void *hx,      \
       const void *dhy, void *dhx, cudnnTensorDescriptor_t of_c, const void *cx, const void *dcy,  \
       void *dcx, size_t weight_bytes, const void *weights, size_t work_bytes, void *work,         \
       size_t reserve_bytes, void *reserve))                                                       \
    X(backward_weights, cudnnRNNBackwardWeights_v8,                                                \
      (cudnnHandle_t handle, cudnnRNNDescriptor_t network, cudnnWgradMode_t mode,                  \
       const int32_t *lengths, cudnnRNNDataDescriptor_t of_x, const void *x,                       \
       cudnnTensorDescriptor_t of_h, const void *hx, cudnnRNNDataDescriptor_t of_y, const void *y, \
       size_t weight_bytes, void *weights, size_t work_bytes, void *work, size_t reserve_bytes,    \
       void *reserve))

struct lt_cudnn_rnn {
#define X(field, symbol, arguments) cudnnStatus_t(*field) arguments;
    LT_CUDNN_RNN_FUNCTIONS(X)
#undef X
};

/* Returns the table; loads the library at the first call. */
lt_status lt_cudnn_rnn_get(const lt_cudnn_rnn **table);

#endif
