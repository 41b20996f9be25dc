/* half_rows.c - products of rows of float16 or bfloat16 with few rows of float: the halves are widened
 * in registers, so that each is read once from memory and no matrix of float is written. */
#include "cpu/common/loops.h"
#include "lanes.h"

#if defined(__AVX512F__)
#define LOAD_BF16(from)                                                                            \
    _mm512_castsi512_ps(                                                                           \
        _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(from))), 16))
#define LOAD_F16(from) _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(from)))
#elif defined(__AVX2__)
#define LOAD_BF16(from)                                                                            \
    _mm256_castsi256_ps(                                                                           \
        _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(from))), 16))
#define LOAD_F16(from) _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from)))
#elif defined(__aarch64__)
#define LOAD_BF16(from)                                                                            \
    vreinterpretq_f32_u32(vshll_n_u16(vld1_u16((const uint16_t *)(const void *)(from)), 16))
#define LOAD_F16(from)                                                                             \
    vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16((const uint16_t *)(const void *)(from))))
#else
static inline lanes_f32 load_bf16(const lt_bfloat16 *from)
{
    float values[LANES_F32];
    for (int i = 0; i < LANES_F32; i++) values[i] = lt_bfloat16_to_float(from[i]);
    return LOAD_F32(values);
}
static inline lanes_f32 load_f16(const lt_half *from)
{
    float values[LANES_F32];
    for (int i = 0; i < LANES_F32; i++) values[i] = lt_half_to_float(from[i]);
    return LOAD_F32(values);
}
#define LOAD_BF16 load_bf16
#define LOAD_F16  load_f16
#endif

enum { TOGETHER = 4 }; /* fixed: rows of halves, for independent sums */

#define S(name)    name##_bf16
#define T          lt_bfloat16
#define LOAD       LOAD_BF16
#define TO_FLOAT   lt_bfloat16_to_float
#define FROM_FLOAT lt_float_to_bfloat16
#include "half_rows.inc"

#define S(name)    name##_f16
#define T          lt_half
#define LOAD       LOAD_F16
#define TO_FLOAT   lt_half_to_float
#define FROM_FLOAT lt_float_to_half
#include "half_rows.inc"

const lt_half_loop LT_LOOP(half_rows)[2] = {rows_f16, rows_bf16};
