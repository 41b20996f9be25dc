/* memory.h - memory of the system: aligned blocks and pages. No function sets an error message;
 * NULL: out of memory. Includes nothing of the library. */
#ifndef LT_SYSTEM_MEMORY_H
#define LT_SYSTEM_MEMORY_H

#include <stddef.h>

/* A block of the C library, aligned to 64 bytes. n is a multiple of 64. */
void *lt_aligned_alloc(size_t n);
void lt_aligned_free(void *p);

/* Pages of zeros, in huge pages if the system has them and the block is large. Pass the same n to
 * lt_pages_free. */
void *lt_pages_alloc(size_t n);
void lt_pages_free(void *p, size_t n);

/* Addresses that read as zeros and occupy no memory until they are written. Freed by lt_pages_free.
 * */
void *lt_addresses_reserve(size_t n);

/* Returns the free pages of the C library's heap to the system, if the C library can. */
void lt_heap_trim(void);

#endif
