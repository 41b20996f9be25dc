/* accumulate.c - gradient accumulation at leaves, and fitting a gradient to the shape, dtype and
 * device of its tensor.
 *
 * A leaf has at most one accumulator (PyTorch's AccumulateGrad) while a graph leads to it. The
 * graph owns the accumulator, the accumulator owns a reference to its leaf, and the leaf's pointer
 * to the accumulator is weak. The engine calls lt_accumulate_steal instead of apply, so the class
 * has no apply. */
#include <string.h>

#include "assertion.h"
#include "autograd/internal.h"
#include "context/fork.h"
#include "lock.h"
#include "system/threads.h"
#include "user_index.h"
#include "devices/backend.h"
#include "devices/device.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "op/add.h"
#include "op/clone.h"
#include "op/copy_.h"
#include "op/reshape.h"
#include "op/sum.h"
#include "op/to.h"

/* ---- accumulators ---------------------------------------------------------------------------- */

/* Guards the leaves' accumulator pointers. A hash of the leaf's address selects the lock, so
 * threads that work on different tensors rarely contend. */
enum { LOCKS = 64 };
static struct {
    _Alignas(64) pthread_mutex_t lock;
} locks[LOCKS] = {[0 ... LOCKS - 1] = {PTHREAD_MUTEX_INITIALIZER}};

static pthread_mutex_t *lock_of(const lt_tensor *leaf)
{
    return &locks[(uintptr_t)leaf / sizeof *leaf % LOCKS].lock;
}

__attribute__((constructor)) static void hold_across_fork(void)
{
    static lt_fork_entry entries[LOCKS];
    for (int i = 0; i < LOCKS; i++) lt_fork_hold(&entries[i], &locks[i].lock);
}

static void saves_nothing(lt_node *node) { (void)node; }

static void accumulator_destroy(lt_node *node)
{
    lt_tensor *leaf = ((lt_accumulator *)node)->leaf;
    if (leaf == NULL) return;
    LT_ASSERT(leaf->refs > 0, "refs %d", leaf->refs);
    LT_ASSERT(leaf->autograd != NULL);
    pthread_mutex_lock(lock_of(leaf));
    if (leaf->autograd->accumulator == node) leaf->autograd->accumulator = NULL;
    lt_unlock(lock_of(leaf));
    lt_tensor_release(leaf);
}

const lt_node_class lt_accumulator_class = {"AccumulateGrad",
                                            sizeof(lt_accumulator),
                                            NULL,
                                            saves_nothing,
                                            accumulator_destroy,
                                            NULL,
                                            false,
                                            false};

/* The caller holds the leaf's lock. NULL also for an accumulator with reference count zero: it is
 * queued to be freed. */
static lt_node *living_accumulator(const lt_autograd *autograd)
{
    lt_node *node = autograd->accumulator;
    if (node == NULL) return NULL;
    LT_ASSERT(lt_is_accumulator(node), "%s", node->class->name);
    int32_t refs = atomic_load_explicit(&node->refs, memory_order_relaxed);
    while (refs > 0)
        if (atomic_compare_exchange_weak_explicit(&node->refs, &refs, refs + 1,
                                                  memory_order_acq_rel, memory_order_relaxed))
            return node;
    return NULL;
}

lt_status lt_accumulator_of(lt_tensor *leaf, lt_node **out)
{
    lt_autograd *autograd;
    LT_TRY(lt_autograd_of(leaf, &autograd));
    lt_node *node = NULL;
    if (autograd->accumulator != NULL) {
        pthread_mutex_lock(lock_of(leaf));
        node = living_accumulator(autograd);
        lt_unlock(lock_of(leaf));
    }
    if (node == NULL) {
        LT_TRY(lt_node_new(&lt_accumulator_class, 1, 0, &node));
        ((lt_accumulator *)node)->leaf = lt_tensor_retain(leaf);
        if (leaf->device.type != LT_CPU)
            node->stream = lt_backend_of(leaf)->current_stream(leaf->device.index);
        pthread_mutex_lock(lock_of(leaf));
        lt_node *other = living_accumulator(autograd);
        if (other == NULL) autograd->accumulator = node;
        lt_unlock(lock_of(leaf));
        if (other != NULL) {
            lt_node_release(node);
            node = other;
        }
    }
    LT_ASSERT(((lt_accumulator *)node)->leaf == leaf, "refs %d", node->refs);
    lt_like_of(&node->meta[0], leaf); /* set_data may have changed it */
    *out = node;
    return LT_OK;
}

/* ---- .grad ----------------------------------------------------------------------------------- */

/* Whether t is dense, covers its whole writable storage, has one reference, and the storage has
 * exactly `tensors` references. */
static bool is_alone(const lt_tensor *t, int32_t tensors)
{
    return atomic_load_explicit(&t->refs, memory_order_acquire) == 1 &&
           atomic_load_explicit(&t->storage->refs, memory_order_acquire) == tensors &&
           !t->storage->read_only && lt_is_dense(t) &&
           (size_t)t->numel * lt_dtype_size((lt_dtype)t->dtype) == t->storage->nbytes;
}

bool lt_is_unshared(const lt_tensor *t)
{
    return !lt_is_sparse(t) && t->view_base == NULL && is_alone(t, 1);
}

/* Whether t is a view that holds the only reference to its base, for example a transposed matrix
 * product. */
static bool is_only_view(const lt_tensor *t)
{
    return t->view_base != NULL &&
           atomic_load_explicit(&t->view_base->refs, memory_order_acquire) == 1 && is_alone(t, 2);
}

/* Whether grad has the strides required of the leaf's .grad: the leaf's own if that is dense, else
 * contiguous ones (PyTorch's gradient layout contract). */
static bool lies_as_grad_of(const lt_tensor *grad, const lt_tensor *leaf)
{
    if (lt_is_contiguous(leaf) || !lt_is_dense(leaf)) return lt_is_contiguous(grad);
    bool same = grad->ndim == leaf->ndim;
    for (int d = 0; same && d < grad->ndim; d++)
        same = grad->sizes[d] == 1 || grad->strides[d] == leaf->strides[d];
    return same;
}

/* The first gradient becomes .grad itself if grad mode is off and no other code references it; else
 * it is copied. */
static lt_status first_gradient(lt_tensor *leaf, lt_tensor *grad, lt_tensor **out)
{
    if (lt_is_sparse(grad)) return lt_tensor_alias(grad, out); /* components are never written */
    bool fits = lies_as_grad_of(grad, leaf);
    const bool free = fits && !lt_grad_mode_on() && !(grad->flags & LT_FLAG_REQUIRES_GRAD);
    if (free && is_only_view(grad)) return lt_tensor_alias(grad, out);
    if (free && lt_is_unshared(grad)) {
        grad->flags &= (uint16_t)~LT_FLAG_WRAPPED_NUMBER;
        *out = lt_tensor_retain(grad);
        return LT_OK;
    }
    if (fits) return lt_clone(grad, out);
    if (lt_is_contiguous(leaf) || !lt_is_dense(leaf))
        return lt_clone_format(grad, "contiguous_format", out);
    lt_tensor *copy = NULL;
    LT_TRY(lt_tensor_like(leaf, (lt_dtype)grad->dtype, grad->device, &copy));
    lt_status status = lt_copy_(copy, grad, false);
    if (status != LT_OK) {
        lt_tensor_release(copy);
        return status;
    }
    *out = copy;
    return LT_OK;
}

lt_status lt_accumulate_steal(lt_tensor *t, lt_tensor *grad)
{
    lt_autograd *autograd;
    lt_tensor *sum = NULL;
    lt_status status = LT_OK;
    LT_ASSERT(grad->refs > 0 && grad != t, "refs %d", grad->refs);
    LT_CHECK(lt_autograd_of(t, &autograd));
    if (autograd->grad == NULL) {
        LT_CHECK(first_gradient(t, grad, &sum));
    } else if (!lt_grad_mode_on() && !lt_is_sparse(autograd->grad)) {
        LT_CHECK(lt_add_(autograd->grad, grad, lt_scalar_from_int(1)));
    } else {
        LT_CHECK(lt_add(autograd->grad, grad, lt_scalar_from_int(1), &sum));
    }
    if (sum != NULL) {
        lt_tensor_release(autograd->grad);
        autograd->grad = sum;
    }
    LT_ASSERT(autograd->grad != NULL && autograd->grad->refs > 0);
    if (autograd->grad->flags & LT_FLAG_REQUIRES_GRAD) lt_cycles_add_candidate(t);
done:
    lt_tensor_release(grad);
    return status;
}

/* ---- fitting --------------------------------------------------------------------------------- */

lt_status lt_sum_to(lt_tensor *grad, int ndim, const int64_t *sizes, lt_tensor **out)
{
    lt_dims over = {.n = 0}, shape = {.n = ndim};
    if (ndim > 0) memcpy(shape.v, sizes, (size_t)ndim * sizeof *sizes);
    for (int d = grad->ndim - 1, own = ndim - 1; d >= 0; d--, own--)
        if (own < 0 || (sizes[own] == 1 && grad->sizes[d] != 1)) over.v[over.n++] = d;
    if (over.n == 0) {
        if (grad->ndim != ndim) return lt_reshape(grad, &shape, out);
        *out = lt_tensor_retain(grad);
        return LT_OK;
    }
    LT_ASSERT(ndim <= grad->ndim, "%d dimensions from %d", ndim, grad->ndim);
    lt_tensor *sum;
    LT_TRY(lt_sum_dim(grad, &over, true, LT_DTYPE_NONE, &sum));
    if (sum->ndim == ndim) {
        *out = sum;
        return LT_OK;
    }
    lt_status status = lt_reshape(sum, &shape, out);
    lt_tensor_release(sum);
    return status;
}

static bool same_shape(const lt_like *like, const lt_tensor *t)
{
    return like->ndim == t->ndim && memcmp(like->sizes, t->sizes, t->ndim * sizeof *t->sizes) == 0;
}

/* Whether broadcasting `like` could have made grad's shape. */
static bool sums_to(const lt_like *like, const lt_tensor *grad)
{
    if (like->ndim > grad->ndim) return false;
    for (int d = 0; d < like->ndim; d++) {
        int64_t have = grad->sizes[grad->ndim - like->ndim + d];
        if (like->sizes[d] != 1 && like->sizes[d] != have) return false;
    }
    return true;
}

static void replace_grad(lt_tensor **grad, lt_tensor *by)
{
    lt_tensor_release(*grad);
    *grad = by;
}

lt_status lt_fit_gradient(const lt_node *node, int index, const lt_like *like, lt_tensor **grad)
{
    const char *name = node != NULL ? lt_node_name(node) : "GraphRoot";
    char got[256], expected[256];
    lt_tensor *fitting;
    if (!same_shape(like, *grad)) {
        if (!sums_to(like, *grad))
            return lt_error(LT_ERR_RUNTIME,
                            "Function %s returned an invalid gradient at index %lld - got %s but "
                            "expected shape "
                            "compatible with %s",
                            name, lt_user_index(index),
                            lt_format_sizes(got, sizeof got, (*grad)->ndim, (*grad)->sizes),
                            lt_format_sizes(expected, sizeof expected, like->ndim, like->sizes));
        LT_TRY(lt_sum_to(*grad, like->ndim, like->sizes, &fitting));
        replace_grad(grad, fitting);
    }
    bool other_device = !lt_device_equal(like->device, (*grad)->device);
    if (other_device && (*grad)->ndim > 0)
        return lt_error(LT_ERR_RUNTIME,
                        "Function %s returned an invalid gradient at index %lld - expected device "
                        "%s but got %s",
                        name, lt_user_index(index),
                        lt_format_device(expected, sizeof expected, like->device),
                        lt_format_device(got, sizeof got, (*grad)->device));
    if (other_device || (*grad)->dtype != like->dtype) {
        LT_TRY(lt_to(*grad, &like->device, (lt_dtype)like->dtype, false, false, &fitting));
        replace_grad(grad, fitting);
    }
    return LT_OK;
}
