/* sim.h - internal header of the simulated CUDA runtime.
 *
 * - One Runtime exists from the first call to the end of the process: the settings from the
 *   environment and the devices selected by CUDA_VISIBLE_DEVICES.
 * - A device has streams and a separate address range, reserved at first use; pages are allocated
 *   on first access.
 * - A stream is a queue with a thread. Its work items (Work) are numbered from 1, and `done` is the
 *   number of the last finished one, so "(stream, number)" identifies the point that an event or a
 *   wait refers to.
 * - Streams are never freed, only reused, and their numbers continue: an old pair stays valid.
 *
 * Lock order, outermost first: Runtime::mutex, Device::mutex, CUstream_st::mutex. No lock is held
 * while a work item runs. */
#ifndef LT_SIM_H
#define LT_SIM_H

#include <cuda_runtime.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace lt_sim {

constexpr int max_devices = 16;
constexpr size_t allocation_unit = 512;
constexpr size_t default_shared_limit = 48 * 1024;
constexpr size_t wide_shared_limit = 227 * 1024; /* after opting in, as on an H100 */
inline size_t shared_limit(const Kernel &kernel)
{
    return kernel.site.wide ? wide_shared_limit : default_shared_limit;
}
/* since CUDA 12.1; kernels compiled by an older toolkit stay below 4096 */
constexpr size_t parameter_limit = 32764;

struct Wait {
    CUstream_st *stream;
    uint64_t number;
};

struct Waits {
    std::vector<Wait> list;
};

/* Settings from the environment, read once. */
struct Settings {
    int gpus = 0;             /* LTENSOR_SIM_GPUS */
    size_t memory = 2u << 30; /* LTENSOR_SIM_MEMORY: bytes, or with suffix K, M or G */
    int threads = 1;          /* LTENSOR_SIM_THREADS: OS threads that run the blocks of a grid */
    bool protect = false;     /* LTENSOR_SIM_PROTECT: device memory faults outside work items */
    bool blocking = false;    /* CUDA_LAUNCH_BLOCKING */
    bool peer = true;         /* LTENSOR_SIM_PEER=0: no peer access between devices */
    /* LTENSOR_SIM_CUDNN: version of the simulated cuDNN, as cudnnGetVersion returns it; features of
     * newer versions are unsupported */
    long cudnn = 99999;
    unsigned jitter = 0; /* LTENSOR_SIM_JITTER: seed of random delays; 0: none */
    bool report = false; /* LTENSOR_SIM_REPORT: print the number of calls at exit */
    /* LTENSOR_SIM_USED: file created by the first work item; if it is missing, the seed had no
     * effect */
    std::string used;
    long fault = 0; /* LTENSOR_CUDA_FAULT: the n-th call fails; 0: none */
    /* LTENSOR_SIM_KERNEL_FAULT: the n-th kernel fails while it runs; 0: none */
    long kernel_fault = 0;
    /* LTENSOR_SIM_CHECK: faults (fault.cpp) fail the process, including ones that GPUs usually
     * tolerate */
    bool check = false;
    long index_limit =
        1L << 31; /* LTENSOR_SIM_INDEX_LIMIT: element count from which indices have 64 bits */
    /* LTENSOR_SIM_SEED: blocks, threads and streams run in random order; 0: in ascending order */
    uint64_t seed = 0;
    /* LTENSOR_SIM_KERNEL_ERROR: error code of that kernel */
    cudaError_t kernel_error = cudaErrorIllegalAddress;
};

struct Device {
    int index = 0;    /* number in this process */
    int physical = 0; /* number in CUDA_VISIBLE_DEVICES */

    std::mutex mutex;
    std::atomic<char *> base{nullptr};
    std::map<size_t, size_t> used, unused; /* offset -> bytes */
    size_t used_bytes = 0;
    std::vector<CUstream_st *> streams;                 /* not destroyed */
    std::atomic<CUstream_st *> default_stream{nullptr}; /* created on first use */

    std::atomic<int> error{cudaSuccess}; /* sticky: until cudaDeviceReset */
    std::atomic<uint32_t> peers{0};      /* bits of the devices with accessible memory */

    /* With LTENSOR_SIM_PROTECT. key: the memory's protection key, or -1; then `running` counts the
     * work items that have the memory open. */
    int key = -1;
    std::mutex gate;
    int running = 0;
};

struct Runtime {
    Settings settings;
    std::vector<std::unique_ptr<Device>> devices;
    std::mutex mutex;
    std::vector<CUstream_st *> retired; /* destroyed streams, for reuse */
    std::map<uintptr_t, size_t> pinned; /* host allocations */
    std::atomic<bool> stopping{false};
    cudaError_t state = cudaSuccess; /* returned by every call if there is no device */
};

/* runtime.cpp */
Runtime &runtime();
/* Starts a public call: initializes the runtime, counts the call, and returns `injected` if
 * LTENSOR_CUDA_FAULT selects this call. begin_on_device also returns the current device's sticky
 * error. */
cudaError_t begin(cudaError_t injected);
cudaError_t begin_on_device(cudaError_t injected);
/* Whether there are devices, and the process neither exits nor is a forked child. */
bool usable();
/* Called once per launch: whether this kernel is to fail. */
bool kernel_fails();
/* Ends a public call: stores the error for cudaGetLastError and returns it. */
cudaError_t finish(cudaError_t error);
int current_device();
Device *device_at(int index); /* null if there is none */
void set_device_error(Device &device, cudaError_t error);
void at_fork_child();

/* stream.cpp. submit takes ownership of the work item and returns its number; sync waits. */
CUstream_st *new_stream(Device &device, unsigned flags, int priority);
CUstream_st *find_stream(cudaStream_t stream); /* null: not a live stream */
/* null handle: default stream of `device` */
CUstream_st *find_stream(cudaStream_t stream, int device);
/* recorded: if the stream is being recorded, record the item instead of running it. */
uint64_t submit(CUstream_st *stream, Work *work, bool recorded = true);
void add_wait(Work *work, const Wait &wait);
bool is_done(const Wait &wait);
bool inside_work();               /* whether the calling thread runs one */
cudaError_t run_work(Work &work); /* in this thread, with its devices' memory open */
void sync(const Wait &wait);
void sync_device(Device &device);
void demand(const Wait &wait); /* announces that a thread waits for it or queries it */
Wait newest(CUstream_st *stream);
void retire_stream(CUstream_st *stream);
bool stop_streams();

/* graph.cpp */
/* A recording (capture): the work items submitted to its streams. Used by the recording thread. */
struct Recording {
    struct Progress {
        /* number of items, and the highest one that another of its streams waits for */
        uint64_t given = 0, awaited = 0;
    };
    CUstream_st *origin = nullptr;
    std::map<CUstream_st *, Progress> streams;
    std::shared_ptr<std::vector<std::unique_ptr<Work>>> works =
        std::make_shared<std::vector<std::unique_ptr<Work>>>();
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
    std::thread::id thread; /* that began it */
    std::atomic<bool> broken{false}, ended{false};
};
/* The position of an event in a recording. */
struct Mark {
    std::shared_ptr<Recording> recording;
    CUstream_st *stream = nullptr;
    uint64_t number = 0;
};
void record(CUstream_st *stream, Work *work); /* takes ownership */
/* Checks whether a call is allowed during recordings; if not, they return an error and invalidate
 * the recording.
 * - refuse_recording: calls that are not allowed on a recorded stream.
 * - refuse_waiting: calls that wait for the device.
 * - refuse_legacy: work on the default stream while a blocking stream of the device is recorded.
 * - refuse_marked: use of an event that was last recorded in a recording.
 * - refuse_unsafe: calls that CUDA documents as potentially unsafe, if the capture mode forbids
 *   them to the calling thread. */
cudaError_t refuse_recording(CUstream_st *stream);
cudaError_t refuse_waiting(Device &device);
cudaError_t refuse_legacy(CUstream_st *stream);
cudaError_t refuse_marked(const Mark &mark);
cudaError_t refuse_unsafe();
/* Makes the stream wait for a mark of a recording, and so join the recording. */
cudaError_t join_recording(CUstream_st *stream, const Mark &mark);

/* memory.cpp */
Device *owner(const void *pointer); /* null: not device memory */
bool inside_allocation(Device &device, const void *pointer, size_t bytes);
bool is_pinned(const void *pointer);
void free_all(Device &device);
/* Around a work item: the calling thread can access the memory of these devices. */
void open_memory(uint32_t devices);
void close_memory(uint32_t devices);
uint32_t opened_memory(); /* bits of the devices open in this thread */

/* launch.cpp */
void stop_pool();
/* Hash of two numbers, used as a pseudo-random number. */
uint64_t mixed(uint64_t a, uint64_t b);

struct Span {
    const char *begin, *end;
};

/* fiber.cpp: ends the running thread of a kernel, without unwinding its stack. */
[[noreturn]] void drop_thread();

/* fault.cpp: report a fault that `check` found, in the running thread of the running kernel (once
 * per `place` in the source) or in a launch. */
__attribute__((format(printf, 3, 4))) void fault_in_kernel(const char *check, const char *place,
                                                           const char *text, ...);
__attribute__((format(printf, 3, 4))) void fault_of_launch(const char *check, const Kernel &kernel,
                                                           const char *text, ...);
std::string thread_text(uint3 block, uint3 thread); /* "block (0, 0, 0), thread (1, 0, 0)" */

/* Observes work items (sim/check/), which then run one at a time: all of them in a build with
 * checks, else users' kernels. */
class Monitor {
  public:
    virtual ~Monitor() = default;
    virtual void begin_launch(const Kernel &kernel) = 0;
    virtual void end_launch() = 0;
    virtual void begin_block(uint64_t number) = 0;
    /* All threads of the block have passed a barrier; these lanes of a warp have synchronized. */
    virtual void met() = 0;
    virtual void met(unsigned warp, unsigned lanes) = 0;
    /* Device memory was allocated, freed, written by an operation other than a kernel, or
     * copied. */
    virtual void allocated(const void *pointer, size_t bytes) = 0;
    virtual void freed(const void *pointer, size_t bytes) = 0;
    virtual void written(const void *pointer, size_t bytes) = 0;
    virtual void copied(const void *dst, const void *src, size_t bytes) = 0;
    /* Device memory is read by a library call of this name. */
    virtual void read(const char *call, const void *pointer, size_t bytes) = 0;
    /* Faults that were reported before are reported again. */
    virtual void forget() = 0;
    std::recursive_mutex mutex;      /* held by the running work item */
    Span stack = {nullptr, nullptr}; /* of the running thread of the running kernel */
};
extern Monitor *monitor; /* null: a build without checks */
/* The monitor of a kernel; in a build without checks, only users' kernels have one. */
Monitor *monitor_of(const Kernel &kernel);
/* Held by a work item while it runs. */
class Watched {
  public:
    explicit Watched(Monitor *by = monitor) : by(by)
    {
        if (by) by->mutex.lock();
    }
    ~Watched()
    {
        if (by) by->mutex.unlock();
    }
    Watched(const Watched &) = delete;
    Watched &operator=(const Watched &) = delete;

  private:
    Monitor *const by;
};

} // namespace lt_sim

struct CUstream_st {
    lt_sim::Device *device = nullptr;
    unsigned flags = 0;
    int priority = 0;
    unsigned id = 0;
    bool alive = false;   /* guarded by mutex, as are the members up to `asleep` */
    bool started = false; /* its thread exists */
    bool busy = false;    /* a thread runs one of its items */
    bool asleep = false;
    lt_sim::Work *head = nullptr, *tail = nullptr;
    unsigned jitter = 0;
    std::shared_ptr<lt_sim::Recording> recording; /* null: not recorded */

    std::mutex mutex;
    std::condition_variable wake, progress, demanded;
    uint64_t demand = 0; /* highest number waited for or queried */
    std::atomic<uint64_t> last{0}, done{0};
};

/* For tests: makes the n-th call from now on fail (0: none); returns the number of calls so far. */
extern "C" void lt_sim_set_fault(long n);
extern "C" long lt_sim_calls(void);
/* Number of faults found; text of the i-th one; forgets all of them. */
extern "C" long lt_sim_faults(void);
extern "C" const char *lt_sim_fault(long i);
extern "C" void lt_sim_forget_faults(void);

#endif
