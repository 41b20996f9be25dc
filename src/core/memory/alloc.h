/* alloc.h - allocates structs and arrays.
 *
 * - On failure a function returns NULL with the error message set; lt_mem_realloc and
 *   lt_mem_rearray leave the old allocation as it was.
 * - In a context with a limit of host memory, allocations count against it.
 * - Free with lt_mem_free, from any thread.
 *
 * Use freelist.h for structs of a fixed size that every operation allocates, and block.h for the
 * data of tensors. */
#ifndef LT_MEMORY_ALLOC_H
#define LT_MEMORY_ALLOC_H

#include <stddef.h>
#include <stdint.h>

void *lt_mem_alloc(size_t n);
void *lt_mem_zalloc(size_t n); /* filled with zeros */
void *lt_mem_realloc(void *p, size_t n);
void lt_mem_free(void *p); /* NULL: does nothing */

/* Arrays of n entries of `size` bytes; never NULL for n = 0. NULL also when n is negative or the
 * size overflows. lt_mem_zarray fills with zeros; lt_mem_rearray resizes an array. */
void *lt_mem_array(int64_t n, size_t size);
void *lt_mem_zarray(int64_t n, size_t size);
void *lt_mem_rearray(void *old, int64_t n, size_t size);

/* Bytes of n entries of `size` bytes, at least one entry. SIZE_MAX, with the error set: n is
 * negative or the size overflows. */
size_t lt_mem_array_bytes(int64_t n, size_t size);

#endif
