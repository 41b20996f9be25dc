/* memory.c - see system/memory.h. */
#include "system/memory.h"

#include <malloc.h>
#include <windows.h>

void *lt_aligned_alloc(size_t n) { return _aligned_malloc(n, 64); }

void lt_aligned_free(void *p) { _aligned_free(p); }

void *lt_pages_alloc(size_t n)
{
    return VirtualAlloc(NULL, n, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

void lt_pages_free(void *p, size_t n)
{
    (void)n;
    VirtualFree(p, 0, MEM_RELEASE);
}

/* Windows counts the pages when they are allocated, but provides them when they are written. */
void *lt_addresses_reserve(size_t n) { return lt_pages_alloc(n); }

void lt_heap_trim(void) { _heapmin(); }
