/* tensor.c - see tensor.h: lifetimes of storages and tensors, geometry, views. */
#include "tensor.h"

#include <stdio.h>
#include <string.h>

#include "assertion.h"
#include "saturating.h"
#include "context/interrupt.h"
#include "devices/backend.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "memory/freelist.h"

/* A storage header and its first tensor are one allocation, which also contains host data up to
 * INLINE_BYTES. It is freed when neither its tensor nor a user of the data is left. */
typedef struct home {
    lt_storage storage;
    lt_tensor tensor;
} home;

#define INLINE_BYTES  1024
#define INLINE_OFFSET ((sizeof(home) + 63) & ~(size_t)63)

static inline home *home_of(lt_tensor *t) { return (home *)((char *)t - offsetof(home, tensor)); }

static inline bool is_inline(const lt_storage *s) { return s->home > sizeof(home); }

/* Allocates the data of a new storage and charges them to the thread's context. Inline data need no
 * charge of their own: they are part of the header's allocation. */
static lt_status counted_data(lt_storage *s, lt_context *here)
{
    LT_ASSERT(lt_backends[s->device.type] != NULL, "device type %d", s->device.type);
    LT_TRY(lt_backends[s->device.type]->alloc(s->device.index, s->nbytes, &s->data, &s->capacity,
                                              &s->ctx));
    LT_ASSERT(s->capacity >= s->nbytes, "capacity %zu, bytes %zu", s->capacity, s->nbytes);
    LT_ASSERT(s->data != NULL || s->nbytes == 0, "bytes %zu", s->nbytes);
    lt_context_hold(here);
    s->context = here;
    return LT_OK;
}

/* New storage header with data and one user on a resolved device; the caller sets the tensor. */
static lt_status home_new(const lt_thread *here, size_t nbytes, lt_device device, bool with_data,
                          home **out)
{
    const uint32_t flags = atomic_load_explicit(&here->context->flags, memory_order_relaxed);
    if (__builtin_expect((flags & LT_CONTEXT_UP) != 0, 0) && lt_is_stopped()) return lt_stopped();
    bool small = with_data && device.type == LT_CPU && nbytes <= INLINE_BYTES;
    LT_ASSERT((unsigned)device.type < LT_DEVICE_TYPES && device.index >= 0, "device %d:%d",
              device.type, device.index);
    size_t size = small ? INLINE_OFFSET + (nbytes > 0 ? nbytes : 1) : sizeof(home);
    home *h = lt_freelist_alloc(size);
    if (h == NULL) return LT_ERR_MEMORY;
    lt_storage *s = &h->storage;
    atomic_init(&s->refs, 1);
    atomic_init(&s->holders, 2);
    atomic_init(&s->version, 0);
    s->device = device;
    s->pinned = false;
    s->read_only = false;
    s->deferred = false;
    atomic_init(&s->readers, 0);
    s->home = (uint32_t)size;
    s->nbytes = nbytes;
    s->capacity = nbytes;
    s->release = NULL;
    s->ctx = NULL;
    s->writer = NULL;
    s->context = NULL;
    s->data = (char *)h + INLINE_OFFSET;
    if (with_data && !small) {
        lt_status status = counted_data(s, here->context);
        if (status != LT_OK) {
            lt_freelist_free(h, size);
            return status;
        }
    }
    *out = h;
    return LT_OK;
}

/* Frees data in the context that they are charged to, from any thread. */
static void counted_free(lt_storage *s)
{
    LT_ASSERT(!s->deferred && s->release == NULL, "bytes %zu", s->nbytes);
    LT_ASSERT(s->context->refs > 0, "context's refs %d", s->context->refs);
    lt_context *here = lt_tls.context;
    lt_tls.context = s->context;
    lt_backends[s->device.type]->free(s->device.index, s->data, s->capacity, s->ctx);
    lt_tls.context = here;
    lt_context_drop(s->context);
}

static inline void data_free(lt_storage *s)
{
    if (s->context != NULL)
        counted_free(s);
    else if (s->release != NULL)
        s->release(s->ctx);
}

/* Drops one of the two holders of the allocation: the storage's data or its first tensor. */
static void home_release(lt_storage *s)
{
    LT_ASSERT(s->holders == 1 || s->holders == 2, "holders %d", s->holders);
    LT_ASSERT(s->home >= sizeof(home), "home of %u bytes", s->home);
    if (atomic_fetch_sub_explicit(&s->holders, 1, memory_order_acq_rel) == 1)
        lt_freelist_free(s, s->home); /* the storage is its first member */
}

/* Drops a user of the data; true for the last one. A sole user needs no atomic subtraction. */
static inline bool drop_use(lt_storage *s)
{
    LT_ASSERT(s->refs > 0, "refs %d", s->refs);
    return atomic_load_explicit(&s->refs, memory_order_acquire) == 1 ||
           atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) == 1;
}

static void storage_release(lt_storage *s)
{
    if (!drop_use(s)) return;
    data_free(s);
    home_release(s);
}

/* Releases a co-allocated tensor that still uses its own storage; fast path if it is the last user.
 */
static inline void home_leave(lt_storage *s)
{
    if (drop_use(s)) {
        LT_ASSERT(s->holders == 2, "holders %d", s->holders);
        data_free(s);
        lt_freelist_free(s, s->home);
    } else {
        home_release(s);
    }
}

static lt_storage *storage_retain(lt_storage *s)
{
    LT_ASSERT(s->refs > 0, "refs %d", s->refs);
    atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
    return s;
}

lt_status lt_check_sizes(int ndim, const int64_t *sizes, int64_t *numel)
{
    if (ndim < 0 || ndim > LT_MAX_DIMS)
        return lt_error(LT_ERR_RUNTIME, "a tensor has at most %d dimensions, got %d", LT_MAX_DIMS,
                        ndim);
    int64_t n = 1;
    bool zero = false;
    for (int d = 0; d < ndim; d++) {
        if (sizes[d] < 0) {
            char text[256];
            return lt_error(LT_ERR_RUNTIME,
                            "Trying to create tensor with negative dimension %lld: %s",
                            (long long)sizes[d], lt_format_sizes(text, sizeof text, ndim, sizes));
        }
        zero = zero || sizes[d] == 0;
        n = lt_mul_sat(n, sizes[d] > 0 ? sizes[d] : 1);
    }
    /* The strides of an empty tensor must not overflow either. */
    if (n == LT_TOO_MUCH || (!zero && n > LT_MOST_ELEMENTS)) {
        char text[256];
        return lt_error(LT_ERR_RUNTIME, "Storage size calculation overflowed with sizes=%s",
                        lt_format_sizes(text, sizeof text, ndim, sizes));
    }
    *numel = zero ? 0 : n;
    return LT_OK;
}

void lt_contiguous_strides(int ndim, const int64_t *sizes, int64_t *strides)
{
    int64_t stride = 1;
    for (int d = ndim - 1; d >= 0; d--) {
        strides[d] = stride;
        stride = lt_mul_sat(stride, sizes[d] > 1 ? sizes[d] : 1);
    }
}

static bool strides_are_contiguous(int ndim, const int64_t *sizes, const int64_t *strides)
{
    int64_t expected = 1;
    for (int d = ndim - 1; d >= 0; d--) {
        if (sizes[d] == 0) return true;
        if (sizes[d] != 1 && strides[d] != expected) return false;
        expected *= sizes[d];
    }
    return true;
}

bool lt_is_dense(const lt_tensor *t)
{
    if (lt_is_contiguous(t)) return true;
    int64_t filled = 1;
    for (int found = 0; found < t->ndim; found++) {
        int d = 0;
        while (d < t->ndim && (t->sizes[d] == 1 || t->strides[d] != filled)) d++;
        if (d == t->ndim) break;
        filled *= t->sizes[d];
    }
    return filled == t->numel;
}

/* Whether all elements that sizes and strides address are inside the storage. */
static bool is_within_storage(const lt_tensor *t)
{
    const int64_t held = (int64_t)t->storage->nbytes / lt_element_size((lt_dtype)t->dtype);
    int64_t first = t->offset, last = t->offset;
    for (int d = 0; d < t->ndim && t->numel > 0; d++) {
        int64_t reach, *end = t->strides[d] < 0 ? &first : &last;
        if (__builtin_mul_overflow(t->sizes[d] - 1, t->sizes[d] > 1 ? t->strides[d] : 0, &reach) ||
            __builtin_add_overflow(*end, reach, end))
            return false;
    }
    return t->numel == 0 || (first >= 0 && last < held);
}

static void tensor_init(lt_tensor *t, lt_storage *storage, lt_dtype dtype, int ndim, unsigned flags)
{
    LT_ASSERT((unsigned)dtype < LT_DTYPE_COUNT, "dtype %d", (int)dtype);
    LT_ASSERT((unsigned)ndim <= LT_MAX_DIMS, "ndim %d", ndim);
    atomic_init(&t->refs, 1);
    t->dtype = (int8_t)dtype;
    t->ndim = (uint8_t)ndim;
    t->flags = (uint16_t)flags;
    t->role = 0;
    t->device = storage->device;
    t->offset = 0;
    t->storage = storage;
    t->view_base = NULL;
    t->autograd = NULL;
    /* a 0-dim tensor reads as one dimension of one element */
    t->sizes[0] = t->strides[0] = 1;
}

/* Initializes the co-allocated tensor, contiguous. The sizes have passed lt_check_sizes. */
static lt_tensor *tensor_at_home(const lt_thread *here, home *h, lt_dtype dtype, int ndim,
                                 const int64_t *sizes, int64_t numel)
{
    lt_tensor *t = &h->tensor;
    tensor_init(t, &h->storage, dtype, ndim,
                LT_FLAG_CONTIGUOUS | LT_FLAG_AT_HOME | (here->inference ? LT_FLAG_INFERENCE : 0));
    t->numel = numel;
    for (int64_t d = ndim - 1, stride = 1; d >= 0; d--) {
        t->sizes[d] = sizes[d];
        t->strides[d] = stride;
        stride *= sizes[d] > 1 ? sizes[d] : 1;
    }
    return t;
}

void lt_set_strides(lt_tensor *t, const int64_t *strides)
{
    for (int d = 0; d < t->ndim; d++) t->strides[d] = strides[d];
    if (!strides_are_contiguous(t->ndim, t->sizes, strides))
        t->flags &= (uint16_t)~LT_FLAG_CONTIGUOUS;
}

/* Checks errors that only a host can make, not an op. */
static inline lt_status check_new(const char *function, lt_dtype dtype, int ndim,
                                  const int64_t *sizes, lt_tensor **out)
{
    if (__builtin_expect(out == NULL || (sizes == NULL && ndim > 0), 0))
        return lt_null_argument(function, out == NULL ? "out" : "sizes");
    if (__builtin_expect((unsigned)dtype >= LT_DTYPE_COUNT, 0))
        return lt_error(LT_ERR_TYPE, "%s(): unknown dtype %d", function, (int)dtype);
    return LT_OK;
}

lt_status lt_tensor_new(lt_dtype dtype, lt_device device, int ndim, const int64_t *sizes,
                        lt_tensor **out)
{
    const lt_thread *here = lt_this_thread();
    int64_t numel;
    home *h;
    LT_TRY(check_new("lt_tensor_new", dtype, ndim, sizes, out));
    LT_TRY(lt_check_sizes(ndim, sizes, &numel));
    if (device.type != LT_CPU) LT_TRY(lt_device_resolve(&device));
    LT_TRY(home_new(here, lt_bytes_sat(numel, lt_element_size(dtype)), device, true, &h));
    *out = tensor_at_home(here, h, dtype, ndim, sizes, numel);
    return LT_OK;
}

lt_status lt_tensor_shaped(const lt_tensor *t, lt_dtype dtype, lt_tensor **out)
{
    const lt_thread *here = lt_this_thread();
    home *h;
    LT_TRY(home_new(here, lt_bytes_sat(t->numel, lt_element_size(dtype)), t->device, true, &h));
    *out = tensor_at_home(here, h, dtype, t->ndim, t->sizes, t->numel);
    return LT_OK;
}

lt_status lt_tensor_deferred(lt_dtype dtype, lt_device device, int ndim, const int64_t *sizes,
                             const int64_t *strides, lt_tensor **out)
{
    const lt_thread *here = lt_this_thread();
    int64_t numel;
    home *h;
    LT_TRY(lt_check_sizes(ndim, sizes, &numel));
    LT_TRY(home_new(here, (size_t)numel * lt_dtype_size(dtype), device, false, &h));
    h->storage.data = NULL;
    h->storage.deferred = true;
    *out = tensor_at_home(here, h, dtype, ndim, sizes, numel);
    if (strides != NULL) lt_set_strides(*out, strides);
    return LT_OK;
}

lt_status lt_storage_find_memory(const lt_storage *s, void **data, size_t *capacity, void **block)
{
    return lt_backends[s->device.type]->alloc(s->device.index, s->nbytes, data, capacity, block);
}

void lt_storage_give_memory(lt_storage *s, void *data, size_t capacity, void *block)
{
    LT_ASSERT(s->deferred && s->context == NULL, "bytes %zu", s->nbytes);
    LT_ASSERT(capacity >= s->nbytes, "capacity %zu, bytes %zu", capacity, s->nbytes);
    s->data = data;
    s->capacity = capacity;
    s->ctx = block;
    s->release = NULL;
    s->deferred = false;
    s->context = lt_tls.context;
    lt_context_hold(s->context);
}

lt_tensor *lt_tensor_retain(lt_tensor *t)
{
    if (t == NULL) return NULL;
    LT_ASSERT(t->refs > 0, "refs %d", t->refs);
    atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed);
    return t;
}

/* Drops a reference; true for the last one. Autograd keeps pointers that are not counted, so only a
 * tensor without autograd data may skip the subtraction. */
static inline bool drop_reference(lt_tensor *t)
{
    LT_ASSERT(t->refs > 0, "refs %d", t->refs);
    if (t->autograd == NULL && atomic_load_explicit(&t->refs, memory_order_acquire) == 1)
        return true;
    return atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) == 1;
}

void lt_tensor_release(lt_tensor *t)
{
    if (t == NULL || !drop_reference(t)) return;
    if (t->autograd != NULL) ((const lt_attached *)t->autograd)->free(t);
    LT_ASSERT(t->autograd == NULL);
    LT_POISON(t->refs, INT32_MIN);
    lt_tensor *base = t->view_base;
    lt_storage *storage = t->storage;
    if (!(t->flags & LT_FLAG_AT_HOME)) {
        if (t->flags & LT_FLAGS_BATCHES) {
            LT_ASSERT(lt_batched_tensors > 0, "batched %lld", (long long)lt_batched_tensors);
            atomic_fetch_sub_explicit(&lt_batched_tensors, 1, memory_order_relaxed);
        }
        lt_freelist_free(t, sizeof *t);
        storage_release(storage);
    } else if (storage == &home_of(t)->storage) {
        home_leave(storage);
    } else { /* set_data replaced the storage */
        home_release(&home_of(t)->storage);
        storage_release(storage);
    }
    lt_tensor_release(base); /* not recursive: a base has no view_base */
}

lt_dtype lt_tensor_dtype(const lt_tensor *t)
{
    return t != NULL ? (lt_dtype)t->dtype : LT_DTYPE_NONE;
}
lt_device lt_tensor_device(const lt_tensor *t) { return t != NULL ? t->device : lt_host; }
int lt_tensor_ndim(const lt_tensor *t) { return t != NULL ? t->ndim : 0; }
const int64_t *lt_tensor_sizes(const lt_tensor *t) { return t != NULL ? t->sizes : NULL; }
const int64_t *lt_tensor_strides(const lt_tensor *t) { return t != NULL ? t->strides : NULL; }
int64_t lt_tensor_numel(const lt_tensor *t) { return t != NULL ? t->numel : 0; }
bool lt_tensor_is_contiguous(const lt_tensor *t) { return t != NULL && lt_is_contiguous(t); }

static lt_status shared_geometry(lt_tensor *base, lt_dtype dtype, int ndim, const int64_t *sizes,
                                 const int64_t *strides, int64_t offset, lt_tensor **out)
{
    int64_t numel;
    LT_TRY(lt_check_sizes(ndim, sizes, &numel));
    lt_tensor *t = lt_freelist_alloc(sizeof *t);
    if (t == NULL) return LT_ERR_MEMORY;
    tensor_init(t, storage_retain(base->storage), dtype, ndim, 0);
    t->numel = numel;
    t->offset = offset;
    for (int d = 0; d < ndim; d++) t->sizes[d] = sizes[d], t->strides[d] = strides[d];
    if (strides_are_contiguous(ndim, sizes, strides)) t->flags |= LT_FLAG_CONTIGUOUS;
    *out = t;
    return LT_OK;
}

lt_status lt_tensor_view_as(lt_tensor *base, lt_dtype dtype, int ndim, const int64_t *sizes,
                            const int64_t *strides, int64_t offset, lt_tensor **out)
{
    lt_tensor *t;
    if (lt_is_sparse(base))
        return lt_error(LT_ERR_RUNTIME, "a sparse tensor has no elements in memory to be viewed");
    LT_TRY(shared_geometry(base, dtype, ndim, sizes, strides, offset, &t));
    LT_ASSERT(is_within_storage(t), "offset %lld, bytes %zu", (long long)offset,
              t->storage->nbytes);
    t->view_base = lt_tensor_retain(base->view_base != NULL ? base->view_base : base);
    t->flags |= base->flags & (LT_FLAG_POSITIONS | LT_FLAG_INFERENCE);
    *out = t;
    return LT_OK;
}

lt_status lt_tensor_view(lt_tensor *base, int ndim, const int64_t *sizes, const int64_t *strides,
                         int64_t offset, lt_tensor **out)
{
    return lt_tensor_view_as(base, (lt_dtype)base->dtype, ndim, sizes, strides, offset, out);
}

_Atomic int64_t lt_batched_tensors;

lt_status lt_tensor_hide(lt_tensor *shown, unsigned batches, lt_tensor **out)
{
    lt_tensor *t;
    const int n = __builtin_popcount(batches);
    LT_ASSERT(batches != 0 && !(batches & ~(unsigned)LT_FLAGS_BATCHES), "batches %#x", batches);
    LT_ASSERT(n <= shown->ndim, "batches %#x, ndim %d", batches, shown->ndim);
    LT_TRY(shared_geometry(shown, (lt_dtype)shown->dtype, shown->ndim - n, shown->sizes + n,
                           shown->strides + n, shown->offset, &t));
    t->view_base = lt_tensor_retain(shown);
    t->flags |= (uint16_t)(batches | (shown->flags & (LT_FLAG_POSITIONS | LT_FLAG_INFERENCE)));
    atomic_fetch_add_explicit(&lt_batched_tensors, 1, memory_order_relaxed);
    *out = t;
    return LT_OK;
}

lt_status lt_tensor_alias(const lt_tensor *t, lt_tensor **out)
{
    if (lt_is_batched(t)) {
        lt_tensor *shown = NULL;
        LT_TRY(lt_tensor_alias(t->view_base, &shown));
        lt_status status = lt_tensor_hide(shown, t->flags & LT_FLAGS_BATCHES, out);
        lt_tensor_release(shown);
        return status;
    }
    lt_tensor *alias = lt_freelist_alloc(sizeof *alias);
    if (alias == NULL) return LT_ERR_MEMORY;
    tensor_init(alias, storage_retain(t->storage), (lt_dtype)t->dtype, t->ndim,
                t->flags &
                    (LT_FLAG_CONTIGUOUS | LT_FLAG_POSITIONS | LT_FLAG_SPARSE | LT_FLAG_INFERENCE));
    alias->numel = t->numel;
    alias->offset = t->offset;
    for (int d = 0; d < t->ndim; d++)
        alias->sizes[d] = t->sizes[d], alias->strides[d] = t->strides[d];
    LT_ASSERT(is_within_storage(alias), "offset %lld", (long long)alias->offset);
    *out = alias;
    return LT_OK;
}

static void release_nothing(void *ctx) { (void)ctx; }

/* The number of elements from the first to the end of the last one, for tensors with elements. */
static lt_status storage_span(int ndim, const int64_t *sizes, const int64_t *strides, int64_t *out)
{
    char a[256], b[256];
    int64_t span = 1;
    for (int d = 0; d < ndim; d++) {
        if (strides[d] < 0)
            return lt_error(LT_ERR_RUNTIME,
                            "negative strides are not supported, got %s for the sizes %s",
                            lt_format_sizes(a, sizeof a, ndim, strides),
                            lt_format_sizes(b, sizeof b, ndim, sizes));
        /* Also check strides of dimensions of size 1 or 0, since views multiply them. */
        span = strides[d] > LT_MOST_ELEMENTS
                   ? LT_TOO_MUCH
                   : lt_add_sat(span, lt_mul_sat(sizes[d] > 0 ? sizes[d] - 1 : 0, strides[d]));
    }
    if (span > LT_MOST_ELEMENTS)
        return lt_error(
            LT_ERR_RUNTIME, "Storage size calculation overflowed with sizes=%s and strides=%s",
            lt_format_sizes(a, sizeof a, ndim, sizes), lt_format_sizes(b, sizeof b, ndim, strides));
    *out = span;
    return LT_OK;
}

lt_status lt_tensor_over(const lt_foreign *memory, lt_dtype dtype, int ndim, const int64_t *sizes,
                         const int64_t *strides, lt_tensor **out)
{
    static const size_t no_data;
    int64_t numel, span, row_major[LT_MAX_DIMS];
    LT_TRY(lt_check_sizes(ndim, sizes, &numel));
    if (strides == NULL || numel == 0) {
        lt_contiguous_strides(ndim, sizes, row_major);
        strides = row_major;
    }
    LT_TRY(storage_span(ndim, sizes, strides, &span));
    const lt_thread *here = lt_this_thread();
    home *h;
    LT_TRY(home_new(here, (size_t)(numel > 0 ? span : 0) * lt_dtype_size(dtype), memory->device,
                    false, &h));
    h->storage.data = memory->data != NULL ? memory->data : (void *)&no_data;
    h->storage.read_only = memory->read_only;
    /* not NULL, so that the allocator does not free it */
    h->storage.release = memory->release != NULL ? memory->release : release_nothing;
    h->storage.ctx = memory->ctx;
    *out = tensor_at_home(here, h, dtype, ndim, sizes, numel);
    lt_set_strides(*out, strides);
    LT_ASSERT(is_within_storage(*out), "bytes %zu", h->storage.nbytes);
    return LT_OK;
}

static lt_status wrap(const char *function, const lt_foreign *memory, lt_dtype dtype, int ndim,
                      const int64_t *sizes, const int64_t *strides, lt_tensor **out)
{
    int64_t numel;
    LT_TRY(check_new(function, dtype, ndim, sizes, out));
    LT_TRY(lt_check_sizes(ndim, sizes, &numel));
    if (memory->data == NULL && numel > 0)
        return lt_error(LT_ERR_TYPE, "%s(): data is NULL for %lld elements", function,
                        (long long)numel);
    return lt_tensor_over(memory, dtype, ndim, sizes, strides, out);
}

lt_status lt_tensor_wrap_strided(void *data, lt_dtype dtype, lt_device device, int ndim,
                                 const int64_t *sizes, const int64_t *strides,
                                 void (*release)(void *ctx), void *ctx, lt_tensor **out)
{
    LT_TRY(lt_device_resolve(&device));
    return wrap(__func__,
                &(lt_foreign){.data = data, .device = device, .release = release, .ctx = ctx},
                dtype, ndim, sizes, strides, out);
}

lt_status lt_tensor_wrap(void *data, lt_dtype dtype, int ndim, const int64_t *sizes,
                         void (*release)(void *ctx), void *ctx, lt_tensor **out)
{
    return wrap(__func__,
                &(lt_foreign){.data = data, .device = lt_host, .release = release, .ctx = ctx},
                dtype, ndim, sizes, NULL, out);
}

void lt_tensor_set_data(lt_tensor *t, lt_tensor *src)
{
    LT_ASSERT(!lt_is_batched(t) && !lt_is_batched(src));
    storage_retain(src->storage);
    storage_release(t->storage);
    t->storage = src->storage;
    t->device = src->device;
    t->dtype = src->dtype;
    t->ndim = src->ndim;
    t->numel = src->numel;
    t->offset = src->offset;
    memcpy(t->sizes, src->sizes, sizeof t->sizes);
    memcpy(t->strides, src->strides, sizeof t->strides);
    const uint16_t kind = LT_FLAG_CONTIGUOUS | LT_FLAG_SPARSE;
    t->flags = (uint16_t)((t->flags & ~kind) | (src->flags & kind));
}

#define EXCHANGE(T, field)                                                                         \
    do {                                                                                           \
        T const kept_ = a->field;                                                                  \
        a->field = b->field;                                                                       \
        b->field = kept_;                                                                          \
    } while (0)

lt_status lt_storage_exchange(lt_tensor *x, lt_tensor *y)
{
    lt_storage *a = x->storage, *b = y->storage;
    if (a->nbytes != b->nbytes || !lt_device_equal(a->device, b->device))
        return lt_error(LT_ERR_RUNTIME,
                        "memory is exchanged between storages of one size and device");
    if (is_inline(a) || is_inline(b))
        return lt_error(LT_ERR_RUNTIME,
                        "the memory of %zu bytes is part of its tensor and not exchanged",
                        a->nbytes);
    EXCHANGE(void *, data);
    EXCHANGE(size_t, capacity);
    EXCHANGE(void *, ctx);
    EXCHANGE(struct lt_context *, context);
    EXCHANGE(bool, pinned);
    EXCHANGE(bool, deferred);
    void (*release)(void *) = a->release;
    a->release = b->release;
    b->release = release;
    const uint32_t version = atomic_load_explicit(&a->version, memory_order_relaxed);
    atomic_store_explicit(&a->version, atomic_load_explicit(&b->version, memory_order_relaxed),
                          memory_order_relaxed);
    atomic_store_explicit(&b->version, version, memory_order_relaxed);
    return LT_OK;
}
#undef EXCHANGE

char *lt_format_sizes(char *buffer, size_t n, int ndim, const int64_t *sizes)
{
    size_t used = (size_t)snprintf(buffer, n, "[");
    for (int d = 0; d < ndim && used < n; d++)
        used += (size_t)snprintf(buffer + used, n - used, d > 0 ? ", %lld" : "%lld",
                                 (long long)sizes[d]);
    if (used < n) snprintf(buffer + used, n - used, "]");
    return buffer;
}
