/* block_levels.h - quantized weights (formulas/blocks.h) as integers: an element is d * level + m with
 * levels from 0 to 255 and one d and m for 16 elements. Every format has this form, so that one loop
 * multiplies all of them. */
#ifndef LT_BLOCK_LEVELS_H
#define LT_BLOCK_LEVELS_H

#include "block_vectors.h"
#include "dtypes/block_format.h"
#include "formulas/blocks.h"

enum {
    LEVELS_ROWS = 4, /* fixed: rows that are multiplied together; the lanes of a 128-bit vector */
    LEVELS_PART =
        2048, /* fixed: elements of a row, a multiple of every block; a tile is 18 KB, in L1 */
};

/* Parts of LEVELS_ROWS rows. scales: d, four times for each 16 elements, as the lanes of a product need
 * it. offsets: m for each 16 elements, of all rows. */
typedef struct block_tile {
    _Alignas(64) uint8_t levels[LEVELS_ROWS][LEVELS_PART];
    _Alignas(64) float scales[LEVELS_ROWS][LEVELS_PART / 4];
    _Alignas(64) float offsets[LEVELS_PART / 16][LEVELS_ROWS];
} block_tile;

/* The scales and offsets of a block, for each 16 elements. */
typedef struct block_scales {
    float d[16], m[16];
} block_scales;

/* ---- blocks of 32: the levels as a vector ---------------------------------------------------- */

static inline byte_lanes levels_q4_0(const uint8_t *b) { return low_and_high_bits(b + 2); }

static inline byte_lanes levels_q4_1(const uint8_t *b) { return low_and_high_bits(b + 4); }

static inline byte_lanes levels_q5_0(const uint8_t *b)
{
    return either_bytes(low_and_high_bits(b + 6), fifth_bits(b + 2));
}

static inline byte_lanes levels_q5_1(const uint8_t *b)
{
    return either_bytes(low_and_high_bits(b + 8), fifth_bits(b + 4));
}

static inline byte_lanes levels_q8_0(const uint8_t *b)
{
    return signed_to_unsigned(load_bytes(b + 2));
}

static inline byte_lanes levels_iq4_nl(const uint8_t *b)
{
    /* lt_decode_iq4_nl's + 128 */
    static const uint8_t table[16] = {1,   24,  45,  63,  79,  93,  106, 118,
                                      129, 141, 153, 166, 181, 197, 217, 241};
    return look_up_bytes(table, low_and_high_bits(b + 2));
}

/* The first elements: d and m, or d and d (then m is a multiple of d). */
static inline block_four scale_and_offset(const uint8_t *b) { return two_halves(b); }
static inline block_four scale_twice(const uint8_t *b) { return half_twice(b); }

/* ---- blocks of 256 --------------------------------------------------------------------------- */

static inline void levels_q2_k(const uint8_t *b, uint8_t *levels, block_scales *s)
{
    const float d = half_at(b + 80), m = half_at(b + 82);
    for (int group = 0; group < 16; group++) {
        const uint8_t *from = b + 16 + group / 8 * 32 + group % 2 * 16;
        const int shift = group % 8 / 2 * 2;
        for (int i = 0; i < 16; i++) levels[16 * group + i] = from[i] >> shift & 3;
        s->d[group] = d * (float)(b[group] & 15);
        s->m[group] = -m * (float)(b[group] >> 4);
    }
}

static inline void levels_q3_k(const uint8_t *b, uint8_t *levels, block_scales *s)
{
    const uint8_t *scales = b + 96;
    const float d = half_at(b + 108);
    for (int group = 0; group < 16; group++) {
        const uint8_t *from = b + 32 + group / 8 * 32 + group % 2 * 16, *high = b + group % 2 * 16;
        const int low = group < 8 ? scales[group] & 15 : scales[group - 8] >> 4,
                  scale = (low | (scales[8 + group % 4] >> group / 4 * 2 & 3) << 4) - 32;
        const int shift = group % 8 / 2 * 2, bit = group / 2;
        for (int i = 0; i < 16; i++)
            levels[16 * group + i] = (uint8_t)((from[i] >> shift & 3) | (high[i] >> bit & 1) << 2);
        s->d[group] = d * (float)scale;
        s->m[group] = -4 * s->d[group];
    }
}

/* Scales of pairs of groups, from 12 bytes. */
static inline void pair_scales(const uint8_t *b, block_scales *s)
{
    const float d = half_at(b), m = half_at(b + 2);
    for (int group = 0; group < 8; group++) {
        int scale, least;
        lt_block_scale(b + 4, group, &scale, &least);
        s->d[2 * group] = s->d[2 * group + 1] = d * (float)scale;
        s->m[2 * group] = s->m[2 * group + 1] = -m * (float)least;
    }
}

static inline void levels_q4_k(const uint8_t *b, uint8_t *levels, block_scales *s)
{
    pair_scales(b, s);
    for (int pair = 0; pair < 4; pair++) {
        const uint8_t *from = b + 16 + 32 * pair;
        uint8_t *to = levels + 64 * pair;
        for (int i = 0; i < 32; i++) to[i] = from[i] & 15;
        for (int i = 0; i < 32; i++) to[i + 32] = from[i] >> 4;
    }
}

static inline void levels_q5_k(const uint8_t *b, uint8_t *levels, block_scales *s)
{
    const uint8_t *high = b + 16;
    pair_scales(b, s);
    for (int group = 0; group < 8; group++) {
        const uint8_t *from = b + 48 + group / 2 * 32;
        const int shift = group % 2 * 4;
        for (int i = 0; i < 32; i++)
            levels[32 * group + i] =
                (uint8_t)((from[i] >> shift & 15) | (high[i] >> group & 1) << 4);
    }
}

static inline void levels_q6_k(const uint8_t *b, uint8_t *levels, block_scales *s)
{
    const float d = half_at(b + 208);
    for (int group = 0; group < 8; group++) { /* of 32 elements */
        const int quarter = group % 4, half = group / 4;
        const uint8_t *low = b + half * 64 + quarter % 2 * 32, *high = b + 128 + half * 32;
        const int lows = quarter / 2 * 4, highs = quarter * 2;
        for (int i = 0; i < 32; i++)
            levels[32 * group + i] = (uint8_t)((low[i] >> lows & 15) | (high[i] >> highs & 3) << 4);
    }
    for (int group = 0; group < 16; group++) {
        s->d[group] = d * (float)(int8_t)b[192 + group];
        s->m[group] = -32 * s->d[group];
    }
}

/* ---- tiles ----------------------------------------------------------------------------------- */

/* Enters a block of 32 with number k of a row; both: d, m. */
static inline void put_block(block_tile *t, int row, int64_t k, byte_lanes levels, block_four both,
                             float factor)
{
    store_bytes(t->levels[row] + 32 * k, levels);
    store_eight(t->scales[row] + 8 * k, first_of(both));
    t->offsets[2 * k][row] = factor * second_of(both);
    t->offsets[2 * k + 1][row] = t->offsets[2 * k][row];
}

#define BYTES(FORMAT, name, read, factor)                                                          \
    case FORMAT:                                                                                   \
        for (int64_t k = 0; k < blocks; k++) {                                                     \
            const uint8_t *b = in + k * bytes;                                                     \
            put_block(t, row, k, levels_##name(b), read(b), factor);                               \
        }                                                                                          \
        break;

/* Enters the scales of 256 elements from number `at` of a row. */
static inline void put_scales(block_tile *t, int row, int64_t at, const block_scales *s)
{
    for (int group = 0; group < 16; group++) {
        store_four(t->scales[row] + at / 4 + 4 * group, all_four(s->d[group]));
        t->offsets[at / 16 + group][row] = s->m[group];
    }
}

#define LEVELS(FORMAT, name)                                                                       \
    case FORMAT:                                                                                   \
        for (int64_t k = 0; k < blocks; k++) {                                                     \
            block_scales s;                                                                        \
            levels_##name(in + k * bytes, t->levels[row] + 256 * k, &s);                           \
            put_scales(t, row, 256 * k, &s);                                                       \
        }                                                                                          \
        break;

static void fill_tile(block_tile *t, int row, lt_block_format format, const uint8_t *in,
                      int64_t bytes, int64_t blocks)
{
    switch (format) {
        BYTES(LT_BLOCK_Q4_0, q4_0, scale_twice, -8)
        BYTES(LT_BLOCK_Q4_1, q4_1, scale_and_offset, 1)
        BYTES(LT_BLOCK_Q5_0, q5_0, scale_twice, -16)
        BYTES(LT_BLOCK_Q5_1, q5_1, scale_and_offset, 1)
        BYTES(LT_BLOCK_Q8_0, q8_0, scale_twice, -128)
        BYTES(LT_BLOCK_IQ4_NL, iq4_nl, scale_twice, -128)
        LEVELS(LT_BLOCK_Q2_K, q2_k)
        LEVELS(LT_BLOCK_Q3_K, q3_k)
        LEVELS(LT_BLOCK_Q4_K, q4_k)
        LEVELS(LT_BLOCK_Q5_K, q5_k)
        LEVELS(LT_BLOCK_Q6_K, q6_k)
    case LT_BLOCK_FORMATS: break;
    }
}

#undef BYTES
#undef LEVELS

#endif
