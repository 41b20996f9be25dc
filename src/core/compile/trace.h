/* trace.h - traces: sections of a program in which elementwise ops are recorded instead of executed
 * (lazy evaluation for torch.compile).
 *
 * - A recorded op returns a tensor without memory (deferred.h) and retains its inputs: a deferred
 *   value.
 * - A deferred value is evaluated, with the values that it depends on, before an op reads its
 *   memory, before memory that it reads is written, and when the trace is closed. So control flow,
 *   output and side effects of the program happen in each call, without guards.
 * - Values evaluated together need few passes over memory (evaluate.h). A value that is no longer
 *   referenced is not evaluated.
 * - A trace belongs to a thread and to the context in which it was opened.
 * - With an interpreter, references are exact only after a garbage collection. The trace requests
 *   one before it evaluates all referenced values (lt_host_binding_class.tidy).
 * - Composite ops suspend the trace while their own code runs, which reads memory directly
 *   (scripts/gen/autograd.lua). */
#ifndef LT_TRACE_H
#define LT_TRACE_H

#include "context/context.h"
#include "deferred.h"
#include "fusion.h"
#include "tensor.h"

struct lt_trace; /* no typedef: the name is taken by the op lt_trace() */

/* The number of open traces of all threads. */
extern _Atomic int32_t lt_open_traces;

static inline bool lt_any_trace(void)
{
    return __builtin_expect(atomic_load_explicit(&lt_open_traces, memory_order_relaxed) != 0, 0);
}

/* Opens a trace that records ops with at least min_numel elements. If one is open, that one
 * continues. */
lt_status lt_trace_open(int64_t min_numel);
/* As lt_trace_open, for a trace within an op: the interpreter references none of its values. */
lt_status lt_trace_open_within(int64_t min_numel);
/* Evaluates all referenced values if only one level is open. Call it before lt_trace_close, while
 * no code holds temporaries. */
lt_status lt_trace_finish(void);
/* Closes one level. The outermost one evaluates all referenced values and ends the trace, also
 * after an error. LT_ERR_MEMORY, LT_ERR_INTERRUPTED: some values were not evaluated; reading one is
 * an error. */
lt_status lt_trace_close(void);

/* Evaluates all referenced deferred values of this thread. Call it before their tensors are passed
 * to code that does not materialize them, and before a GPU stream is switched, synchronized,
 * recorded by an event or captured. */
lt_status lt_trace_flush(void);

/* Call before memory of t is written: evaluates deferred values that read it. */
static inline lt_status lt_before_write(const lt_tensor *t)
{
    return __builtin_expect(atomic_load_explicit(&t->storage->readers, memory_order_relaxed) != 0,
                            0)
               ? lt_trace_flush()
               : LT_OK;
}

/* The minimum number of elements of recorded ops; 0: no trace is open, or it is suspended. */
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
    const lt_fused_gather *gather; /* of the input of a host copy; NULL: none */
} lt_traced_op;

/* Records the op and returns its deferred result. *out stays NULL if the op has to be executed now:
 * no trace is open, it is suspended, or it does not record this op. */
lt_status lt_trace_record(const lt_traced_op *op, lt_tensor **out);

/* ---- consumers: ops that read elements as they are computed ---------------------------------- */

/* As lt_materialize, except that deferred values stay deferred: for ops that may consume the
 * elements of t as they are computed. */
lt_status lt_trace_keep_deferred(const char *op, const lt_tensor *t);

/* Runs the op's kernel. producer: computes its input; NULL: the input is in memory. */
typedef lt_status (*lt_fused_consumer)(const void *context, const lt_fused_producer *producer);

/* Whether t is deferred, dense, and its elements can be computed for a consumer in memory order. */
bool lt_trace_fuses(const lt_tensor *t);
/* As lt_trace_fuses, for host kernels that read contiguous rows of `length` elements. */
bool lt_trace_fuses_lines(const lt_tensor *t, int64_t length);
/* As lt_trace_fuses_lines, on GPUs too: for softmax, its derivative and row norms. */
bool lt_trace_fuses_rows(const lt_tensor *t, int64_t length);
/* Evaluates t, for which one of the above is true, for the consumer `take` of op. keep: also writes
 * t to memory, for later reads. */
lt_status lt_trace_consume(const char *op, const lt_tensor *t, bool keep, lt_fused_consumer take,
                           const void *context);

/* ---- suspending ------------------------------------------------------------------------------ */

/* LT_EAGERLY(): until the end of the block, ops are executed, not recorded. */
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
    int ops, steps;     /* steps: ops after CSE */
    int passes;         /* over memory */
    int written;        /* values */
    int64_t elements;   /* of the largest value */
    char where[64];     /* source line of the script, or "" */
} lt_trace_location;

/* The first LT_TRACE_LOCATIONS evaluations of the trace that this thread closed last, in order. *all:
 * the number of all its evaluations. */
enum { LT_TRACE_LOCATIONS = 64 };
const lt_trace_location *lt_trace_locations(int *n, int64_t *all);
/* The reason why that trace recorded no ops on a GPU; NULL: none. */
const char *lt_trace_why_not(void);

#endif
