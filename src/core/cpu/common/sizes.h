/* sizes.h - sizes of blocks that kernels share. A kernel has a size of its own only where a
 * measurement shows that it gains from it. Sizes that depend on a cache come from cpu_info.h,
 * sizes of jobs from threads.h. */
#ifndef LT_CPU_SIZES_H
#define LT_CPU_SIZES_H

/* Elements of a buffer on the stack that values pass through. */
#define LT_BLOCK 512
/* Lines, or elements, that the lanes of vectors take together: floats of one AVX-512 register. */
#define LT_LANES 16
/* Elements of a strip of rows of a plane, with their padding. */
#define LT_STRIP 2048
/* Neighbouring lines across memory that are taken together. */
#define LT_COLUMNS 1024
/* Elements of a dense line up to which lines are transposed first, so that each has a lane. */
#define LT_SHORT_LINE 32
/* Such lines that are transposed together. */
#define LT_SHORT_LINES 64

#endif
