/* fused.c - the interpreter of fused steps (common/fused.h). Its formulas are those of
 * formulas/float.inc, written for vectors; each rounds as it does by itself: nothing is
 * contracted. */
#include <stddef.h>
#include <string.h>

#include "cpu/common/fused.h"
#include "cpu/common/loops.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

/* VECTOR: its bytes. ROOT; SIGNS: the highest bit of each element, one after the other; LARGEST,
 * LEAST: a where it is larger, or less, than b, else b. */
#if defined(__AVX512F__)
#define VECTOR            64
#define ROOT_f32(x)       _mm512_sqrt_ps(x)
#define ROOT_f64(x)       _mm512_sqrt_pd(x)
#define SIGNS_f32(x)      _mm512_movepi32_mask((__m512i)(x))
#define SIGNS_f64(x)      _mm512_movepi64_mask((__m512i)(x))
#define LARGEST_f32(a, b) _mm512_max_ps(a, b)
#define LARGEST_f64(a, b) _mm512_max_pd(a, b)
#define LEAST_f32(a, b)   _mm512_min_ps(a, b)
#define LEAST_f64(a, b)   _mm512_min_pd(a, b)
#elif defined(__AVX2__)
#define VECTOR            32
#define ROOT_f32(x)       _mm256_sqrt_ps(x)
#define ROOT_f64(x)       _mm256_sqrt_pd(x)
#define SIGNS_f32(x)      _mm256_movemask_ps(x)
#define SIGNS_f64(x)      _mm256_movemask_pd(x)
#define LARGEST_f32(a, b) _mm256_max_ps(a, b)
#define LARGEST_f64(a, b) _mm256_max_pd(a, b)
#define LEAST_f32(a, b)   _mm256_min_ps(a, b)
#define LEAST_f64(a, b)   _mm256_min_pd(a, b)
#else
#define VECTOR 16
#if defined(__x86_64__)
#define ROOT_f32(x)       _mm_sqrt_ps(x)
#define ROOT_f64(x)       _mm_sqrt_pd(x)
#define SIGNS_f32(x)      _mm_movemask_ps(x)
#define SIGNS_f64(x)      _mm_movemask_pd(x)
#define LARGEST_f32(a, b) _mm_max_ps(a, b)
#define LARGEST_f64(a, b) _mm_max_pd(a, b)
#define LEAST_f32(a, b)   _mm_min_ps(a, b)
#define LEAST_f64(a, b)   _mm_min_pd(a, b)
#elif defined(__aarch64__)
#include <arm_neon.h>
#define ROOT_f32(x) (f32) vsqrtq_f32((float32x4_t)(x))
#define ROOT_f64(x) (f64) vsqrtq_f64((float64x2_t)(x))
#else
#define ROOT_f32(x)                                                                                \
    (f32)                                                                                          \
    {                                                                                              \
        __builtin_sqrtf((x)[0]), __builtin_sqrtf((x)[1]), __builtin_sqrtf((x)[2]),                 \
            __builtin_sqrtf((x)[3])                                                                \
    }
#define ROOT_f64(x)                                                                                \
    (f64) { __builtin_sqrt((x)[0]), __builtin_sqrt((x)[1]) }
#endif
#endif

#ifndef LARGEST_f32
#define LARGEST_f32(a, b) chosen_f32((a) > (b), a, b)
#define LARGEST_f64(a, b) chosen_f64((a) > (b), a, b)
#define LEAST_f32(a, b)   chosen_f32((a) < (b), a, b)
#define LEAST_f64(a, b)   chosen_f64((a) < (b), a, b)
#endif

#ifdef SIGNS_f32
/* `lanes` bits as bools, bytes of 0 and 1. */
static inline __attribute__((always_inline)) void put_bools(char *to, unsigned bits, int lanes)
{
    for (int part = 0; part < lanes; part += 8) {
        const uint64_t eight = bits >> part & 255,
                       bytes = ((eight & 127) * 0x2040810204081u & 0x101010101010101u) |
                               (eight & 128) << 49;
        memcpy(to + part, &bytes, lanes < 8 ? (size_t)lanes : sizeof bytes);
    }
}
#endif

#define VECTORS        8 /* of the accumulator */
#define EACH_VECTOR(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)

/* A step made ready: where its code is, and its place for element 0 of a walk; size: bytes from one
 * element to the next, 0: it stays. */
typedef struct ready {
    const void *code;
    const char *place, *mask, *from;
    int64_t size, mask_size, from_size;
} ready;

#define T             float
#define BITS          int32_t
#define VEC           f32
#define ROOT(x)       ROOT_f32(x)
#define SIGNS(x)      SIGNS_f32(x)
#define LARGEST(a, b) LARGEST_f32(a, b)
#define LEAST(a, b)   LEAST_f32(a, b)
#define ABSOLUTE      0x7fffffff
#define HAS_BFLOAT16
#include "fused.inc"

#define T             double
#define BITS          int64_t
#define VEC           f64
#define ROOT(x)       ROOT_f64(x)
#define SIGNS(x)      SIGNS_f64(x)
#define LARGEST(a, b) LARGEST_f64(a, b)
#define LEAST(a, b)   LEAST_f64(a, b)
#define ABSOLUTE      0x7fffffffffffffff
#include "fused.inc"

const lt_fused_loops LT_LOOP(fused)[LT_FUSED_TYPES] = {{fused_f32, lines_f32},
                                                       {fused_f64, lines_f64}};
