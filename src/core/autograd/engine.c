/* engine.c - lt_run_backward: propagates gradients from roots to leaves, in topological order.
 *
 * First, all nodes reachable from the roots are discovered, with the number of edges that lead to
 * each. A node is ready when the gradients of all these edges have been added up at its inputs. If
 * the caller requests the gradients of given inputs, these are captured when complete, and only
 * nodes on paths to them run.
 *
 * A node runs on the GPU stream of its forward op. Gradients pending at a node's inputs are ordered
 * on that node's stream; results for the caller are ordered on the caller's stream. */
#include <string.h>

#include "assertion.h"
#include "compile/trace.h"
#include "context/interrupt.h"
#include "context/profile.h"
#include "user_index.h"
#include "devices/backend.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "graph.h"
#include "memory/alloc.h"
#include "sparse.h"
#include "op/add.h"
#include "op/ones_like.h"

/* A gradient requested by the caller. */
typedef struct capture {
    int32_t at;   /* the record of the node */
    int slot;     /* the input of the node */
    int32_t next; /* the next capture at the same node; -1: none */
    lt_tensor *grad;
} capture;

typedef struct engine_run {
    lt_graph graph;
    capture *captures;
    bool retain_graph;
    bool leaf_hooks; /* run the hooks of leaves */
    bool trace;      /* a trace is open: a forward op of some node was recorded */
} engine_run;

/* ---- streams --------------------------------------------------------------------------------- */

/* The stream of a node, and the stream that was current before. */
typedef struct stream_scope {
    lt_device device;
    uint64_t previous, own;
} stream_scope;

static lt_status enter_stream(const lt_node *node, stream_scope *scope)
{
    *scope = (stream_scope){node->meta[0].device, 0, 0};
    if (scope->device.type == LT_CPU) return LT_OK;
    const lt_backend *backend = lt_backends[scope->device.type];
    LT_ASSERT(backend != NULL, "device type %d", scope->device.type);
    scope->previous = scope->own = backend->current_stream(scope->device.index);
    if (node->stream == scope->previous) return LT_OK;
    LT_TRY(lt_trace_flush());
    scope->own = node->stream;
    backend->set_stream(scope->device.index, scope->own);
    return LT_OK;
}

/* status: of the work on the stream; returned unless restoring fails. */
static lt_status leave_stream(const stream_scope *scope, lt_status status)
{
    if (scope->own == scope->previous) return status;
    if (status == LT_OK) status = lt_trace_flush();
    lt_backends[scope->device.type]->set_stream(scope->device.index, scope->previous);
    return status;
}

/* Records that stream `to` uses the components of a sparse tensor. */
static void record_components(const lt_backend *backend, const lt_sparse *parts, uint64_t to)
{
    lt_tensor *const all[] = {parts->indices, parts->compressed, parts->plain, parts->values};
    for (int i = 0; i < 4; i++)
        if (all[i] != NULL && all[i]->storage->release == NULL)
            backend->record_stream(all[i]->storage->ctx, to);
}

/* Makes stream `to` wait for the work queued on `from`, which writes t. */
static lt_status order_streams(lt_tensor *t, uint64_t from, uint64_t to)
{
    if (from == to) return LT_OK;
    const lt_backend *backend = lt_backend_of(t);
    uint64_t event;
    LT_TRY(lt_trace_flush());
    LT_TRY(backend->event_new(t->device.index, false, &event));
    lt_status status = backend->event_record(event, t->device.index, from);
    if (status == LT_OK) status = backend->stream_wait_event(t->device.index, to, event);
    backend->event_free(event);
    if (t->storage->release == NULL) backend->record_stream(t->storage->ctx, to);
    if (lt_is_sparse(t)) record_components(backend, lt_sparse_of(t), to);
    return status;
}

/* Orders t, written on the current stream, before node's work. */
static lt_status hand_over(lt_tensor *t, const lt_node *node)
{
    if (t->device.type == LT_CPU || !lt_device_equal(t->device, node->meta[0].device)) return LT_OK;
    return order_streams(t, lt_backend_of(t)->current_stream(t->device.index), node->stream);
}

/* Orders t, written on a node's stream, before the caller's work. */
static lt_status hand_out(lt_tensor *t, const stream_scope *scope)
{
    return lt_device_equal(t->device, scope->device) ? order_streams(t, scope->own, scope->previous)
                                                     : LT_OK;
}

/* ---- accumulation at inputs of nodes --------------------------------------------------------- */

/* Whether t can be written in place: no other code references it, and grad mode is off. */
static bool may_write(const lt_tensor *t)
{
    return !lt_grad_mode_on() && lt_is_unshared(t) && !t->storage->deferred;
}

/* Whether an op may write its result to t's memory: t is unshared and has no autograd data, and
 * neither forward mode (a tangent needs t's elements, too) nor vmap is active. */
static bool may_spend(const lt_tensor *t)
{
    return t != NULL && lt_tls.duals == 0 && lt_tls.batches == 0 && t->autograd == NULL &&
           !(t->flags & ~(LT_FLAG_CONTIGUOUS | LT_FLAG_AT_HOME)) && may_write(t);
}

static bool same_layout(const lt_tensor *a, const lt_tensor *b)
{
    return a->dtype == b->dtype && lt_same_sizes(a, b) &&
           memcmp(a->strides, b->strides, a->ndim * sizeof *a->strides) == 0;
}

/* Adds grad to *sum, in place if one of the two is unshared. Consumes grad. */
static lt_status add_give(lt_tensor **sum, lt_tensor *grad)
{
    lt_tensor *result = NULL;
    lt_status status;
    if (*sum == NULL) {
        *sum = grad;
        return LT_OK;
    }
    /* addition is commutative, so the sum has the same bits */
    if (!may_write(*sum) && may_write(grad) && same_layout(*sum, grad)) {
        lt_tensor *other = *sum;
        *sum = grad;
        grad = other;
    }
    if (may_write(*sum)) {
        status = lt_add_(*sum, grad, lt_scalar_from_int(1));
    } else {
        status = lt_add(*sum, grad, lt_scalar_from_int(1), &result);
        if (status == LT_OK) {
            lt_tensor_release(*sum);
            *sum = result;
        }
    }
    lt_tensor_release(grad);
    return status;
}

/* Adds grad to the gradient at an input of a node. Consumes grad. */
static lt_status arrive_give(lt_visit *v, int slot, lt_tensor *grad)
{
    LT_ASSERT(slot >= 0 && slot < v->node->inputs, "%s: slot %d of %d", v->node->class->name, slot,
              v->node->inputs);
    LT_ASSERT(grad->refs > 0, "refs %d", grad->refs);
    lt_status status = LT_OK;
    if (v->node->inputs != 1 && v->grads == NULL) {
        v->grads = lt_mem_zarray(v->node->inputs, sizeof *v->grads);
        if (v->grads == NULL) status = LT_ERR_MEMORY;
    }
    if (status == LT_OK) status = hand_over(grad, v->node);
    if (status != LT_OK) {
        lt_tensor_release(grad);
        return status;
    }
    stream_scope scope;
    status = enter_stream(v->node, &scope);
    if (status != LT_OK) {
        lt_tensor_release(grad);
        return status;
    }
    return leave_stream(&scope, add_give(&lt_visit_grads(v)[slot], grad));
}

/* ---- running a node -------------------------------------------------------------------------- */

/* Sends the results of a node along its edges and decrements the edge counts. Consumes the results
 * that it sends. */
static lt_status send_results(engine_run *r, const lt_node *node, lt_tensor **results)
{
    lt_graph *g = &r->graph;
    for (int i = 0; i < node->outputs; i++) {
        lt_node *next = node->edges[i].node;
        if (next == NULL) continue;
        int32_t at = lt_graph_find(g, next);
        LT_ASSERT(at >= 0, "%s was not discovered", next->class->name);
        if (!lt_graph_wants(g, at)) continue;
        lt_visit *v = &g->visits[at];
        lt_tensor *grad = results[i];
        results[i] = NULL;
        if (grad != NULL) LT_TRY(arrive_give(v, node->edges[i].slot, grad));
        LT_ASSERT(v->waits > 0, "%s: waits for %d edges", next->class->name, v->waits);
        if (--v->waits == 0) lt_graph_push(g, at);
    }
    return LT_OK;
}

static lt_status compute_node(engine_run *r, lt_node *node, lt_tensor *const *grads,
                              lt_tensor **results, const bool *needs)
{
    if (node->recorded != 0 && !r->trace) {
        LT_TRY(lt_trace_open(node->recorded));
        r->trace = true;
    }
    int32_t event = lt_profiling ? lt_profile_begin(lt_node_name(node), LT_PROFILE_BACKWARD) : -1;
    const bool donates =
        node->class->spends && may_spend(grads[0]) && !lt_node_has_post_hooks(node);
    if (donates) grads[0]->role = LT_ROLE_DONATED;
    lt_status status = lt_node_apply(node, grads, results, needs);
    if (donates) grads[0]->role = 0;
    if (event >= 0) lt_profile_end(event);
    LT_TRY(status);
    for (int i = 0; i < node->outputs; i++) {
        const lt_edge *edge = &node->edges[i];
        LT_ASSERT(!needs[i] || edge->slot < edge->node->inputs, "%s: slot %d of %d",
                  edge->node->class->name, edge->slot, edge->node->inputs);
        if (needs[i] && results[i] != NULL)
            LT_TRY(lt_fit_gradient(node, i, &edge->node->meta[edge->slot], &results[i]));
    }
    if (lt_anomaly()) LT_TRY(lt_check_nan(node, results, node->outputs));
    return lt_run_node_hooks(node, LT_SLOT_NODE_AFTER, results, node->outputs, grads, node->inputs);
}

/* Runs a node and sends its results on. Nodes with few outputs need no allocation. */
static lt_status run_node(engine_run *r, lt_visit *v, bool any)
{
    enum { FEW = 8 };
    lt_node *node = v->node;
    lt_tensor *few_results[FEW], **results = few_results;
    bool few_needs[FEW], *needs = few_needs;
    size_t n = (size_t)node->outputs;
    lt_status status = LT_OK;
    if (n > FEW) {
        results = lt_mem_array((int64_t)n, sizeof *results + sizeof *needs);
        if (results == NULL) return LT_ERR_MEMORY;
        needs = (bool *)(results + n);
    }
    for (size_t i = 0; i < n; i++) {
        const lt_node *next = node->edges[i].node;
        results[i] = NULL;
        needs[i] = next != NULL && lt_graph_wants(&r->graph, lt_graph_find(&r->graph, next));
    }
    lt_tensor **grads = lt_visit_grads(v);
    if (any) LT_CHECK(compute_node(r, node, grads, results, needs));
    if (!r->retain_graph && !node->saved_released) {
        node->class->release_saved(node);
        node->saved_released = true;
    }
    for (int slot = 0; any && slot < node->inputs; slot++) {
        lt_tensor_release(grads[slot]);
        grads[slot] = NULL;
    }
    LT_CHECK(send_results(r, node, results));
done:
    for (size_t i = 0; i < n; i++) lt_tensor_release(results[i]);
    if (results != few_results) lt_mem_free(results);
    return status;
}

static lt_status accumulate_leaf(lt_visit *v, const stream_scope *scope)
{
    lt_tensor *leaf = ((lt_accumulator *)v->node)->leaf, *grad = v->grad;
    LT_ASSERT(leaf->refs > 0 && leaf->autograd != NULL, "refs %d", leaf->refs);
    /* a second reference, so lt_accumulate_steal copies the gradient */
    lt_tensor *seen = lt_node_has_post_hooks(v->node) ? lt_tensor_retain(grad) : NULL;
    v->grad = NULL;
    lt_status status = lt_accumulate_steal(leaf, grad);
    if (status == LT_OK) status = hand_out(leaf->autograd->grad, scope);
    if (status == LT_OK) status = lt_run_post_hooks(leaf);
    if (status == LT_OK && seen != NULL)
        status = lt_run_node_hooks(v->node, LT_SLOT_NODE_AFTER, NULL, 0, &seen, 1);
    lt_tensor_release(seen);
    return status;
}

/* All gradients of a node have arrived: runs its hooks, captures requested gradients, runs the
 * node. */
static lt_status complete(engine_run *r, int32_t at, const stream_scope *scope)
{
    lt_visit *v = &r->graph.visits[at];
    lt_node *node = v->node;
    lt_tensor **grads = lt_visit_grads(v);
    bool any = false;
    LT_ASSERT(v->waits == 0, "%s: waits for %d edges", node->class->name, v->waits);
    LT_ASSERT(node->refs > 0, "%s: refs %d", node->class->name, node->refs);
    for (int slot = 0; grads != NULL && slot < node->inputs; slot++) {
        if (grads[slot] == NULL) continue;
        any = true;
        if (r->leaf_hooks || !lt_is_accumulator(node))
            LT_TRY(lt_run_hooks(node, slot, &grads[slot]));
        if (node->hooks != NULL) LT_TRY(hand_out(grads[slot], scope));
    }
    for (int32_t i = v->capture; i >= 0; i = r->captures[i].next) {
        LT_ASSERT(r->captures[i].at == at && r->captures[i].slot < node->inputs,
                  "capture %d: record %d, slot %d", i, r->captures[i].at, r->captures[i].slot);
        lt_tensor *grad = any ? grads[r->captures[i].slot] : NULL;
        if (grad == NULL) continue;
        LT_TRY(hand_out(grad, scope));
        LT_ASSERT(r->captures[i].grad == NULL, "capture %d", i);
        r->captures[i].grad = lt_tensor_retain(grad);
    }
    if (r->graph.only_captures && !v->needed) return LT_OK;
    if (any) LT_TRY(lt_run_node_hooks(node, LT_SLOT_NODE_BEFORE, grads, node->inputs, NULL, 0));
    if (lt_is_accumulator(node)) return any ? accumulate_leaf(v, scope) : LT_OK;
    return run_node(r, v, any);
}

static lt_status run_all(engine_run *r)
{
    int32_t at;
    while ((at = lt_graph_pop(&r->graph)) >= 0) {
        if (lt_interrupted()) return lt_stopped();
        stream_scope scope;
        LT_TRY(enter_stream(r->graph.visits[at].node, &scope));
        LT_TRY(leave_stream(&scope, complete(r, at, &scope)));
    }
    return LT_OK;
}

/* ---- roots and captures ---------------------------------------------------------------------- */

/* The record of the node that receives t's gradient; the graph owns a reference to the node. */
static lt_status visit_tensor(lt_graph *g, lt_tensor *t, int32_t *at, int *slot)
{
    lt_node *node;
    LT_TRY(lt_edge_of(t, &node, slot));
    lt_status status = lt_graph_visit(g, node, at);
    if (status == LT_OK)
        lt_graph_hold_steal(g, *at);
    else
        lt_node_release(node);
    return status;
}

static lt_status add_captures(engine_run *r, lt_tensor *const *inputs, int n)
{
    r->captures = lt_mem_zarray(n, sizeof *r->captures);
    if (r->captures == NULL) return LT_ERR_MEMORY;
    for (int i = 0; i < n; i++) {
        capture *c = &r->captures[i];
        if (!lt_requires_grad(inputs[i]))
            return lt_error(LT_ERR_RUNTIME,
                            "One of the differentiated Tensors does not require grad");
        LT_TRY(visit_tensor(&r->graph, inputs[i], &c->at, &c->slot));
        c->next = r->graph.visits[c->at].capture;
        r->graph.visits[c->at].capture = i;
    }
    return LT_OK;
}

/* New reference: the initial gradient of a root. */
static lt_status root_gradient(lt_tensor *root, lt_tensor *given, int i, lt_tensor **out)
{
    char a[256], b[256];
    if (!lt_requires_grad(root))
        return lt_error(LT_ERR_RUNTIME,
                        "element %lld of tensors does not require grad and does not have a grad_fn",
                        lt_user_index(i));
    if (given == NULL && root->numel != 1)
        return lt_error(LT_ERR_RUNTIME, "grad can be implicitly created only for scalar outputs");
    if (given == NULL && lt_dtype_is_complex((lt_dtype)root->dtype))
        return lt_error(
            LT_ERR_RUNTIME,
            "grad can be implicitly created only for real scalar outputs but got torch.%s",
            lt_dtype_name((lt_dtype)root->dtype));
    if (given == NULL) return lt_ones_like(root, LT_DTYPE_NONE, NULL, out);
    if (!lt_same_sizes(root, given))
        return lt_error(LT_ERR_RUNTIME,
                        "Mismatch in shape: grad_output[%lld] has a shape of torch.Size(%s) and "
                        "output[%lld] has a shape of "
                        "torch.Size(%s).",
                        lt_user_index(i), lt_format_sizes(a, sizeof a, given->ndim, given->sizes),
                        lt_user_index(i), lt_format_sizes(b, sizeof b, root->ndim, root->sizes));
    *out = lt_tensor_retain(given);
    return LT_OK;
}

static lt_status add_root(engine_run *r, lt_tensor *root, lt_tensor *given, int i)
{
    lt_tensor *grad = NULL;
    int32_t at;
    int slot;
    LT_TRY(root_gradient(root, given, i, &grad));
    lt_status status = visit_tensor(&r->graph, root, &at, &slot);
    if (status == LT_OK)
        status = lt_fit_gradient(NULL, i, &r->graph.visits[at].node->meta[slot], &grad);
    if (status == LT_OK) return arrive_give(&r->graph.visits[at], slot, grad);
    lt_tensor_release(grad);
    return status;
}

static lt_status add_roots(engine_run *r, lt_tensor *const *roots, lt_tensor *const *grads, int n)
{
    for (int i = 0; i < n; i++) LT_TRY(add_root(r, roots[i], grads != NULL ? grads[i] : NULL, i));
    /* The records so far belong to roots and captures. A capture may be reachable from a root. */
    int32_t starts = r->graph.n;
    for (int32_t at = 0; at < starts; at++)
        if (r->graph.visits[at].grad != NULL || r->graph.visits[at].grads != NULL)
            LT_TRY(lt_graph_discover(&r->graph, at));
    for (int32_t at = 0; at < starts; at++) {
        const lt_visit *v = &r->graph.visits[at];
        if (v->discovered && v->waits == 0 && lt_graph_wants(&r->graph, at))
            lt_graph_push(&r->graph, at);
    }
    return LT_OK;
}

static lt_status give_captures(engine_run *r, const lt_backward_args *a, int n)
{
    for (int i = 0; i < n && a->results != NULL && !a->allow_unused; i++)
        if (r->captures[i].grad == NULL)
            return lt_error(LT_ERR_RUNTIME,
                            "The differentiated Tensor at index %lld appears to not have been used "
                            "in the graph. Set "
                            "allow_unused=True if this is the desired behavior.",
                            lt_user_index(i));
    for (int i = 0; i < n; i++) {
        lt_tensor *grad = r->captures[i].grad;
        r->captures[i].grad = NULL;
        if (a->results != NULL)
            a->results[i] = grad;
        else if (grad != NULL)
            LT_TRY(lt_accumulate_steal(a->inputs[i], grad));
    }
    return LT_OK;
}

static lt_status run_backward(const lt_backward_args *a, bool leaf_hooks)
{
    engine_run r; /* not zeroed: it contains the records of small graphs */
    lt_status status = LT_OK;
    r.retain_graph = a->retain_graph;
    r.leaf_hooks = leaf_hooks;
    r.captures = NULL;
    r.trace = false;
    const int n_inputs = a->inputs != NULL ? a->n_inputs : 0;
    if (a->inputs != NULL && n_inputs == 0)
        return lt_error(LT_ERR_RUNTIME, "`inputs` argument to `%s()` cannot be empty.",
                        a->results != NULL ? "grad" : "backward");
    bool grad_mode = lt_set_grad_enabled(a->create_graph);
    lt_graph_open(&r.graph, a->inputs != NULL);
    if (a->inputs != NULL) LT_CHECK(add_captures(&r, a->inputs, n_inputs));
    LT_CHECK(add_roots(&r, a->roots, a->grads, a->n));
    LT_CHECK(run_all(&r));
    LT_CHECK(give_captures(&r, a, n_inputs));
done:
    if (r.trace) {
        lt_status closed = lt_trace_close();
        if (status == LT_OK) status = closed;
    }
    for (int i = 0; r.captures != NULL && i < n_inputs; i++) lt_tensor_release(r.captures[i].grad);
    lt_mem_free(r.captures);
    lt_graph_close(&r.graph);
    lt_set_grad_enabled(grad_mode);
    return status;
}

lt_status lt_run_backward(const lt_backward_args *a) { return run_backward(a, true); }

lt_status lt_grad_within(lt_tensor *const *roots, lt_tensor *const *grads, int n,
                         lt_tensor *const *inputs, int n_inputs, lt_tensor **results)
{
    const lt_backward_args a = {.roots = roots,
                                .grads = grads,
                                .n = n,
                                .retain_graph = true,
                                .create_graph = lt_grad_mode_on(),
                                .inputs = inputs,
                                .n_inputs = n_inputs,
                                .allow_unused = true,
                                .results = results};
    return run_backward(&a, false);
}
