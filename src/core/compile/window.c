/* window.c - see window.h. */
#include "window.h"

#include "devices/backend.h"
#include "error.h"
#include "evaluate.h"
#include "iter.h"
#include "memory/alloc.h"
#include "pending.h"
#include "pointwise_ops.h"

_Atomic int32_t lt_open_windows;

/* What the thread's last window has to tell; an interpreter reads it once that is closed. */
static _Thread_local struct {
    lt_window_note notes[LT_WINDOW_NOTES];
    int64_t all;
    const char *why_not;
} told;

/* ---- computing ------------------------------------------------------------------------------- */

static lt_status compute(lt_window *w, const lt_fed_value *fed, const char *reason)
{
    lt_window_note note = {.reason = reason};
    lt_evaluated done = {0};
    const lt_context_outer outer = lt_context_visit(w->context);
    lt_status status = lt_evaluate(w, fed, &done);
    lt_context_return(outer);
    if (status == LT_OK && done.ops > 0 && !w->within) {
        note.ops = done.ops, note.steps = done.steps, note.passes = done.passes,
        note.written = done.written;
        note.elements = done.elements;
        if (lt_here.guest.class != NULL && lt_here.guest.class->origin != NULL)
            lt_here.guest.class->origin(lt_here.guest.ctx, note.where, sizeof note.where);
        if (told.all < LT_WINDOW_NOTES) told.notes[told.all] = note;
        told.all++;
    }
    return status;
}

/* Everything that somebody holds. */
static lt_status compute_held(lt_window *w, const char *reason)
{
    if (w->first == NULL) return LT_OK;
    if (!w->within && lt_here.guest.class != NULL && lt_here.guest.class->tidy != NULL)
        lt_here.guest.class->tidy(lt_here.guest.ctx);
    for (lt_pending *p = w->first; p != NULL; p = p->after) p->wanted = lt_is_held(p->storage);
    return compute(w, NULL, reason);
}

/* Somebody is about to look at t. */
static lt_status meet(const char *op, const lt_tensor *t)
{
    lt_pending *p = lt_pending_of(t->storage);
    if (p->window == NULL)
        return lt_error(LT_ERR_RUNTIME,
                        "%s(): a Tensor of a compiled function that was stopped before its "
                        "elements were computed",
                        op);
    p->wanted = true;
    return compute(p->window, NULL, op);
}

lt_status lt_window_spare(const char *op, const lt_tensor *t)
{
    return lt_pending_of(t->storage) != NULL ? LT_OK : lt_refuse_hollow(op, t);
}

bool lt_window_feeds(const lt_tensor *t)
{
    const lt_pending *p = lt_pending_of(t->storage);
    return p != NULL && p->window != NULL && !p->passed && lt_is_whole(t, p);
}

/* One row after the other, of a tensor without memory. */
static bool feeds_in_order(const lt_tensor *t)
{
    return t->storage->hollow && lt_is_contiguous(t) && lt_window_feeds(t);
}

bool lt_window_feeds_lines(const lt_tensor *t, int64_t length)
{
    return t->device.type == LT_CPU && length <= LT_FED_LINE && feeds_in_order(t);
}

bool lt_window_feeds_rows(const lt_tensor *t, int64_t length)
{
    const lt_backend *backend = lt_backends[t->device.type];
    if (t->device.type == LT_CPU) return lt_window_feeds_lines(t, length);
    return feeds_in_order(t) && backend->takes_rows != NULL &&
           backend->takes_rows((lt_dtype)t->dtype, t->numel, length);
}

lt_status lt_window_feed(const char *op, const lt_tensor *t, bool keep, lt_feed_to take,
                         const void *context)
{
    lt_pending *p = lt_pending_of(t->storage);
    const lt_fed_value fed = {p, keep, take, context};
    p->wanted = true;
    return compute(p->window, &fed, op);
}

lt_status lt_window_write(const lt_tensor *t)
{
    (void)t; /* what reads it may be read by others, and all of these are about to be looked at */
    return lt_window_settle();
}

lt_status lt_window_settle(void)
{
    /* An op that has suspended the window may write what it was given. */
    lt_window *w = lt_here.open_window;
    return w != NULL ? compute_held(w, "write") : LT_OK;
}

int64_t lt_window_least(void) { return lt_here.window != NULL ? lt_here.window->least : 0; }

/* ---- open and close -------------------------------------------------------------------------- */

static lt_status open_window(int64_t least, bool within)
{
    lt_window *w = lt_here.open_window;
    if (w != NULL) {
        w->depth++;
        return LT_OK;
    }
    w = lt_mem_zalloc(sizeof *w);
    if (w == NULL) return LT_ERR_MEMORY;
    w->context = lt_here.context;
    lt_context_hold(w->context);
    w->least = least;
    w->depth = 1;
    w->within = within;
    if (!within) {
        told.all = 0;
        told.why_not = NULL;
    }
    lt_here.window = lt_here.open_window = w;
    atomic_fetch_add_explicit(&lt_open_windows, 1, memory_order_relaxed);
    return LT_OK;
}

lt_status lt_window_open(int64_t least) { return open_window(least, false); }

lt_status lt_window_open_within(int64_t least) { return open_window(least, true); }

lt_status lt_window_finish(void)
{
    lt_window *w = lt_here.open_window;
    return w != NULL && w->depth == 1 ? compute_held(w, "end") : LT_OK;
}

lt_status lt_window_close(void)
{
    lt_window *w = lt_here.open_window;
    if (--w->depth > 0) return LT_OK;
    lt_here.window = NULL;
    lt_status status = compute_held(w, "end");
    while (w->first != NULL) lt_pending_give_up(w->first);
    lt_here.open_window = NULL;
    atomic_fetch_sub_explicit(&lt_open_windows, 1, memory_order_relaxed);
    lt_context_drop(w->context);
    lt_mem_free(w);
    return status;
}

const lt_window_note *lt_window_notes(int *n, int64_t *all)
{
    *all = told.all;
    *n = told.all < LT_WINDOW_NOTES ? (int)told.all : LT_WINDOW_NOTES;
    return told.notes;
}

const char *lt_window_why_not(void) { return told.why_not; }

/* ---- recording ------------------------------------------------------------------------------- */

/* Whether the memory is there for as long as somebody holds it. A host may take away what it lent
 * without a word. */
static bool stays(const lt_storage *s)
{
    return s->context != NULL || s->release != NULL || s->home > sizeof *s + sizeof(lt_tensor);
}

/* Whether one element of t stands for some of a result of numel elements, but not for all. */
static bool repeats_some(const lt_tensor *t, int64_t numel)
{
    if (t->numel == 1) return false;
    bool repeats = t->numel != numel;
    for (int d = 0; d < t->ndim; d++) repeats = repeats || (t->strides[d] == 0 && t->sizes[d] > 1);
    return repeats;
}

/* Where the op is done: its inputs are there, or numbers on the host. */
static lt_device device_of(const lt_recorded *op)
{
    for (int i = 0; i < op->n; i++)
        if (op->inputs[i]->device.type != LT_CPU) return op->inputs[i]->device;
    return lt_host;
}

/* Kernels that have to be generated first are for who asked for them, with a window that is not an
 * op's. */
static bool chains_there(const lt_window *w, lt_device device)
{
    const lt_backend *backend = lt_backends[device.type];
    if (device.type == LT_CPU) return true;
    if (w->within || backend->chains_nothing == NULL) return false;
    const char *why_not = backend->chains_nothing();
    if (why_not != NULL) told.why_not = why_not;
    return why_not == NULL;
}

static bool takes(const lt_window *w, const lt_recorded *op, int64_t numel, lt_device device)
{
    const lt_backend *backend = lt_backends[device.type];
    if (w->context != lt_here.context || numel < w->least || op->n > LT_CHAIN_INPUTS ||
        op->n_params > LT_CHAIN_PARAMS || !chains_there(w, device))
        return false;
    for (int i = 0; i < op->n; i++)
        if (lt_is_batched(op->inputs[i]) || !stays(op->inputs[i]->storage)) return false;
    /* The loop has shorter ways for a run of one exponent, and in another order the runs would be
     * others; a single exponent is a run. */
    if (op->op == LT_PW_POW && (numel == 1 || repeats_some(op->inputs[1], numel))) return false;
    if (op->op == LT_CHAIN_COPY)
        return !(op->inputs[0]->flags & LT_FLAG_POSITIONS) &&
               backend->chains(LT_CHAIN_COPY, (lt_dtype)op->inputs[0]->dtype) &&
               backend->chains(LT_CHAIN_COPY, op->dtype);
    return backend->chains(op->op, op->compute);
}

lt_status lt_window_record(const lt_recorded *op, lt_tensor **out)
{
    lt_window *w = lt_here.window;
    lt_tensor *result = NULL;
    int64_t numel, strides[LT_MAX_DIMS];
    bool contiguous = true;
    if (w == NULL) return LT_OK;
    LT_TRY(lt_check_sizes(op->ndim, op->sizes, &numel));
    const lt_device device = device_of(op);
    if (numel == 0 || !takes(w, op, numel, device)) return LT_OK;
    for (int i = 0; i < op->n; i++) {
        if (op->inputs[i]->storage->hollow && lt_pending_of(op->inputs[i]->storage) == NULL)
            return LT_OK; /* refused by the op */
        contiguous = contiguous && lt_is_contiguous(op->inputs[i]);
    }
    if (w->n >= LT_WINDOW_MOST) LT_TRY(compute_held(w, "limit"));
    if (!contiguous) LT_TRY(lt_result_strides(op->inputs, op->n, op->ndim, op->sizes, strides));
    LT_TRY(lt_tensor_promised(op->dtype, device, op->ndim, op->sizes, contiguous ? NULL : strides,
                              &result));
    if (contiguous && op->op == LT_CHAIN_COPY)
        lt_set_strides(result, op->inputs[0]->strides); /* as lt_tensor_like does */
    lt_pending facts = {.absence.meet = meet,
                        .op = op->op,
                        .compute = op->compute,
                        .dtype = op->dtype,
                        .n = op->n,
                        .n_params = op->n_params};
    if (op->gather != NULL) facts.gather = *op->gather;
    for (int i = 0; i < op->n_params; i++) facts.params[i] = op->params[i];
    lt_status status = lt_pending_new(w, result, &facts, op->inputs);
    if (status != LT_OK) {
        lt_tensor_release(result);
        return status;
    }
    *out = result;
    return LT_OK;
}
