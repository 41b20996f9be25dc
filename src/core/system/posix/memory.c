/* memory.c - see system/memory.h. */
#include "system/memory.h"

#include <stdlib.h>
#include <sys/mman.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#define HUGE_PAGE ((size_t)2 << 20)

void *lt_aligned_alloc(size_t n) { return aligned_alloc(64, n); }

void lt_aligned_free(void *p) { free(p); }

static void *map_pages(size_t n, int flags)
{
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    return p != MAP_FAILED ? p : NULL;
}

void *lt_pages_alloc(size_t n)
{
    void *p = map_pages(n, 0);
#ifdef MADV_HUGEPAGE /* Linux */
    if (p != NULL && n >= 2 * HUGE_PAGE) madvise(p, n, MADV_HUGEPAGE);
#endif
    return p;
}

void lt_pages_free(void *p, size_t n) { munmap(p, n); }

void *lt_addresses_reserve(size_t n) { return map_pages(n, MAP_NORESERVE); }

void lt_heap_trim(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
