/* cublaslt.cpp - cuBLASLt for simulated GPUs: implements cublaslt_api.h (product.h).
 *
 * An algorithm is valid only for the product that the heuristic was queried for, and requires the
 * workspace size that it returned: matmul rejects other calls. */
#include "product.h"

#include <string.h>

using namespace lt_sim;

struct cublasLtMatmulDescOpaque_t {
    cublasComputeType_t compute;
    cudaDataType_t scale;
    cublasOperation_t transa = CUBLAS_OP_N, transb = CUBLAS_OP_N;
    uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    const void *bias = nullptr;
};
struct cublasLtMatrixLayoutOpaque_t {
    cudaDataType type;
    uint64_t rows, columns;
    int64_t leading;
};
struct cublasLtMatmulPreferenceOpaque_t {
    uint64_t workspace = 0;
    uint32_t alignment[4] = {256, 256, 256, 256};
};

namespace {

constexpr uint64_t workspace_bytes = 4096;

/* The product for which an algorithm was found, stored in the algorithm. */
struct Found {
    uint64_t kind, rows, columns, common, type, alignment;
};

Found describe(cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t c,
               uint64_t alignment)
{
    const uint64_t kind =
        (uint64_t)desc->epilogue * 4 + (uint64_t)desc->transa * 2 + (uint64_t)desc->transb;
    return {kind,
            c->rows,
            c->columns,
            desc->transa == CUBLAS_OP_T ? a->rows : a->columns,
            (uint64_t)a->type,
            alignment};
}

template <class T, class... A> cublasStatus_t make(T **out, A... members)
{
    if (begin(cudaErrorMemoryAllocation) != cudaSuccess) return CUBLAS_STATUS_ALLOC_FAILED;
    *out = new (std::nothrow) T{members...};
    return *out != nullptr ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

cublasStatus_t desc_create(cublasLtMatmulDesc_t *desc, cublasComputeType_t compute,
                           cudaDataType_t scale)
{
    if ((compute == CUBLAS_COMPUTE_64F) != (scale == CUDA_R_64F))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    return make(desc, compute, scale);
}

cublasStatus_t layout_create(cublasLtMatrixLayout_t *layout, cudaDataType type, uint64_t rows,
                             uint64_t columns, int64_t leading)
{
    if (rows == 0 || columns == 0 || leading < (int64_t)rows) return CUBLAS_STATUS_INVALID_VALUE;
    return make(layout, type, rows, columns, leading);
}

cublasStatus_t preference_create(cublasLtMatmulPreference_t *preference)
{
    return make(preference);
}

template <class T> cublasStatus_t destroy(T *object)
{
    delete object;
    return CUBLAS_STATUS_SUCCESS;
}

template <class T> cublasStatus_t store(T *to, const void *value, size_t bytes)
{
    if (value == nullptr || bytes != sizeof *to) return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(to, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t desc_set(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute,
                        const void *value, size_t bytes)
{
    switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA: return store(&desc->transa, value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSB: return store(&desc->transb, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE: return store(&desc->epilogue, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER: return store(&desc->bias, value, bytes);
    }
    return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t preference_set(cublasLtMatmulPreference_t preference,
                              cublasLtMatmulPreferenceAttributes_t attribute, const void *value,
                              size_t bytes)
{
    if (attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES)
        return store(&preference->workspace, value, bytes);
    const int operand = attribute - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES;
    return operand >= 0 && operand < 4 ? store(&preference->alignment[operand], value, bytes)
                                       : CUBLAS_STATUS_INVALID_VALUE;
}

/* Derives the matrices of a product from their layouts; false if the shapes or types do not match.
 */
bool relate(cublasLtMatmulDesc_t desc, const void *pa, cublasLtMatrixLayout_t a, const void *pb,
            cublasLtMatrixLayout_t b, void *pd, cublasLtMatrixLayout_t d, Matrix *ma, Matrix *mb,
            Matrix *md, int64_t *common)
{
    const bool ta = desc->transa == CUBLAS_OP_T, tb = desc->transb == CUBLAS_OP_T;
    *common = (int64_t)(ta ? a->rows : a->columns);
    if ((ta ? a->columns : a->rows) != d->rows || (tb ? b->rows : b->columns) != d->columns ||
        (int64_t)(tb ? b->columns : b->rows) != *common || a->type != b->type || a->type != d->type)
        return false;
    *ma = operand(pa, a->type, desc->transa, (int64_t)d->rows, *common, a->leading, 0);
    *mb = operand(pb, b->type, desc->transb, *common, (int64_t)d->columns, b->leading, 0);
    *md = operand(pd, d->type, CUBLAS_OP_N, (int64_t)d->rows, (int64_t)d->columns, d->leading, 0);
    return true;
}

cublasStatus_t heuristic(cublasLtHandle_t, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
                         cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t d,
                         cublasLtMatmulPreference_t preference, int asked,
                         cublasLtMatmulHeuristicResult_t *results, int *found)
{
    Matrix ma, mb, md;
    int64_t common;
    if (begin_on_device(cudaErrorUnknown) != cudaSuccess) return CUBLAS_STATUS_INTERNAL_ERROR;
    if (asked < 1 || results == nullptr || found == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    *found = 0;
    if (!relate(desc, nullptr, a, nullptr, b, nullptr, d, &ma, &mb, &md, &common))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (preference->workspace < workspace_bytes) return CUBLAS_STATUS_NOT_SUPPORTED;
    const Found what =
        describe(desc, a, d, *std::min_element(preference->alignment, preference->alignment + 4));
    *results = {};
    memcpy(results->algo.data, &what, sizeof what);
    results->workspaceSize = workspace_bytes;
    results->state = CUBLAS_STATUS_SUCCESS;
    *found = 1;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t matmul(cublasLtHandle_t light, cublasLtMatmulDesc_t desc, const void *alpha,
                      const void *a, cublasLtMatrixLayout_t of_a, const void *b,
                      cublasLtMatrixLayout_t of_b, const void *beta, const void *c,
                      cublasLtMatrixLayout_t, void *d, cublasLtMatrixLayout_t of_d,
                      const cublasLtMatmulAlgo_t *algorithm, void *workspace, size_t bytes,
                      cudaStream_t stream)
{
    /* the simulator uses one type for both */
    cublasHandle_t handle = reinterpret_cast<cublasHandle_t>(light);
    Matrix ma, mb, md;
    int64_t common;
    Found found;
    if (!usable(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (stream != handle->stream ||
        !relate(desc, a, of_a, b, of_b, d, of_d, &ma, &mb, &md, &common))
        return CUBLAS_STATUS_INVALID_VALUE;
    const int device = handle->device;
    const bool with_bias = desc->epilogue == CUBLASLT_EPILOGUE_BIAS,
               with_sums = desc->epilogue == CUBLASLT_EPILOGUE_BGRADB,
               with_row = with_bias || with_sums;
    if (!with_row && desc->epilogue != CUBLASLT_EPILOGUE_DEFAULT)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    const int64_t length = with_sums ? md.columns : md.rows;
    Matrix row = operand(desc->bias, md.type, CUBLAS_OP_N, length, 1, length, 0);
    if (c != d || !valid(device, ma, 1) || !valid(device, mb, 1) || !valid(device, md, 1) ||
        (with_row && !valid(device, row, 1)) || (uintptr_t)workspace % 256 != 0 ||
        bytes < workspace_bytes || !on_device(device, (const char *)workspace, (int64_t)bytes))
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(&found, algorithm->data, sizeof found);
    const Found here = describe(desc, of_a, of_d, found.alignment);
    if (memcmp(&found, &here, sizeof found) != 0) return CUBLAS_STATUS_NOT_SUPPORTED;
    for (const void *p : {a, b, (const void *)d, with_row ? desc->bias : a})
        if ((uintptr_t)p % found.alignment != 0) return CUBLAS_STATUS_INVALID_VALUE;
    const bool wide = desc->scale == CUDA_R_64F;
    const double scale =
        wide ? *static_cast<const double *>(alpha) : *static_cast<const float *>(alpha);
    const double keep =
        wide ? *static_cast<const double *>(beta) : *static_cast<const float *>(beta);
    Product *product = new (std::nothrow)
        Product(ma, mb, md, common, scale, keep, 1, with_bias ? desc->bias : nullptr);
    if (product != nullptr && with_sums) product->sums = const_cast<void *>(desc->bias);
    return submit_product(handle, product, desc->compute, workspace, bytes);
}

} // namespace

lt_cublaslt lt_sim_cublaslt(void)
{
    return {desc_create,       destroy, desc_set,       layout_create, destroy,
            preference_create, destroy, preference_set, heuristic,     matmul};
}
