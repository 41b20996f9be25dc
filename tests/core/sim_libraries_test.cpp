/* sim_libraries_test.cpp - the simulation's stand-ins for NVIDIA's libraries, but cuDNN
 * (sim_cudnn_test.cpp), refuse what the libraries' documentation forbids: each test makes a call
 * that works, and then the same with one argument wrong. */
#include "libraries/cublas_api.h"
#include "libraries/cufft_api.h"
#include "libraries/cusolver_api.h"
#include "libraries/cusparse_api.h"
#include "libraries/handles.cuh"
#include "sim_device.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

/* The parts of the runtime that the pool of handles uses. */
std::atomic<int> lt_cuda_recordings{0};
uint64_t lt_cuda_own_recording_pool(int) { return 0; }
void lt_cuda_empty_cache(void) {}
lt_status lt_cuda_enter(int, cudaStream_t *) { return LT_OK; }
const lt_core_services *lt_cuda_core;

namespace {

/* ---- handles --------------------------------------------------------------------------------- */

struct Numbered {
    using handle = const char *;
    static int created;
    static lt_status create(handle *h)
    {
        static const char addresses[100] = {};
        *h = &addresses[created++];
        return LT_OK;
    }
    static lt_status aim(handle, cudaStream_t) { return LT_OK; }
};
int Numbered::created = 0;

/* A handle is created for each stream of each device, however their calls alternate, and for each
 * of several calls at a time. */
void test_handles_are_found_again(void **)
{
    using pool = lt_cuda_handles<Numbered>;
    const cudaStream_t streams[] = {nullptr, new_stream(), new_stream()};
    Numbered::handle handles[2][3] = {};
    for (int round = 0; round < 3; round++)
        for (int device = 0; device < 2; device++)
            for (int s = 0; s < 3; s++) {
                Numbered::handle h = nullptr;
                assert_int_equal(pool::take(device, streams[s], &h), LT_OK);
                if (round == 0) handles[device][s] = h;
                assert_ptr_equal(h, handles[device][s]);
                pool::give(device, streams[s], h);
            }
    assert_int_equal(Numbered::created, 6);
    Numbered::handle first = nullptr, second = nullptr;
    assert_int_equal(pool::take(0, streams[1], &first), LT_OK);
    assert_int_equal(pool::take(0, streams[1], &second), LT_OK);
    assert_true(first != second);
    assert_int_equal(Numbered::created, 7);
}

/* ---- cuBLAS ---------------------------------------------------------------------------------- */

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

/* Tensor cores: a product of bfloat16 is summed in float and rounded once; TF32 takes ten bits of
 * each factor. */
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

/* ---- cuBLASLt -------------------------------------------------------------------------------- */

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

/* ---- cuSOLVER -------------------------------------------------------------------------------- */

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

/* A matrix of large numbers is beyond Jacobi's method; the other one takes it, if it is not
 * wide. */
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

/* ---- cuFFT ----------------------------------------------------------------------------------- */

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

/* ---- cuSPARSE -------------------------------------------------------------------------------- */

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

/* ---- captures -------------------------------------------------------------------------------- */

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

/* A product in a capture has a workspace that is not the handle's own, which its replays would
 * share with others. */
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
        cmocka_unit_test(test_handles_are_found_again),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_roundings),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_biased_products),
        cmocka_unit_test(test_factors),
        cmocka_unit_test(test_jacobi),
        cmocka_unit_test(test_bidiagonal),
        cmocka_unit_test(test_transforms),
        cmocka_unit_test(test_sparse_products),
        cmocka_unit_test(test_handles_in_captures),
        cmocka_unit_test(test_workspaces_in_captures),
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
