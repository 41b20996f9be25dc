/* sizes.h - sizes of blocks that kernels share. A kernel has a size of its own only where a
 * measurement shows that it gains from it. Sizes that depend on a cache come from cpu_info.h,
 * sizes of jobs from threads.h. */
#ifndef LT_CPU_SIZES_H
#define LT_CPU_SIZES_H

/* tuning: elements; several buffers of 8 bytes each stay in L1 while values pass through them;
 * adding float16 takes 1.08 of its time with half of it (Zen 5, 2026-11-28) */
#define LT_BLOCK 512
/* fixed: lines, or elements, that the lanes of vectors take together, floats of one AVX-512
 * register */
#define LT_LANES 16
/* tuning: elements; a strip of rows of a plane with their padding stays in L1; max_pool2d takes
 * 1.05 of its time with half of it (Zen 5, 2026-11-28) */
#define LT_STRIP 2048
/* tuning: lines; neighbouring lines across memory are taken together, so that whole cache lines are
 * read and their accumulators stay in L1; argmax of columns takes 0.98 of its time with half of it
 * (Zen 5, 2026-11-28) */
#define LT_COLUMNS 1024
/* tuning: elements; up to this length dense lines are transposed first, so that each has a lane;
 * layer_norm of rows of 24 takes 1.89 of its time with 16 (Zen 5, 2026-11-28) */
#define LT_SHORT_SLICE 32
/* Short lines that are transposed together: they stay in L1. */
#define LT_SHORT_SLICES (2 * LT_SHORT_SLICE)

#endif
