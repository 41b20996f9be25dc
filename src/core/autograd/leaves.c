/* leaves.c - which leaves the gradients of some tensors flow to. */
#include "autograd/graph.h"
#include "error.h"
#include "mem.h"

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
