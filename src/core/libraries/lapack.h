/* lapack.h - the LAPACK routines that core uses, of float, double and complex matrices in memory
 * that lies column after column with no gaps. Each returns LAPACK's info: 0 for success, more for a
 * matrix it cannot deal with; negative values: -1 out of memory, LT_LAPACK_ABSENT,
 * LT_LAPACK_FAILED(status) whose message is set. Calls that take long stop at an interrupt: what
 * they write is then left as it was. Included by src/core/ops and src/lua. */
#ifndef LT_LAPACK_H
#define LT_LAPACK_H

#include "ltensor.h"

#define LT_LAPACK_ABSENT         (-2000) /* the library is not installed */
#define LT_LAPACK_FAILED(status) (-1000 - (int)(status))

/* What the library says of itself; "none" without one. */
const char *lt_lapack_config(void);

/* LU factors of a (n x n) in place; pivots[n]. */
int lt_lapack_lu(lt_dtype dtype, int n, void *a, int *pivots);
/* Solves A X = b (transposed: A' X = b) in b (n x columns), from what lt_lapack_lu left. */
int lt_lapack_lu_solve(lt_dtype dtype, bool transposed, int n, int columns, const void *a,
                       const int *pivots, void *b);
/* Cholesky factor in the upper or lower triangle. info: the leading minor that is not positive. */
int lt_lapack_cholesky(lt_dtype dtype, bool upper, int n, void *a);
/* Solves A X = b or A' X = b with a triangular A; zeros of its diagonal make infinities and nan. */
typedef struct lt_lapack_triangle {
    bool upper, transposed, unit; /* unit: the diagonal is ones, and not read */
} lt_lapack_triangle;
int lt_lapack_triangular(lt_dtype dtype, lt_lapack_triangle triangle, int n, int columns,
                         const void *a, void *b);
/* QR factors of a (m x n): R above the diagonal, reflectors below it, tau[min(m, n)]. */
int lt_lapack_qr(lt_dtype dtype, int m, int n, void *a, void *tau);
/* The first `columns` columns of Q (m x columns) in place of k reflectors. */
int lt_lapack_qr_q(lt_dtype dtype, int m, int columns, int k, void *a, const void *tau);
/* Singular values s (real) and, unless u is NULL, u (m x m or m x k) and vt, V's adjoint (n x n or
 * k x n); destroys a. */
typedef struct lt_lapack_svd_results {
    void *s, *u, *vt;
} lt_lapack_svd_results;
int lt_lapack_svd(lt_dtype dtype, bool full, int m, int n, void *a, lt_lapack_svd_results to);
/* Eigenvalues (real), ascending, and eigenvectors in place of a symmetric or Hermitian matrix, of
 * which one triangle is read. */
int lt_lapack_symmetric_eigen(lt_dtype dtype, bool upper, bool vectors, int n, void *a,
                              void *values);
/* Least squares by complete orthogonal factorization: b is max(m, n) x columns; destroys a. */
typedef struct lt_lapack_system {
    int m, n, columns;
    void *a, *b;
} lt_lapack_system;
int lt_lapack_least_squares(lt_dtype dtype, lt_lapack_system system, double rcond, int *rank);

/* Eigenvalues and, unless vectors is NULL, eigenvectors (n x n, of length 1) of any matrix, complex
 * also where it is real; destroys a. */
int lt_lapack_eigen(lt_dtype dtype, int n, void *a, void *values, void *vectors);
/* L D L' (hermitian: L D L^H) of the lower triangle, in its place; pivots[n] as Bunch and Kaufman
 * have them. info: the block of D that is 0. */
int lt_lapack_ldl(lt_dtype dtype, bool hermitian, int n, void *a, int *pivots);
/* Solves A X = b in b (n x columns), from what lt_lapack_ldl left. */
int lt_lapack_ldl_solve(lt_dtype dtype, bool hermitian, int n, int columns, const void *a,
                        const int *pivots, void *b);

#endif
