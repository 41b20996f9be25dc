/* convert.c - conversion to other dtypes and devices. Composite: _to_copy is the differentiable
 * step. A tensor that already has the requested dtype and device is returned itself, unless a copy
 * is requested. */
#include <string.h>

#include "memory_format.h"
#include "ops/common.h"
#include "op/_to_copy.h"
#include "op/contiguous.h"
#include "op/cpu.h"
#include "op/cuda.h"
#include "op/to.h"
#include "op/type_as.h"

lt_status lt_to_impl(lt_tensor *self, const lt_device *device, lt_dtype dtype, bool non_blocking,
                     bool copy, lt_tensor **out)
{
    lt_device target = device != NULL ? *device : self->device;
    if (dtype == LT_DTYPE_NONE) dtype = (lt_dtype)self->dtype;
    LT_TRY(lt_device_resolve(&target));
    if (!copy && dtype == (lt_dtype)self->dtype && lt_device_equal(target, self->device)) {
        *out = lt_tensor_retain(self);
        return LT_OK;
    }
    return lt__to_copy(self, dtype, &target, non_blocking, out);
}

lt_status lt_to_dtype_impl(lt_tensor *self, lt_dtype dtype, bool non_blocking, bool copy,
                           lt_tensor **out)
{
    return lt_to_impl(self, NULL, dtype, non_blocking, copy, out);
}

lt_status lt_to_other_impl(lt_tensor *self, lt_tensor *other, bool non_blocking, bool copy,
                           lt_tensor **out)
{
    return lt_to_impl(self, &other->device, (lt_dtype)other->dtype, non_blocking, copy, out);
}

lt_status lt_to_format_impl(lt_tensor *self, const char *memory_format, const lt_device *device,
                            lt_dtype dtype, bool non_blocking, bool copy, lt_tensor **out)
{
    lt_tensor *there = NULL;
    LT_TRY(lt_to(self, device, dtype, non_blocking, copy, &there));
    const bool in_order = strcmp(memory_format, "contiguous_format") == 0,
               last = strcmp(memory_format,
                             self->ndim == 5 ? "channels_last_3d" : "channels_last") == 0;
    if (there == self && (in_order || last) && last == lt_suggests_channels_last(self)) {
        *out = there; /* PyTorch's rule: the order of dimensions counts, gaps and overlaps stay */
        return LT_OK;
    }
    lt_status status = lt_contiguous_format(there, memory_format, out);
    lt_tensor_release(there);
    return status;
}

lt_status lt_cpu_impl(lt_tensor *self, lt_tensor **out)
{
    return lt_to_impl(self, &lt_host, LT_DTYPE_NONE, false, false, out);
}

lt_status lt_cuda_impl(lt_tensor *self, const lt_device *device, bool non_blocking, lt_tensor **out)
{
    lt_device current = {LT_CUDA, -1};
    if (device == NULL) device = &current;
    if (device->type != LT_CUDA)
        return lt_error(LT_ERR_RUNTIME, "Invalid device, must be cuda device");
    return lt_to_impl(self, device, LT_DTYPE_NONE, non_blocking, false, out);
}

lt_status lt_type_as_impl(lt_tensor *self, lt_tensor *other, lt_tensor **out)
{
    return lt_to_other_impl(self, other, false, false, out);
}

#define DEFINE_CAST(name, dtype)                                                                   \
    lt_status lt_##name##_cast_impl(lt_tensor *self, lt_tensor **out)                              \
    {                                                                                              \
        return lt_to_impl(self, NULL, dtype, false, false, out);                                   \
    }
DEFINE_CAST(bool, LT_BOOL)
DEFINE_CAST(byte, LT_UINT8)
DEFINE_CAST(char, LT_INT8)
DEFINE_CAST(short, LT_INT16)
DEFINE_CAST(int, LT_INT32)
DEFINE_CAST(long, LT_INT64)
DEFINE_CAST(half, LT_FLOAT16)
DEFINE_CAST(bfloat16, LT_BFLOAT16)
DEFINE_CAST(float, LT_FLOAT32)
DEFINE_CAST(double, LT_FLOAT64)
DEFINE_CAST(chalf, LT_COMPLEX32)
DEFINE_CAST(cfloat, LT_COMPLEX64)
DEFINE_CAST(cdouble, LT_COMPLEX128)
