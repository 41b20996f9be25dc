/* dnn.cu - see dnn.cuh. */
#include "dnn.cuh"

#include <stdlib.h>
#include <string.h>

#include "handles.cuh"

lt_status lt_cudnn_failed(cudnnStatus_t status, const char *call)
{
    const auto name = [status] {
        switch (status) {
            LT_CUDNN_STATUSES(LT_NAME_CASE)
        }
        return "CUDNN_STATUS_UNKNOWN";
    };
    cudaError_t behind = cudaGetLastError();
    if (behind != cudaSuccess) return lt_cuda_failed(behind, call);
    return lt_cuda_core->error(LT_ERR_DEVICE, "cuDNN error: %s when calling `%s`", name(), call);
}

/* Looked for once: a script that works without cuDNN goes on as it began. */
const lt_cudnn *lt_cuda_dnn_functions(void)
{
    static const lt_cudnn *const functions = [] {
        const lt_cudnn *table = nullptr;
        const char *choice = getenv("LTENSOR_CUDNN");
        const bool wanted = choice == nullptr || strcmp(choice, "0") != 0;
        return wanted && lt_cudnn_get(&table) == LT_OK ? table : nullptr;
    }();
    return functions;
}

namespace {

struct dnn {
    using handle = cudnnHandle_t;
    static lt_status create(handle *h)
    {
        LT_CUDNN_TRY(lt_cuda_dnn_functions()->create(h));
        return LT_OK;
    }
    static lt_status aim(handle h, cudaStream_t stream)
    {
        LT_CUDNN_TRY(lt_cuda_dnn_functions()->set_stream(h, stream));
        return LT_OK;
    }
};

} // namespace

lt_status lt_cuda_dnn::open(int on_device, cudaStream_t on_stream)
{
    device = on_device;
    stream = on_stream;
    return lt_cuda_handles<dnn>::take(device, stream, &handle);
}

lt_cuda_dnn::~lt_cuda_dnn()
{
    if (handle != nullptr) lt_cuda_handles<dnn>::give(device, stream, handle);
}

lt_status lt_cuda_dnn_reserve(int device)
{
    return lt_cuda_dnn_functions() != nullptr ? lt_cuda_handles<dnn>::reserve(device) : LT_OK;
}

void lt_cuda_dnn_unreserve(void) { lt_cuda_handles<dnn>::unreserve(); }
