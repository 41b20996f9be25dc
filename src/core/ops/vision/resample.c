/* resample.c - _resample: positions of a dimension as weighted sums of others, what interpolation and its derivative are made of. */
#include "devices/backend.h"
#include "error.h"
#include "memory_format.h"
#include "op/_resample.h"
#include "ops/common.h"

/* Lists that would lead out of the memory are refused, where they can be read; on a GPU the kernel leaves such places out. */
static lt_status check_lists(const lt_tensor *self, const lt_tensor *starts, const lt_tensor *places, const lt_tensor *weights,
                             int64_t n)
{
    const lt_tensor *lists[] = {starts, places, weights};
    for (int i = 0; i < 3; i++)
        if (lists[i]->ndim != 1 || !lt_is_contiguous(lists[i]) || lists[i]->dtype != (i < 2 ? LT_INT64 : self->dtype) ||
            lists[i]->device.type != self->device.type || lists[i]->device.index != self->device.index)
            return lt_error(LT_ERR_RUNTIME, "_resample(): starts and places are lines of int64, weights of input's dtype, on its device");
    if (starts->numel < 1 || places->numel != weights->numel)
        return lt_error(LT_ERR_RUNTIME, "_resample(): there is one start more than positions, and a weight for each place");
    if (self->device.type != LT_CPU) return LT_OK;
    const int64_t *start = (const int64_t *)(const void *)lt_data(starts), *place = (const int64_t *)(const void *)lt_data(places);
    bool good = start[0] == 0 && start[starts->numel - 1] == places->numel;
    for (int64_t i = 1; i < starts->numel; i++) good = good && start[i] >= start[i - 1];
    for (int64_t i = 0; i < places->numel; i++) good = good && place[i] >= 0 && place[i] < n;
    return good ? LT_OK : lt_error(LT_ERR_INDEX, "_resample(): starts or places are out of range");
}

lt_status lt__resample_impl(lt_tensor *self, int64_t dim, lt_tensor *starts, lt_tensor *sources, lt_tensor *weights,
                            lt_tensor *back_starts, lt_tensor *back_sources, lt_tensor *back_weights, lt_tensor **out)
{
    (void)back_starts, (void)back_sources, (void)back_weights; /* for the derivative */
    int d;
    lt_tensor *dense = NULL, *result = NULL;
    lt_status status = LT_OK;
    LT_TRY(lt_wrap_dim(dim, self->ndim, &d));
    if (self->ndim == 0 || (self->dtype != LT_FLOAT32 && self->dtype != LT_FLOAT64))
        return lt_error(LT_ERR_RUNTIME, "_resample(): expected a dimension of float or double");
    LT_TRY(check_lists(self, starts, sources, weights, self->sizes[d]));
    int64_t sizes[LT_MAX_DIMS];
    lt_resampling r = {.dtype = (lt_dtype)self->dtype, .device = self->device, .outer = 1, .inner = 1, .in = self->sizes[d],
                       .out = starts->numel - 1, .taps = sources->numel, .starts = (const int64_t *)(const void *)lt_data(starts),
                       .places = (const int64_t *)(const void *)lt_data(sources), .weights = lt_data(weights)};
    const bool last = d > 1 && lt_keeps_channels_last(self);
    for (int k = 0; k < self->ndim; k++) {
        sizes[k] = k == d ? r.out : self->sizes[k];
        if (k < d && !(last && k == 1)) r.outer *= self->sizes[k];
        if (k > d || (last && k == 1)) r.inner *= self->sizes[k];
    }
    LT_CHECK(lt_make_ordered(self, last, &dense));
    LT_CHECK(lt_tensor_new_ordered((lt_dtype)self->dtype, self->device, self->ndim, sizes, last, &result));
    LT_CHECK(lt_backend_of(self)->resample(&r, lt_data(result), lt_data(dense)));
    *out = result;
    result = NULL;
done:
    lt_tensor_release(dense);
    lt_tensor_release(result);
    return status;
}
