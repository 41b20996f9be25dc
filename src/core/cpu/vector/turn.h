/* turn.h - matrix transposes: 4x4 blocks of float, 2x2 blocks of double, and rectangles of any size
 * made of them. Elements are only moved, so that float and double stand for any type of 4 or 8
 * bytes. */
#ifndef LT_CPU_TURN_H
#define LT_CPU_TURN_H

#include <stdbool.h>

#include "cpu/vector/products/lanes.h"

/* fully unrolled: compilers keep the arrays of a remaining loop in memory, not in registers */
#define TURN_EACH(i, N) _Pragma("GCC unroll 16") for (int i = 0; i < (N); i++)

/* Transposes a 4x4 block of float (2x2 of double). `step` is the distance between the rows of
 * `from`, `width` that of `to`, in elements. */
#if defined(__x86_64__)
static inline void turn_f32(float *to, int64_t width, const float *from, int64_t step)
{
    __m128 a = _mm_loadu_ps(from), b = _mm_loadu_ps(from + step), c = _mm_loadu_ps(from + 2 * step),
           d = _mm_loadu_ps(from + 3 * step);
    _MM_TRANSPOSE4_PS(a, b, c, d);
    _mm_storeu_ps(to, a);
    _mm_storeu_ps(to + width, b);
    _mm_storeu_ps(to + 2 * width, c);
    _mm_storeu_ps(to + 3 * width, d);
}

static inline void turn_f64(double *to, int64_t width, const double *from, int64_t step)
{
    const __m128d a = _mm_loadu_pd(from), b = _mm_loadu_pd(from + step);
    _mm_storeu_pd(to, _mm_unpacklo_pd(a, b));
    _mm_storeu_pd(to + width, _mm_unpackhi_pd(a, b));
}
#else
static inline void turn_f32(float *to, int64_t width, const float *from, int64_t step)
{
    const lanes_f32 a = LOAD_F32(from), b = LOAD_F32(from + step), c = LOAD_F32(from + 2 * step),
                    d = LOAD_F32(from + 3 * step);
    const lanes_f32 ab = __builtin_shufflevector(a, b, 0, 4, 1, 5),
                    cd = __builtin_shufflevector(c, d, 0, 4, 1, 5),
                    more_ab = __builtin_shufflevector(a, b, 2, 6, 3, 7),
                    more_cd = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    STORE_F32(to, __builtin_shufflevector(ab, cd, 0, 1, 4, 5));
    STORE_F32(to + width, __builtin_shufflevector(ab, cd, 2, 3, 6, 7));
    STORE_F32(to + 2 * width, __builtin_shufflevector(more_ab, more_cd, 0, 1, 4, 5));
    STORE_F32(to + 3 * width, __builtin_shufflevector(more_ab, more_cd, 2, 3, 6, 7));
}

static inline void turn_f64(double *to, int64_t width, const double *from, int64_t step)
{
    const lanes_f64 a = LOAD_F64(from), b = LOAD_F64(from + step);
    STORE_F64(to, __builtin_shufflevector(a, b, 0, 2));
    STORE_F64(to + width, __builtin_shufflevector(a, b, 1, 3));
}
#endif

/* Blocks of 4 columns (2 of double) and TALL rows, the elements of a vector. Each store is a whole
 * vector, so that later vector loads do not stall on the forwarding of partial stores. */
#if defined(__AVX512F__)
#define TALL_F32 16
#define TALL_F64 8
#define JOINED(load, a, b, c, d)                                                                   \
    _mm512_insertf32x4(                                                                            \
        _mm512_insertf32x4(_mm512_insertf32x4(_mm512_castps128_ps512(load(a)), load(b), 1),        \
                           load(c), 2),                                                            \
        load(d), 3)
static inline void turn_tall_f32(float *to, int64_t width, const float *from, int64_t step)
{
    __m512 line[4];
    for (int i = 0; i < 4; i++)
        line[i] = JOINED(_mm_loadu_ps, from + i * step, from + (4 + i) * step,
                         from + (8 + i) * step, from + (12 + i) * step);
    const __m512 ab = _mm512_unpacklo_ps(line[0], line[1]),
                 cd = _mm512_unpacklo_ps(line[2], line[3]),
                 more_ab = _mm512_unpackhi_ps(line[0], line[1]),
                 more_cd = _mm512_unpackhi_ps(line[2], line[3]);
    _mm512_storeu_ps(to, _mm512_shuffle_ps(ab, cd, 0x44));
    _mm512_storeu_ps(to + width, _mm512_shuffle_ps(ab, cd, 0xee));
    _mm512_storeu_ps(to + 2 * width, _mm512_shuffle_ps(more_ab, more_cd, 0x44));
    _mm512_storeu_ps(to + 3 * width, _mm512_shuffle_ps(more_ab, more_cd, 0xee));
}

static inline void turn_tall_f64(double *to, int64_t width, const double *from, int64_t step)
{
    __m512d line[2];
    for (int i = 0; i < 2; i++)
        line[i] = _mm512_castps_pd(JOINED(
            _mm_loadu_ps, (const float *)(from + i * step), (const float *)(from + (2 + i) * step),
            (const float *)(from + (4 + i) * step), (const float *)(from + (6 + i) * step)));
    _mm512_storeu_pd(to, _mm512_unpacklo_pd(line[0], line[1]));
    _mm512_storeu_pd(to + width, _mm512_unpackhi_pd(line[0], line[1]));
}
#undef JOINED
#elif defined(__AVX2__)
#define TALL_F32 8
#define TALL_F64 4
static inline void turn_tall_f32(float *to, int64_t width, const float *from, int64_t step)
{
    __m256 line[4];
    for (int i = 0; i < 4; i++)
        line[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(from + i * step)),
                                       _mm_loadu_ps(from + (4 + i) * step), 1);
    const __m256 ab = _mm256_unpacklo_ps(line[0], line[1]),
                 cd = _mm256_unpacklo_ps(line[2], line[3]),
                 more_ab = _mm256_unpackhi_ps(line[0], line[1]),
                 more_cd = _mm256_unpackhi_ps(line[2], line[3]);
    _mm256_storeu_ps(to, _mm256_shuffle_ps(ab, cd, 0x44));
    _mm256_storeu_ps(to + width, _mm256_shuffle_ps(ab, cd, 0xee));
    _mm256_storeu_ps(to + 2 * width, _mm256_shuffle_ps(more_ab, more_cd, 0x44));
    _mm256_storeu_ps(to + 3 * width, _mm256_shuffle_ps(more_ab, more_cd, 0xee));
}

static inline void turn_tall_f64(double *to, int64_t width, const double *from, int64_t step)
{
    __m256d line[2];
    for (int i = 0; i < 2; i++)
        line[i] = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(from + i * step)),
                                       _mm_loadu_pd(from + (2 + i) * step), 1);
    _mm256_storeu_pd(to, _mm256_unpacklo_pd(line[0], line[1]));
    _mm256_storeu_pd(to + width, _mm256_unpackhi_pd(line[0], line[1]));
}
#else
#define TALL_F32      4
#define TALL_F64      2
#define turn_tall_f32 turn_f32
#define turn_tall_f64 turn_f64
#endif

/* Square blocks with whole vectors as rows: distant rows would evict one another from the cache,
 * so each is read only once. If fewer than BLOCK rows are left, `lines` is their number; only as
 * many elements of each column are stored. */
#if defined(__AVX512F__)
#define BLOCK_F32 16
#define BLOCK_F64 8
static inline void turn_block_f32(float *to, int64_t width, const float *from, int64_t step,
                                  int64_t lines)
{
    __m512 a[16], b[16];
    TURN_EACH(i, 16) a[i] = i < lines ? _mm512_loadu_ps(from + i * step) : _mm512_setzero_ps();
    TURN_EACH(i, 8)
    {
        b[2 * i] = _mm512_unpacklo_ps(a[2 * i], a[2 * i + 1]);
        b[2 * i + 1] = _mm512_unpackhi_ps(a[2 * i], a[2 * i + 1]);
    }
    TURN_EACH(q, 8)
    { /* four rows of columns c, 4 + c, 8 + c, 12 + c */
        const __m512d above = _mm512_castps_pd(b[q / 2 * 4 + q % 2]),
                      below = _mm512_castps_pd(b[q / 2 * 4 + q % 2 + 2]);
        a[q / 2 * 4 + q % 2 * 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(above, below));
        a[q / 2 * 4 + q % 2 * 2 + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(above, below));
    }
    TURN_EACH(c, 4)
    {
        const __m512 x = _mm512_shuffle_f32x4(a[c], a[4 + c], 0x44),
                     y = _mm512_shuffle_f32x4(a[8 + c], a[12 + c], 0x44),
                     z = _mm512_shuffle_f32x4(a[c], a[4 + c], 0xee),
                     w = _mm512_shuffle_f32x4(a[8 + c], a[12 + c], 0xee);
        b[c] = _mm512_shuffle_f32x4(x, y, 0x88);
        b[4 + c] = _mm512_shuffle_f32x4(x, y, 0xdd);
        b[8 + c] = _mm512_shuffle_f32x4(z, w, 0x88);
        b[12 + c] = _mm512_shuffle_f32x4(z, w, 0xdd);
    }
    if (lines >= 16)
        TURN_EACH(i, 16) _mm512_storeu_ps(to + i * width, b[i]);
    else
        TURN_EACH(i, 16) put_f32(to + i * width, b[i], lines);
}

static inline void turn_block_f64(double *to, int64_t width, const double *from, int64_t step,
                                  int64_t lines)
{
    __m512d a[8], b[8];
    TURN_EACH(i, 8) a[i] = i < lines ? _mm512_loadu_pd(from + i * step) : _mm512_setzero_pd();
    TURN_EACH(i, 4)
    {
        b[2 * i] = _mm512_unpacklo_pd(a[2 * i], a[2 * i + 1]);
        b[2 * i + 1] = _mm512_unpackhi_pd(a[2 * i], a[2 * i + 1]);
    }
    TURN_EACH(c, 2)
    {
        const __m512d x = _mm512_shuffle_f64x2(b[c], b[2 + c], 0x44),
                      y = _mm512_shuffle_f64x2(b[4 + c], b[6 + c], 0x44),
                      z = _mm512_shuffle_f64x2(b[c], b[2 + c], 0xee),
                      w = _mm512_shuffle_f64x2(b[4 + c], b[6 + c], 0xee);
        a[c] = _mm512_shuffle_f64x2(x, y, 0x88);
        a[2 + c] = _mm512_shuffle_f64x2(x, y, 0xdd);
        a[4 + c] = _mm512_shuffle_f64x2(z, w, 0x88);
        a[6 + c] = _mm512_shuffle_f64x2(z, w, 0xdd);
    }
    if (lines >= 8)
        TURN_EACH(i, 8) _mm512_storeu_pd(to + i * width, a[i]);
    else
        TURN_EACH(i, 8) put_f64(to + i * width, a[i], lines);
}
#elif defined(__AVX2__)
#define BLOCK_F32 8
#define BLOCK_F64 4
static inline void turn_block_f32(float *to, int64_t width, const float *from, int64_t step,
                                  int64_t lines)
{
    __m256 a[8], b[8];
    TURN_EACH(i, 8) a[i] = i < lines ? _mm256_loadu_ps(from + i * step) : _mm256_setzero_ps();
    TURN_EACH(i, 4)
    {
        b[2 * i] = _mm256_unpacklo_ps(a[2 * i], a[2 * i + 1]);
        b[2 * i + 1] = _mm256_unpackhi_ps(a[2 * i], a[2 * i + 1]);
    }
    TURN_EACH(q, 4)
    { /* four rows of columns c and 4 + c */
        const __m256d above = _mm256_castps_pd(b[q / 2 * 4 + q % 2]),
                      below = _mm256_castps_pd(b[q / 2 * 4 + q % 2 + 2]);
        a[q / 2 * 4 + q % 2 * 2] = _mm256_castpd_ps(_mm256_unpacklo_pd(above, below));
        a[q / 2 * 4 + q % 2 * 2 + 1] = _mm256_castpd_ps(_mm256_unpackhi_pd(above, below));
    }
    TURN_EACH(c, 4)
    {
        b[c] = _mm256_permute2f128_ps(a[c], a[4 + c], 0x20);
        b[4 + c] = _mm256_permute2f128_ps(a[c], a[4 + c], 0x31);
    }
    if (lines >= 8)
        TURN_EACH(i, 8) _mm256_storeu_ps(to + i * width, b[i]);
    else
        TURN_EACH(i, 8) put_f32(to + i * width, b[i], lines);
}

static inline void turn_block_f64(double *to, int64_t width, const double *from, int64_t step,
                                  int64_t lines)
{
    __m256d a[4], b[4];
    TURN_EACH(i, 4) a[i] = i < lines ? _mm256_loadu_pd(from + i * step) : _mm256_setzero_pd();
    TURN_EACH(i, 2)
    {
        b[2 * i] = _mm256_unpacklo_pd(a[2 * i], a[2 * i + 1]);
        b[2 * i + 1] = _mm256_unpackhi_pd(a[2 * i], a[2 * i + 1]);
    }
    TURN_EACH(c, 2)
    {
        a[c] = _mm256_permute2f128_pd(b[c], b[2 + c], 0x20);
        a[2 + c] = _mm256_permute2f128_pd(b[c], b[2 + c], 0x31);
    }
    if (lines >= 4)
        TURN_EACH(i, 4) _mm256_storeu_pd(to + i * width, a[i]);
    else
        TURN_EACH(i, 4) put_f64(to + i * width, a[i], lines);
}
#else
#define BLOCK_F32 4
#define BLOCK_F64 2
#define SQUARE(s, T, SIDE)                                                                         \
    static inline void turn_block_##s(T *to, int64_t width, const T *from, int64_t step,           \
                                      int64_t lines)                                               \
    {                                                                                              \
        if (lines >= SIDE)                                                                         \
            turn_##s(to, width, from, step);                                                       \
        else                                                                                       \
            for (int64_t c = 0; c < SIDE; c++)                                                     \
                for (int64_t r = 0; r < lines; r++) to[c * width + r] = from[r * step + c];        \
    }
SQUARE(f32, float, BLOCK_F32)
SQUARE(f64, double, BLOCK_F64)
#undef SQUARE
#endif

#define T       float
#define S(name) name##_f32
#define SIDE    4
#define TALL    TALL_F32
#include "turn.inc"
#define T       double
#define S(name) name##_f64
#define SIDE    2
#define TALL    TALL_F64
#include "turn.inc"
#undef TALL_F32
#undef TALL_F64

#endif
