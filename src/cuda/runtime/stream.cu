/* stream.cu - streams: each thread's current stream per device, a free list of user streams, and a
 * counter per stream for kernels.
 *
 * A handle is the runtime's stream; 0 is the default stream. Streams do not synchronize with the
 * default stream implicitly. A freed stream is kept and reused, never destroyed, because memory
 * blocks store stream handles. */
#include <mutex>
#include <new>
#include <vector>

#include "cuda.h"
#include "assertion.h"

static thread_local uint64_t current[LT_CUDA_MAX_DEVICES];

uint64_t lt_cuda_current_stream(int device)
{
    LT_ASSERT(device >= 0 && device < LT_CUDA_MAX_DEVICES, "device %d", device);
    return current[device];
}

void lt_cuda_set_stream(int device, uint64_t stream)
{
    LT_ASSERT(device >= 0 && device < LT_CUDA_MAX_DEVICES, "device %d", device);
    current[device] = stream;
}

static cudaStream_t stream_of(uint64_t stream) { return (cudaStream_t)(uintptr_t)stream; }

struct spare {
    uint64_t stream;
    int priority;
};
/* Never destroyed. */
static std::vector<spare> *const spares = new std::vector<spare>[LT_CUDA_MAX_DEVICES];
/* all streams created */
static std::vector<cudaStream_t> *const made_on =
    new std::vector<cudaStream_t>[LT_CUDA_MAX_DEVICES];
static std::mutex spares_mutex;

/* The mutex is held. */
static bool is_spare(int device, uint64_t stream)
{
    for (const spare &s : spares[device])
        if (s.stream == stream) return true;
    return false;
}

bool lt_cuda_stream_made(int device, int i, cudaStream_t *stream)
{
    std::lock_guard<std::mutex> lock(spares_mutex);
    if (i > (int)made_on[device].size()) return false;
    *stream = i == 0 ? nullptr : made_on[device][(size_t)i - 1];
    return true;
}

lt_status lt_cuda_stream_new(int device, int priority, uint64_t *stream)
{
    cudaStream_t ignored, made;
    LT_TRY(lt_cuda_enter(device, &ignored));
    int least = 0, greatest = 0;
    CUDA_TRY(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    if (priority > least) priority = least;
    if (priority < greatest) priority = greatest;
    {
        std::lock_guard<std::mutex> lock(spares_mutex);
        std::vector<spare> &pool = spares[device];
        try {
            made_on[device].reserve(made_on[device].size() + 1);
        } catch (const std::bad_alloc &) {
            return lt_cuda_core->error(LT_ERR_MEMORY, "out of memory for a CUDA stream");
        }
        for (size_t i = 0; i < pool.size(); i++) {
            if (pool[i].priority != priority) continue;
            *stream = pool[i].stream;
            pool.erase(pool.begin() + (long)i);
            return LT_OK;
        }
    }
    CUDA_TRY(cudaStreamCreateWithPriority(&made, cudaStreamNonBlocking, priority));
    *stream = (uint64_t)(uintptr_t)made;
    std::lock_guard<std::mutex> lock(spares_mutex);
    made_on[device].push_back(made);
    return LT_OK;
}

void lt_cuda_stream_free(int device, uint64_t stream)
{
    int priority = 0;
    if (stream == 0) return;
    if (cudaStreamGetPriority(stream_of(stream), &priority) != cudaSuccess)
        (void)cudaGetLastError();
    try {
        std::lock_guard<std::mutex> lock(spares_mutex);
        LT_ASSERT(!is_spare(device, stream), "the stream was freed before");
        spares[device].push_back({stream, priority});
    } catch (const std::bad_alloc &) {
        return; /* the stream is not reused */
    }
}

lt_status lt_cuda_stream_query(int device, uint64_t stream, bool *done)
{
    cudaStream_t ignored;
    LT_TRY(lt_cuda_refuse_recording());
    LT_TRY(lt_cuda_enter(device, &ignored));
    cudaError_t error = cudaStreamQuery(stream_of(stream));
    if (error == cudaErrorNotReady)
        (void)cudaGetLastError();
    else if (error != cudaSuccess)
        return lt_cuda_failed(error, "cudaStreamQuery");
    *done = error == cudaSuccess;
    return LT_OK;
}

lt_status lt_cuda_stream_synchronize(int device, uint64_t stream)
{
    cudaStream_t ignored;
    LT_TRY(lt_cuda_enter(device, &ignored));
    return lt_cuda_wait(device, stream_of(stream));
}

lt_status lt_cuda_stream_wait_event(int device, uint64_t stream, uint64_t event)
{
    cudaStream_t ignored;
    LT_TRY(lt_cuda_enter(device, &ignored));
    CUDA_TRY(cudaStreamWaitEvent(stream_of(stream), lt_cuda_event_handle(event), 0));
    return LT_OK;
}

/* ---- counters -------------------------------------------------------------------------------- */

/* Counters of all streams, never freed; each thread caches the one that it used last. */
struct stream_counter {
    int device;
    cudaStream_t stream;
    unsigned *place;
};
static std::vector<stream_counter> &counters = *new std::vector<stream_counter>;
static std::mutex counters_mutex;

/* Null if no memory is left. */
static unsigned *counter_of(int device, cudaStream_t stream)
{
    std::lock_guard<std::mutex> lock(counters_mutex);
    for (const stream_counter &c : counters)
        if (c.device == device && c.stream == stream) return c.place;
    void *place = nullptr;
    try {
        counters.reserve(counters.size() + 1);
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
    if (cudaMalloc(&place, sizeof(unsigned)) == cudaSuccess &&
        cudaMemsetAsync(place, 0, sizeof(unsigned), stream) == cudaSuccess) {
        counters.push_back({device, stream, static_cast<unsigned *>(place)});
        return counters.back().place;
    }
    (void)cudaGetLastError();
    if (place != nullptr && cudaFree(place) != cudaSuccess) (void)cudaGetLastError();
    return nullptr;
}

lt_status lt_cuda_counter(int device, cudaStream_t stream, unsigned *spare, unsigned **counter)
{
    static thread_local stream_counter last = {-1, nullptr, nullptr};
    if (!lt_cuda_recording()) {
        if (last.device != device || last.stream != stream)
            last = {device, stream, counter_of(device, stream)};
        *counter = last.place;
        if (last.place != nullptr) return LT_OK;
        last.device = -1;
    }
    *counter = spare;
    CUDA_TRY(cudaMemsetAsync(spare, 0, sizeof *spare, stream));
    return LT_OK;
}
