/* system.h - the source of host memory: the C library, or the functions of lt_set_allocator().
 *
 * Every allocation of the library comes from here or from the pages of block.c, so that a test can
 * make each of them fail and each byte is counted. The rest of the library uses alloc.h, freelist.h
 * and block.h, and of this file only lt_mem_fail_after(). */
#ifndef LT_MEMORY_SYSTEM_H
#define LT_MEMORY_SYSTEM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ltensor.h"

/* The host's functions; size 0: none. Written once, before the first allocation. */
extern lt_allocator lt_host_allocator;
static inline bool lt_has_host_allocator(void)
{
    return __builtin_expect(lt_host_allocator.size != 0, 0);
}

/* As malloc, calloc(1, n), realloc and free. NULL without a message: out of memory. */
void *lt_system_alloc(size_t n);
void *lt_system_zalloc(size_t n);
void *lt_system_realloc(void *p, size_t n);
void lt_system_free(void *p);

/* Aligned to 64 bytes. n is a multiple of 64; pass the same n to free it. */
void *lt_system_aligned_alloc(size_t n);
void lt_system_aligned_free(void *p, size_t n);

/* Records an allocation from elsewhere: from now on lt_set_allocator() is an error. */
void lt_system_mark_used(void);

/* Sets the error of an allocation of n bytes. Returns NULL. */
void *lt_out_of_memory(size_t n);

/* Makes the nth allocation from now on fail (0: none), like the environment variable
 * LTENSOR_MEM_FAULT. For tests. */
void lt_mem_fail_after(int64_t n);

/* Whether this allocation was selected by lt_mem_fail_after(). */
extern _Atomic int64_t lt_mem_fault_countdown; /* 0: none is selected */
bool lt_mem_count_fault(void);
static inline bool lt_mem_is_fault(void)
{
    return atomic_load_explicit(&lt_mem_fault_countdown, memory_order_relaxed) != 0 &&
           lt_mem_count_fault();
}

#endif
