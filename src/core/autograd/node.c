/* node.c - creation, freeing and names of nodes; nodes of custom Functions.
 *
 * A node, its edges and its input metadata are one allocation. Nodes are freed iteratively: freeing
 * one may release others (through its edges and saved tensors), which go to a per-thread queue
 * instead of recursing. */
#include <string.h>

#include "assertion.h"
#include "autograd/internal.h"
#include "compile/trace.h"
#include "context/fork.h"
#include "devices/copies.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "lock.h"
#include "memory/alloc.h"
#include "op/conj.h"
#include "system/threads.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

LT_HOLD_ACROSS_FORK(lock)

void lt_autograd_lock(void) { pthread_mutex_lock(&lock); }
void lt_autograd_unlock(void) { lt_unlock(&lock); }

bool lt_grad_enabled(void) { return lt_tls.grad_mode; }

bool lt_set_grad_enabled(bool on)
{
    bool previous = lt_tls.grad_mode;
    lt_tls.grad_mode = on;
    return previous;
}

bool lt_any_requires_grad(const lt_tensor_list *list)
{
    for (int64_t i = 0; i < list->n; i++)
        if (lt_requires_grad(list->v[i])) return true;
    return false;
}

lt_status lt_save_string(char **out, const char *text)
{
    if (text == NULL) {
        *out = NULL;
        return LT_OK;
    }
    size_t n = strlen(text) + 1;
    char *copy = lt_mem_alloc(n);
    if (copy == NULL) return LT_ERR_MEMORY;
    memcpy(copy, text, n);
    *out = copy;
    return LT_OK;
}

void lt_like_of(lt_like *like, const lt_tensor *t)
{
    LT_ASSERT(t->refs > 0 && t->ndim <= LT_MAX_DIMS, "refs %d, ndim %d", t->refs, t->ndim);
    like->dtype = t->dtype;
    like->ndim = t->ndim;
    like->device = t->device;
    for (int d = 0; d < t->ndim; d++) like->sizes[d] = t->sizes[d];
}

void lt_geometry_of(lt_geometry *geometry, const lt_tensor *t)
{
    geometry->ndim = t->ndim;
    geometry->offset = t->offset;
    for (int d = 0; d < t->ndim; d++)
        geometry->sizes[d] = t->sizes[d], geometry->strides[d] = t->strides[d];
}

/* ---- anomaly mode ---------------------------------------------------------------------------- */

void lt_set_anomaly(bool on)
{
    atomic_store_explicit(&lt_tls.context->anomaly, on, memory_order_relaxed);
}
bool lt_anomaly(void)
{
    return atomic_load_explicit(&lt_tls.context->anomaly, memory_order_relaxed);
}

static lt_status note_origin(lt_node *node)
{
    char line[256];
    lt_copies_origin(line, sizeof line);
    return line[0] != '\0' ? lt_save_string(&node->origin, line) : LT_OK;
}

/* ---- lists of hooks -------------------------------------------------------------------------- */

void lt_hook_entry_release(lt_hook_entry *entry)
{
    LT_ASSERT(entry->refs > 0, "refs %d", entry->refs);
    if (atomic_fetch_sub_explicit(&entry->refs, 1, memory_order_acq_rel) != 1) return;
    if (entry->hook.release != NULL) entry->hook.release(entry->hook.ctx);
    lt_mem_free(entry);
}

lt_hook_entry *lt_hook_entry_retain(lt_hook_entry *entry)
{
    LT_ASSERT(entry->refs > 0, "refs %d", entry->refs);
    atomic_fetch_add_explicit(&entry->refs, 1, memory_order_relaxed);
    return entry;
}

void lt_hook_list_free(struct lt_hook_list *list)
{
    LT_ASSERT(list->n >= 0 && list->n <= list->capacity, "%d of %d", list->n, list->capacity);
    for (int i = 0; i < list->n; i++) lt_hook_entry_release(list->entries[i]);
    lt_mem_free(list->entries);
    lt_mem_free(list->retained);
    lt_mem_free(list);
}

/* ---- custom Functions ------------------------------------------------------------------------ */

static lt_status function_apply(lt_node *node, lt_tensor *const *grads, lt_tensor **results,
                                const bool *needs)
{
    lt_function_node *function = (lt_function_node *)node;
    return function->apply(function->ctx, grads, results, needs);
}

static void function_release_saved(lt_node *node)
{
    lt_function_node *function = (lt_function_node *)node;
    if (function->free_saved != NULL && !node->saved_released) function->free_saved(function->ctx);
}

static void function_destroy(lt_node *node)
{
    lt_function_node *function = (lt_function_node *)node;
    if (function->release != NULL) function->release(function->ctx);
    lt_mem_free(function->name);
}

const lt_node_class lt_function_class = {"FunctionBackward",
                                         sizeof(lt_function_node),
                                         function_apply,
                                         function_release_saved,
                                         function_destroy,
                                         NULL,
                                         false,
                                         false};

/* ---- nodes ----------------------------------------------------------------------------------- */

static size_t round_up_16(size_t n) { return (n + 15) & ~(size_t)15; }

static bool is_complex(const lt_tensor *t)
{
    return t != NULL && lt_dtype_is_complex((lt_dtype)t->dtype);
}

/* For an op with complex results, all of one dtype. */
static lt_status apply_conjugated(lt_node *node, lt_tensor *const *grads, lt_tensor **results,
                                  const bool *needs)
{
    enum { FEW = 8 };
    lt_tensor *few[FEW] = {NULL}, **conjugates = few;
    lt_status status = LT_OK;
    if (node->inputs > FEW) {
        conjugates = lt_mem_zarray(node->inputs, sizeof *conjugates);
        if (conjugates == NULL) return LT_ERR_MEMORY;
    }
    for (int i = 0; i < node->inputs; i++)
        if (grads[i] != NULL) LT_CHECK(lt_conj(grads[i], &conjugates[i]));
    LT_CHECK(node->class->apply(node, conjugates, results, needs));
    for (int i = 0; i < node->outputs; i++) {
        lt_tensor *result = results[i];
        if (!is_complex(result)) continue;
        results[i] = NULL;
        status = lt_conj(result, &results[i]);
        lt_tensor_release(result);
        if (status != LT_OK) goto done;
    }
done:
    for (int i = 0; i < node->inputs; i++) lt_tensor_release(conjugates[i]);
    if (conjugates != few) lt_mem_free(conjugates);
    return status;
}

lt_status lt_node_apply(lt_node *node, lt_tensor *const *grads, lt_tensor **results,
                        const bool *needs)
{
    bool conjugated = false;
    LT_ASSERT(node->class->apply != NULL, "%s", node->class->name);
    LT_ASSERT(node->refs > 0, "%s: refs %d", node->class->name, node->refs);
    for (int i = 0; node->class->conjugates && i < node->inputs; i++)
        conjugated = conjugated || is_complex(grads[i]);
    return conjugated ? apply_conjugated(node, grads, results, needs)
                      : node->class->apply(node, grads, results, needs);
}

lt_status lt_node_new(const lt_node_class *c, int inputs, int outputs, lt_node **out)
{
    LT_ASSERT(c->size >= sizeof(lt_node), "%s: %zu bytes", c->name, c->size);
    LT_ASSERT(inputs >= 0 && outputs >= 0, "%s: %d inputs, %d outputs", c->name, inputs, outputs);
    size_t edges_at = round_up_16(c->size);
    size_t meta_at = edges_at + round_up_16((size_t)outputs * sizeof(lt_edge));
    const size_t bytes = meta_at + (size_t)inputs * sizeof(lt_like);
    lt_node *node = lt_mem_alloc(bytes);
    if (node == NULL) return LT_ERR_MEMORY;
    memset(node, 0, meta_at);
    atomic_init(&node->refs, 1);
    node->inputs = inputs;
    node->outputs = outputs;
    node->sequence = ++lt_tls.last_node;
    node->class = c;
    if (lt_any_trace()) node->recorded = lt_trace_min_numel();
    node->edges = (lt_edge *)((char *)node + edges_at);
    node->meta = (lt_like *)((char *)node + meta_at);
    for (int i = 0; i < inputs; i++) node->meta[i].ndim = 0, node->meta[i].device = lt_host;
    if (lt_anomaly()) {
        lt_status status = note_origin(node);
        if (status != LT_OK) {
            lt_mem_free(node);
            return status;
        }
    }
    *out = node;
    return LT_OK;
}

lt_node *lt_node_retain(lt_node *node)
{
    LT_ASSERT(node->refs > 0, "%s: refs %d", node->class->name, node->refs);
    atomic_fetch_add_explicit(&node->refs, 1, memory_order_relaxed);
    return node;
}

static void node_free(lt_node *node)
{
    LT_ASSERT(node->refs == 0, "%s: refs %d", node->class->name, node->refs);
    LT_POISON(node->refs, INT32_MIN);
    node->class->release_saved(node);
    if (node->class->destroy != NULL) node->class->destroy(node);
    for (int i = 0; i < node->outputs; i++) lt_node_release(node->edges[i].node);
    if (node->hooks != NULL) lt_hook_list_free(node->hooks);
    lt_mem_free(node->origin);
    lt_mem_free(node);
}

void lt_node_release(lt_node *node)
{
    static _Thread_local lt_node *waiting;
    static _Thread_local bool freeing;
    if (node == NULL) return;
    LT_ASSERT(node->refs > 0, "refs %d", node->refs);
    if (atomic_fetch_sub_explicit(&node->refs, 1, memory_order_acq_rel) != 1) return;
    node->next = waiting;
    waiting = node;
    if (freeing) return;
    freeing = true;
    while (waiting != NULL) {
        lt_node *first = waiting;
        waiting = first->next;
        node_free(first);
    }
    freeing = false;
}

const char *lt_node_name(const lt_node *node)
{
    if (node->name != NULL) return node->name;
    if (node->class != &lt_function_class) return node->class->name;
    const lt_function_node *function = (const lt_function_node *)node;
    return function->name != NULL ? function->name : node->class->name;
}

void lt_name_node(const lt_tensor *t, uint64_t before, const char *name)
{
    lt_node *node = t != NULL && t->autograd != NULL ? t->autograd->grad_fn : NULL;
    if (node != NULL && node->sequence > before) node->name = name;
}

const char *lt_node_name_kept(const char *name)
{
    typedef struct kept_name {
        struct kept_name *next;
        char text[];
    } kept_name;
    static kept_name *names;
    lt_autograd_lock();
    kept_name *kept = names;
    while (kept != NULL && strcmp(kept->text, name) != 0) kept = kept->next;
    lt_autograd_unlock();
    if (kept != NULL) return kept->text;
    const size_t size = strlen(name) + 1;
    kept = lt_mem_alloc(sizeof *kept + size);
    if (kept == NULL) return NULL;
    memcpy(kept->text, name, size);
    lt_autograd_lock();
    kept->next = names;
    names = kept;
    lt_autograd_unlock();
    return kept->text;
}

/* ---- inference mode -------------------------------------------------------------------------- */

bool lt_set_inference_mode(bool on)
{
    const bool previous = lt_tls.inference;
    lt_tls.inference = on;
    return previous;
}

lt_status lt_inference_write_error(void)
{
    return lt_error(LT_ERR_RUNTIME, "Inplace update to inference tensor outside InferenceMode is "
                                    "not allowed.You can make a clone to get a "
                                    "normal tensor before doing inplace update.See "
                                    "https://github.com/pytorch/rfcs/pull/17 for more details.");
}

lt_status lt_refuse_saving_inference(const lt_tensor *t)
{
    if (!(t->flags & LT_FLAG_INFERENCE) || lt_tls.inference) return LT_OK;
    return lt_error(LT_ERR_RUNTIME,
                    "Inference tensors cannot be saved for backward. Please do not use Tensors "
                    "created in inference mode in "
                    "computation tracked by autograd. To work around this, you can make a clone to "
                    "get a normal tensor and use it "
                    "in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`.");
}
