/* arithmetic.cu - elementwise kernels that are exact or need few instructions: sums, products,
 * divisions, rounding, bit operations, selections. Counterpart of
 * cpu/vector/pointwise/arithmetic.c. */
#include "pointwise.cuh"

#include "kernels_arithmetic.h" /* generated from the declarations */

#define SHAPES(X)   LT_ARITHMETIC_SHAPES(X)
#define FLOATS(X)   LT_ARITHMETIC_FLOAT(X)
#define INTEGERS(X) LT_ARITHMETIC_INTEGER(X)
#define BOOLS(X)    LT_ARITHMETIC_BOOL(X)
#define RUN         lt_cuda_arithmetic
#include "family.inc"
