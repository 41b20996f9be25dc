/* by_steps.c - a direction of a recurrent layer, each step of differentiable operations: for
 * derivatives of second order, under vmap, in forward mode and for projected states. With batch
 * sizes, of packed sequences, a step has only the rows of the sequences that are that long. */
#include "ops/compose.h"
#include "ops/recurrent/recurrent.h"
#include "ops/steps.h"
#include "op/cat.h"
#include "op/linear.h"
#include "step/relu.h"

static lt_tensor *do_linear_with(lt_scope *s, lt_tensor *input, lt_tensor *weight, lt_tensor *bias)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    const lt_status status = lt_linear(input, weight, bias, &out);
    return lt_scope_hold(s, status, out);
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* The i-th of n equal parts of the columns. */
static lt_tensor *do_gate(lt_scope *s, lt_tensor *gates, int64_t i, int64_t n)
{
    if (s->status != LT_OK) return NULL;
    const int64_t size = gates->sizes[1] / n;
    return do_part(s, gates, 1, i * size, (i + 1) * size);
}

static lt_tensor *do_gru(lt_scope *s, lt_tensor *x, lt_tensor *g, lt_tensor *h)
{
    lt_tensor *r = do_sigmoid(s, do_add(s, do_gate(s, x, 0, 3), do_gate(s, g, 0, 3)));
    lt_tensor *z = do_sigmoid(s, do_add(s, do_gate(s, x, 1, 3), do_gate(s, g, 1, 3)));
    lt_tensor *n = do_tanh(s, do_add(s, do_gate(s, x, 2, 3), do_mul(s, r, do_gate(s, g, 2, 3))));
    return do_add(s, do_mul(s, do_sub(s, h, n), z), n);
}

static lt_tensor *do_lstm(lt_scope *s, lt_tensor *gates, lt_tensor *c, lt_tensor **next)
{
    lt_tensor *i = do_sigmoid(s, do_gate(s, gates, 0, 4)),
              *f = do_sigmoid(s, do_gate(s, gates, 1, 4)), *n = do_tanh(s, do_gate(s, gates, 2, 4)),
              *o = do_sigmoid(s, do_gate(s, gates, 3, 4));
    *next = do_add(s, do_mul(s, f, c), do_mul(s, i, n));
    return do_mul(s, o, do_tanh(s, *next));
}

lt_status lt_step_cell(lt_cell cell, lt_tensor *x, const lt_cell_weights *w, lt_tensor **h,
                       lt_tensor **c)
{
    lt_scope s;
    lt_tensor *cells = NULL;
    lt_scope_open(&s, true);
    lt_tensor *g = do_linear_with(&s, *h, w->w_hh, w->b_hh), *state;
    if (cell == LT_CELL_GRU)
        state = do_gru(&s, x, g, *h);
    else if (cell == LT_CELL_LSTM)
        state = do_lstm(&s, do_add(&s, x, g), *c, &cells);
    else
        state =
            cell == LT_CELL_TANH ? do_tanh(&s, do_add(&s, x, g)) : do_relu(&s, do_add(&s, x, g));
    if (w->w_hr != NULL) state = do_linear_with(&s, state, w->w_hr, NULL);
    if (s.status == LT_OK) {
        lt_tensor_release(*h);
        *h = lt_tensor_retain(state);
    }
    if (s.status == LT_OK && cell == LT_CELL_LSTM) {
        lt_tensor_release(*c);
        *c = lt_tensor_retain(cells);
    }
    return lt_scope_close(&s);
}

/* ---- a sequence ------------------------------------------------------------------------------ */

static void replace_state(lt_tensor **t, lt_tensor *next)
{
    lt_tensor_release(*t);
    *t = lt_tensor_retain(next);
}

/* Gives *state `size` rows. The states of sequences that end are added to `ended`; sequences that
 * begin, in reverse direction, have their states in `first`. */
static lt_status resize_state(lt_tensor *first, int64_t size, lt_tensor **state,
                              lt_tensor_list *ended)
{
    const int64_t now = (*state)->sizes[0];
    if (size == now) return LT_OK;
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *next;
    if (size < now) {
        lt_tensor *last = do_part(&s, *state, 0, size, now);
        if (s.status == LT_OK) ended->v[ended->n++] = lt_tensor_retain(last);
        next = do_part(&s, *state, 0, 0, size);
    } else {
        next = do_cat(&s, (lt_tensor *[]){*state, do_part(&s, first, 0, now, size)}, 2, 0);
    }
    if (s.status == LT_OK) replace_state(state, next);
    return lt_scope_close(&s);
}

/* Appends the states of the sequences that ended earlier, the longest first. */
static lt_status join_ended(lt_tensor **state, lt_tensor_list *ended)
{
    lt_tensor *joined = NULL;
    if (ended->n == 0) return LT_OK;
    ended->v[ended->n++] = lt_tensor_retain(*state);
    for (int64_t i = 0; i < ended->n / 2; i++) {
        lt_tensor *t = ended->v[i];
        ended->v[i] = ended->v[ended->n - 1 - i];
        ended->v[ended->n - 1 - i] = t;
    }
    LT_TRY(lt_cat(ended, 0, &joined));
    lt_tensor_release(*state);
    *state = joined;
    return LT_OK;
}

/* The operands of the steps; states: the output of each, in the order of the rows. */
typedef struct run {
    const lt_sequence *l;
    lt_tensor *gates, *hx, *cx;
    lt_tensor_list states, ended_h, ended_c;
} run;

static lt_status run_sequence_step(run *r, int64_t t, int64_t row, const lt_cell_weights *w,
                                   lt_tensor **h, lt_tensor **c)
{
    const int64_t size = r->l->sizes != NULL ? r->l->sizes[t] : r->l->batch;
    LT_TRY(resize_state(r->hx, size, h, &r->ended_h));
    if (r->cx != NULL) LT_TRY(resize_state(r->cx, size, c, &r->ended_c));
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *x = do_part(&s, r->gates, 0, row, row + size);
    if (s.status == LT_OK) s.status = lt_step_cell(r->l->cell, x, w, h, c);
    if (s.status == LT_OK) r->states.v[t] = lt_tensor_retain(*h);
    return lt_scope_close(&s);
}

static lt_status run_sequence(run *r, const lt_cell_weights *w, lt_tensor **h, lt_tensor **c)
{
    const lt_sequence *l = r->l;
    int64_t row = 0;
    for (int64_t t = 0; l->reverse && t < l->steps; t++)
        row += l->sizes != NULL ? l->sizes[t] : l->batch;
    for (int64_t k = 0; k < l->steps; k++) {
        const int64_t t = l->reverse ? l->steps - 1 - k : k,
                      size = l->sizes != NULL ? l->sizes[t] : l->batch;
        if (l->reverse) row -= size;
        LT_TRY(run_sequence_step(r, t, row, w, h, c));
        if (!l->reverse) row += size;
    }
    LT_TRY(join_ended(h, &r->ended_h));
    return r->cx != NULL ? join_ended(c, &r->ended_c) : LT_OK;
}

/* In reverse direction, the last step comes first, with the longest sequences only. */
static lt_status first_state(const lt_sequence *l, lt_tensor **state)
{
    if (!l->reverse || l->sizes == NULL || *state == NULL) return LT_OK;
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *part = do_part(&s, *state, 0, 0, l->sizes[l->steps - 1]);
    if (s.status == LT_OK) replace_state(state, part);
    return lt_scope_close(&s);
}

lt_status lt_run_steps(const lt_sequence *l, lt_tensor *gates, const lt_cell_weights *w,
                       lt_tensor **h, lt_tensor **c, lt_tensor **outputs)
{
    run r = {.l = l, .gates = gates, .hx = lt_tensor_retain(*h)};
    r.cx = l->cell == LT_CELL_LSTM ? lt_tensor_retain(*c) : NULL;
    lt_status status = lt_list_new(l->steps, &r.states);
    if (status == LT_OK) r.states.n = l->steps, status = lt_list_new(l->steps + 1, &r.ended_h);
    if (status == LT_OK) status = lt_list_new(l->steps + 1, &r.ended_c);
    if (status == LT_OK) status = first_state(l, h);
    if (status == LT_OK && r.cx != NULL) status = first_state(l, c);
    if (status == LT_OK) status = run_sequence(&r, w, h, c);
    if (status == LT_OK) status = lt_cat(&r.states, 0, outputs);
    lt_list_release(&r.states);
    lt_list_release(&r.ended_h);
    lt_list_release(&r.ended_c);
    lt_tensor_release(r.hx);
    lt_tensor_release(r.cx);
    return status;
}
