/* special.cu - elementwise kernels of special functions. Counterpart of
 * cpu/vector/pointwise/special.c. */
#include "pointwise.cuh"

#include "formulas/special.h"
#include "kernels_special.h" /* generated from the declarations */

#define SHAPES(X)   LT_SPECIAL_SHAPES(X)
#define FLOATS(X)   LT_SPECIAL_FLOAT(X)
#define INTEGERS(X) LT_SPECIAL_INTEGER(X)
#define BOOLS(X)    LT_SPECIAL_BOOL(X)
#define RUN         lt_cuda_special
#include "family.inc"
