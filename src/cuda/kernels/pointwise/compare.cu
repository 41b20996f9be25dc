/* compare.cu - elementwise kernels with a bool result. Counterpart of
 * cpu/vector/pointwise/compare.c. */
#include "pointwise.cuh"

#include "kernels_compare.h" /* generated from the declarations */

#define SHAPES(X)   LT_COMPARE_SHAPES(X)
#define FLOATS(X)   LT_COMPARE_FLOAT(X)
#define INTEGERS(X) LT_COMPARE_INTEGER(X)
#define BOOLS(X)    LT_COMPARE_BOOL(X)
#define RUN         lt_cuda_compare
#include "family.inc"
