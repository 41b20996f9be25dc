/* profile.h - records ops with their times, the data of torch.profiler.
 *
 * A recording belongs to the thread that starts it. Ops (of Lua and lt_call; in a recording of the
 * host also calls of their C functions), nodes of backward and user spans are nested events. If no recording runs, an op pays one test of lt_profiling. On a GPU, an event
 * of the current stream marks each end; it is read when the recording stops. */
#ifndef LT_PROFILE_H
#define LT_PROFILE_H

#include "context/context.h"
#include "ltensor.h"

typedef enum lt_profile_kind {
    LT_PROFILE_OP,
    LT_PROFILE_BACKWARD,
    LT_PROFILE_USER
} lt_profile_kind;

typedef struct lt_profile_event {
    char name[64];
    lt_profile_kind kind;
    int32_t parent; /* -1: none */
    /* seconds since the recording began; inner: total time of the direct children */
    double start, end, inner;
    int64_t memory; /* tensor bytes at the end less tensor bytes at the start */
    /* number and bytes of copies between devices, children included */
    int64_t copies, copied;
    int device; /* the current GPU at the start, -1: none */
    uint64_t marks[2];
    double device_start, device_time, device_inner; /* seconds */
} lt_profile_event;

extern _Thread_local bool lt_profiling;

struct lt_backend;
/* Starts a recording; gpus: also records events on the current GPU; NULL: host only. Error if a
 * recording is running. */
lt_status lt_profile_start(const struct lt_backend *gpus);
/* Stops the recording. *events: a new array; free it with lt_mem_free. Synchronizes with a recorded
 * GPU. */
lt_status lt_profile_stop(lt_profile_event **events, int64_t *n);

/* Starts an event and returns its index; -1: out of memory. Call it only if lt_profiling. */
int32_t lt_profile_begin(const char *name, lt_profile_kind kind);
/* Ends the event and its open inner events. Ignores -1 and events of an earlier recording. */
void lt_profile_end(int32_t event);
/* Starts an event of an op that the host calls by its C function; -1 within an event of an op or of
 * backward. Call it only if lt_tls.profiles_calls. */
int32_t lt_profile_enter_call(const char *name);
static inline void lt_profile_leave_call(const int32_t *event)
{
    if (__builtin_expect(*event >= 0, 0)) lt_profile_end(*event);
}
/* Records the rest of the block as a call of an op, if the host records. here: the thread. */
#define LT_PROFILE_CALL(here, name)                                                                \
    __attribute__((cleanup(lt_profile_leave_call))) const int32_t event_of_call =                  \
        __builtin_expect((here)->profiles_calls, 0) ? lt_profile_enter_call(name) : -1;            \
    (void)event_of_call

/* Adds a copy between devices to the innermost open event. */
void lt_profile_copy(int64_t bytes);

#endif
