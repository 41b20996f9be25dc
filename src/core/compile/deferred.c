/* deferred.c - see deferred.h. On the host, a freed storage reserves an address range without
 * memory. Code that reads it in error, such as a thread that races with the freeing thread, reads
 * zeros and does not crash. */
#include "deferred.h"

#include <string.h>

#include "dtypes/dtype.h"
#include "error.h"
#include "memory/alloc.h"
#include "system/memory.h"

enum { FREED_VERSION = 1 << 30 };

_Atomic int32_t lt_deferred_storages;

/* The ctx of a freed storage. */
typedef struct freed {
    lt_deferral deferral;
    void *pages; /* NULL on devices */
    size_t bytes;
    const char *reason; /* stored after the parts, before the names */
    int n;
    lt_freed_part parts[];
} freed;

static void freed_release(void *given)
{
    freed *h = given;
    if (h->pages != NULL) lt_pages_free(h->pages, h->bytes);
    lt_mem_free(h);
    atomic_fetch_sub_explicit(&lt_deferred_storages, 1, memory_order_relaxed);
}

/* Copies a text to *place and advances *place past it. */
static const char *keep_text(char **place, const char *text)
{
    const size_t n = strlen(text) + 1;
    char *kept = memcpy(*place, text, n);
    *place += n;
    return kept;
}

static lt_status freed_error(const char *op, const lt_tensor *t)
{
    const freed *h = t->storage->ctx;
    const int64_t at = t->offset * (int64_t)lt_dtype_size((lt_dtype)t->dtype);
    const char *name = NULL;
    char sizes[256];
    for (int i = 0; i < h->n && h->parts[i].from <= at; i++) name = h->parts[i].name;
    return lt_error(LT_ERR_RUNTIME, "%s(): the memory of the %s Tensor %s%s%s%s was freed: %s", op,
                    lt_dtype_scalar_name((lt_dtype)t->dtype),
                    lt_format_sizes(sizes, sizeof sizes, t->ndim, t->sizes),
                    name != NULL ? ", of parameter '" : "", name != NULL ? name : "",
                    name != NULL ? "'," : "", h->reason);
}

static lt_status freed_new(const lt_freed_part *parts, int n, const char *reason, freed **out)
{
    const size_t fixed = sizeof(freed) + (size_t)n * sizeof *parts;
    size_t texts = strlen(reason) + 1;
    for (int i = 0; i < n; i++) texts += strlen(parts[i].name) + 1;
    freed *h = lt_mem_zalloc(fixed + texts);
    if (h == NULL) return LT_ERR_MEMORY;
    char *place = (char *)h + fixed;
    h->deferral.materialize = freed_error;
    h->n = n;
    h->reason = keep_text(&place, reason);
    for (int i = 0; i < n; i++)
        h->parts[i] = (lt_freed_part){parts[i].from, keep_text(&place, parts[i].name)};
    *out = h;
    return LT_OK;
}

static lt_status find_pages(freed *h, size_t bytes)
{
    h->bytes = bytes > 0 ? bytes : 1;
    h->pages = lt_addresses_reserve(h->bytes);
    if (h->pages == NULL)
        return lt_error(LT_ERR_MEMORY, "no addresses are left for %zu bytes", h->bytes);
    return LT_OK;
}

lt_status lt_storage_freed(const lt_tensor *t, const lt_freed_part *parts, int n,
                           const char *reason, lt_tensor **out)
{
    const lt_device device = t->storage->device;
    const int64_t bytes = (int64_t)t->storage->nbytes;
    freed *h;
    LT_TRY(freed_new(parts, n, reason, &h));
    atomic_fetch_add_explicit(&lt_deferred_storages, 1, memory_order_relaxed);
    lt_status status = device.type == LT_CPU ? find_pages(h, (size_t)bytes) : LT_OK;
    if (status == LT_OK)
        status = lt_tensor_over(
            &(lt_foreign){.data = h->pages, .device = device, .release = freed_release, .ctx = h},
            LT_UINT8, 1, &bytes, NULL, out);
    if (status != LT_OK) {
        freed_release(h);
        return status;
    }
    (*out)->storage->deferred = true;
    atomic_store_explicit(&(*out)->storage->version, FREED_VERSION, memory_order_relaxed);
    return LT_OK;
}

lt_status lt_materialize_all(const char *op, int64_t n, lt_tensor *const *v)
{
    for (int64_t i = 0; i < n; i++)
        if (v[i] != NULL) LT_TRY(lt_materialize(op, v[i]));
    return LT_OK;
}
