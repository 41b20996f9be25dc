/* autograd.h - nodes, saved tensors and the engine: the interface for generated op wrappers and the
 * binding.
 *
 * Each differentiable op creates a node, which owns edges to the nodes of its inputs and the values
 * that its derivative needs. A saved tensor records the storage's version; unpacking it after a
 * change is an error. It is saved without its history, which could come to include the node itself
 * (saved.c). Node reference counts are atomic; freeing is iterative, not recursive. */
#ifndef LT_AUTOGRAD_H
#define LT_AUTOGRAD_H

#include "context/context.h"
#include "tensor.h"

typedef struct lt_node lt_node;

/* The destination of a gradient: input `slot` of `node`; NULL: none. Owns a reference. */
typedef struct lt_edge {
    lt_node *node;
    int slot;
} lt_edge;

/* The metadata of a tensor, for derivatives that do not need its elements. */
typedef struct lt_like {
    int8_t dtype;
    uint8_t ndim;
    lt_device device;
    int64_t sizes[LT_MAX_DIMS];
} lt_like;

/* Sizes, strides and offset (elements) of a tensor in its storage. */
typedef struct lt_geometry {
    uint8_t ndim;
    int64_t offset;
    int64_t sizes[LT_MAX_DIMS];
    int64_t strides[LT_MAX_DIMS];
} lt_geometry;

/* torch.autograd.graph.saved_tensors_hooks. While this is the innermost scope of the thread
 * (lt_tls.saved_hooks), nodes save the result of pack instead of the tensor. The open scope and
 * each packed tensor own a reference. */
typedef struct lt_saved_hooks {
    _Atomic int32_t refs;
    struct lt_saved_hooks *outer; /* the enclosing scope */
    /* Called with grad mode and hooks off. *packed is passed to unpack, each time the tensor is
     * needed, and finally to drop. */
    lt_status (*pack)(struct lt_saved_hooks *hooks, lt_tensor *t, int64_t *packed);
    /* new reference */
    lt_status (*unpack)(struct lt_saved_hooks *hooks, int64_t packed, lt_tensor **out);
    /* called from any thread */
    void (*drop)(struct lt_saved_hooks *hooks, int64_t packed);
    void (*free)(struct lt_saved_hooks *hooks);
} lt_saved_hooks;
/* Opens a scope on this thread; consumes the reference. */
void lt_saved_hooks_enter(lt_saved_hooks *hooks);
/* Closes the scope, which need not be the innermost one. Does nothing if this thread has no such
 * scope: the pointer is only compared, so it may dangle. */
void lt_saved_hooks_leave(const lt_saved_hooks *hooks);

typedef struct lt_saved {
    lt_tensor *tensor;        /* NULL: nothing saved, or packed */
    struct lt_packed *packed; /* saved.c; NULL: not packed */
    uint32_t version;
    bool is_output; /* an output of the node that saved it */
    bool is_view;
    bool freed;  /* a tensor was saved, and released with the graph's memory */
    int slot;    /* which output of fn, or of the saving node */
    lt_node *fn; /* counted; NULL: a tensor without history, or is_output */
} lt_saved;

/* A saved list; entries may be empty. */
typedef struct lt_saved_list {
    int64_t n;
    lt_saved *v;
} lt_saved_list;

/* A field of a node that owns tensors or nodes, besides the edges. */
typedef enum lt_owned_kind { LT_OWNED_NODE, LT_OWNED_SAVED, LT_OWNED_SAVED_LIST } lt_owned_kind;
typedef struct lt_owned {
    uint32_t offset; /* 0 ends the list */
    lt_owned_kind kind;
} lt_owned;

typedef struct lt_node_class {
    const char *name; /* "AddmmBackward0" */
    size_t size;      /* of the whole struct, lt_node first */
    /* grads: one per input of the node (= forward output), NULL where none arrived. results: one
     * per edge, new references or NULL; computed only where needs[i]. Grad mode is create_graph. */
    lt_status (*apply)(lt_node *node, lt_tensor *const *grads, lt_tensor **results,
                       const bool *needs);
    /* frees saved values (after backward, and before destroy) */
    void (*release_saved)(lt_node *node);
    void (*destroy)(lt_node *node); /* frees the rest, once; NULL: nothing to free */
    const lt_owned *owned;          /* for cycles.c; NULL: no such fields */
    /* The derivative of a holomorphic function, linear in the gradient. For complex gradients,
     * lt_node_apply passes it the conjugates and conjugates its results. */
    bool conjugates;
    /* The gradient is read once, by an elementwise op, which may write its result to the gradient's
     * memory if no other code references it (LT_ROLE_DONATED). */
    bool spends;
} lt_node_class;

typedef struct lt_hook {
    /* *replacement: NULL keeps the gradient; else a new reference that replaces it. */
    lt_status (*run)(void *ctx, lt_tensor *grad, lt_tensor **replacement);
    /* Hook of a node: may replace some of the n values (NULL: no gradient), and then releases the
     * old ones; the m `seen` values are read-only. Exactly one of run and run_node is set. */
    lt_status (*run_node)(void *ctx, lt_tensor **values, int n, lt_tensor *const *seen, int m);
    void (*release)(void *ctx);
    void *ctx;
    int64_t id;
} lt_hook;

struct lt_node {
    _Atomic int32_t refs;
    int32_t inputs, outputs; /* inputs: incoming gradients = results of the forward op */
    bool saved_released;
    uint64_t sequence; /* order of creation in its thread; the engine runs the highest first */
    const lt_node_class *class;
    lt_edge *edges;             /* `outputs` of them: one per differentiable forward argument */
    lt_like *meta;              /* `inputs` of them: required metadata of each incoming gradient */
    struct lt_hook_list *hooks; /* tensor hooks, per input; NULL: none */
    /* name of the composite op that returned this node's result; NULL: the class's. Never freed */
    const char *name;
    char *origin;    /* anomaly mode: the Lua line of the forward op; else NULL */
    uint64_t stream; /* GPUs: the current stream of output 0's device during the forward op */
    /* The min_numel of the trace that was open during the forward op (lt_trace_min_numel): backward
     * opens such a trace, too. 0: none was open. */
    int64_t recorded;
    lt_node *next; /* in the queue of nodes to be freed */
};

/* Grad mode of this thread in its context. Written only by lt_set_grad_enabled and when a context
 * is entered. */
static inline bool lt_grad_mode_on(void) { return lt_tls.grad_mode; }

/* A view requires grad if its base does, even if the base's flag was set after its creation. */
static inline bool lt_requires_grad(const lt_tensor *t)
{
    return t != NULL && ((t->flags & LT_FLAG_REQUIRES_GRAD) ||
                         (t->view_base != NULL && (t->view_base->flags & LT_FLAG_REQUIRES_GRAD)));
}
bool lt_any_requires_grad(const lt_tensor_list *list);

/* -- for generated wrappers -------------------------------------------------------------------- */

/* New node with `inputs` and `outputs`; fields after the header are zero. */
lt_status lt_node_new(const lt_node_class *c, int inputs, int outputs, lt_node **out);
/* Sets edge i to t's grad_fn or accumulator. No edge if t is NULL or does not require grad. */
lt_status lt_node_connect(lt_node *node, int i, lt_tensor *t);
/* Makes t output `slot` of node: sets requires_grad, grad_fn (a new reference) and the metadata. */
lt_status lt_node_attach(lt_node *node, int slot, lt_tensor *t);
/* After an in-place op on t: as lt_node_attach. If t is a view, rebases the history of its base. */
lt_status lt_node_attach_inplace(lt_node *node, lt_tensor *t);
/* Gives t the geometry of view, a view of t, and view's node. Changes the node's class to `class`,
 * which must have the same layout. */
lt_status lt_become_view(lt_tensor *t, lt_tensor *view, const lt_node_class *class);
/* For an op without a derivative: new node for its results that raises an error in backward. Stores
 * the pointer op, not a copy. */
lt_status lt_no_derivative(const char *op, int n, lt_tensor *const *inputs, int results,
                           lt_node **out);
/* "The function 'nll_loss' is not differentiable with respect to argument 'weight'." */
lt_status lt_refuse_grad_argument(const char *op, const char *argument);
/* Before an in-place op: "a leaf Variable that requires grad is being used in an in-place
 * operation." */
lt_status lt_check_inplace(lt_tensor *t);

/* Registers a view op's result when grad mode is off: such a view must not be written in place
 * while grad mode is on. */
void lt_record_view(lt_tensor *self, lt_tensor *view);

lt_status lt_save_input(lt_saved *s, lt_tensor *t); /* an input; NULL is allowed */
lt_status lt_save_output(lt_saved *s, lt_tensor *t, int slot);
/* New reference in *out; LT_ERR_RUNTIME if the version changed. An output of `node` gets it back as
 * its grad_fn. */
lt_status lt_unpack(lt_saved *s, lt_node *node, lt_tensor **out);
void lt_saved_release(lt_saved *s);
lt_status lt_save_list(lt_saved_list *s, const lt_tensor_list *list);
/* New references. Free them by lt_unpacked_release, also after an error. */
lt_status lt_unpack_list(lt_saved_list *s, lt_node *node, lt_tensor_list *out);
void lt_unpacked_release(lt_tensor_list *list);
void lt_saved_list_release(lt_saved_list *s);
void lt_like_of(lt_like *like, const lt_tensor *t);
void lt_geometry_of(lt_geometry *geometry, const lt_tensor *t);
/* New array of list->n; free it by lt_mem_free. */
lt_status lt_like_of_list(lt_like **out, const lt_tensor_list *list);
/* New copy of a string, freed by lt_mem_free; NULL for NULL. */
lt_status lt_save_string(char **out, const char *text);

lt_node *lt_node_retain(lt_node *node);
void lt_node_release(lt_node *node); /* NULL is allowed */
/* Calls the node's apply. If its class conjugates, conjugates complex gradients before and complex
 * results after the call. */
lt_status lt_node_apply(lt_node *node, lt_tensor *const *grads, lt_tensor **results,
                        const bool *needs);
/* "AddmmBackward0"; custom Functions have their own names. */
const char *lt_node_name(const lt_node *node);
/* Names the node of which t is an output, if it was created after the node number `before`
 * (lt_tls.last_node): the name that PyTorch's node for the op has. */
void lt_name_node(const lt_tensor *t, uint64_t before, const char *name);
/* A copy of the name that is never freed; NULL: out of memory. */
const char *lt_node_name_kept(const char *name);

/* In inference mode ops are not recorded, and new tensors are inference tensors, which outside of
 * the mode cannot be written in place or saved for backward. Returns the previous mode. Does not
 * change grad mode. */
bool lt_set_inference_mode(bool on);
lt_status lt_refuse_saving_inference(const lt_tensor *t);

/* -- for the binding --------------------------------------------------------------------------- */

/* Borrowed; NULL for leaves. If its base was written in place, a view gets a new grad_fn first. */
lt_status lt_grad_fn(lt_tensor *t, lt_node **out);
bool lt_is_leaf(const lt_tensor *t);
lt_status lt_set_grad(lt_tensor *t, lt_tensor *grad); /* NULL clears; checks shape, dtype, device */
lt_status lt_set_requires_grad(lt_tensor *t, bool on);
/* Makes t a leaf that does not require grad; an error for views. */
lt_status lt_detach_inplace(lt_tensor *t);
lt_status lt_retain_grad(lt_tensor *t);
/* The hook runs on each gradient of t. *id is for lt_remove_hook. */
lt_status lt_register_hook(lt_tensor *t, lt_hook hook, int64_t *id);
/* The hook runs on the leaf t after backward has added to its .grad, which it cannot replace. */
lt_status lt_register_post_hook(lt_tensor *t, lt_hook hook, int64_t *id);
void lt_remove_hook(lt_tensor *t, int64_t id);
/* Registers hook.run_node on the node. before: it runs before the node, on its incoming gradients.
 * Else after it, on the gradients it computed (values) and the incoming ones (seen). */
lt_status lt_node_register_hook(lt_node *node, bool before, lt_hook hook);

/* The arguments of lt_run_backward. */
typedef struct lt_backward_args {
    lt_tensor *const *roots;
    /* The gradients of the roots; NULL: all are ones. grads[i] NULL: ones, only for roots of one
     * element ("grad can be implicitly created only for scalar outputs"). */
    lt_tensor *const *grads;
    int n;             /* number of roots */
    bool retain_graph; /* keep the saved tensors for another run */
    bool create_graph; /* record the operations of this run */
    /* The tensors to differentiate by; NULL: accumulate into the .grad of all leaves. */
    lt_tensor *const *inputs;
    int n_inputs;      /* ignored if inputs is NULL */
    bool allow_unused; /* accept inputs that no root depends on */
    /* One entry per input, a new reference, or NULL for an unused input; NULL: accumulate into the
     * .grad of the inputs only. */
    lt_tensor **results;
} lt_backward_args;

lt_status lt_run_backward(const lt_backward_args *a);

/* As lt_run_backward with results, allow_unused and retain_graph, for a derivative that runs its
 * function again. Does not run the hooks of leaves: the enclosing backward runs them. */
lt_status lt_grad_within(lt_tensor *const *roots, lt_tensor *const *grads, int n,
                         lt_tensor *const *inputs, int n_inputs, lt_tensor **results);

/* New references, in an array freed by lt_mem_free: the leaves that the roots' gradients reach. */
lt_status lt_graph_leaves(lt_tensor *const *roots, int n, lt_tensor_list *out);

/* A unique number of the innermost backward that runs on this thread, 0 if there is none; and
 * whether that backward computes t's gradient. */
int64_t lt_backward_number(void);
lt_status lt_backward_reaches(lt_tensor *t, bool *out);

/* New reference: the node that receives t's gradient, and the index of its input. */
lt_status lt_edge_of(lt_tensor *t, lt_node **node, int *slot);
/* New reference: a tensor that represents an input of a node (PyTorch's GradientEdge) as a root or
 * input of backward. It has the shape of the gradient, one element of memory and no other use. For
 * an accumulator: the leaf itself. */
lt_status lt_gradient_edge(lt_node *node, int slot, lt_tensor **out);

/* A node with a callback as derivative: custom Functions. */
typedef struct lt_function_node {
    lt_node node;
    lt_status (*apply)(void *ctx, lt_tensor *const *grads, lt_tensor **results, const bool *needs);
    /* called after a backward that does not retain the graph; NULL: nothing to free */
    void (*free_saved)(void *ctx);
    void (*release)(void *ctx);
    void *ctx;
    char *name; /* "ExpBackward", from lt_save_string; NULL: "FunctionBackward" */
} lt_function_node;
extern const lt_node_class lt_function_class;

/* Anomaly mode: new nodes store the source line (lt_copies_origin), backward checks for nan. */
void lt_set_anomaly(bool on);
bool lt_anomaly(void);

/* Frees tensors that are reachable only from their own gradient's history (cycles.c). The second
 * does so only if new candidates exist, or if 50 times the duration of the last collection has
 * passed. */
void lt_cycles_collect(void);
void lt_cycles_collect_if_due(void);

/* ---- helpers for derivatives: made of differentiable ops, return new references -------------- */
lt_status lt_sum_to(lt_tensor *grad, int ndim, const int64_t *sizes, lt_tensor **out);

#endif
