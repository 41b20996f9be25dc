/* dnn.cuh - a handle of cuDNN for the calls of one scope, and what its failures mean. */
#ifndef LT_CUDA_DNN_CUH
#define LT_CUDA_DNN_CUH

#include "cuda.h"
#include "libraries/cudnn_api.h"

/* The status and message for a failed call. */
lt_status lt_cudnn_failed(cudnnStatus_t status, const char *call);
#define LT_CUDNN_TRY(call)                                                                         \
    do {                                                                                           \
        cudnnStatus_t cudnn_status_ = (call);                                                      \
        if (__builtin_expect(cudnn_status_ != CUDNN_STATUS_SUCCESS, 0))                            \
            return lt_cudnn_failed(cudnn_status_, #call);                                          \
    } while (0)

/* Whether cuDNN has nothing for what was asked, also by the finer reasons, which have numbers of
 * their own. */
bool lt_cudnn_unsupported(cudnnStatus_t status);

/* Its names for a floating dtype, and for how products of it are computed. */
cudnnDataType_t lt_cudnn_type(int dtype);
cudnnMathType_t lt_cudnn_math(int dtype, bool tf32);

/* The table, or null where cuDNN is not there or LTENSOR_CUDNN=0 leaves it out: our own kernels
 * then do the work. */
const lt_cudnn *lt_cuda_dnn_functions(void);

class lt_cuda_dnn {
  public:
    lt_cuda_dnn() = default;
    lt_cuda_dnn(const lt_cuda_dnn &) = delete;
    lt_cuda_dnn &operator=(const lt_cuda_dnn &) = delete;
    ~lt_cuda_dnn();
    /* The device is current. */
    lt_status open(int device, cudaStream_t stream);

    cudnnHandle_t handle = nullptr;

  private:
    int device = 0;
    cudaStream_t stream = nullptr;
};

/* Around a recording of this thread on the current device: what it may need of cuDNN is made in
 * front of it. */
lt_status lt_cuda_dnn_reserve(int device);
void lt_cuda_dnn_unreserve(void);

#endif
