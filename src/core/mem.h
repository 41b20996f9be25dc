/* mem.h - the one door to host memory. Only mem.c calls malloc, so that every allocation can be
 * made to fail in a test and every byte is counted.
 *
 * Two services: small objects (structs), and data blocks for CPU storages. Freed data blocks are
 * kept by size class and handed out again, so that a loop over large temporaries takes no page
 * faults. */
#ifndef LT_MEM_H
#define LT_MEM_H

#include "checked.h"
#include "context/context.h"
#include "ltensor.h"

/* Small objects. NULL (with the error message set) when memory is exhausted. */
void *lt_mem_alloc(size_t n);
void *lt_mem_zalloc(size_t n);
void *lt_mem_realloc(void *p, size_t n);
void lt_mem_free(void *p);

/* Arrays of n entries of `size` bytes, never NULL for n = 0. NULL (with the message set) when n is
 * negative or too much (checked.h), or memory is exhausted. The second is filled with zeros; the
 * third makes an old array longer. */
void *lt_mem_array(int64_t n, size_t size);
void *lt_mem_zarray(int64_t n, size_t size);
void *lt_mem_rearray(void *old, int64_t n, size_t size);

/* Structs that come and go with every operation: freed ones are kept per thread, by size, and
 * handed out again. The size must be given back as it was asked for. */
void *lt_mem_take(size_t n);
void lt_mem_give(void *p, size_t n);

/* Data blocks, 64-byte aligned. *capacity receives the usable size, to be given back on release. */
void *lt_block_alloc(size_t n, size_t *capacity);
/* n entries of `size` bytes, as lt_mem_array */
void *lt_block_array(int64_t n, size_t size, size_t *capacity);
void lt_block_free(void *p, size_t capacity);

/* Returns cached free blocks to the system. */
void lt_block_trim(void);
size_t lt_block_kept(void); /* bytes in them, LT_BLOCK_KEEP at most */
#define LT_BLOCK_KEEP ((size_t)256 << 20)

/* Counts bytes of tensor data in this thread's context, at LT_USE_HOST or LT_USE_DEVICE(i);
 * negative when released. Blocks above do it themselves: they are given back in the context in
 * which they were taken. False when the context's limit would be passed: nothing was counted. */
bool lt_mem_charge(int use, int64_t bytes);
/* As lt_mem_charge for bytes of the host; runs the reclaimer where they pass the limit, and sets
 * the error where they still do. */
bool lt_mem_afford(size_t n);
/* Bytes of host memory that the thread may hold more than when it began, for a loader of files that
 * nobody vouches for: a small file can ask for very much. Charges count against every budget that
 * is open in the thread. */
typedef struct lt_budget {
    int64_t live, limit;
    struct lt_budget *outer;
} lt_budget;
/* The budget of a file of so many bytes: 64 times these, and at least 256 MB; or what the user has
 * asked for instead (0: nothing). Numbers compress to a tenth at best; what deflate can make of
 * zeros is 1,032 times as much. */
int64_t lt_budget_for(int64_t file_bytes, int64_t asked);
#define LT_BUDGET_TIMES 64
/* Opens a budget, which must be closed in the same thread, the last one first. */
void lt_budget_open(lt_budget *budget, int64_t limit);
void lt_budget_close(lt_budget *budget);
/* Counts bytes that are about to be allocated elsewhere (by Lua, by a library), until the budgets
 * are closed. LT_ERR_MEMORY: more than one of them allows; nothing was counted. */
lt_status lt_budget_spend(int64_t bytes);
/* Gives back what counts against a context that is held for it, and drops that. */
void lt_mem_charge_back(lt_context *c, int use, int64_t bytes);
/* Sets the error of bytes that pass the limit of this thread's context. */
lt_status lt_mem_refuse(int use, int64_t bytes);
/* realloc, for memory that counts against the host's limit of a context and whose owner remembers
 * how much it is; bytes 0 frees. NULL without a message: there is no more. What becomes smaller
 * does not fail. */
void *lt_mem_resize_counted(lt_context *c, void *old, size_t old_bytes, size_t bytes);
/* Bytes of tensor data that this thread's context holds now, on all devices. */
int64_t lt_mem_live(void);
/* The same as they count for an interpreter that collects after so many: those of a device by the
 * share of its memory that they are, as what a GPU of 80 GB has in a millisecond would fill the
 * host. */
int64_t lt_mem_weight(void);
/* of weight that such an interpreter lets be, at most: a thirty-second of a large device's
 * memory */
#define LT_MEM_GARBAGE ((int64_t)96 << 20)
/* How much memory a device has, for their weight. */
void lt_mem_know_device(int use, int64_t total);
bool lt_mem_knows_device(int use);
/* The most bytes of the host that were live at once in the thread's context since this was asked
 * last. */
int64_t lt_mem_take_peak(void);

/* Has the interpreter that called collect (guarded against recursion); false when there is none. */
bool lt_mem_reclaim(void);

/* Tests: the nth allocation from now on fails (0 = never). Also env LTENSOR_MEM_FAULT. */
void lt_mem_fail_after(int64_t n);

#endif
