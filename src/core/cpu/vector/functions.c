/* functions.c - elementwise loops over transcendental functions, which SLEEF computes several at a time
 * (vector_math.h). One line per op in LIST; the formulas stand in ../../formulas.h. */
#include "steady.h"

#define LIST                                                                                       \
    FLOATS(UNARY, exp, EXP)                                                                        \
    FLOATS(UNARY, exp2, EXP2)                                                                      \
    FLOATS(UNARY, expm1, EXPM1)                                                                    \
    FLOATS(UNARY, log, LOG)                                                                        \
    FLOATS(UNARY, log1p, LOG1P)                                                                    \
    FLOATS(UNARY, log2, LOG2)                                                                      \
    FLOATS(UNARY, log10, LOG10)                                                                    \
    FLOATS(UNARY, sin, SIN)                                                                        \
    FLOATS(UNARY, cos, COS)                                                                        \
    FLOATS(UNARY, tan, TAN)                                                                        \
    FLOATS(UNARY, asin, ASIN)                                                                      \
    FLOATS(UNARY, acos, ACOS)                                                                      \
    FLOATS(UNARY, atan, ATAN)                                                                      \
    FLOATS(UNARY, sinh, SINH)                                                                      \
    FLOATS(UNARY, cosh, COSH)                                                                      \
    FLOATS(UNARY, tanh, TANH)                                                                      \
    FLOATS(UNARY, erf, ERF)                                                                        \
    FLOATS(UNARY, asinh, ASINH)                                                                    \
    FLOATS(UNARY, acosh, ACOSH)                                                                    \
    FLOATS(UNARY, atanh, ATANH)                                                                    \
    FLOATS(UNARY, erfc, ERFC)                                                                      \
    FLOATS(UNARY, erfinv, ERFINV)                                                                  \
    FLOATS(UNARY, lgamma, LGAMMA)                                                                  \
    FLOATS(UNARY, digamma, DIGAMMA)                                                                \
    FLOATS(UNARY, logit, LOGIT)                                                                    \
    FLOATS(UNARY, mish, MISH)                                                                      \
    FLOATS(UNARY_NUMBER, polygamma, POLYGAMMA)                                                     \
    FLOATS(BINARY, atan2, ATAN2)                                                                   \
    FLOATS(BINARY, hypot, HYPOT)                                                                   \
    FLOATS(BINARY, xlogy, XLOGY)                                                                   \
    FLOATS(BINARY, standard_gamma_grad, STANDARD_GAMMA_GRAD)                                       \
    FLOATS(TERNARY, dirichlet_grad, DIRICHLET_GRAD)                                                \
    FLOATS(UNARY, sigmoid, SIGMOID)                                                                \
    FLOATS(UNARY, gelu_by_erf, GELU_BY_ERF)                                                        \
    FLOATS(BINARY, gelu_by_erf_backward, GELU_BY_ERF_BACKWARD)                                     \
    FLOATS(UNARY, gelu_by_tanh, GELU_BY_TANH)                                                      \
    FLOATS(BINARY, gelu_by_tanh_backward, GELU_BY_TANH_BACKWARD)                                   \
    FLOATS(UNARY, silu, SILU)                                                                      \
    FLOATS(BINARY, silu_backward, SILU_BACKWARD)                                                   \
    FLOATS(UNARY_RANGE, softplus, SOFTPLUS)                                                        \
    FLOATS(BINARY_RANGE, softplus_backward, SOFTPLUS_BACKWARD)                                     \
    FLOATS(UNARY, logsigmoid, LOGSIGMOID)                                                          \
    FLOATS(BINARY, logsigmoid_backward, LOGSIGMOID_BACKWARD)                                       \
    FLOATS(UNARY_THREE, elu, ELU)                                                                  \
    FLOATS(BINARY_THREE, elu_backward, ELU_BACKWARD)                                               \
    FLOATS(BINARY, mish_backward, MISH_BACKWARD)                                                   \
    FLOATS(POWER, pow, POW)                                                                        \
    WIDEST(BINARY, pow, POW)

#define UNARY LOOP_UNARY
#define UNARY_NUMBER LOOP_UNARY_NUMBER
#define UNARY_RANGE LOOP_UNARY_RANGE
#define UNARY_THREE LOOP_UNARY_THREE
#define BINARY LOOP_BINARY
#define BINARY_RANGE LOOP_BINARY_RANGE
#define BINARY_THREE LOOP_BINARY_THREE
#define TERNARY LOOP_TERNARY
#define IDENTITY(x) (x)
#define SQUARE(x) ((x) * (x))
#define CUBE(x) ((x) * (x) * (x))
#define RECIPROCAL(x) (1 / (x))
#define RECIPROCAL_SQUARE(x) (1 / ((x) * (x)))
/* The exponents that people write have shorter ways than pow. */
#define POWER(name, NAME, s, T, D)                                                                 \
    LOOP_HEAD(name, s)                                                                             \
    {                                                                                              \
        (void)context;                                                                             \
        const T exponent = strides[2] == 0 ? *(const T *)ptrs[2] : (T)0;                           \
        if (exponent == 2) {                                                                       \
            UNARY_BODY(T, T, SQUARE)                                                               \
        } else if (exponent == 3) {                                                                \
            UNARY_BODY(T, T, CUBE)                                                                 \
        } else if (exponent == 1) {                                                                \
            UNARY_BODY(T, T, IDENTITY)                                                             \
        } else if (exponent == (T)0.5) {                                                           \
            UNARY_BODY(T, T, lt_sqrt_##s)                                                          \
        } else if (exponent == (T)-0.5) {                                                          \
            UNARY_BODY(T, T, lt_rsqrt_##s)                                                         \
        } else if (exponent == -1) {                                                               \
            UNARY_BODY(T, T, RECIPROCAL)                                                           \
        } else if (exponent == -2) {                                                               \
            UNARY_BODY(T, T, RECIPROCAL_SQUARE)                                                    \
        } else {                                                                                   \
            BINARY_BODY(T, T, lt_pow_##s)                                                          \
        }                                                                                          \
    }
LIST
#undef UNARY
#undef UNARY_NUMBER
#undef UNARY_RANGE
#undef UNARY_THREE
#undef BINARY
#undef BINARY_RANGE
#undef BINARY_THREE
#undef TERNARY
#undef POWER

#define ENTRY(name, NAME, s, T, D) [LT_PW_##NAME][LT_##D] = name##_##s,
#define UNARY ENTRY
#define UNARY_NUMBER ENTRY
#define UNARY_RANGE ENTRY
#define UNARY_THREE ENTRY
#define BINARY ENTRY
#define BINARY_RANGE ENTRY
#define BINARY_THREE ENTRY
#define TERNARY ENTRY
#define POWER ENTRY
const lt_pointwise_row LT_LOOP(functions)[LT_PW_COUNT] = {LIST};
