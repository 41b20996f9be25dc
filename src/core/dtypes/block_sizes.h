/* block_sizes.h - facts about the formats of quantized weights (formulas/blocks.h). */
#ifndef LT_BLOCK_SIZES_H
#define LT_BLOCK_SIZES_H

/* Calls CALL(NAME, name, elements, bytes) for each lt_block_format: the elements and bytes of a
 * block. */
#define LT_EACH_BLOCK_FORMAT(CALL)                                                                 \
    CALL(Q4_0, q4_0, 32, 18)                                                                       \
    CALL(Q4_1, q4_1, 32, 20)                                                                       \
    CALL(Q5_0, q5_0, 32, 22)                                                                       \
    CALL(Q5_1, q5_1, 32, 24)                                                                       \
    CALL(Q8_0, q8_0, 32, 34)                                                                       \
    CALL(Q2_K, q2_k, 256, 84)                                                                      \
    CALL(Q3_K, q3_k, 256, 110)                                                                     \
    CALL(Q4_K, q4_k, 256, 144)                                                                     \
    CALL(Q5_K, q5_k, 256, 176)                                                                     \
    CALL(Q6_K, q6_k, 256, 210)                                                                     \
    CALL(IQ4_NL, iq4_nl, 32, 18)

/* The levels to which the four bits of an element of IQ4_NL are indices. */
#define LT_IQ4_NL_LEVELS -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113

#endif
