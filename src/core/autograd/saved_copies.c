/* saved_copies.c - see saved_copies.h: saved-tensor hooks that store each tensor as an alias in a
 * list, which in-place writes search.
 *
 * An entry belongs to the node that saved it. The list is guarded by a lock, since any thread may
 * free a graph. Copying is done outside the lock: its allocation may trigger a collection, which
 * may free graphs. */
#include "autograd/saved_copies.h"

#include "assertion.h"
#include "autograd/autograd.h"
#include "context/fork.h"
#include "error.h"
#include "lock.h"
#include "memory/alloc.h"
#include "system/threads.h"
#include "tensor.h"
#include "op/clone.h"

typedef struct copy_entry {
    int refs;          /* of the node, and of a thread that copies; guarded by the lock */
    lt_tensor *tensor; /* counted: the saved tensor, or its copy */
    uint32_t version;  /* the storage's version when saved */
    struct copy_entry *next, *previous;
} copy_entry;

struct lt_saved_copies {
    lt_saved_hooks hooks;
    lt_fork_entry fork;
    pthread_mutex_t lock;
    copy_entry *first;
};

static uint32_t tensor_version(const lt_tensor *t)
{
    return atomic_load_explicit(&t->storage->version, memory_order_relaxed);
}

/* ---- the hooks ------------------------------------------------------------------------------- */

static lt_status pack_copy(lt_saved_hooks *hooks, lt_tensor *t, int64_t *packed)
{
    struct lt_saved_copies *c = (struct lt_saved_copies *)hooks;
    copy_entry *e = lt_mem_zalloc(sizeof *e);
    if (e == NULL) return LT_ERR_MEMORY;
    e->refs = 1;
    e->tensor = lt_tensor_retain(t);
    e->version = tensor_version(t);
    pthread_mutex_lock(&c->lock);
    e->next = c->first;
    if (c->first != NULL) c->first->previous = e;
    c->first = e;
    lt_unlock(&c->lock);
    *packed = (int64_t)(intptr_t)e;
    return LT_OK;
}

static lt_status unpack_copy(lt_saved_hooks *hooks, int64_t packed, lt_tensor **out)
{
    const copy_entry *e = (const copy_entry *)(intptr_t)packed;
    (void)hooks;
    if (tensor_version(e->tensor) != e->version)
        return lt_error(
            LT_ERR_RUNTIME,
            "one of the variables needed for gradient computation has been modified by an inplace "
            "operation after "
            "the scope of allow_mutation_on_saved_tensors in which it was saved had ended");
    LT_ASSERT(e->refs > 0, "refs %d", e->refs);
    *out = lt_tensor_retain(e->tensor);
    return LT_OK;
}

static void entry_release(struct lt_saved_copies *c, copy_entry *e)
{
    pthread_mutex_lock(&c->lock);
    LT_ASSERT(e->refs > 0, "refs %d", e->refs);
    LT_ASSERT(e->previous != NULL ? e->previous->next == e : c->first == e);
    LT_ASSERT(e->next == NULL || e->next->previous == e);
    const bool last = --e->refs == 0;
    if (last && e->previous != NULL) e->previous->next = e->next;
    if (last && e->next != NULL) e->next->previous = e->previous;
    if (last && c->first == e) c->first = e->next;
    lt_unlock(&c->lock);
    if (!last) return;
    lt_tensor_release(e->tensor);
    lt_mem_free(e);
}

static void drop_copy(lt_saved_hooks *hooks, int64_t packed)
{
    entry_release((struct lt_saved_copies *)hooks, (copy_entry *)(intptr_t)packed);
}

static void free_hooks(lt_saved_hooks *hooks)
{
    struct lt_saved_copies *c = (struct lt_saved_copies *)hooks;
    LT_ASSERT(c->first == NULL, "a node keeps a copy");
    lt_fork_mutex_destroy(&c->fork);
    lt_mem_free(c);
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* New reference to an entry with a tensor that still uses the storage; NULL: none. */
static copy_entry *next_in(struct lt_saved_copies *c, const lt_storage *storage)
{
    pthread_mutex_lock(&c->lock);
    copy_entry *e = c->first;
    while (e != NULL && e->tensor->storage != storage) e = e->next;
    if (e != NULL) e->refs++;
    lt_unlock(&c->lock);
    return e;
}

/* Replaces the tensor of each entry that has the same elements as original by the copy. */
static void replace_original(struct lt_saved_copies *c, lt_tensor *original, lt_tensor *copy)
{
    lt_tensor_retain(original);
    pthread_mutex_lock(&c->lock);
    for (copy_entry *e = c->first; e != NULL; e = e->next) {
        if (e->tensor->dtype != original->dtype || !lt_same_elements(e->tensor, original)) continue;
        lt_tensor_release(e->tensor); /* original keeps the memory alive */
        e->tensor = lt_tensor_retain(copy);
        e->version = tensor_version(copy);
    }
    lt_unlock(&c->lock);
    lt_tensor_release(original);
}

lt_status lt_copy_saved(const lt_tensor *written)
{
    struct lt_saved_copies *c = lt_tls.saved_copies;
    lt_status status = LT_OK;
    copy_entry *e;
    lt_tls.saved_copies = NULL; /* making the copies writes memory, too */
    const bool grad_mode = lt_set_grad_enabled(false);
    while (status == LT_OK && (e = next_in(c, written->storage)) != NULL) {
        lt_tensor *copy = NULL;
        status = lt_clone(e->tensor, &copy);
        if (status == LT_OK) replace_original(c, e->tensor, copy);
        lt_tensor_release(copy);
        entry_release(c, e);
    }
    lt_set_grad_enabled(grad_mode);
    lt_tls.saved_copies = c;
    return status;
}

/* ---- the scope ------------------------------------------------------------------------------- */

lt_status lt_saved_copies_open(void)
{
    if (lt_tls.saved_copies != NULL)
        return lt_error(LT_ERR_RUNTIME,
                        "allow_mutation_on_saved_tensors contexts cannot be nested");
    struct lt_saved_copies *c = lt_mem_zalloc(sizeof *c);
    if (c == NULL) return LT_ERR_MEMORY;
    lt_fork_mutex_init(&c->fork, &c->lock, false);
    atomic_init(&c->hooks.refs, 1);
    c->hooks.pack = pack_copy, c->hooks.unpack = unpack_copy, c->hooks.drop = drop_copy,
    c->hooks.free = free_hooks;
    lt_saved_hooks_enter(&c->hooks);
    lt_tls.saved_copies = c;
    return LT_OK;
}

void lt_saved_copies_close(void)
{
    const struct lt_saved_copies *c = lt_tls.saved_copies;
    lt_tls.saved_copies = NULL;
    if (c != NULL) lt_saved_hooks_leave(&c->hooks);
}
