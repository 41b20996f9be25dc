/* launch.cpp - launches kernels and distributes the blocks of a grid over OS threads.
 *
 * - The order of blocks, and of threads between barriers, is undefined: with LTENSOR_SIM_SEED it is
 *   random.
 * - An invalid configuration is an error of the launch call itself.
 * - A small grid runs on the stream's thread. For a large one, helper threads also take blocks from
 *   a common counter (dynamic schedule).
 * - Dynamic shared memory is filled with 0xFF before each block, so that uninitialized values are
 *   never plausible zeros. */
#include "sim.h"
#include "user/kernel.h"

#include <algorithm>
#include <deque>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <thread>

namespace lt_sim {

__thread Context context;
Monitor *monitor = nullptr;

uint64_t mixed(uint64_t a, uint64_t b)
{
    uint64_t x = a * 0x9e3779b97f4a7c15u + b + 0x632be59bd9b4e019u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

const unsigned short *shuffled_threads(unsigned count)
{
    static thread_local unsigned short order[1024];
    if (!context.shuffle) return nullptr;
    for (unsigned i = 0; i < count; i++) {
        unsigned other = (unsigned)(mixed(context.shuffle, i) % (i + 1));
        order[i] = order[other];
        order[other] = (unsigned short)i;
    }
    return order;
}

namespace {

std::atomic<uint64_t> launches{0};

/* Random permutation of 0 .. n - 1: the image of i. Four rounds of a Feistel network on the next
 * power of 4, repeated until the result is below n. */
uint64_t shuffled(uint64_t i, uint64_t n, uint64_t key)
{
    unsigned half = 1;
    while (half < 31 && (uint64_t)1 << 2 * half < n) half++;
    const uint64_t mask = ((uint64_t)1 << half) - 1;
    do {
        uint64_t left = i >> half, right = i & mask;
        for (uint64_t round = 0; round < 4; round++) {
            uint64_t next = left ^ (mixed(key + round, right) & mask);
            left = right;
            right = next;
        }
        i = left << half | right;
    } while (i >= n);
    return i;
}

/* For a grid of fewer threads, waking a helper costs more than it saves. */
constexpr uint64_t small_grid = 8192;

/* A running grid; on the stack of the stream's thread. */
struct Grid {
    const Kernel *kernel;
    Monitor *watcher; /* null: the kernel is not checked */
    uint64_t blocks, share;
    uint64_t shuffle; /* 0: blocks run in ascending order */
    uint32_t devices; /* bits of the devices with accessible memory */
    std::atomic<uint64_t> next{0};
    int helpers = 0; /* guarded by the pool's mutex */
};

struct LaunchPool {
    std::mutex mutex;
    std::condition_variable work, left;
    std::deque<Grid *> grids; /* one entry per helper that may join */
    std::vector<std::thread> threads;
    bool stop = false;
};

LaunchPool &pool()
{
    static LaunchPool *instance = new LaunchPool;
    return *instance;
}

/* One per OS thread, grown on demand. */
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

void run_block_at(const Kernel &kernel, uint64_t index, uint64_t shuffle, Monitor *watcher)
{
    static thread_local SharedMemory shared;
    dim3 grid = kernel.grid;
    context.shuffle = shuffle ? mixed(shuffle, index) | 1 : 0;
    context.block = {(unsigned)(index % grid.x), (unsigned)(index / grid.x % grid.y),
                     (unsigned)(index / grid.x / grid.y)};
    if (kernel.dynamic_shared) context.dynamic_shared = shared.poisoned(kernel.dynamic_shared);
    if (watcher) watcher->begin_block(index);
    try {
        kernel.run_block();
    } catch (const Trap &) {
        kernel.fail(cudaErrorLaunchFailure);
    }
}

void take_blocks(Grid &grid)
{
    const Kernel &kernel = *grid.kernel;
    context = Context();
    context.block_size = kernel.block;
    context.grid_size = kernel.grid;
    context.kernel = &kernel;
    for (;;) {
        uint64_t first = grid.next.fetch_add(grid.share),
                 last = std::min(first + grid.share, grid.blocks);
        if (first >= last) break;
        for (uint64_t i = first; i < last && !kernel.error; i++)
            run_block_at(kernel, grid.shuffle ? shuffled(i, grid.blocks, grid.shuffle) : i,
                         grid.shuffle, grid.watcher);
    }
    context.kernel = nullptr;
}

void help()
{
    LaunchPool &p = pool();
    std::unique_lock<std::mutex> lock(p.mutex);
    for (;;) {
        p.work.wait(lock, [&] { return p.stop || !p.grids.empty(); });
        if (p.stop) return;
        Grid *grid = p.grids.front();
        p.grids.pop_front();
        grid->helpers++;
        lock.unlock();
        open_memory(grid->devices);
        take_blocks(*grid);
        close_memory(grid->devices);
        lock.lock();
        if (--grid->helpers == 0) p.left.notify_all();
    }
}

void run_with_helpers(Grid &grid, int helpers)
{
    LaunchPool &p = pool();
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

/* The mark of a branch target at the begin of a function, and nop. */
#if defined(__aarch64__)
constexpr unsigned char branch_target[] = {0x5f, 0x24, 0x03, 0xd5},
                        nop[] = {0x1f, 0x20, 0x03, 0xd5};
#else
constexpr unsigned char branch_target[] = {0xf3, 0x0f, 0x1e, 0xfa}, nop[] = {0x90};
#endif

/* The maximum number of threads from the kernel's __launch_bounds__, which is encoded as leading
 * nop instructions (cuda_runtime.h); 0 if unknown. */
unsigned bounds(const Kernel &kernel)
{
    const auto *code = static_cast<const unsigned char *>(kernel.site.code);
    if (!code) return 0;
    if (!memcmp(code, branch_target, sizeof branch_target)) code += sizeof branch_target;
    unsigned warps = 0;
    while (!memcmp(code + warps * sizeof nop, nop, sizeof nop)) warps++;
    return warps * 32;
}

cudaError_t refused(const Kernel &kernel, cudaError_t error, const char *what, uint64_t is,
                    uint64_t most)
{
    fault_of_launch("launch", kernel, "%s: %llu, the limit is %llu", what, (unsigned long long)is,
                    (unsigned long long)most);
    return error;
}

cudaError_t validate(const Kernel &kernel)
{
    dim3 g = kernel.grid, b = kernel.block;
    const uint64_t threads = (uint64_t)b.x * b.y * b.z;
    struct {
        const char *what;
        uint64_t is, least, most;
    } limits[] = {{"blocks in x", g.x, 1, 0x7fffffff},
                  {"blocks in y", g.y, 1, 65535},
                  {"blocks in z", g.z, 1, 65535},
                  {"threads in x", b.x, 1, 1024},
                  {"threads in y", b.y, 1, 1024},
                  {"threads in z", b.z, 1, 64},
                  {"threads in a block", threads, 1, 1024},
                  {"bytes of shared memory", kernel.dynamic_shared, 0, shared_limit(kernel)}};
    for (const auto &limit : limits)
        if (limit.is < limit.least || limit.is > limit.most)
            return refused(kernel, cudaErrorInvalidConfiguration, limit.what, limit.is,
                           limit.is ? limit.most : limit.least);
    if (kernel.parameters > parameter_limit)
        return refused(kernel, cudaErrorInvalidValue, "bytes of parameters", kernel.parameters,
                       parameter_limit);
    const unsigned most = bounds(kernel);
    if (most && threads > most)
        return refused(kernel, cudaErrorLaunchOutOfResources,
                       "threads in a block, by its __launch_bounds__", threads, most);
    return cudaSuccess;
}

cudaError_t launch(Kernel *kernel, CUstream_st *stream)
{
    if (!stream || stream->device->index != current_device()) return cudaErrorInvalidResourceHandle;
    if (cudaError_t error = refuse_legacy(stream)) return error;
    return validate(*kernel);
}

} // namespace

void stop_pool()
{
    LaunchPool &p = pool();
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
    Monitor *const watcher = monitor_of(*this);
    Watched watched(watcher);
    auto *const users = dynamic_cast<UserKernel *>(this);
    Grid work;
    work.kernel = this;
    work.watcher = watcher;
    const uint64_t seed = runtime().settings.seed;
    work.shuffle = seed ? mixed(seed, launches++) | 1 : 0;
    work.devices = opened_memory();
    work.blocks = (uint64_t)grid.x * grid.y * grid.z;
    uint64_t threads = work.blocks * block.x * block.y * block.z;
    int workers = threads < small_grid || watcher ? 1 : runtime().settings.threads;
    workers = (int)std::min<uint64_t>((uint64_t)workers, work.blocks);
    work.share =
        workers == 1 ? work.blocks : std::max<uint64_t>(1, work.blocks / (8 * (uint64_t)workers));
    if (users) users->begin();
    if (watcher) watcher->begin_launch(*this);
    if (workers == 1)
        take_blocks(work);
    else
        run_with_helpers(work, workers - 1);
    if (watcher) watcher->end_launch();
    return users ? users->end() : (cudaError_t)error.load();
}

cudaError_t submit_kernel(Kernel *kernel, const Site &site, dim3 grid, dim3 block,
                          size_t dynamic_shared, cudaStream_t handle)
{
    kernel->site = site;
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
