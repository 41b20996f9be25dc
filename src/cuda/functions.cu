/* functions.cu - elementwise kernels over transcendental functions. The twin of cpu/vector/functions.c;
 * a formula per line. */
#include "pointwise.cuh"

LT_UNARY(exp)
LT_UNARY(exp2)
LT_UNARY(expm1)
LT_UNARY(log)
LT_UNARY(log1p)
LT_UNARY(log2)
LT_UNARY(log10)
LT_UNARY(sin)
LT_UNARY(cos)
LT_UNARY(tan)
LT_UNARY(asin)
LT_UNARY(acos)
LT_UNARY(atan)
LT_UNARY(sinh)
LT_UNARY(cosh)
LT_UNARY(tanh)
LT_UNARY(erf)
LT_UNARY(sigmoid)
LT_BINARY(pow)
LT_UNARY(asinh)
LT_UNARY(acosh)
LT_UNARY(atanh)
LT_UNARY(erfc)
LT_UNARY(erfinv)
LT_UNARY(lgamma)
LT_UNARY(digamma)
LT_UNARY(logit)
LT_UNARY_NUMBER(polygamma)
LT_BINARY(atan2)
LT_BINARY(hypot)
LT_BINARY(xlogy)
LT_BINARY(standard_gamma_grad)
LT_TERNARY(dirichlet_grad)

static bool run_floating(const lt_pointwise_call &call)
{
#define OP(name, NAME)                                                                             \
    case LT_PW_##NAME: return lt_pointwise_floating<name##_op>(call);
    switch (call.op) {
        OP(exp, EXP)
        OP(exp2, EXP2)
        OP(expm1, EXPM1)
        OP(log, LOG)
        OP(log1p, LOG1P)
        OP(log2, LOG2)
        OP(log10, LOG10)
        OP(sin, SIN)
        OP(cos, COS)
        OP(tan, TAN)
        OP(asin, ASIN)
        OP(acos, ACOS)
        OP(atan, ATAN)
        OP(sinh, SINH)
        OP(cosh, COSH)
        OP(tanh, TANH)
        OP(erf, ERF)
        OP(sigmoid, SIGMOID)
        OP(pow, POW)
        OP(asinh, ASINH)
        OP(acosh, ACOSH)
        OP(atanh, ATANH)
        OP(erfc, ERFC)
        OP(erfinv, ERFINV)
        OP(lgamma, LGAMMA)
        OP(digamma, DIGAMMA)
        OP(logit, LOGIT)
        OP(polygamma, POLYGAMMA)
        OP(atan2, ATAN2)
        OP(hypot, HYPOT)
        OP(xlogy, XLOGY)
        OP(standard_gamma_grad, STANDARD_GAMMA_GRAD)
        OP(dirichlet_grad, DIRICHLET_GRAD)
    default: return false;
    }
#undef OP
}

bool lt_cuda_functions(const lt_pointwise_call &call)
{
    if (lt_is_floating(call.compute)) return run_floating(call);
    return call.op == LT_PW_POW && call.compute != LT_BOOL && lt_pointwise_integers<pow_op>(call);
}
