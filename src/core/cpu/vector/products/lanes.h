/* lanes.h - SIMD vectors of float and double of the instruction set that a file of this folder is
 * compiled for, for loops that keep sums in registers. Names end in F32 and F64, so that macros can
 * instantiate a loop for both types. */
#ifndef LT_CPU_LANES_H
#define LT_CPU_LANES_H

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif
#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__)
#define LANES_F32 16
#define LANES_F64 8
typedef __m512 lanes_f32;
typedef __m512d lanes_f64;
#define LOAD_F32         _mm512_loadu_ps
#define LOAD_F64         _mm512_loadu_pd
#define STORE_F32        _mm512_storeu_ps
#define STORE_F64        _mm512_storeu_pd
#define ALL_F32          _mm512_set1_ps
#define ALL_F64          _mm512_set1_pd
#define MULTIPLY_ADD_F32 _mm512_fmadd_ps
#define MULTIPLY_ADD_F64 _mm512_fmadd_pd
#elif defined(__AVX2__)
#define LANES_F32        8
#define LANES_F64        4
typedef __m256 lanes_f32;
typedef __m256d lanes_f64;
#define LOAD_F32         _mm256_loadu_ps
#define LOAD_F64         _mm256_loadu_pd
#define STORE_F32        _mm256_storeu_ps
#define STORE_F64        _mm256_storeu_pd
#define ALL_F32          _mm256_set1_ps
#define ALL_F64          _mm256_set1_pd
#define MULTIPLY_ADD_F32 _mm256_fmadd_ps
#define MULTIPLY_ADD_F64 _mm256_fmadd_pd
#elif defined(__x86_64__)
#define LANES_F32                 4
#define LANES_F64                 2
typedef __m128 lanes_f32;
typedef __m128d lanes_f64;
#define LOAD_F32                  _mm_loadu_ps
#define LOAD_F64                  _mm_loadu_pd
#define STORE_F32                 _mm_storeu_ps
#define STORE_F64                 _mm_storeu_pd
#define ALL_F32                   _mm_set1_ps
#define ALL_F64                   _mm_set1_pd
#define MULTIPLY_ADD_F32(a, b, c) _mm_add_ps(_mm_mul_ps(a, b), c)
#define MULTIPLY_ADD_F64(a, b, c) _mm_add_pd(_mm_mul_pd(a, b), c)
#else /* generic vectors of the compiler, for any processor */
#define LANES_F32 4
#define LANES_F64 2
#if defined(__aarch64__)
typedef float32x4_t lanes_f32;
typedef float64x2_t lanes_f64;
#else
typedef float lanes_f32 __attribute__((vector_size(16)));
typedef double lanes_f64 __attribute__((vector_size(16)));
#endif
static inline lanes_f32 load_f32(const float *from)
{
    lanes_f32 v;
    memcpy(&v, from, sizeof v);
    return v;
}
static inline lanes_f64 load_f64(const double *from)
{
    lanes_f64 v;
    memcpy(&v, from, sizeof v);
    return v;
}
static inline void store_f32(float *to, lanes_f32 v) { memcpy(to, &v, sizeof v); }
static inline void store_f64(double *to, lanes_f64 v) { memcpy(to, &v, sizeof v); }
#define LOAD_F32   load_f32
#define LOAD_F64   load_f64
#define STORE_F32  store_f32
#define STORE_F64  store_f64
#define ALL_F32(x) ((lanes_f32){(x), (x), (x), (x)})
#define ALL_F64(x) ((lanes_f64){(x), (x)})
#if defined(__aarch64__)
#define MULTIPLY_ADD_F32(a, b, c) vfmaq_f32(c, a, b)
#define MULTIPLY_ADD_F64(a, b, c) vfmaq_f64(c, a, b)
#else
#define MULTIPLY_ADD_F32(a, b, c) ((a) * (b) + (c))
#define MULTIPLY_ADD_F64(a, b, c) ((a) * (b) + (c))
#endif
#endif

/* The sum of the elements of a vector. */
#if defined(__AVX512F__)
#define total_f32 _mm512_reduce_add_ps
#define total_f64 _mm512_reduce_add_pd
#else
static inline float total_f32(lanes_f32 v)
{
    float x[LANES_F32];
    STORE_F32(x, v);
    for (int n = LANES_F32 / 2; n > 0; n /= 2)
        for (int i = 0; i < n; i++) x[i] += x[i + n];
    return x[0];
}
static inline double total_f64(lanes_f64 v)
{
    double x[LANES_F64];
    STORE_F64(x, v);
    for (int n = LANES_F64 / 2; n > 0; n /= 2)
        for (int i = 0; i < n; i++) x[i] += x[i + n];
    return x[0];
}
#endif

/* The sum of each of four vectors, added in the same order as total_ does. */
#if defined(__AVX2__)
static inline __m128 halves_f32(lanes_f32 v)
{
#if defined(__AVX512F__)
    const __m256 w = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
#else
    const __m256 w = v;
#endif
    return _mm_add_ps(_mm256_castps256_ps128(w), _mm256_extractf128_ps(w, 1));
}
static inline __m128d halves_f64(lanes_f64 v)
{
#if defined(__AVX512F__)
    const __m256d w = _mm256_add_pd(_mm512_castpd512_pd256(v), _mm512_extractf64x4_pd(v, 1));
#else
    const __m256d w = v;
#endif
    return _mm_add_pd(_mm256_castpd256_pd128(w), _mm256_extractf128_pd(w, 1));
}
static inline void totals_f32(const lanes_f32 *v, float *to)
{
    const __m128 a = halves_f32(v[0]), b = halves_f32(v[1]), c = halves_f32(v[2]),
                 d = halves_f32(v[3]);
    const __m128 ab = _mm_add_ps(_mm_unpacklo_ps(a, b), _mm_unpackhi_ps(a, b)),
                 cd = _mm_add_ps(_mm_unpacklo_ps(c, d), _mm_unpackhi_ps(c, d));
    _mm_storeu_ps(to, _mm_add_ps(_mm_movelh_ps(ab, cd), _mm_movehl_ps(cd, ab)));
}
static inline void totals_f64(const lanes_f64 *v, double *to)
{
    for (int i = 0; i < 4; i += 2) {
        const __m128d a = halves_f64(v[i]), b = halves_f64(v[i + 1]);
        _mm_storeu_pd(to + i, _mm_add_pd(_mm_unpacklo_pd(a, b), _mm_unpackhi_pd(a, b)));
    }
}
#else
static inline void totals_f32(const lanes_f32 *v, float *to)
{
    for (int i = 0; i < 4; i++) to[i] = total_f32(v[i]);
}
static inline void totals_f64(const lanes_f64 *v, double *to)
{
    for (int i = 0; i < 4; i++) to[i] = total_f64(v[i]);
}
#endif

/* get: loads the first n elements, at most a whole vector, and sets the others to 0. put: stores
 * the first n. */
#if defined(__AVX512F__)
static inline lanes_f32 get_f32(const float *from, int64_t n)
{
    return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), from);
}
static inline lanes_f64 get_f64(const double *from, int64_t n)
{
    return _mm512_maskz_loadu_pd((__mmask8)((1u << n) - 1), from);
}
static inline void put_f32(float *to, lanes_f32 v, int64_t n)
{
    _mm512_mask_storeu_ps(to, (__mmask16)((1u << n) - 1), v);
}
static inline void put_f64(double *to, lanes_f64 v, int64_t n)
{
    _mm512_mask_storeu_pd(to, (__mmask8)((1u << n) - 1), v);
}
#else
/* AVX2 loads by mask: a vector load from a copy that was written in parts stalls, since its stores
 * cannot be forwarded. It stores by memcpy: masked stores are slower than that on some processors.
 */
#if defined(__AVX2__)
static inline lanes_f32 get_f32(const float *from, int64_t n)
{
    static const int32_t masks[2 * LANES_F32] = {-1, -1, -1, -1, -1, -1, -1, -1};
    return _mm256_maskload_ps(from, _mm256_loadu_si256((const __m256i *)(masks + LANES_F32 - n)));
}
static inline lanes_f64 get_f64(const double *from, int64_t n)
{
    static const int64_t masks[2 * LANES_F64] = {-1, -1, -1, -1};
    return _mm256_maskload_pd(from, _mm256_loadu_si256((const __m256i *)(masks + LANES_F64 - n)));
}
#else
#define GET(s, S, T)                                                                               \
    static inline lanes_##s get_##s(const T *from, int64_t n)                                      \
    {                                                                                              \
        T values[LANES_##S] = {0};                                                                 \
        if (n == LANES_##S) return LOAD_##S(from);                                                 \
        memcpy(values, from, (size_t)n * sizeof *from);                                            \
        return LOAD_##S(values);                                                                   \
    }
GET(f32, F32, float)
GET(f64, F64, double)
#undef GET
#endif

static inline void put_f32(float *to, lanes_f32 v, int64_t n)
{
    float values[LANES_F32];
    if (n == LANES_F32) {
        STORE_F32(to, v);
        return;
    }
    STORE_F32(values, v);
    memcpy(to, values, (size_t)n * sizeof *to);
}

static inline void put_f64(double *to, lanes_f64 v, int64_t n)
{
    double values[LANES_F64];
    if (n == LANES_F64) {
        STORE_F64(to, v);
        return;
    }
    STORE_F64(values, v);
    memcpy(to, values, (size_t)n * sizeof *to);
}
#endif

#endif
