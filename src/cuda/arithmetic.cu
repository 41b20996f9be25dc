/* arithmetic.cu - elementwise kernels that are exact or a few instructions: sums, products, divisions,
 * rounding, bits, choices. The twin of cpu/vector/arithmetic.c; a formula per line. */
#include "pointwise.cuh"

LT_BINARY_SCALED(add)
LT_BINARY_SCALED(sub)
LT_BINARY(mul)
LT_BINARY(div)
LT_BINARY(fmod)
LT_BINARY(remainder)
LT_BINARY(floor_divide)
LT_BINARY(maximum)
LT_BINARY(minimum)
LT_UNARY(neg)
LT_UNARY(abs)
LT_UNARY(sign)
LT_UNARY(square)
LT_UNARY(reciprocal)
LT_UNARY(sqrt)
LT_UNARY(rsqrt)
LT_UNARY(relu)
LT_UNARY(floor)
LT_UNARY(ceil)
LT_UNARY(trunc)
LT_UNARY(round)
LT_UNARY_NUMBER(clamp_min)
LT_UNARY_NUMBER(clamp_max)
LT_UNARY_RANGE(clamp_both)
LT_SELECT(where)
LT_TERNARY_SCALED(addcmul)
LT_TERNARY_SCALED(addcdiv)
LT_TERNARY(lerp)
LT_BINARY(bitwise_and)
LT_BINARY(bitwise_or)
LT_BINARY(bitwise_xor)
LT_UNARY(bitwise_not)
LT_BINARY(bitwise_left_shift)
LT_BINARY(bitwise_right_shift)
LT_UNARY(position_to_index)
LT_UNARY(frac)
LT_BINARY(copysign)
LT_BINARY(heaviside)
LT_BINARY(fmax)
LT_BINARY(fmin)
LT_BINARY(tanh_backward)
LT_BINARY(sigmoid_backward)
LT_BINARY(relu_backward)
LT_UNARY_THREE(nan_to_num)

/* A GPU has no way to complain of a divisor 0: the result is then -1. */
#define DIVISION(name)                                                                             \
    LT_FORMULA(name##_int_op, 2, 0, false, x[1] == 0 ? (T)-1 : lt_##name(x[0], x[1]))
DIVISION(fmod)
DIVISION(remainder)
DIVISION(floor_divide)

LT_FORMULA(add_bool_op, 2, 1, false, lt_add_b8(x[0], x[1], p[0]))
LT_FORMULA(mul_bool_op, 2, 0, false, lt_mul_b8(x[0], x[1]))
LT_FORMULA(maximum_bool_op, 2, 0, false, lt_maximum_b8(x[0], x[1]))
LT_FORMULA(minimum_bool_op, 2, 0, false, lt_minimum_b8(x[0], x[1]))
LT_FORMULA(heaviside_bool_op, 2, 0, false, lt_heaviside_b8(x[0], x[1]))
LT_FORMULA(sign_bool_op, 1, 0, false, lt_sign_b8(x[0]))
LT_FORMULA(where_bool_op, 3, 0, true, lt_where_b8(x[0] != 0, x[1], x[2]))
LT_FORMULA(bitwise_and_bool_op, 2, 0, false, lt_bitwise_and_b8(x[0], x[1]))
LT_FORMULA(bitwise_or_bool_op, 2, 0, false, lt_bitwise_or_b8(x[0], x[1]))
LT_FORMULA(bitwise_xor_bool_op, 2, 0, false, lt_bitwise_xor_b8(x[0], x[1]))
LT_FORMULA(bitwise_not_bool_op, 1, 0, false, lt_bitwise_not_b8(x[0]))

static bool run_floating(const lt_pointwise_call &call)
{
#define OP(name, NAME)                                                                             \
    case LT_PW_##NAME: return lt_pointwise_floating<name##_op>(call);
    switch (call.op) {
        OP(add, ADD)
        OP(sub, SUB)
        OP(mul, MUL)
        OP(div, DIV)
        OP(fmod, FMOD)
        OP(remainder, REMAINDER)
        OP(floor_divide, FLOOR_DIVIDE)
        OP(maximum, MAXIMUM)
        OP(minimum, MINIMUM)
        OP(neg, NEG)
        OP(abs, ABS)
        OP(sign, SIGN)
        OP(square, SQUARE)
        OP(reciprocal, RECIPROCAL)
        OP(sqrt, SQRT)
        OP(rsqrt, RSQRT)
        OP(relu, RELU)
        OP(floor, FLOOR)
        OP(ceil, CEIL)
        OP(trunc, TRUNC)
        OP(round, ROUND)
        OP(clamp_min, CLAMP_MIN)
        OP(clamp_max, CLAMP_MAX)
        OP(clamp_both, CLAMP_BOTH)
        OP(where, WHERE)
        OP(addcmul, ADDCMUL)
        OP(addcdiv, ADDCDIV)
        OP(lerp, LERP)
        OP(frac, FRAC)
        OP(copysign, COPYSIGN)
        OP(heaviside, HEAVISIDE)
        OP(fmax, FMAX)
        OP(fmin, FMIN)
        OP(tanh_backward, TANH_BACKWARD)
        OP(sigmoid_backward, SIGMOID_BACKWARD)
        OP(relu_backward, RELU_BACKWARD)
        OP(nan_to_num, NAN_TO_NUM)
    default: return false;
    }
#undef OP
}

static bool run_integers(const lt_pointwise_call &call)
{
#define OP(name, NAME)                                                                             \
    case LT_PW_##NAME: return lt_pointwise_integers<name##_op>(call);
    switch (call.op) {
        OP(add, ADD)
        OP(sub, SUB)
        OP(mul, MUL)
        OP(fmod_int, FMOD)
        OP(remainder_int, REMAINDER)
        OP(floor_divide_int, FLOOR_DIVIDE)
        OP(maximum, MAXIMUM)
        OP(minimum, MINIMUM)
        OP(neg, NEG)
        OP(abs, ABS)
        OP(sign, SIGN)
        OP(square, SQUARE)
        OP(relu, RELU)
        OP(floor, FLOOR)
        OP(ceil, CEIL)
        OP(trunc, TRUNC)
        OP(round, ROUND)
        OP(clamp_min, CLAMP_MIN)
        OP(clamp_max, CLAMP_MAX)
        OP(clamp_both, CLAMP_BOTH)
        OP(where, WHERE)
        OP(addcmul, ADDCMUL)
        OP(bitwise_and, BITWISE_AND)
        OP(bitwise_or, BITWISE_OR)
        OP(bitwise_xor, BITWISE_XOR)
        OP(bitwise_not, BITWISE_NOT)
        OP(bitwise_left_shift, BITWISE_LEFT_SHIFT)
        OP(bitwise_right_shift, BITWISE_RIGHT_SHIFT)
        OP(position_to_index, POSITION_TO_INDEX)
        OP(heaviside, HEAVISIDE)
        OP(fmax, FMAX)
        OP(fmin, FMIN)
    default: return false;
    }
#undef OP
}

static bool run_bool(const lt_pointwise_call &call)
{
#define OP(name, NAME)                                                                             \
    case LT_PW_##NAME: return lt_pointwise_bool<name##_bool_op>(call);
    switch (call.op) {
        OP(add, ADD)
        OP(mul, MUL)
        OP(maximum, MAXIMUM)
        OP(minimum, MINIMUM)
        OP(maximum, FMAX)
        OP(minimum, FMIN)
        OP(heaviside, HEAVISIDE)
        OP(sign, SIGN)
        OP(where, WHERE)
        OP(bitwise_and, BITWISE_AND)
        OP(bitwise_or, BITWISE_OR)
        OP(bitwise_xor, BITWISE_XOR)
        OP(bitwise_not, BITWISE_NOT)
    default: return false;
    }
#undef OP
}

bool lt_cuda_arithmetic(const lt_pointwise_call &call)
{
    if (lt_is_floating(call.compute)) return run_floating(call);
    return call.compute == LT_BOOL ? run_bool(call) : run_integers(call);
}
