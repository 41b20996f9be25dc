/* special.c - elementwise loops over special functions (formulas/special.inc). */
#include "steady.h"
#include "by_lanes.h"

#include "formulas/special.h"
#include "kernels_special.h" /* generated from the declarations */

#define RUN_erfc   64
#define RUN_erfinv 64
#define is_near_erfc_f32(x)   (__builtin_fabsf(x) < 1)
#define is_near_erfc_f64(x)   (__builtin_fabs(x) < 1)
#define is_near_erfinv_f32(x) (__builtin_fabsf(x) < 0.9966f) /* w is 4.993 there, and 6.21 here: */
#define is_near_erfinv_f64(x) (__builtin_fabs(x) < 0.999)
#define near_erfc_f32 near_erfcf
#define near_erfc_f64 vector_erfc_near

/* Of erfinv one of the polynomials, and of the logarithm what positive normal numbers need. */
static inline float near_erfinv_f32(float x)
{
    const float a = __builtin_fabsf(x);
    return __builtin_copysignf(a * lt_erfinv_short_f32(-near_logf((1 - a) * (1 + a))), x);
}

/* lt_erfinv_depth_f64 as 2 atanh((m - 1) / (m + 1)) and k log(2), to 1e-16, not to that part of it: there are fewer steps than log has, and
 * processors divide at their side. */
static inline double erfinv_depth(double a)
{
    double k;
    const double m = vector_split_power((1 - a) * (1 + a), VECTOR_EXPONENTS, &k), t = (m - 1) / (m + 1);
    static const double c[7] = {0.16837659970680488, 0.18121934431215214, 0.22223434547517906, 0.2857141602110767, 0.40000000061741614,
        0.6666666666655292, 2.0000000000000004};
    return -vector_multiply_add(k, 0.69314718055994531, t * vector_polynomial(c, 7, t * t));
}
#define lt_erfinv_f64(x) lt_erfinv_at_f64(x, erfinv_depth(__builtin_fabs(x)))

static inline double near_erfinv_f64(double x)
{
    const double a = __builtin_fabs(x);
    return __builtin_copysign(a * lt_erfinv_middle_f64(erfinv_depth(a)), x);
}

#include "shapes_loops.h"
#define NEAR LOOP_NEAR
LT_SPECIAL_LOOPS
#undef NEAR

#define FIRST LT_PW_SPECIAL
#include "shapes_entries.h"
#define NEAR ENTRY
const lt_pointwise_row LT_LOOP(special)[LT_PW_SPECIAL_END - LT_PW_SPECIAL] = {LT_SPECIAL_LOOPS};
