/* cublaslt_api.h - the cuBLASLt functions and constants in use (vendor.h): matrix products with a
 * fused epilogue. cuBLAS depends on this library, so both are installed together; it accepts cuBLAS
 * handles. */
#ifndef LT_CUDA_CUBLASLT_API_H
#define LT_CUDA_CUBLASLT_API_H

#define LT_CUBLASLT_DESC_ATTRIBUTES(X)                                                             \
    X(CUBLASLT_MATMUL_DESC_TRANSA, 3)                                                              \
    X(CUBLASLT_MATMUL_DESC_TRANSB, 4)                                                              \
    X(CUBLASLT_MATMUL_DESC_EPILOGUE, 7)                                                            \
    X(CUBLASLT_MATMUL_DESC_BIAS_POINTER, 8)
/* BIAS adds the bias vector to each column of D. BGRADB writes the sum over k of each column of B
 * to the bias pointer. */
#define LT_CUBLASLT_EPILOGUES(X)                                                                   \
    X(CUBLASLT_EPILOGUE_DEFAULT, 1) X(CUBLASLT_EPILOGUE_BIAS, 4) X(CUBLASLT_EPILOGUE_BGRADB, 512)
#define LT_CUBLASLT_PREFERENCES(X)                                                                 \
    X(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, 1)                                                 \
    X(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, 5)                                               \
    X(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, 6)                                               \
    X(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, 7)                                               \
    X(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, 8)

#ifndef LT_VENDOR_HEADERS
typedef struct cublasLtContext *cublasLtHandle_t;
typedef struct cublasLtMatmulDescOpaque_t *cublasLtMatmulDesc_t;
typedef struct cublasLtMatrixLayoutOpaque_t *cublasLtMatrixLayout_t;
typedef struct cublasLtMatmulPreferenceOpaque_t *cublasLtMatmulPreference_t;
typedef enum { LT_CUBLASLT_DESC_ATTRIBUTES(LT_ENUM) } cublasLtMatmulDescAttributes_t;
typedef enum { LT_CUBLASLT_EPILOGUES(LT_ENUM) } cublasLtEpilogue_t;
typedef enum { LT_CUBLASLT_PREFERENCES(LT_ENUM) } cublasLtMatmulPreferenceAttributes_t;
typedef struct {
    uint64_t data[8];
} cublasLtMatmulAlgo_t;
typedef struct {
    cublasLtMatmulAlgo_t algo;
    size_t workspaceSize;
    cublasStatus_t state;
    float wavesCount;
    int reserved[4];
} cublasLtMatmulHeuristicResult_t;
#endif

#define LT_CUBLASLT_FUNCTIONS(X)                                                                   \
    X(desc_create, cublasLtMatmulDescCreate,                                                       \
      (cublasLtMatmulDesc_t * desc, cublasComputeType_t compute, cudaDataType_t scale))            \
    X(desc_destroy, cublasLtMatmulDescDestroy, (cublasLtMatmulDesc_t desc))                        \
    X(desc_set, cublasLtMatmulDescSetAttribute,                                                    \
      (cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute, const void *value,     \
       size_t bytes))                                                                              \
    X(layout_create, cublasLtMatrixLayoutCreate,                                                   \
      (cublasLtMatrixLayout_t * layout, cudaDataType type, uint64_t rows, uint64_t columns,        \
       int64_t leading))                                                                           \
    X(layout_destroy, cublasLtMatrixLayoutDestroy, (cublasLtMatrixLayout_t layout))                \
    X(preference_create, cublasLtMatmulPreferenceCreate,                                           \
      (cublasLtMatmulPreference_t * preference))                                                   \
    X(preference_destroy, cublasLtMatmulPreferenceDestroy,                                         \
      (cublasLtMatmulPreference_t preference))                                                     \
    X(preference_set, cublasLtMatmulPreferenceSetAttribute,                                        \
      (cublasLtMatmulPreference_t preference, cublasLtMatmulPreferenceAttributes_t attribute,      \
       const void *value, size_t bytes))                                                           \
    X(heuristic, cublasLtMatmulAlgoGetHeuristic,                                                   \
      (cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,               \
       cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,               \
       cublasLtMatmulPreference_t preference, int asked, cublasLtMatmulHeuristicResult_t *results, \
       int *found))                                                                                \
    X(matmul, cublasLtMatmul,                                                                      \
      (cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void *alpha, const void *a,       \
       cublasLtMatrixLayout_t of_a, const void *b, cublasLtMatrixLayout_t of_b, const void *beta,  \
       const void *c, cublasLtMatrixLayout_t of_c, void *d, cublasLtMatrixLayout_t of_d,           \
       const cublasLtMatmulAlgo_t *algorithm, void *workspace, size_t workspace_bytes,             \
       cudaStream_t stream))

struct lt_cublaslt {
#define X(field, symbol, arguments) cublasStatus_t(*field) arguments;
    LT_CUBLASLT_FUNCTIONS(X)
#undef X
};

#endif
