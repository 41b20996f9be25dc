/* rare.h - rarely used special functions: one function of one variable, one of two, and a number
 * that selects the formula. They are compiled once, in double precision, which is also sufficient
 * for float, rather than as a vectorized loop each. The CPU calls them through cpu/common/rare.c;
 * GPUs and simulated GPUs include this file in one kernel each. Special values follow PyTorch. */
#ifndef LT_FORMULAS_RARE_H
#define LT_FORMULAS_RARE_H

#include <float.h>

#include "gamma.h"
#include "rare_numbers.h"

/* A function that is never inlined: it would make up most of the code of each loop and kernel. */
#if defined(__CUDACC__)
#define LT_RARE_FN static __host__ __device__ __noinline__
#elif defined(__GNUC__)
#define LT_RARE_FN static __attribute__((noinline))
#else
#define LT_RARE_FN static
#endif

#include "unused_begin.h"

/* ---- Bessel's and Airy's functions ----------------------------------------------------------- */

/* The sum of terms c[k] T_k(t) by Clenshaw's recurrence. */
LT_FN double lt_chebyshev_sum(const double *c, int terms, double t)
{
    double b1 = 0, b2 = 0;
    for (int k = terms - 1; k > 0; k--) {
        const double b = 2 * t * b1 - b2 + c[k];
        b2 = b1;
        b1 = b;
    }
    return t * b1 - b2 + c[0];
}

#define RARE_TABLE(name, from, to, terms, ...)                                                     \
    LT_FN double lt_##name(double u)                                                               \
    {                                                                                              \
        const double coefficients[terms] = {__VA_ARGS__};                                          \
        return lt_chebyshev_sum(coefficients, terms, (2 * u - (from) - (to)) / ((to) - (from)));   \
    }
#include "rare_tables.h"
#undef RARE_TABLE

/* exp(-|x|) I0(x) and exp(-|x|) I1(x). */
LT_FN double lt_bessel_i0e(double x)
{
    x = fabs(x);
    return x <= 8 ? lt_bessel_i0_small(x) : lt_bessel_i0_large(1 / x) / sqrt(x);
}

LT_FN double lt_bessel_i1e(double x)
{
    const double a = fabs(x),
                 y = a <= 8 ? lt_bessel_i1_small(a) * a : lt_bessel_i1_large(1 / a) / sqrt(a);
    return x < 0 ? -y : y;
}

/* exp(|x|) y, where y decays as 1 / sqrt(x): in two steps, so that it overflows only if the product
 * does. */
LT_FN double lt_times_exp(double y, double x)
{
    const double half = exp(fabs(x) / 2);
    return y * half * half;
}

/* K0 and K1 for 0 < x <= 2 (Abramowitz and Stegun, 9.6.11): a logarithmic term and a sum over (x^2
 * / 4)^k / k!^2. */
LT_FN double lt_bessel_k_small(double x, int order)
{
    const double euler = 0.57721566490153286061, quarter = x * x / 4;
    double term = 1, harmonic = 0, i = 0, sum = 0;
    for (int k = 0; k < 20; k++) {
        const double psi = order == 0 ? harmonic - euler : 2 * (harmonic - euler) + 1.0 / (k + 1);
        i += term;
        sum += term * psi;
        harmonic += 1.0 / (k + 1);
        term *= quarter / ((k + 1.0) * (k + 1 + order));
    }
    return order == 0 ? sum - log(x / 2) * i : 1 / x + x / 2 * (log(x / 2) * i - sum / 2);
}

/* scaled: times exp(x). */
LT_FN double lt_bessel_k(double x, int order, bool scaled)
{
    if (x == 0) return (double)INFINITY;
    if (x < 0) return (double)NAN;
    if (x <= 2) return lt_bessel_k_small(x, order) * (scaled ? exp(x) : 1);
    const double y = (order == 0 ? lt_bessel_k0_large(1 / x) : lt_bessel_k1_large(1 / x)) / sqrt(x);
    return scaled ? y : y * exp(-x);
}

LT_FN double lt_airy_ai(double x)
{
    const double quarter_pi = 0.78539816339744830962;
    if (x != x || x == (double)INFINITY || x == -(double)INFINITY) return (double)NAN;
    if (x > 103.892) return 0;
    const double z = 2 * fabs(x) * sqrt(fabs(x)) / 3;
    if (x > 2) return lt_airy_decay(1 / z) * exp(-z) / sqrt(sqrt(x));
    if (x < -2.1) {
        const double u = 1 / (z * z), angle = z - quarter_pi;
        return (cos(angle) * lt_airy_wave_p(u) + sin(angle) * lt_airy_wave_q(u) / z) /
               sqrt(sqrt(-x));
    }
    /* Maclaurin series: Ai(0) f + Ai'(0) g. */
    double f = 1, g = x, term_f = 1, term_g = x;
    const double cube = x * x * x;
    for (int k = 3; k < 42; k += 3) {
        term_f *= cube / (k * (k - 1.0));
        term_g *= cube / (k * (k + 1.0));
        f += term_f;
        g += term_g;
    }
    return 0.35502805388781723926 * f - 0.25881940379280679841 * g;
}

LT_FN double lt_bessel_y(double x, int order)
{
    if (x < 0) return (double)NAN;
    if (x == 0) return -(double)INFINITY;
    return order == 0 ? y0(x) : y1(x);
}

/* ---- the normal distribution ----------------------------------------------------------------- */

/* exp(x^2) erfc(x): up to 25 the product, corrected for the rounding error of x^2, above the
 * asymptotic series. */
LT_FN double lt_erfcx(double x)
{
    if (x > 25) {
        const double u = 1 / (2 * x * x);
        return 0.56418958354775628695 / x *
               (1 - u * (1 - u * (3 - u * (15 - u * (105 - 945 * u)))));
    }
    if (x < -26.7) return (double)INFINITY;
    const double square = x * x, rest = fma(x, x, -square);
    return exp(square) * (1 + rest) * erfc(x);
}

LT_FN double lt_log_ndtr(double x)
{
    const double t = x * 0.70710678118654752440;
    if (x < -1) return log(lt_erfcx(-t) / 2) - t * t;
    return log1p(-erfc(t) / 2);
}

/* The inverse of the normal distribution: an approximation (Abramowitz and Stegun, 26.2.23), then
 * two steps of Halley's method, on the smaller tail or, near p = 1/2, on p - 1/2, which is more
 * accurate there. */
LT_FN double lt_ndtri(double p)
{
    if (p == 0) return -(double)INFINITY;
    if (p == 1) return (double)INFINITY;
    if (!(p > 0 && p < 1)) return (double)NAN;
    const double off = p - 0.5, tail = p < 0.5 ? p : 1 - p, t = sqrt(-2 * log(tail));
    const bool middle = fabs(off) < 0.1;
    double x = middle ? off * 2.50662827463100050242
                      : (2.515517 + t * (0.802853 + t * 0.010328)) /
                                (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) -
                            t;
    for (int i = 0; i < 2; i++) {
        const double error = middle ? erf(x * 0.70710678118654752440) / 2 - off
                                    : erfc(-x * 0.70710678118654752440) / 2 - tail;
        const double step = error * 2.50662827463100050242 * exp(x * x / 2);
        x -= step / (1 + x * step / 2);
    }
    return middle || p < 0.5 ? x : -x;
}

LT_FN double lt_spherical_j0(double x)
{
    if (x == (double)INFINITY || x == -(double)INFINITY) return 0;
    return x == 0 ? 1 : sin(x) / x;
}

/* ---- incomplete gamma functions -------------------------------------------------------------- */

/* log(1 + mu) - mu without cancellation near 0: twice the series of atanh(mu / (2 + mu)), less mu.
 */
LT_FN double lt_log1p_less(double mu)
{
    if (mu < -0.5 || mu > 1) return log1p(mu) - mu;
    const double r = mu / (2 + mu), square = r * r;
    double sum = 0;
    for (int k = 35; k >= 3; k -= 2) sum = sum * square + 1.0 / k;
    return 2 * r * square * sum - mu * r;
}

/* x^a exp(-x) / gamma(a). For large a in terms of (x - a) / a, since the powers would lose digits.
 */
LT_FN double lt_gamma_density(double a, double x)
{
    if (a < 20) return exp(a * log(x) - x - lgamma(a));
    const double u = 1 / (a * a);
    const double tail =
        (1.0 / 12 - u * (1.0 / 360 - u * (1.0 / 1260 - u * (1.0 / 1680 - u / 1188)))) / a;
    return sqrt(a / 6.28318530717958647693) * exp(a * lt_log1p_less((x - a) / a) - tail);
}

/* The lower function as a series. */
LT_FN double lt_gammainc_series(double a, double x)
{
    double term = 1, sum = 1;
    for (double n = a + 1; term > sum * 1e-17; n += 1) {
        term *= x / n;
        sum += term;
    }
    return lt_gamma_density(a, x) / a * sum;
}

/* The upper function as Legendre's continued fraction, evaluated by Lentz's method. */
LT_FN double lt_gammaincc_fraction(double a, double x)
{
    double b = x + 1 - a, c = 1e300, d = 1 / b, product = d;
    for (int i = 1; i < 10000; i++) {
        const double an = -i * (i - a);
        b += 2;
        d = an * d + b;
        c = b + an / c;
        d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
        if (fabs(c) < 1e-300) c = 1e-300;
        product *= d * c;
        if (fabs(d * c - 1) < 1e-16) break;
    }
    return lt_gamma_density(a, x) * product;
}

/* The upper function for small x and a, computed directly: 1 less the lower function would cancel.
 */
LT_FN double lt_gammaincc_small(double a, double x)
{
    const double power = a * log(x) - lgamma(a + 1);
    double term = 1, sum = 0;
    for (int n = 1; n < 40; n++) {
        term *= -x / n;
        sum += term / (a + n);
    }
    return -expm1(power) - exp(power) * a * sum;
}

/* The lower or upper function for large a: the normal distribution and two terms of Temme's
 * expansion (DLMF 8.12). */
LT_FN double lt_gammainc_large(double a, double x, bool upper)
{
    const double first[] = {-1.0 / 3,    1.0 / 12,           -2.0 / 135,
                            1.0 / 864,   1.0 / 2835,         -139.0 / 777600,
                            1.0 / 25515, -571.0 / 261273600, -281.0 / 151559100};
    const double second[] = {-1.0 / 540, -1.0 / 288, 1.0 / 378, -77.0 / 77760, 1.0 / 4860};
    const double mu = (x - a) / a, excess = -lt_log1p_less(mu),
                 eta = mu < 0 ? -sqrt(2 * excess) : sqrt(2 * excess);
    double c0 = 0, c1 = 0;
    for (int k = 8; k >= 0; k--) c0 = c0 * eta + first[k];
    for (int k = 4; k >= 0; k--) c1 = c1 * eta + second[k];
    const double rest = exp(-a * excess) / sqrt(6.28318530717958647693 * a) * (c0 + c1 / a);
    const double normal = erfc((upper ? eta : -eta) * sqrt(a / 2)) / 2;
    return upper ? normal + rest : normal - rest;
}

LT_FN double lt_gammainc(double a, double x, bool upper)
{
    const double none = upper ? 1 : 0;
    if (!(a >= 0 && x >= 0)) return (double)NAN;
    if (a == 0) return x > 0 ? 1 - none : (double)NAN;
    if (x == 0) return none;
    if (a == (double)INFINITY) return x == (double)INFINITY ? (double)NAN : none;
    if (x == (double)INFINITY) return 1 - none;
    if (a > 1e5) return lt_gammainc_large(a, x, upper);
    if (upper && x <= 1.1 && a < 1) return lt_gammaincc_small(a, x);
    if (x < a + 1) return upper ? 1 - lt_gammainc_series(a, x) : lt_gammainc_series(a, x);
    return upper ? lt_gammaincc_fraction(a, x) : 1 - lt_gammaincc_fraction(a, x);
}

LT_FN double lt_rare_zeta(double s, double q)
{
    if (s == 1) return (double)INFINITY;
    if (s < 1 || s != s) return (double)NAN;
    if (q <= 0 && q == floor(q)) return (double)INFINITY;
    if (q <= 0 && s != floor(s)) return (double)NAN;
    return LT_FORMULA_NAME(zeta, f64)(s, q);
}

/* ---- orthogonal polynomials ------------------------------------------------------------------ */

/* p[n] of the recurrence p[k + 1] = 2 x p[k] - p[k - 1] with p[0] = 1 and p[1] = first. */
LT_FN double lt_chebyshev_recurrence(double x, int64_t n, double first)
{
    double before = 1, p = first;
    if (n == 0) return 1;
    for (int64_t k = 1; k < n && p == p; k++) {
        const double next = 2 * x * p - before;
        before = p;
        p = next;
    }
    return p;
}

/* The four kinds. For large n inside (-1, 1) by trigonometric functions, at -1 and 1 by their
 * limits. */
LT_FN double lt_chebyshev(double x, int64_t n, int kind)
{
    const double angle = fabs(x) < 1 ? acos(x) : 0, even = n % 2 == 0 ? 1 : -1, count = (double)n;
    if (n < 0) return 0;
    switch (kind) {
    case LT_RARE_CHEBYSHEV_T:
        if (fabs(x) == 1) return x > 0 ? 1 : even;
        return n > 6 && fabs(x) < 1 ? cos(count * angle) : lt_chebyshev_recurrence(x, n, x);
    case LT_RARE_CHEBYSHEV_U:
        if (fabs(x) == 1) return (x > 0 ? 1 : even) * (count + 1);
        return n > 8 && fabs(x) < 1 ? sin((count + 1) * angle) / sin(angle)
                                    : lt_chebyshev_recurrence(x, n, 2 * x);
    case LT_RARE_CHEBYSHEV_V:
        if (fabs(x) == 1) return x > 0 ? 1 : even * (2 * count + 1);
        return n > 8 && fabs(x) < 1 ? cos((count + 0.5) * angle) / cos(angle / 2)
                                    : lt_chebyshev_recurrence(x, n, 2 * x - 1);
    default:
        if (fabs(x) == 1) return x > 0 ? 2 * count + 1 : even;
        return n > 8 && fabs(x) < 1 ? sin((count + 0.5) * angle) / sin(angle / 2)
                                    : lt_chebyshev_recurrence(x, n, 2 * x + 1);
    }
}

/* probabilists: He[k + 1] = x He[k] - k He[k - 1]; else H[k + 1] = 2 x H[k] - 2 k H[k - 1]. */
LT_FN double lt_hermite(double x, int64_t n, bool probabilists)
{
    const double factor = probabilists ? 1 : 2;
    double before = 1, p = factor * x;
    if (n < 0) return 0;
    if (n == 0) return 1;
    for (int64_t k = 1; k < n && p == p; k++) {
        const double next = factor * (x * p - (double)k * before);
        before = p;
        p = next;
    }
    return p;
}

LT_FN double lt_laguerre(double x, int64_t n)
{
    double before = 1, p = 1 - x;
    if (n < 0) return 0;
    if (n == 0 || x == 0) return 1;
    for (int64_t k = 1; k < n && p == p; k++) {
        const double next =
            ((double)(2 * k + 1) - x) * p / (double)(k + 1) - (double)k * before / (double)(k + 1);
        before = p;
        p = next;
    }
    return p;
}

LT_FN double lt_legendre(double x, int64_t n)
{
    double before = 1, p = x;
    if (n < 0) return 0;
    if (fabs(x) == 1) return x > 0 || n % 2 == 0 ? 1 : -1;
    if (n == 0) return 1;
    for (int64_t k = 1; k < n && p == p; k++) {
        const double next = ((double)(2 * k + 1) * x * p - (double)k * before) / (double)(k + 1);
        before = p;
        p = next;
    }
    return p;
}

/* Converts a degree to an integer (-0.5 becomes 0); -1, which has no polynomial, if it is out of
 * range. */
LT_FN int64_t lt_degree(double n) { return n > -1 && n < 1e9 ? (int64_t)n : -1; }

/* The number next to a in the direction of b, in a type with `digits` binary digits, smallest
 * positive number `least` and largest number `largest`. */
LT_FN double lt_next_of(double a, double b, int digits, double least, double largest)
{
    int exponent;
    if (a != a || b != b) return (double)NAN;
    if (a == b) return b;
    if (a == 0) return copysign(least, b);
    if (fabs(a) == (double)INFINITY) return copysign(largest, a);
    const bool away = (b > a) == (a > 0);
    const bool power = frexp(fabs(a), &exponent) == 0.5;
    const double step = ldexp(1.0, exponent - digits - (power && !away ? 1 : 0));
    return a + copysign(step < least ? least : step, b - a);
}

/* ---- dispatch by number ---------------------------------------------------------------------- */

LT_RARE_FN double lt_rare_of(double x, int function)
{
    switch (function) {
    case LT_RARE_AIRY_AI: return lt_airy_ai(x);
    case LT_RARE_BESSEL_J0: return j0(x);
    case LT_RARE_BESSEL_J1: return j1(x);
    case LT_RARE_BESSEL_Y0: return lt_bessel_y(x, 0);
    case LT_RARE_BESSEL_Y1: return lt_bessel_y(x, 1);
    case LT_RARE_ERFCX: return lt_erfcx(x);
    case LT_RARE_I0: return lt_times_exp(lt_bessel_i0e(x), x);
    case LT_RARE_I0E: return lt_bessel_i0e(x);
    case LT_RARE_I1: return lt_times_exp(lt_bessel_i1e(x), x);
    case LT_RARE_I1E: return lt_bessel_i1e(x);
    case LT_RARE_K0: return lt_bessel_k(x, 0, false);
    case LT_RARE_K0E: return lt_bessel_k(x, 0, true);
    case LT_RARE_K1: return lt_bessel_k(x, 1, false);
    case LT_RARE_K1E: return lt_bessel_k(x, 1, true);
    case LT_RARE_LOG_NDTR: return lt_log_ndtr(x);
    case LT_RARE_NDTRI: return lt_ndtri(x);
    default: return lt_spherical_j0(x);
    }
}

LT_RARE_FN double lt_rare_pair_of(double a, double b, int function)
{
    switch (function) {
    case LT_RARE_GAMMAINC: return lt_gammainc(a, b, false);
    case LT_RARE_GAMMAINCC: return lt_gammainc(a, b, true);
    case LT_RARE_ZETA: return lt_rare_zeta(a, b);
    case LT_RARE_NEXTAFTER: return nextafter(a, b);
    case LT_RARE_NEXT_HALF: return lt_next_of(a, b, 11, 5.9604644775390625e-8, 65504);
    case LT_RARE_NEXT_BFLOAT16:
        return lt_next_of(a, b, 8, 9.1835496157991212e-41, 3.3895313892515355e38);
    case LT_RARE_HERMITE_H: return lt_hermite(a, lt_degree(b), false);
    case LT_RARE_HERMITE_HE: return lt_hermite(a, lt_degree(b), true);
    case LT_RARE_LAGUERRE: return lt_laguerre(a, lt_degree(b));
    case LT_RARE_LEGENDRE: return lt_legendre(a, lt_degree(b));
    case LT_RARE_SHIFTED_T:
    case LT_RARE_SHIFTED_U:
    case LT_RARE_SHIFTED_V:
    case LT_RARE_SHIFTED_W:
        return lt_chebyshev(2 * a - 1, lt_degree(b),
                            function - LT_RARE_SHIFTED_T + LT_RARE_CHEBYSHEV_T);
    default: return lt_chebyshev(a, lt_degree(b), function);
    }
}
#include "unused_end.h"

#endif
