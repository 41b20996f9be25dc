/* functions.cu - elementwise kernels of transcendental functions. Counterpart of
 * cpu/vector/pointwise/functions.c. */
#include "pointwise.cuh"

#include "kernels_functions.h" /* generated from the declarations */

#define SHAPES(X)   LT_FUNCTIONS_SHAPES(X)
#define FLOATS(X)   LT_FUNCTIONS_FLOAT(X)
#define INTEGERS(X) LT_FUNCTIONS_INTEGER(X)
#define BOOLS(X)    LT_FUNCTIONS_BOOL(X)
#define RUN         lt_cuda_functions
#include "family.inc"
