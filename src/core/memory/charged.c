/* charged.c - see charged.h. */
#include "charged.h"

#include "limit.h"

/* Bytes: allocations up to this size are counted even above the limit. Larger ones have pages of
 * their own (block.c). */
#define SMALL ((int64_t)64 << 10)

typedef struct charged_header {
    lt_context *context; /* held */
    size_t bytes;        /* counted, this header included */
} charged_header;
#define HEADER_BYTES 24

static inline charged_header *header_of(void *p)
{
    return (charged_header *)((char *)p - HEADER_BYTES);
}

/* SIZE_MAX / 2, which every allocator rejects, if n is too large. */
static size_t with_header(size_t n) { return n < SIZE_MAX / 2 ? n + HEADER_BYTES : SIZE_MAX / 2; }

static bool count_bytes(lt_context *c, int64_t bytes)
{
    if (lt_mem_count_host(c, bytes)) return true;
    if (bytes > SMALL) return false;
    atomic_fetch_add_explicit(&c->use[LT_USE_HOST].live, bytes, memory_order_relaxed);
    return true;
}

/* Allocates bytes that have been counted in the thread's context. */
static void *alloc_counted(size_t bytes)
{
    lt_context *c = lt_tls.context;
    char *memory = lt_system_alloc(bytes);
    if (memory == NULL) {
        lt_mem_charge(LT_USE_HOST, -(int64_t)bytes);
        return lt_out_of_memory(bytes - HEADER_BYTES);
    }
    *(charged_header *)memory = (charged_header){c, bytes};
    lt_context_hold(c);
    return memory + HEADER_BYTES;
}

void *lt_charged_alloc(size_t n)
{
    lt_context *c = lt_tls.context;
    const size_t bytes = with_header(n);
    if (!count_bytes(c, (int64_t)bytes)) {
        lt_mem_limit_error(LT_USE_HOST, (int64_t)bytes);
        return NULL;
    }
    atomic_fetch_add_explicit(&c->allocated[LT_PACE_HOST], bytes, memory_order_relaxed);
    return alloc_counted(bytes);
}

void *lt_charged_alloc_reserve(size_t n)
{
    const size_t bytes = with_header(n);
    return lt_mem_reserve(bytes) ? alloc_counted(bytes) : NULL;
}

void *lt_charged_realloc(void *p, size_t n)
{
    charged_header *h = header_of(p);
    const size_t bytes = with_header(n);
    const int64_t growth = (int64_t)bytes - (int64_t)h->bytes;
    if (!count_bytes(h->context, growth)) {
        lt_mem_limit_error(LT_USE_HOST, growth);
        return NULL;
    }
    char *memory = lt_system_realloc(h, bytes);
    if (memory == NULL) {
        atomic_fetch_sub_explicit(&h->context->use[LT_USE_HOST].live, growth, memory_order_relaxed);
        return lt_out_of_memory(n);
    }
    ((charged_header *)memory)->bytes = bytes;
    return memory + HEADER_BYTES;
}

void lt_charged_free(void *p)
{
    const charged_header h = *header_of(p);
    lt_system_free(header_of(p));
    lt_mem_uncharge(h.context, LT_USE_HOST, (int64_t)h.bytes);
}
