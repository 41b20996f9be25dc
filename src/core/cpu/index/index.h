/* index.h - the kernel of scatter (gather.c). */
#ifndef LT_CPU_INDEX_H
#define LT_CPU_INDEX_H

#include "devices/backend.h"
#include "iter.h"

/* index_put (backend.h) with a mode for combining the value with the element. */
lt_status lt_cpu_index_combine(const lt_iter *it, const lt_index_args *args, lt_scatter_mode mode);

#endif
