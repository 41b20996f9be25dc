/* histogram.c - numbers of elements, or sums of their weights, between neighbouring edges. */
#include <math.h>

#include "devices/copies.h"
#include "ops/numbers.h"
#include "ops/steps.h"
#include "op/_without_derivative.h"
#include "op/clamp.h"
#include "op/diff.h"
#include "op/histogram.h"
#include "op/index_add.h"
#include "op/linspace.h"
#include "op/searchsorted.h"
#include "step/max.h"
#include "step/min.h"
#include "step/ones_like.h"

static lt_status check_histogram(const lt_tensor *x, const lt_tensor *weight)
{
    if (x->dtype != LT_FLOAT32 && x->dtype != LT_FLOAT64)
        return lt_error(LT_ERR_RUNTIME, "\"histogram\" not implemented for 'torch.%s'",
                        lt_dtype_name((lt_dtype)x->dtype));
    if (weight == NULL || weight->dtype == x->dtype) return LT_OK;
    return lt_error(LT_ERR_RUNTIME,
                    "torch.histogramdd: if weight tensor is provided, input tensor and weight "
                    "tensor should have the same dtype, but got input(torch.%s), and "
                    "weight(torch.%s)",
                    lt_dtype_name((lt_dtype)x->dtype), lt_dtype_name((lt_dtype)weight->dtype));
}

/* result, which has no derivative by source. */
static lt_tensor *do_counted(lt_scope *s, lt_tensor *result, lt_tensor *source)
{
    lt_tensor *marked = NULL;
    if (s->status != LT_OK || !lt_requires_grad(source)) return result;
    const lt_status status = lt__without_derivative(result, source, &marked);
    return lt_scope_hold(s, status, marked);
}

/* ---- edges ----------------------------------------------------------------------------------- */

/* The smallest and the largest element. */
static lt_status extent_of(lt_tensor *x, double *range)
{
    lt_scalar low, high;
    range[0] = 0, range[1] = 1;
    if (x->numel == 0) return LT_OK;
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *min = do_min(&s, x), *max = do_max(&s, x);
    if (s.status == LT_OK) s.status = lt_tensor_item(min, &low);
    if (s.status == LT_OK) s.status = lt_tensor_item(max, &high);
    if (s.status == LT_OK) range[0] = lt_scalar_double(low), range[1] = lt_scalar_double(high);
    return lt_scope_close(&s);
}

static lt_tensor *do_edges(lt_scope *s, lt_tensor *x, int64_t bins, lt_tensor *range)
{
    double ends[2];
    lt_tensor *edges = NULL;
    if (s->status == LT_OK)
        s->status = range != NULL ? lt_numbers_of("histogram", "range", range, 2, ends)
                                  : extent_of(x, ends);
    if (s->status == LT_OK && !(isfinite(ends[0]) && isfinite(ends[1])))
        s->status = lt_error(LT_ERR_RUNTIME, "torch.histogramdd: range [%g, %g] is not finite",
                             ends[0], ends[1]);
    if (s->status == LT_OK && ends[0] > ends[1])
        s->status = lt_error(LT_ERR_RUNTIME,
                             "torch.histogramdd: min should not exceed max, but got [%g, %g]",
                             ends[0], ends[1]);
    if (s->status != LT_OK) return NULL;
    const double half = ends[0] == ends[1] ? 0.5 : 0;
    const lt_status status =
        lt_linspace(lt_scalar_from_float(ends[0] - half), lt_scalar_from_float(ends[1] + half),
                    bins + 1, (lt_dtype)x->dtype, &x->device, &edges);
    edges = lt_scope_hold(s, status, edges);
    return range != NULL ? edges : do_counted(s, edges, x);
}

/* ---- counts ---------------------------------------------------------------------------------- */

/* The bin of each value, and which of them are within the edges; the last edge belongs to the last
 * bin. */
static lt_tensor *do_bins(lt_scope *s, lt_tensor *values, lt_tensor *edges, int64_t count,
                          lt_tensor **within)
{
    const lt_scalar first = lt_scalar_from_int(0), last = lt_scalar_from_int(count - 1);
    lt_tensor *low = do_select(s, edges, 0, 0), *high = do_select(s, edges, 0, -1);
    lt_tensor *found = NULL, *bins = NULL;
    *within = do_logical_and(s, do_ge(s, values, low), do_le(s, values, high));
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_searchsorted(edges, values, false, true, NULL, NULL, &found);
    found = do_sub(s, lt_scope_hold(s, status, found), do_scalar(s, lt_scalar_from_int(1)));
    if (s->status != LT_OK) return NULL;
    status = lt_clamp(found, &first, &last, &bins);
    return lt_scope_hold(s, status, bins);
}

static lt_tensor *do_bin_counts(lt_scope *s, lt_tensor *x, lt_tensor *edges, lt_tensor *weight)
{
    if (s->status != LT_OK) return NULL;
    const int64_t count = edges->numel - 1;
    const lt_dims sizes = {1, {count > 0 ? count : 0}};
    lt_tensor *empty = do_zeros(s, x, &sizes), *within, *counts = NULL;
    if (count < 1) return empty;
    lt_tensor *values = do_contiguous(s, do_flatten(s, x));
    lt_tensor *bins = do_bins(s, values, edges, count, &within);
    lt_tensor *mass = weight != NULL ? do_flatten(s, weight) : do_ones_like(s, values);
    mass = do_where(s, within, mass, do_number(s, 0));
    if (s->status != LT_OK) return NULL;
    const lt_status status = lt_index_add(empty, 0, bins, mass, lt_scalar_from_int(1), &counts);
    return lt_scope_hold(s, status, counts);
}

static lt_tensor *do_densities(lt_scope *s, lt_tensor *counts, lt_tensor *edges)
{
    lt_tensor *widths = NULL, *shares = do_div(s, counts, do_sum(s, counts));
    if (s->status != LT_OK) return NULL;
    const lt_status status = lt_diff(edges, 1, 0, NULL, NULL, &widths);
    return do_div(s, shares, lt_scope_hold(s, status, widths));
}

/* Closes the scope. */
static lt_status give_histogram(lt_scope *s, lt_tensor *x, lt_tensor *edges, lt_tensor *weight,
                                bool density, lt_tensor **out)
{
    lt_tensor *counts = do_bin_counts(s, x, edges, weight);
    if (density) counts = do_densities(s, counts, edges);
    counts = do_counted(s, counts, x);
    if (s->status == LT_OK && !lt_requires_grad(x)) counts = do_counted(s, counts, edges);
    if (s->status == LT_OK) {
        out[0] = lt_tensor_retain(counts);
        out[1] = lt_tensor_retain(edges);
    }
    return lt_scope_close(s);
}

static lt_status histogram(lt_tensor *x, int64_t bins, lt_tensor *given, lt_tensor *range,
                           lt_tensor *weight, bool density, lt_tensor **out)
{
    const lt_copy_cause previous = lt_copies_imply("histogram");
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *edges = given != NULL ? do_clone(&s, given) : do_edges(&s, x, bins, range);
    const lt_status status = give_histogram(&s, x, edges, weight, density, out);
    lt_copies_set_cause(previous);
    return status;
}

lt_status lt_histogram_impl(lt_tensor *self, int64_t bins, lt_tensor *range, lt_tensor *weight,
                            bool density, lt_tensor **hist, lt_tensor **bin_edges)
{
    lt_tensor *results[2];
    LT_TRY(check_histogram(self, weight));
    if (bins <= 0)
        return lt_error(LT_ERR_RUNTIME, "torch.histogramdd(): bins must be > 0, but got %lld",
                        (long long)bins);
    LT_TRY(histogram(self, bins, NULL, range, weight, density, results));
    *hist = results[0];
    *bin_edges = results[1];
    return LT_OK;
}

lt_status lt_histogram_edges_impl(lt_tensor *self, lt_tensor *bins, lt_tensor *weight, bool density,
                                  lt_tensor **hist, lt_tensor **bin_edges)
{
    lt_tensor *results[2];
    LT_TRY(check_histogram(self, weight));
    if (bins->dtype != self->dtype)
        return lt_error(LT_ERR_RUNTIME, "torch.histogramdd: input tensor and bins tensors should "
                                        "have the same dtype");
    LT_TRY(histogram(self, 0, bins, NULL, weight, density, results));
    *hist = results[0];
    *bin_edges = results[1];
    return LT_OK;
}
