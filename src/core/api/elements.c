/* elements.c - the functions of ltensor.h that copy elements from and to host memory, convert
 * tensors, and free lists of tensors. */
#include "autograd/autograd.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "compile/deferred.h"
#include "memory/alloc.h"
#include "tensor.h"
#include "op/copy_.h"
#include "op/to.h"

void *lt_tensor_data(const lt_tensor *t)
{
    return t != NULL && !lt_is_sparse(t) && lt_materialize("lt_tensor_data", t) == LT_OK
               ? lt_data(t)
               : NULL;
}

/* Copies all elements of t from (into_t) or to row-major host memory. */
static lt_status copy_bytes(const char *function, lt_tensor *t, void *data, size_t bytes,
                            bool into_t)
{
    lt_tensor *host = NULL;
    lt_dtype dtype = (lt_dtype)t->dtype;
    size_t needed = (size_t)t->numel * lt_dtype_size(dtype);
    if (bytes != needed)
        return lt_error(LT_ERR_RUNTIME,
                        "%s(): the tensor has %lld elements of %s, %zu bytes, and bytes is %zu",
                        function, (long long)t->numel, lt_dtype_name(dtype), needed, bytes);
    /* A host may store any nonzero byte for true; kernels require 1. */
    if (into_t && dtype == LT_BOOL) dtype = LT_UINT8;
    LT_TRY(lt_tensor_wrap(data, dtype, t->ndim, t->sizes, NULL, NULL, &host));
    bool grad_mode = lt_set_grad_enabled(false);
    lt_status status = into_t ? lt_copy_(t, host, false) : lt_copy_(host, t, false);
    lt_set_grad_enabled(grad_mode);
    lt_tensor_release(host);
    return status;
}

lt_status lt_tensor_copy_from(lt_tensor *t, const void *data, size_t bytes)
{
    LT_REQUIRE(t);
    if (bytes > 0) LT_REQUIRE(data);
    return copy_bytes(__func__, t, (void *)data, bytes, true);
}

lt_status lt_tensor_copy_to(const lt_tensor *t, void *data, size_t bytes)
{
    LT_REQUIRE(t);
    if (bytes > 0) LT_REQUIRE(data);
    return copy_bytes(__func__, (lt_tensor *)t, data, bytes, false);
}

lt_status lt_tensor_to(const lt_tensor *t, lt_dtype dtype, const lt_device *device, lt_tensor **out)
{
    LT_REQUIRE(t);
    LT_REQUIRE(out);
    if (dtype < LT_DTYPE_NONE || dtype >= LT_DTYPE_COUNT)
        return lt_error(LT_ERR_TYPE, "%s(): unknown dtype %d", __func__, (int)dtype);
    return lt_to(t, device, dtype, false, false, out);
}

void lt_tensor_list_release(lt_tensor_list *list)
{
    if (list == NULL) return;
    for (int64_t i = 0; i < list->n; i++) lt_tensor_release(list->v[i]);
    lt_mem_free(list->v);
    *list = (lt_tensor_list){0, NULL};
}
