/* gamma.cu - elementwise kernels over the gamma function's relatives. The twin of
 * cpu/vector/pointwise/gamma.c. */
#include "pointwise.cuh"

#include "formulas/gamma.h"
#include "kernels_gamma.h" /* generated from the declarations */

#define SHAPES(X)   LT_GAMMA_SHAPES(X)
#define FLOATS(X)   LT_GAMMA_FLOAT(X)
#define INTEGERS(X) LT_GAMMA_INTEGER(X)
#define BOOLS(X)    LT_GAMMA_BOOL(X)
#define RUN         lt_cuda_gamma
#include "family.inc"
