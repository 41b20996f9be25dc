/* by_tensors.c - reading and writing at positions stored in tensors: x[...] with index tensors
 * (advanced indexing). A plan converts the list of indices for the kernels: masks become the
 * positions of their true elements, index tensors are broadcast together, and their dimensions
 * replace the indexed ones, or come first if a dimension without an index is in between. Positions
 * count from 0 in this file. */
#include <stdio.h>
#include <string.h>

#include "saturating.h"
#include "dtypes/float8_arguments.h"
#include "ops/compose.h"
#include "devices/copies.h"
#include "user_index.h"
#include "devices/device.h"
#include "dtypes/fits.h"
#include "iter.h"
#include "devices/transfer.h"
#include "ops/pointwise.h"
#include "op/_index.h"
#include "op/_index_backward.h"
#include "op/_index_put_.h"
#include "op/_index_put_backward_self.h"
#include "op/_index_put_backward_values.h"
#include "op/_to_copy.h"
#include "op/clone.h"
#include "op/masked_select.h"
#include "op/nonzero.h"
#include "op/reshape.h"
#include "op/where.h"

#define MAX_INDICES (LT_ITER_OPERANDS - 2)

typedef struct index_plan {
    bool only_mask; /* the only index is a mask: positions are distinct and in range */
    /* of the indexed tensor; a 0-dim mask adds a dimension of size 1 */
    int ndim;
    int64_t sizes[LT_MAX_DIMS], strides[LT_MAX_DIMS];
    lt_tensor *index[LT_MAX_DIMS]; /* int64, on the tensor's device; NULL: not indexed */
    int covered;                   /* dimensions that the list has consumed so far */
    int count;                     /* index tensors */
    /* first dimension and number of the broadcast ones in the result */
    int from_ndim, result_ndim;
    int64_t shape[LT_MAX_DIMS]; /* of the result */
    int shape_ndim;
} index_plan;

static void plan_free(index_plan *p)
{
    for (int d = 0; d < p->ndim; d++) lt_tensor_release(p->index[d]);
}

/* New reference: an index tensor as int64 on self's device, not sharing self's storage. */
static lt_status bring(lt_tensor *index, lt_tensor *self, lt_dtype dtype, lt_tensor **out)
{
    lt_tensor *here = NULL;
    if (!lt_device_equal(index->device, self->device)) {
        char device[16];
        if (index->device.type != LT_CPU)
            return lt_error(
                LT_ERR_RUNTIME,
                "indices should be either on cpu or on the same device as the indexed tensor (%s)",
                lt_format_device(device, sizeof device, self->device));
        lt_copy_cause previous = lt_copies_imply("index");
        lt_status status = lt__to_copy_impl(index, dtype, &self->device, false, out);
        lt_copies_set_cause(previous);
        return status;
    }
    LT_TRY(lt_cast(index, dtype, &here));
    if (here->storage != self->storage) {
        *out = here;
        return LT_OK;
    }
    lt_status status = lt_clone_impl(here, out);
    lt_tensor_release(here);
    return status;
}

static lt_status add_position(index_plan *p, const lt_tensor *self, lt_tensor *index)
{
    if (p->covered >= p->ndim)
        return lt_error(LT_ERR_INDEX, "too many indices for tensor of dimension %d", self->ndim);
    if (p->count == MAX_INDICES)
        return lt_error(LT_ERR_INDEX, "a tensor is indexed by at most %d tensors at once",
                        MAX_INDICES);
    p->index[p->covered++] = lt_tensor_retain(index);
    p->count++;
    return LT_OK;
}

static lt_status check_mask(const index_plan *p, const lt_tensor *self, const lt_tensor *mask)
{
    if (p->covered + mask->ndim > p->ndim)
        return lt_error(LT_ERR_INDEX, "too many indices for tensor of dimension %d", self->ndim);
    for (int d = 0; d < mask->ndim; d++) {
        if (mask->sizes[d] == p->sizes[p->covered + d]) continue;
        char a[256], b[256];
        return lt_error(LT_ERR_INDEX,
                        "The shape of the mask %s at index %lld does not match the shape of the "
                        "indexed tensor %s at index %lld",
                        lt_format_sizes(a, sizeof a, mask->ndim, mask->sizes), lt_user_index(d),
                        lt_format_sizes(b, sizeof b, self->ndim, self->sizes),
                        lt_user_index(p->covered + d));
    }
    return LT_OK;
}

/* A 0-dim mask selects everything once or nothing: a dimension of size 1, with one position 0 or
 * none. */
static lt_status add_dimension(index_plan *p, lt_tensor *self, lt_tensor *positions)
{
    if (p->ndim == LT_MAX_DIMS)
        return lt_error(LT_ERR_INDEX, "a tensor has at most %d dimensions, got %d", LT_MAX_DIMS,
                        LT_MAX_DIMS + 1);
    for (int d = p->ndim; d > p->covered; d--)
        p->sizes[d] = p->sizes[d - 1], p->strides[d] = p->strides[d - 1];
    p->sizes[p->covered] = 1;
    p->strides[p->covered] = 0;
    p->ndim++;
    lt_tensor *zeros = NULL;
    LT_TRY(lt_tensor_new(LT_INT64, self->device, 1, &positions->sizes[0], &zeros));
    lt_status status = lt_fill_value(zeros, lt_scalar_from_int(0));
    if (status == LT_OK) status = add_position(p, self, zeros);
    lt_tensor_release(zeros);
    return status;
}

/* Merges the dimensions that a mask covers into one, if strides permit; the mask likewise. */
static lt_status merge_masked(index_plan *p, lt_tensor **mask)
{
    const int first = p->covered, n = (*mask)->ndim, last = first + n - 1;
    for (int d = first; d < last; d++)
        if (p->strides[d] != lt_mul_within(p->sizes[d + 1], p->strides[d + 1])) return LT_OK;
    lt_tensor *flat = NULL;
    LT_TRY(lt_reshape(*mask, &(lt_dims){1, {(*mask)->numel}}, &flat));
    lt_tensor_release(*mask);
    *mask = flat;
    p->sizes[first] = flat->numel;
    p->strides[first] = p->strides[last];
    for (int d = first + 1; d + n - 1 < p->ndim; d++)
        p->sizes[d] = p->sizes[d + n - 1], p->strides[d] = p->strides[d + n - 1];
    p->ndim -= n - 1;
    return LT_OK;
}

static lt_status add_mask(index_plan *p, lt_tensor *self, lt_tensor *given)
{
    lt_tensor *mask = NULL, *positions = NULL, *column = NULL;
    lt_status status;
    LT_TRY(check_mask(p, self, given));
    LT_CHECK(bring(given, self, (lt_dtype)given->dtype, &mask));
    /* merged dimensions could not be named in errors */
    if (p->only_mask && mask->ndim > 1) LT_CHECK(merge_masked(p, &mask));
    LT_CHECK(lt_nonzero_impl(mask, &positions));
    if (mask->ndim == 0) LT_CHECK(add_dimension(p, self, positions));
    for (int d = 0; d < mask->ndim; d++) {
        LT_CHECK(lt_tensor_view(positions, 1, &positions->sizes[0], &positions->strides[0],
                                positions->offset + d * positions->strides[1], &column));
        LT_CHECK(add_position(p, self, column));
        lt_tensor_release(column);
        column = NULL;
    }
done:
    lt_tensor_release(mask);
    lt_tensor_release(positions);
    lt_tensor_release(column);
    return status;
}

static lt_status add_index(index_plan *p, lt_tensor *self, lt_tensor *index)
{
    lt_dtype dtype = (lt_dtype)index->dtype;
    if (dtype == LT_BOOL || dtype == LT_UINT8) return add_mask(p, self, index);
    if (dtype != LT_INT64 && dtype != LT_INT32)
        return lt_error(LT_ERR_INDEX,
                        "tensors used as indices must be long, int, byte or bool tensors");
    lt_tensor *here = NULL;
    LT_TRY(bring(index, self, LT_INT64, &here));
    lt_status status = add_position(p, self, here);
    lt_tensor_release(here);
    return status;
}

static lt_status shape_mismatch(lt_tensor *const *indices, int n)
{
    char shapes[512] = "";
    size_t used = 0;
    for (int i = 0; i < n && used + 2 < sizeof shapes; i++) {
        if (i > 0) used += (size_t)snprintf(shapes + used, sizeof shapes - used, ", ");
        lt_format_sizes(shapes + used, sizeof shapes - used, indices[i]->ndim, indices[i]->sizes);
        used += strlen(shapes + used);
    }
    return lt_error(
        LT_ERR_INDEX,
        "shape mismatch: indexing tensors could not be broadcast together with shapes %s", shapes);
}

/* The offset of the broadcast dimensions, and the shape of the result. */
static lt_status plan_shape(index_plan *p)
{
    lt_tensor *indices[LT_MAX_DIMS] = {NULL};
    int64_t common[LT_MAX_DIMS];
    int n = 0, first = 0, last = 0;
    for (int d = 0; d < p->ndim; d++) {
        if (p->index[d] == NULL) continue;
        if (n == 0) first = d;
        last = d;
        indices[n++] = p->index[d];
    }
    if (lt_broadcast_shape(indices, n, &p->result_ndim, common) != LT_OK)
        return shape_mismatch(indices, n);
    if (p->ndim - n + p->result_ndim > LT_MAX_DIMS)
        return lt_error(LT_ERR_INDEX, "a tensor has at most %d dimensions, got %d", LT_MAX_DIMS,
                        p->ndim - n + p->result_ndim);
    p->from_ndim = last - first + 1 == n ? first : 0;
    int to = 0;
    for (int d = 0; d <= p->ndim; d++) {
        if (to == p->from_ndim)
            for (int i = 0; i < p->result_ndim; i++) p->shape[to++] = common[i];
        if (d < p->ndim && p->index[d] == NULL) p->shape[to++] = p->sizes[d];
    }
    p->shape_ndim = to;
    return LT_OK;
}

/* The only index if it is a mask, with the number of unindexed dimensions before it; else NULL. */
static lt_tensor *the_mask(const lt_tensor_list *indices, int *before)
{
    lt_tensor *mask = NULL;
    for (int64_t i = 0; i < indices->n; i++) {
        lt_tensor *index = indices->v[i];
        if (index == NULL) continue;
        if (mask != NULL ||
            ((lt_dtype)index->dtype != LT_BOOL && (lt_dtype)index->dtype != LT_UINT8))
            return NULL;
        mask = index;
        *before = (int)i;
    }
    return mask;
}

/* Fills in p; free it also after a failure. */
static lt_status plan_make(index_plan *p, lt_tensor *self, const lt_tensor_list *indices)
{
    int before;
    *p = (index_plan){.ndim = self->ndim, .only_mask = the_mask(indices, &before) != NULL};
    for (int d = 0; d < self->ndim; d++)
        p->sizes[d] = self->sizes[d], p->strides[d] = self->strides[d];
    for (int64_t i = 0; i < indices->n; i++) {
        if (indices->v[i] != NULL)
            LT_TRY(add_index(p, self, indices->v[i]));
        else if (p->covered++ >= p->ndim)
            return lt_error(LT_ERR_INDEX, "too many indices for tensor of dimension %d",
                            self->ndim);
    }
    return plan_shape(p);
}

/* Iterator over the result's shape; dense is the result or the values, broadcast to it from the
 * right. */
static void plan_iter(const index_plan *p, lt_tensor *self, lt_tensor *dense, lt_iter *it,
                      lt_index_args *args)
{
    int64_t strides[2 + MAX_INDICES][LT_MAX_DIMS] = {{0}};
    const int64_t *rows[2 + MAX_INDICES];
    lt_tensor *operands[2 + MAX_INDICES] = {dense, self};
    const int64_t size = (int64_t)lt_dtype_size((lt_dtype)self->dtype);
    for (int own = dense->ndim - 1, d = p->shape_ndim - 1; own >= 0 && d >= 0; own--, d--)
        strides[0][d] = dense->sizes[own] == 1 ? 0 : dense->strides[own];
    *args = (lt_index_args){.distinct = p->only_mask};
    for (int d = 0, to = 0; d < p->ndim; d++) {
        if (p->index[d] == NULL) {
            if (to == p->from_ndim) to += p->result_ndim;
            strides[1][to++] = p->strides[d];
            continue;
        }
        const lt_tensor *index = p->index[d];
        int k = args->count++;
        for (int own = index->ndim - 1, i = p->from_ndim + p->result_ndim - 1; own >= 0; own--, i--)
            strides[2 + k][i] = index->sizes[own] == 1 ? 0 : index->strides[own];
        operands[2 + k] = p->index[d];
        args->sizes[k] = p->sizes[d];
        args->strides[k] = lt_mul_within(p->strides[d], size);
        args->dims[k] = d;
        args->base[k] = (index->flags & LT_FLAG_POSITIONS) != 0;
    }
    for (int k = 0; k < 2 + args->count; k++) rows[k] = strides[k];
    lt_iter_strided(it, operands, 2 + args->count, p->shape_ndim, p->shape, rows);
}

lt_status lt__index_impl(lt_tensor *self, const lt_tensor_list *indices, lt_tensor **out)
{
    index_plan p;
    lt_iter it;
    lt_index_args args;
    lt_tensor *result = NULL;
    lt_status status;
    LT_CHECK(plan_make(&p, self, indices));
    LT_CHECK(lt_tensor_new((lt_dtype)self->dtype, self->device, p.shape_ndim, p.shape, &result));
    if (result->numel > 0) {
        plan_iter(&p, self, result, &it, &args);
        LT_CHECK(lt_iter_for_moving(&it));
        LT_CHECK(lt_backend_of(self)->index_get(&it, &args));
    }
    *out = result;
    result = NULL;
done:
    plan_free(&p);
    lt_tensor_release(result);
    return status;
}

/* self and mask, broadcast together and flattened. */
lt_status lt_masked_select_impl(lt_tensor *self, lt_tensor *mask, lt_tensor **out)
{
    if ((lt_dtype)mask->dtype != LT_BOOL)
        return lt_error(LT_ERR_RUNTIME, "masked_select: expected BoolTensor for mask");
    lt_device device;
    lt_dims shape;
    LT_TRY(lt_check_same_device("masked_select", (lt_tensor *[]){self, mask}, 2, false, &device));
    LT_TRY(lt_broadcast_shape((lt_tensor *[]){self, mask}, 2, &shape.n, shape.v));
    lt_dims line = {1, {1}};
    for (int d = 0; d < shape.n; d++) line.v[0] *= shape.v[d];
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(masked_select));
    lt_tensor *from = do_reshape(&s, do_expand(&s, self, &shape), &line), *result = NULL;
    lt_tensor *flags = do_reshape(&s, do_expand(&s, mask, &shape), &line);
    if (flags == NULL) return lt_scope_close(&s);
    lt_copy_cause previous = lt_copies_imply("masked_select");
    lt_status status = lt__index_impl(from, &(lt_tensor_list){1, &flags}, &result);
    lt_copies_set_cause(previous);
    return lt_scope_return(&s, lt_scope_hold(&s, status, result), out);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* New reference: values in self's dtype, on its device, not sharing its storage. Scalars are
 * converted. */
static lt_status bring_values(lt_tensor *values, lt_tensor *self, lt_tensor **out)
{
    bool number = values->flags & LT_FLAG_WRAPPED_NUMBER;
    if (values->dtype != self->dtype && !number)
        return lt_error(LT_ERR_RUNTIME,
                        "Index put requires the source and destination dtypes match, got %s for "
                        "the destination and %s for the source.",
                        lt_dtype_scalar_name((lt_dtype)self->dtype),
                        lt_dtype_scalar_name((lt_dtype)values->dtype));
    lt_device device;
    LT_TRY(lt_check_same_device("index_put_", (lt_tensor *[]){self, values}, 2, true, &device));
    if (number && !lt_device_equal(values->device, self->device)) {
        lt_scalar value;
        LT_TRY(lt_tensor_item(values, &value));
        LT_TRY(lt_tensor_new((lt_dtype)self->dtype, self->device, 0, NULL, out));
        return lt_fill_value(*out, value);
    }
    LT_TRY(lt_check_number_fits(values, (lt_dtype)self->dtype));
    if (!lt_device_equal(values->device, self->device))
        return lt__to_copy_impl(values, LT_DTYPE_NONE, &self->device, false, out);
    if (values->storage == self->storage) return lt_clone_impl(values, out);
    return lt_cast(values, (lt_dtype)self->dtype, out);
}

/* Values may be broadcast to the result, and have more leading dimensions of size 1. */
static lt_status check_values(const index_plan *p, const lt_tensor *values)
{
    bool fits = true;
    for (int own = values->ndim - 1, d = p->shape_ndim - 1; own >= 0 && fits; own--, d--)
        fits = values->sizes[own] == 1 || (d >= 0 && values->sizes[own] == p->shape[d]);
    if (fits) return LT_OK;
    char a[256], b[256];
    return lt_error(LT_ERR_RUNTIME,
                    "shape mismatch: value tensor of shape %s cannot be broadcast to indexing "
                    "result of shape %s",
                    lt_format_sizes(a, sizeof a, values->ndim, values->sizes),
                    lt_format_sizes(b, sizeof b, p->shape_ndim, p->shape));
}

/* Fills with one number where the mask is true: needs no positions, so nothing waits for the
 * device. */
static lt_status fill_where(lt_tensor *self, lt_tensor *given, int before, lt_tensor *value)
{
    index_plan p = {.ndim = self->ndim, .covered = before};
    lt_tensor *mask = NULL, *wide = NULL;
    lt_status status;
    int64_t sizes[LT_MAX_DIMS], strides[LT_MAX_DIMS];
    for (int d = 0; d < self->ndim; d++) p.sizes[d] = self->sizes[d];
    LT_TRY(check_mask(&p, self, given));
    LT_CHECK(bring(given, self, LT_BOOL, &mask));
    int ndim = self->ndim - before;
    for (int d = 0; d < ndim; d++) {
        sizes[d] = d < mask->ndim ? mask->sizes[d] : 1;
        strides[d] = d < mask->ndim ? mask->strides[d] : 1;
    }
    LT_CHECK(lt_tensor_view(mask, ndim, sizes, strides, mask->offset, &wide));
    LT_CHECK(lt_where_impl(wide, value, self, &self));
done:
    lt_tensor_release(mask);
    lt_tensor_release(wide);
    return status;
}

lt_status lt__index_put__impl(lt_tensor *self, const lt_tensor_list *indices, lt_tensor *values,
                              bool accumulate)
{
    index_plan p = {.ndim = 0};
    lt_iter it;
    lt_index_args args;
    lt_tensor *here = NULL;
    lt_status status;
    int before = 0;
    if (accumulate && lt_dtype_is_float8((lt_dtype)self->dtype))
        return lt_refuse_dtype("index_put", (lt_dtype)self->dtype);
    LT_CHECK(bring_values(values, self, &here));
    lt_tensor *mask = the_mask(indices, &before);
    if (mask != NULL && here->ndim == 0 && !accumulate && before + mask->ndim <= self->ndim) {
        status = fill_where(self, mask, before, here);
        goto done;
    }
    LT_CHECK(plan_make(&p, self, indices));
    LT_CHECK(check_values(&p, here));
    plan_iter(&p, self, here, &it, &args);
    LT_CHECK(lt_iter_for_moving(&it));
    if (it.numel > 0) LT_CHECK(lt_backend_of(self)->index_put(&it, &args, accumulate));
done:
    plan_free(&p);
    lt_tensor_release(here);
    return status;
}

/* ---- derivatives ----------------------------------------------------------------------------- */

lt_status lt__index_backward_impl(lt_tensor *grad_output, const lt_dims *sizes,
                                  const lt_tensor_list *indices, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_index_backward));
    lt_tensor *result = do_zeros(&s, grad_output, sizes);
    if (result != NULL) s.status = lt__index_put__impl(result, indices, grad_output, true);
    return lt_scope_return(&s, result, out);
}

lt_status lt__index_put_backward_self_impl(lt_tensor *grad_output, const lt_tensor_list *indices,
                                           bool accumulate, lt_tensor **out)
{
    if (accumulate) {
        *out = lt_tensor_retain(grad_output);
        return LT_OK;
    }
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_index_put_backward_self));
    lt_tensor *copy = NULL, *zero = do_number(&s, 0);
    if (zero != NULL) {
        lt_status status = lt_clone(grad_output, &copy);
        copy = lt_scope_hold(&s, status, copy);
    }
    if (copy != NULL) s.status = lt__index_put_(copy, indices, zero, false);
    return lt_scope_return(&s, copy, out);
}

lt_status lt__index_put_backward_values_impl(lt_tensor *grad_output, const lt_tensor_list *indices,
                                             const lt_dims *sizes, lt_tensor **out)
{
    lt_scope s;
    lt_tensor *read = NULL;
    LT_TRY(lt__index(grad_output, indices, &read));
    lt_scope_open(&s, LT_COMPOSITE(_index_put_backward_values));
    read = lt_scope_hold(&s, LT_OK, read);
    return lt_scope_return(&s, do_sum_to(&s, read, sizes), out);
}
