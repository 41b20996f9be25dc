/* triangle.h - LAPACK's potrf and trsm for float and double matrices by our own loops. */
#ifndef LT_CPU_TRIANGLE_H
#define LT_CPU_TRIANGLE_H

#include "devices/backend.h"

/* Cholesky factor of one matrix, in place; overwrites the other triangle, too. *info: 0, or the
 * order of the minor that is not positive. */
lt_status lt_cpu_cholesky(const lt_factor *f, void *a, int *info);

/* Solves A X = b or A' X = b in place; b is n x columns. */
lt_status lt_cpu_triangular(const lt_factor *f, const void *a, void *b);

#endif
