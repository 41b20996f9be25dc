/* dtype.h - element types: sizes, names, categories, conversion of single values. */
#ifndef LT_DTYPE_H
#define LT_DTYPE_H

#include "ltensor.h"

/* Real numbers that are computed with; complex ones are apart, and those of one byte. */
static inline bool lt_dtype_is_float(lt_dtype d) { return d >= LT_FLOAT16 && d <= LT_FLOAT64; }
static inline bool lt_dtype_is_half(lt_dtype d) { return d == LT_FLOAT16 || d == LT_BFLOAT16; }
static inline bool lt_dtype_is_complex(lt_dtype d)
{
    return d >= LT_COMPLEX32 && d <= LT_COMPLEX128;
}
static inline bool lt_dtype_is_float8(lt_dtype d) { return d >= LT_FLOAT8_E5M2; }
/* Numbers with a fraction, of any of these kinds. */
static inline bool lt_dtype_is_inexact(lt_dtype d)
{
    return (d >= LT_FLOAT16 && d <= LT_COMPLEX128) || lt_dtype_is_float8(d);
}
/* uint16, uint32, uint64; uint8 is as any integer. */
static inline bool lt_dtype_is_unsigned(lt_dtype d) { return d >= LT_UINT16 && d <= LT_UINT64; }
static inline bool lt_dtype_is_int(lt_dtype d)
{
    return (d >= LT_UINT8 && d <= LT_INT64) || lt_dtype_is_unsigned(d);
}
/* bool included */
static inline bool lt_dtype_is_integral(lt_dtype d)
{
    return d <= LT_INT64 || lt_dtype_is_unsigned(d);
}
/* Of an unsigned dtype the integers of its size, whose bits sums, products and tests for equality
 * share; of a float of one byte uint8, as which it is moved; others as they are. */
static inline lt_dtype lt_same_bits(lt_dtype d)
{
    if (lt_dtype_is_float8(d)) return LT_UINT8;
    return d == LT_UINT16 ? LT_INT16 : d == LT_UINT32 ? LT_INT32 : d == LT_UINT64 ? LT_INT64 : d;
}

/* Bytes of an element. */
static inline int64_t lt_element_size(lt_dtype d)
{
    static const uint8_t bytes[LT_DTYPE_COUNT] = {
        [LT_BOOL] = 1,
        [LT_UINT8] = 1,
        [LT_INT8] = 1,
        [LT_INT16] = 2,
        [LT_INT32] = 4,
        [LT_INT64] = 8,
        [LT_FLOAT16] = 2,
        [LT_BFLOAT16] = 2,
        [LT_FLOAT32] = 4,
        [LT_FLOAT64] = 8,
        [LT_COMPLEX32] = 4,
        [LT_COMPLEX64] = 8,
        [LT_UINT16] = 2,
        [LT_UINT32] = 4,
        [LT_UINT64] = 8,
        [LT_COMPLEX128] = 16,
        [LT_FLOAT8_E5M2] = 1,
        [LT_FLOAT8_E4M3FN] = 1,
        [LT_FLOAT8_E5M2FNUZ] = 1,
        [LT_FLOAT8_E4M3FNUZ] = 1,
        [LT_FLOAT8_E8M0FNU] = 1,
    };
    return bytes[d];
}

/* "Float", "Long", "Bool": the names PyTorch's messages use. */
const char *lt_dtype_scalar_name(lt_dtype dtype);
/* "float", "long int", "c10::Half": by the C++ type, as PyTorch's messages about products and
 * convolutions name it. */
const char *lt_dtype_element_name(lt_dtype dtype);
/* LT_DTYPE_NONE when there is none of that name ("float32", "float", "long", "half", ...). */
lt_dtype lt_dtype_from_name(const char *name);

/* Of a complex dtype that of its parts, others as they are; of a float the complex dtype with such
 * parts (bfloat16 and what is no float: complex64). */
lt_dtype lt_real_of(lt_dtype dtype);
lt_dtype lt_complex_of(lt_dtype dtype);

/* The smallest type both convert to (same category rules not applied: plain lattice). There is none
 * of an unsigned dtype and another that is not of floats, nor of a float of one byte and any other:
 * LT_DTYPE_NONE, which stays so, and the error is set. */
lt_dtype lt_promote(lt_dtype a, lt_dtype b);
/* Whether results of dtype `from` may be stored in a tensor of dtype `to`: not floats in integers,
 * nor numbers in bools. */
bool lt_can_cast(lt_dtype from, lt_dtype to);

/* Element <-> number. p is host memory. Storing converts as C does (float to integer truncates). */
lt_scalar lt_load_scalar(const void *p, lt_dtype dtype);
void lt_store_scalar(void *p, lt_dtype dtype, lt_scalar s);
/* int64, default float, bool, the complex dtype of the default float */
lt_dtype lt_scalar_dtype(lt_scalar s);

/* The real part of complex ones. */
static inline double lt_scalar_double(lt_scalar s)
{
    return s.kind >= LT_SCALAR_FLOAT ? s.v.d : (double)s.v.i;
}
static inline bool lt_scalar_equals(lt_scalar s, double value)
{
    return lt_scalar_double(s) == value && s.imaginary == 0;
}
/* Whether a number has a fraction, or an imaginary part: no integer holds it. */
static inline bool lt_scalar_is_inexact(lt_scalar s) { return s.kind >= LT_SCALAR_FLOAT; }
int64_t lt_scalar_int(lt_scalar s); /* truncates, saturating */

#endif
