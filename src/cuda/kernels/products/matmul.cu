/* matmul.cu - matrix products of floating dtypes, by cuBLAS.
 *
 * cuBLAS is column-major: a row-major C = A B is the column-major C' = B' A', so the operands are
 * swapped and nothing is copied. Half types accumulate in float; float products are rounded to TF32
 * only if the user allowed it. */
#include "libraries/blas.cuh"
#include "matmul.cuh"

lt_status lt_cuda_multiply(const lt_cublas *cublas, cublasHandle_t handle, const lt_gemm *g,
                           cudaDataType type)
{
    const bool wide = type == CUDA_R_64F;
    const cublasComputeType_t compute = lt_cuda_compute_of(type);
    const cudaDataType result = g->wide_result && !wide ? CUDA_R_32F : type;
    const float alpha_float = (float)g->alpha, beta_float = (float)g->beta;
    const void *alpha = wide ? (const void *)&g->alpha : &alpha_float;
    const void *beta = wide ? (const void *)&g->beta : &beta_float;
    const cublasOperation_t op_a = g->trans_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasOperation_t op_b = g->trans_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    const int64_t lda = lt_cuda_leading(g->lda, g->trans_a ? g->m : g->k);
    const int64_t ldb = lt_cuda_leading(g->ldb, g->trans_b ? g->k : g->n);
    const int64_t ldc = lt_cuda_leading(g->ldc, g->n);
    /* If k = 0, the operands are empty and their addresses may be null. */
    const void *a = g->k > 0 ? g->a : g->c, *b = g->k > 0 ? g->b : g->c;
    if (g->batch == 1)
        LT_CUBLAS_TRY(cublas->gemm(handle, op_b, op_a, g->n, g->m, g->k, alpha, b, type, ldb, a,
                                   type, lda, beta, g->c, result, ldc, compute,
                                   CUBLAS_GEMM_DEFAULT));
    else
        LT_CUBLAS_TRY(cublas->gemm_batched(handle, op_b, op_a, g->n, g->m, g->k, alpha, b, type,
                                           ldb, g->batch_b, a, type, lda, g->batch_a, beta, g->c,
                                           result, ldc, g->batch_c, g->batch, compute,
                                           CUBLAS_GEMM_DEFAULT));
    return LT_OK;
}

lt_status lt_cuda_gemm(const lt_gemm *g)
{
    cudaStream_t stream;
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
    if (g->bias != nullptr || g->sums != nullptr) {
        LT_TRY(lt_cuda_gemm_bias(g, stream, type));
        return lt_cuda_launched(g->device.index, stream, "matrix product");
    }
    lt_cuda_blas blas;
    LT_TRY(blas.open(g->device.index, stream));
    LT_TRY(lt_cuda_multiply(blas.functions, blas.handle, g, type));
    return lt_cuda_launched(g->device.index, stream, "matrix product");
}
