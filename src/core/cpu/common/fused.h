/* fused.h - several elementwise steps in one loop, for chains (pointwise/chain.c): each passes over
 * a few vectors that stay in registers, so that the processor has the next elements come from
 * memory while it computes. What the steps are is data: a list of the operations below, each on the
 * accumulator and, most of them, a place in memory. Compiled once per instruction set, as the loops
 * of loops.h. */
#ifndef LT_CPU_FUSED_H
#define LT_CPU_FUSED_H

#include <stdbool.h>
#include <stdint.h>

/* X(NAME) of the accumulator a and m, which is a place or, of NAME_NUMBER, a number for all
 * elements. NAME_FROM has a from a third place: going from one operation to the next takes as long
 * as one of them does, so a LOAD is part of what follows it. Comparisons give masks, all ones or
 * zeros as wide as an element. */
/* clang-format off */
#define LT_FUSED_OF_TWO(X) \
    X(ADD)       /* a + m */ \
    X(SUB)       /* a - m */ \
    X(REVERSE_SUB) /* m - a */ \
    X(MUL)       /* a * m */ \
    X(DIV)       /* a / m */ \
    X(DIV_INTO)  /* m / a */ \
    X(MAXIMUM)   /* maximum(a, m) */ \
    X(MINIMUM) \
    X(CLAMP_MIN) /* clamp_min(a, m), m not nan */ \
    X(CLAMP_MAX) \
    X(WHERE_POSITIVE) /* 0 where m <= 0, else a: relu_backward(a, m) */ \
    X(EQ) X(NE) X(LT) X(LE) X(GT) X(GE) \
    X(CHOOSE)      /* m where the mask is set, else a */ \
    X(CHOOSE_ELSE) /* a where it is set, else m */ \
    X(AND)         /* the bits of both, as masks and numbers may stand together */ \
    X(OR)
/* clang-format on */
#define LT_FUSED_OF_ONE(X) X(NEG) X(ABS) X(SQUARE) X(CUBE) X(SQRT) X(RELU)
/* a * m + c, rounded twice, where c is what CHOOSE has as its mask: of both a place, of either a
 * number, of both a number. */
#define LT_FUSED_SUMS(X) X(MUL_ADD) X(MUL_NUMBER_ADD) X(MUL_ADD_NUMBER) X(MUL_NUMBER_ADD_NUMBER)
/* STORE_LAST and its like are at the end of the list. */
#define LT_FUSED_MEMORY(X)                                                                         \
    X(LOAD) X(LOAD_NUMBER) X(STORE) X(STORE_LAST) X(LOAD_BOOL) X(STORE_BOOL) X(STORE_BOOL_LAST)
/* In float only: a rounded to bfloat16; from memory; rounded to memory. Of two vectors of bfloat16
 * the one has the elements of even number, the other those of odd number, so that they stand apart
 * from bools. */
#define LT_FUSED_BFLOAT16(X) X(ROUND) X(LOAD_BFLOAT16) X(STORE_BFLOAT16) X(STORE_BFLOAT16_LAST)

/* At the end of a reduction's list: the accumulator joined into its lanes (lt_lanes of loops.h), as
 * by the loops of vector/reduce/rows.c. */
#define LT_FUSED_TAKES(X) X(TAKE_SUM) X(TAKE_SUM_SQUARE) X(TAKE_MAX) X(TAKE_MIN)

#define LT_FUSED_KIND(NAME)  LT_FUSED_##NAME,
#define LT_FUSED_FORMS(NAME) LT_FUSED_##NAME, LT_FUSED_##NAME##_FROM,
#define LT_FUSED_KINDS(NAME) LT_FUSED_FORMS(NAME) LT_FUSED_FORMS(NAME##_NUMBER)
enum {
    LT_FUSED_OF_TWO(LT_FUSED_KINDS) LT_FUSED_OF_ONE(LT_FUSED_FORMS) LT_FUSED_SUMS(LT_FUSED_FORMS)
        LT_FUSED_MEMORY(LT_FUSED_KIND) LT_FUSED_BFLOAT16(LT_FUSED_KIND)
            LT_FUSED_TAKES(LT_FUSED_KIND) LT_FUSED_COUNT
};
#undef LT_FUSED_KIND
#undef LT_FUSED_FORMS
#undef LT_FUSED_KINDS

enum { LT_FUSED_F32, LT_FUSED_F64, LT_FUSED_TYPES }; /* what the accumulator has */

enum {
    LT_FUSED_OPERANDS = 12,                 /* outputs and inputs */
    LT_FUSED_TEMPORARY = LT_FUSED_OPERANDS, /* the first place of what is kept for a while */
    LT_FUSED_TEMPORARIES = 12,
    /* and of numbers for all elements */
    LT_FUSED_CONSTANT = LT_FUSED_TEMPORARY + LT_FUSED_TEMPORARIES,
    LT_FUSED_CONSTANTS = 12,
    LT_FUSED_PLACES = LT_FUSED_CONSTANT + LT_FUSED_CONSTANTS,
    LT_FUSED_OPS = 80,
    LT_FUSED_RUN = 128 /* elements, at most, that go through the steps together */
};

typedef struct lt_fused_op {
    uint8_t op, place, mask, from;
} lt_fused_op;

/* The context of a fused loop. */
typedef struct lt_fused {
    int outputs, operands, temporaries, constants, n; /* outputs are the first of the operands */
    uint8_t size[LT_FUSED_OPERANDS];                  /* bytes of an element */
    lt_fused_op ops[LT_FUSED_OPS];
    union {
        float f32;
        double f64;
    } constant[LT_FUSED_CONSTANTS];
} lt_fused;

#endif
