/* internal.h - declarations shared by the files of src/core/autograd: the autograd data of a
 * tensor, accumulators, hooks, and the lock for weak pointers.
 *
 * Two kinds of pointers are weak: a leaf's to its accumulator, guarded by locks of accumulate.c,
 * and a node's to the tensors that retain their gradient. The latter are read and cleared under
 * lt_autograd_lock(). It is held for a few instructions, never while an op runs, and recording a
 * node does not take it, so that threads do not contend. */
#ifndef LT_AUTOGRAD_INTERNAL_H
#define LT_AUTOGRAD_INTERNAL_H

#include "autograd.h"

enum { LT_SLOT_AFTER = -1, LT_SLOT_NODE_BEFORE = -2, LT_SLOT_NODE_AFTER = -3 };

/* A registered hook. Reference counted, since it may be removed while it runs. */
typedef struct lt_hook_entry {
    _Atomic int32_t refs;
    bool removed;
    /* the input of the node; 0 for leaves; LT_SLOT_AFTER: run after accumulation into a leaf's
     * .grad; LT_SLOT_NODE_*: hook of the node itself */
    int slot;
    lt_hook hook;
} lt_hook_entry;

struct lt_hook_list {
    int n, capacity;
    lt_hook_entry **entries;
    /* per input of the node: the tensor that retains its gradient, weak; NULL: none */
    lt_tensor **retained;
};

struct lt_autograd {
    lt_attached attached;
    lt_node *grad_fn;               /* counted; NULL for leaves */
    int slot;                       /* t is this output of grad_fn */
    uint32_t view_version;          /* views: the storage's version when grad_fn was made */
    lt_tensor *grad;                /* counted */
    _Atomic(lt_node *) accumulator; /* leaves: weak */
    struct lt_hook_list *hooks;     /* leaves */
    _Atomic bool may_be_cyclic;     /* a candidate of cycles.c */
    struct lt_tangent *tangents;    /* forward mode: dual.c */
};

/* The last node of a path: accumulates the gradient into the leaf's .grad. Owns a reference to the
 * leaf. */
typedef struct lt_accumulator {
    lt_node node;
    lt_tensor *leaf;
} lt_accumulator;
extern const lt_node_class lt_accumulator_class;

static inline bool lt_is_accumulator(const lt_node *node)
{
    return node->class == &lt_accumulator_class;
}

/* The tensor of which t is a view; NULL: t is no view, or its storage was replaced. */
static inline lt_tensor *lt_base_of(const lt_tensor *t)
{
    lt_tensor *base = t->view_base;
    return base != NULL && base->storage == t->storage ? base : NULL;
}

void lt_autograd_lock(void);
void lt_autograd_unlock(void);

/* t's autograd data, created if missing; borrowed. An error for a batched tensor, which has none;
 * code that may get a batched tensor must not read t->autograd directly. */
lt_status lt_autograd_of(lt_tensor *t, lt_autograd **out);
/* As lt_grad_fn. *slot: the index of the node's output that t is; 0 for a leaf. */
lt_status lt_grad_slot(lt_tensor *t, lt_node **fn, int *slot);

/* New reference, unless the reference count is already 0. The caller holds the lock. */
bool lt_tensor_try_retain(lt_tensor *t);

/* New reference: the leaf's accumulator. */
lt_status lt_accumulator_of(lt_tensor *leaf, lt_node **out);
/* Accumulates grad into t's .grad. With grad mode off: stores an unshared first gradient without a
 * copy, adds later ones in place. Else makes a new sum. Consumes grad. */
lt_status lt_accumulate_steal(lt_tensor *t, lt_tensor *grad);
/* Whether the caller holds the only references to t and its storage, and t covers the storage. */
bool lt_is_unshared(const lt_tensor *t);

/* Runs the hooks of the node's input on *grad, which they may replace, then accumulates it into
 * .grad of a tensor that retains it. */
lt_status lt_run_hooks(lt_node *node, int slot, lt_tensor **grad);
/* Runs the post-accumulation hooks of a leaf. */
lt_status lt_run_post_hooks(lt_tensor *leaf);
/* Whether the node has hooks (LT_SLOT_NODE_AFTER) that run after it. */
bool lt_node_has_post_hooks(const lt_node *node);
/* Runs the hooks of the node in slot (LT_SLOT_NODE_*) on its values: see lt_hook. */
lt_status lt_run_node_hooks(const lt_node *node, int slot, lt_tensor **values, int n,
                            lt_tensor *const *seen, int m);
/* After t became an output of another node: moves the request to retain its gradient there. */
lt_status lt_move_retained(lt_tensor *t, lt_node *from, int from_slot, lt_node *to, int to_slot);
lt_hook_entry *lt_hook_entry_retain(lt_hook_entry *entry);
void lt_hook_entry_release(lt_hook_entry *entry);
void lt_hook_list_free(struct lt_hook_list *list);
lt_status lt_node_hooks(lt_node *node, struct lt_hook_list **out);

/* Converts a gradient to the metadata `like`: sums over broadcast dimensions, converts the dtype,
 * and the device of 0-dim ones. node and index are for error messages. Replaces *grad. */
lt_status lt_fit_gradient(const lt_node *node, int index, const lt_like *like, lt_tensor **grad);

/* lt_cycles_add_candidate: if t's .grad has a history, adds t to the candidates. lt_cycles_forget: removes
 * it; called before it is freed. */
void lt_cycles_add_candidate(lt_tensor *t);
void lt_cycles_forget(lt_tensor *t);

/* "Trying to backward through the graph a second time". */
lt_status lt_saved_is_freed(void);

/* Anomaly mode: LT_ERR_RUNTIME if a result of node contains nan. */
lt_status lt_check_nan(const lt_node *node, lt_tensor *const *results, int n);

/* As as_strided on memory viewed as elements of dtype, which may be memory's real counterpart
 * (view_as_real) or complex counterpart (view_as_complex). geometry's offset counts elements of
 * dtype, relative to a memory that begins at offset `from`; this memory begins at `to` (both in
 * elements of memory's dtype). */
lt_status lt_strided_view(lt_tensor *memory, lt_dtype dtype, const lt_geometry *geometry,
                          int64_t from, int64_t to, lt_tensor **out);

#endif
