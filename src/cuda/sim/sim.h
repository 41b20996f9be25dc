/* sim.h - what the files of the simulated runtime share.
 *
 * One Runtime lives from the first call to the process's end: the settings from the environment and
 * the devices that CUDA_VISIBLE_DEVICES lets through. A device has an address range of its own,
 * reserved and filled page by page as it is touched, and streams. A stream is a queue with a
 * thread; its works are numbered from 1 and `done` is the number of the last finished one, so
 * "(stream, number)" is all that an event or a wait needs. Streams are never freed, only used
 * again, and numbers go on: an old pair stays true.
 *
 * Locks, outermost first: Runtime::mutex, Device::mutex, CUstream_st::mutex. No lock is held while
 * a work runs. */
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
constexpr size_t wide_shared_limit = 227 * 1024; /* of a block that was allowed it, as on an H100 */
inline size_t shared_limit(const Kernel &kernel)
{
    return kernel.site.wide ? wide_shared_limit : default_shared_limit;
}
/* from CUDA 12.1 on; kernels that a toolkit before that compiles stay below 4096 */
constexpr size_t parameter_limit = 32764;

struct Wait {
    CUstream_st *stream;
    uint64_t number;
};

struct Waits {
    std::vector<Wait> list;
};

/* From the environment, read once. */
struct Settings {
    int gpus = 0;             /* LTENSOR_SIM_GPUS */
    size_t memory = 2u << 30; /* LTENSOR_SIM_MEMORY: bytes, or with K, M or G */
    int threads = 1;          /* LTENSOR_SIM_THREADS: OS threads that share a grid's blocks */
    bool protect = false;     /* LTENSOR_SIM_PROTECT: a device's memory faults but for its works */
    bool blocking = false;    /* CUDA_LAUNCH_BLOCKING */
    bool peer = true;         /* LTENSOR_SIM_PEER=0: no device reaches another's memory */
    /* LTENSOR_SIM_CUDNN: the version of cuDNN, as cudnnGetVersion has it; what it cannot do yet */
    long cudnn = 99999;
    unsigned jitter = 0; /* LTENSOR_SIM_JITTER: seed of the random delays; 0: none */
    bool report = false; /* LTENSOR_SIM_REPORT: at the end, how many calls there were */
    /* LTENSOR_SIM_USED: the file that the first work makes; without one, all seeds are the same */
    std::string used;
    long fault = 0; /* LTENSOR_CUDA_FAULT: which call fails; 0: none */
    /* LTENSOR_SIM_KERNEL_FAULT: which kernel fails while it runs; 0: none */
    long kernel_fault = 0;
    /* LTENSOR_SIM_CHECK: a fault (fault.cpp) fails the process; what GPUs mostly let pass is one,
     * too */
    bool check = false;
    long index_limit =
        1L << 31; /* LTENSOR_SIM_INDEX_LIMIT: from how many elements on indices take 64 bits */
    /* LTENSOR_SIM_SEED: blocks, threads and streams run in an order of chance; 0: in theirs */
    uint64_t seed = 0;
    /* LTENSOR_SIM_KERNEL_ERROR: the number of its error */
    cudaError_t kernel_error = cudaErrorIllegalAddress;
};

struct Device {
    int index = 0;    /* as this process counts */
    int physical = 0; /* as CUDA_VISIBLE_DEVICES counts */

    std::mutex mutex;
    std::atomic<char *> base{nullptr};
    std::map<size_t, size_t> used, unused; /* offset -> bytes */
    size_t used_bytes = 0;
    std::vector<CUstream_st *> streams;                 /* live ones */
    std::atomic<CUstream_st *> default_stream{nullptr}; /* made when first asked for */

    std::atomic<int> error{cudaSuccess}; /* sticky: until cudaDeviceReset */
    std::atomic<uint32_t> peers{0};      /* whose memory it may use, a bit per device */

    /* With LTENSOR_SIM_PROTECT: the memory's protection key, or -1 and how many works have it
     * open. */
    int key = -1;
    std::mutex gate;
    int running = 0;
};

struct Runtime {
    Settings settings;
    std::vector<std::unique_ptr<Device>> devices;
    std::mutex mutex;
    std::vector<CUstream_st *> retired; /* destroyed streams, to be used again */
    std::map<uintptr_t, size_t> pinned; /* host allocations */
    std::atomic<bool> stopping{false};
    cudaError_t state = cudaSuccess; /* what every call returns when there is nothing to use */
};

/* runtime.cpp */
Runtime &runtime();
/* Starts a public call: sets the runtime up, counts the call, and lets it fail with `injected` if
 * it is the one that LTENSOR_CUDA_FAULT names. The second also fails if the current device has. */
cudaError_t begin(cudaError_t injected);
cudaError_t begin_on_device(cudaError_t injected);
/* Whether a call could do anything: there are devices, and the process is neither ending nor a
 * fork. */
bool usable();
/* Called once a launch; whether this kernel is to fail. */
bool kernel_fails();
/* Ends one: remembers the error for cudaGetLastError. */
cudaError_t finish(cudaError_t error);
int current_device();
Device *device_at(int index); /* null if there is none */
void set_device_error(Device &device, cudaError_t error);
void at_fork_child();

/* stream.cpp. submit takes the work over and gives its number; sync waits. */
CUstream_st *new_stream(Device &device, unsigned flags, int priority);
CUstream_st *find_stream(cudaStream_t stream);             /* null: not a live stream */
CUstream_st *find_stream(cudaStream_t stream, int device); /* whose default stream may be meant */
/* recorded: not run, if the stream is being recorded. */
uint64_t submit(CUstream_st *stream, Work *work, bool recorded = true);
void add_wait(Work *work, const Wait &wait);
bool is_done(const Wait &wait);
bool inside_work();               /* whether the calling thread runs one */
cudaError_t run_work(Work &work); /* here and now, with its devices' memory open */
void sync(const Wait &wait);
void sync_device(Device &device);
void demand(const Wait &wait); /* somebody waits for it, or asks whether it is done */
Wait newest(CUstream_st *stream);
void retire_stream(CUstream_st *stream);
bool stop_streams();

/* graph.cpp */
/* What streams are given while they are recorded. Used by the thread that records. */
struct Recording {
    struct Progress {
        /* works, and how many of them another of the streams waits for */
        uint64_t given = 0, awaited = 0;
    };
    CUstream_st *origin = nullptr;
    std::map<CUstream_st *, Progress> streams;
    std::shared_ptr<std::vector<std::unique_ptr<Work>>> works =
        std::make_shared<std::vector<std::unique_ptr<Work>>>();
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
    std::thread::id thread; /* where it began */
    std::atomic<bool> broken{false}, ended{false};
};
/* An event's place in a recording. */
struct Mark {
    std::shared_ptr<Recording> recording;
    CUstream_st *stream = nullptr;
    uint64_t number = 0;
};
void record(CUstream_st *stream, Work *work); /* takes the work over */
/* These give success, unless the call that asks may not happen while a stream is recorded; the
 * recording is broken then. Of this stream; of a call that waits for the device; on the default
 * stream, while one that waits for it is recorded; of an event that was last recorded there; and of
 * calls that CUDA names potentially unsafe, where the recording's mode forbids them to the calling
 * thread. */
cudaError_t refuse_recording(CUstream_st *stream);
cudaError_t refuse_waiting(Device &device);
cudaError_t refuse_legacy(CUstream_st *stream);
cudaError_t refuse_marked(const Mark &mark);
cudaError_t refuse_unsafe();
/* The stream waits for a mark of a recording. */
cudaError_t join_recording(CUstream_st *stream, const Mark &mark);

/* memory.cpp */
Device *owner(const void *pointer); /* null: not device memory */
bool inside_allocation(Device &device, const void *pointer, size_t bytes);
bool is_pinned(const void *pointer);
void free_all(Device &device);
/* While a work runs: memory of these devices may be touched, by this thread. */
void open_memory(uint32_t devices);
void close_memory(uint32_t devices);
uint32_t opened_memory(); /* by this thread now */

/* launch.cpp */
void stop_pool();
/* A number that is the same for the same two, and looks like chance. */
uint64_t mixed(uint64_t a, uint64_t b);

struct Span {
    const char *begin, *end;
};

/* fault.cpp: something that hardware punishes, found by `check`. Of the running thread of the
 * running kernel, and told once for a place in its source; or of a launch. */
__attribute__((format(printf, 3, 4))) void fault_in_kernel(const char *check, const char *place,
                                                           const char *text, ...);
__attribute__((format(printf, 3, 4))) void fault_of_launch(const char *check, const Kernel &kernel,
                                                           const char *text, ...);
std::string thread_text(uint3 block, uint3 thread); /* "block (0, 0, 0), thread (1, 0, 0)" */

/* Who looks on while works run, in a build with checks (sim/check/). Works that are looked on run
 * one at a time. */
class Monitor {
  public:
    virtual ~Monitor() = default;
    virtual void begin_launch(const Kernel &kernel) = 0;
    virtual void end_launch() = 0;
    virtual void begin_block(uint64_t number) = 0;
    /* All threads of the block have come to a barrier; these lanes of a warp have met. */
    virtual void met() = 0;
    virtual void met(unsigned warp, unsigned lanes) = 0;
    /* Device memory: allocated, freed, read or written by what is no kernel, copied. */
    virtual void allocated(const void *pointer, size_t bytes) = 0;
    virtual void freed(const void *pointer, size_t bytes) = 0;
    virtual void written(const void *pointer, size_t bytes) = 0;
    virtual void copied(const void *dst, const void *src, size_t bytes) = 0;
    /* call: the name of what reads. */
    virtual void read(const char *call, const void *pointer, size_t bytes) = 0;
    /* Faults that were told are told again. */
    virtual void forget() = 0;
    std::recursive_mutex mutex;      /* held by the work that runs */
    Span stack = {nullptr, nullptr}; /* of the running thread of the running kernel */
};
extern Monitor *monitor; /* null: none */
/* A work holds this while it runs. */
class Watched {
  public:
    Watched()
    {
        if (monitor) monitor->mutex.lock();
    }
    ~Watched()
    {
        if (monitor) monitor->mutex.unlock();
    }
    Watched(const Watched &) = delete;
    Watched &operator=(const Watched &) = delete;
};

} // namespace lt_sim

struct CUstream_st {
    lt_sim::Device *device = nullptr;
    unsigned flags = 0;
    int priority = 0;
    unsigned id = 0;
    bool alive = false;   /* guarded by mutex, as are all up to `asleep` */
    bool started = false; /* a thread serves it */
    bool busy = false;    /* somebody runs a work */
    bool asleep = false;
    lt_sim::Work *head = nullptr, *tail = nullptr;
    unsigned jitter = 0;
    std::shared_ptr<lt_sim::Recording> recording; /* null: works are run */

    std::mutex mutex;
    std::condition_variable wake, progress, demanded;
    uint64_t demand = 0; /* the highest number that was asked for */
    std::atomic<uint64_t> last{0}, done{0};
};

/* For tests: the nth call from now fails (0: none does); how many calls there were. */
extern "C" void lt_sim_set_fault(long n);
extern "C" long lt_sim_calls(void);
/* How many faults were found, the text of each place where, and from now on none. */
extern "C" long lt_sim_faults(void);
extern "C" const char *lt_sim_fault(long i);
extern "C" void lt_sim_forget_faults(void);

#endif
