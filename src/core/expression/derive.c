/* derive.c - the derivative of a formula: one node for the whole formula, which saves the inputs.
 * Backward runs the operations again, with their derivatives (src/ops), in a trace: all values are
 * deferred, so that the fused groups write only the gradients. With create_graph, the operations are
 * recorded, and derivatives of higher order follow from them. */
#include <string.h>

#include "autograd/autograd.h"
#include "compile/kernel_trace.h"
#include "compile/trace.h"
#include "error.h"
#include "expression.h"
#include "op/detach.h"
#include "op/view_as.h"

typedef struct formula_node {
    lt_node node;
    lt_formula *formula;                 /* counted */
    lt_saved_list saved;                 /* one entry per input; empty for a number */
    lt_value numbers[LT_FORMULA_INPUTS]; /* the inputs that are numbers */
} formula_node;

/* The inputs of a run in backward. */
typedef struct rerun {
    lt_value values[LT_FORMULA_INPUTS];
    lt_tensor *inputs[LT_FORMULA_INPUTS]; /* new references; NULL: a number */
} rerun;

/* Without create_graph an input is a leaf; with it, a view, so that an input that was passed twice
 * has two gradients. */
static lt_status open_input(formula_node *n, int i, bool needed, rerun *r)
{
    lt_tensor *original = NULL;
    lt_status status = LT_OK;
    if (n->numbers[i].kind != LT_KIND_TENSOR) {
        r->values[i] = n->numbers[i];
        return LT_OK;
    }
    LT_TRY(lt_unpack(&n->saved.v[i], &n->node, &original));
    if (lt_grad_mode_on() && lt_requires_grad(original)) {
        LT_CHECK(lt_view_as(original, original, &r->inputs[i]));
    } else {
        LT_CHECK(lt_detach(original, &r->inputs[i]));
        if (needed) LT_CHECK(lt_set_requires_grad(r->inputs[i], true));
    }
    r->values[i] = lt_value_tensor(r->inputs[i]);
done:
    lt_tensor_release(original);
    return status;
}

/* Computes the gradients of outputs that depend on an input that requires grad. */
static lt_status differentiate(const lt_formula *f, rerun *r, lt_tensor *const *grads,
                               lt_tensor **results, const bool *needs)
{
    lt_tensor *outputs[LT_FORMULA_OUTPUTS], *roots[LT_FORMULA_OUTPUTS],
        *root_grads[LT_FORMULA_OUTPUTS], *inputs[LT_FORMULA_INPUTS],
        *gradients[LT_FORMULA_INPUTS] = {NULL};
    int n_roots = 0, n_inputs = 0;
    lt_status status;
    const bool grad_mode = lt_set_grad_enabled(true);
    status = lt_formula_compose(f, r->values, outputs);
    lt_set_grad_enabled(grad_mode);
    if (status != LT_OK) return status;
    for (int k = 0; k < f->n_outputs; k++) {
        if (grads[k] == NULL || !lt_requires_grad(outputs[k])) continue;
        roots[n_roots] = outputs[k];
        root_grads[n_roots++] = grads[k];
    }
    for (int i = 0; i < f->n_inputs; i++)
        if (needs[i]) inputs[n_inputs++] = r->inputs[i];
    if (n_roots > 0 && n_inputs > 0)
        status = lt_grad_within(roots, root_grads, n_roots, inputs, n_inputs, gradients);
    /* The graph is released before the trace ends: temporaries that it saves are not written. */
    for (int k = 0; k < f->n_outputs; k++) lt_tensor_release(outputs[k]);
    if (status != LT_OK) return status;
    for (int i = 0, at = 0; i < f->n_inputs; i++)
        if (needs[i]) results[i] = gradients[at++];
    return LT_OK;
}

static lt_status formula_apply(lt_node *node, lt_tensor *const *grads, lt_tensor **results,
                               const bool *needs)
{
    formula_node *n = (formula_node *)node;
    const lt_formula *f = n->formula;
    rerun r;
    lt_status status = LT_OK, closed = LT_OK;
    bool opened = false;
    memset(&r, 0, sizeof r);
    for (int i = 0; i < f->n_inputs; i++) LT_CHECK(open_input(n, i, needs[i], &r));
    LT_CHECK(lt_trace_open_kernel(lt_formula_min_numel(f, r.values)));
    opened = true;
    LT_CHECK(differentiate(f, &r, grads, results, needs));
done:
    for (int i = 0; i < f->n_inputs; i++) lt_tensor_release(r.inputs[i]);
    if (opened) closed = lt_trace_close();
    if (status == LT_OK && closed != LT_OK) {
        status = closed;
        for (int i = 0; i < f->n_inputs; i++) {
            lt_tensor_release(results[i]);
            results[i] = NULL;
        }
    }
    return status;
}

static void release_inputs(lt_node *node) { lt_saved_list_release(&((formula_node *)node)->saved); }

static void destroy(lt_node *node) { lt_formula_release(((formula_node *)node)->formula); }

static const lt_owned owned[] = {{offsetof(formula_node, saved), LT_OWNED_SAVED_LIST}, {0}};

static const lt_node_class formula_class = {.name = "ElementwiseBackward0",
                                            .size = sizeof(formula_node),
                                            .apply = formula_apply,
                                            .release_saved = release_inputs,
                                            .destroy = destroy,
                                            .owned = owned};

lt_status lt_formula_record(lt_formula *f, const lt_value *inputs, lt_tensor *const *results)
{
    lt_node *node = NULL;
    lt_tensor *tensors[LT_FORMULA_INPUTS] = {NULL};
    lt_status status = LT_OK;
    LT_TRY(lt_node_new(&formula_class, f->n_outputs, f->n_inputs, &node));
    formula_node *n = (formula_node *)node;
    n->formula = lt_formula_retain(f);
    node->name = f->node_name;
    for (int i = 0; i < f->n_inputs; i++) {
        n->numbers[i] = inputs[i];
        if (inputs[i].kind != LT_KIND_TENSOR) continue;
        tensors[i] = inputs[i].v.tensor;
        n->numbers[i].v.tensor = NULL; /* only the kind is read */
        LT_CHECK(lt_node_connect(node, i, tensors[i]));
    }
    LT_CHECK(lt_save_list(&n->saved, &(lt_tensor_list){f->n_inputs, tensors}));
    for (int k = 0; k < f->n_outputs; k++)
        if (lt_dtype_is_inexact((lt_dtype)results[k]->dtype))
            LT_CHECK(lt_node_attach(node, k, results[k]));
done:
    lt_node_release(node);
    return status;
}
