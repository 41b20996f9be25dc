/* inner.c - see inner.h. */
#include "inner.h"

#include <string.h>

#include "memory/alloc.h"

lt_status lt_batch_inner_open(lt_batch_inner *in, const lt_batch_call *c)
{
    in->call = *c;
    in->n = 0;
    in->room = LT_BATCH_ARGS;
    for (int i = 0; i < c->op->n_args; i++)
        if (c->op->args[i].kind == LT_BATCH_LIST) in->room += c->v[i].list.n;
    in->held = lt_mem_zarray(in->room, sizeof *in->held);
    if (in->held == NULL) return LT_ERR_MEMORY;
    /* Entries of lists are stored behind the slots of the tensor arguments. */
    int64_t at = LT_BATCH_ARGS;
    for (int i = 0; i < c->op->n_args; i++) {
        if (c->op->args[i].kind != LT_BATCH_LIST) continue;
        in->call.v[i].list.v = in->held + at;
        at += c->v[i].list.n;
    }
    return LT_OK;
}

void lt_batch_inner_release(lt_batch_inner *in)
{
    for (int64_t i = 0; i < in->room; i++) {
        lt_tensor_release(in->held[i]);
        in->held[i] = NULL;
    }
}

void lt_batch_inner_close(lt_batch_inner *in)
{
    if (in->held == NULL) return;
    lt_batch_inner_release(in);
    lt_mem_free(in->held);
}

lt_status lt_batch_each_tensor(lt_batch_inner *in, const lt_batch_call *c, lt_batch_change f,
                               void *context)
{
    for (int i = 0; i < c->op->n_args; i++) {
        if (c->op->args[i].kind == LT_BATCH_TENSOR && c->v[i].tensor != NULL) {
            LT_TRY(f(c->v[i].tensor, context, &in->held[i]));
            in->call.v[i].tensor = in->held[i];
        }
        for (int64_t k = 0; c->op->args[i].kind == LT_BATCH_LIST && k < c->v[i].list.n; k++) {
            lt_tensor **place = (lt_tensor **)in->call.v[i].list.v + k;
            *place = NULL;
            if (c->v[i].list.v[k] != NULL) LT_TRY(f(c->v[i].list.v[k], context, place));
        }
    }
    return LT_OK;
}

static lt_status hide_one(lt_tensor **t, int level)
{
    lt_tensor *hidden = NULL;
    if (*t == NULL) return LT_OK;
    LT_TRY(lt_batch_hide(*t, level, &hidden));
    lt_tensor_release(*t);
    *t = hidden;
    return LT_OK;
}

void lt_batch_release_results(lt_batch_call *c)
{
    for (int i = 0; i < c->op->n_results; i++) {
        if (!c->op->gives_list) {
            lt_tensor_release(c->r[i].tensor);
            c->r[i].tensor = NULL;
            continue;
        }
        for (int64_t k = 0; k < c->r[i].list.n; k++) lt_tensor_release(c->r[i].list.v[k]);
        lt_mem_free((void *)c->r[i].list.v);
        c->r[i].list = (lt_tensor_list){0, NULL};
    }
}

lt_status lt_batch_hide_results(lt_batch_call *c, int level)
{
    lt_status status = LT_OK;
    for (int i = 0; i < c->op->n_results && status == LT_OK; i++) {
        if (!c->op->gives_list) {
            status = hide_one(&c->r[i].tensor, level);
            continue;
        }
        for (int64_t k = 0; k < c->r[i].list.n && status == LT_OK; k++)
            status = hide_one((lt_tensor **)&c->r[i].list.v[k], level);
    }
    if (status != LT_OK) lt_batch_release_results(c);
    return status;
}

lt_status lt_batch_finish(lt_batch_inner *in, lt_batch_call *c, int level)
{
    LT_TRY(c->op->run(&in->call));
    memcpy(c->r, in->call.r, sizeof c->r);
    return c->op->form == LT_BATCH_NEW ? lt_batch_hide_results(c, level) : LT_OK;
}
