/* hooks.c - hooks of tensors and of nodes, and retained gradients (retain_grad).
 *
 * The hooks of a leaf belong to the leaf. The hooks of another tensor belong to its grad_fn and
 * stay there when the tensor becomes an output of another node; the tensor has a list of them too,
 * for removal. Entries are reference counted, since a hook may remove itself while it runs. */
#include <string.h>

#include "assertion.h"
#include "autograd/internal.h"
#include "error.h"
#include "memory/alloc.h"

static _Atomic int64_t next_id = 1;

/* ---- lists ----------------------------------------------------------------------------------- */

static lt_status list_of(struct lt_hook_list **place, struct lt_hook_list **out)
{
    if (*place == NULL) {
        *place = lt_mem_zalloc(sizeof **place);
        if (*place == NULL) return LT_ERR_MEMORY;
    }
    *out = *place;
    return LT_OK;
}

lt_status lt_node_hooks(lt_node *node, struct lt_hook_list **out)
{
    return list_of(&node->hooks, out);
}

static lt_status reserve(struct lt_hook_list *list)
{
    if (list->n < list->capacity) return LT_OK;
    int capacity = list->capacity > 0 ? 2 * list->capacity : 4;
    lt_hook_entry **grown = lt_mem_rearray(list->entries, capacity, sizeof *grown);
    if (grown == NULL) return LT_ERR_MEMORY;
    list->entries = grown;
    list->capacity = capacity;
    return LT_OK;
}

/* Releasing an entry may run Lua's collector, and so any code: first remove it from the list. */
static void drop_removed(struct lt_hook_list *list)
{
    for (int i = 0; list != NULL && i < list->n;) {
        lt_hook_entry *entry = list->entries[i];
        if (!entry->removed) {
            i++;
            continue;
        }
        list->n--;
        memmove(&list->entries[i], &list->entries[i + 1],
                (size_t)(list->n - i) * sizeof *list->entries);
        lt_hook_entry_release(entry);
    }
}

/* ---- registering ----------------------------------------------------------------------------- */

static lt_status register_in(lt_tensor *t, lt_node *fn, int slot, lt_hook hook, int64_t *id)
{
    lt_autograd *autograd;
    struct lt_hook_list *own, *of_node = NULL;
    LT_TRY(lt_autograd_of(t, &autograd));
    LT_TRY(list_of(&autograd->hooks, &own));
    LT_TRY(reserve(own));
    if (fn != NULL) {
        LT_TRY(lt_node_hooks(fn, &of_node));
        LT_TRY(reserve(of_node));
    }
    lt_hook_entry *entry = lt_mem_zalloc(sizeof *entry);
    if (entry == NULL) return LT_ERR_MEMORY;
    atomic_init(&entry->refs, 1);
    entry->slot = slot;
    entry->hook = hook;
    entry->hook.id = atomic_fetch_add_explicit(&next_id, 1, memory_order_relaxed);
    own->entries[own->n++] = entry;
    if (of_node != NULL) of_node->entries[of_node->n++] = lt_hook_entry_retain(entry);
    *id = entry->hook.id;
    LT_ASSERT(own->n <= own->capacity, "%d of %d", own->n, own->capacity);
    return LT_OK;
}

lt_status lt_register_hook(lt_tensor *t, lt_hook hook, int64_t *id)
{
    lt_node *fn;
    int slot;
    if (!lt_requires_grad(t))
        return lt_error(LT_ERR_RUNTIME,
                        "cannot register a hook on a tensor that doesn't require gradient");
    LT_TRY(lt_grad_slot(t, &fn, &slot));
    return register_in(t, fn, slot, hook, id);
}

lt_status lt_register_post_hook(lt_tensor *t, lt_hook hook, int64_t *id)
{
    lt_node *fn;
    if (!lt_requires_grad(t))
        return lt_error(LT_ERR_RUNTIME,
                        "cannot register a hook on a tensor that doesn't require gradient");
    LT_TRY(lt_grad_fn(t, &fn));
    if (fn != NULL)
        return lt_error(LT_ERR_RUNTIME,
                        "post accumulate grad hooks cannot be registered on non-leaf tensors");
    return register_in(t, NULL, LT_SLOT_AFTER, hook, id);
}

lt_status lt_node_register_hook(lt_node *node, bool before, lt_hook hook)
{
    struct lt_hook_list *list;
    LT_TRY(lt_node_hooks(node, &list));
    LT_TRY(reserve(list));
    lt_hook_entry *entry = lt_mem_zalloc(sizeof *entry);
    if (entry == NULL) return LT_ERR_MEMORY;
    atomic_init(&entry->refs, 1);
    entry->slot = before ? LT_SLOT_NODE_BEFORE : LT_SLOT_NODE_AFTER;
    entry->hook = hook;
    list->entries[list->n++] = entry;
    return LT_OK;
}

void lt_remove_hook(lt_tensor *t, int64_t id)
{
    lt_autograd *autograd = t->autograd;
    if (autograd == NULL || autograd->hooks == NULL) return;
    for (int i = 0; i < autograd->hooks->n; i++)
        if (autograd->hooks->entries[i]->hook.id == id) autograd->hooks->entries[i]->removed = true;
    if (autograd->grad_fn != NULL) drop_removed(autograd->grad_fn->hooks);
    drop_removed(autograd->hooks);
}

/* ---- retained gradients ---------------------------------------------------------------------- */

/* Makes the gradient at the node's input accumulate into t's .grad. */
static lt_status retain_at(lt_node *node, int slot, lt_tensor *t)
{
    struct lt_hook_list *list;
    LT_TRY(lt_node_hooks(node, &list));
    LT_ASSERT(slot >= 0 && slot < node->inputs, "%s: slot %d of %d", node->class->name, slot,
              node->inputs);
    lt_tensor **retained = list->retained;
    if (retained == NULL) {
        retained = lt_mem_zarray(node->inputs, sizeof *retained);
        if (retained == NULL) return LT_ERR_MEMORY;
    }
    lt_autograd_lock();
    list->retained = retained;
    retained[slot] = t;
    lt_autograd_unlock();
    return LT_OK;
}

lt_status lt_retain_grad(lt_tensor *t)
{
    lt_node *fn;
    int slot;
    if (!lt_requires_grad(t))
        return lt_error(LT_ERR_RUNTIME, "can't retain_grad on Tensor that has requires_grad=False");
    LT_TRY(lt_grad_slot(t, &fn, &slot));
    if (fn == NULL) return LT_OK; /* leaves always have .grad */
    LT_TRY(retain_at(fn, slot, t));
    t->flags |= LT_FLAG_RETAINS_GRAD;
    return LT_OK;
}

lt_status lt_move_retained(lt_tensor *t, lt_node *from, int from_slot, lt_node *to, int to_slot)
{
    LT_TRY(retain_at(to, to_slot, t));
    if (from == NULL || from->hooks == NULL || from->hooks->retained == NULL) return LT_OK;
    lt_autograd_lock();
    LT_ASSERT(from_slot >= 0 && from_slot < from->inputs, "slot %d of %d", from_slot, from->inputs);
    if (from->hooks->retained[from_slot] == t) from->hooks->retained[from_slot] = NULL;
    lt_autograd_unlock();
    return LT_OK;
}

/* New reference: the tensor that retains the gradient at the slot; NULL: none, or it is being
 * freed. */
static lt_tensor *retaining(const struct lt_hook_list *list, int slot)
{
    lt_autograd_lock();
    lt_tensor *t = list->retained != NULL ? list->retained[slot] : NULL;
    if (t != NULL && !lt_tensor_try_retain(t)) t = NULL;
    lt_autograd_unlock();
    return t;
}

/* ---- running --------------------------------------------------------------------------------- */

static lt_status run_hook(const lt_hook *hook, lt_tensor **grad)
{
    lt_tensor *replacement = NULL;
    LT_ASSERT((*grad)->refs > 0, "refs %d", (*grad)->refs);
    LT_TRY(hook->run(hook->ctx, *grad, &replacement));
    if (replacement == NULL) return LT_OK;
    if (!lt_same_sizes(replacement, *grad)) {
        lt_tensor_release(replacement);
        return lt_error(LT_ERR_RUNTIME, "hook has changed the size of value");
    }
    lt_tensor_release(*grad);
    *grad = replacement;
    return LT_OK;
}

/* Arguments of the hooks of one slot. */
typedef struct hook_values {
    lt_tensor **values;
    int n;
    lt_tensor *const *seen;
    int m;
} hook_values;

static lt_status run_node_hook(const lt_hook *hook, const hook_values *on)
{
    return hook->run_node(hook->ctx, on->values, on->n, on->seen, on->m);
}

/* Hooks may add and remove hooks: only the hooks registered at the start run. */
static lt_status run_list(const struct lt_hook_list *list, int slot, const hook_values *on)
{
    lt_status status = LT_OK;
    int n = list->n;
    if (n == 0) return LT_OK;
    lt_hook_entry **entries = lt_mem_array(n, sizeof *entries);
    if (entries == NULL) return LT_ERR_MEMORY;
    for (int i = 0; i < n; i++) entries[i] = lt_hook_entry_retain(list->entries[i]);
    for (int i = 0; i < n && status == LT_OK; i++) {
        const lt_hook *hook = &entries[i]->hook;
        if (entries[i]->slot == slot)
            status = hook->run != NULL ? run_hook(hook, on->values) : run_node_hook(hook, on);
    }
    for (int i = 0; i < n; i++) lt_hook_entry_release(entries[i]);
    lt_mem_free(entries);
    return status;
}

static lt_status run_on(const struct lt_hook_list *list, int slot, lt_tensor **grad)
{
    return run_list(list, slot, &(hook_values){.values = grad, .n = 1});
}

lt_status lt_run_node_hooks(const lt_node *node, int slot, lt_tensor **values, int n,
                            lt_tensor *const *seen, int m)
{
    if (node->hooks == NULL) return LT_OK;
    return run_list(node->hooks, slot, &(hook_values){values, n, seen, m});
}

bool lt_node_has_post_hooks(const lt_node *node)
{
    for (int i = 0; node->hooks != NULL && i < node->hooks->n; i++)
        if (node->hooks->entries[i]->slot == LT_SLOT_NODE_AFTER) return true;
    return false;
}

lt_status lt_run_hooks(lt_node *node, int slot, lt_tensor **grad)
{
    if (lt_is_accumulator(node)) {
        const lt_tensor *leaf = ((lt_accumulator *)node)->leaf;
        return leaf->autograd->hooks != NULL ? run_on(leaf->autograd->hooks, slot, grad) : LT_OK;
    }
    if (node->hooks == NULL) return LT_OK;
    LT_TRY(run_on(node->hooks, slot, grad));
    lt_tensor *t = retaining(node->hooks, slot);
    if (t == NULL) return LT_OK;
    lt_status status = lt_accumulate_steal(t, lt_tensor_retain(*grad));
    lt_tensor_release(t);
    return status;
}

lt_status lt_run_post_hooks(lt_tensor *leaf)
{
    if (leaf->autograd->hooks == NULL) return LT_OK;
    lt_tensor *self = lt_tensor_retain(leaf);
    const lt_status status = run_on(leaf->autograd->hooks, LT_SLOT_AFTER, &self);
    lt_tensor_release(self);
    return status;
}
