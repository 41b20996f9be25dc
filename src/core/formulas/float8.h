/* float8.h - 8-bit floats as bit patterns, converted to and from float with PyTorch's rounding; for
 * the CPU, the CUDA kernels and the simulated GPUs.
 *
 * e5m2: 5 bits of exponent, 2 of mantissa; e4m3: 4 and 3. "fn": no infinities; "uz": one zero, the
 * code of -0 is the only nan. Rounded to nearest, ties to even. On overflow: infinity in e5m2, the
 * largest number in e4m3fn, nan in both fnuz. e8m0fnu is only the exponent of a float: it drops the
 * sign, and 0 becomes its smallest power of two. Includes ltensor.h and formulas.h. */
#ifndef LT_FLOAT8_H
#define LT_FLOAT8_H

#include <string.h>

#include "formulas.h"
#include "ltensor.h"

LT_FN uint32_t lt_float8_bits_of(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

LT_FN float lt_float8_of_bits(uint32_t u)
{
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

/* Bits of the mantissa, and bias of the exponent; not for e8m0fnu. */
LT_FN int lt_float8_mantissa(lt_dtype dtype)
{
    return dtype == LT_FLOAT8_E5M2 || dtype == LT_FLOAT8_E5M2FNUZ ? 2 : 3;
}
LT_FN int lt_float8_bias(lt_dtype dtype)
{
    return dtype == LT_FLOAT8_E5M2       ? 15
           : dtype == LT_FLOAT8_E4M3FN   ? 7
           : dtype == LT_FLOAT8_E5M2FNUZ ? 16
                                         : 8;
}

LT_FN float lt_float8_to_float(lt_dtype dtype, uint8_t code)
{
    const uint32_t magnitude = code & 0x7fu, sign = (uint32_t)(code & 0x80u) << 24,
                   nan = 0x7fc00000u;
    if (dtype == LT_FLOAT8_E8M0FNU)
        return lt_float8_of_bits(code == 0xff ? nan : code == 0 ? 0x400000u : (uint32_t)code << 23);
    if (dtype == LT_FLOAT8_E5M2 && magnitude >= 0x7c)
        return lt_float8_of_bits((magnitude == 0x7c ? 0x7f800000u : nan) | sign);
    if (dtype == LT_FLOAT8_E4M3FN && magnitude == 0x7f) return lt_float8_of_bits(nan | sign);
    if ((dtype == LT_FLOAT8_E5M2FNUZ || dtype == LT_FLOAT8_E4M3FNUZ) && code == 0x80)
        return lt_float8_of_bits(nan);
    /* Scaling by a power of two also converts subnormals. */
    const float scale = lt_float8_of_bits((uint32_t)(254 - lt_float8_bias(dtype)) << 23);
    const float f = lt_float8_of_bits(magnitude << (23 - lt_float8_mantissa(dtype))) * scale;
    return lt_float8_of_bits(lt_float8_bits_of(f) | sign);
}

LT_FN uint8_t lt_float_to_float8_e8m0fnu(float f)
{
    const uint32_t u = lt_float8_bits_of(f), exponent = u >> 23 & 0xffu, mantissa = u & 0x7fffffu;
    if (exponent == 0xff) return 0xff;
    /* Ties round up, except at the subnormal 2^-127, which is a power itself. */
    return (uint8_t)(exponent + (mantissa > 0x400000u || (mantissa == 0x400000u && exponent > 0)));
}

LT_FN uint8_t lt_float_to_float8(lt_dtype dtype, float f)
{
    if (dtype == LT_FLOAT8_E8M0FNU) return lt_float_to_float8_e8m0fnu(f);
    const bool one_zero = dtype == LT_FLOAT8_E5M2FNUZ || dtype == LT_FLOAT8_E4M3FNUZ;
    const uint32_t u = lt_float8_bits_of(f), magnitude = u & 0x7fffffffu, sign = u >> 24 & 0x80u;
    const uint32_t shift = 23u - (uint32_t)lt_float8_mantissa(dtype),
                   bias = (uint32_t)lt_float8_bias(dtype);
    const uint32_t largest = dtype == LT_FLOAT8_E5M2     ? 0x7bu
                             : dtype == LT_FLOAT8_E4M3FN ? 0x7eu
                                                         : 0x7fu;
    if (magnitude > 0x7f800000u) return (uint8_t)(one_zero ? 0x80u : 0x7fu | sign);
    uint32_t code;
    if (magnitude < (128u - bias) << 23) { /* adding a power of two rounds subnormal results */
        const uint32_t power = (128u - bias + shift) << 23;
        code = lt_float8_bits_of(lt_float8_of_bits(magnitude) + lt_float8_of_bits(power)) - power;
    } else {
        code = (magnitude - ((127u - bias) << 23) + (1u << (shift - 1)) - 1u +
                (magnitude >> shift & 1u)) >>
               shift;
    }
    if (code > largest) {
        if (one_zero) return 0x80;
        code = largest + (dtype == LT_FLOAT8_E5M2);
    }
    return (uint8_t)(one_zero && code == 0 ? 0 : code | sign);
}

#endif
