/* block_format.h - the formats of quantized weights (formulas/blocks.h). */
#ifndef LT_BLOCK_FORMAT_H
#define LT_BLOCK_FORMAT_H

typedef enum lt_block_format {
    LT_BLOCK_Q4_0,
    LT_BLOCK_Q4_1,
    LT_BLOCK_Q5_0,
    LT_BLOCK_Q5_1,
    LT_BLOCK_Q8_0,
    LT_BLOCK_Q2_K,
    LT_BLOCK_Q3_K,
    LT_BLOCK_Q4_K,
    LT_BLOCK_Q5_K,
    LT_BLOCK_Q6_K,
    LT_BLOCK_IQ4_NL,
    LT_BLOCK_FORMATS
} lt_block_format;

#endif
