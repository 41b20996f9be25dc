/* cxsparse.h - solves sparse linear systems with CXSparse (SuiteSparse; T. Davis, Direct Methods
 * for Sparse Linear Systems, 2006), which is opened on first use. Included by src/core/ops. */
#ifndef LT_CXSPARSE_H
#define LT_CXSPARSE_H

#include "ltensor.h"

/* An n x n matrix in CSC, of double or complex128 values: begins[n + 1], rows[count],
 * values[count]. */
typedef struct lt_csc {
    int64_t n, count;
    const int64_t *begins, *rows;
    const void *values;
} lt_csc;

/* Solves A x = b (transposed: A' x = b) in place of b, by LU factors with partial pivoting.
 * LT_ERR_RUNTIME: the library is not installed, A is singular, or its factors exceed the memory;
 * LT_ERR_PERMISSION: the context forbids opening the library. */
lt_status lt_cxsparse_solve(lt_dtype dtype, const lt_csc *a, bool transposed, void *b);

#endif
