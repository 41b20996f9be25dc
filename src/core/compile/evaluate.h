/* evaluate.h - computes pending values in as few passes over memory as can be.
 *
 * Values of one geometry become one chain (devices/chain.h), in which what nobody holds needs no memory, equal ops are done once, and what is
 * read several times is gathered once. Each op is computed by the kernel and in the dtype that it would have had: the results are the same
 * to the bit. */
#ifndef LT_EVALUATE_H
#define LT_EVALUATE_H

#include "pending.h"

/* What was done: ops that had been recorded; steps that were left when equal ones were merged; passes over memory; values written; elements
 * of the largest. */
typedef struct lt_evaluated {
    int ops, steps, passes, written;
    int64_t elements;
} lt_evaluated;

/* Computes those of the window's values that are `wanted`, and what they are made of. Until all went well nothing changes. */
lt_status lt_evaluate(struct lt_window *w, lt_evaluated *done);

#endif
