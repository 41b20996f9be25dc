/* arguments.cuh - the argument structs of generated kernels; also part of their source. */
#ifndef LT_FUSED_ARGUMENTS_CUH
#define LT_FUSED_ARGUMENTS_CUH

#include <stdint.h>

enum {
    LT_FUSED_BLOCK = 256, /* threads */
    LT_FUSED_DIMS = 6     /* max dimensions of a strided value */
};

/* Maps an element's linear index to its byte offset: dividers (offsets.cuh) of the sizes, innermost
 * first, and strides in bytes. */
struct lt_fused_walk {
    uint32_t size[LT_FUSED_DIMS - 1], magic[LT_FUSED_DIMS - 1];
    int32_t shift[LT_FUSED_DIMS - 1], stride[LT_FUSED_DIMS];
};

/* A number, in the compute type of its step. */
union lt_fused_number {
    float f;
    double d;
    int64_t i;
    uint8_t b;
};

/* Partition of a reduction over contiguous rows of `count` elements (device/lines.cuh). One team of
 * threads reduces one share (chunk) of a row; with several shares, a team is a whole block. */
struct lt_fused_lines {
    int64_t count, share; /* elements of a row; of each chunk but the last */
    int64_t lines, shares;
    int64_t team;                         /* threads per team */
    lt_fused_number identity, parameter;  /* of the reduction's step */
    lt_fused_number divisor, root;        /* applied to totals (ending_so) */
    lt_fused_number first, first_divisor; /* of the first step (lt_two_steps) */
    uint32_t logarithm;
    char *out;
    int64_t step;           /* bytes between the results of consecutive rows */
    void *parts;            /* totals of chunks [shares][lines]; if several */
    unsigned *counter;      /* of teams that stored their part: lt_is_last */
    const void *parameters; /* one per row; null: the same for all */
};

/* Arguments of a fused expression. Each list has at least one entry. */
template <int DATA, int NUMBERS, int WALKS> struct lt_fused_arguments {
    uint32_t n;       /* elements */
    uint32_t aligned; /* 16-byte accesses are allowed */
    uint32_t zero;    /* see lt_no_contraction */
    char *data[DATA];
    lt_fused_number numbers[NUMBERS];
    lt_fused_walk walks[WALKS];
};

/* Rows of a softmax or norm over a fused expression: contiguous, `length` elements each, one team
 * of threads per row (device/rows.cuh). */
struct lt_fused_rows {
    int64_t count, length;
    int64_t team; /* threads per team */
    void *out;    /* of the fusion's dtype */
    /* result: the forward result, in softmax's backward. weight, bias: a norm's parameters, one per
     * element of a row; null: 1 and 0. */
    const void *result, *weight, *bias;
    /* norms: one per row, in the compute type; mean null: the mean is not subtracted (RMS norm) */
    void *mean, *rstd;
    lt_fused_number eps;
    uint32_t log;                         /* log_softmax */
    uint32_t aligned, parameters_aligned; /* to 16 bytes: result and out; weight and bias */
};

/* Arguments of a fused expression with a consumer: the consumer's come first. */
template <class TAKER, class FUSION> struct lt_taken_arguments {
    TAKER taker;
    FUSION fusion;
};

#endif
