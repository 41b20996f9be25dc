/* complex_cast.c - conversions from and to complex dtypes, made of conversions of the parts;
 * entries of the table of conversions (loops.h). From real, the imaginary part is 0; to real, it is
 * dropped. A number is true if either part is not 0. */
#include "loops.h"

#include "dtypes/dtype.h"
#include "cpu/common/sizes.h"

static lt_loop (*casts)[LT_DTYPE_COUNT]; /* the table of all conversions */

/* Converts the real parts only, with the caller's strides. */
static void cast_parts(lt_dtype to, lt_dtype from, char *out, const int64_t *strides, char *in,
                       int64_t n)
{
    casts[to][from]((char *[]){out, in}, strides, n, NULL);
}

static void to_complex(lt_dtype part, lt_dtype from, char *const *ptrs, const int64_t *strides,
                       int64_t n)
{
    static const double zero = 0; /* is 0 in every dtype */
    char *imaginary = ptrs[0] + lt_dtype_size(part);
    cast_parts(part, from, ptrs[0], strides, ptrs[1], n);
    cast_parts(part, part, imaginary, (int64_t[]){strides[0], 0}, (char *)&zero, n);
}

static void to_truth(lt_dtype part, char *const *ptrs, const int64_t *strides, int64_t n)
{
    uint8_t other[LT_BLOCK];
    const char *imaginary = ptrs[1] + lt_dtype_size(part);
    for (int64_t from = 0; from < n; from += LT_BLOCK) {
        const int64_t m = n - from < LT_BLOCK ? n - from : LT_BLOCK;
        char *out = ptrs[0] + from * strides[0];
        cast_parts(LT_BOOL, part, (char *)other, (int64_t[]){1, strides[1]},
                   (char *)imaginary + from * strides[1], m);
        cast_parts(LT_BOOL, part, out, strides, ptrs[1] + from * strides[1], m);
        for (int64_t i = 0; i < m; i++) *(uint8_t *)(out + i * strides[0]) |= other[i];
    }
}

static void cast_complex(lt_dtype to, lt_dtype from, char *const *ptrs, const int64_t *strides,
                         int64_t n)
{
    const int64_t to_size = (int64_t)lt_dtype_size(to), from_size = (int64_t)lt_dtype_size(from);
    if (strides[0] == 2 * to_size && strides[1] == 2 * from_size) {
        cast_parts(to, from, ptrs[0], (int64_t[]){to_size, from_size}, ptrs[1], 2 * n);
        return;
    }
    cast_parts(to, from, ptrs[0], strides, ptrs[1], n);
    cast_parts(to, from, ptrs[0] + to_size, strides, ptrs[1] + from_size, n);
}

static void copy_c128(char *const *ptrs, const int64_t *strides, int64_t n, const void *context)
{
    (void)context;
    cast_complex(LT_FLOAT64, LT_FLOAT64, ptrs, strides, n);
}

#define LOOP(name, CALL)                                                                           \
    static void name(char *const *ptrs, const int64_t *strides, int64_t n, const void *context)    \
    {                                                                                              \
        (void)context;                                                                             \
        CALL;                                                                                      \
    }
#define REALS(X, c, PART)                                                                          \
    X(c, PART, LT_BOOL)                                                                            \
    X(c, PART, LT_UINT8)                                                                           \
    X(c, PART, LT_INT8)                                                                            \
    X(c, PART, LT_INT16)                                                                           \
    X(c, PART, LT_INT32)                                                                           \
    X(c, PART, LT_INT64)                                                                           \
    X(c, PART, LT_FLOAT16)                                                                         \
    X(c, PART, LT_BFLOAT16)                                                                        \
    X(c, PART, LT_FLOAT32)                                                                         \
    X(c, PART, LT_FLOAT64)                                                                         \
    X(c, PART, LT_UINT16)                                                                          \
    X(c, PART, LT_UINT32)                                                                          \
    X(c, PART, LT_UINT64)
#define COMPLEX(X)                                                                                 \
    X(LT_COMPLEX32, LT_FLOAT16)                                                                    \
    X(LT_COMPLEX64, LT_FLOAT32)                                                                    \
    X(LT_COMPLEX128, LT_FLOAT64)

#define TO(c, PART, from) LOOP(c##_of_##from, to_complex(PART, from, ptrs, strides, n))
#define FROM(c, PART, to) LOOP(to##_of_##c, cast_parts(to, PART, ptrs[0], strides, ptrs[1], n))
#define ALL(c, PART)                                                                               \
    REALS(TO, c, PART) REALS(FROM, c, PART) LOOP(truth_of_##c, to_truth(PART, ptrs, strides, n))
COMPLEX(ALL)
#undef ALL
LOOP(c64_of_c32, cast_complex(LT_FLOAT32, LT_FLOAT16, ptrs, strides, n))
LOOP(c128_of_c32, cast_complex(LT_FLOAT64, LT_FLOAT16, ptrs, strides, n))
LOOP(c32_of_c64, cast_complex(LT_FLOAT16, LT_FLOAT32, ptrs, strides, n))
LOOP(c128_of_c64, cast_complex(LT_FLOAT64, LT_FLOAT32, ptrs, strides, n))
LOOP(c32_of_c128, cast_complex(LT_FLOAT16, LT_FLOAT64, ptrs, strides, n))
LOOP(c64_of_c128, cast_complex(LT_FLOAT32, LT_FLOAT64, ptrs, strides, n))

void lt_enter_complex_casts(lt_loop (*cast)[LT_DTYPE_COUNT])
{
    casts = cast;
#define ENTER_TO(c, PART, from) cast[c][from] = c##_of_##from;
#define ENTER_FROM(c, PART, to) cast[to][c] = to##_of_##c;
#define ENTER(c, PART)                                                                             \
    REALS(ENTER_TO, c, PART) REALS(ENTER_FROM, c, PART) cast[LT_BOOL][c] = truth_of_##c;
    COMPLEX(ENTER)
    cast[LT_COMPLEX32][LT_COMPLEX32] = cast[LT_INT32][LT_INT32];
    cast[LT_COMPLEX64][LT_COMPLEX64] = cast[LT_INT64][LT_INT64];
    cast[LT_COMPLEX128][LT_COMPLEX128] = copy_c128;
    cast[LT_COMPLEX64][LT_COMPLEX32] = c64_of_c32;
    cast[LT_COMPLEX128][LT_COMPLEX32] = c128_of_c32;
    cast[LT_COMPLEX32][LT_COMPLEX64] = c32_of_c64;
    cast[LT_COMPLEX128][LT_COMPLEX64] = c128_of_c64;
    cast[LT_COMPLEX32][LT_COMPLEX128] = c32_of_c128;
    cast[LT_COMPLEX64][LT_COMPLEX128] = c64_of_c128;
}
