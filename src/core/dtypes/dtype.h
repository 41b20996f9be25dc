/* dtype.h - element types: sizes, names, categories, conversion of single values. */
#ifndef LT_DTYPE_H
#define LT_DTYPE_H

#include "ltensor.h"

/* Real floating-point dtypes that ops compute in: neither complex nor float8. */
static inline bool lt_dtype_is_float(lt_dtype d) { return d >= LT_FLOAT16 && d <= LT_FLOAT64; }
static inline bool lt_dtype_is_half(lt_dtype d) { return d == LT_FLOAT16 || d == LT_BFLOAT16; }
static inline bool lt_dtype_is_complex(lt_dtype d)
{
    return d >= LT_COMPLEX32 && d <= LT_COMPLEX128;
}
static inline bool lt_dtype_is_float8(lt_dtype d) { return d >= LT_FLOAT8_E5M2; }
/* Real, complex and 8-bit floating-point dtypes. */
static inline bool lt_dtype_is_inexact(lt_dtype d)
{
    return (d >= LT_FLOAT16 && d <= LT_COMPLEX128) || lt_dtype_is_float8(d);
}
/* uint16, uint32, uint64. uint8 is excluded: it has the kernels of other integers. */
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
/* A dtype of the same size and bits for moving elements: signed for unsigned integers (equal under
 * wrapping sums and products and under ==), uint8 for float8, else d itself. */
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
/* The C++ name in PyTorch's messages about products and conversions: "float", "long int",
 * "c10::Half". */
const char *lt_dtype_element_name(lt_dtype dtype);
/* The dtype of a name ("float32", "float", "long", "half", ...); LT_DTYPE_NONE: unknown. */
lt_dtype lt_dtype_from_name(const char *name);

/* lt_real_of: the dtype of a complex dtype's parts, else dtype itself. lt_complex_of: the complex
 * dtype with parts of that float dtype; complex64 for bfloat16 and for non-floats. */
lt_dtype lt_real_of(lt_dtype dtype);
lt_dtype lt_complex_of(lt_dtype dtype);

/* The smallest dtype to which both convert, without the category rules of promotion.h.
 * LT_DTYPE_NONE with the error set: for an unsigned dtype and another integer, and for float8 and
 * any other dtype. LT_DTYPE_NONE as a result propagates. */
lt_dtype lt_promote(lt_dtype a, lt_dtype b);
/* Whether results of dtype `from` may be stored in dtype `to`: not floats in integers, nor numbers
 * in bools. */
bool lt_can_cast(lt_dtype from, lt_dtype to);

/* Converts between an element in host memory and a number. Storing converts as C does (float to
 * integer truncates). */
lt_scalar lt_load_scalar(const void *p, lt_dtype dtype);
void lt_store_scalar(void *p, lt_dtype dtype, lt_scalar s);
/* int64, the default float dtype, bool, or the complex dtype of the default float. */
lt_dtype lt_scalar_dtype(lt_scalar s);

/* The real part of a complex number. */
static inline double lt_scalar_double(lt_scalar s)
{
    return s.kind >= LT_SCALAR_FLOAT ? s.v.d : (double)s.v.i;
}
static inline bool lt_scalar_equals(lt_scalar s, double value)
{
    return lt_scalar_double(s) == value && s.imaginary == 0;
}
/* Whether the kind of s is float or complex. */
static inline bool lt_scalar_is_inexact(lt_scalar s) { return s.kind >= LT_SCALAR_FLOAT; }
int64_t lt_scalar_int(lt_scalar s); /* truncates, saturating */

#endif
