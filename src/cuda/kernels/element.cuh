/* element.cuh - loads, stores and rounds elements of any dtype. Kernels compute in C: float, double
 * or int64_t (bool: element != 0); half types compute in float; floating to integer truncates. The
 * dtype is a run-time argument: all threads take the same branch of the switch, so a kernel is
 * compiled once per compute type, not per dtype. Includes only ltensor.h, launch.cuh and
 * conversion.cuh. */
#ifndef LT_CUDA_ELEMENT_CUH
#define LT_CUDA_ELEMENT_CUH

#include "conversion.cuh"
#include "launch.cuh"
#include "ltensor.h"

/* Loads N elements with one switch on the dtype. */
template <class C, class S, int N> LT_CUDA_FN void lt_load_as(const char *const *p, C *values)
{
    for (int i = 0; i < N; i++) values[i] = lt_as<C>(*reinterpret_cast<const S *>(p[i]));
}

template <class C, int N>
LT_CUDA_FN void lt_load_many(lt_dtype dtype, const char *const *p, C *values)
{
    switch (dtype) {
    case LT_BOOL:
    case LT_UINT8: lt_load_as<C, uint8_t, N>(p, values); break;
    case LT_INT8: lt_load_as<C, int8_t, N>(p, values); break;
    case LT_INT16: lt_load_as<C, int16_t, N>(p, values); break;
    case LT_INT32: lt_load_as<C, int32_t, N>(p, values); break;
    case LT_INT64: lt_load_as<C, int64_t, N>(p, values); break;
    case LT_FLOAT16: lt_load_as<C, __half, N>(p, values); break;
    case LT_BFLOAT16: lt_load_as<C, __nv_bfloat16, N>(p, values); break;
    case LT_FLOAT32: lt_load_as<C, float, N>(p, values); break;
    default: lt_load_as<C, double, N>(p, values); break;
    }
}

template <class C> LT_CUDA_FN C lt_load(lt_dtype dtype, const void *p)
{
    const char *const at = static_cast<const char *>(p);
    C value;
    lt_load_many<C, 1>(dtype, &at, &value);
    return value;
}

template <class S, class C, int N>
LT_CUDA_FN void lt_store_as(char *const *p, const C *values, int n)
{
    for (int i = 0; i < N; i++)
        if (i < n) *reinterpret_cast<S *>(p[i]) = lt_stored<S, C>::of(values[i]);
}

/* Stores the first n of N elements. */
template <class C, int N>
LT_CUDA_FN void lt_store_many(lt_dtype dtype, char *const *p, const C *values, int n)
{
    switch (dtype) {
    case LT_BOOL: lt_store_as<bool, C, N>(p, values, n); break;
    case LT_UINT8: lt_store_as<uint8_t, C, N>(p, values, n); break;
    case LT_INT8: lt_store_as<int8_t, C, N>(p, values, n); break;
    case LT_INT16: lt_store_as<int16_t, C, N>(p, values, n); break;
    case LT_INT32: lt_store_as<int32_t, C, N>(p, values, n); break;
    case LT_INT64: lt_store_as<int64_t, C, N>(p, values, n); break;
    case LT_FLOAT16: lt_store_as<__half, C, N>(p, values, n); break;
    case LT_BFLOAT16: lt_store_as<__nv_bfloat16, C, N>(p, values, n); break;
    case LT_FLOAT32: lt_store_as<float, C, N>(p, values, n); break;
    default: lt_store_as<double, C, N>(p, values, n); break;
    }
}

template <class C> LT_CUDA_FN void lt_store(lt_dtype dtype, void *p, C v)
{
    char *const at = static_cast<char *>(p);
    lt_store_many<C, 1>(dtype, &at, &v, 1);
}

/* ---- vectors: N contiguous elements, 16 bytes per access ------------------------------------- */

/* The largest unit of one memory access, for any dtype. */
struct alignas(16) lt_bytes16 {
    uint64_t v[2];
};

/* lt_load_row_as with the dtype as a run-time argument. */
template <class C, int N>
LT_CUDA_FN void lt_load_row(lt_dtype dtype, const void *p, C *values, int n, bool aligned)
{
    switch (dtype) {
    case LT_BOOL:
    case LT_UINT8: lt_load_row_as<uint8_t, C, N>(p, values, n, aligned); break;
    case LT_INT8: lt_load_row_as<int8_t, C, N>(p, values, n, aligned); break;
    case LT_INT16: lt_load_row_as<int16_t, C, N>(p, values, n, aligned); break;
    case LT_INT32: lt_load_row_as<int32_t, C, N>(p, values, n, aligned); break;
    case LT_INT64: lt_load_row_as<int64_t, C, N>(p, values, n, aligned); break;
    case LT_FLOAT16: lt_load_row_as<__half, C, N>(p, values, n, aligned); break;
    case LT_BFLOAT16: lt_load_row_as<__nv_bfloat16, C, N>(p, values, n, aligned); break;
    case LT_FLOAT32: lt_load_row_as<float, C, N>(p, values, n, aligned); break;
    default: lt_load_row_as<double, C, N>(p, values, n, aligned); break;
    }
}

/* Only for the floating dtypes that are computed in C. */
template <class C, int N>
LT_CUDA_FN void lt_load_float_row(lt_dtype dtype, const void *p, C *values, int n, bool aligned)
{
    if constexpr (std::is_same_v<C, double>)
        lt_load_row_as<double, C, N>(p, values, n, aligned);
    else if (dtype == LT_FLOAT16)
        lt_load_row_as<__half, C, N>(p, values, n, aligned);
    else if (dtype == LT_BFLOAT16)
        lt_load_row_as<__nv_bfloat16, C, N>(p, values, n, aligned);
    else
        lt_load_row_as<float, C, N>(p, values, n, aligned);
}

template <class C, int N>
LT_CUDA_FN void lt_store_float_row(lt_dtype dtype, void *p, const C *values, int n, bool aligned)
{
    if constexpr (std::is_same_v<C, double>)
        lt_store_row_as<double, C, N>(p, values, n, aligned);
    else if (dtype == LT_FLOAT16)
        lt_store_row_as<__half, C, N>(p, values, n, aligned);
    else if (dtype == LT_BFLOAT16)
        lt_store_row_as<__nv_bfloat16, C, N>(p, values, n, aligned);
    else
        lt_store_row_as<float, C, N>(p, values, n, aligned);
}

template <class C, int N>
LT_CUDA_FN void lt_store_row(lt_dtype dtype, void *p, const C *values, int n, bool aligned)
{
    switch (dtype) {
    case LT_BOOL: lt_store_row_as<bool, C, N>(p, values, n, aligned); break;
    case LT_UINT8: lt_store_row_as<uint8_t, C, N>(p, values, n, aligned); break;
    case LT_INT8: lt_store_row_as<int8_t, C, N>(p, values, n, aligned); break;
    case LT_INT16: lt_store_row_as<int16_t, C, N>(p, values, n, aligned); break;
    case LT_INT32: lt_store_row_as<int32_t, C, N>(p, values, n, aligned); break;
    case LT_INT64: lt_store_row_as<int64_t, C, N>(p, values, n, aligned); break;
    case LT_FLOAT16: lt_store_row_as<__half, C, N>(p, values, n, aligned); break;
    case LT_BFLOAT16: lt_store_row_as<__nv_bfloat16, C, N>(p, values, n, aligned); break;
    case LT_FLOAT32: lt_store_row_as<float, C, N>(p, values, n, aligned); break;
    default: lt_store_row_as<double, C, N>(p, values, n, aligned); break;
    }
}

/* Rounds v to a value that the dtype can represent. */
template <class C> LT_CUDA_FN C lt_rounded(lt_dtype dtype, C v)
{
    switch (dtype) {
    case LT_BOOL: return static_cast<C>(v != 0);
    case LT_UINT8: return static_cast<C>(lt_stored<uint8_t, C>::of(v));
    case LT_INT8: return static_cast<C>(lt_stored<int8_t, C>::of(v));
    case LT_INT16: return static_cast<C>(lt_stored<int16_t, C>::of(v));
    case LT_INT32: return static_cast<C>(lt_stored<int32_t, C>::of(v));
    case LT_FLOAT16: return lt_as<C>(lt_stored<__half, C>::of(v));
    case LT_BFLOAT16: return lt_as<C>(lt_stored<__nv_bfloat16, C>::of(v));
    default: return v;
    }
}

/* Only for the floating dtypes that are computed in float. */
LT_CUDA_FN float lt_rounded_float(lt_dtype dtype, float v)
{
    if (dtype == LT_FLOAT16) return lt_as<float>(lt_stored<__half, float>::of(v));
    return dtype == LT_BFLOAT16 ? lt_as<float>(lt_stored<__nv_bfloat16, float>::of(v)) : v;
}

/* Converts a host scalar to the compute type. */
template <class C> static inline C lt_number(lt_scalar s)
{
    return s.kind == LT_SCALAR_FLOAT ? static_cast<C>(s.v.d) : static_cast<C>(s.v.i);
}

LT_CUDA_FN int64_t lt_element_size(lt_dtype dtype)
{
    switch (dtype) {
    case LT_INT16:
    case LT_UINT16:
    case LT_FLOAT16:
    case LT_BFLOAT16: return 2;
    case LT_INT32:
    case LT_UINT32:
    case LT_COMPLEX32:
    case LT_FLOAT32: return 4;
    case LT_INT64:
    case LT_UINT64:
    case LT_COMPLEX64:
    case LT_FLOAT64: return 8;
    case LT_COMPLEX128: return 16;
    default: return 1;
    }
}

/* Whether p is aligned for 16-byte accesses. */
static inline bool lt_is_aligned(const void *p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }

LT_CUDA_FN bool lt_is_floating(lt_dtype dtype)
{
    return dtype >= LT_FLOAT16 && dtype <= LT_FLOAT64;
}
static inline bool lt_is_complex(lt_dtype dtype)
{
    return dtype >= LT_COMPLEX32 && dtype <= LT_COMPLEX128;
}
/* uint16, uint32, uint64: only copy.cu handles them; for other kernels core passes their bits as
 * signed integers of the same size. */
static inline bool lt_is_unsigned(lt_dtype dtype)
{
    return dtype >= LT_UINT16 && dtype <= LT_UINT64;
}
/* One-byte floats: only copy.cu handles them; for other kernels core passes their bits as uint8. */
static inline bool lt_is_float8(lt_dtype dtype) { return dtype >= LT_FLOAT8_E5M2; }
/* The dtype of the real and imaginary parts; real dtypes are returned unchanged. */
static inline lt_dtype lt_part_of(lt_dtype dtype)
{
    return dtype == LT_COMPLEX32    ? LT_FLOAT16
           : dtype == LT_COMPLEX64  ? LT_FLOAT32
           : dtype == LT_COMPLEX128 ? LT_FLOAT64
                                    : dtype;
}

#endif
