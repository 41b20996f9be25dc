/* cusparse_api.h - the functions and constants of cuSPARSE's generic API in use (vendor.h): the
 * product of a CSR matrix and a dense matrix. Descriptors are host objects, needed only during the
 * call. A new handle reads alpha and beta from host memory. CUDA 12 and 13 use the same soname. */
#ifndef LT_CUDA_CUSPARSE_API_H
#define LT_CUDA_CUSPARSE_API_H

#include <cuda_runtime.h>
#include <stdint.h>

#include "libraries/vendor.h"

#define LT_CUSPARSE_LIBRARY                                                                        \
    {                                                                                              \
        "cuSPARSE", "a product of a sparse matrix on a GPU", "libcusparse.so.12",                  \
            "libcusparse.so.12", "libcusparse.so", "nvidia-cusparse"                               \
    }

#define LT_CUSPARSE_STATUSES(X)                                                                    \
    X(CUSPARSE_STATUS_SUCCESS, 0)                                                                  \
    X(CUSPARSE_STATUS_NOT_INITIALIZED, 1)                                                          \
    X(CUSPARSE_STATUS_ALLOC_FAILED, 2)                                                             \
    X(CUSPARSE_STATUS_INVALID_VALUE, 3)                                                            \
    X(CUSPARSE_STATUS_ARCH_MISMATCH, 4)                                                            \
    X(CUSPARSE_STATUS_MAPPING_ERROR, 5)                                                            \
    X(CUSPARSE_STATUS_EXECUTION_FAILED, 6)                                                         \
    X(CUSPARSE_STATUS_INTERNAL_ERROR, 7)                                                           \
    X(CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED, 8)                                                \
    X(CUSPARSE_STATUS_ZERO_PIVOT, 9)                                                               \
    X(CUSPARSE_STATUS_NOT_SUPPORTED, 10)                                                           \
    X(CUSPARSE_STATUS_INSUFFICIENT_RESOURCES, 11)
#define LT_CUSPARSE_INDEX_TYPES(X) X(CUSPARSE_INDEX_32I, 2) X(CUSPARSE_INDEX_64I, 3)
#define LT_CUSPARSE_BASES(X)       X(CUSPARSE_INDEX_BASE_ZERO, 0) X(CUSPARSE_INDEX_BASE_ONE, 1)
#define LT_CUSPARSE_ORDERS(X)      X(CUSPARSE_ORDER_COL, 1) X(CUSPARSE_ORDER_ROW, 2)
#define LT_CUSPARSE_OPERATIONS(X)                                                                  \
    X(CUSPARSE_OPERATION_NON_TRANSPOSE, 0) X(CUSPARSE_OPERATION_TRANSPOSE, 1)
/* CSR_ALG3 is deterministic. */
#define LT_CUSPARSE_SPMM_ALGORITHMS(X) X(CUSPARSE_SPMM_ALG_DEFAULT, 0) X(CUSPARSE_SPMM_CSR_ALG3, 12)

#ifndef LT_VENDOR_HEADERS
typedef struct cusparseContext *cusparseHandle_t;
typedef struct cusparseSpMatDescr *cusparseSpMatDescr_t;
typedef struct cusparseDnMatDescr *cusparseDnMatDescr_t;
typedef struct cusparseSpMatDescr const *cusparseConstSpMatDescr_t;
typedef struct cusparseDnMatDescr const *cusparseConstDnMatDescr_t;
typedef enum { LT_CUSPARSE_STATUSES(LT_ENUM) } cusparseStatus_t;
typedef enum { LT_CUSPARSE_INDEX_TYPES(LT_ENUM) } cusparseIndexType_t;
typedef enum { LT_CUSPARSE_BASES(LT_ENUM) } cusparseIndexBase_t;
typedef enum { LT_CUSPARSE_ORDERS(LT_ENUM) } cusparseOrder_t;
typedef enum { LT_CUSPARSE_OPERATIONS(LT_ENUM) } cusparseOperation_t;
typedef enum { LT_CUSPARSE_SPMM_ALGORITHMS(LT_ENUM) } cusparseSpMMAlg_t;
#endif

#define LT_CUSPARSE_FUNCTIONS(X)                                                                   \
    X(create, cusparseCreate, (cusparseHandle_t * handle))                                         \
    X(set_stream, cusparseSetStream, (cusparseHandle_t handle, cudaStream_t stream))               \
    X(create_csr, cusparseCreateConstCsr,                                                          \
      (cusparseConstSpMatDescr_t * matrix, int64_t rows, int64_t columns, int64_t count,           \
       const void *begins, const void *places, const void *values,                                 \
       cusparseIndexType_t begins_type, cusparseIndexType_t places_type, cusparseIndexBase_t base, \
       cudaDataType type))                                                                         \
    X(destroy_sparse, cusparseDestroySpMat, (cusparseConstSpMatDescr_t matrix))                    \
    X(create_const_dense, cusparseCreateConstDnMat,                                                \
      (cusparseConstDnMatDescr_t * matrix, int64_t rows, int64_t columns, int64_t leading,         \
       const void *values, cudaDataType type, cusparseOrder_t order))                              \
    X(create_dense, cusparseCreateDnMat,                                                           \
      (cusparseDnMatDescr_t * matrix, int64_t rows, int64_t columns, int64_t leading,              \
       void *values, cudaDataType type, cusparseOrder_t order))                                    \
    X(destroy_dense, cusparseDestroyDnMat, (cusparseConstDnMatDescr_t matrix))                     \
    X(spmm_size, cusparseSpMM_bufferSize,                                                          \
      (cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,                \
       const void *alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,                \
       const void *beta, cusparseDnMatDescr_t c, cudaDataType compute,                             \
       cusparseSpMMAlg_t algorithm, size_t *bytes))                                                \
    X(spmm, cusparseSpMM,                                                                          \
      (cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,                \
       const void *alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,                \
       const void *beta, cusparseDnMatDescr_t c, cudaDataType compute,                             \
       cusparseSpMMAlg_t algorithm, void *work))

struct lt_cusparse {
#define X(field, symbol, arguments) cusparseStatus_t(*field) arguments;
    LT_CUSPARSE_FUNCTIONS(X)
#undef X
};

/* Returns the table; loads the library at the first call. */
lt_status lt_cusparse_get(const lt_cusparse **table);

#endif
