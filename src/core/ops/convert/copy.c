/* copy.c - copies within a device and between devices. Only this file copies elements between
 * devices for ops.
 *
 * Between devices the source is made contiguous on its own device, transferred as one block, and
 * copied with strides or converted on the destination: every element is transferred once, in the
 * smaller dtype. */

#include <string.h>

#include "compile/trace.h"
#include "ops/common.h"
#include "devices/copies.h"
#include "memory_format.h"
#include "ops/pointwise.h"
#include "op/_to_copy.h"
#include "op/clone.h"
#include "op/contiguous.h"
#include "op/copy_.h"
#include "op/detach.h"

static const lt_backend *mover(lt_device a, lt_device b)
{
    return a.type != LT_CPU ? lt_backends[a.type] : lt_backends[b.type];
}

static lt_status transfer(lt_tensor *dst, lt_tensor *src, bool non_blocking)
{
    double waited = 0;
    size_t n = (size_t)src->numel * lt_dtype_size((lt_dtype)src->dtype);
    bool pinned = src->device.type == LT_CPU ? src->storage->pinned : dst->storage->pinned;
    if (n == 0) return LT_OK;
    /* The host waits for this copy; it never waits for copies between GPUs. */
    if (!non_blocking && (src->device.type == LT_CPU || dst->device.type == LT_CPU))
        LT_TRY(lt_copies_check_sync(lt_copies_cause()));
    const lt_transfer t = {.dst = lt_data(dst),
                           .dst_device = dst->device,
                           .src = lt_data(src),
                           .src_device = src->device,
                           .nbytes = n,
                           .pinned = pinned,
                           .mode = non_blocking ? LT_COPY_NON_BLOCKING : LT_COPY_BLOCKING};
    LT_TRY(mover(dst->device, src->device)->transfer(&t, &waited));
    lt_copies_record(src->device, dst->device, (int64_t)n, waited);
    return LT_OK;
}

static bool same_strides(const lt_tensor *a, const lt_tensor *b)
{
    bool same = true;
    for (int d = 0; same && d < a->ndim; d++)
        same = a->sizes[d] == 1 || a->strides[d] == b->strides[d];
    return same;
}

/* New reference: src, or a contiguous copy on its device in dst's order of dimensions; both have
 * equal sizes. */
static lt_status laid_out_as(lt_tensor *dst, lt_tensor *src, lt_tensor **out)
{
    if (same_strides(src, dst)) {
        *out = lt_tensor_retain(src);
        return LT_OK;
    }
    lt_tensor *copy = NULL;
    LT_TRY(lt_tensor_like(dst, (lt_dtype)src->dtype, src->device, &copy));
    lt_status status = lt_copy_elements(copy, src);
    if (status != LT_OK) {
        lt_tensor_release(copy);
        return status;
    }
    *out = copy;
    return LT_OK;
}

lt_status lt_copy(lt_tensor *dst, lt_tensor *src, bool non_blocking)
{
    if (lt_device_equal(dst->device, src->device)) return lt_copy_elements(dst, src);
    lt_status status = LT_OK;
    lt_tensor *dense = NULL, *narrow = NULL, *landed = NULL;
    bool shrink = lt_dtype_size((lt_dtype)dst->dtype) < lt_dtype_size((lt_dtype)src->dtype);
    const bool alike = lt_is_dense(dst) && lt_same_sizes(dst, src);
    LT_CHECK(alike ? laid_out_as(dst, src, &dense) : lt_make_contiguous(src, &dense));
    if (shrink)
        LT_CHECK(lt_cast(dense, (lt_dtype)dst->dtype, &narrow));
    else
        narrow = lt_tensor_retain(dense);
    if (dst->dtype == narrow->dtype && alike) {
        LT_CHECK(transfer(dst, narrow, non_blocking));
    } else {
        LT_CHECK(lt_tensor_like(narrow, (lt_dtype)narrow->dtype, dst->device, &landed));
        LT_CHECK(transfer(landed, narrow, non_blocking && dst->device.type != LT_CPU));
        LT_CHECK(lt_copy_elements(dst, landed));
    }
done:
    lt_tensor_release(dense);
    lt_tensor_release(narrow);
    lt_tensor_release(landed);
    return status;
}

/* If two tensors overlap without being equal, the source is copied first. */
static lt_status copy_into(lt_tensor *dst, lt_tensor *src, bool non_blocking)
{
    if (dst == src) return LT_OK;
    if (dst->storage != src->storage) return lt_copy(dst, src, non_blocking);
    lt_tensor *aside = NULL;
    LT_TRY(lt_tensor_like(src, (lt_dtype)src->dtype, src->device, &aside));
    lt_status status = lt_copy_elements(aside, src);
    if (status == LT_OK) status = lt_copy_elements(dst, aside);
    lt_tensor_release(aside);
    return status;
}

lt_status lt_copy__impl(lt_tensor *self, lt_tensor *src, bool non_blocking)
{
    lt_copy_cause outer = lt_copies_set_cause((lt_copy_cause){"copy_", false});
    if (outer.name != NULL) lt_copies_set_cause(outer);
    lt_status status = copy_into(self, src, non_blocking);
    lt_copies_set_cause(outer);
    return status;
}

lt_status lt__to_copy_impl(lt_tensor *self, lt_dtype dtype, const lt_device *device,
                           bool non_blocking, lt_tensor **out)
{
    lt_device target = device != NULL ? *device : self->device;
    LT_TRY(lt_device_resolve(&target));
    lt_tensor *result = NULL;
    if (lt_any_trace() && dtype != LT_DTYPE_NONE && dtype != (lt_dtype)self->dtype &&
        lt_device_equal(target, self->device)) {
        LT_TRY(lt_trace_record(&(lt_traced_op){LT_FUSED_COPY, dtype, dtype, &self, 1, NULL, 0,
                                               self->ndim, self->sizes, NULL},
                               &result));
        if (result != NULL) {
            *out = result;
            return LT_OK;
        }
    }
    if (lt_any_deferred()) LT_TRY(lt_materialize("_to_copy", self));
    LT_TRY(lt_tensor_like(self, dtype == LT_DTYPE_NONE ? (lt_dtype)self->dtype : dtype, target,
                          &result));
    lt_status status = lt_copy(result, self, non_blocking);
    if (status != LT_OK) {
        lt_tensor_release(result);
        return status;
    }
    result->flags |= self->flags & LT_FLAG_POSITIONS;
    *out = result;
    return LT_OK;
}

lt_status lt_clone_impl(lt_tensor *self, lt_tensor **out)
{
    return lt__to_copy_impl(self, LT_DTYPE_NONE, NULL, false, out);
}

/* memory_format: not preserve_format. *last: it is a channels-last one; an error if t has another
 * rank. */
static lt_status read_format(const char *op, const lt_tensor *t, const char *memory_format,
                             bool *last)
{
    const bool flat = strcmp(memory_format, "channels_last") == 0,
               deep = strcmp(memory_format, "channels_last_3d") == 0;
    *last = flat || deep;
    if (!*last && strcmp(memory_format, "contiguous_format") != 0)
        return lt_error(LT_ERR_RUNTIME,
                        "%s: memory_format must be torch.contiguous_format, torch.preserve_format, "
                        "torch.channels_last or "
                        "torch.channels_last_3d, got '%s'",
                        op, memory_format);
    if (*last && t->ndim != (flat ? 4 : 5))
        return lt_error(LT_ERR_RUNTIME, "required rank %d tensor to use %s format", flat ? 4 : 5,
                        memory_format);
    return LT_OK;
}

lt_status lt_clone_format_impl(lt_tensor *self, const char *memory_format, lt_tensor **out)
{
    if (strcmp(memory_format, "preserve_format") == 0) return lt_clone_impl(self, out);
    lt_tensor *result = NULL;
    bool last;
    LT_TRY(read_format("clone()", self, memory_format, &last));
    LT_TRY(lt_tensor_shaped(self, (lt_dtype)self->dtype, &result));
    if (last) {
        int64_t strides[LT_MAX_DIMS];
        lt_channels_last_strides(self->ndim, self->sizes, strides);
        lt_set_strides(result, strides);
    }
    lt_status status = lt_copy_elements(result, self);
    if (status != LT_OK) {
        lt_tensor_release(result);
        return status;
    }
    result->flags |= self->flags & LT_FLAG_POSITIONS;
    *out = result;
    return LT_OK;
}

lt_status lt_contiguous_format_impl(lt_tensor *self, const char *memory_format, lt_tensor **out)
{
    bool last = false;
    const bool any = strcmp(memory_format, "preserve_format") == 0;
    if (!any) LT_TRY(read_format("contiguous()", self, memory_format, &last));
    if (!any && !(last ? lt_is_channels_last(self) : lt_is_contiguous(self)))
        return lt_clone_format(self, memory_format, out);
    *out = lt_tensor_retain(self);
    return LT_OK;
}

lt_status lt_contiguous_impl(lt_tensor *self, lt_tensor **out)
{
    if (!lt_is_contiguous(self)) return lt_clone_format(self, "contiguous_format", out);
    *out = lt_tensor_retain(self);
    return LT_OK;
}

lt_status lt__without_derivative_impl(lt_tensor *self, lt_tensor *source, lt_tensor **out)
{
    (void)source;
    return lt_clone_impl(self, out);
}

lt_status lt_detach_impl(lt_tensor *self, lt_tensor **out) { return lt_tensor_alias(self, out); }
