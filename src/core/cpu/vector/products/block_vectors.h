/* block_vectors.h - the vectors of products of quantized weights (byte_lanes.c), with AVX2 and on arm64:
 * 32 bytes (byte_lanes), the sums of products of four bytes (block_dots), sums of float, which totals
 * adds up (block_sums), and four floats (block_four). */
#ifndef LT_BLOCK_VECTORS_H
#define LT_BLOCK_VECTORS_H

#include <stdint.h>
#include <string.h>

#include "formulas/blocks.h"

#if defined(__AVX2__)
#include <immintrin.h>

typedef __m256i byte_lanes;
typedef __m256i block_dots;
typedef __m256 block_sums;
typedef __m128 block_four;

/* ---- bytes ----------------------------------------------------------------------------------- */

static inline byte_lanes load_bytes(const void *from) { return _mm256_loadu_si256(from); }
static inline void store_bytes(void *to, byte_lanes v) { _mm256_storeu_si256(to, v); }
static inline byte_lanes either_bytes(byte_lanes a, byte_lanes b) { return _mm256_or_si256(a, b); }
/* Adds 128 to signed bytes. */
static inline byte_lanes signed_to_unsigned(byte_lanes v)
{
    return _mm256_xor_si256(v, _mm256_set1_epi8(-128));
}

/* The low halves of 16 bytes, then the high ones. */
static inline byte_lanes low_and_high_bits(const uint8_t *from)
{
    const __m128i both = _mm_loadu_si128((const __m128i *)from);
    return _mm256_and_si256(_mm256_set_m128i(_mm_srli_epi16(both, 4), both), _mm256_set1_epi8(15));
}

/* 16 in each byte with a bit in four bytes that is set. */
static inline byte_lanes fifth_bits(const uint8_t *at)
{
    const __m256i bytes = _mm256_shuffle_epi8(_mm256_set1_epi32((int)lt_block_bits(at)),
                                              _mm256_setr_epi64x(0, 0x0101010101010101,
                                                                 0x0202020202020202,
                                                                 0x0303030303030303)),
                  bit = _mm256_set1_epi64x((int64_t)0x8040201008040201);
    return _mm256_and_si256(_mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit), bit),
                            _mm256_set1_epi8(16));
}

/* places: below 16 */
static inline byte_lanes look_up_bytes(const uint8_t *table, byte_lanes places)
{
    return _mm256_shuffle_epi8(
        _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)table)), places);
}

/* ---- four floats ----------------------------------------------------------------------------- */

static inline block_four load_four(const float *from) { return _mm_loadu_ps(from); }
static inline void store_four(float *to, block_four v) { _mm_storeu_ps(to, v); }
static inline block_four all_four(float x) { return _mm_set1_ps(x); }
static inline void store_eight(float *to, float x) { _mm256_storeu_ps(to, _mm256_set1_ps(x)); }
static inline float first_of(block_four v) { return _mm_cvtss_f32(v); }
static inline float second_of(block_four v) { return _mm_cvtss_f32(_mm_movehdup_ps(v)); }
static inline block_four add_four(block_four a, block_four b) { return _mm_add_ps(a, b); }
static inline block_four multiply_four(block_four a, block_four b) { return _mm_mul_ps(a, b); }
static inline block_four multiply_add_four(block_four a, float b, block_four c)
{
    return _mm_fmadd_ps(a, _mm_set1_ps(b), c);
}
/* The first two elements, from two halves or one; the others are not used. */
static inline block_four two_halves(const uint8_t *at)
{
    return _mm_cvtph_ps(_mm_cvtsi32_si128((int)lt_block_bits(at)));
}
static inline block_four half_twice(const uint8_t *at)
{
    return _mm_cvtph_ps(_mm_set1_epi16((short)(at[0] | at[1] << 8)));
}
static inline float half_at(const uint8_t *at)
{
    return _cvtsh_ss((unsigned short)(at[0] | at[1] << 8));
}

/* ---- sums ------------------------------------------------------------------------------------ */

static inline block_sums no_sums(void) { return _mm256_setzero_ps(); }
/* scales: 8 floats, of 4 bytes each. */
static inline block_sums add_scaled(block_sums sums, block_dots dots, const float *scales, float by)
{
    return _mm256_fmadd_ps(_mm256_mul_ps(_mm256_load_ps(scales), _mm256_set1_ps(by)),
                           _mm256_cvtepi32_ps(dots), sums);
}
/* by: the first element is the scale of all bytes. */
static inline block_sums add_dots(block_sums sums, block_dots dots, block_four by)
{
    return _mm256_fmadd_ps(_mm256_broadcastss_ps(by), _mm256_cvtepi32_ps(dots), sums);
}
static inline block_four totals(const block_sums *v)
{
    const __m256 ab = _mm256_hadd_ps(v[0], v[1]), cd = _mm256_hadd_ps(v[2], v[3]),
                 all = _mm256_hadd_ps(ab, cd);
    return _mm_add_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps(all, 1));
}

#elif defined(__aarch64__)
#include <arm_neon.h>

typedef uint8x16x2_t byte_lanes;
typedef int32x4x2_t block_dots;
typedef float32x4_t block_sums;
typedef float32x4_t block_four;

static inline byte_lanes load_bytes(const void *from)
{
    return (byte_lanes){{vld1q_u8(from), vld1q_u8((const uint8_t *)from + 16)}};
}
static inline void store_bytes(uint8_t *to, byte_lanes v)
{
    vst1q_u8(to, v.val[0]);
    vst1q_u8(to + 16, v.val[1]);
}
static inline byte_lanes either_bytes(byte_lanes a, byte_lanes b)
{
    return (byte_lanes){{vorrq_u8(a.val[0], b.val[0]), vorrq_u8(a.val[1], b.val[1])}};
}
static inline byte_lanes signed_to_unsigned(byte_lanes v)
{
    const uint8x16_t high = vdupq_n_u8(128);
    return (byte_lanes){{veorq_u8(v.val[0], high), veorq_u8(v.val[1], high)}};
}
static inline byte_lanes low_and_high_bits(const uint8_t *from)
{
    const uint8x16_t both = vld1q_u8(from);
    return (byte_lanes){{vandq_u8(both, vdupq_n_u8(15)), vshrq_n_u8(both, 4)}};
}
static inline byte_lanes fifth_bits(const uint8_t *at)
{
    const uint8x16_t bit = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201)),
                     set = vdupq_n_u8(16), low = vcombine_u8(vdup_n_u8(at[0]), vdup_n_u8(at[1])),
                     high = vcombine_u8(vdup_n_u8(at[2]), vdup_n_u8(at[3]));
    return (byte_lanes){{vandq_u8(vtstq_u8(low, bit), set), vandq_u8(vtstq_u8(high, bit), set)}};
}
static inline byte_lanes look_up_bytes(const uint8_t *table, byte_lanes places)
{
    const uint8x16_t values = vld1q_u8(table);
    return (byte_lanes){{vqtbl1q_u8(values, places.val[0]), vqtbl1q_u8(values, places.val[1])}};
}

static inline block_four load_four(const float *from) { return vld1q_f32(from); }
static inline void store_four(float *to, block_four v) { vst1q_f32(to, v); }
static inline block_four all_four(float x) { return vdupq_n_f32(x); }
static inline void store_eight(float *to, float x)
{
    vst1q_f32(to, vdupq_n_f32(x));
    vst1q_f32(to + 4, vdupq_n_f32(x));
}
static inline float first_of(block_four v) { return vgetq_lane_f32(v, 0); }
static inline float second_of(block_four v) { return vgetq_lane_f32(v, 1); }
static inline block_four add_four(block_four a, block_four b) { return vaddq_f32(a, b); }
static inline block_four multiply_four(block_four a, block_four b) { return vmulq_f32(a, b); }
static inline block_four multiply_add_four(block_four a, float b, block_four c)
{
    return vfmaq_n_f32(c, a, b);
}
static inline block_four two_halves(const uint8_t *at)
{
    return vcvt_f32_f16(vreinterpret_f16_u32(vdup_n_u32(lt_block_bits(at))));
}
static inline block_four half_twice(const uint8_t *at)
{
    return vcvt_f32_f16(vreinterpret_f16_u16(vdup_n_u16((uint16_t)(at[0] | at[1] << 8))));
}
static inline float half_at(const uint8_t *at) { return first_of(half_twice(at)); }

static inline block_sums no_sums(void) { return vdupq_n_f32(0); }
static inline block_sums add_scaled(block_sums sums, block_dots dots, const float *scales, float by)
{
    sums = vfmaq_f32(sums, vmulq_n_f32(vld1q_f32(scales), by), vcvtq_f32_s32(dots.val[0]));
    return vfmaq_f32(sums, vmulq_n_f32(vld1q_f32(scales + 4), by), vcvtq_f32_s32(dots.val[1]));
}
static inline block_sums add_dots(block_sums sums, block_dots dots, block_four by)
{
    return vfmaq_laneq_f32(sums, vcvtq_f32_s32(vaddq_s32(dots.val[0], dots.val[1])), by, 0);
}
static inline block_four totals(const block_sums *v)
{
    return vpaddq_f32(vpaddq_f32(v[0], v[1]), vpaddq_f32(v[2], v[3]));
}
#endif

#endif
