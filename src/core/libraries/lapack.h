/* lapack.h - LAPACK routines for dense column-major matrices of float, double and complex elements.
 * Each returns LAPACK's info: 0 for success; positive if the routine cannot handle the matrix;
 * negative: -1 out of memory, LT_LAPACK_ABSENT, or LT_LAPACK_FAILED(status) with the error message
 * set. Long calls stop at an interrupt and then leave their outputs unchanged. Included by
 * src/core/ops and src/lua. */
#ifndef LT_LAPACK_H
#define LT_LAPACK_H

#include "ltensor.h"

#define LT_LAPACK_ABSENT         (-2000) /* the library is not installed */
#define LT_LAPACK_FAILED(status) (-1000 - (int)(status))

/* The library's description of its build; "none" without a library. */
const char *lt_lapack_config(void);
/* After LT_LAPACK_ABSENT: the loader's messages. */
const char *lt_lapack_absent_reason(void);

/* LU factors of a (n x n), in place; pivots[n]. */
int lt_lapack_lu(lt_dtype dtype, int n, void *a, int *pivots);
/* Solves A X = b (transposed: A' X = b) in place of b (n x columns); a and pivots are results of
 * lt_lapack_lu. */
int lt_lapack_lu_solve(lt_dtype dtype, bool transposed, int n, int columns, const void *a,
                       const int *pivots, void *b);
/* Cholesky factor in the upper or lower triangle. info: the leading minor that is not positive. */
int lt_lapack_cholesky(lt_dtype dtype, bool upper, int n, void *a);
/* Solves A X = b or A' X = b with a triangular A; zeros on its diagonal yield infinities and nan.
 */
typedef struct lt_lapack_triangle {
    bool upper, transposed, unit; /* unit: the diagonal is not read and taken as ones */
} lt_lapack_triangle;
int lt_lapack_triangular(lt_dtype dtype, lt_lapack_triangle triangle, int n, int columns,
                         const void *a, void *b);
/* QR factors of a (m x n): R above the diagonal, reflectors below it, tau[min(m, n)]. */
int lt_lapack_qr(lt_dtype dtype, int m, int n, void *a, void *tau);
/* Replaces k reflectors by the first `columns` columns of Q (m x columns), in place. */
int lt_lapack_qr_q(lt_dtype dtype, int m, int columns, int k, void *a, const void *tau);
/* Singular values s (real) and, unless u is NULL, u (m x m or m x k) and vt, V's adjoint (n x n or
 * k x n); destroys a. */
typedef struct lt_lapack_svd_results {
    void *s, *u, *vt;
} lt_lapack_svd_results;
int lt_lapack_svd(lt_dtype dtype, bool full, int m, int n, void *a, lt_lapack_svd_results to);
/* Eigenvalues (real, ascending) of a symmetric or Hermitian matrix, of which one triangle is read;
 * eigenvectors, if requested, replace a. */
int lt_lapack_symmetric_eigen(lt_dtype dtype, bool upper, bool vectors, int n, void *a,
                              void *values);
/* Least squares by complete orthogonal factorization: b is max(m, n) x columns; destroys a. */
typedef struct lt_lapack_system {
    int m, n, columns;
    void *a, *b;
} lt_lapack_system;
int lt_lapack_least_squares(lt_dtype dtype, lt_lapack_system system, double rcond, int *rank);

/* Eigenvalues and, unless vectors is NULL, eigenvectors (n x n, of norm 1) of a general matrix;
 * complex also for a real matrix. Destroys a. */
int lt_lapack_eigen(lt_dtype dtype, int n, void *a, void *values, void *vectors);
/* L D L' (hermitian: L D L^H) of the lower triangle, in place; pivots[n] as defined by Bunch and
 * Kaufman. info: the block of D that is 0. */
int lt_lapack_ldl(lt_dtype dtype, bool hermitian, int n, void *a, int *pivots);
/* Solves A X = b in place of b (n x columns); a and pivots are results of lt_lapack_ldl. */
int lt_lapack_ldl_solve(lt_dtype dtype, bool hermitian, int n, int columns, const void *a,
                        const int *pivots, void *b);

#endif
