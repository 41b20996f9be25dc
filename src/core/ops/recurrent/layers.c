/* layers.c - torch.lstm, gru, rnn_tanh and rnn_relu: layers of recurrent cells over sequences, and
 * single cells. On a device with a library for it, a network is one call of _recurrent_network
 * (network_node.c); otherwise a direction of a layer is one call of _recurrent (direction.c).
 * lib/nn/layers combines the same operations for modules, also for packed sequences. */
#include <string.h>

#include "ops/compose.h"
#include "ops/recurrent/recurrent.h"
#include "ops/steps.h"
#include "op/_recurrent.h"
#include "op/_recurrent_network.h"
#include "op/cat.h"
#include "op/dropout.h"
#include "op/gru.h"
#include "op/gru_cell.h"
#include "op/linear.h"
#include "op/lstm.h"
#include "op/lstm_cell.h"
#include "op/rnn_relu.h"
#include "op/rnn_relu_cell.h"
#include "op/rnn_tanh.h"
#include "op/rnn_tanh_cell.h"
#include "op/select.h"
#include "op/stack.h"

/* hidden: the size of the state, of an LSTM that of the cell state. */
static lt_status check_weights(const char *op, lt_cell cell, const lt_cell_weights *w,
                               int64_t hidden)
{
    const int64_t rows = lt_cell_gates(cell) * hidden;
    const lt_tensor *const matrices[] = {w->w_ih, w->w_hh};
    for (int i = 0; i < 2; i++) {
        const lt_tensor *t = matrices[i];
        char text[256];
        if (t->ndim != 2 || t->sizes[0] != rows)
            return lt_error(LT_ERR_RUNTIME, "%s(): Expected w_%s with %lld rows, got size %s", op,
                            i == 0 ? "ih" : "hh", (long long)rows,
                            lt_format_sizes(text, sizeof text, t->ndim, t->sizes));
    }
    return LT_OK;
}

/* ---- a direction of a layer ------------------------------------------------------------------ */

typedef struct direction {
    lt_cell cell;
    const char *name;
    bool reverse;
    int64_t batch;
} direction;

/* *outputs: the states of all steps, one after the other. Replaces *h and *c by the last ones. */
static lt_status run_direction(const direction *l, lt_tensor *rows, const lt_cell_weights *w,
                               lt_tensor **h, lt_tensor **c, lt_tensor **outputs)
{
    lt_tensor *gates = NULL, *hn = NULL, *cn = NULL, *kept = NULL, *cells = NULL;
    LT_TRY(lt_linear(rows, w->w_ih, w->b_ih, &gates));
    const bool by_steps = l->batch == 0 || w->w_hr != NULL || gates->dtype != (*h)->dtype ||
                          gates->dtype != w->w_hh->dtype;
    if (by_steps) {
        const lt_sequence sequence = {
            l->cell, l->reverse, l->batch > 0 ? gates->sizes[0] / l->batch : 1, l->batch, NULL};
        const lt_status status = lt_run_steps(&sequence, gates, w, h, c, outputs);
        lt_tensor_release(gates);
        return status;
    }
    const lt_status status = lt__recurrent(gates, *h, *c, w->w_hh, w->b_hh, l->name, l->reverse,
                                           NULL, outputs, &hn, &cn, &kept, &cells);
    lt_tensor_release(gates);
    if (status != LT_OK) return status;
    lt_tensor_release(kept);
    lt_tensor_release(cells);
    lt_tensor_release(*h);
    *h = hn;
    if (l->cell != LT_CELL_LSTM) {
        lt_tensor_release(cn);
        return LT_OK;
    }
    lt_tensor_release(*c);
    *c = cn;
    return LT_OK;
}

/* ---- a network ------------------------------------------------------------------------------- */

typedef struct network {
    const char *op;
    lt_cell cell;
    const char *name;
    lt_tensor *input, *hx, *cx; /* cx: NULL unless the cells are those of an LSTM */
    const lt_tensor_list *params;
    bool has_biases;
    int64_t layers;
    double dropout;
    bool train, bidirectional, batch_first;
    bool projected;
} network;

static lt_status check_states(const network *n)
{
    const int64_t directions = n->bidirectional ? 2 : 1, batch = n->input->sizes[!n->batch_first];
    const lt_tensor *const states[] = {n->hx, n->cx};
    for (int i = 0; i < 2; i++) {
        const lt_tensor *t = states[i];
        if (t == NULL) continue;
        if (t->ndim == 3 && t->sizes[0] == n->layers * directions && t->sizes[1] == batch) continue;
        char text[256];
        return lt_error(LT_ERR_RUNTIME, "%s(): Expected %s of size [%lld, %lld, ...], got %s",
                        n->op, i == 0 ? "hx" : "cx", (long long)(n->layers * directions),
                        (long long)batch, lt_format_sizes(text, sizeof text, t->ndim, t->sizes));
    }
    return LT_OK;
}

static lt_status check_network(network *n)
{
    if (n->input->ndim != 3)
        return lt_error(LT_ERR_RUNTIME, "%s(): Expected a 3-D input, got %d dimensions", n->op,
                        n->input->ndim);
    if (n->layers < 1 || n->layers > INT16_MAX)
        return lt_error(LT_ERR_RUNTIME, "%s(): Expected num_layers of at least 1, got %lld", n->op,
                        (long long)n->layers);
    LT_TRY(check_states(n));
    n->projected = n->cx != NULL && n->hx->sizes[2] != n->cx->sizes[2];
    const int64_t each = 2 + (n->has_biases ? 2 : 0) + (n->projected ? 1 : 0),
                  expected = each * n->layers * (n->bidirectional ? 2 : 1);
    if (n->params->n != expected)
        return lt_error(LT_ERR_RUNTIME, "%s(): Expected %lld weights, got %lld", n->op,
                        (long long)expected, (long long)n->params->n);
    if (n->input->sizes[n->batch_first] == 0)
        return lt_error(LT_ERR_RUNTIME, "%s(): Expected sequence length to be larger than 0",
                        n->op);
    return LT_OK;
}

/* The weights of the i-th direction of all layers. */
static lt_cell_weights weights_of(const network *n, int64_t i)
{
    const int64_t each = 2 + (n->has_biases ? 2 : 0) + (n->projected ? 1 : 0);
    lt_tensor *const *v = n->params->v + i * each;
    return (lt_cell_weights){.w_ih = v[0],
                             .w_hh = v[1],
                             .b_ih = n->has_biases ? v[2] : NULL,
                             .b_hh = n->has_biases ? v[3] : NULL,
                             .w_hr = n->projected ? v[each - 1] : NULL};
}

/* Replaces *rows by the outputs of a layer; stores its last states in hn and cn. */
static lt_status run_layer(const network *n, int64_t index, int64_t batch, lt_tensor **rows,
                           lt_tensor_list *hn, lt_tensor_list *cn)
{
    const int directions = n->bidirectional ? 2 : 1;
    lt_tensor *outputs[2] = {NULL, NULL}, *joined = NULL;
    lt_status status = LT_OK;
    for (int d = 0; d < directions && status == LT_OK; d++) {
        const int64_t i = index * directions + d;
        const lt_cell_weights w = weights_of(n, i);
        const direction l = {n->cell, n->name, d == 1, batch};
        status = lt_select(n->hx, 0, i, &hn->v[i]);
        if (status == LT_OK && n->cx != NULL) status = lt_select(n->cx, 0, i, &cn->v[i]);
        if (status == LT_OK)
            status = run_direction(&l, *rows, &w, &hn->v[i], &cn->v[i], &outputs[d]);
    }
    if (status == LT_OK && directions == 2) {
        status = lt_cat(&(lt_tensor_list){2, outputs}, 1, &joined);
    } else if (status == LT_OK) {
        joined = outputs[0];
        outputs[0] = NULL;
    }
    lt_tensor_release(outputs[0]);
    lt_tensor_release(outputs[1]);
    if (status == LT_OK && n->train && n->dropout > 0 && index < n->layers - 1) {
        lt_tensor *dropped = NULL;
        status = lt_dropout(joined, n->dropout, true, &dropped);
        if (status == LT_OK) {
            lt_tensor_release(joined);
            joined = dropped;
        }
    }
    if (status != LT_OK) {
        lt_tensor_release(joined);
        return status;
    }
    lt_tensor_release(*rows);
    *rows = joined;
    return LT_OK;
}

/* The input as rows, step after step; *steps and *batch are its sizes. */
static lt_status rows_of(const network *n, int64_t *steps, int64_t *batch, lt_tensor **rows)
{
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *x = n->batch_first ? do_transpose(&s, n->input, 0, 1) : n->input;
    if (s.status != LT_OK) return lt_scope_close(&s);
    *steps = x->sizes[0], *batch = x->sizes[1];
    const lt_dims flat = {2, {*steps * *batch, x->sizes[2]}};
    return lt_scope_return(&s, do_reshape(&s, x, &flat), rows);
}

/* The outputs in the order of the input. */
static lt_status unflatten_rows(const network *n, lt_tensor *rows, int64_t steps, int64_t batch,
                                lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, true);
    const lt_dims sizes = {3, {steps, batch, rows->sizes[1]}};
    lt_tensor *y = do_reshape(&s, rows, &sizes);
    return lt_scope_return(&s, n->batch_first ? do_transpose(&s, y, 0, 1) : y, out);
}

/* results: the output, the last states and, of an LSTM, the last cell states. */
static lt_status run_layers(const network *n, lt_tensor **results)
{
    int64_t steps = 0, batch = 0;
    lt_tensor *rows = NULL;
    lt_tensor_list hn = {0, NULL}, cn = {0, NULL};
    const int64_t states = n->layers * (n->bidirectional ? 2 : 1);
    LT_TRY(rows_of(n, &steps, &batch, &rows));
    lt_status status = lt_list_new(states, &hn);
    if (status == LT_OK) hn.n = states, status = lt_list_new(states, &cn);
    if (status == LT_OK) cn.n = states;
    for (int64_t i = 0; i < n->layers && status == LT_OK; i++)
        status = run_layer(n, i, batch, &rows, &hn, &cn);
    lt_tensor *made[3] = {NULL, NULL, NULL};
    if (status == LT_OK) status = unflatten_rows(n, rows, steps, batch, &made[0]);
    if (status == LT_OK) status = lt_stack(&hn, 0, &made[1]);
    if (status == LT_OK && n->cx != NULL) status = lt_stack(&cn, 0, &made[2]);
    lt_tensor_release(rows);
    lt_list_release(&hn);
    lt_list_release(&cn);
    for (int i = 0; i < 3; i++)
        if (status == LT_OK)
            results[i] = made[i];
        else
            lt_tensor_release(made[i]);
    return status;
}

lt_status lt_recurrent_network_layers(const lt_network_args *a, lt_tensor **results)
{
    lt_cell kind;
    LT_TRY(lt_cell_named(a->cell, &kind));
    const network n = {.op = a->cell,
                       .cell = kind,
                       .name = a->cell,
                       .input = a->input,
                       .hx = a->hx,
                       .cx = a->cx,
                       .params = a->weights,
                       .has_biases = a->weights->n == 4 * a->hx->sizes[0],
                       .layers = a->layers,
                       .bidirectional = a->bidirectional};
    return run_layers(&n, results);
}

/* ---- by a library of the device -------------------------------------------------------------- */

/* Layers from .. to - 1 by the library: *x is replaced by their output, hn and cn receive their last
 * states. *done is false if the library does not support them. */
static lt_status run_group(const network *n, int64_t from, int64_t to, lt_tensor **x,
                           lt_tensor **hn, lt_tensor **cn, bool *done)
{
    const int64_t directions = n->bidirectional ? 2 : 1, each = n->has_biases ? 4 : 2;
    lt_tensor_list found = {0, NULL};
    const lt_tensor_list weights = {(to - from) * directions * each,
                                    n->params->v + from * directions * each};
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *h = do_part(&s, n->hx, 0, from * directions, to * directions),
              *c = n->cx != NULL ? do_part(&s, n->cx, 0, from * directions, to * directions) : NULL;
    if (s.status == LT_OK)
        s.status =
            lt__recurrent_network(*x, h, c, &weights, n->name, to - from, n->bidirectional, &found);
    *done = s.status == LT_OK && found.n > 0;
    if (*done) {
        lt_tensor_release(*x);
        *x = lt_tensor_retain(found.v[0]);
        *hn = lt_tensor_retain(found.v[1]);
        if (c != NULL) *cn = lt_tensor_retain(found.v[2]);
    }
    lt_list_release(&found);
    return lt_scope_close(&s);
}

/* Whether the tensors have one dtype and one device, which is not the CPU. */
static bool has_library(const network *n)
{
    const lt_tensor *x = n->input;
    if (n->projected || x->device.type == LT_CPU || n->hx->sizes[1] == 0) return false;
    bool equal = n->hx->dtype == x->dtype && (n->cx == NULL || n->cx->dtype == x->dtype);
    for (int64_t i = 0; i < n->params->n; i++) equal = equal && n->params->v[i]->dtype == x->dtype;
    return equal;
}

/* With dropout between them, one layer after the other. *done: false without results. */
static lt_status run_by_library(const network *n, lt_tensor **results, bool *done)
{
    const bool drops = n->train && n->dropout > 0 && n->layers > 1;
    const int64_t groups = drops ? n->layers : 1;
    lt_tensor_list hn = {0, NULL}, cn = {0, NULL};
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *x = n->batch_first ? do_transpose(&s, n->input, 0, 1) : n->input;
    if (s.status == LT_OK) x = lt_tensor_retain(x);
    if (s.status == LT_OK) s.status = lt_list_new(groups, &hn);
    if (s.status == LT_OK) s.status = lt_list_new(groups, &cn);
    *done = s.status == LT_OK;
    for (int64_t i = 0; i < groups && s.status == LT_OK && *done; i++) {
        lt_tensor *dropped = NULL;
        if (i > 0) {
            s.status = lt_dropout(x, n->dropout, true, &dropped);
            if (s.status != LT_OK) break;
            lt_tensor_release(x);
            x = dropped;
        }
        s.status =
            run_group(n, drops ? i : 0, drops ? i + 1 : n->layers, &x, &hn.v[i], &cn.v[i], done);
        hn.n = cn.n = i + 1;
    }
    if (s.status == LT_OK && *done) {
        lt_tensor *made[3] = {n->batch_first ? do_transpose(&s, x, 0, 1) : x,
                              groups > 1 ? do_cat(&s, hn.v, groups, 0) : hn.v[0], cn.v[0]};
        if (groups > 1 && n->cx != NULL) made[2] = do_cat(&s, cn.v, groups, 0);
        for (int i = 0; i < 3 && s.status == LT_OK; i++) results[i] = lt_tensor_retain(made[i]);
    }
    lt_tensor_release(x);
    lt_list_release(&hn);
    lt_list_release(&cn);
    return lt_scope_close(&s);
}

static lt_status run_network(network n, lt_tensor **results)
{
    bool done = false;
    LT_TRY(check_network(&n));
    for (int64_t i = 0; i < n.hx->sizes[0]; i++) {
        const lt_cell_weights w = weights_of(&n, i);
        LT_TRY(check_weights(n.op, n.cell, &w, (n.cx != NULL ? n.cx : n.hx)->sizes[2]));
    }
    if (has_library(&n)) LT_TRY(run_by_library(&n, results, &done));
    return done ? LT_OK : run_layers(&n, results);
}

static lt_status check_pair(const char *op, const lt_tensor_list *hx)
{
    if (hx->n == 2) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "%s expects two hidden states, got %lld", op, (long long)hx->n);
}

lt_status lt_lstm_impl(lt_tensor *input, const lt_tensor_list *hx, const lt_tensor_list *params,
                       bool has_biases, int64_t num_layers, double dropout, bool train,
                       bool bidirectional, bool batch_first, lt_tensor **out_output,
                       lt_tensor **out_hn, lt_tensor **out_cn)
{
    lt_tensor *results[3];
    LT_TRY(check_pair("lstm", hx));
    LT_TRY(run_network((network){"lstm", LT_CELL_LSTM, "lstm", input, hx->v[0], hx->v[1], params,
                                 has_biases, num_layers, dropout, train, bidirectional, batch_first,
                                 false},
                       results));
    *out_output = results[0], *out_hn = results[1], *out_cn = results[2];
    return LT_OK;
}

lt_status lt_gru_impl(lt_tensor *input, lt_tensor *hx, const lt_tensor_list *params,
                      bool has_biases, int64_t num_layers, double dropout, bool train,
                      bool bidirectional, bool batch_first, lt_tensor **out_output,
                      lt_tensor **out_hn)
{
    lt_tensor *results[3];
    LT_TRY(run_network((network){"gru", LT_CELL_GRU, "gru", input, hx, NULL, params, has_biases,
                                 num_layers, dropout, train, bidirectional, batch_first, false},
                       results));
    *out_output = results[0], *out_hn = results[1];
    return LT_OK;
}

lt_status lt_rnn_tanh_impl(lt_tensor *input, lt_tensor *hx, const lt_tensor_list *params,
                           bool has_biases, int64_t num_layers, double dropout, bool train,
                           bool bidirectional, bool batch_first, lt_tensor **out_output,
                           lt_tensor **out_hn)
{
    lt_tensor *results[3];
    LT_TRY(
        run_network((network){"rnn_tanh", LT_CELL_TANH, "tanh", input, hx, NULL, params, has_biases,
                              num_layers, dropout, train, bidirectional, batch_first, false},
                    results));
    *out_output = results[0], *out_hn = results[1];
    return LT_OK;
}

lt_status lt_rnn_relu_impl(lt_tensor *input, lt_tensor *hx, const lt_tensor_list *params,
                           bool has_biases, int64_t num_layers, double dropout, bool train,
                           bool bidirectional, bool batch_first, lt_tensor **out_output,
                           lt_tensor **out_hn)
{
    lt_tensor *results[3];
    LT_TRY(
        run_network((network){"rnn_relu", LT_CELL_RELU, "relu", input, hx, NULL, params, has_biases,
                              num_layers, dropout, train, bidirectional, batch_first, false},
                    results));
    *out_output = results[0], *out_hn = results[1];
    return LT_OK;
}

/* ---- single cells ---------------------------------------------------------------------------- */

static lt_status check_matrix(const char *op, const char *name, const lt_tensor *t)
{
    if (t->ndim == 2) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "%s(): Expected %s to be 2-D, got %d dimensions", op, name,
                    t->ndim);
}

/* One step from the states h and c (NULL unless the cell is an LSTM's), to *h_out and *c_out. */
static lt_status run_cell(const char *op, lt_cell cell, lt_tensor *input, lt_tensor *h,
                          lt_tensor *c, lt_cell_weights w, lt_tensor **results)
{
    lt_tensor *x = NULL;
    LT_TRY(check_matrix(op, "input", input));
    LT_TRY(check_matrix(op, "hx", h));
    if (c != NULL) LT_TRY(check_matrix(op, "cx", c));
    LT_TRY(check_weights(op, cell, &w, (c != NULL ? c : h)->sizes[1]));
    if (input->sizes[0] != h->sizes[0])
        return lt_error(LT_ERR_RUNTIME,
                        "Input batch size %lld doesn't match hidden batch size %lld",
                        (long long)input->sizes[0], (long long)h->sizes[0]);
    LT_TRY(lt_linear(input, w.w_ih, w.b_ih, &x));
    lt_tensor *states[2] = {lt_tensor_retain(h), c != NULL ? lt_tensor_retain(c) : NULL};
    const lt_status status = lt_step_cell(cell, x, &w, &states[0], &states[1]);
    lt_tensor_release(x);
    for (int i = 0; i < 2; i++)
        if (status == LT_OK)
            results[i] = states[i];
        else
            lt_tensor_release(states[i]);
    return status;
}

lt_status lt_lstm_cell_impl(lt_tensor *input, const lt_tensor_list *hx, lt_tensor *w_ih,
                            lt_tensor *w_hh, lt_tensor *b_ih, lt_tensor *b_hh, lt_tensor **out_h,
                            lt_tensor **out_c)
{
    lt_tensor *results[2];
    LT_TRY(check_pair("lstm_cell", hx));
    LT_TRY(run_cell("lstm_cell", LT_CELL_LSTM, input, hx->v[0], hx->v[1],
                    (lt_cell_weights){w_ih, w_hh, b_ih, b_hh, NULL}, results));
    *out_h = results[0], *out_c = results[1];
    return LT_OK;
}

static lt_status run_plain_cell(const char *op, lt_cell cell, lt_tensor *input, lt_tensor *hx,
                                lt_cell_weights w, lt_tensor **out)
{
    lt_tensor *results[2];
    LT_TRY(run_cell(op, cell, input, hx, NULL, w, results));
    *out = results[0];
    return LT_OK;
}

lt_status lt_gru_cell_impl(lt_tensor *input, lt_tensor *hx, lt_tensor *w_ih, lt_tensor *w_hh,
                           lt_tensor *b_ih, lt_tensor *b_hh, lt_tensor **out)
{
    return run_plain_cell("gru_cell", LT_CELL_GRU, input, hx,
                          (lt_cell_weights){w_ih, w_hh, b_ih, b_hh, NULL}, out);
}

lt_status lt_rnn_tanh_cell_impl(lt_tensor *input, lt_tensor *hx, lt_tensor *w_ih, lt_tensor *w_hh,
                                lt_tensor *b_ih, lt_tensor *b_hh, lt_tensor **out)
{
    return run_plain_cell("rnn_tanh_cell", LT_CELL_TANH, input, hx,
                          (lt_cell_weights){w_ih, w_hh, b_ih, b_hh, NULL}, out);
}

lt_status lt_rnn_relu_cell_impl(lt_tensor *input, lt_tensor *hx, lt_tensor *w_ih, lt_tensor *w_hh,
                                lt_tensor *b_ih, lt_tensor *b_hh, lt_tensor **out)
{
    return run_plain_cell("rnn_relu_cell", LT_CELL_RELU, input, hx,
                          (lt_cell_weights){w_ih, w_hh, b_ih, b_hh, NULL}, out);
}
