/* index.h - what scatter (gather.c) is made of. */
#ifndef LT_CPU_INDEX_H
#define LT_CPU_INDEX_H

#include "devices/backend.h"
#include "iter.h"

/* index_put (backend.h) with any way to combine the value with what is there. */
lt_status lt_cpu_index_combine(const lt_iter *it, const lt_index_args *args, lt_scatter_mode mode);

/* Adds a number to the elements of int64 at all indices. done: false where that is not worth
 * tables, or an index is out of range; nothing was written then. */
lt_status lt_cpu_count(const lt_array *out, const lt_array *index, int64_t value, bool *done);

#endif
