/* bfloat16.h - the bfloat16 type of kernels and its conversions. Also included in generated
 * kernels. */
#ifndef LT_SIM_BFLOAT16_H
#define LT_SIM_BFLOAT16_H

#include "float_bits.h"

struct __nv_bfloat16_raw {
    unsigned short x;
};

struct alignas(2) __nv_bfloat16 {
    unsigned short bits;

    __nv_bfloat16() = default;
    __nv_bfloat16(__nv_bfloat16_raw raw) : bits(raw.x) {}
    explicit __nv_bfloat16(float value);
    explicit __nv_bfloat16(double value);
    operator float() const;
    operator __nv_bfloat16_raw() const { return {bits}; }
};
typedef __nv_bfloat16 nv_bfloat16;

struct alignas(4) __nv_bfloat162 {
    __nv_bfloat16 x, y;
};

static inline __nv_bfloat16 __float2bfloat16_rn(float value)
{
    unsigned u = __float_as_uint(value);
    unsigned rounded = (u + 0x7fffu + (u >> 16 & 1u)) >> 16;
    if ((u & 0x7fffffffu) > 0x7f800000u) rounded = 0x7fffu;
    return __nv_bfloat16(__nv_bfloat16_raw{(unsigned short)rounded});
}

static inline float __bfloat162float(__nv_bfloat16 value)
{
    return __uint_as_float((unsigned)value.bits << 16);
}

static inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y)
{
    return {__float2bfloat16_rn(x), __float2bfloat16_rn(y)};
}
static inline __nv_bfloat16 __float2bfloat16(float value) { return __float2bfloat16_rn(value); }

/* Converts without an intermediate float, since rounding twice can give another result. */
static inline __nv_bfloat16 __double2bfloat16(double value)
{
    return __float2bfloat16_rn(lt_sim::rounded_to_odd(value));
}

inline __nv_bfloat16::__nv_bfloat16(float value) : bits(__float2bfloat16_rn(value).bits) {}
inline __nv_bfloat16::__nv_bfloat16(double value) : bits(__double2bfloat16(value).bits) {}
inline __nv_bfloat16::operator float() const { return __bfloat162float(*this); }

static inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 value) { return value.bits; }
static inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits)
{
    return __nv_bfloat16(__nv_bfloat16_raw{bits});
}

#endif
