/* special.c - elementwise loops over special functions (formulas/special.inc). */
#include "steady.h"
#include "by_lanes.h"

#include "formulas/special.h"
#include "kernels_special.h" /* generated from the declarations */

#define RUN_erfc      LT_ACCUMULATORS
#define RUN_erfinv    LT_ACCUMULATORS
#define BELOW_erfc    1
#define BELOW_erfinv  0.85
#define near_erfc_f32 near_erfcf
#define near_erfc_f64 vector_erfc_near

static inline bool is_near_erfc_f32(float x) { return __builtin_fabsf(x) < 1; }
/* w is 4.993 at the limit. */
static inline bool is_near_erfinv_f32(float x) { return __builtin_fabsf(x) < 0.9966f; }

static void erfc_far_f64(double *x)
{
    SIMD for (int j = 0; j < LT_LANES; j++) x[j] = vector_erfc_far(x[j]);
}

/* Uses one polynomial of erfinv, and the logarithm for positive normal numbers. */
static inline float near_erfinv_f32(float x)
{
    const float a = __builtin_fabsf(x);
    return __builtin_copysignf(a * lt_erfinv_short_f32(-near_logf((1 - a) * (1 + a))), x);
}

/* |x| < 0.85: erfinv(x) / x = sqrt(pi) / 2 + x^2 P / Q in powers of 0.85^2 - x^2, where all
 * terms are positive. A minimax fit with an error below 0.1 ULP. */
static inline double near_erfinv_f64(double x)
{
    static const double ps[8] = {0.0030826723520875577, 0.7912984748535999, 7.4363219485233145,
                                 21.470886166709185,    26.386340923363317, 15.394232603042882,
                                 4.201848978825788,     0.43087250673264127};
    static const double qs[8] = {
        1.2156899562603636, 16.55896661192321, 68.12119120853846,  121.3553509596116,
        107.56496293835538, 49.46477411932568, 11.258033718644537, 1.0};
    const double s = x * x, r = 0.7225 - s,
                 share = vector_polynomial(ps, 8, r) / vector_polynomial(qs, 8, r);
    return vector_multiply_add(x, 0.886226925452758,
                               x * vector_multiply_add(s, share, -3.8332932499128993e-17));
}

/* lt_erfinv_depth_f64 as 2 atanh((m - 1) / (m + 1)) + k log(2), with an absolute error of 1e-16. It
 * has fewer steps than log, and the division overlaps with them. */
static inline double erfinv_depth(double a)
{
    double k;
    const double m = vector_split_power((1 - a) * (1 + a), VECTOR_EXPONENTS, &k),
                 t = (m - 1) / (m + 1);
    static const double c[7] = {0.16837659970680488, 0.18121934431215214, 0.22223434547517906,
                                0.2857141602110767,  0.40000000061741614, 0.6666666666655292,
                                2.0000000000000004};
    return -vector_multiply_add(k, 0.69314718055994531, t * vector_polynomial(c, 7, t * t));
}

/* |x| >= 0.85. Usually a single polynomial; w is 6.21 at 0.999. */
static void erfinv_far_f64(double *x)
{
    int farther = 0;
    double depth[LT_LANES];
    SIMD for (int j = 0; j < LT_LANES; j++) depth[j] = erfinv_depth(__builtin_fabs(x[j]));
    _Pragma("omp simd reduction(+ : farther)") for (int j = 0; j < LT_LANES; j++) farther +=
        !(__builtin_fabs(x[j]) < 0.999);
    if (farther > 0)
        SIMD for (int j = 0; j < LT_LANES; j++) x[j] = lt_erfinv_at_f64(x[j], depth[j]);
    else
        SIMD for (int j = 0; j < LT_LANES; j++) x[j] *= lt_erfinv_middle_f64(depth[j]);
}

#define LOOP_NEAR_f32 LOOP_NEAR
#define LOOP_NEAR_f64 LOOP_PARTED

#include "shapes_loops.h"
#define NEAR(name, NAME, s, T, D) LOOP_NEAR_##s(name, NAME, s, T, D)
LT_SPECIAL_LOOPS
#undef NEAR

#define FIRST LT_PW_SPECIAL
#include "shapes_entries.h"
#define NEAR ENTRY
const lt_pointwise_row LT_LOOP(special)[LT_PW_SPECIAL_END - LT_PW_SPECIAL] = {LT_SPECIAL_LOOPS};
