/* dtype.c - see dtype.h. */
#include "dtype.h"

#include <math.h>
#include <string.h>

#include "context/context.h"
#include "error.h"
#include "formulas/float8.h"
#include "half.h"

static const struct {
    const char *name, *alias, *scalar_name, *element_name;
} info[LT_DTYPE_COUNT] = {
    [LT_BOOL] = {"bool", NULL, "Bool", "bool"},
    [LT_UINT8] = {"uint8", NULL, "Byte", "unsigned char"},
    [LT_INT8] = {"int8", NULL, "Char", "signed char"},
    [LT_INT16] = {"int16", "short", "Short", "short int"},
    [LT_INT32] = {"int32", "int", "Int", "int"},
    [LT_INT64] = {"int64", "long", "Long", "long int"},
    [LT_FLOAT16] = {"float16", "half", "Half", "c10::Half"},
    [LT_BFLOAT16] = {"bfloat16", NULL, "BFloat16", "c10::BFloat16"},
    [LT_FLOAT32] = {"float32", "float", "Float", "float"},
    [LT_FLOAT64] = {"float64", "double", "Double", "double"},
    [LT_COMPLEX32] = {"complex32", "chalf", "ComplexHalf", "c10::complex<c10::Half>"},
    [LT_COMPLEX64] = {"complex64", "cfloat", "ComplexFloat", "c10::complex<float>"},
    [LT_COMPLEX128] = {"complex128", "cdouble", "ComplexDouble", "c10::complex<double>"},
    [LT_UINT16] = {"uint16", NULL, "UInt16", "short unsigned int"},
    [LT_UINT32] = {"uint32", NULL, "UInt32", "unsigned int"},
    [LT_UINT64] = {"uint64", NULL, "UInt64", "long unsigned int"},
    [LT_FLOAT8_E5M2] = {"float8_e5m2", NULL, "Float8_e5m2", "c10::Float8_e5m2"},
    [LT_FLOAT8_E4M3FN] = {"float8_e4m3fn", NULL, "Float8_e4m3fn", "c10::Float8_e4m3fn"},
    [LT_FLOAT8_E5M2FNUZ] = {"float8_e5m2fnuz", NULL, "Float8_e5m2fnuz", "c10::Float8_e5m2fnuz"},
    [LT_FLOAT8_E4M3FNUZ] = {"float8_e4m3fnuz", NULL, "Float8_e4m3fnuz", "c10::Float8_e4m3fnuz"},
    [LT_FLOAT8_E8M0FNU] = {"float8_e8m0fnu", NULL, "Float8_e8m0fnu", "c10::Float8_e8m0fnu"},
};

static bool is_dtype(lt_dtype dtype) { return (unsigned)dtype < LT_DTYPE_COUNT; }

size_t lt_dtype_size(lt_dtype dtype)
{
    return is_dtype(dtype) ? (size_t)lt_element_size(dtype) : 0;
}
const char *lt_dtype_name(lt_dtype dtype) { return is_dtype(dtype) ? info[dtype].name : NULL; }
const char *lt_dtype_scalar_name(lt_dtype dtype)
{
    return is_dtype(dtype) ? info[dtype].scalar_name : "Undefined";
}
const char *lt_dtype_element_name(lt_dtype dtype) { return info[dtype].element_name; }

lt_dtype lt_dtype_from_name(const char *name)
{
    for (int d = 0; d < LT_DTYPE_COUNT; d++) {
        if (strcmp(name, info[d].name) == 0) return (lt_dtype)d;
        if (info[d].alias != NULL && strcmp(name, info[d].alias) == 0) return (lt_dtype)d;
    }
    return LT_DTYPE_NONE;
}

lt_dtype lt_get_default_dtype(void)
{
    return (lt_dtype)atomic_load_explicit(&lt_tls.context->default_dtype, memory_order_relaxed);
}

lt_status lt_set_default_dtype(lt_dtype dtype)
{
    if (!is_dtype(dtype) || !lt_dtype_is_float(dtype))
        return lt_error(LT_ERR_TYPE, "only floating-point types are supported as the default type");
    atomic_store_explicit(&lt_tls.context->default_dtype, (int)dtype, memory_order_relaxed);
    return LT_OK;
}

lt_dtype lt_real_of(lt_dtype dtype)
{
    switch (dtype) {
    case LT_COMPLEX32: return LT_FLOAT16;
    case LT_COMPLEX64: return LT_FLOAT32;
    case LT_COMPLEX128: return LT_FLOAT64;
    default: return dtype;
    }
}

lt_dtype lt_complex_of(lt_dtype dtype)
{
    if (lt_dtype_is_complex(dtype)) return dtype;
    return dtype == LT_FLOAT64 ? LT_COMPLEX128 : dtype == LT_FLOAT16 ? LT_COMPLEX32 : LT_COMPLEX64;
}

/* At least one of a and b is complex. */
static lt_dtype promote_complex(lt_dtype a, lt_dtype b)
{
    const bool a_counts = lt_dtype_is_inexact(a), b_counts = lt_dtype_is_inexact(b);
    const lt_dtype x = a_counts ? lt_complex_of(a) : b, y = b_counts ? lt_complex_of(b) : a;
    return x > y ? x : y;
}

lt_dtype lt_promote(lt_dtype a, lt_dtype b)
{
    if (a == b || b == LT_DTYPE_NONE) return b;
    if (a == LT_DTYPE_NONE) return a;
    if (lt_dtype_is_float8(a) || lt_dtype_is_float8(b)) {
        lt_error_set(LT_ERR_RUNTIME,
                     "Promotion for Float8 Types is not supported, attempted to promote %s and %s",
                     info[a].scalar_name, info[b].scalar_name);
        return LT_DTYPE_NONE;
    }
    if ((lt_dtype_is_unsigned(a) && !lt_dtype_is_float(b)) ||
        (lt_dtype_is_unsigned(b) && !lt_dtype_is_float(a))) {
        lt_error_set(LT_ERR_RUNTIME,
                     "Promotion for uint16, uint32, uint64 types is not supported, attempted to "
                     "promote %s and %s",
                     info[a].scalar_name, info[b].scalar_name);
        return LT_DTYPE_NONE;
    }
    if (lt_dtype_is_complex(a) || lt_dtype_is_complex(b)) return promote_complex(a, b);
    if (lt_dtype_is_float(a) || lt_dtype_is_float(b)) {
        if (!lt_dtype_is_float(a)) return b;
        if (!lt_dtype_is_float(b)) return a;
        lt_dtype high = a > b ? a : b;
        return high == LT_BFLOAT16 ? LT_FLOAT32 : high; /* float16 with bfloat16 */
    }
    lt_dtype low = a < b ? a : b, high = a < b ? b : a;
    if (low == LT_UINT8 && high == LT_INT8) return LT_INT16;
    return high;
}

static int category_of(lt_dtype d)
{
    return d == LT_BOOL ? 0 : lt_dtype_is_complex(d) ? 3 : lt_dtype_is_inexact(d) ? 2 : 1;
}

bool lt_can_cast(lt_dtype from, lt_dtype to) { return category_of(from) <= category_of(to); }

lt_dtype lt_scalar_dtype(lt_scalar s)
{
    if (s.kind == LT_SCALAR_BOOL) return LT_BOOL;
    if (s.kind == LT_SCALAR_COMPLEX) return lt_complex_of(lt_get_default_dtype());
    return s.kind == LT_SCALAR_INT ? LT_INT64 : lt_get_default_dtype();
}

int64_t lt_scalar_int(lt_scalar s)
{
    if (!lt_scalar_is_inexact(s)) return s.v.i;
    if (isnan(s.v.d)) return 0;
    if (s.v.d >= 9223372036854775808.0) return INT64_MAX;
    if (s.v.d <= -9223372036854775808.0) return INT64_MIN;
    return (int64_t)s.v.d;
}

lt_scalar lt_load_scalar(const void *p, lt_dtype dtype)
{
    switch (dtype) {
    case LT_BOOL: return lt_scalar_from_bool(*(const uint8_t *)p != 0);
    case LT_UINT8: return lt_scalar_from_int(*(const uint8_t *)p);
    case LT_INT8: return lt_scalar_from_int(*(const int8_t *)p);
    case LT_INT16: return lt_scalar_from_int(*(const int16_t *)p);
    case LT_INT32: return lt_scalar_from_int(*(const int32_t *)p);
    case LT_INT64: return lt_scalar_from_int(*(const int64_t *)p);
    case LT_FLOAT16: return lt_scalar_from_float(lt_half_to_float(*(const lt_half *)p));
    case LT_BFLOAT16: return lt_scalar_from_float(lt_bfloat16_to_float(*(const lt_bfloat16 *)p));
    case LT_FLOAT32: return lt_scalar_from_float(*(const float *)p);
    case LT_COMPLEX32:
        return lt_scalar_from_complex(lt_half_to_float(((const lt_half *)p)[0]),
                                      lt_half_to_float(((const lt_half *)p)[1]));
    case LT_COMPLEX64: return lt_scalar_from_complex(((const float *)p)[0], ((const float *)p)[1]);
    case LT_COMPLEX128:
        return lt_scalar_from_complex(((const double *)p)[0], ((const double *)p)[1]);
    case LT_UINT16: return lt_scalar_from_int(*(const uint16_t *)p);
    case LT_UINT32: return lt_scalar_from_int(*(const uint32_t *)p);
    case LT_UINT64:
        return *(const uint64_t *)p > INT64_MAX ? lt_scalar_from_float((double)*(const uint64_t *)p)
                                                : lt_scalar_from_int(*(const int64_t *)p);
    case LT_FLOAT8_E5M2:
    case LT_FLOAT8_E4M3FN:
    case LT_FLOAT8_E5M2FNUZ:
    case LT_FLOAT8_E4M3FNUZ:
    case LT_FLOAT8_E8M0FNU:
        return lt_scalar_from_float(lt_float8_to_float(dtype, *(const uint8_t *)p));
    default: return lt_scalar_from_float(*(const double *)p);
    }
}

static void store_complex(void *p, lt_dtype parts, lt_scalar s)
{
    lt_store_scalar(p, parts, lt_scalar_from_float(lt_scalar_double(s)));
    lt_store_scalar((char *)p + lt_dtype_size(parts), parts, lt_scalar_from_float(s.imaginary));
}

void lt_store_scalar(void *p, lt_dtype dtype, lt_scalar s)
{
    switch (dtype) {
    case LT_BOOL:
        *(uint8_t *)p = lt_scalar_is_inexact(s) ? s.v.d != 0 || s.imaginary != 0 : s.v.i != 0;
        break;
    case LT_UINT8: *(uint8_t *)p = (uint8_t)lt_scalar_int(s); break;
    case LT_INT8: *(int8_t *)p = (int8_t)lt_scalar_int(s); break;
    case LT_INT16: *(int16_t *)p = (int16_t)lt_scalar_int(s); break;
    case LT_INT32: *(int32_t *)p = (int32_t)lt_scalar_int(s); break;
    case LT_INT64: *(int64_t *)p = lt_scalar_int(s); break;
    case LT_FLOAT16: *(lt_half *)p = lt_float_to_half((float)lt_scalar_double(s)); break;
    case LT_BFLOAT16: *(lt_bfloat16 *)p = lt_float_to_bfloat16((float)lt_scalar_double(s)); break;
    case LT_FLOAT32: *(float *)p = (float)lt_scalar_double(s); break;
    case LT_COMPLEX32:
    case LT_COMPLEX64:
    case LT_COMPLEX128: store_complex(p, lt_real_of(dtype), s); break;
    case LT_UINT16: *(uint16_t *)p = (uint16_t)lt_scalar_int(s); break;
    case LT_UINT32: *(uint32_t *)p = (uint32_t)lt_scalar_int(s); break;
    case LT_UINT64:
        *(uint64_t *)p = lt_scalar_is_inexact(s) && s.v.d >= 0x1p63 && s.v.d < 0x1p64
                             ? (uint64_t)s.v.d
                             : (uint64_t)lt_scalar_int(s);
        break;
    case LT_FLOAT8_E5M2:
    case LT_FLOAT8_E4M3FN:
    case LT_FLOAT8_E5M2FNUZ:
    case LT_FLOAT8_E4M3FNUZ:
    case LT_FLOAT8_E8M0FNU:
        *(uint8_t *)p = lt_float_to_float8(dtype, (float)lt_scalar_double(s));
        break;
    default: *(double *)p = lt_scalar_double(s); break;
    }
}
