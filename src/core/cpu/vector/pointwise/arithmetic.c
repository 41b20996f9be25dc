/* arithmetic.c - elementwise loops that are exact or a few instructions: sums, products, divisions,
 * rounding, bits, choices. The formulas stand in formulas/formulas.h. */
#include "instantiate.h"
#include "by_lanes.h"
#include "kernels_arithmetic.h" /* generated from the declarations */

#include "shapes_loops.h"
#define QUOTIENT       LOOP_QUOTIENT
#define WHOLE_QUOTIENT LOOP_WHOLE_QUOTIENT
LT_ARITHMETIC_LOOPS
#undef QUOTIENT
#undef WHOLE_QUOTIENT

#define FIRST LT_PW_ARITHMETIC
#include "shapes_entries.h"
#define QUOTIENT       ENTRY
#define WHOLE_QUOTIENT ENTRY
const lt_pointwise_row LT_LOOP(arithmetic)[LT_PW_ARITHMETIC_END - LT_PW_ARITHMETIC] = {LT_ARITHMETIC_LOOPS};
