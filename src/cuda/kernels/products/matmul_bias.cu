/* matmul_bias.cu - linear layers by cuBLASLt, in one kernel: a matrix product plus a bias that is
 * added to each row. For their backward: a product and the row sums of its first operand, which are
 * the bias gradient.
 *
 * Each thread caches cuBLASLt's descriptors and the chosen algorithm by shape. If there is no
 * algorithm, the bias is written to the result first and the product added; row sums are left to
 * the caller. */
#include "cuda.h"
#include "kernels/launch.cuh"
#include "libraries/blas.cuh"
#include "libraries/plans.cuh"
#include "matmul.cuh"

namespace {

constexpr uint64_t most_workspace = 32u << 20;

/* Key of the plan cache: everything that the choice of an algorithm depends on (plans.cuh). */
struct product_shape {
    int64_t m, n, k, lda, ldb, ldc;
    uint32_t device, type, compute, operations, alignment, epilogue;
};

class plan {
  public:
    plan() = default;
    plan(const plan &) = delete;
    plan &operator=(const plan &) = delete;
    ~plan()
    {
        if (desc != nullptr) (void)light->desc_destroy(desc);
        for (cublasLtMatrixLayout_t layout : {a, b, c})
            if (layout != nullptr) (void)light->layout_destroy(layout);
    }
    lt_status make(const lt_cublaslt *functions, cublasLtHandle_t handle, const product_shape &s);

    const lt_cublaslt *light = nullptr;
    cublasLtMatmulDesc_t desc = nullptr;
    cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;
    bool found = false;
    cublasLtMatmulHeuristicResult_t choice = {};
};

/* The largest power of two up to 256 that all addresses are multiples of. */
uint32_t alignment_of(std::initializer_list<const void *> addresses)
{
    uintptr_t all = 256;
    for (const void *p : addresses) all |= (uintptr_t)p;
    return (uint32_t)(all & (~all + 1));
}

/* Column-major: the first operand is B, the second A (matmul.cu). */
lt_status plan::make(const lt_cublaslt *functions, cublasLtHandle_t handle, const product_shape &s)
{
    const cudaDataType type = (cudaDataType)s.type;
    const uint32_t first = s.operations & 1, second = s.operations >> 1;
    const cublasOperation_t op_b = first ? CUBLAS_OP_T : CUBLAS_OP_N,
                            op_a = second ? CUBLAS_OP_T : CUBLAS_OP_N;
    light = functions;
    LT_CUBLAS_TRY(light->desc_create(&desc, (cublasComputeType_t)s.compute,
                                     type == CUDA_R_64F ? CUDA_R_64F : CUDA_R_32F));
    LT_CUBLAS_TRY(light->desc_set(desc, CUBLASLT_MATMUL_DESC_TRANSA, &op_b, sizeof op_b));
    LT_CUBLAS_TRY(light->desc_set(desc, CUBLASLT_MATMUL_DESC_TRANSB, &op_a, sizeof op_a));
    LT_CUBLAS_TRY(
        light->desc_set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &s.epilogue, sizeof s.epilogue));
    LT_CUBLAS_TRY(light->layout_create(&b, type, (uint64_t)(first ? s.k : s.n),
                                       (uint64_t)(first ? s.n : s.k), s.ldb));
    LT_CUBLAS_TRY(light->layout_create(&a, type, (uint64_t)(second ? s.m : s.k),
                                       (uint64_t)(second ? s.k : s.m), s.lda));
    LT_CUBLAS_TRY(light->layout_create(&c, type, (uint64_t)s.n, (uint64_t)s.m, s.ldc));
    cublasLtMatmulPreference_t preference;
    LT_CUBLAS_TRY(light->preference_create(&preference));
    cublasStatus_t status =
        light->preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most_workspace,
                              sizeof most_workspace);
    for (cublasLtMatmulPreferenceAttributes_t operand :
         {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
          CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
        if (status == CUBLAS_STATUS_SUCCESS)
            status = light->preference_set(preference, operand, &s.alignment, sizeof s.alignment);
    int count = 0;
    if (status == CUBLAS_STATUS_SUCCESS)
        status = light->heuristic(handle, desc, b, a, c, c, preference, 1, &choice, &count);
    (void)light->preference_destroy(preference);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED) return LT_OK;
    if (status != CUBLAS_STATUS_SUCCESS)
        return lt_cublas_failed(status, "cublasLtMatmulAlgoGetHeuristic");
    found = count > 0 && choice.state == CUBLAS_STATUS_SUCCESS;
    return LT_OK;
}

template <class T>
__global__ void __launch_bounds__(256)
    set_rows(T *to, const T *row, int64_t m, int64_t n, int64_t ld)
{
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < m * n;
         i += (int64_t)gridDim.x * blockDim.x)
        to[i / n * ld + i % n] = row[i % n];
}

/* T: unsigned type of the element's size; the elements are only copied. */
template <class T> void write_rows(const lt_gemm *g, cudaStream_t stream)
{
    const int64_t blocks = (g->m * g->n + 255) / 256;
    LT_LAUNCH((set_rows<T>), (unsigned)(blocks < 4096 ? blocks : 4096), 256, stream,
              static_cast<T *>(g->c), static_cast<const T *>(g->bias), g->m, g->n,
              lt_cuda_leading(g->ldc, g->n));
}

} // namespace

lt_status lt_cuda_gemm_bias(const lt_gemm *g, cudaStream_t stream, cudaDataType type)
{
    const bool wide = type == CUDA_R_64F;
    const float alpha_float = (float)g->alpha, zero_float = 0;
    const double zero = 0;
    /* our first operand is cuBLASLt's B */
    const void *row = g->sums != nullptr ? g->sums : g->bias;
    const product_shape s = {
        g->m,
        g->n,
        g->k,
        lt_cuda_leading(g->lda, g->trans_a ? g->m : g->k),
        lt_cuda_leading(g->ldb, g->trans_b ? g->k : g->n),
        lt_cuda_leading(g->ldc, g->n),
        (uint32_t)g->device.index,
        (uint32_t)type,
        (uint32_t)lt_cuda_compute_of(type),
        (g->trans_b ? 1u : 0u) | (g->trans_a ? 2u : 0u),
        alignment_of({g->a, g->b, g->c, row}),
        (uint32_t)(g->sums != nullptr ? CUBLASLT_EPILOGUE_BGRADB : CUBLASLT_EPILOGUE_BIAS)};
    lt_cuda_blas blas;
    LT_TRY(blas.open(g->device.index, stream));
    const lt_cublaslt *light = &blas.functions->light;
    cublasLtHandle_t handle =
        reinterpret_cast<cublasLtHandle_t>(blas.handle); /* a cuBLAS handle is valid here */
    plan *p = nullptr;
    static thread_local lt_cuda_plans<product_shape, plan> known;
    LT_TRY(known.find(
        s, [&](plan *fresh) { return fresh->make(light, handle, s); }, &p));
    if (!p->found && g->sums != nullptr)
        return lt_cuda_multiply(blas.functions, blas.handle, g, type);
    if (!p->found) {
        switch (lt_cuda_size_of(type)) {
        case 2: write_rows<uint16_t>(g, stream); break;
        case 4: write_rows<uint32_t>(g, stream); break;
        default: write_rows<uint64_t>(g, stream); break;
        }
        LT_TRY(lt_cuda_launched(g->device.index, stream, "addmm"));
        lt_gemm added = *g;
        added.bias = nullptr;
        added.beta = 1;
        return lt_cuda_multiply(blas.functions, blas.handle, &added, type);
    }
    lt_cuda_scratch workspace;
    const size_t bytes = p->choice.workspaceSize;
    if (bytes > 0) LT_TRY(workspace.take(g->device.index, bytes));
    LT_CUBLAS_TRY(light->desc_set(p->desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &row, sizeof row));
    const cublasStatus_t status =
        light->matmul(handle, p->desc, wide ? (const void *)&g->alpha : &alpha_float, g->b, p->b,
                      g->a, p->a, wide ? (const void *)&zero : &zero_float, g->c, p->c, g->c, p->c,
                      &p->choice.algo, bytes > 0 ? workspace.as<void>() : nullptr, bytes, stream);
    if (status != CUBLAS_STATUS_SUCCESS) return lt_cublas_failed(status, "cublasLtMatmul");
    if (g->sums != nullptr) *g->summed = true;
    return LT_OK;
}
