/* memory.cpp - device memory and pinned host memory.
 *
 * A device's memory is one reservation of address space, so a pointer identifies its device.
 * Allocation is first fit in multiples of 512 bytes; freed blocks merge with free neighbours, and
 * whole free pages return to the system.
 *
 * With LTENSOR_SIM_PROTECT, only work items of the device (or of a peer) can access the
 * reservation, and new memory is filled with 0xFF. Access is controlled per thread by memory
 * protection keys where the CPU has them. Otherwise mprotect opens the memory for all threads while
 * such a work item runs, which is many times slower. */
#include "sim.h"

#include <algorithm>
#include <stdlib.h>
#include <sys/mman.h>

namespace lt_sim {

namespace {

constexpr size_t page = 4096;
std::atomic<bool> reserved{false};

/* False if the reservation fails, for example under a sanitizer or a limit; the caller then returns
 * an out-of-memory error. */
bool reserve(Device &device)
{
    if (device.base) return true;
    const Settings &s = runtime().settings;
    int access = s.protect ? PROT_NONE : PROT_READ | PROT_WRITE;
    void *base =
        mmap(nullptr, s.memory, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) return false;
    madvise(base, s.memory, MADV_DONTDUMP);
#ifdef PKEY_DISABLE_ACCESS
    if (s.protect && (device.key = pkey_alloc(0, PKEY_DISABLE_ACCESS)) >= 0 &&
        pkey_mprotect(base, s.memory, PROT_READ | PROT_WRITE, device.key) != 0) {
        (void)pkey_free(device.key);
        device.key = -1;
    }
#endif
    device.base = static_cast<char *>(base);
    reserved = true;
    device.unused[0] = s.memory;
    return true;
}

/* Null if no free block is large enough. */
void *take(Device &device, size_t bytes)
{
    for (auto it = device.unused.begin(); it != device.unused.end(); ++it) {
        if (it->second < bytes) continue;
        size_t offset = it->first, rest = it->second - bytes;
        device.unused.erase(it);
        if (rest) device.unused[offset + bytes] = rest;
        device.used[offset] = bytes;
        device.used_bytes += bytes;
        return device.base + offset;
    }
    return nullptr;
}

void give(Device &device, std::map<size_t, size_t>::iterator block)
{
    size_t begin = block->first, end = begin + block->second;
    device.used_bytes -= block->second;
    if (monitor) monitor->freed(device.base + block->first, block->second);
    device.used.erase(block);
    auto next = device.unused.lower_bound(begin);
    if (next != device.unused.end() && next->first == end) {
        end += next->second;
        next = device.unused.erase(next);
    }
    if (next != device.unused.begin()) {
        auto previous = std::prev(next);
        if (previous->first + previous->second == begin) {
            begin = previous->first;
            device.unused.erase(previous);
        }
    }
    device.unused[begin] = end - begin;
    size_t first = (begin + page - 1) / page * page, last = end / page * page;
    if (last > first) madvise(device.base + first, last - first, MADV_DONTNEED);
}

/* With a protection key, for the calling thread only. */
void set_access(Device &device, bool open)
{
    std::lock_guard<std::mutex> gate(device.gate);
    std::lock_guard<std::mutex> lock(device.mutex);
    if (!device.base) return;
#ifdef PKEY_DISABLE_ACCESS
    if (device.key >= 0) {
        (void)pkey_set(device.key, open ? 0 : PKEY_DISABLE_ACCESS);
        return;
    }
#endif
    if (open ? device.running++ == 0 : --device.running == 0)
        mprotect(device.base, runtime().settings.memory, open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

thread_local uint32_t opened = 0;

void set_access(uint32_t devices, bool open)
{
    if (!runtime().settings.protect) return;
    opened = open ? opened | devices : opened & ~devices;
    for (auto &device : runtime().devices)
        if (devices >> device->index & 1) set_access(*device, open);
}

class Handover final : public Work {
  public:
    Handover(void *pointer, size_t bytes, bool taken) : pointer(pointer), bytes(bytes), taken(taken)
    {
        joins = false;
    }
    cudaError_t run() override
    {
        if (taken)
            monitor->allocated(pointer, bytes);
        else
            monitor->freed(pointer, bytes);
        return cudaSuccess;
    }

  private:
    void *pointer;
    size_t bytes;
    bool taken;
};

void mark(int device, cudaStream_t handle, void *pointer, size_t bytes, bool taken, bool replayed)
{
    if (!monitor || !usable()) return;
    CUstream_st *stream = find_stream(handle, device);
    if (stream) submit(stream, new Handover(pointer, bytes, taken), replayed);
}

} // namespace

void memory_new(void *pointer, size_t bytes)
{
    if (monitor) monitor->freed(pointer, bytes);
}

void memory_taken(int device, cudaStream_t stream, void *pointer, size_t bytes, bool replayed)
{
    mark(device, stream, pointer, bytes, true, replayed);
}

void memory_given(int device, cudaStream_t stream, void *pointer, size_t bytes, bool replayed)
{
    mark(device, stream, pointer, bytes, false, replayed);
}

void open_memory(uint32_t devices) { set_access(devices, true); }
void close_memory(uint32_t devices) { set_access(devices, false); }
uint32_t opened_memory() { return opened; }

Device *owner(const void *pointer)
{
    if (!reserved.load(std::memory_order_relaxed))
        return nullptr; /* works before the settings are read */
    const char *p = static_cast<const char *>(pointer);
    for (auto &device : runtime().devices) {
        const char *base = device->base;
        if (base && p >= base && p < base + runtime().settings.memory) return device.get();
    }
    return nullptr;
}

bool inside_allocation(Device &device, const void *pointer, size_t bytes)
{
    std::lock_guard<std::mutex> lock(device.mutex);
    size_t offset = (size_t)(static_cast<const char *>(pointer) - device.base);
    auto block = device.used.upper_bound(offset);
    if (block == device.used.begin()) return false;
    --block;
    size_t before = offset - block->first;
    return before < block->second && bytes <= block->second - before;
}

void free_all(Device &device)
{
    std::lock_guard<std::mutex> lock(device.mutex);
    while (!device.used.empty()) give(device, device.used.begin());
}

bool is_pinned(const void *pointer)
{
    Runtime &r = runtime();
    uintptr_t p = (uintptr_t)pointer;
    std::lock_guard<std::mutex> lock(r.mutex);
    auto block = r.pinned.upper_bound(p);
    if (block == r.pinned.begin()) return false;
    --block;
    return p - block->first < block->second;
}

} // namespace lt_sim

using namespace lt_sim;

cudaError_t cudaMemGetInfo(size_t *free, size_t *total)
{
    if (cudaError_t error = begin_on_device(cudaErrorUnknown)) return error;
    Device &device = *device_at(current_device());
    std::lock_guard<std::mutex> lock(device.mutex);
    *total = runtime().settings.memory;
    *free = *total - device.used_bytes;
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **pointer, size_t size)
{
    if (cudaError_t error = begin_on_device(cudaErrorMemoryAllocation)) return error;
    if (!pointer) return finish(cudaErrorInvalidValue);
    *pointer = nullptr;
    if (cudaError_t error = refuse_unsafe()) return finish(error);
    if (size == 0) return cudaSuccess;
    if (size > runtime().settings.memory) return finish(cudaErrorMemoryAllocation);
    size = (size + allocation_unit - 1) / allocation_unit * allocation_unit;
    Device &device = *device_at(current_device());
    void *block = nullptr;
    {
        std::lock_guard<std::mutex> lock(device.mutex);
        if (reserve(device)) block = take(device, size);
    }
    if (!block) return finish(cudaErrorMemoryAllocation);
    if (monitor) monitor->allocated(block, size);
    if (runtime().settings.protect) {
        open_memory(1u << device.index);
        memset(block, 0xff, size);
        close_memory(1u << device.index);
    }
    *pointer = block;
    return cudaSuccess;
}

/* Synchronizes the device, like CUDA's: queued work items may use the memory. */
cudaError_t cudaFree(void *pointer)
{
    if (cudaError_t error = begin_on_device(cudaErrorUnknown)) return error;
    if (!pointer) return cudaSuccess;
    Device *device = owner(pointer);
    if (!device) return finish(cudaErrorInvalidValue);
    if (cudaError_t error = refuse_unsafe()) return finish(error);
    sync_device(*device);
    std::lock_guard<std::mutex> lock(device->mutex);
    auto block = device->used.find((size_t)(static_cast<char *>(pointer) - device->base));
    if (block == device->used.end()) return finish(cudaErrorInvalidValue);
    give(*device, block);
    return cudaSuccess;
}

cudaError_t cudaHostAlloc(void **pointer, size_t size, unsigned int flags)
{
    if (cudaError_t error = begin_on_device(cudaErrorMemoryAllocation)) return error;
    if (!pointer || flags & ~cudaHostAllocPortable) return finish(cudaErrorInvalidValue);
    *pointer = nullptr;
    if (cudaError_t error = refuse_unsafe()) return finish(error);
    if (size == 0) return cudaSuccess;
    void *block = nullptr;
    if (posix_memalign(&block, page, size)) return finish(cudaErrorMemoryAllocation);
    Runtime &r = runtime();
    std::lock_guard<std::mutex> lock(r.mutex);
    r.pinned[(uintptr_t)block] = size;
    *pointer = block;
    return cudaSuccess;
}

cudaError_t cudaMallocHost(void **pointer, size_t size)
{
    return cudaHostAlloc(pointer, size, cudaHostAllocDefault);
}

cudaError_t cudaFreeHost(void *pointer)
{
    if (cudaError_t error = begin_on_device(cudaErrorUnknown)) return error;
    if (!pointer) return cudaSuccess;
    if (cudaError_t error = refuse_unsafe()) return finish(error);
    Runtime &r = runtime();
    for (auto &device : r.devices) sync_device(*device);
    {
        std::lock_guard<std::mutex> lock(r.mutex);
        if (!r.pinned.erase((uintptr_t)pointer)) return finish(cudaErrorInvalidValue);
    }
    free(pointer);
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *pointer)
{
    if (cudaError_t error = begin(cudaErrorInvalidValue)) return error;
    void *p = const_cast<void *>(pointer);
    if (Device *device = owner(pointer))
        *attributes = {cudaMemoryTypeDevice, device->index, p, nullptr};
    else if (is_pinned(pointer))
        *attributes = {cudaMemoryTypeHost, 0, p, p};
    else
        *attributes = {cudaMemoryTypeUnregistered, -1, nullptr, p};
    return cudaSuccess;
}
