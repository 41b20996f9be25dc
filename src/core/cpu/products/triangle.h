/* triangle.h - what LAPACK's potrf and trsm do to float and double matrices, by our own
 * products. */
#ifndef LT_CPU_TRIANGLE_H
#define LT_CPU_TRIANGLE_H

#include "devices/backend.h"

/* Cholesky's factor of one matrix of f, whose other triangle is written over. *info: 0, or the
 * order of the minor that is not positive. */
lt_status lt_cpu_cholesky(const lt_factor *f, void *a, int *info);

/* b (n x columns) becomes X of A X = b or A' X = b. */
lt_status lt_cpu_triangular(const lt_factor *f, const void *a, void *b);

#endif
