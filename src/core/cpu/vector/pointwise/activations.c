/* activations.c - elementwise loops of activations and their derivatives
 * (formulas/activation.inc). */
#include "steady.h"

#include "formulas/activation.h"
#include "kernels_activations.h" /* generated from the declarations */

#include "shapes_loops.h"
LT_ACTIVATIONS_LOOPS

#define FIRST LT_PW_ACTIVATIONS
#include "shapes_entries.h"
const lt_pointwise_row LT_LOOP(activations)[LT_PW_ACTIVATIONS_END - LT_PW_ACTIVATIONS] = {
    LT_ACTIVATIONS_LOOPS};
