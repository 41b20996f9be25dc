/* ltensor_device.h - memory, the current GPU and streams. ltensor.h includes it.
 *
 * The current GPU and the current stream of each GPU belong to the calling thread. Operations queue
 * their work on the current stream of the device of their operands. Functions for GPUs are
 * LT_ERR_DEVICE if there is none; on simulated GPUs they do the same. */
#ifndef LTENSOR_DEVICE_H
#define LTENSOR_DEVICE_H

#include "ltensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- memory ---------------------------------------------------------------------------------- */

/* Bytes of a context on a device. */
typedef struct lt_memory_usage {
    size_t size;    /* sizeof(lt_memory_usage) in the caller; set it before the call */
    int64_t used;   /* live tensors and temporary memory of operations */
    int64_t peak;   /* the maximum of used since the context began or since the last reset */
    int64_t limit;  /* INT64_MAX: none */
    int64_t cached; /* memory of released tensors that the process keeps for new ones */
} lt_memory_usage;

/* Fills the fields that the caller's struct has. cached belongs to the process. A device whose
 * backend is not loaded has used nothing. LT_ERR_TYPE: a size that no version had. */
LT_API lt_status lt_context_memory_usage(const lt_context *context, lt_device device,
                                         lt_memory_usage *out);

/* Sets the peak to the bytes that are in use now. */
LT_API lt_status lt_context_reset_memory_peak(lt_context *context, lt_device device);

/* Limits the host memory of released tensors that the process keeps for new ones, and returns the
 * excess to the system. Initially 256 MB. 0: keep nothing, so that each tensor above 64 KB is
 * allocated from the system. LT_ERR_RUNTIME: a negative number. */
LT_API lt_status lt_memory_set_cache_limit(int64_t bytes);
LT_API int64_t lt_memory_cache_limit(void);

/* As lt_memory_trim for one device: for a GPU, returns the cached memory that no tensor and no
 * stream uses. *bytes (which may be NULL): the returned bytes. */
LT_API lt_status lt_device_memory_trim(lt_device device, int64_t *bytes);

/* ---- the current GPU ------------------------------------------------------------------------- */

/* The device that {LT_CUDA, -1} is in this thread. Initially GPU 0. */
LT_API lt_status lt_device_current(lt_device *out);
LT_API lt_status lt_device_set_current(lt_device device);

/* ---- streams --------------------------------------------------------------------------------- */

/* A queue of work on a GPU: work in one stream runs in order, work in two streams may run at the
 * same time. Every GPU has a default stream, with which others do not synchronize implicitly. A
 * thread begins with the default streams. */
typedef struct lt_stream lt_stream;

/* New: a stream of a GPU. Lower numbers are higher priorities, 0 is the lowest; the number is
 * limited to the range of the device. LT_ERR_DEVICE: the device is no GPU or does not exist. */
LT_API lt_status lt_stream_new(lt_device device, int priority, lt_stream **out);

/* New: a stream of the host, a cudaStream_t, which must exist as long as work is queued on it.
 * 0: the default stream. */
LT_API lt_status lt_stream_wrap(lt_device device, uint64_t handle, lt_stream **out);

/* New: the stream that is current on a GPU in this thread. */
LT_API lt_status lt_stream_current(lt_device device, lt_stream **out);

/* The last reference to a stream of lt_stream_new frees it, after its queued work, and makes the
 * default stream current if it was current in this thread. In other threads it must not be current.
 */
LT_API lt_stream *lt_stream_retain(lt_stream *stream);
LT_API void lt_stream_release(lt_stream *stream);

/* Makes the stream and its GPU current in this thread. Keep a reference while it is current. To
 * return to the previous stream, keep the result of lt_stream_current and pass it. */
LT_API lt_status lt_stream_use(lt_stream *stream);

/* Blocks until all work that is queued on the stream has run, and reports its errors. */
LT_API lt_status lt_stream_synchronize(const lt_stream *stream);
/* *done: whether all queued work has run. Does not block. */
LT_API lt_status lt_stream_query(const lt_stream *stream, bool *done);
/* Work that is queued on the stream from now on runs after the work that is queued on other now. */
LT_API lt_status lt_stream_wait(const lt_stream *stream, const lt_stream *other);

/* The GPU, and the cudaStream_t; {LT_CPU, 0} and 0 for NULL. */
LT_API lt_device lt_stream_device(const lt_stream *stream);
LT_API uint64_t lt_stream_handle(const lt_stream *stream);

/* Declares that work on the stream uses the tensor: after its release, its memory is used again
 * only when the work that is queued on the stream at that time has run. Necessary for streams other
 * than the one that was current when the tensor was created. */
LT_API lt_status lt_tensor_record_stream(const lt_tensor *t, const lt_stream *stream);

#ifdef __cplusplus
}
#endif

#endif
