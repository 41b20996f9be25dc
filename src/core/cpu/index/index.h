/* index.h - the kernel of scatter (gather.c) and its loops. */
#ifndef LT_CPU_INDEX_H
#define LT_CPU_INDEX_H

#include "devices/backend.h"
#include "iter.h"

/* Moves n elements of `bytes` bytes between base + offsets and a buffer of elements (or values),
 * stride bytes apart. */
typedef void (*lt_move_loop)(char *base, const int64_t *offsets, char *dense, int64_t stride,
                             int64_t n, int64_t bytes);

/* The loop that combines the elements at base + offsets with the values in the buffer. mode: not
 * LT_SCATTER_SET; NULL: there is none for the dtype. */
lt_move_loop lt_combine_loop(lt_scatter_mode mode, lt_dtype dtype);

/* index_put (backend.h) with a mode for combining the value with the element. */
lt_status lt_cpu_index_combine(const lt_iter *it, const lt_index_args *args, lt_scatter_mode mode);

#endif
