/* internal.h - what the files of src/core/autograd share: the autograd part of a tensor,
 * accumulators, hooks, and the lock that guards the pointers which are not counted.
 *
 * Two pointers are weak: a leaf's to its accumulator, which accumulate.c guards, and a node's to
 * the tensors that retain their gradient. These are read and cleared under lt_autograd_lock(),
 * which is held for a few instructions only, never while an op runs, and by no op that merely
 * records a node: threads would wait for each other. */
#ifndef LT_AUTOGRAD_INTERNAL_H
#define LT_AUTOGRAD_INTERNAL_H

#include "autograd.h"

enum { LT_SLOT_AFTER = -1, LT_SLOT_NODE_BEFORE = -2, LT_SLOT_NODE_AFTER = -3 };

/* A registered hook. Counted, since it may be removed while it runs. */
typedef struct lt_hook_entry {
    _Atomic int32_t refs;
    bool removed;
    /* input of the node; 0 for leaves; LT_SLOT_AFTER: after a leaf's .grad was added to;
     * LT_SLOT_NODE_*: of the node */
    int slot;
    lt_hook hook;
} lt_hook_entry;

struct lt_hook_list {
    int n, capacity;
    lt_hook_entry **entries;
    /* per input of the node: a tensor whose .grad is wanted, weak; NULL: none */
    lt_tensor **retained;
};

struct lt_autograd {
    lt_attached attached;
    lt_node *grad_fn;               /* counted; NULL for leaves */
    int slot;                       /* output of grad_fn */
    uint32_t view_version;          /* views: the storage's version when grad_fn was made */
    lt_tensor *grad;                /* counted */
    _Atomic(lt_node *) accumulator; /* leaves: weak */
    struct lt_hook_list *hooks;     /* leaves */
    _Atomic bool may_be_cyclic;     /* noted in cycles.c */
    struct lt_tangent *tangents;    /* dual.c */
};

/* The node at the end of a path: adds what arrives to the leaf's .grad. Keeps the leaf alive. */
typedef struct lt_accumulator {
    lt_node node;
    lt_tensor *leaf;
} lt_accumulator;
extern const lt_node_class lt_accumulator_class;

static inline bool lt_is_accumulator(const lt_node *node)
{
    return node->class == &lt_accumulator_class;
}

/* The tensor that t shows a part of; NULL when it stands for itself, or its data was replaced. */
static inline lt_tensor *lt_base_of(const lt_tensor *t)
{
    lt_tensor *base = t->view_base;
    return base != NULL && base->storage == t->storage ? base : NULL;
}

void lt_autograd_lock(void);
void lt_autograd_unlock(void);

/* t's autograd part, made when missing; borrowed. Refused for a batched tensor, which has none:
 * nothing else reads t->autograd of a tensor that may be batched. */
lt_status lt_autograd_of(lt_tensor *t, lt_autograd **out);
/* As lt_grad_fn, and which output of the node t is: 0 for a leaf. */
lt_status lt_grad_slot(lt_tensor *t, lt_node **fn, int *slot);

/* New reference unless nobody holds the tensor any more; the lock is held. */
bool lt_tensor_try_retain(lt_tensor *t);

/* New reference: the leaf's accumulator. */
lt_status lt_accumulator_of(lt_tensor *leaf, lt_node **out);
/* Adds grad to t's .grad: takes it as it is when nobody else has it and grad mode is off, adds in
 * place when grad mode is off, else makes a new sum. Takes over the reference. */
lt_status lt_accumulate_steal(lt_tensor *t, lt_tensor *grad);
/* Whether only the caller holds t and t's memory, all of it. */
bool lt_is_unshared(const lt_tensor *t);

/* Runs the hooks of the node's input on *grad, replacing it; stores it where it is retained. */
lt_status lt_run_hooks(lt_node *node, int slot, lt_tensor **grad);
/* Runs those of a leaf whose .grad has been added to. */
lt_status lt_run_post_hooks(lt_tensor *leaf);
/* Whether the node has hooks of its own that run after it. */
bool lt_node_has_post_hooks(const lt_node *node);
/* Runs those hooks of the node on its values: see lt_hook. */
lt_status lt_run_node_hooks(const lt_node *node, int slot, lt_tensor **values, int n,
                            lt_tensor *const *seen, int m);
/* After t became an output of another node: its .grad is taken there from now on. */
lt_status lt_move_retained(lt_tensor *t, lt_node *from, int from_slot, lt_node *to, int to_slot);
lt_hook_entry *lt_hook_entry_retain(lt_hook_entry *entry);
void lt_hook_entry_release(lt_hook_entry *entry);
void lt_hook_list_free(struct lt_hook_list *list);
lt_status lt_node_hooks(lt_node *node, struct lt_hook_list **out);

/* Makes a gradient fit what `like` says (shape by summing, dtype, device of 0-dim ones); `node` and
 * `index` are for the message. Takes over *grad and gives the result in its place. */
lt_status lt_fit_gradient(const lt_node *node, int index, const lt_like *like, lt_tensor **grad);

/* Notes a tensor whose .grad has a history, and drops it again: before it is freed. */
void lt_cycles_add_candidate(lt_tensor *t);
void lt_cycles_forget(lt_tensor *t);

/* "Trying to backward through the graph a second time". */
lt_status lt_saved_is_freed(void);

/* Anomaly mode: error when a result of node holds a nan. */
lt_status lt_check_nan(const lt_node *node, lt_tensor *const *results, int n);

/* As as_strided, of memory seen as elements of a dtype, which may be that of memory's parts, or
 * have memory's as its parts. The offset counts such elements, and is one of a memory whose first
 * element lies at `from`; here it lies at `to` (elements of memory). */
lt_status lt_strided_view(lt_tensor *memory, lt_dtype dtype, const lt_geometry *geometry,
                          int64_t from, int64_t to, lt_tensor **out);

#endif
