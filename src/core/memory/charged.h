/* charged.h - structs and arrays that count against the host limit of their context, so that a
 * script cannot fill the memory with views, nodes, hooks or lists. alloc.c and freelist.c use it in
 * a context with a limit, where a header with the context and the size precedes each allocation.
 *
 * The pointer is 8 more than a multiple of 16, which malloc never returns: this distinguishes
 * charged allocations when they are freed. A host's allocator may return any address, so that
 * nothing is charged with one. Private to this folder. */
#ifndef LT_MEMORY_CHARGED_H
#define LT_MEMORY_CHARGED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "context/context.h"
#include "system.h"

/* Whether the allocations of the thread's context are charged. */
static inline bool lt_charges_allocations(void)
{
    const uint32_t flags = atomic_load_explicit(&lt_tls.context->flags, memory_order_relaxed);
    return __builtin_expect((flags & LT_CONTEXT_LIMITED) != 0, 0) && !lt_has_host_allocator();
}

static inline bool lt_is_charged(const void *p)
{
    return ((uintptr_t)p & 8) != 0 && !lt_has_host_allocator();
}

/* Counts n bytes even above the limit if they are few: the caller may hold locks, so that no
 * garbage can be collected. The next tensor, block or object of Lua then fails. */
void *lt_charged_alloc(size_t n);
void *lt_charged_realloc(void *p, size_t n);

/* Collects garbage when n bytes exceed the limit, and tries again. */
void *lt_charged_alloc_reserve(size_t n);

void lt_charged_free(void *p);

#endif
