/* factor.cu - factorizations of batches of matrices, and solutions by them, by cuSOLVER; by cuBLAS
 * for batches of small matrices.
 *
 * All data stays on the device: pivots, infos and the array of matrix addresses. A batch of small
 * matrices takes one call, if the libraries have a batched one; large matrices take one call each,
 * because one is enough to fill the GPU. */
#include "cuda.h"
#include "kernels/launch.cuh"
#include "libraries/blas.cuh"
#include "libraries/solver.cuh"

namespace {

constexpr int small = 512;       /* max rows of a batched LU or triangular system */
constexpr int small_qr = 256;    /* max rows of a batched QR */
constexpr int small_jacobi = 32; /* limit of the batched Jacobi methods */

template <class T>
__global__ void __launch_bounds__(256) set_addresses(T **to, T *first, int64_t stride, int64_t n)
{
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * blockDim.x)
        to[i] = first + i * stride;
}

template <class T>
__global__ void __launch_bounds__(256)
    set_identity(T *to, int64_t stride, int rows, int columns, int64_t n)
{
    const int64_t each = (int64_t)rows * columns;
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n * each;
         i += (int64_t)gridDim.x * blockDim.x) {
        const int64_t matrix = i / each, place = i % each;
        to[matrix * stride + place] = place / rows == place % rows ? T(1) : T(0);
    }
}

unsigned blocks_for(int64_t n)
{
    return (unsigned)(n < 1 ? 1 : n > 256 * 4096 ? 4096 : (n + 255) / 256);
}

template <class T> class Factorization {
  public:
    Factorization(lt_factor *f, cudaStream_t stream)
        : f(f), stream(stream), a(static_cast<T *>(f->a))
    {}

    lt_status run()
    {
        const int device = f->device.index;
        LT_TRY(blas_scope.open(device, stream));
        LT_TRY(solver_scope.open(device, stream));
        blas = &blas_scope.functions->of(T());
        solver = &solver_scope.functions->of(T());
        infos = f->infos;
        if (infos == nullptr) {
            LT_TRY(unread.take(device, (size_t)f->batch * sizeof *infos));
            infos = unread.as<int32_t>();
        }
        switch (f->kind) {
        case LT_FACTOR_LU: return lu();
        case LT_FACTOR_SOLVE: return solve(f->transposed ? CUBLAS_OP_T : CUBLAS_OP_N, f->columns);
        case LT_FACTOR_INVERSE: return invert();
        case LT_FACTOR_CHOLESKY: return cholesky();
        case LT_FACTOR_TRIANGULAR: return triangular();
        case LT_FACTOR_QR: return qr();
        case LT_FACTOR_Q: return q();
        case LT_FACTOR_SVD: return svd();
        case LT_FACTOR_EIGH: return eigh();
        case LT_FACTOR_LEAST_SQUARES:
        case LT_FACTOR_EIG:
        case LT_FACTOR_LDL:
        case LT_FACTOR_LDL_SOLVE: break;
        }
        return lt_cuda_core->error(LT_ERR_RUNTIME, "a GPU has no such factorization");
    }

  private:
    bool batched(int rows, int most) const
    {
        return f->batch > 1 && f->batch <= INT32_MAX && rows <= most;
    }
    int batch() const { return (int)f->batch; }
    T *b_at(int64_t i) const { return static_cast<T *>(f->b) + i * f->n * f->columns; }
    T *value_at(int64_t i, int n) const { return static_cast<T *>(f->values) + i * n; }

    /* Makes the device array of a batch's matrix addresses, as batched cuBLAS calls require. */
    lt_status addresses(lt_cuda_scratch &scratch, T *first, int64_t stride, T ***out)
    {
        LT_TRY(scratch.take(f->device.index, (size_t)f->batch * sizeof(T *)));
        *out = scratch.as<T *>();
        LT_LAUNCH((set_addresses<T>), blocks_for(f->batch), 256, stream, *out, first, stride,
                  f->batch);
        return lt_cuda_launched(f->device.index, stream, "linalg");
    }

    lt_status take_work(int elements, T **work)
    {
        LT_TRY(workspace.take(f->device.index, (size_t)(elements > 0 ? elements : 1) * sizeof(T)));
        *work = workspace.as<T>();
        return LT_OK;
    }

    /* Output buffers of U and V, with u and v elements. Scratch memory if the caller does not need
     * them, because cuSOLVER's Jacobi methods write there even then. */
    lt_status take_vectors(int64_t u, int64_t v, T **to_u, T **to_v)
    {
        *to_u = static_cast<T *>(f->u), *to_v = static_cast<T *>(f->v);
        if (f->u != nullptr) return LT_OK;
        LT_TRY(unread_u.take(f->device.index, (size_t)(u > 0 ? u : 1) * sizeof(T)));
        LT_TRY(unread_v.take(f->device.index, (size_t)(v > 0 ? v : 1) * sizeof(T)));
        *to_u = unread_u.as<T>(), *to_v = unread_v.as<T>();
        return LT_OK;
    }

    lt_status identity(T *to, int64_t stride, int rows, int columns)
    {
        LT_LAUNCH((set_identity<T>), blocks_for(f->batch * rows * columns), 256, stream, to, stride,
                  rows, columns, f->batch);
        return lt_cuda_launched(f->device.index, stream, "linalg");
    }

    lt_status lu()
    {
        const int n = f->n;
        if (batched(n, small)) {
            T **matrices;
            LT_TRY(addresses(addresses_a, a, f->stride_a, &matrices));
            LT_CUBLAS_TRY(
                blas->getrf_batched(blas_scope.handle, n, matrices, n, f->pivots, infos, batch()));
            return LT_OK;
        }
        int size = 0;
        T *work;
        LT_CUSOLVER_TRY(solver->getrf_size(solver_scope.handle, n, n, a, n, &size));
        LT_TRY(take_work(size, &work));
        for (int64_t i = 0; i < f->batch; i++)
            LT_CUSOLVER_TRY(solver->getrf(solver_scope.handle, n, n, a + i * f->stride_a, n, work,
                                          f->pivots + i * n, infos + i));
        return LT_OK;
    }

    lt_status solve(cublasOperation_t operation, int columns)
    {
        const int n = f->n;
        f->columns = columns;
        if (batched(n, small)) {
            T **matrices, **right;
            int wrong = 0; /* index of an invalid argument */
            LT_TRY(addresses(addresses_a, a, f->stride_a, &matrices));
            LT_TRY(addresses(addresses_b, b_at(0), (int64_t)n * columns, &right));
            LT_CUBLAS_TRY(blas->getrs_batched(blas_scope.handle, operation, n, columns, matrices, n,
                                              f->pivots, right, n, &wrong, batch()));
            return LT_OK;
        }
        for (int64_t i = 0; i < f->batch; i++)
            LT_CUSOLVER_TRY(solver->getrs(solver_scope.handle, operation, n, columns,
                                          a + i * f->stride_a, n, f->pivots + i * n, b_at(i), n,
                                          infos + i));
        return LT_OK;
    }

    lt_status invert()
    {
        LT_TRY(identity(b_at(0), (int64_t)f->n * f->n, f->n, f->n));
        return solve(CUBLAS_OP_N, f->n);
    }

    lt_status cholesky()
    {
        const int n = f->n;
        const cublasFillMode_t uplo = f->upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
        if (batched(n, small)) {
            T **matrices;
            LT_TRY(addresses(addresses_a, a, f->stride_a, &matrices));
            LT_CUSOLVER_TRY(
                solver->potrf_batched(solver_scope.handle, uplo, n, matrices, n, infos, batch()));
            return LT_OK;
        }
        int size = 0;
        T *work;
        LT_CUSOLVER_TRY(solver->potrf_size(solver_scope.handle, uplo, n, a, n, &size));
        LT_TRY(take_work(size, &work));
        for (int64_t i = 0; i < f->batch; i++)
            LT_CUSOLVER_TRY(solver->potrf(solver_scope.handle, uplo, n, a + i * f->stride_a, n,
                                          work, size, infos + i));
        return LT_OK;
    }

    lt_status triangular()
    {
        const int n = f->n, columns = f->columns;
        const T one = 1;
        const cublasFillMode_t uplo = f->upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
        const cublasOperation_t operation = f->transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
        const cublasDiagType_t diagonal = f->unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
        if (batched(n, small)) {
            T **matrices, **right;
            LT_TRY(addresses(addresses_a, a, f->stride_a, &matrices));
            LT_TRY(addresses(addresses_b, b_at(0), (int64_t)n * columns, &right));
            LT_CUBLAS_TRY(blas->trsm_batched(blas_scope.handle, CUBLAS_SIDE_LEFT, uplo, operation,
                                             diagonal, n, columns, &one, matrices, n, right, n,
                                             batch()));
            return LT_OK;
        }
        for (int64_t i = 0; i < f->batch; i++)
            LT_CUBLAS_TRY(blas->trsm(blas_scope.handle, CUBLAS_SIDE_LEFT, uplo, operation, diagonal,
                                     n, columns, &one, a + i * f->stride_a, n, b_at(i), n));
        return LT_OK;
    }

    lt_status qr()
    {
        const int m = f->m, n = f->n, k = m < n ? m : n;
        if (batched(m > n ? m : n, small_qr)) {
            T **matrices, **factors;
            int wrong = 0; /* index of an invalid argument */
            LT_TRY(addresses(addresses_a, a, f->stride_a, &matrices));
            LT_TRY(addresses(addresses_b, value_at(0, k), k, &factors));
            LT_CUBLAS_TRY(blas->geqrf_batched(blas_scope.handle, m, n, matrices, m, factors, &wrong,
                                              batch()));
            return LT_OK;
        }
        int size = 0;
        T *work;
        LT_CUSOLVER_TRY(solver->geqrf_size(solver_scope.handle, m, n, a, m, &size));
        LT_TRY(take_work(size, &work));
        for (int64_t i = 0; i < f->batch; i++)
            LT_CUSOLVER_TRY(solver->geqrf(solver_scope.handle, m, n, a + i * f->stride_a, m,
                                          value_at(i, k), work, size, infos + i));
        return LT_OK;
    }

    lt_status q()
    {
        const int m = f->m, columns = f->columns, k = f->k;
        if (k == 0) return identity(a, f->stride_a, m, columns);
        int size = 0;
        T *work;
        LT_CUSOLVER_TRY(
            solver->orgqr_size(solver_scope.handle, m, columns, k, a, m, value_at(0, k), &size));
        LT_TRY(take_work(size, &work));
        for (int64_t i = 0; i < f->batch; i++)
            LT_CUSOLVER_TRY(solver->orgqr(solver_scope.handle, m, columns, k, a + i * f->stride_a,
                                          m, value_at(i, k), work, size, infos + i));
        return LT_OK;
    }

    /* Jacobi method, PyTorch's first choice; it returns V, not V'. If it does not converge for a
     * matrix of the batch, the caller repeats the batch with the robust method, by
     * bidiagonalization. */
    lt_status svd()
    {
        if (f->robust) return svd_by_bidiagonal();
        f->has_robust = true;
        gesvdjInfo_t parameters = nullptr;
        LT_CUSOLVER_TRY(solver_scope.functions->create_gesvdj(&parameters));
        const bool square =
            f->full || f->m == f->n || f->u == nullptr; /* the batched call returns full U and V */
        lt_status status = square && f->n <= small_jacobi && batched(f->m, small_jacobi)
                               ? svd_batched(parameters)
                               : svd_each(parameters);
        (void)solver_scope.functions->destroy_gesvdj(parameters);
        f->v_by_rows = true;
        return status;
    }

    lt_status svd_by_bidiagonal()
    {
        const int m = f->m, n = f->n;
        const bool vectors = f->u != nullptr;
        const signed char job = !vectors ? 'N' : f->full ? 'A' : 'S';
        const int64_t each_u = (int64_t)m * (f->full ? m : n), each_v = (int64_t)n * n;
        T *u = static_cast<T *>(f->u), *v = static_cast<T *>(f->v), *work;
        int size = 0;
        LT_CUSOLVER_TRY(solver->gesvd_size(solver_scope.handle, m, n, &size));
        LT_TRY(take_work(size, &work));
        for (int64_t i = 0; i < f->batch; i++)
            LT_CUSOLVER_TRY(solver->gesvd(solver_scope.handle, job, job, m, n, a + i * f->stride_a,
                                          m, value_at(i, n), vectors ? u + i * each_u : nullptr, m,
                                          vectors ? v + i * each_v : nullptr, n, work, size,
                                          nullptr, infos + i));
        return LT_OK;
    }

    lt_status svd_batched(gesvdjInfo_t parameters)
    {
        const int m = f->m, n = f->n;
        const cusolverEigMode_t job =
            f->u != nullptr ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
        T *s = static_cast<T *>(f->values), *u, *v, *work;
        int size = 0;
        LT_TRY(take_vectors((int64_t)m * m * f->batch, (int64_t)n * n * f->batch, &u, &v));
        LT_CUSOLVER_TRY(solver->gesvdj_batched_size(solver_scope.handle, job, m, n, a, m, s, u, m,
                                                    v, n, &size, parameters, batch()));
        LT_TRY(take_work(size, &work));
        LT_CUSOLVER_TRY(solver->gesvdj_batched(solver_scope.handle, job, m, n, a, m, s, u, m, v, n,
                                               work, size, infos, parameters, batch()));
        return LT_OK;
    }

    lt_status svd_each(gesvdjInfo_t parameters)
    {
        const int m = f->m, n = f->n, k = m < n ? m : n, economic = f->full ? 0 : 1;
        const bool vectors = f->u != nullptr;
        const cusolverEigMode_t job =
            vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
        const int64_t each_u = (int64_t)m * (f->full ? m : k),
                      each_v = (int64_t)n * (f->full ? n : k);
        T *u, *v, *work;
        int size = 0;
        LT_TRY(take_vectors(each_u, each_v, &u, &v));
        LT_CUSOLVER_TRY(solver->gesvdj_size(solver_scope.handle, job, economic, m, n, a, m,
                                            value_at(0, k), u, m, v, n, &size, parameters));
        LT_TRY(take_work(size, &work));
        for (int64_t i = 0; i < f->batch; i++)
            LT_CUSOLVER_TRY(
                solver->gesvdj(solver_scope.handle, job, economic, m, n, a + i * f->stride_a, m,
                               value_at(i, k), vectors ? u + i * each_u : u, m,
                               vectors ? v + i * each_v : v, n, work, size, infos + i, parameters));
        return LT_OK;
    }

    lt_status eigh()
    {
        const int n = f->n;
        const cusolverEigMode_t job =
            f->vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
        const cublasFillMode_t uplo = f->upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
        if (batched(n, small_jacobi)) return eigh_batched(job, uplo);
        int size = 0;
        T *work;
        LT_CUSOLVER_TRY(
            solver->syevd_size(solver_scope.handle, job, uplo, n, a, n, value_at(0, n), &size));
        LT_TRY(take_work(size, &work));
        for (int64_t i = 0; i < f->batch; i++)
            LT_CUSOLVER_TRY(solver->syevd(solver_scope.handle, job, uplo, n, a + i * f->stride_a, n,
                                          value_at(i, n), work, size, infos + i));
        return LT_OK;
    }

    lt_status eigh_batched(cusolverEigMode_t job, cublasFillMode_t uplo)
    {
        syevjInfo_t parameters = nullptr;
        LT_CUSOLVER_TRY(solver_scope.functions->create_syevj(&parameters));
        lt_status status = eigh_with(job, uplo, parameters);
        (void)solver_scope.functions->destroy_syevj(parameters);
        return status;
    }

    lt_status eigh_with(cusolverEigMode_t job, cublasFillMode_t uplo, syevjInfo_t parameters)
    {
        const int n = f->n;
        int size = 0;
        T *work;
        LT_CUSOLVER_TRY(solver->syevj_batched_size(solver_scope.handle, job, uplo, n, a, n,
                                                   value_at(0, n), &size, parameters, batch()));
        LT_TRY(take_work(size, &work));
        LT_CUSOLVER_TRY(solver->syevj_batched(solver_scope.handle, job, uplo, n, a, n,
                                              value_at(0, n), work, size, infos, parameters,
                                              batch()));
        return LT_OK;
    }

    lt_factor *f;
    cudaStream_t stream;
    T *a;
    int32_t *infos = nullptr;
    const lt_cublas_real<T> *blas = nullptr;
    const lt_cusolver_real<T> *solver = nullptr;
    lt_cuda_blas blas_scope;
    lt_cuda_solver solver_scope;
    lt_cuda_scratch unread, unread_u, unread_v, workspace, addresses_a, addresses_b;
};

} // namespace

lt_status lt_cuda_factor(lt_factor *f)
{
    cudaStream_t stream;
    const int device = f->device.index;
    LT_TRY(lt_cuda_refuse_recording()); /* the libraries may allocate and synchronize */
    LT_TRY(lt_cuda_enter(device, &stream));
    LT_TRY(f->dtype == LT_FLOAT32 ? Factorization<float>(f, stream).run()
                                  : Factorization<double>(f, stream).run());
    return lt_cuda_launched(device, stream, "factorization");
}
