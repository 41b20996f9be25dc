/* launch.cpp - launching kernels and sharing a grid's blocks among OS threads.
 *
 * A wrong configuration is the launch's own error. A small grid runs on the stream's thread; a large one
 * is joined by helpers, which take blocks until none is left. Dynamic shared memory is filled with 0xFF
 * before each block, so that what a kernel reads unwritten is never a plausible zero. */
#include "sim.h"

#include <algorithm>
#include <deque>
#include <stdio.h>
#include <stdlib.h>
#include <thread>

namespace lt_sim {

__thread Context context;

namespace {

/* Below this many threads of a grid, waking a helper costs more than it saves. */
constexpr uint64_t small_grid = 8192;

/* A grid being run; lives on the stack of the stream's thread. */
struct Grid {
    const Kernel *kernel;
    uint64_t blocks, share;
    std::atomic<uint64_t> next{0};
    int helpers = 0; /* guarded by the pool's mutex */
};

struct Pool {
    std::mutex mutex;
    std::condition_variable work, left;
    std::deque<Grid *> grids; /* an entry per helper that may join */
    std::vector<std::thread> threads;
    bool stop = false;
};

Pool &pool()
{
    static Pool *instance = new Pool;
    return *instance;
}

/* One per OS thread, grown when a kernel wants more. */
struct SharedMemory {
    unsigned char *data = nullptr;
    size_t size = 0;
    ~SharedMemory() { free(data); }
    unsigned char *poisoned(size_t bytes)
    {
        if (bytes > size) {
            free(data);
            data = static_cast<unsigned char *>(aligned_alloc(256, (bytes + 255) / 256 * 256));
            size = data ? bytes : 0;
        }
        if (data) memset(data, 0xff, bytes);
        return data;
    }
};

void run_block_at(const Kernel &kernel, uint64_t index)
{
    static thread_local SharedMemory shared;
    dim3 grid = kernel.grid;
    context.block = {(unsigned)(index % grid.x), (unsigned)(index / grid.x % grid.y),
                     (unsigned)(index / grid.x / grid.y)};
    if (kernel.dynamic_shared) context.dynamic_shared = shared.poisoned(kernel.dynamic_shared);
    try {
        kernel.run_block();
    } catch (const Trap &) {
        kernel.error = cudaErrorLaunchFailure;
    }
}

void take_blocks(Grid &grid)
{
    const Kernel &kernel = *grid.kernel;
    context = Context();
    context.block_size = kernel.block;
    context.grid_size = kernel.grid;
    for (;;) {
        uint64_t first = grid.next.fetch_add(grid.share), last = std::min(first + grid.share, grid.blocks);
        if (first >= last) return;
        for (uint64_t i = first; i < last && !kernel.error; i++) run_block_at(kernel, i);
    }
}

void help()
{
    Pool &p = pool();
    std::unique_lock<std::mutex> lock(p.mutex);
    for (;;) {
        p.work.wait(lock, [&] { return p.stop || !p.grids.empty(); });
        if (p.stop) return;
        Grid *grid = p.grids.front();
        p.grids.pop_front();
        grid->helpers++;
        lock.unlock();
        take_blocks(*grid);
        lock.lock();
        if (--grid->helpers == 0) p.left.notify_all();
    }
}

void run_with_helpers(Grid &grid, int helpers)
{
    Pool &p = pool();
    {
        std::lock_guard<std::mutex> lock(p.mutex);
        if (p.threads.empty() && !p.stop)
            for (int i = 1; i < runtime().settings.threads; i++) p.threads.emplace_back(help);
        p.grids.insert(p.grids.end(), (size_t)helpers, &grid);
    }
    p.work.notify_all();
    take_blocks(grid);
    std::unique_lock<std::mutex> lock(p.mutex);
    p.grids.erase(std::remove(p.grids.begin(), p.grids.end(), &grid), p.grids.end());
    p.left.wait(lock, [&] { return grid.helpers == 0; });
}

bool valid(const Kernel &kernel)
{
    dim3 g = kernel.grid, b = kernel.block;
    if (!g.x || !g.y || !g.z || !b.x || !b.y || !b.z) return false;
    if (g.x > 0x7fffffffu || g.y > 65535 || g.z > 65535) return false;
    if (b.x > 1024 || b.y > 1024 || b.z > 64 || (uint64_t)b.x * b.y * b.z > 1024) return false;
    return kernel.dynamic_shared <= default_shared_limit;
}

cudaError_t launch(Kernel *kernel, CUstream_st *stream)
{
    if (!stream || stream->device->index != current_device()) return cudaErrorInvalidResourceHandle;
    if (!valid(*kernel)) return cudaErrorInvalidConfiguration;
    return cudaSuccess;
}

} // namespace

void stop_pool()
{
    Pool &p = pool();
    {
        std::lock_guard<std::mutex> lock(p.mutex);
        p.stop = true;
    }
    p.work.notify_all();
    for (std::thread &thread : p.threads) thread.join();
    p.threads.clear();
}

cudaError_t Kernel::run()
{
    Grid work;
    work.kernel = this;
    work.blocks = (uint64_t)grid.x * grid.y * grid.z;
    uint64_t threads = work.blocks * block.x * block.y * block.z;
    int workers = threads < small_grid ? 1 : runtime().settings.threads;
    workers = (int)std::min<uint64_t>((uint64_t)workers, work.blocks);
    work.share = workers == 1 ? work.blocks : std::max<uint64_t>(1, work.blocks / (8 * (uint64_t)workers));
    if (workers == 1)
        take_blocks(work);
    else
        run_with_helpers(work, workers - 1);
    return (cudaError_t)error.load();
}

cudaError_t submit_kernel(Kernel *kernel, dim3 grid, dim3 block, size_t dynamic_shared, cudaStream_t handle)
{
    kernel->grid = grid;
    kernel->block = block;
    kernel->dynamic_shared = dynamic_shared;
    cudaError_t error = begin_on_device(cudaErrorLaunchOutOfResources);
    if (!error) error = finish(launch(kernel, find_stream(handle)));
    if (error) {
        delete kernel;
        return error;
    }
    CUstream_st *stream = find_stream(handle);
    if (kernel_fails()) kernel->error = runtime().settings.kernel_error;
    kernel->devices = 1u << stream->device->index | stream->device->peers;
    uint64_t number = submit(stream, kernel);
    if (!runtime().settings.blocking) return cudaSuccess;
    sync({stream, number});
    return finish((cudaError_t)stream->device->error.load());
}

cudaError_t submit_function(Work *work, cudaStream_t handle)
{
    cudaError_t error = begin_on_device(cudaErrorLaunchOutOfResources);
    CUstream_st *stream = error ? nullptr : find_stream(handle);
    if (!error && !stream) error = finish(cudaErrorInvalidResourceHandle);
    if (error) {
        delete work;
        return error;
    }
    work->devices = 1u << stream->device->index | stream->device->peers;
    submit(stream, work);
    return cudaSuccess;
}

} // namespace lt_sim
