/* distinct.c - distinct elements and counts: unique, unique_consecutive, bincount, histc. Formulas
 * of other ops; results of unique and bincount have a size that depends on the data, so they wait
 * for the device. */
#include <math.h>

#include "ops/common.h"
#include "context/interrupt.h"
#include "devices/copies.h"
#include "devices/device_type.h"
#include "devices/transfer.h"
#include "ops/steps.h"
#include "op/any.h"
#include "op/arange.h"
#include "op/argsort.h"
#include "op/bincount.h"
#include "op/histc.h"
#include "op/max.h"
#include "op/min.h"
#include "op/nonzero.h"
#include "op/scatter.h"
#include "op/scatter_add.h"
#include "op/sort.h"
#include "op/unique.h"
#include "op/unique_consecutive.h"
#include "step/floor.h"

/* ---- distinct elements ----------------------------------------------------------------------- */

/* Vectors over the entries, in an order in which equal ones are adjacent. */
typedef struct runs {
    lt_tensor *starts; /* bool: where an entry differs from the one before */
    lt_tensor *number; /* int64: of the run, from 0; NULL if not requested */
} runs;

static lt_tensor *do_places_of(lt_scope *s, lt_tensor *flags) /* int64 indices of the true flags */
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_nonzero(flags, &out);
    return do_flatten(s, lt_scope_hold(s, status, out));
}

static lt_tensor *do_any_along(lt_scope *s, lt_tensor *a, int64_t dim)
{
    lt_tensor *out = NULL;
    lt_dims dims = {.n = 1, .v = {dim}};
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_any_dim(a, &dims, false, &out);
    return lt_scope_hold(s, status, out);
}

/* entries: [n], or [n, width], compared row by row. */
static runs do_runs(lt_scope *s, lt_tensor *entries, bool numbered)
{
    runs r = {NULL, NULL};
    lt_dims sizes = {.n = 1, .v = {entries->sizes[0]}};
    const int64_t n = sizes.v[0];
    lt_tensor *flags = NULL;
    if (s->status != LT_OK) return r;
    lt_status status = lt_tensor_new(LT_BOOL, entries->device, 1, sizes.v, &flags);
    r.starts = lt_scope_hold(s, status, flags);
    if (r.starts != NULL) s->status = lt_fill_value(r.starts, lt_scalar_from_int(1));
    if (n > 1) {
        lt_tensor *differs =
            do_ne(s, do_part(s, entries, 0, 1, n), do_part(s, entries, 0, 0, n - 1));
        if (entries->ndim == 2) differs = do_any_along(s, differs, 1);
        do_store(s, do_part(s, r.starts, 0, 1, n), differs);
    }
    if (numbered)
        r.number = do_sub(s, do_cumsum(s, r.starts, 0), do_scalar(s, lt_scalar_from_int(1)));
    return r;
}

/* The length of each run that begins at an index in `places`, of n entries. */
static lt_tensor *do_lengths(lt_scope *s, lt_tensor *places, int64_t n)
{
    if (s->status != LT_OK) return NULL;
    const int64_t count = places->numel;
    lt_dims sizes = {.n = 1, .v = {count}};
    lt_tensor *ends = do_zeros(s, places, &sizes);
    if (ends != NULL) s->status = lt_fill_value(ends, lt_scalar_from_int(n));
    if (count > 1) do_store(s, do_part(s, ends, 0, 0, count - 1), do_part(s, places, 0, 1, count));
    return do_sub(s, ends, places);
}

/* The order of rows: sorted by their last column, then by the one before, and so on. */
static lt_tensor *do_row_order(lt_scope *s, lt_tensor *rows)
{
    lt_tensor *order = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_arange(lt_scalar_from_int(rows->sizes[0]), NULL, lt_scalar_from_int(1),
                                 LT_INT64, &rows->device, &order);
    for (int64_t column = rows->sizes[1] - 1; column >= 0 && status == LT_OK; column--) {
        lt_scope step;
        lt_tensor *next = NULL, *by = NULL;
        lt_scope_open(&step, false);
        lt_tensor *keys = do_index_select(&step, do_select(&step, rows, 1, column), 0, order);
        if (step.status == LT_OK) {
            status = lt_argsort(keys, 0, false, true, &by);
            by = lt_scope_hold(&step, status, by);
        }
        status = lt_scope_return(&step, do_index_select(&step, order, 0, by), &next);
        if (status != LT_OK) break;
        lt_tensor_release(order);
        order = next;
    }
    if (status != LT_OK) lt_tensor_release(order);
    return lt_scope_hold(s, status, status == LT_OK ? order : NULL);
}

/* The results; inverse and counts are computed only if requested. */
typedef struct distinct_results {
    lt_tensor **output, **inverse, **counts;
    bool want_inverse, want_counts;
} distinct_results;

/* order NULL: entries are not sorted. whole: the tensor from which entries along dim are selected.
 */
static lt_status give_distinct(lt_scope *s, lt_tensor *whole, int64_t dim, lt_tensor *entries,
                               lt_tensor *order, const lt_dims *inverse_sizes,
                               const distinct_results *results)
{
    lt_tensor *back = NULL, *lengths = NULL, *chosen = NULL;
    if (s->status == LT_OK) {
        runs r = do_runs(s, entries, results->want_inverse);
        lt_tensor *places = do_places_of(s, r.starts);
        lt_tensor *from =
            order != NULL && whole != entries ? do_index_select(s, order, 0, places) : places;
        chosen = do_index_select(s, whole, dim, from);
        if (results->want_counts) lengths = do_lengths(s, places, entries->sizes[0]);
        if (results->want_inverse && s->status == LT_OK) {
            back = r.number;
            if (order != NULL) {
                lt_dims sizes = lt_dims_of(order);
                lt_tensor *zeros = do_zeros(s, order, &sizes), *put = NULL;
                if (s->status == LT_OK) {
                    lt_status status = lt_scatter(zeros, 0, order, r.number, &put);
                    back = lt_scope_hold(s, status, put);
                }
            }
            back = do_reshape(s, back, inverse_sizes);
        }
    }
    if (s->status == LT_OK) {
        *results->output = lt_tensor_retain(chosen);
        if (back != NULL) *results->inverse = lt_tensor_retain(back);
        if (lengths != NULL) *results->counts = lt_tensor_retain(lengths);
    }
    return lt_scope_close(s);
}

static lt_status distinct(lt_tensor *self, bool sorts, const int64_t *dim,
                          const distinct_results *results)
{
    int d = 0;
    lt_scope s;
    lt_tensor *order = NULL, *entries;
    if (dim != NULL) LT_TRY(lt_wrap_dim(*dim, self->ndim, &d));
    lt_scope_open(&s, false);
    if (dim == NULL || self->ndim < 2) {
        lt_dims sizes = lt_dims_of(self);
        entries = do_flatten(&s, self);
        if (sorts && s.status == LT_OK) {
            lt_tensor *values = NULL, *indices = NULL;
            lt_status status = lt_sort(entries, 0, false, true, &values, &indices);
            entries = lt_scope_hold(&s, status, values);
            order = entries != NULL ? lt_scope_hold(&s, status, indices) : NULL;
        }
        return give_distinct(&s, entries, 0, entries, order, &sizes, results);
    }
    const int64_t n = self->sizes[d];
    int empty = 0;
    for (int other = 0; other < self->ndim; other++) empty += self->sizes[other] == 0;
    if (empty > (n == 0)) {
        s.status = lt_error(
            LT_ERR_RUNTIME,
            n == 0
                ? "Number of zero sized dimensions is more than one, so unique cannot be applied "
                : "There are 0 sized dimensions, and they aren't selected, so unique cannot be "
                  "applied");
        return lt_scope_close(&s);
    }
    lt_dims rows = {.n = 2, .v = {n, n > 0 ? self->numel / n : 1}}, sizes = {.n = 1, .v = {n}};
    /* entries are compared by their other dimensions, flattened */
    lt_dims order_of = {.n = 1, .v = {d}};
    for (int other = 0; other < self->ndim; other++)
        if (other != d) order_of.v[order_of.n++] = other;
    entries = do_reshape(&s, do_permute(&s, self, &order_of), &rows);
    if (sorts) {
        order = do_row_order(&s, entries);
        entries = do_index_select(&s, entries, 0, order);
    }
    return give_distinct(&s, self, d, entries, order, &sizes, results);
}

lt_status lt_unique_impl(lt_tensor *self, bool sorted, bool return_inverse, bool return_counts,
                         const int64_t *dim, lt_tensor **out_output,
                         lt_tensor **out_inverse_indices, lt_tensor **out_counts)
{
    (void)sorted;
    return distinct(self, true, dim,
                    &(distinct_results){out_output, out_inverse_indices, out_counts, return_inverse,
                                        return_counts});
}

lt_status lt_unique_consecutive_impl(lt_tensor *self, bool return_inverse, bool return_counts,
                                     const int64_t *dim, lt_tensor **out_output,
                                     lt_tensor **out_inverse_indices, lt_tensor **out_counts)
{
    return distinct(self, false, dim,
                    &(distinct_results){out_output, out_inverse_indices, out_counts, return_inverse,
                                        return_counts});
}

/* ---- counts ---------------------------------------------------------------------------------- */

/* The least and the largest element. */
static lt_status range_of(const char *op, lt_tensor *self, lt_scalar *least, lt_scalar *most)
{
    const lt_copy_cause previous = lt_copies_imply(op);
    lt_tensor *low = NULL, *high = NULL;
    lt_status status;
    LT_CHECK(lt_min_impl(self, &low));
    LT_CHECK(lt_max_impl(self, &high));
    LT_CHECK(lt_tensor_item(low, least));
    LT_CHECK(lt_tensor_item(high, most));
done:
    lt_copies_set_cause(previous);
    lt_tensor_release(low);
    lt_tensor_release(high);
    return status;
}

/* Sums the weights of contiguous int64 in host memory, in the dtype of the result. Precondition:
 * they are in range. */
static lt_status add_weights(lt_tensor *sums, const lt_tensor *self, const lt_tensor *weights,
                             int64_t base)
{
    const int64_t *at = (const int64_t *)lt_data(self);
    for (int64_t from = 0; from < self->numel; from += LT_INTERRUPT_STEP) {
        const int64_t to =
            self->numel - from < LT_INTERRUPT_STEP ? self->numel : from + LT_INTERRUPT_STEP;
        if (lt_interrupted()) return lt_stopped();
        if (weights->dtype == LT_FLOAT32) {
            float *out = (float *)lt_data(sums);
            for (int64_t i = from; i < to; i++)
                out[at[i] - base] += ((const float *)lt_data(weights))[i];
        } else {
            double *out = (double *)lt_data(sums);
            for (int64_t i = from; i < to; i++)
                out[at[i] - base] += ((const double *)lt_data(weights))[i];
        }
    }
    return LT_OK;
}

lt_status lt_bincount_impl(lt_tensor *self, lt_tensor *weights, int64_t minlength, lt_tensor **out)
{
    lt_scalar least = lt_scalar_from_int(0), most = lt_scalar_from_int(-1);
    if (self->ndim != 1)
        return lt_error(LT_ERR_RUNTIME, "bincount only supports 1-d non-negative integral inputs.");
    if (minlength < 0) return lt_error(LT_ERR_RUNTIME, "minlength should be >= 0");
    if (weights != NULL && (weights->ndim != 1 || weights->sizes[0] != self->sizes[0]))
        return lt_error(LT_ERR_RUNTIME, "weights should be 1-d and have the same length as input");
    if (self->numel > 0) LT_TRY(range_of("bincount", self, &least, &most));
    const int64_t base = (self->flags & LT_FLAG_POSITIONS) != 0;
    if (least.v.i == 0 && base == 1 && self->numel > 0)
        return lt_error(
            LT_ERR_INDEX,
            "bincount(): 0 among the positions, which count from 1 (x + 1 counts values from 0)");
    if (least.v.i < base && self->numel > 0)
        return lt_error(LT_ERR_RUNTIME, "bincount only supports 1-d non-negative integral inputs.");
    const int64_t bins = most.v.i + 1 - base;
    lt_dtype dtype = weights == NULL                ? LT_INT64
                     : weights->dtype == LT_FLOAT32 ? LT_FLOAT32
                                                    : LT_FLOAT64;
    lt_tensor *counts = NULL, *heavy = NULL;
    lt_status status;
    if (weights != NULL) LT_TRY(lt_cast(weights, dtype, &heavy));
    status = lt_tensor_new(dtype, self->device, 1, &(int64_t){bins > minlength ? bins : minlength},
                           &counts);
    if (status == LT_OK) status = lt_fill_value(counts, lt_scalar_from_int(0));
    const bool dense = heavy != NULL && lt_is_contiguous(self) && lt_is_contiguous(heavy);
    if (status == LT_OK && self->device.type == LT_CPU && self->dtype == LT_INT64 && dense) {
        status = add_weights(counts, self, heavy, base);
    } else if (status == LT_OK && self->numel > 0) {
        lt_array to = lt_array_of(counts), at = lt_array_of(self), source;
        if (heavy != NULL) source = lt_array_of(heavy);
        status = lt_backend_of(self)->scatter(LT_SCATTER_ADD, &to, 0, &at,
                                              heavy != NULL ? &source : NULL, lt_scalar_from_int(1),
                                              true);
    }
    lt_tensor_release(heavy);
    if (status == LT_OK)
        *out = counts;
    else
        lt_tensor_release(counts);
    return status;
}

lt_status lt_histc_impl(lt_tensor *self, int64_t bins, lt_scalar min, lt_scalar max,
                        lt_tensor **out)
{
    lt_scope s;
    double low = lt_scalar_double(min), high = lt_scalar_double(max);
    if (bins <= 0)
        return lt_error(LT_ERR_RUNTIME, "bins must be > 0, but got %lld", (long long)bins);
    if (!lt_dtype_is_float((lt_dtype)self->dtype))
        return lt_error(LT_ERR_RUNTIME, "\"histogram_%s\" not implemented for '%s'",
                        lt_device_type_name(self->device),
                        lt_dtype_scalar_name((lt_dtype)self->dtype));
    if (low == high) {
        lt_scalar a = min, b = max;
        if (self->numel > 0) LT_TRY(range_of("histc", self, &a, &b));
        low = lt_scalar_double(a);
        high = lt_scalar_double(b);
    }
    if (low == high) {
        low -= 1;
        high += 1;
    }
    if (!(high - low < (double)INFINITY))
        return lt_error(LT_ERR_RUNTIME, "range of [%g, %g] is not finite", low, high);
    if (low > high) return lt_error(LT_ERR_RUNTIME, "max must be larger than min");
    lt_scope_open_together(&s, LT_COMPOSITE(histc), self);
    /* Bounds and bins are rounded in its dtype. */
    const lt_dtype dtype = (lt_dtype)self->dtype;
    lt_tensor *x = do_flatten(&s, self), *first = do_cast(&s, do_number(&s, low), dtype),
              *last = do_cast(&s, do_number(&s, high), dtype);
    lt_tensor *inside = do_logical_and(&s, do_ge(&s, x, first), do_le(&s, x, last));
    lt_tensor *place =
        do_div(&s, times(&s, do_sub(&s, x, first), (double)bins), do_sub(&s, last, first));
    place = do_minimum(&s, do_floor(&s, place), do_number(&s, (double)(bins - 1)));
    place = do_cast(&s, do_where(&s, inside, place, do_number(&s, 0)), LT_INT64);
    lt_tensor *zeros = s.status == LT_OK ? do_zeros(&s, self, &(lt_dims){1, {bins}}) : NULL,
              *sums = NULL;
    lt_tensor *source = do_cast(&s, inside, dtype);
    if (s.status == LT_OK) {
        lt_status status = lt_scatter_add(zeros, 0, place, source, &sums);
        sums = lt_scope_hold(&s, status, sums);
    }
    return lt_scope_return(&s, sums, out);
}
