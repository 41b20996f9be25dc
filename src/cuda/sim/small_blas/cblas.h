/* cblas.h - the functions of OpenBLAS that the simulator calls, in builds without OpenBLAS (blas.cpp). */
#ifndef LT_SIM_CBLAS_H
#define LT_SIM_CBLAS_H

typedef int blasint;

typedef enum { CblasRowMajor = 101, CblasColMajor } CBLAS_ORDER;
typedef enum { CblasNoTrans = 111, CblasTrans, CblasConjTrans } CBLAS_TRANSPOSE;
typedef enum { CblasUpper = 121, CblasLower } CBLAS_UPLO;
typedef enum { CblasNonUnit = 131, CblasUnit } CBLAS_DIAG;
typedef enum { CblasLeft = 141, CblasRight } CBLAS_SIDE;

extern "C" {
void cblas_sgemm(CBLAS_ORDER, CBLAS_TRANSPOSE, CBLAS_TRANSPOSE, blasint m, blasint n, blasint k,
                 float alpha, const float *a, blasint lda, const float *b, blasint ldb, float beta,
                 float *c, blasint ldc);
void cblas_dgemm(CBLAS_ORDER, CBLAS_TRANSPOSE, CBLAS_TRANSPOSE, blasint m, blasint n, blasint k,
                 double alpha, const double *a, blasint lda, const double *b, blasint ldb,
                 double beta, double *c, blasint ldc);
/* side: left only. */
void cblas_strsm(CBLAS_ORDER, CBLAS_SIDE, CBLAS_UPLO, CBLAS_TRANSPOSE, CBLAS_DIAG, blasint m,
                 blasint n, float alpha, const float *a, blasint lda, float *b, blasint ldb);
void cblas_dtrsm(CBLAS_ORDER, CBLAS_SIDE, CBLAS_UPLO, CBLAS_TRANSPOSE, CBLAS_DIAG, blasint m,
                 blasint n, double alpha, const double *a, blasint lda, double *b, blasint ldb);
}

#endif
