/* network_node.c - _recurrent_network, all layers of a recurrent network by a library of the device
 * (network.c), and its derivative: one call of _recurrent_network_backward, or, if that is
 * differentiated in turn, the derivative of the layers one by one (rerun.c). */
#include <stddef.h>
#include <stdio.h>

#include "autograd/autograd.h"
#include "error.h"
#include "memory/alloc.h"
#include "ops/recurrent/recurrent.h"
#include "ops/steps.h"
#include "op/_recurrent_network.h"
#include "op/_recurrent_network_backward.h"

/* The inputs are input, hx, cx (which may be NULL) and the weights. */
enum { INPUT, HX, CX, FIRST_WEIGHT, RESULTS = 3 };

typedef struct network_node {
    lt_node node;
    lt_saved_list saved; /* the inputs, then the two tensors of bytes of the library */
    lt_saved output;
    char cell[8];
    int64_t layers;
    bool bidirectional;
} network_node;

static lt_status differentiate_layers(const network_node *n, const lt_tensor_list *saved,
                                      lt_tensor *const *grads, lt_tensor **results,
                                      const bool *needs)
{
    const int64_t inputs = n->node.outputs;
    lt_tensor *outputs[RESULTS] = {NULL};
    lt_status status = LT_OK;
    lt_tensor **again = lt_mem_zarray(inputs, sizeof *again);
    if (again == NULL) return LT_ERR_MEMORY;
    for (int64_t i = 0; i < inputs; i++) LT_CHECK(lt_rerun_input(saved->v[i], needs[i], &again[i]));
    const lt_tensor_list weights = {inputs - FIRST_WEIGHT, again + FIRST_WEIGHT};
    const bool before = lt_set_grad_enabled(true);
    status =
        lt_recurrent_network_layers(&(lt_network_args){again[INPUT], again[HX], again[CX], &weights,
                                                       n->cell, n->layers, n->bidirectional},
                                    outputs);
    lt_set_grad_enabled(before);
    if (status == LT_OK)
        status = lt_rerun_gradients(outputs, grads, n->node.inputs, again, needs, inputs, results);
done:
    for (int64_t i = 0; i < inputs; i++) lt_tensor_release(again[i]);
    for (int i = 0; i < RESULTS; i++) lt_tensor_release(outputs[i]);
    lt_mem_free(again);
    return status;
}

static lt_status differentiate_library(const network_node *n, const lt_tensor_list *saved,
                                       lt_tensor *output, lt_tensor *const *grads,
                                       lt_tensor **results, const bool *needs)
{
    const int64_t inputs = n->node.outputs;
    lt_tensor *const *v = saved->v;
    const bool lstm = v[CX] != NULL;
    bool needs_weights = false;
    lt_tensor_list made = {0, NULL};
    for (int64_t i = FIRST_WEIGHT; i < inputs; i++) needs_weights = needs_weights || needs[i];
    LT_TRY(lt__recurrent_network_backward(
        grads[0], grads[1], lstm ? grads[2] : NULL, v[INPUT], v[HX], v[CX], output, v[inputs],
        v[inputs + 1], n->cell, n->layers, n->bidirectional,
        inputs - FIRST_WEIGHT == 4 * v[HX]->sizes[0], needs_weights, &made));
    for (int64_t i = 0, at = 0; i < inputs && at < made.n; i++) {
        if (i == CX && !lstm) continue;
        if (needs[i]) results[i] = lt_tensor_retain(made.v[at]);
        at++;
    }
    lt_list_release(&made);
    return LT_OK;
}

static lt_status network_apply(lt_node *node, lt_tensor *const *grads, lt_tensor **results,
                               const bool *needs)
{
    network_node *n = (network_node *)node;
    lt_tensor_list saved = {0, NULL};
    lt_tensor *output = NULL;
    lt_status status = LT_OK;
    LT_CHECK(lt_unpack_list(&n->saved, node, &saved));
    if (lt_grad_mode_on() || lt_is_transformed(grads, node->inputs) ||
        lt_is_transformed(saved.v, node->outputs)) {
        status = differentiate_layers(n, &saved, grads, results, needs);
    } else {
        LT_CHECK(lt_unpack(&n->output, node, &output));
        status = differentiate_library(n, &saved, output, grads, results, needs);
    }
done:
    lt_unpacked_release(&saved);
    lt_tensor_release(output);
    return status;
}

static void release_network(lt_node *node)
{
    lt_saved_list_release(&((network_node *)node)->saved);
    lt_saved_release(&((network_node *)node)->output);
}

static void destroy_network(lt_node *node) { lt_mem_free(((network_node *)node)->saved.v); }

static const lt_owned owned[] = {{offsetof(network_node, saved), LT_OWNED_SAVED_LIST},
                                 {offsetof(network_node, output), LT_OWNED_SAVED},
                                 {0, LT_OWNED_NODE}};

static const lt_node_class network_class = {.name = "RecurrentNetworkBackward",
                                            .size = sizeof(network_node),
                                            .apply = network_apply,
                                            .release_saved = release_network,
                                            .destroy = destroy_network,
                                            .owned = owned};

/* The results of the library as outputs of a node. tensors: the inputs, with room for two more. */
static lt_status record_network(const lt_network_args *a, lt_tensor **tensors, int64_t inputs,
                                const lt_tensor_list *made)
{
    lt_node *node = NULL;
    const int results = tensors[CX] != NULL ? 3 : 2;
    lt_status status = LT_OK;
    LT_CHECK(lt_node_new(&network_class, results, (int)inputs, &node));
    network_node *n = (network_node *)node;
    snprintf(n->cell, sizeof n->cell, "%s", a->cell);
    n->layers = a->layers;
    n->bidirectional = a->bidirectional;
    for (int i = 0; i < inputs; i++) LT_CHECK(lt_node_connect(node, i, tensors[i]));
    for (int i = 0; i < 2; i++) tensors[inputs + i] = made->v[results + i];
    LT_CHECK(lt_save_list(&n->saved, &(lt_tensor_list){inputs + 2, tensors}));
    LT_CHECK(lt_save_output(&n->output, made->v[0], 0));
    for (int i = 0; i < results; i++) LT_CHECK(lt_node_attach(node, i, made->v[i]));
done:
    lt_node_release(node);
    return status;
}

lt_status lt__recurrent_network_impl(lt_tensor *input, lt_tensor *hx, lt_tensor *cx,
                                     const lt_tensor_list *weights, const char *cell,
                                     int64_t num_layers, bool bidirectional, lt_tensor_list *out)
{
    const lt_network_args args = {input, hx, cx, weights, cell, num_layers, bidirectional};
    const int64_t inputs = FIRST_WEIGHT + weights->n;
    bool keep = false;
    lt_tensor_list made = {0, NULL};
    lt_status status = LT_OK;
    lt_tensor **tensors = lt_mem_zarray(inputs + 2, sizeof *tensors);
    if (tensors == NULL) return LT_ERR_MEMORY;
    tensors[INPUT] = input, tensors[HX] = hx, tensors[CX] = cx;
    for (int64_t i = 0; i < weights->n; i++) tensors[FIRST_WEIGHT + i] = weights->v[i];
    for (int64_t i = 0; i < inputs && lt_grad_mode_on(); i++)
        keep = keep || lt_requires_grad(tensors[i]);
    if (!lt_is_transformed(tensors, inputs))
        status = lt_recurrent_network_forward(&args, keep, &made);
    if (status == LT_OK && made.n > 0 && keep)
        status = record_network(&args, tensors, inputs, &made);
    lt_mem_free(tensors);
    if (status != LT_OK) {
        lt_list_release(&made);
        return status;
    }
    const int64_t results = cx != NULL ? 3 : 2; /* the others are for the derivative */
    while (made.n > results) lt_tensor_release(made.v[--made.n]);
    *out = made;
    return LT_OK;
}
