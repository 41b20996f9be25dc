/* freelist.h - allocates structs that every operation needs, such as tensors.
 *
 * Freed structs go to a list of their size in the freeing thread. Its next allocation of that size
 * uses them. */
#ifndef LT_MEMORY_FREELIST_H
#define LT_MEMORY_FREELIST_H

#include <stddef.h>

/* NULL, with the error set, when memory is exhausted. In a context with a limit, garbage is
 * collected first. */
void *lt_freelist_alloc(size_t n);

/* n is the size of the allocation. Any thread may free. */
void lt_freelist_free(void *p, size_t n);

/* Frees the structs in the thread's lists. */
void lt_freelist_trim(void);

#endif
