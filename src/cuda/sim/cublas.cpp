/* cublas.cpp - cuBLAS for simulated GPUs: implements cublas_api.h with OpenBLAS and LAPACK
 * (stand_in.h).
 *
 * A product is a work item in its stream's queue, like a kernel. Half types are converted to float,
 * multiplied there and rounded once at the end, as in cuBLAS. */
#include "libraries/cublas_api.h"
#include "product.h"

#include <cblas.h>

#include <algorithm>
#include <new>

using namespace lt_sim;

extern "C" {
#define DECLARE(p, real)                                                                           \
    void p##getrf_(const int *m, const int *n, real *a, const int *lda, int *pivots, int *info);   \
    void p##getrs_(const char *trans, const int *n, const int *columns, const real *a,             \
                   const int *lda, const int *pivots, real *b, const int *ldb, int *info);         \
    void p##geqrf_(const int *m, const int *n, real *a, const int *lda, real *tau, real *work,     \
                   const int *size, int *info);
DECLARE(s, float)
DECLARE(d, double)
#undef DECLARE
}

namespace {

/* A product in a recording needs a workspace from the caller: at the time of a replay, other calls
 * use the handle's own. */
bool has_room(cublasHandle_t handle)
{
    CUstream_st *stream = find_stream(handle->stream);
    return stream == nullptr || !stream->recording || handle->workspace != nullptr;
}

cublasStatus_t gemm_batched(cublasHandle_t handle, cublasOperation_t transa,
                            cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                            const void *alpha, const void *a, cudaDataType a_type, int64_t lda,
                            long long stride_a, const void *b, cudaDataType b_type, int64_t ldb,
                            long long stride_b, const void *beta, void *c, cudaDataType c_type,
                            int64_t ldc, long long stride_c, int64_t batch,
                            cublasComputeType_t compute, cublasGemmAlgo_t)
{
    bool wide = compute == CUBLAS_COMPUTE_64F;
    Matrix ma = operand(a, a_type, transa, m, k, lda, stride_a),
           mb = operand(b, b_type, transb, k, n, ldb, stride_b),
           mc = operand(c, c_type, CUBLAS_OP_N, m, n, ldc, stride_c);
    if (!usable(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (batch < 0 || !valid(handle->device, ma, batch) || !valid(handle->device, mb, batch) ||
        !valid(handle->device, mc, batch))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!has_room(handle)) return CUBLAS_STATUS_NOT_SUPPORTED;
    const bool widened =
        c_type == CUDA_R_32F && a_type != CUDA_R_64F; /* half products may have a float result */
    if (a_type != b_type || (a_type != c_type && !widened) || wide != (c_type == CUDA_R_64F) ||
        too_large(ma) || too_large(mb) || too_large(mc))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    double scale = wide ? *static_cast<const double *>(alpha) : *static_cast<const float *>(alpha);
    double keep = wide ? *static_cast<const double *>(beta) : *static_cast<const float *>(beta);
    return submit_product(handle,
                          new (std::nothrow) Product(ma, mb, mc, k, scale, keep, batch, nullptr),
                          compute, handle->workspace, handle->workspace_bytes);
}

cublasStatus_t gemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                    int64_t m, int64_t n, int64_t k, const void *alpha, const void *a,
                    cudaDataType a_type, int64_t lda, const void *b, cudaDataType b_type,
                    int64_t ldb, const void *beta, void *c, cudaDataType c_type, int64_t ldc,
                    cublasComputeType_t compute, cublasGemmAlgo_t algorithm)
{
    return gemm_batched(handle, transa, transb, m, n, k, alpha, a, a_type, lda, 0, b, b_type, ldb,
                        0, beta, c, c_type, ldc, 0, 1, compute, algorithm);
}

cublasStatus_t create(cublasHandle_t *handle)
{
    if (begin_on_device(cudaErrorMemoryAllocation) != cudaSuccess)
        return CUBLAS_STATUS_ALLOC_FAILED;
    if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    if (capturing(current_device())) return CUBLAS_STATUS_NOT_INITIALIZED;
    *handle = new (std::nothrow) cublasContext;
    if (*handle == nullptr) return CUBLAS_STATUS_ALLOC_FAILED;
    (*handle)->device = current_device();
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t destroy(cublasHandle_t handle)
{
    if (!usable(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (capturing(handle->device)) return CUBLAS_STATUS_INTERNAL_ERROR;
    handle->alive = 0;
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t set_stream(cublasHandle_t handle, cudaStream_t stream)
{
    if (!usable(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    CUstream_st *found = find_stream(stream);
    if (found == nullptr || found->device->index != handle->device)
        return CUBLAS_STATUS_INVALID_VALUE;
    handle->stream = stream;
    handle->workspace = nullptr; /* as in cuBLAS: back to the default workspace */
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t set_workspace(cublasHandle_t handle, void *workspace, size_t bytes)
{
    if (!usable(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if ((uintptr_t)workspace % 256 != 0 ||
        !on_device(handle->device, (const char *)workspace, (int64_t)bytes))
        return CUBLAS_STATUS_INVALID_VALUE;
    handle->workspace = workspace;
    handle->workspace_bytes = bytes;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t set_math_mode(cublasHandle_t handle, cublasMath_t)
{
    return usable(handle) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

/* ---- triangular systems, batched factorizations ---------------------------------------------- */

void getrf(int n, float *a, int lda, int *pivots, int *info)
{
    sgetrf_(&n, &n, a, &lda, pivots, info);
}
void getrf(int n, double *a, int lda, int *pivots, int *info)
{
    dgetrf_(&n, &n, a, &lda, pivots, info);
}
void getrs(const char *trans, int n, int columns, const float *a, int lda, const int *pivots,
           float *b, int ldb, int *info)
{
    sgetrs_(trans, &n, &columns, a, &lda, pivots, b, &ldb, info);
}
void getrs(const char *trans, int n, int columns, const double *a, int lda, const int *pivots,
           double *b, int ldb, int *info)
{
    dgetrs_(trans, &n, &columns, a, &lda, pivots, b, &ldb, info);
}
void geqrf(int m, int n, float *a, int lda, float *tau, float *work, int size, int *info)
{
    sgeqrf_(&m, &n, a, &lda, tau, work, &size, info);
}
void geqrf(int m, int n, double *a, int lda, double *tau, double *work, int size, int *info)
{
    dgeqrf_(&m, &n, a, &lda, tau, work, &size, info);
}
void solve(CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int m, int n, float alpha,
           const float *a, int lda, float *b, int ldb)
{
    cblas_strsm(CblasColMajor, CblasLeft, uplo, trans, diag, m, n, alpha, a, lda, b, ldb);
}
void solve(CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int m, int n, double alpha,
           const double *a, int lda, double *b, int ldb)
{
    cblas_dtrsm(CblasColMajor, CblasLeft, uplo, trans, diag, m, n, alpha, a, lda, b, ldb);
}

cublasStatus_t status_of(cudaError_t error)
{
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

template <class T> struct Real {
    /* Runs one(i, uses) for each matrix of a batch. a[i] and b[i] must point to of_a and of_b
     * elements of device memory; otherwise the error is cudaErrorIllegalAddress. */
    template <class One>
    static cublasStatus_t each(cublasHandle_t handle, const char *call, int batch,
                               const T *const *a, int64_t of_a, const T *const *b, int64_t of_b,
                               One one)
    {
        const int device = handle->device;
        return status_of(queue(handle, call, [=](const Uses &uses) {
            uses.reads(a, batch);
            if (b != nullptr) uses.reads(b, batch);
            for (int i = 0; i < batch; i++) {
                if (!on_device(device, a[i], of_a) ||
                    (b != nullptr && !on_device(device, b[i], of_b)))
                    return cudaErrorIllegalAddress;
                one(i, uses);
            }
            return cudaSuccess;
        }));
    }

    static cublasStatus_t trsm_batched(cublasHandle_t handle, cublasSideMode_t side,
                                       cublasFillMode_t uplo, cublasOperation_t trans,
                                       cublasDiagType_t diag, int m, int n, const T *alpha,
                                       const T *const *a, int lda, T *const *b, int ldb, int batch)
    {
        if (!usable(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
        if (side != CUBLAS_SIDE_LEFT) return CUBLAS_STATUS_NOT_SUPPORTED;
        if (m < 0 || n < 0 || batch < 0 || lda < std::max(1, m) || ldb < std::max(1, m) ||
            alpha == nullptr || !on_device(handle->device, a, batch) ||
            !on_device(handle->device, b, batch))
            return CUBLAS_STATUS_INVALID_VALUE;
        const T scale = *alpha;
        return each(handle, "cublasTrsmBatched", batch, a, span(m, m, lda), b, span(m, n, ldb),
                    [=](int i, const Uses &uses) {
                        solve_one(uses, uplo, trans, diag, m, n, scale, a[i], lda, b[i], ldb);
                    });
    }

    static void solve_one(const Uses &uses, cublasFillMode_t uplo, cublasOperation_t trans,
                          cublasDiagType_t diag, int m, int n, T scale, const T *a, int lda, T *b,
                          int ldb)
    {
        uses.reads_triangle(uplo == CUBLAS_FILL_MODE_UPPER, a, m, lda, diag == CUBLAS_DIAG_UNIT)
            .reads(b, m, n, ldb)
            .writes(b, m, n, ldb);
        solve(uplo == CUBLAS_FILL_MODE_UPPER ? CblasUpper : CblasLower,
              trans == CUBLAS_OP_T ? CblasTrans : CblasNoTrans,
              diag == CUBLAS_DIAG_UNIT ? CblasUnit : CblasNonUnit, m, n, scale, a, lda, b, ldb);
    }

    static cublasStatus_t trsm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,
                               cublasOperation_t trans, cublasDiagType_t diag, int m, int n,
                               const T *alpha, const T *a, int lda, T *b, int ldb)
    {
        if (!usable(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
        if (side != CUBLAS_SIDE_LEFT) return CUBLAS_STATUS_NOT_SUPPORTED;
        if (m < 0 || n < 0 || lda < std::max(1, m) || ldb < std::max(1, m) || alpha == nullptr ||
            !on_device(handle->device, a, span(m, m, lda)) ||
            !on_device(handle->device, b, span(m, n, ldb)))
            return CUBLAS_STATUS_INVALID_VALUE;
        const T scale = *alpha;
        return status_of(queue(handle, "cublasTrsm", [=](const Uses &uses) {
            solve_one(uses, uplo, trans, diag, m, n, scale, a, lda, b, ldb);
            return cudaSuccess;
        }));
    }

    static cublasStatus_t getrf_batched(cublasHandle_t handle, int n, T *const *a, int lda,
                                        int *pivots, int *infos, int batch)
    {
        if (!usable(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
        if (n < 0 || batch < 0 || lda < std::max(1, n) || !on_device(handle->device, a, batch) ||
            !on_device(handle->device, pivots, (int64_t)n * batch) ||
            !on_device(handle->device, infos, batch))
            return CUBLAS_STATUS_INVALID_VALUE;
        return each(handle, "cublasGetrfBatched", batch, a, span(n, n, lda), nullptr, 0,
                    [=](int i, const Uses &uses) {
                        int *const to = pivots + (int64_t)i * n;
                        uses.reads(a[i], n, n, lda).writes(a[i], n, n, lda).writes(to, n);
                        uses.writes(infos + i, 1);
                        getrf(n, a[i], lda, to, infos + i);
                    });
    }

    static cublasStatus_t getrs_batched(cublasHandle_t handle, cublasOperation_t trans, int n,
                                        int columns, const T *const *a, int lda, const int *pivots,
                                        T *const *b, int ldb, int *info_on_host, int batch)
    {
        if (!usable(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
        if (info_on_host == nullptr || owner(info_on_host) != nullptr)
            return CUBLAS_STATUS_INVALID_VALUE;
        *info_on_host = n < 0                  ? -2
                        : columns < 0          ? -3
                        : lda < std::max(1, n) ? -5
                        : ldb < std::max(1, n) ? -8
                                               : 0;
        if (*info_on_host != 0 || batch < 0 || !on_device(handle->device, a, batch) ||
            !on_device(handle->device, b, batch) ||
            !on_device(handle->device, pivots, (int64_t)n * batch))
            return CUBLAS_STATUS_INVALID_VALUE;
        return each(handle, "cublasGetrsBatched", batch, a, span(n, n, lda), b,
                    span(n, columns, ldb), [=](int i, const Uses &uses) {
                        const int *const order = pivots + (int64_t)i * n;
                        int info = 0;
                        uses.reads(a[i], n, n, lda).reads(order, n);
                        uses.reads(b[i], n, columns, ldb).writes(b[i], n, columns, ldb);
                        getrs(trans == CUBLAS_OP_T ? "T" : "N", n, columns, a[i], lda, order, b[i],
                              ldb, &info);
                    });
    }

    static cublasStatus_t geqrf_batched(cublasHandle_t handle, int m, int n, T *const *a, int lda,
                                        T *const *tau, int *info_on_host, int batch)
    {
        if (!usable(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
        if (info_on_host == nullptr || owner(info_on_host) != nullptr)
            return CUBLAS_STATUS_INVALID_VALUE;
        *info_on_host = m < 0 ? -1 : n < 0 ? -2 : lda < std::max(1, m) ? -4 : 0;
        if (*info_on_host != 0 || batch < 0 || !on_device(handle->device, a, batch) ||
            !on_device(handle->device, tau, batch))
            return CUBLAS_STATUS_INVALID_VALUE;
        return each(handle, "cublasGeqrfBatched", batch, a, span(m, n, lda), tau, std::min(m, n),
                    [=](int i, const Uses &uses) {
                        std::vector<T> work((size_t)std::max(1, n));
                        int info = 0;
                        uses.reads(a[i], m, n, lda).writes(a[i], m, n, lda);
                        uses.writes(tau[i], std::min(m, n));
                        geqrf(m, n, a[i], lda, tau[i], work.data(), (int)work.size(), &info);
                    });
    }

    static lt_cublas_real<T> functions()
    {
        return {trsm, trsm_batched, getrf_batched, getrs_batched, geqrf_batched};
    }
};

} // namespace

lt_status lt_cublas_get(const lt_cublas **table)
{
    static const lt_cublas functions = {create,
                                        destroy,
                                        set_stream,
                                        set_workspace,
                                        set_math_mode,
                                        gemm,
                                        gemm_batched,
                                        Real<float>::functions(),
                                        Real<double>::functions(),
                                        lt_sim_cublaslt()};
    *table = &functions;
    return LT_OK;
}
