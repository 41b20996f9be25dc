/* index.h - what scatter (gather.c) is made of. */
#ifndef LT_CPU_INDEX_H
#define LT_CPU_INDEX_H

#include "devices/backend.h"
#include "iter.h"

/* index_put (backend.h) with any way to combine the value with what is there. */
lt_status lt_cpu_index_combine(const lt_iter *it, const lt_index_args *args, lt_scatter_mode mode);

#endif
