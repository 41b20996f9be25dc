/* arithmetic.c - elementwise loops that are exact or a few instructions: sums, products, divisions,
 * rounding, bits, choices. The formulas stand in ../../formulas.h. */
#include "instantiate.h"
#include "kernels_arithmetic.h" /* generated from the declarations */

#include "shapes_loops.h"
LT_ARITHMETIC_LOOPS

#define FIRST LT_PW_ARITHMETIC
#include "shapes_entries.h"
const lt_pointwise_row LT_LOOP(arithmetic)[] = {LT_ARITHMETIC_LOOPS};
