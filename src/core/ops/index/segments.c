/* segments.c - index_reduce and segment_reduce: reductions of entries of a dimension into others. */
#include <math.h>
#include <string.h>

#include "devices/copies.h"
#include "ops/steps.h"
#include "user_index.h"
#include "op/diff.h"
#include "op/full.h"
#include "op/index_reduce.h"
#include "op/scatter_reduce.h"
#include "op/searchsorted.h"
#include "op/segment_reduce.h"
#include "step/ones_like.h"
#include "step/scatter_add.h"

static lt_tensor *do_scatter_reduce(lt_scope *s, lt_tensor *self, int64_t dim, lt_tensor *index,
                                    lt_tensor *source, const char *reduce, bool include_self)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    const lt_status status =
        lt_scatter_reduce(self, dim, index, source, reduce, include_self, &out);
    return lt_scope_hold(s, status, out);
}

/* ---- at positions ---------------------------------------------------------------------------- */

static lt_status check_index_reduce(const lt_tensor *index, const lt_tensor *source, int dim,
                                    const char *reduce)
{
    if (strcmp(reduce, "prod") != 0 && strcmp(reduce, "mean") != 0 && strcmp(reduce, "amax") != 0 &&
        strcmp(reduce, "amin") != 0)
        return lt_error(LT_ERR_RUNTIME,
                        "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but "
                        "got %s.",
                        reduce);
    if (index->ndim > 1)
        return lt_error(LT_ERR_RUNTIME,
                        "index_reduce(): Index is supposed to be a vector, but got dim: %d",
                        index->ndim);
    const int64_t size = dim < source->ndim ? source->sizes[dim] : 1;
    if (index->numel != size)
        return lt_error(LT_ERR_RUNTIME,
                        "index_reduce(): Number of indices (%lld) should be equal to "
                        "source.size(dim): (%lld), for dim: %lld",
                        (long long)index->numel, (long long)size, lt_user_index(dim));
    return LT_OK;
}

lt_status lt_index_reduce_impl(lt_tensor *self, int64_t dim, lt_tensor *index, lt_tensor *source,
                               const char *reduce, bool include_self, lt_tensor **out)
{
    int d;
    LT_TRY(lt_wrap_dim(dim, self->ndim > 0 ? self->ndim : 1, &d));
    LT_TRY(check_index_reduce(index, source, d, reduce));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(index_reduce));
    const bool scalar = self->ndim == 0;
    lt_tensor *own = scalar ? do_flatten(&s, self) : self,
              *entries = scalar ? do_flatten(&s, source) : source;
    if (s.status != LT_OK) return lt_scope_close(&s);
    lt_dims sizes = lt_dims_of(entries), along = {.n = entries->ndim};
    for (int i = 0; i < along.n; i++) along.v[i] = i == d ? entries->sizes[i] : 1;
    lt_tensor *places = do_cast(&s, do_flatten(&s, index), LT_INT64);
    places = do_expand(&s, do_reshape(&s, places, &along), &sizes);
    lt_tensor *result = do_scatter_reduce(&s, own, d, places, entries, reduce, include_self);
    return lt_scope_return(&s, scalar ? do_reshape(&s, result, &(lt_dims){.n = 0}) : result, out);
}

/* ---- segments -------------------------------------------------------------------------------- */

typedef struct segment_reduction {
    const char *name, *as; /* as: of scatter_reduce */
    double start;          /* of a segment without entries */
} segment_reduction;

static const segment_reduction *find_reduction(const char *name)
{
    static const segment_reduction all[] = {{"sum", "sum", 0},
                                            {"prod", "prod", 1},
                                            {"max", "amax", -INFINITY},
                                            {"min", "amin", INFINITY},
                                            {"mean", "mean", 0}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, name) == 0) return &all[i];
    return NULL;
}

/* Fails if a length is negative, or, with `whole`, the lengths do not cover the n entries. */
static lt_status check_lengths(lt_tensor *lengths, int64_t n, bool whole)
{
    bool negative = false, other = false;
    lt_scope s;
    lt_scope_open(&s, false);
    lt_any_set(&s, do_lt(&s, lengths, do_number(&s, 0)), &negative);
    if (whole && !negative)
        lt_any_set(&s, do_ne(&s, do_sum_dim(&s, lengths, -1, false), do_number(&s, (double)n)),
                   &other);
    LT_TRY(lt_scope_close(&s));
    if (negative)
        return lt_error(LT_ERR_RUNTIME,
                        whole ? "segment_reduce(): lengths contains negative value!"
                              : "segment_reduce(): expected offsets that do not decrease");
    if (!other) return LT_OK;
    return lt_error(LT_ERR_RUNTIME,
                    "segment_reduce(): Expected all rows of lengths along axis to sum to "
                    "data.size(axis), which is %lld",
                    (long long)n);
}

/* The segment of each entry, expanded to the shape of data; entries after the last segment have the
 * number of segments. */
static lt_tensor *do_segments(lt_scope *s, lt_tensor *data, lt_tensor *lengths, int axis)
{
    const lt_dims all = lt_dims_of(data);
    lt_dims sizes = lt_dims_of(lengths);
    lt_tensor *found = NULL;
    lt_tensor *ends = do_cumsum(s, do_cast(s, lengths, LT_INT64), -1);
    sizes.v[axis] = data->sizes[axis];
    lt_tensor *entries = do_expand(s, do_range(s, data->sizes[axis], data->device), &sizes);
    entries = do_contiguous(s, entries);
    if (s->status != LT_OK) return NULL;
    const lt_status status = lt_searchsorted(ends, entries, false, true, NULL, NULL, &found);
    lt_tensor *segment = lt_scope_hold(s, status, found);
    for (int d = axis + 1; d < data->ndim; d++) segment = do_unsqueeze(s, segment, -1);
    return do_expand(s, segment, &all);
}

static lt_tensor *do_start(lt_scope *s, lt_tensor *data, int axis, int64_t count, lt_scalar value)
{
    lt_dims sizes = lt_dims_of(data);
    sizes.v[axis] = count + 1; /* the last one collects the entries after the segments */
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    const lt_status status = lt_full(&sizes, value, (lt_dtype)data->dtype, &data->device, &out);
    return lt_scope_hold(s, status, out);
}

/* The sums divided by the lengths; empty segments have the value of start, if it was given. */
static lt_tensor *do_means(lt_scope *s, lt_tensor *start, lt_tensor *segment, lt_tensor *data,
                           lt_tensor *lengths, bool given)
{
    const int axis = lengths->ndim - 1;
    lt_tensor *sums = do_scatter_add(s, start, axis, segment, data);
    lt_tensor *last = do_ones_like(s, do_part(s, lengths, -1, 0, 1));
    lt_tensor *divisors = do_narrow_to(s, do_cat(s, (lt_tensor *[]){lengths, last}, 2, -1), data);
    for (int d = axis + 1; d < data->ndim; d++) divisors = do_unsqueeze(s, divisors, -1);
    lt_tensor *means = do_div(s, sums, divisors);
    return given ? do_where(s, do_eq(s, divisors, do_number(s, 0)), start, means) : means;
}

/* offsets (from 0): the starts of the segments, and the end, instead of lengths. */
typedef struct segmentation {
    lt_tensor *lengths, *offsets;
    int axis;
    bool unsafe;
} segmentation;

static lt_status reduce_segments(lt_tensor *data, const segment_reduction *r,
                                 const segmentation *by, const lt_scalar *initial, lt_tensor **out)
{
    const int axis = by->axis;
    lt_tensor *const lengths = by->lengths;
    lt_tensor *differences = NULL;
    lt_scope s;
    lt_scope_open(&s, true);
    if (lengths == NULL) {
        const lt_status status = lt_diff(by->offsets, 1, -1, NULL, NULL, &differences);
        differences = lt_scope_hold(&s, status, differences);
    }
    lt_tensor *sizes = lengths != NULL ? lengths : differences;
    if (s.status == LT_OK && axis != sizes->ndim - 1)
        s.status =
            lt_error(LT_ERR_RUNTIME,
                     "segment_reduce(): lengths must have the dimensions of data up to axis");
    if (s.status == LT_OK && !by->unsafe)
        s.status = check_lengths(sizes, data->sizes[axis], lengths != NULL);
    if (s.status != LT_OK) return lt_scope_close(&s);
    const int64_t count = sizes->sizes[axis];
    const lt_scalar first = initial != NULL ? *initial : lt_scalar_from_float(r->start);
    lt_tensor *segment = do_segments(&s, data, sizes, axis),
              *start = do_start(&s, data, axis, count, first);
    lt_tensor *result = strcmp(r->name, "mean") == 0
                            ? do_means(&s, start, segment, data, sizes, initial != NULL)
                            : do_scatter_reduce(&s, start, axis, segment, data, r->as, true);
    return lt_scope_return(&s, do_part(&s, result, axis, 0, count), out);
}

lt_status lt_segment_reduce_impl(lt_tensor *data, const char *reduce, lt_tensor *lengths,
                                 lt_tensor *indices, lt_tensor *offsets, int64_t axis, bool unsafe,
                                 const lt_scalar *initial, lt_tensor **out)
{
    (void)indices;
    int own;
    const segment_reduction *r = find_reduction(reduce);
    if (r == NULL)
        return lt_error(LT_ERR_RUNTIME, "segment_reduce(): unknown reduction %s", reduce);
    if (lengths == NULL && offsets == NULL)
        return lt_error(LT_ERR_RUNTIME,
                        "segment_reduce(): Either lengths or offsets must be defined");
    LT_TRY(lt_wrap_dim(axis, data->ndim, &own));
    const lt_copy_cause previous = lt_copies_imply("segment_reduce");
    const lt_status status =
        reduce_segments(data, r, &(segmentation){lengths, offsets, own, unsafe}, initial, out);
    lt_copies_set_cause(previous);
    return status;
}
