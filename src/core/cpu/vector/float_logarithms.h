/* float_logarithms.h - logarithms of float; included by float_math.h. With x = 2^k (1 + f), 1 + f
 * from sqrt(1/2) to 3 / 2, they are k log(2) plus a polynomial in f. */
#ifndef LT_CPU_FLOAT_LOGARITHMS_H
#define LT_CPU_FLOAT_LOGARITHMS_H

#include <math.h>
#include <stdbool.h>

#include "dtypes/half.h"
#include "multiply_add.h"

/* Returns k << 23, where 2^-k x is at least the number with the bits `least` and less than twice
 * that; bits: of a positive normal x. */
static inline uint32_t exponent_bits(uint32_t bits, uint32_t least)
{
    return (bits - least) & 0xff800000u;
}

/* Returns f of a positive normal x = 2^k (1 + f); stores k + more. */
static inline float split_normal(float x, float more, float *k)
{
    const uint32_t bits = lt_float_to_bits(x), e = exponent_bits(bits, 0x3f3504f3u); /* sqrt(1/2) */
    *k = multiply_addf((float)(int32_t)e, 0x1p-23f, more);
    return lt_bits_to_float(bits - e) - 1;
}

/* The same for any positive x: a subnormal is multiplied by 2^23 first. */
static inline float split_power(float x, float *k)
{
    const bool small = x < 0x1p-126f;
    return split_normal(small ? x * 0x1p23f : x, small ? -23.0f : 0.0f, k);
}

/* log(1 + f) - f + more. */
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

/* y for positive finite x, otherwise the special value as in <math.h>. */
static inline float log_special(float x, float y)
{
    y = x < INFINITY ? y : x; /* also selects x if it is nan */
    const float other = x == 0 ? -INFINITY : NAN;
    return x <= 0 ? other : y;
}

/* k log(2) + log(1 + f). log(2) is split in two; the first part has few bits. */
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

/* log(x) for positive normal x. */
static inline float near_logf(float x)
{
    float k;
    const float f = split_normal(x, 0, &k);
    return log_of(f, k);
}

/* log1p(x) = log(2^k (1 + f)) with f = x 2^-k + (2^-k - 1); the parenthesis is exact, so a small x
 * keeps its precision. */
static inline float vector_log1pf(float x)
{
    /* 1 + f >= 3 / 4, so f is exact if k is not 0 */
    const uint32_t e = exponent_bits(lt_float_to_bits(1 + x), 0x3f400000u);
    const float less = 0.25f * lt_bits_to_float(0x40800000u - e) - 1,
                k = (float)(int32_t)e * 0x1p-23f;
    const float f = lt_bits_to_float(lt_float_to_bits(x) - e) + less,
                y = __builtin_copysignf(log_of(f, k), x);
    const float other = x == -1 ? -INFINITY : NAN;
    return x > -1 ? x < INFINITY ? y : x : other;
}

/* Other bases: f is multiplied by the factor as a sum of two numbers, log_rest by the factor. */
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

/* log2(x) for positive normal x. */
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
