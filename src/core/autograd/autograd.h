/* autograd.h - nodes, saved tensors, the engine: what generated op wrappers and the binding may
 * call.
 *
 * A node per differentiable op. It owns edges to the nodes of its inputs and the values its
 * derivative needs. Saved tensors remember the storage's version; unpacking a changed one is an
 * error. They are kept without their history, which may come to lead to the node itself (saved.c).
 * Nodes are counted atomically and freed iteratively: deep graphs do not recurse. */
#ifndef LT_AUTOGRAD_H
#define LT_AUTOGRAD_H

#include "context/context.h"
#include "tensor.h"

typedef struct lt_node lt_node;

/* Where a gradient goes: input `slot` of `node`. node NULL: nowhere. Counted. */
typedef struct lt_edge {
    lt_node *node;
    int slot;
} lt_edge;

/* What a derivative needs to know of a tensor whose elements it does not need. */
typedef struct lt_like {
    int8_t dtype;
    uint8_t ndim;
    lt_device device;
    int64_t sizes[LT_MAX_DIMS];
} lt_like;

/* As lt_like, and how the elements lie in the storage. */
typedef struct lt_geometry {
    uint8_t ndim;
    int64_t offset;
    int64_t sizes[LT_MAX_DIMS];
    int64_t strides[LT_MAX_DIMS];
} lt_geometry;

/* What keeps something else in the place of the tensors that nodes save while it is the thread's
 * innermost (lt_tls.saved_hooks). Counted: by the scope that is open, and by each packed
 * tensor. */
typedef struct lt_saved_hooks {
    _Atomic int32_t refs;
    struct lt_saved_hooks *outer; /* the scope around it */
    /* Runs without recording, and without hooks. *packed is what unpack is given, as often as the
     * tensor is needed, and drop at the end. */
    lt_status (*pack)(struct lt_saved_hooks *hooks, lt_tensor *t, int64_t *packed);
    /* new reference */
    lt_status (*unpack)(struct lt_saved_hooks *hooks, int64_t packed, lt_tensor **out);
    /* from any thread */
    void (*drop)(struct lt_saved_hooks *hooks, int64_t packed);
    void (*free)(struct lt_saved_hooks *hooks);
} lt_saved_hooks;
/* Opens a scope on this thread, which takes the reference over. */
void lt_saved_hooks_enter(lt_saved_hooks *hooks);
/* Ends it, which need not be the innermost one; nothing where this thread has no such scope (any
 * more): the pointer is only compared. */
void lt_saved_hooks_leave(const lt_saved_hooks *hooks);

typedef struct lt_saved {
    lt_tensor *tensor;        /* NULL: nothing saved, or packed */
    struct lt_packed *packed; /* saved.c; NULL: as it is */
    uint32_t version;
    bool is_output; /* of the node that saved it */
    bool is_view;
    bool freed;  /* there was a tensor, until the graph's memory was released */
    int slot;    /* which output, */
    lt_node *fn; /* of which other node, counted; NULL: a tensor without history, or is_output */
} lt_saved;

/* A saved list; entries may be empty. */
typedef struct lt_saved_list {
    int64_t n;
    lt_saved *v;
} lt_saved_list;

/* A field of a node by which it owns tensors or nodes, besides its edges. */
typedef enum lt_owned_kind { LT_OWNED_NODE, LT_OWNED_SAVED, LT_OWNED_SAVED_LIST } lt_owned_kind;
typedef struct lt_owned {
    uint32_t offset; /* 0 ends the list */
    lt_owned_kind kind;
} lt_owned;

typedef struct lt_node_class {
    const char *name; /* "AddmmBackward0" */
    size_t size;      /* of the whole struct, lt_node first */
    /* grads: inputs of the node (one per forward output, NULL where none arrived); results: one per
     * edge, new references or NULL, computed only where needs[i]. Runs with grad mode =
     * create_graph. */
    lt_status (*apply)(lt_node *node, lt_tensor *const *grads, lt_tensor **results,
                       const bool *needs);
    void (*release_saved)(lt_node *node); /* frees what is saved (after backward, and at the end) */
    void (*destroy)(lt_node *node);       /* frees the rest, once; NULL when there is none */
    const lt_owned *owned;                /* NULL: nothing that cycles.c could look into */
    /* The derivative of a holomorphic function, linear in the gradient: of complex gradients it
     * takes the conjugate, and gives the conjugate of what comes of it (lt_node_apply). */
    bool conjugates;
    /* The gradient is read once, by an elementwise op: where nobody else has it, that may write to
     * it (LT_ROLE_DONATED). */
    bool spends;
} lt_node_class;

typedef struct lt_hook {
    /* *replacement: NULL keeps the gradient; else a new reference that replaces it. */
    lt_status (*run)(void *ctx, lt_tensor *grad, lt_tensor **replacement);
    /* Of a node: may replace some of the n values (NULL: no gradient), whose references it takes
     * over; the m seen ones are only read. Either function is set. */
    lt_status (*run_node)(void *ctx, lt_tensor **values, int n, lt_tensor *const *seen, int m);
    void (*release)(void *ctx);
    void *ctx;
    int64_t id;
} lt_hook;

struct lt_node {
    _Atomic int32_t refs;
    int32_t inputs, outputs; /* inputs: gradients that come in = the forward op's results */
    bool saved_released;
    uint64_t sequence; /* order of creation in its thread; the engine runs later ones first */
    const lt_node_class *class;
    lt_edge *edges;             /* outputs of them: one per differentiable forward argument */
    lt_like *meta;              /* inputs of them: what a gradient of input i must look like */
    struct lt_hook_list *hooks; /* tensor hooks, per input; NULL when none */
    /* of the composite op whose result this node gives; NULL: the class's. Never freed */
    const char *name;
    char *origin;    /* anomaly mode: the Lua line of the forward op; NULL otherwise */
    uint64_t stream; /* of the device of output 0, at the time of the forward op; GPUs only */
    /* the forward op was in a window that takes so many elements: backward opens one, too; 0: it
     * was not */
    int64_t recorded;
    lt_node *next; /* among the nodes that wait to be freed */
};

/* Grad mode of this thread in its context. Written by lt_set_grad_enabled and by entering a context
 * only. */
static inline bool lt_grad_mode_on(void) { return lt_tls.grad_mode; }

/* A view of a tensor that requires grad does so too, whenever its base began to. */
static inline bool lt_requires_grad(const lt_tensor *t)
{
    return t != NULL && ((t->flags & LT_FLAG_REQUIRES_GRAD) ||
                         (t->view_base != NULL && (t->view_base->flags & LT_FLAG_REQUIRES_GRAD)));
}
bool lt_any_requires_grad(const lt_tensor_list *list);

/* -- for generated wrappers -------------------------------------------------------------------- */

/* New node of a class with room for `inputs` and `outputs`; zeroed beyond the header. */
lt_status lt_node_new(const lt_node_class *c, int inputs, int outputs, lt_node **out);
/* Points edge i at what t's gradient flows to (its grad_fn, or its accumulator); none when t is
 * NULL or requires no grad. */
lt_status lt_node_connect(lt_node *node, int i, lt_tensor *t);
/* t becomes output `slot` of node (takes its own reference): sets requires_grad, grad_fn, the
 * meta. */
lt_status lt_node_attach(lt_node *node, int slot, lt_tensor *t);
/* After an in-place op on t: as attach, and rebases the history of the tensor that t is a view
 * of. */
lt_status lt_node_attach_inplace(lt_node *node, lt_tensor *t);
/* t takes the geometry of view, one of itself, and its node, which is made one of a class of the
 * same layout. */
lt_status lt_become_view(lt_tensor *t, lt_tensor *view, const lt_node_class *class);
/* For an op without a derivative: a node for its results, backward through which is an error. op is
 * kept as it is. */
lt_status lt_no_derivative(const char *op, int n, lt_tensor *const *inputs, int results,
                           lt_node **out);
/* "The function 'nll_loss' is not differentiable with respect to argument 'weight'." */
lt_status lt_refuse_grad_argument(const char *op, const char *argument);
/* Before an in-place op: "a leaf Variable that requires grad is being used in an in-place
 * operation." */
lt_status lt_check_inplace(lt_tensor *t);

/* Names the view op's result for autograd when grad mode is off: it may not be written with it
 * on. */
void lt_record_view(lt_tensor *self, lt_tensor *view);

lt_status lt_save_input(lt_saved *s, lt_tensor *t); /* an input; NULL is allowed */
lt_status lt_save_output(lt_saved *s, lt_tensor *t, int slot);
/* Borrowed... new reference in *out; checks the version. `node` gives outputs their grad_fn
 * back. */
lt_status lt_unpack(lt_saved *s, lt_node *node, lt_tensor **out);
void lt_saved_release(lt_saved *s);
lt_status lt_save_list(lt_saved_list *s, const lt_tensor_list *list);
/* New references; what it wrote is freed by lt_unpacked_release also when it failed. */
lt_status lt_unpack_list(lt_saved_list *s, lt_node *node, lt_tensor_list *out);
void lt_unpacked_release(lt_tensor_list *list);
void lt_saved_list_release(lt_saved_list *s);
void lt_like_of(lt_like *like, const lt_tensor *t);
void lt_geometry_of(lt_geometry *geometry, const lt_tensor *t);
/* New array of list->n; freed by lt_mem_free. */
lt_status lt_like_of_list(lt_like **out, const lt_tensor_list *list);
/* A copy of a string, freed by lt_mem_free; NULL stays NULL. */
lt_status lt_save_string(char **out, const char *text);

lt_node *lt_node_retain(lt_node *node);
void lt_node_release(lt_node *node); /* NULL is allowed */
/* The node's apply, with complex gradients conjugated before and after where its class says so. */
lt_status lt_node_apply(lt_node *node, lt_tensor *const *grads, lt_tensor **results,
                        const bool *needs);
/* "AddmmBackward0"; custom Functions have their own names. */
const char *lt_node_name(const lt_node *node);
/* Names the node that gives t, if it was made after the node `before` (lt_tls.last_node), as
 * PyTorch names that of the op. */
void lt_name_node(const lt_tensor *t, uint64_t before, const char *name);
/* A copy of the name that stays; NULL: there is no memory for it. */
const char *lt_node_name_kept(const char *name);

/* In inference mode nothing is recorded, and new tensors are inference tensors: outside of it they
 * are not written in place and not saved for backward. Returns what was before. Grad mode is set
 * apart. */
bool lt_set_inference_mode(bool on);
lt_status lt_refuse_saving_inference(const lt_tensor *t);

/* -- for the binding --------------------------------------------------------------------------- */

/* t's grad_fn, borrowed; NULL for leaves. Regenerates it for views of tensors modified in place. */
lt_status lt_grad_fn(lt_tensor *t, lt_node **out);
bool lt_is_leaf(const lt_tensor *t);
lt_status lt_set_grad(lt_tensor *t, lt_tensor *grad); /* NULL clears; checks shape, dtype, device */
lt_status lt_set_requires_grad(lt_tensor *t, bool on);
/* t becomes a leaf that requires no grad; an error for views. */
lt_status lt_detach_inplace(lt_tensor *t);
lt_status lt_retain_grad(lt_tensor *t);
/* Runs on every gradient of t; *id removes it again. */
lt_status lt_register_hook(lt_tensor *t, lt_hook hook, int64_t *id);
/* Runs on the leaf t itself once backward has added to its .grad; replaces nothing. */
lt_status lt_register_post_hook(lt_tensor *t, lt_hook hook, int64_t *id);
void lt_remove_hook(lt_tensor *t, int64_t id);
/* hook.run_node runs whenever the node does: before it, on the gradients that come in, or after it,
 * on those that it gives, with the former beside them. */
lt_status lt_node_register_hook(lt_node *node, bool before, lt_hook hook);

/* grads[i] NULL: ones, for one-element tensors only ("grad can be implicitly created only for
 * scalar outputs"). inputs NULL: accumulates into leaves; else results[i] are new references (NULL
 * if unused and allowed), or with results NULL the gradients are added to .grad of the inputs
 * alone. */
lt_status lt_run_backward(lt_tensor *const *roots, lt_tensor *const *grads, int n,
                          bool retain_graph, bool create_graph, lt_tensor *const *inputs,
                          int n_inputs, bool allow_unused, lt_tensor **results);

/* As lt_run_backward with results, unused inputs allowed, for a derivative that runs its function
 * again: the hooks of inputs that are leaves are left to the run that asked for the derivative. The
 * graph is kept. */
lt_status lt_grad_within(lt_tensor *const *roots, lt_tensor *const *grads, int n,
                         lt_tensor *const *inputs, int n_inputs, lt_tensor **results);

/* New references, in an array freed by lt_mem_free: the leaves that gradients of the roots flow
 * to. */
lt_status lt_graph_leaves(lt_tensor *const *roots, int n, lt_tensor_list *out);

/* The backward that runs on this thread, the innermost one: a number that no other has (0: none
 * runs), and whether it computes t's gradient. */
int64_t lt_backward_number(void);
lt_status lt_backward_reaches(lt_tensor *t, bool *out);

/* New reference: the node that t's gradient flows to, and which of its inputs it is. */
lt_status lt_edge_of(lt_tensor *t, lt_node **node, int *slot);
/* New reference: what stands for the tensor whose gradient comes to an input of the node, where
 * roots and inputs of a backward are meant: it has its shape, one element of memory and no other
 * use. A leaf stands for itself. */
lt_status lt_gradient_edge(lt_node *node, int slot, lt_tensor **out);

/* A node whose derivative is a callback: custom Functions. */
typedef struct lt_function_node {
    lt_node node;
    lt_status (*apply)(void *ctx, lt_tensor *const *grads, lt_tensor **results, const bool *needs);
    /* after a backward that retains nothing; NULL: nothing to free */
    void (*free_saved)(void *ctx);
    void (*release)(void *ctx);
    void *ctx;
    char *name; /* "ExpBackward", from lt_save_string; NULL: "FunctionBackward" */
} lt_function_node;
extern const lt_node_class lt_function_class;

/* Anomaly mode: nodes remember lt_copies' origin, backward checks for nan. */
void lt_set_anomaly(bool on);
bool lt_anomaly(void);

/* Frees tensors whose gradient leads back to them and that nobody else has (cycles.c): now, or when
 * there is reason to and the last time is long enough ago for what it took. */
void lt_cycles_collect(void);
void lt_cycles_collect_if_due(void);

/* -- helpers for derivatives (backward.c): all made of differentiable ops, all give new references ---- */
lt_status lt_sum_to(lt_tensor *grad, int ndim, const int64_t *sizes, lt_tensor **out);

#endif
