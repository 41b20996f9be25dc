/* rare.cu - elementwise kernels of rarely used functions. Counterpart of
 * cpu/vector/pointwise/rare.c. */
#include "pointwise.cuh"

#include "formulas/rare_kernels.h"
#include "kernels_rare.h" /* generated from the declarations */

#define SHAPES(X)   LT_RARE_SHAPES(X)
#define FLOATS(X)   LT_RARE_FLOAT(X)
#define INTEGERS(X) LT_RARE_INTEGER(X)
#define BOOLS(X)    LT_RARE_BOOL(X)
#define RUN         lt_cuda_rare
#include "family.inc"
