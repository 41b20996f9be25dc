/* activations.cu - elementwise kernels of activations and their derivatives. Counterpart of
 * cpu/vector/pointwise/activations.c. */
#include "pointwise.cuh"

#include "formulas/activation.h"
#include "kernels_activations.h" /* generated from the declarations */

#define SHAPES(X)   LT_ACTIVATIONS_SHAPES(X)
#define FLOATS(X)   LT_ACTIVATIONS_FLOAT(X)
#define INTEGERS(X) LT_ACTIVATIONS_INTEGER(X)
#define BOOLS(X)    LT_ACTIVATIONS_BOOL(X)
#define RUN         lt_cuda_activations
#include "family.inc"
