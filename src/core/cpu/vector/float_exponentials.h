/* float_exponentials.h - exp of float and related functions; included by float_math.h. With x = k
 * log(2) + r, a polynomial in r is multiplied by 2^k, which is built from bits: adding 1.5 2^23
 * rounds to an integer, which is then in the low bits of the sum. No argument is clamped on both
 * sides, since the compiler turns two selections in a row into dependent mask operations; overflow
 * is replaced at the end. */
#ifndef LT_CPU_FLOAT_EXPONENTIALS_H
#define LT_CPU_FLOAT_EXPONENTIALS_H

#include <math.h>

#include "dtypes/half.h"
#include "multiply_add.h"

#define ROUNDER 12582912.0f

/* p 2^n, where shifted = ROUNDER + n. 2^n is multiplied in as two factors, since it may be out of
 * the range of float; a subnormal result is thus rounded, not flushed. */
static inline float times_power(float p, float shifted)
{
    /* n + 2 * 127 */
    const uint32_t power = lt_float_to_bits(shifted) - lt_float_to_bits(ROUNDER) + 254,
                   half = power >> 1;
    return p * lt_bits_to_float(half << 23) * lt_bits_to_float((power - half) << 23);
}

/* x = k log(2) + r. log(2) is split in two; the first part has few bits, so its product with k is
 * exact. */
static inline float reduce_exponent(float x, float *shifted)
{
    *shifted = multiply_addf(x, 1.44269504088896341f, ROUNDER);
    const float k = *shifted - ROUNDER;
    return multiply_addf(k, -1.42860677e-6f, multiply_addf(k, -0.693145752f, x));
}

/* If x < -104 (as the -infinity of a mask), p is set to 0 before the multiplications: a product
 * that becomes subnormal costs a hundred cycles. */
static inline float vector_expf(float x)
{
    float shifted;
    const float r = reduce_exponent(x < -104 ? -104 : x, &shifted);
    float p = 0.0013838145f;
    p = multiply_addf(p, r, 0.008369174f);
    p = multiply_addf(p, r, 0.041668102f);
    p = multiply_addf(p, r, 0.16666517f);
    p = multiply_addf(p, r, 0.49999994f);
    p = multiply_addf(p, r, 1.0f);
    p = multiply_addf(p, r, 1.0f);
    const float y = times_power(x < -104 ? 0 : p, shifted);
    return x > 89 ? INFINITY : y;
}

static inline float vector_exp2f(float x)
{
    const float low = x < -151 ? -151 : x, shifted = low + ROUNDER, f = low - (shifted - ROUNDER);
    float p = 0.00015822437f;
    p = multiply_addf(p, f, 0.0013417793f);
    p = multiply_addf(p, f, 0.009617065f);
    p = multiply_addf(p, f, 0.055502728f);
    p = multiply_addf(p, f, 0.24022655f);
    p = multiply_addf(p, f, 0.69314724f);
    p = multiply_addf(p, f, 1.0f);
    const float y = times_power(x < -151 ? 0 : p, shifted);
    return x > 129 ? INFINITY : y;
}

/* exp(x) / 2 + more for x from -18 to 89: 2^(k - 1) expm1(r) + 2^(k - 1) + more. Halved, since
 * 2^128 is no float. */
static inline float half_exp_and(float x, float more)
{
    float shifted;
    const float r = reduce_exponent(x, &shifted);
    /* 2^(k - 1) */
    const float half = lt_bits_to_float((lt_float_to_bits(shifted) << 23) + 0x3f000000u);
    float p = 0.0013945999581846957f;
    p = multiply_addf(p, r, 0.008366345979845943f);
    p = multiply_addf(p, r, 0.04166629043236338f);
    p = multiply_addf(p, r, 0.1666654545878187f);
    p = multiply_addf(p, r, 0.500000005833097f);
    p = multiply_addf(r * r, p, r);
    return multiply_addf(half, p, half + more);
}

static inline float vector_expm1f(float x)
{
    const float half = half_exp_and(x < -18 ? -18 : x, -0.5f), y = x > 89 ? INFINITY : half * 2;
    /* half of the smallest subnormal would be 0 */
    return __builtin_fabsf(x) < 0x1p-126f ? x : __builtin_copysignf(y, x);
}

/* An odd polynomial for |x| < 5 / 8, otherwise 1 - 2 / (exp(2 x) + 1), which is 1 from 9.02 on. */
static inline float vector_tanhf(float x)
{
    const float a = __builtin_fabsf(x), s = x * x, b = a > 9.02f ? 9.02f : a;
    float p = -0.0057140705f;
    p = multiply_addf(p, s, 0.020648066f);
    p = multiply_addf(p, s, -0.053742774f);
    p = multiply_addf(p, s, 0.13331483f);
    p = multiply_addf(p, s, -0.33333284f);
    const float near = multiply_addf(p * s, a, a), far = 1 - 1 / half_exp_and(b + b, 0.5f);
    return __builtin_copysignf(a < 0.625f ? near : far, x);
}

/* With a = k log(2) + r: sinh(a) = sinh(k log 2) cosh(r) + cosh(k log 2) sinh(r), and cosh(a)
 * likewise. The factors of k are halved, since 2^128 is no float. */
typedef struct {
    float sinh_k, cosh_k;    /* half of sinh and cosh of k log(2) */
    float up, down;          /* up + down = cosh_k */
    float r, sinh_r, cosh_r; /* sinh_r = sinh(r) - r, cosh_r = cosh(r) - 1 */
} hyperbolic_parts;

static inline hyperbolic_parts split_hyperbolic(float a)
{
    float shifted;
    const float r = reduce_exponent(a > 89.5f ? 89.5f : a, &shifted), s = r * r;
    const int32_t k = (int32_t)(lt_float_to_bits(shifted) - lt_float_to_bits(ROUNDER)),
                  less = 125 - k;
    const float up = lt_bits_to_float((uint32_t)(k + 125) << 23),
                down = lt_bits_to_float((uint32_t)(less > 0 ? less : 0) << 23);
    float p = 0.00019905012f;
    p = multiply_addf(p, s, 0.008333289f);
    p = multiply_addf(p, s, 0.16666667f);
    float q = 0.0013946276f;
    q = multiply_addf(q, s, 0.041666266f);
    q = multiply_addf(q, s, 0.5f);
    return (hyperbolic_parts){up - down, up + down, up, down, r, p * (r * s), q * s};
}

static inline float vector_sinhf(float x)
{
    const float a = __builtin_fabsf(x);
    const hyperbolic_parts of = split_hyperbolic(a);
    const float rest = multiply_addf(of.sinh_k, of.cosh_r, of.cosh_k * of.sinh_r);
    const float y = (of.sinh_k + multiply_addf(of.cosh_k, of.r, rest)) * 2;
    /* half of the smallest subnormal would be 0 */
    return a < 0x1p-126f ? x : __builtin_copysignf(y, x);
}

static inline float vector_coshf(float x)
{
    const hyperbolic_parts of = split_hyperbolic(__builtin_fabsf(x));
    const float rest =
        multiply_addf(of.cosh_k, of.cosh_r, multiply_addf(of.sinh_k, of.sinh_r, of.down));
    return (of.up + multiply_addf(of.sinh_k, of.r, rest)) * 2;
}

#undef ROUNDER

#endif
