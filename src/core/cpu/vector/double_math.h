/* double_math.h - functions of double as polynomials, two to ten times as fast as SLEEF 3.5:
 * minimax fits (Remez' and Lawson's algorithms) with approximation errors below 0.1 ULP unless
 * stated otherwise. The functions have no branches, so that any compiler vectorizes the "omp simd"
 * loops that call them. Special values are as in <math.h>. Included by float_math.h; macros at the
 * end redefine exp and others as these functions. */
#ifndef LT_CPU_DOUBLE_MATH_H
#define LT_CPU_DOUBLE_MATH_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The functions exceed the compiler's inlining limit, and a loop with a call is not vectorized. */
#define VECTOR_INLINE static inline __attribute__((always_inline))

/* a b + c, with a single rounding where the instruction set has FMA. */
static inline double vector_multiply_add(double a, double b, double c)
{
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    return __builtin_fma(a, b, c);
#else
    return a * b + c;
#endif
}

static inline double vector_bits_to_double(uint64_t u)
{
    double d;
    memcpy(&d, &u, sizeof d);
    return d;
}

static inline uint64_t vector_double_to_bits(double d)
{
    uint64_t u;
    memcpy(&u, &d, sizeof u);
    return u;
}

/* The polynomial c[0] x^(terms - 1) + ... + c[terms - 1] by a four-way Horner scheme: four
 * independent partial sums in x^4, since a single one would be bound by latency. The final
 * combination of the four rounds, so the constant term must be small compared with the value that
 * the caller adds to it. */
VECTOR_INLINE double vector_polynomial(const double *c, int terms, double x)
{
    const double square = x * x, fourth = square * square;
    double sums[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) sums[(terms - 1 - i) & 3] = c[i];
#pragma GCC unroll 32
    for (int i = 4; i < terms; i++)
        sums[(terms - 1 - i) & 3] = vector_multiply_add(sums[(terms - 1 - i) & 3], fourth, c[i]);
    return vector_multiply_add(vector_multiply_add(sums[3], x, sums[2]), square,
                               vector_multiply_add(sums[1], x, sums[0]));
}

/* ---- erf ------------------------------------------------------------------------------------- */

#define VECTOR_ERF_C    0.1283791670955126     /* 2 / sqrt(pi) - 1 */
#define VECTOR_ERF_LESS 1.2420116002463033e-17 /* too large by this */

/* erf(x) / x - 1 for s = x^2 up to 1. The minimax fits (Lawson's algorithm) of this section have
 * errors below 0.04 ULP. */
VECTOR_INLINE double vector_erf_rest(double s)
{
    static const double c[12] = {
        5.923929756260973e-11, -1.135646452439118e-09, 1.4656498894882018e-08,
        -1.634998858240336e-07, 1.6460987451256743e-06, -1.4925595704127523e-05,
        0.00012055331189414642, -0.0008548326984842043, 0.005223977624925359, -0.026866170645092297,
        /* the last coefficient is stored plus 1/4, which reduces its rounding error */
        0.11283791670954989, -0.1261263890318375};
    return vector_multiply_add(s, vector_polynomial(c, 12, s),
                               vector_multiply_add(s, -0.25, VECTOR_ERF_C));
}

VECTOR_INLINE double vector_erf_near(double x)
{
    return vector_multiply_add(x, vector_erf_rest(x * x), x);
}

/* erf for |x| >= 1 as 1 - erfc(1) 2^-Q(x), Q a polynomial in x - 1; 1 from 5.95 on. Adding 1.5 2^52
 * splits the exponent into an integer and a remainder. */
VECTOR_INLINE double vector_erf_far(double x)
{
    const double size = __builtin_fabs(x), a = size < 5.95 ? size : 5.95, u = a - 1;
    static const double qs[17] = {
        7.079104032420894e-12,   -1.73498985643034e-10,   1.916596522497501e-09,
        -1.2370867588578058e-08, 4.849462730205602e-08,   -8.45893800307399e-08,
        -2.9367004509016445e-07, 3.0730476677973924e-06,  -1.3949890420052962e-05,
        3.923742742026036e-05,   -3.7936164910327484e-05, -0.0003423758420627579,
        0.002853508451125175,    -0.014475749861294658,   0.05995999001880192,
        1.216346657686953,       3.8072253458535936};
    const double q = vector_polynomial(qs, 17, u) * u;
    const double shifted = 0x1.8p52 - q, f = (0x1.8p52 - shifted) - q;
    static const double ps[12] = {
        4.43526579432686e-10,   7.0741046867579034e-09, 1.0178198147485498e-07,
        1.3215433093430276e-06, 1.5252733489740289e-05, 0.00015403530462509082,
        0.0013333558146789947,  0.009618129107588344,   0.055504108664819925,
        0.24022650695910155,    0.6931471805599453,     1.0};
    const double p = vector_polynomial(ps, 12, f);
    const double power =
        0.15729920705028513 *
        vector_bits_to_double((vector_double_to_bits(shifted) << 52) + 0x3ff0000000000000u);
    return x != x ? x : __builtin_copysign(vector_multiply_add(-p, power, 1.0), x);
}

VECTOR_INLINE double vector_erf(double x)
{
    return __builtin_fabs(x) < 1 ? vector_erf_near(x) : vector_erf_far(x);
}

/* ---- exponentials and logarithms ------------------------------------------------------------- */

/* x = n log(2) + r, |r| <= log(2) / 2. Stores r as *r + *low, where *r is exact: log(2) is split
 * into a number with so few bits that its product with n is exact, and a remainder. Returns a sum
 * with n in its low bits. */
VECTOR_INLINE double vector_whole_logs(double x, double *r, double *low)
{
    const double shifted = vector_multiply_add(x, 1.4426950408889634, 0x1.8p52),
                 n = shifted - 0x1.8p52;
    *r = vector_multiply_add(n, -0.6931471803691238, x);
    *low = n * -1.9082149292705877e-10;
    return shifted;
}

/* exp(r + low) - 1 - r. */
VECTOR_INLINE double vector_exp_curve(double r, double low)
{
    const double x = r + low;
    static const double ps[9] = {
        2.4999555666344897e-08, 2.763024164825048e-07,  2.7557588164565538e-06,
        2.480149312500274e-05,  0.00019841269504332015, 0.0013888888943595606,
        0.008333333333495613,   0.041666666666530336,   0.1666666666666641};
    return vector_multiply_add(
        vector_multiply_add(vector_polynomial(ps, 9, x), x, 0.5000000000000011), x * x, low);
}

/* exp(r + low) - 1. */
VECTOR_INLINE double vector_exp_rest(double r, double low) { return r + vector_exp_curve(r, low); }

/* p 2^n in two multiplications, since 2^n may be out of the range of double. A subnormal result is
 * rounded once. */
VECTOR_INLINE double vector_times_power(double p, double shifted)
{
    const uint64_t power = vector_double_to_bits(shifted) - 0x4338000000000000u + 2046,
                   half = power >> 1;
    return p * vector_bits_to_double(half << 52) * vector_bits_to_double((power - half) << 52);
}

/* If x < -746, the result is 0 and p is set to 0 before the multiplications: a product that becomes
 * subnormal costs a hundred cycles. */
VECTOR_INLINE double vector_exp(double x)
{
    double r, low;
    const double shifted = vector_whole_logs(x < -746 ? -746 : x, &r, &low),
                 p = 1 + vector_exp_rest(r, low);
    const double y = vector_times_power(x < -746 ? 0 : p, shifted);
    return x > 710 ? (double)INFINITY : y;
}

/* exp(x) for |x| < 708, where neither 2^n nor the result is subnormal or infinite. */
VECTOR_INLINE double vector_exp_near(double x)
{
    double r, low;
    const double shifted = vector_whole_logs(x, &r, &low), y = 1 + vector_exp_rest(r, low);
    return vector_bits_to_double(vector_double_to_bits(y) + (vector_double_to_bits(shifted) << 52));
}

/* exp(x) - 1 = 2^n (exp(r) - 1) + 2^n - 1, computed as twice its half, since 2^1024 is no double.
 */
VECTOR_INLINE double vector_expm1(double x)
{
    double r, low;
    const double above = x < -40 ? -40 : x,
                 shifted = vector_whole_logs(above > 710 ? 710 : above, &r, &low);
    const double half =
        vector_bits_to_double((vector_double_to_bits(shifted) << 52) + 0x3fe0000000000000u);
    const double y = vector_multiply_add(half, vector_exp_curve(r, low),
                                         vector_multiply_add(half, r, half - 0.5)) *
                     2;
    /* half of the smallest subnormal would be 0 */
    return __builtin_fabs(x) < 0x1p-1022 ? x : __builtin_copysign(y, x);
}

/* Splits a positive normal x = 2^k m; returns m, from sqrt(1/2) to sqrt(2), and stores k. `zero` is
 * VECTOR_EXPONENTS; pass VECTOR_EXPONENTS + c to store k - c. */
#define VECTOR_EXPONENTS (0x1p52 + 1024)
VECTOR_INLINE double vector_split_power(double x, double zero, double *k)
{
    /* minus the bits of sqrt(1/2) */
    const uint64_t bits = vector_double_to_bits(x) - 0x3fe6a09e667f3bcdu + ((uint64_t)1024 << 52);
    *k = vector_bits_to_double((bits >> 52) | 0x4330000000000000u) - zero;
    return vector_bits_to_double((bits & 0xfffffffffffffu) + 0x3fe6a09e667f3bcdu);
}

/* For positive normal x = 2^k (1 + f): stores k and f, returns log(1 + f) - f as -f^2 / 2 + f^3
 * P(f). */
VECTOR_INLINE double vector_log_curve(double x, double zero, double *k, double *f)
{
    *f = vector_split_power(x, zero, k) - 1;
    const double square = *f * *f;
    static const double ps[19] = {
        0.026150998814568147, -0.059817408522674816, 0.06503525875158685, -0.05677783314307384,
        0.05668366432761714,  -0.061966761747515045, 0.06684590518617578, -0.07149439937468412,
        0.0769152973216472,   -0.0833291350562715,   0.09090923934621963, -0.10000015207793693,
        0.11111111147426576,  -0.12499999691406612,  0.14285714280093303, -0.16666666669826305,
        0.20000000000066612,  -0.24999999999987974,  0.3333333333333314};
    return vector_multiply_add(square, -0.5, square * *f * vector_polynomial(ps, 19, *f));
}

/* log(x) = k log(2) + log(1 + f) for positive normal x; then log2 and log10, which use 1 / log(2)
 * and 1 / log(10) as sums of two numbers. */
VECTOR_INLINE double vector_log_part(double x, double zero)
{
    double k, f;
    const double curve = vector_log_curve(x, zero, &k, &f);
    return vector_multiply_add(k, 0.6931471803691238,
                               f + vector_multiply_add(k, 1.9082149292705877e-10, curve));
}

VECTOR_INLINE double vector_log2_part(double x, double zero)
{
    double k, f;
    const double curve = vector_log_curve(x, zero, &k, &f),
                 rest = vector_multiply_add(f, 2.0355273740931033e-17, curve * 1.4426950408889634);
    return vector_multiply_add(f, 1.4426950408889634, rest) + k;
}

VECTOR_INLINE double vector_log10_part(double x, double zero)
{
    double k, f;
    const double curve = vector_log_curve(x, zero, &k, &f);
    const double rest = vector_multiply_add(curve, 0.4342944819032518, k * -8.532344317057107e-14);
    return vector_multiply_add(
        k, 0.3010299956640665,
        vector_multiply_add(f, 0.4342944819032518,
                            vector_multiply_add(f, 1.098319650216765e-17, rest)));
}

/* Extends the functions above to all x: a subnormal is multiplied by 2^54 first. */
#define VECTOR_LOGARITHM(name)                                                                     \
    VECTOR_INLINE double vector_##name##_near(double x)                                            \
    {                                                                                              \
        return vector_##name##_part(x, VECTOR_EXPONENTS);                                          \
    }                                                                                              \
    VECTOR_INLINE double vector_##name(double x)                                                   \
    {                                                                                              \
        const bool tiny = x < 0x1p-1022;                                                           \
        const double y = vector_##name##_part(tiny ? x * 0x1p54 : x,                               \
                                              tiny ? VECTOR_EXPONENTS + 54 : VECTOR_EXPONENTS);    \
        return x > 0 ? (x < (double)INFINITY ? y : x) : x == 0 ? -(double)INFINITY : (double)NAN;  \
    }
VECTOR_LOGARITHM(log)
VECTOR_LOGARITHM(log2)
VECTOR_LOGARITHM(log10)
#undef VECTOR_LOGARITHM

/* |x| < 1: x + x x^2 P(x^2) / Q(x^2). Otherwise 1 - 2 / (exp(2 x) + 1). Both share one division. */
VECTOR_INLINE double vector_tanh(double x)
{
    const double size = __builtin_fabs(x), a = size < 20 ? size : 20, s = a * a;
    double p = -1.719274220887231e-08;
    p = vector_multiply_add(p, s, -0.00024310562584776898);
    p = vector_multiply_add(p, s, -0.021405955536951543);
    p = vector_multiply_add(p, s, -0.33333333333333326);
    double q = 0.0002541146678237963;
    q = vector_multiply_add(q, s, 0.02451170161715861);
    q = vector_multiply_add(q, s, 0.4642178666108507);
    q = vector_multiply_add(q, s, 1);
    double r, low;
    const double shifted = vector_whole_logs(2 * a, &r, &low);
    const double power =
        vector_bits_to_double((vector_double_to_bits(shifted) << 52) + 0x3ff0000000000000u);
    const double e = vector_multiply_add(vector_exp_rest(r, low), power, power);
    const bool near = a < 1;
    const double start = near ? a : 1,
                 y = vector_multiply_add(start, (near ? s * p : -2) / (near ? q : e + 1), start);
    return x != x ? x : __builtin_copysign(y, x);
}

/* ---- the complement of erf ------------------------------------------------------------------- */

/* erfc(x) for |x| <= 1 as (1 - x) - x erf_rest(x^2), where 1 - x is exact from 1/2 on, plus the
 * rounding errors of x^2 and VECTOR_ERF_C. */
VECTOR_INLINE double vector_erfc_near(double x)
{
    const double s = x * x, lost = vector_multiply_add(x, x, -s);
    return vector_multiply_add(
        -x, vector_erf_rest(s),
        vector_multiply_add(x, vector_multiply_add(0.25, lost, VECTOR_ERF_LESS), 1 - x));
}

/* erfc(x) for x >= 1 as exp(-x^2) (1 + P(u)) / (1 + 2 x), u = (x - 3.5) / (x + 3.5), after M.
 * Shepherd and J. Laframboise, Chebyshev approximation of (1 + 2x) exp(x^2) erfc x, 1981; from
 * 27.25 on it is below every double. For negative x, 2 - erfc(-x). */
VECTOR_INLINE double vector_erfc_far(double x)
{
    const double size = __builtin_fabs(x), a = size < 27.25 ? size : 27.25,
                 u = (a - 3.5) / (a + 3.5);
    static const double ps[21] = {
        3.1644930502818087e-09,  -6.170849949736369e-08,  -1.509166726563322e-08,
        5.59733907149613e-07,    -3.5835250359235504e-08, -3.785166153890477e-06,
        2.322857847899072e-06,   2.424797950365115e-05,   -4.2780098055123076e-05,
        -0.00012150879413957715, 0.000564383902569397,    -0.0003022685145029967,
        -0.004215019832357833,   0.019099331009734103,    -0.048823325834217356,
        0.08798315382095002,     -0.11508959815992471,    0.0975190951533631,
        -0.010555596332222654,   -0.14000918013762023,    0.2423492448711544};
    const double p = vector_polynomial(ps, 21, u);
    /* -a^2 = square + its rounding error, which follows from the two halves of a. */
    const double square = -a * a,
                 high = vector_bits_to_double(vector_double_to_bits(a) & 0xfffffffff8000000u),
                 rest = a - high;
    double r, low;
    const double shifted = vector_whole_logs(square, &r, &low);
    low -= (high * high + square) + (a + high) * rest;
    /* `share` and its rounding error `lost`: */
    const double per = 1 / (1 + 2 * a), share = vector_multiply_add(p, per, per);
    const double lost = (vector_multiply_add(-2 * a, share, 1) + (p - share)) * per;
    const double more = vector_multiply_add(vector_exp_rest(r, low), share + lost, lost);
    const double tail = vector_times_power(share + more, shifted);
    return x != x ? x : x < 0 ? 2 - tail : tail;
}

VECTOR_INLINE double vector_erfc(double x)
{
    return __builtin_fabs(x) < 1 ? vector_erfc_near(x) : vector_erfc_far(x);
}

/* ---- sine and cosine ------------------------------------------------------------------------- */

/* a = n pi / 2 + r, r stored as r + low. pi / 2 is the sum of three numbers; the products of n and
 * the first two are exact for n < 2^20. */
typedef struct vector_angle {
    double r, low;
    uint64_t quarters; /* n in its low bits */
} vector_angle;

VECTOR_INLINE vector_angle vector_reduced(double a)
{
    const double shifted = vector_multiply_add(a, 0.6366197723675814, 0x1.8p52),
                 n = shifted - 0x1.8p52;
    const double first = vector_multiply_add(n, -1.5707963267341256, a),
                 r = vector_multiply_add(n, -6.077100506303966e-11, first);
    const double rounded = vector_multiply_add(n, -6.077100506303966e-11, first - r);
    return (vector_angle){r, vector_multiply_add(n, -2.0222662487959506e-21, rounded),
                          vector_double_to_bits(shifted)};
}

/* The sine of the angle plus `quarters` quarter turns. */
VECTOR_INLINE double vector_sine_of(vector_angle angle, uint64_t quarters)
{
    const double r = angle.r, s = r * r, half = 0.5 * s, most = 1 - half;
    double p = 1.5895918926492962e-10;
    p = vector_multiply_add(p, s, -2.5050742618392415e-08);
    p = vector_multiply_add(p, s, 2.7557313590095012e-06);
    p = vector_multiply_add(p, s, -0.00019841269829504218);
    p = vector_multiply_add(p, s, 0.008333333333322018);
    p = vector_multiply_add(p, s, -0.1666666666666663);
    const double sine =
        r + vector_multiply_add(r * s, p, vector_multiply_add(angle.low, -half, angle.low));
    double q = -1.1358313638560065e-11;
    q = vector_multiply_add(q, s, 2.0875696650857643e-09);
    q = vector_multiply_add(q, s, -2.755731414936977e-07);
    q = vector_multiply_add(q, s, 2.480158728875156e-05);
    q = vector_multiply_add(q, s, -0.0013888888888872902);
    q = vector_multiply_add(q, s, 0.041666666666666595);
    const double cosine =
        most + vector_multiply_add(s * s, q, vector_multiply_add(r, -angle.low, (1 - most) - half));
    const uint64_t turns = angle.quarters + quarters;
    const double y = (turns & 1) != 0 ? cosine : sine;
    return vector_bits_to_double(vector_double_to_bits(y) ^ (turns << 62 & 0x8000000000000000u));
}

/* Valid for |x| < 5e4. Some larger x are so close to a multiple of pi / 2 that r loses bits. */
VECTOR_INLINE double vector_sin(double x)
{
    const double y = vector_sine_of(vector_reduced(__builtin_fabs(x)), 0);
    return vector_bits_to_double(vector_double_to_bits(y) ^
                                 (vector_double_to_bits(x) & 0x8000000000000000u));
}
VECTOR_INLINE double vector_cos(double x)
{
    return vector_sine_of(vector_reduced(__builtin_fabs(x)), 1);
}

/* Function-like macros, so that the bare names stay usable as arguments of other macros. */
#define exp(x)   vector_exp(x)
#define expm1(x) vector_expm1(x)
#define log(x)   vector_log(x)
#define log2(x)  vector_log2(x)
#define log10(x) vector_log10(x)
#define tanh(x)  vector_tanh(x)
#define erfc(x)  vector_erfc(x)

#endif
