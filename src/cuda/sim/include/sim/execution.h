/* execution.h - execution of simulated kernels: thread indices, launches and synchronization.
 *
 * A few OS threads run the blocks of a grid, each one block at a time. The threads of a block run
 * as a plain loop (LoopKernel), or as fibers (MeetKernel) that can wait for each other at
 * __syncthreads and warp operations. Blocks must not wait for other blocks: they may run one after
 * the other. `context` is thread-local; threadIdx and the like read it. */
#ifndef LT_SIM_EXECUTION_H
#define LT_SIM_EXECUTION_H

#include "api.h"
#include "vector_types.h"

#include <atomic>
#include <stdint.h>
#include <string.h>
#include <tuple>
#include <utility>

namespace lt_sim {

struct Context {
    uint3 thread, block, block_size, grid_size;
    unsigned char *dynamic_shared;
    /* the fibers of the running block; null in kernels that do not synchronize */
    struct Team *team;
    const class Kernel *kernel;
    uint64_t shuffle; /* key of the threads' random order; 0: ascending */
};

/* Not in the static TLS model: the kernels' shared memory is thread-local too, more than the static
 * TLS space of dlopen. */
extern __thread Context context;

/* Thrown by __trap, and by a barrier in a kernel launched as one that does not synchronize. */
struct Trap {};

/* A work item in a stream's queue. `number` counts a stream's items from 1 and is never reset. */
class Work {
  public:
    virtual ~Work();
    virtual cudaError_t run() = 0;

    Work *next = nullptr;
    uint64_t number = 0;
    uint32_t devices = 0;          /* bits of the devices with accessible memory */
    bool joins = true;             /* a stream with it must be joined before a recording ends */
    struct Waits *waits = nullptr; /* items of other streams that must run first (sim.h) */
};

/* Description of a kernel, from its launch. */
struct Site {
    const char *name; /* as written in LT_LAUNCH */
    /* first instruction, in a build with checks (sim/check/), else null */
    const void *code;
    const char *launcher; /* launching function with its template arguments */
    bool wide = false;    /* opted in to the maximum of shared memory */
};

class Kernel : public Work {
  public:
    Kernel(size_t size, size_t parameters) : size(size), parameters(parameters) {}
    cudaError_t run() final;
    virtual void run_block() const = 0;
    /* Only the first error is kept. */
    void fail(cudaError_t with) const
    {
        int none = cudaSuccess;
        error.compare_exchange_strong(none, with);
    }

    dim3 grid, block;
    size_t dynamic_shared = 0;
    Site site = {"", nullptr, "", false};
    const size_t size, parameters; /* bytes: of this object, of the arguments */
    mutable std::atomic<int> error{cudaSuccess};
};

/* Iterates over the threads of the running block: in ascending order, or in random order with
 * LTENSOR_SIM_SEED. */
const unsigned short *shuffled_threads(unsigned count); /* null: ascending order */
class ThreadOrder {
  public:
    explicit ThreadOrder(dim3 size)
        : size(size), left(size.x * size.y * size.z), shuffled(shuffled_threads(left))
    {}
    /* Makes the next thread the running one; false at the end. */
    bool next()
    {
        if (left == 0) return false;
        left--;
        context.thread = index;
        if (shuffled) {
            unsigned thread = shuffled[left];
            context.thread = {thread % size.x, thread / size.x % size.y, thread / size.x / size.y};
        } else if (++index.x == size.x) {
            index.x = 0;
            if (++index.y == size.y) index = {0, 0, index.z + 1};
        }
        return true;
    }

  private:
    dim3 size;
    unsigned left;
    const unsigned short *shuffled;
    uint3 index = {0, 0, 0};
};

/* For kernels that synchronize: a thread's fiber calls run_thread once. */
class ThreadBody {
  public:
    virtual ~ThreadBody() = default;
    virtual void run_thread() const = 0;
};

/* Takes ownership of the work item, also on failure. */
cudaError_t submit_kernel(Kernel *kernel, const Site &site, dim3 grid, dim3 block,
                          size_t dynamic_shared, cudaStream_t stream);
cudaError_t submit_function(Work *work, cudaStream_t stream);
void run_team(const Kernel &kernel, const ThreadBody &body);

/* A kernel's arguments, copied at launch as in CUDA, and the function that runs it for the thread
 * of `context`. Kernels with the same parameter types share one class, which saves compile time:
 * there are thousands of launches. */
template <class... P> class LoopKernel final : public Kernel {
  public:
    explicit LoopKernel(void (*body)(P...), const P &...args)
        : Kernel(sizeof(LoopKernel), (sizeof(P) + ... + 0)), body(body), arguments(args...)
    {}
    void run_block() const override
    {
        for (ThreadOrder order(block); order.next();) std::apply(body, arguments);
    }

  private:
    void (*const body)(P...);
    const std::tuple<P...> arguments;
};

template <class... P> class MeetKernel final : public Kernel, private ThreadBody {
  public:
    explicit MeetKernel(void (*body)(P...), const P &...args)
        : Kernel(sizeof(MeetKernel), (sizeof(P) + ... + 0)), body(body), arguments(args...)
    {}
    void run_block() const override { run_team(*this, *this); }
    void run_thread() const override { std::apply(body, arguments); }

  private:
    void (*const body)(P...);
    const std::tuple<P...> arguments;
};

template <class... P, class... A>
cudaError_t launch(const Site &site, dim3 grid, dim3 block, cudaStream_t stream,
                   void (*kernel)(P...), const A &...args)
{
    return submit_kernel(new LoopKernel<P...>(kernel, args...), site, grid, block, 0, stream);
}

template <class... P, class... A>
cudaError_t launch_meet(const Site &site, dim3 grid, dim3 block, size_t dynamic_shared,
                        cudaStream_t stream, void (*kernel)(P...), const A &...args)
{
    return submit_kernel(new MeetKernel<P...>(kernel, args...), site, grid, block, dynamic_shared,
                         stream);
}

/* The value of LT_INDEX_LIMIT (launch.cuh) in the simulator. */
int64_t index_limit();

/* For the monitor (sim.h): a caching allocator got this memory from cudaMalloc; it must not be used
 * before memory_taken. */
void memory_new(void *pointer, size_t bytes);

/* For the monitor, in stream order: from now on the memory is allocated and uninitialized (taken),
 * or must not be used (given). replayed: if the stream is being recorded, each replay repeats the
 * mark. */
void memory_taken(int device, cudaStream_t stream, void *pointer, size_t bytes, bool replayed);
void memory_given(int device, cudaStream_t stream, void *pointer, size_t bytes, bool replayed);

/* A source line. */
struct Line {
    const char *file;
    int line;
};

void sync_block(Line line);
void sync_warp(unsigned mask);
/* Exchanges values within the warp. Every lane of `mask` passes a value; it returns that of lane
 * `source`, or if source < 0 the ballot of the values' lowest bits. All bits are 1 if `source` does
 * not participate. */
uint64_t exchange(unsigned mask, uint64_t value, int source);
int lane();
/* Every lane of the warp passes the address of its data; the last lane to arrive calls `all` with
 * the 32 addresses. Does not order memory accesses. */
void join_warp(void *own, void (*all)(void *const *lanes));

template <class T> T shuffle(unsigned mask, T value, int source)
{
    static_assert(sizeof(T) <= sizeof(uint64_t), "a warp exchanges at most 8 bytes");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    bits = exchange(mask, bits, source);
    memcpy(&value, &bits, sizeof value);
    return value;
}

} // namespace lt_sim

#define threadIdx (lt_sim::context.thread)
#define blockIdx  (lt_sim::context.block)
#define blockDim  (lt_sim::context.block_size)
#define gridDim   (lt_sim::context.grid_size)

static constexpr int warpSize = 32;

/* File and line identify the barrier in the source: the compiler may duplicate or merge calls. */
static inline void __syncthreads(const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
    lt_sim::sync_block({file, line});
}
static inline void __syncwarp(unsigned mask = 0xffffffffu) { lt_sim::sync_warp(mask); }

template <class T> T __shfl_sync(unsigned mask, T value, int source, int width = 32)
{
    int lane = lt_sim::lane();
    return lt_sim::shuffle(mask, value, (lane & ~(width - 1)) | (source & (width - 1)));
}

template <class T> T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    int lane = lt_sim::lane(), source = lane - (int)delta;
    return lt_sim::shuffle(mask, value, source < (lane & ~(width - 1)) ? lane : source);
}

template <class T> T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    int lane = lt_sim::lane(), source = lane + (int)delta;
    return lt_sim::shuffle(mask, value, source > (lane | (width - 1)) ? lane : source);
}

template <class T> T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32)
{
    int lane = lt_sim::lane(), source = lane ^ lanes;
    return lt_sim::shuffle(mask, value, source > (lane | (width - 1)) ? lane : source);
}

static inline unsigned __ballot_sync(unsigned mask, int predicate)
{
    return (unsigned)lt_sim::exchange(mask, predicate != 0, -1);
}

static inline int __any_sync(unsigned mask, int predicate)
{
    return __ballot_sync(mask, predicate) != 0;
}
static inline int __all_sync(unsigned mask, int predicate)
{
    return __ballot_sync(mask, !predicate) == 0;
}

#endif
