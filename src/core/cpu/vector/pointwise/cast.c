/* cast.c - conversions between all pairs of dtypes; copies between equal ones. Floating to integer
 * truncates; out of range the result is that of x86 and PyTorch: small integers are the low bits of
 * a wider one. Any number but 0 is true; nan is true. */
#include "cpu/common/loops.h"

#if defined(__F16C__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

typedef uint8_t b8;
typedef uint8_t u8;
typedef int8_t i8;
typedef int16_t i16;
typedef int32_t i32;
typedef int64_t i64;
typedef lt_half f16;
typedef lt_bfloat16 bf16;
typedef float f32;
typedef double f64;

/* Reads an element as a C number. */
#define READ_b8(x)   (x)
#define READ_u8(x)   (x)
#define READ_i8(x)   (x)
#define READ_i16(x)  (x)
#define READ_i32(x)  (x)
#define READ_i64(x)  (x)
#define READ_f16(x)  lt_half_to_float(x)
#define READ_bf16(x) lt_bfloat16_to_float(x)
#define READ_f32(x)  (x)
#define READ_f64(x)  (x)

/* Converts a C number to an element. */
#define WRITE_b8(x)   ((x) != 0)
#define WRITE_u8(x)   ((u8)(i64)(x))
#define WRITE_i8(x)   ((i8)(i32)(x))
#define WRITE_i16(x)  ((i16)(i32)(x))
#define WRITE_i32(x)  ((i32)(x))
#define WRITE_i64(x)  ((i64)(x))
#define WRITE_f16(x)  lt_float_to_half((float)(x))
#define WRITE_bf16(x) lt_float_to_bfloat16((float)(x))
#define WRITE_f32(x)  ((float)(x))
#define WRITE_f64(x)  ((double)(x))

/* The types are constants after inlining: convert() reads one element and stores the other. */
static inline __attribute__((always_inline)) void
cast_elements(char *const *ptrs, const int64_t *strides, int64_t n, int64_t to_size,
              int64_t from_size, void (*convert)(void *out, const void *in))
{
    const int64_t to_step = strides[0], from_step = strides[1];
    char *out = ptrs[0];
    const char *in = ptrs[1];
    if (to_step != to_size || from_step != from_size) {
        for (int64_t i = 0; i < n; i++) convert(out + i * to_step, in + i * from_step);
        return;
    }
    _Pragma("omp simd") for (int64_t i = 0; i < n; i++)
        convert(out + i * to_size, in + i * from_size);
}

#define LOOP_HEAD(name)                                                                            \
    static void name(char *const *ptrs, const int64_t *strides, int64_t n, const void *context)

#define CAST(to, from) CAST_AS(cast_##to##_##from, to, from)
#define CAST_AS(name, to, from)                                                                    \
    static inline void name##_one(void *out, const void *in)                                       \
    {                                                                                              \
        *(to *)out = WRITE_##to(READ_##from(*(const from *)in));                                   \
    }                                                                                              \
    LOOP_HEAD(name)                                                                                \
    {                                                                                              \
        (void)context;                                                                             \
        cast_elements(ptrs, strides, n, sizeof(to), sizeof(from), name##_one);                     \
    }

/* The same for equal types of `size` bytes, a constant. */
static inline __attribute__((always_inline)) void
copy_elements(char *const *ptrs, const int64_t *strides, int64_t n, int64_t size)
{
    const int64_t to_step = strides[0], from_step = strides[1];
    char *out = ptrs[0];
    const char *in = ptrs[1];
    if (to_step == size && from_step == size) {
        memmove(out, in, (size_t)(n * size));
    } else if (to_step == size && from_step == 0) {
        char value[8];
        memcpy(value, in, (size_t)size);
        _Pragma("omp simd") for (int64_t i = 0; i < n; i++)
            memcpy(out + i * size, value, (size_t)size);
    } else if (to_step == size && from_step == 2 * size) {
        _Pragma("omp simd") for (int64_t i = 0; i < n; i++)
            memcpy(out + i * size, in + 2 * i * size, (size_t)size);
    } else {
        for (int64_t i = 0; i < n; i++) memcpy(out + i * to_step, in + i * from_step, (size_t)size);
    }
}

#define COPY(name, type)                                                                           \
    LOOP_HEAD(copy_##name)                                                                         \
    {                                                                                              \
        (void)context;                                                                             \
        copy_elements(ptrs, strides, n, sizeof(type));                                             \
    }
COPY(b8, uint8_t)
COPY(u16, uint16_t)
COPY(u32, uint32_t)
COPY(u64, uint64_t)

CAST(b8, u8)
CAST(b8, i8)
CAST(b8, i16)
CAST(b8, i32)
CAST(b8, i64)
CAST(b8, f16)
CAST(b8, bf16)
CAST(b8, f32)
CAST(b8, f64)

CAST(u8, i8)
CAST(u8, i16)
CAST(u8, i32)
CAST(u8, i64)
CAST(u8, f16)
CAST(u8, bf16)
CAST(u8, f32)
CAST(u8, f64)

CAST(i8, i16)
CAST(i8, i32)
CAST(i8, i64)
CAST(i8, f16)
CAST(i8, bf16)
CAST(i8, f32)
CAST(i8, f64)

CAST(i16, u8)
CAST(i16, i8)
CAST(i16, i32)
CAST(i16, i64)
CAST(i16, f16)
CAST(i16, bf16)
CAST(i16, f32)
CAST(i16, f64)

CAST(i32, u8)
CAST(i32, i8)
CAST(i32, i16)
CAST(i32, i64)
CAST(i32, f16)
CAST(i32, bf16)
CAST(i32, f32)
CAST(i32, f64)

CAST(i64, u8)
CAST(i64, i8)
CAST(i64, i16)
CAST(i64, i32)
CAST(i64, f16)
CAST(i64, bf16)
CAST(i64, f32)
CAST(i64, f64)

CAST(f16, u8)
CAST(f16, i8)
CAST(f16, i16)
CAST(f16, i32)
CAST(f16, i64)
CAST(f16, bf16)
CAST(f16, f64)

CAST(bf16, u8)
CAST(bf16, i8)
CAST(bf16, i16)
CAST(bf16, i32)
CAST(bf16, i64)
CAST(bf16, f16)
CAST(bf16, f32)
CAST(bf16, f64)

CAST(f32, u8)
CAST(f32, i8)
CAST(f32, i16)
CAST(f32, i32)
CAST(f32, i64)
CAST(f32, bf16)
CAST(f32, f64)

CAST(f64, u8)
CAST(f64, i8)
CAST(f64, i16)
CAST(f64, i32)
CAST(f64, i64)
CAST(f64, f16)
CAST(f64, bf16)
CAST(f64, f32)

#if defined(__F16C__) || defined(__aarch64__)
/* Eight elements per conversion instruction, the rest one at a time. */
static inline __attribute__((always_inline)) void
cast_eights(char *const *ptrs, const int64_t *strides, int64_t n, int64_t to_size,
            int64_t from_size, void (*eight)(void *out, const void *in), lt_loop rest)
{
    const bool dense = strides[0] == to_size && strides[1] == from_size;
    const int64_t head = dense ? n / 8 * 8 : 0;
    char *out = ptrs[0], *in = ptrs[1];
    for (int64_t i = 0; i < head; i += 8) eight(out + i * to_size, in + i * from_size);
    rest((char *[]){out + head * strides[0], in + head * strides[1]}, strides, n - head, NULL);
}

CAST_AS(rest_f32_f16, f32, f16)
CAST_AS(rest_f16_f32, f16, f32)

#if defined(__aarch64__)
static inline void widen_eight(void *out, const void *in)
{
    const uint16x8_t halves = vld1q_u16(in);
    vst1q_f32(out, vcvt_f32_f16(vreinterpret_f16_u16(vget_low_u16(halves))));
    vst1q_f32((float *)out + 4, vcvt_f32_f16(vreinterpret_f16_u16(vget_high_u16(halves))));
}

static inline void narrow_eight(void *out, const void *in)
{
    const float16x4_t low = vcvt_f16_f32(vld1q_f32(in)),
                      high = vcvt_f16_f32(vld1q_f32((const float *)in + 4));
    vst1q_u16(out, vcombine_u16(vreinterpret_u16_f16(low), vreinterpret_u16_f16(high)));
}
#else
static inline void widen_eight(void *out, const void *in)
{
    _mm256_storeu_ps(out, _mm256_cvtph_ps(_mm_loadu_si128(in)));
}

static inline void narrow_eight(void *out, const void *in)
{
    _mm_storeu_si128(out, _mm256_cvtps_ph(_mm256_loadu_ps(in), _MM_FROUND_TO_NEAREST_INT));
}
#endif

LOOP_HEAD(cast_f32_f16)
{
    (void)context;
    cast_eights(ptrs, strides, n, sizeof(f32), sizeof(f16), widen_eight, rest_f32_f16);
}

LOOP_HEAD(cast_f16_f32)
{
    (void)context;
    cast_eights(ptrs, strides, n, sizeof(f16), sizeof(f32), narrow_eight, rest_f16_f32);
}
#else
CAST(f32, f16)
CAST(f16, f32)
#endif

/* [to][from]; bool is read as u8. */
const lt_loop LT_LOOP(cast)[LT_DTYPE_COUNT][LT_DTYPE_COUNT] = {
    [LT_BOOL] = {copy_b8, cast_b8_u8, cast_b8_i8, cast_b8_i16, cast_b8_i32, cast_b8_i64,
                 cast_b8_f16, cast_b8_bf16, cast_b8_f32, cast_b8_f64},
    [LT_UINT8] = {copy_b8, copy_b8, cast_u8_i8, cast_u8_i16, cast_u8_i32, cast_u8_i64, cast_u8_f16,
                  cast_u8_bf16, cast_u8_f32, cast_u8_f64},
    [LT_INT8] = {copy_b8, copy_b8, copy_b8, cast_i8_i16, cast_i8_i32, cast_i8_i64, cast_i8_f16,
                 cast_i8_bf16, cast_i8_f32, cast_i8_f64},
    [LT_INT16] = {cast_i16_u8, cast_i16_u8, cast_i16_i8, copy_u16, cast_i16_i32, cast_i16_i64,
                  cast_i16_f16, cast_i16_bf16, cast_i16_f32, cast_i16_f64},
    [LT_INT32] = {cast_i32_u8, cast_i32_u8, cast_i32_i8, cast_i32_i16, copy_u32, cast_i32_i64,
                  cast_i32_f16, cast_i32_bf16, cast_i32_f32, cast_i32_f64},
    [LT_INT64] = {cast_i64_u8, cast_i64_u8, cast_i64_i8, cast_i64_i16, cast_i64_i32, copy_u64,
                  cast_i64_f16, cast_i64_bf16, cast_i64_f32, cast_i64_f64},
    [LT_FLOAT16] = {cast_f16_u8, cast_f16_u8, cast_f16_i8, cast_f16_i16, cast_f16_i32, cast_f16_i64,
                    copy_u16, cast_f16_bf16, cast_f16_f32, cast_f16_f64},
    [LT_BFLOAT16] = {cast_bf16_u8, cast_bf16_u8, cast_bf16_i8, cast_bf16_i16, cast_bf16_i32,
                     cast_bf16_i64, cast_bf16_f16, copy_u16, cast_bf16_f32, cast_bf16_f64},
    [LT_FLOAT32] = {cast_f32_u8, cast_f32_u8, cast_f32_i8, cast_f32_i16, cast_f32_i32, cast_f32_i64,
                    cast_f32_f16, cast_f32_bf16, copy_u32, cast_f32_f64},
    [LT_FLOAT64] = {cast_f64_u8, cast_f64_u8, cast_f64_i8, cast_f64_i16, cast_f64_i32, cast_f64_i64,
                    cast_f64_f16, cast_f64_bf16, cast_f64_f32, copy_u64},
};
