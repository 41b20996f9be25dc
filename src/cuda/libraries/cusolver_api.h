/* cusolver_api.h - the functions and constants of cuSOLVER's dense API in use (vendor.h). Matrices
 * are column-major; workspace sizes are in elements; infos, one per matrix, are in device memory.
 */
#ifndef LT_CUDA_CUSOLVER_API_H
#define LT_CUDA_CUSOLVER_API_H

#include "libraries/cublas_api.h"

#define LT_CUSOLVER_LIBRARY                                                                        \
    {                                                                                              \
        "cuSOLVER", "a factorization of matrices on a GPU", "libcusolver.so.12",                   \
            "libcusolver.so.11", "libcusolver.so", "nvidia-cusolver"                               \
    }

#define LT_CUSOLVER_STATUSES(X)                                                                    \
    X(CUSOLVER_STATUS_SUCCESS, 0)                                                                  \
    X(CUSOLVER_STATUS_NOT_INITIALIZED, 1)                                                          \
    X(CUSOLVER_STATUS_ALLOC_FAILED, 2)                                                             \
    X(CUSOLVER_STATUS_INVALID_VALUE, 3)                                                            \
    X(CUSOLVER_STATUS_ARCH_MISMATCH, 4)                                                            \
    X(CUSOLVER_STATUS_MAPPING_ERROR, 5)                                                            \
    X(CUSOLVER_STATUS_EXECUTION_FAILED, 6)                                                         \
    X(CUSOLVER_STATUS_INTERNAL_ERROR, 7)                                                           \
    X(CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED, 8)                                                \
    X(CUSOLVER_STATUS_NOT_SUPPORTED, 9)                                                            \
    X(CUSOLVER_STATUS_INVALID_WORKSPACE, 31)
#define LT_CUSOLVER_JOBS(X) X(CUSOLVER_EIG_MODE_NOVECTOR, 0) X(CUSOLVER_EIG_MODE_VECTOR, 1)

#ifndef LT_VENDOR_HEADERS
typedef struct cusolverDnContext *cusolverDnHandle_t;
typedef struct gesvdjInfo *gesvdjInfo_t;
typedef struct syevjInfo *syevjInfo_t;
typedef enum { LT_CUSOLVER_STATUSES(LT_ENUM) } cusolverStatus_t;
typedef enum { LT_CUSOLVER_JOBS(LT_ENUM) } cusolverEigMode_t;
#endif

#define LT_CUSOLVER_FUNCTIONS(X)                                                                   \
    X(create, cusolverDnCreate, (cusolverDnHandle_t * handle))                                     \
    X(destroy, cusolverDnDestroy, (cusolverDnHandle_t handle))                                     \
    X(set_stream, cusolverDnSetStream, (cusolverDnHandle_t handle, cudaStream_t stream))           \
    X(create_gesvdj, cusolverDnCreateGesvdjInfo, (gesvdjInfo_t * parameters))                      \
    X(destroy_gesvdj, cusolverDnDestroyGesvdjInfo, (gesvdjInfo_t parameters))                      \
    X(create_syevj, cusolverDnCreateSyevjInfo, (syevjInfo_t * parameters))                         \
    X(destroy_syevj, cusolverDnDestroySyevjInfo, (syevjInfo_t parameters))

/* Functions for float (S) and double (D). */
#define LT_CUSOLVER_REAL_FUNCTIONS(X, S, real)                                                     \
    X(potrf_size, cusolverDn##S##potrf_bufferSize,                                                 \
      (cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, real *a, int lda, int *size))      \
    X(potrf, cusolverDn##S##potrf,                                                                 \
      (cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, real *a, int lda, real *work,      \
       int size, int *info))                                                                       \
    X(potrf_batched, cusolverDn##S##potrfBatched,                                                  \
      (cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, real **a, int lda, int *infos,     \
       int batch))                                                                                 \
    X(getrf_size, cusolverDn##S##getrf_bufferSize,                                                 \
      (cusolverDnHandle_t handle, int m, int n, real *a, int lda, int *size))                      \
    X(getrf, cusolverDn##S##getrf,                                                                 \
      (cusolverDnHandle_t handle, int m, int n, real *a, int lda, real *work, int *pivots,         \
       int *info))                                                                                 \
    X(getrs, cusolverDn##S##getrs,                                                                 \
      (cusolverDnHandle_t handle, cublasOperation_t trans, int n, int columns, const real *a,      \
       int lda, const int *pivots, real *b, int ldb, int *info))                                   \
    X(geqrf_size, cusolverDn##S##geqrf_bufferSize,                                                 \
      (cusolverDnHandle_t handle, int m, int n, real *a, int lda, int *size))                      \
    X(geqrf, cusolverDn##S##geqrf,                                                                 \
      (cusolverDnHandle_t handle, int m, int n, real *a, int lda, real *tau, real *work, int size, \
       int *info))                                                                                 \
    X(orgqr_size, cusolverDn##S##orgqr_bufferSize,                                                 \
      (cusolverDnHandle_t handle, int m, int n, int k, const real *a, int lda, const real *tau,    \
       int *size))                                                                                 \
    X(orgqr, cusolverDn##S##orgqr,                                                                 \
      (cusolverDnHandle_t handle, int m, int n, int k, real *a, int lda, const real *tau,          \
       real *work, int size, int *info))                                                           \
    X(gesvdj_size, cusolverDn##S##gesvdj_bufferSize,                                               \
      (cusolverDnHandle_t handle, cusolverEigMode_t job, int economic, int m, int n,               \
       const real *a, int lda, const real *s, const real *u, int ldu, const real *v, int ldv,      \
       int *size, gesvdjInfo_t parameters))                                                        \
    X(gesvdj, cusolverDn##S##gesvdj,                                                               \
      (cusolverDnHandle_t handle, cusolverEigMode_t job, int economic, int m, int n, real *a,      \
       int lda, real *s, real *u, int ldu, real *v, int ldv, real *work, int size, int *info,      \
       gesvdjInfo_t parameters))                                                                   \
    X(gesvdj_batched_size, cusolverDn##S##gesvdjBatched_bufferSize,                                \
      (cusolverDnHandle_t handle, cusolverEigMode_t job, int m, int n, const real *a, int lda,     \
       const real *s, const real *u, int ldu, const real *v, int ldv, int *size,                   \
       gesvdjInfo_t parameters, int batch))                                                        \
    X(gesvdj_batched, cusolverDn##S##gesvdjBatched,                                                \
      (cusolverDnHandle_t handle, cusolverEigMode_t job, int m, int n, real *a, int lda, real *s,  \
       real *u, int ldu, real *v, int ldv, real *work, int size, int *infos,                       \
       gesvdjInfo_t parameters, int batch))                                                        \
    X(gesvd_size, cusolverDn##S##gesvd_bufferSize,                                                 \
      (cusolverDnHandle_t handle, int m, int n, int *size))                                        \
    X(gesvd, cusolverDn##S##gesvd,                                                                 \
      (cusolverDnHandle_t handle, signed char job_u, signed char job_v, int m, int n, real *a,     \
       int lda, real *s, real *u, int ldu, real *vt, int ldvt, real *work, int size,               \
       real *unconverged, int *info))                                                              \
    X(syevd_size, cusolverDn##S##syevd_bufferSize,                                                 \
      (cusolverDnHandle_t handle, cusolverEigMode_t job, cublasFillMode_t uplo, int n,             \
       const real *a, int lda, const real *w, int *size))                                          \
    X(syevd, cusolverDn##S##syevd,                                                                 \
      (cusolverDnHandle_t handle, cusolverEigMode_t job, cublasFillMode_t uplo, int n, real *a,    \
       int lda, real *w, real *work, int size, int *info))                                         \
    X(syevj_batched_size, cusolverDn##S##syevjBatched_bufferSize,                                  \
      (cusolverDnHandle_t handle, cusolverEigMode_t job, cublasFillMode_t uplo, int n,             \
       const real *a, int lda, const real *w, int *size, syevjInfo_t parameters, int batch))       \
    X(syevj_batched, cusolverDn##S##syevjBatched,                                                  \
      (cusolverDnHandle_t handle, cusolverEigMode_t job, cublasFillMode_t uplo, int n, real *a,    \
       int lda, real *w, real *work, int size, int *infos, syevjInfo_t parameters, int batch))

template <class T> struct lt_cusolver_real {
#define X(field, symbol, arguments) cusolverStatus_t(*field) arguments;
    LT_CUSOLVER_REAL_FUNCTIONS(X, , T)
#undef X
};

struct lt_cusolver {
#define X(field, symbol, arguments) cusolverStatus_t(*field) arguments;
    LT_CUSOLVER_FUNCTIONS(X)
#undef X
    lt_cusolver_real<float> s;
    lt_cusolver_real<double> d;
    const lt_cusolver_real<float> &of(float) const { return s; }
    const lt_cusolver_real<double> &of(double) const { return d; }
};

/* Returns the table; loads the library at the first call. */
lt_status lt_cusolver_get(const lt_cusolver **table);

#endif
