/* tensor.h - the internals of tensors: struct layout, storages, views and outputs.
 *
 * A tensor is a geometry (sizes, strides, offset, all in elements) over a reference-counted
 * storage. Views share the storage and its version counter, which every in-place write increments
 * and which autograd compares. Reference counts are atomic; the other fields are written only
 * before a tensor is shared, by in-place autograd bookkeeping, or by set_data. Only core and the
 * Lua binding include this file. */
#ifndef LT_TENSOR_H
#define LT_TENSOR_H

#include <stdatomic.h>

#include "devices/device.h"
#include "dtypes/dtype.h"
#include "ltensor.h"

typedef struct lt_storage {
    _Atomic int32_t refs; /* number of tensors that use the data */
    /* of the allocation that contains this struct: the storage and its first tensor (tensor.c) */
    _Atomic int32_t holders;
    lt_device device;
    bool pinned; /* page-locked host memory */
    /* foreign memory that must not be written: see lt_prepare_write in overlap.h */
    bool read_only;
    bool deferred; /* has no memory yet: compile/deferred.h */
    /* recorded ops that have not run yet and read this storage: compile/trace.h */
    _Atomic int32_t readers;
    _Atomic uint32_t version;
    void *data;
    uint32_t home; /* bytes of the allocation that holds this struct */
    size_t nbytes;
    size_t capacity;            /* as returned by the allocator */
    void (*release)(void *ctx); /* foreign memory: called instead of the allocator */
    void *ctx;                  /* foreign memory: argument of release; backends: their block */
    struct lt_context *context; /* to which the data are charged, held; NULL: not charged */
    /* class name of the node of the last in-place write, a static string; NULL: none */
    const char *writer;
} lt_storage;

typedef struct lt_autograd lt_autograd; /* autograd/internal.h; begins with an lt_attached */

/* The header of data that a module built on this one attaches to a tensor. */
typedef struct lt_attached {
    void (*free)(lt_tensor *t); /* called when the tensor is freed; sets t->autograd to NULL */
} lt_attached;

enum {
    LT_FLAG_REQUIRES_GRAD = 1,  /* a leaf that requires it, or a result of such */
    LT_FLAG_WRAPPED_NUMBER = 2, /* a Lua number in tensor form: weak in type promotion */
    LT_FLAG_CONTIGUOUS = 4,
    LT_FLAG_PARAMETER = 8, /* nn.Parameter: printed as such and registered by modules */
    LT_FLAG_RETAINS_GRAD = 16,
    LT_FLAG_INFERENCE = 32,    /* made in inference mode (autograd/autograd.h), or a view of such */
    LT_FLAG_NO_GRAD_VIEW = 64, /* a view made while grad mode was off */
    LT_FLAG_AT_HOME = 128,     /* allocated together with its first storage (tensor.c) */
    /* 1-based int64 positions of a script, passed to a kernel that subtracts the 1 itself: only ops
     * declared with `positions` receive them. Views and copies keep the flag, other results do not.
     */
    LT_FLAG_POSITIONS = 256,
    /* the storage has components instead of elements: sparse.h. Ops check this flag first */
    LT_FLAG_SPARSE = 512
};

/* The bits of flags from here on: the levels of torch.func.vmap of which this tensor hides the
 * batch dimensions. view_base is then the tensor that shows them, as its first dimensions in the
 * order of the levels (ops/batch/batch.h). */
enum { LT_FLAG_FIRST_BATCH = 1024, LT_MAX_BATCHES = 6, LT_FLAGS_BATCHES = 0xFC00 };

/* Permissions of the caller for an argument. */
enum {
    LT_ROLE_RESIZABLE = 1, /* passed as out=: lt_output may resize it */
    LT_ROLE_DONATED = 2, /* read for the last time: an elementwise op may write its result to it */
    LT_ROLE_EXACT = 4    /* passed as out=: lt_output refuses another dtype than the result's */
};

struct lt_tensor {
    _Atomic int32_t refs;
    int8_t dtype;
    uint8_t ndim;
    uint16_t flags;
    lt_device device;
    uint8_t role; /* LT_ROLE_* for the call with this argument; 0 otherwise */
    int64_t numel;
    int64_t offset; /* elements from the start of the storage */
    lt_storage *storage;
    lt_tensor *view_base;  /* the base of this view, counted; NULL: no view */
    lt_autograd *autograd; /* NULL until autograd attaches data */
    int64_t sizes[LT_MAX_DIMS];
    int64_t strides[LT_MAX_DIMS];
};

/* The address of the first element. */
static inline char *lt_data(const lt_tensor *t)
{
    return (char *)t->storage->data + t->offset * lt_element_size((lt_dtype)t->dtype);
}

static inline bool lt_is_contiguous(const lt_tensor *t) { return t->flags & LT_FLAG_CONTIGUOUS; }

/* Whether the sizes are equal. */
static inline bool lt_same_sizes(const lt_tensor *a, const lt_tensor *b)
{
    bool same = a->ndim == b->ndim;
    for (int d = 0; same && d < a->ndim; d++) same = a->sizes[d] == b->sizes[d];
    return same;
}

/* Whether sizes and strides are equal. */
static inline bool lt_same_geometry(const lt_tensor *a, const lt_tensor *b)
{
    bool same = lt_same_sizes(a, b);
    for (int d = 0; same && d < a->ndim; d++) same = a->strides[d] == b->strides[d];
    return same;
}

/* Whether both refer to the same elements of one storage. */
static inline bool lt_same_elements(const lt_tensor *a, const lt_tensor *b)
{
    return a->storage == b->storage && a->offset == b->offset && lt_same_geometry(a, b);
}

/* Whether t's elements are stored without gaps or overlaps, in any order of the dimensions. */
bool lt_is_dense(const lt_tensor *t);

/* Number of elements; LT_ERR_RUNTIME for negative sizes, too many dimensions or overflow. */
lt_status lt_check_sizes(int ndim, const int64_t *sizes, int64_t *numel);

/* Row-major strides for sizes. */
void lt_contiguous_strides(int ndim, const int64_t *sizes, int64_t *strides);

/* New reference: another geometry over base's storage. offset in elements of the storage. Sets
 * view_base; the wrapper of a view op records the view in autograd. */
lt_status lt_tensor_view(lt_tensor *base, int ndim, const int64_t *sizes, const int64_t *strides,
                         int64_t offset, lt_tensor **out);
/* The same with another dtype; strides and offset are in elements of that dtype. */
lt_status lt_tensor_view_as(lt_tensor *base, lt_dtype dtype, int ndim, const int64_t *sizes,
                            const int64_t *strides, int64_t offset, lt_tensor **out);

/* Memory owned by another library. release(ctx), unless NULL, is called once, after the last use.
 */
typedef struct lt_foreign {
    void *data; /* of the first element; NULL where there is none */
    lt_device device;
    bool read_only;
    void (*release)(void *ctx);
    void *ctx;
} lt_foreign;

/* New tensor over foreign memory; strides (NULL: row-major) are in elements. LT_ERR_RUNTIME if one
 * is negative or the span overflows; release is not called then. */
lt_status lt_tensor_over(const lt_foreign *memory, lt_dtype dtype, int ndim, const int64_t *sizes,
                         const int64_t *strides, lt_tensor **out);

/* The number of batched tensors in all threads. */
extern _Atomic int64_t lt_batched_tensors;

/* New reference: `shown` with its first dimensions hidden, one per bit in `batches`. */
lt_status lt_tensor_hide(lt_tensor *shown, unsigned batches, lt_tensor **out);

/* Whether t hides batch dimensions that the function under vmap does not see. */
static inline bool lt_is_batched(const lt_tensor *t)
{
    return t != NULL && t->flags & LT_FLAGS_BATCHES;
}

static inline bool lt_is_sparse(const lt_tensor *t)
{
    return t != NULL && t->flags & LT_FLAG_SPARSE;
}

/* New reference: same storage (and version counter) and geometry, no autograd data, no view_base;
 * batched as t is. */
lt_status lt_tensor_alias(const lt_tensor *t, lt_tensor **out);

/* Sets the strides of t; all its elements must be inside the storage. */
void lt_set_strides(lt_tensor *t, const int64_t *strides);

/* New uninitialized tensor for the result of an elementwise op on n inputs with the broadcast shape
 * sizes: dense, with the dimension order of the inputs (iter.h). */
lt_status lt_tensor_result(lt_tensor *const *inputs, int n, lt_dtype dtype, lt_device device,
                           int ndim, const int64_t *sizes, lt_tensor **out);

/* New uninitialized dense tensor with t's sizes and dimension order. */
lt_status lt_tensor_like(lt_tensor *t, lt_dtype dtype, lt_device device, lt_tensor **out);

/* New tensor without memory (compile/deferred.h): the caller sets its storage's release and ctx;
 * strides NULL: row-major. device must be resolved. */
lt_status lt_tensor_deferred(lt_dtype dtype, lt_device device, int ndim, const int64_t *sizes,
                             const int64_t *strides, lt_tensor **out);
/* Allocates memory for a deferred storage, charged to this thread's context. */
lt_status lt_storage_find_memory(const lt_storage *s, void **data, size_t *capacity, void **block);
/* Sets the memory of a deferred storage. */
void lt_storage_give_memory(lt_storage *s, void *data, size_t capacity, void *block);

/* New uninitialized contiguous tensor with t's sizes, on its device. */
lt_status lt_tensor_shaped(const lt_tensor *t, lt_dtype dtype, lt_tensor **out);

/* Error unless a result of this dtype can be stored in t and t is on this device. */
lt_status lt_check_output(const lt_tensor *t, lt_dtype dtype, lt_device device);

/* Error unless t has the dtype of the result. */
lt_status lt_check_exact(lt_dtype result, const lt_tensor *t);

/* Prepares an op's result: if *out is NULL, creates a tensor; else checks that *out has these sizes
 * and that dtype can be stored in it ("result type Float can't be cast to ..."). A tensor passed as
 * out= (LT_ROLE_RESIZABLE) is resized instead and loses its elements, with a warning if it had any;
 * with LT_ROLE_EXACT it must have the result's dtype. */
lt_status lt_output(lt_tensor **out, lt_dtype dtype, lt_device device, int ndim,
                    const int64_t *sizes);

/* Whether an entry is NULL. */
static inline bool lt_list_has_null(const lt_tensor_list *list)
{
    for (int64_t i = 0; i < list->n; i++)
        if (list->v[i] == NULL) return true;
    return false;
}

/* Call it after every in-place write to t's storage. */
static inline void lt_bump_version(lt_tensor *t)
{
    atomic_fetch_add_explicit(&t->storage->version, 1, memory_order_relaxed);
}

/* Replaces t's storage and geometry by src's (x.data = y, module:to). Both keep their flags. */
void lt_tensor_set_data(lt_tensor *t, lt_tensor *src);
/* Exchanges the memory and versions of two storages, and so the data of both tensors, their views
 * and their saved copies. LT_ERR_RUNTIME if they differ in size or device, or if the memory is
 * inline (up to 1024 bytes). */
lt_status lt_storage_exchange(lt_tensor *a, lt_tensor *b);

/* Wraps dim, which counts from 0, or from the end if negative; ndim 0 is treated as 1. The error
 * message counts as the caller does (user_index.h). */
lt_status lt_wrap_dim(int64_t dim, int ndim, int *out);

/* Error unless all tensors are on one device. allow_scalars: 0-dim CPU tensors are accepted with
 * any device. */
lt_status lt_check_same_device(const char *op, lt_tensor *const *tensors, int n, bool allow_scalars,
                               lt_device *device);

/* "[2, 3]" for messages; writes at most n bytes, returns buffer. */
char *lt_format_sizes(char *buffer, size_t n, int ndim, const int64_t *sizes);

#endif
