/* float8_cast.c - conversions from and to the one-byte floats; entries of the table of conversions
 * (loops.h). formulas/float8.h has the conversions with float32; all others go through float32, as
 * in PyTorch. */
#include "loops.h"

#include "dtypes/dtype.h"
#include "formulas/float8.h"

static float values[LT_DTYPE_COUNT - LT_FLOAT8_E5M2][256]; /* the value of each code */

static void decode(lt_dtype from, char *const *ptrs, const int64_t *strides, int64_t n)
{
    const float *of = values[from - LT_FLOAT8_E5M2];
    for (int64_t i = 0; i < n; i++)
        *(float *)(void *)(ptrs[0] + i * strides[0]) =
            of[*(const uint8_t *)(ptrs[1] + i * strides[1])];
}

static inline void encode(lt_dtype to, char *const *ptrs, const int64_t *strides, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        *(uint8_t *)(ptrs[0] + i * strides[0]) =
            lt_float_to_float8(to, *(const float *)(const void *)(ptrs[1] + i * strides[1]));
}

#define LOOP(name, CALL)                                                                           \
    static void name(char *const *ptrs, const int64_t *strides, int64_t n, const void *context)    \
    {                                                                                              \
        (void)context;                                                                             \
        CALL;                                                                                      \
    }
/* Dtypes that are converted to and from K through float32; PAIRS has the pairs of one-byte floats.
 */
/* clang-format off */
#define OTHERS(X, K) \
    X(K, LT_BOOL) X(K, LT_UINT8) X(K, LT_INT8) X(K, LT_INT16) X(K, LT_INT32) X(K, LT_INT64) \
    X(K, LT_FLOAT16) X(K, LT_BFLOAT16) X(K, LT_FLOAT64) X(K, LT_UINT16) X(K, LT_UINT32) \
    X(K, LT_UINT64) X(K, LT_COMPLEX32) X(K, LT_COMPLEX64) X(K, LT_COMPLEX128)
/* clang-format on */
/* clang-format off */
#define KINDS(X) \
    X(LT_FLOAT8_E5M2) \
    X(LT_FLOAT8_E4M3FN) \
    X(LT_FLOAT8_E5M2FNUZ) \
    X(LT_FLOAT8_E4M3FNUZ) \
    X(LT_FLOAT8_E8M0FNU)
/* clang-format on */
/* clang-format off */
#define PAIRS(X) \
    X(LT_FLOAT8_E5M2, LT_FLOAT8_E4M3FN) X(LT_FLOAT8_E5M2, LT_FLOAT8_E5M2FNUZ) \
    X(LT_FLOAT8_E5M2, LT_FLOAT8_E4M3FNUZ) X(LT_FLOAT8_E5M2, LT_FLOAT8_E8M0FNU) \
    X(LT_FLOAT8_E4M3FN, LT_FLOAT8_E5M2FNUZ) X(LT_FLOAT8_E4M3FN, LT_FLOAT8_E4M3FNUZ) \
    X(LT_FLOAT8_E4M3FN, LT_FLOAT8_E8M0FNU) X(LT_FLOAT8_E5M2FNUZ, LT_FLOAT8_E4M3FNUZ) \
    X(LT_FLOAT8_E5M2FNUZ, LT_FLOAT8_E8M0FNU) X(LT_FLOAT8_E4M3FNUZ, LT_FLOAT8_E8M0FNU)
/* clang-format on */

#define WITH_OTHER(K, other)                                                                       \
    LOOP(K##_of_##other, lt_cast_through(LT_FLOAT32, K, other, ptrs, strides, n))                  \
    LOOP(other##_of_##K, lt_cast_through(LT_FLOAT32, other, K, ptrs, strides, n))
#define WITH_ALL(K)                                                                                \
    LOOP(K##_of_float, encode(K, ptrs, strides, n))                                                \
    LOOP(float_of_##K, decode(K, ptrs, strides, n))                                                \
    OTHERS(WITH_OTHER, K)
KINDS(WITH_ALL)
PAIRS(WITH_OTHER)

void lt_enter_float8_casts(lt_loop (*cast)[LT_DTYPE_COUNT])
{
    for (int d = LT_FLOAT8_E5M2; d < LT_DTYPE_COUNT; d++)
        for (int code = 0; code < 256; code++)
            values[d - LT_FLOAT8_E5M2][code] = lt_float8_to_float((lt_dtype)d, (uint8_t)code);
#define BOTH(K, other) cast[K][other] = K##_of_##other, cast[other][K] = other##_of_##K;
#define ENTER(K)                                                                                   \
    cast[K][LT_FLOAT32] = K##_of_float, cast[LT_FLOAT32][K] = float_of_##K;                        \
    cast[K][K] = cast[LT_UINT8][LT_UINT8];                                                         \
    OTHERS(BOTH, K)
    KINDS(ENTER)
    PAIRS(BOTH)
}
