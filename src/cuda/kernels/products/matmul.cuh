/* matmul.cuh - shared by the matrix product files. */
#ifndef LT_CUDA_MATMUL_CUH
#define LT_CUDA_MATMUL_CUH

#include <algorithm>

#include "cuda.h"
#include "libraries/cublas_api.h"

/* A valid leading dimension for cuBLAS: a stored matrix of one row may have any row stride. */
static inline int64_t lt_cuda_leading(int64_t stride, int64_t columns)
{
    return std::max({stride, columns, (int64_t)1});
}

/* Half types accumulate in float; float products are rounded to TF32 if allowed. */
static inline cublasComputeType_t lt_cuda_compute_of(cudaDataType type)
{
    if (type == CUDA_R_64F) return CUBLAS_COMPUTE_64F;
    return type == CUDA_R_32F && lt_cuda_core->allow_tf32() ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                            : CUBLAS_COMPUTE_32F;
}

static inline size_t lt_cuda_size_of(cudaDataType type)
{
    return type == CUDA_R_64F ? 8 : type == CUDA_R_32F ? 4 : 2;
}

/* matmul.cu: product without bias. */
lt_status lt_cuda_multiply(const lt_cublas *cublas, cublasHandle_t handle, const lt_gemm *g,
                           cudaDataType type);
/* matmul_bias.cu: product with g->bias or g->sums. */
lt_status lt_cuda_gemm_bias(const lt_gemm *g, cudaStream_t stream, cudaDataType type);

#endif
