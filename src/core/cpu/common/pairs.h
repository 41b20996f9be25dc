/* pairs.h - loops that do two elementwise ops at once, for chains (pointwise/chain.c): what the first gives stays in a register. Compiled once
 * per instruction set, as those of loops.h. */
#ifndef LT_CPU_PAIRS_H
#define LT_CPU_PAIRS_H

#include "loops.h"

/* X(name, NAME): what may come first, of two operands. */
#define LT_PAIR_FIRST(X) X(mul, MUL) X(add, ADD) X(sub, SUB)
/* X(first, name, NAME): what may come second, of the first's result x and another operand y (x * y, x + y, x - y, y - x); of x alone. */
#define LT_PAIR_BINARY(X, first)                                                                   \
    X(first, mul, MUL) X(first, add, ADD) X(first, sub, SUB) X(first, sub_from, SUB_FROM)
#define LT_PAIR_UNARY(X, first)                                                                    \
    X(first, relu, RELU) X(first, abs, ABS) X(first, sqrt, SQRT) X(first, square, SQUARE)

#define LT_FIRST_NUMBER(name, NAME)         LT_FIRST_##NAME,
#define LT_SECOND_NUMBER(first, name, NAME) LT_SECOND_##NAME,
enum { LT_PAIR_FIRST(LT_FIRST_NUMBER) LT_FIRSTS };
enum { LT_PAIR_BINARY(LT_SECOND_NUMBER, ) LT_PAIR_UNARY(LT_SECOND_NUMBER, ) LT_SECONDS };
#undef LT_FIRST_NUMBER
#undef LT_SECOND_NUMBER

/* Operands, all of one type: the output, the two of the first op, of which one may be a number, and y, which may be one. Numbers are of the type
 * that is computed in, float for bfloat16. No context. float16 has none: rounding to it takes so many instructions that its pairs were two
 * thirds of the code. */
enum { LT_PAIR_F32, LT_PAIR_F64, LT_PAIR_BF16, LT_PAIR_TYPES };
typedef lt_loop lt_pair_loops[LT_SECONDS][LT_PAIR_TYPES];

/* Of the instruction sets that processors of today have: an old one does its steps one by one, and the program is smaller by half a megabyte. */
#ifdef __x86_64__
extern const lt_pair_loops lt_pairs_avx2[LT_FIRSTS], lt_pairs_avx512[LT_FIRSTS];
#else
extern const lt_pair_loops lt_pairs_baseline[LT_FIRSTS];
#endif

/* Those of the instruction set that lt_loops was chosen for, by what comes first; NULL: it has none. */
const lt_pair_loops *lt_pairs(void);

#endif
