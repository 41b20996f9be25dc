/* deferred_value.c - see deferred_value.h. */
#include "deferred_value.h"

#include <string.h>

#include "memory/freelist.h"

static void leave_trace(lt_deferred *p)
{
    struct lt_trace *w = p->trace;
    if (w == NULL) return;
    *(p->before != NULL ? &p->before->after : &w->first) = p->after;
    *(p->after != NULL ? &p->after->before : &w->last) = p->before;
    p->trace = NULL;
    w->n--;
}

static void drop_inputs(lt_deferred *p)
{
    for (int i = 0; i < p->n; i++) {
        if (p->inputs[i] == NULL) continue;
        atomic_fetch_sub_explicit(&p->inputs[i]->storage->readers, 1, memory_order_relaxed);
        lt_tensor_release(p->inputs[i]);
        p->inputs[i] = NULL;
    }
}

void lt_deferred_give_up(lt_deferred *p)
{
    leave_trace(p);
    drop_inputs(p);
}

void lt_deferred_done(lt_deferred *p)
{
    lt_deferred_give_up(p);
    lt_freelist_free(p, sizeof *p);
    atomic_fetch_sub_explicit(&lt_deferred_storages, 1, memory_order_relaxed);
}

/* The release callback of a deferred storage. */
static void forget(void *ctx) { lt_deferred_done(ctx); }

lt_deferred *lt_deferred_of(const lt_storage *s)
{
    return s->deferred && s->release == forget ? s->ctx : NULL;
}

lt_status lt_deferred_new(struct lt_trace *w, lt_tensor *result, const lt_deferred *facts,
                          lt_tensor *const *inputs)
{
    lt_deferred *p = lt_freelist_alloc(sizeof *p);
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
    atomic_fetch_add_explicit(&lt_deferred_storages, 1, memory_order_relaxed);
    p->trace = w;
    p->before = w->last;
    *(w->last != NULL ? &w->last->after : &w->first) = p;
    w->last = p;
    w->n++;
    return LT_OK;
}
