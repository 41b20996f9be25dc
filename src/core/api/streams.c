/* streams.c - the functions of ltensor_device.h for the current GPU and for streams, over the table
 * of devices/backend.h. A stream of the library counts its references; its handle returns to the
 * backend with the last one. */
#include <stdatomic.h>

#include "compile/deferred.h"
#include "compile/trace.h"
#include "devices/backend.h"
#include "devices/device.h"
#include "devices/device_type.h"
#include "error.h"
#include "ltensor_device.h"
#include "memory/alloc.h"
#include "sparse.h"
#include "tensor.h"

struct lt_stream {
    _Atomic int32_t refs;
    lt_device device;
    uint64_t handle;
    bool own;
};

/* ---- the current GPU ------------------------------------------------------------------------- */

/* Resolves a device that must be a GPU. */
static lt_status resolve_gpu(const char *function, lt_device *device)
{
    char name[16];
    if (device->type == LT_CPU)
        return lt_error(LT_ERR_DEVICE, "%s(): expected a GPU, but got the device %s", function,
                        lt_format_device(name, sizeof name, *device));
    return lt_device_resolve(device);
}

lt_status lt_device_current(lt_device *out)
{
    LT_REQUIRE(out);
    lt_device device = {(int8_t)lt_accelerator(), -1};
    LT_TRY(lt_device_resolve(&device));
    *out = device;
    return LT_OK;
}

lt_status lt_device_set_current(lt_device device)
{
    LT_TRY(resolve_gpu(__func__, &device));
    LT_TRY(lt_trace_flush());
    return lt_backends[device.type]->set_device(device.index);
}

/* ---- streams --------------------------------------------------------------------------------- */

static lt_stream *new_stream(lt_device device, uint64_t handle, bool own)
{
    lt_stream *stream = lt_mem_alloc(sizeof *stream);
    if (stream == NULL) return NULL;
    *stream = (lt_stream){.device = device, .handle = handle, .own = own};
    atomic_init(&stream->refs, 1);
    return stream;
}

lt_status lt_stream_new(lt_device device, int priority, lt_stream **out)
{
    uint64_t handle;
    LT_REQUIRE(out);
    LT_TRY(resolve_gpu(__func__, &device));
    const lt_backend *backend = lt_backends[device.type];
    LT_TRY(backend->stream_new(device.index, priority, &handle));
    lt_stream *stream = new_stream(device, handle, true);
    if (stream == NULL) {
        backend->stream_free(device.index, handle);
        return LT_ERR_MEMORY;
    }
    *out = stream;
    return LT_OK;
}

lt_status lt_stream_wrap(lt_device device, uint64_t handle, lt_stream **out)
{
    LT_REQUIRE(out);
    LT_TRY(resolve_gpu(__func__, &device));
    lt_stream *stream = new_stream(device, handle, false);
    if (stream == NULL) return LT_ERR_MEMORY;
    *out = stream;
    return LT_OK;
}

lt_status lt_stream_current(lt_device device, lt_stream **out)
{
    LT_REQUIRE(out);
    LT_TRY(resolve_gpu(__func__, &device));
    return lt_stream_wrap(device, lt_backends[device.type]->current_stream(device.index), out);
}

lt_stream *lt_stream_retain(lt_stream *stream)
{
    if (stream != NULL) atomic_fetch_add_explicit(&stream->refs, 1, memory_order_relaxed);
    return stream;
}

void lt_stream_release(lt_stream *stream)
{
    if (stream == NULL || atomic_fetch_sub_explicit(&stream->refs, 1, memory_order_acq_rel) != 1)
        return;
    if (stream->own) {
        const lt_backend *backend = lt_backends[stream->device.type];
        if (backend->current_stream(stream->device.index) == stream->handle)
            backend->set_stream(stream->device.index, 0);
        backend->stream_free(stream->device.index, stream->handle);
    }
    lt_mem_free(stream);
}

lt_status lt_stream_use(lt_stream *stream)
{
    LT_REQUIRE(stream);
    LT_TRY(lt_device_set_current(stream->device));
    lt_backends[stream->device.type]->set_stream(stream->device.index, stream->handle);
    return LT_OK;
}

lt_status lt_stream_synchronize(const lt_stream *stream)
{
    LT_REQUIRE(stream);
    LT_TRY(lt_trace_flush());
    return lt_backends[stream->device.type]->stream_synchronize(stream->device.index,
                                                                stream->handle);
}

lt_status lt_stream_query(const lt_stream *stream, bool *done)
{
    LT_REQUIRE(stream);
    LT_REQUIRE(done);
    LT_TRY(lt_trace_flush());
    return lt_backends[stream->device.type]->stream_query(stream->device.index, stream->handle,
                                                          done);
}

lt_status lt_stream_wait(const lt_stream *stream, const lt_stream *other)
{
    uint64_t mark;
    LT_REQUIRE(stream);
    LT_REQUIRE(other);
    const lt_backend *backend = lt_backends[other->device.type];
    LT_TRY(lt_trace_flush());
    LT_TRY(backend->event_new(other->device.index, false, &mark));
    lt_status status = backend->event_record(mark, other->device.index, other->handle);
    if (status == LT_OK)
        status = backend->stream_wait_event(stream->device.index, stream->handle, mark);
    backend->event_free(mark);
    return status;
}

lt_device lt_stream_device(const lt_stream *stream)
{
    return stream != NULL ? stream->device : lt_host;
}

uint64_t lt_stream_handle(const lt_stream *stream) { return stream != NULL ? stream->handle : 0; }

lt_status lt_tensor_record_stream(const lt_tensor *t, const lt_stream *stream)
{
    char ours[16], theirs[16];
    LT_REQUIRE(t);
    LT_REQUIRE(stream);
    LT_TRY(lt_require_strided("record_stream", t));
    if (!lt_device_equal(t->device, stream->device))
        return lt_error(LT_ERR_RUNTIME,
                        "record_stream(): the tensor is on %s and the stream on %s, expected one "
                        "device",
                        lt_format_device(ours, sizeof ours, t->device),
                        lt_format_device(theirs, sizeof theirs, stream->device));
    LT_TRY(lt_materialize("record_stream", t));
    if (t->storage->release == NULL)
        lt_backend_of(t)->record_stream(t->storage->ctx, stream->handle);
    return LT_OK;
}
