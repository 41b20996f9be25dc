/* record.c - the flight recorder: a ring of the rank's last operations, for error messages. */
#include <stdio.h>
#include <string.h>

#include "assertion.h"
#include "system/clock.h"
#include "dtypes/dtype.h"
#include "internal.h"
#include "lock.h"

static const char *const reductions[LT_REDUCTIONS] = {"SUM", "AVG",  "PRODUCT", "MIN",
                                                      "MAX", "BAND", "BOR",     "BXOR"};

static bool kind_reduces(lt_collective kind)
{
    return kind == LT_ALL_REDUCE || kind == LT_REDUCE || kind == LT_REDUCE_SCATTER;
}
static bool has_root(lt_collective kind)
{
    return kind == LT_BROADCAST || kind == LT_REDUCE || kind == LT_GATHER || kind == LT_SCATTER;
}

void lt_work_describe(const lt_work *w, char *buffer, size_t n)
{
    const lt_comm_call *call = &w->call;
    const lt_tensor *t = call->input != NULL ? call->input : call->output;
    char shape[100] = "", more[60] = "", sizes[80];
    if (t != NULL)
        snprintf(shape, sizeof shape, ", %s %s", lt_dtype_scalar_name((lt_dtype)t->dtype),
                 lt_format_sizes(sizes, sizeof sizes, t->ndim, t->sizes));
    LT_ASSERT((unsigned)call->reduction < LT_REDUCTIONS, "reduction %d", (int)call->reduction);
    if (kind_reduces(call->kind)) snprintf(more, sizeof more, ", %s", reductions[call->reduction]);
    if (has_root(call->kind)) {
        const size_t used = strlen(more);
        snprintf(more + used, sizeof more - used, ", root %d", w->group->ranks[call->peer]);
    }
    if (call->kind == LT_SEND)
        snprintf(more, sizeof more, ", to rank %d", w->group->ranks[call->peer]);
    if (call->kind == LT_RECV && call->peer >= 0)
        snprintf(more, sizeof more, ", from rank %d", w->group->ranks[call->peer]);
    char group[40] = "";
    if (w->group->id > 0) snprintf(group, sizeof group, ", group %d", w->group->id);
    snprintf(buffer, n, "%s (sequence %lld%s%s%s)", call->name, (long long)w->sequence, shape, more,
             group);
}

void lt_record_begin(lt_world *world, lt_work *w)
{
    LT_ASSERT(LT_IS_LOCKED(&world->lock));
    lt_record *record = &world->records[world->n_records++ % LT_COMM_KEPT];
    record->number = world->n_records;
    record->begun = w->begun;
    record->ended = 0;
    record->state = LT_WORK_QUEUED;
    lt_work_describe(w, record->what, sizeof record->what);
    w->record = record;
    w->number = record->number;
}

void lt_record_end(lt_world *world, lt_work *w, lt_work_state state)
{
    LT_ASSERT(LT_IS_LOCKED(&world->lock));
    LT_ASSERT(w->record >= world->records && w->record < world->records + LT_COMM_KEPT);
    if (w->record->number != w->number) return; /* the entry was reused */
    w->record->ended = w->ended;
    w->record->state = state;
}

void lt_world_describe(lt_world *world, char *buffer, size_t n)
{
    const double now = lt_clock();
    size_t used = 0;
    buffer[0] = '\0';
    pthread_mutex_lock(&world->lock);
    bool busy = false;
    const int64_t oldest = world->n_records > LT_COMM_KEPT ? world->n_records - LT_COMM_KEPT : 0;
    for (int64_t i = oldest; i < world->n_records && used < n; i++) {
        const lt_record *r = &world->records[i % LT_COMM_KEPT];
        if (r->state != LT_WORK_QUEUED && r->state != LT_WORK_ACTIVE) continue;
        used += (size_t)snprintf(buffer + used, n - used, "%s%s for %.1f s", busy ? ", " : "in ",
                                 r->what, now - r->begun);
        busy = true;
    }
    if (!busy) used = (size_t)snprintf(buffer, n, "in no operation");
    int shown = 0;
    for (int64_t i = world->n_records - 1; i >= oldest && used < n && shown < 4; i--) {
        const lt_record *r = &world->records[i % LT_COMM_KEPT];
        if (r->state == LT_WORK_QUEUED || r->state == LT_WORK_ACTIVE) continue;
        used +=
            (size_t)snprintf(buffer + used, n - used, "%s%s%s", shown == 0 ? "; before: " : ", ",
                             r->what, r->state == LT_WORK_FAILED ? " failed" : "");
        shown++;
    }
    if (world->n_records == 0 && used < n) snprintf(buffer + used, n - used, ", none before");
    lt_unlock(&world->lock);
}
