/* saved.c - tensors that nodes save for their derivatives.
 *
 * A saved tensor is stored as an alias without history, with the storage's version and, separately,
 * the node and slot that it is an output of. The tensor itself would create a reference cycle: it
 * may be written in place by an op that saved it (y:mul_(y), y:add_(f(y))), and its history then
 * leads to the node that saved it. The same holds for an output saved by its own node. Unpacking
 * restores the history of the alias. Leaves that require grad, which cannot be written in place,
 * and wrapped numbers, which are unshared, are stored themselves. With hooks
 * (torch.autograd.graph.saved_tensors_hooks), the result of the pack hook is stored instead. */
#include <stdio.h>
#include <string.h>

#include "assertion.h"
#include "autograd/dual.h"
#include "autograd/internal.h"
#include "user_index.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "compile/deferred.h"
#include "memory/alloc.h"

static uint32_t tensor_version(const lt_tensor *t)
{
    return atomic_load_explicit(&t->storage->version, memory_order_relaxed);
}

/* New reference: an alias of t without history, with its tangents. */
static lt_status alias_or_dual(lt_tensor *t, lt_tensor **out)
{
    LT_TRY(lt_tensor_alias(t, out));
    return __builtin_expect(lt_tls.duals != 0, 0) ? lt_dual_share(t, *out) : LT_OK;
}

/* ---- hooks ----------------------------------------------------------------------------------- */

typedef struct lt_packed {
    lt_saved_hooks *hooks; /* counted */
    int64_t value;
    lt_like like; /* metadata of the packed tensor */
} lt_packed;

static void release_hooks(lt_saved_hooks *hooks)
{
    LT_ASSERT(hooks->refs > 0, "refs %d", hooks->refs);
    if (atomic_fetch_sub_explicit(&hooks->refs, 1, memory_order_acq_rel) == 1) hooks->free(hooks);
}

void lt_saved_hooks_enter(lt_saved_hooks *hooks)
{
    hooks->outer = lt_tls.saved_hooks;
    lt_tls.saved_hooks = hooks;
}

void lt_saved_hooks_leave(const lt_saved_hooks *hooks)
{
    lt_saved_hooks **place = &lt_tls.saved_hooks;
    while (*place != NULL && *place != hooks) place = &(*place)->outer;
    lt_saved_hooks *found = *place;
    if (found == NULL) return;
    *place = found->outer;
    release_hooks(found);
}

/* Calls the pack hook with grad mode and hooks off. */
static lt_status pack_tensor(lt_saved *s, lt_tensor *t)
{
    lt_saved_hooks *hooks = lt_tls.saved_hooks;
    lt_tensor *plain = NULL;
    lt_packed *p = lt_mem_zalloc(sizeof *p);
    if (p == NULL) return LT_ERR_MEMORY;
    lt_status status = alias_or_dual(t, &plain);
    const bool grad_mode = lt_set_grad_enabled(false);
    lt_tls.saved_hooks = NULL;
    if (status == LT_OK) status = hooks->pack(hooks, plain, &p->value);
    lt_tls.saved_hooks = hooks;
    lt_set_grad_enabled(grad_mode);
    lt_tensor_release(plain);
    if (status != LT_OK) {
        lt_mem_free(p);
        return status;
    }
    atomic_fetch_add_explicit(&hooks->refs, 1, memory_order_relaxed);
    p->hooks = hooks;
    lt_like_of(&p->like, t);
    s->packed = p;
    return LT_OK;
}

static lt_status unpack_tensor(const lt_packed *p, lt_tensor **out)
{
    char got[256], expected[256];
    lt_tensor *t = NULL;
    LT_ASSERT(p->hooks->refs > 0, "refs %d", p->hooks->refs);
    lt_saved_hooks *outer = lt_tls.saved_hooks;
    const bool grad_mode = lt_set_grad_enabled(false);
    lt_tls.saved_hooks = NULL;
    lt_status status = p->hooks->unpack(p->hooks, p->value, &t);
    lt_tls.saved_hooks = outer;
    lt_set_grad_enabled(grad_mode);
    if (status != LT_OK) return status;
    bool same = t->ndim == p->like.ndim && t->dtype == p->like.dtype &&
                lt_device_equal(t->device, p->like.device);
    for (int d = 0; same && d < t->ndim; d++) same = t->sizes[d] == p->like.sizes[d];
    if (!same) {
        status = lt_error(
            LT_ERR_RUNTIME,
            "saved_tensors_hooks: unpack_hook must return a tensor of shape %s and dtype torch.%s "
            "on the device of the packed tensor, but returned one of shape %s and dtype torch.%s",
            lt_format_sizes(expected, sizeof expected, p->like.ndim, p->like.sizes),
            lt_dtype_name((lt_dtype)p->like.dtype),
            lt_format_sizes(got, sizeof got, t->ndim, t->sizes), lt_dtype_name((lt_dtype)t->dtype));
        lt_tensor_release(t);
        return status;
    }
    LT_ASSERT(t->refs > 0, "refs %d", t->refs);
    *out = t;
    return LT_OK;
}

static void drop_packed(lt_packed *p)
{
    if (p == NULL) return;
    p->hooks->drop(p->hooks, p->value);
    release_hooks(p->hooks);
    lt_mem_free(p);
}

/* ---- saving ---------------------------------------------------------------------------------- */

/* As lt_save_input. A leaf is stored as its accumulator, since the tensor itself is not stored. */
static lt_status save_packed(lt_saved *s, lt_tensor *t)
{
    lt_node *fn = NULL;
    if (lt_requires_grad(t)) {
        LT_TRY(lt_grad_slot(t, &fn, &s->slot));
        if (fn != NULL)
            s->fn = lt_node_retain(fn);
        else
            LT_TRY(lt_accumulator_of(t, &s->fn));
    }
    return pack_tensor(s, t);
}

lt_status lt_save_input(lt_saved *s, lt_tensor *t)
{
    LT_ASSERT(s->tensor == NULL && s->packed == NULL && s->fn == NULL && !s->freed);
    lt_node *fn = NULL;
    if (t == NULL) return LT_OK;
    LT_TRY(lt_refuse_saving_inference(t));
    if (__builtin_expect(lt_tls.saved_hooks != NULL, 0) && !(t->flags & LT_FLAG_WRAPPED_NUMBER))
        return save_packed(s, t);
    bool has_grad = lt_requires_grad(t);
    int slot = 0;
    if (has_grad) LT_TRY(lt_grad_slot(t, &fn, &slot));
    if ((has_grad && fn == NULL) || t->flags & LT_FLAG_WRAPPED_NUMBER)
        s->tensor = lt_tensor_retain(t);
    else
        LT_TRY(alias_or_dual(t, &s->tensor));
    s->version = tensor_version(t);
    s->is_view = t->view_base != NULL;
    if (fn == NULL) return LT_OK;
    s->fn = lt_node_retain(fn);
    s->slot = slot;
    return LT_OK;
}

lt_status lt_save_output(lt_saved *s, lt_tensor *t, int slot)
{
    LT_ASSERT(s->tensor == NULL && s->packed == NULL && !s->freed, "slot %d", slot);
    s->is_output = true;
    s->slot = slot;
    if (__builtin_expect(lt_tls.saved_hooks != NULL, 0)) return pack_tensor(s, t);
    LT_TRY(alias_or_dual(t, &s->tensor));
    s->version = tensor_version(t);
    return LT_OK;
}

/* Writes ", which is output 0 of Exp,": the name of the node without the word Backward. For an
 * input changed in place, the name of the op that changed it, if it was recorded. */
static void describe_origin(char *buffer, size_t n, const lt_saved *s, const lt_node *node)
{
    const lt_node *fn = s->is_output ? node : s->fn;
    const char *writer = s->tensor->storage->writer, *name = NULL;
    int slot = 0;
    buffer[0] = '\0';
    if (writer != NULL && !s->is_output) {
        name = s->is_view ? "AsStridedBackward0" : writer;
    } else if (fn != NULL) {
        name = lt_node_name(fn);
        slot = s->slot;
    }
    if (name == NULL) return;
    const char *end = strstr(name, "Backward");
    int length = end != NULL ? (int)(end - name) : (int)strlen(name);
    snprintf(buffer, n, ", which is output %lld of %.*s,", lt_user_index(slot), length, name);
}

static lt_status changed(const lt_saved *s, const lt_node *node)
{
    char sizes[256], source[128], where[300] = "";
    const lt_tensor *t = s->tensor;
    describe_origin(source, sizeof source, s, node);
    if (node->origin != NULL)
        snprintf(where, sizeof where,
                 "Hint: the operation that failed to compute its gradient was called at %s. The "
                 "variable in "
                 "question was changed there or anywhere later.",
                 node->origin);
    else
        snprintf(where, sizeof where,
                 "Hint: enable anomaly detection to find the operation that failed to compute its "
                 "gradient, "
                 "with torch.autograd.set_detect_anomaly(true).");
    return lt_error(
        LT_ERR_RUNTIME,
        "one of the variables needed for gradient computation has been modified by an inplace "
        "operation: [torch.%s%sTensor %s]%s is at version %u; expected version %u instead. %s",
        t->device.type == LT_CPU ? "" : "cuda.", lt_dtype_scalar_name((lt_dtype)t->dtype),
        lt_format_sizes(sizes, sizeof sizes, t->ndim, t->sizes), source,
        (unsigned)tensor_version(t), (unsigned)s->version, where);
}

/* New reference: the saved tensor as an output of fn, which may be the node that saved it. */
static lt_status with_history(lt_tensor *saved, lt_node *fn, int slot, lt_tensor **out)
{
    lt_tensor *t = NULL;
    lt_autograd *autograd;
    LT_ASSERT(slot >= 0 && slot < fn->inputs, "%s: slot %d of %d", fn->class->name, slot,
              fn->inputs);
    LT_TRY(alias_or_dual(saved, &t));
    lt_status status = lt_autograd_of(t, &autograd);
    if (status != LT_OK) {
        lt_tensor_release(t);
        return status;
    }
    autograd->grad_fn = lt_node_retain(fn);
    autograd->slot = slot;
    t->flags |= LT_FLAG_REQUIRES_GRAD;
    *out = t;
    return LT_OK;
}

lt_status lt_saved_is_freed(void)
{
    return lt_error(
        LT_ERR_RUNTIME,
        "Trying to backward through the graph a second time (or directly access saved tensors "
        "after they "
        "have already been freed). Saved intermediate values of the graph are freed when you call "
        ".backward() or autograd.grad(). Specify retain_graph=True if you need to backward through "
        "the "
        "graph a second time or if you need to access saved tensors after calling backward.");
}

lt_status lt_unpack(lt_saved *s, lt_node *node, lt_tensor **out)
{
    lt_node *fn = s->is_output ? node : s->fn;
    lt_tensor *t = NULL;
    if (s->freed) return lt_saved_is_freed();
    if (s->packed != NULL) {
        LT_TRY(unpack_tensor(s->packed, &t));
    } else if (s->tensor == NULL) {
        *out = NULL;
        return LT_OK;
    } else {
        LT_ASSERT(s->tensor->refs > 0, "refs %d", s->tensor->refs);
        if (tensor_version(s->tensor) != s->version) {
            LT_TRY(lt_materialize("backward", s->tensor));
            return changed(s, node);
        }
        t = lt_tensor_retain(s->tensor);
    }
    if (fn == NULL || !lt_grad_mode_on()) {
        *out = t;
        return LT_OK;
    }
    lt_status status = with_history(t, fn, s->slot, out);
    lt_tensor_release(t);
    return status;
}

void lt_saved_release(lt_saved *s)
{
    lt_tensor *t = s->tensor;
    lt_node *fn = s->fn;
    lt_packed *packed = s->packed;
    s->tensor = NULL;
    s->fn = NULL;
    s->packed = NULL;
    s->freed = s->freed || t != NULL || packed != NULL;
    lt_tensor_release(t);
    drop_packed(packed);
    lt_node_release(fn);
}

/* ---- lists ----------------------------------------------------------------------------------- */

lt_status lt_save_list(lt_saved_list *s, const lt_tensor_list *list)
{
    s->v = lt_mem_zarray(list->n, sizeof *s->v);
    if (s->v == NULL) return LT_ERR_MEMORY;
    s->n = list->n;
    for (int64_t i = 0; i < list->n; i++) LT_TRY(lt_save_input(&s->v[i], list->v[i]));
    return LT_OK;
}

lt_status lt_unpack_list(lt_saved_list *s, lt_node *node, lt_tensor_list *out)
{
    out->n = 0;
    out->v = lt_mem_zarray(s->n, sizeof *out->v);
    if (out->v == NULL) return LT_ERR_MEMORY;
    out->n = s->n;
    for (int64_t i = 0; i < s->n; i++) LT_TRY(lt_unpack(&s->v[i], node, &out->v[i]));
    return LT_OK;
}

void lt_unpacked_release(lt_tensor_list *list)
{
    for (int64_t i = 0; i < list->n; i++) lt_tensor_release(list->v[i]);
    lt_mem_free(list->v);
    list->n = 0;
    list->v = NULL;
}

/* Keeps the entries, which store that they were freed; the node's destructor frees the array. */
void lt_saved_list_release(lt_saved_list *s)
{
    for (int64_t i = 0; i < s->n; i++) lt_saved_release(&s->v[i]);
}

lt_status lt_like_of_list(lt_like **out, const lt_tensor_list *list)
{
    lt_like *likes = lt_mem_array(list->n, sizeof *likes);
    if (likes == NULL) return LT_ERR_MEMORY;
    for (int64_t i = 0; i < list->n; i++) lt_like_of(&likes[i], list->v[i]);
    *out = likes;
    return LT_OK;
}
