/* sparse.cu - see sparse.cuh. */
#include "sparse.cuh"

#include "handles.cuh"
#include "optional.cuh"

lt_status lt_cusparse_failed(cusparseStatus_t status, const char *call)
{
    const auto name = [status] {
        switch (status) {
            LT_CUSPARSE_STATUSES(LT_NAME_CASE)
        }
        return "CUSPARSE_STATUS_UNKNOWN";
    };
    cudaError_t behind = cudaGetLastError();
    if (behind != cudaSuccess) return lt_cuda_failed(behind, call);
    return lt_cuda_core->error(LT_ERR_DEVICE, "cuSPARSE error: %s when calling `%s`", name(), call);
}

namespace {

lt_cuda_optional<lt_cusparse> library("LTENSOR_CUSPARSE", lt_cusparse_get);

struct sparse {
    using handle = cusparseHandle_t;
    static lt_status create(handle *h)
    {
        LT_CUSPARSE_TRY(library.functions()->create(h));
        return LT_OK;
    }
    static lt_status aim(handle h, cudaStream_t stream)
    {
        LT_CUSPARSE_TRY(library.functions()->set_stream(h, stream));
        return LT_OK;
    }
};

} // namespace

lt_status lt_cuda_sparse::open(int on_device, cudaStream_t on_stream)
{
    device = on_device;
    stream = on_stream;
    if (!lt_cuda_handles<sparse>::available(device)) return LT_OK;
    const lt_cusparse *table = library.functions();
    if (table == nullptr) return LT_OK;
    LT_TRY(lt_cuda_handles<sparse>::take(device, stream, &handle));
    functions = table;
    return LT_OK;
}

lt_cuda_sparse::~lt_cuda_sparse()
{
    if (handle != nullptr) lt_cuda_handles<sparse>::give(device, stream, handle);
}

lt_status lt_cuda_sparse_reserve(int device)
{
    return library.opened() != nullptr ? lt_cuda_handles<sparse>::reserve(device) : LT_OK;
}

void lt_cuda_sparse_unreserve(void) { lt_cuda_handles<sparse>::unreserve(); }
