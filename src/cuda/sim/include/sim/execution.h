/* execution.h - what a simulated kernel sees of its thread, and how one is put on a stream.
 *
 * A grid's blocks are shared out among a few OS threads; each runs one block at a time. The threads
 * of a block are a plain loop (LoopKernel) or fibers (MeetKernel) which wait for each other at
 * __syncthreads and at warp operations. Blocks must not wait for other blocks: they may run one
 * after the other. `context` belongs to the OS thread and is what threadIdx and its like read. */
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
    /* the fibers of the running block; null in kernels whose threads never meet */
    struct Team *team;
    const class Kernel *kernel;
    uint64_t shuffle; /* what the block's threads are shuffled by; 0: they run in their order */
};

/* Not of the static TLS model: the kernels' shared memory is thread-local too, more than dlopen has
 * room for. */
extern __thread Context context;

/* Thrown by __trap and by a barrier in a kernel launched as one whose threads never meet. */
struct Trap {};

/* A piece of work in a stream's queue. `number` counts a stream's works from 1 and never starts
 * again. */
class Work {
  public:
    virtual ~Work();
    virtual cudaError_t run() = 0;

    Work *next = nullptr;
    uint64_t number = 0;
    uint32_t devices = 0;          /* whose memory it may touch, a bit per device */
    bool joins = true;             /* a stream with it is to be joined before a recording ends */
    struct Waits *waits = nullptr; /* works of other streams that come first (sim.h) */
};

/* What a launch tells of its kernel. */
struct Site {
    const char *name; /* as it stands in LT_LAUNCH */
    /* its first instruction, in a build with checks (sim/check/); else null */
    const void *code;
    const char *launcher; /* the function that launches it, template arguments and all */
    bool wide = false;    /* it was allowed all shared memory that there is */
};

class Kernel : public Work {
  public:
    Kernel(size_t size, size_t parameters) : size(size), parameters(parameters) {}
    cudaError_t run() final;
    virtual void run_block() const = 0;
    /* The first error stays. */
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

/* The threads of the running block one after the other: in their order, or as LTENSOR_SIM_SEED
 * shuffles them. */
const unsigned short *shuffled_threads(unsigned count); /* null: in their order */
class ThreadOrder {
  public:
    explicit ThreadOrder(dim3 size)
        : size(size), left(size.x * size.y * size.z), shuffled(shuffled_threads(left))
    {}
    /* Makes the next one the running one; false: there is none. */
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

/* For kernels that meet: the fiber that runs a thread calls this once. */
class ThreadBody {
  public:
    virtual ~ThreadBody() = default;
    virtual void run_thread() const = 0;
};

/* Takes the work over, also when it fails. */
cudaError_t submit_kernel(Kernel *kernel, const Site &site, dim3 grid, dim3 block,
                          size_t dynamic_shared, cudaStream_t stream);
cudaError_t submit_function(Work *work, cudaStream_t stream);
void run_team(const Kernel &kernel, const ThreadBody &body);

/* A kernel's arguments, copied as CUDA does when it is launched, and the function that runs it with
 * them for the thread of `context`. Kernels of the same parameters are of one class: what a launch
 * makes the compiler do counts, there are thousands. */
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

/* What LT_INDEX_LIMIT (launch.cuh) is here. */
int64_t index_limit();

/* For a monitor (sim.h): a cache of memory has this from cudaMalloc, and may not be used before it
 * is taken. */
void memory_new(void *pointer, size_t bytes);

/* From this point of the stream's work on, the memory may be used and holds nothing, or may not be
 * used. `replayed`: so it is in a graph too, where the stream is being recorded. */
void memory_taken(int device, cudaStream_t stream, void *pointer, size_t bytes, bool replayed);
void memory_given(int device, cudaStream_t stream, void *pointer, size_t bytes, bool replayed);

/* A line of source. */
struct Line {
    const char *file;
    int line;
};

void sync_block(Line line);
void sync_warp(unsigned mask);
/* Every lane of `mask` gives a value and gets that of lane `source`, or, source < 0, the ballot of
 * the values' lowest bits. A source that takes no part gives 0xFF bytes. */
uint64_t exchange(unsigned mask, uint64_t value, int source);
int lane();
/* Every lane of a whole warp gives the address of something of its own; the last to come does `all`
 * with those of the 32 lanes. Orders no memory. */
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

/* The place is that in the source: the compiler may have copied the call, or made one of two. */
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
