/* system.c - see system.h. */
#include "system.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "system/memory.h"

lt_allocator lt_host_allocator;
_Atomic int64_t lt_mem_fault_countdown;
static _Atomic bool used; /* memory has been allocated */

__attribute__((constructor)) static void read_fault_setting(void)
{
    const char *text = getenv("LTENSOR_MEM_FAULT");
    if (text != NULL) lt_mem_fault_countdown = atoll(text);
}

void lt_mem_fail_after(int64_t n) { lt_mem_fault_countdown = n; }

bool lt_mem_count_fault(void) { return atomic_fetch_sub(&lt_mem_fault_countdown, 1) == 1; }

void *lt_out_of_memory(size_t n)
{
    lt_error_set(LT_ERR_MEMORY, "out of memory: you tried to allocate %zu bytes.", n);
    return NULL;
}

lt_status lt_set_allocator(const lt_allocator *allocator)
{
    LT_REQUIRE(allocator);
    if (allocator->size < sizeof lt_host_allocator)
        return lt_error(LT_ERR_TYPE,
                        "lt_set_allocator(): size is %zu, must be sizeof(lt_allocator)",
                        allocator->size);
    LT_REQUIRE(allocator->resize);
    LT_REQUIRE(allocator->take_block);
    LT_REQUIRE(allocator->give_block);
    if (atomic_load(&used))
        return lt_error(LT_ERR_RUNTIME,
                        "lt_set_allocator() must come before everything else: memory is in use");
    lt_host_allocator = *allocator;
    lt_host_allocator.size = sizeof lt_host_allocator;
    return LT_OK;
}

void lt_system_mark_used(void)
{
    if (!atomic_load_explicit(&used, memory_order_relaxed))
        atomic_store_explicit(&used, true, memory_order_relaxed);
}

static void *host_resize(void *p, size_t n)
{
    return lt_host_allocator.resize(lt_host_allocator.user, p, n);
}

void *lt_system_alloc(size_t n)
{
    lt_system_mark_used();
    return lt_has_host_allocator() ? host_resize(NULL, n > 0 ? n : 1) : malloc(n);
}

void *lt_system_zalloc(size_t n)
{
    lt_system_mark_used();
    if (!lt_has_host_allocator()) return calloc(1, n);
    void *p = host_resize(NULL, n);
    return p != NULL ? memset(p, 0, n) : NULL;
}

void *lt_system_realloc(void *p, size_t n)
{
    lt_system_mark_used();
    return lt_has_host_allocator() ? host_resize(p, n > 0 ? n : 1) : realloc(p, n);
}

void lt_system_free(void *p)
{
    if (!lt_has_host_allocator())
        free(p);
    else if (p != NULL)
        host_resize(p, 0);
}

void *lt_system_aligned_alloc(size_t n)
{
    lt_system_mark_used();
    return lt_has_host_allocator() ? lt_host_allocator.take_block(lt_host_allocator.user, n)
                                   : lt_aligned_alloc(n);
}

void lt_system_aligned_free(void *p, size_t n)
{
    if (lt_has_host_allocator())
        lt_host_allocator.give_block(lt_host_allocator.user, p, n);
    else
        lt_aligned_free(p);
}
