/* arguments.cuh - what a generated kernel is given: also a part of its source. */
#ifndef LT_FUSED_ARGUMENTS_CUH
#define LT_FUSED_ARGUMENTS_CUH

#include <stdint.h>

enum {
    LT_FUSED_BLOCK = 256, /* threads */
    LT_FUSED_DIMS = 6     /* that a strided value may have */
};

/* How an element's number becomes its place: by dividers (offsets.cuh) of the sizes, innermost
 * first, and strides in bytes. */
struct lt_fused_walk {
    uint32_t size[LT_FUSED_DIMS - 1], magic[LT_FUSED_DIMS - 1];
    int32_t shift[LT_FUSED_DIMS - 1], stride[LT_FUSED_DIMS];
};

/* In the type that its step computes in. */
union lt_fused_number {
    float f;
    double d;
    int64_t i;
    uint8_t b;
};

/* How lines are reduced, one after the other, `count` elements each (device/lines.cuh): a team of
 * threads for each share of a line, a whole block where there are several. */
struct lt_fused_slices {
    int64_t count, share; /* elements of a line; of a share of it, but the last */
    int64_t lines, shares;
    int64_t team;                         /* threads */
    lt_fused_number identity, parameter;  /* as the reduction's step has them */
    lt_fused_number divisor, root;        /* of totals (ending_so) */
    lt_fused_number first, first_divisor; /* of two steps (lt_two_steps): of the first */
    uint32_t logarithm;
    char *out;
    int64_t step;           /* from a line's result to the next, in bytes */
    void *parts;            /* of several shares, [shares][lines]: the totals */
    unsigned *counter;      /* of the teams that have left theirs: lt_is_last */
    const void *parameters; /* of each line; null: the same for all */
};

/* Each list has at least one entry. */
template <int DATA, int NUMBERS, int WALKS> struct lt_fused_arguments {
    uint32_t n;       /* elements */
    uint32_t aligned; /* accesses of 16 bytes may be made */
    uint32_t zero;    /* see lt_no_contraction */
    char *data[DATA];
    lt_fused_number numbers[NUMBERS];
    lt_fused_walk walks[WALKS];
};

/* How rows are taken, one after the other, `length` elements each (device/rows.cuh): a team of
 * threads for each. */
struct lt_fused_rows {
    int64_t count, length;
    int64_t team; /* threads */
    void *out;    /* of the fusion's dtype */
    /* softmax: the forward's result, of backward; norms: parameters of a row, null: 1 and 0 */
    const void *result, *weight, *bias;
    /* norms: of each row, in the type that is computed in; mean null: nothing is subtracted */
    void *mean, *rstd;
    lt_fused_number eps;
    uint32_t log;                         /* log_softmax */
    uint32_t aligned, parameters_aligned; /* result and out, weight and bias: to 16 bytes */
};

/* Of a fusion whose results are taken by lines or rows. */
template <class TAKER, class FUSION> struct lt_taken_arguments {
    TAKER taker;
    FUSION fusion;
};

#endif
