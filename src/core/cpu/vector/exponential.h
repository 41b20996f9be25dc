/* exponential.h - exp of float for loops that sum exponentials: written out, so that the compiler makes vectors of it
 * between its neighbours without a call. Error about 1 ULP; results below the normal range are rounded, not lost. */
#ifndef LT_CPU_EXPONENTIAL_H
#define LT_CPU_EXPONENTIAL_H

#include "dtypes/half.h"

#ifdef __FMA__
#define MULTIPLY_ADD(a, b, c) __builtin_fmaf(a, b, c)
#else
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#endif

/* exp(x) = 2^n exp(r), |r| <= log(2) / 2, exp(r) by its series. Adding 1.5 * 2^23 rounds to an integer, which the low
 * bits then hold. 2^n is multiplied in as two halves, for it may leave the range of float. */
static inline float inline_expf(float x)
{
    const float round = 12582912.0f, log2_e = 0x1.715476p+0f;
    const float log_2_high = 0x1.62e4p-1f, log_2_low = 0x1.7f7d1cp-20f; /* the first has few bits: n times it is exact */
    x = x < -104.0f ? -104.0f : x;
    x = x > 89.0f ? 89.0f : x;
    const float shifted = MULTIPLY_ADD(x, log2_e, round), n = shifted - round;
    const float r = MULTIPLY_ADD(n, -log_2_low, MULTIPLY_ADD(n, -log_2_high, x));
    float p = 1.0f / 5040;
    p = MULTIPLY_ADD(p, r, 1.0f / 720);
    p = MULTIPLY_ADD(p, r, 1.0f / 120);
    p = MULTIPLY_ADD(p, r, 1.0f / 24);
    p = MULTIPLY_ADD(p, r, 1.0f / 6);
    p = MULTIPLY_ADD(p, r, 0.5f);
    p = MULTIPLY_ADD(p, r, 1.0f);
    p = MULTIPLY_ADD(p, r, 1.0f);
    const uint32_t power = lt_float_to_bits(shifted) - lt_float_to_bits(round) + 254; /* n + 2 * 127 */
    const uint32_t half = power >> 1;
    return p * lt_bits_to_float(half << 23) * lt_bits_to_float((power - half) << 23);
}

#undef MULTIPLY_ADD

#endif
