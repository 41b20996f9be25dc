/* no_derivative.c - ops without a derivative, or without one for an argument: an error at the call,
 * or a node that raises it in backward. Otherwise such an argument would count as a constant, and
 * its gradient would silently lack a term. */
#include "autograd/autograd.h"
#include "error.h"

lt_status lt_refuse_grad_argument(const char *op, const char *argument)
{
    return lt_error(LT_ERR_RUNTIME,
                    "The function '%s' is not differentiable with respect to argument '%s'. This "
                    "input cannot have requires_grad True; pass %s:detach() for a constant.",
                    op, argument, argument);
}

typedef struct missing_node {
    lt_node node;
    const char *op;
} missing_node;

static lt_status missing_apply(lt_node *node, lt_tensor *const *grads, lt_tensor **results,
                               const bool *needs)
{
    (void)grads;
    (void)results;
    (void)needs;
    return lt_error(LT_ERR_RUNTIME, "derivative for %s is not implemented",
                    ((missing_node *)node)->op);
}

static void release_nothing(lt_node *node) { (void)node; }

static const lt_node_class missing_class = {.name = "NotImplemented",
                                            .size = sizeof(missing_node),
                                            .apply = missing_apply,
                                            .release_saved = release_nothing};

lt_status lt_no_derivative(const char *op, int n, lt_tensor *const *inputs, int results,
                           lt_node **out)
{
    lt_node *node = NULL;
    LT_TRY(lt_node_new(&missing_class, results, n, &node));
    ((missing_node *)node)->op = op;
    for (int i = 0; i < n; i++) {
        lt_status status = lt_node_connect(node, i, inputs[i]);
        if (status != LT_OK) {
            lt_node_release(node);
            return status;
        }
    }
    *out = node;
    return LT_OK;
}
