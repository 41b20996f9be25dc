/* dnn.cuh - a cuDNN handle for the calls of one scope, and error messages for failed calls. */
#ifndef LT_CUDA_DNN_CUH
#define LT_CUDA_DNN_CUH

#include "cuda.h"
#include "libraries/cudnn_api.h"

/* Sets the message for a failed call and returns its status. */
lt_status lt_cudnn_failed(cudnnStatus_t status, const char *call);
#define LT_CUDNN_TRY(call)                                                                         \
    do {                                                                                           \
        cudnnStatus_t cudnn_status_ = (call);                                                      \
        if (__builtin_expect(cudnn_status_ != CUDNN_STATUS_SUCCESS, 0))                            \
            return lt_cudnn_failed(cudnn_status_, #call);                                          \
    } while (0)

/* Whether the status is CUDNN_STATUS_NOT_SUPPORTED or one of its detailed codes (3000 to 3999). */
bool lt_cudnn_unsupported(cudnnStatus_t status);

/* cuDNN's data type of a floating dtype, and the math type of its products. tf32: TF32 is permitted
 * for float. */
cudnnDataType_t lt_cudnn_type(int dtype);
cudnnMathType_t lt_cudnn_math(int dtype, bool tf32);

/* Returns the table, or null if cuDNN is not installed or LTENSOR_CUDNN=0 disables it; our own
 * kernels are used then. */
const lt_cudnn *lt_cuda_dnn_functions(void);

class lt_cuda_dnn {
  public:
    lt_cuda_dnn() = default;
    lt_cuda_dnn(const lt_cuda_dnn &) = delete;
    lt_cuda_dnn &operator=(const lt_cuda_dnn &) = delete;
    ~lt_cuda_dnn();
    /* Precondition: the device is current. */
    lt_status open(int device, cudaStream_t stream);

    cudnnHandle_t handle = nullptr;

  private:
    int device = 0;
    cudaStream_t stream = nullptr;
};

/* Called before and after a recording of this thread on the current device: reserve creates a
 * handle in advance, because creating one is not allowed during the recording. */
lt_status lt_cuda_dnn_reserve(int device);
void lt_cuda_dnn_unreserve(void);

#endif
