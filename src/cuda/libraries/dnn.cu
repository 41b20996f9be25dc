/* dnn.cu - see dnn.cuh. */
#include "dnn.cuh"

#include "handles.cuh"
#include "optional.cuh"

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

bool lt_cudnn_unsupported(cudnnStatus_t status)
{
    return (int)status / 1000 == (int)CUDNN_STATUS_NOT_SUPPORTED / 1000;
}

cudnnDataType_t lt_cudnn_type(int dtype)
{
    switch (dtype) {
    case LT_FLOAT16: return CUDNN_DATA_HALF;
    case LT_BFLOAT16: return CUDNN_DATA_BFLOAT16;
    case LT_FLOAT64: return CUDNN_DATA_DOUBLE;
    default: return CUDNN_DATA_FLOAT;
    }
}

cudnnMathType_t lt_cudnn_math(int dtype, bool tf32)
{
    if (dtype == LT_FLOAT16 || dtype == LT_BFLOAT16) return CUDNN_TENSOR_OP_MATH;
    return dtype == LT_FLOAT32 && !tf32 ? CUDNN_FMA_MATH : CUDNN_DEFAULT_MATH;
}

const lt_cudnn *lt_cuda_dnn_functions(void)
{
    static lt_cuda_optional<lt_cudnn> library("LTENSOR_CUDNN", lt_cudnn_get);
    return library.functions();
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
