/* fits.c - see fits.h. */
#include "fits.h"

#include <float.h>
#include <math.h>

#include "dtype.h"
#include "error.h"
#include "tensor.h"

static bool in_range(lt_scalar s, int64_t low, int64_t high)
{
    if (s.kind == LT_SCALAR_COMPLEX && s.imaginary != 0) return false;
    if (!lt_scalar_is_inexact(s)) return s.v.i >= low && s.v.i <= high;
    /* (double)INT64_MAX is 2^63, which is one too many. */
    return s.v.d >= (double)low && (high == INT64_MAX ? s.v.d < 0x1p63 : s.v.d <= (double)high);
}

/* As in PyTorch, a negative integer wraps around in an unsigned dtype; a float must not be
 * negative. */
static bool in_unsigned_range(lt_scalar s, int64_t high)
{
    return in_range(s, lt_scalar_is_inexact(s) ? 0 : -high, high);
}

static bool stays_finite(lt_scalar s, lt_dtype dtype)
{
    const double x = lt_scalar_double(s);
    if (s.imaginary != 0 && !lt_dtype_is_complex(dtype)) return false;
    if (lt_dtype_is_complex(dtype))
        return stays_finite(lt_scalar_from_float(x), lt_real_of(dtype)) &&
               stays_finite(lt_scalar_from_float(s.imaginary), lt_real_of(dtype));
    /* every number has a float8 result (rounded, saturated or nan) */
    if (!isfinite(x) || dtype == LT_FLOAT64 || lt_dtype_is_float8(dtype)) return true;
    if (fabs(x) > FLT_MAX) return false;
    if (dtype == LT_FLOAT16) return fabs(x) <= 65504;
    return dtype != LT_BFLOAT16 || fabs(x) <= 0x1.fep127;
}

bool lt_fits(lt_scalar s, lt_dtype dtype)
{
    switch (dtype) {
    case LT_BOOL: return true;
    case LT_UINT8: return in_unsigned_range(s, UINT8_MAX);
    case LT_UINT16: return in_unsigned_range(s, UINT16_MAX);
    case LT_UINT32: return in_unsigned_range(s, UINT32_MAX);
    case LT_UINT64:
        return !lt_scalar_is_inexact(s) || (s.imaginary == 0 && s.v.d >= 0 && s.v.d < 0x1p64);
    case LT_INT8: return in_range(s, INT8_MIN, INT8_MAX);
    case LT_INT16: return in_range(s, INT16_MIN, INT16_MAX);
    case LT_INT32: return in_range(s, INT32_MIN, INT32_MAX);
    case LT_INT64: return in_range(s, INT64_MIN, INT64_MAX);
    default: return stays_finite(s, dtype);
    }
}

lt_scalar lt_extreme_of(lt_dtype dtype, bool high)
{
    if (dtype == LT_BOOL) return lt_scalar_from_bool(high);
    if (lt_dtype_is_inexact(dtype)) return lt_scalar_from_float(high ? INFINITY : -INFINITY);
    const int bits = 8 * (int)lt_dtype_size(dtype);
    const bool is_signed =
        dtype == LT_INT8 || dtype == LT_INT16 || dtype == LT_INT32 || dtype == LT_INT64;
    if (!is_signed && !high) return lt_scalar_from_int(0);
    if (!is_signed) return lt_scalar_from_int(bits == 64 ? -1 : (int64_t)((1ull << bits) - 1));
    const int64_t most = (int64_t)(UINT64_MAX >> (65 - bits));
    return lt_scalar_from_int(high ? most : -most - 1);
}

lt_status lt_check_fits(lt_scalar s, lt_dtype dtype)
{
    static const char *const names[LT_DTYPE_COUNT] = {[LT_UINT8] = "uint8_t",
                                                      [LT_INT8] = "int8_t",
                                                      [LT_INT16] = "int16_t",
                                                      [LT_INT32] = "int",
                                                      [LT_INT64] = "int64_t",
                                                      [LT_FLOAT16] = "c10::Half",
                                                      [LT_BFLOAT16] = "c10::BFloat16",
                                                      [LT_FLOAT32] = "float",
                                                      [LT_FLOAT64] = "double",
                                                      [LT_COMPLEX32] = "c10::complex<c10::Half>",
                                                      [LT_COMPLEX64] = "c10::complex<float>",
                                                      [LT_COMPLEX128] = "c10::complex<double>",
                                                      [LT_UINT16] = "uint16_t",
                                                      [LT_UINT32] = "uint32_t",
                                                      [LT_UINT64] = "uint64_t"};
    if (lt_fits(s, dtype)) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "value cannot be converted to type %s without overflow",
                    names[dtype]);
}

lt_status lt_check_number_fits(const lt_tensor *t, lt_dtype dtype)
{
    if (!(t->flags & LT_FLAG_WRAPPED_NUMBER) || t->device.type != LT_CPU) return LT_OK;
    return lt_check_fits(lt_load_scalar((const char *)t->storage->data +
                                            t->offset * (int64_t)lt_dtype_size((lt_dtype)t->dtype),
                                        (lt_dtype)t->dtype),
                         dtype);
}
