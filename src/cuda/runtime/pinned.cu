/* pinned.cu - caching allocator of page-locked host memory: locking pages is slow.
 *
 * Block sizes are powers of two, with one free list per size. Each block records one event per
 * stream for copies that may still run after their call returned (the event of the last copy). A
 * freed block is reused when its events are done. */
#include <map>
#include <mutex>
#include <new>
#include <vector>

#include "cuda.h"
#include "assertion.h"

namespace {

constexpr size_t smallest = 4096;

struct use {
    int device;
    cudaStream_t stream;
    cudaEvent_t event;
};

struct pinned_block {
    char *data;
    size_t size;
    std::vector<use> uses;
    pinned_block *next; /* in the free list */
};

std::mutex mutex;
/* all blocks, by address */
std::map<const char *, pinned_block *> &blocks = *new std::map<const char *, pinned_block *>;
pinned_block *unused[64]; /* free lists, by log2 of the size */

int class_of(size_t size)
{
    LT_ASSERT(size >= smallest && (size & (size - 1)) == 0, "size %zu", size);
    return 63 - __builtin_clzll((unsigned long long)size);
}

/* Returns the events of finished copies; true if none is pending. A failed query counts as done:
 * the device is then lost. */
bool idle(pinned_block *b, bool wait)
{
    while (!b->uses.empty()) {
        use u = b->uses.back();
        cudaError_t error = wait ? cudaEventSynchronize(u.event) : cudaEventQuery(u.event);
        if (error != cudaSuccess) (void)cudaGetLastError();
        if (error == cudaErrorNotReady) return false;
        b->uses.pop_back();
        lt_cuda_event_free(u.device, u.event);
    }
    return true;
}

pinned_block *take_unused(size_t size)
{
    for (pinned_block **place = &unused[class_of(size)]; *place != nullptr;
         place = &(*place)->next) {
        pinned_block *b = *place;
        LT_ASSERT(b->size == size, "%zu bytes in the list of %zu", b->size, size);
        if (!idle(b, false)) continue;
        *place = b->next;
        return b;
    }
    return nullptr;
}

void trim()
{
    for (pinned_block *&list : unused)
        while (list != nullptr) {
            pinned_block *b = list;
            list = b->next;
            idle(b, true);
            blocks.erase(b->data);
            if (cudaFreeHost(b->data) != cudaSuccess) (void)cudaGetLastError();
            delete b;
        }
}

/* The mutex is held; may throw. */
lt_status new_block(size_t size, pinned_block **out)
{
    void *data = nullptr;
    cudaError_t error = cudaHostAlloc(&data, size, cudaHostAllocPortable);
    if (error == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        trim();
        error = cudaHostAlloc(&data, size, cudaHostAllocPortable);
    }
    if (error != cudaSuccess) return lt_cuda_failed(error, "cudaHostAlloc");
    try {
        *out = nullptr;
        auto place = blocks.emplace(static_cast<char *>(data), nullptr).first;
        *out = new (std::nothrow) pinned_block{static_cast<char *>(data), size, {}, nullptr};
        if (*out != nullptr)
            place->second = *out;
        else
            blocks.erase(place);
    } catch (const std::bad_alloc &) {
        *out = nullptr;
    }
    if (*out != nullptr) return LT_OK;
    (void)cudaFreeHost(data);
    return lt_cuda_core->error(LT_ERR_MEMORY, "out of host memory while pinning %zu bytes", size);
}

} // namespace

lt_status lt_cuda_pinned_alloc(size_t nbytes, void **data, void **handle)
{
    cudaStream_t ignored;
    size_t size = smallest;
    if (nbytes > SIZE_MAX / 4)
        return lt_cuda_core->error(LT_ERR_MEMORY, "cannot pin %zu bytes of host memory", nbytes);
    while (size < nbytes) size *= 2;
    LT_TRY(lt_cuda_enter(lt_cuda_current_device(), &ignored));
    std::lock_guard<std::mutex> lock(mutex);
    pinned_block *b = take_unused(size);
    if (b == nullptr) LT_TRY(new_block(size, &b));
    b->next = nullptr;
    *data = b->data;
    *handle = b;
    return LT_OK;
}

void lt_cuda_pinned_free(void *data, void *handle)
{
    pinned_block *b = static_cast<pinned_block *>(handle);
    if (b == nullptr) return;
    std::lock_guard<std::mutex> lock(mutex);
    (void)data;
    LT_ASSERT(b->data == data && blocks.count(b->data) == 1, "the block was given back to CUDA");
    LT_ASSERT(unused[class_of(b->size)] != b, "the block was freed before");
    pinned_block *&list = unused[class_of(b->size)];
    b->next = list;
    list = b;
}

lt_status lt_cuda_pinned_used(const void *p, int device, cudaStream_t stream)
{
    std::lock_guard<std::mutex> lock(mutex);
    auto place = blocks.upper_bound(static_cast<const char *>(p));
    if (place == blocks.begin()) return LT_OK;
    pinned_block *b = (--place)->second;
    if (static_cast<const char *>(p) >= b->data + b->size) return LT_OK;
    for (use &u : b->uses)
        if (u.device == device && u.stream == stream) {
            CUDA_TRY(cudaEventRecord(u.event, stream));
            return LT_OK;
        }
    use u{device, stream, nullptr};
    LT_TRY(lt_cuda_event_alloc(device, &u.event));
    cudaError_t error = cudaEventRecord(u.event, stream);
    if (error == cudaSuccess) {
        try {
            b->uses.push_back(u);
            return LT_OK;
        } catch (const std::bad_alloc &) {
            error = cudaEventSynchronize(u.event); /* no event needs to be kept then */
        }
    }
    lt_cuda_event_free(device, u.event);
    return error == cudaSuccess ? LT_OK : lt_cuda_failed(error, "cudaEventRecord");
}

void lt_cuda_pinned_trim(void)
{
    std::lock_guard<std::mutex> lock(mutex);
    trim();
}
