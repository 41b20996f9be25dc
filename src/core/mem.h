/* mem.h - the one door to host memory. Only mem.c calls malloc, so that every allocation can be made
 * to fail in a test and every byte is counted.
 *
 * Two services: small objects (structs), and data blocks for CPU storages. Freed data blocks are kept
 * by size class and handed out again, so that a loop over large temporaries takes no page faults. */
#ifndef LT_MEM_H
#define LT_MEM_H

#include "checked.h"
#include "ltensor.h"

/* Small objects. NULL (with the error message set) when memory is exhausted. */
void *lt_mem_alloc(size_t n);
void *lt_mem_zalloc(size_t n);
void *lt_mem_realloc(void *p, size_t n);
void lt_mem_free(void *p);

/* Arrays of n entries of `size` bytes, never NULL for n = 0. NULL (with the message set) when n is negative or too
 * much (checked.h), or memory is exhausted. The second is filled with zeros; the third makes an old array longer. */
void *lt_mem_array(int64_t n, size_t size);
void *lt_mem_zarray(int64_t n, size_t size);
void *lt_mem_rearray(void *old, int64_t n, size_t size);

/* Structs that come and go with every operation: freed ones are kept per thread, by size, and handed out
 * again. The size must be given back as it was asked for. */
void *lt_mem_take(size_t n);
void lt_mem_give(void *p, size_t n);

/* Data blocks, 64-byte aligned. *capacity receives the usable size, to be given back on release. */
void *lt_block_alloc(size_t n, size_t *capacity);
void *lt_block_array(int64_t n, size_t size, size_t *capacity); /* n entries of `size` bytes, as lt_mem_array */
void lt_block_free(void *p, size_t capacity);

/* Returns cached free blocks to the system. */
void lt_block_trim(void);
size_t lt_block_kept(void); /* bytes in them, LT_BLOCK_KEEP at most */
#define LT_BLOCK_KEEP ((size_t)256 << 20)

/* Bytes of tensor data handed out since the start (never decreases), and held now, on all devices.
 * The Lua binding paces its collector by them. Backends add theirs with lt_mem_charge. */
typedef struct lt_mem_counters {
    _Atomic uint64_t allocated; /* bytes, cumulative */
    _Atomic int64_t live;       /* bytes */
} lt_mem_counters;
extern lt_mem_counters lt_mem_total;
void lt_mem_charge(int64_t bytes); /* negative when released */

/* What to do when memory runs out, per thread: called once before an allocation is retried. The binding
 * points it at a full Lua collection. */
typedef struct lt_reclaimer {
    void (*run)(void *ctx);
    void *ctx;
} lt_reclaimer;
extern _Thread_local lt_reclaimer lt_mem_reclaimer;
/* Runs the reclaimer (guarded against recursion); false when there is none. */
bool lt_mem_reclaim(void);

/* Tests: the nth allocation from now on fails (0 = never). Also env LTENSOR_MEM_FAULT. */
void lt_mem_fail_after(int64_t n);

#endif
