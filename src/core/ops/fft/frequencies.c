/* frequencies.c - torch.fft: the frequencies of the results of a transform, and their order. */
#include "ops/compose.h"
#include "ops/steps.h"
#include "op/arange.h"
#include "op/clone.h"
#include "op/fft_fftfreq.h"
#include "op/fft_fftshift.h"
#include "op/fft_ifftshift.h"
#include "op/fft_rfftfreq.h"
#include "op/roll.h"

/* first, ..., end - 1. */
static lt_tensor *do_integers(lt_scope *s, int64_t first, int64_t end, lt_dtype dtype,
                              const lt_device *device)
{
    const lt_scalar stop = lt_scalar_from_int(end);
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    const lt_status status =
        lt_arange(lt_scalar_from_int(first), &stop, lt_scalar_from_int(1), dtype, device, &out);
    return lt_scope_hold(s, status, out);
}

static lt_dtype frequency_dtype(lt_dtype dtype)
{
    return dtype == LT_DTYPE_NONE ? lt_get_default_dtype() : dtype;
}

lt_status lt_fft_fftfreq_impl(int64_t n, double d, lt_dtype dtype, const lt_device *device,
                              lt_tensor **out)
{
    lt_scope s;
    dtype = frequency_dtype(dtype);
    lt_scope_open(&s, true);
    lt_tensor *parts[] = {do_integers(&s, 0, (n + 1) / 2, dtype, device),
                          do_integers(&s, -(n / 2), 0, dtype, device)};
    lt_tensor *numbers = do_cat(&s, parts, 2, 0);
    return lt_scope_return(&s, times(&s, numbers, 1 / ((double)n * d)), out);
}

lt_status lt_fft_rfftfreq_impl(int64_t n, double d, lt_dtype dtype, const lt_device *device,
                               lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *numbers = do_integers(&s, 0, n / 2 + 1, frequency_dtype(dtype), device);
    return lt_scope_return(&s, times(&s, numbers, 1 / ((double)n * d)), out);
}

/* Rolls each dimension, all of them if dim is NULL, by half of its size; half of an odd size is
 * rounded up if `up`. */
static lt_status roll_by_half(lt_tensor *input, const lt_dims *dim, bool up, lt_tensor **out)
{
    lt_dims dims = {.n = dim != NULL ? dim->n : input->ndim}, shifts = {.n = dims.n};
    for (int i = 0; i < dims.n; i++) {
        int d = i;
        if (dim != NULL) LT_TRY(lt_wrap_dim(dim->v[i], input->ndim, &d));
        dims.v[i] = d;
        shifts.v[i] = input->ndim > 0 ? (input->sizes[d] + (up ? 1 : 0)) / 2 : 0;
    }
    return dims.n > 0 ? lt_roll(input, &shifts, &dims, out) : lt_clone(input, out);
}

lt_status lt_fft_fftshift_impl(lt_tensor *input, const lt_dims *dim, lt_tensor **out)
{
    return roll_by_half(input, dim, false, out);
}

lt_status lt_fft_ifftshift_impl(lt_tensor *input, const lt_dims *dim, lt_tensor **out)
{
    return roll_by_half(input, dim, true, out);
}
