/* float_math.h - functions of float as polynomials: inline and without branches, so that any
 * compiler vectorizes loops over them without a call. Minimax fits (Remez's and Lawson's
 * algorithms) with a relative error below 5e-9 unless stated otherwise; docs/accuracy.md lists the
 * errors with rounding. Special values are as in <math.h>. The result for an element does not
 * depend on its vector position. Included by vector_math.h; macros at the end redefine expf and
 * others as these functions. */
#ifndef LT_CPU_FLOAT_MATH_H
#define LT_CPU_FLOAT_MATH_H

#include "double_math.h"
#include "dtypes/half.h"
#include "float_angles.h"
#include "float_exponentials.h"
#include "float_logarithms.h"

/* erf(x) as |x| P(x^2) / Q(x^2), at most 1, which is the nearest float from 3.92 on. Fitted to
 * 2e-8; 6 ULP with rounding. */
static inline float vector_erff(float x)
{
    const float square = x * x, s = square > 15.3664f ? 15.3664f : square;
    float p = 2.05015667e-06f;
    p = multiply_addf(p, s, 0.000284880033f);
    p = multiply_addf(p, s, 0.00376539261f);
    p = multiply_addf(p, s, 0.0527480276f);
    p = multiply_addf(p, s, 0.190400872f);
    p = multiply_addf(p, s, 1.12837915f);
    float q = 3.80923057e-05f;
    q = multiply_addf(q, s, 0.00116248584f);
    q = multiply_addf(q, s, 0.0149687615f);
    q = multiply_addf(q, s, 0.114106839f);
    q = multiply_addf(q, s, 0.502071121f);
    q = multiply_addf(q, s, 1.0f);
    const float y = __builtin_fabsf(x) * p / q;
    return __builtin_copysignf(y > 1 ? 1 : y, x);
}

/* 2^(y log2(|x|)) in double, to 2e-9. |x| = 2^k m with m from sqrt(1/2) to sqrt(2); log2(m) is an
 * odd series in (m - 1) / (m + 1). Adding 1.5 2^52 splits the exponent into an integer and a
 * remainder. */
static inline float vector_powf(float x, float y)
{
    const double a = __builtin_fabs((double)x);
    double k;
    const double m = vector_split_power(a, VECTOR_EXPONENTS, &k);
    const double t = (m - 1) / (m + 1), s = t * t;
    double p = 0.34074748472378863;
    p = vector_multiply_add(p, s, 0.41167174679867347);
    p = vector_multiply_add(p, s, 0.5770836019165315);
    p = vector_multiply_add(p, s, 0.9617966732474945);
    p = vector_multiply_add(p, s, 2.885390081790169);
    p = vector_multiply_add(p, t, k);
    p = a == 0 ? -(double)INFINITY : a < (double)INFINITY ? p : a; /* also selects a if it is nan */
    double e = p * y;
    e = e < -200 ? -200 : e;
    e = e > 200 ? 200 : e;
    const double shifted = e + 0x1.8p52, f = e - (shifted - 0x1.8p52);
    double q = 0.00015478017729570002;
    q = vector_multiply_add(q, f, 0.0013400431669445799);
    q = vector_multiply_add(q, f, 0.009617994531191625);
    q = vector_multiply_add(q, f, 0.05550327215758394);
    q = vector_multiply_add(q, f, 0.2402265150489581);
    q = vector_multiply_add(q, f, 0.6931472067096528);
    q = vector_multiply_add(q, f, 0.9999999999190887);
    q *= vector_bits_to_double((vector_double_to_bits(shifted) << 52) + 0x3ff0000000000000u);
    const float size = a == 1 || y == 0 ? 1 : (float)q;
    const bool odd = y == __builtin_floorf(y) && y * 0.5f != __builtin_floorf(y * 0.5f);
    const float result = odd ? __builtin_copysignf(size, x) : size;
    return x < 0 && x > -INFINITY && y != __builtin_floorf(y) ? NAN : result;
}

/* erfc(x) = 1 - x E(x^2) for |x| <= 1, in double, to 1.3e-9. */
VECTOR_INLINE float near_erfcf(float value)
{
    const double x = value, s = x * x;
    double e = 7.875875062685488e-05;
    e = vector_multiply_add(e, s, -0.000801686428716587);
    e = vector_multiply_add(e, s, 0.005189087423433974);
    e = vector_multiply_add(e, s, -0.026854212010626412);
    e = vector_multiply_add(e, s, 0.11283594715160218);
    e = vector_multiply_add(e, s, -0.37612626666720334);
    e = vector_multiply_add(e, s, 1.1283791658483509);
    return (float)vector_multiply_add(-x, e, 1);
}

/* erfc(x) for x >= 1 as t 2^(P(t) - x^2 log2(e)), t = 1 / (1 + x / 2), in double, to 7e-9; for x <=
 * -1, 2 - erfc(-x). From 10.125 on it is below every float. The form is from Press et al.,
 * Numerical Recipes, 6.2. */
VECTOR_INLINE float vector_erfcf(float x)
{
    const float size = __builtin_fabsf(x);
    /* a Newton step refines the reciprocal to double */
    const double a = size, inverse = 1 / (2 + size),
                 t = inverse * vector_multiply_add(2 + a, -2 * inverse, 4);
    double q = -0.35952949506555776;
    q = vector_multiply_add(q, t, 0.9727428200229855);
    q = vector_multiply_add(q, t, -0.7117379552190541);
    q = vector_multiply_add(q, t, -0.04492256313329187);
    q = vector_multiply_add(q, t, -0.12954867770557849);
    q = vector_multiply_add(q, t, 0.11075596467646803);
    q = vector_multiply_add(q, t, 0.5437366513920979);
    q = vector_multiply_add(q, t, 1.442375010366332);
    q = vector_multiply_add(q, t, -1.82573377068274);
    q = vector_multiply_add(a * a, -1.4426950408889634, q);
    const double shifted = q + 0x1.8p52, f = q - (shifted - 0x1.8p52);
    double p = 0.00015347206105973757;
    p = vector_multiply_add(p, f, 0.0013399912978963625);
    p = vector_multiply_add(p, f, 0.009618483673098597);
    p = vector_multiply_add(p, f, 0.05550328845375606);
    p = vector_multiply_add(p, f, 0.2402264693967832);
    p = vector_multiply_add(p, f, 0.6931472056620117);
    p = vector_multiply_add(p, f, 1.0000000005426364);
    p *= t * vector_bits_to_double((vector_double_to_bits(shifted) << 52) + 0x3ff0000000000000u);
    const float tail = size > 10.125f ? 0 : (float)p, far = x < 0 ? 2 - tail : tail,
                near = near_erfcf(x);
    return size < 1 ? near : far;
}

#define erf(x) vector_erf(x) /* function-like, so that other macros can take `erf` */
#define erff   vector_erff
#define erfcf  vector_erfcf
#define expf   vector_expf
#define exp2f  vector_exp2f
#define expm1f vector_expm1f
#define sinhf  vector_sinhf
#define coshf  vector_coshf
#define tanhf  vector_tanhf
#define logf   vector_logf
#define log2f  vector_log2f
#define log10f vector_log10f
#define log1pf vector_log1pf
#define asinf  vector_asinf
#define acosf  vector_acosf
#define atanf  vector_atanf
#define atan2f vector_atan2f
#define powf   vector_powf

#endif
