/* transfer.c - see transfer.h. */
#include "transfer.h"

#include "assertion.h"
#include "backend.h"
#include "device_type.h"
#include "copies.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "compile/deferred.h"
#include "iter.h"
#include "memory/alloc.h"
#include "memory/limit.h"
#include "sparse.h"
#include "tensor.h"

lt_status lt_read_device(const lt_tensor *t, void *to, size_t nbytes, double *waited)
{
    const lt_transfer copy = {.dst = to,
                              .dst_device = lt_host,
                              .src = lt_data(t),
                              .src_device = t->device,
                              .nbytes = nbytes,
                              .mode = LT_COPY_BLOCKING};
    return lt_backend_of(t)->transfer(&copy, waited);
}

/* ---- one element ----------------------------------------------------------------------------- */

lt_status lt_tensor_item(const lt_tensor *t, lt_scalar *out)
{
    LT_REQUIRE(t);
    LT_REQUIRE(out);
    if (lt_is_batched(t))
        return lt_error(LT_ERR_RUNTIME,
                        "vmap: It looks like you're calling .item() on a Tensor. We don't support "
                        "vmap over calling .item() on a "
                        "Tensor, please try to rewrite what you're doing with other operations.");
    LT_TRY(lt_require_strided("item", t));
    if (t->numel != 1)
        return lt_error(LT_ERR_RUNTIME, "a Tensor with %lld elements cannot be converted to Scalar",
                        (long long)t->numel);
    LT_TRY(lt_materialize("item", t));
    if (t->device.type == LT_CPU) {
        *out = lt_load_scalar(lt_data(t), (lt_dtype)t->dtype);
        return LT_OK;
    }
    char element[16];
    LT_ASSERT(lt_dtype_size((lt_dtype)t->dtype) <= 16, "dtype %d", t->dtype);
    double waited = 0;
    size_t size = lt_dtype_size((lt_dtype)t->dtype);
    LT_TRY(lt_copies_check_sync("item"));
    LT_TRY(lt_read_device(t, element, size, &waited));
    lt_copies_record(t->device, lt_host, (int64_t)size, waited);
    *out = lt_load_scalar(element, (lt_dtype)t->dtype);
    return LT_OK;
}

/* ---- page-locked memory ---------------------------------------------------------------------- */

/* The resources of a page-locked storage, released with it. */
typedef struct pinned_memory {
    const lt_backend *backend; /* of the device type for which it is locked */
    void *data, *block;
    int64_t bytes;       /* charged bytes */
    lt_context *context; /* the context they are charged to; counted */
} pinned_memory;

static void release_pinned(void *ctx)
{
    pinned_memory *memory = ctx;
    LT_ASSERT(memory->context->refs > 0 && memory->bytes >= 0, "refs %d, bytes %lld",
              memory->context->refs, (long long)memory->bytes);
    memory->backend->pinned_free(memory->data, memory->block);
    lt_mem_uncharge(memory->context, LT_USE_HOST, memory->bytes);
    lt_mem_free(memory);
}

static lt_status pinned_new(lt_dtype dtype, int ndim, const int64_t *sizes, lt_tensor **out)
{
    const lt_backend *backend = lt_backend_get(lt_accelerator());
    if (backend == NULL)
        return lt_error(LT_ERR_DEVICE, "Cannot pin memory: no accelerator is available. %s",
                        lt_backend_missing_reason());
    int64_t numel;
    LT_TRY(lt_check_sizes(ndim, sizes, &numel));
    pinned_memory *memory = lt_mem_zalloc(sizeof *memory);
    if (memory == NULL) return LT_ERR_MEMORY;
    memory->backend = backend;
    memory->bytes = numel * (int64_t)lt_dtype_size(dtype);
    memory->context = lt_tls.context;
    lt_status status = lt_mem_reserve((size_t)memory->bytes) ? LT_OK : LT_ERR_MEMORY;
    if (status == LT_OK) {
        status = backend->pinned_alloc((size_t)memory->bytes, &memory->data, &memory->block);
        if (status != LT_OK) lt_mem_charge(LT_USE_HOST, -memory->bytes);
    }
    if (status != LT_OK) {
        lt_mem_free(memory);
        return status;
    }
    lt_context_hold(memory->context);
    status = lt_tensor_wrap(memory->data, dtype, ndim, sizes, release_pinned, memory, out);
    if (status != LT_OK)
        release_pinned(memory);
    else
        (*out)->storage->pinned = true;
    return status;
}

lt_status lt_tensor_pin(lt_tensor *t, lt_tensor **out)
{
    lt_tensor *pinned = NULL;
    LT_TRY(lt_require_strided("pin_memory", t));
    if (t->device.type != LT_CPU)
        return lt_error(LT_ERR_RUNTIME,
                        "cannot pin 'torch.cuda.%sTensor' only dense CPU tensors can be pinned",
                        lt_dtype_scalar_name((lt_dtype)t->dtype));
    if (t->storage->pinned) {
        *out = lt_tensor_retain(t);
        return LT_OK;
    }
    LT_TRY(pinned_new((lt_dtype)t->dtype, t->ndim, t->sizes, &pinned));
    lt_tensor *operands[] = {pinned, t};
    lt_iter it;
    lt_status status = lt_iter_elementwise(&it, operands, 2);
    if (status == LT_OK && it.numel > 0) status = lt_backends[LT_CPU]->copy(&it);
    if (status != LT_OK) {
        lt_tensor_release(pinned);
        return status;
    }
    lt_copy_cause outer = lt_copies_set_cause((lt_copy_cause){"pin", false});
    if (outer.name != NULL) lt_copies_set_cause(outer);
    lt_copies_record(lt_host, lt_host,
                     (int64_t)(it.numel * (int64_t)lt_dtype_size((lt_dtype)t->dtype)), 0);
    lt_copies_set_cause(outer);
    *out = pinned;
    return LT_OK;
}
