/* profile.h - what ran, when, for how long: the record behind torch.profiler.
 *
 * A recording belongs to the thread that starts it. Ops (of Lua), nodes of backward and the user's
 * own spans are events, which nest. When nothing is recorded an op pays one test of lt_profiling.
 * On a GPU an event of the current stream marks each end, read when the recording stops. */
#ifndef LT_PROFILE_H
#define LT_PROFILE_H

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
    /* seconds since the recording began; inner: of the events right inside */
    double start, end, inner;
    int64_t memory; /* bytes of tensors held at the end less those at the start */
    /* between devices: their number and bytes, of the events inside too */
    int64_t copies, copied;
    int device; /* the GPU that was current, -1: none */
    uint64_t marks[2];
    double device_start, device_time, device_inner; /* seconds */
} lt_profile_event;

extern _Thread_local bool lt_profiling;

struct lt_backend;
/* Starts a recording; gpus: with marks on the current GPU; NULL: of the host alone. An error when
 * one runs already. */
lt_status lt_profile_start(const struct lt_backend *gpus);
/* Ends it. *events: a fresh array, freed by lt_mem_free. Waits for the GPU when that was
 * recorded. */
lt_status lt_profile_stop(lt_profile_event **events, int64_t *n);

/* The number of the new event; -1 when there was no memory for it. Only while lt_profiling. */
int32_t lt_profile_begin(const char *name, lt_profile_kind kind);
/* Ends it, and those inside that were left open. -1 and events of an earlier recording are
 * nothing. */
void lt_profile_end(int32_t event);
/* A copy between devices, by the innermost open event. */
void lt_profile_copy(int64_t bytes);

#endif
