/* lapack_routines.h - names and prototypes of LAPACK routines. Included only by lapack.c. */
#ifndef LT_LAPACK_ROUTINES_H
#define LT_LAPACK_ROUTINES_H

/* Each row has one prototype for the four element types, in the order of `kind_of`; matrices are
 * void pointers. `real` arguments have the type of an element's parts. A complex routine with
 * additional arguments has its own row. */
#define LT_LAPACK_ROUTINES(X)                                                                      \
    X(getrf, "sgetrf_", "dgetrf_", "cgetrf_", "zgetrf_",                                           \
      (const int *m, const int *n, void *a, const int *lda, int *pivots, int *info))               \
    X(getrs, "sgetrs_", "dgetrs_", "cgetrs_", "zgetrs_",                                           \
      (const char *trans, const int *n, const int *nrhs, const void *a, const int *lda,            \
       const int *pivots, void *b, const int *ldb, int *info))                                     \
    X(potrf, "spotrf_", "dpotrf_", "cpotrf_", "zpotrf_",                                           \
      (const char *uplo, const int *n, void *a, const int *lda, int *info))                        \
    X(trsm, "strsm_", "dtrsm_", "ctrsm_", "ztrsm_",                                                \
      (const char *side, const char *uplo, const char *trans, const char *diag, const int *m,      \
       const int *n, const void *alpha, const void *a, const int *lda, void *b, const int *ldb))   \
    X(geqrf, "sgeqrf_", "dgeqrf_", "cgeqrf_", "zgeqrf_",                                           \
      (const int *m, const int *n, void *a, const int *lda, void *tau, void *work,                 \
       const int *lwork, int *info))                                                               \
    X(orgqr, "sorgqr_", "dorgqr_", "cungqr_", "zungqr_",                                           \
      (const int *m, const int *n, const int *k, void *a, const int *lda, const void *tau,         \
       void *work, const int *lwork, int *info))                                                   \
    X(sytrf, "ssytrf_", "dsytrf_", "csytrf_", "zsytrf_",                                           \
      (const char *uplo, const int *n, void *a, const int *lda, int *pivots, void *work,           \
       const int *lwork, int *info))                                                               \
    X(sytrs, "ssytrs_", "dsytrs_", "csytrs_", "zsytrs_",                                           \
      (const char *uplo, const int *n, const int *nrhs, const void *a, const int *lda,             \
       const int *pivots, void *b, const int *ldb, int *info))                                     \
    X(hetrf, "ssytrf_", "dsytrf_", "chetrf_", "zhetrf_",                                           \
      (const char *uplo, const int *n, void *a, const int *lda, int *pivots, void *work,           \
       const int *lwork, int *info))                                                               \
    X(hetrs, "ssytrs_", "dsytrs_", "chetrs_", "zhetrs_",                                           \
      (const char *uplo, const int *n, const int *nrhs, const void *a, const int *lda,             \
       const int *pivots, void *b, const int *ldb, int *info))                                     \
    X(gesdd, "sgesdd_", "dgesdd_", NULL, NULL,                                                     \
      (const char *jobz, const int *m, const int *n, void *a, const int *lda, void *s, void *u,    \
       const int *ldu, void *vt, const int *ldvt, void *work, const int *lwork, int *iwork,        \
       int *info))                                                                                 \
    X(complex_gesdd, NULL, NULL, "cgesdd_", "zgesdd_",                                             \
      (const char *jobz, const int *m, const int *n, void *a, const int *lda, void *s, void *u,    \
       const int *ldu, void *vt, const int *ldvt, void *work, const int *lwork, void *rwork,       \
       int *iwork, int *info))                                                                     \
    X(syevd, "ssyevd_", "dsyevd_", NULL, NULL,                                                     \
      (const char *jobz, const char *uplo, const int *n, void *a, const int *lda, void *w,         \
       void *work, const int *lwork, int *iwork, const int *liwork, int *info))                    \
    X(heevd, NULL, NULL, "cheevd_", "zheevd_",                                                     \
      (const char *jobz, const char *uplo, const int *n, void *a, const int *lda, void *w,         \
       void *work, const int *lwork, void *rwork, const int *lrwork, int *iwork,                   \
       const int *liwork, int *info))                                                              \
    X(gelsy, "sgelsy_", "dgelsy_", NULL, NULL,                                                     \
      (const int *m, const int *n, const int *nrhs, void *a, const int *lda, void *b,              \
       const int *ldb, int *jpvt, const void *rcond, int *rank, void *work, const int *lwork,      \
       int *info))                                                                                 \
    X(complex_gelsy, NULL, NULL, "cgelsy_", "zgelsy_",                                             \
      (const int *m, const int *n, const int *nrhs, void *a, const int *lda, void *b,              \
       const int *ldb, int *jpvt, const void *rcond, int *rank, void *work, const int *lwork,      \
       void *rwork, int *info))                                                                    \
    X(geev, "sgeev_", "dgeev_", NULL, NULL,                                                        \
      (const char *left, const char *right, const int *n, void *a, const int *lda, void *wr,       \
       void *wi, void *vl, const int *ldvl, void *vr, const int *ldvr, void *work,                 \
       const int *lwork, int *info))                                                               \
    X(complex_geev, NULL, NULL, "cgeev_", "zgeev_",                                                \
      (const char *left, const char *right, const int *n, void *a, const int *lda, void *w,        \
       void *vl, const int *ldvl, void *vr, const int *ldvr, void *work, const int *lwork,         \
       void *rwork, int *info))

#endif
