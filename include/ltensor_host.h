/* ltensor_host.h - tensors as text, states of generators, callbacks of the process and profiles.
 * ltensor.h includes it. */
#ifndef LTENSOR_HOST_H
#define LTENSOR_HOST_H

#include "ltensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the process's context ------------------------------------------------------------------- */

/* Configures the context of the process, which otherwise has no limits and no callbacks: all
 * threads that entered no other context use it. A call replaces the previous configuration, whose
 * release is called. NULL: lt_context_defaults(). Call it while no operation runs and no thread is
 * started. Errors as lt_context_new. */
LT_API lt_status lt_context_process_configure(const lt_context_config *config);

/* ---- text ------------------------------------------------------------------------------------ */

/* New: the tensor as PyTorch prints it, "tensor([[1., 2.]], device='cuda:0')", with a final 0. More
 * than 1000 elements are summarized. Free it with lt_string_release. Copies the shown elements of a
 * GPU to the host. */
LT_API lt_status lt_tensor_to_string(const lt_tensor *t, char **out);
LT_API void lt_string_release(char *text);

/* ---- states of generators -------------------------------------------------------------------- */

/* New: the state of a generator as a tensor of uint8 on the host, in PyTorch's format. After
 * lt_generator_set_state with it, the same numbers follow. */
LT_API lt_status lt_generator_get_state(lt_generator *generator, lt_tensor **out);
/* LT_ERR_TYPE: not a uint8 tensor with one dimension on the host; LT_ERR_RUNTIME: not a state of a
 * generator of this type of device. */
LT_API lt_status lt_generator_set_state(lt_generator *generator, const lt_tensor *state);

/* The same for the default generator of this thread's context for a device. */
LT_API lt_status lt_get_rng_state(lt_device device, lt_tensor **out);
LT_API lt_status lt_set_rng_state(lt_device device, const lt_tensor *state);

/* ---- profiles -------------------------------------------------------------------------------- */

/* The operations, backward nodes and spans of one thread with their times. Operations are the calls of
 * the thread, by C functions, lt_call or Lua; the ones within another operation are not recorded. */
typedef struct lt_profile lt_profile;

/* An event of a profile. Static as long as the profile. */
typedef struct lt_profile_entry {
    size_t size;                      /* sizeof this struct in the library */
    const char *name;                 /* "mm", "MmBackward0" */
    const char *kind;                 /* "op", "backward" or "user" */
    int64_t parent;                   /* index of the event that contains it; -1: none */
    double start;                     /* seconds since the recording began */
    double time;                      /* seconds on the host; */
    double self_time;                 /* the same without the events that it contains */
    int64_t memory;                   /* bytes of tensors at the end less bytes at the start */
    int64_t copied;                   /* bytes that were copied between devices */
    int device;                       /* the current GPU; -1: not recorded */
    double device_start, device_time; /* seconds; 0: not recorded */
} lt_profile_entry;

/* Starts a recording in this thread. gpu: records times of the current GPU, too. LT_ERR_RUNTIME: a
 * recording runs in this thread; LT_ERR_DEVICE: there is no GPU. */
LT_API lt_status lt_profiler_start(bool gpu);
/* Ends it. *out is new; NULL drops the recording. LT_ERR_RUNTIME: no recording runs. */
LT_API lt_status lt_profiler_stop(lt_profile **out);

/* A span of this thread in its recording; spans nest. Without a recording they do nothing. */
LT_API int32_t lt_profiler_begin(const char *name);
LT_API void lt_profiler_end(int32_t span);

LT_API int64_t lt_profile_count(const lt_profile *profile);
/* NULL if out of range. */
LT_API const lt_profile_entry *lt_profile_at(const lt_profile *profile, int64_t i);
/* Writes the events to a file in the format of chrome://tracing and ui.perfetto.dev. LT_ERR_IO. */
LT_API lt_status lt_profile_export(const lt_profile *profile, const char *path);
LT_API void lt_profile_release(lt_profile *profile);

#ifdef __cplusplus
}
#endif

#endif
