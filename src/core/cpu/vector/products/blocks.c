/* blocks.c - rows of quantized weights (formulas/blocks.h): decoded, and their products with few rows
 * of floats. A part of a row is decoded to a buffer in L1 before it is multiplied: loads that follow
 * narrower stores of the same elements at once would stall. */
#include <stdbool.h>

#include "cpu/common/loops.h"
#include "formulas/blocks.h"
#include "lanes.h"

/* fixed: elements, a multiple of every block; 8 KB, which stay in L1 with as many of an input */
enum { PART = 2048 };

#define DECODE(FORMAT, name, N)                                                                    \
    case FORMAT:                                                                                   \
        for (int64_t k = 0; k < blocks; k++) lt_decode_##name(in + k * bytes, out + k * (N));      \
        break;

static void decode_blocks(lt_block_format format, int64_t bytes, const uint8_t *in, int64_t blocks,
                          float *out)
{
    switch (format) {
        DECODE(LT_BLOCK_Q4_0, q4_0, 32)
        DECODE(LT_BLOCK_Q4_1, q4_1, 32)
        DECODE(LT_BLOCK_Q5_0, q5_0, 32)
        DECODE(LT_BLOCK_Q5_1, q5_1, 32)
        DECODE(LT_BLOCK_Q8_0, q8_0, 32)
        DECODE(LT_BLOCK_Q2_K, q2_k, 256)
        DECODE(LT_BLOCK_Q3_K, q3_k, 256)
        DECODE(LT_BLOCK_Q4_K, q4_k, 256)
        DECODE(LT_BLOCK_Q5_K, q5_k, 256)
        DECODE(LT_BLOCK_Q6_K, q6_k, 256)
        DECODE(LT_BLOCK_IQ4_NL, iq4_nl, 32)
    case LT_BLOCK_FORMATS: break;
    }
}

/* n: a multiple of 32 */
static float dot(const float *a, const float *b, int64_t n)
{
    lanes_f32 first = ALL_F32(0), second = ALL_F32(0);
    float lanes[LANES_F32], sum = 0;
    for (int64_t i = 0; i < n; i += 2 * LANES_F32) {
        first = MULTIPLY_ADD_F32(LOAD_F32(a + i), LOAD_F32(b + i), first);
        second = MULTIPLY_ADD_F32(LOAD_F32(a + i + LANES_F32), LOAD_F32(b + i + LANES_F32), second);
    }
    STORE_F32(lanes, first + second);
    for (int i = 0; i < LANES_F32; i++) sum += lanes[i];
    return sum;
}

static void rows(const lt_block_product *p, int64_t from, int64_t to)
{
    _Alignas(64) float part[PART];
    const int64_t of_part = PART / p->elements, blocks = p->columns / p->elements;
    for (int64_t r = from; r < to; r++) {
        float sums[LT_BLOCK_PRODUCT_ROWS] = {0};
        for (int64_t k = 0; k < blocks; k += of_part) {
            const int64_t n = blocks - k < of_part ? blocks - k : of_part;
            decode_blocks(p->format, p->bytes, p->weight + (r * blocks + k) * p->bytes, n, part);
            for (int64_t i = 0; i < p->m; i++)
                sums[i] += dot(part, (const float *)p->in + i * p->columns + k * p->elements,
                               n * p->elements);
        }
        for (int64_t i = 0; i < p->m; i++) ((float *)p->out)[i * p->rows + r] = sums[i];
    }
}

const lt_block_loops LT_LOOP(blocks)[1] = {{decode_blocks, rows}};
