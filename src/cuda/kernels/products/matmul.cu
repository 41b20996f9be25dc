/* matmul.cu - matrix products of floats, by cuBLAS.
 *
 * cuBLAS is column-major: a row-major C = A B is the column-major C' = B' A', so the operands change
 * places and nothing is copied. Half types accumulate in float; float products are not rounded to TF32.
 * A handle serves one call at a time and one stream for ever (its workspace is ordered by that), and is
 * kept for the next call. */
#include <algorithm>
#include <mutex>
#include <new>
#include <vector>

#include "libraries/cublas_api.h"
#include "cuda.h"

namespace {

struct kept {
    int device;
    cudaStream_t stream;
    uint64_t pool; /* a graph's: its replays use the handle's workspace, which nothing else may have then */
    cublasHandle_t handle;
};
std::vector<kept> &handles = *new std::vector<kept>; /* never destroyed */
std::mutex handles_mutex;

lt_status failed(cublasStatus_t status, const char *call)
{
    const char *name = "CUBLAS_STATUS_UNKNOWN";
    switch (status) {
    case CUBLAS_STATUS_SUCCESS: name = "CUBLAS_STATUS_SUCCESS"; break;
    case CUBLAS_STATUS_NOT_INITIALIZED: name = "CUBLAS_STATUS_NOT_INITIALIZED"; break;
    case CUBLAS_STATUS_ALLOC_FAILED: name = "CUBLAS_STATUS_ALLOC_FAILED"; break;
    case CUBLAS_STATUS_INVALID_VALUE: name = "CUBLAS_STATUS_INVALID_VALUE"; break;
    case CUBLAS_STATUS_ARCH_MISMATCH: name = "CUBLAS_STATUS_ARCH_MISMATCH"; break;
    case CUBLAS_STATUS_MAPPING_ERROR: name = "CUBLAS_STATUS_MAPPING_ERROR"; break;
    case CUBLAS_STATUS_EXECUTION_FAILED: name = "CUBLAS_STATUS_EXECUTION_FAILED"; break;
    case CUBLAS_STATUS_INTERNAL_ERROR: name = "CUBLAS_STATUS_INTERNAL_ERROR"; break;
    case CUBLAS_STATUS_NOT_SUPPORTED: name = "CUBLAS_STATUS_NOT_SUPPORTED"; break;
    }
    cudaError_t behind = cudaGetLastError();
    if (behind != cudaSuccess) return lt_cuda_failed(behind, call);
    return lt_cuda_core->error(LT_ERR_DEVICE, "CUDA error: %s when calling `%s`", name, call);
}

#define CUBLAS_TRY(call)                                                                           \
    do {                                                                                           \
        cublasStatus_t cublas_status_ = (call);                                                    \
        if (cublas_status_ != CUBLAS_STATUS_SUCCESS) return failed(cublas_status_, #call);         \
    } while (0)

bool take_kept(int device, cudaStream_t stream, cublasHandle_t *handle)
{
    std::lock_guard<std::mutex> lock(handles_mutex);
    for (size_t i = 0; i < handles.size(); i++) {
        if (handles[i].device != device || handles[i].stream != stream ||
            handles[i].pool != lt_cuda_recording_pool(device))
            continue;
        *handle = handles[i].handle;
        handles[i] = handles.back();
        handles.pop_back();
        return true;
    }
    return false;
}

lt_status take_handle(const lt_cublas *cublas, int device, cudaStream_t stream, cublasHandle_t *handle)
{
    if (take_kept(device, stream, handle)) return LT_OK;
    cublasStatus_t status = cublas->create(handle);
    if (status == CUBLAS_STATUS_ALLOC_FAILED) { /* our cache may hold what it needs */
        cudaStream_t ignored;
        (void)cudaGetLastError();
        lt_cuda_empty_cache();
        LT_TRY(lt_cuda_enter(device, &ignored));
        status = cublas->create(handle);
    }
    if (status != CUBLAS_STATUS_SUCCESS) return failed(status, "cublasCreate(handle)");
    status = cublas->set_stream(*handle, stream);
    if (status == CUBLAS_STATUS_SUCCESS) status = cublas->set_math_mode(*handle, CUBLAS_DEFAULT_MATH);
    if (status == CUBLAS_STATUS_SUCCESS) return LT_OK;
    (void)cublas->destroy(*handle);
    return failed(status, "cublasSetStream(handle, stream)");
}

void keep_handle(const lt_cublas *cublas, int device, cudaStream_t stream, cublasHandle_t handle)
{
    try {
        std::lock_guard<std::mutex> lock(handles_mutex);
        handles.push_back({device, stream, lt_cuda_recording_pool(device), handle});
    } catch (const std::bad_alloc &) {
        (void)cublas->destroy(handle);
    }
}

/* A stored matrix of one row has any row stride; cuBLAS wants one that fits. */
int64_t leading(int64_t stride, int64_t columns) { return std::max({stride, columns, (int64_t)1}); }

lt_status multiply(const lt_cublas *cublas, cublasHandle_t handle, const lt_gemm *g, cudaDataType type)
{
    const bool wide = type == CUDA_R_64F;
    const bool rounded = type == CUDA_R_32F && lt_cuda_core->allow_tf32();
    const cublasComputeType_t compute = wide      ? CUBLAS_COMPUTE_64F
                                        : rounded ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                  : CUBLAS_COMPUTE_32F;
    const cudaDataType result = g->wide_result && !wide ? CUDA_R_32F : type;
    const float alpha_float = (float)g->alpha, beta_float = (float)g->beta;
    const void *alpha = wide ? (const void *)&g->alpha : &alpha_float;
    const void *beta = wide ? (const void *)&g->beta : &beta_float;
    const cublasOperation_t op_a = g->trans_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasOperation_t op_b = g->trans_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    const int64_t lda = leading(g->lda, g->trans_a ? g->m : g->k);
    const int64_t ldb = leading(g->ldb, g->trans_b ? g->k : g->n);
    const int64_t ldc = leading(g->ldc, g->n);
    /* Without a common dimension the operands are empty, and may have no address. */
    const void *a = g->k > 0 ? g->a : g->c, *b = g->k > 0 ? g->b : g->c;
    if (g->batch == 1)
        CUBLAS_TRY(cublas->gemm(handle, op_b, op_a, g->n, g->m, g->k, alpha, b, type, ldb, a, type, lda, beta, g->c,
                                result, ldc, compute, CUBLAS_GEMM_DEFAULT));
    else
        CUBLAS_TRY(cublas->gemm_batched(handle, op_b, op_a, g->n, g->m, g->k, alpha, b, type, ldb, g->batch_b, a,
                                        type, lda, g->batch_a, beta, g->c, result, ldc, g->batch_c, g->batch, compute,
                                        CUBLAS_GEMM_DEFAULT));
    return LT_OK;
}

} // namespace

void lt_cuda_gemm_forget(uint64_t pool)
{
    const lt_cublas *cublas;
    std::lock_guard<std::mutex> lock(handles_mutex);
    for (size_t i = handles.size(); i-- > 0;) {
        if (handles[i].pool != pool || lt_cublas_get(&cublas) != LT_OK) continue;
        (void)cublas->destroy(handles[i].handle);
        handles[i] = handles.back();
        handles.pop_back();
    }
}

lt_status lt_cuda_gemm(const lt_gemm *g)
{
    cudaStream_t stream;
    const lt_cublas *cublas;
    cublasHandle_t handle;
    cudaDataType type = CUDA_R_32F;
    bool integers = false;
    switch (g->dtype) {
    case LT_FLOAT16: type = CUDA_R_16F; break;
    case LT_BFLOAT16: type = CUDA_R_16BF; break;
    case LT_FLOAT32: type = CUDA_R_32F; break;
    case LT_FLOAT64: type = CUDA_R_64F; break;
    case LT_BOOL: return lt_cuda_unsupported("addmm_cuda", g->dtype);
    default: integers = true; break;
    }
    if (g->m == 0 || g->n == 0 || g->batch == 0) return LT_OK;
    LT_TRY(lt_cuda_enter(g->device.index, &stream));
    if (integers) return lt_cuda_gemm_integer(g, stream);
    LT_TRY(lt_cublas_get(&cublas));
    LT_TRY(take_handle(cublas, g->device.index, stream, &handle));
    lt_status status = multiply(cublas, handle, g, type);
    keep_handle(cublas, g->device.index, stream, handle);
    return status == LT_OK ? lt_cuda_launched(g->device.index, stream, "matrix product") : status;
}
