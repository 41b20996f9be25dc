/* evaluate.h - computes pending values in as few passes over memory as can be.
 *
 * Values of one geometry become one chain (devices/chain.h), in which what nobody holds needs no memory, equal ops are done once, and what is
 * read several times is gathered once. Each op is computed by the kernel and in the dtype that it would have had: the results are the same
 * to the bit. */
#ifndef LT_EVALUATE_H
#define LT_EVALUATE_H

#include "pending.h"

/* What was done: ops that had been recorded; steps that were left when equal ones were merged; passes over memory, as many as ops where a
 * device did them one by one; values written; elements of the largest. */
typedef struct lt_evaluated {
    int ops, steps, passes, written;
    int64_t elements;
} lt_evaluated;

/* A reduction of a value that needs no memory for it (backend.h's reduce_chain). */
typedef struct lt_reduced {
    const lt_pending *value;
    int op;
    const struct lt_iter *it;
    int reduced_dims;
    double parameter;
} lt_reduced;

/* Whether t is the whole of what p is to be, element by element. */
bool lt_is_whole(const lt_tensor *t, const lt_pending *p);

/* Computes those of the window's values that are `wanted`, and what they are made of. Until all went well nothing changes. reduced: NULL,
 * or what is done with the one value that is wanted instead of keeping it. */
lt_status lt_evaluate(struct lt_window *w, const lt_reduced *reduced, lt_evaluated *done);

#endif
