/* compare.c - elementwise loops whose result is bool. One line per op in LIST; the
 * formulas stand in ../../formulas.h. */
#include "instantiate.h"

#define NUMBERS(ARITY, name, NAME)                                                                 \
    FLOATS(ARITY, name, NAME)                                                                      \
    INTEGERS(ARITY, name, NAME)                                                                    \
    BOOL(ARITY, name, NAME)
#define LIST                                                                                       \
    NUMBERS(COMPARE, eq, EQ)                                                                       \
    NUMBERS(COMPARE, ne, NE)                                                                       \
    NUMBERS(COMPARE, lt, LT)                                                                       \
    NUMBERS(COMPARE, le, LE)                                                                       \
    NUMBERS(COMPARE, gt, GT)                                                                       \
    NUMBERS(COMPARE, ge, GE)                                                                       \
    NUMBERS(COMPARE, logical_and, LOGICAL_AND)                                                     \
    NUMBERS(COMPARE, logical_or, LOGICAL_OR)                                                       \
    NUMBERS(COMPARE, logical_xor, LOGICAL_XOR)                                                     \
    NUMBERS(TEST, logical_not, LOGICAL_NOT)                                                        \
    NUMBERS(TEST, isnan, ISNAN)                                                                    \
    NUMBERS(TEST, isinf, ISINF)                                                                    \
    NUMBERS(TEST, isfinite, ISFINITE)

#define COMPARE(name, NAME, s, T, D)                                                               \
    LOOP_HEAD(name, s)                                                                             \
    {                                                                                              \
        (void)context;                                                                             \
        BINARY_BODY(uint8_t, T, lt_##name##_##s)                                                   \
    }
#define TEST(name, NAME, s, T, D)                                                                  \
    LOOP_HEAD(name, s)                                                                             \
    {                                                                                              \
        (void)context;                                                                             \
        UNARY_BODY(uint8_t, T, lt_##name##_##s)                                                    \
    }
LIST
#undef COMPARE
#undef TEST

#define ENTRY(name, NAME, s, T, D) [LT_PW_##NAME][LT_##D] = name##_##s,
#define COMPARE ENTRY
#define TEST ENTRY
const lt_pointwise_row LT_LOOP(compare)[LT_PW_COUNT] = {LIST};
