/* trace.h - a part of a program in which elementwise ops are recorded, not executed
 * (torch.compile).
 *
 * - A recorded op returns a tensor without memory (deferred.h) and retains its inputs: a deferred
 *   value.
 * - A deferred value is evaluated, with the values that it is made of, before an op reads its
 *   memory, before memory that it reads is written, and when the trace is closed. So the program
 *   runs as it stands: its decisions, output and side effects happen in each call.
 * - Values evaluated together need few passes over memory (evaluate.h). A value that is no longer
 *   referenced is not evaluated.
 * - A trace belongs to a thread and to the context in which it was opened.
 * - References are exact only once the garbage collector of an interpreter has run. A trace requests
 *   that before it evaluates all referenced values (lt_host_binding_class.tidy).
 * - Ops of more than one kernel suspend the trace while their own code runs, which reads memory
 *   directly (scripts/gen/autograd.lua). */
#ifndef LT_TRACE_H
#define LT_TRACE_H

#include "context/context.h"
#include "deferred.h"
#include "fusion.h"
#include "tensor.h"

struct lt_trace; /* without a typedef: lt_trace() is an op */

/* The number of open traces of all threads. */
extern _Atomic int32_t lt_open_traces;

static inline bool lt_any_trace(void)
{
    return __builtin_expect(atomic_load_explicit(&lt_open_traces, memory_order_relaxed) != 0, 0);
}

/* Opens a trace that records ops with at least min_numel elements. Within an open trace: that one
 * continues. */
lt_status lt_trace_open(int64_t min_numel);
/* The same within an op: no interpreter references the values before it is closed. */
lt_status lt_trace_open_within(int64_t min_numel);
/* Evaluates all referenced values if the next close is the outermost one. The caller calls it while
 * no other code holds temporaries. */
lt_status lt_trace_finish(void);
/* Evaluates all referenced values and closes the trace, also after an error. LT_ERR_MEMORY,
 * LT_ERR_INTERRUPTED: values were not evaluated; reading one is an error. */
lt_status lt_trace_close(void);

/* Evaluates all referenced deferred values of this thread: before their tensors are passed to code
 * that does not materialize them, and before the current stream of a GPU changes or its queue is
 * waited for, marked or captured. */
lt_status lt_trace_flush(void);

/* Called before memory of t is written: deferred values that read it are evaluated first. */
static inline lt_status lt_before_write(const lt_tensor *t)
{
    return __builtin_expect(atomic_load_explicit(&t->storage->readers, memory_order_relaxed) != 0,
                            0)
               ? lt_trace_flush()
               : LT_OK;
}

/* The least number of elements that the trace records; 0: there is none, or it is suspended. */
int64_t lt_trace_min_numel(void);

/* ---- recording ------------------------------------------------------------------------------- */

/* An elementwise op, resolved by lt_pointwise_run. */
typedef struct lt_traced_op {
    int op;
    lt_dtype compute, dtype; /* of the computation and of the result */
    lt_tensor *const *inputs;
    int n;
    const lt_scalar *params;
    int n_params, ndim;
    const int64_t *sizes;
    const lt_fused_gather *gather; /* of the input of a copy, on the host; NULL: none */
} lt_traced_op;

/* Records the op. *out stays NULL if it has to be executed now: there is no trace, it is suspended,
 * or it does not record such ops. */
lt_status lt_trace_record(const lt_traced_op *op, lt_tensor **out);

/* ---- consumers: ops that take elements as they are computed ----------------------------------- */

/* Called instead of lt_materialize by an op that may take the elements of t as they are computed:
 * deferred values stay deferred. */
lt_status lt_trace_keep_deferred(const char *op, const lt_tensor *t);

/* Runs the op's kernel. producer: computes the elements of its input; NULL: they are in memory. */
typedef lt_status (*lt_fused_consumer)(const void *context, const lt_fused_producer *producer);

/* Whether t is deferred and its elements can be computed for a consumer, in the order of its
 * strides, which leave no gaps. */
bool lt_trace_fuses(const lt_tensor *t);
/* The same for an op whose host kernels take contiguous rows of `length` elements. */
bool lt_trace_fuses_lines(const lt_tensor *t, int64_t length);
/* The same for softmax, its derivative and norms of rows, on GPUs too. */
bool lt_trace_fuses_rows(const lt_tensor *t, int64_t length);
/* Evaluates t, of which the above is true, for the consumer `take` of op. keep: t is read again
 * later, so it is written to memory of its own as well. */
lt_status lt_trace_consume(const char *op, const lt_tensor *t, bool keep, lt_fused_consumer take,
                           const void *context);

/* ---- suspending ------------------------------------------------------------------------------ */

/* From here to the end of the block ops are executed at once. */
static inline struct lt_trace *lt_trace_suspend(void)
{
    if (!lt_any_trace()) return NULL;
    struct lt_trace *outer = lt_tls.trace;
    lt_tls.trace = NULL;
    return outer;
}
static inline void lt_trace_resume(struct lt_trace *const *outer)
{
    if (__builtin_expect(*outer != NULL, 0)) lt_tls.trace = *outer;
}
#define LT_EAGERLY()                                                                               \
    __attribute__((cleanup(lt_trace_resume))) struct lt_trace *const outer_trace =                 \
        lt_trace_suspend();                                                                        \
    (void)outer_trace

/* ---- report ---------------------------------------------------------------------------------- */

/* One evaluation. */
typedef struct lt_trace_location {
    const char *reason; /* the op that read a value, "write", "limit" or "end" */
    int ops, steps;     /* recorded ops; steps after equal ones were merged */
    int passes;         /* over memory */
    int written;        /* values */
    int64_t elements;   /* of the largest value */
    char where[64];     /* the line of the script, or "" */
} lt_trace_location;

/* The evaluations of the trace that this thread closed last, in order; the first LT_TRACE_LOCATIONS of
 * them. *all: their number. */
enum { LT_TRACE_LOCATIONS = 64 };
const lt_trace_location *lt_trace_locations(int *n, int64_t *all);
/* The reason why that trace recorded no ops on a device; NULL: there is none. */
const char *lt_trace_why_not(void);

#endif
