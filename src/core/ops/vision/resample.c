/* resample.c - _resample and _resample_planes: elements of a dimension as weighted sums of others,
 * on which interpolation and its derivative are built. */
#include "devices/backend.h"
#include "error.h"
#include "memory_format.h"
#include "op/_resample.h"
#include "op/_resample_planes.h"
#include "ops/common.h"

typedef struct lists {
    lt_tensor *starts, *places, *weights;
} lists;

/* Rejects lists with sources outside the memory, if the host can read them; on a GPU the kernel
 * ignores such sources. */
static lt_status check_lists(const char *op, const lt_tensor *self, const lists *l, int64_t n)
{
    const lt_tensor *all[] = {l->starts, l->places, l->weights};
    for (int i = 0; i < 3; i++)
        if (all[i]->ndim != 1 || !lt_is_contiguous(all[i]) ||
            all[i]->dtype != (i < 2 ? LT_INT64 : self->dtype) ||
            all[i]->device.type != self->device.type || all[i]->device.index != self->device.index)
            return lt_error(LT_ERR_RUNTIME,
                            "%s(): expected contiguous vectors on the device of input: starts and "
                            "sources of int64, weights of input's dtype",
                            op);
    if (l->starts->numel < 1 || l->places->numel != l->weights->numel)
        return lt_error(LT_ERR_RUNTIME,
                        "%s(): expected at least one start and as many sources as weights, but got "
                        "%lld starts, %lld sources and %lld weights",
                        op, (long long)l->starts->numel, (long long)l->places->numel,
                        (long long)l->weights->numel);
    if (self->device.type != LT_CPU) return LT_OK;
    const int64_t *start = (const int64_t *)(const void *)lt_data(l->starts),
                  *place = (const int64_t *)(const void *)lt_data(l->places);
    bool good = start[0] == 0 && start[l->starts->numel - 1] == l->places->numel;
    for (int64_t i = 1; i < l->starts->numel; i++) good = good && start[i] >= start[i - 1];
    for (int64_t i = 0; i < l->places->numel; i++) good = good && place[i] >= 0 && place[i] < n;
    return good ? LT_OK : lt_error(LT_ERR_INDEX, "%s(): starts or sources are out of range", op);
}

static lt_status check_input(const char *op, const lt_tensor *self, int dims)
{
    if (self->ndim >= dims && (self->dtype == LT_FLOAT32 || self->dtype == LT_FLOAT64))
        return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "%s(): expected %s of float or double", op,
                    dims == 1 ? "a dimension" : "two dimensions");
}

/* Dimension d of self, which is contiguous or, with `last`, channels-last: then dimension 1 is the
 * innermost. */
static lt_resampling resampling_of(const lt_tensor *self, const lists *l, int d, bool last)
{
    lt_resampling r = {.dtype = (lt_dtype)self->dtype,
                       .device = self->device,
                       .outer = 1,
                       .inner = 1,
                       .in = self->sizes[d],
                       .out = l->starts->numel - 1,
                       .taps = l->places->numel,
                       .starts = (const int64_t *)(const void *)lt_data(l->starts),
                       .places = (const int64_t *)(const void *)lt_data(l->places),
                       .weights = lt_data(l->weights)};
    for (int k = 0; k < self->ndim; k++) {
        const bool after = k > d || (last && k == 1);
        if (k != d && after) r.inner *= self->sizes[k];
        if (k != d && !after) r.outer *= self->sizes[k];
    }
    return r;
}

/* Dimension d of self; unless columns is NULL, dimension d + 1 before it, in one pass over
 * contiguous planes. */
static lt_status resample_along(lt_tensor *self, int d, const lists *l, const lists *columns,
                                lt_tensor **out)
{
    lt_tensor *dense = NULL, *result = NULL;
    lt_status status = LT_OK;
    int64_t sizes[LT_MAX_DIMS];
    const bool last = d > 1 && lt_keeps_channels_last(self);
    lt_resampling r = resampling_of(self, l, d, last), c;
    for (int k = 0; k < self->ndim; k++) sizes[k] = k == d ? r.out : self->sizes[k];
    if (columns != NULL) {
        c = resampling_of(self, columns, d + 1, last);
        sizes[d + 1] = r.inner = c.out;
    }
    LT_CHECK(lt_make_ordered(self, last, &dense));
    LT_CHECK(lt_tensor_new_ordered((lt_dtype)self->dtype, self->device, self->ndim, sizes, last,
                                   &result));
    const lt_backend *backend = lt_backend_of(self);
    LT_CHECK(columns != NULL ? backend->resample_planes(&r, &c, lt_data(result), lt_data(dense))
                             : backend->resample(&r, lt_data(result), lt_data(dense)));
    *out = result;
    result = NULL;
done:
    lt_tensor_release(dense);
    lt_tensor_release(result);
    return status;
}

lt_status lt__resample_impl(lt_tensor *self, int64_t dim, lt_tensor *starts, lt_tensor *sources,
                            lt_tensor *weights, lt_tensor *back_starts, lt_tensor *back_sources,
                            lt_tensor *back_weights, lt_tensor **out)
{
    (void)back_starts, (void)back_sources, (void)back_weights; /* for the derivative */
    const lists l = {starts, sources, weights};
    int d;
    LT_TRY(lt_wrap_dim(dim, self->ndim, &d));
    LT_TRY(check_input("_resample", self, 1));
    LT_TRY(check_lists("_resample", self, &l, self->sizes[d]));
    return resample_along(self, d, &l, NULL, out);
}

lt_status lt__resample_planes_impl(lt_tensor *self, lt_tensor *starts, lt_tensor *sources,
                                   lt_tensor *weights, lt_tensor *back_starts,
                                   lt_tensor *back_sources, lt_tensor *back_weights,
                                   lt_tensor *column_starts, lt_tensor *column_sources,
                                   lt_tensor *column_weights, lt_tensor *column_back_starts,
                                   lt_tensor *column_back_sources, lt_tensor *column_back_weights,
                                   lt_tensor **out)
{
    (void)back_starts, (void)back_sources, (void)back_weights; /* for the derivative */
    (void)column_back_starts, (void)column_back_sources, (void)column_back_weights;
    const lists rows = {starts, sources, weights},
                columns = {column_starts, column_sources, column_weights};
    lt_tensor *half = NULL;
    LT_TRY(check_input("_resample_planes", self, 2));
    const int d = self->ndim - 2;
    LT_TRY(check_lists("_resample_planes", self, &rows, self->sizes[d]));
    LT_TRY(check_lists("_resample_planes", self, &columns, self->sizes[d + 1]));
    if (lt_backend_of(self)->resample_planes != NULL && !lt_keeps_channels_last(self))
        return resample_along(self, d, &rows, &columns, out);
    /* If rows are only selected, not summed, and some omitted, columns are resampled after them:
     * fewer rows remain. */
    const bool choices =
        starts->numel == sources->numel + 1 && column_starts->numel == column_sources->numel + 1;
    const bool rows_first = choices && sources->numel < self->sizes[d];
    LT_TRY(
        resample_along(self, rows_first ? d : d + 1, rows_first ? &rows : &columns, NULL, &half));
    const lt_status status =
        resample_along(half, rows_first ? d + 1 : d, rows_first ? &columns : &rows, NULL, out);
    lt_tensor_release(half);
    return status;
}
