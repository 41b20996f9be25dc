/* evaluate.h - evaluates deferred values in few passes over memory (operator fusion).
 *
 * Values of the same geometry form a fusion group (fusion.h). In a group, values without other
 * references need no memory, equal ops are executed once (common subexpression elimination), and an
 * input that several ops read is gathered once. Each op uses the formula and dtype of the eager op,
 * so results have the same bits. */
#ifndef LT_EVALUATE_H
#define LT_EVALUATE_H

#include "deferred_value.h"

/* Counts: recorded ops; steps after CSE; passes over memory (one per op if the device ran them one
 * by one); values written; elements of the largest value. */
typedef struct lt_evaluated {
    int ops, steps, passes, written;
    int64_t elements;
} lt_evaluated;

/* A value with elements that are passed to `take` block by block as they are computed. keep: it is
 * also written to memory. */
typedef struct lt_consumed_value {
    const lt_deferred *value;
    bool keep;
    lt_status (*take)(const void *context,
                      const lt_fused_producer *producer); /* trace.h's lt_fused_consumer */
    const void *context;
} lt_consumed_value;

/* Whether t has all elements of p, in its geometry. */
bool lt_is_whole(const lt_tensor *t, const lt_deferred *p);

/* Evaluates the `wanted` values of the trace and all values that they depend on. On failure the
 * values stay deferred. consumed: the consumer of the only wanted value, or NULL. */
lt_status lt_evaluate(struct lt_trace *w, const lt_consumed_value *consumed, lt_evaluated *done);

#endif
