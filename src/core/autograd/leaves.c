/* leaves.c - queries of a graph: the leaves that gradients of some tensors reach, the node that
 * receives a tensor's gradient, and whether the current backward computes it. */
#include "assertion.h"
#include "autograd/graph.h"
#include "autograd/internal.h"
#include "error.h"
#include "memory/alloc.h"

static lt_status visit_roots(lt_graph *g, lt_tensor *const *roots, int n)
{
    for (int i = 0; i < n; i++) {
        lt_node *node = NULL;
        int32_t at;
        LT_TRY(lt_grad_fn(roots[i], &node));
        if (node == NULL) continue;
        LT_TRY(lt_graph_visit(g, node, &at));
        LT_TRY(lt_graph_discover(g, at));
    }
    return LT_OK;
}

lt_status lt_graph_leaves(lt_tensor *const *roots, int n, lt_tensor_list *out)
{
    lt_graph g;
    int64_t found = 0;
    lt_status status;
    lt_graph_open(&g, false);
    LT_CHECK(visit_roots(&g, roots, n));
    lt_tensor **leaves = lt_mem_alloc((size_t)(g.n > 0 ? g.n : 1) * sizeof *leaves);
    if (leaves == NULL) {
        status = LT_ERR_MEMORY;
        goto done;
    }
    for (int32_t at = 0; at < g.n; at++)
        if (lt_is_accumulator(g.visits[at].node))
            leaves[found++] = lt_tensor_retain(((lt_accumulator *)g.visits[at].node)->leaf);
    *out = (lt_tensor_list){found, leaves};
done:
    lt_graph_close(&g);
    return status;
}

lt_status lt_edge_of(lt_tensor *t, lt_node **node, int *slot)
{
    lt_node *fn = NULL;
    LT_TRY(lt_grad_slot(t, &fn, slot));
    if (fn == NULL) return lt_accumulator_of(t, node);
    *node = lt_node_retain(fn);
    return LT_OK;
}

int64_t lt_backward_number(void) { return lt_tls.backward != NULL ? lt_tls.backward->number : 0; }

lt_status lt_backward_reaches(lt_tensor *t, bool *out)
{
    const lt_graph *g = lt_tls.backward;
    lt_node *node;
    int slot;
    *out = false;
    if (g == NULL || !lt_requires_grad(t)) return LT_OK;
    LT_TRY(lt_edge_of(t, &node, &slot));
    const int32_t at = lt_graph_find(g, node);
    *out = at >= 0 && g->visits[at].discovered && lt_graph_wants(g, at);
    lt_node_release(node);
    return LT_OK;
}

lt_status lt_gradient_edge(lt_node *node, int slot, lt_tensor **out)
{
    if (lt_is_accumulator(node)) {
        *out = lt_tensor_retain(((lt_accumulator *)node)->leaf);
        return LT_OK;
    }
    LT_ASSERT(slot >= 0 && slot < node->inputs, "%s: slot %d of %d", node->class->name, slot,
              node->inputs);
    const lt_like *like = &node->meta[slot];
    const int64_t one = 1, still[LT_MAX_DIMS] = {0};
    lt_tensor *element = NULL, *t = NULL;
    lt_autograd *autograd;
    lt_status status;
    LT_CHECK(lt_tensor_new((lt_dtype)like->dtype, like->device, 1, &one, &element));
    LT_CHECK(lt_tensor_view(element, like->ndim, like->sizes, still, 0, &t));
    LT_CHECK(lt_autograd_of(t, &autograd));
    autograd->grad_fn = lt_node_retain(node);
    autograd->slot = slot;
    t->flags |= LT_FLAG_REQUIRES_GRAD;
    *out = t;
    t = NULL;
done:
    lt_tensor_release(element);
    lt_tensor_release(t);
    return status;
}
