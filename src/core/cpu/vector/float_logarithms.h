/* float_logarithms.h - logarithms of float, as float_math.h has them. Of each x = 2^k (1 + f), 1 +
 * f from sqrt(1/2) to 3 / 2, a polynomial of f is added to k times the logarithm of 2. */
#ifndef LT_CPU_FLOAT_LOGARITHMS_H
#define LT_CPU_FLOAT_LOGARITHMS_H

#include <math.h>
#include <stdbool.h>

#include "dtypes/half.h"
#include "multiply_add.h"

/* Bits of 2^k as a difference from 1's, for a positive number of these bits; 1 + f begins at the
 * number that has the bits `least`. */
static inline uint32_t exponent_bits(uint32_t bits, uint32_t least)
{
    return (bits - least) & 0xff800000u;
}

/* f and k of a positive normal number, k with `more`. */
static inline float split_normal(float x, float more, float *k)
{
    const uint32_t bits = lt_float_to_bits(x), e = exponent_bits(bits, 0x3f3504f3u); /* sqrt(1/2) */
    *k = multiply_addf((float)(int32_t)e, 0x1p-23f, more);
    return lt_bits_to_float(bits - e) - 1;
}

/* Below the normal range 2^23 is multiplied in. */
static inline float split_power(float x, float *k)
{
    const bool small = x < 0x1p-126f;
    return split_normal(small ? x * 0x1p23f : x, small ? -23.0f : 0.0f, k);
}

/* log(1 + f) - f, plus what is to be added. */
static inline float log_rest(float f, float more)
{
    const float s = f * f;
    float p = 0.04962308f;
    p = multiply_addf(p, f, -0.10619854f);
    p = multiply_addf(p, f, 0.12147982f);
    p = multiply_addf(p, f, -0.12609628f);
    p = multiply_addf(p, f, 0.14209735f);
    p = multiply_addf(p, f, -0.16655438f);
    p = multiply_addf(p, f, 0.20002164f);
    p = multiply_addf(p, f, -0.25000247f);
    p = multiply_addf(p, f, 0.33333313f);
    p = multiply_addf(p, f, -0.5f);
    return multiply_addf(p, s, more);
}

/* y for positive x that are numbers, else what <math.h> has of x. */
static inline float log_special(float x, float y)
{
    y = x < INFINITY ? y : x; /* nan too */
    const float other = x == 0 ? -INFINITY : NAN;
    return x <= 0 ? other : y;
}

/* k log(2) + log(1 + f); log(2) in two parts, of which the first has few bits. */
static inline float log_of(float f, float k)
{
    return multiply_addf(k, 0.693145752f, f + log_rest(f, k * 1.42860677e-6f));
}

static inline float vector_logf(float x)
{
    float k;
    const float f = split_power(x, &k);
    return log_special(x, log_of(f, k));
}

/* Of positive normal numbers. */
static inline float near_logf(float x)
{
    float k;
    const float f = split_normal(x, 0, &k);
    return log_of(f, k);
}

/* log1p(x) = log(2^k (1 + f)): f is x 2^-k + (2^-k - 1), the latter exact, so that nothing of a
 * small x is lost. */
static inline float vector_log1pf(float x)
{
    /* 3 / 4: f is exact wherever k is not 0 */
    const uint32_t e = exponent_bits(lt_float_to_bits(1 + x), 0x3f400000u);
    const float less = 0.25f * lt_bits_to_float(0x40800000u - e) - 1,
                k = (float)(int32_t)e * 0x1p-23f;
    const float f = lt_bits_to_float(lt_float_to_bits(x) - e) + less,
                y = __builtin_copysignf(log_of(f, k), x);
    const float other = x == -1 ? -INFINITY : NAN;
    return x > -1 ? x < INFINITY ? y : x : other;
}

/* To other bases: f times the factor in two parts, the rest times it. */
static inline float log2_of(float f, float k)
{
    return multiply_addf(f, 1.44269502f,
                         multiply_addf(f, 1.92596303e-8f, log_rest(f, 0) * 1.44269504f)) +
           k;
}

static inline float vector_log2f(float x)
{
    float k;
    const float f = split_power(x, &k);
    return log_special(x, log2_of(f, k));
}

/* Of positive normal numbers. */
static inline float near_log2f(float x)
{
    float k;
    const float f = split_normal(x, 0, &k);
    return log2_of(f, k);
}

static inline float vector_log10f(float x)
{
    float k;
    const float f = split_power(x, &k),
                rest = multiply_addf(log_rest(f, 0), 0.434294482f, k * 4.60503907e-6f);
    return log_special(
        x, multiply_addf(k, 0.301025391f,
                         multiply_addf(f, 0.4342945f, multiply_addf(f, -1.010305e-08f, rest))));
}

#endif
