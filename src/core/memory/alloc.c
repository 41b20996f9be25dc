/* alloc.c - see alloc.h. */
#include "alloc.h"

#include <string.h>

#include "charged.h"
#include "saturating.h"
#include "error.h"
#include "system.h"

void *lt_mem_alloc(size_t n)
{
    if (lt_mem_is_fault()) return lt_out_of_memory(n);
    if (lt_charges_allocations()) return lt_charged_alloc(n);
    void *p = lt_system_alloc(n);
    return p != NULL ? p : lt_out_of_memory(n);
}

/* Large allocations of calloc are zero pages, which are not touched before they are used. */
void *lt_mem_zalloc(size_t n)
{
    if (lt_mem_is_fault()) return lt_out_of_memory(n);
    if (lt_charges_allocations()) {
        void *charged = lt_charged_alloc(n);
        return charged != NULL ? memset(charged, 0, n) : NULL;
    }
    void *p = lt_system_zalloc(n);
    return p != NULL ? p : lt_out_of_memory(n);
}

void *lt_mem_realloc(void *old, size_t n)
{
    if (lt_mem_is_fault()) return lt_out_of_memory(n);
    if (lt_is_charged(old)) return lt_charged_realloc(old, n);
    if (old == NULL && lt_charges_allocations()) return lt_charged_alloc(n);
    void *p = lt_system_realloc(old, n);
    return p != NULL ? p : lt_out_of_memory(n);
}

void lt_mem_free(void *p)
{
    if (lt_is_charged(p))
        lt_charged_free(p);
    else
        lt_system_free(p);
}

size_t lt_mem_array_bytes(int64_t n, size_t size)
{
    const int64_t bytes = lt_mul_sat(n != 0 ? n : 1, (int64_t)size);
    if (bytes != LT_TOO_MUCH) return (size_t)bytes;
    lt_error_set(LT_ERR_MEMORY, "out of memory: you tried to allocate %lld entries of %zu bytes.",
                 (long long)n, size);
    return SIZE_MAX;
}

void *lt_mem_array(int64_t n, size_t size)
{
    const size_t bytes = lt_mem_array_bytes(n, size);
    return bytes != SIZE_MAX ? lt_mem_alloc(bytes) : NULL;
}

void *lt_mem_zarray(int64_t n, size_t size)
{
    const size_t bytes = lt_mem_array_bytes(n, size);
    return bytes != SIZE_MAX ? lt_mem_zalloc(bytes) : NULL;
}

void *lt_mem_rearray(void *old, int64_t n, size_t size)
{
    const size_t bytes = lt_mem_array_bytes(n, size);
    return bytes != SIZE_MAX ? lt_mem_realloc(old, bytes) : NULL;
}
