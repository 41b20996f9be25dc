/* functions.c - elementwise loops over transcendental functions, vectorized with our polynomials
 * and SLEEF (vector_math.h). The formulas are in formulas/formulas.h. */
#include "steady.h"
#include "by_lanes.h"
#ifdef __AVX512F__
#include "cpu/vector/exp_by_table.h"
#endif

#include "kernels_functions.h" /* generated from the declarations */
#include "shapes_loops.h"
#define ANGLE LOOP_ANGLE
#define LOOPS "cpu/vector/pointwise/power.inc"
#include "cpu/common/both_floats.h"
#define POWER(name, NAME, s, T, D) /* defined in power.inc */

/* The ranges of the fast paths (LOOP_NEAR, LOOP_PARTED): no overflow, no subnormal numbers, or a
 * single one of two polynomials. If a fast path would not save time, the loop is a plain one. */
static inline bool is_near_exp_f64(double x) { return __builtin_fabs(x) < 708; }
static inline bool is_near_log_f32(float x) { return (x >= 0x1p-126f) & (x < INFINITY); }
static inline bool is_near_log_f64(double x) { return (x >= 0x1p-1022) & (x < (double)INFINITY); }
#define is_near_log2_f32 is_near_log_f32
#define is_near_log2_f64 is_near_log_f64
#define RUN_exp          LT_BLOCK
#define RUN_log          LT_BLOCK
#define RUN_log2         LT_BLOCK
#define BELOW_erf        1
#define near_exp_f64     vector_exp_near
#define near_log_f32     near_logf
#define near_log_f64     vector_log_near
#define near_log2_f32    near_log2f
#define near_log2_f64    vector_log2_near
#define near_erf_f64     vector_erf_near
#define LOOP_exp_f32     LOOP_UNARY
#ifdef __AVX512F__
#define LOOP_exp_f64 LOOP_BY_TABLE
#else
#define LOOP_exp_f64 LOOP_NEAR
#endif
#define LOOP_log_f32  LOOP_NEAR
#define LOOP_log_f64  LOOP_NEAR
#define LOOP_log2_f32 LOOP_NEAR
#define LOOP_log2_f64 LOOP_NEAR
#define LOOP_erf_f32  LOOP_UNARY
#define LOOP_erf_f64  LOOP_PARTED
static void erf_far_f64(double *x)
{
    SIMD for (int j = 0; j < LT_LANES; j++) x[j] = vector_erf_far(x[j]);
}
#ifdef __AVX512F__
#define LOOP_BY_TABLE(name, NAME, s, T, D)                                                         \
    LOOP_HEAD(name, s)                                                                             \
    {                                                                                              \
        (void)context;                                                                             \
        UNARY_STEPS(T, T,                                                                          \
                    for (int j = 0; j < LT_LANES; j += 8)                                          \
                        vector_##name##_by_table(out + k + j, in + k + j);)                        \
    }
#endif
#define NEAR(name, NAME, s, T, D) LOOP_##name##_##s(name, NAME, s, T, D)
LT_FUNCTIONS_LOOPS
#undef ANGLE
#undef NEAR
#undef POWER

#define FIRST LT_PW_FUNCTIONS
#include "shapes_entries.h"
#define ANGLE ENTRY
#define POWER ENTRY
#define NEAR  ENTRY
const lt_pointwise_row LT_LOOP(functions)[LT_PW_FUNCTIONS_END - LT_PW_FUNCTIONS] = {
    LT_FUNCTIONS_LOOPS};
