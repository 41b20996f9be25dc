/* event.cpp - events: points in a stream that other streams can wait for, with optional time
 * stamps.
 *
 * A record is "(stream, number)"; it is done when the stream has finished that work item. Recording
 * in a non-blocking stream queues a work item only if the event has timing. Waiting for an event
 * refers to its newest record at the time of the call. */
#include "sim.h"

#include <chrono>

using namespace lt_sim;

struct CUevent_st {
    Device *device;
    unsigned flags;
    std::mutex mutex;
    Wait record = {nullptr, 0};
    std::shared_ptr<std::atomic<int64_t>> time; /* ns; set by the work item of the newest record */
    /* position in the recording (capture) where it was last recorded, if any */
    Mark mark;
};

namespace {

class Stamp final : public Work {
  public:
    explicit Stamp(std::shared_ptr<std::atomic<int64_t>> time) : time(std::move(time)) {}
    cudaError_t run() override
    {
        auto now = std::chrono::steady_clock::now().time_since_epoch();
        if (time) *time = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
        return cudaSuccess;
    }

  private:
    std::shared_ptr<std::atomic<int64_t>> time;
};

Wait record_of(CUevent_st *event)
{
    std::lock_guard<std::mutex> lock(event->mutex);
    return event->record;
}

Mark mark_of(CUevent_st *event)
{
    std::lock_guard<std::mutex> lock(event->mutex);
    return event->mark;
}

} // namespace

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    if (cudaError_t error = begin_on_device(cudaErrorMemoryAllocation)) return error;
    if (!event || flags & ~(cudaEventBlockingSync | cudaEventDisableTiming))
        return finish(cudaErrorInvalidValue);
    *event = new CUevent_st;
    (*event)->device = device_at(current_device());
    (*event)->flags = flags;
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

/* The returned error may be that of an earlier call; the event is destroyed in any case. */
cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    cudaError_t error = begin(cudaErrorInvalidResourceHandle);
    if (!event) return error ? error : finish(cudaErrorInvalidResourceHandle);
    delete event;
    return error;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle)
{
    if (cudaError_t error = begin_on_device(cudaErrorInvalidResourceHandle)) return error;
    CUstream_st *stream = find_stream(handle);
    if (!event || !stream || event->device != stream->device)
        return finish(cudaErrorInvalidResourceHandle);
    if (cudaError_t error = refuse_legacy(stream)) return finish(error);
    std::lock_guard<std::mutex> lock(event->mutex);
    event->mark = {stream->recording, stream, 0};
    if (stream->recording) {
        event->mark.number = stream->recording->streams[stream].given;
        return cudaSuccess;
    }
    if (!(event->flags & cudaEventDisableTiming))
        event->time = std::make_shared<std::atomic<int64_t>>(0);
    if (event->time || !(stream->flags & cudaStreamNonBlocking))
        event->record = {stream, submit(stream, new Stamp(event->time))};
    else
        event->record = newest(stream);
    return cudaSuccess;
}

/* Counted as a call only if the record is done, like cudaStreamQuery. */
cudaError_t cudaEventQuery(cudaEvent_t event)
{
    if (usable() && event) {
        Wait record = record_of(event);
        if (record.stream && !is_done(record)) {
            if (cudaError_t error = refuse_unsafe()) return finish(error);
            demand(record);
            return finish(cudaErrorNotReady);
        }
    }
    if (cudaError_t error = begin_on_device(cudaErrorLaunchFailure)) return error;
    if (!event) return finish(cudaErrorInvalidResourceHandle);
    if (cudaError_t error = refuse_marked(mark_of(event))) return finish(error);
    if (cudaError_t error = refuse_unsafe()) return finish(error);
    return finish((cudaError_t)event->device->error.load());
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    if (cudaError_t error = begin_on_device(cudaErrorLaunchFailure)) return error;
    if (!event) return finish(cudaErrorInvalidResourceHandle);
    if (cudaError_t error = refuse_marked(mark_of(event))) return finish(error);
    if (cudaError_t error = refuse_unsafe()) return finish(error);
    Wait record = record_of(event);
    if (record.stream) sync(record);
    return finish((cudaError_t)event->device->error.load());
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned int flags)
{
    if (cudaError_t error = begin_on_device(cudaErrorInvalidResourceHandle)) return error;
    CUstream_st *stream = find_stream(handle);
    if (!stream || !event) return finish(cudaErrorInvalidResourceHandle);
    if (flags) return finish(cudaErrorInvalidValue);
    if (Mark mark = mark_of(event); mark.recording || stream->recording)
        return mark.stream == stream ? cudaSuccess : finish(join_recording(stream, mark));
    Wait record = record_of(event);
    if (!record.stream || record.stream == stream || is_done(record)) return cudaSuccess;
    Work *work = new Stamp(nullptr);
    add_wait(work, record);
    submit(stream, work);
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    if (cudaError_t error = begin_on_device(cudaErrorLaunchFailure)) return error;
    if (!start || !end || start->device != end->device)
        return finish(cudaErrorInvalidResourceHandle);
    Wait first = record_of(start), last = record_of(end);
    if (!first.stream || !last.stream || (start->flags | end->flags) & cudaEventDisableTiming)
        return finish(cudaErrorInvalidResourceHandle);
    if (!is_done(first) || !is_done(last)) return finish(cudaErrorNotReady);
    *milliseconds = (float)(*end->time - *start->time) / 1e6f;
    return cudaSuccess;
}
