/* gamma.c - elementwise loops over the gamma function and related ones (formulas/gamma.inc). */
#include "steady.h"

#include "gamma_float.h"
#define lgammaf(x) vector_lgammaf(x)
/* Loops with a variable number of terms are not vectorized, and calls of libm are smaller code. */
#undef exp
#undef log
#include "formulas/gamma.h"
#define lt_digamma_f32 vector_digammaf
#include "kernels_gamma.h" /* generated from the declarations */

#include "shapes_loops.h"
LT_GAMMA_LOOPS

#define FIRST LT_PW_GAMMA
#include "shapes_entries.h"
const lt_pointwise_row LT_LOOP(gamma)[LT_PW_GAMMA_END - LT_PW_GAMMA] = {LT_GAMMA_LOOPS};
