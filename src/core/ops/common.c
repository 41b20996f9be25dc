/* common.c - see common.h. */
#include "common.h"

#include "saturating.h"
#include "user_index.h"
#include "dtypes/dtype.h"
#include "dtypes/fits.h"
#include "iter.h"
#include "memory_format.h"

lt_array lt_slice_array_of(const lt_tensor *t)
{
    static const int64_t one[] = {1};
    lt_array a = lt_array_of(t);
    if (t->ndim == 0) a.ndim = 1, a.sizes = a.strides = one;
    return a;
}

static lt_status not_implemented_if(bool refused, const char *op, const lt_tensor *t)
{
    if (!refused) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "\"%s\" not implemented for '%s'", op,
                    lt_dtype_scalar_name((lt_dtype)t->dtype));
}

lt_status lt_refuse_complex(const char *op, const lt_tensor *t)
{
    return not_implemented_if(lt_dtype_is_complex((lt_dtype)t->dtype), op, t);
}

lt_status lt_refuse_unsigned(const char *op, const lt_tensor *t)
{
    return not_implemented_if(lt_dtype_is_unsigned((lt_dtype)t->dtype), op, t);
}

lt_status lt_real_imag_of(const lt_array *a, lt_real_imag *out)
{
    const bool pairs = lt_dtype_is_complex(a->dtype);
    if (a->ndim == LT_MAX_DIMS)
        return lt_error(LT_ERR_RUNTIME, "complex numbers in %d dimensions cannot be indexed",
                        LT_MAX_DIMS);
    for (int d = 0; d < a->ndim; d++)
        out->sizes[d] = a->sizes[d], out->strides[d] = lt_mul_within(a->strides[d], pairs ? 2 : 1);
    out->sizes[a->ndim] = 2;
    out->strides[a->ndim] = pairs;
    out->array = *a;
    out->array.dtype = lt_real_of(a->dtype);
    out->array.ndim++;
    out->array.sizes = out->sizes;
    out->array.strides = out->strides;
    return LT_OK;
}

lt_status lt_copy_elements(lt_tensor *dst, lt_tensor *src)
{
    lt_tensor *operands[] = {dst, src};
    lt_iter it;
    LT_TRY(lt_iter_elementwise(&it, operands, 2));
    return it.numel > 0 ? lt_backend_of(dst)->copy(&it) : LT_OK;
}

lt_scalar lt_stored_value(lt_scalar value, lt_dtype dtype)
{
    uint64_t element = 0;
    if (lt_same_bits(dtype) == dtype) return value;
    lt_store_scalar(&element, dtype, value);
    return lt_load_scalar(&element, lt_same_bits(dtype));
}

lt_status lt_fill_value(lt_tensor *t, lt_scalar value)
{
    lt_iter it;
    /* In a single element of a half type, a value out of range becomes infinity, as in PyTorch. */
    if (t->numel != 1 || !lt_dtype_is_half((lt_dtype)t->dtype))
        LT_TRY(lt_check_fits(value, (lt_dtype)t->dtype));
    LT_TRY(lt_iter_elementwise(&it, &t, 1));
    it.dtype[0] = lt_same_bits((lt_dtype)t->dtype);
    return it.numel > 0 ? lt_backend_of(t)->fill(&it, lt_stored_value(value, (lt_dtype)t->dtype))
                        : LT_OK;
}

lt_status lt_make_contiguous(lt_tensor *t, lt_tensor **out)
{
    if (lt_is_contiguous(t)) {
        *out = lt_tensor_retain(t);
        return LT_OK;
    }
    lt_tensor *copy;
    LT_TRY(lt_tensor_shaped(t, (lt_dtype)t->dtype, &copy));
    lt_status status = lt_copy_elements(copy, t);
    if (status != LT_OK) {
        lt_tensor_release(copy);
        return status;
    }
    *out = copy;
    return LT_OK;
}

bool lt_keeps_channels_last(const lt_tensor *t)
{
    return lt_backend_of(t)->convolution_channels_last != NULL && t->numel > 0 &&
           lt_suggests_channels_last(t);
}

lt_status lt_make_ordered(lt_tensor *t, bool channels_last, lt_tensor **out)
{
    if (!channels_last) return lt_make_contiguous(t, out);
    if (lt_is_channels_last(t)) {
        *out = lt_tensor_retain(t);
        return LT_OK;
    }
    lt_tensor *copy;
    LT_TRY(lt_tensor_new_ordered((lt_dtype)t->dtype, t->device, t->ndim, t->sizes, true, &copy));
    lt_status status = lt_copy_elements(copy, t);
    if (status == LT_OK)
        *out = copy;
    else
        lt_tensor_release(copy);
    return status;
}

lt_status lt_begin_output(lt_tensor *const *out, lt_dtype dtype, lt_device device, int ndim,
                          const int64_t *sizes, lt_tensor **work)
{
    lt_tensor *given = *out;
    if (given != NULL) {
        LT_TRY(lt_output(&given, dtype, device, ndim, sizes));
        if ((lt_dtype)given->dtype == dtype && lt_is_contiguous(given)) {
            *work = lt_tensor_retain(given);
            return LT_OK;
        }
    }
    return lt_tensor_new(dtype, device, ndim, sizes, work);
}

lt_status lt_begin_ordered_output(lt_tensor *const *out, lt_dtype dtype, lt_device device,
                                  const lt_dims *sizes, bool channels_last, lt_tensor **work)
{
    lt_tensor *given = *out;
    if (!channels_last) return lt_begin_output(out, dtype, device, sizes->n, sizes->v, work);
    if (given != NULL) LT_TRY(lt_output(&given, dtype, device, sizes->n, sizes->v));
    if (given == NULL || (lt_dtype)given->dtype != dtype || !lt_is_channels_last(given))
        return lt_tensor_new_ordered(dtype, device, sizes->n, sizes->v, true, work);
    *work = lt_tensor_retain(given);
    return LT_OK;
}

lt_status lt_finish_output(lt_tensor **out, lt_tensor *work)
{
    if (*out == NULL) {
        *out = work;
        return LT_OK;
    }
    lt_status status = *out == work ? LT_OK : lt_copy_elements(*out, work);
    lt_tensor_release(work);
    return status;
}

lt_status lt_finish_outputs(lt_tensor **out_values, lt_tensor *values, lt_tensor **out_indices,
                            lt_tensor *indices)
{
    const lt_status of_values = values != NULL ? lt_finish_output(out_values, values) : LT_OK;
    const lt_status of_indices = lt_finish_output(out_indices, indices);
    return of_values != LT_OK ? of_values : of_indices;
}

lt_status lt_infer_shape(const lt_dims *given, int64_t numel, lt_dims *out)
{
    int unknown = -1;
    int64_t known = 1;
    char text[256];
    *out = *given;
    for (int d = 0; d < given->n; d++) {
        if (given->v[d] == -1) {
            if (unknown >= 0) return lt_error(LT_ERR_RUNTIME, "only one dimension can be inferred");
            unknown = d;
        } else if (given->v[d] < 0) {
            return lt_error(LT_ERR_RUNTIME, "invalid shape dimension %lld", (long long)given->v[d]);
        } else if (__builtin_mul_overflow(known, given->v[d], &known)) {
            known = -1;
            break;
        }
    }
    if (unknown >= 0 && known == 0)
        return lt_error(LT_ERR_RUNTIME,
                        "cannot reshape tensor of %lld elements into shape %s because the "
                        "unspecified dimension size -1 can be any value and is ambiguous",
                        (long long)numel, lt_format_sizes(text, sizeof text, given->n, given->v));
    bool fits = unknown >= 0 ? known > 0 && numel % known == 0 : known == numel;
    if (!fits)
        return lt_error(LT_ERR_RUNTIME, "shape '%s' is invalid for input of size %lld",
                        lt_format_sizes(text, sizeof text, given->n, given->v), (long long)numel);
    if (unknown >= 0) out->v[unknown] = numel / known;
    return LT_OK;
}

/* Walks both shapes from the end: each contiguous run of t's dimensions can be split differently.
 */
bool lt_view_strides(const lt_tensor *t, const lt_dims *shape, int64_t *strides)
{
    if (t->numel == 0) {
        lt_contiguous_strides(shape->n, shape->v, strides);
        return true;
    }
    int to = shape->n - 1;
    int64_t block = 1, filled = 1;
    int64_t base = t->ndim > 0 ? t->strides[t->ndim - 1] : 1;
    for (int d = t->ndim - 1; d >= 0; d--) {
        block *= t->sizes[d];
        bool ends = d == 0 || (t->sizes[d - 1] != 1 && t->strides[d - 1] != block * base);
        if (!ends) continue;
        while (to >= 0 && (filled < block || shape->v[to] == 1)) {
            strides[to] = filled * base;
            filled *= shape->v[to];
            to--;
        }
        if (filled != block) return false;
        if (d > 0) {
            base = t->strides[d - 1];
            block = filled = 1;
        }
    }
    for (; to >= 0; to--) strides[to] = 1; /* remaining sizes of 1 */
    return true;
}

lt_status lt_dims_mask(const lt_dims *dims, int ndim, uint32_t *mask)
{
    *mask = 0;
    if (dims == NULL || dims->n == 0) {
        *mask = (1u << ndim) - 1;
        return LT_OK;
    }
    for (int i = 0; i < dims->n; i++) {
        int d;
        LT_TRY(lt_wrap_dim(dims->v[i], ndim, &d));
        if (*mask >> d & 1)
            return lt_error(LT_ERR_RUNTIME, "dim %lld appears multiple times in the list of dims",
                            lt_user_index(d));
        *mask |= 1u << d;
    }
    return LT_OK;
}

lt_status lt_cast(lt_tensor *t, lt_dtype dtype, lt_tensor **out)
{
    if ((lt_dtype)t->dtype == dtype) {
        *out = lt_tensor_retain(t);
        return LT_OK;
    }
    lt_tensor *cast = NULL;
    LT_TRY(lt_tensor_like(t, dtype, t->device, &cast));
    lt_tensor *operands[] = {cast, t};
    lt_iter it;
    lt_status status = lt_iter_elementwise(&it, operands, 2);
    if (status == LT_OK && it.numel > 0) status = lt_backend_of(cast)->copy(&it);
    if (status != LT_OK) {
        lt_tensor_release(cast);
        return status;
    }
    *out = cast;
    return LT_OK;
}
