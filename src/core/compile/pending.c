/* pending.c - see pending.h. */
#include "pending.h"

#include <string.h>

#include "memory/freelist.h"

static void leave_window(lt_pending *p)
{
    struct lt_window *w = p->window;
    if (w == NULL) return;
    *(p->before != NULL ? &p->before->after : &w->first) = p->after;
    *(p->after != NULL ? &p->after->before : &w->last) = p->before;
    p->window = NULL;
    w->n--;
}

static void drop_inputs(lt_pending *p)
{
    for (int i = 0; i < p->n; i++) {
        if (p->inputs[i] == NULL) continue;
        atomic_fetch_sub_explicit(&p->inputs[i]->storage->readers, 1, memory_order_relaxed);
        lt_tensor_release(p->inputs[i]);
        p->inputs[i] = NULL;
    }
}

void lt_pending_give_up(lt_pending *p)
{
    leave_window(p);
    drop_inputs(p);
}

void lt_pending_done(lt_pending *p)
{
    lt_pending_give_up(p);
    lt_freelist_free(p, sizeof *p);
    atomic_fetch_sub_explicit(&lt_hollow_storages, 1, memory_order_relaxed);
}

/* Nobody holds the storage any more. */
static void forget(void *ctx) { lt_pending_done(ctx); }

lt_pending *lt_pending_of(const lt_storage *s)
{
    return s->hollow && s->release == forget ? s->ctx : NULL;
}

lt_status lt_pending_new(struct lt_window *w, lt_tensor *result, const lt_pending *facts,
                         lt_tensor *const *inputs)
{
    lt_pending *p = lt_freelist_alloc(sizeof *p);
    if (p == NULL) return LT_ERR_MEMORY;
    *p = *facts;
    for (int i = 0; i < p->n; i++) {
        lt_status status = lt_tensor_alias(inputs[i], &p->inputs[i]);
        if (status != LT_OK) {
            drop_inputs(p);
            lt_freelist_free(p, sizeof *p);
            return status;
        }
        atomic_fetch_add_explicit(&p->inputs[i]->storage->readers, 1, memory_order_relaxed);
    }
    p->ndim = result->ndim;
    p->numel = result->numel;
    memcpy(p->sizes, result->sizes, (size_t)p->ndim * sizeof *p->sizes);
    memcpy(p->strides, result->strides, (size_t)p->ndim * sizeof *p->strides);
    p->storage = result->storage;
    p->storage->ctx = p;
    p->storage->release = forget;
    atomic_fetch_add_explicit(&lt_hollow_storages, 1, memory_order_relaxed);
    p->window = w;
    p->before = w->last;
    *(w->last != NULL ? &w->last->after : &w->first) = p;
    w->last = p;
    w->n++;
    return LT_OK;
}
