/* allocator.cu - caching allocator of device memory in front of cudaMalloc, one cache per device.
 *
 * Segments come from cudaMalloc and are split into blocks; adjacent free blocks of a segment are
 * merged. A block belongs to the stream that was current when its segment was allocated and is
 * reused on that stream only, where stream order makes reuse safe without waiting. record_stream
 * declares use on other streams: a freed block then waits for an event on each of them. Blocks of
 * up to 1 MiB come from segments of 2 MiB, blocks below 10 MiB from segments of 20 MiB, others from
 * segments of their own size rounded up to 2 MiB. When memory runs out: release the cache, then
 * collect in Lua and retry, then report the error.
 *
 * While a thread records a graph, it allocates from the graph's private pool, which the replays
 * reuse. Segments of a private pool serve nothing else and stay while a graph holds the pool.
 *
 * - Freeing allocates no memory: a block's neighbours in lists are members of it.
 * - Allocating from the cache calls neither the runtime nor malloc, and takes the same time for
 *   each size: it searches in lists by size (free_blocks.cuh), and takes the descriptor of a new
 *   part of a block from those that merging left over. A thread that alone uses the device takes no
 *   lock (owned_mutex.cuh). */
#include "allocator.cuh"
#include "assertion.h"
#include "marks.cuh"

#include <algorithm>
#include <memory>
#include <new>

#include "system/clock.h"

lt_cuda_cache *const lt_cuda_caches = new lt_cuda_cache[LT_CUDA_MAX_DEVICES];

namespace {

constexpr size_t unit = LT_CUDA_UNIT;
constexpr size_t small_block = (size_t)1 << 20, small_segment = (size_t)2 << 20;
constexpr size_t middle_block = (size_t)10 << 20, middle_segment = (size_t)20 << 20;
constexpr size_t segment_unit = (size_t)2 << 20;

using block = lt_cuda_block;
using cache = lt_cuda_cache;
using arena = lt_cuda_arena;
using pending_event = lt_cuda_pending;
cache *const caches = lt_cuda_caches;

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Counts a block and its bytes. */
void add_block(cache &c, lt_memory_kind count, lt_memory_kind bytes, const block *b)
{
    c.tallies[count].add(b->arena->kind, 1);
    c.tallies[bytes].add(b->arena->kind, (int64_t)b->size);
}

void remove_block(cache &c, lt_memory_kind count, lt_memory_kind bytes, const block *b)
{
    c.tallies[count].remove(b->arena->kind, 1);
    c.tallies[bytes].remove(b->arena->kind, (int64_t)b->size);
}

/* Returns a block that is not in the cache; may throw. */
block *new_block(cache &c, int device, arena *of, char *data, size_t size)
{
    LT_ASSERT(size > 0 && size % unit == 0, "size %zu", size);
    block *b = c.spares;
    if (b != nullptr)
        c.spares = b->deferred;
    else
        b = new block;
    b->deferred = b->previous = b->next = nullptr;
    b->device = device;
    b->arena = of;
    b->data = data;
    b->size = size;
    LT_ASSERT(!b->used && b->pending == 0 && b->other_streams.empty() && !b->any_stream);
    return b;
}

void recycle(cache &c, block *b)
{
    b->deferred = c.spares;
    c.spares = b;
}

bool is_part(const block *b) { return b->previous != nullptr || b->next != nullptr; }

void put_back(cache &c, block *b)
{
    LT_ASSERT(!b->used && b->pending == 0, "used %d, pending %d", b->used, b->pending);
    if (is_part(b)) add_block(c, LT_MEMORY_INACTIVE_SPLIT, LT_MEMORY_INACTIVE_SPLIT_BYTES, b);
    b->arena->free.add(b);
}

void take_out(cache &c, block *b)
{
    LT_ASSERT(!b->used && b->pending == 0, "used %d, pending %d", b->used, b->pending);
    b->arena->free.remove(b);
    if (is_part(b)) remove_block(c, LT_MEMORY_INACTIVE_SPLIT, LT_MEMORY_INACTIVE_SPLIT_BYTES, b);
}

bool is_free(const block *b) { return b != nullptr && !b->used && b->pending == 0; }

/* Merges b with the next block of its segment; neither may be in the cache. */
void merge_next(cache &c, block *b)
{
    block *right = b->next;
    LT_ASSERT(right->previous == b && right->data == b->data + b->size, "size %zu", b->size);
    LT_ASSERT(right->arena == b->arena, "the blocks are of one segment");
    b->size += right->size;
    b->next = right->next;
    if (right->next != nullptr) right->next->previous = b;
    recycle(c, right);
}

void free_block(cache &c, block *b)
{
    LT_ASSERT(!b->used && b->pending == 0, "used %d, pending %d", b->used, b->pending);
    LT_ASSERT(b->next == nullptr || b->next->previous == b);
    LT_ASSERT(b->previous == nullptr || b->previous->next == b);
    remove_block(c, LT_MEMORY_ACTIVE, LT_MEMORY_ACTIVE_BYTES, b);
    /* Outside its recording, a block of a graph's pool is not marked as freed: replays on any
     * stream still use it. */
    const uint64_t pool = b->arena->pool;
    const bool recorded = pool != 0 && pool == lt_cuda_recording_pool(b->device);
    if (pool == 0 || recorded)
        LT_MARK_GIVEN(b->device, b->arena->stream, b->data, b->size, recorded);
    if (is_free(b->next)) {
        take_out(c, b->next);
        merge_next(c, b);
    }
    if (is_free(b->previous)) {
        block *left = b->previous;
        take_out(c, left);
        merge_next(c, left);
        b = left;
    }
    put_back(c, b);
}

/* Puts the tail of b into the cache if it is large enough; may throw, before anything is changed.
 */
void split(cache &c, block *b, size_t size)
{
    LT_ASSERT(size > 0 && size <= b->size, "%zu of %zu bytes", size, b->size);
    size_t rest = b->size - size;
    if (b->arena->small() ? rest < unit : rest <= small_block) return;
    block *tail = new_block(c, b->device, b->arena, b->data + size, rest);
    tail->previous = b;
    tail->next = b->next;
    if (b->next != nullptr) b->next->previous = tail;
    b->next = tail;
    b->size = size;
    put_back(c, tail);
}

/* ---- events of freed blocks ------------------------------------------------------------------ */

void event_done(cache &c, const pending_event &p)
{
    LT_ASSERT(p.of->pending > 0 && !p.of->used, "pending %d", p.of->pending);
    lt_cuda_event_free(p.of->device, p.event);
    if (--p.of->pending == 0) free_block(c, p.of);
}

/* Frees the blocks with completed events. A failed query counts as done: the device is then lost.
 */
void collect_pending(cache &c, bool wait)
{
    size_t kept = 0;
    for (size_t i = 0; i < c.pending.size(); i++) {
        pending_event p = c.pending[i];
        cudaError_t error = wait ? cudaEventSynchronize(p.event) : cudaEventQuery(p.event);
        if (error != cudaSuccess) (void)cudaGetLastError();
        if (error == cudaErrorNotReady)
            c.pending[kept++] = p;
        else
            event_done(c, p);
    }
    c.pending.resize(kept);
}

/* Records an event on the stream for a block that is being freed; false on failure. */
bool add_pending(cache &c, block *b, cudaStream_t stream)
{
    cudaEvent_t event;
    try {
        c.pending.reserve(c.pending.size() + 1);
    } catch (const std::bad_alloc &) {
        return false;
    }
    if (lt_cuda_event_alloc(b->device, &event) != LT_OK) return false;
    if (cudaEventRecord(event, stream) != cudaSuccess) {
        (void)cudaGetLastError();
        lt_cuda_event_free(b->device, event);
        return false;
    }
    b->pending++;
    c.pending.push_back({event, b});
    return true;
}

/* Frees an unused block as soon as the other streams that use it are done. */
void free_after_streams(cache &c, block *b)
{
    cudaStream_t stream;
    LT_ASSERT(!b->used && b->pending == 0, "pending %d", b->pending);
    bool wait = b->any_stream;
    if (!b->other_streams.empty() || wait) {
        wait = lt_cuda_enter(b->device, &stream) != LT_OK || wait;
        for (cudaStream_t other : b->other_streams) wait = !add_pending(c, b, other) || wait;
        b->other_streams.clear();
        b->any_stream = false;
        if (wait && cudaDeviceSynchronize() != cudaSuccess) (void)cudaGetLastError();
    }
    if (b->pending == 0) free_block(c, b);
}

/* ---- segments -------------------------------------------------------------------------------- */

/* Returns the entirely free segments of an arena to the device. */
void release_segments(cache &c, arena *a)
{
    if (c.held.count(a->pool) != 0) return;
    a->free.each([&](block *b) {
        if (is_part(b)) return;
        LT_ASSERT(c.segments.count(b) == 1 && !b->used, "the block is no free segment");
        a->free.remove(b);
        if (cudaFree(b->data) != cudaSuccess) (void)cudaGetLastError();
        c.device_frees++;
        remove_block(c, LT_MEMORY_SEGMENTS, LT_MEMORY_RESERVED_BYTES, b);
        c.segments.erase(b);
        a->segments--;
        delete b;
    });
}

void release_cached(cache &c)
{
    collect_pending(c, true);
    for (auto it = c.arenas.begin(); it != c.arenas.end();) {
        release_segments(c, it->second.get());
        it = it->second->segments == 0 ? c.arenas.erase(it) : std::next(it);
    }
    std::fill(std::begin(c.recent), std::end(c.recent), nullptr);
    while (c.spares != nullptr) {
        block *const b = c.spares;
        c.spares = b->deferred;
        delete b;
    }
}

/* The arena of a stream and pool for small or large blocks; may throw. */
arena *find_arena(cache &c, cudaStream_t stream, uint64_t pool, lt_memory_pool kind)
{
    arena *a = c.recent[kind];
    if (a != nullptr && a->stream == stream && a->pool == pool) return a;
    auto &place = c.arenas[{stream, pool, kind}];
    if (place == nullptr) place.reset(new arena(stream, pool, kind));
    return c.recent[kind] = place.get();
}

size_t segment_size(size_t size)
{
    if (size <= small_block) return small_segment;
    if (size < middle_block) return middle_segment;
    return (size + segment_unit - 1) / segment_unit * segment_unit;
}

/* Returns a new segment as one block, or null if memory ran out. Other failures set *failed. May
 * throw. */
block *new_segment(cache &c, int device, arena *of, size_t size, lt_status *failed)
{
    size_t bytes = segment_size(size);
    if (bytes > c.limit || (size_t)c.reserved() > c.limit - bytes) return nullptr;
    std::unique_ptr<block> b(new_block(c, device, of, nullptr, bytes));
    *failed = lt_cuda_make_current(device);
    if (*failed != LT_OK) return nullptr;
    auto place = c.segments.insert(b.get()).first;
    void *data = nullptr;
    cudaError_t error = cudaMalloc(&data, bytes);
    if (error != cudaSuccess) {
        c.segments.erase(place);
        if (error == cudaErrorMemoryAllocation)
            (void)cudaGetLastError();
        else
            *failed = lt_cuda_failed(error, "cudaMalloc");
        return nullptr;
    }
    b->data = static_cast<char *>(data);
    LT_MARK_NEW(data, bytes);
    c.device_allocs++;
    of->segments++;
    add_block(c, LT_MEMORY_SEGMENTS, LT_MEMORY_RESERVED_BYTES, b.get());
    return b.release();
}

/* One attempt; the cache's mutex is held. */
block *try_alloc(cache &c, int device, cudaStream_t stream, size_t size, lt_status *failed)
{
    const uint64_t pool = lt_cuda_recording_pool(device);
    if (pool == 0 && !c.pending.empty()) collect_pending(c, false);
    arena *const of =
        find_arena(c, stream, pool, size <= small_block ? LT_POOL_SMALL : LT_POOL_LARGE);
    block *b = of->free.find(size);
    if (b != nullptr)
        take_out(c, b);
    else
        b = new_segment(c, device, of, size, failed);
    if (b == nullptr) return nullptr;
    try {
        split(c, b, size);
    } catch (const std::bad_alloc &) {
        put_back(c, b);
        throw;
    }
    LT_ASSERT(!b->used && b->pending == 0 && b->size >= size, "%zu of %zu bytes", size, b->size);
    LT_ASSERT(b->device == device && b->arena == of, "device %d", b->device);
    LT_ASSERT(b->other_streams.empty() && !b->any_stream && b->deferred == nullptr);
    b->used = true;
    add_block(c, LT_MEMORY_ALLOCATIONS, LT_MEMORY_ALLOCATED_BYTES, b);
    add_block(c, LT_MEMORY_ACTIVE, LT_MEMORY_ACTIVE_BYTES, b);
    return b;
}

/* ---- allocating ------------------------------------------------------------------------------ */

size_t rounded(size_t nbytes) { return (nbytes + unit - 1) / unit * unit; }

lt_status alloc_or_throw(int device, size_t nbytes, block **out)
{
    const cudaStream_t stream = (cudaStream_t)(uintptr_t)lt_cuda_current_stream(device);
    lt_status failed = LT_OK;
    const size_t size = rounded(nbytes);
    cache &c = caches[device];
    for (int attempt = 0; attempt < 3; attempt++) {
        double waited = 0;
        if (attempt == 1 && lt_cuda_recording()) break; /* cudaFree synchronizes */
        if (attempt == 2 && !lt_cuda_core->reclaim()) break;
        if (attempt > 0) LT_TRY(lt_cuda_make_current(device));
        {
            std::lock_guard<lt_owned_mutex> lock(c.mutex);
            if (attempt > 0) {
                const int64_t reserved = c.reserved();
                const double start = lt_clock();
                release_cached(c);
                if (c.reserved() != reserved) waited = lt_clock() - start;
                c.retries += attempt == 1;
            }
            *out = try_alloc(c, device, stream, size, &failed);
            if (*out != nullptr) {
                (*out)->requested = nbytes;
                LT_MARK_TAKEN(device, stream, (*out)->data, nbytes, (*out)->arena->pool != 0);
                c.tallies[LT_MEMORY_REQUESTED_BYTES].add((*out)->arena->kind, (int64_t)nbytes);
            }
        }
        if (waited > 0)
            lt_cuda_core->record_wait(device, "GPU memory ran out: unused memory was given back",
                                      waited);
        if (*out != nullptr || failed != LT_OK) return failed;
    }
    std::lock_guard<lt_owned_mutex> lock(c.mutex);
    c.out_of_memory++;
    return lt_cuda_out_of_memory(c, device, nbytes);
}

} // namespace

/* ---- entries --------------------------------------------------------------------------------- */

lt_status lt_cuda_alloc(int device, size_t nbytes, void **data, size_t *capacity, void **handle)
{
    LT_ASSERT(device >= 0 && device < LT_CUDA_MAX_DEVICES, "device %d", device);
    block *b = nullptr;
    if (nbytes == 0) {
        *data = nullptr;
        *capacity = 0;
        *handle = nullptr;
        return LT_OK;
    }
    if (nbytes > SIZE_MAX / 4) nbytes = SIZE_MAX / 4;
    const int64_t charged = (int64_t)rounded(nbytes);
    if (!lt_cuda_core->charge(device, charged) &&
        !(lt_cuda_core->reclaim() && lt_cuda_core->charge(device, charged)))
        return lt_cuda_core->refuse(device, charged);
    lt_status status;
    try {
        status = alloc_or_throw(device, nbytes, &b);
    } catch (const std::bad_alloc &) {
        status = lt_cuda_core->error(LT_ERR_MEMORY, "out of host memory while allocating on GPU %d",
                                     device);
    }
    if (status != LT_OK) {
        lt_cuda_core->charge(device, -charged);
        return status;
    }
    b->charged = charged;
    *data = b->data;
    *capacity = b->size;
    *handle = b;
    b->origin[0] = '\0';
    if (b->size > small_block) lt_cuda_core->origin(b->origin, sizeof b->origin);
    return LT_OK;
}

void lt_cuda_free(int device, void *data, size_t capacity, void *handle)
{
    if (handle == nullptr) return;
    block *b = static_cast<block *>(handle);
    LT_ASSERT(b->device == device && b->data == data && b->size == capacity, "device %d, %zu bytes",
              b->device, b->size);
    (void)data;
    (void)capacity;
    cache &c = caches[device];
    lt_cuda_core->charge(device, -b->charged);
    std::lock_guard<lt_owned_mutex> lock(c.mutex);
    LT_ASSERT(b->used && b->pending == 0, "the block was freed before; pending %d", b->pending);
    remove_block(c, LT_MEMORY_ALLOCATIONS, LT_MEMORY_ALLOCATED_BYTES, b);
    c.tallies[LT_MEMORY_REQUESTED_BYTES].remove(b->arena->kind, (int64_t)b->requested);
    if (c.recordings > 0 && (!b->other_streams.empty() || b->any_stream)) {
        b->pending = 1; /* keeps it from being merged */
        b->deferred = c.deferred;
        c.deferred = b;
        return;
    }
    b->used = false;
    free_after_streams(c, b);
}

lt_status lt_cuda_pool_hold(int device, uint64_t pool)
{
    std::lock_guard<lt_owned_mutex> lock(caches[device].mutex);
    try {
        caches[device].held[pool]++;
    } catch (const std::bad_alloc &) {
        return lt_cuda_core->error(LT_ERR_MEMORY, "out of memory for a pool of GPU memory");
    }
    return LT_OK;
}

void lt_cuda_pool_drop(int device, uint64_t pool)
{
    std::lock_guard<lt_owned_mutex> lock(caches[device].mutex);
    auto place = caches[device].held.find(pool);
    LT_ASSERT(place != caches[device].held.end() && place->second > 0, "pool %llu",
              (unsigned long long)pool);
    if (--place->second == 0) caches[device].held.erase(place);
}

void lt_cuda_defer_frees(int device, bool on)
{
    cache &c = caches[device];
    std::lock_guard<lt_owned_mutex> lock(c.mutex);
    c.recordings += on ? 1 : -1;
    LT_ASSERT(c.recordings >= 0, "recordings %d", c.recordings);
    while (c.recordings == 0 && c.deferred != nullptr) {
        block *b = c.deferred;
        c.deferred = b->deferred;
        LT_ASSERT(b->used && b->pending == 1, "pending %d", b->pending);
        b->deferred = nullptr;
        b->used = false;
        b->pending = 0;
        free_after_streams(c, b);
    }
}

void lt_cuda_record_stream(void *handle, uint64_t stream)
{
    block *b = static_cast<block *>(handle);
    if (b == nullptr) return;
    cudaStream_t other = (cudaStream_t)(uintptr_t)stream;
    std::lock_guard<lt_owned_mutex> lock(caches[b->device].mutex);
    LT_ASSERT(b->used, "the block was freed");
    if (other == b->arena->stream) return;
    if (std::find(b->other_streams.begin(), b->other_streams.end(), other) !=
        b->other_streams.end())
        return;
    try {
        b->other_streams.push_back(other);
    } catch (const std::bad_alloc &) {
        b->any_stream = true;
    }
}

void lt_cuda_empty_cache(void)
{
    if (lt_cuda_recording()) return; /* cudaFree synchronizes */
    for (int device = 0; device < lt_cuda_device_count(); device++) {
        cache &c = caches[device];
        cudaStream_t stream;
        std::lock_guard<lt_owned_mutex> lock(c.mutex);
        if (c.reserved() == 0) continue; /* do not initialize an unused device */
        if (lt_cuda_enter(device, &stream) == LT_OK) release_cached(c);
    }
    lt_cuda_pinned_trim();
}

lt_status lt_cuda_set_memory_fraction(int device, double fraction)
{
    size_t free, total;
    LT_TRY(lt_cuda_memory_info(device, &free, &total));
    std::lock_guard<lt_owned_mutex> lock(caches[device].mutex);
    caches[device].limit = fraction >= 1 ? SIZE_MAX : (size_t)((double)total * fraction);
    return LT_OK;
}
