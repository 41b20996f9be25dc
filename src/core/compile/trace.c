/* trace.c - see trace.h: opening and closing, recording ops, and the triggers of evaluation. */
#include "trace.h"

#include "deferred_value.h"
#include "devices/backend.h"
#include "error.h"
#include "evaluate.h"
#include "iter.h"
#include "kernel_trace.h"
#include "memory/alloc.h"
#include "pointwise_ops.h"

_Atomic int32_t lt_open_traces;

/* The report of this thread's last trace. It outlives the trace, for the interpreter to read. */
static _Thread_local struct {
    lt_trace_location notes[LT_TRACE_LOCATIONS];
    int64_t all;
    const char *why_not;
} report;

/* ---- evaluating ------------------------------------------------------------------------------ */

static lt_status evaluate(struct lt_trace *w, const lt_consumed_value *consumed, const char *reason)
{
    lt_trace_location note = {.reason = reason};
    lt_evaluated done = {0};
    const lt_context_outer outer = lt_context_visit(w->context);
    lt_status status = lt_evaluate(w, consumed, &done);
    lt_context_return(outer);
    if (status == LT_OK && done.ops > 0 && !w->within) {
        note.ops = done.ops, note.steps = done.steps, note.passes = done.passes,
        note.written = done.written;
        note.elements = done.elements;
        if (lt_tls.binding.class != NULL && lt_tls.binding.class->origin != NULL)
            lt_tls.binding.class->origin(lt_tls.binding.ctx, note.where, sizeof note.where);
        if (report.all < LT_TRACE_LOCATIONS) report.notes[report.all] = note;
        report.all++;
    }
    return status;
}

/* Evaluates all values that other code references. */
static lt_status evaluate_held(struct lt_trace *w, const char *reason)
{
    if (w->first == NULL) return LT_OK;
    if (!w->within && lt_tls.binding.class != NULL && lt_tls.binding.class->tidy != NULL)
        lt_tls.binding.class->tidy(lt_tls.binding.ctx);
    for (lt_deferred *p = w->first; p != NULL; p = p->after) p->wanted = lt_is_held(p->storage);
    return evaluate(w, NULL, reason);
}

/* Called before op reads t: evaluates it. */
static lt_status materialize(const char *op, const lt_tensor *t)
{
    lt_deferred *p = lt_deferred_of(t->storage);
    if (p->trace == NULL)
        return lt_error(LT_ERR_RUNTIME,
                        "%s(): a Tensor of a compiled function that was stopped before its "
                        "elements were computed",
                        op);
    p->wanted = true;
    return evaluate(p->trace, NULL, op);
}

lt_status lt_trace_keep_deferred(const char *op, const lt_tensor *t)
{
    return lt_deferred_of(t->storage) != NULL ? LT_OK : lt_materialize(op, t);
}

bool lt_trace_fuses(const lt_tensor *t)
{
    const lt_deferred *p = lt_deferred_of(t->storage);
    return p != NULL && p->trace != NULL && !p->passed && lt_is_whole(t, p);
}

/* Whether t is deferred and its elements can be computed in row-major order. */
static bool produces_rows(const lt_tensor *t)
{
    return t->storage->deferred && lt_is_contiguous(t) && lt_trace_fuses(t);
}

bool lt_trace_fuses_lines(const lt_tensor *t, int64_t length)
{
    return t->device.type == LT_CPU && length <= LT_FUSED_MAX_ROW && produces_rows(t);
}

bool lt_trace_fuses_rows(const lt_tensor *t, int64_t length)
{
    const lt_backend *backend = lt_backends[t->device.type];
    if (t->device.type == LT_CPU) return lt_trace_fuses_lines(t, length);
    return produces_rows(t) && backend->takes_rows != NULL &&
           backend->takes_rows((lt_dtype)t->dtype, t->numel, length);
}

lt_status lt_trace_consume(const char *op, const lt_tensor *t, bool keep, lt_fused_consumer take,
                           const void *context)
{
    lt_deferred *p = lt_deferred_of(t->storage);
    const lt_consumed_value consumed = {p, keep, take, context};
    p->wanted = true;
    return evaluate(p->trace, &consumed, op);
}

lt_status lt_trace_flush(void)
{
    /* open_trace, not trace: an op that has suspended the trace may write its operands, too */
    struct lt_trace *w = lt_tls.open_trace;
    return w != NULL ? evaluate_held(w, "write") : LT_OK;
}

int64_t lt_trace_min_numel(void) { return lt_tls.trace != NULL ? lt_tls.trace->least : 0; }

/* ---- open and close -------------------------------------------------------------------------- */

static lt_status open_trace(int64_t least, bool within)
{
    struct lt_trace *w = lt_tls.open_trace;
    if (w != NULL) {
        w->depth++;
        return LT_OK;
    }
    w = lt_mem_zalloc(sizeof *w);
    if (w == NULL) return LT_ERR_MEMORY;
    w->context = lt_tls.context;
    lt_context_hold(w->context);
    w->least = least;
    w->depth = 1;
    w->within = within;
    if (!within) {
        report.all = 0;
        report.why_not = NULL;
    }
    lt_tls.trace = lt_tls.open_trace = w;
    atomic_fetch_add_explicit(&lt_open_traces, 1, memory_order_relaxed);
    return LT_OK;
}

lt_status lt_trace_open(int64_t least) { return open_trace(least, false); }

lt_status lt_trace_open_within(int64_t least) { return open_trace(least, true); }

lt_status lt_trace_open_kernel(int64_t least)
{
    LT_TRY(open_trace(least, true));
    struct lt_trace *w = lt_tls.open_trace;
    if (w->depth == 1) w->generates = true;
    return LT_OK;
}

lt_status lt_trace_finish(void)
{
    struct lt_trace *w = lt_tls.open_trace;
    return w != NULL && w->depth == 1 ? evaluate_held(w, "end") : LT_OK;
}

lt_status lt_trace_close(void)
{
    struct lt_trace *w = lt_tls.open_trace;
    if (--w->depth > 0) return LT_OK;
    lt_tls.trace = NULL;
    lt_status status = evaluate_held(w, "end");
    while (w->first != NULL) lt_deferred_give_up(w->first);
    lt_tls.open_trace = NULL;
    atomic_fetch_sub_explicit(&lt_open_traces, 1, memory_order_relaxed);
    lt_context_drop(w->context);
    lt_mem_free(w);
    return status;
}

const lt_trace_location *lt_trace_locations(int *n, int64_t *all)
{
    *all = report.all;
    *n = report.all < LT_TRACE_LOCATIONS ? (int)report.all : LT_TRACE_LOCATIONS;
    return report.notes;
}

const char *lt_trace_why_not(void) { return report.why_not; }

/* ---- recording ------------------------------------------------------------------------------- */

/* Whether the memory stays valid as long as it is referenced. A host may free memory that it lent
 * at any time. */
static bool stays(const lt_storage *s)
{
    return s->context != NULL || s->release != NULL || s->home > sizeof *s + sizeof(lt_tensor);
}

/* Whether t is broadcast in a result of numel elements, except from a single element. */
static bool repeats_some(const lt_tensor *t, int64_t numel)
{
    if (t->numel == 1) return false;
    bool repeats = t->numel != numel;
    for (int d = 0; d < t->ndim; d++) repeats = repeats || (t->strides[d] == 0 && t->sizes[d] > 1);
    return repeats;
}

/* The device of the op: that of its inputs, except for scalars on the host. */
static lt_device device_of(const lt_traced_op *op)
{
    for (int i = 0; i < op->n; i++)
        if (op->inputs[i]->device.type != LT_CPU) return op->inputs[i]->device;
    return lt_host;
}

/* GPU kernels are generated only for traces of torch.compile and of formulas from text, not for a
 * trace opened by another op. */
static bool can_fuse(const struct lt_trace *w, lt_device device)
{
    const lt_backend *backend = lt_backends[device.type];
    if (device.type == LT_CPU) return true;
    if ((w->within && !w->generates) || backend->fusion_unavailable == NULL) return false;
    const char *why_not = backend->fusion_unavailable();
    if (why_not != NULL) report.why_not = why_not;
    return why_not == NULL;
}

static bool records(const struct lt_trace *w, const lt_traced_op *op, int64_t numel,
                    lt_device device)
{
    const lt_backend *backend = lt_backends[device.type];
    if (w->context != lt_tls.context || numel < w->least || op->n > LT_FUSED_INPUTS ||
        op->n_params > LT_FUSED_PARAMS || !can_fuse(w, device))
        return false;
    for (int i = 0; i < op->n; i++)
        if (lt_is_batched(op->inputs[i]) || !stays(op->inputs[i]->storage)) return false;
    /* The eager loop has fast paths for runs of equal exponents; in a group the runs would differ,
     * and so the bits. */
    if (op->op == LT_PW_POW && (numel == 1 || repeats_some(op->inputs[1], numel))) return false;
    if (op->op == LT_FUSED_COPY)
        return !(op->inputs[0]->flags & LT_FLAG_POSITIONS) &&
               backend->fuses(LT_FUSED_COPY, (lt_dtype)op->inputs[0]->dtype) &&
               backend->fuses(LT_FUSED_COPY, op->dtype);
    return backend->fuses(op->op, op->compute);
}

lt_status lt_trace_record(const lt_traced_op *op, lt_tensor **out)
{
    struct lt_trace *w = lt_tls.trace;
    lt_tensor *result = NULL;
    int64_t numel, strides[LT_MAX_DIMS];
    bool contiguous = true;
    if (w == NULL) return LT_OK;
    LT_TRY(lt_check_sizes(op->ndim, op->sizes, &numel));
    const lt_device device = device_of(op);
    if (numel == 0 || !records(w, op, numel, device)) return LT_OK;
    for (int i = 0; i < op->n; i++) {
        if (op->inputs[i]->storage->deferred && lt_deferred_of(op->inputs[i]->storage) == NULL)
            return LT_OK; /* the op reports the error */
        contiguous = contiguous && lt_is_contiguous(op->inputs[i]);
    }
    if (w->n >= LT_TRACE_MAX) LT_TRY(evaluate_held(w, "limit"));
    if (!contiguous) LT_TRY(lt_result_strides(op->inputs, op->n, op->ndim, op->sizes, strides));
    LT_TRY(lt_tensor_deferred(op->dtype, device, op->ndim, op->sizes, contiguous ? NULL : strides,
                              &result));
    if (contiguous && op->op == LT_FUSED_COPY)
        lt_set_strides(result, op->inputs[0]->strides); /* as lt_tensor_like does */
    lt_deferred facts = {.deferral.materialize = materialize,
                         .op = op->op,
                         .compute = op->compute,
                         .dtype = op->dtype,
                         .n = op->n,
                         .n_params = op->n_params};
    if (op->gather != NULL) facts.gather = *op->gather;
    for (int i = 0; i < op->n_params; i++) facts.params[i] = op->params[i];
    lt_status status = lt_deferred_new(w, result, &facts, op->inputs);
    if (status != LT_OK) {
        lt_tensor_release(result);
        return status;
    }
    *out = result;
    return LT_OK;
}
