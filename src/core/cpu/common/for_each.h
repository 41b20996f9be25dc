/* for_each.h - runs a loop over an iterator: partitions it over threads, and walks the outer
 * dimensions. */
#ifndef LT_CPU_FOR_EACH_H
#define LT_CPU_FOR_EACH_H

#include "iter.h"
#include "loops.h"

/* Calls loop for runs along one dimension that together cover the iterator, with several threads if
 * there is enough work. Returns LT_ERR_INTERRUPTED if an interrupt stopped it. */
lt_status lt_cpu_for_each(const lt_iter *it, lt_loop loop, const void *context);

/* Whether for_each exchanges dimensions 0 and 1, since runs along 0 are too short. */
bool lt_cpu_exchanges(const lt_iter *it);

/* Runs loop over elements [from, to), counted along the first ndim dimensions, dimension 0 fastest,
 * of operands at ptrs, on the calling thread. A long walk stops at an interrupt, for which the
 * caller checks. */
void lt_cpu_walk(const lt_iter *it, int ndim, char *const *ptrs, int64_t from, int64_t to,
                 lt_loop loop, const void *context);

#endif
