/* activations.cu - elementwise kernels of activations and their derivatives (formulas_activation.inc); a formula per
 * line. */
#include "pointwise.cuh"

LT_UNARY(hardsigmoid)
LT_UNARY(hardswish)
LT_BINARY(hardswish_backward)
LT_UNARY_NUMBER(leaky_relu)
LT_BINARY_SCALED(leaky_relu_backward)
LT_UNARY_RANGE(threshold)
LT_BINARY_SCALED(threshold_backward)
LT_UNARY_NUMBER(hardshrink)
LT_UNARY_NUMBER(softshrink)
LT_BINARY_SCALED(shrink_backward)
LT_BINARY_RANGE(within)
LT_BINARY_RANGE(between)
LT_UNARY(silu)
LT_BINARY(silu_backward)
LT_UNARY_RANGE(softplus)
LT_BINARY_RANGE(softplus_backward)
LT_UNARY(logsigmoid)
LT_BINARY(logsigmoid_backward)
LT_UNARY_THREE(elu)
LT_BINARY_THREE(elu_backward)
LT_UNARY(mish)
LT_BINARY(mish_backward)
LT_UNARY(gelu_by_erf)
LT_BINARY(gelu_by_erf_backward)
LT_UNARY(gelu_by_tanh)
LT_BINARY(gelu_by_tanh_backward)

static bool run_floating(const lt_pointwise_call &call)
{
#define OP(name, NAME)                                                                             \
    case LT_PW_##NAME: return lt_pointwise_floating<name##_op>(call);
    switch (call.op) {
        OP(hardsigmoid, HARDSIGMOID)
        OP(hardswish, HARDSWISH)
        OP(hardswish_backward, HARDSWISH_BACKWARD)
        OP(leaky_relu, LEAKY_RELU)
        OP(leaky_relu_backward, LEAKY_RELU_BACKWARD)
        OP(threshold, THRESHOLD)
        OP(threshold_backward, THRESHOLD_BACKWARD)
        OP(hardshrink, HARDSHRINK)
        OP(softshrink, SOFTSHRINK)
        OP(shrink_backward, SHRINK_BACKWARD)
        OP(within, WITHIN)
        OP(between, BETWEEN)
        OP(silu, SILU)
        OP(silu_backward, SILU_BACKWARD)
        OP(softplus, SOFTPLUS)
        OP(softplus_backward, SOFTPLUS_BACKWARD)
        OP(logsigmoid, LOGSIGMOID)
        OP(logsigmoid_backward, LOGSIGMOID_BACKWARD)
        OP(elu, ELU)
        OP(elu_backward, ELU_BACKWARD)
        OP(mish, MISH)
        OP(mish_backward, MISH_BACKWARD)
        OP(gelu_by_erf, GELU_BY_ERF)
        OP(gelu_by_erf_backward, GELU_BY_ERF_BACKWARD)
        OP(gelu_by_tanh, GELU_BY_TANH)
        OP(gelu_by_tanh_backward, GELU_BY_TANH_BACKWARD)
    default: return false;
    }
#undef OP
}

bool lt_cuda_activations(const lt_pointwise_call &call)
{
    if (lt_is_floating(call.compute)) return run_floating(call);
    return call.op == LT_PW_THRESHOLD && call.compute != LT_BOOL && lt_pointwise_integers<threshold_op>(call);
}
