/* direction.c - _recurrent, one direction of a recurrent layer, and its derivative.
 *
 * The results come from one kernel per step, and the derivative from one call of
 * _recurrent_backward. The steps are differentiable operations instead under vmap and in forward
 * mode, and in the derivative if it is differentiated in turn (rerun.c). */
#include <stddef.h>
#include <stdio.h>

#include "autograd/autograd.h"
#include "error.h"
#include "memory/alloc.h"
#include "ops/recurrent/recurrent.h"
#include "op/_recurrent.h"
#include "op/_recurrent_backward.h"
#include "op/detach.h"
#include "op/recurrent_layer.h"
#include "op/view_as.h"

enum { GATES, HX, CX, WEIGHT, BIAS, INPUTS, KEPT = INPUTS, CELLS, SIZES, SAVED, RESULTS = 3 };

/* By differentiable operations: output, hn and cn, which is NULL unless the cell is an LSTM's. */
static lt_status run_by_steps(const lt_recurrent_args *a, lt_tensor **results)
{
    lt_sequence sequence;
    int64_t *sizes = NULL;
    LT_TRY(lt_recurrent_sequence(a, &sequence, &sizes));
    const bool lstm = sequence.cell == LT_CELL_LSTM;
    const lt_cell_weights w = {.w_hh = a->weight_hh, .b_hh = a->bias_hh};
    lt_tensor *h = lt_tensor_retain(a->hx), *c = lstm ? lt_tensor_retain(a->cx) : NULL;
    lt_tensor *output = NULL;
    const lt_status status = lt_run_steps(&sequence, a->gates, &w, &h, &c, &output);
    lt_mem_free(sizes);
    if (status == LT_OK) {
        results[0] = output, results[1] = h, results[2] = c;
        return LT_OK;
    }
    lt_tensor_release(h);
    lt_tensor_release(c);
    return status;
}

/* ---- the derivative -------------------------------------------------------------------------- */

typedef struct direction_node {
    lt_node node;
    lt_saved_list saved; /* the inputs, kept, cells and batch sizes */
    lt_saved output;
    char cell[8];
    bool reverse;
} direction_node;

static lt_recurrent_args args_of(const direction_node *n, lt_tensor *const *t,
                                 lt_tensor *batch_sizes)
{
    return (lt_recurrent_args){t[GATES], t[HX],   t[CX],      t[WEIGHT],
                               t[BIAS],  n->cell, n->reverse, batch_sizes};
}

/* The gradients of the steps, by operations. */
static lt_status differentiate_steps(const direction_node *n, lt_tensor *const *saved,
                                     lt_tensor *const *grads, lt_tensor **results,
                                     const bool *needs)
{
    lt_tensor *inputs[INPUTS] = {NULL}, *outputs[RESULTS] = {NULL};
    lt_status status = LT_OK;
    for (int i = 0; i < INPUTS; i++) LT_CHECK(lt_rerun_input(saved[i], needs[i], &inputs[i]));
    const lt_recurrent_args args = args_of(n, inputs, saved[SIZES]);
    const bool before = lt_set_grad_enabled(true);
    status = run_by_steps(&args, outputs);
    lt_set_grad_enabled(before);
    if (status == LT_OK)
        status = lt_rerun_gradients(outputs, grads, n->node.inputs, inputs, needs, INPUTS, results);
done:
    for (int i = 0; i < INPUTS; i++) lt_tensor_release(inputs[i]);
    for (int i = 0; i < RESULTS; i++) lt_tensor_release(outputs[i]);
    return status;
}

static lt_status differentiate_kernels(const direction_node *n, lt_tensor *const *saved,
                                       lt_tensor *output, lt_tensor *const *grads,
                                       lt_tensor **results, const bool *needs)
{
    lt_tensor *made[INPUTS] = {NULL};
    const lt_status status = lt__recurrent_backward(
        grads[0], grads[1], saved[CX] != NULL ? grads[2] : NULL, saved[HX], saved[CX],
        saved[WEIGHT], output, saved[KEPT], saved[CELLS], n->cell, n->reverse, saved[SIZES],
        &made[GATES], &made[HX], &made[CX], &made[WEIGHT], &made[BIAS]);
    for (int i = 0; i < INPUTS; i++)
        if (status == LT_OK && needs[i])
            results[i] = made[i];
        else
            lt_tensor_release(made[i]);
    return status;
}

static lt_status direction_apply(lt_node *node, lt_tensor *const *grads, lt_tensor **results,
                                 const bool *needs)
{
    direction_node *n = (direction_node *)node;
    lt_tensor_list saved = {0, NULL};
    lt_tensor *output = NULL;
    lt_status status = LT_OK;
    LT_CHECK(lt_unpack_list(&n->saved, node, &saved));
    if (lt_grad_mode_on() || lt_is_transformed(grads, node->inputs) ||
        lt_is_transformed(saved.v, INPUTS)) {
        status = differentiate_steps(n, saved.v, grads, results, needs);
    } else {
        LT_CHECK(lt_unpack(&n->output, node, &output));
        status = differentiate_kernels(n, saved.v, output, grads, results, needs);
    }
done:
    lt_unpacked_release(&saved);
    lt_tensor_release(output);
    return status;
}

static void release_direction(lt_node *node)
{
    lt_saved_list_release(&((direction_node *)node)->saved);
    lt_saved_release(&((direction_node *)node)->output);
}

static void destroy_direction(lt_node *node) { lt_mem_free(((direction_node *)node)->saved.v); }

static const lt_owned owned[] = {{offsetof(direction_node, saved), LT_OWNED_SAVED_LIST},
                                 {offsetof(direction_node, output), LT_OWNED_SAVED},
                                 {0, LT_OWNED_NODE}};

static const lt_node_class direction_class = {.name = "RecurrentBackward",
                                              .size = sizeof(direction_node),
                                              .apply = direction_apply,
                                              .release_saved = release_direction,
                                              .destroy = destroy_direction,
                                              .owned = owned};

/* The results of kernels as outputs of a node. */
static lt_status record_direction(const lt_recurrent_args *a, const lt_recurrent_results *r)
{
    lt_tensor *saved[SAVED] = {a->gates,   a->hx,   a->cx,    a->weight_hh,
                               a->bias_hh, r->kept, r->cells, a->batch_sizes};
    lt_node *node = NULL;
    lt_status status = LT_OK;
    LT_CHECK(lt_node_new(&direction_class, a->cx != NULL ? 3 : 2, INPUTS, &node));
    direction_node *n = (direction_node *)node;
    snprintf(n->cell, sizeof n->cell, "%s", a->cell);
    n->reverse = a->reverse;
    for (int i = 0; i < INPUTS; i++) LT_CHECK(lt_node_connect(node, i, saved[i]));
    LT_CHECK(lt_save_list(&n->saved, &(lt_tensor_list){SAVED, saved}));
    LT_CHECK(lt_save_output(&n->output, r->output, 0));
    LT_CHECK(lt_node_attach(node, 0, r->output));
    LT_CHECK(lt_node_attach(node, 1, r->hn));
    if (a->cx != NULL) LT_CHECK(lt_node_attach(node, 2, r->cn));
done:
    lt_node_release(node);
    return status;
}

/* ---- the operation --------------------------------------------------------------------------- */

static bool any_requires_grad(lt_tensor *const *inputs)
{
    for (int i = 0; i < INPUTS; i++)
        if (lt_requires_grad(inputs[i])) return lt_grad_mode_on();
    return false;
}

/* A result without elements, of the sizes that kernels give it. */
static lt_status new_empty(const lt_tensor *hx, lt_tensor **out)
{
    const int64_t sizes[] = {0, hx->sizes[1]};
    return lt_tensor_new((lt_dtype)hx->dtype, hx->device, 2, sizes, out);
}

lt_status lt__recurrent_impl(lt_tensor *gates, lt_tensor *hx, lt_tensor *cx, lt_tensor *weight_hh,
                             lt_tensor *bias_hh, const char *cell, bool reverse,
                             lt_tensor *batch_sizes, lt_tensor **output, lt_tensor **hn,
                             lt_tensor **cn, lt_tensor **kept, lt_tensor **cells)
{
    lt_cell kind;
    LT_TRY(lt_cell_named(cell, &kind));
    if (kind != LT_CELL_LSTM) cx = NULL;
    const lt_recurrent_args args = {gates, hx, cx, weight_hh, bias_hh, cell, reverse, batch_sizes};
    lt_tensor *inputs[INPUTS] = {gates, hx, cx, weight_hh, bias_hh}, *made[RESULTS] = {NULL};
    lt_recurrent_results r = {0};
    lt_status status;
    if (lt_is_transformed(inputs, INPUTS)) {
        LT_TRY(run_by_steps(&args, made));
        r.output = made[0], r.hn = made[1], r.cn = made[2];
        status = new_empty(hx, &r.kept);
        if (status == LT_OK) status = new_empty(hx, &r.cells);
        if (status == LT_OK && r.cn == NULL) status = new_empty(hx, &r.cn);
    } else {
        LT_TRY(lt_recurrent_forward(&args, &r));
        status = any_requires_grad(inputs) ? record_direction(&args, &r) : LT_OK;
    }
    if (status == LT_OK) {
        *output = r.output, *hn = r.hn, *cn = r.cn, *kept = r.kept, *cells = r.cells;
        return LT_OK;
    }
    for (lt_tensor **t = (lt_tensor *[]){r.output, r.hn, r.cn, r.kept, r.cells}, **end = t + 5;
         t < end; t++)
        lt_tensor_release(*t);
    return status;
}

lt_status lt_recurrent_layer_impl(lt_tensor *gates, lt_tensor *hx, lt_tensor *cx,
                                  lt_tensor *weight_hh, lt_tensor *bias_hh, const char *cell,
                                  bool reverse, lt_tensor *batch_sizes, lt_tensor **output,
                                  lt_tensor **hn, lt_tensor **cn)
{
    lt_tensor *kept = NULL, *cells = NULL;
    LT_TRY(lt__recurrent(gates, hx, cx, weight_hh, bias_hh, cell, reverse, batch_sizes, output, hn,
                         cn, &kept, &cells));
    lt_tensor_release(kept);
    lt_tensor_release(cells);
    return LT_OK;
}
