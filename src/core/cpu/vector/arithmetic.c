/* arithmetic.c - elementwise loops that are exact or a few instructions: sums, products, divisions,
 * rounding, bits, choices. One line per op in LIST; the formulas stand in ../../formulas.h. */
#include "instantiate.h"

#define LIST                                                                                       \
    FLOATS(BINARY_SCALED, add, ADD)                                                                \
    INTEGERS(BINARY_SCALED, add, ADD)                                                              \
    BOOL(BINARY_SCALED, add, ADD)                                                                  \
    FLOATS(BINARY_SCALED, sub, SUB)                                                                \
    INTEGERS(BINARY_SCALED, sub, SUB)                                                              \
    FLOATS(BINARY, mul, MUL)                                                                       \
    INTEGERS(BINARY, mul, MUL)                                                                     \
    BOOL(BINARY, mul, MUL)                                                                         \
    FLOATS(BINARY, div, DIV)                                                                       \
    FLOATS(BINARY, fmod, FMOD)                                                                     \
    WIDEST(BINARY, fmod, FMOD)                                                                     \
    FLOATS(BINARY, remainder, REMAINDER)                                                           \
    WIDEST(BINARY, remainder, REMAINDER)                                                           \
    FLOATS(BINARY, floor_divide, FLOOR_DIVIDE)                                                     \
    WIDEST(BINARY, floor_divide, FLOOR_DIVIDE)                                                     \
    FLOATS(BINARY, maximum, MAXIMUM)                                                               \
    INTEGERS(BINARY, maximum, MAXIMUM)                                                             \
    BOOL(BINARY, maximum, MAXIMUM)                                                                 \
    FLOATS(BINARY, minimum, MINIMUM)                                                               \
    INTEGERS(BINARY, minimum, MINIMUM)                                                             \
    BOOL(BINARY, minimum, MINIMUM)                                                                 \
    FLOATS(UNARY, neg, NEG)                                                                        \
    INTEGERS(UNARY, neg, NEG)                                                                      \
    FLOATS(UNARY, abs, ABS)                                                                        \
    INTEGERS(UNARY, abs, ABS)                                                                      \
    FLOATS(UNARY, sign, SIGN)                                                                      \
    INTEGERS(UNARY, sign, SIGN)                                                                    \
    BOOL(UNARY, sign, SIGN)                                                                        \
    FLOATS(UNARY, square, SQUARE)                                                                  \
    INTEGERS(UNARY, square, SQUARE)                                                                \
    FLOATS(UNARY, reciprocal, RECIPROCAL)                                                          \
    FLOATS(UNARY, sqrt, SQRT)                                                                      \
    FLOATS(UNARY, rsqrt, RSQRT)                                                                    \
    FLOATS(UNARY, relu, RELU)                                                                      \
    INTEGERS(UNARY, relu, RELU)                                                                    \
    FLOATS(UNARY, floor, FLOOR)                                                                    \
    WIDEST(UNARY, floor, FLOOR)                                                                    \
    FLOATS(UNARY, ceil, CEIL)                                                                      \
    WIDEST(UNARY, ceil, CEIL)                                                                      \
    FLOATS(UNARY, trunc, TRUNC)                                                                    \
    WIDEST(UNARY, trunc, TRUNC)                                                                    \
    FLOATS(UNARY, round, ROUND)                                                                    \
    WIDEST(UNARY, round, ROUND)                                                                    \
    FLOATS(UNARY_NUMBER, clamp_min, CLAMP_MIN)                                                     \
    INTEGERS(UNARY_NUMBER, clamp_min, CLAMP_MIN)                                                   \
    FLOATS(UNARY_NUMBER, clamp_max, CLAMP_MAX)                                                     \
    INTEGERS(UNARY_NUMBER, clamp_max, CLAMP_MAX)                                                   \
    FLOATS(UNARY_RANGE, clamp_both, CLAMP_BOTH)                                                    \
    INTEGERS(UNARY_RANGE, clamp_both, CLAMP_BOTH)                                                  \
    FLOATS(SELECT, where, WHERE)                                                                   \
    INTEGERS(SELECT, where, WHERE)                                                                 \
    BOOL(SELECT, where, WHERE)                                                                     \
    FLOATS(TERNARY_SCALED, addcmul, ADDCMUL)                                                       \
    INTEGERS(TERNARY_SCALED, addcmul, ADDCMUL)                                                     \
    FLOATS(TERNARY_SCALED, addcdiv, ADDCDIV)                                                       \
    FLOATS(TERNARY, lerp, LERP)                                                                    \
    INTEGERS(BINARY, bitwise_and, BITWISE_AND)                                                     \
    BOOL(BINARY, bitwise_and, BITWISE_AND)                                                         \
    INTEGERS(BINARY, bitwise_or, BITWISE_OR)                                                       \
    BOOL(BINARY, bitwise_or, BITWISE_OR)                                                           \
    INTEGERS(BINARY, bitwise_xor, BITWISE_XOR)                                                     \
    BOOL(BINARY, bitwise_xor, BITWISE_XOR)                                                         \
    INTEGERS(UNARY, bitwise_not, BITWISE_NOT)                                                      \
    BOOL(UNARY, bitwise_not, BITWISE_NOT)                                                          \
    INTEGERS(UNARY, position_to_index, POSITION_TO_INDEX)                                          \
    INTEGERS(BINARY, bitwise_left_shift, BITWISE_LEFT_SHIFT)                                       \
    INTEGERS(BINARY, bitwise_right_shift, BITWISE_RIGHT_SHIFT)                                     \
    FLOATS(UNARY, frac, FRAC)                                                                      \
    FLOATS(BINARY, copysign, COPYSIGN)                                                             \
    FLOATS(BINARY, heaviside, HEAVISIDE)                                                           \
    INTEGERS(BINARY, heaviside, HEAVISIDE)                                                         \
    BOOL(BINARY, heaviside, HEAVISIDE)                                                             \
    FLOATS(BINARY, fmax, FMAX)                                                                     \
    INTEGERS(BINARY, fmax, FMAX)                                                                   \
    BOOL(BINARY, fmax, FMAX)                                                                       \
    FLOATS(BINARY, fmin, FMIN)                                                                     \
    INTEGERS(BINARY, fmin, FMIN)                                                                   \
    BOOL(BINARY, fmin, FMIN)                                                                       \
    FLOATS(UNARY, hardsigmoid, HARDSIGMOID)                                                        \
    FLOATS(UNARY, hardswish, HARDSWISH)                                                            \
    FLOATS(BINARY, tanh_backward, TANH_BACKWARD)                                                   \
    FLOATS(BINARY, sigmoid_backward, SIGMOID_BACKWARD)                                             \
    FLOATS(BINARY, relu_backward, RELU_BACKWARD)                                                   \
    FLOATS(BINARY, hardswish_backward, HARDSWISH_BACKWARD)                                         \
    FLOATS(UNARY_NUMBER, leaky_relu, LEAKY_RELU)                                                   \
    FLOATS(BINARY_SCALED, leaky_relu_backward, LEAKY_RELU_BACKWARD)                                \
    FLOATS(UNARY_RANGE, threshold, THRESHOLD)                                                      \
    WIDEST(UNARY_RANGE, threshold, THRESHOLD)                                                      \
    FLOATS(BINARY_SCALED, threshold_backward, THRESHOLD_BACKWARD)                                  \
    FLOATS(UNARY_NUMBER, hardshrink, HARDSHRINK)                                                   \
    FLOATS(UNARY_NUMBER, softshrink, SOFTSHRINK)                                                   \
    FLOATS(BINARY_SCALED, shrink_backward, SHRINK_BACKWARD)                                        \
    FLOATS(BINARY_RANGE, within, WITHIN)                                                           \
    FLOATS(BINARY_RANGE, between, BETWEEN)                                                         \
    FLOATS(UNARY_THREE, nan_to_num, NAN_TO_NUM)

#define UNARY LOOP_UNARY
#define UNARY_NUMBER LOOP_UNARY_NUMBER
#define UNARY_RANGE LOOP_UNARY_RANGE
#define UNARY_THREE LOOP_UNARY_THREE
#define BINARY LOOP_BINARY
#define BINARY_SCALED LOOP_BINARY_SCALED
#define BINARY_RANGE LOOP_BINARY_RANGE
#define TERNARY LOOP_TERNARY
#define TERNARY_SCALED LOOP_TERNARY_SCALED
#define SELECT LOOP_SELECT
LIST
#undef UNARY
#undef UNARY_NUMBER
#undef UNARY_RANGE
#undef UNARY_THREE
#undef BINARY
#undef BINARY_SCALED
#undef BINARY_RANGE
#undef TERNARY
#undef TERNARY_SCALED
#undef SELECT

#define ENTRY(name, NAME, s, T, D) [LT_PW_##NAME][LT_##D] = name##_##s,
#define UNARY ENTRY
#define UNARY_NUMBER ENTRY
#define UNARY_RANGE ENTRY
#define UNARY_THREE ENTRY
#define BINARY ENTRY
#define BINARY_SCALED ENTRY
#define BINARY_RANGE ENTRY
#define TERNARY ENTRY
#define TERNARY_SCALED ENTRY
#define SELECT ENTRY
const lt_pointwise_row LT_LOOP(arithmetic)[LT_PW_COUNT] = {LIST};
