/* resize.c - resize_ and resize_as_: change the sizes of a tensor in place, growing its storage if
 * needed. */
#include "dims.h"
#include "autograd/autograd.h"
#include "ops/common.h"
#include "op/as_strided.h"
#include "op/empty.h"
#include "op/resize_.h"
#include "op/resize_as_.h"

/* New reference: a 1-D view of `count` elements of t's storage from `offset` on. */
static lt_status line(lt_tensor *t, int64_t offset, int64_t count, lt_tensor **out)
{
    return lt_as_strided_impl(t, &(lt_dims){1, {count}}, &(lt_dims){1, {1}}, &offset, out);
}

/* New reference: a 1-D tensor of n elements that begins with a copy of self's storage. */
static lt_status grow_storage(lt_tensor *self, int64_t n, lt_tensor **out)
{
    lt_tensor *memory = NULL, *from = NULL, *to = NULL;
    const int64_t count = (int64_t)(self->storage->nbytes / lt_dtype_size((lt_dtype)self->dtype));
    lt_status status = lt_empty(&(lt_dims){1, {n}}, (lt_dtype)self->dtype, &self->device, &memory);
    if (status == LT_OK && count > 0) {
        LT_CHECK(line(self, 0, count, &from));
        LT_CHECK(line(memory, 0, count, &to));
        LT_CHECK(lt_copy_elements(to, from));
    }
done:
    lt_tensor_release(from);
    lt_tensor_release(to);
    if (status == LT_OK)
        *out = memory;
    else
        lt_tensor_release(memory);
    return status;
}

lt_status lt_resize__impl(lt_tensor *self, const lt_dims *size)
{
    lt_tensor *memory = NULL, *view = NULL;
    lt_dims strides = {.n = size->n};
    int64_t numel, end;
    if (lt_requires_grad(self))
        return lt_error(LT_ERR_RUNTIME, "cannot resize variables that require grad");
    LT_TRY(lt_check_sizes(size->n, size->v, &numel));
    bool same = size->n == self->ndim;
    for (int d = 0; same && d < size->n; d++) same = size->v[d] == self->sizes[d];
    if (same) return LT_OK;
    for (int64_t d = size->n - 1, step = 1; d >= 0; d--) {
        strides.v[d] = step;
        step *= size->v[d] > 1 ? size->v[d] : 1;
    }
    if (__builtin_add_overflow(self->offset, numel, &end))
        return lt_error(LT_ERR_RUNTIME,
                        "resize_: %lld elements from offset %lld on are more than memory has",
                        (long long)numel, (long long)self->offset);
    lt_status status = LT_OK;
    if (numel > 0 && end > (int64_t)(self->storage->nbytes / lt_dtype_size((lt_dtype)self->dtype)))
        LT_CHECK(grow_storage(self, end, &memory));
    LT_CHECK(
        lt_as_strided_impl(memory != NULL ? memory : self, size, &strides, &self->offset, &view));
    lt_tensor_set_data(self, view);
done:
    lt_tensor_release(memory);
    lt_tensor_release(view);
    return status;
}

lt_status lt_resize_as__impl(lt_tensor *self, lt_tensor *the_template)
{
    const lt_dims sizes = lt_dims_of(the_template);
    return lt_resize__impl(self, &sizes);
}
