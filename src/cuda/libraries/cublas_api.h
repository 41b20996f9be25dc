/* cublas_api.h - the part of cuBLAS that matmul.cu uses, declared here because the library is loaded when
 * the first product is asked for and its headers are not needed to build. Names, values and signatures are
 * cuBLAS's (those with _64 exist since cuBLAS 12); matrices are column-major.
 *
 * cublas_load.cu fills the table from the real library, sim/cublas.cpp from a stand-in over OpenBLAS. */
#ifndef LT_CUDA_CUBLAS_API_H
#define LT_CUDA_CUBLAS_API_H

#include <cuda_runtime.h>
#include <stdint.h>

#include "ltensor.h"

typedef struct cublasContext *cublasHandle_t;

typedef enum {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14,
    CUBLAS_STATUS_NOT_SUPPORTED = 15
} cublasStatus_t;

typedef enum { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 } cublasOperation_t;
/* Float products in full precision: TF32 only where it is asked for. */
typedef enum { CUBLAS_DEFAULT_MATH = 0 } cublasMath_t;
typedef enum {
    CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_64F = 70,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;
typedef enum { CUBLAS_GEMM_DEFAULT = -1 } cublasGemmAlgo_t;

typedef struct lt_cublas {
    cublasStatus_t (*create)(cublasHandle_t *handle);
    cublasStatus_t (*destroy)(cublasHandle_t handle);
    cublasStatus_t (*set_stream)(cublasHandle_t handle, cudaStream_t stream);
    cublasStatus_t (*set_math_mode)(cublasHandle_t handle, cublasMath_t mode);
    cublasStatus_t (*gemm)(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int64_t m,
                           int64_t n, int64_t k, const void *alpha, const void *a, cudaDataType a_type, int64_t lda,
                           const void *b, cudaDataType b_type, int64_t ldb, const void *beta, void *c,
                           cudaDataType c_type, int64_t ldc, cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
    cublasStatus_t (*gemm_batched)(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                   int64_t m, int64_t n, int64_t k, const void *alpha, const void *a,
                                   cudaDataType a_type, int64_t lda, long long stride_a, const void *b,
                                   cudaDataType b_type, int64_t ldb, long long stride_b, const void *beta, void *c,
                                   cudaDataType c_type, int64_t ldc, long long stride_c, int64_t batch,
                                   cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
} lt_cublas;

/* The table; loads the library at the first call. */
lt_status lt_cublas_get(const lt_cublas **table);

#endif
