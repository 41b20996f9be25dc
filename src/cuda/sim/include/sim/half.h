/* half.h - the float16 type of kernels and its conversions. Also included in generated kernels. */
#ifndef LT_SIM_HALF_H
#define LT_SIM_HALF_H

#include "float_bits.h"

struct __half_raw {
    unsigned short x;
};

struct alignas(2) __half {
    unsigned short bits;

    __half() = default;
    __half(__half_raw raw) : bits(raw.x) {}
    explicit __half(float value);
    explicit __half(double value);
    operator float() const;
    operator __half_raw() const { return {bits}; }
};
typedef __half half;

struct alignas(4) __half2 {
    __half x, y;
};
typedef __half2 half2;

/* Normal numbers: rounds to 11 significant bits in integer arithmetic. Subnormals: adding 0.5 makes
 * the float unit round them. */
static inline __half __float2half_rn(float value)
{
    unsigned u = __float_as_uint(value), magnitude = u & 0x7fffffffu, result;
    if (magnitude > 0x7f800000u)
        result = 0x7fffu;
    else if (magnitude >= 0x477ff000u) /* 65520 and above round to infinity */
        result = 0x7c00u;
    else if (magnitude >= 0x38800000u)
        result = (magnitude + 0xfffu + (magnitude >> 13 & 1u) - 0x38000000u) >> 13;
    else
        result = __float_as_uint(__uint_as_float(magnitude) + 0.5f) - 0x3f000000u;
    return __half(__half_raw{(unsigned short)(result | (u >> 16 & 0x8000u))});
}

static inline float __half2float(__half value)
{
    unsigned sign = (value.bits & 0x8000u) << 16, magnitude = value.bits & 0x7fffu;
    if (magnitude >= 0x7c00u) return __uint_as_float(sign | 0x7f800000u | magnitude << 13);
    /* 2^112 converts the exponent bias of float16 to that of float, also for subnormals. */
    return __uint_as_float(sign | __float_as_uint(__uint_as_float(magnitude << 13) * 0x1p112f));
}

static inline __half2 __floats2half2_rn(float x, float y)
{
    return {__float2half_rn(x), __float2half_rn(y)};
}
static inline __half __float2half(float value) { return __float2half_rn(value); }

/* Converts without an intermediate float, since rounding twice can give another result. */
static inline __half __double2half(double value)
{
    return __float2half_rn(lt_sim::rounded_to_odd(value));
}

inline __half::__half(float value) : bits(__float2half_rn(value).bits) {}
inline __half::__half(double value) : bits(__double2half(value).bits) {}
inline __half::operator float() const { return __half2float(*this); }

static inline unsigned short __half_as_ushort(__half value) { return value.bits; }
static inline __half __ushort_as_half(unsigned short bits) { return __half(__half_raw{bits}); }

#endif
