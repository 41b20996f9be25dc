/* special.c - elementwise loops over special functions (formulas/special.inc). */
#include "steady.h"
#include "by_lanes.h"

#include "formulas/special.h"
#include "kernels_special.h" /* generated from the declarations */

#define RUN_erfc   64
#define RUN_erfinv 32
#define is_near_erfc_f32(x)   (__builtin_fabsf(x) < 1)
#define is_near_erfc_f64(x)   (__builtin_fabs(x) < 1)
#define is_near_erfinv_f32(x) (__builtin_fabsf(x) < 0.9966f) /* w is 4.993 there, and 6.21 here: */
#define is_near_erfinv_f64(x) (__builtin_fabs(x) < 0.999)
#define near_erfc_f32 near_erfcf
#define near_erfc_f64 vector_erfc_near

/* One of erfinv's polynomials, and of the logarithm what positive normal numbers need. */
static inline float near_erfinv_f32(float x)
{
    const float a = __builtin_fabsf(x);
    return __builtin_copysignf(a * lt_erfinv_short_f32(-near_logf((1 - a) * (1 + a))), x);
}

static inline double near_erfinv_f64(double x)
{
    const double a = __builtin_fabs(x);
    return __builtin_copysign(a * lt_erfinv_middle_f64(-vector_log_near((1 - a) * (1 + a))), x);
}

#include "shapes_loops.h"
#define NEAR LOOP_NEAR
LT_SPECIAL_LOOPS
#undef NEAR

#define FIRST LT_PW_SPECIAL
#include "shapes_entries.h"
#define NEAR ENTRY
const lt_pointwise_row LT_LOOP(special)[LT_PW_SPECIAL_END - LT_PW_SPECIAL] = {LT_SPECIAL_LOOPS};
