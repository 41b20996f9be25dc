/* variable.c - the autograd data of a tensor: requires_grad, is_leaf, .grad; its destruction. */

#include "assertion.h"
#include "autograd/dual.h"
#include "autograd/internal.h"
#include "devices/device.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "memory/alloc.h"

/* Cancels retain_grad: t's node no longer stores the gradient in t. */
static void forget_retained(lt_tensor *t)
{
    lt_autograd *autograd = t->autograd;
    if (!(t->flags & LT_FLAG_RETAINS_GRAD) || autograd->grad_fn == NULL) return;
    lt_autograd_lock();
    LT_ASSERT(autograd->slot < autograd->grad_fn->inputs, "slot %d of %d", autograd->slot,
              autograd->grad_fn->inputs);
    struct lt_hook_list *hooks = autograd->grad_fn->hooks;
    if (hooks != NULL && hooks->retained != NULL && hooks->retained[autograd->slot] == t)
        hooks->retained[autograd->slot] = NULL;
    lt_autograd_unlock();
}

static void autograd_free(lt_tensor *t)
{
    lt_autograd *autograd = t->autograd;
    lt_node *fn = autograd->grad_fn;
    forget_retained(t);
    if (autograd->may_be_cyclic) lt_cycles_forget(t);
    if (autograd->tangents != NULL) lt_tangents_free(t);
    LT_ASSERT(autograd->tangents == NULL && !autograd->may_be_cyclic);
    LT_ASSERT(autograd->accumulator == NULL, "an accumulator holds its leaf");
    t->autograd = NULL;
    lt_node_release(fn);
    lt_tensor_release(autograd->grad);
    if (autograd->hooks != NULL) lt_hook_list_free(autograd->hooks);
    lt_mem_free(autograd);
}

lt_status lt_autograd_of(lt_tensor *t, lt_autograd **out)
{
    if (lt_is_batched(t))
        return lt_error(
            LT_ERR_RUNTIME,
            "vmap: a batched tensor has no separate gradient: call torch.func.grad inside of vmap");
    if (t->autograd == NULL) {
        t->autograd = lt_mem_zalloc(sizeof *t->autograd);
        if (t->autograd == NULL) return LT_ERR_MEMORY;
        t->autograd->attached.free = autograd_free;
    }
    LT_ASSERT(t->autograd->attached.free == autograd_free);
    *out = t->autograd;
    return LT_OK;
}

bool lt_tensor_try_retain(lt_tensor *t)
{
    int32_t refs = atomic_load_explicit(&t->refs, memory_order_relaxed);
    while (refs > 0)
        if (atomic_compare_exchange_weak_explicit(&t->refs, &refs, refs + 1, memory_order_acq_rel,
                                                  memory_order_relaxed))
            return true;
    return false;
}

lt_status lt_detach_inplace(lt_tensor *t)
{
    if (t->view_base != NULL)
        return lt_error(LT_ERR_RUNTIME, "Can't detach views in-place. Use detach() instead.");
    if (t->autograd != NULL) {
        lt_node *fn = t->autograd->grad_fn;
        forget_retained(t);
        t->autograd->grad_fn = NULL;
        t->autograd->slot = 0;
        lt_node_release(fn);
    }
    t->flags &= (uint16_t) ~(LT_FLAG_REQUIRES_GRAD | LT_FLAG_RETAINS_GRAD);
    return LT_OK;
}

bool lt_is_leaf(const lt_tensor *t)
{
    lt_node *fn = NULL;
    /* If regenerating a view's history fails, the view has a history. */
    return !lt_requires_grad(t) || (lt_grad_fn((lt_tensor *)t, &fn) == LT_OK && fn == NULL);
}

lt_tensor *lt_tensor_grad(const lt_tensor *t)
{
    return t != NULL && t->autograd != NULL ? t->autograd->grad : NULL;
}

static lt_status check_gradient(const lt_tensor *t, const lt_tensor *grad)
{
    char a[256], b[256];
    if (grad == t) return lt_error(LT_ERR_RUNTIME, "can't assign Variable as its own grad");
    if (!lt_same_sizes(t, grad))
        return lt_error(LT_ERR_RUNTIME,
                        "attempting to assign a gradient of size '%s' to a tensor of size '%s'. "
                        "Please ensure that the gradient and the tensor are the same size",
                        lt_format_sizes(a, sizeof a, grad->ndim, grad->sizes),
                        lt_format_sizes(b, sizeof b, t->ndim, t->sizes));
    if (grad->dtype != t->dtype)
        return lt_error(LT_ERR_RUNTIME,
                        "attempting to assign a gradient with dtype '%s' to a tensor with dtype "
                        "'%s'. The gradient must match the tensor's dtype",
                        lt_dtype_scalar_name((lt_dtype)grad->dtype),
                        lt_dtype_scalar_name((lt_dtype)t->dtype));
    if (!lt_device_equal(grad->device, t->device))
        return lt_error(
            LT_ERR_RUNTIME,
            "attempting to assign a gradient with device type '%s' to a tensor with device type "
            "'%s'. Please ensure that the gradient and the tensor are on the same device",
            lt_format_device(a, sizeof a, grad->device), lt_format_device(b, sizeof b, t->device));
    return LT_OK;
}

lt_status lt_set_grad(lt_tensor *t, lt_tensor *grad)
{
    if (grad == NULL && t->autograd == NULL) return LT_OK;
    if (grad != NULL) LT_TRY(check_gradient(t, grad));
    lt_autograd *autograd;
    LT_TRY(lt_autograd_of(t, &autograd));
    LT_ASSERT(grad == NULL || grad->refs > 0, "refs %d", grad->refs);
    lt_tensor *old = autograd->grad;
    autograd->grad = grad != NULL ? lt_tensor_retain(grad) : NULL;
    if (grad != NULL && lt_requires_grad(grad)) lt_cycles_add_candidate(t);
    lt_tensor_release(old);
    return LT_OK;
}

lt_status lt_set_requires_grad(lt_tensor *t, bool on)
{
    if (lt_is_batched(t))
        return lt_error(LT_ERR_RUNTIME, "vmap: requires_grad_() of a batched tensor is not "
                                        "possible: call torch.func.grad inside of vmap");
    if (!lt_is_leaf(t)) {
        if (on) return LT_OK;
        return lt_error(LT_ERR_RUNTIME,
                        "you can only change requires_grad flags of leaf variables. If you want to "
                        "use a computed variable in a subgraph that doesn't require "
                        "differentiation use var_no_grad = var:detach().");
    }
    if (on && !lt_dtype_is_inexact((lt_dtype)t->dtype))
        return lt_error(LT_ERR_RUNTIME,
                        "only Tensors of floating point and complex dtype can require gradients");
    if (on && t->flags & LT_FLAG_INFERENCE && !lt_tls.inference)
        return lt_error(
            LT_ERR_RUNTIME,
            "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.");
    if (on)
        t->flags |= LT_FLAG_REQUIRES_GRAD;
    else
        t->flags &= (uint16_t)~LT_FLAG_REQUIRES_GRAD;
    return LT_OK;
}
