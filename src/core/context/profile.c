/* profile.c - see profile.h. */
#include "profile.h"

#include <stdatomic.h>
#include <stdio.h>

#include "assertion.h"
#include "devices/backend.h"
#include "devices/device_type.h"
#include "error.h"
#include "memory/alloc.h"
#include "memory/limit.h"
#include "system/clock.h"
#include "tensor.h"

_Thread_local bool lt_profiling;

typedef struct recording {
    lt_profile_event *events;
    int32_t n, room, open;  /* open: the innermost event that has not ended, -1: none */
    const lt_backend *gpus; /* the backend to measure as well; NULL: host only */
    double began;
    int device;    /* with gpus: device of base */
    uint64_t base; /* event at the start of the recording; 0: none */
} recording;

static _Thread_local recording now;

/* Records an event on the current stream. Returns 0 on failure, which must not fail the op. */
static uint64_t mark(int device)
{
    const lt_backend *b = now.gpus;
    uint64_t event = 0;
    if (b->graph_recording() || b->event_new(device, true, &event) != LT_OK) return 0;
    if (b->event_record(event, device, b->current_stream(device)) == LT_OK) return event;
    b->event_free(event);
    return 0;
}

lt_status lt_profile_start(const lt_backend *gpus)
{
    if (lt_profiling)
        return lt_error(LT_ERR_RUNTIME, "profiler: a recording runs already in this thread");
    now = (recording){.open = -1, .gpus = gpus, .began = lt_clock()};
    if (gpus != NULL) {
        now.device = gpus->current_device();
        now.base = mark(now.device);
    }
    lt_profiling = true;
    return LT_OK;
}

static bool grow_events(void)
{
    int32_t room = now.room == 0 ? 1024 : now.room * 2;
    lt_profile_event *events = lt_mem_rearray(now.events, room, sizeof *events);
    if (events == NULL) return false;
    now.events = events;
    now.room = room;
    return true;
}

int32_t lt_profile_begin(const char *name, lt_profile_kind kind)
{
    if (now.n == now.room && (now.n > INT32_MAX / 4 || !grow_events())) return -1;
    lt_profile_event *e = &now.events[now.n];
    *e = (lt_profile_event){
        .kind = kind, .parent = now.open, .memory = -lt_mem_live(), .device = -1};
    snprintf(e->name, sizeof e->name, "%s", name);
    if (now.gpus != NULL) {
        e->device = now.gpus->current_device();
        e->marks[0] = mark(e->device);
    }
    LT_ASSERT(now.n < now.room, "event %d of %d", now.n, now.room);
    now.open = now.n;
    e->start = lt_clock() - now.began;
    return now.n++;
}

int32_t lt_profile_enter_call(const char *name)
{
    const bool within = now.open >= 0 && now.events[now.open].kind != LT_PROFILE_USER;
    return within ? -1 : lt_profile_begin(name, LT_PROFILE_OP);
}

static void end_innermost(void)
{
    LT_ASSERT(now.open >= 0 && now.open < now.n, "event %d of %d", now.open, now.n);
    lt_profile_event *e = &now.events[now.open];
    LT_ASSERT(e->parent < now.open, "event %d in %d", now.open, e->parent);
    e->end = lt_clock() - now.began;
    e->memory += lt_mem_live();
    if (e->marks[0] != 0) e->marks[1] = mark(e->device);
    now.open = e->parent;
    if (now.open >= 0) {
        lt_profile_event *outer = &now.events[now.open];
        outer->inner += e->end - e->start;
        outer->copies += e->copies;
        outer->copied += e->copied;
    }
}

void lt_profile_end(int32_t event)
{
    if (!lt_profiling || event < 0 || event >= now.n || now.events[event].end != 0) return;
    while (now.open >= event) end_innermost();
}

void lt_profile_copy(int64_t bytes)
{
    if (now.open < 0) return;
    now.events[now.open].copies++;
    now.events[now.open].copied += bytes;
}

/* Seconds between two events. */
static double milliseconds_between(uint64_t from, uint64_t to)
{
    double milliseconds = 0;
    if (now.gpus->event_elapsed(from, to, &milliseconds) != LT_OK) return 0;
    return milliseconds / 1e3;
}

static void read_marks(void)
{
    const lt_backend *b = now.gpus;
    for (int32_t i = 0; i < now.n; i++) {
        lt_profile_event *e = &now.events[i];
        if (e->marks[0] == 0 || e->marks[1] == 0) continue;
        b->event_synchronize(e->marks[1]);
        e->device_time = milliseconds_between(e->marks[0], e->marks[1]);
        e->device_start = now.base != 0 && e->device == now.device
                              ? milliseconds_between(now.base, e->marks[0])
                              : e->start;
        if (e->parent >= 0) now.events[e->parent].device_inner += e->device_time;
    }
    for (int32_t i = 0; i < now.n; i++)
        for (int k = 0; k < 2; k++)
            if (now.events[i].marks[k] != 0) b->event_free(now.events[i].marks[k]);
    if (now.base != 0) b->event_free(now.base);
}

lt_status lt_profile_stop(lt_profile_event **events, int64_t *n)
{
    if (!lt_profiling)
        return lt_error(LT_ERR_RUNTIME, "profiler: no recording runs in this thread");
    while (now.open >= 0) end_innermost();
    lt_profiling = lt_tls.profiles_calls = false;
    if (now.gpus != NULL) read_marks();
    *events = now.events;
    *n = now.n;
    now = (recording){.open = -1};
    return LT_OK;
}
