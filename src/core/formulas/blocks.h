/* blocks.h - quantized weights in the block formats of GGUF files: a block of 32 or 256 consecutive
 * elements of a row has integers of 2 to 8 bits with common scales. Each function decodes a block to
 * floats. The layouts are those of ggml's format specification (docs/gguf.md and ggml-common.h of
 * llama.cpp); numbers are little-endian, d and m are float16. CUDA kernels decode four elements at a
 * time (src/cuda/kernels/products/blocks.cuh); quantized_blocks_spec.lua compares the bits. */
#ifndef LT_FORMULAS_BLOCKS_H
#define LT_FORMULAS_BLOCKS_H

#include "dtypes/block_sizes.h"
#include "dtypes/half.h"
#include "formulas.h"

LT_FN float lt_block_half(const uint8_t *at)
{
    const lt_half h = {(uint16_t)(at[0] | at[1] << 8)};
    return lt_half_to_float(h);
}

/* ---- blocks of 32 ---------------------------------------------------------------------------- */

/* d, 16 bytes: the first half of the block is in the low four bits, the second in the high ones. */
LT_FN void lt_decode_q4_0(const uint8_t *b, float *y)
{
    const float d = lt_block_half(b);
    for (int i = 0; i < 16; i++) {
        y[i] = d * (float)((b[2 + i] & 15) - 8);
        y[i + 16] = d * (float)((b[2 + i] >> 4) - 8);
    }
}

/* d, m, 16 bytes */
LT_FN void lt_decode_q4_1(const uint8_t *b, float *y)
{
    const float d = lt_block_half(b), m = lt_block_half(b + 2);
    for (int i = 0; i < 16; i++) {
        y[i] = d * (float)(b[4 + i] & 15) + m;
        y[i + 16] = d * (float)(b[4 + i] >> 4) + m;
    }
}

/* The fifth bits: bit i of four bytes is that of element i. */
LT_FN uint32_t lt_block_bits(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* d, the fifth bits, 16 bytes */
LT_FN void lt_decode_q5_0(const uint8_t *b, float *y)
{
    const float d = lt_block_half(b);
    const uint32_t high = lt_block_bits(b + 2);
    for (int i = 0; i < 16; i++) {
        const int low = b[6 + i] & 15, other = b[6 + i] >> 4;
        y[i] = d * (float)((low | (int)(high >> i << 4 & 16)) - 16);
        y[i + 16] = d * (float)((other | (int)(high >> (i + 16) << 4 & 16)) - 16);
    }
}

/* d, m, the fifth bits, 16 bytes */
LT_FN void lt_decode_q5_1(const uint8_t *b, float *y)
{
    const float d = lt_block_half(b), m = lt_block_half(b + 2);
    const uint32_t high = lt_block_bits(b + 4);
    for (int i = 0; i < 16; i++) {
        const int low = b[8 + i] & 15, other = b[8 + i] >> 4;
        y[i] = d * (float)(low | (int)(high >> i << 4 & 16)) + m;
        y[i + 16] = d * (float)(other | (int)(high >> (i + 16) << 4 & 16)) + m;
    }
}

/* d, 32 signed bytes */
LT_FN void lt_decode_q8_0(const uint8_t *b, float *y)
{
    const float d = lt_block_half(b);
    const int8_t *q = (const int8_t *)(b + 2);
    for (int i = 0; i < 32; i++) y[i] = d * (float)q[i];
}

/* d, 16 bytes of indices into a table of levels (dtypes/block_sizes.h) */
LT_FN void lt_decode_iq4_nl(const uint8_t *b, float *y)
{
    static const int8_t levels[16] = {LT_IQ4_NL_LEVELS};
    const float d = lt_block_half(b);
    for (int i = 0; i < 16; i++) {
        y[i] = d * (float)levels[b[2 + i] & 15];
        y[i + 16] = d * (float)levels[b[2 + i] >> 4];
    }
}

/* ---- blocks of 256 --------------------------------------------------------------------------- */

/* 16 bytes: scale and minimum of 16 elements each, of four bits; 64 bytes of two bits; d, m */
LT_FN void lt_decode_q2_k(const uint8_t *b, float *y)
{
    const float d = lt_block_half(b + 80), m = lt_block_half(b + 82);
    for (int group = 0; group < 16; group++) {
        const uint8_t *from = b + 16 + group / 8 * 32 + group % 2 * 16;
        const float scale = d * (float)(b[group] & 15), least = m * (float)(b[group] >> 4);
        const int shift = group % 8 / 2 * 2;
        for (int i = 0; i < 16; i++)
            y[16 * group + i] = scale * (float)(from[i] >> shift & 3) - least;
    }
}

/* 32 bytes of third bits, 64 bytes of two bits, 12 bytes with 16 scales of six bits, d */
LT_FN void lt_decode_q3_k(const uint8_t *b, float *y)
{
    const uint8_t *scales = b + 96;
    const float d = lt_block_half(b + 108);
    for (int group = 0; group < 16; group++) {
        const uint8_t *from = b + 32 + group / 8 * 32 + group % 2 * 16, *high = b + group % 2 * 16;
        const int low = group < 8 ? scales[group] & 15 : scales[group - 8] >> 4,
                  scale = (low | (scales[8 + group % 4] >> group / 4 * 2 & 3) << 4) - 32;
        const int shift = group % 8 / 2 * 2, bit = group / 2;
        for (int i = 0; i < 16; i++) {
            const int lacks = (high[i] >> bit & 1) == 0 ? 4 : 0;
            y[16 * group + i] = d * (float)scale * (float)((from[i] >> shift & 3) - lacks);
        }
    }
}

/* Scale and minimum number j of eight, of six bits each, in 12 bytes. */
LT_FN void lt_block_scale(const uint8_t *s, int j, int *scale, int *least)
{
    if (j < 4) {
        *scale = s[j] & 63;
        *least = s[j + 4] & 63;
    } else {
        *scale = (s[j + 4] & 15) | s[j - 4] >> 6 << 4;
        *least = s[j + 4] >> 4 | s[j] >> 6 << 4;
    }
}

/* d, m, 12 bytes of scales, 128 bytes of four bits */
LT_FN void lt_decode_q4_k(const uint8_t *b, float *y)
{
    const float d = lt_block_half(b), m = lt_block_half(b + 2);
    for (int group = 0; group < 8; group++) {
        const uint8_t *from = b + 16 + group / 2 * 32;
        int scale, least;
        lt_block_scale(b + 4, group, &scale, &least);
        const float by = d * (float)scale, less = m * (float)least;
        const int shift = group % 2 * 4;
        for (int i = 0; i < 32; i++) y[32 * group + i] = by * (float)(from[i] >> shift & 15) - less;
    }
}

/* d, m, 12 bytes of scales, 32 bytes of fifth bits, 128 bytes of four bits */
LT_FN void lt_decode_q5_k(const uint8_t *b, float *y)
{
    const float d = lt_block_half(b), m = lt_block_half(b + 2);
    const uint8_t *high = b + 16;
    for (int group = 0; group < 8; group++) {
        const uint8_t *from = b + 48 + group / 2 * 32;
        int scale, least;
        lt_block_scale(b + 4, group, &scale, &least);
        const float by = d * (float)scale, less = m * (float)least;
        const int shift = group % 2 * 4;
        for (int i = 0; i < 32; i++) {
            const int q = (from[i] >> shift & 15) | (high[i] >> group & 1) << 4;
            y[32 * group + i] = by * (float)q - less;
        }
    }
}

/* 128 bytes of low four bits, 64 of high two bits, 16 signed scales, d */
LT_FN void lt_decode_q6_k(const uint8_t *b, float *y)
{
    const float d = lt_block_half(b + 208);
    for (int group = 0; group < 8; group++) { /* of 32 elements */
        const int quarter = group % 4, half = group / 4;
        const uint8_t *low = b + half * 64 + quarter % 2 * 32, *high = b + 128 + half * 32;
        const int8_t *scales = (const int8_t *)(b + 192 + half * 8 + quarter * 2);
        const float first = d * (float)scales[0], second = d * (float)scales[1];
        const int lows = quarter / 2 * 4, highs = quarter * 2;
        for (int i = 0; i < 32; i++) {
            const int q = (low[i] >> lows & 15) | (high[i] >> highs & 3) << 4;
            y[32 * group + i] = (i < 16 ? first : second) * (float)(q - 32);
        }
    }
}

#endif
