/* derivatives.c - the functions of ltensor.h for autograd: check their arguments and call
 * src/core/autograd. */
#include "autograd/autograd.h"
#include "error.h"

bool lt_tensor_requires_grad(const lt_tensor *t) { return lt_requires_grad(t); }

lt_status lt_tensor_set_requires_grad(lt_tensor *t, bool on)
{
    LT_REQUIRE(t);
    return lt_set_requires_grad(t, on);
}

bool lt_tensor_is_leaf(const lt_tensor *t) { return t != NULL && lt_is_leaf(t); }

lt_status lt_tensor_set_grad(lt_tensor *t, lt_tensor *grad)
{
    LT_REQUIRE(t);
    return lt_set_grad(t, grad);
}

lt_status lt_backward(lt_tensor *t, const lt_tensor *grad, bool retain_graph, bool create_graph)
{
    lt_tensor *const of_t = (lt_tensor *)grad;
    LT_REQUIRE(t);
    return lt_run_backward(&(lt_backward_args){.roots = &t,
                                               .grads = &of_t,
                                               .n = 1,
                                               .retain_graph = retain_graph || create_graph,
                                               .create_graph = create_graph});
}

/* Error unless there are n > 0 tensors, none NULL. */
static lt_status check_tensors(const char *name, lt_tensor *const *tensors, int n)
{
    if (n <= 0)
        return lt_error(LT_ERR_RUNTIME, "lt_grad(): n_%s is %d, there must be one at least", name,
                        n);
    if (tensors == NULL) return lt_null_argument("lt_grad", name);
    for (int i = 0; i < n; i++)
        if (tensors[i] == NULL)
            return lt_error(LT_ERR_TYPE, "lt_grad(): %s[%d] must not be NULL", name, i);
    return LT_OK;
}

lt_status lt_grad(lt_tensor *const *outputs, int n_outputs, lt_tensor *const *inputs, int n_inputs,
                  lt_tensor *const *grad_outputs, bool retain_graph, bool create_graph,
                  bool allow_unused, lt_tensor **grads)
{
    LT_TRY(check_tensors("outputs", outputs, n_outputs));
    LT_TRY(check_tensors("inputs", inputs, n_inputs));
    LT_REQUIRE(grads);
    return lt_run_backward(&(lt_backward_args){.roots = outputs,
                                               .grads = grad_outputs,
                                               .n = n_outputs,
                                               .retain_graph = retain_graph || create_graph,
                                               .create_graph = create_graph,
                                               .inputs = inputs,
                                               .n_inputs = n_inputs,
                                               .allow_unused = allow_unused,
                                               .results = grads});
}

lt_status lt_tensor_add_hook(lt_tensor *t, lt_grad_hook hook, void (*release)(void *ctx), void *ctx,
                             int64_t *id)
{
    int64_t given;
    LT_REQUIRE(t);
    LT_REQUIRE(hook);
    LT_TRY(lt_register_hook(t, (lt_hook){.run = hook, .release = release, .ctx = ctx}, &given));
    if (id != NULL) *id = given;
    return LT_OK;
}

lt_status lt_tensor_remove_hook(lt_tensor *t, int64_t id)
{
    LT_REQUIRE(t);
    lt_remove_hook(t, id);
    return LT_OK;
}
