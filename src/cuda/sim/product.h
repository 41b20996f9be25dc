/* product.h - matrix products for the stand-ins of cuBLAS and cuBLASLt: their handle, and a product
 * as a work item in its stream's queue, like a kernel. Half types are converted to float,
 * multiplied there and rounded once at the end, as in the real libraries. */
#ifndef LT_SIM_PRODUCT_H
#define LT_SIM_PRODUCT_H

#include "libraries/cublas_api.h"
#include "stand_in.h"

#include <cblas.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <limits.h>
#include <string.h>

struct cublasContext : lt_sim::LibraryHandle {
    void *workspace = nullptr; /* null: the handle's own */
    size_t workspace_bytes = 0;
};

lt_cublaslt lt_sim_cublaslt(void); /* cublaslt.cpp */

namespace lt_sim {

/* A column-major matrix; rows and columns count before transposition. */
struct Matrix {
    char *data;
    cudaDataType type;
    bool transposed;
    int64_t rows, columns, leading, stride;
};

inline size_t element_size(cudaDataType type)
{
    return type == CUDA_R_64F ? 8 : type == CUDA_R_32F ? 4 : 2;
}

inline double as_number(double x) { return x; }
inline float as_number(float x) { return x; }
inline float as_number(__half x) { return __half2float(x); }
inline float as_number(__nv_bfloat16 x) { return __bfloat162float(x); }
inline void set(double *p, double x) { *p = x; }
inline void set(float *p, float x) { *p = x; }
inline void set(__half *p, float x) { *p = __float2half_rn(x); }
inline void set(__nv_bfloat16 *p, float x) { *p = __float2bfloat16_rn(x); }

template <class T> void widen(const Matrix &m, const char *data, float *out)
{
    const T *from = reinterpret_cast<const T *>(data);
    for (int64_t j = 0; j < m.columns; j++)
        for (int64_t i = 0; i < m.rows; i++)
            out[j * m.rows + i] = as_number(from[j * m.leading + i]);
}

template <class T> void narrow(const Matrix &m, const float *from, char *data)
{
    T *out = reinterpret_cast<T *>(data);
    for (int64_t j = 0; j < m.columns; j++)
        for (int64_t i = 0; i < m.rows; i++) set(&out[j * m.leading + i], from[j * m.rows + i]);
}

class Product final : public Work {
  public:
    Product(const Matrix &a, const Matrix &b, const Matrix &c, int64_t k, double alpha, double beta,
            int64_t batch, const void *bias)
        : a(a), b(b), c(c), k(k), alpha(alpha), beta(beta), batch(batch), bias(bias)
    {}

    void *workspace = nullptr;
    size_t workspace_bytes = 0;
    bool rounded = false; /* round floats to TF32 first, like tensor cores */
    void *sums = nullptr; /* null, or receives the sum over k of each column of b */

    cudaError_t run() override
    {
        Watched watched;
        tell();
        if (workspace != nullptr)
            memset(workspace, 0xff, workspace_bytes); /* the library may overwrite it */
        try {
            for (int64_t i = 0; i < batch; i++) multiply(at(a, i), at(b, i), at(c, i));
            if (sums != nullptr) sum_up();
        } catch (const std::bad_alloc &) {
            return cudaErrorLaunchFailure;
        }
        return cudaSuccess;
    }

  private:
    /* Reports the memory accesses to the monitor. */
    void tell() const
    {
        const Uses uses("cuBLAS's product");
        const auto bytes = [](const Matrix &m) { return (int64_t)element_size(m.type); };
        for (int64_t i = 0; i < batch && monitor; i++) {
            for (const Matrix &m : {a, b})
                uses.reads(at(m, i), m.rows * bytes(m), m.columns, m.leading * bytes(m));
            if (beta != 0) uses.reads(at(c, i), c.rows * bytes(c), c.columns, c.leading * bytes(c));
            uses.writes(at(c, i), c.rows * bytes(c), c.columns, c.leading * bytes(c));
        }
        if (bias != nullptr) uses.reads(static_cast<const char *>(bias), c.rows * bytes(c));
        if (sums != nullptr) uses.writes(static_cast<char *>(sums), c.columns * bytes(c));
        uses.writes(static_cast<char *>(workspace), (int64_t)workspace_bytes);
    }

    static char *at(const Matrix &m, int64_t i)
    {
        return m.data + i * m.stride * (int64_t)element_size(m.type);
    }

    void sum_up() const
    {
        switch (b.type) {
        case CUDA_R_64F: sum_columns<double, double>(); break;
        case CUDA_R_32F: sum_columns<float, float>(); break;
        case CUDA_R_16F: sum_columns<__half, float>(); break;
        default: sum_columns<__nv_bfloat16, float>(); break;
        }
    }

    template <class T, class Sum> void sum_columns() const
    {
        const T *from = reinterpret_cast<const T *>(b.data);
        for (int64_t j = 0; j < c.columns; j++) {
            Sum sum = 0;
            for (int64_t i = 0; i < k; i++)
                sum += as_number(from[b.transposed ? i * b.leading + j : j * b.leading + i]);
            set(static_cast<T *>(sums) + j, sum);
        }
    }

    void multiply(char *pa, char *pb, char *pc) const
    {
        if (c.type == CUDA_R_64F)
            multiply_doubles((double *)pa, (double *)pb, (double *)pc);
        else if (a.type == CUDA_R_32F)
            multiply_singles((float *)pa, (float *)pb, (float *)pc);
        else if (a.type == CUDA_R_16F)
            multiply_halves<__half>(pa, pb, pc);
        else
            multiply_halves<__nv_bfloat16>(pa, pb, pc);
    }

    void multiply_doubles(const double *pa, const double *pb, double *pc) const
    {
        cblas_dgemm(CblasColMajor, operation(a), operation(b), (blasint)c.rows, (blasint)c.columns,
                    (blasint)k, alpha, pa, (blasint)a.leading, pb, (blasint)b.leading, beta, pc,
                    (blasint)c.leading);
        add_bias(static_cast<const double *>(bias), pc, c.leading);
    }

    /* bias: one number per row of the column-major result; null: none. */
    template <class B, class T> void add_bias(const B *numbers, T *to, int64_t leading) const
    {
        for (int64_t j = 0; numbers != nullptr && j < c.columns; j++)
            for (int64_t i = 0; i < c.rows; i++) to[j * leading + i] += as_number(numbers[i]);
    }

    void multiply_floats(const float *pa, int64_t lda, const float *pb, int64_t ldb, float *pc,
                         int64_t ldc) const
    {
        cblas_sgemm(CblasColMajor, operation(a), operation(b), (blasint)c.rows, (blasint)c.columns,
                    (blasint)k, (float)alpha, pa, (blasint)lda, pb, (blasint)ldb, (float)beta, pc,
                    (blasint)ldc);
    }

    static std::vector<float> as_tf32(const Matrix &m, const float *data)
    {
        std::vector<float> result((size_t)(m.rows * m.columns));
        widen<float>(m, reinterpret_cast<const char *>(data), result.data());
        for (float &x : result) x = tf32(x);
        return result;
    }

    void multiply_singles(const float *pa, const float *pb, float *pc) const
    {
        if (rounded) {
            const std::vector<float> near_a = as_tf32(a, pa), near_b = as_tf32(b, pb);
            multiply_floats(near_a.data(), std::max<int64_t>(a.rows, 1), near_b.data(),
                            std::max<int64_t>(b.rows, 1), pc, c.leading);
        } else {
            multiply_floats(pa, a.leading, pb, b.leading, pc, c.leading);
        }
        add_bias(static_cast<const float *>(bias), pc, c.leading);
    }

    template <class T> void multiply_halves(const char *pa, const char *pb, char *pc) const
    {
        std::vector<float> wide_a((size_t)(a.rows * a.columns)),
            wide_b((size_t)(b.rows * b.columns)), wide_c((size_t)(c.rows * c.columns));
        widen<T>(a, pa, wide_a.data());
        widen<T>(b, pb, wide_b.data());
        if (c.type == CUDA_R_32F) {
            multiply_floats(wide_a.data(), std::max<int64_t>(a.rows, 1), wide_b.data(),
                            std::max<int64_t>(b.rows, 1), (float *)pc, c.leading);
            return;
        }
        if (beta != 0) widen<T>(c, pc, wide_c.data());
        multiply_floats(wide_a.data(), std::max<int64_t>(a.rows, 1), wide_b.data(),
                        std::max<int64_t>(b.rows, 1), wide_c.data(), std::max<int64_t>(c.rows, 1));
        add_bias(static_cast<const T *>(bias), wide_c.data(), std::max<int64_t>(c.rows, 1));
        narrow<T>(c, wide_c.data(), pc);
    }

    static CBLAS_TRANSPOSE operation(const Matrix &m)
    {
        return m.transposed ? CblasTrans : CblasNoTrans;
    }

    Matrix a, b, c;
    int64_t k;
    double alpha, beta;
    int64_t batch;
    const void *bias; /* null: none */
};

inline Matrix operand(const void *data, cudaDataType type, cublasOperation_t op, int64_t rows,
                      int64_t columns, int64_t leading, int64_t stride)
{
    bool transposed = op == CUBLAS_OP_T;
    return {static_cast<char *>(const_cast<void *>(data)),
            type,
            transposed,
            transposed ? columns : rows,
            transposed ? rows : columns,
            leading,
            stride};
}

inline bool lies_on(int device, const Matrix &m, int64_t batch)
{
    const int64_t count = span(m.rows, m.columns, m.leading);
    const int64_t all = count > 0 && batch > 1 ? count + (batch - 1) * m.stride : count;
    switch (element_size(m.type)) {
    case 8: return on_device(device, (const double *)m.data, all);
    case 4: return on_device(device, (const float *)m.data, all);
    default: return on_device(device, (const uint16_t *)m.data, all);
    }
}

inline bool valid(int device, const Matrix &m, int64_t batch)
{
    return m.data != nullptr && m.rows >= 0 && m.columns >= 0 &&
           m.leading >= std::max<int64_t>(m.rows, 1) && m.stride >= 0 && lies_on(device, m, batch);
}

inline bool too_large(const Matrix &m)
{
    return m.rows > INT_MAX || m.columns > INT_MAX || m.leading > INT_MAX;
}

/* Queues a product that uses the given workspace. */
inline cublasStatus_t submit_product(cublasHandle_t handle, Product *work,
                                     cublasComputeType_t compute, void *workspace, size_t bytes)
{
    if (work == nullptr) return CUBLAS_STATUS_ALLOC_FAILED;
    work->workspace = workspace;
    work->rounded = compute == CUBLAS_COMPUTE_32F_FAST_TF32;
    work->workspace_bytes = workspace != nullptr ? std::min<size_t>(bytes, 1 << 16) : 0;
    return submit_function(work, handle->stream) == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                                : CUBLAS_STATUS_EXECUTION_FAILED;
}

} // namespace lt_sim

#endif
