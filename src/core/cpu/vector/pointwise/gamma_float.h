/* gamma_float.h - lgamma and digamma of float, computed in double without branches, so that loops
 * are vectorized; and the incomplete gamma functions of float where their series is short. */
#ifndef LT_CPU_GAMMA_FLOAT_H
#define LT_CPU_GAMMA_FLOAT_H

#include "cpu/vector/vector_math.h"
#include "steady_blocks.h"

/* lgamma(x) + log(*product) for x > 0, to about 1e-14: Stirling's series at x, or for x < 10 at x +
 * 10, where *product = x (x + 1) ... (x + 9), otherwise 1. */
VECTOR_INLINE double vector_lgamma_above(double x, double *product)
{
    const bool small = x < 10;
    const double z = small ? x + 10 : x, u = 1 / z, s = u * u;
    double p = x;
#pragma GCC unroll 9
    for (int i = 1; i < 10; i++) p *= x + i;
    *product = small ? p : 1;
    double q = 1.0 / 156;
    q = vector_multiply_add(q, s, -691.0 / 360360);
    q = vector_multiply_add(q, s, 1.0 / 1188);
    q = vector_multiply_add(q, s, -1.0 / 1680);
    q = vector_multiply_add(q, s, 1.0 / 1260);
    q = vector_multiply_add(q, s, -1.0 / 360);
    q = vector_multiply_add(q, s, 1.0 / 12);
    return vector_multiply_add(z - 0.5, vector_log(z),
                               vector_multiply_add(q, u, 0.91893853320467274 - z));
}

/* Below 1/2 by reflection: log(pi / |sin(pi x)|) - lgamma(1 - x). */
VECTOR_INLINE float vector_lgammaf(float value)
{
    const double x = value, off = x - __builtin_rint(x),
                 sine = __builtin_fabs(vector_sin(3.14159265358979324 * off));
    const bool under = x < 0.5;
    double product;
    const double above = vector_lgamma_above(under ? 1 - x : x, &product);
    const double rest = vector_log(under ? sine / product * 0.31830988618379067 : product);
    const double y = under ? -(above + rest) : above - rest;
    const double finite = (x == 1) | (x == 2) ? 0 : y;
    return (float)(__builtin_fabs(x) == (double)INFINITY ? (double)INFINITY : finite);
}

/* digamma: the asymptotic series at x, or for x < 10 at x + 10, minus the logarithmic derivative of
 * x (x + 1) ... (x + 9). Below 0 by reflection: the value at 1 - x minus pi / tan(pi x). Both
 * quotients share one division. */
VECTOR_INLINE float vector_digammaf(float value)
{
    const double x = value, off = x - __builtin_rint(x),
                 sine = vector_sin(3.14159265358979324 * off),
                 cosine = vector_cos(3.14159265358979324 * off);
    const bool under = x < 0;
    const double above = under ? 1 - x : x;
    const bool small = above < 10;
    const double z = small ? above + 10 : above, u = 1 / z, s = u * u;
    double p = above, slope = 1;
#pragma GCC unroll 9
    for (int i = 1; i < 10; i++) {
        slope = vector_multiply_add(slope, above + i, p);
        p *= above + i;
    }
    slope = small ? slope : 0;
    p = small ? p : 1;
    const double quotient =
        (under ? vector_multiply_add(slope, sine, 3.14159265358979324 * p * cosine) : slope) /
        (under ? p * sine : p);
    double q = 1.0 / 132;
    q = vector_multiply_add(q, -s, 1.0 / 240);
    q = vector_multiply_add(q, -s, 1.0 / 252);
    q = vector_multiply_add(q, -s, 1.0 / 120);
    q = vector_multiply_add(q, -s, 1.0 / 12);
    const double y = (vector_log_near(z) - vector_multiply_add(q, s, 0.5 * u)) - quotient;
    const bool pole = under & (off == 0);
    /* the last branch also returns nan */
    return x == 0             ? -__builtin_copysignf(INFINITY, value)
           : pole             ? NAN
           : value < INFINITY ? (float)y
                              : value;
}

/* Whether vector_igammaf supports the arguments: P(a, x) for 0 < a <= 20, 0 < x < a + 8 by its
 * series; each lane stops when its terms are small. Q(a, x) is 1 - P(a, x) if that does not cancel:
 * for x < a + 1, except x <= 1.1 with a < 1. */
static inline bool vector_igamma_takes(bool upper, double a, double x)
{
    return (a > 0) & (a <= 20) & (x > 0) & (x < a + (upper ? 1 : 8)) &
           !(upper & (x <= 1.1) & (a < 1));
}

/* LT_LANES elements; stores only the supported ones. */
static inline void vector_igammaf(bool upper, const float *a, const float *x, float *y)
{
    double shape[LT_LANES], at[LT_LANES], n[LT_LANES], term[LT_LANES], sum[LT_LANES],
        density[LT_LANES];
    _Pragma("omp simd") for (int j = 0; j < LT_LANES; j++)
    {
        const bool taken = vector_igamma_takes(upper, a[j], x[j]);
        shape[j] = taken ? a[j] : 1, at[j] = taken ? x[j] : 0.5, n[j] = shape[j],
        term[j] = sum[j] = 1;
        double product;
        const double above = vector_lgamma_above(shape[j] + 1, &product);
        density[j] =
            vector_exp(vector_multiply_add(shape[j], vector_log(at[j]), -at[j] - above)) * product;
    }
    for (int going = LT_LANES; going > 0;) {
        going = 0;
        _Pragma("omp simd reduction(+ : going)") for (int j = 0; j < LT_LANES; j++)
        {
            n[j] += 1;
            term[j] *= at[j] / n[j];
            const bool on = term[j] > sum[j] * 1e-10;
            sum[j] = on ? sum[j] + term[j] : sum[j];
            going += on;
        }
    }
    _Pragma("omp simd") for (int j = 0; j < LT_LANES; j++)
    {
        const double share = density[j] * sum[j], part = upper ? 1 - share : share;
        y[j] = vector_igamma_takes(upper, a[j], x[j]) ? (float)part : y[j];
    }
}

#endif
