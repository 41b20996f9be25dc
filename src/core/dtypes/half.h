/* half.h - float16 and bfloat16 as 16-bit patterns, converted to and from float (round to nearest
 * even, NaN stays NaN). Plain integer code that compilers vectorize; no dependency. */
#ifndef LT_HALF_H
#define LT_HALF_H

#include <stdint.h>
#include <string.h>

typedef struct lt_half {
    uint16_t bits;
} lt_half;
typedef struct lt_bfloat16 {
    uint16_t bits;
} lt_bfloat16;

static inline float lt_bits_to_float(uint32_t u)
{
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static inline uint32_t lt_float_to_bits(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

static inline float lt_bfloat16_to_float(lt_bfloat16 h)
{
    return lt_bits_to_float((uint32_t)h.bits << 16);
}

/* The upper half of the result is f rounded to the nearest bfloat16, ties to even. For a nan it is
 * only valid if the lower half of f is 0, since a carry could change it. */
static inline uint32_t lt_round_to_upper_half(float f)
{
    const uint32_t u = lt_float_to_bits(f);
    return u + 0x7fffu + ((u >> 16) & 1u);
}

static inline lt_bfloat16 lt_float_to_bfloat16(float f)
{
    lt_bfloat16 h = {(uint16_t)(f != f ? 0x7fc0u : lt_round_to_upper_half(f) >> 16)};
    return h;
}

/* Scaling by a power of two also converts subnormals. */
static inline float lt_half_to_float(lt_half h)
{
    uint32_t sign = (uint32_t)(h.bits & 0x8000u) << 16;
    uint32_t magnitude = (uint32_t)(h.bits & 0x7fffu) << 13;
    float f = lt_bits_to_float(magnitude) * lt_bits_to_float(0x77800000u); /* 2^112 */
    uint32_t u = lt_float_to_bits(f);
    u = magnitude >= 0x0f800000u ? (magnitude | 0x7f800000u) : u; /* inf and nan */
    return lt_bits_to_float(u | sign);
}

static inline lt_half lt_float_to_half(float f)
{
    uint32_t u = lt_float_to_bits(f);
    uint32_t sign = (u >> 16) & 0x8000u;
    uint32_t magnitude = u & 0x7fffffffu;
    /* adding a power of two of the right exponent rounds subnormal results to nearest even */
    uint32_t subnormal =
        lt_float_to_bits(lt_bits_to_float(magnitude) + lt_bits_to_float(0x3f000000u)) - 0x3f000000u;
    uint32_t normal = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
    uint32_t bits = magnitude < 0x38800000u ? subnormal : normal;
    bits = magnitude >= 0x477ff000u ? 0x7c00u : bits;
    bits = magnitude > 0x7f800000u ? 0x7e00u : bits;
    lt_half h = {(uint16_t)(bits | sign)};
    return h;
}

#endif
