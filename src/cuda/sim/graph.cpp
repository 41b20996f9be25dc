/* graph.cpp - CUDA graphs: a capture records the work items of streams instead of running them;
 * each launch of the graph runs them in the recorded order.
 *
 * A recording (capture) belongs to the stream where it began. Another stream joins it by waiting
 * for an event recorded in it, and must be waited for before it ends. The recorded order satisfies
 * all waits between the streams, so a launch runs the items sequentially, as one work item of its
 * stream. Stricter than CUDA in one point: copies of pageable host memory cannot be recorded. */
#include "sim.h"

#include <algorithm>
#include <new>

using namespace lt_sim;

/* Work items, shared by the graph and its instantiated programs. */
using Works = std::vector<std::unique_ptr<Work>>;

struct CUgraph_st {
    std::shared_ptr<Works> works;
};

namespace lt_sim {

struct Program {
    std::shared_ptr<Works> works;
    std::mutex running; /* launches of one program do not overlap */
};

namespace {

class Launch final : public Work {
  public:
    explicit Launch(std::shared_ptr<Program> program) : program(std::move(program)) {}
    cudaError_t run() override
    {
        std::lock_guard<std::mutex> lock(program->running);
        for (const std::unique_ptr<Work> &work : *program->works)
            if (cudaError_t error = run_work(*work)) return error;
        return cudaSuccess;
    }

  private:
    std::shared_ptr<Program> program;
};

/* True if another stream waits for the last recorded work of every stream that joined the
 * recording. */
bool joined(const Recording &recording)
{
    for (const auto &stream : recording.streams)
        if (stream.first != recording.origin && stream.second.given > stream.second.awaited)
            return false;
    return true;
}

} // namespace

void record(CUstream_st *stream, Work *work)
{
    Recording &recording = *stream->recording;
    recording.works->emplace_back(work);
    if (work->joins) recording.streams[stream].given++;
}

namespace {

/* Recordings in progress. */
struct Active {
    std::mutex mutex;
    std::vector<std::shared_ptr<Recording>> recordings;
    std::atomic<size_t> count{0};
};

Active &active()
{
    static Active *instance = new Active;
    return *instance;
}

void enter(std::shared_ptr<Recording> recording)
{
    std::lock_guard<std::mutex> lock(active().mutex);
    active().recordings.push_back(std::move(recording));
    active().count = active().recordings.size();
}

void leave(const std::shared_ptr<Recording> &recording)
{
    std::lock_guard<std::mutex> lock(active().mutex);
    auto &all = active().recordings;
    all.erase(std::remove(all.begin(), all.end(), recording), all.end());
    active().count = all.size();
}

/* Invalidates the recordings for which `forbidden` holds; returns `error` if there is one. */
template <class F> cudaError_t refuse(cudaError_t error, F forbidden)
{
    if (!active().count) return cudaSuccess;
    cudaError_t result = cudaSuccess;
    std::lock_guard<std::mutex> lock(active().mutex);
    for (auto &recording : active().recordings) {
        if (!forbidden(*recording)) continue;
        recording->broken = true;
        result = error;
    }
    return result;
}

} // namespace

cudaError_t refuse_recording(CUstream_st *stream)
{
    if (!stream->recording) return cudaSuccess;
    stream->recording->broken = true;
    return cudaErrorStreamCaptureUnsupported;
}

cudaError_t refuse_waiting(Device &device)
{
    return refuse(cudaErrorStreamCaptureUnsupported,
                  [&](const Recording &r) { return r.origin->device == &device; });
}

cudaError_t refuse_legacy(CUstream_st *stream)
{
    if (stream != stream->device->default_stream) return cudaSuccess;
    return refuse(cudaErrorStreamCaptureImplicit, [&](const Recording &r) {
        return r.origin->device == stream->device && !(r.origin->flags & cudaStreamNonBlocking);
    });
}

cudaError_t refuse_marked(const Mark &mark)
{
    if (!mark.recording) return cudaSuccess;
    mark.recording->broken = true;
    return cudaErrorCapturedEvent;
}

cudaError_t refuse_unsafe()
{
    const std::thread::id self = std::this_thread::get_id();
    return refuse(cudaErrorStreamCaptureUnsupported, [&](const Recording &r) {
        return r.thread == self ? r.mode != cudaStreamCaptureModeRelaxed
                                : r.mode == cudaStreamCaptureModeGlobal;
    });
}

cudaError_t join_recording(CUstream_st *stream, const Mark &mark)
{
    if (mark.recording && mark.recording->ended) return cudaErrorCapturedEvent;
    if (stream->recording && mark.recording != stream->recording) {
        stream->recording->broken = true;
        return mark.recording ? cudaErrorStreamCaptureMerge : cudaErrorStreamCaptureIsolation;
    }
    stream->recording = mark.recording;
    Recording::Progress &waited = mark.recording->streams[mark.stream];
    waited.awaited = std::max(waited.awaited, mark.number);
    /* counts the wait itself, so that the joined stream must be waited for */
    mark.recording->streams[stream].given++;
    return cudaSuccess;
}

} // namespace lt_sim

struct CUgraphExec_st {
    std::shared_ptr<Program> program;
};

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, enum cudaStreamCaptureMode mode)
{
    if (cudaError_t error = begin_on_device(cudaErrorUnknown)) return error;
    CUstream_st *stream = find_stream(handle);
    if (!stream) return finish(cudaErrorInvalidResourceHandle);
    if (stream == stream->device->default_stream) return finish(cudaErrorStreamCaptureUnsupported);
    if (stream->recording) return finish(cudaErrorIllegalState);
    stream->recording = std::make_shared<Recording>();
    stream->recording->origin = stream;
    stream->recording->mode = mode;
    stream->recording->thread = std::this_thread::get_id();
    enter(stream->recording);
    return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, enum cudaStreamCaptureStatus *status)
{
    if (cudaError_t error = begin_on_device(cudaErrorUnknown)) return error;
    CUstream_st *stream = find_stream(handle);
    if (!stream || !status) return finish(cudaErrorInvalidValue);
    *status = !stream->recording          ? cudaStreamCaptureStatusNone
              : stream->recording->broken ? cudaStreamCaptureStatusInvalidated
                                          : cudaStreamCaptureStatusActive;
    return cudaSuccess;
}

/* Ends the recording also on failure. */
cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t *graph)
{
    cudaError_t injected = begin_on_device(cudaErrorUnknown);
    CUstream_st *stream = usable() ? find_stream(handle) : nullptr;
    if (graph) *graph = nullptr;
    if (!stream || !stream->recording) return finish(injected ? injected : cudaErrorIllegalState);
    std::shared_ptr<Recording> recording = stream->recording;
    if (recording->origin != stream) return finish(cudaErrorStreamCaptureUnmatched);
    if (recording->mode != cudaStreamCaptureModeRelaxed &&
        recording->thread != std::this_thread::get_id())
        return finish(cudaErrorStreamCaptureWrongThread);
    leave(recording);
    for (auto &member : recording->streams) member.first->recording = nullptr;
    stream->recording = nullptr;
    recording->ended = true;
    if (injected) return injected;
    if (recording->broken) return finish(cudaErrorStreamCaptureInvalidated);
    if (!joined(*recording)) return finish(cudaErrorStreamCaptureUnjoined);
    *graph = new (std::nothrow) CUgraph_st{recording->works};
    return *graph ? cudaSuccess : finish(cudaErrorMemoryAllocation);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *program, cudaGraph_t graph,
                                 unsigned long long flags)
{
    if (cudaError_t error = begin_on_device(cudaErrorMemoryAllocation)) return error;
    if (!program || !graph || flags) return finish(cudaErrorInvalidValue);
    auto made = std::make_shared<Program>();
    made->works = graph->works;
    *program = new (std::nothrow) CUgraphExec_st{std::move(made)};
    return *program ? cudaSuccess : finish(cudaErrorMemoryAllocation);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t program, cudaStream_t handle)
{
    if (cudaError_t error = begin_on_device(cudaErrorLaunchFailure)) return error;
    CUstream_st *stream = find_stream(handle);
    if (!stream || !program) return finish(cudaErrorInvalidResourceHandle);
    submit(stream, new Launch(program->program));
    return cudaSuccess;
}

/* The object is destroyed also if the call returns an error. */
cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    cudaError_t error = begin(cudaErrorInvalidValue);
    delete graph;
    return error;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t program)
{
    cudaError_t error = begin(cudaErrorInvalidValue);
    delete program;
    return error;
}
