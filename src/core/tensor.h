/* tensor.h - what a tensor is inside core: struct layout, storages, making views and outputs.
 *
 * A tensor is a geometry (sizes, strides, offset, all in elements) over a counted storage. Views
 * share the storage and its version counter, which every in-place write bumps; autograd compares
 * versions. Tensors are counted atomically; the fields are written only before a tensor is shared,
 * by in-place autograd bookkeeping, or by set_data. Only core and the Lua binding include this
 * file. */
#ifndef LT_TENSOR_H
#define LT_TENSOR_H

#include <stdatomic.h>

#include "devices/device.h"
#include "dtypes/dtype.h"
#include "ltensor.h"

typedef struct lt_storage {
    _Atomic int32_t refs; /* tensors that use the data */
    /* of the memory this struct lies in: itself and its first tensor (tensor.c) */
    _Atomic int32_t holders;
    lt_device device;
    bool pinned; /* host memory locked for transfers */
    /* foreign memory that its owner forbids to write: overlap.h's lt_prepare_write */
    bool read_only;
    bool deferred; /* without memory: compile/deferred.h */
    /* inputs of values yet to be computed that lie in it: compile/trace.h */
    _Atomic int32_t readers;
    _Atomic uint32_t version;
    void *data;
    uint32_t home; /* bytes of the allocation that holds this struct */
    size_t nbytes;
    size_t capacity;            /* as the allocator gave it */
    void (*release)(void *ctx); /* foreign memory: called instead of the allocator */
    void *ctx;                  /* foreign memory: argument of release; backends: their block */
    struct lt_context *context; /* the data count against it, held; NULL: they are not counted */
    /* class name of the node that last wrote in place; NULL: none did. Static */
    const char *writer;
} lt_storage;

typedef struct lt_autograd lt_autograd; /* autograd/internal.h; begins with an lt_attached */

/* What is kept with a tensor by a module that is built on this one. */
typedef struct lt_attached {
    void (*free)(lt_tensor *t); /* called when the tensor goes; leaves t->autograd NULL */
} lt_attached;

enum {
    LT_FLAG_REQUIRES_GRAD = 1,  /* a leaf asked for, or a result of ops on such */
    LT_FLAG_WRAPPED_NUMBER = 2, /* a Lua number in tensor form: weak in type promotion */
    LT_FLAG_CONTIGUOUS = 4,
    LT_FLAG_PARAMETER = 8, /* nn.Parameter: printed as such, registered by modules */
    LT_FLAG_RETAINS_GRAD = 16,
    LT_FLAG_INFERENCE = 32,    /* made in inference mode (autograd/autograd.h), or a view of such */
    LT_FLAG_NO_GRAD_VIEW = 64, /* a view made while grad mode was off */
    LT_FLAG_AT_HOME = 128,     /* allocated together with its first storage (tensor.c) */
    /* int64 positions as a script counts them, from 1, on their way to a kernel that takes the 1
     * off itself: only ops declared with `positions` meet them. Views and copies have the flag,
     * what is computed has not. */
    LT_FLAG_POSITIONS = 256,
    /* the storage has no elements but components: sparse.h. Ops look at it first of all */
    LT_FLAG_SPARSE = 512
};

/* The bits of flags from here on say which batches of torch.func.vmap lie behind the sizes, one a
 * level: view_base is then the tensor that shows them, as its first dimensions in the order of the
 * levels (ops/batch/batch.h). */
enum { LT_FLAG_FIRST_BATCH = 1024, LT_MAX_BATCHES = 6, LT_FLAGS_BATCHES = 0xFC00 };

/* What a caller permits with an argument. */
enum {
    LT_ROLE_RESIZABLE = 1, /* given as out=: lt_output may give it other sizes */
    LT_ROLE_DONATED = 2 /* read for the last time: an elementwise op may write its result to it */
};

struct lt_tensor {
    _Atomic int32_t refs;
    int8_t dtype;
    uint8_t ndim;
    uint16_t flags;
    lt_device device;
    uint8_t role; /* LT_ROLE_*, in the call that it is an argument of; 0 otherwise */
    int64_t numel;
    int64_t offset; /* elements from the start of the storage */
    lt_storage *storage;
    lt_tensor *view_base;  /* root of the views this belongs to, counted; NULL for a base */
    lt_autograd *autograd; /* NULL until autograd has something to say */
    int64_t sizes[LT_MAX_DIMS];
    int64_t strides[LT_MAX_DIMS];
};

/* First element. */
static inline char *lt_data(const lt_tensor *t)
{
    return (char *)t->storage->data + t->offset * lt_element_size((lt_dtype)t->dtype);
}

static inline bool lt_is_contiguous(const lt_tensor *t) { return t->flags & LT_FLAG_CONTIGUOUS; }

/* Whether the ranks and sizes are the same. */
static inline bool lt_same_sizes(const lt_tensor *a, const lt_tensor *b)
{
    bool same = a->ndim == b->ndim;
    for (int d = 0; same && d < a->ndim; d++) same = a->sizes[d] == b->sizes[d];
    return same;
}

/* And strides. */
static inline bool lt_same_geometry(const lt_tensor *a, const lt_tensor *b)
{
    bool same = lt_same_sizes(a, b);
    for (int d = 0; same && d < a->ndim; d++) same = a->strides[d] == b->strides[d];
    return same;
}

/* Whether both are the same elements of one storage. */
static inline bool lt_same_elements(const lt_tensor *a, const lt_tensor *b)
{
    return a->storage == b->storage && a->offset == b->offset && lt_same_geometry(a, b);
}

/* Whether t's elements fill their memory without gaps, in any order of the dimensions. */
bool lt_is_dense(const lt_tensor *t);

/* Number of elements; LT_ERR_RUNTIME for negative sizes, too many dimensions or overflow. */
lt_status lt_check_sizes(int ndim, const int64_t *sizes, int64_t *numel);

/* Row-major strides for sizes. */
void lt_contiguous_strides(int ndim, const int64_t *sizes, int64_t *strides);

/* New reference: another geometry over base's storage. offset in elements, absolute. The result is
 * not yet known to autograd; view ops' wrappers record it. view_base is set. */
lt_status lt_tensor_view(lt_tensor *base, int ndim, const int64_t *sizes, const int64_t *strides,
                         int64_t offset, lt_tensor **out);
/* The same with elements of another dtype, in which strides and offset count. */
lt_status lt_tensor_view_as(lt_tensor *base, lt_dtype dtype, int ndim, const int64_t *sizes,
                            const int64_t *strides, int64_t offset, lt_tensor **out);

/* Memory that somebody else owns. release(ctx) is called once, when nothing uses it any more; NULL:
 * nothing is. */
typedef struct lt_foreign {
    void *data; /* of the first element; NULL where there is none */
    lt_device device;
    bool read_only;
    void (*release)(void *ctx);
    void *ctx;
} lt_foreign;

/* New tensor over foreign memory; strides (NULL: row-major) are in elements, none negative.
 * LT_ERR_RUNTIME when they are, or when sizes and strides span more than there can be; then release
 * is not called. */
lt_status lt_tensor_over(const lt_foreign *memory, lt_dtype dtype, int ndim, const int64_t *sizes,
                         const int64_t *strides, lt_tensor **out);

/* How many tensors are batched, of all threads. */
extern _Atomic int64_t lt_batched_tensors;

/* New reference: shown without its first dimensions, one for each of the bits in `batches`. */
lt_status lt_tensor_hide(lt_tensor *shown, unsigned batches, lt_tensor **out);

/* Whether a batch that the function under vmap does not see lies behind the sizes. */
static inline bool lt_is_batched(const lt_tensor *t)
{
    return t != NULL && t->flags & LT_FLAGS_BATCHES;
}

static inline bool lt_is_sparse(const lt_tensor *t)
{
    return t != NULL && t->flags & LT_FLAG_SPARSE;
}

/* New reference: same storage and geometry, no autograd data, no view_base (shares the version);
 * batched as t is. */
lt_status lt_tensor_alias(lt_tensor *t, lt_tensor **out);

/* Gives t other strides; all its elements must lie within the storage. */
void lt_set_strides(lt_tensor *t, const int64_t *strides);

/* New uninitialized tensor for the result of an elementwise op on n inputs whose broadcast shape is
 * sizes: dense, its dimensions in the order of the inputs' (iter.h). */
lt_status lt_tensor_result(lt_tensor *const *inputs, int n, lt_dtype dtype, lt_device device,
                           int ndim, const int64_t *sizes, lt_tensor **out);

/* New uninitialized tensor shaped like t and dense in the order of its dimensions. */
lt_status lt_tensor_like(lt_tensor *t, lt_dtype dtype, lt_device device, lt_tensor **out);

/* New tensor whose memory comes later (compile/deferred.h): the caller sets its storage's release and ctx;
 * strides NULL: row-major. device must be resolved. */
lt_status lt_tensor_deferred(lt_dtype dtype, lt_device device, int ndim, const int64_t *sizes,
                             const int64_t *strides, lt_tensor **out);
/* Memory for a storage that was promised some; it counts against this thread's context. */
lt_status lt_storage_find_memory(const lt_storage *s, void **data, size_t *capacity, void **block);
/* The storage has that memory from now on. */
void lt_storage_give_memory(lt_storage *s, void *data, size_t capacity, void *block);

/* New uninitialized contiguous tensor shaped like t, on its device. */
lt_status lt_tensor_shaped(const lt_tensor *t, lt_dtype dtype, lt_tensor **out);

/* Whether a result of this dtype can be stored in t, which is to be on this device; the error says
 * what is wrong. */
lt_status lt_check_output(const lt_tensor *t, lt_dtype dtype, lt_device device);

/* Prepares an op's result: when *out is NULL makes a new tensor, else checks that *out has these
 * sizes and that dtype can be stored in it ("result type Float can't be cast to ..."). What was
 * given as out= (LT_ROLE_RESIZABLE) gets the sizes that it does not have, and its elements are lost
 * then; a warning says so where it had any. */
lt_status lt_output(lt_tensor **out, lt_dtype dtype, lt_device device, int ndim,
                    const int64_t *sizes);

/* Whether an entry is missing. */
static inline bool lt_list_has_null(const lt_tensor_list *list)
{
    for (int64_t i = 0; i < list->n; i++)
        if (list->v[i] == NULL) return true;
    return false;
}

/* Called after every in-place write to t's storage. */
static inline void lt_bump_version(lt_tensor *t)
{
    atomic_fetch_add_explicit(&t->storage->version, 1, memory_order_relaxed);
}

/* Replaces t's storage and geometry by those of src (x.data = y, module:to). Both keep their
 * flags. */
void lt_tensor_set_data(lt_tensor *t, lt_tensor *src);
/* The memory behind two tensors, all their views and what derivatives have saved of them: both
 * storages keep their users and change memory and versions. LT_ERR_RUNTIME where they differ in
 * size or device, or are so small that their memory is part of them (1024 bytes). */
lt_status lt_storage_exchange(lt_tensor *a, lt_tensor *b);

/* dim counted from 0, negative from the end; ndim 0 counts as 1. The message counts from 1, as
 * scripts do. */
lt_status lt_wrap_dim(int64_t dim, int ndim, int *out);

/* Error unless all are on one device. 0-dim CPU tensors are let through when allow_scalars. */
lt_status lt_check_same_device(const char *op, lt_tensor *const *tensors, int n, bool allow_scalars,
                               lt_device *device);

/* "[2, 3]" for messages; writes at most n bytes, returns buffer. */
char *lt_format_sizes(char *buffer, size_t n, int ndim, const int64_t *sizes);

#endif
