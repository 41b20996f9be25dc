/* sparse.cuh - a handle of cuSPARSE for the calls of one scope, and what its failures mean. */
#ifndef LT_CUDA_SPARSE_CUH
#define LT_CUDA_SPARSE_CUH

#include "cuda.h"
#include "libraries/cusparse_api.h"

/* The status and message for a failed call. */
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
    /* The device is current. Afterwards functions is null where cuSPARSE is not there,
     * LTENSOR_CUSPARSE=0 leaves it out, or a graph is recorded that began before cuSPARSE was
     * opened: a formula then does the work. */
    lt_status open(int device, cudaStream_t stream);

    const lt_cusparse *functions = nullptr;
    cusparseHandle_t handle = nullptr;

  private:
    int device = 0;
    cudaStream_t stream = nullptr;
};

/* Around a recording of this thread on the current device: a handle for it is made in front of it,
 * if cuSPARSE has been opened. It is not opened for that: few graphs have a sparse matrix, and the
 * library is large. */
lt_status lt_cuda_sparse_reserve(int device);
void lt_cuda_sparse_unreserve(void);

#endif
