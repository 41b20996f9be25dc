/* blas.cuh - a cuBLAS handle for the calls of one scope, and error messages for failed calls. */
#ifndef LT_CUDA_BLAS_CUH
#define LT_CUDA_BLAS_CUH

#include "cuda.h"
#include "libraries/cublas_api.h"

/* Sets the message for a failed call and returns its status. */
lt_status lt_cublas_failed(cublasStatus_t status, const char *call);
#define LT_CUBLAS_TRY(call)                                                                        \
    do {                                                                                           \
        cublasStatus_t cublas_status_ = (call);                                                    \
        if (__builtin_expect(cublas_status_ != CUBLAS_STATUS_SUCCESS, 0))                          \
            return lt_cublas_failed(cublas_status_, #call);                                        \
    } while (0)

class lt_cuda_blas {
  public:
    lt_cuda_blas() = default;
    lt_cuda_blas(const lt_cuda_blas &) = delete;
    lt_cuda_blas &operator=(const lt_cuda_blas &) = delete;
    ~lt_cuda_blas();
    /* Precondition: the device is current. While a graph is recorded, calls use a workspace from
     * the graph's pool until the scope ends. */
    lt_status open(int device, cudaStream_t stream);

    const lt_cublas *functions = nullptr;
    cublasHandle_t handle = nullptr;

  private:
    int device = 0;
    cudaStream_t stream = nullptr;
    lt_cuda_scratch workspace;
};

/* Called before and after a recording of this thread on the current device: reserve provides a
 * handle in advance, because creating one is not allowed during the recording. */
lt_status lt_cuda_blas_reserve(int device);
void lt_cuda_blas_unreserve(void);

#endif
