/* block.c - see block.h.
 *
 * Blocks up to SMALL bytes belong to malloc. Larger ones have sixteen sizes per power of two, and a
 * bin of the cache for each size. A bin is a stack: the block that was freed last is reused first,
 * since it is the likeliest to be in a processor cache. A second list orders all cached blocks by
 * age. Both lists are stored in the blocks.
 *
 * malloc provides blocks up to MEDIUM bytes, but does not cache them: it returns its last pages to
 * the system whenever a garbage collection frees many blocks at once. */
#include "block.h"

#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "alloc.h"
#include "assertion.h"
#include "context/fork.h"
#include "context/watch.h"
#include "error.h"
#include "freelist.h"
#include "limit.h"
#include "lock.h"
#include "ltensor_device.h"
#include "system.h"
#include "system/memory.h"
#include "system/process.h"
#include "system/threads.h"

#define FIRST_BIN 10 /* the logarithm of SMALL */
#define SMALL     ((size_t)1 << FIRST_BIN)
#define MEDIUM    ((size_t)64 << 10) /* bytes: sixteen pages, so that rounding wastes at most 6 % */
/* bytes: the address space of a process */
#define LARGEST ((size_t)(SIZE_MAX >> 31 > 1 ? INT64_C(1) << 47 : INT32_MAX))
#define CLASSES 16 /* sizes per power of two: rounding wastes at most 6 % */
#define BINS    (40 * CLASSES)

/* A cached block serves requests up to this many classes smaller, which wastes at most a quarter.
 */
#define LARGER (CLASSES / 4)

/* From this size on, the cache is worth a thread that empties it (watch.c). Blocks return to the
 * system after one to two of these periods without use. */
#define IDLE_BYTES   ((size_t)16 << 20)
#define IDLE_SECONDS 5.0

typedef struct cached_block {
    /* doubly linked list of the bin, the next to be reused first */
    struct cached_block *next, *previous;
    struct cached_block *newer, *older;
    size_t size;
    uint32_t period; /* in which the block was freed */
} cached_block;

static struct {
    pthread_mutex_t lock;
    cached_block *bins[BINS];
    cached_block *oldest, *newest;
    size_t bytes;
    _Atomic size_t max_bytes; /* written with the lock held */
    uint32_t period;          /* counts runs of trim_idle_blocks */
    bool timed;               /* trim_idle_blocks is scheduled */
} cache = {.lock = PTHREAD_MUTEX_INITIALIZER, .max_bytes = LT_BLOCK_CACHE_MAX};

/* ---- sizes ----------------------------------------------------------------------------------- */

/* Rounds n > SMALL up to the next size of a block; *bin receives its bin. */
static size_t size_class(size_t n, int *bin)
{
    const int log = 63 - __builtin_clzll(n - 1); /* 2^log < n <= 2^(log+1) */
    const size_t step = ((size_t)1 << log) / CLASSES;
    const size_t rounded = (n + step - 1) & ~(step - 1);
    *bin = (log - FIRST_BIN) * CLASSES + (int)((rounded - ((size_t)1 << log)) / step);
    return rounded;
}

/* ---- memory of the system -------------------------------------------------------------------- */

static void *system_block(size_t n)
{
    return n <= MEDIUM ? lt_aligned_alloc(n) : lt_pages_alloc(n);
}

static void free_system_block(void *p, size_t n)
{
    if (n <= MEDIUM)
        lt_aligned_free(p);
    else
        lt_pages_free(p, n);
}

/* ---- the cache: its lock is held ------------------------------------------------------------- */

static void cache_insert(int bin, void *p, size_t size)
{
    LT_ASSERT(LT_IS_LOCKED(&cache.lock));
    LT_ASSERT(bin >= 0 && bin < BINS, "bin %d", bin);
    cached_block *block = p;
    *block = (cached_block){
        .next = cache.bins[bin], .older = cache.newest, .size = size, .period = cache.period};
    if (block->next != NULL) block->next->previous = block;
    cache.bins[bin] = block;
    if (block->older != NULL)
        block->older->newer = block;
    else
        cache.oldest = block;
    cache.newest = block;
    cache.bytes += size;
}

static void cache_remove(cached_block *block)
{
    int bin;
    size_class(block->size, &bin);
    LT_ASSERT(LT_IS_LOCKED(&cache.lock));
    LT_ASSERT(block->previous != NULL ? block->previous->next == block : cache.bins[bin] == block);
    LT_ASSERT(block->next == NULL || block->next->previous == block);
    LT_ASSERT(block->newer != NULL ? block->newer->older == block : cache.newest == block);
    LT_ASSERT(block->older != NULL ? block->older->newer == block : cache.oldest == block);
    LT_ASSERT(cache.bytes >= block->size, "%zu of %zu bytes", block->size, cache.bytes);
    if (block->next != NULL) block->next->previous = block->previous;
    if (block->previous != NULL)
        block->previous->next = block->next;
    else
        cache.bins[bin] = block->next;
    if (block->newer != NULL)
        block->newer->older = block->older;
    else
        cache.newest = block->older;
    if (block->older != NULL)
        block->older->newer = block->newer;
    else
        cache.oldest = block->newer;
    cache.bytes -= block->size;
}

static void evict_oldest(void)
{
    cached_block *block = cache.oldest;
    LT_ASSERT(block != NULL, "%zu bytes, but no block", cache.bytes);
    cache_remove(block);
    free_system_block(block, block->size);
}

static void shrink_cache(size_t max_bytes)
{
    while (cache.bytes > max_bytes) evict_oldest();
}

/* ---- the cache: its lock is not held --------------------------------------------------------- */

/* Removes a block of this bin, or of one of the next larger ones up to `end`, from the cache; NULL:
 * there is none. *n has been charged; it becomes the block's size, and the difference is charged.
 */
static void *reuse_block(int bin, int end, size_t *n)
{
    if (end >= BINS) end = BINS - 1;
    pthread_mutex_lock(&cache.lock);
    while (bin < end && cache.bins[bin] == NULL) bin++;
    cached_block *block = cache.bins[bin];
    if (block != NULL && block->size != *n &&
        !lt_mem_charge(LT_USE_HOST, (int64_t)(block->size - *n)))
        block = NULL;
    if (block != NULL) {
        cache_remove(block);
        *n = block->size;
    }
    lt_unlock(&cache.lock);
    return block;
}

/* Returns the free pages of malloc, which has the small blocks, to the system. */
static void trim_heap(void)
{
    if (!lt_has_host_allocator()) lt_heap_trim();
}

/* Runs every IDLE_SECONDS while the cache is large: evicts the blocks that were freed before the
 * last run. Returns the seconds until the next run. */
static double trim_idle_blocks(void)
{
    double seconds = IDLE_SECONDS;
    bool evicted = false;
    pthread_mutex_lock(&cache.lock);
    while (cache.oldest != NULL && cache.oldest->period != cache.period) {
        evict_oldest();
        evicted = true;
    }
    cache.period++;
    if (cache.bytes < IDLE_BYTES) {
        cache.timed = false;
        seconds = INFINITY;
    }
    lt_unlock(&cache.lock);
    if (evicted) trim_heap();
    return seconds;
}

/* In a context with a limit, a new block replaces cached ones rather than exceed the limit together
 * with them. */
static void shrink_cache_to_limit(void)
{
    const lt_use *use = &lt_tls.context->use[LT_USE_HOST];
    const int64_t limit = atomic_load_explicit(&use->limit, memory_order_relaxed);
    if (limit == INT64_MAX) return;
    const int64_t room = limit - atomic_load_explicit(&use->live, memory_order_relaxed);
    pthread_mutex_lock(&cache.lock);
    shrink_cache(room > 0 ? (size_t)room : 0);
    lt_unlock(&cache.lock);
}

void lt_block_trim(void)
{
    pthread_mutex_lock(&cache.lock);
    shrink_cache(0);
    lt_unlock(&cache.lock);
}

size_t lt_block_cached(void)
{
    pthread_mutex_lock(&cache.lock);
    const size_t bytes = cache.bytes;
    lt_unlock(&cache.lock);
    return bytes;
}

lt_status lt_memory_set_cache_limit(int64_t bytes)
{
    if (bytes < 0)
        return lt_error(LT_ERR_RUNTIME,
                        "lt_memory_set_cache_limit(): bytes is %lld, expected at least 0",
                        (long long)bytes);
    pthread_mutex_lock(&cache.lock);
    atomic_store_explicit(&cache.max_bytes, (size_t)bytes, memory_order_relaxed);
    shrink_cache((size_t)bytes);
    lt_unlock(&cache.lock);
    return LT_OK;
}

static size_t cache_limit(void)
{
    return atomic_load_explicit(&cache.max_bytes, memory_order_relaxed);
}

int64_t lt_memory_cache_limit(void) { return (int64_t)cache_limit(); }

int64_t lt_memory_trim(void)
{
    pthread_mutex_lock(&cache.lock);
    const int64_t bytes = (int64_t)cache.bytes;
    shrink_cache(0);
    lt_unlock(&cache.lock);
    lt_freelist_trim();
    trim_heap();
    return bytes;
}

/* ---- pools ----------------------------------------------------------------------------------- */

typedef struct lt_pooled_block {
    void *data;
    size_t capacity;
} lt_pooled_block;

static _Thread_local lt_block_pool *entered_pool;

lt_block_pool *lt_block_pool_enter(lt_block_pool *pool)
{
    lt_block_pool *before = entered_pool;
    entered_pool = pool;
    return before;
}

/* A block of exactly this capacity, the one that was freed last; NULL: there is none, or the charge
 * exceeds a limit. */
static void *reuse_pooled(lt_block_pool *pool, size_t capacity)
{
    int i = pool->n - 1;
    while (i >= 0 && pool->blocks[i].capacity != capacity) i--;
    if (i < 0 || !lt_mem_charge(LT_USE_HOST, (int64_t)capacity)) return NULL;
    void *data = pool->blocks[i].data;
    for (pool->n--; i < pool->n; i++) pool->blocks[i] = pool->blocks[i + 1];
    return data;
}

/* False: not enough memory for the list. */
static bool keep_pooled(lt_block_pool *pool, void *data, size_t capacity)
{
    if (pool->n == pool->room) {
        const int room = 2 * pool->room + 16;
        lt_pooled_block *blocks =
            lt_system_realloc(pool->blocks, (size_t)room * sizeof *pool->blocks);
        if (blocks == NULL) return false;
        pool->blocks = blocks, pool->room = room;
    }
    pool->blocks[pool->n++] = (lt_pooled_block){data, capacity};
    return true;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Whether blocks for n bytes are cached when they are freed. */
static bool is_cached_size(size_t n) { return n > SMALL && !lt_has_host_allocator(); }

/* Uncharges a block that the system cannot provide. */
static void *fail_block(size_t n, size_t charged)
{
    lt_mem_charge(LT_USE_HOST, -(int64_t)charged);
    return lt_out_of_memory(n);
}

/* A block that is not cached when it is freed. */
static void *alloc_uncached(size_t n, size_t rounded, size_t *capacity)
{
    if (!lt_mem_reserve(rounded)) return NULL;
    void *p = lt_system_aligned_alloc(rounded);
    if (p == NULL && lt_mem_reclaim()) p = lt_system_aligned_alloc(rounded);
    if (p == NULL) return fail_block(n, rounded);
    *capacity = rounded;
    return p;
}

void *lt_block_alloc(size_t n, size_t *capacity)
{
    int bin = 0;
    if (lt_mem_is_fault() || n > LARGEST) return lt_out_of_memory(n);
    const bool is_cached = is_cached_size(n);
    size_t rounded = is_cached ? size_class(n, &bin) : n > 0 ? (n + 63) & ~(size_t)63 : 64;
    void *p = entered_pool != NULL ? reuse_pooled(entered_pool, rounded) : NULL;
    if (p != NULL) {
        *capacity = rounded;
        return p;
    }
    if (!is_cached) return alloc_uncached(n, rounded, capacity);
    lt_system_mark_used();
    if (!lt_mem_reserve(rounded)) return NULL;
    /* A pool serves requests of the same size: a larger block would miss the next one. */
    const int end = entered_pool == NULL ? bin + LARGER : bin;
    p = reuse_block(bin, end, &rounded);
    if (p == NULL) {
        shrink_cache_to_limit();
        p = system_block(rounded);
    }
    if (p == NULL) {
        lt_mem_reclaim();
        p = reuse_block(bin, end, &rounded);
    }
    if (p == NULL) {
        lt_block_trim();
        p = system_block(rounded);
    }
    if (p == NULL) return fail_block(n, rounded);
    LT_ASSERT(rounded >= n, "%zu of %zu bytes", rounded, n);
    *capacity = rounded;
    return p;
}

void *lt_block_array(int64_t n, size_t size, size_t *capacity)
{
    const size_t bytes = lt_mem_array_bytes(n, size);
    return bytes != SIZE_MAX ? lt_block_alloc(bytes, capacity) : NULL;
}

/* Frees a block to the system or to the cache. */
static void return_block(void *p, size_t capacity)
{
    if (!is_cached_size(capacity)) {
        lt_system_aligned_free(p, capacity);
        return;
    }
    if (capacity > cache_limit()) {
        free_system_block(p, capacity);
        return;
    }
    int bin;
    size_class(capacity, &bin);
    LT_ASSERT(size_class(capacity, &bin) == capacity, "%zu bytes are no size class", capacity);
    pthread_mutex_lock(&cache.lock);
    const size_t max_bytes = cache_limit(); /* another thread may have lowered it */
    shrink_cache(max_bytes > capacity ? max_bytes - capacity : 0);
    cache_insert(bin, p, capacity);
    const bool starts_timer = !cache.timed && cache.bytes >= IDLE_BYTES;
    if (starts_timer) cache.timed = true;
    lt_unlock(&cache.lock);
    if (starts_timer) lt_watch_call(trim_idle_blocks, IDLE_SECONDS);
}

void lt_block_free(void *p, size_t capacity)
{
    if (p == NULL) return;
    lt_mem_charge(LT_USE_HOST, -(int64_t)capacity);
    if (entered_pool == NULL || !keep_pooled(entered_pool, p, capacity)) return_block(p, capacity);
}

void lt_block_pool_clear(lt_block_pool *pool)
{
    for (int i = 0; i < pool->n; i++) return_block(pool->blocks[i].data, pool->blocks[i].capacity);
    lt_system_free(pool->blocks);
    *pool = (lt_block_pool){NULL, 0, 0};
}

/* ---- fork ------------------------------------------------------------------------------------ */

LT_HOLD_ACROSS_FORK(cache.lock)

/* The child has no thread of watch.c. */
static void cache_in_child(void) { cache.timed = false; }

__attribute__((constructor)) static void register_fork_handler(void)
{
    lt_at_fork(NULL, NULL, cache_in_child);
}
