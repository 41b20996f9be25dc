/* stream.cpp - streams: queues of work items, each served by its own thread.
 *
 * - The thread starts with the first item. It ends when the stream is destroyed and its queue
 *   empty, or when the process exits.
 * - In a build with checks, items run one at a time. A thread that waits for an item runs it and
 *   the items before it; the stream's thread runs the others.
 * - In a build without threads (THREADS=no), a call that waits for an item runs it and the items
 *   before it, a query runs one item, and a long queue runs when the next item is submitted.
 * - Items of one stream run in order. Streams are ordered only by waits: by cudaStreamWaitEvent,
 *   and between the default stream and streams created without cudaStreamNonBlocking. A wait refers
 *   to an item that was queued before, so there are no cycles. */
#include "sim.h"

#include <algorithm>
#include <chrono>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <thread>

namespace lt_sim {

namespace {

/* About 20 us; waking a sleeping thread takes longer. */
constexpr int spins = 2000;
/* In a build with checks: the polling interval of the stream's thread, during which a waiting
 * thread may run an item first, and the number of idle rounds before the thread sleeps. */
constexpr std::chrono::milliseconds patience(2);
constexpr int patient_rounds = 50;
#ifdef LT_NO_THREADS
constexpr bool threaded = false;
#else
constexpr bool threaded = true;
#endif
/* tuning: items of a queue without a thread, which bounds their memory */
constexpr uint64_t longest_queue = 1000;

std::atomic<unsigned> stream_count{0};
std::mutex threads_mutex;
std::condition_variable threads_gone;
int threads = 0;
thread_local bool works = false; /* the calling thread runs an item */

/* Spin-wait hint for the CPU. */
inline void pause()
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

bool stopping() { return runtime().stopping.load(std::memory_order_relaxed); }

/* A random delay of up to 3 ms before every second item on average, the same in each run of a
 * stream. */
void delay(CUstream_st *stream)
{
    unsigned &x = stream->jitter;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    if (x & 1) std::this_thread::sleep_for(std::chrono::microseconds((x >> 1) % 3000));
}

/* With LTENSOR_SIM_SEED: delays a quarter of the items until a thread waits for or queries them,
 * for at most 2 ms, because the order of streams is undefined except for waits. */
void put_off(CUstream_st *stream, const Work *work)
{
    if (mixed(runtime().settings.seed + stream->id, work->number) % 4) return;
    std::unique_lock<std::mutex> lock(stream->mutex);
    stream->demanded.wait_for(lock, std::chrono::milliseconds(2),
                              [&] { return stream->demand >= work->number || stopping(); });
}

void execute(CUstream_st *stream, Work *work)
{
    if (threaded && runtime().settings.seed) put_off(stream, work);
    if (work->waits)
        for (const Wait &wait : work->waits->list) sync(wait);
    if (stream->jitter) delay(stream);
    if (stopping() || stream->device->error) return;
    if (cudaError_t error = run_work(*work)) set_device_error(*stream->device, error);
}

/* Removes the first item of the queue for the caller to run; null if there is none or another
 * thread runs an item of the stream. The stream's mutex is held. */
Work *take(CUstream_st *stream)
{
    Work *work = stream->busy ? nullptr : stream->head;
    if (!work) return nullptr;
    stream->busy = true;
    stream->head = work->next;
    if (!stream->head) stream->tail = nullptr;
    return work;
}

void run_taken(CUstream_st *stream, Work *work)
{
    const uint64_t number = work->number;
    execute(stream, work);
    delete work;
    {
        std::lock_guard<std::mutex> lock(stream->mutex);
        stream->busy = false;
        stream->done.store(number);
    }
    stream->progress.notify_all();
}

/* Returns the next item for the stream's thread to run; null: the thread must exit. */
Work *await_work(CUstream_st *stream)
{
    const int most = monitor ? 0 : spins;
    for (int i = 0; i < most && stream->last.load(std::memory_order_relaxed) == stream->done; i++)
        pause();
    std::unique_lock<std::mutex> lock(stream->mutex);
    for (int round = 0;; round++) {
        if (Work *work = take(stream)) return work;
        if (!stream->busy && (!stream->alive || stopping())) break;
        stream->asleep = !monitor || (round >= patient_rounds && !stream->head && !stream->busy);
        if (stream->asleep) {
            stream->wake.wait(lock);
            stream->asleep = false;
            round = 0;
        } else {
            stream->wake.wait_for(lock, patience);
        }
    }
    stream->started = false;
    return nullptr;
}

void serve(CUstream_st *stream)
{
    while (Work *work = await_work(stream)) run_taken(stream, work);
    std::lock_guard<std::mutex> lock(threads_mutex);
    if (--threads == 0) threads_gone.notify_all();
}

/* Runs the items that the caller waits for in the calling thread, unless another thread runs one:
 * waking another thread takes longer than most items, on a busy machine a hundred times as long. */
void help(const Wait &wait)
{
    while (!is_done(wait)) {
        std::unique_lock<std::mutex> lock(wait.stream->mutex);
        Work *work = take(wait.stream);
        if (!work) return;
        lock.unlock();
        run_taken(wait.stream, work);
    }
}

/* Runs the first item of a stream without a thread. */
void advance(CUstream_st *stream)
{
    std::unique_lock<std::mutex> lock(stream->mutex);
    Work *work = take(stream);
    lock.unlock();
    if (work) run_taken(stream, work);
}

/* The stream's mutex is held. */
void start_thread(CUstream_st *stream)
{
    stream->started = true;
    {
        std::lock_guard<std::mutex> lock(threads_mutex);
        threads++;
    }
    std::thread(serve, stream).detach();
}

/* Creates the file LTENSOR_SIM_USED at the first item. The test driver repeats a program with other
 * seeds only if the file exists, since a seed changes only the order of work items. */
void tell_used()
{
    static std::once_flag told;
    std::call_once(told, [] {
        const std::string &file = runtime().settings.used;
        if (file.empty()) return;
        if (FILE *made = fopen(file.c_str(), "a"))
            fclose(made);
        else
            fprintf(stderr, "simulated GPUs: cannot make %s: %s\n", file.c_str(), strerror(errno));
    });
}

void add_wait(Work *work, CUstream_st *stream)
{
    Wait wait = newest(stream);
    if (!is_done(wait)) add_wait(work, wait);
}

/* The default stream waits for all blocking streams of the device, and they wait for it. */
void add_default_stream_waits(CUstream_st *stream, Work *work)
{
    Device &device = *stream->device;
    std::lock_guard<std::mutex> lock(device.mutex);
    CUstream_st *standard = device.default_stream;
    if (stream != standard) {
        if (standard) add_wait(work, standard);
        return;
    }
    for (CUstream_st *other : device.streams)
        if (other != stream && !(other->flags & cudaStreamNonBlocking)) add_wait(work, other);
}

} // namespace

Work::~Work() { delete waits; }

void add_wait(Work *work, const Wait &wait)
{
    if (!work->waits) work->waits = new Waits;
    work->waits->list.push_back(wait);
}

bool is_done(const Wait &wait) { return wait.stream->done.load() >= wait.number; }

Wait newest(CUstream_st *stream) { return {stream, stream->last.load()}; }

bool inside_work() { return works; }

cudaError_t run_work(Work &work)
{
    open_memory(work.devices);
    works = true;
    cudaError_t error = work.run();
    works = false;
    close_memory(work.devices);
    return error;
}

void demand(const Wait &wait)
{
    if (!threaded) advance(wait.stream);
    if (!runtime().settings.seed) return;
    std::lock_guard<std::mutex> lock(wait.stream->mutex);
    wait.stream->demand = std::max(wait.stream->demand, wait.number);
    wait.stream->demanded.notify_all();
}

void sync(const Wait &wait)
{
    demand(wait);
    if (monitor || !threaded) help(wait);
    if (!threaded) return;
    for (int i = 0; i < spins; i++) {
        if (is_done(wait)) return;
        pause();
    }
    std::unique_lock<std::mutex> lock(wait.stream->mutex);
    wait.stream->progress.wait(lock, [&] { return is_done(wait) || stopping(); });
}

/* Includes items still queued in destroyed streams. */
void sync_device(Device &device)
{
    std::vector<Wait> waits;
    {
        std::lock_guard<std::mutex> lock(device.mutex);
        for (CUstream_st *stream : device.streams) waits.push_back(newest(stream));
    }
    {
        std::lock_guard<std::mutex> lock(runtime().mutex);
        for (CUstream_st *stream : runtime().retired)
            if (stream->device == &device) waits.push_back(newest(stream));
    }
    /* The seed selects the order of the waits: the first stream's items are no longer delayed, the
     * others' may be delayed until their turn. */
    const uint64_t seed = runtime().settings.seed;
    for (size_t i = waits.size(); seed && i > 1; i--)
        std::swap(waits[i - 1], waits[mixed(seed + i, waits[i - 1].number) % i]);
    for (const Wait &wait : waits) sync(wait);
}

uint64_t submit(CUstream_st *stream, Work *work, bool recorded)
{
    if (stream->recording && recorded) {
        record(stream, work);
        return 0; /* nothing to wait for */
    }
    tell_used();
    if (!(stream->flags & cudaStreamNonBlocking)) add_default_stream_waits(stream, work);
    bool wake;
    uint64_t number;
    {
        std::lock_guard<std::mutex> lock(stream->mutex);
        number = work->number = stream->last.load() + 1;
        (stream->tail ? stream->tail->next : stream->head) = work;
        stream->tail = work;
        stream->last.store(number);
        if (threaded && !stream->started) start_thread(stream);
        wake = stream->asleep;
    }
    if (wake) stream->wake.notify_one();
    if (!threaded && number - stream->done > longest_queue) help({stream, number});
    return number;
}

CUstream_st *new_stream(Device &device, unsigned flags, int priority)
{
    Runtime &r = runtime();
    CUstream_st *stream = nullptr;
    {
        std::lock_guard<std::mutex> lock(r.mutex);
        for (auto it = r.retired.begin(); it != r.retired.end() && !stream; ++it) {
            std::lock_guard<std::mutex> guard((*it)->mutex);
            if ((*it)->started || (*it)->head) continue;
            stream = *it;
            r.retired.erase(it);
            break;
        }
    }
    if (!stream) stream = new CUstream_st;
    std::lock_guard<std::mutex> lock(device.mutex);
    std::lock_guard<std::mutex> guard(stream->mutex);
    stream->device = &device;
    stream->flags = flags;
    stream->priority = priority;
    stream->id = ++stream_count;
    stream->jitter = r.settings.jitter ? r.settings.jitter * 2654435761u + stream->id * 40503u : 0;
    stream->alive = true;
    device.streams.push_back(stream);
    return stream;
}

CUstream_st *find_stream(cudaStream_t stream) { return find_stream(stream, current_device()); }

CUstream_st *find_stream(cudaStream_t stream, int index)
{
    if (stream && stream != cudaStreamLegacy) {
        std::lock_guard<std::mutex> lock(stream->mutex);
        return stream->alive ? stream : nullptr;
    }
    Device &device = *device_at(index);
    if (CUstream_st *existing = device.default_stream) return existing;
    static std::mutex creation;
    std::lock_guard<std::mutex> lock(creation);
    if (!device.default_stream) device.default_stream = new_stream(device, cudaStreamDefault, 0);
    return device.default_stream;
}

void retire_stream(CUstream_st *stream)
{
    Device &device = *stream->device;
    {
        std::lock_guard<std::mutex> lock(device.mutex);
        auto place = std::find(device.streams.begin(), device.streams.end(), stream);
        if (place == device.streams.end()) return;
        device.streams.erase(place);
    }
    {
        std::lock_guard<std::mutex> lock(stream->mutex);
        stream->alive = false;
        stream->wake.notify_one();
    }
    std::lock_guard<std::mutex> lock(runtime().mutex);
    runtime().retired.push_back(stream);
}

/* At the end of the process: drops queued items and gives running ones a second to finish. Returns
 * whether they did. */
bool stop_streams()
{
    Runtime &r = runtime();
    std::vector<CUstream_st *> streams;
    for (auto &device : r.devices) {
        std::lock_guard<std::mutex> lock(device->mutex);
        streams.insert(streams.end(), device->streams.begin(), device->streams.end());
    }
    {
        std::lock_guard<std::mutex> lock(r.mutex);
        streams.insert(streams.end(), r.retired.begin(), r.retired.end());
    }
    for (CUstream_st *stream : streams) {
        std::lock_guard<std::mutex> lock(stream->mutex);
        stream->wake.notify_all();
        stream->progress.notify_all();
    }
    std::unique_lock<std::mutex> lock(threads_mutex);
    return threads_gone.wait_for(lock, std::chrono::seconds(1), [] { return threads == 0; });
}

} // namespace lt_sim

using namespace lt_sim;

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority)
{
    if (cudaError_t error = begin_on_device(cudaErrorMemoryAllocation)) return error;
    if (!stream || flags & ~cudaStreamNonBlocking) return finish(cudaErrorInvalidValue);
    priority = std::min(0, std::max(priority, -5));
    *stream = new_stream(*device_at(current_device()), flags, priority);
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags)
{
    return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    if (cudaError_t error = begin(cudaErrorUnknown)) return error;
    *least = 0;
    *greatest = -5;
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t handle)
{
    if (cudaError_t error = begin(cudaErrorInvalidResourceHandle)) return error;
    CUstream_st *stream = handle && handle != cudaStreamLegacy ? find_stream(handle) : nullptr;
    if (!stream || stream == stream->device->default_stream)
        return finish(cudaErrorInvalidResourceHandle);
    retire_stream(stream);
    return cudaSuccess;
}

/* The number of polls depends on timing, so a query that returns cudaErrorNotReady is not counted
 * as a call (runtime.cpp): the same program makes the same number of calls. */
cudaError_t cudaStreamQuery(cudaStream_t handle)
{
    if (CUstream_st *busy = usable() ? find_stream(handle) : nullptr)
        if (!busy->recording && !is_done(newest(busy))) {
            if (cudaError_t error = refuse_unsafe()) return finish(error);
            demand(newest(busy));
            return finish(cudaErrorNotReady);
        }
    if (cudaError_t error = begin_on_device(cudaErrorLaunchFailure)) return error;
    CUstream_st *stream = find_stream(handle);
    if (!stream) return finish(cudaErrorInvalidResourceHandle);
    if (cudaError_t error = refuse_recording(stream)) return finish(error);
    if (cudaError_t error = refuse_unsafe()) return finish(error);
    if (!is_done(newest(stream))) return finish(cudaErrorNotReady);
    return finish((cudaError_t)stream->device->error.load());
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle)
{
    if (cudaError_t error = begin_on_device(cudaErrorLaunchFailure)) return error;
    CUstream_st *stream = find_stream(handle);
    if (!stream) return finish(cudaErrorInvalidResourceHandle);
    if (cudaError_t error = refuse_recording(stream)) return finish(error);
    if (cudaError_t error = refuse_unsafe()) return finish(error);
    sync(newest(stream));
    return finish((cudaError_t)stream->device->error.load());
}

cudaError_t cudaStreamGetPriority(cudaStream_t handle, int *priority)
{
    if (cudaError_t error = begin(cudaErrorInvalidResourceHandle)) return error;
    CUstream_st *stream = find_stream(handle);
    if (!stream) return finish(cudaErrorInvalidResourceHandle);
    *priority = stream->priority;
    return cudaSuccess;
}

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned int *flags)
{
    if (cudaError_t error = begin(cudaErrorInvalidResourceHandle)) return error;
    CUstream_st *stream = find_stream(handle);
    if (!stream) return finish(cudaErrorInvalidResourceHandle);
    *flags = stream->flags;
    return cudaSuccess;
}

namespace {

/* Runs on the stream's thread, without access to device memory. A host function must not call CUDA.
 */
class HostFunction final : public Work {
  public:
    HostFunction(cudaHostFn_t function, void *data) : function(function), data(data) {}
    cudaError_t run() override
    {
        function(data);
        return cudaSuccess;
    }

  private:
    cudaHostFn_t function;
    void *data;
};

} // namespace

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void *data)
{
    if (cudaError_t error = begin_on_device(cudaErrorMemoryAllocation)) return error;
    CUstream_st *stream = find_stream(handle);
    if (!stream) return finish(cudaErrorInvalidResourceHandle);
    if (!function) return finish(cudaErrorInvalidValue);
    submit(stream, new HostFunction(function, data));
    return cudaSuccess;
}
