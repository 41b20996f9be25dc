/* special.c - elementwise loops over special functions (formulas/special.inc). */
#include "steady.h"

#include "formulas/special.h"
#include "kernels_special.h" /* generated from the declarations */

#include "shapes_loops.h"
LT_SPECIAL_LOOPS

#define FIRST LT_PW_SPECIAL
#include "shapes_entries.h"
const lt_pointwise_row LT_LOOP(special)[LT_PW_SPECIAL_END - LT_PW_SPECIAL] = {LT_SPECIAL_LOOPS};
