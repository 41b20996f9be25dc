/* gamma.cu - elementwise kernels of the gamma function and related functions. Counterpart of
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
