/* fused.c - the interpreter of fused steps (common/fused.h). Its formulas are those of formulas/float.inc, written for vectors; each rounds as it does by
 * itself: nothing is contracted. */
#include <string.h>

#include "cpu/common/fused.h"
#include "cpu/common/loops.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
#define VECTOR 64 /* bytes */
#define ROOT_f32(x) _mm512_sqrt_ps(x)
#define ROOT_f64(x) _mm512_sqrt_pd(x)
#elif defined(__AVX2__)
#define VECTOR 32
#define ROOT_f32(x) _mm256_sqrt_ps(x)
#define ROOT_f64(x) _mm256_sqrt_pd(x)
#else
#define VECTOR 16
#if defined(__x86_64__)
#define ROOT_f32(x) _mm_sqrt_ps(x)
#define ROOT_f64(x) _mm_sqrt_pd(x)
#elif defined(__aarch64__)
#include <arm_neon.h>
#define ROOT_f32(x) (f32)vsqrtq_f32((float32x4_t)(x))
#define ROOT_f64(x) (f64)vsqrtq_f64((float64x2_t)(x))
#else
#define ROOT_f32(x) (f32){__builtin_sqrtf((x)[0]), __builtin_sqrtf((x)[1]), __builtin_sqrtf((x)[2]), __builtin_sqrtf((x)[3])}
#define ROOT_f64(x) (f64){__builtin_sqrt((x)[0]), __builtin_sqrt((x)[1])}
#endif
#endif

#define VECTORS 8 /* of the accumulator */
#define EACH_VECTOR(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)

/* A step made ready: where its code is, and its place for element 0 of a walk; size: bytes from one element to the next, 0: it stays. */
typedef struct ready {
    const void *code;
    const char *place, *mask;
    int64_t size, mask_size;
} ready;

#define T        float
#define BITS     int32_t
#define VEC      f32
#define ROOT(x)  ROOT_f32(x)
#define ABSOLUTE 0x7fffffff
#define HAS_BFLOAT16
#include "fused.inc"

#define T        double
#define BITS     int64_t
#define VEC      f64
#define ROOT(x)  ROOT_f64(x)
#define ABSOLUTE 0x7fffffffffffffff
#include "fused.inc"

const lt_loop LT_LOOP(fused)[LT_FUSED_TYPES] = {fused_f32, fused_f64};
