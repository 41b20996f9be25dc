/* for_each.h - runs a loop over an iterator: splits it over threads, walks the outer dimensions. */
#ifndef LT_CPU_FOR_EACH_H
#define LT_CPU_FOR_EACH_H

#include "iter.h"
#include "loops.h"

/* Calls loop for runs that together cover the iterator; a run lies along one dimension. Runs in
 * several threads when there is enough to do; LT_ERR_INTERRUPTED when stopped on the way. */
lt_status lt_cpu_for_each(const lt_iter *it, lt_loop loop, const void *context);

/* Whether for_each lets dimensions 0 and 1 change places, as runs along 0 are too short. */
bool lt_cpu_exchanges(const lt_iter *it);

/* Walks elements [from, to), counted along the first ndim dimensions, dimension 0 fastest, of
 * operands at ptrs. What for_each is made of; on the calling thread. A long walk ends at an
 * interrupt: the caller looks. */
void lt_cpu_walk(const lt_iter *it, int ndim, char *const *ptrs, int64_t from, int64_t to,
                 lt_loop loop, const void *context);

#endif
