/* execution.h - what a simulated kernel sees of its thread, and how one is put on a stream.
 *
 * A grid's blocks are shared out among a few OS threads; each runs one block at a time. The threads of a
 * block are a plain loop (LoopKernel) or fibers (MeetKernel) which wait for each other at __syncthreads
 * and at warp operations. Blocks must not wait for other blocks: they may run one after the other.
 * `context` belongs to the OS thread and is what threadIdx and its like read. */
#ifndef LT_SIM_EXECUTION_H
#define LT_SIM_EXECUTION_H

#include "api.h"
#include "vector_types.h"

#include <atomic>
#include <stdint.h>
#include <string.h>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace lt_sim {

struct Context {
    uint3 thread, block, block_size, grid_size;
    unsigned char *dynamic_shared;
    struct Team *team; /* the fibers of the running block; null in kernels whose threads never meet */
};

/* Not of the static TLS model: the kernels' shared memory is thread-local too, more than dlopen has room for. */
extern __thread Context context;

/* Thrown by __trap and by a barrier in a kernel launched as one whose threads never meet. */
struct Trap {};

struct Wait {
    struct CUstream_st *stream;
    uint64_t number;
};

/* A piece of work in a stream's queue. `number` counts a stream's works from 1 and never starts again. */
class Work {
  public:
    virtual ~Work() = default;
    virtual cudaError_t run() = 0;

    Work *next = nullptr;
    uint64_t number = 0;
    uint32_t devices = 0;    /* whose memory it may touch, a bit per device */
    std::vector<Wait> waits; /* works of other streams that come first */
};

class Kernel : public Work {
  public:
    cudaError_t run() final;
    virtual void run_block() const = 0;

    dim3 grid, block;
    size_t dynamic_shared;
    mutable std::atomic<int> error{cudaSuccess};
};

/* For kernels that meet: the fiber that runs a thread calls this once. */
class ThreadBody {
  public:
    virtual ~ThreadBody() = default;
    virtual void run_thread() const = 0;
};

/* Takes the work over, also when it fails. */
cudaError_t submit_kernel(Kernel *kernel, dim3 grid, dim3 block, size_t dynamic_shared, cudaStream_t stream);
cudaError_t submit_function(Work *work, cudaStream_t stream);
void run_team(const Kernel &kernel, const ThreadBody &body);

/* A kernel's arguments, copied as CUDA does when it is launched, and the function that runs it with them for the thread of
 * `context`. Kernels of the same arguments are of one class: what a launch makes the compiler do counts, there are thousands. */
template <class... A> class LoopKernel final : public Kernel {
  public:
    explicit LoopKernel(void (*body)(const A &...), const A &...args) : body(body), arguments(args...) {}
    void run_block() const override
    {
        for (unsigned z = 0; z < block.z; z++)
            for (unsigned y = 0; y < block.y; y++)
                for (unsigned x = 0; x < block.x; x++) {
                    context.thread = {x, y, z};
                    std::apply(body, arguments);
                }
    }

  private:
    void (*const body)(const A &...);
    const std::tuple<A...> arguments;
};

template <class... A> class MeetKernel final : public Kernel, private ThreadBody {
  public:
    explicit MeetKernel(void (*body)(const A &...), const A &...args) : body(body), arguments(args...) {}
    void run_block() const override { run_team(*this, *this); }
    void run_thread() const override { std::apply(body, arguments); }

  private:
    void (*const body)(const A &...);
    const std::tuple<A...> arguments;
};

template <class F> class FunctionWork final : public Work {
  public:
    explicit FunctionWork(F &&f) : f(std::move(f)) {}
    cudaError_t run() override
    {
        f();
        return cudaSuccess;
    }

  private:
    F f;
};

/* A host function over device memory, in the order of a stream: the CUB and cuBLAS stand-ins. */
template <class F> cudaError_t enqueue(cudaStream_t stream, F f)
{
    return submit_function(new FunctionWork<F>(std::move(f)), stream);
}

template <class F, class... A>
void launch(dim3 grid, dim3 block, cudaStream_t stream, F f, const A &...args)
{
    submit_kernel(new LoopKernel<std::decay_t<A>...>(f, args...), grid, block, 0, stream);
}

template <class F, class... A>
void launch_meet(dim3 grid, dim3 block, size_t dynamic_shared, cudaStream_t stream, F f, const A &...args)
{
    submit_kernel(new MeetKernel<std::decay_t<A>...>(f, args...), grid, block, dynamic_shared, stream);
}

void sync_block();
void sync_warp(unsigned mask);
/* Every lane of `mask` gives a value and gets that of lane `source`, or, source < 0, the ballot of the
 * values' lowest bits. A source that takes no part gives 0xFF bytes. */
uint64_t exchange(unsigned mask, uint64_t value, int source);
int lane();

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

static inline void __syncthreads() { lt_sim::sync_block(); }
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

static inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
static inline int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, !predicate) == 0; }

#endif
