/* freelist.h - free lists for structs that every operation allocates, such as tensors.
 *
 * A freed struct is added to a list of its size in the freeing thread, which reuses it for its next
 * allocation of that size. */
#ifndef LT_MEMORY_FREELIST_H
#define LT_MEMORY_FREELIST_H

#include <stddef.h>

/* NULL with the error set: out of memory. In a context with a limit, garbage is collected first. */
void *lt_freelist_alloc(size_t n);

/* n: the size passed to lt_freelist_alloc. Any thread may free. */
void lt_freelist_free(void *p, size_t n);

/* Frees the structs in the thread's lists. */
void lt_freelist_trim(void);

#endif
