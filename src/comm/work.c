/* work.c - reference counts and results of works. */
#include "assertion.h"
#include "internal.h"
#include "memory/alloc.h"
#include "memory/block.h"

lt_work *lt_work_retain(lt_work *w)
{
    LT_ASSERT(w->refs > 0, "refs %d", w->refs);
    atomic_fetch_add_explicit(&w->refs, 1, memory_order_relaxed);
    return w;
}

void lt_work_settle(lt_work *w)
{
    LT_ASSERT(w->request == NULL, "the engine has the memory of %s", w->call.name);
    lt_block_free(w->scratch, w->scratch_capacity);
    w->scratch = NULL;
    w->scratch_capacity = 0;
}

void lt_work_release(lt_work *w)
{
    if (w == NULL) return;
    LT_ASSERT(w->refs > 0, "refs %d", w->refs);
    if (atomic_fetch_sub_explicit(&w->refs, 1, memory_order_acq_rel) != 1) return;
    LT_ASSERT(w->request == NULL, "%s is under way", w->call.name);
    if (w->call.input != NULL) lt_tensor_release(w->call.input);
    if (w->call.output != NULL) lt_tensor_release(w->call.output);
    lt_mem_free((void *)w->call.given);
    lt_mem_free((void *)w->call.got);
    lt_mem_free((void *)w->call.ranks);
    lt_work_settle(w);
    lt_mem_free(w->parts);
    lt_mem_free(w->rows);
    lt_mem_free(w->text);
    lt_mem_free(w);
}

bool lt_work_ended(lt_work *w, lt_status *status)
{
    const int state = atomic_load_explicit(&w->state, memory_order_acquire);
    *status = state == LT_WORK_FAILED ? w->status : LT_OK;
    return state == LT_WORK_DONE || state == LT_WORK_FAILED;
}

void lt_work_times(lt_work *w, double *begun, double *ended)
{
    *begun = w->begun;
    const int state = atomic_load_explicit(&w->state, memory_order_acquire);
    *ended = state == LT_WORK_DONE || state == LT_WORK_FAILED ? w->ended : 0;
}

int lt_work_from(const lt_work *w) { return w->from; }
lt_ranks *lt_work_group(const lt_work *w) { return w->made; }
int64_t lt_work_sequence(const lt_work *w) { return w->sequence; }
const char *lt_work_reason(const lt_work *w)
{
    return w->text != NULL ? w->text : "no memory is left for the reason";
}
