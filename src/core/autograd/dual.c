/* dual.c - levels of forward mode and the tangents of tensors (dual.h).
 *
 * Each tangent is an entry of two lists: its tensor's, and its level's, by which a closing level
 * finds its tangents. Both lists are guarded by lt_autograd_lock(), since the tensor may be freed
 * on another thread than the level's. An entry without a value marks a view that has no tangent
 * although its base has one. */
#include "autograd/dual.h"

#include "assertion.h"
#include "autograd/internal.h"
#include "dims.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "memory/alloc.h"
#include "op/_alias.h"
#include "op/as_strided.h"
#include "op/copy_.h"
#include "op/expand.h"
#include "op/to.h"
#include "op/zeros.h"

typedef struct lt_tangent lt_tangent;
typedef struct dual_level {
    lt_tangent *first;
} dual_level;

struct lt_tangent {
    lt_tangent *next;           /* in the tensor's list */
    lt_tangent *before, *after; /* in the level's list */
    dual_level *level;
    lt_tensor *owner; /* weak */
    lt_tensor *value; /* counted */
};

static _Thread_local dual_level *levels[LT_MAX_DUALS];

/* ---- levels ---------------------------------------------------------------------------------- */

lt_status lt_dual_enter(int *level)
{
    if (lt_tls.duals == LT_MAX_DUALS)
        return lt_error(LT_ERR_RUNTIME, "forward mode: more than %d levels inside of each other",
                        LT_MAX_DUALS);
    dual_level *l = lt_mem_zalloc(sizeof *l);
    if (l == NULL) return LT_ERR_MEMORY;
    *level = lt_tls.duals++;
    levels[*level] = l;
    return LT_OK;
}

/* The caller holds the lock. */
static void leave_owner(lt_tangent *entry)
{
    lt_tangent **at = &entry->owner->autograd->tangents;
    while (*at != entry) {
        LT_ASSERT(*at != NULL, "the owner has no such tangent");
        at = &(*at)->next;
    }
    *at = entry->next;
}

static void leave_level(lt_tangent *entry)
{
    LT_ASSERT(entry->before == NULL || entry->before->after == entry);
    LT_ASSERT(entry->after == NULL || entry->after->before == entry);
    LT_ASSERT(entry->before != NULL || entry->level->first == entry);
    if (entry->before != NULL)
        entry->before->after = entry->after;
    else
        entry->level->first = entry->after;
    if (entry->after != NULL) entry->after->before = entry->before;
}

/* Frees entries linked by `after`, without the lock: releasing a value may free tensors, which
 * takes it. */
static void free_all(lt_tangent *entry)
{
    while (entry != NULL) {
        lt_tangent *after = entry->after;
        lt_tensor_release(entry->value);
        lt_mem_free(entry);
        entry = after;
    }
}

lt_status lt_dual_leave(int level)
{
    if (lt_tls.duals == 0 || level != lt_tls.duals - 1)
        return lt_error(LT_ERR_RUNTIME, "Trying to exit a forward AD level that was not the last "
                                        "one that was created. This is not supported.");
    dual_level *l = levels[level];
    LT_ASSERT(l != NULL, "level %d", level);
    lt_autograd_lock();
    lt_tangent *first = l->first;
    for (lt_tangent *entry = first; entry != NULL; entry = entry->after) leave_owner(entry);
    lt_autograd_unlock();
    lt_tls.duals--;
    free_all(first);
    lt_mem_free(l);
    return LT_OK;
}

void lt_tangents_free(lt_tensor *t)
{
    lt_autograd_lock();
    lt_tangent *first = t->autograd->tangents;
    t->autograd->tangents = NULL;
    for (lt_tangent *entry = first; entry != NULL; entry = entry->next) {
        LT_ASSERT(entry->owner == t);
        leave_level(entry);
        entry->after = entry->next;
    }
    lt_autograd_unlock();
    free_all(first);
}

/* ---- finding --------------------------------------------------------------------------------- */

static lt_status no_level(int level)
{
    return lt_error(LT_ERR_RUNTIME, "forward mode: invalid level %d, %d are open", level,
                    lt_tls.duals);
}

/* The caller holds the lock. */
static lt_tangent *own_entry(const lt_tensor *t, const dual_level *l)
{
    lt_tangent *entry = t->autograd != NULL ? t->autograd->tangents : NULL;
    while (entry != NULL && entry->level != l) entry = entry->next;
    return entry;
}

/* The caller holds the lock. The entry with t's tangent: t's own, else its base's. */
static lt_tangent *entry_of(const lt_tensor *t, int level)
{
    LT_ASSERT(level >= 0 && level < lt_tls.duals, "level %d of %d", level, lt_tls.duals);
    lt_tangent *entry = own_entry(t, levels[level]);
    const lt_tensor *base = lt_base_of(t);
    return entry == NULL && base != NULL ? own_entry(base, levels[level]) : entry;
}

int lt_dual_level_of(const lt_tensor *t)
{
    if (t == NULL || (t->autograd == NULL && t->view_base == NULL)) return -1;
    lt_autograd_lock();
    int level = lt_tls.duals - 1;
    for (; level >= 0; level--) {
        const lt_tangent *entry = entry_of(t, level);
        if (entry != NULL && entry->value != NULL) break;
    }
    lt_autograd_unlock();
    return level;
}

bool lt_any_dual(const lt_tensor_list *list)
{
    for (int64_t i = 0; i < list->n; i++)
        if (lt_is_dual(list->v[i])) return true;
    return false;
}

/* New reference to the value of entry_of(t, level), or NULL. *own: the entry is t's own. */
static lt_tensor *value_below(const lt_tensor *t, int level, bool *own)
{
    lt_autograd_lock();
    const lt_tangent *entry = entry_of(t, level);
    lt_tensor *value = entry != NULL ? lt_tensor_retain(entry->value) : NULL;
    *own = entry != NULL && entry->owner == t;
    lt_autograd_unlock();
    return value;
}

static bool lies_as(const lt_tensor *a, const lt_tensor *b)
{
    bool same = a->ndim == b->ndim;
    for (int d = 0; same && d < a->ndim; d++)
        same = a->sizes[d] == b->sizes[d] &&
               (a->sizes[d] == 1 || a->strides[d] == b->strides[d] || a->numel == 0);
    return same;
}

/* New reference: the part of the base's tangent that corresponds to the view t. */
static lt_status tangent_view(lt_tensor *whole, const lt_tensor *t, lt_tensor **out)
{
    const lt_tensor *base = lt_base_of(t);
    lt_geometry geometry;
    if (!lies_as(whole, base))
        return lt_error(LT_ERR_RUNTIME,
                        "forward mode: a tensor with elements that share memory does not support "
                        "views of its tangent: clone() the tensor first");
    lt_geometry_of(&geometry, t);
    return lt_strided_view(whole, (lt_dtype)t->dtype, &geometry, base->offset, whole->offset, out);
}

lt_status lt_tangent_of(lt_tensor *t, int level, lt_tensor **out)
{
    bool own;
    *out = NULL;
    if (level < 0 || level >= lt_tls.duals) return no_level(level);
    if (lt_is_batched(t)) {
        lt_tensor *shown;
        LT_TRY(lt_tangent_of(t->view_base, level, &shown));
        if (shown == NULL) return LT_OK;
        lt_status status = lt_tensor_hide(shown, t->flags & LT_FLAGS_BATCHES, out);
        lt_tensor_release(shown);
        return status;
    }
    lt_tensor *value = value_below(t, level, &own);
    if (own || value == NULL) {
        *out = value;
        return LT_OK;
    }
    lt_status status = tangent_view(value, t, out);
    lt_tensor_release(value);
    return status;
}

/* ---- setting --------------------------------------------------------------------------------- */

lt_status lt_tangent_set_steal(lt_tensor *t, int level, lt_tensor *tangent)
{
    lt_autograd *autograd;
    lt_status status =
        level >= 0 && level < lt_tls.duals ? lt_autograd_of(t, &autograd) : no_level(level);
    lt_tangent *entry = status == LT_OK ? lt_mem_zalloc(sizeof *entry) : NULL;
    if (status == LT_OK && entry == NULL) status = LT_ERR_MEMORY;
    if (status != LT_OK) {
        lt_tensor_release(tangent);
        return status;
    }
    dual_level *l = levels[level];
    lt_autograd_lock();
    lt_tangent *known = own_entry(t, l), *unused = NULL;
    lt_tensor *old = NULL;
    if (known != NULL) {
        old = known->value;
        known->value = tangent;
        unused = entry;
    } else {
        *entry = (lt_tangent){.next = autograd->tangents,
                              .after = l->first,
                              .level = l,
                              .owner = t,
                              .value = tangent};
        if (l->first != NULL) l->first->before = entry;
        l->first = autograd->tangents = entry;
    }
    lt_autograd_unlock();
    lt_tensor_release(old);
    lt_mem_free(unused);
    return LT_OK;
}

static bool shares_elements(const lt_tensor *t)
{
    for (int d = 0; d < t->ndim; d++)
        if (t->sizes[d] > 1 && t->strides[d] == 0) return true;
    return false;
}

/* New reference: zeros with the strides of t; contiguous if elements of t share memory. */
static lt_status zeros_as(const lt_tensor *t, lt_tensor **out)
{
    lt_dims sizes = {.n = t->ndim}, strides = {.n = t->ndim}, line = {.n = 1, .v = {1}};
    for (int d = 0; d < t->ndim; d++) {
        sizes.v[d] = t->sizes[d], strides.v[d] = t->strides[d];
        if (t->numel > 0) line.v[0] += (t->sizes[d] - 1) * t->strides[d];
    }
    if (lt_is_contiguous(t) || t->numel == 0 || shares_elements(t))
        return lt_zeros(&sizes, (lt_dtype)t->dtype, &t->device, out);
    lt_tensor *memory;
    LT_TRY(lt_zeros(&line, (lt_dtype)t->dtype, &t->device, &memory));
    lt_status status = lt_as_strided(memory, &sizes, &strides, &(int64_t){0}, out);
    lt_tensor_release(memory);
    return status;
}

lt_status lt_tangent_to_write(lt_tensor *t, int level, lt_tensor **out)
{
    lt_tensor *base = lt_base_of(t), *whole = NULL;
    bool own;
    lt_status status;
    *out = value_below(t, level, &own);
    if (own && *out != NULL) return LT_OK;
    if (base == NULL) {
        LT_TRY(zeros_as(t, out));
        return lt_tangent_set_steal(t, level, lt_tensor_retain(*out));
    }
    whole = *out;
    *out = NULL;
    if (whole == NULL) {
        LT_CHECK(zeros_as(base, &whole));
        LT_CHECK(lt_tangent_set_steal(base, level, lt_tensor_retain(whole)));
    }
    LT_CHECK(tangent_view(whole, t, out));
    status = lt_tangent_set_steal(t, level, lt_tensor_retain(*out));
done:
    lt_tensor_release(whole);
    return status;
}

static void replace_tangent(lt_tensor **t, lt_tensor *by)
{
    lt_tensor_release(*t);
    *t = by;
}

lt_status lt_tangent_fitted(lt_tensor *t, lt_tensor *made, lt_tensor **out)
{
    lt_tensor *now = lt_tensor_retain(made), *next = NULL;
    const lt_dims sizes = lt_dims_of(t);
    lt_status status = LT_OK;
    if (made->dtype != t->dtype || !lt_device_equal(made->device, t->device)) {
        LT_CHECK(lt_to(now, &t->device, (lt_dtype)t->dtype, false, false, &next));
        replace_tangent(&now, next);
    }
    if (!lt_same_sizes(now, t)) {
        LT_CHECK(lt_expand(now, &sizes, &next));
        replace_tangent(&now, next);
    }
    /* The caller has one reference; if `now` is `made`, this function has another. */
    const bool alone =
        now->view_base == NULL &&
        atomic_load_explicit(&now->storage->refs, memory_order_acquire) == 1 &&
        atomic_load_explicit(&now->refs, memory_order_acquire) <= (now == made ? 2 : 1);
    if (!alone || (!lies_as(now, t) && !shares_elements(t))) {
        LT_CHECK(zeros_as(t, &next));
        status = lt_copy_(next, now, false);
        replace_tangent(&now, next);
        if (status != LT_OK) goto done;
    }
    *out = lt_tensor_retain(now);
done:
    lt_tensor_release(now);
    return status;
}

/* ---- dual tensors ---------------------------------------------------------------------------- */

lt_status lt_make_dual(lt_tensor *primal, lt_tensor *tangent, int level, lt_tensor **out)
{
    lt_tensor *dual = NULL, *fitted = NULL;
    lt_status status;
    if (lies_as(tangent, primal) || shares_elements(primal)) {
        fitted = lt_tensor_retain(tangent);
    } else {
        LT_TRY(lt_tangent_fitted(primal, tangent, &fitted));
    }
    LT_CHECK(lt__alias(primal, &dual));
    status = lt_tangent_set_steal(dual, level, fitted);
    fitted = NULL;
    if (status != LT_OK) goto done;
    *out = dual;
    dual = NULL;
done:
    lt_tensor_release(dual);
    lt_tensor_release(fitted);
    return status;
}

/* New reference: t with its history and its tangents at all levels but this one. Not a view, so
 * that it does not inherit its base's tangents. */
static lt_status without(lt_tensor *t, int level, lt_tensor **out)
{
    lt_tensor *primal = NULL, *tangent = NULL;
    lt_node *fn = NULL;
    lt_autograd *autograd;
    lt_status status = LT_OK;
    LT_CHECK(lt_tensor_alias(t, &primal));
    for (int lower = 0; lower < lt_tls.duals; lower++) {
        if (lower == level) continue;
        LT_CHECK(lt_tangent_of(t, lower, &tangent));
        if (tangent == NULL) continue;
        status = lt_tangent_set_steal(primal, lower, tangent);
        tangent = NULL;
        if (status != LT_OK) goto done;
    }
    if (lt_requires_grad(t) && lt_grad_mode_on()) {
        int slot;
        LT_CHECK(lt_grad_slot(t, &fn, &slot));
        if (fn != NULL)
            lt_node_retain(fn);
        else
            LT_CHECK(lt_accumulator_of(t, &fn));
        status = lt_autograd_of(primal, &autograd);
        if (status != LT_OK) {
            lt_node_release(fn);
            goto done;
        }
        autograd->grad_fn = fn;
        autograd->slot = slot;
        primal->flags |= LT_FLAG_REQUIRES_GRAD;
    }
    *out = primal;
    primal = NULL;
done:
    lt_tensor_release(primal);
    return status;
}

lt_status lt_unpack_dual(lt_tensor *t, int level, lt_tensor **primal, lt_tensor **tangent)
{
    lt_tensor *found = NULL;
    LT_TRY(lt_tangent_of(t, level, &found));
    if (found == NULL) {
        *primal = lt_tensor_retain(t);
        *tangent = NULL;
        return LT_OK;
    }
    lt_status status;
    if (lt_is_batched(t)) {
        lt_tensor *shown = NULL;
        status = without(t->view_base, level, &shown);
        if (status == LT_OK) status = lt_tensor_hide(shown, t->flags & LT_FLAGS_BATCHES, primal);
        lt_tensor_release(shown);
    } else {
        status = without(t, level, primal);
    }
    if (status == LT_OK)
        *tangent = found;
    else
        lt_tensor_release(found);
    return status;
}

lt_status lt_dual_share(lt_tensor *t, lt_tensor *to)
{
    if (t->autograd == NULL && t->view_base == NULL) return LT_OK;
    for (int level = 0; level < lt_tls.duals; level++) {
        lt_tensor *tangent;
        LT_TRY(lt_tangent_of(t, level, &tangent));
        if (tangent != NULL) LT_TRY(lt_tangent_set_steal(to, level, tangent));
    }
    return LT_OK;
}

lt_status lt_dual_detach(lt_tensor *t, bool leaf, lt_tensor **out)
{
    lt_tensor *plain = NULL, *tangent = NULL, *detached = NULL;
    lt_status status = LT_OK;
    if (lt_is_batched(t)) {
        LT_TRY(lt_dual_detach(t->view_base, leaf, &plain));
        status = lt_tensor_hide(plain, t->flags & LT_FLAGS_BATCHES, out);
        lt_tensor_release(plain);
        return status;
    }
    LT_CHECK(lt_tensor_alias(t, &plain));
    for (int level = 0; level < lt_tls.duals; level++) {
        LT_CHECK(lt_tangent_of(t, level, &tangent));
        if (tangent == NULL) continue;
        if (leaf) {
            detached = tangent;
            tangent = NULL;
        } else {
            LT_CHECK(lt_dual_detach(tangent, false, &detached));
        }
        lt_tensor_release(tangent);
        tangent = NULL;
        status = lt_tangent_set_steal(plain, level, detached);
        if (status != LT_OK) goto done;
    }
    *out = plain;
    plain = NULL;
done:
    lt_tensor_release(plain);
    lt_tensor_release(tangent);
    return status;
}
