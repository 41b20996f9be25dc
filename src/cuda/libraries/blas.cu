/* blas.cu - see blas.cuh. */
#include "blas.cuh"

#include "handles.cuh"

lt_status lt_cublas_failed(cublasStatus_t status, const char *call)
{
    const auto name = [status] {
        switch (status) {
            LT_CUBLAS_STATUSES(LT_NAME_CASE)
        }
        return "CUBLAS_STATUS_UNKNOWN";
    };
    cudaError_t behind = cudaGetLastError();
    if (behind != cudaSuccess) return lt_cuda_failed(behind, call);
    return lt_cuda_core->error(LT_ERR_DEVICE, "CUDA error: %s when calling `%s`", name(), call);
}

namespace {

struct blas {
    using handle = cublasHandle_t;
    static lt_status create(handle *h)
    {
        const lt_cublas *cublas;
        LT_TRY(lt_cublas_get(&cublas));
        LT_CUBLAS_TRY(cublas->create(h));
        return LT_OK;
    }
    static lt_status aim(handle h, cudaStream_t stream)
    {
        const lt_cublas *cublas;
        LT_TRY(lt_cublas_get(&cublas));
        LT_CUBLAS_TRY(cublas->set_stream(h, stream));
        LT_CUBLAS_TRY(cublas->set_math_mode(h, CUBLAS_DEFAULT_MATH));
        return LT_OK;
    }
};

/* NVIDIA's recommendation for Hopper; other architectures need less. */
constexpr size_t workspace_bytes = 32u << 20;

} // namespace

lt_status lt_cuda_blas::open(int on_device, cudaStream_t on_stream)
{
    device = on_device;
    stream = on_stream;
    LT_TRY(lt_cublas_get(&functions));
    LT_TRY(lt_cuda_handles<blas>::take(device, stream, &handle));
    if (lt_cuda_recording_pool(device) == 0) return LT_OK;
    LT_TRY(workspace.take(device, workspace_bytes));
    LT_CUBLAS_TRY(functions->set_workspace(handle, workspace.as<void>(), workspace_bytes));
    return LT_OK;
}

lt_cuda_blas::~lt_cuda_blas()
{
    if (handle != nullptr) lt_cuda_handles<blas>::give(device, stream, handle);
}

lt_status lt_cuda_blas_reserve(int device)
{
    const lt_cublas *cublas;
    if (lt_cublas_get(&cublas) != LT_OK) return LT_OK; /* reported by the first product */
    return lt_cuda_handles<blas>::reserve(device);
}

void lt_cuda_blas_unreserve(void) { lt_cuda_handles<blas>::unreserve(); }
