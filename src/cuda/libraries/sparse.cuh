/* sparse.cuh - a cuSPARSE handle for the calls of one scope, and error messages for failed calls.
 */
#ifndef LT_CUDA_SPARSE_CUH
#define LT_CUDA_SPARSE_CUH

#include "cuda.h"
#include "libraries/cusparse_api.h"

/* Sets the message for a failed call and returns its status. */
lt_status lt_cusparse_failed(cusparseStatus_t status, const char *call);
#define LT_CUSPARSE_TRY(call)                                                                      \
    do {                                                                                           \
        cusparseStatus_t cusparse_status_ = (call);                                                \
        if (__builtin_expect(cusparse_status_ != CUSPARSE_STATUS_SUCCESS, 0))                      \
            return lt_cusparse_failed(cusparse_status_, #call);                                    \
    } while (0)

class lt_cuda_sparse {
  public:
    lt_cuda_sparse() = default;
    lt_cuda_sparse(const lt_cuda_sparse &) = delete;
    lt_cuda_sparse &operator=(const lt_cuda_sparse &) = delete;
    ~lt_cuda_sparse();
    /* Precondition: the device is current. On success, functions is null if cuSPARSE is not
     * installed, LTENSOR_CUSPARSE=0 disables it, or a graph is being recorded that began before
     * cuSPARSE was opened. The caller then uses its own kernels. */
    lt_status open(int device, cudaStream_t stream);

    const lt_cusparse *functions = nullptr;
    cusparseHandle_t handle = nullptr;

  private:
    int device = 0;
    cudaStream_t stream = nullptr;
};

/* Called before and after a recording of this thread on the current device: reserve creates a
 * handle in advance if cuSPARSE is open. It does not open cuSPARSE: few graphs use sparse matrices,
 * and the library is large. */
lt_status lt_cuda_sparse_reserve(int device);
void lt_cuda_sparse_unreserve(void);

#endif
