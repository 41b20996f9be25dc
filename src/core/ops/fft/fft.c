/* fft.c - Fourier transforms over dimensions, one after the other: each is moved to the end, where
 * backends transform contiguous rows. */
#include <math.h>

#include "ops/compose.h"
#include "op/_fft_c2c.h"
#include "op/_fft_c2r.h"
#include "op/_fft_r2c.h"
#include "op/_fft_c2c_backward.h"
#include "op/_fft_c2r_backward.h"
#include "op/_fft_r2c_backward.h"
#include "op/_slice.h"
#include "op/cat.h"
#include "step/_fft_c2c.h"
#include "step/_fft_r2c.h"
#include "step/movedim.h"
#include "step/real.h"

enum { BY_ROOT = 1, BY_NUMBER = 2 };

static double scale_of(int64_t count, int64_t normalization)
{
    return normalization == BY_ROOT     ? 1 / sqrt((double)count)
           : normalization == BY_NUMBER ? 1 / (double)count
                                        : 1;
}

static lt_status check_fft_dims(const lt_tensor *self, const lt_dims *dim, lt_dims *wrapped)
{
    const lt_dtype part = lt_real_of((lt_dtype)self->dtype);
    uint32_t seen;
    if (part != LT_FLOAT32 && part != LT_FLOAT64)
        return lt_error(LT_ERR_RUNTIME, "Unsupported dtype %s",
                        lt_dtype_scalar_name((lt_dtype)self->dtype));
    LT_TRY(lt_dims_mask(dim, self->ndim, &seen));
    wrapped->n = dim->n;
    for (int i = 0; i < dim->n; i++) {
        int d;
        LT_TRY(lt_wrap_dim(dim->v[i], self->ndim, &d));
        wrapped->v[i] = d;
    }
    return LT_OK;
}

/* Transforms dimension d of self, moved to the end, to a new tensor with `length` elements there;
 * returns it moved back, as a view. f: the kind, n, inverse and the scale. */
static lt_tensor *fft_along(lt_scope *s, lt_tensor *self, int d, int64_t length, lt_fft f)
{
    const int last = self->ndim - 1;
    const lt_dtype part = lt_real_of((lt_dtype)self->dtype);
    const lt_dims from = {1, {d}}, to = {1, {last}};
    lt_tensor *lines = do_contiguous(s, d == last ? self : do_movedim(s, self, &from, &to)),
              *out = NULL;
    if (s->status != LT_OK) return NULL;
    lt_dims sizes = lt_dims_of(lines);
    sizes.v[last] = length;
    lt_status status = lt_tensor_new(f.kind == LT_FFT_TO_REAL ? part : lt_complex_of(part),
                                     self->device, sizes.n, sizes.v, &out);
    out = lt_scope_hold(s, status, out);
    if (s->status != LT_OK) return NULL;
    if (out->numel > 0) {
        f.dtype = part;
        f.device = self->device;
        f.lines = out->numel / length;
        f.in = lt_data(lines);
        f.out = lt_data(out);
        s->status = lt_backend_of(self)->fft(&f);
    }
    return d == last ? out : do_movedim(s, out, &to, &from);
}

static int64_t count_of(const lt_tensor *t, const lt_dims *dims)
{
    int64_t count = 1;
    for (int i = 0; i < dims->n; i++) count *= t->sizes[dims->v[i]];
    return count;
}

/* Transforms over all dimensions of the list except the last `skip`. The first one applies the
 * scale. */
static lt_tensor *over(lt_scope *s, lt_tensor *t, const lt_dims *dims, int n, bool inverse,
                       double scale)
{
    for (int i = n - 1; i >= 0 && s->status == LT_OK; i--) {
        const int d = (int)dims->v[i];
        t = fft_along(s, t, d, t->sizes[d],
                      (lt_fft){.kind = LT_FFT_COMPLEX,
                               .n = t->sizes[d],
                               .inverse = inverse,
                               .scale = i == n - 1 ? scale : 1});
    }
    return t;
}

lt_status lt__fft_c2c_impl(lt_tensor *self, const lt_dims *dim, int64_t normalization, bool forward,
                           lt_tensor **out)
{
    lt_dims dims;
    LT_TRY(check_fft_dims(self, dim, &dims));
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *t =
        over(&s, self, &dims, dims.n, !forward, scale_of(count_of(self, &dims), normalization));
    return lt_scope_store(&s, dims.n == 0 ? do_clone(&s, self) : t, out);
}

lt_status lt__fft_r2c_impl(lt_tensor *self, const lt_dims *dim, int64_t normalization,
                           bool onesided, lt_tensor **out)
{
    lt_dims dims;
    LT_TRY(check_fft_dims(self, dim, &dims));
    lt_scope s;
    lt_scope_open(&s, false);
    const double scale = scale_of(count_of(self, &dims), normalization);
    const int last = (int)dims.v[dims.n - 1];
    const int64_t n = self->sizes[last], half = n / 2 + 1;
    if (!onesided) { /* the other half is the conjugate of the first */
        lt_tensor *t = do_cast(&s, self, lt_complex_of((lt_dtype)self->dtype));
        if (s.status == LT_OK) t = over(&s, t, &dims, dims.n, false, scale);
        return lt_scope_store(&s, t, out);
    }
    lt_tensor *t = fft_along(&s, self, last, half,
                             (lt_fft){.kind = LT_FFT_TO_COMPLEX, .n = n, .scale = scale});
    t = over(&s, t, &dims, dims.n - 1, false, 1);
    return lt_scope_store(&s, t, out);
}

lt_status lt__fft_c2r_impl(lt_tensor *self, const lt_dims *dim, int64_t normalization,
                           int64_t last_dim_size, lt_tensor **out)
{
    lt_dims dims;
    LT_TRY(check_fft_dims(self, dim, &dims));
    lt_scope s;
    lt_scope_open(&s, false);
    const int last = (int)dims.v[dims.n - 1];
    const double scale =
        scale_of(count_of(self, &dims) / self->sizes[last] * last_dim_size, normalization);
    lt_tensor *t = over(&s, self, &dims, dims.n - 1, true, 1);
    if (s.status == LT_OK && t == self && self->device.type != LT_CPU)
        t = do_clone(&s, t); /* a GPU may overwrite it */
    if (s.status == LT_OK)
        t = fft_along(
            &s, t, last, last_dim_size,
            (lt_fft){.kind = LT_FFT_TO_REAL, .n = last_dim_size, .inverse = true, .scale = scale});
    return lt_scope_store(&s, t, out);
}

/* ---- derivatives ----------------------------------------------------------------------------- */

lt_status lt__fft_c2c_backward_impl(lt_tensor *grad_output, const lt_dims *dim,
                                    int64_t normalization, bool forward, lt_tensor **out)
{
    return lt__fft_c2c(grad_output, dim, normalization, !forward, out);
}

static lt_tensor *sliced(lt_scope *s, lt_tensor *t, int d, int64_t from, int64_t to)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt__slice(t, d, from, to, 1, &out);
    return lt_scope_hold(s, status, out);
}

static lt_tensor *joined(lt_scope *s, lt_tensor **parts, int n, int d)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_cat(&(lt_tensor_list){n, parts}, d, &out);
    return lt_scope_hold(s, status, out);
}

/* The omitted half had no gradient. */
lt_status lt__fft_r2c_backward_impl(lt_tensor *grad_output, const lt_dims *sizes,
                                    const lt_dims *dim, int64_t normalization, bool onesided,
                                    lt_tensor **out)
{
    int last;
    LT_TRY(lt_wrap_dim(dim->v[dim->n - 1], sizes->n, &last));
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *t = grad_output;
    const int64_t missing = sizes->v[last] - grad_output->sizes[last];
    if (onesided && missing > 0) {
        lt_dims rest = lt_dims_of(grad_output);
        rest.v[last] = missing;
        t = joined(&s, (lt_tensor *[]){t, do_zeros(&s, grad_output, &rest)}, 2, last);
    }
    t = do__fft_c2c(&s, t, dim, normalization, false);
    return lt_scope_return(&s, do_real(&s, t), out);
}

lt_status lt__fft_c2r_backward_impl(lt_tensor *grad_output, const lt_dims *dim,
                                    int64_t normalization, lt_tensor **out)
{
    int last;
    LT_TRY(lt_wrap_dim(dim->v[dim->n - 1], grad_output->ndim, &last));
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *t = do__fft_r2c(&s, grad_output, dim, normalization, true);
    if (s.status != LT_OK) return lt_scope_close(&s);
    const int64_t n = grad_output->sizes[last], half = t->sizes[last], twice = n - half;
    if (twice > 0) {
        lt_tensor *middle = times(&s, sliced(&s, t, last, 1, 1 + twice), 2),
                  *first = sliced(&s, t, last, 0, 1);
        if (1 + twice < half)
            t = joined(&s, (lt_tensor *[]){first, middle, sliced(&s, t, last, 1 + twice, half)}, 3,
                       last);
        else
            t = joined(&s, (lt_tensor *[]){first, middle}, 2, last);
    }
    return lt_scope_return(&s, t, out);
}
