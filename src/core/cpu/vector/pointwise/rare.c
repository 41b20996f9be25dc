/* rare.c - elementwise loops over functions that are asked for seldom (formulas/rare.h), and divisors of integers. */
#include "steady.h"

#include "formulas/rare_kernels.h"
#include "kernels_rare.h" /* generated from the declarations */

#include "shapes_loops.h"
LT_RARE_LOOPS

#define FIRST LT_PW_RARE
#include "shapes_entries.h"
const lt_pointwise_row LT_LOOP(rare)[LT_PW_RARE_END - LT_PW_RARE] = {LT_RARE_LOOPS};
