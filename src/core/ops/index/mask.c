/* mask.c - filling and selecting by masks, the positions of non-zero elements, one-hot rows. Ops
 * with result sizes that depend on the data wait for the device and record this in the ledger. */
#include "dims.h"
#include "ops/compose.h"
#include "devices/copies.h"
#include "system/clock.h"
#include "user_index.h"
#include "dtypes/fits.h"
#include "devices/transfer.h"
#include "ops/pointwise.h"
#include "iter.h"
#include "op/_index_put_.h"
#include "op/_masked_select_backward.h"
#include "op/masked_fill.h"
#include "op/max.h"
#include "op/min.h"
#include "op/nonzero.h"
#include "op/one_hot.h"
#include "op/scatter.h"
#include "op/where.h"

lt_status lt_masked_fill_tensor_impl(lt_tensor *self, lt_tensor *mask, lt_tensor *value,
                                     lt_tensor **out)
{
    if ((lt_dtype)mask->dtype != LT_BOOL)
        return lt_error(LT_ERR_RUNTIME,
                        "masked_fill_ only supports boolean masks, but got mask with dtype %s",
                        lt_dtype_name((lt_dtype)mask->dtype));
    if (value->ndim != 0)
        return lt_error(LT_ERR_RUNTIME,
                        "masked_fill_ only supports a 0-dimensional value tensor, but got tensor "
                        "with %d dimension(s).",
                        value->ndim);
    lt_tensor *number = NULL;
    if (value->device.type == LT_CPU) {
        lt_scalar filling;
        LT_TRY(lt_tensor_item(value, &filling));
        LT_TRY(lt_check_fits(filling, (lt_dtype)self->dtype));
    }
    lt_dims shape;
    /* a new result is contiguous, as in PyTorch, also if self is not */
    lt_tensor *result = *out;
    LT_TRY(lt_broadcast_shape((lt_tensor *[]){self, mask}, 2, &shape.n, shape.v));
    LT_TRY(lt_cast(value, (lt_dtype)self->dtype, &number));
    lt_status status = result != NULL ? LT_OK
                                      : lt_tensor_new((lt_dtype)self->dtype, self->device, shape.n,
                                                      shape.v, &result);
    if (status == LT_OK) status = lt_where_impl(mask, number, self, &result);
    lt_tensor_release(number);
    if (*out != NULL) return status;
    if (status == LT_OK)
        *out = result;
    else
        lt_tensor_release(result);
    return status;
}

lt_status lt_masked_fill_impl(lt_tensor *self, lt_tensor *mask, lt_scalar value, lt_tensor **out)
{
    lt_tensor *number = NULL;
    LT_TRY(lt_tensor_from_scalar(value, &number));
    lt_status status = lt_masked_fill_tensor_impl(self, mask, number, out);
    lt_tensor_release(number);
    return status;
}

lt_status lt__masked_select_backward_impl(lt_tensor *grad_output, const lt_dims *sizes,
                                          lt_tensor *mask, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_masked_select_backward));
    lt_dims shape = *sizes;
    if (mask->ndim > shape.n) {
        shape.n = mask->ndim;
        for (int d = 0; d < shape.n; d++) shape.v[d] = 1;
        for (int d = 0; d < sizes->n; d++) shape.v[shape.n - sizes->n + d] = sizes->v[d];
    }
    for (int d = 0; d < mask->ndim; d++)
        if (mask->sizes[d] != 1) shape.v[shape.n - mask->ndim + d] = mask->sizes[d];
    lt_tensor *wide = do_expand(&s, mask, &shape), *result = do_zeros(&s, grad_output, &shape);
    if (result == NULL) return lt_scope_close(&s);
    if (shape.n == 0) /* a 0-dim mask: one element or none */
        result = do_add(&s, result, do_sum(&s, grad_output));
    else
        s.status = lt__index_put_(result, &(lt_tensor_list){1, &wide}, grad_output, false);
    return lt_scope_return(&s, do_sum_to(&s, result, sizes), out);
}

/* ---- positions of elements ------------------------------------------------------------------- */

/* The host needs the count: on a GPU this waits, and is recorded in the ledger. */
static lt_status count_nonzero(const lt_array *in, int64_t *count)
{
    const lt_backend *backend = lt_backends[in->device.type];
    if (in->device.type == LT_CPU) return backend->nonzero_count(in, count);
    LT_TRY(lt_copies_check_sync("nonzero"));
    double start = lt_clock();
    LT_TRY(backend->nonzero_count(in, count));
    double waited = lt_clock() - start;
    lt_copy_cause outer = lt_copies_set_cause((lt_copy_cause){"nonzero", true});
    if (outer.name != NULL) lt_copies_set_cause(outer);
    lt_copies_record(in->device, lt_host, (int64_t)sizeof *count, waited);
    lt_copies_set_cause(outer);
    return LT_OK;
}

lt_status lt_nonzero_impl(lt_tensor *self, lt_tensor **out)
{
    /* unsigned elements are 0 if their bits are */
    if (lt_dtype_is_complex((lt_dtype)self->dtype)) {
        lt_tensor *flags = NULL;
        LT_TRY(lt_cast(self, LT_BOOL, &flags));
        lt_status status = lt_nonzero_impl(flags, out);
        lt_tensor_release(flags);
        return status;
    }
    lt_array in = lt_array_of(self);
    int64_t sizes[2] = {0, self->ndim};
    lt_tensor *result = NULL;
    if (self->numel > 0) LT_TRY(count_nonzero(&in, &sizes[0]));
    LT_TRY(lt_tensor_new(LT_INT64, self->device, 2, sizes, &result));
    if (result->numel > 0) {
        lt_array to = lt_array_of(result);
        lt_status status = lt_backend_of(self)->nonzero(&in, &to);
        if (status != LT_OK) {
            lt_tensor_release(result);
            return status;
        }
    }
    *out = result;
    return LT_OK;
}

/* The smallest or largest class. */
static lt_status extreme_class(lt_tensor *self, bool largest, int64_t *out)
{
    lt_tensor *extreme = NULL;
    lt_scalar value;
    LT_TRY(largest ? lt_max_impl(self, &extreme) : lt_min_impl(self, &extreme));
    lt_copy_cause previous = lt_copies_imply("one_hot");
    lt_status status = lt_tensor_item(extreme, &value);
    lt_copies_set_cause(previous);
    lt_tensor_release(extreme);
    if (status == LT_OK) *out = lt_scalar_int(value);
    return status;
}

/* Checks values where that needs no wait: on a GPU with num_classes given the kernel checks them.
 */
static lt_status check_classes(lt_tensor *self, int64_t *num_classes)
{
    int64_t least, most;
    if (self->numel == 0) {
        if (*num_classes > 0) return LT_OK;
        return lt_error(LT_ERR_RUNTIME, "Can not infer total number of classes from empty tensor.");
    }
    if (self->device.type != LT_CPU && *num_classes > 0) return LT_OK;
    LT_TRY(extreme_class(self, false, &least));
    if (least < 0 && lt_user_index(0) == 0)
        return lt_error(LT_ERR_RUNTIME, "Class values must be non-negative.");
    if (least < 0)
        return lt_error(LT_ERR_RUNTIME, "Class values must be positive: classes count from %lld.",
                        lt_user_index(0));
    LT_TRY(extreme_class(self, true, &most));
    if (*num_classes == -1) *num_classes = most + 1;
    if (most >= *num_classes)
        return lt_error(LT_ERR_RUNTIME, "Class values must not be larger than num_classes.");
    return LT_OK;
}

lt_status lt_one_hot_impl(lt_tensor *self, int64_t num_classes, lt_tensor **out)
{
    if ((lt_dtype)self->dtype != LT_INT64)
        return lt_error(LT_ERR_RUNTIME,
                        "one_hot is only applicable to index tensor of type LongTensor.");
    LT_TRY(check_classes(self, &num_classes));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(one_hot));
    lt_dims sizes = lt_dims_of(self);
    s.status = lt_dims_insert(&sizes, sizes.n, num_classes);
    lt_tensor *result = do_zeros(&s, self, &sizes), *where = do_unsqueeze(&s, self, -1);
    if (where != NULL)
        s.status = lt_scatter_value_impl(result, -1, where, lt_scalar_from_int(1), &result);
    return lt_scope_return(&s, result, out);
}
