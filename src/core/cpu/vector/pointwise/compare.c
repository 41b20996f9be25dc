/* compare.c - elementwise loops with a bool result. The formulas are in formulas/formulas.h. */
#include "instantiate.h"
#include "kernels_compare.h" /* generated from the declarations */

#include "shapes_loops.h"
#undef UNARY
#undef BINARY
#define UNARY(name, NAME, s, T, D)                                                                 \
    LOOP_HEAD(name, s)                                                                             \
    {                                                                                              \
        (void)context;                                                                             \
        UNARY_BODY(uint8_t, T, lt_##name##_##s)                                                    \
    }
#define BINARY(name, NAME, s, T, D)                                                                \
    LOOP_HEAD(name, s)                                                                             \
    {                                                                                              \
        (void)context;                                                                             \
        BINARY_BODY(uint8_t, T, lt_##name##_##s)                                                   \
    }
LT_COMPARE_LOOPS

#define FIRST LT_PW_COMPARE
#include "shapes_entries.h"
const lt_pointwise_row LT_LOOP(compare)[LT_PW_COMPARE_END - LT_PW_COMPARE] = {LT_COMPARE_LOOPS};
