/* order.c - sorting, and ops that are formulas on sorted data: topk, medians, modes, quantiles;
 * running extremes. The backend sorts stably and returns positions; everything else stays on the
 * device. */
#include <math.h>
#include <string.h>

#include "ops/pointwise.h"
#include "user_index.h"
#include "devices/copies.h"
#include "devices/transfer.h"
#include "ops/check_values.h"
#include "ops/steps.h"
#include "op/argmax.h"
#include "op/argsort.h"
#include "op/ceil.h"
#include "op/cummax.h"
#include "op/cummin.h"
#include "op/floor.h"
#include "op/kthvalue.h"
#include "op/lerp.h"
#include "op/median.h"
#include "op/mode.h"
#include "op/msort.h"
#include "op/nanmedian.h"
#include "op/nanquantile.h"
#include "op/quantile.h"
#include "op/round.h"
#include "op/sort.h"
#include "op/to.h"
#include "op/topk.h"

/* ---- sorting --------------------------------------------------------------------------------- */

/* The same for integers that hold the bits of an unsigned dtype. */
static lt_status sorted_unsigned(lt_tensor *self, int dim, bool descending, int64_t count,
                                 lt_tensor **out_values, lt_tensor **out_indices);

/* The first `count` elements of sorted rows, as new tensors; values NULL: not requested. */
static lt_status sorted_part(lt_tensor *self, int dim, bool descending, int64_t count,
                             lt_tensor **out_values, lt_tensor **out_indices)
{
    lt_tensor *values = NULL, *indices = NULL;
    lt_status status;
    if (lt_dtype_is_complex((lt_dtype)self->dtype))
        return lt_error(LT_ERR_RUNTIME, "Sort does not support complex dtypes on %s",
                        self->device.type == LT_CPU ? "CPU" : "CUDA");
    if (lt_dtype_is_unsigned((lt_dtype)self->dtype))
        return sorted_unsigned(self, dim, descending, count, out_values, out_indices);
    lt_dims sizes = lt_dims_of(self);
    if (self->ndim > 0) sizes.v[dim] = count;
    if (out_values != NULL)
        LT_CHECK(lt_begin_output(out_values, (lt_dtype)self->dtype, self->device, sizes.n, sizes.v,
                                 &values));
    LT_CHECK(lt_begin_output(out_indices, LT_INT64, self->device, sizes.n, sizes.v, &indices));
    if (indices->numel > 0) {
        lt_array in = lt_slice_array_of(self), i = lt_slice_array_of(indices), v;
        if (values != NULL) v = lt_slice_array_of(values);
        LT_CHECK(lt_backend_of(self)->sort(descending, values != NULL ? &v : NULL, &i, &in, dim));
    }
    return lt_finish_outputs(out_values, values, out_indices, indices);
done:
    lt_tensor_release(values);
    lt_tensor_release(indices);
    return status;
}

static lt_status sorted_unsigned(lt_tensor *self, int dim, bool descending, int64_t count,
                                 lt_tensor **out_values, lt_tensor **out_indices)
{
    lt_scope s;
    lt_tensor *values = NULL, *indices = NULL;
    lt_scope_open(&s, false);
    /* for 64 bits, map the least value to the least signed one */
    lt_tensor *shift = self->dtype == LT_UINT64 ? do_scalar(&s, lt_scalar_from_int(INT64_MIN))
                                                : do_scalar(&s, lt_scalar_from_int(0));
    lt_tensor *wide = do_sub(&s, do_cast(&s, self, LT_INT64), shift);
    if (s.status == LT_OK)
        s.status = sorted_part(wide, dim, descending, count, out_values != NULL ? &values : NULL,
                               &indices);
    if (s.status == LT_OK) indices = lt_scope_hold(&s, LT_OK, indices);
    if (values != NULL)
        values = do_cast(&s, do_add(&s, lt_scope_hold(&s, s.status, values), shift),
                         (lt_dtype)self->dtype);
    if (values != NULL) lt_scope_put(&s, values, out_values);
    lt_scope_put(&s, indices, out_indices);
    return lt_scope_close(&s);
}

/* Size of a dimension; 1 for a 0-dim tensor. */
static int64_t length_of(const lt_tensor *self, int dim)
{
    return self->ndim > 0 ? self->sizes[dim] : 1;
}

static lt_status sorted_along(lt_tensor *self, int dim, bool descending, lt_tensor **out_values,
                              lt_tensor **out_indices)
{
    return sorted_part(self, dim, descending, length_of(self, dim), out_values, out_indices);
}

lt_status lt_sort_impl(lt_tensor *self, int64_t dim, bool descending, bool stable,
                       lt_tensor **out_values, lt_tensor **out_indices)
{
    int d;
    (void)stable;
    LT_TRY(lt_wrap_dim(dim, self->ndim, &d));
    return sorted_along(self, d, descending, out_values, out_indices);
}

lt_status lt_argsort_impl(lt_tensor *self, int64_t dim, bool descending, bool stable,
                          lt_tensor **out)
{
    int d;
    (void)stable;
    LT_TRY(lt_wrap_dim(dim, self->ndim, &d));
    return sorted_along(self, d, descending, NULL, out);
}

lt_status lt_msort_impl(lt_tensor *self, lt_tensor **out)
{
    lt_tensor *indices = NULL;
    LT_TRY(lt_sort(self, 0, false, false, out, &indices));
    lt_tensor_release(indices);
    return LT_OK;
}

/* The first `count` elements of self in ascending order, owned by the scope; false after a failure.
 */
static bool do_sort(lt_scope *s, lt_tensor *self, int dim, int64_t count, lt_tensor **values,
                    lt_tensor **indices)
{
    lt_tensor *v = NULL, *i = NULL;
    if (s->status != LT_OK) return false;
    lt_status status = sorted_part(self, dim, false, count, &v, &i);
    *values = lt_scope_hold(s, status, v);
    if (*values != NULL) *indices = lt_scope_hold(s, status, i);
    return s->status == LT_OK;
}

/* Closes the scope; values and indices become contiguous results of their own. */
static lt_status give_pair(lt_scope *s, lt_tensor *values, lt_tensor *indices,
                           lt_tensor **out_values, lt_tensor **out_indices)
{
    values = values != NULL ? do_contiguous(s, values) : NULL;
    indices = indices != NULL ? do_contiguous(s, indices) : NULL;
    if (s->status == LT_OK) {
        *out_values = lt_tensor_retain(values);
        *out_indices = lt_tensor_retain(indices);
    }
    return lt_scope_close(s);
}

lt_status lt_topk_impl(lt_tensor *self, int64_t k, int64_t dim, bool largest, bool sorted,
                       lt_tensor **out_values, lt_tensor **out_indices)
{
    int d;
    (void)sorted;
    LT_TRY(lt_wrap_dim(dim, self->ndim, &d));
    if (k < 0 || k > length_of(self, d))
        return lt_error(LT_ERR_RUNTIME, "selected index k out of range");
    return sorted_part(self, d, largest, k, out_values, out_indices);
}

static lt_status check_not_empty(const char *op, const lt_tensor *self, int dim)
{
    if (length_of(self, dim) > 0) return LT_OK;
    return lt_error(LT_ERR_INDEX, "%s(): Expected reduction dim %lld to have non-zero size.", op,
                    lt_user_index(dim));
}

/* One element of the sorted rows by the backend's kernel; false without one. k: see backend.h. */
static bool has_kth(const lt_tensor *self) { return lt_backend_of(self)->kth != NULL; }

static lt_status kth_along(lt_tensor *self, int dim, int64_t k, bool keepdim,
                           lt_tensor **out_values, lt_tensor **out_indices)
{
    lt_scope s;
    LT_TRY(lt_refuse_complex("kthvalue", self));
    LT_TRY(lt_refuse_unsigned("kthvalue", self));
    lt_dims sizes = lt_dims_of(self);
    if (self->ndim > 0) sizes.v[dim] = 1;
    lt_scope_open(&s, false);
    lt_tensor *values = NULL, *indices = NULL;
    lt_status status =
        lt_tensor_new((lt_dtype)self->dtype, self->device, sizes.n, sizes.v, &values);
    values = lt_scope_hold(&s, status, values);
    if (values != NULL) status = lt_tensor_new(LT_INT64, self->device, sizes.n, sizes.v, &indices);
    if (values != NULL) indices = lt_scope_hold(&s, status, indices);
    if (s.status == LT_OK && values->numel > 0) {
        lt_array in = lt_slice_array_of(self), v = lt_slice_array_of(values),
                 i = lt_slice_array_of(indices);
        s.status = lt_backend_of(self)->kth(k, &v, &i, &in, dim);
    }
    if (s.status == LT_OK && self->ndim > 0 && !keepdim) {
        values = do_squeeze_dim(&s, values, dim);
        indices = do_squeeze_dim(&s, indices, dim);
    }
    return give_pair(&s, values, indices, out_values, out_indices);
}

typedef struct sorted_lines {
    lt_tensor *values, *indices;
    int dim;
} sorted_lines;

/* Entry `at` of sorted rows. */
static lt_status pick_one(lt_scope *s, sorted_lines x, int64_t at, bool keepdim,
                          lt_tensor **out_values, lt_tensor **out_indices)
{
    if (s->status == LT_OK && x.values->ndim > 0) {
        x.values = do_part(s, x.values, x.dim, at, at + 1);
        x.indices = do_part(s, x.indices, x.dim, at, at + 1);
        if (!keepdim) x.values = do_squeeze_dim(s, x.values, x.dim);
        if (!keepdim) x.indices = do_squeeze_dim(s, x.indices, x.dim);
    }
    return give_pair(s, x.values, x.indices, out_values, out_indices);
}

lt_status lt_kthvalue_impl(lt_tensor *self, int64_t k, int64_t dim, bool keepdim,
                           lt_tensor **out_values, lt_tensor **out_indices)
{
    int d;
    lt_scope s;
    lt_tensor *values = NULL, *indices = NULL;
    LT_TRY(lt_wrap_dim(dim, self->ndim, &d));
    LT_TRY(check_not_empty("kthvalue", self, d));
    if (k < 1 || k > length_of(self, d))
        return lt_error(LT_ERR_RUNTIME,
                        "kthvalue(): selected number k out of range for dimension %lld",
                        lt_user_index(d));
    if (has_kth(self)) return kth_along(self, d, k - 1, keepdim, out_values, out_indices);
    lt_scope_open(&s, LT_COMPOSITE(kthvalue));
    do_sort(&s, self, d, k, &values, &indices);
    return pick_one(&s, (sorted_lines){values, indices, d}, k - 1, keepdim, out_values,
                    out_indices);
}

/* ---- medians, modes -------------------------------------------------------------------------- */

/* Entries of sorted rows at the indices in `at`, which has size 1 in dim. */
static lt_status pick_at(lt_scope *s, sorted_lines x, lt_tensor *at, bool keepdim,
                         lt_tensor **out_values, lt_tensor **out_indices)
{
    lt_tensor *values = do_gather(s, x.values, x.dim, at),
              *indices = do_gather(s, x.indices, x.dim, at);
    if (s->status == LT_OK && values->ndim > 0 && !keepdim) {
        values = do_squeeze_dim(s, values, x.dim);
        indices = do_squeeze_dim(s, indices, x.dim);
    }
    return give_pair(s, values, indices, out_values, out_indices);
}

/* The number of elements of each row that are not nan, as int64 with size 1 in dim. */
static lt_tensor *do_count_numbers(lt_scope *s, lt_tensor *self, int dim)
{
    return do_sum_dim(s, do_logical_not(s, do_isnan(s, self)), dim, true);
}

/* kernel: its name in PyTorch's message. */
static lt_status check_not_bool(const lt_tensor *self, const char *kernel)
{
    if ((lt_dtype)self->dtype != LT_BOOL) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "\"%s\" not implemented for 'Bool'", kernel);
}

static lt_status median_along(const char *op, lt_tensor *self, int64_t dim, bool keepdim,
                              bool ignore_nan, lt_tensor **out_values, lt_tensor **out_indices)
{
    int d;
    lt_scope s;
    lt_tensor *values = NULL, *indices = NULL;
    LT_TRY(lt_wrap_dim(dim, self->ndim, &d));
    LT_TRY(check_not_bool(self, "median_out"));
    LT_TRY(check_not_empty(op, self, d));
    const int64_t n = length_of(self, d), middle = (n - 1) / 2;
    if (has_kth(self))
        return kth_along(self, d, ignore_nan ? LT_KTH_NANMEDIAN : LT_KTH_MEDIAN, keepdim,
                         out_values, out_indices);
    lt_scope_open(&s, false);
    const bool whole = lt_dtype_is_float((lt_dtype)self->dtype) && self->ndim > 0;
    if (!do_sort(&s, self, d, whole ? n : middle + 1, &values, &indices)) return lt_scope_close(&s);
    if (!whole)
        return pick_one(&s, (sorted_lines){values, indices, d}, middle, keepdim, out_values,
                        out_indices);
    /* nan sorts behind the numbers */
    lt_tensor *numbers = do_count_numbers(&s, self, d), *at;
    if (ignore_nan) {
        lt_tensor *last = do_maximum(&s, do_sub(&s, numbers, do_scalar(&s, lt_scalar_from_int(1))),
                                     do_scalar(&s, lt_scalar_from_int(0)));
        at = do_floor_divide(&s, last, do_scalar(&s, lt_scalar_from_int(2)));
    } else {
        at = do_where(&s, do_eq(&s, numbers, do_scalar(&s, lt_scalar_from_int(n))),
                      do_scalar(&s, lt_scalar_from_int(middle)), numbers);
    }
    return pick_at(&s, (sorted_lines){values, indices, d}, at, keepdim, out_values, out_indices);
}

lt_status lt_median_dim_impl(lt_tensor *self, int64_t dim, bool keepdim, lt_tensor **out_values,
                             lt_tensor **out_indices)
{
    return median_along("median", self, dim, keepdim, false, out_values, out_indices);
}

lt_status lt_nanmedian_dim_impl(lt_tensor *self, int64_t dim, bool keepdim, lt_tensor **out_values,
                                lt_tensor **out_indices)
{
    return median_along("nanmedian", self, dim, keepdim, true, out_values, out_indices);
}

/* The median of an empty tensor: nan, or the value to which a CPU converts nan, written without a
 * conversion, since devices differ in it. */
static lt_status median_of_nothing(lt_tensor *self, lt_tensor **out)
{
    const lt_dtype dtype = (lt_dtype)self->dtype;
    lt_scalar value = lt_scalar_from_float((double)NAN);
    if (!lt_dtype_is_float(dtype))
        value = lt_scalar_from_int(dtype == LT_INT64   ? INT64_MIN
                                   : dtype == LT_INT32 ? INT32_MIN
                                                       : dtype == LT_BOOL);
    LT_TRY(lt_tensor_new(dtype, self->device, 0, NULL, out));
    lt_status status = lt_fill_value(*out, value);
    if (status != LT_OK) {
        lt_tensor_release(*out);
        *out = NULL;
    }
    return status;
}

static lt_status median_of_all(const char *op, lt_tensor *self, bool ignore_nan, lt_tensor **out)
{
    lt_scope s;
    lt_tensor *value = NULL, *index = NULL;
    if (self->numel == 0) return median_of_nothing(self, out);
    LT_TRY(check_not_bool(self, "median_cpu"));
    lt_scope_open(&s, false);
    lt_tensor *line = do_flatten(&s, self);
    if (s.status == LT_OK) s.status = median_along(op, line, 0, false, ignore_nan, &value, &index);
    lt_tensor_release(index);
    if (s.status == LT_OK) value = lt_scope_hold(&s, LT_OK, value);
    return lt_scope_return(&s, value, out);
}

lt_status lt_median_impl(lt_tensor *self, lt_tensor **out)
{
    return median_of_all("median", self, false, out);
}
lt_status lt_nanmedian_impl(lt_tensor *self, lt_tensor **out)
{
    return median_of_all("nanmedian", self, true, out);
}

/* 0 .. n - 1 along dim, in a shape that broadcasts to self's. */
static lt_tensor *do_places(lt_scope *s, const lt_tensor *self, int dim)
{
    lt_dims sizes = {.n = self->ndim};
    for (int d = 0; d < self->ndim; d++) sizes.v[d] = d == dim ? self->sizes[d] : 1;
    return do_reshape(s, do_range(s, self->sizes[dim], self->device), &sizes);
}

static lt_tensor *do_argmax(lt_scope *s, lt_tensor *a, int64_t dim)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_argmax(a, &dim, true, &out);
    return lt_scope_hold(s, status, out);
}

static lt_tensor *do_cummax(lt_scope *s, lt_tensor *a, int64_t dim)
{
    lt_tensor *values = NULL, *indices = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_cummax(a, dim, &values, &indices);
    lt_tensor_release(indices);
    return lt_scope_hold(s, status, values);
}

/* In sorted rows, the length of the run of equals up to each element is its distance from the start
 * of the run; the first longest run ends at the last occurrence of the mode. */
lt_status lt_mode_impl(lt_tensor *self, int64_t dim, bool keepdim, lt_tensor **out_values,
                       lt_tensor **out_indices)
{
    int d;
    lt_scope s;
    lt_tensor *values = NULL, *indices = NULL;
    LT_TRY(lt_wrap_dim(dim, self->ndim, &d));
    LT_TRY(check_not_empty("mode", self, d));
    lt_scope_open(&s, LT_COMPOSITE(mode));
    const int64_t n = length_of(self, d);
    if (!do_sort(&s, self, d, n, &values, &indices)) return lt_scope_close(&s);
    if (n == 1 || self->numel == 0)
        return pick_one(&s, (sorted_lines){values, indices, d}, 0, keepdim, out_values,
                        out_indices);
    lt_dims sizes = lt_dims_of(self);
    lt_tensor *places = do_places(&s, self, d), *starts = do_zeros(&s, indices, &sizes);
    lt_tensor *differs = do_ne(&s, do_part(&s, values, d, 1, n), do_part(&s, values, d, 0, n - 1));
    lt_tensor *begun =
        do_where(&s, differs, do_part(&s, places, d, 1, n), do_scalar(&s, lt_scalar_from_int(0)));
    if (s.status == LT_OK) do_store(&s, do_part(&s, starts, d, 1, n), begun);
    lt_tensor *longest = do_argmax(&s, do_sub(&s, places, do_cummax(&s, starts, d)), d);
    return pick_at(&s, (sorted_lines){values, indices, d}, longest, keepdim, out_values,
                   out_indices);
}

/* ---- running extremes ------------------------------------------------------------------------ */

static lt_status running_extreme(bool maximum, lt_tensor *self, int64_t dim, lt_tensor **out_values,
                                 lt_tensor **out_indices)
{
    int d;
    lt_tensor *values = NULL, *indices = NULL;
    lt_status status;
    LT_TRY(lt_refuse_complex(maximum ? "cummax" : "cummin", self));
    LT_TRY(lt_refuse_unsigned(maximum ? "cummax" : "cummin", self));
    LT_TRY(lt_wrap_dim(dim, self->ndim, &d));
    LT_CHECK(lt_tensor_new((lt_dtype)self->dtype, self->device, self->ndim, self->sizes, &values));
    LT_CHECK(lt_tensor_new(LT_INT64, self->device, self->ndim, self->sizes, &indices));
    if (self->numel > 0) {
        lt_array in = lt_slice_array_of(self), v = lt_slice_array_of(values),
                 i = lt_slice_array_of(indices);
        LT_CHECK(lt_backend_of(self)->scan_extreme(maximum, &v, &i, &in, d));
    }
    *out_values = values;
    *out_indices = indices;
    return LT_OK;
done:
    lt_tensor_release(values);
    lt_tensor_release(indices);
    return status;
}

lt_status lt_cummax_impl(lt_tensor *self, int64_t dim, lt_tensor **out_values,
                         lt_tensor **out_indices)
{
    return running_extreme(true, self, dim, out_values, out_indices);
}

lt_status lt_cummin_impl(lt_tensor *self, int64_t dim, lt_tensor **out_values,
                         lt_tensor **out_indices)
{
    return running_extreme(false, self, dim, out_values, out_indices);
}

/* ---- quantiles ------------------------------------------------------------------------------- */

typedef enum interpolation { LINEAR, LOWER, HIGHER, MIDPOINT, NEAREST } interpolation;

static lt_status parse_interpolation(const char *op, const char *text, interpolation *out)
{
    static const char *const names[] = {"linear", "lower", "higher", "midpoint", "nearest"};
    for (int i = 0; i < 5; i++)
        if (strcmp(text, names[i]) == 0) {
            *out = (interpolation)i;
            return LT_OK;
        }
    return lt_error(
        LT_ERR_RUNTIME,
        "%s() interpolation must be one of linear, lower, higher, midpoint or nearest, but got %s",
        op, text);
}

/* q as a tensor of self's dtype on its device; a number is checked at once. */
static lt_tensor *do_shares(lt_scope *s, const char *op, const lt_tensor *self, lt_tensor *q)
{
    lt_scalar value;
    if (q->ndim > 1)
        s->status = lt_error(LT_ERR_RUNTIME, "%s() q must be a scalar or 1D tensor", op);
    if (s->status == LT_OK && !(q->flags & LT_FLAG_WRAPPED_NUMBER) && q->dtype != self->dtype)
        s->status =
            lt_error(LT_ERR_RUNTIME, "%s() q tensor must be same dtype as the input tensor", op);
    if (s->status == LT_OK && (q->flags & LT_FLAG_WRAPPED_NUMBER)) {
        s->status = lt_tensor_item(q, &value);
        if (s->status == LT_OK && !(lt_scalar_double(value) >= 0 && lt_scalar_double(value) <= 1))
            s->status = lt_error(LT_ERR_RUNTIME, "%s() q must be in the range [0, 1] but got %g",
                                 op, lt_scalar_double(value));
    } else if (s->status == LT_OK) {
        const char *text = strcmp(op, "quantile") == 0
                               ? "quantile() q values must be in the range [0, 1]"
                               : "nanquantile() q values must be in the range [0, 1]";
        s->status = lt_check_values(q, (lt_value_check){.high = 1, .text = text});
    }
    lt_tensor *there = NULL;
    if (s->status != LT_OK) return NULL;
    const lt_copy_cause previous = lt_copies_imply(op);
    lt_status status = lt_to(q, &self->device, (lt_dtype)self->dtype, false, false, &there);
    lt_copies_set_cause(previous);
    return lt_scope_hold(s, status, there);
}

static lt_tensor *do_rounded(lt_scope *s, lt_tensor *a,
                             lt_status (*round)(const lt_tensor *, lt_tensor **))
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = round(a, &out);
    return lt_scope_hold(s, status, out);
}

static lt_tensor *do_at(lt_scope *s, lt_tensor *sorted, lt_tensor *places)
{
    return do_gather(s, sorted, -1, do_cast(s, places, LT_INT64));
}

/* ranks: fractional indices in the sorted rows, [..., q]. */
static lt_tensor *do_interpolate(lt_scope *s, lt_tensor *sorted, lt_tensor *ranks,
                                 interpolation how)
{
    lt_tensor *below = do_rounded(s, ranks, lt_floor), *above = do_rounded(s, ranks, lt_ceil);
    if (how == LOWER) return do_at(s, sorted, below);
    if (how == HIGHER) return do_at(s, sorted, above);
    if (how == NEAREST) return do_at(s, sorted, do_rounded(s, ranks, lt_round));
    lt_tensor *weight = how == MIDPOINT ? do_number(s, 0.5) : do_sub(s, ranks, below);
    lt_tensor *low = do_at(s, sorted, below), *high = do_at(s, sorted, above), *out = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_lerp(low, high, weight, &out);
    return lt_scope_hold(s, status, out);
}

/* The result [..., q] with q first, or without it, and with the reduced dimensions if keepdim. */
static lt_tensor *do_arrange(lt_scope *s, lt_tensor *a, const lt_tensor *self, const int64_t *dim,
                             bool keepdim, bool many)
{
    lt_dims order = {.n = 0}, sizes = {.n = 0};
    if (s->status != LT_OK) return NULL;
    order.v[order.n++] = a->ndim - 1;
    for (int d = 0; d < a->ndim - 1; d++) order.v[order.n++] = d;
    a = do_permute(s, a, &order);
    if (s->status != LT_OK) return NULL;
    if (many) sizes.v[sizes.n++] = a->sizes[0];
    int wrapped =
        dim == NULL ? -1 : (int)(*dim < 0 ? *dim + (self->ndim > 0 ? self->ndim : 1) : *dim);
    for (int d = 0; d < self->ndim; d++) {
        bool gone = dim == NULL || d == wrapped;
        if (!gone || keepdim) sizes.v[sizes.n++] = gone ? 1 : self->sizes[d];
    }
    return do_reshape(s, a, &sizes);
}

static lt_status quantile(lt_tensor *self, lt_tensor *q, const int64_t *dim, bool keepdim,
                          const char *interpolation_name, bool ignore_nan, lt_tensor **out)
{
    const char *const op = ignore_nan ? "nanquantile" : "quantile";
    int d = 0;
    lt_scope s;
    interpolation how;
    lt_tensor *sorted = NULL, *indices = NULL;
    if (dim != NULL) LT_TRY(lt_wrap_dim(*dim, self->ndim, &d));
    if (self->numel == 0)
        return lt_error(LT_ERR_RUNTIME, "%s() input tensor must be non-empty", op);
    if (self->dtype != LT_FLOAT32 && self->dtype != LT_FLOAT64)
        return lt_error(LT_ERR_RUNTIME, "%s() input tensor must be either float or double dtype",
                        op);
    LT_TRY(parse_interpolation(op, interpolation_name, &how));
    lt_scope_open(&s, true);
    lt_tensor *shares = do_shares(&s, op, self, q);
    lt_tensor *lines = dim == NULL || self->ndim < 2 ? do_flatten(&s, self) : self;
    if (dim != NULL && self->ndim > 1 && s.status == LT_OK) { /* the others in their order */
        lt_dims order = {.n = 0};
        for (int i = 0; i < self->ndim; i++)
            if (i != d) order.v[order.n++] = i;
        order.v[order.n++] = d;
        lines = do_permute(&s, self, &order);
    }
    if (s.status != LT_OK) return lt_scope_close(&s);
    lt_status status = lt_sort(lines, -1, false, false, &sorted, &indices);
    lt_tensor_release(indices);
    sorted = lt_scope_hold(&s, status, sorted);
    if (sorted == NULL) return lt_scope_close(&s);
    /* the last element of each row, [..., 1]: if it is nan, so is the quantile, unless nan is
     * ignored */
    const int64_t n = sorted->sizes[sorted->ndim - 1];
    lt_tensor *numbers =
        do_cast(&s, do_sum_dim(&s, do_logical_not(&s, do_isnan(&s, lines)), -1, true),
                (lt_dtype)self->dtype);
    lt_dims one = {.n = 1, .v = {shares != NULL ? shares->numel : 0}};
    lt_tensor *vector = do_reshape(&s, shares, &one), *ranks;
    if (ignore_nan) {
        lt_tensor *last = do_maximum(&s, plus(&s, numbers, -1), do_number(&s, 0));
        ranks = do_mul(&s, last, vector);
    } else {
        lt_tensor *whole = do_eq(&s, numbers, do_number(&s, (double)n));
        ranks =
            do_where(&s, whole, times(&s, vector, (double)(n - 1)), do_number(&s, (double)(n - 1)));
    }
    lt_tensor *result = do_interpolate(&s, sorted, ranks, how);
    return lt_scope_return(&s, do_arrange(&s, result, self, dim, keepdim, q->ndim == 1), out);
}

lt_status lt_quantile_impl(lt_tensor *self, lt_tensor *q, const int64_t *dim, bool keepdim,
                           const char *interpolation, lt_tensor **out)
{
    return quantile(self, q, dim, keepdim, interpolation, false, out);
}

lt_status lt_nanquantile_impl(lt_tensor *self, lt_tensor *q, const int64_t *dim, bool keepdim,
                              const char *interpolation, lt_tensor **out)
{
    return quantile(self, q, dim, keepdim, interpolation, true, out);
}
