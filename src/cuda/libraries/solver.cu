/* solver.cu - see solver.cuh. */
#include "solver.cuh"

#include "handles.cuh"

lt_status lt_cusolver_failed(cusolverStatus_t status, const char *call)
{
    const auto name = [status] {
        switch (status) {
            LT_CUSOLVER_STATUSES(LT_NAME_CASE)
        }
        return "CUSOLVER_STATUS_UNKNOWN";
    };
    cudaError_t behind = cudaGetLastError();
    if (behind != cudaSuccess) return lt_cuda_failed(behind, call);
    return lt_cuda_core->error(LT_ERR_DEVICE, "cusolver error: %s, when calling `%s`", name(),
                               call);
}

namespace {

struct solver {
    using handle = cusolverDnHandle_t;
    static lt_status create(handle *h)
    {
        const lt_cusolver *cusolver;
        LT_TRY(lt_cusolver_get(&cusolver));
        LT_CUSOLVER_TRY(cusolver->create(h));
        return LT_OK;
    }
    static lt_status aim(handle h, cudaStream_t stream)
    {
        const lt_cusolver *cusolver;
        LT_TRY(lt_cusolver_get(&cusolver));
        LT_CUSOLVER_TRY(cusolver->set_stream(h, stream));
        return LT_OK;
    }
};

} // namespace

lt_status lt_cuda_solver::open(int on_device, cudaStream_t on_stream)
{
    device = on_device;
    stream = on_stream;
    LT_TRY(lt_cusolver_get(&functions));
    return lt_cuda_handles<solver>::take(device, stream, &handle);
}

lt_cuda_solver::~lt_cuda_solver()
{
    if (handle != nullptr) lt_cuda_handles<solver>::give(device, stream, handle);
}
