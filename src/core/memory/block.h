/* block.h - allocates blocks for the data of CPU tensors, and caches freed ones.
 *
 * A freed block stays mapped in a cache of the process, so that a loop over large temporaries
 * causes no page faults. The cache holds at most LT_BLOCK_CACHE_MAX bytes, or the limit that
 * the host set (lt_memory_set_cache_limit); beyond that the blocks
 * that were freed first are evicted. Blocks that stay unused for some seconds return to the
 * system. */
#ifndef LT_MEMORY_BLOCK_H
#define LT_MEMORY_BLOCK_H

#include <stddef.h>
#include <stdint.h>

/* At least n bytes, aligned to 64; *capacity: the usable size. Charged to the context. When out of
 * memory, collects garbage, empties the cache and retries; NULL with the error set if that fails
 * too. */
void *lt_block_alloc(size_t n, size_t *capacity);
/* The same for n entries of `size` bytes, as lt_mem_array. */
void *lt_block_array(int64_t n, size_t size, size_t *capacity);
/* Call it in the context in which the block was allocated. NULL: does nothing. */
void lt_block_free(void *p, size_t capacity);

/* Blocks that one thread at a time keeps for work that repeats the same requests: from the second
 * time on it neither allocates nor locks. The blocks are charged while they are in use. */
typedef struct lt_block_pool {
    struct lt_pooled_block *blocks;
    int n, room;
} lt_block_pool;
/* From now on, blocks of this thread come from the pool if it has one of the same size, and are
 * freed to it. NULL: no pool. Returns the pool until then, to which the caller returns. */
lt_block_pool *lt_block_pool_enter(lt_block_pool *pool);
/* Frees the blocks of a pool that no thread is in. */
void lt_block_pool_clear(lt_block_pool *pool);

/* Empties the cache. */
void lt_block_trim(void);
/* Bytes in the cache. */
size_t lt_block_cached(void);
#define LT_BLOCK_CACHE_MAX ((size_t)256 << 20)

#endif
