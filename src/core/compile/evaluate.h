/* evaluate.h - computes pending values in as few passes over memory as can be.
 *
 * Values of one geometry become one chain (devices/chain.h), in which what nobody holds needs no
 * memory, equal ops are done once, and what is read several times is gathered once. Each op is
 * computed by the kernel and in the dtype that it would have had: the results are the same to the
 * bit. */
#ifndef LT_EVALUATE_H
#define LT_EVALUATE_H

#include "pending.h"

/* What was done: ops that had been recorded; steps that were left when equal ones were merged;
 * passes over memory, as many as ops where a device did them one by one; values written; elements
 * of the largest. */
typedef struct lt_evaluated {
    int ops, steps, passes, written;
    int64_t elements;
} lt_evaluated;

/* A value that is given to `take` as it is computed; keep: and is written. */
typedef struct lt_fed_value {
    const lt_pending *value;
    bool keep;
    lt_status (*take)(const void *context, const lt_fed *fed); /* window.h's lt_feed_to */
    const void *context;
} lt_fed_value;

/* Whether t is the whole of what p is to be, element by element. */
bool lt_is_whole(const lt_tensor *t, const lt_pending *p);

/* Computes those of the window's values that are `wanted`, and what they are made of. Until all
 * went well nothing changes. fed: NULL, or what becomes of the one value that is wanted. */
lt_status lt_evaluate(struct lt_window *w, const lt_fed_value *fed, lt_evaluated *done);

#endif
