/* cudnn.h - shared by the stand-ins of cuDNN's parts: the handle, tensor descriptors, and
 * conversion of arrays to float or double, in which everything is computed. */
#ifndef LT_SIM_CUDNN_H
#define LT_SIM_CUDNN_H

#include "libraries/cudnn_api.h"
#include "sim/stand_in.h"

#include <cblas.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <string.h>

struct cudnnContext : lt_sim::LibraryHandle {};
struct cudnnTensorStruct {
    cudnnDataType_t type;
    int n = 0;
    int sizes[5], strides[5];
};

/* Checks at the start of a call; each condition is from cuDNN's documentation. */
#define NEED(condition, otherwise)                                                                 \
    do {                                                                                           \
        if (!(condition)) return otherwise;                                                        \
    } while (0)
#define BEGIN(handle)                                                                              \
    NEED(begin_on_device(cudaErrorUnknown) == cudaSuccess, CUDNN_STATUS_INTERNAL_ERROR);           \
    NEED(usable(handle), CUDNN_STATUS_NOT_INITIALIZED)

namespace lt_sim {

/* ---- descriptors ----------------------------------------------------------------------------- */

template <class T> cudnnStatus_t make(T **out)
{
    NEED(out != nullptr, CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
    NEED(begin(cudaErrorMemoryAllocation) == cudaSuccess,
         CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED);
    *out = new (std::nothrow) T();
    return *out != nullptr ? CUDNN_STATUS_SUCCESS
                           : CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
}

template <class T> cudnnStatus_t destroy(T *object)
{
    delete object;
    return CUDNN_STATUS_SUCCESS;
}

inline bool known(cudnnDataType_t type)
{
    return type == CUDNN_DATA_FLOAT || type == CUDNN_DATA_DOUBLE || type == CUDNN_DATA_HALF ||
           type == CUDNN_DATA_BFLOAT16;
}

inline bool dense(cudnnTensorDescriptor_t tensor)
{
    int64_t step = 1;
    for (int d = tensor->n; d-- > 0; step *= tensor->sizes[d])
        if (tensor->strides[d] != step) return false;
    return true;
}

/* Contiguous with channels last (NHWC). */
inline bool dense_channels_last(cudnnTensorDescriptor_t tensor)
{
    int64_t step = tensor->sizes[1];
    if (tensor->strides[1] != 1) return false;
    for (int d = tensor->n; d-- > 0;) {
        if (d == 1) continue;
        if (tensor->strides[d] != step) return false;
        step *= tensor->sizes[d];
    }
    return true;
}

/* ---- arrays as float or double --------------------------------------------------------------- */

template <class T> std::vector<T> read(const void *p, int64_t n, cudnnDataType_t type)
{
    std::vector<T> out((size_t)n);
    for (int64_t i = 0; i < n; i++) {
        switch (type) {
        case CUDNN_DATA_FLOAT: out[(size_t)i] = (T) static_cast<const float *>(p)[i]; break;
        case CUDNN_DATA_DOUBLE: out[(size_t)i] = (T) static_cast<const double *>(p)[i]; break;
        case CUDNN_DATA_HALF:
            out[(size_t)i] = (T)__half2float(static_cast<const __half *>(p)[i]);
            break;
        case CUDNN_DATA_BFLOAT16:
            out[(size_t)i] = (T)__bfloat162float(static_cast<const __nv_bfloat16 *>(p)[i]);
            break;
        }
    }
    return out;
}

template <class T>
void write(void *p, const std::vector<T> &from, cudnnDataType_t type, double alpha, double beta)
{
    const std::vector<T> old =
        beta != 0 ? read<T>(p, (int64_t)from.size(), type) : std::vector<T>();
    for (size_t i = 0; i < from.size(); i++) {
        const T value = (T)(alpha * from[i] + (beta != 0 ? beta * old[i] : 0));
        switch (type) {
        case CUDNN_DATA_FLOAT: static_cast<float *>(p)[i] = (float)value; break;
        case CUDNN_DATA_DOUBLE: static_cast<double *>(p)[i] = (double)value; break;
        case CUDNN_DATA_HALF: static_cast<__half *>(p)[i] = __float2half_rn((float)value); break;
        case CUDNN_DATA_BFLOAT16:
            static_cast<__nv_bfloat16 *>(p)[i] = __float2bfloat16_rn((float)value);
            break;
        }
    }
}

inline void product(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int64_t m, int64_t n, int64_t k,
                    const float *a, int64_t lda, const float *b, int64_t ldb, float beta, float *c)
{
    cblas_sgemm(CblasRowMajor, ta, tb, (blasint)m, (blasint)n, (blasint)k, 1, a, (blasint)lda, b,
                (blasint)ldb, beta, c, (blasint)n);
}
inline void product(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int64_t m, int64_t n, int64_t k,
                    const double *a, int64_t lda, const double *b, int64_t ldb, double beta,
                    double *c)
{
    cblas_dgemm(CblasRowMajor, ta, tb, (blasint)m, (blasint)n, (blasint)k, 1, a, (blasint)lda, b,
                (blasint)ldb, beta, c, (blasint)n);
}

inline int64_t bytes_of(int64_t count, cudnnDataType_t type)
{
    return count * (type == CUDNN_DATA_DOUBLE ? 8 : type == CUDNN_DATA_FLOAT ? 4 : 2);
}

/* Reports an operand to the monitor. A result is also read if beta is not 0. */
inline void tell(const Uses &uses, const void *p, int64_t count, cudnnDataType_t type,
                 bool is_result, double beta)
{
    const int64_t bytes = bytes_of(count, type);
    if (!is_result || beta != 0) uses.reads(static_cast<const char *>(p), bytes);
    if (is_result) uses.writes(static_cast<char *>(const_cast<void *>(p)), bytes);
}

inline bool lies(int device, const void *p, int64_t count, cudnnDataType_t type)
{
    switch (type) {
    case CUDNN_DATA_DOUBLE: return on_device(device, static_cast<const double *>(p), count);
    case CUDNN_DATA_FLOAT: return on_device(device, static_cast<const float *>(p), count);
    default: return on_device(device, static_cast<const uint16_t *>(p), count);
    }
}

inline cudnnStatus_t status_of(cudaError_t error)
{
    return error == cudaSuccess ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}

} // namespace lt_sim

#endif
