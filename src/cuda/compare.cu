/* compare.cu - elementwise kernels whose result is bool. The twin of cpu/vector/compare.c; a formula per
 * line. Bools are compared by the formulas for uint8. */
#include "pointwise.cuh"

LT_BINARY(eq)
LT_BINARY(ne)
LT_BINARY(lt)
LT_BINARY(le)
LT_BINARY(gt)
LT_BINARY(ge)
LT_BINARY(logical_and)
LT_BINARY(logical_or)
LT_BINARY(logical_xor)
LT_UNARY(logical_not)
LT_UNARY(isnan)
LT_UNARY(isinf)
LT_UNARY(isfinite)

template <class Op> static bool run(const lt_pointwise_call &call)
{
    if (lt_is_floating(call.compute)) return lt_pointwise_floating<Op>(call);
    return call.compute == LT_BOOL ? lt_pointwise_bool<Op>(call) : lt_pointwise_integers<Op>(call);
}

bool lt_cuda_compare(const lt_pointwise_call &call)
{
#define OP(name, NAME)                                                                             \
    case LT_PW_##NAME: return run<name##_op>(call);
    switch (call.op) {
        OP(eq, EQ)
        OP(ne, NE)
        OP(lt, LT)
        OP(le, LE)
        OP(gt, GT)
        OP(ge, GE)
        OP(logical_and, LOGICAL_AND)
        OP(logical_or, LOGICAL_OR)
        OP(logical_xor, LOGICAL_XOR)
        OP(logical_not, LOGICAL_NOT)
        OP(isnan, ISNAN)
        OP(isinf, ISINF)
        OP(isfinite, ISFINITE)
    default: return false;
    }
#undef OP
}
