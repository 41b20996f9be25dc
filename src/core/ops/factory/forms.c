/* forms.c - other forms of factories: range, scalar_tensor, and tensors with an order of dimensions
 * or strides. */
#include <math.h>

#include "ops/compose.h"
#include "op/arange.h"
#include "op/empty.h"
#include "op/empty_permuted.h"
#include "op/empty_strided.h"
#include "op/full.h"
#include "op/new_empty_strided.h"
#include "op/permute.h"
#include "op/range.h"
#include "op/scalar_tensor.h"

lt_status lt_empty_permuted_impl(const lt_dims *size, const lt_dims *physical_layout,
                                 lt_dtype dtype, const lt_device *device, lt_tensor **out)
{
    uint32_t seen = 0;
    if (size->n != physical_layout->n)
        return lt_error(LT_ERR_RUNTIME,
                        "Number of dimensions in size does not match the length of the "
                        "physical_layout; i.e. len(size) = %d is not equal to len(physical_layout) "
                        "= %d",
                        size->n, physical_layout->n);
    lt_dims sizes = {.n = size->n}, order = {.n = size->n};
    for (int i = 0; i < size->n; i++) {
        int d;
        LT_TRY(lt_wrap_dim(physical_layout->v[i], size->n, &d));
        if (seen >> d & 1) return lt_error(LT_ERR_RUNTIME, "Duplicate dim not allowed");
        seen |= 1u << d;
        sizes.v[i] = size->v[d];
        order.v[d] = i;
    }
    lt_tensor *stored = NULL;
    LT_TRY(lt_empty(&sizes, dtype, device, &stored));
    const lt_status status = lt_permute(stored, &order, out);
    lt_tensor_release(stored);
    return status;
}

lt_status lt_new_empty_strided_impl(lt_tensor *self, const lt_dims *size, const lt_dims *stride,
                                    lt_dtype dtype, const lt_device *device, lt_tensor **out)
{
    return lt_empty_strided(size, stride, dtype != LT_DTYPE_NONE ? dtype : (lt_dtype)self->dtype,
                            device != NULL ? device : &self->device, out);
}

lt_status lt_scalar_tensor_impl(lt_scalar s, lt_dtype dtype, const lt_device *device,
                                lt_tensor **out)
{
    return lt_full(&(lt_dims){.n = 0}, s, dtype != LT_DTYPE_NONE ? dtype : lt_get_default_dtype(),
                   device, out);
}

lt_status lt_range_impl(lt_scalar start, const lt_scalar *end, lt_scalar step, lt_dtype dtype,
                        const lt_device *device, lt_tensor **out)
{
    const lt_scalar from = end != NULL ? start : lt_scalar_from_int(0);
    const double first = lt_scalar_double(from),
                 last = lt_scalar_double(end != NULL ? *end : start), by = lt_scalar_double(step);
    if (by == 0) return lt_error(LT_ERR_RUNTIME, "step must be nonzero");
    if ((by > 0 && first > last) || (by < 0 && first < last))
        return lt_error(LT_ERR_RUNTIME, "upper bound and lower bound inconsistent with step sign");
    const double n = floor((last - first) / by) + 1;
    if (!(n >= 0 && n < 0x1p62))
        return lt_error(LT_ERR_RUNTIME, "unsupported range: %g -> %g", first, last);
    lt_tensor *places = NULL;
    lt_scope s;
    lt_scope_open(&s, false);
    const lt_status status =
        lt_arange(lt_scalar_from_int((int64_t)n), NULL, lt_scalar_from_int(1),
                  dtype != LT_DTYPE_NONE ? dtype : lt_get_default_dtype(), device, &places);
    places = lt_scope_hold(&s, status, places);
    lt_tensor *scaled = do_mul(&s, places, do_scalar(&s, step));
    return lt_scope_return(&s, do_add(&s, scaled, do_scalar(&s, from)), out);
}
