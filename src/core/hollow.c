/* hollow.c - see hollow.h. On the host what has no memory has addresses: pages that are never written. */
#include "hollow.h"

#include <sys/mman.h>

#include "error.h"
#include "mem.h"

enum { HOLLOW_VERSION = 1 << 30 };

typedef struct pages {
    void *start;
    size_t bytes;
} pages;

static void give_back(void *given)
{
    pages *p = given;
    munmap(p->start, p->bytes);
    lt_mem_free(p);
}

static lt_status find_pages(size_t bytes, lt_foreign *memory)
{
    pages *p = lt_mem_alloc(sizeof *p);
    if (p == NULL) return LT_ERR_MEMORY;
    p->bytes = bytes > 0 ? bytes : 1;
    p->start = mmap(NULL, p->bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p->start == MAP_FAILED) {
        lt_mem_free(p);
        return lt_error(LT_ERR_MEMORY, "no addresses are left for %zu bytes", bytes);
    }
    *memory =
        (lt_foreign){.data = p->start, .device = memory->device, .release = give_back, .ctx = p};
    return LT_OK;
}

lt_status lt_storage_hollow(const lt_tensor *t, lt_tensor **out)
{
    lt_foreign memory = {.device = t->storage->device};
    const int64_t bytes = (int64_t)t->storage->nbytes;
    if (memory.device.type == LT_CPU) LT_TRY(find_pages((size_t)bytes, &memory));
    const lt_status status = lt_tensor_over(&memory, LT_UINT8, 1, &bytes, NULL, out);
    if (status != LT_OK) {
        if (memory.release != NULL) memory.release(memory.ctx);
        return status;
    }
    atomic_store_explicit(&(*out)->storage->version, HOLLOW_VERSION, memory_order_relaxed);
    return LT_OK;
}
