/* functions.c - elementwise loops over transcendental functions, which SLEEF computes several at a time
 * (vector_math.h). The formulas stand in formulas/formulas.h. */
#include "steady.h"
#include "by_lanes.h"

#include "kernels_functions.h" /* generated from the declarations */
#include "shapes_loops.h"
#define ANGLE LOOP_ANGLE
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
LT_FUNCTIONS_LOOPS
#undef ANGLE
#undef POWER

#define FIRST LT_PW_FUNCTIONS
#include "shapes_entries.h"
#define ANGLE ENTRY
#define POWER ENTRY
const lt_pointwise_row LT_LOOP(functions)[LT_PW_FUNCTIONS_END - LT_PW_FUNCTIONS] = {LT_FUNCTIONS_LOOPS};
