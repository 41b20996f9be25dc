/* cublas_api.h - the cuBLAS functions and constants in use (vendor.h). Functions with _64 exist
 * since cuBLAS 12. Matrices are column-major; arrays of pointers to the matrices of a batch are in
 * device memory. */
#ifndef LT_CUDA_CUBLAS_API_H
#define LT_CUDA_CUBLAS_API_H

#include <cuda_runtime.h>
#include <stdint.h>

#include "libraries/vendor.h"

#define LT_CUBLAS_LIBRARY                                                                          \
    {                                                                                              \
        "cuBLAS", "a matrix product on a GPU", "libcublas.so.13", "libcublas.so.12",               \
            "libcublas.so", "nvidia-cublas"                                                        \
    }

#define LT_CUBLAS_STATUSES(X)                                                                      \
    X(CUBLAS_STATUS_SUCCESS, 0)                                                                    \
    X(CUBLAS_STATUS_NOT_INITIALIZED, 1)                                                            \
    X(CUBLAS_STATUS_ALLOC_FAILED, 3)                                                               \
    X(CUBLAS_STATUS_INVALID_VALUE, 7)                                                              \
    X(CUBLAS_STATUS_ARCH_MISMATCH, 8)                                                              \
    X(CUBLAS_STATUS_MAPPING_ERROR, 11)                                                             \
    X(CUBLAS_STATUS_EXECUTION_FAILED, 13)                                                          \
    X(CUBLAS_STATUS_INTERNAL_ERROR, 14)                                                            \
    X(CUBLAS_STATUS_NOT_SUPPORTED, 15)
#define LT_CUBLAS_OPERATIONS(X) X(CUBLAS_OP_N, 0) X(CUBLAS_OP_T, 1)
#define LT_CUBLAS_SIDES(X)      X(CUBLAS_SIDE_LEFT, 0) X(CUBLAS_SIDE_RIGHT, 1)
#define LT_CUBLAS_FILLS(X)      X(CUBLAS_FILL_MODE_LOWER, 0) X(CUBLAS_FILL_MODE_UPPER, 1)
#define LT_CUBLAS_DIAGONALS(X)  X(CUBLAS_DIAG_NON_UNIT, 0) X(CUBLAS_DIAG_UNIT, 1)
/* Full precision for float products; TF32 only if the compute type requests it. */
#define LT_CUBLAS_MATHS(X) X(CUBLAS_DEFAULT_MATH, 0)
#define LT_CUBLAS_COMPUTATIONS(X)                                                                  \
    X(CUBLAS_COMPUTE_32F, 68) X(CUBLAS_COMPUTE_64F, 70) X(CUBLAS_COMPUTE_32F_FAST_TF32, 77)
#define LT_CUBLAS_ALGORITHMS(X) X(CUBLAS_GEMM_DEFAULT, -1)

#ifndef LT_VENDOR_HEADERS
typedef struct cublasContext *cublasHandle_t;
typedef enum { LT_CUBLAS_STATUSES(LT_ENUM) } cublasStatus_t;
typedef enum { LT_CUBLAS_OPERATIONS(LT_ENUM) } cublasOperation_t;
typedef enum { LT_CUBLAS_SIDES(LT_ENUM) } cublasSideMode_t;
typedef enum { LT_CUBLAS_FILLS(LT_ENUM) } cublasFillMode_t;
typedef enum { LT_CUBLAS_DIAGONALS(LT_ENUM) } cublasDiagType_t;
typedef enum { LT_CUBLAS_MATHS(LT_ENUM) } cublasMath_t;
typedef enum { LT_CUBLAS_COMPUTATIONS(LT_ENUM) } cublasComputeType_t;
typedef enum { LT_CUBLAS_ALGORITHMS(LT_ENUM) } cublasGemmAlgo_t;
#endif

#include "libraries/cublaslt_api.h"

#define LT_CUBLAS_FUNCTIONS(X)                                                                     \
    X(create, cublasCreate_v2, (cublasHandle_t * handle))                                          \
    X(destroy, cublasDestroy_v2, (cublasHandle_t handle))                                          \
    X(set_stream, cublasSetStream_v2, (cublasHandle_t handle, cudaStream_t stream))                \
    X(set_workspace, cublasSetWorkspace_v2,                                                        \
      (cublasHandle_t handle, void *workspace, size_t bytes))                                      \
    X(set_math_mode, cublasSetMathMode, (cublasHandle_t handle, cublasMath_t mode))                \
    X(gemm, cublasGemmEx_64,                                                                       \
      (cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int64_t m,       \
       int64_t n, int64_t k, const void *alpha, const void *a, cudaDataType a_type, int64_t lda,   \
       const void *b, cudaDataType b_type, int64_t ldb, const void *beta, void *c,                 \
       cudaDataType c_type, int64_t ldc, cublasComputeType_t compute, cublasGemmAlgo_t algorithm)) \
    X(gemm_batched, cublasGemmStridedBatchedEx_64,                                                 \
      (cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int64_t m,       \
       int64_t n, int64_t k, const void *alpha, const void *a, cudaDataType a_type, int64_t lda,   \
       long long stride_a, const void *b, cudaDataType b_type, int64_t ldb, long long stride_b,    \
       const void *beta, void *c, cudaDataType c_type, int64_t ldc, long long stride_c,            \
       int64_t batch, cublasComputeType_t compute, cublasGemmAlgo_t algorithm))

/* Functions for float (S) and double (D). */
#define LT_CUBLAS_REAL_FUNCTIONS(X, S, real)                                                       \
    X(trsm, cublas##S##trsm_v2,                                                                    \
      (cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,                        \
       cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const real *alpha,            \
       const real *a, int lda, real *b, int ldb))                                                  \
    X(trsm_batched, cublas##S##trsmBatched,                                                        \
      (cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,                        \
       cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const real *alpha,            \
       const real *const *a, int lda, real *const *b, int ldb, int batch))                         \
    X(getrf_batched, cublas##S##getrfBatched,                                                      \
      (cublasHandle_t handle, int n, real *const *a, int lda, int *pivots, int *infos, int batch)) \
    X(getrs_batched, cublas##S##getrsBatched,                                                      \
      (cublasHandle_t handle, cublasOperation_t trans, int n, int columns, const real *const *a,   \
       int lda, const int *pivots, real *const *b, int ldb, int *info_on_host, int batch))         \
    X(geqrf_batched, cublas##S##geqrfBatched,                                                      \
      (cublasHandle_t handle, int m, int n, real *const *a, int lda, real *const *tau,             \
       int *info_on_host, int batch))

template <class T> struct lt_cublas_real {
#define X(field, symbol, arguments) cublasStatus_t(*field) arguments;
    LT_CUBLAS_REAL_FUNCTIONS(X, , T)
#undef X
};

struct lt_cublas {
#define X(field, symbol, arguments) cublasStatus_t(*field) arguments;
    LT_CUBLAS_FUNCTIONS(X)
#undef X
    lt_cublas_real<float> s;
    lt_cublas_real<double> d;
    lt_cublaslt light;
    const lt_cublas_real<float> &of(float) const { return s; }
    const lt_cublas_real<double> &of(double) const { return d; }
};

/* Returns the table; loads the library at the first call. */
lt_status lt_cublas_get(const lt_cublas **table);

#endif
