/* allocator.c - a pool allocator for small Lua objects.
 *
 * Each result of an operation is a small userdata, which the collector frees by the thousand. The C
 * library's allocator would merge such blocks and return pages, only to request them again. Lua
 * passes the size of a freed block, so one free list per size without headers is enough. The pools
 * occupy one reserved address range, which identifies their blocks; blocks allocated before the
 * installation belong to malloc.
 *
 * After Ctrl-C, large allocations fail: this ends functions of Lua that accumulate data without
 * running hooks, such as a read of all of /dev/zero. Includes the Lua API and interrupt.h only. */
#include "allocator.h"

#include <linux/mman.h>
#include <lua.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "system/interrupt.h"

#define GRAIN   ((size_t)16)
#define LARGEST ((size_t)512) /* maximum bytes of a pooled object */
#define RANGE   ((size_t)64 << 30)
#define CHUNK   ((size_t)64 * 1024)  /* bytes; divided into objects of one size */
#define LARGE   ((size_t)8 << 20)    /* bytes; a block of this size takes time to fill */
#define PAGE    ((uintptr_t)2 << 20) /* bytes of a large page */

typedef struct free_object {
    struct free_object *next;
} free_object;

static struct {
    free_object *free[LARGEST / GRAIN + 1];
    char *start, *next, *end;
} pool;

static bool is_pooled(const void *p)
{
    return (const char *)p >= pool.start && (const char *)p < pool.end;
}

/* Allocates a chunk of objects, in the order of their addresses. */
static free_object *refill(size_t class)
{
    size_t size = class * GRAIN;
    if ((size_t)(pool.end - pool.next) < CHUNK) return NULL;
    char *chunk = pool.next;
    size_t n = CHUNK / size;
    pool.next += CHUNK;
    for (size_t i = 0; i + 1 < n; i++)
        ((free_object *)(chunk + i * size))->next = (free_object *)(chunk + (i + 1) * size);
    ((free_object *)(chunk + (n - 1) * size))->next = NULL;
    return (free_object *)chunk;
}

/* Populates the pages between the addresses in pieces, and polls for Ctrl-C between them: otherwise
 * the first write of an uninterruptible function would wait for all pages. False after Ctrl-C. */
static bool populate(uintptr_t start, uintptr_t end)
{
    enum { PIECE = 32 << 20 };
    if (start < end) (void)madvise((void *)start, end - start, MADV_HUGEPAGE);
    for (; start < end && !interrupt_is_due(); start += PIECE)
        (void)madvise((void *)start, end - start < PIECE ? end - start : PIECE,
                      MADV_POPULATE_WRITE);
    return start >= end;
}

/* malloc for large blocks that will be filled. */
static void *take_large(size_t n)
{
    if (interrupt_is_due()) return NULL;
    char *p = malloc(n);
    if (p == NULL ||
        populate(((uintptr_t)p + PAGE - 1) / PAGE * PAGE, ((uintptr_t)p + n) / PAGE * PAGE))
        return p;
    free(p);
    return NULL;
}

static void *pool_alloc(size_t n)
{
    if (n >= LARGE) return take_large(n);
    if (n > LARGEST) return malloc(n);
    size_t class = (n + GRAIN - 1) / GRAIN;
    free_object *object = pool.free[class];
    if (object == NULL) object = refill(class);
    if (object == NULL) return malloc(n);
    pool.free[class] = object->next;
    return object;
}

static void pool_free(void *p, size_t n)
{
    if (!is_pooled(p)) {
        free(p);
        return;
    }
    free_object *object = p;
    size_t class = (n + GRAIN - 1) / GRAIN;
    object->next = pool.free[class];
    pool.free[class] = object;
}

/* lua_Alloc */
static void *allocate(void *ud, void *old, size_t old_size, size_t n)
{
    (void)ud;
    if (n == 0) {
        if (old != NULL) pool_free(old, old_size);
        return NULL;
    }
    if (old == NULL) return pool_alloc(n);
    if (n >= LARGE && n > old_size && interrupt_is_due()) return NULL;
    if (!is_pooled(old) && n > LARGEST) return realloc(old, n);
    if (is_pooled(old) && (n + GRAIN - 1) / GRAIN == (old_size + GRAIN - 1) / GRAIN) return old;
    void *p = pool_alloc(n);
    if (p == NULL) return n <= old_size ? old : NULL; /* shrinking must not fail */
    memcpy(p, old, n < old_size ? n : old_size);
    pool_free(old, old_size);
    return p;
}

void allocator_install(lua_State *L)
{
/* A memory checker must see every object separately: without an address range, nothing is pooled.
 */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    void *range = mmap(NULL, RANGE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range != MAP_FAILED) {
        pool.start = pool.next = range;
        pool.end = pool.start + RANGE;
    }
#endif
    lua_setallocf(L, allocate, NULL);
}
