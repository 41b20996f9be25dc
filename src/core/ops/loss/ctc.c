/* ctc.c - connectionist temporal classification: the forward algorithm (A. Graves et al. 2006) over
 * all sequences and all states of a time step at once. The states of a sequence are its labels with
 * blanks around them: 2 * labels + 1. Classes are from 0 here; messages count them from 1. */
#include <math.h>

#include "autograd/dual.h"
#include "devices/copies.h"
#include "loss.h"
#include "memory/alloc.h"
#include "ops/steps.h"
#include "user_index.h"
#include "op/constant_pad_nd.h"
#include "op/ctc_loss.h"
#include "op/index_add.h"
#include "op/to.h"
#include "step/clamp_min.h"
#include "step/logsumexp.h"
#include "step/masked_fill.h"

/* The logarithm of probability zero, with finite differences. */
#define NEVER (-1e30)

/* The arguments on the host. */
typedef struct ctc {
    int64_t steps, batch, classes, states; /* states: of the longest target */
    int64_t blank, longest, shortest;      /* longest, shortest: of the lengths */
    const int64_t *lengths, *counts;       /* [batch] */
    const lt_tensor *labels;               /* on the host, [batch, most] or all in a row */
} ctc;

/* An int64 tensor on the host with the elements of t, contiguous. */
static lt_tensor *do_on_host(lt_scope *s, lt_tensor *t)
{
    lt_tensor *there = NULL;
    if (s->status != LT_OK) return NULL;
    const lt_copy_cause previous = lt_copies_imply("ctc_loss");
    const lt_status status = lt_to(t, &lt_host, LT_INT64, false, false, &there);
    lt_copies_set_cause(previous);
    return do_contiguous(s, lt_scope_hold(s, status, there));
}

static const int64_t *elements(const lt_tensor *t)
{
    return (const int64_t *)(const void *)lt_data(t);
}

static lt_status check_lengths(ctc *c)
{
    int64_t most = 0, sum = 0;
    char text[128];
    c->longest = 0;
    c->shortest = c->steps;
    for (int64_t b = 0; b < c->batch; b++) {
        const int64_t length = c->lengths[b], count = c->counts[b];
        if (count < 0)
            return lt_error(LT_ERR_RUNTIME,
                            "Expected target_lengths to have value at least 0, but got value %lld",
                            (long long)count);
        if (length < 0 || length > c->steps)
            return lt_error(LT_ERR_RUNTIME,
                            "Expected input_lengths to have value at %s %lld, but got value %lld",
                            length < 0 ? "least" : "most", (long long)(length < 0 ? 0 : c->steps),
                            (long long)length);
        if (count > most) most = count;
        if (length > c->longest) c->longest = length;
        if (length < c->shortest) c->shortest = length;
        sum = sum > INT64_MAX - count ? INT64_MAX : sum + count;
    }
    const lt_tensor *labels = c->labels;
    if (labels->ndim == 2 && (labels->sizes[0] != c->batch || labels->sizes[1] < most))
        return lt_error(LT_ERR_RUNTIME,
                        "ctc_loss(): expected targets of %lld rows of at least %lld labels, "
                        "according to target_lengths, but got a tensor of size %s",
                        (long long)c->batch, (long long)most,
                        lt_format_sizes(text, sizeof text, labels->ndim, labels->sizes));
    if (labels->ndim == 1 && labels->sizes[0] != sum)
        return lt_error(LT_ERR_RUNTIME,
                        "ctc_loss(): expected %lld targets in a row, the sum of target_lengths, "
                        "but got %lld",
                        (long long)sum, (long long)labels->sizes[0]);
    c->states = 2 * most + 1;
    return LT_OK;
}

static lt_status check_batch(const lt_tensor *log_probs, const lt_tensor *lengths,
                             const lt_tensor *counts, const ctc *c)
{
    const bool labels = c->labels->ndim == 1 || c->labels->ndim == 2;
    if (!lt_dtype_is_float((lt_dtype)log_probs->dtype) || log_probs->ndim != 3 || !labels)
        return lt_error(LT_ERR_RUNTIME,
                        "ctc_loss(): expected floating log_probs of 2 or 3 dimensions and targets "
                        "of 1 or 2, but got torch.%s of %d and targets of %d",
                        lt_dtype_name((lt_dtype)log_probs->dtype), log_probs->ndim,
                        c->labels->ndim);
    if (lengths->numel != c->batch)
        return lt_error(LT_ERR_RUNTIME, "input_lengths must be of size batch_size");
    if (counts->numel != c->batch)
        return lt_error(LT_ERR_RUNTIME, "target_lengths must be of size batch_size");
    if (c->blank < 0 || c->blank >= c->classes)
        return lt_error(LT_ERR_RUNTIME, "blank must be in label range");
    return LT_OK;
}

/* The labels of sequence b; start: its first label if all are in a row. */
static const int64_t *labels_of(const ctc *c, int64_t b, int64_t start)
{
    return elements(c->labels) + (c->labels->ndim == 2 ? b * c->labels->sizes[1] : start);
}

/* True if there are too few steps for an alignment: equal adjacent labels need a blank between
 * them. */
static bool too_short(const ctc *c, int64_t b, int64_t start)
{
    const int64_t *label = labels_of(c, b, start);
    int64_t needed = c->counts[b];
    for (int64_t i = 1; i < c->counts[b]; i++) needed += label[i] == label[i - 1];
    return c->lengths[b] < needed;
}

/* Of every state of every sequence, [3, batch, states]: its class; whether a path may begin there;
 * whether a path may skip the blank before it. */
static lt_tensor *do_states(lt_scope *s, const ctc *c, lt_device device)
{
    const int64_t plane = c->batch * c->states;
    int64_t start = 0, *v = lt_mem_zarray(3 * plane, sizeof *v);
    for (int64_t b = 0; b < c->batch && v != NULL; b++) {
        const int64_t *label = labels_of(c, b, start);
        int64_t *class = v + b * c->states, *begin = class + plane, *skip = begin + plane;
        for (int64_t i = 0; i < c->states; i++) class[i] = c->blank;
        begin[0] = 1;
        if (c->counts[b] > 0) begin[1] = 1;
        for (int64_t i = 0; i < c->counts[b]; i++) {
            if ((label[i] < 0 || label[i] >= c->classes) && s->status == LT_OK) {
                const char *reason = lt_user_index_reason(label[i]);
                s->status = lt_error(LT_ERR_INDEX, "ctc_loss(): target %lld is out of bounds%s",
                                     lt_user_index(label[i]), reason[0] != '\0' ? reason : ".");
            }
            class[2 * i + 1] = label[i];
            skip[2 * i + 1] = i > 0 && label[i] != label[i - 1];
        }
        start += c->counts[b];
    }
    return do_positions(s, v, &(lt_dims){3, {3, c->batch, c->states}}, device);
}

/* Of every sequence, [4, batch, 1]: its length, its last state, the state before it, and whether
 * there is one. */
static lt_tensor *do_ends(lt_scope *s, const ctc *c, lt_device device)
{
    const int64_t n = c->batch;
    int64_t *v = lt_mem_zarray(4 * n, sizeof *v);
    for (int64_t b = 0; b < n && v != NULL; b++) {
        const int64_t last = 2 * c->counts[b];
        v[b] = c->lengths[b];
        v[n + b] = last;
        v[2 * n + b] = last > 0 ? last - 1 : 0;
        v[3 * n + b] = last > 0;
    }
    return do_positions(s, v, &(lt_dims){3, {4, n, 1}}, device);
}

/* 0 where a flag is 1, NEVER where it is 0. */
static lt_tensor *do_barrier(lt_scope *s, lt_tensor *flags, lt_dtype dtype)
{
    return times(s, plus(s, do_cast(s, flags, dtype), -1), -NEVER);
}

static lt_tensor *do_log_sum(lt_scope *s, lt_tensor **parts, int64_t n)
{
    return do_logsumexp(s, do_stack(s, parts, n, 0), &(lt_dims){1, {0}});
}

/* Replaces *alpha [batch, states], the probabilities of the paths to each state, by those of one
 * step later, except for sequences that have ended (lengths: NULL if none has). emitted [steps,
 * batch, states] are the probabilities of the classes of the states. */
static lt_status advance_paths(lt_tensor **alpha, lt_tensor *emitted, int64_t t, lt_tensor *skip,
                               lt_tensor *lengths)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(ctc_loss));
    lt_tensor *before = *alpha, *next = NULL;
    const int64_t n = before->sizes[1];
    lt_tensor *wide = NULL;
    const lt_status padded =
        lt_constant_pad_nd(before, &(lt_dims){2, {2, 0}}, lt_scalar_from_float(NEVER), &wide);
    wide = lt_scope_hold(&s, padded, wide);
    lt_tensor *paths[] = {before, do_part(&s, wide, 1, 1, n + 1),
                          do_add(&s, do_part(&s, wide, 1, 0, n), skip)};
    lt_tensor *sum = do_add(&s, do_log_sum(&s, paths, 3), do_select(&s, emitted, 0, t));
    if (lengths != NULL)
        sum = do_where(&s, do_gt(&s, lengths, do_scalar(&s, lt_scalar_from_int(t))), sum, before);
    LT_TRY(lt_scope_return(&s, sum, &next));
    lt_tensor_release(before);
    *alpha = next;
    return LT_OK;
}

/* Tensors of do_states and do_ends, on the device of log_probs. */
typedef struct tables {
    lt_tensor *classes, *begin, *skip;          /* [batch, states] */
    lt_tensor *lengths, *last, *before, *first; /* [batch, 1] */
} tables;

static tables do_tables(lt_scope *s, const ctc *c, const lt_tensor *log_probs)
{
    const lt_dtype dtype = (lt_dtype)log_probs->dtype;
    const lt_copy_cause previous = lt_copies_imply("ctc_loss");
    lt_tensor *states = do_states(s, c, log_probs->device),
              *ends = do_ends(s, c, log_probs->device);
    lt_copies_set_cause(previous);
    tables t = {do_select(s, states, 0, 0), do_select(s, states, 0, 1), do_select(s, states, 0, 2),
                do_select(s, ends, 0, 0),   do_select(s, ends, 0, 1),   do_select(s, ends, 0, 2),
                do_select(s, ends, 0, 3)};
    t.begin = do_barrier(s, t.begin, dtype);
    t.skip = do_barrier(s, t.skip, dtype);
    t.first = do_barrier(s, t.first, dtype);
    return t;
}

/* The logarithms of the probabilities of all paths to each state, [batch, states]. */
static lt_status follow_paths(const ctc *c, const tables *t, lt_tensor *log_probs, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(ctc_loss));
    const lt_dims all = {3, {c->longest, c->batch, c->states}};
    lt_tensor *classes = do_expand(&s, do_unsqueeze(&s, t->classes, 0), &all);
    lt_tensor *emitted = do_gather(&s, do_part(&s, log_probs, 0, 0, c->longest), 2, classes);
    lt_tensor *alpha = do_add(&s, t->begin, do_select(&s, emitted, 0, 0));
    if (c->shortest == 0)
        alpha = do_where(&s, do_gt(&s, t->lengths, do_scalar(&s, lt_scalar_from_int(0))), alpha,
                         t->begin);
    lt_tensor *last = s.status == LT_OK ? lt_tensor_retain(alpha) : NULL;
    for (int64_t i = 1; i < c->longest && s.status == LT_OK; i++)
        s.status = advance_paths(&last, emitted, i, t->skip, i >= c->shortest ? t->lengths : NULL);
    return lt_scope_return(&s, lt_scope_hold(&s, LT_OK, last), out);
}

/* The logarithm of the probability of each target, [batch]. */
static lt_tensor *do_likelihood(lt_scope *s, const ctc *c, lt_tensor *log_probs)
{
    const tables t = do_tables(s, c, log_probs);
    lt_tensor *alpha = t.begin;
    if (s->status == LT_OK && c->longest > 0) {
        lt_tensor *paths = NULL;
        const lt_status done = follow_paths(c, &t, log_probs, &paths);
        alpha = lt_scope_hold(s, done, paths);
    }
    lt_tensor *both[] = {do_gather(s, alpha, 1, t.last),
                         do_add(s, do_gather(s, alpha, 1, t.before), t.first)};
    return do_squeeze_dim(s, do_log_sum(s, both, 2), 1);
}

/* loss, to which a zero is added for each sequence that is too short for its target: its derivative
 * is nan (that of sqrt(0) times 0), so that a wrong step does not pass unnoticed. */
static lt_tensor *do_impossible(lt_scope *s, const ctc *c, lt_tensor *log_probs, lt_tensor *loss)
{
    int64_t start = 0;
    for (int64_t b = 0; b < c->batch && s->status == LT_OK; b++) {
        const bool impossible = too_short(c, b, start);
        start += c->counts[b];
        if (!impossible || c->lengths[b] == 0) continue;
        lt_scope own;
        lt_scope_open(&own, LT_COMPOSITE(ctc_loss));
        lt_tensor *used = do_part(&own, do_select(&own, log_probs, 1, b), 0, 0, c->lengths[b]);
        lt_tensor *total = do_sum(&own, do_clamp_min(&own, used, lt_scalar_from_float(NEVER)));
        lt_tensor *zero = do_unsqueeze(&own, do_sqrt(&own, times(&own, total, 0)), 0), *next = NULL;
        lt_tensor *at = do_positions(&own, lt_mem_zarray(1, sizeof(int64_t)), &(lt_dims){1, {1}},
                                     log_probs->device);
        at = do_add(&own, at, do_scalar(&own, lt_scalar_from_int(b)));
        if (own.status == LT_OK)
            own.status = lt_index_add(loss, 0, at, zero, lt_scalar_from_int(1), &next);
        const lt_status status = lt_scope_close(&own);
        loss = lt_scope_hold(s, status, next);
    }
    return loss;
}

static lt_tensor *do_losses(lt_scope *s, const ctc *c, lt_tensor *log_probs, bool zero_infinity)
{
    lt_tensor *loss = do_neg(s, do_likelihood(s, c, log_probs));
    lt_tensor *never = do_gt(s, loss, do_number(s, -NEVER / 10));
    loss = do_masked_fill(s, loss, never, lt_scalar_from_float(zero_infinity ? 0 : INFINITY));
    return zero_infinity || !lt_is_differentiated(log_probs) ? loss
                                                             : do_impossible(s, c, log_probs, loss);
}

lt_status lt_ctc_loss_impl(lt_tensor *log_probs, lt_tensor *targets, lt_tensor *input_lengths,
                           lt_tensor *target_lengths, int64_t blank, const char *reduction,
                           bool zero_infinity, lt_tensor **out)
{
    lt_over over;
    LT_TRY(lt_loss_parse(reduction, &over));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(ctc_loss));
    const bool single = log_probs->ndim == 2;
    lt_tensor *probs = do_widen(&s, single ? do_unsqueeze(&s, log_probs, 1) : log_probs);
    lt_tensor *lengths = do_on_host(&s, input_lengths), *counts = do_on_host(&s, target_lengths),
              *labels = do_on_host(&s, targets);
    if (s.status != LT_OK) return lt_scope_close(&s);
    ctc c = {.steps = probs->ndim == 3 ? probs->sizes[0] : 0,
             .batch = probs->ndim == 3 ? probs->sizes[1] : 0,
             .classes = probs->ndim == 3 ? probs->sizes[2] : 0,
             .blank = blank,
             .lengths = elements(lengths),
             .counts = elements(counts),
             .labels = labels};
    s.status = check_batch(probs, lengths, counts, &c);
    if (s.status == LT_OK) s.status = check_lengths(&c);
    if (s.status != LT_OK) return lt_scope_close(&s);
    lt_tensor *loss = do_losses(&s, &c, probs, zero_infinity);
    if (over == LT_OVER_MEAN) {
        lt_tensor *divisor = do_clamp_min(&s, counts, lt_scalar_from_int(1)), *there = NULL;
        if (s.status == LT_OK) {
            const lt_copy_cause previous = lt_copies_imply("ctc_loss");
            const lt_status moved =
                lt_to(divisor, &probs->device, (lt_dtype)probs->dtype, false, false, &there);
            lt_copies_set_cause(previous);
            loss = do_div(&s, loss, do_flatten(&s, lt_scope_hold(&s, moved, there)));
        }
    }
    loss = do_narrow_to(&s, do_reduce(&s, loss, over), log_probs);
    if (single && over == LT_OVER_NONE) loss = do_squeeze_dim(&s, loss, 0);
    return lt_scope_return(&s, loss, out);
}
