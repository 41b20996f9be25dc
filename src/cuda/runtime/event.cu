/* event.cu - events: user events, and a free list of events without timing for the backend itself.
 *
 * A handle is the address of a user_event. An event that was never recorded counts as done. */
#include <mutex>
#include <new>
#include <vector>

#include "cuda.h"
#include "assertion.h"

/* ---- events of the backend ------------------------------------------------------------------- */

/* Never destroyed, like all static state of the backend: events are returned until the process
 * ends. */
static std::vector<cudaEvent_t> *const spares = new std::vector<cudaEvent_t>[LT_CUDA_MAX_DEVICES];
static std::mutex spares_mutex;

lt_status lt_cuda_event_alloc(int device, cudaEvent_t *event)
{
    {
        std::lock_guard<std::mutex> lock(spares_mutex);
        if (!spares[device].empty()) {
            *event = spares[device].back();
            spares[device].pop_back();
            return LT_OK;
        }
    }
    cudaStream_t stream;
    LT_TRY(lt_cuda_enter(device, &stream));
    CUDA_TRY(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    return LT_OK;
}

void lt_cuda_event_free(int device, cudaEvent_t event)
{
    LT_ASSERT(device >= 0 && device < LT_CUDA_MAX_DEVICES && event != nullptr, "device %d", device);
    try {
        std::lock_guard<std::mutex> lock(spares_mutex);
        spares[device].push_back(event);
    } catch (const std::bad_alloc &) {
        if (cudaEventDestroy(event) != cudaSuccess) (void)cudaGetLastError();
    }
}

/* ---- user events ----------------------------------------------------------------------------- */

namespace {
struct user_event {
    cudaEvent_t event;
    int device;
    bool timing, recorded;
};
} // namespace

static user_event *event_of(uint64_t event)
{
    user_event *e = reinterpret_cast<user_event *>((uintptr_t)event);
    LT_ASSERT(e != nullptr && e->device >= 0, "the event was freed");
    return e;
}

cudaEvent_t lt_cuda_event_handle(uint64_t event) { return event_of(event)->event; }

lt_status lt_cuda_event_new(int device, bool timing, uint64_t *event)
{
    cudaStream_t stream;
    LT_TRY(lt_cuda_enter(device, &stream));
    user_event *e = new (std::nothrow) user_event{nullptr, device, timing, false};
    if (e == nullptr) return lt_cuda_core->error(LT_ERR_MEMORY, "out of memory for a CUDA event");
    cudaError_t error =
        cudaEventCreateWithFlags(&e->event, timing ? cudaEventDefault : cudaEventDisableTiming);
    if (error != cudaSuccess) {
        delete e;
        return lt_cuda_failed(error, "cudaEventCreateWithFlags");
    }
    *event = (uint64_t)(uintptr_t)e;
    return LT_OK;
}

void lt_cuda_event_free(uint64_t event)
{
    if (event == 0) return;
    if (cudaEventDestroy(event_of(event)->event) != cudaSuccess) (void)cudaGetLastError();
    user_event *e = event_of(event);
    LT_POISON(e->device, -1);
    delete e;
}

lt_status lt_cuda_event_record(uint64_t event, int device, uint64_t stream)
{
    cudaStream_t ignored;
    if (device != event_of(event)->device)
        return lt_cuda_core->error(LT_ERR_RUNTIME,
                                   "Event device %d does not match recording stream's device %d.",
                                   event_of(event)->device, device);
    LT_TRY(lt_cuda_enter(device, &ignored));
    CUDA_TRY(cudaEventRecord(event_of(event)->event, (cudaStream_t)(uintptr_t)stream));
    event_of(event)->recorded = true;
    return LT_OK;
}

lt_status lt_cuda_event_query(uint64_t event, bool *done)
{
    LT_TRY(lt_cuda_refuse_recording());
    cudaError_t error =
        event_of(event)->recorded ? cudaEventQuery(event_of(event)->event) : cudaSuccess;
    if (error == cudaErrorNotReady)
        (void)cudaGetLastError();
    else if (error != cudaSuccess)
        return lt_cuda_failed(error, "cudaEventQuery");
    *done = error == cudaSuccess;
    return LT_OK;
}

lt_status lt_cuda_event_synchronize(uint64_t event)
{
    if (!event_of(event)->recorded) return LT_OK;
    return lt_cuda_wait_event(event_of(event)->device, event_of(event)->event);
}

lt_status lt_cuda_event_elapsed(uint64_t start, uint64_t stop, double *milliseconds)
{
    if (!event_of(start)->timing || !event_of(stop)->timing)
        return lt_cuda_core->error(
            LT_ERR_RUNTIME, "Both events must be created with argument 'enable_timing=True'.");
    if (!event_of(start)->recorded || !event_of(stop)->recorded)
        return lt_cuda_core->error(LT_ERR_RUNTIME,
                                   "Both events must be recorded before calculating elapsed time.");
    float elapsed = 0;
    cudaError_t error =
        cudaEventElapsedTime(&elapsed, event_of(start)->event, event_of(stop)->event);
    if (error == cudaErrorNotReady) {
        (void)cudaGetLastError();
        return lt_cuda_core->error(
            LT_ERR_RUNTIME, "Both events must be completed before calculating elapsed time.");
    }
    if (error != cudaSuccess) return lt_cuda_failed(error, "cudaEventElapsedTime");
    *milliseconds = elapsed;
    return LT_OK;
}
