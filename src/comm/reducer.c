/* reducer.c - see reducer.h. The hooks refer to the reducer through a link, which is cleared when
 * it closes; they hold no tensor. */
#include "reducer.h"

#include <string.h>

#include "assertion.h"
#include "autograd/autograd.h"
#include "error.h"
#include "memory/alloc.h"
#include "tensor.h"
#include "op/clone.h"
#include "op/copy_.h"
#include "op/zero_.h"

/* Weak reference from the hooks to the reducer. */
typedef struct link {
    _Atomic int refs;
    lt_reducer *reducer; /* NULL: closed */
} link;

/* The ctx of a hook. */
typedef struct hook_place {
    link *link;
    int place;
} hook_place;

typedef struct parameter {
    /* references; view: its slice of a bucket, NULL before lt_reducer_set_buckets */
    lt_tensor *tensor, *view;
    int64_t hook; /* 0: none */
    int bucket, seen, often;
    bool ready;
} parameter;

typedef struct bucket {
    int first, n; /* range in `places` */
    int left;
} bucket;

struct lt_reducer {
    int refs; /* the owner and running hooks */
    int n, n_buckets;
    bool as_view, expecting, begun, counting, counted;
    int full, left, n_order;
    lt_reducer_owner owner;
    link *link;
    parameter *parameters;
    bucket *buckets;
    int *places, *order;
};

/* ---- creation and release -------------------------------------------------------------------- */

static void link_release(link *l)
{
    LT_ASSERT(l->refs > 0, "refs %d", l->refs);
    if (atomic_fetch_sub_explicit(&l->refs, 1, memory_order_acq_rel) == 1) lt_mem_free(l);
}

static void hook_release(void *ctx)
{
    hook_place *h = ctx;
    link_release(h->link);
    lt_mem_free(h);
}

static void reducer_release(lt_reducer *r)
{
    LT_ASSERT(r->refs > 0, "refs %d", r->refs);
    if (--r->refs > 0) return;
    for (int i = 0; i < r->n && r->parameters != NULL; i++) {
        lt_tensor_release(r->parameters[i].tensor);
        lt_tensor_release(r->parameters[i].view);
    }
    LT_ASSERT(r->link == NULL, "hooks lead to the reducer");
    lt_mem_free(r->parameters);
    lt_mem_free(r->buckets);
    lt_mem_free(r->places);
    lt_mem_free(r->order);
    lt_mem_free(r);
}

void lt_reducer_close(lt_reducer *r)
{
    if (r->link != NULL) {
        r->link->reducer = NULL;
        link_release(r->link);
        r->link = NULL;
    }
    for (int i = 0; i < r->n && r->parameters != NULL; i++)
        if (r->parameters[i].hook != 0)
            lt_remove_hook(r->parameters[i].tensor, r->parameters[i].hook);
    reducer_release(r);
}

static lt_status run_hook(void *ctx, lt_tensor *grad, lt_tensor **replacement);

static lt_status add_hook(lt_reducer *r, int place)
{
    LT_ASSERT(place >= 0 && place < r->n, "parameter %d of %d", place, r->n);
    hook_place *h = lt_mem_alloc(sizeof *h);
    if (h == NULL) return LT_ERR_MEMORY;
    *h = (hook_place){r->link, place};
    atomic_fetch_add_explicit(&r->link->refs, 1, memory_order_relaxed);
    const lt_status status = lt_register_post_hook(
        r->parameters[place].tensor, (lt_hook){.run = run_hook, .release = hook_release, .ctx = h},
        &r->parameters[place].hook);
    if (status != LT_OK) hook_release(h);
    return status;
}

lt_status lt_reducer_new(lt_tensor *const *parameters, int n, bool as_view, lt_reducer_owner owner,
                         lt_reducer **out)
{
    lt_status status = LT_OK;
    lt_reducer *r = lt_mem_zalloc(sizeof *r);
    if (r == NULL) return LT_ERR_MEMORY;
    *r = (lt_reducer){.refs = 1, .n = n, .as_view = as_view, .owner = owner};
    r->parameters = lt_mem_zarray(n, sizeof *r->parameters);
    r->order = lt_mem_zarray(n, sizeof *r->order);
    r->places = lt_mem_zarray(n, sizeof *r->places);
    r->link = lt_mem_zalloc(sizeof *r->link);
    LT_CHECK(r->parameters != NULL && r->order != NULL && r->places != NULL && r->link != NULL
                 ? LT_OK
                 : LT_ERR_MEMORY);
    r->link->refs = 1;
    r->link->reducer = r;
    for (int i = 0; i < n; i++) {
        r->parameters[i].tensor = lt_tensor_retain(parameters[i]);
        LT_CHECK(add_hook(r, i));
    }
    *out = r;
    r = NULL;
done:
    if (r != NULL) lt_reducer_close(r);
    return status;
}

lt_status lt_reducer_set_buckets(lt_reducer *r, int n_buckets, const int *counts, const int *places,
                                 lt_tensor *const *views)
{
    bucket *buckets = lt_mem_zarray(n_buckets, sizeof *buckets);
    if (buckets == NULL) return LT_ERR_MEMORY;
    int at = 0;
    for (int b = 0; b < n_buckets; b++) {
        buckets[b] = (bucket){.first = at, .n = counts[b]};
        for (int i = 0; i < counts[b]; i++, at++) {
            parameter *p = &r->parameters[places[at]];
            lt_tensor *before = p->view;
            p->bucket = b;
            p->view = lt_tensor_retain(views[at]);
            lt_tensor_release(before);
        }
    }
    memcpy(r->places, places, (size_t)at * sizeof *places);
    lt_mem_free(r->buckets);
    r->buckets = buckets;
    r->n_buckets = n_buckets;
    lt_reducer_reset(r, false);
    return LT_OK;
}

/* ---- a backward ------------------------------------------------------------------------------ */

void lt_reducer_reset(lt_reducer *r, bool expecting)
{
    r->expecting = expecting;
    r->begun = false;
    r->full = r->n_order = 0;
    r->left = r->n;
    for (int i = 0; i < r->n; i++) {
        r->parameters[i].ready = false;
        r->parameters[i].seen = 0;
    }
    for (int b = 0; b < r->n_buckets; b++) r->buckets[b].left = r->buckets[b].n;
}

void lt_reducer_count_only(lt_reducer *r, bool on) { r->counting = on; }

void lt_reducer_keep_counts(lt_reducer *r)
{
    for (int i = 0; i < r->n; i++) r->parameters[i].often = r->parameters[i].seen;
    r->counted = true;
}

static lt_status fill_view(const parameter *p, lt_tensor *grad)
{
    if (grad == NULL) return lt_zero_(p->view);
    return lt_data(grad) == lt_data(p->view) ? LT_OK : lt_copy_(p->view, grad, false);
}

lt_status lt_reducer_ready(lt_reducer *r, int place)
{
    parameter *p = &r->parameters[place];
    if (p->ready) return LT_OK;
    if (p->view == NULL) return lt_error(LT_ERR_RUNTIME, "parameter %d is in no bucket", place);
    lt_tensor *grad = lt_tensor_grad(p->tensor);
    const bool mode = lt_set_grad_enabled(false);
    lt_status status = fill_view(p, grad);
    if (status == LT_OK && grad != NULL && r->as_view) status = lt_set_grad(p->tensor, p->view);
    lt_set_grad_enabled(mode);
    LT_TRY(status);
    p->ready = true;
    r->left--;
    if (!r->counting) r->order[r->n_order++] = place;
    r->buckets[p->bucket].left--;
    while (r->full < r->n_buckets && r->buckets[r->full].left == 0) r->full++;
    return LT_OK;
}

static lt_status arrived(lt_reducer *r, int place)
{
    parameter *p = &r->parameters[place];
    if (!r->begun) {
        r->begun = true;
        LT_TRY(r->owner.tell(r->owner.ctx, LT_REDUCER_FIRST, place));
    }
    const int often = p->often > 0 ? p->often : 1, seen = ++p->seen, full = r->full;
    if (r->counting) {
        if (seen == 1) r->order[r->n_order++] = place;
        return LT_OK;
    }
    if (seen > often || (p->ready && !r->counted))
        return r->owner.tell(r->owner.ctx, LT_REDUCER_TWICE, place);
    if (seen < often) return LT_OK;
    LT_TRY(lt_reducer_ready(r, place));
    return r->full > full ? r->owner.tell(r->owner.ctx, LT_REDUCER_FULL, r->full) : LT_OK;
}

static lt_status run_hook(void *ctx, lt_tensor *grad, lt_tensor **replacement)
{
    const hook_place *h = ctx;
    lt_reducer *r = h->link->reducer;
    (void)grad;
    (void)replacement;
    if (r == NULL || !r->expecting) return LT_OK;
    r->refs++;
    const lt_status status = arrived(r, h->place);
    reducer_release(r);
    return status;
}

static lt_status take_one(const lt_reducer *r, parameter *p)
{
    lt_tensor *grad = lt_tensor_grad(p->tensor), *copy = NULL;
    if (r->as_view) return grad == p->view ? LT_OK : lt_set_grad(p->tensor, p->view);
    if (grad != NULL) return lt_copy_(grad, p->view, false);
    LT_TRY(lt_clone(p->view, &copy));
    const lt_status status = lt_set_grad(p->tensor, copy);
    lt_tensor_release(copy);
    return status;
}

lt_status lt_reducer_take(lt_reducer *r, int number, const int64_t *used)
{
    const bucket *b = &r->buckets[number];
    const bool mode = lt_set_grad_enabled(false);
    lt_status status = LT_OK;
    for (int i = b->first; i < b->first + b->n && status == LT_OK; i++)
        if (used == NULL || used[r->places[i]] != 0)
            status = take_one(r, &r->parameters[r->places[i]]);
    lt_set_grad_enabled(mode);
    return status;
}

/* ---- queries --------------------------------------------------------------------------------- */

bool lt_reducer_expects(const lt_reducer *r) { return r->expecting; }
int lt_reducer_parameters(const lt_reducer *r) { return r->n; }
int lt_reducer_buckets(const lt_reducer *r) { return r->n_buckets; }
int lt_reducer_full(const lt_reducer *r) { return r->full; }
int lt_reducer_left(const lt_reducer *r) { return r->left; }
bool lt_reducer_is_ready(const lt_reducer *r, int place) { return r->parameters[place].ready; }
int lt_reducer_seen(const lt_reducer *r, int place) { return r->parameters[place].seen; }
const int *lt_reducer_order(const lt_reducer *r, int *n)
{
    *n = r->n_order;
    return r->order;
}
