/* cusolver.cpp - cuSOLVER for simulated GPUs: implements cusolver_api.h with LAPACK (stand_in.h).
 *
 * A call requires the workspace size that _bufferSize returns, and fills the workspace with NaN. */
#include "libraries/cusolver_api.h"
#include "stand_in.h"

#include <limits>

using namespace lt_sim;

struct cusolverDnContext : LibraryHandle {};
struct gesvdjInfo {};
struct syevjInfo {};

extern "C" {
#define DECLARE(p, real)                                                                           \
    void p##potrf_(const char *uplo, const int *n, real *a, const int *lda, int *info);            \
    void p##getrf_(const int *m, const int *n, real *a, const int *lda, int *pivots, int *info);   \
    void p##getrs_(const char *trans, const int *n, const int *columns, const real *a,             \
                   const int *lda, const int *pivots, real *b, const int *ldb, int *info);         \
    void p##geqrf_(const int *m, const int *n, real *a, const int *lda, real *tau, real *work,     \
                   const int *size, int *info);                                                    \
    void p##orgqr_(const int *m, const int *n, const int *k, real *a, const int *lda,              \
                   const real *tau, real *work, const int *size, int *info);                       \
    void p##gesvd_(const char *job_u, const char *job_vt, const int *m, const int *n, real *a,     \
                   const int *lda, real *s, real *u, const int *ldu, real *vt, const int *ldvt,    \
                   real *work, const int *size, int *info);                                        \
    void p##syev_(const char *job, const char *uplo, const int *n, real *a, const int *lda,        \
                  real *w, real *work, const int *size, int *info);
DECLARE(s, float)
DECLARE(d, double)
#undef DECLARE
}

namespace {

/* Overloads of the LAPACK functions. */
#define LAPACK(p, real)                                                                            \
    void potrf(const char *uplo, int n, real *a, int lda, int *info)                               \
    {                                                                                              \
        p##potrf_(uplo, &n, a, &lda, info);                                                        \
    }                                                                                              \
    void getrf(int m, int n, real *a, int lda, int *pivots, int *info)                             \
    {                                                                                              \
        p##getrf_(&m, &n, a, &lda, pivots, info);                                                  \
    }                                                                                              \
    void getrs(const char *trans, int n, int columns, const real *a, int lda, const int *pivots,   \
               real *b, int ldb, int *info)                                                        \
    {                                                                                              \
        p##getrs_(trans, &n, &columns, a, &lda, pivots, b, &ldb, info);                            \
    }                                                                                              \
    void geqrf(int m, int n, real *a, int lda, real *tau, real *work, int size, int *info)         \
    {                                                                                              \
        p##geqrf_(&m, &n, a, &lda, tau, work, &size, info);                                        \
    }                                                                                              \
    void orgqr(int m, int n, int k, real *a, int lda, const real *tau, real *work, int size,       \
               int *info)                                                                          \
    {                                                                                              \
        p##orgqr_(&m, &n, &k, a, &lda, tau, work, &size, info);                                    \
    }                                                                                              \
    void gesvd(const char *job, int m, int n, real *a, int lda, real *s, real *u, int ldu,         \
               real *vt, int ldvt, real *work, int size, int *info)                                \
    {                                                                                              \
        p##gesvd_(job, job, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work, &size, info);            \
    }                                                                                              \
    void syev(const char *job, const char *uplo, int n, real *a, int lda, real *w, real *work,     \
              int size, int *info)                                                                 \
    {                                                                                              \
        p##syev_(job, uplo, &n, a, &lda, w, work, &size, info);                                    \
    }
LAPACK(s, float)
LAPACK(d, double)
#undef LAPACK

const char *triangle(cublasFillMode_t uplo) { return uplo == CUBLAS_FILL_MODE_UPPER ? "U" : "L"; }

cusolverStatus_t status_of(cudaError_t error)
{
    return error == cudaSuccess ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_EXECUTION_FAILED;
}

/* Starts a call; returns errors that do not depend on its arguments. */
cusolverStatus_t begin_call(cusolverDnHandle_t handle)
{
    if (begin_on_device(cudaErrorUnknown) != cudaSuccess) return CUSOLVER_STATUS_INTERNAL_ERROR;
    return usable(handle) ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_NOT_INITIALIZED;
}

#define BEGIN(handle)                                                                              \
    do {                                                                                           \
        cusolverStatus_t begun_ = begin_call(handle);                                              \
        if (begun_ != CUSOLVER_STATUS_SUCCESS) return begun_;                                      \
    } while (0)
#define NEED(...)                                                                                  \
    do {                                                                                           \
        if (!(__VA_ARGS__)) return CUSOLVER_STATUS_INVALID_VALUE;                                  \
    } while (0)

bool fits(int rows, int leading) { return rows >= 0 && leading >= std::max(1, rows); }

template <class T> struct Real {
    /* Workspace sizes in elements: at least the size that LAPACK needs. */
    static int room(int m, int n) { return 8 * (std::max(m, n) + 1) + 3; }
    static cusolverStatus_t tell(int elements, int *size)
    {
        NEED(size != nullptr);
        *size = elements;
        return CUSOLVER_STATUS_SUCCESS;
    }
    static bool has_room(cusolverDnHandle_t handle, const T *work, int size, int needed)
    {
        return size >= needed && on_device(handle->device, work, needed);
    }
    static void spoil(const Uses &uses, T *work, int size)
    {
        uses.writes(work, size);
        std::fill(work, work + size, std::numeric_limits<T>::quiet_NaN());
    }
    static bool matrix(cusolverDnHandle_t handle, const T *a, int rows, int columns, int leading,
                       int64_t batch = 1)
    {
        const int64_t last = span(rows, columns, leading), each = (int64_t)leading * columns;
        return columns >= 0 && fits(rows, leading) &&
               on_device(handle->device, a, last > 0 ? last + (batch - 1) * each : 0);
    }

    /* -- Cholesky ------------------------------------------------------------------------------ */
    static void factor_triangle(const Uses &uses, cublasFillMode_t uplo, int n, T *a, int lda,
                                int *info)
    {
        uses.reads_triangle(uplo == CUBLAS_FILL_MODE_UPPER, a, n, lda).writes(info, 1);
        potrf(triangle(uplo), n, a, lda, info);
    }
    static cusolverStatus_t potrf_size(cusolverDnHandle_t handle, cublasFillMode_t, int n, T *,
                                       int lda, int *size)
    {
        BEGIN(handle);
        NEED(fits(n, lda));
        return tell(room(n, n), size);
    }
    static cusolverStatus_t potrf_(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *a,
                                   int lda, T *work, int size, int *info)
    {
        BEGIN(handle);
        NEED(matrix(handle, a, n, n, lda) && has_room(handle, work, size, room(n, n)) &&
             on_device(handle->device, info, 1));
        return status_of(queue(handle, "cusolverDnPotrf", [=](const Uses &uses) {
            factor_triangle(uses, uplo, n, a, lda, info);
            spoil(uses, work, room(n, n));
            return cudaSuccess;
        }));
    }
    static cusolverStatus_t potrf_batched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                                          T **a, int lda, int *infos, int batch)
    {
        BEGIN(handle);
        NEED(fits(n, lda) && batch >= 0 && on_device(handle->device, a, batch) &&
             on_device(handle->device, infos, batch));
        const int device = handle->device;
        return status_of(queue(handle, "cusolverDnPotrfBatched", [=](const Uses &uses) {
            uses.reads(a, batch);
            for (int i = 0; i < batch; i++) {
                if (!on_device(device, a[i], span(n, n, lda))) return cudaErrorIllegalAddress;
                factor_triangle(uses, uplo, n, a[i], lda, infos + i);
            }
            return cudaSuccess;
        }));
    }

    /* -- LU ------------------------------------------------------------------------------------ */
    static cusolverStatus_t getrf_size(cusolverDnHandle_t handle, int m, int n, T *, int lda,
                                       int *size)
    {
        BEGIN(handle);
        NEED(n >= 0 && fits(m, lda));
        return tell(room(m, n), size);
    }
    static cusolverStatus_t getrf_(cusolverDnHandle_t handle, int m, int n, T *a, int lda, T *work,
                                   int *pivots, int *info)
    {
        BEGIN(handle);
        NEED(matrix(handle, a, m, n, lda) && on_device(handle->device, work, room(m, n)) &&
             on_device(handle->device, pivots, std::min(m, n)) &&
             on_device(handle->device, info, 1));
        return status_of(queue(handle, "cusolverDnGetrf", [=](const Uses &uses) {
            uses.reads(a, m, n, lda).writes(a, m, n, lda);
            uses.writes(pivots, std::min(m, n)).writes(info, 1);
            getrf(m, n, a, lda, pivots, info);
            spoil(uses, work, room(m, n));
            return cudaSuccess;
        }));
    }
    static cusolverStatus_t getrs_(cusolverDnHandle_t handle, cublasOperation_t trans, int n,
                                   int columns, const T *a, int lda, const int *pivots, T *b,
                                   int ldb, int *info)
    {
        BEGIN(handle);
        NEED(matrix(handle, a, n, n, lda) && matrix(handle, b, n, columns, ldb) &&
             on_device(handle->device, pivots, n) && on_device(handle->device, info, 1));
        return status_of(queue(handle, "cusolverDnGetrs", [=](const Uses &uses) {
            uses.reads(a, n, n, lda).reads(pivots, n).reads(b, n, columns, ldb);
            uses.writes(b, n, columns, ldb).writes(info, 1);
            getrs(trans == CUBLAS_OP_T ? "T" : "N", n, columns, a, lda, pivots, b, ldb, info);
            return cudaSuccess;
        }));
    }

    /* -- QR ------------------------------------------------------------------------------------ */
    static cusolverStatus_t geqrf_size(cusolverDnHandle_t handle, int m, int n, T *, int lda,
                                       int *size)
    {
        BEGIN(handle);
        NEED(n >= 0 && fits(m, lda));
        return tell(room(m, n), size);
    }
    static cusolverStatus_t geqrf_(cusolverDnHandle_t handle, int m, int n, T *a, int lda, T *tau,
                                   T *work, int size, int *info)
    {
        BEGIN(handle);
        NEED(matrix(handle, a, m, n, lda) && on_device(handle->device, tau, std::min(m, n)) &&
             has_room(handle, work, size, room(m, n)) && on_device(handle->device, info, 1));
        return status_of(queue(handle, "cusolverDnGeqrf", [=](const Uses &uses) {
            uses.reads(a, m, n, lda).writes(a, m, n, lda);
            uses.writes(tau, std::min(m, n)).writes(info, 1);
            geqrf(m, n, a, lda, tau, work, size, info);
            spoil(uses, work, room(m, n));
            return cudaSuccess;
        }));
    }
    static cusolverStatus_t orgqr_size(cusolverDnHandle_t handle, int m, int n, int k, const T *,
                                       int lda, const T *, int *size)
    {
        BEGIN(handle);
        NEED(k >= 0 && n >= k && m >= n && fits(m, lda));
        return tell(room(m, n), size);
    }
    static cusolverStatus_t orgqr_(cusolverDnHandle_t handle, int m, int n, int k, T *a, int lda,
                                   const T *tau, T *work, int size, int *info)
    {
        BEGIN(handle);
        NEED(k >= 0 && n >= k && m >= n && matrix(handle, a, m, n, lda) &&
             on_device(handle->device, tau, k) && has_room(handle, work, size, room(m, n)) &&
             on_device(handle->device, info, 1));
        return status_of(queue(handle, "cusolverDnOrgqr", [=](const Uses &uses) {
            uses.reads(a, m, k, lda).reads(tau, k).writes(a, m, n, lda).writes(info, 1);
            orgqr(m, n, k, a, lda, tau, work, size, info);
            spoil(uses, work, room(m, n));
            return cudaSuccess;
        }));
    }

    /* -- singular values ----------------------------------------------------------------------- */
    static bool factors(cusolverDnHandle_t handle, cusolverEigMode_t job, int economic, int m,
                        int n, const T *s, const T *u, int ldu, const T *v, int ldv, int64_t batch)
    {
        const int k = std::min(m, n);
        if (!fits(m, ldu) || !fits(n, ldv) || !on_device(handle->device, s, k * batch))
            return false;
        /* as in cuSOLVER, u and v are required also without vectors */
        const bool some = job == CUSOLVER_EIG_MODE_NOVECTOR || economic;
        return matrix(handle, u, m, some ? k : m, ldu, batch) &&
               matrix(handle, v, n, some ? k : n, ldv, batch);
    }
    /* Whether the squares of all elements are finite. Jacobi's method squares elements, so it does
     * not converge if they overflow. */
    static bool squares(int m, int n, const T *a, int lda)
    {
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < m; i++)
                if (!(a[j * lda + i] * a[j * lda + i] < std::numeric_limits<T>::infinity()))
                    return false;
        return true;
    }
    /* Stores V; LAPACK returns its transpose. */
    static void one_svd(const Uses &uses, cusolverEigMode_t job, int economic, int m, int n, T *a,
                        int lda, T *s, T *u, int ldu, T *v, int ldv, T *work, int size, int *info)
    {
        const bool vectors = job == CUSOLVER_EIG_MODE_VECTOR;
        const int least = std::min(m, n), rows = economic ? least : n;
        uses.reads(a, m, n, lda).writes(a, m, n, lda).writes(s, least).writes(info, 1);
        if (vectors) uses.writes(u, m, economic ? least : m, ldu).writes(v, n, rows, ldv);
        if (!squares(m, n, a, lda)) {
            *info = least + 1;
            std::fill(s, s + least, std::numeric_limits<T>::quiet_NaN());
            return;
        }
        std::vector<T> vt((size_t)rows * (size_t)n + 1);
        gesvd(!vectors   ? "N"
              : economic ? "S"
                         : "A",
              m, n, a, lda, s, u, ldu, vt.data(), std::max(1, rows), work, size, info);
        for (int i = 0; vectors && i < rows; i++)
            for (int j = 0; j < n; j++)
                v[(int64_t)i * ldv + j] = vt[(size_t)j * (size_t)rows + (size_t)i];
    }
    static cusolverStatus_t gesvdj_size(cusolverDnHandle_t handle, cusolverEigMode_t, int, int m,
                                        int n, const T *, int lda, const T *, const T *, int ldu,
                                        const T *, int ldv, int *size, gesvdjInfo_t parameters)
    {
        BEGIN(handle);
        NEED(parameters != nullptr && n >= 0 && fits(m, lda) && fits(m, ldu) && fits(n, ldv));
        return tell(room(m, n), size);
    }
    static cusolverStatus_t gesvdj(cusolverDnHandle_t handle, cusolverEigMode_t job, int economic,
                                   int m, int n, T *a, int lda, T *s, T *u, int ldu, T *v, int ldv,
                                   T *work, int size, int *info, gesvdjInfo_t parameters)
    {
        BEGIN(handle);
        NEED(parameters != nullptr && matrix(handle, a, m, n, lda) &&
             factors(handle, job, economic, m, n, s, u, ldu, v, ldv, 1) &&
             has_room(handle, work, size, room(m, n)) && on_device(handle->device, info, 1));
        return status_of(queue(handle, "cusolverDnGesvdj", [=](const Uses &uses) {
            one_svd(uses, job, economic, m, n, a, lda, s, u, ldu, v, ldv, work, size, info);
            spoil(uses, work, room(m, n));
            return cudaSuccess;
        }));
    }
    static cusolverStatus_t gesvd_size(cusolverDnHandle_t handle, int m, int n, int *size)
    {
        BEGIN(handle);
        NEED(n >= 0 && m >= n);
        return tell(room(m, n), size);
    }
    static cusolverStatus_t gesvd_(cusolverDnHandle_t handle, signed char job_u, signed char job_v,
                                   int m, int n, T *a, int lda, T *s, T *u, int ldu, T *vt,
                                   int ldvt, T *work, int size, T *unconverged, int *info)
    {
        const char job = (char)job_u;
        const bool vectors = job != 'N';
        const int columns = job == 'A' ? m : n;
        BEGIN(handle);
        NEED((job == 'A' || job == 'S' || job == 'N') && job_v == job_u && m >= n &&
             matrix(handle, a, m, n, lda) && on_device(handle->device, s, n) &&
             has_room(handle, work, size, room(m, n)) && on_device(handle->device, info, 1));
        NEED(fits(m, ldu) && fits(n, ldvt) &&
             (unconverged == nullptr || on_device(handle->device, unconverged, n - 1)));
        NEED(!vectors || (matrix(handle, u, m, columns, ldu) && matrix(handle, vt, n, n, ldvt)));
        return status_of(queue(handle, "cusolverDnGesvd", [=](const Uses &uses) {
            const char how[] = {job, '\0'};
            uses.reads(a, m, n, lda).writes(a, m, n, lda).writes(s, n).writes(info, 1);
            if (vectors) uses.writes(u, m, columns, ldu).writes(vt, n, n, ldvt);
            gesvd(how, m, n, a, lda, s, u, ldu, vt, ldvt, work, size, info);
            spoil(uses, work, room(m, n));
            return cudaSuccess;
        }));
    }
    static bool small(int m, int n) { return m >= 0 && m <= 32 && n >= 0 && n <= 32; }
    static cusolverStatus_t gesvdj_batched_size(cusolverDnHandle_t handle, cusolverEigMode_t, int m,
                                                int n, const T *, int lda, const T *, const T *,
                                                int ldu, const T *, int ldv, int *size,
                                                gesvdjInfo_t parameters, int batch)
    {
        BEGIN(handle);
        NEED(parameters != nullptr && small(m, n) && fits(m, lda) && fits(m, ldu) && fits(n, ldv) &&
             batch > 0);
        return tell(room(m, n) * batch, size);
    }
    static cusolverStatus_t gesvdj_batched(cusolverDnHandle_t handle, cusolverEigMode_t job, int m,
                                           int n, T *a, int lda, T *s, T *u, int ldu, T *v, int ldv,
                                           T *work, int size, int *infos, gesvdjInfo_t parameters,
                                           int batch)
    {
        BEGIN(handle);
        NEED(parameters != nullptr && small(m, n) && batch > 0 &&
             matrix(handle, a, m, n, lda, batch) &&
             factors(handle, job, 0, m, n, s, u, ldu, v, ldv, batch) &&
             has_room(handle, work, size, room(m, n) * batch) &&
             on_device(handle->device, infos, batch));
        return status_of(queue(handle, "cusolverDnGesvdjBatched", [=](const Uses &uses) {
            for (int64_t i = 0; i < batch; i++)
                one_svd(uses, job, 0, m, n, a + i * lda * n, lda, s + i * std::min(m, n),
                        u + i * ldu * m, ldu, v + i * ldv * n, ldv, work, size, infos + i);
            spoil(uses, work, room(m, n) * batch);
            return cudaSuccess;
        }));
    }

    /* -- symmetric eigenvalues ----------------------------------------------------------------- */
    static void tell_eigen(const Uses &uses, cublasFillMode_t uplo, int n, T *a, int lda, T *w,
                           int *info)
    {
        uses.reads_triangle(uplo == CUBLAS_FILL_MODE_UPPER, a, n, lda).writes(a, n, n, lda);
        uses.writes(w, n).writes(info, 1);
    }
    static cusolverStatus_t syevd_size(cusolverDnHandle_t handle, cusolverEigMode_t,
                                       cublasFillMode_t, int n, const T *, int lda, const T *,
                                       int *size)
    {
        BEGIN(handle);
        NEED(fits(n, lda));
        return tell(room(n, n), size);
    }
    static cusolverStatus_t syevd(cusolverDnHandle_t handle, cusolverEigMode_t job,
                                  cublasFillMode_t uplo, int n, T *a, int lda, T *w, T *work,
                                  int size, int *info)
    {
        BEGIN(handle);
        NEED(matrix(handle, a, n, n, lda) && on_device(handle->device, w, n) &&
             has_room(handle, work, size, room(n, n)) && on_device(handle->device, info, 1));
        return status_of(queue(handle, "cusolverDnSyevd", [=](const Uses &uses) {
            tell_eigen(uses, uplo, n, a, lda, w, info);
            syev(job == CUSOLVER_EIG_MODE_VECTOR ? "V" : "N", triangle(uplo), n, a, lda, w, work,
                 size, info);
            spoil(uses, work, room(n, n));
            return cudaSuccess;
        }));
    }
    static cusolverStatus_t syevj_batched_size(cusolverDnHandle_t handle, cusolverEigMode_t,
                                               cublasFillMode_t, int n, const T *, int lda,
                                               const T *, int *size, syevjInfo_t parameters,
                                               int batch)
    {
        BEGIN(handle);
        NEED(parameters != nullptr && fits(n, lda) && batch > 0);
        return tell(room(n, n) * batch, size);
    }
    static cusolverStatus_t syevj_batched(cusolverDnHandle_t handle, cusolverEigMode_t job,
                                          cublasFillMode_t uplo, int n, T *a, int lda, T *w,
                                          T *work, int size, int *infos, syevjInfo_t parameters,
                                          int batch)
    {
        BEGIN(handle);
        NEED(parameters != nullptr && batch > 0 && matrix(handle, a, n, n, lda, batch) &&
             on_device(handle->device, w, (int64_t)n * batch) &&
             has_room(handle, work, size, room(n, n) * batch) &&
             on_device(handle->device, infos, batch));
        return status_of(queue(handle, "cusolverDnSyevjBatched", [=](const Uses &uses) {
            for (int64_t i = 0; i < batch; i++) {
                tell_eigen(uses, uplo, n, a + i * lda * n, lda, w + i * n, infos + i);
                syev(job == CUSOLVER_EIG_MODE_VECTOR ? "V" : "N", triangle(uplo), n,
                     a + i * lda * n, lda, w + i * n, work, size, infos + i);
            }
            spoil(uses, work, room(n, n) * batch);
            return cudaSuccess;
        }));
    }

    static lt_cusolver_real<T> functions()
    {
        return {potrf_size,          potrf_,         potrf_batched, getrf_size, getrf_,      getrs_,
                geqrf_size,          geqrf_,         orgqr_size,    orgqr_,     gesvdj_size, gesvdj,
                gesvdj_batched_size, gesvdj_batched, gesvd_size,    gesvd_,     syevd_size,  syevd,
                syevj_batched_size,  syevj_batched};
    }
};

cusolverStatus_t create(cusolverDnHandle_t *handle)
{
    if (begin_on_device(cudaErrorMemoryAllocation) != cudaSuccess)
        return CUSOLVER_STATUS_ALLOC_FAILED;
    NEED(handle != nullptr);
    if (capturing(current_device())) return CUSOLVER_STATUS_NOT_INITIALIZED;
    *handle = new (std::nothrow) cusolverDnContext;
    if (*handle == nullptr) return CUSOLVER_STATUS_ALLOC_FAILED;
    (*handle)->device = current_device();
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t destroy(cusolverDnHandle_t handle)
{
    if (!usable(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
    if (capturing(handle->device)) return CUSOLVER_STATUS_INTERNAL_ERROR;
    handle->alive = 0;
    delete handle;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t set_stream(cusolverDnHandle_t handle, cudaStream_t stream)
{
    BEGIN(handle);
    CUstream_st *found = find_stream(stream);
    NEED(found != nullptr && found->device->index == handle->device);
    handle->stream = stream;
    return CUSOLVER_STATUS_SUCCESS;
}

template <class Info> cusolverStatus_t create_info(Info **parameters)
{
    if (begin(cudaErrorMemoryAllocation) != cudaSuccess) return CUSOLVER_STATUS_ALLOC_FAILED;
    *parameters = new (std::nothrow) Info;
    return *parameters != nullptr ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_ALLOC_FAILED;
}

template <class Info> cusolverStatus_t destroy_info(Info *parameters)
{
    delete parameters;
    return CUSOLVER_STATUS_SUCCESS;
}

} // namespace

lt_status lt_cusolver_get(const lt_cusolver **table)
{
    static const lt_cusolver functions = {create,
                                          destroy,
                                          set_stream,
                                          create_info<gesvdjInfo>,
                                          destroy_info<gesvdjInfo>,
                                          create_info<syevjInfo>,
                                          destroy_info<syevjInfo>,
                                          Real<float>::functions(),
                                          Real<double>::functions()};
    *table = &functions;
    return LT_OK;
}
