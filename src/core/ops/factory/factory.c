/* factory.c - tensors of constant values: zeros, full, eye, arange, linspace and their *_like and
 * new_* forms. */
#include <math.h>

#include "ops/common.h"
#include "dtypes/fits.h"
#include "dtypes/half.h"
#include "op/_to_copy.h"
#include "op/arange.h"
#include "op/diagonal.h"
#include "op/empty.h"
#include "op/empty_like.h"
#include "op/empty_strided.h"
#include "op/eye.h"
#include "op/fill_.h"
#include "op/full.h"
#include "op/full_like.h"
#include "op/linspace.h"
#include "op/logspace.h"
#include "op/new_empty.h"
#include "op/new_full.h"
#include "op/new_ones.h"
#include "op/new_zeros.h"
#include "op/ones.h"
#include "op/ones_like.h"
#include "op/pow.h"
#include "op/zero_.h"
#include "op/zeros.h"
#include "op/zeros_like.h"

static lt_dtype or_default(lt_dtype dtype)
{
    return dtype == LT_DTYPE_NONE ? lt_get_default_dtype() : dtype;
}

/* Fills t, a new tensor, and returns it. */
static lt_status filled(lt_tensor *t, lt_scalar value, lt_tensor **out)
{
    lt_status status = lt_fill_value(t, value);
    if (status != LT_OK) {
        lt_tensor_release(t);
        return status;
    }
    *out = t;
    return LT_OK;
}

static lt_status new_filled(const lt_dims *size, lt_scalar value, lt_dtype dtype, lt_device device,
                            lt_tensor **out)
{
    lt_tensor *t = NULL;
    LT_TRY(lt_tensor_new(dtype, device, size->n, size->v, &t));
    return filled(t, value, out);
}

static lt_device or_cpu(const lt_device *device) { return device != NULL ? *device : lt_host; }

lt_status lt_empty_impl(const lt_dims *size, lt_dtype dtype, const lt_device *device,
                        lt_tensor **out)
{
    return lt_tensor_new(or_default(dtype), or_cpu(device), size->n, size->v, out);
}

lt_status lt_zeros_impl(const lt_dims *size, lt_dtype dtype, const lt_device *device,
                        lt_tensor **out)
{
    return new_filled(size, lt_scalar_from_int(0), or_default(dtype), or_cpu(device), out);
}

lt_status lt_ones_impl(const lt_dims *size, lt_dtype dtype, const lt_device *device,
                       lt_tensor **out)
{
    return new_filled(size, lt_scalar_from_int(1), or_default(dtype), or_cpu(device), out);
}

lt_status lt_full_impl(const lt_dims *size, lt_scalar fill_value, lt_dtype dtype,
                       const lt_device *device, lt_tensor **out)
{
    if (dtype == LT_DTYPE_NONE) dtype = lt_scalar_dtype(fill_value);
    return new_filled(size, fill_value, dtype, or_cpu(device), out);
}

lt_status lt_eye_impl(int64_t n, const int64_t *m, lt_dtype dtype, const lt_device *device,
                      lt_tensor **out)
{
    int64_t columns = m != NULL ? *m : n;
    if (n < 0 || columns < 0)
        return lt_error(LT_ERR_RUNTIME, "n must be greater or equal to 0, got %lld",
                        (long long)(n < 0 ? n : columns));
    lt_tensor *t = NULL, *diagonal = NULL;
    lt_status status = LT_OK;
    LT_TRY(lt_zeros_impl(&(lt_dims){2, {n, columns}}, dtype, device, &t));
    LT_CHECK(lt_diagonal_impl(t, 0, 0, 1, &diagonal));
    LT_CHECK(lt_fill_value(diagonal, lt_scalar_from_int(1)));
    *out = t;
    t = NULL;
done:
    lt_tensor_release(diagonal);
    lt_tensor_release(t);
    return status;
}

static bool is_integer(lt_scalar s) { return s.kind != LT_SCALAR_FLOAT; }

/* Writes start + i * step to a new vector; half and integer dtypes through a wider dtype. */
static lt_status new_range(lt_scalar start, lt_scalar step, int64_t n, lt_dtype dtype,
                           lt_device device, lt_tensor **out)
{
    lt_tensor *t = NULL;
    if (lt_dtype_is_complex(dtype))
        return lt_error(LT_ERR_RUNTIME, "\"arange\" not implemented for '%s'",
                        lt_dtype_scalar_name(dtype));
    LT_TRY(lt_tensor_new(dtype, device, 1, &n, &t));
    lt_array view = lt_array_of(t);
    lt_status status = n > 0 ? lt_backend_of(t)->range(&view, start, step, false) : LT_OK;
    if (status != LT_OK) {
        lt_tensor_release(t);
        return status;
    }
    *out = t;
    return LT_OK;
}

lt_status lt_arange_impl(lt_scalar start, const lt_scalar *end, lt_scalar step, lt_dtype dtype,
                         const lt_device *device, lt_tensor **out)
{
    lt_scalar first = end != NULL ? start : lt_scalar_from_int(0),
              last = end != NULL ? *end : start;
    bool integers = is_integer(first) && is_integer(last) && is_integer(step);
    if (dtype == LT_DTYPE_NONE) dtype = integers ? LT_INT64 : lt_get_default_dtype();
    double a = lt_scalar_double(first), b = lt_scalar_double(last), by = lt_scalar_double(step);
    /* computed in int64: each number is truncated first */
    if (dtype == LT_INT64 && !integers && isfinite(a) && isfinite(b)) {
        LT_TRY(lt_check_fits(first, LT_INT64));
        LT_TRY(lt_check_fits(last, LT_INT64));
        LT_TRY(lt_check_fits(step, LT_INT64));
        first = lt_scalar_from_int(lt_scalar_int(first)),
        last = lt_scalar_from_int(lt_scalar_int(last)),
        step = lt_scalar_from_int(lt_scalar_int(step));
        a = lt_scalar_double(first), b = lt_scalar_double(last), by = lt_scalar_double(step);
        integers = true;
    }
    if (by == 0) return lt_error(LT_ERR_RUNTIME, "step must be nonzero");
    if (!isfinite(a) || !isfinite(b))
        return lt_error(LT_ERR_RUNTIME, "unsupported range: %g -> %g", a, b);
    if ((by > 0 && b < a) || (by < 0 && b > a))
        return lt_error(LT_ERR_RUNTIME, "upper bound and lower bound inconsistent with step sign");
    double count = ceil((b - a) / by);
    if (integers) {
        __int128 span = (__int128)last.v.i - first.v.i, s = step.v.i;
        __int128 n = s > 0 ? (span + s - 1) / s : (-span - s - 1) / -s;
        count = (double)n;
    }
    if (!(count <= 9e15))
        return lt_error(LT_ERR_RUNTIME, "arange(): too many elements (%g)", count);
    /* start and step are truncated, the number of elements is computed before that */
    if (lt_dtype_is_int(dtype) && !integers) {
        LT_TRY(lt_check_fits(first, LT_INT64));
        LT_TRY(lt_check_fits(step, LT_INT64));
        first = lt_scalar_from_int(lt_scalar_int(first)),
        step = lt_scalar_from_int(lt_scalar_int(step));
    }
    return new_range(first, step, (int64_t)count, dtype, or_cpu(device), out);
}

lt_status lt_linspace_impl(lt_scalar start, lt_scalar end, int64_t steps, lt_dtype dtype,
                           const lt_device *device, lt_tensor **out)
{
    if (steps < 0) return lt_error(LT_ERR_RUNTIME, "number of steps must be non-negative");
    lt_dtype final = or_default(dtype), work = lt_dtype_is_float(final) ? final : LT_FLOAT64;
    if (lt_dtype_is_int(final)) { /* start and end are truncated */
        LT_TRY(lt_check_fits(start, final));
        LT_TRY(lt_check_fits(end, final));
        start = lt_scalar_from_int(lt_scalar_int(start)),
        end = lt_scalar_from_int(lt_scalar_int(end));
    }
    double a = lt_scalar_double(start), b = lt_scalar_double(end);
    double step = steps > 1 ? (b - a) / (double)(steps - 1) : 0;
    lt_status status = LT_OK;
    lt_tensor *t = NULL, *lower = NULL, *upper = NULL;
    /* Both halves are computed from their own end, so that the last value is exact. */
    int64_t half = steps / 2;
    LT_TRY(lt_tensor_new(work, or_cpu(device), 1, &steps, &t));
    const int64_t first = steps > 1 ? half : steps;
    if (first > 0) {
        LT_CHECK(lt_tensor_view(t, 1, &first, t->strides, 0, &lower));
        lt_array view = lt_array_of(lower);
        LT_CHECK(lt_backend_of(t)->range(&view, lt_scalar_from_float(a), lt_scalar_from_float(step),
                                         false));
    }
    if (steps > 1) {
        const int64_t rest = steps - half;
        LT_CHECK(lt_tensor_view(t, 1, &rest, t->strides, half, &upper));
        lt_array view = lt_array_of(upper);
        LT_CHECK(lt_backend_of(t)->range(&view, lt_scalar_from_float(b),
                                         lt_scalar_from_float(-step), true));
    }
    if (final == work) {
        *out = t;
        t = NULL;
    } else {
        status = lt__to_copy_impl(t, final, NULL, false, out);
    }
done:
    lt_tensor_release(lower);
    lt_tensor_release(upper);
    lt_tensor_release(t);
    return status;
}

/* ---- shaped or typed like another tensor ----------------------------------------------------- */

static lt_dtype like_dtype(const lt_tensor *t, lt_dtype dtype)
{
    return dtype == LT_DTYPE_NONE ? (lt_dtype)t->dtype : dtype;
}

static lt_device like_device(const lt_tensor *t, const lt_device *device)
{
    return device != NULL ? *device : t->device;
}

lt_status lt_new_empty_impl(lt_tensor *self, const lt_dims *size, lt_dtype dtype,
                            const lt_device *device, lt_tensor **out)
{
    return lt_tensor_new(like_dtype(self, dtype), like_device(self, device), size->n, size->v, out);
}

lt_status lt_new_full_impl(lt_tensor *self, const lt_dims *size, lt_scalar fill_value,
                           lt_dtype dtype, const lt_device *device, lt_tensor **out)
{
    return new_filled(size, fill_value, like_dtype(self, dtype), like_device(self, device), out);
}

lt_status lt_new_zeros_impl(lt_tensor *self, const lt_dims *size, lt_dtype dtype,
                            const lt_device *device, lt_tensor **out)
{
    return lt_new_full_impl(self, size, lt_scalar_from_int(0), dtype, device, out);
}

lt_status lt_new_ones_impl(lt_tensor *self, const lt_dims *size, lt_dtype dtype,
                           const lt_device *device, lt_tensor **out)
{
    return lt_new_full_impl(self, size, lt_scalar_from_int(1), dtype, device, out);
}

lt_status lt_empty_like_impl(lt_tensor *self, lt_dtype dtype, const lt_device *device,
                             lt_tensor **out)
{
    return lt_tensor_like(self, like_dtype(self, dtype), like_device(self, device), out);
}

lt_status lt_full_like_impl(lt_tensor *self, lt_scalar fill_value, lt_dtype dtype,
                            const lt_device *device, lt_tensor **out)
{
    lt_tensor *t = NULL;
    LT_TRY(lt_empty_like_impl(self, dtype, device, &t));
    return filled(t, fill_value, out);
}

lt_status lt_zeros_like_impl(lt_tensor *self, lt_dtype dtype, const lt_device *device,
                             lt_tensor **out)
{
    return lt_full_like_impl(self, lt_scalar_from_int(0), dtype, device, out);
}

lt_status lt_ones_like_impl(lt_tensor *self, lt_dtype dtype, const lt_device *device,
                            lt_tensor **out)
{
    return lt_full_like_impl(self, lt_scalar_from_int(1), dtype, device, out);
}

lt_status lt_empty_strided_impl(const lt_dims *size, const lt_dims *stride, lt_dtype dtype,
                                const lt_device *device, lt_tensor **out)
{
    int64_t numel, room = 1;
    if (size->n != stride->n)
        return lt_error(LT_ERR_RUNTIME,
                        "dimensionality of sizes (%d) must match dimensionality of strides (%d)",
                        size->n, stride->n);
    LT_TRY(lt_check_sizes(size->n, size->v, &numel));
    for (int d = 0; d < size->n; d++) {
        if (stride->v[d] < 0)
            return lt_error(LT_ERR_RUNTIME,
                            "empty_strided(): strides must not be negative, got %lld",
                            (long long)stride->v[d]);
        int64_t more;
        if (__builtin_mul_overflow(size->v[d] - 1, stride->v[d], &more) ||
            __builtin_add_overflow(room, more, &room))
            return lt_error(LT_ERR_RUNTIME, "empty_strided(): Storage size calculation overflowed");
    }
    if (numel == 0) room = 0;
    lt_tensor *base = NULL;
    LT_TRY(lt_tensor_new(or_default(dtype), or_cpu(device), 1, &room, &base));
    lt_status status = lt_tensor_view(base, size->n, size->v, stride->v, 0, out);
    lt_tensor_release(base);
    return status;
}

/* The number rounded to the dtype. */
static lt_scalar rounded_as(lt_scalar s, lt_dtype dtype)
{
    const float value = (float)lt_scalar_double(s);
    switch (dtype) {
    case LT_FLOAT16: return lt_scalar_from_float(lt_half_to_float(lt_float_to_half(value)));
    case LT_BFLOAT16:
        return lt_scalar_from_float(lt_bfloat16_to_float(lt_float_to_bfloat16(value)));
    case LT_FLOAT32: return lt_scalar_from_float(value);
    default: return s;
    }
}

lt_status lt_logspace_impl(lt_scalar start, lt_scalar end, int64_t steps, double base,
                           lt_dtype dtype, const lt_device *device, lt_tensor **out)
{
    lt_dtype final = or_default(dtype);
    lt_tensor *exponents = NULL, *number = NULL, *powers = NULL;
    lt_status status = LT_OK;
    /* Integers: exponents are truncated, as in PyTorch, except for a single step. */
    if (lt_dtype_is_int(final)) {
        LT_TRY(lt_check_fits(start, final));
        LT_TRY(lt_check_fits(end, final));
        if (steps != 1)
            start = lt_scalar_from_int(lt_scalar_int(start)),
            end = lt_scalar_from_int(lt_scalar_int(end));
    }
    if (steps != 1) start = rounded_as(start, final), end = rounded_as(end, final);
    LT_TRY(lt_linspace_impl(start, end, steps, LT_FLOAT64, device, &exponents));
    LT_CHECK(lt_tensor_from_scalar(lt_scalar_from_float(base), &number));
    LT_CHECK(lt_pow_impl(number, exponents, &powers));
    status = lt__to_copy_impl(powers, final, NULL, false, out);
done:
    lt_tensor_release(exponents);
    lt_tensor_release(number);
    lt_tensor_release(powers);
    return status;
}

/* ---- filling in place ------------------------------------------------------------------------ */

lt_status lt_fill__impl(lt_tensor *self, lt_scalar value) { return lt_fill_value(self, value); }

lt_status lt_fill_tensor_impl(lt_tensor *self, lt_tensor *value)
{
    if (value->ndim != 0)
        return lt_error(
            LT_ERR_RUNTIME,
            "fill_ only supports 0-dimension value tensor but got tensor with %d dimensions.",
            value->ndim);
    return lt_copy(self, value, false);
}

lt_status lt_zero__impl(lt_tensor *self) { return lt_fill_value(self, lt_scalar_from_int(0)); }
