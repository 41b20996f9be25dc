/* arithmetic.c - elementwise loops that are exact or take a few instructions: sums, products,
 * divisions, rounding, bitwise ops, selections. The formulas are in formulas/formulas.h. */
#include "instantiate.h"
#include "bfloat16_words.h"
#include "by_lanes.h"
#include "kernels_arithmetic.h" /* generated from the declarations */

#include "shapes_loops.h"
#define DIVISION            LOOP_DIVISION
#define QUOTIENT            LOOP_QUOTIENT
#define WHOLE_QUOTIENT      LOOP_WHOLE_QUOTIENT
#define BINARY_WORDS        LOOP_BINARY_WORDS
#define BINARY_SCALED_WORDS LOOP_BINARY_SCALED_WORDS
LT_ARITHMETIC_LOOPS
#undef DIVISION
#undef QUOTIENT
#undef WHOLE_QUOTIENT
#undef BINARY_WORDS
#undef BINARY_SCALED_WORDS

#define FIRST LT_PW_ARITHMETIC
#include "shapes_entries.h"
#define DIVISION            ENTRY
#define QUOTIENT            ENTRY
#define WHOLE_QUOTIENT      ENTRY
#define BINARY_WORDS        ENTRY
#define BINARY_SCALED_WORDS ENTRY
const lt_pointwise_row LT_LOOP(arithmetic)[LT_PW_ARITHMETIC_END - LT_PW_ARITHMETIC] = {
    LT_ARITHMETIC_LOOPS};
