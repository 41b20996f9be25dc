/* connect.c - connects a node to the nodes of its inputs (edges) and to its output tensors
 * (grad_fn). */
#include "assertion.h"
#include "autograd/internal.h"
#include "devices/backend.h"
#include "error.h"

lt_status lt_node_connect(lt_node *node, int i, lt_tensor *t)
{
    if (!lt_requires_grad(t)) return LT_OK;
    lt_node *fn;
    int slot;
    LT_ASSERT(i >= 0 && i < node->outputs, "%s: edge %d of %d", node->class->name, i,
              node->outputs);
    LT_ASSERT(node->edges[i].node == NULL, "%s: edge %d is connected", node->class->name, i);
    LT_TRY(lt_grad_slot(t, &fn, &slot));
    node->edges[i].slot = slot;
    if (fn != NULL) {
        LT_ASSERT(slot >= 0 && slot < fn->inputs, "%s: slot %d of %d", fn->class->name, slot,
                  fn->inputs);
        LT_ASSERT(fn != node, "%s leads to itself", fn->class->name);
        node->edges[i].node = lt_node_retain(fn);
        return LT_OK;
    }
    return lt_accumulator_of(t, &node->edges[i].node);
}

/* Gradients of a GPU node are computed on the stream of its forward op. */
static void note_stream(lt_node *node, const lt_tensor *t)
{
    if (t->device.type == LT_CPU) return;
    const lt_backend *backend = lt_backends[t->device.type];
    node->stream = backend->current_stream(t->device.index);
}

lt_status lt_node_attach(lt_node *node, int slot, lt_tensor *t)
{
    lt_autograd *autograd;
    LT_TRY(lt_autograd_of(t, &autograd));
    lt_node *old = autograd->grad_fn;
    LT_ASSERT(slot >= 0 && slot < node->inputs, "%s: slot %d of %d", node->class->name, slot,
              node->inputs);
    int old_slot = autograd->slot;
    if (t->flags & LT_FLAG_RETAINS_GRAD) LT_TRY(lt_move_retained(t, old, old_slot, node, slot));
    lt_like_of(&node->meta[slot], t);
    if (slot == 0) note_stream(node, t);
    autograd->grad_fn = lt_node_retain(node);
    autograd->slot = slot;
    autograd->view_version = atomic_load_explicit(&t->storage->version, memory_order_relaxed);
    t->flags |= LT_FLAG_REQUIRES_GRAD;
    lt_node_release(old);
    return LT_OK;
}

/* A no-grad view of a tensor with history stores the storage's version: it is usable as long as the
 * version does not change (history.c). */
void lt_record_view(lt_tensor *self, lt_tensor *view)
{
    if (!lt_grad_mode_on()) view->flags |= LT_FLAG_NO_GRAD_VIEW;
    view->flags |= self->flags & LT_FLAG_NO_GRAD_VIEW;
    if (!(view->flags & LT_FLAG_NO_GRAD_VIEW) || view->view_base == NULL) return;
    const lt_autograd *of_base = view->view_base->autograd;
    lt_autograd *own;
    if (of_base != NULL && of_base->grad_fn != NULL && lt_autograd_of(view, &own) == LT_OK)
        own->view_version = atomic_load_explicit(&view->storage->version, memory_order_relaxed);
}
