/* cxsparse.h - sparse systems of equations by CXSparse (of SuiteSparse; T. Davis, Direct Methods
 * for Sparse Linear Systems, 2006), opened when the first one is solved. Included by
 * src/core/ops. */
#ifndef LT_CXSPARSE_H
#define LT_CXSPARSE_H

#include "ltensor.h"

/* A matrix n x n in CSC of double (complex128: of pairs): begins[n + 1], and of each value its row
 * and itself. */
typedef struct lt_csc {
    int64_t n, count;
    const int64_t *begins, *rows;
    const void *values;
} lt_csc;

/* Solves A x = b (transposed: A' x = b) in b, by LU factors with partial pivoting. LT_ERR_RUNTIME:
 * the library is not installed, A is singular, or its factors do not fit into the memory;
 * LT_ERR_PERMISSION: the context does not want it opened. */
lt_status lt_cxsparse_solve(lt_dtype dtype, const lt_csc *a, bool transposed, void *b);

#endif
