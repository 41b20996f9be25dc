/* block_bytes.c - products of quantized weights with inputs that are quantized to bytes: each 32
 * elements of an input have a scale. The products of bytes are added in integers, and those of each
 * block in float. For processors with AVX2 and for arm64; with the VNNI instructions of AVX-512 or arm64's
 * dot products where present. */
#include <math.h>
#include <stdbool.h>

#include "cpu/common/loops.h"
#include "cpu_info.h"

#if defined(__AVX2__) || defined(__aarch64__)

#include "block_levels.h"

/* ---- inputs ---------------------------------------------------------------------------------- */

/* 32 floats, |q| <= 127. A block with inf or nan has the scale nan. */
static void quantize_block(const float *x, int8_t *q, lt_input_scale *to)
{
    uint32_t largest =
        0; /* the bits of a float without sign are ordered as the floats; nan is last */
    int32_t sum[2] = {0};
#pragma omp simd reduction(max : largest)
    for (int i = 0; i < 32; i++) {
        const uint32_t magnitude = lt_float_to_bits(x[i]) & 0x7fffffffu;
        largest = largest > magnitude ? largest : magnitude;
    }
    const float most = largest < 0x7f800000u ? lt_bits_to_float(largest) : NAN;
    /* 0 also for magnitudes with an inverse that is no float: their squares underflow, too */
    const float factor = most > 1e-36f ? 127 / most : 0;
    for (int i = 0; i < 32; i++) {
        /* adding 1.5 * 2^23 rounds to nearest even; the integer is in the low bits */
        const uint32_t bits = lt_float_to_bits(x[i] * factor + 12582912.0f);
        q[i] = (int8_t)(most == most ? bits & 255 : 0);
    }
    for (int i = 0; i < 16; i++) {
        sum[0] += q[i];
        sum[1] += q[i + 16];
    }
    to->scale = most / 127;
    to->sum = to->scale * (float)(sum[0] + sum[1]);
    to->low = to->scale * (float)sum[0];
    to->high = to->scale * (float)sum[1];
}

static void quantize(const float *x, lt_block_inputs *to, int64_t from, int64_t end)
{
    for (int64_t b = from * to->blocks; b < end * to->blocks; b++)
        quantize_block(x + 32 * b, to->q + 32 * b, to->scales + b);
}

/* ---- products of tiles ----------------------------------------------------------------------- */

#if defined(__AVX512F__) || defined(__aarch64__)
enum { INPUTS = 4 }; /* fixed: as registers permit: 32 with AVX-512 and on arm64, otherwise 16 */
#else
enum { INPUTS = 2 };
#endif

/* Whether levels are below 128, so that sums of two products have 16 bits. */
static bool has_small_levels(lt_block_format format)
{
    return format != LT_BLOCK_Q8_0 && format != LT_BLOCK_IQ4_NL;
}

#if defined(__aarch64__)
/* Sums of four products of 16 bytes; u: below 128. */
static inline int32x4_t dot_small_half(uint8x16_t u, int8x16_t y)
{
    const int8x16_t level = vreinterpretq_s8_u8(u);
    const int16x8_t low = vmull_s8(vget_low_s8(level), vget_low_s8(y)),
                    high = vmull_high_s8(level, y);
    return vpaddq_s32(vpaddlq_s16(low), vpaddlq_s16(high));
}

static inline int32x4_t dot_any_half(uint8x16_t u, int8x16_t y)
{
    const int16x8_t low = vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(u))),
                    high = vreinterpretq_s16_u16(vmovl_high_u8(u)),
                    y_low = vmovl_s8(vget_low_s8(y)), y_high = vmovl_high_s8(y);
    const int32x4_t a = vpaddq_s32(vmull_s16(vget_low_s16(low), vget_low_s16(y_low)),
                                   vmull_high_s16(low, y_low)),
                    b = vpaddq_s32(vmull_s16(vget_low_s16(high), vget_low_s16(y_high)),
                                   vmull_high_s16(high, y_high));
    return vpaddq_s32(a, b);
}

#define BOTH_HALVES(name, ATTRIBUTES)                                                              \
    static inline ATTRIBUTES block_dots name(byte_lanes u, byte_lanes y)                           \
    {                                                                                              \
        return (block_dots){{name##_half(u.val[0], vreinterpretq_s8_u8(y.val[0])),                 \
                             name##_half(u.val[1], vreinterpretq_s8_u8(y.val[1]))}};               \
    }
BOTH_HALVES(dot_small, )
BOTH_HALVES(dot_any, )

/* clang declares these functions only if every processor of the build has the instruction. */
#if !defined(__clang__)
#define WITH_DOT __attribute__((target("arch=armv8.2-a+dotprod")))
static inline WITH_DOT int32x4_t sdot_small_half(uint8x16_t u, int8x16_t y)
{
    return vdotq_s32(vdupq_n_s32(0), vreinterpretq_s8_u8(u), y);
}

/* u y = (u - 128) y - (-128) y */
static inline WITH_DOT int32x4_t sdot_any_half(uint8x16_t u, int8x16_t y)
{
    const int8x16_t level = vreinterpretq_s8_u8(veorq_u8(u, vdupq_n_u8(128)));
    return vsubq_s32(vdotq_s32(vdupq_n_s32(0), level, y),
                     vdotq_s32(vdupq_n_s32(0), vdupq_n_s8(-128), y));
}
BOTH_HALVES(sdot_small, WITH_DOT)
BOTH_HALVES(sdot_any, WITH_DOT)
#endif
#undef BOTH_HALVES
#else
static inline __m256i dot_small(__m256i u, __m256i y)
{
    return _mm256_madd_epi16(_mm256_maddubs_epi16(u, y), _mm256_set1_epi16(1));
}

static inline __m256i dot_any(__m256i u, __m256i y)
{
    const __m256i even = _mm256_madd_epi16(_mm256_and_si256(u, _mm256_set1_epi16(255)),
                                           _mm256_srai_epi16(_mm256_slli_epi16(y, 8), 8)),
                  odd = _mm256_madd_epi16(_mm256_srli_epi16(u, 8), _mm256_srai_epi16(y, 8));
    return _mm256_add_epi32(even, odd);
}
#endif

/* A tile by n rows of inputs from number j, `blocks` blocks of 32 from number `first` of each row; the
 * results are added to out. */
typedef struct level_product {
    const block_tile *tile;
    const lt_block_inputs *x;
    int64_t j, n, first, blocks;
    float (*out)[LEVELS_ROWS];
} level_product;

#define OF(name) small_##name
#define TARGET
#define DOT(u, y) dot_small(u, y)
#include "block_bytes.inc"

#define OF(name) any_##name
#define TARGET
#define DOT(u, y) dot_any(u, y)
#include "block_bytes.inc"

#if defined(__AVX512F__)
#define OF(name)  vnni_##name
#define TARGET    __attribute__((target("avx512vnni,avx512vl")))
#define DOT(u, y) _mm256_dpbusd_epi32(_mm256_setzero_si256(), u, y)
#include "block_bytes.inc"
#elif defined(WITH_DOT)
#define OF(name)  small_dot_##name
#define TARGET    WITH_DOT
#define DOT(u, y) sdot_small(u, y)
#include "block_bytes.inc"

#define OF(name)  any_dot_##name
#define TARGET    WITH_DOT
#define DOT(u, y) sdot_any(u, y)
#include "block_bytes.inc"
#endif

static void multiply_by_levels(lt_block_format format, const level_product *t)
{
#if defined(__AVX512F__)
    if (lt_processor.avx512_vnni) {
        vnni_tile(t);
        return;
    }
#elif defined(WITH_DOT)
    if (lt_processor.arm_dot) {
        if (has_small_levels(format))
            small_dot_tile(t);
        else
            any_dot_tile(t);
        return;
    }
#endif
    if (has_small_levels(format))
        small_tile(t);
    else
        any_tile(t);
}

static bool multiply_one(lt_block_format format, const uint8_t *const *rows,
                         const lt_block_inputs *x, float *out)
{
#if defined(__AVX512F__)
    if (lt_processor.avx512_vnni) return vnni_one_input(format, rows, x, out);
#elif defined(WITH_DOT)
    if (lt_processor.arm_dot)
        return has_small_levels(format) ? small_dot_one_input(format, rows, x, out)
                                        : any_dot_one_input(format, rows, x, out);
#endif
    if (has_small_levels(format)) return small_one_input(format, rows, x, out);
    return any_one_input(format, rows, x, out);
}

/* ---- products -------------------------------------------------------------------------------- */

/* fixed: rows of inputs per tile: results are in L1, inputs in L2 */
enum { CHUNK = 64 };

/* The numbers of LEVELS_ROWS rows of the weight from r; beyond the last row: that row. */
static int64_t row_number(const lt_block_product *p, int64_t r, int i)
{
    return r + i < p->rows ? r + i : p->rows - 1;
}

/* LEVELS_ROWS rows of the weight by n rows of the inputs from number j. */
static void multiply_rows(const lt_block_product *p, const lt_block_inputs *x, block_tile *t,
                          int64_t r, int64_t j, int64_t n, float (*out)[LEVELS_ROWS])
{
    const int64_t of_part = LEVELS_PART / p->elements, blocks = p->columns / p->elements;
    memset(out, 0, (size_t)n * sizeof *out);
    for (int64_t k = 0; k < blocks; k += of_part) {
        const int64_t count = blocks - k < of_part ? blocks - k : of_part;
        for (int i = 0; i < LEVELS_ROWS; i++)
            fill_tile(t, i, p->format, p->weight + (row_number(p, r, i) * blocks + k) * p->bytes,
                      p->bytes, count);
        multiply_by_levels(p->format, &(level_product){t, x, j, n, k * p->elements / 32,
                                                       count * p->elements / 32, out});
    }
}

static bool multiply_rows_by_one(const lt_block_product *p, const lt_block_inputs *x, int64_t r,
                                 float *out)
{
    const uint8_t *rows[LEVELS_ROWS];
    for (int i = 0; i < LEVELS_ROWS; i++)
        rows[i] = p->weight + row_number(p, r, i) * (p->columns / p->elements) * p->bytes;
    return multiply_one(p->format, rows, x, out);
}

static void multiply_bytes(const lt_block_product *p, const lt_block_inputs *x, int64_t from,
                           int64_t to)
{
    block_tile t;
    float out[CHUNK][LEVELS_ROWS], *results = p->out;
    for (int64_t j = 0; j < x->m; j += CHUNK)
        for (int64_t r = from; r < to; r += LEVELS_ROWS) {
            const int64_t n = x->m - j < CHUNK ? x->m - j : CHUNK,
                          width = p->rows - r < LEVELS_ROWS ? p->rows - r : LEVELS_ROWS;
            if (x->m > 1 || !multiply_rows_by_one(p, x, r, out[0]))
                multiply_rows(p, x, &t, r, j, n, out);
            for (int64_t c = 0; c < n; c++)
                for (int64_t i = 0; i < width; i++) results[(j + c) * p->rows + r + i] = out[c][i];
        }
}

const lt_block_bytes_loops LT_LOOP(block_bytes)[1] = {{quantize, multiply_bytes, LEVELS_ROWS}};

#else

const lt_block_bytes_loops LT_LOOP(block_bytes)[1] = {{NULL, NULL, 1}};

#endif
