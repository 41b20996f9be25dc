/* recurrent.c - a layer of recurrent cells over a sequence, forward and backward: a product and a
 * kernel per step (cell.h), and one product for the gradient of the weights.
 *
 * The rows of all steps are stored in sequence. With batch sizes (of packed sequences, never
 * growing) a step has only the rows of sequences that are that long. A step is one segment: rows
 * with previous states in consecutive rows of the output, or of hx; two segments if further
 * sequences begin at this step, in reverse direction. Half types are computed in float. */
#include "devices/cell.h"
#include "ops/common.h"
#include "memory/alloc.h"
#include "memory/block.h"
#include "saturating.h"
#include "ops/pointwise.h"
#include "ops/recurrent/recurrent.h"
#include "op/_recurrent_backward.h"
#include "op/add.h"
#include "op/narrow.h"
#include "op/sum.h"

#include <string.h>

typedef struct segment {
    int64_t row, rows; /* in all arrays with a row per step and sequence */
    int64_t before;    /* first row of the previous state: in the output, or in hx if `first` */
    bool first;
} segment;

typedef struct layer {
    lt_cell cell;
    lt_dtype dtype, compute;
    lt_device device;
    const lt_backend *backend;
    int64_t rows, batch, hidden, steps, size; /* size: bytes of an element */
    segment *segments;                        /* in temporal order; a block of this capacity */
    size_t capacity;
    int64_t *sizes, *offsets; /* of the steps; behind the segments */
    int64_t count;
} layer;

/* ---- the plan -------------------------------------------------------------------------------- */

lt_status lt_cell_named(const char *name, lt_cell *cell)
{
    static const char *const names[LT_CELLS] = {"tanh", "relu", "gru", "lstm"};
    for (int i = 0; i < LT_CELLS; i++)
        if (strcmp(name, names[i]) == 0) {
            *cell = (lt_cell)i;
            return LT_OK;
        }
    return lt_error(LT_ERR_RUNTIME, "Unknown mode: %s", name);
}

static lt_status read_batch_sizes(layer *l, const lt_tensor *batch_sizes)
{
    if (batch_sizes->ndim != 1 || batch_sizes->dtype != LT_INT64 ||
        batch_sizes->device.type != LT_CPU || !lt_is_contiguous(batch_sizes))
        return lt_error(LT_ERR_RUNTIME, "batch_sizes must be a dense vector of int64 on the CPU");
    const int64_t *given = (const int64_t *)lt_data(batch_sizes);
    int64_t total = 0;
    for (int64_t t = 0; t < l->steps; t++) {
        if (given[t] < 1 || given[t] > (t > 0 ? given[t - 1] : l->batch))
            return lt_error(LT_ERR_RUNTIME, "batch_sizes must be positive and never grow");
        l->sizes[t] = given[t];
        total += given[t];
    }
    if (total != l->rows || given[0] != l->batch)
        return lt_error(LT_ERR_RUNTIME,
                        "Expected batch_sizes of %lld rows and a batch of %lld, got %lld and %lld",
                        (long long)l->rows, (long long)l->batch, (long long)total,
                        (long long)given[0]);
    return LT_OK;
}

static void make_segments(layer *l, bool reverse)
{
    for (int64_t t = 0, row = 0; t < l->steps; row += l->sizes[t++]) l->offsets[t] = row;
    for (int64_t k = 0; k < l->steps; k++) {
        const int64_t t = reverse ? l->steps - 1 - k : k, before = reverse ? t + 1 : t - 1;
        int64_t joined = 0; /* rows with their previous state in the output */
        if (k > 0) joined = reverse ? l->sizes[before] : l->sizes[t];
        if (joined > 0)
            l->segments[l->count++] = (segment){l->offsets[t], joined, l->offsets[before], false};
        if (joined < l->sizes[t])
            l->segments[l->count++] =
                (segment){l->offsets[t] + joined, l->sizes[t] - joined, joined, true};
    }
}

/* Fills in the layer; layer_free frees it, also after a failure. */
static lt_status layer_of(layer *l, const char *cell, lt_tensor *hx, lt_tensor *weight,
                          int64_t rows, bool reverse, lt_tensor *batch_sizes)
{
    LT_TRY(lt_cell_named(cell, &l->cell));
    if (hx->ndim != 2 || weight->ndim != 2)
        return lt_error(LT_ERR_RUNTIME, "_recurrent: hx and weight_hh must have 2 dimensions");
    l->dtype = (lt_dtype)weight->dtype;
    if (!lt_dtype_is_float(l->dtype))
        return lt_error(LT_ERR_RUNTIME, "\"recurrent\" not implemented for '%s'",
                        lt_dtype_scalar_name(l->dtype));
    l->compute = l->dtype == LT_FLOAT64 ? LT_FLOAT64 : LT_FLOAT32;
    l->size = (int64_t)lt_dtype_size(l->compute);
    l->device = weight->device;
    l->backend = lt_backend_of(weight);
    l->rows = rows;
    l->batch = hx->sizes[0];
    l->hidden = hx->sizes[1];
    const int64_t gates = lt_cell_gates(l->cell) * l->hidden;
    if (weight->sizes[0] != gates || weight->sizes[1] != l->hidden)
        return lt_error(LT_ERR_RUNTIME, "_recurrent: weight_hh must have size [%lld, %lld]",
                        (long long)gates, (long long)l->hidden);
    if (l->batch < 1 || l->hidden < 1 || (batch_sizes == NULL && rows % l->batch != 0) ||
        (batch_sizes != NULL && batch_sizes->ndim != 1))
        return lt_error(LT_ERR_RUNTIME, "_recurrent: %lld rows are not a whole number of steps",
                        (long long)rows);
    l->steps = batch_sizes != NULL ? batch_sizes->sizes[0] : rows / l->batch;
    if (l->steps < 1)
        return lt_error(LT_ERR_RUNTIME, "Expected sequence length to be larger than 0 in RNN");
    l->segments = lt_block_array(lt_mul_sat(l->steps, 2), sizeof *l->segments + sizeof *l->sizes,
                                 &l->capacity);
    if (l->segments == NULL) return LT_ERR_MEMORY;
    l->sizes = (int64_t *)(l->segments + 2 * l->steps);
    l->offsets = l->sizes + l->steps;
    for (int64_t t = 0; t < l->steps; t++) l->sizes[t] = l->batch;
    if (batch_sizes != NULL) LT_TRY(read_batch_sizes(l, batch_sizes));
    make_segments(l, reverse);
    return LT_OK;
}

static void layer_free(layer *l) { lt_block_free(l->segments, l->capacity); }

static int64_t rows_or_none(const lt_tensor *t) { return t->ndim == 2 ? t->sizes[0] : -1; }

lt_status lt_recurrent_sequence(const lt_recurrent_args *a, lt_sequence *sequence, int64_t **sizes)
{
    layer l = {0};
    lt_status status = layer_of(&l, a->cell, a->hx, a->weight_hh, rows_or_none(a->gates),
                                a->reverse, a->batch_sizes);
    if (status == LT_OK && l.cell == LT_CELL_LSTM && a->cx == NULL)
        status = lt_error(LT_ERR_RUNTIME, "_recurrent: an LSTM needs cx");
    if (status == LT_OK && (*sizes = lt_mem_array(l.steps, sizeof **sizes)) == NULL)
        status = LT_ERR_MEMORY;
    if (status == LT_OK) {
        memcpy(*sizes, l.sizes, (size_t)l.steps * sizeof **sizes);
        *sequence = (lt_sequence){l.cell, a->reverse, l.steps, l.batch, *sizes};
    }
    layer_free(&l);
    return status;
}

/* ---- tensors --------------------------------------------------------------------------------- */

/* New reference: t, contiguous in the layer's dtype, of the given sizes (-1: any); NULL stays NULL.
 */
static lt_status prepare_operand(const layer *l, lt_tensor *t, const char *name, int64_t rows,
                                 int64_t columns, lt_tensor **out)
{
    if (t == NULL) return LT_OK;
    if (t->device.type != l->device.type || t->device.index != l->device.index)
        return lt_error(
            LT_ERR_RUNTIME,
            "Expected all tensors to be on the same device: %s is on another one than weight_hh",
            name);
    if ((lt_dtype)t->dtype != l->dtype)
        return lt_error(LT_ERR_RUNTIME, "expected %s to have dtype %s, but got %s", name,
                        lt_dtype_scalar_name(l->dtype), lt_dtype_scalar_name((lt_dtype)t->dtype));
    if (t->ndim < 1 || t->sizes[t->ndim - 1] != columns ||
        (rows >= 0 && t->numel != rows * columns))
        return lt_error(LT_ERR_RUNTIME, "_recurrent: %s must have size [%lld, %lld]", name,
                        (long long)rows, (long long)columns);
    lt_tensor *cast = NULL;
    LT_TRY(lt_cast(t, l->compute, &cast));
    lt_status status = lt_make_contiguous(cast, out);
    lt_tensor_release(cast);
    return status;
}

static lt_status fresh(const layer *l, int64_t rows, int64_t columns, bool zero, lt_tensor **out)
{
    LT_TRY(lt_tensor_new(l->compute, l->device, 2, (int64_t[]){rows, columns}, out));
    return zero ? lt_fill_value(*out, lt_scalar_from_int(0)) : LT_OK;
}

static char *tensor_row(const layer *l, lt_tensor *t, int64_t row)
{
    return t == NULL || t->numel == 0 ? NULL
                                      : (char *)lt_data(t) + row * t->sizes[t->ndim - 1] * l->size;
}

/* Copies or adds rows between contiguous tensors of the same width. */
static lt_status move_rows(lt_tensor *dst, int64_t to, lt_tensor *src, int64_t from, int64_t rows,
                           bool add)
{
    lt_tensor *d = NULL, *s = NULL;
    lt_status status;
    LT_CHECK(lt_narrow_impl(dst, 0, to, rows, &d));
    LT_CHECK(lt_narrow_impl(src, 0, from, rows, &s));
    if (add) {
        lt_tensor *sum = lt_tensor_retain(d);
        status = lt_add_impl(d, s, lt_scalar_from_int(1), &sum);
        lt_tensor_release(sum);
    } else {
        status = lt_copy_elements(d, s);
    }
done:
    lt_tensor_release(d);
    lt_tensor_release(s);
    return status;
}

/* The states after the last step of every sequence, in out (a row per step) and last (a row per
 * sequence): copies them to last, or adds them from last to out. */
static lt_status move_last(const layer *l, bool reverse, lt_tensor *out, lt_tensor *last,
                           bool to_last)
{
    if (reverse)
        return to_last ? move_rows(last, 0, out, 0, l->batch, false)
                       : move_rows(out, 0, last, 0, l->batch, true);
    for (int64_t t = 0; t < l->steps; t++) {
        const int64_t next = t + 1 < l->steps ? l->sizes[t + 1] : 0, ended = l->sizes[t] - next;
        const int64_t row = l->offsets[t] + next;
        if (ended > 0)
            LT_TRY(to_last ? move_rows(last, next, out, row, ended, false)
                           : move_rows(out, row, last, next, ended, true));
    }
    return LT_OK;
}

/* Stores a result in the layer's own dtype; steals t. */
static lt_status store_result(const layer *l, lt_tensor **t, lt_tensor **out)
{
    lt_tensor *result = NULL;
    LT_TRY(lt_cast(*t, l->dtype, &result));
    lt_tensor_release(*t);
    *t = NULL;
    lt_tensor_release(*out);
    *out = result;
    return LT_OK;
}

/* ---- forward --------------------------------------------------------------------------------- */

/* The operands of a step of the forward pass, with a row per step or sequence; g: the product of
 * one step. */
typedef struct forward_tensors {
    lt_tensor *x, *h0, *c0, *w, *bias, *g, *out, *c, *keep;
} forward_tensors;

static lt_status run_segment(const layer *l, const segment *s, const forward_tensors *t)
{
    const int64_t n = l->hidden, wide = lt_cell_gates(l->cell) * n;
    const char *before = tensor_row(l, s->first ? t->h0 : t->out, s->before);
    const lt_gemm product = {.dtype = l->compute,
                             .m = s->rows,
                             .n = wide,
                             .k = n,
                             .batch = 1,
                             .trans_b = true,
                             .alpha = 1,
                             .beta = 0,
                             .a = before,
                             .b = lt_data(t->w),
                             .c = lt_data(t->g),
                             .lda = n,
                             .ldb = n,
                             .ldc = wide,
                             .device = l->device};
    const lt_cell_step step = {
        .cell = l->cell,
        .dtype = l->compute,
        .device = l->device,
        .rows = s->rows,
        .hidden = n,
        .x = tensor_row(l, t->x, s->row),
        .g = lt_data(t->g),
        .bias = lt_data(t->bias),
        .h_prev = before,
        .c_prev = t->c0 != NULL ? tensor_row(l, s->first ? t->c0 : t->c, s->before) : NULL,
        .h = tensor_row(l, t->out, s->row),
        .c = tensor_row(l, t->c, s->row),
        .kept = tensor_row(l, t->keep, s->row)};
    LT_TRY(l->backend->gemm(&product));
    return l->backend->cell(&step);
}

lt_status lt_recurrent_forward(const lt_recurrent_args *a, lt_recurrent_results *results)
{
    layer l = {0};
    lt_tensor *x = NULL, *h0 = NULL, *c0 = NULL, *w = NULL, *bias = NULL, *g = NULL;
    lt_tensor *out = NULL, *last = NULL, *c_last = NULL, *keep = NULL, *c = NULL;
    lt_status status;
    lt_recurrent_results made = {0};
    *results = made;
    LT_CHECK(layer_of(&l, a->cell, a->hx, a->weight_hh, rows_or_none(a->gates), a->reverse,
                      a->batch_sizes));
    const bool lstm = l.cell == LT_CELL_LSTM;
    const int64_t n = l.hidden, wide = lt_cell_gates(l.cell) * n;
    if (lstm && a->cx == NULL) {
        status = lt_error(LT_ERR_RUNTIME, "_recurrent: an LSTM needs cx");
        goto done;
    }
    LT_CHECK(prepare_operand(&l, a->gates, "gates", l.rows, wide, &x));
    LT_CHECK(prepare_operand(&l, a->hx, "hx", l.batch, n, &h0));
    if (lstm) LT_CHECK(prepare_operand(&l, a->cx, "cx", l.batch, n, &c0));
    LT_CHECK(prepare_operand(&l, a->weight_hh, "weight_hh", wide, n, &w));
    LT_CHECK(prepare_operand(&l, a->bias_hh, "bias_hh", 1, wide, &bias));
    if (bias == NULL) LT_CHECK(fresh(&l, 1, wide, true, &bias));
    LT_CHECK(fresh(&l, l.batch, wide, false, &g));
    LT_CHECK(fresh(&l, l.rows, n, false, &out));
    LT_CHECK(fresh(&l, l.batch, n, false, &last));
    LT_CHECK(
        fresh(&l, lt_cell_kept(l.cell) > 0 ? l.rows : 0, lt_cell_kept(l.cell) * n, false, &keep));
    LT_CHECK(fresh(&l, lstm ? l.rows : 0, n, false, &c));
    LT_CHECK(fresh(&l, lstm ? l.batch : 0, n, false, &c_last));
    const forward_tensors tensors = {x, h0, c0, w, bias, g, out, c, keep};
    for (int64_t k = 0; k < l.count; k++) LT_CHECK(run_segment(&l, &l.segments[k], &tensors));
    LT_CHECK(move_last(&l, a->reverse, out, last, true));
    if (lstm) LT_CHECK(move_last(&l, a->reverse, c, c_last, true));
    LT_CHECK(store_result(&l, &last, &made.hn));
    LT_CHECK(store_result(&l, &c_last, &made.cn));
    LT_CHECK(store_result(&l, &out, &made.output));
    made.kept = lt_tensor_retain(keep);
    made.cells = lt_tensor_retain(c);
    *results = made;
    made = (lt_recurrent_results){0};
done:
    for (lt_tensor **t = (lt_tensor *[]){x, h0, c0, w, bias, g, out, last, c_last, keep, c,
                                         made.output, made.hn, made.cn},
                   **end = t + 14;
         t < end; t++)
        lt_tensor_release(*t);
    layer_free(&l);
    return status;
}

/* ---- backward -------------------------------------------------------------------------------- */

/* Whether segment b continues a, both in the rows of the gradients and in the rows of the previous
 * state. */
static bool follows(const segment *a, const segment *b)
{
    return a->first == b->first && a->row + a->rows == b->row && a->before + a->rows == b->before;
}

/* grad_w += sum over all rows of grad_g^T (previous state), by one product per run of consecutive
 * rows. */
static lt_status weight_gradient(const layer *l, lt_tensor *grad_g, lt_tensor *h0, lt_tensor *out,
                                 lt_tensor *grad_w)
{
    const int64_t n = l->hidden, wide = lt_cell_gates(l->cell) * n;
    double beta = 0;
    for (int64_t k = 0; k < l->count;) {
        segment run = l->segments[k++];
        for (; k < l->count; k++) {
            const segment *next = &l->segments[k];
            if (follows(next, &run)) {
                run.row = next->row;
                run.before = next->before;
            } else if (!follows(&run, next)) {
                break;
            }
            run.rows += next->rows;
        }
        const lt_gemm product = {.dtype = l->compute,
                                 .m = wide,
                                 .n = n,
                                 .k = run.rows,
                                 .batch = 1,
                                 .trans_a = true,
                                 .alpha = 1,
                                 .beta = beta,
                                 .a = tensor_row(l, grad_g, run.row),
                                 .b = tensor_row(l, run.first ? h0 : out, run.before),
                                 .c = lt_data(grad_w),
                                 .lda = wide,
                                 .ldb = n,
                                 .ldc = n,
                                 .device = l->device};
        LT_TRY(l->backend->gemm(&product));
        beta = 1;
    }
    return LT_OK;
}

/* The gradient of all states: the output's, if any, plus the last state's at the end of every
 * sequence. */
static lt_status state_gradient(const layer *l, bool reverse, lt_tensor *grad_output,
                                lt_tensor *grad_last, lt_tensor **out)
{
    LT_TRY(fresh(l, l->rows, l->hidden, grad_output == NULL, out));
    if (grad_output != NULL) LT_TRY(move_rows(*out, 0, grad_output, 0, l->rows, false));
    return grad_last != NULL ? move_last(l, reverse, *out, grad_last, false) : LT_OK;
}

/* The operands of a step of the backward pass. */
typedef struct backward_tensors {
    lt_tensor *h0, *c0, *w, *out, *cells, *kept, *dh, *dc, *dx, *dg, *dh0, *dc0;
} backward_tensors;

static lt_status run_segment_backward(const layer *l, const segment *s, const backward_tensors *t)
{
    const bool lstm = l->cell == LT_CELL_LSTM;
    const int64_t n = l->hidden, wide = lt_cell_gates(l->cell) * n;
    char *dh_before = tensor_row(l, s->first ? t->dh0 : t->dh, s->before);
    const lt_cell_step step = {
        .cell = l->cell,
        .dtype = l->compute,
        .device = l->device,
        .rows = s->rows,
        .hidden = n,
        .h_prev = tensor_row(l, s->first ? t->h0 : t->out, s->before),
        .c_prev = lstm ? tensor_row(l, s->first ? t->c0 : t->cells, s->before) : NULL,
        .h = tensor_row(l, t->out, s->row),
        .c = tensor_row(l, t->cells, s->row),
        .kept = tensor_row(l, t->kept, s->row),
        .grad_h = tensor_row(l, t->dh, s->row),
        .grad_c = tensor_row(l, t->dc, s->row),
        .grad_x = tensor_row(l, t->dx, s->row),
        .grad_g = tensor_row(l, t->dg, s->row),
        .grad_h_prev = dh_before,
        .grad_c_prev = lstm ? tensor_row(l, s->first ? t->dc0 : t->dc, s->before) : NULL};
    const lt_gemm product = {.dtype = l->compute,
                             .m = s->rows,
                             .n = n,
                             .k = wide,
                             .batch = 1,
                             .alpha = 1,
                             .beta = 1,
                             .a = step.grad_g,
                             .b = lt_data(t->w),
                             .c = dh_before,
                             .lda = wide,
                             .ldb = n,
                             .ldc = n,
                             .device = l->device};
    LT_TRY(l->backend->cell_backward(&step));
    return l->backend->gemm(&product);
}

lt_status lt__recurrent_backward_impl(lt_tensor *grad_output, lt_tensor *grad_hn,
                                      lt_tensor *grad_cn, lt_tensor *hx, lt_tensor *cx,
                                      lt_tensor *weight_hh, lt_tensor *output, lt_tensor *kept,
                                      lt_tensor *cells, const char *cell, bool reverse,
                                      lt_tensor *batch_sizes, lt_tensor **grad_gates,
                                      lt_tensor **grad_hx, lt_tensor **grad_cx,
                                      lt_tensor **grad_weight_hh, lt_tensor **grad_bias_hh)
{
    layer l = {0};
    lt_tensor *go = NULL, *gh = NULL, *gc = NULL, *h0 = NULL, *c0 = NULL, *w = NULL, *out = NULL,
              *bias = NULL;
    lt_tensor *dh = NULL, *dc = NULL, *dx = NULL, *dg = NULL, *dh0 = NULL, *dc0 = NULL, *dw = NULL;
    lt_status status;
    LT_CHECK(layer_of(&l, cell, hx, weight_hh, rows_or_none(output), reverse, batch_sizes));
    const bool lstm = l.cell == LT_CELL_LSTM, gru = l.cell == LT_CELL_GRU;
    const int64_t n = l.hidden, wide = lt_cell_gates(l.cell) * n, keeps = lt_cell_kept(l.cell) * n;
    if ((lt_dtype)kept->dtype != l.compute || kept->numel != l.rows * keeps ||
        (lstm && cx == NULL) || (lt_dtype)cells->dtype != l.compute ||
        cells->numel != (lstm ? l.rows * n : 0)) {
        status = lt_error(LT_ERR_RUNTIME,
                          "_recurrent_backward: these are not the results of _recurrent");
        goto done;
    }
    LT_CHECK(prepare_operand(&l, grad_output, "grad_output", l.rows, n, &go));
    LT_CHECK(prepare_operand(&l, grad_hn, "grad_hn", l.batch, n, &gh));
    LT_CHECK(prepare_operand(&l, hx, "hx", l.batch, n, &h0));
    LT_CHECK(prepare_operand(&l, weight_hh, "weight_hh", wide, n, &w));
    LT_CHECK(prepare_operand(&l, output, "output", l.rows, n, &out));
    LT_CHECK(state_gradient(&l, reverse, go, gh, &dh));
    LT_CHECK(fresh(&l, l.batch, n, true, &dh0));
    if (lstm) {
        LT_CHECK(prepare_operand(&l, grad_cn, "grad_cn", l.batch, n, &gc));
        LT_CHECK(prepare_operand(&l, cx, "cx", l.batch, n, &c0));
        LT_CHECK(state_gradient(&l, reverse, NULL, gc, &dc));
    }
    LT_CHECK(fresh(&l, lstm ? l.batch : 0, n, true, &dc0));
    LT_CHECK(fresh(&l, l.rows, wide, false, &dx));
    if (gru)
        LT_CHECK(fresh(&l, l.rows, wide, false, &dg));
    else
        dg = lt_tensor_retain(dx);
    LT_CHECK(fresh(&l, wide, n, false, &dw));
    const backward_tensors tensors = {h0, c0, w, out, cells, kept, dh, dc, dx, dg, dh0, dc0};
    for (int64_t k = l.count - 1; k >= 0; k--)
        LT_CHECK(run_segment_backward(&l, &l.segments[k], &tensors));
    LT_CHECK(weight_gradient(&l, dg, h0, out, dw));
    LT_CHECK(lt_sum_dim_impl(dg, &(lt_dims){1, {0}}, false, LT_DTYPE_NONE, &bias));
    LT_CHECK(store_result(&l, &dx, grad_gates));
    LT_CHECK(store_result(&l, &dh0, grad_hx));
    LT_CHECK(store_result(&l, &dc0, grad_cx));
    LT_CHECK(store_result(&l, &dw, grad_weight_hh));
    LT_CHECK(store_result(&l, &bias, grad_bias_hh));
done:
    for (lt_tensor **
             t = (lt_tensor *[]){go, gh, gc, h0, c0, w, out, bias, dh, dc, dx, dg, dh0, dc0, dw},
           **end = t + 15;
         t < end; t++)
        lt_tensor_release(*t);
    layer_free(&l);
    return status;
}
