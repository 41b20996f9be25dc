/* cusparse.cpp - cuSPARSE for simulated GPUs: implements cusparse_api.h by plain loops
 * (stand_in.h).
 *
 * Both algorithms require a workspace, which a call overwrites with 0xFF. A row offset or column
 * index that is out of range results in cudaErrorIllegalAddress. */
#include "libraries/cusparse_api.h"
#include "stand_in.h"

#include <string.h>

using namespace lt_sim;

struct cusparseContext : LibraryHandle {};

struct cusparseSpMatDescr {
    int64_t rows, columns, count;
    const int64_t *begins, *places;
    const void *values;
    cudaDataType type;
};

struct cusparseDnMatDescr {
    int64_t rows, columns, leading;
    void *values;
    cudaDataType type;
};

namespace {

#define BEGIN(handle)                                                                              \
    do {                                                                                           \
        cusparseStatus_t begun_ = begin_call(handle);                                              \
        if (begun_ != CUSPARSE_STATUS_SUCCESS) return begun_;                                      \
    } while (0)
#define NEED(...)                                                                                  \
    do {                                                                                           \
        if (!(__VA_ARGS__)) return CUSPARSE_STATUS_INVALID_VALUE;                                  \
    } while (0)

cusparseStatus_t begin_call(cusparseHandle_t handle)
{
    if (begin_on_device(cudaErrorUnknown) != cudaSuccess) return CUSPARSE_STATUS_INTERNAL_ERROR;
    return usable(handle) ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_INITIALIZED;
}

cusparseStatus_t create(cusparseHandle_t *handle)
{
    if (begin_on_device(cudaErrorMemoryAllocation) != cudaSuccess)
        return CUSPARSE_STATUS_ALLOC_FAILED;
    NEED(handle != nullptr);
    if (capturing(current_device())) return CUSPARSE_STATUS_NOT_INITIALIZED;
    *handle = new (std::nothrow) cusparseContext;
    if (*handle == nullptr) return CUSPARSE_STATUS_ALLOC_FAILED;
    (*handle)->device = current_device();
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t set_stream(cusparseHandle_t handle, cudaStream_t stream)
{
    BEGIN(handle);
    CUstream_st *found = find_stream(stream);
    NEED(found != nullptr && found->device->index == handle->device);
    handle->stream = stream;
    return CUSPARSE_STATUS_SUCCESS;
}

/* ---- descriptors: host objects, independent of a device -------------------------------------- */

bool real(cudaDataType type) { return type == CUDA_R_32F || type == CUDA_R_64F; }

cusparseStatus_t create_csr(cusparseConstSpMatDescr_t *matrix, int64_t rows, int64_t columns,
                            int64_t count, const void *begins, const void *places,
                            const void *values, cusparseIndexType_t begins_type,
                            cusparseIndexType_t places_type, cusparseIndexBase_t base,
                            cudaDataType type)
{
    NEED(matrix != nullptr && rows >= 0 && columns >= 0 && count >= 0);
    NEED(begins != nullptr && (count == 0 || (places != nullptr && values != nullptr)));
    if (begins_type != CUSPARSE_INDEX_64I || places_type != CUSPARSE_INDEX_64I ||
        base != CUSPARSE_INDEX_BASE_ZERO || !real(type))
        return CUSPARSE_STATUS_NOT_SUPPORTED; /* by this stand-in */
    *matrix = new (std::nothrow) cusparseSpMatDescr{rows,
                                                    columns,
                                                    count,
                                                    static_cast<const int64_t *>(begins),
                                                    static_cast<const int64_t *>(places),
                                                    values,
                                                    type};
    return *matrix != nullptr ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_ALLOC_FAILED;
}

cusparseStatus_t destroy_sparse(cusparseConstSpMatDescr_t matrix)
{
    NEED(matrix != nullptr);
    delete matrix;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t create_dense(cusparseDnMatDescr_t *matrix, int64_t rows, int64_t columns,
                              int64_t leading, void *values, cudaDataType type,
                              cusparseOrder_t order)
{
    NEED(matrix != nullptr && rows >= 0 && columns >= 0 && values != nullptr);
    NEED(leading >= (order == CUSPARSE_ORDER_ROW ? columns : rows));
    if (order != CUSPARSE_ORDER_ROW || !real(type))
        return CUSPARSE_STATUS_NOT_SUPPORTED; /* by this stand-in */
    *matrix = new (std::nothrow) cusparseDnMatDescr{rows, columns, leading, values, type};
    return *matrix != nullptr ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_ALLOC_FAILED;
}

cusparseStatus_t create_const_dense(cusparseConstDnMatDescr_t *matrix, int64_t rows,
                                    int64_t columns, int64_t leading, const void *values,
                                    cudaDataType type, cusparseOrder_t order)
{
    return create_dense(const_cast<cusparseDnMatDescr_t *>(matrix), rows, columns, leading,
                        const_cast<void *>(values), type, order);
}

cusparseStatus_t destroy_dense(cusparseConstDnMatDescr_t matrix)
{
    NEED(matrix != nullptr);
    delete matrix;
    return CUSPARSE_STATUS_SUCCESS;
}

/* ---- the product ----------------------------------------------------------------------------- */

size_t room(const cusparseSpMatDescr &a) { return (size_t)(8 * (a.rows + 1)); }

cusparseStatus_t suits(cusparseOperation_t op_a, cusparseOperation_t op_b, const void *alpha,
                       cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b, const void *beta,
                       cusparseConstDnMatDescr_t c, cudaDataType compute)
{
    NEED(alpha != nullptr && beta != nullptr && a != nullptr && b != nullptr && c != nullptr);
    if (op_a != CUSPARSE_OPERATION_NON_TRANSPOSE || op_b != CUSPARSE_OPERATION_NON_TRANSPOSE)
        return CUSPARSE_STATUS_NOT_SUPPORTED; /* by this stand-in */
    NEED(a->columns == b->rows && a->rows == c->rows && b->columns == c->columns);
    if (a->type != compute || b->type != compute || c->type != compute)
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t spmm_size(cusparseHandle_t handle, cusparseOperation_t op_a,
                           cusparseOperation_t op_b, const void *alpha, cusparseConstSpMatDescr_t a,
                           cusparseConstDnMatDescr_t b, const void *beta, cusparseDnMatDescr_t c,
                           cudaDataType compute, cusparseSpMMAlg_t, size_t *bytes)
{
    BEGIN(handle);
    NEED(bytes != nullptr);
    const cusparseStatus_t status = suits(op_a, op_b, alpha, a, b, beta, c, compute);
    if (status == CUSPARSE_STATUS_SUCCESS) *bytes = room(*a);
    return status;
}

template <class T>
cudaError_t multiply(const Uses &uses, const cusparseSpMatDescr &a, const cusparseDnMatDescr &b,
                     const cusparseDnMatDescr &c, T alpha, T beta)
{
    const T *values = static_cast<const T *>(a.values), *in = static_cast<const T *>(b.values);
    T *out = static_cast<T *>(c.values);
    uses.reads(a.begins, a.rows + 1).reads(a.places, a.count).reads(values, a.count);
    for (int64_t i = 0; i < a.rows; i++) {
        if (a.begins[i] < 0 || a.begins[i] > a.begins[i + 1] || a.begins[i + 1] > a.count)
            return cudaErrorIllegalAddress;
        T *row = out + i * c.leading;
        if (beta != 0) uses.reads(row, c.columns);
        uses.writes(row, c.columns);
        for (int64_t j = 0; j < c.columns; j++) row[j] = beta != 0 ? beta * row[j] : 0;
        for (int64_t k = a.begins[i]; k < a.begins[i + 1]; k++) {
            if (a.places[k] < 0 || a.places[k] >= a.columns) return cudaErrorIllegalAddress;
            const T *from = in + a.places[k] * b.leading;
            uses.reads(from, c.columns);
            for (int64_t j = 0; j < c.columns; j++) row[j] += alpha * values[k] * from[j];
        }
    }
    return cudaSuccess;
}

template <class T>
cusparseStatus_t product(cusparseHandle_t handle, const cusparseSpMatDescr &a,
                         const cusparseDnMatDescr &b, const cusparseDnMatDescr &c, T alpha, T beta,
                         char *work)
{
    const auto matrix = [handle](const cusparseDnMatDescr &m) {
        return on_device(handle->device, static_cast<const T *>(m.values),
                         span(m.columns, m.rows, m.leading));
    };
    const int64_t bytes = (int64_t)room(a);
    NEED(on_device(handle->device, a.begins, a.rows + 1) &&
         on_device(handle->device, a.places, a.count) &&
         on_device(handle->device, static_cast<const T *>(a.values), a.count));
    NEED(matrix(b) && matrix(c) && on_device(handle->device, work, bytes));
    const cudaError_t error = queue(handle, "cusparseSpMM", [=](const Uses &uses) {
        uses.writes(work, bytes);
        memset(work, 0xff, (size_t)bytes);
        return multiply<T>(uses, a, b, c, alpha, beta);
    });
    return error == cudaSuccess ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_EXECUTION_FAILED;
}

cusparseStatus_t spmm(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                      const void *alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                      const void *beta, cusparseDnMatDescr_t c, cudaDataType compute,
                      cusparseSpMMAlg_t, void *work)
{
    BEGIN(handle);
    const cusparseStatus_t status = suits(op_a, op_b, alpha, a, b, beta, c, compute);
    if (status != CUSPARSE_STATUS_SUCCESS) return status;
    if (compute == CUDA_R_64F)
        return product(handle, *a, *b, *c, *static_cast<const double *>(alpha),
                       *static_cast<const double *>(beta), static_cast<char *>(work));
    return product(handle, *a, *b, *c, *static_cast<const float *>(alpha),
                   *static_cast<const float *>(beta), static_cast<char *>(work));
}

} // namespace

lt_status lt_cusparse_get(const lt_cusparse **table)
{
    static const lt_cusparse functions = {create,         set_stream,         create_csr,
                                          destroy_sparse, create_const_dense, create_dense,
                                          destroy_dense,  spmm_size,          spmm};
    *table = &functions;
    return LT_OK;
}
