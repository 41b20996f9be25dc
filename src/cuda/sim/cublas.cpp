/* cublas.cpp - cuBLAS for simulated GPUs: the calls of cublas_api.h over OpenBLAS.
 *
 * A product is a piece of work in its stream's queue, like a kernel. Half types are converted to float,
 * multiplied there and rounded once at the end, as the real library does. */
#include "libraries/cublas_api.h"
#include "sim.h"

#include <cblas.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <limits.h>

#include <algorithm>
#include <new>

using namespace lt_sim;

struct cublasContext {
    cudaStream_t stream;
    int device;
};

namespace {

/* A column-major matrix as it is stored. */
struct Matrix {
    char *data;
    cudaDataType type;
    bool transposed;
    int64_t rows, columns, leading, stride;
};

size_t element_size(cudaDataType type) { return type == CUDA_R_64F ? 8 : type == CUDA_R_32F ? 4 : 2; }

float as_float(__half x) { return __half2float(x); }
float as_float(__nv_bfloat16 x) { return __bfloat162float(x); }
void set(__half *p, float x) { *p = __float2half_rn(x); }
void set(__nv_bfloat16 *p, float x) { *p = __float2bfloat16_rn(x); }

template <class T> void widen(const Matrix &m, const char *data, float *out)
{
    const T *from = reinterpret_cast<const T *>(data);
    for (int64_t j = 0; j < m.columns; j++)
        for (int64_t i = 0; i < m.rows; i++) out[j * m.rows + i] = as_float(from[j * m.leading + i]);
}

template <class T> void narrow(const Matrix &m, const float *from, char *data)
{
    T *out = reinterpret_cast<T *>(data);
    for (int64_t j = 0; j < m.columns; j++)
        for (int64_t i = 0; i < m.rows; i++) set(&out[j * m.leading + i], from[j * m.rows + i]);
}

class Product final : public Work {
  public:
    Product(const Matrix &a, const Matrix &b, const Matrix &c, int64_t k, double alpha, double beta, int64_t batch)
        : a(a), b(b), c(c), k(k), alpha(alpha), beta(beta), batch(batch)
    {
    }

    cudaError_t run() override
    {
        try {
            for (int64_t i = 0; i < batch; i++) multiply(at(a, i), at(b, i), at(c, i));
        } catch (const std::bad_alloc &) {
            return cudaErrorLaunchFailure;
        }
        return cudaSuccess;
    }

  private:
    static char *at(const Matrix &m, int64_t i) { return m.data + i * m.stride * (int64_t)element_size(m.type); }

    void multiply(char *pa, char *pb, char *pc) const
    {
        if (c.type == CUDA_R_64F)
            cblas_dgemm(CblasColMajor, operation(a), operation(b), (blasint)c.rows, (blasint)c.columns, (blasint)k,
                        alpha, (double *)pa, (blasint)a.leading, (double *)pb, (blasint)b.leading, beta,
                        (double *)pc, (blasint)c.leading);
        else if (a.type == CUDA_R_32F)
            multiply_floats((float *)pa, a.leading, (float *)pb, b.leading, (float *)pc, c.leading);
        else if (a.type == CUDA_R_16F)
            multiply_halves<__half>(pa, pb, pc);
        else
            multiply_halves<__nv_bfloat16>(pa, pb, pc);
    }

    void multiply_floats(const float *pa, int64_t lda, const float *pb, int64_t ldb, float *pc, int64_t ldc) const
    {
        cblas_sgemm(CblasColMajor, operation(a), operation(b), (blasint)c.rows, (blasint)c.columns, (blasint)k,
                    (float)alpha, pa, (blasint)lda, pb, (blasint)ldb, (float)beta, pc, (blasint)ldc);
    }

    template <class T> void multiply_halves(const char *pa, const char *pb, char *pc) const
    {
        std::vector<float> wide_a((size_t)(a.rows * a.columns)), wide_b((size_t)(b.rows * b.columns)),
            wide_c((size_t)(c.rows * c.columns));
        widen<T>(a, pa, wide_a.data());
        widen<T>(b, pb, wide_b.data());
        if (c.type == CUDA_R_32F) {
            multiply_floats(wide_a.data(), std::max<int64_t>(a.rows, 1), wide_b.data(), std::max<int64_t>(b.rows, 1),
                            (float *)pc, c.leading);
            return;
        }
        if (beta != 0) widen<T>(c, pc, wide_c.data());
        multiply_floats(wide_a.data(), std::max<int64_t>(a.rows, 1), wide_b.data(), std::max<int64_t>(b.rows, 1),
                        wide_c.data(), std::max<int64_t>(c.rows, 1));
        narrow<T>(c, wide_c.data(), pc);
    }

    static CBLAS_TRANSPOSE operation(const Matrix &m) { return m.transposed ? CblasTrans : CblasNoTrans; }

    Matrix a, b, c;
    int64_t k;
    double alpha, beta;
    int64_t batch;
};

Matrix operand(const void *data, cudaDataType type, cublasOperation_t op, int64_t rows, int64_t columns,
               int64_t leading, int64_t stride)
{
    bool transposed = op == CUBLAS_OP_T;
    return {static_cast<char *>(const_cast<void *>(data)), type, transposed, transposed ? columns : rows,
            transposed ? rows : columns, leading, stride};
}

bool valid(const Matrix &m)
{
    return m.data != nullptr && m.rows >= 0 && m.columns >= 0 && m.leading >= std::max<int64_t>(m.rows, 1);
}

bool too_large(const Matrix &m) { return m.rows > INT_MAX || m.columns > INT_MAX || m.leading > INT_MAX; }

cublasStatus_t gemm_batched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int64_t m,
                            int64_t n, int64_t k, const void *alpha, const void *a, cudaDataType a_type, int64_t lda,
                            long long stride_a, const void *b, cudaDataType b_type, int64_t ldb, long long stride_b,
                            const void *beta, void *c, cudaDataType c_type, int64_t ldc, long long stride_c,
                            int64_t batch, cublasComputeType_t compute, cublasGemmAlgo_t)
{
    bool wide = compute == CUBLAS_COMPUTE_64F;
    Matrix ma = operand(a, a_type, transa, m, k, lda, stride_a), mb = operand(b, b_type, transb, k, n, ldb, stride_b),
           mc = operand(c, c_type, CUBLAS_OP_N, m, n, ldc, stride_c);
    if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!valid(ma) || !valid(mb) || !valid(mc) || batch < 0) return CUBLAS_STATUS_INVALID_VALUE;
    const bool widened = c_type == CUDA_R_32F && a_type != CUDA_R_64F; /* halves may be summed into floats */
    if (a_type != b_type || (a_type != c_type && !widened) || wide != (c_type == CUDA_R_64F) || too_large(ma) || too_large(mb) ||
        too_large(mc))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    double scale = wide ? *static_cast<const double *>(alpha) : *static_cast<const float *>(alpha);
    double keep = wide ? *static_cast<const double *>(beta) : *static_cast<const float *>(beta);
    Work *work = new (std::nothrow) Product(ma, mb, mc, k, scale, keep, batch);
    if (work == nullptr) return CUBLAS_STATUS_ALLOC_FAILED;
    return submit_function(work, handle->stream) == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                                : CUBLAS_STATUS_EXECUTION_FAILED;
}

cublasStatus_t gemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int64_t m, int64_t n,
                    int64_t k, const void *alpha, const void *a, cudaDataType a_type, int64_t lda, const void *b,
                    cudaDataType b_type, int64_t ldb, const void *beta, void *c, cudaDataType c_type, int64_t ldc,
                    cublasComputeType_t compute, cublasGemmAlgo_t algorithm)
{
    return gemm_batched(handle, transa, transb, m, n, k, alpha, a, a_type, lda, 0, b, b_type, ldb, 0, beta, c,
                        c_type, ldc, 0, 1, compute, algorithm);
}

cublasStatus_t create(cublasHandle_t *handle)
{
    if (begin_on_device(cudaErrorMemoryAllocation) != cudaSuccess) return CUBLAS_STATUS_ALLOC_FAILED;
    *handle = new (std::nothrow) cublasContext{nullptr, current_device()};
    return *handle != nullptr ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

cublasStatus_t destroy(cublasHandle_t handle)
{
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t set_stream(cublasHandle_t handle, cudaStream_t stream)
{
    CUstream_st *found = find_stream(stream);
    if (found == nullptr || found->device->index != handle->device) return CUBLAS_STATUS_INVALID_VALUE;
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t set_math_mode(cublasHandle_t, cublasMath_t) { return CUBLAS_STATUS_SUCCESS; }

} // namespace

lt_status lt_cublas_get(const lt_cublas **table)
{
    static const lt_cublas functions = {create, destroy, set_stream, set_math_mode, gemm, gemm_batched};
    *table = &functions;
    return LT_OK;
}
