/* blocks.h - an elementwise loop and the conversions around it, for operands of any dtypes and
 * strides. */
#ifndef LT_CPU_BLOCKS_H
#define LT_CPU_BLOCKS_H

#include "cpu/common/fetch.h"
#include "cpu/common/loops.h"
#include "cpu/common/sizes.h"

#define LT_BLOCKS_OPERANDS 4

/* Elements that a strided operand is requested before it is read. */
enum { LT_FETCHED_AHEAD = 4 * LT_BLOCK };

/* How an operand is brought to a loop's dtype: by way of a narrower one when that is the op's dtype
 * (narrow: NULL if not), so that a number that it cannot hold wraps, or is rounded, first. */
typedef struct lt_conversion {
    lt_loop narrow, convert;
    int64_t narrow_size;
    lt_dtype wanted;
    bool same; /* there is nothing to convert, only elements to gather */
} lt_conversion;

/* A loop and what stands around it. */
typedef struct lt_blocks {
    lt_loop loop, store;
    bool stored_as_is; /* store only scatters */
    int operands;
    lt_conversion in[LT_BLOCKS_OPERANDS]; /* of the inputs, from 1 */
    /* of an input that is one number for all, as the loop takes it */
    lt_conversion number[LT_BLOCKS_OPERANDS];
    int64_t size[LT_BLOCKS_OPERANDS]; /* of the loop's elements */
    int64_t length;                   /* elements of a block */
    const lt_scalar *params;
} lt_blocks;

/* Fills b for op, whose loop must be there, and operands of these dtypes, the output first;
 * numbers: which of them are one element for all. */
void lt_prepare_blocks(int op, lt_dtype compute, const lt_scalar *params, int operands,
                       const lt_dtype *dtypes, const bool *numbers, lt_blocks *b);

/* Converts the number at `from` to what the loop takes as input k of operands of these strides, in
 * 16 bytes at `to`, where it finds it from now on. */
void lt_blocks_number(lt_blocks *b, int k, const int64_t *strides, char *from, char *to);

/* Whether the loop itself takes operands of these strides as they are. */
bool lt_blocks_in_place(const lt_blocks *b, const int64_t *strides);

/* An lt_loop whose context is an lt_blocks. */
void lt_run_blocks(char *const *ptrs, const int64_t *strides, int64_t n, const void *context);

#endif
