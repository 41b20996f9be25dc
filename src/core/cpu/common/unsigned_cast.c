/* unsigned_cast.c - conversions from and to uint16, uint32 and uint64; entries of the table of
 * conversions (loops.h). Integers wrap. Floats are truncated and clamped to [-2^63, 2^64 - 1], then
 * wrap; nan is 0. Half types and bools go through the conversions of float and uint8. */
#include "loops.h"

#include "dtypes/dtype.h"
#include "cpu/common/sizes.h"

static lt_loop (*casts)[LT_DTYPE_COUNT]; /* the table of all conversions */

static inline uint64_t to_uint64(double x)
{
    if (!(x >= -0x1p63)) return x < 0 ? (uint64_t)INT64_MIN : 0; /* nan: 0 */
    if (x < 0x1p63) return (uint64_t)(int64_t)x;
    return x < 0x1p64 ? (uint64_t)x : UINT64_MAX;
}

#define LOOP(to, from, value)                                                                      \
    static void to##_of_##from(char *const *ptrs, const int64_t *strides, int64_t n,               \
                               const void *context)                                                \
    {                                                                                              \
        (void)context;                                                                             \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const from x = *(const from *)(const void *)(ptrs[1] + i * strides[1]);                \
            *(to *)(void *)(ptrs[0] + i * strides[0]) = (to)(value);                               \
        }                                                                                          \
    }
#define WITH_INTEGER(u, other) LOOP(u, other, x) LOOP(other, u, x)
#define WITH_FLOAT(u, other)   LOOP(u, other, to_uint64(x)) LOOP(other, u, x)
#define WITH_ALL(u)                                                                                \
    WITH_INTEGER(u, uint8_t)                                                                       \
    WITH_INTEGER(u, int8_t)                                                                        \
    WITH_INTEGER(u, int16_t)                                                                       \
    WITH_INTEGER(u, int32_t) WITH_INTEGER(u, int64_t) WITH_FLOAT(u, float) WITH_FLOAT(u, double)
WITH_ALL(uint16_t)
WITH_ALL(uint32_t)
WITH_ALL(uint64_t)
WITH_INTEGER(uint16_t, uint32_t)
WITH_INTEGER(uint16_t, uint64_t)
WITH_INTEGER(uint32_t, uint64_t)

void lt_cast_through(lt_dtype middle, lt_dtype to, lt_dtype from, char *const *ptrs,
                     const int64_t *strides, int64_t n)
{
    _Alignas(64) char between[LT_BLOCK * sizeof(double)];
    const int64_t size = (int64_t)lt_dtype_size(middle);
    for (int64_t at = 0; at < n; at += LT_BLOCK) {
        const int64_t m = n - at < LT_BLOCK ? n - at : LT_BLOCK;
        casts[middle][from]((char *[]){between, ptrs[1] + at * strides[1]},
                            (int64_t[]){size, strides[1]}, m, NULL);
        casts[to][middle]((char *[]){ptrs[0] + at * strides[0], between},
                          (int64_t[]){strides[0], size}, m, NULL);
    }
}

static void cast_to_bool(size_t size, char *const *ptrs, const int64_t *strides, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const char *x = ptrs[1] + i * strides[1];
        *(uint8_t *)(ptrs[0] + i * strides[0]) = size == 2 ? *(const uint16_t *)(const void *)x != 0
                                                 : size == 4
                                                     ? *(const uint32_t *)(const void *)x != 0
                                                     : *(const uint64_t *)(const void *)x != 0;
    }
}

#define WAY(name, CALL)                                                                            \
    static void name(char *const *ptrs, const int64_t *strides, int64_t n, const void *context)    \
    {                                                                                              \
        (void)context;                                                                             \
        CALL;                                                                                      \
    }
#define WAYS(u, U)                                                                                 \
    WAY(half_of_##u, lt_cast_through(LT_FLOAT32, LT_FLOAT16, U, ptrs, strides, n))                 \
    WAY(u##_of_half, lt_cast_through(LT_FLOAT32, U, LT_FLOAT16, ptrs, strides, n))                 \
    WAY(bfloat16_of_##u, lt_cast_through(LT_FLOAT32, LT_BFLOAT16, U, ptrs, strides, n))            \
    WAY(u##_of_bfloat16, lt_cast_through(LT_FLOAT32, U, LT_BFLOAT16, ptrs, strides, n))            \
    WAY(bool_of_##u, cast_to_bool(sizeof(u), ptrs, strides, n))
WAYS(uint16_t, LT_UINT16)
WAYS(uint32_t, LT_UINT32)
WAYS(uint64_t, LT_UINT64)

void lt_enter_unsigned_casts(lt_loop (*cast)[LT_DTYPE_COUNT])
{
    casts = cast;
#define BOTH(U, u, OTHER, other) cast[U][OTHER] = u##_of_##other, cast[OTHER][U] = other##_of_##u
#define ENTER(U, u)                                                                                \
    BOTH(U, u, LT_UINT8, uint8_t);                                                                 \
    BOTH(U, u, LT_INT8, int8_t);                                                                   \
    BOTH(U, u, LT_INT16, int16_t);                                                                 \
    BOTH(U, u, LT_INT32, int32_t);                                                                 \
    BOTH(U, u, LT_INT64, int64_t);                                                                 \
    BOTH(U, u, LT_FLOAT32, float);                                                                 \
    BOTH(U, u, LT_FLOAT64, double);                                                                \
    BOTH(U, u, LT_FLOAT16, half);                                                                  \
    BOTH(U, u, LT_BFLOAT16, bfloat16);                                                             \
    cast[U][LT_BOOL] = u##_of_uint8_t;                                                             \
    cast[LT_BOOL][U] = bool_of_##u;                                                                \
    cast[U][U] = cast[lt_same_bits(U)][lt_same_bits(U)]
    ENTER(LT_UINT16, uint16_t);
    ENTER(LT_UINT32, uint32_t);
    ENTER(LT_UINT64, uint64_t);
    BOTH(LT_UINT16, uint16_t, LT_UINT32, uint32_t);
    BOTH(LT_UINT16, uint16_t, LT_UINT64, uint64_t);
    BOTH(LT_UINT32, uint32_t, LT_UINT64, uint64_t);
}
