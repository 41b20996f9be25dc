/* sizes.h - block sizes shared by kernels. A kernel has a size of its own only if a measurement
 * shows a gain. cpu_info.h has the sizes of caches, threads.h the sizes of jobs. */
#ifndef LT_CPU_SIZES_H
#define LT_CPU_SIZES_H

/* tuning: elements; several buffers of 8-byte elements stay in L1 while values pass through them;
 * adding float16 takes 1.08 times as long with half of it (Zen 5, 2026-11-28) */
#define LT_BLOCK 512
/* fixed: lines or elements that are processed together in vector lanes; the floats of an AVX-512
 * register */
#define LT_LANES 16
/* tuning: elements; a strip of rows of a plane with their padding stays in L1; max_pool2d takes
 * 1.05 times as long with half of it (Zen 5, 2026-11-28) */
#define LT_STRIP 2048
/* tuning: lines; adjacent lines are processed together, so that whole cache lines are read and
 * accumulators stay in L1; argmax of columns takes 0.98 times as long with half of it (Zen 5,
 * 2026-11-28) */
#define LT_COLUMNS 1024
/* tuning: elements; contiguous lines up to this length are transposed first, so that each has a
 * vector lane; layer_norm of rows of 24 takes 1.89 times as long with 16 (Zen 5, 2026-11-28) */
#define LT_SHORT_SLICE 32
/* Short lines that are transposed together; they stay in L1. */
#define LT_SHORT_SLICES (2 * LT_SHORT_SLICE)

#endif
