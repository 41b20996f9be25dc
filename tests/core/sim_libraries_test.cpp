/* sim_libraries_test.cpp - the simulation's stand-ins for NVIDIA's libraries refuse what the libraries' documentation forbids:
 * each test makes a call that works, and then the same with one argument wrong. */
#include "libraries/cublas_api.h"
#include "libraries/cudnn_api.h"
#include "libraries/cudnn_graph_api.h"
#include "libraries/cudnn_rnn_api.h"
#include "libraries/cufft_api.h"
#include "libraries/cusolver_api.h"
#include "libraries/cusparse_api.h"
#include "sim/sim.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

extern "C" {
#include <cmocka.h>
}

#include <vector>

#define OK(call) assert_int_equal(call, cudaSuccess)

namespace {

cudaStream_t new_stream()
{
    cudaStream_t stream;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

template <class T> T *device_new(const std::vector<T> &values)
{
    T *p = nullptr;
    OK(cudaMalloc(&p, values.size() * sizeof(T) + sizeof(T)));
    OK(cudaMemcpy(p, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return p;
}

template <class T> std::vector<T> host(const T *p, size_t n)
{
    std::vector<T> values(n);
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(values.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
}

/* An address within p's allocation at which no element may begin. */
template <class T> T *askew(T *p) { return reinterpret_cast<T *>(reinterpret_cast<char *>(p) + 1); }

/* ---- cuBLAS ----------------------------------------------------------------------------------------------------- */

struct Blas {
    const lt_cublas *f = nullptr;
    cublasHandle_t handle = nullptr;
    cudaStream_t stream = new_stream();
    Blas()
    {
        assert_int_equal(lt_cublas_get(&f), LT_OK);
        assert_int_equal(f->create(&handle), CUBLAS_STATUS_SUCCESS);
        assert_int_equal(f->set_stream(handle, stream), CUBLAS_STATUS_SUCCESS);
    }
    ~Blas() { assert_int_equal(f->destroy(handle), CUBLAS_STATUS_SUCCESS); }
};

void test_products(void **)
{
    Blas blas;
    float one = 1, zero = 0;
    float *a = device_new<float>({1, 2, 3, 4}), *c = device_new<float>({0, 0, 0, 0});
    const auto gemm = [&](cublasHandle_t handle, const float *from, int64_t lda, float *to,
                          int64_t ldc) {
        return blas.f->gemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, 2, 2, 2, &one, from, CUDA_R_32F, lda,
                            from, CUDA_R_32F, 2, &zero, to, CUDA_R_32F, ldc, CUBLAS_COMPUTE_32F,
                            CUBLAS_GEMM_DEFAULT);
    };
    assert_int_equal(gemm(blas.handle, a, 2, c, 2), CUBLAS_STATUS_SUCCESS);
    assert_true((host(c, 4) == std::vector<float>{10, 14, 14, 20}));
    assert_int_equal(gemm(nullptr, a, 2, c, 2), CUBLAS_STATUS_NOT_INITIALIZED);
    assert_int_equal(gemm(blas.handle, a, 1, c, 2), CUBLAS_STATUS_INVALID_VALUE);
    assert_int_equal(gemm(blas.handle, a, 2, c, 1), CUBLAS_STATUS_INVALID_VALUE);
    assert_int_equal(gemm(blas.handle, &one, 2, c, 2),
                     CUBLAS_STATUS_INVALID_VALUE); /* of the host */
    assert_int_equal(gemm(blas.handle, askew(a), 2, c, 2), CUBLAS_STATUS_INVALID_VALUE);
    cudaStream_t gone = new_stream();
    OK(cudaStreamDestroy(gone));
    assert_int_equal(blas.f->set_stream(blas.handle, gone), CUBLAS_STATUS_INVALID_VALUE);
    assert_int_equal(blas.f->set_workspace(blas.handle, askew(a), 4), CUBLAS_STATUS_INVALID_VALUE);
}

/* Tensor cores: a product of bfloat16 is summed in float and rounded once; TF32 takes ten bits of each factor. */
void test_roundings(void **)
{
    Blas blas;
    float one = 1, zero = 0;
    const __nv_bfloat16 unit = __float2bfloat16_rn(1), part = __float2bfloat16_rn(1.0f / 256);
    __nv_bfloat16 *row = device_new<__nv_bfloat16>({unit, part, part}),
                  *ones = device_new<__nv_bfloat16>({unit, unit, unit}),
                  *sum = device_new<__nv_bfloat16>({unit});
    assert_int_equal(blas.f->gemm(blas.handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 3, &one, row,
                                  CUDA_R_16BF, 1, ones, CUDA_R_16BF, 3, &zero, sum, CUDA_R_16BF, 1,
                                  CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
                     CUBLAS_STATUS_SUCCESS);
    assert_true(__bfloat162float(host(sum, 1)[0]) == 1 + 1.0f / 128); /* 1, were each sum rounded */
    const float fine = 1 + 1.0f / 4096;
    float *a = device_new<float>({fine}), *b = device_new<float>({1}), *c = device_new<float>({0});
    for (auto compute : {CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_FAST_TF32}) {
        assert_int_equal(blas.f->gemm(blas.handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, a,
                                      CUDA_R_32F, 1, b, CUDA_R_32F, 1, &zero, c, CUDA_R_32F, 1,
                                      compute, CUBLAS_GEMM_DEFAULT),
                         CUBLAS_STATUS_SUCCESS);
        assert_true(host(c, 1)[0] == (compute == CUBLAS_COMPUTE_32F ? fine : 1));
    }
}

void test_batches(void **)
{
    Blas blas;
    double *a = device_new<double>({4, 2, 2, 3, 1, 0, 0, 1}), *b = device_new<double>({2, 1, 5, 6});
    double **matrices = device_new<double *>({a, a + 4}),
           **right = device_new<double *>({b, b + 2});
    int *pivots = device_new<int>({0, 0, 0, 0}), *infos = device_new<int>({7, 7}), info = 7;
    assert_int_equal(blas.f->d.getrf_batched(blas.handle, 2, matrices, 2, pivots, infos, 2),
                     CUBLAS_STATUS_SUCCESS);
    assert_true((host(infos, 2) == std::vector<int>{0, 0}));
    assert_int_equal(blas.f->d.getrs_batched(blas.handle, CUBLAS_OP_N, 2, 1, matrices, 2, pivots,
                                             right, 2, &info, 2),
                     CUBLAS_STATUS_SUCCESS);
    assert_int_equal(info, 0);
    assert_true((host(b, 4) == std::vector<double>{0.5, 0, 5, 6}));
    assert_int_equal(blas.f->d.getrf_batched(blas.handle, 2, matrices, 1, pivots, infos, 2),
                     CUBLAS_STATUS_INVALID_VALUE);
    assert_int_equal(blas.f->d.getrf_batched(blas.handle, 2, &matrices[0], 2, pivots, &info, 2),
                     CUBLAS_STATUS_INVALID_VALUE);
    assert_int_equal(blas.f->d.getrs_batched(blas.handle, CUBLAS_OP_N, 2, 1, matrices, 2, pivots,
                                             right, 1, &info, 2),
                     CUBLAS_STATUS_INVALID_VALUE);
    assert_int_equal(info, -8); /* the argument */
    assert_int_equal(blas.f->d.getrs_batched(blas.handle, CUBLAS_OP_N, 2, 1, matrices, 2, pivots,
                                             right, 2, infos, 2),
                     CUBLAS_STATUS_INVALID_VALUE); /* this info is of the host */
}

/* ---- cuBLASLt ------------------------------------------------------------------------------------------------------- */

void test_biased_products(void **)
{
    Blas blas;
    const lt_cublaslt &light = blas.f->light;
    cublasLtHandle_t handle = reinterpret_cast<cublasLtHandle_t>(blas.handle);
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t square, other;
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t result;
    float *a = device_new<float>({1, 2, 3, 4}), *d = device_new<float>({0, 0, 0, 0}),
          *bias = device_new<float>({100, 200});
    char *workspace = device_new<char>(std::vector<char>(1 << 16));
    const uint32_t epilogue = CUBLASLT_EPILOGUE_BIAS;
    const uint64_t room = 1 << 16;
    const float one = 1, zero = 0;
    int found = 0;
    assert_int_equal(light.desc_create(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F),
                     CUBLAS_STATUS_SUCCESS);
    assert_int_equal(
        light.desc_set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue),
        CUBLAS_STATUS_SUCCESS);
    assert_int_equal(light.desc_set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, 1),
                     CUBLAS_STATUS_INVALID_VALUE);
    assert_int_equal(light.desc_set(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias),
                     CUBLAS_STATUS_SUCCESS);
    assert_int_equal(light.layout_create(&square, CUDA_R_32F, 2, 2, 1),
                     CUBLAS_STATUS_INVALID_VALUE);
    assert_int_equal(light.layout_create(&square, CUDA_R_32F, 2, 2, 2), CUBLAS_STATUS_SUCCESS);
    assert_int_equal(light.layout_create(&other, CUDA_R_32F, 2, 1, 2), CUBLAS_STATUS_SUCCESS);
    assert_int_equal(light.preference_create(&preference), CUBLAS_STATUS_SUCCESS);
    const auto choose = [&](cublasLtMatrixLayout_t of_b, cublasLtMatrixLayout_t of_d) {
        return light.heuristic(handle, desc, square, of_b, of_d, of_d, preference, 1, &result,
                               &found);
    };
    assert_int_equal(choose(square, square), CUBLAS_STATUS_NOT_SUPPORTED); /* without a workspace */
    assert_int_equal(light.preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                          &room, sizeof room),
                     CUBLAS_STATUS_SUCCESS);
    assert_int_equal(choose(other, square), CUBLAS_STATUS_INVALID_VALUE);
    assert_int_equal(choose(square, square), CUBLAS_STATUS_SUCCESS);
    assert_int_equal(found, 1);
    const auto matmul = [&](const float *from, cublasLtMatrixLayout_t of_b,
                            cublasLtMatrixLayout_t of_d, void *work, size_t bytes,
                            cudaStream_t stream) {
        return light.matmul(handle, desc, &one, from, square, a, of_b, &zero, d, of_d, d, of_d,
                            &result.algo, work, bytes, stream);
    };
    assert_int_equal(matmul(a, square, square, workspace, result.workspaceSize, blas.stream),
                     CUBLAS_STATUS_SUCCESS);
    assert_true((host(d, 4) == std::vector<float>{107, 210, 115, 222}));
    assert_int_equal(matmul(a, square, square, workspace, result.workspaceSize - 1, blas.stream),
                     CUBLAS_STATUS_INVALID_VALUE);
    assert_int_equal(matmul(a, square, square, askew(workspace), result.workspaceSize, blas.stream),
                     CUBLAS_STATUS_INVALID_VALUE);
    assert_int_equal(matmul(askew(a), square, square, workspace, room, blas.stream),
                     CUBLAS_STATUS_INVALID_VALUE);
    assert_int_equal(matmul(a, other, other, workspace, room, blas.stream),
                     CUBLAS_STATUS_NOT_SUPPORTED); /* the algorithm is another's */
    /* The sums of B's columns in place of what is added. */
    const uint32_t summing = CUBLASLT_EPILOGUE_BGRADB;
    float *sums = device_new<float>({0, 0});
    assert_int_equal(light.desc_set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &summing, sizeof summing),
                     CUBLAS_STATUS_SUCCESS);
    assert_int_equal(light.desc_set(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &sums, sizeof sums),
                     CUBLAS_STATUS_SUCCESS);
    assert_int_equal(matmul(a, square, square, workspace, room, blas.stream),
                     CUBLAS_STATUS_NOT_SUPPORTED); /* the algorithm is for another ending */
    assert_int_equal(choose(square, square), CUBLAS_STATUS_SUCCESS);
    assert_int_equal(matmul(a, square, square, workspace, room, blas.stream),
                     CUBLAS_STATUS_SUCCESS);
    assert_true((host(d, 4) == std::vector<float>{7, 10, 15, 22}));
    assert_true((host(sums, 2) == std::vector<float>{3, 7}));
    for (cublasLtMatrixLayout_t layout : {square, other})
        assert_int_equal(light.layout_destroy(layout), CUBLAS_STATUS_SUCCESS);
    assert_int_equal(light.preference_destroy(preference), CUBLAS_STATUS_SUCCESS);
    assert_int_equal(light.desc_destroy(desc), CUBLAS_STATUS_SUCCESS);
}

/* ---- cuSOLVER ------------------------------------------------------------------------------------------------------- */

struct Solver {
    const lt_cusolver *f = nullptr;
    cusolverDnHandle_t handle = nullptr;
    cudaStream_t stream = new_stream();
    Solver()
    {
        assert_int_equal(lt_cusolver_get(&f), LT_OK);
        assert_int_equal(f->create(&handle), CUSOLVER_STATUS_SUCCESS);
        assert_int_equal(f->set_stream(handle, stream), CUSOLVER_STATUS_SUCCESS);
    }
    ~Solver() { assert_int_equal(f->destroy(handle), CUSOLVER_STATUS_SUCCESS); }
};

void test_factors(void **)
{
    Solver solver;
    const lt_cusolver_real<double> &f = solver.f->d;
    double *a = device_new<double>({4, 2, 2, 3}),
           *work = device_new<double>(std::vector<double>(1000));
    int *pivots = device_new<int>({0, 0}), *info = device_new<int>({7}), size = 0;
    assert_int_equal(f.potrf_size(solver.handle, CUBLAS_FILL_MODE_LOWER, 2, a, 1, &size),
                     CUSOLVER_STATUS_INVALID_VALUE);
    assert_int_equal(f.potrf_size(nullptr, CUBLAS_FILL_MODE_LOWER, 2, a, 2, &size),
                     CUSOLVER_STATUS_NOT_INITIALIZED);
    assert_int_equal(f.potrf_size(solver.handle, CUBLAS_FILL_MODE_LOWER, 2, a, 2, &size),
                     CUSOLVER_STATUS_SUCCESS);
    const auto potrf = [&](double *matrix, int lda, double *room, int elements, int *told) {
        return f.potrf(solver.handle, CUBLAS_FILL_MODE_LOWER, 2, matrix, lda, room, elements, told);
    };
    assert_int_equal(potrf(a, 1, work, size, info), CUSOLVER_STATUS_INVALID_VALUE);
    assert_int_equal(potrf(a, 2, work, size - 1, info), CUSOLVER_STATUS_INVALID_VALUE);
    assert_int_equal(potrf(a, 2, nullptr, size, info), CUSOLVER_STATUS_INVALID_VALUE);
    assert_int_equal(potrf(askew(a), 2, work, size, info), CUSOLVER_STATUS_INVALID_VALUE);
    assert_int_equal(potrf(a, 2, work, size, &size),
                     CUSOLVER_STATUS_INVALID_VALUE); /* info of the host */
    assert_int_equal(potrf(a, 2, work, size, info), CUSOLVER_STATUS_SUCCESS);
    assert_true(host(a, 1)[0] == 2 && host(info, 1)[0] == 0);
    assert_int_equal(f.getrf(solver.handle, 2, 2, a, 2, work, nullptr, info),
                     CUSOLVER_STATUS_INVALID_VALUE);
    assert_int_equal(f.getrf(solver.handle, 2, 2, a, 2, work, pivots, info),
                     CUSOLVER_STATUS_SUCCESS);
    assert_int_equal(f.orgqr_size(solver.handle, 2, 3, 2, a, 2, a, &size),
                     CUSOLVER_STATUS_INVALID_VALUE); /* columns <= rows */
    OK(cudaDeviceSynchronize());
}

void test_jacobi(void **)
{
    Solver solver;
    const lt_cusolver_real<float> &f = solver.f->s;
    gesvdjInfo_t parameters;
    float *a = device_new<float>({3, 0, 0, 4}), *s = device_new<float>({0, 0}),
          *u = device_new<float>(std::vector<float>(4)),
          *v = device_new<float>(std::vector<float>(4)),
          *work = device_new<float>(std::vector<float>(1000));
    int *info = device_new<int>({7}), size = 0;
    assert_int_equal(solver.f->create_gesvdj(&parameters), CUSOLVER_STATUS_SUCCESS);
    const auto ask = [&](int n, int ldu, gesvdjInfo_t with) {
        return f.gesvdj_batched_size(solver.handle, CUSOLVER_EIG_MODE_VECTOR, n, n, a, n, s, u, ldu,
                                     v, n, &size, with, 1);
    };
    assert_int_equal(ask(33, 33, parameters), CUSOLVER_STATUS_INVALID_VALUE); /* at most 32 */
    assert_int_equal(ask(2, 1, parameters), CUSOLVER_STATUS_INVALID_VALUE);
    assert_int_equal(ask(2, 2, nullptr), CUSOLVER_STATUS_INVALID_VALUE);
    assert_int_equal(ask(2, 2, parameters), CUSOLVER_STATUS_SUCCESS);
    assert_int_equal(f.gesvdj_batched(solver.handle, CUSOLVER_EIG_MODE_VECTOR, 2, 2, a, 2, s, u, 2,
                                      v, 2, work, size, info, parameters, 1),
                     CUSOLVER_STATUS_SUCCESS);
    assert_true((host(s, 2) == std::vector<float>{4, 3}));
    assert_int_equal(solver.f->destroy_gesvdj(parameters), CUSOLVER_STATUS_SUCCESS);
}

/* A matrix of large numbers is beyond Jacobi's method; the other one takes it, if it is not wide. */
void test_bidiagonal(void **)
{
    Solver solver;
    const lt_cusolver_real<float> &f = solver.f->s;
    gesvdjInfo_t parameters;
    const std::vector<float> large = {3e25f, 0, 0, 4e25f};
    float *a = device_new(large), *s = device_new<float>({0, 0}),
          *u = device_new<float>(std::vector<float>(4)),
          *v = device_new<float>(std::vector<float>(4)),
          *work = device_new<float>(std::vector<float>(1000));
    int *info = device_new<int>({7}), size = 0;
    assert_int_equal(solver.f->create_gesvdj(&parameters), CUSOLVER_STATUS_SUCCESS);
    assert_int_equal(f.gesvdj(solver.handle, CUSOLVER_EIG_MODE_VECTOR, 1, 2, 2, a, 2, s, u, 2, v, 2,
                              work, 1000, info, parameters),
                     CUSOLVER_STATUS_SUCCESS);
    assert_int_equal(host(info, 1)[0], 3); /* min(m, n) + 1: it did not converge */
    a = device_new(large);
    assert_int_equal(f.gesvd_size(solver.handle, 1, 2, &size), CUSOLVER_STATUS_INVALID_VALUE);
    assert_int_equal(f.gesvd_size(solver.handle, 2, 2, &size), CUSOLVER_STATUS_SUCCESS);
    const auto gesvd = [&](signed char job, int ldvt, int elements) {
        return f.gesvd(solver.handle, job, job, 2, 2, a, 2, s, u, 2, v, ldvt, work, elements,
                       nullptr, info);
    };
    assert_int_equal(gesvd('X', 2, size), CUSOLVER_STATUS_INVALID_VALUE);
    assert_int_equal(gesvd('S', 1, size), CUSOLVER_STATUS_INVALID_VALUE);
    assert_int_equal(gesvd('S', 2, size - 1), CUSOLVER_STATUS_INVALID_VALUE);
    assert_int_equal(gesvd('S', 2, size), CUSOLVER_STATUS_SUCCESS);
    assert_int_equal(host(info, 1)[0], 0);
    assert_true((host(s, 2) == std::vector<float>{4e25f, 3e25f}));
    assert_int_equal(solver.f->destroy_gesvdj(parameters), CUSOLVER_STATUS_SUCCESS);
}

/* ---- cuFFT ---------------------------------------------------------------------------------------------------------- */

void test_transforms(void **)
{
    const lt_cufft *f;
    cufftHandle plan;
    size_t bytes = 0;
    float *from = device_new<float>({1, 2, 3, 0, 0}),
          *to = device_new<float>(std::vector<float>(8));
    char *area = device_new<char>(std::vector<char>(1 << 16));
    const auto at = [](float *p) { return reinterpret_cast<cufftComplex *>(p); };
    long long three = 3, two = 2;
    assert_int_equal(lt_cufft_get(&f), LT_OK);
    assert_int_equal(f->create(&plan), CUFFT_SUCCESS);
    assert_int_equal(f->set_auto_allocation(plan, 0), CUFFT_SUCCESS);
    const auto make = [&](long long distance) {
        return f->make_plan(plan, 1, &three, &three, 1, distance, &two, 1, 2, CUFFT_R2C, 1, &bytes);
    };
    assert_int_equal(make(2), CUFFT_INVALID_VALUE);
    assert_int_equal(make(3), CUFFT_SUCCESS);
    assert_int_equal(make(3), CUFFT_INVALID_PLAN); /* it is made */
    assert_int_equal(f->set_auto_allocation(plan, 1), CUFFT_INVALID_VALUE);
    assert_true(bytes > 0);
    assert_int_equal(f->r2c(plan, from, at(to)), CUFFT_EXEC_FAILED); /* nowhere to work */
    assert_int_equal(f->set_work_area(plan, area), CUFFT_SUCCESS);
    assert_int_equal(f->r2c(plan, from + 1, at(to)), CUFFT_INVALID_VALUE); /* read by pairs */
    assert_int_equal(f->c2r(plan, at(from), to), CUFFT_INVALID_PLAN);
    assert_int_equal(f->r2c(plan, from, at(to)), CUFFT_SUCCESS);
    assert_true(host(to, 1)[0] == 6);
    assert_int_equal(f->destroy(plan), CUFFT_SUCCESS);
    assert_int_equal(f->r2c(plan, from, at(to)), CUFFT_INVALID_PLAN);
}

/* ---- cuSPARSE ------------------------------------------------------------------------------------------------------- */

void test_sparse_products(void **)
{
    const lt_cusparse *f;
    static cusparseHandle_t handle; /* as in the backend, never destroyed */
    cusparseConstSpMatDescr_t a;
    cusparseConstDnMatDescr_t b, narrow;
    cusparseDnMatDescr_t c;
    const auto plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
    const float one = 1, zero = 0;
    /* 0 2 0 / 0 0 0 / 3 0 4, in the first two columns of three rows of three */
    int64_t *begins = device_new<int64_t>({0, 1, 1, 3}), *places = device_new<int64_t>({1, 0, 2});
    float *values = device_new<float>({2, 3, 4}),
          *in = device_new<float>({1, 2, 9, 10, 20, 9, 100, 200, 9}),
          *out = device_new<float>(std::vector<float>(6, 7));
    char *work = device_new<char>(std::vector<char>(1 << 10));
    size_t bytes = 0;
    assert_int_equal(lt_cusparse_get(&f), LT_OK);
    assert_int_equal(f->create(&handle), CUSPARSE_STATUS_SUCCESS);
    assert_int_equal(f->set_stream(handle, new_stream()), CUSPARSE_STATUS_SUCCESS);
    const auto make = [&](int64_t count, const void *of) {
        return f->create_csr(&a, 3, 3, count, begins, places, of, CUSPARSE_INDEX_64I,
                             CUSPARSE_INDEX_64I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
    };
    assert_int_equal(make(-1, values), CUSPARSE_STATUS_INVALID_VALUE);
    assert_int_equal(make(3, nullptr), CUSPARSE_STATUS_INVALID_VALUE);
    assert_int_equal(make(3, values), CUSPARSE_STATUS_SUCCESS);
    const auto dense = [&](cusparseConstDnMatDescr_t *matrix, int64_t columns, int64_t leading) {
        return f->create_const_dense(matrix, 3, columns, leading, in, CUDA_R_32F,
                                     CUSPARSE_ORDER_ROW);
    };
    assert_int_equal(dense(&b, 2, 1), CUSPARSE_STATUS_INVALID_VALUE); /* rows over each other */
    assert_int_equal(dense(&b, 2, 3), CUSPARSE_STATUS_SUCCESS);
    assert_int_equal(dense(&narrow, 1, 3), CUSPARSE_STATUS_SUCCESS);
    assert_int_equal(f->create_dense(&c, 3, 2, 2, out, CUDA_R_32F, CUSPARSE_ORDER_ROW),
                     CUSPARSE_STATUS_SUCCESS);
    const auto ask = [&](cusparseConstDnMatDescr_t with, cudaDataType compute) {
        return f->spmm_size(handle, plain, plain, &one, a, with, &zero, c, compute,
                            CUSPARSE_SPMM_ALG_DEFAULT, &bytes);
    };
    assert_int_equal(ask(narrow, CUDA_R_32F), CUSPARSE_STATUS_INVALID_VALUE);
    assert_int_equal(ask(b, CUDA_R_64F), CUSPARSE_STATUS_NOT_SUPPORTED);
    assert_int_equal(ask(b, CUDA_R_32F), CUSPARSE_STATUS_SUCCESS);
    assert_in_range(bytes, 1, 1 << 10);
    const auto multiply = [&](const void *alpha, void *area) {
        return f->spmm(handle, plain, plain, alpha, a, b, &zero, c, CUDA_R_32F,
                       CUSPARSE_SPMM_CSR_ALG3, area);
    };
    assert_int_equal(multiply(nullptr, work), CUSPARSE_STATUS_INVALID_VALUE);
    assert_int_equal(multiply(&one, nullptr), CUSPARSE_STATUS_INVALID_VALUE); /* nowhere to work */
    assert_int_equal(multiply(&one, work), CUSPARSE_STATUS_SUCCESS);
    OK(cudaDeviceSynchronize());
    assert_true((host(out, 6) == std::vector<float>{20, 40, 0, 0, 403, 806}));
    assert_int_equal(f->destroy_sparse(a), CUSPARSE_STATUS_SUCCESS);
    assert_int_equal(f->destroy_dense(b), CUSPARSE_STATUS_SUCCESS);
    assert_int_equal(f->destroy_dense(narrow), CUSPARSE_STATUS_SUCCESS);
    assert_int_equal(f->destroy_dense(c), CUSPARSE_STATUS_SUCCESS);
}

/* ---- cuDNN ---------------------------------------------------------------------------------------------------------- */

void test_convolutions(void **)
{
    const lt_cudnn *f;
    static cudnnHandle_t handle; /* as in the backend, never destroyed */
    cudnnTensorDescriptor_t x, y;
    cudnnFilterDescriptor_t w;
    cudnnConvolutionDescriptor_t convolution;
    cudnnConvolutionFwdAlgoPerf_t results[4];
    const int of_x[] = {1, 1, 2, 2}, of_y[] = {1, 1, 1, 2}, of_w[] = {1, 1, 2, 1},
              steps[] = {4, 4, 2, 1}, steps_y[] = {2, 2, 2, 1};
    const int none[] = {0, 0}, ones[] = {1, 1};
    float one = 1, zero = 0, *image = device_new<float>({1, 2, 3, 4}),
          *weight = device_new<float>({1, 10}), *out = device_new<float>({0, 0});
    char *workspace = device_new<char>(std::vector<char>(1 << 16));
    int found = 0;
    assert_int_equal(lt_cudnn_get(&f), LT_OK);
    assert_int_equal(f->create(&handle), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->tensor_create(&x), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->tensor_create(&y), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->filter_create(&w), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->convolution_create(&convolution), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->tensor_set(x, CUDNN_DATA_FLOAT, 2, of_x, steps),
                     CUDNN_STATUS_NOT_SUPPORTED);
    assert_int_equal(f->tensor_set(x, CUDNN_DATA_FLOAT, 4, of_x, steps), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->tensor_set(y, CUDNN_DATA_FLOAT, 4, of_x, steps), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->filter_set(w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 4, of_w),
                     CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->convolution_set(convolution, 2, none, none, ones, CUDNN_CROSS_CORRELATION,
                                        CUDNN_DATA_FLOAT),
                     CUDNN_STATUS_BAD_PARAM); /* no stride is 0 */
    assert_int_equal(f->convolution_set(convolution, 2, none, ones, ones, CUDNN_CROSS_CORRELATION,
                                        CUDNN_DATA_FLOAT),
                     CUDNN_STATUS_SUCCESS);
    const auto rank = [&] {
        return f->rank_forward(handle, x, w, convolution, y, 4, &found, results);
    };
    assert_int_equal(rank(), CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH);
    assert_int_equal(f->tensor_set(y, CUDNN_DATA_FLOAT, 4, of_y, steps_y), CUDNN_STATUS_SUCCESS);
    assert_int_equal(rank(), CUDNN_STATUS_SUCCESS);
    assert_int_equal(found, 2);
    const auto forward = [&](const float *from, void *work, size_t bytes) {
        return f->forward(handle, &one, x, from, w, weight, convolution, results[0].algo, work,
                          bytes, &zero, y, out);
    };
    assert_int_equal(forward(image, workspace, results[0].memory - 1),
                     CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT);
    assert_int_equal(forward(image, nullptr, results[0].memory), CUDNN_STATUS_BAD_PARAM);
    assert_int_equal(forward(image + 1, workspace, results[0].memory),
                     CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER);
    assert_int_equal(forward(image, workspace, results[0].memory), CUDNN_STATUS_SUCCESS);
    assert_true((host(out, 2) == std::vector<float>{31, 42}));
    /* Channels last: of all three or of none. */
    const int two[] = {1, 2, 1, 2}, behind[] = {4, 1, 4, 2}, of_w2[] = {1, 2, 1, 2},
              one_place[] = {1, 1, 1, 1};
    assert_int_equal(f->tensor_set(x, CUDNN_DATA_FLOAT, 4, two, behind), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->tensor_set(y, CUDNN_DATA_FLOAT, 4, one_place, one_place),
                     CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->filter_set(w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 4, of_w2),
                     CUDNN_STATUS_SUCCESS);
    assert_int_equal(rank(), CUDNN_STATUS_NOT_SUPPORTED);
    assert_int_equal(f->filter_set(w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NHWC, 4, of_w2),
                     CUDNN_STATUS_SUCCESS);
    assert_int_equal(rank(), CUDNN_STATUS_SUCCESS);
    weight = device_new<float>({1, 10, 100, 1000});
    assert_int_equal(forward(image, workspace, results[0].memory), CUDNN_STATUS_SUCCESS);
    assert_true((host(out, 1) == std::vector<float>{4321}));
    assert_int_equal(f->tensor_destroy(x), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->tensor_destroy(y), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->filter_destroy(w), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->convolution_destroy(convolution), CUDNN_STATUS_SUCCESS);
}

/* A tensor of [1, 1, rows, width], in order. */
cudnnBackendDescriptor_t graph_tensor(const lt_cudnn_graph *f, int64_t uid, int64_t rows, int64_t width, cudnnDataType_t type,
                                      bool by_value)
{
    cudnnBackendDescriptor_t t;
    const int64_t sizes[] = {1, 1, rows, width}, strides[] = {rows * width, rows * width, width, 1}, alignment = 16;
    assert_int_equal(f->create(CUDNN_BACKEND_TENSOR_DESCRIPTOR, &t), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->set(t, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &uid), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->set(t, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_INT64, 1, &type), CUDNN_STATUS_BAD_PARAM);
    assert_int_equal(f->set(t, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->set(t, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->set(t, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, sizes), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->finalize(t), CUDNN_STATUS_BAD_PARAM); /* without strides */
    assert_int_equal(f->set(t, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, strides), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->set(t, CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &by_value), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->finalize(t), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->set(t, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &uid), CUDNN_STATUS_NOT_INITIALIZED);
    return t;
}

/* Two queries, two keys, heads 8 wide. */
void test_graphs(void **)
{
    const lt_cudnn *dnn;
    const lt_cudnn_graph *f;
    static cudnnHandle_t handle; /* as in the backend, never destroyed */
    cudnnBackendDescriptor_t attention, graph, heuristics, engines[2], plan, pack;
    const cudnnBackendHeurMode_t mode = CUDNN_HEUR_MODE_A;
    assert_int_equal(lt_cudnn_get(&dnn), LT_OK);
    assert_int_equal(lt_cudnn_graph_get(&f), LT_OK);
    assert_int_equal(dnn->create(&handle), CUDNN_STATUS_SUCCESS);
    const auto create = [&](cudnnBackendDescriptorType_t type) {
        cudnnBackendDescriptor_t made;
        assert_int_equal(f->create(type, &made), CUDNN_STATUS_SUCCESS);
        return made;
    };
    const auto link = [&](cudnnBackendDescriptor_t of, cudnnBackendAttributeName_t name, cudnnBackendDescriptor_t other) {
        assert_int_equal(f->set(of, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &other), CUDNN_STATUS_SUCCESS);
    };
    attention = create(CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR);
    link(attention, CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC, graph_tensor(f, 1, 2, 8, CUDNN_DATA_HALF, false));
    link(attention, CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC, graph_tensor(f, 2, 2, 8, CUDNN_DATA_HALF, false));
    link(attention, CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC, graph_tensor(f, 3, 2, 8, CUDNN_DATA_HALF, false));
    link(attention, CUDNN_ATTR_OPERATION_SDPA_FWD_STATSDESC, graph_tensor(f, 5, 2, 1, CUDNN_DATA_FLOAT, false));
    link(attention, CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC, graph_tensor(f, 6, 1, 1, CUDNN_DATA_FLOAT, true));
    assert_int_equal(f->finalize(attention), CUDNN_STATUS_BAD_PARAM); /* without a result */
    link(attention, CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC, graph_tensor(f, 4, 3, 8, CUDNN_DATA_HALF, false));
    assert_int_equal(f->finalize(attention), CUDNN_STATUS_BAD_PARAM); /* with one of three rows */
    link(attention, CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC, graph_tensor(f, 4, 2, 8, CUDNN_DATA_HALF, false));
    graph = create(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    assert_int_equal(f->set(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &attention),
                     CUDNN_STATUS_BAD_PARAM); /* not finalized */
    assert_int_equal(f->finalize(attention), CUDNN_STATUS_SUCCESS);
    link(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, attention);
    assert_int_equal(f->set(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle), CUDNN_STATUS_SUCCESS);
    heuristics = create(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    link(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    assert_int_equal(f->set(heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->finalize(heuristics), CUDNN_STATUS_BAD_PARAM); /* of a graph that is not finalized */
    assert_int_equal(f->finalize(graph), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->finalize(heuristics), CUDNN_STATUS_SUCCESS);
    int64_t count = 0, bytes = -1;
    for (cudnnBackendDescriptor_t &engine : engines) engine = create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    assert_int_equal(f->get(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 2, &count, engines),
                     CUDNN_STATUS_SUCCESS);
    assert_int_equal(count, 2);
    const auto plan_of = [&](cudnnBackendDescriptor_t engine) {
        plan = create(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
        assert_int_equal(f->set(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle), CUDNN_STATUS_SUCCESS);
        link(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, engine);
        return f->finalize(plan);
    };
    assert_int_equal(plan_of(engines[0]), CUDNN_STATUS_NOT_SUPPORTED); /* takes widths of 16 */
    assert_int_equal(f->get(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &count, &bytes),
                     CUDNN_STATUS_NOT_INITIALIZED);
    assert_int_equal(plan_of(engines[1]), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->get(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &count, &bytes),
                     CUDNN_STATUS_SUCCESS);
    assert_int_equal(bytes, 0);
    /* Scores are 0: each result is the mean of the values, 1 and 3, and the logsumexp that of two zeros. */
    std::vector<__half> values(16, __float2half_rn(1));
    for (size_t i = 8; i < 16; i++) values[i] = __float2half_rn(3);
    __half *zeros = device_new(std::vector<__half>(16, __float2half_rn(0))), *v = device_new(values),
           *out = device_new(std::vector<__half>(16, __float2half_rn(0)));
    float *stats = device_new<float>({0, 0}), scale = 1, *device_scale = device_new<float>({1});
    const auto execute = [&](int64_t tensors, void *query, void *by) {
        const int64_t uids[] = {1, 2, 3, 4, 5, 6};
        void *const addresses[] = {query, zeros, v, out, stats, by}, *const none = nullptr;
        pack = create(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
        assert_int_equal(f->set(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, tensors, uids), CUDNN_STATUS_SUCCESS);
        assert_int_equal(f->set(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, tensors, addresses),
                         CUDNN_STATUS_SUCCESS);
        assert_int_equal(f->set(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &none), CUDNN_STATUS_SUCCESS);
        assert_int_equal(f->finalize(pack), CUDNN_STATUS_SUCCESS);
        const cudnnStatus_t status = f->execute(handle, plan, pack);
        assert_int_equal(f->destroy(pack), CUDNN_STATUS_SUCCESS);
        return status;
    };
    assert_int_equal(execute(5, zeros, &scale), CUDNN_STATUS_BAD_PARAM); /* without the scale */
    assert_int_equal(execute(6, zeros, device_scale), CUDNN_STATUS_BAD_PARAM);
    assert_int_equal(execute(6, zeros + 1, &scale), CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER);
    assert_int_equal(execute(6, values.data(), &scale), CUDNN_STATUS_BAD_PARAM); /* memory of the host */
    assert_int_equal(execute(6, zeros, &scale), CUDNN_STATUS_SUCCESS);
    assert_true(__half2float(host(out, 1)[0]) == 2 && host(stats, 1)[0] > 0.6931F && host(stats, 1)[0] < 0.6932F);
}

/* The convolution of test_convolutions as a graph. */
void test_convolution_graphs(void **)
{
    const lt_cudnn *dnn;
    const lt_cudnn_graph *f;
    static cudnnHandle_t handle; /* as in the backend, never destroyed */
    const cudnnBackendHeurMode_t heuristic = CUDNN_HEUR_MODE_A;
    const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    const cudnnDataType_t compute = CUDNN_DATA_FLOAT;
    const int64_t two = 2, none[] = {0, 0}, ones[] = {1, 1};
    const float one = 1, zero = 0;
    const double wide = 1;
    assert_int_equal(lt_cudnn_get(&dnn), LT_OK);
    assert_int_equal(lt_cudnn_graph_get(&f), LT_OK);
    assert_int_equal(dnn->create(&handle), CUDNN_STATUS_SUCCESS);
    const auto create = [&](cudnnBackendDescriptorType_t type) {
        cudnnBackendDescriptor_t made;
        assert_int_equal(f->create(type, &made), CUDNN_STATUS_SUCCESS);
        return made;
    };
    const auto set = [&](cudnnBackendDescriptor_t of, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count,
                         const void *elements) {
        assert_int_equal(f->set(of, name, type, count, elements), CUDNN_STATUS_SUCCESS);
    };
    const auto link = [&](cudnnBackendDescriptor_t of, cudnnBackendAttributeName_t name, cudnnBackendDescriptor_t other) {
        set(of, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &other);
    };
    const cudnnBackendDescriptor_t windows = create(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    set(windows, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute);
    set(windows, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
    set(windows, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &two);
    set(windows, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2, ones);
    set(windows, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2, none);
    set(windows, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2, none);
    assert_int_equal(f->finalize(windows), CUDNN_STATUS_BAD_PARAM); /* without strides */
    set(windows, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 1, ones);
    assert_int_equal(f->finalize(windows), CUDNN_STATUS_BAD_PARAM); /* with one, of two dimensions */
    set(windows, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2, ones);
    assert_int_equal(f->finalize(windows), CUDNN_STATUS_SUCCESS);
    const cudnnBackendDescriptor_t convolution = create(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
    link(convolution, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, graph_tensor(f, 1, 2, 2, CUDNN_DATA_FLOAT, false));
    link(convolution, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, graph_tensor(f, 2, 2, 1, CUDNN_DATA_FLOAT, false));
    link(convolution, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, graph_tensor(f, 3, 2, 2, CUDNN_DATA_FLOAT, false));
    link(convolution, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, windows);
    set(convolution, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1, &one);
    set(convolution, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, 1, &zero);
    assert_int_equal(f->finalize(convolution), CUDNN_STATUS_BAD_PARAM); /* with a result of two rows */
    link(convolution, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, graph_tensor(f, 2, 1, 2, CUDNN_DATA_FLOAT, false));
    assert_int_equal(f->finalize(convolution), CUDNN_STATUS_BAD_PARAM); /* called as the weights are */
    link(convolution, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, graph_tensor(f, 3, 1, 2, CUDNN_DATA_FLOAT, false));
    set(convolution, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_DOUBLE, 1, &wide);
    assert_int_equal(f->finalize(convolution), CUDNN_STATUS_BAD_PARAM); /* a double for floats */
    set(convolution, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1, &one);
    assert_int_equal(f->finalize(convolution), CUDNN_STATUS_SUCCESS);
    const cudnnBackendDescriptor_t graph = create(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR),
                                   heuristics = create(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    link(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, convolution);
    set(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    assert_int_equal(f->finalize(graph), CUDNN_STATUS_SUCCESS);
    link(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    set(heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &heuristic);
    assert_int_equal(f->finalize(heuristics), CUDNN_STATUS_SUCCESS);
    cudnnBackendDescriptor_t configurations[6], engine = create(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    cudnnBackendNumericalNote_t notes[4];
    int64_t count = 0, bytes = -1;
    for (cudnnBackendDescriptor_t &c : configurations) c = create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    assert_int_equal(f->get(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 6, &count, configurations),
                     CUDNN_STATUS_SUCCESS);
    assert_int_equal(count, 6);
    assert_int_equal(f->get(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, 4, &count, notes),
                     CUDNN_STATUS_NOT_INITIALIZED);
    assert_int_equal(f->get(configurations[2], CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &engine),
                     CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->get(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, 4, &count, notes), CUDNN_STATUS_SUCCESS);
    assert_true(count == 2 && notes[0] == CUDNN_NUMERICAL_NOTE_TENSOR_CORE && notes[1] == CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC);
    assert_int_equal(f->get(engine, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE, 4, &count, notes), CUDNN_STATUS_SUCCESS);
    assert_int_equal(count, 0);
    const cudnnBackendDescriptor_t plan = create(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    set(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    link(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configurations[2]);
    assert_int_equal(f->finalize(plan), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->get(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &count, &bytes), CUDNN_STATUS_SUCCESS);
    assert_true(bytes > 0);
    float *image = device_new<float>({1, 2, 3, 4}), *weight = device_new<float>({1, 10}), *out = device_new<float>({0, 0});
    char *room = device_new<char>(std::vector<char>((size_t)bytes));
    const auto execute = [&](int64_t tensors, const float *from, void *work) {
        const int64_t uids[] = {1, 2, 3};
        const void *const addresses[] = {from, weight, out};
        const cudnnBackendDescriptor_t pack = create(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
        set(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, tensors, uids);
        set(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, tensors, addresses);
        set(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &work);
        assert_int_equal(f->finalize(pack), CUDNN_STATUS_SUCCESS);
        const cudnnStatus_t status = f->execute(handle, plan, pack);
        assert_int_equal(f->destroy(pack), CUDNN_STATUS_SUCCESS);
        return status;
    };
    assert_int_equal(execute(3, image, nullptr), CUDNN_STATUS_BAD_PARAM); /* without the workspace */
    assert_int_equal(execute(2, image, room), CUDNN_STATUS_BAD_PARAM);    /* without the result */
    assert_int_equal(execute(3, image + 1, room), CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER);
    assert_int_equal(execute(3, image, room), CUDNN_STATUS_SUCCESS);
    assert_true((host(out, 2) == std::vector<float>{31, 42}));
}

/* An RNN of one unit, of two steps. */
void test_recurrent_networks(void **)
{
    const lt_cudnn *dnn;
    const lt_cudnn_rnn *f;
    static cudnnHandle_t handle; /* as in the backend, never destroyed */
    cudnnRNNDescriptor_t network;
    cudnnDropoutDescriptor_t dropout;
    cudnnRNNDataDescriptor_t data;
    cudnnTensorDescriptor_t state, part;
    const int of_state[] = {1, 1, 1}, steps[] = {1, 1, 1}, lengths[] = {2}, shorter[] = {1};
    size_t weight_bytes, work_bytes, kept_bytes;
    void *matrix, *bias;
    assert_int_equal(lt_cudnn_get(&dnn), LT_OK);
    assert_int_equal(lt_cudnn_rnn_get(&f), LT_OK);
    assert_int_equal(dnn->create(&handle), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->network_create(&network), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->dropout_create(&dropout), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->data_create(&data), CUDNN_STATUS_SUCCESS);
    assert_int_equal(dnn->tensor_create(&state), CUDNN_STATUS_SUCCESS);
    assert_int_equal(dnn->tensor_create(&part), CUDNN_STATUS_SUCCESS);
    assert_int_equal(dnn->tensor_set(state, CUDNN_DATA_FLOAT, 3, of_state, steps),
                     CUDNN_STATUS_SUCCESS);
    const auto describe = [&](int projection, cudnnMathType_t math) {
        return f->network_set(network, CUDNN_RNN_ALGO_STANDARD, CUDNN_RNN_RELU, CUDNN_RNN_NO_BIAS,
                              CUDNN_UNIDIRECTIONAL, CUDNN_LINEAR_INPUT, CUDNN_DATA_FLOAT,
                              CUDNN_DATA_FLOAT, math, 1, 1, projection, 1, dropout,
                              LT_CUDNN_RNN_PADDED);
    };
    assert_int_equal(describe(1, CUDNN_FMA_MATH), CUDNN_STATUS_BAD_PARAM); /* dropout is not set */
    assert_int_equal(f->weight_bytes(handle, network, &weight_bytes), CUDNN_STATUS_BAD_PARAM);
    assert_int_equal(f->dropout_set(dropout, handle, 0, nullptr, 0, 0), CUDNN_STATUS_SUCCESS);
    assert_int_equal(describe(2, CUDNN_FMA_MATH), CUDNN_STATUS_BAD_PARAM);
    assert_int_equal(describe(1, CUDNN_TENSOR_OP_MATH), CUDNN_STATUS_NOT_SUPPORTED);
    assert_int_equal(describe(1, CUDNN_FMA_MATH), CUDNN_STATUS_SUCCESS);
    const auto set_data = [&](const int *each) {
        return f->data_set(data, CUDNN_DATA_FLOAT, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED, 2, 1,
                           1, each, nullptr);
    };
    const int longer[] = {3};
    assert_int_equal(set_data(longer), CUDNN_STATUS_BAD_PARAM);
    assert_int_equal(set_data(lengths), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->weight_bytes(handle, network, &weight_bytes), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->work_bytes(handle, network, CUDNN_FWD_MODE_TRAINING, data, &work_bytes,
                                   &kept_bytes),
                     CUDNN_STATUS_SUCCESS);

    float *weights = device_new<float>(std::vector<float>(weight_bytes / 4)),
          *x = device_new<float>({1, 2}), *y = device_new<float>({0, 0}),
          *last = device_new<float>({0});
    char *work = device_new<char>(std::vector<char>(work_bytes)),
         *kept = device_new<char>(std::vector<char>(kept_bytes));
    const auto place = [&](int product) {
        return f->weight_place(handle, network, 0, weight_bytes, weights, product, part, &matrix,
                               part, &bias);
    };
    assert_int_equal(place(2), CUDNN_STATUS_BAD_PARAM); /* an RNN has two */
    assert_int_equal(place(1), CUDNN_STATUS_SUCCESS);
    assert_null(bias);
    const float three = 3, ten = 10;
    assert_int_equal(cudaMemcpy(matrix, &ten, 4, cudaMemcpyHostToDevice), cudaSuccess);
    assert_int_equal(place(0), CUDNN_STATUS_SUCCESS);
    assert_int_equal(cudaMemcpy(matrix, &three, 4, cudaMemcpyHostToDevice), cudaSuccess);

    const auto forward = [&](const int32_t *on_device, size_t bytes, size_t reserved) {
        return f->forward(handle, network, CUDNN_FWD_MODE_TRAINING, on_device, data, x, data, y,
                          state, nullptr, last, state, nullptr, nullptr, weight_bytes, weights,
                          bytes, work, reserved, kept);
    };
    assert_int_equal(forward(lengths, work_bytes, kept_bytes), CUDNN_STATUS_BAD_PARAM);
    assert_int_equal(forward(nullptr, work_bytes - 1, kept_bytes),
                     CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT);
    assert_int_equal(forward(nullptr, work_bytes, kept_bytes - 1),
                     CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT);
    assert_int_equal(set_data(shorter), CUDNN_STATUS_SUCCESS);
    assert_int_equal(forward(nullptr, work_bytes, kept_bytes), CUDNN_STATUS_NOT_SUPPORTED);
    assert_int_equal(set_data(lengths), CUDNN_STATUS_SUCCESS);
    assert_int_equal(forward(nullptr, work_bytes, kept_bytes), CUDNN_STATUS_SUCCESS);
    assert_true((host(y, 2) == std::vector<float>{3, 36})); /* 3 * 1; 3 * 2 + 10 * 3 */
    assert_true(host(last, 1)[0] == 36);

    float *dy = device_new<float>({0, 1}), *dx = device_new<float>({0, 0}),
          *gradients = device_new<float>(std::vector<float>(weight_bytes / 4));
    assert_int_equal(f->backward_data(handle, network, nullptr, data, y, dy, data, dx, state,
                                      nullptr, nullptr, nullptr, state, nullptr, nullptr, nullptr,
                                      weight_bytes, weights, work_bytes, work, kept_bytes, kept),
                     CUDNN_STATUS_SUCCESS);
    assert_true((host(dx, 2) == std::vector<float>{30, 3}));
    assert_int_equal(f->backward_weights(handle, network, CUDNN_WGRAD_MODE_ADD, nullptr, data, x,
                                         state, nullptr, data, y, weight_bytes, gradients,
                                         work_bytes, work, kept_bytes, kept),
                     CUDNN_STATUS_SUCCESS);
    assert_true((host(gradients, 2) == std::vector<float>{12, 3})); /* 2 + 10 * 1; the state 3 */
    assert_int_equal(f->network_destroy(network), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->dropout_destroy(dropout), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->data_destroy(data), CUDNN_STATUS_SUCCESS);
    assert_int_equal(dnn->tensor_destroy(state), CUDNN_STATUS_SUCCESS);
    assert_int_equal(dnn->tensor_destroy(part), CUDNN_STATUS_SUCCESS);
}

/* ---- captures --------------------------------------------------------------------------------------------------------- */

/* Making a handle waits for the device; a capture that goes on meanwhile is lost. */
void test_handles_in_captures(void **)
{
    const lt_cublas *f;
    cublasHandle_t handle;
    cudaGraph_t graph;
    cudaStream_t stream = new_stream();
    assert_int_equal(lt_cublas_get(&f), LT_OK);
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    assert_int_not_equal(f->create(&handle), CUBLAS_STATUS_SUCCESS);
    assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    assert_int_equal(f->create(&handle), CUBLAS_STATUS_SUCCESS);
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    assert_int_not_equal(f->destroy(handle), CUBLAS_STATUS_SUCCESS);
    assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    (void)cudaGetLastError();
    assert_int_equal(f->destroy(handle), CUBLAS_STATUS_SUCCESS);
}

/* A product in a capture has a workspace that is not the handle's own, which its replays would share with others. */
void test_workspaces_in_captures(void **)
{
    Blas blas;
    const float one = 1, zero = 0;
    float *a = device_new<float>({1, 2, 3, 4}), *c = device_new<float>({0, 0, 0, 0});
    char *workspace = device_new<char>(std::vector<char>(1 << 16));
    cudaGraph_t graph;
    const auto gemm = [&] {
        return blas.f->gemm(blas.handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, a, CUDA_R_32F, 2,
                            a, CUDA_R_32F, 2, &zero, c, CUDA_R_32F, 2, CUBLAS_COMPUTE_32F,
                            CUBLAS_GEMM_DEFAULT);
    };
    OK(cudaStreamBeginCapture(blas.stream, cudaStreamCaptureModeRelaxed));
    assert_int_equal(gemm(), CUBLAS_STATUS_NOT_SUPPORTED);
    assert_int_equal(blas.f->set_workspace(blas.handle, workspace, 1 << 16), CUBLAS_STATUS_SUCCESS);
    assert_int_equal(gemm(), CUBLAS_STATUS_SUCCESS);
    OK(cudaStreamEndCapture(blas.stream, &graph));
    OK(cudaGraphDestroy(graph));
}

/* A call of a library counts, and can be made to fail. */
void test_faults(void **)
{
    Solver solver;
    int size;
    const long before = lt_sim_calls();
    assert_int_equal(solver.f->s.getrf_size(solver.handle, 2, 2, nullptr, 2, &size),
                     CUSOLVER_STATUS_SUCCESS);
    assert_int_equal(lt_sim_calls() - before, 1);
    lt_sim_set_fault(1);
    assert_int_equal(solver.f->s.getrf_size(solver.handle, 2, 2, nullptr, 2, &size),
                     CUSOLVER_STATUS_INTERNAL_ERROR);
    (void)cudaGetLastError();
    assert_int_equal(solver.f->s.getrf_size(solver.handle, 2, 2, nullptr, 2, &size),
                     CUSOLVER_STATUS_SUCCESS);
}

} // namespace

int main()
{
    setenv("LTENSOR_SIM_GPUS", "1", 1);
    const CMUnitTest tests[] = {
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_roundings),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_biased_products),
        cmocka_unit_test(test_factors),
        cmocka_unit_test(test_jacobi),
        cmocka_unit_test(test_bidiagonal),
        cmocka_unit_test(test_transforms),
        cmocka_unit_test(test_sparse_products),
        cmocka_unit_test(test_convolutions),
        cmocka_unit_test(test_graphs),
        cmocka_unit_test(test_convolution_graphs),
        cmocka_unit_test(test_recurrent_networks),
        cmocka_unit_test(test_handles_in_captures),
        cmocka_unit_test(test_workspaces_in_captures),
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
