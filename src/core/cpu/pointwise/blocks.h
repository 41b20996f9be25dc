/* blocks.h - an elementwise loop and the conversions around it, for operands of any dtypes and
 * strides. */
#ifndef LT_CPU_BLOCKS_H
#define LT_CPU_BLOCKS_H

#include "cpu/common/fetch.h"
#include "cpu/common/loops.h"
#include "cpu/common/sizes.h"

#define LT_BLOCKS_OPERANDS 4

/* Prefetch distance in elements for strided operands. */
enum { LT_FETCHED_AHEAD = 4 * LT_BLOCK };

/* Converts an operand to a loop's dtype: through the op's dtype if that is narrower (narrow: NULL
 * if not), so that a number out of its range wraps, or is rounded, first. */
typedef struct lt_conversion {
    lt_loop narrow, convert;
    int64_t narrow_size;
    lt_dtype wanted;
    bool same; /* no conversion: only gather elements */
} lt_conversion;

/* A loop and the conversions of its operands. */
typedef struct lt_blocks {
    lt_loop loop, store;
    bool stored_as_is; /* store only scatters */
    int operands;
    lt_conversion in[LT_BLOCKS_OPERANDS]; /* of the inputs, from 1 */
    /* of scalar inputs, to the dtype in which the loop reads them */
    lt_conversion number[LT_BLOCKS_OPERANDS];
    int64_t size[LT_BLOCKS_OPERANDS]; /* of the loop's elements */
    int64_t length;                   /* elements of a block */
    const lt_scalar *params;
} lt_blocks;

/* Fills b for op, which must have a loop, and operands of these dtypes, the output first; numbers:
 * which operands are a single element. */
void lt_prepare_blocks(int op, lt_dtype compute, const lt_scalar *params, int operands,
                       const lt_dtype *dtypes, const bool *numbers, lt_blocks *b);

/* Converts the number at `from` to the loop's dtype for input k, at `to` (16 bytes), from where the
 * loop reads it from now on. strides: of the operands. */
void lt_blocks_number(lt_blocks *b, int k, const int64_t *strides, char *from, char *to);

/* Whether the loop accepts operands of these strides without buffers. */
bool lt_blocks_in_place(const lt_blocks *b, const int64_t *strides);

/* An lt_loop; its context is an lt_blocks. */
void lt_run_blocks(char *const *ptrs, const int64_t *strides, int64_t n, const void *context);

#endif
