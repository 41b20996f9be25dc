/* evaluate.h - evaluates deferred values in few passes over memory.
 *
 * Values of one geometry become a fusion group (fusion.h). In a group, values without other
 * references need no memory, equal ops are executed once (CSE), and an input that several ops read
 * is gathered once. Each op is computed by the formula and in the dtype of the eager op, so results
 * have the same bits. */
#ifndef LT_EVALUATE_H
#define LT_EVALUATE_H

#include "deferred_value.h"

/* Counts: recorded ops; steps after equal ones were merged; passes over memory, one per op where a
 * device executed them one by one; values written; elements of the largest. */
typedef struct lt_evaluated {
    int ops, steps, passes, written;
    int64_t elements;
} lt_evaluated;

/* A value whose elements `take` consumes as they are computed; keep: it is written, too. */
typedef struct lt_consumed_value {
    const lt_deferred *value;
    bool keep;
    lt_status (*take)(const void *context,
                      const lt_fused_producer *producer); /* trace.h's lt_fused_consumer */
    const void *context;
} lt_consumed_value;

/* Whether t has all elements of p, in its geometry. */
bool lt_is_whole(const lt_tensor *t, const lt_deferred *p);

/* Evaluates the values of the trace that are `wanted`, and the values that they are made of. On
 * failure the values stay deferred. consumed: NULL, or the consumer of the one wanted value. */
lt_status lt_evaluate(struct lt_trace *w, const lt_consumed_value *consumed, lt_evaluated *done);

#endif
