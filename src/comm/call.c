/* call.c - starts works and waits for their end. */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "assertion.h"
#include "compile/trace.h"
#include "system/clock.h"
#include "system/threads.h"
#include "context/interrupt.h"
#include "compile/deferred.h"
#include "internal.h"
#include "lock.h"
#include "memory/alloc.h"

static lt_status copy_array(const void *from, int64_t n, size_t size, const void **out)
{
    *out = NULL;
    if (from == NULL) return LT_OK;
    void *copy = lt_mem_array(n, size);
    if (copy == NULL) return LT_ERR_MEMORY;
    memcpy(copy, from, (size_t)n * size);
    *out = copy;
    return LT_OK;
}

static bool call_reduces(const lt_comm_call *call)
{
    return call->kind == LT_ALL_REDUCE || call->kind == LT_REDUCE ||
           call->kind == LT_REDUCE_SCATTER;
}

static lt_status work_init(lt_work *w, lt_ranks *g, const lt_comm_call *call)
{
    LT_ASSERT(g->n > 0 && g->me >= 0 && g->me < g->n, "rank %d of %d", g->me, g->n);
    LT_ASSERT(call->peer < g->n, "rank %d of %d", call->peer, g->n);
    w->group = g;
    w->call = *call;
    w->call.given = w->call.got = NULL;
    w->call.ranks = NULL;
    if (call->input != NULL) lt_tensor_retain(call->input);
    if (call->output != NULL) lt_tensor_retain(call->output);
    w->from = -1;
    LT_TRY(copy_array(call->given, g->n, sizeof *call->given, (const void **)&w->call.given));
    LT_TRY(copy_array(call->got, g->n, sizeof *call->got, (const void **)&w->call.got));
    LT_TRY(
        copy_array(call->ranks, call->n_ranks, sizeof *call->ranks, (const void **)&w->call.ranks));
    w->parts = lt_mem_array(4 * (int64_t)g->n, sizeof *w->parts);
    if (call_reduces(call) && (w->rows = lt_mem_array(g->n, sizeof *w->rows)) == NULL)
        return LT_ERR_MEMORY;
    return w->parts != NULL ? LT_OK : LT_ERR_MEMORY;
}

lt_status lt_work_begin(lt_ranks *g, const lt_comm_call *call, lt_work **out)
{
    lt_world *world = g->world;
    const bool message = call->kind == LT_SEND || call->kind == LT_RECV;
    const lt_tensor *t = call->output != NULL ? call->output : call->input;
    LT_TRY(lt_materialize_all(call->name, 2, (lt_tensor *const[]){call->input, call->output}));
    const bool writes = call->output != NULL && !call->compare_only;
    if (writes) LT_TRY(lt_before_write(call->output));
    if (world->process != getpid())
        return lt_error(LT_ERR_RUNTIME,
                        "%s(): torch.distributed belongs to the process that began it, and this is "
                        "a child of it",
                        call->name);
    if (call_reduces(call)) LT_TRY(lt_check_reduction(call->reduction, (lt_dtype)t->dtype));
    lt_work *w = lt_mem_zalloc(sizeof *w);
    if (w == NULL) return LT_ERR_MEMORY;
    w->refs = 1;
    const lt_status status = work_init(w, g, call);
    if (status != LT_OK) {
        lt_work_release(w);
        return status;
    }
    if (writes) lt_bump_version(call->output);
    w->refs = 2;
    w->begun = lt_clock();
    w->deadline = w->begun + (call->timeout > 0 ? call->timeout : g->timeout);
    pthread_mutex_lock(&world->lock);
    w->sequence = message ? ++g->messages : ++g->sequence;
    LT_ASSERT(w->next == NULL && (world->incoming == NULL) == (world->incoming_last == NULL));
    lt_record_begin(world, w);
    if (world->incoming_last != NULL)
        world->incoming_last->next = w;
    else
        world->incoming = w;
    world->incoming_last = w;
    pthread_cond_signal(&world->given);
    lt_unlock(&world->lock);
    lt_world_step(world);
    *out = w;
    return LT_OK;
}

/* Sleeps until a work ends, for 5 ms at most. */
static void sleep_until_change(lt_world *world, lt_work *w)
{
    lt_status unused;
    const double until = lt_clock() + 5e-3;
    pthread_mutex_lock(&world->lock);
    if (!lt_work_ended(w, &unused)) lt_condition_wait_until(&world->changed, &world->lock, until);
    lt_unlock(&world->lock);
}

static lt_status wait_for_work(lt_work *w, double seconds)
{
    enum { SPINS = 100 };
    /* seconds beyond a deadline that an engine call may block */
    static const double ENGINE = 10;
    lt_world *world = w->group->world;
    const double until = lt_clock() + seconds;
    lt_status status;
    char what[200];
    for (int i = 0; !lt_work_ended(w, &status); i++) {
        lt_world_step(world);
        if (i < SPINS) {
            sched_yield();
            continue;
        }
        if (lt_interrupted()) return lt_stopped();
        const double now = lt_clock();
        lt_work_describe(w, what, sizeof what);
        if (seconds > 0 && now > until)
            return lt_error(LT_ERR_RUNTIME, "wait(): %s on rank %d has not ended after %.3g s",
                            what, world->rank, seconds);
        if (now > w->deadline + ENGINE)
            return lt_error(LT_ERR_RUNTIME, "%s on rank %d: %s does not return from a call", what,
                            world->rank, world->engine->name);
        sleep_until_change(world, w);
    }
    return status == LT_OK ? LT_OK : lt_error(status, "%.1000s", lt_work_reason(w));
}

lt_status lt_work_wait(lt_work *w, double seconds)
{
    lt_world *world = w->group->world;
    lt_status status;
    if (lt_work_ended(w, &status) && status == LT_OK) return LT_OK;
    pthread_mutex_lock(&world->lock);
    atomic_fetch_add(&world->waiting, 1);
    pthread_cond_signal(&world->given); /* wake the progress thread */
    lt_unlock(&world->lock);
    status = wait_for_work(w, seconds);
    LT_ASSERT(world->waiting > 0, "%d threads wait", world->waiting);
    atomic_fetch_sub(&world->waiting, 1);
    return status;
}
