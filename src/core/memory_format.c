/* memory_format.c - see memory_format.h. */
#include "memory_format.h"

#include "saturating.h"
#include "error.h"

/* The dimension with the i-th smallest stride: channels, the spatial ones from last to first, the
 * batch. */
static int from_nearest(int ndim, int i) { return i == 0 ? 1 : i == ndim - 1 ? 0 : ndim - i; }

void lt_channels_last_strides(int ndim, const int64_t *sizes, int64_t *strides)
{
    int64_t step = 1;
    for (int i = 0; i < ndim; i++) {
        const int d = from_nearest(ndim, i);
        strides[d] = step;
        step *= sizes[d] > 1 ? sizes[d] : 1;
    }
}

static bool has_room(const lt_tensor *t) { return t->ndim == 4 || t->ndim == 5; }

bool lt_is_channels_last(const lt_tensor *t)
{
    int64_t strides[LT_MAX_DIMS];
    if (!has_room(t)) return false;
    lt_channels_last_strides(t->ndim, t->sizes, strides);
    for (int d = 0; d < t->ndim; d++)
        if (t->sizes[d] != 1 && t->strides[d] != strides[d]) return false;
    return true;
}

bool lt_suggests_channels_last(const lt_tensor *t)
{
    int64_t least = 0;
    if (!has_room(t) || t->strides[1] == 0) return false;
    for (int i = 0; i < t->ndim; i++) {
        const int d = from_nearest(t->ndim, i);
        if (t->sizes[d] == 0 || t->strides[d] < least) return false;
        if (d == 0 && least == t->strides[1]) return false; /* [n, 1, 1, 1] */
        least = lt_mul_within(t->strides[d], t->sizes[d]);
    }
    return true;
}

lt_status lt_tensor_new_ordered(lt_dtype dtype, lt_device device, int ndim, const int64_t *sizes,
                                bool channels_last, lt_tensor **out)
{
    int64_t strides[LT_MAX_DIMS];
    LT_TRY(lt_tensor_new(dtype, device, ndim, sizes, out));
    if (!channels_last) return LT_OK;
    lt_channels_last_strides(ndim, sizes, strides);
    lt_set_strides(*out, strides);
    return LT_OK;
}
