/* solver.cuh - a cuSOLVER handle for the calls of one scope, and error messages for failed calls.
 */
#ifndef LT_CUDA_SOLVER_CUH
#define LT_CUDA_SOLVER_CUH

#include "cuda.h"
#include "libraries/cusolver_api.h"

/* Sets the message for a failed call and returns its status. */
lt_status lt_cusolver_failed(cusolverStatus_t status, const char *call);
#define LT_CUSOLVER_TRY(call)                                                                      \
    do {                                                                                           \
        cusolverStatus_t cusolver_status_ = (call);                                                \
        if (__builtin_expect(cusolver_status_ != CUSOLVER_STATUS_SUCCESS, 0))                      \
            return lt_cusolver_failed(cusolver_status_, #call);                                    \
    } while (0)

class lt_cuda_solver {
  public:
    lt_cuda_solver() = default;
    lt_cuda_solver(const lt_cuda_solver &) = delete;
    lt_cuda_solver &operator=(const lt_cuda_solver &) = delete;
    ~lt_cuda_solver();
    /* Precondition: the device is current and no graph is being recorded. */
    lt_status open(int device, cudaStream_t stream);

    const lt_cusolver *functions = nullptr;
    cusolverDnHandle_t handle = nullptr;

  private:
    int device = 0;
    cudaStream_t stream = nullptr;
};

#endif
