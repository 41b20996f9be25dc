/* transforms.c - torch.fft: the transforms of one dimension and of several, composed of the three
 * of fft.c. A transform promotes its input, cuts or pads it to the requested sizes, and transforms.
 * For a Hermitian input the forward transform is the inverse one of the conjugate, and vice versa. */
#include <string.h>

#include "context/context.h"
#include "ops/compose.h"
#include "ops/steps.h"
#include "op/_fft_c2r.h"
#include "op/fft_fft.h"
#include "op/fft_fft2.h"
#include "op/fft_fftn.h"
#include "op/fft_hfft.h"
#include "op/fft_hfft2.h"
#include "op/fft_hfftn.h"
#include "op/fft_ifft.h"
#include "op/fft_ifft2.h"
#include "op/fft_ifftn.h"
#include "op/fft_ihfft.h"
#include "op/fft_ihfft2.h"
#include "op/fft_ihfftn.h"
#include "op/fft_irfft.h"
#include "op/fft_irfft2.h"
#include "op/fft_irfftn.h"
#include "op/fft_rfft.h"
#include "op/fft_rfft2.h"
#include "op/fft_rfftn.h"
#include "step/_fft_c2c.h"
#include "step/_fft_c2r.h"
#include "step/_fft_r2c.h"
#include "step/conj.h"
#include "user_index.h"

/* ---- arguments ------------------------------------------------------------------------------- */

/* The normalization of fft.c: 0 none, 1 by the square root of the number of elements, 2 by it. */
static lt_status normalization_of(const char *norm, bool forward, int64_t *code)
{
    if (norm == NULL || strcmp(norm, "backward") == 0)
        *code = forward ? 0 : 2;
    else if (strcmp(norm, "ortho") == 0)
        *code = 1;
    else if (strcmp(norm, "forward") == 0)
        *code = forward ? 2 : 0;
    else
        return lt_error(LT_ERR_RUNTIME, "Invalid normalization mode: \"%s\"", norm);
    return LT_OK;
}

/* float32, float64 or a complex dtype of these; with to_complex, a complex one. */
static lt_tensor *do_promote(lt_scope *s, lt_tensor *x, bool to_complex)
{
    lt_dtype dtype = (lt_dtype)x->dtype;
    if (!lt_dtype_is_inexact(dtype)) dtype = lt_get_default_dtype();
    const lt_dtype part = lt_real_of(dtype);
    if (part != LT_FLOAT32 && part != LT_FLOAT64) {
        s->status = lt_error(LT_ERR_RUNTIME, "Unsupported dtype %s", lt_dtype_scalar_name(dtype));
        return NULL;
    }
    if (to_complex) dtype = lt_complex_of(part);
    return dtype == (lt_dtype)x->dtype ? x : do_cast(s, x, dtype);
}

static lt_status refuse_complex_input(const char *op, const char *kind, const lt_tensor *input)
{
    if (!lt_dtype_is_complex((lt_dtype)input->dtype)) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "%s expects a %s input tensor, but got %s", op, kind,
                    lt_dtype_scalar_name((lt_dtype)input->dtype));
}

static lt_status wrap_fft_dim(const lt_tensor *input, int64_t dim, int *d)
{
    if (input->ndim == 0)
        return lt_error(LT_ERR_RUNTIME, "Dimension specified as %lld but tensor has no dimensions",
                        lt_user_index(dim));
    return lt_wrap_dim(dim, input->ndim, d);
}

static lt_status check_points(int64_t n)
{
    if (n >= 1) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "Invalid number of data points (%lld) specified", (long long)n);
}

/* x with n elements along d: cut, or padded with zeros. */
static lt_tensor *do_resize(lt_scope *s, lt_tensor *x, int d, int64_t n)
{
    if (s->status != LT_OK || x->sizes[d] == n) return x;
    if (n < x->sizes[d]) return do_part(s, x, d, 0, n);
    lt_dims sizes = lt_dims_of(x);
    sizes.v[d] = n - x->sizes[d];
    return do_cat(s, (lt_tensor *[]){x, do_zeros(s, x, &sizes)}, 2, d);
}

/* ---- one dimension --------------------------------------------------------------------------- */

static lt_status transform_line(lt_tensor *input, const int64_t *n, int64_t dim, const char *norm,
                                bool forward, lt_tensor **out)
{
    int d;
    int64_t code;
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *x = do_promote(&s, input, false);
    if (s.status == LT_OK) s.status = wrap_fft_dim(input, dim, &d);
    if (s.status == LT_OK) s.status = normalization_of(norm, forward, &code);
    const int64_t points = s.status != LT_OK ? 1 : n != NULL ? *n : input->sizes[d];
    if (s.status == LT_OK) s.status = check_points(points);
    if (s.status != LT_OK) return lt_scope_close(&s);
    const lt_dims dims = {1, {d}};
    x = do_resize(&s, x, d, points);
    if (s.status != LT_OK) return lt_scope_close(&s);
    lt_tensor *y;
    if (lt_dtype_is_complex((lt_dtype)x->dtype)) {
        y = do__fft_c2c(&s, x, &dims, code, forward);
    } else {
        y = do__fft_r2c(&s, x, &dims, code, false);
        if (!forward) y = do_conj(&s, y);
    }
    return lt_scope_return(&s, y, out);
}

static lt_status line_to_half(const char *op, lt_tensor *input, const int64_t *n, int64_t dim,
                              const char *norm, bool forward, lt_tensor **out)
{
    int d;
    int64_t code;
    LT_TRY(refuse_complex_input(op, "real", input));
    LT_TRY(wrap_fft_dim(input, dim, &d));
    const int64_t points = n != NULL ? *n : input->sizes[d];
    LT_TRY(check_points(points));
    LT_TRY(normalization_of(norm, forward, &code));
    const lt_dims dims = {1, {d}};
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *x = do_resize(&s, do_promote(&s, input, false), d, points);
    lt_tensor *y = do__fft_r2c(&s, x, &dims, code, true);
    return lt_scope_return(&s, forward ? y : do_conj(&s, y), out);
}

static lt_status line_from_half(lt_tensor *input, const int64_t *n, int64_t dim, const char *norm,
                                bool forward, lt_tensor **out)
{
    int d;
    int64_t code;
    LT_TRY(wrap_fft_dim(input, dim, &d));
    const int64_t points = n != NULL ? *n : 2 * (input->sizes[d] - 1);
    LT_TRY(check_points(points));
    LT_TRY(normalization_of(norm, forward, &code));
    const lt_dims dims = {1, {d}};
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *x = do_resize(&s, do_promote(&s, input, true), d, points / 2 + 1);
    if (forward) x = do_conj(&s, x);
    return lt_scope_return(&s, do__fft_c2r(&s, x, &dims, code, points), out);
}

lt_status lt_fft_fft_impl(lt_tensor *input, const int64_t *n, int64_t dim, const char *norm,
                          lt_tensor **out)
{
    return transform_line(input, n, dim, norm, true, out);
}

lt_status lt_fft_ifft_impl(lt_tensor *input, const int64_t *n, int64_t dim, const char *norm,
                           lt_tensor **out)
{
    return transform_line(input, n, dim, norm, false, out);
}

lt_status lt_fft_rfft_impl(lt_tensor *input, const int64_t *n, int64_t dim, const char *norm,
                           lt_tensor **out)
{
    return line_to_half("rfft", input, n, dim, norm, true, out);
}

lt_status lt_fft_ihfft_impl(lt_tensor *input, const int64_t *n, int64_t dim, const char *norm,
                            lt_tensor **out)
{
    return line_to_half("ihfft", input, n, dim, norm, false, out);
}

lt_status lt_fft_irfft_impl(lt_tensor *input, const int64_t *n, int64_t dim, const char *norm,
                            lt_tensor **out)
{
    return line_from_half(input, n, dim, norm, false, out);
}

lt_status lt_fft_hfft_impl(lt_tensor *input, const int64_t *n, int64_t dim, const char *norm,
                           lt_tensor **out)
{
    return line_from_half(input, n, dim, norm, true, out);
}

/* ---- several dimensions ---------------------------------------------------------------------- */

/* A transform of several dimensions; dims and sizes are the resolved ones. */
typedef struct transform {
    const char *op;
    lt_tensor *input;
    const lt_dims *s, *dim;
    const char *norm;
    bool forward;
    lt_dims dims, sizes;
    int64_t code;
} transform;

/* Resolves dim: the last dimensions, one for each size, or all of them, if absent. */
static lt_status resolve_dims(transform *t)
{
    const int ndim = t->input->ndim;
    if (t->dim != NULL && t->s != NULL && t->s->n != t->dim->n)
        return lt_error(LT_ERR_RUNTIME,
                        "When given, dim and shape arguments must have the same length");
    t->dims.n = t->dim != NULL ? t->dim->n : t->s != NULL ? t->s->n : ndim;
    if (t->dim == NULL && t->dims.n > ndim)
        return lt_error(LT_ERR_RUNTIME,
                        "Got shape with %d values but input tensor only has %d dimensions.",
                        t->dims.n, ndim);
    for (int i = 0; i < t->dims.n; i++) {
        int d = ndim - t->dims.n + i;
        if (t->dim != NULL) LT_TRY(wrap_fft_dim(t->input, t->dim->v[i], &d));
        t->dims.v[i] = d;
    }
    return LT_OK;
}

/* The dimensions, the sizes (-1 is the input's) and the normalization. of_half: the input is half
 * of the last dimension, whose size is by default 2 (m - 1) for m elements. */
static lt_status resolve(transform *t, bool of_half)
{
    LT_TRY(resolve_dims(t));
    t->sizes.n = t->dims.n;
    for (int i = 0; i < t->dims.n; i++) {
        for (int k = 0; k < i; k++)
            if (t->dims.v[k] == t->dims.v[i])
                return lt_error(LT_ERR_RUNTIME, "FFT dims must be unique");
        const int64_t own = t->input->sizes[t->dims.v[i]];
        int64_t size = t->s != NULL ? t->s->v[i] : -1;
        if (size == -1) size = of_half && i == t->dims.n - 1 ? 2 * (own - 1) : own;
        LT_TRY(check_points(size));
        t->sizes.v[i] = size;
    }
    return normalization_of(t->norm, t->forward, &t->code);
}

static lt_status refuse_no_dims(const transform *t)
{
    if (t->dims.n > 0) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "%s must transform at least one axis", t->op);
}

static lt_tensor *do_resize_all(lt_scope *s, const transform *t, bool to_complex)
{
    lt_tensor *x = do_promote(s, t->input, to_complex);
    for (int i = 0; i < t->dims.n; i++) x = do_resize(s, x, (int)t->dims.v[i], t->sizes.v[i]);
    return x;
}

static lt_status transform_all(transform t, lt_tensor **out)
{
    LT_TRY(resolve(&t, false));
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *x = do_resize_all(&s, &t, true);
    return lt_scope_return(&s, do__fft_c2c(&s, x, &t.dims, t.code, t.forward), out);
}

static lt_status all_to_half(transform t, lt_tensor **out)
{
    LT_TRY(refuse_complex_input(t.op, "real-valued", t.input));
    LT_TRY(resolve(&t, false));
    LT_TRY(refuse_no_dims(&t));
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *x = do_resize_all(&s, &t, false), *y;
    if (t.forward) {
        y = do__fft_r2c(&s, x, &t.dims, t.code, true);
    } else {
        const lt_dims last = {1, {t.dims.v[t.dims.n - 1]}};
        y = do_conj(&s, do__fft_r2c(&s, x, &last, t.code, true));
        t.dims.n--;
        if (t.dims.n > 0) y = do__fft_c2c(&s, y, &t.dims, t.code, false);
    }
    return lt_scope_return(&s, y, out);
}

static lt_status all_from_half(transform t, lt_tensor **out)
{
    LT_TRY(resolve(&t, true));
    LT_TRY(refuse_no_dims(&t));
    const int last = t.dims.n - 1;
    const lt_dims last_dim = {1, {t.dims.v[last]}};
    const int64_t points = t.sizes.v[last];
    t.sizes.v[last] = points / 2 + 1;
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *x = do_resize_all(&s, &t, true), *y;
    if (t.forward) {
        t.dims.n--;
        if (t.dims.n > 0) x = do__fft_c2c(&s, x, &t.dims, t.code, true);
        y = do__fft_c2r(&s, do_conj(&s, x), &last_dim, t.code, points);
    } else {
        y = do__fft_c2r(&s, x, &t.dims, t.code, points);
    }
    return lt_scope_return(&s, y, out);
}

/* The last two dimensions, which functions of two dimensions have by default. */
static const lt_dims last_two = {2, {-2, -1}};

lt_status lt_fft_fftn_impl(lt_tensor *input, const lt_dims *s, const lt_dims *dim, const char *norm,
                           lt_tensor **out)
{
    return transform_all((transform){"fftn", input, s, dim, norm, .forward = true}, out);
}

lt_status lt_fft_ifftn_impl(lt_tensor *input, const lt_dims *s, const lt_dims *dim,
                            const char *norm, lt_tensor **out)
{
    return transform_all((transform){"ifftn", input, s, dim, norm, .forward = false}, out);
}

lt_status lt_fft_rfftn_impl(lt_tensor *input, const lt_dims *s, const lt_dims *dim,
                            const char *norm, lt_tensor **out)
{
    return all_to_half((transform){"rfftn", input, s, dim, norm, .forward = true}, out);
}

lt_status lt_fft_ihfftn_impl(lt_tensor *input, const lt_dims *s, const lt_dims *dim,
                             const char *norm, lt_tensor **out)
{
    return all_to_half((transform){"ihfftn", input, s, dim, norm, .forward = false}, out);
}

lt_status lt_fft_irfftn_impl(lt_tensor *input, const lt_dims *s, const lt_dims *dim,
                             const char *norm, lt_tensor **out)
{
    return all_from_half((transform){"irfftn", input, s, dim, norm, .forward = false}, out);
}

lt_status lt_fft_hfftn_impl(lt_tensor *input, const lt_dims *s, const lt_dims *dim,
                            const char *norm, lt_tensor **out)
{
    return all_from_half((transform){"hfftn", input, s, dim, norm, .forward = true}, out);
}

lt_status lt_fft_fft2_impl(lt_tensor *input, const lt_dims *s, const lt_dims *dim, const char *norm,
                           lt_tensor **out)
{
    return transform_all(
        (transform){"fft2", input, s, dim != NULL ? dim : &last_two, norm, .forward = true}, out);
}

lt_status lt_fft_ifft2_impl(lt_tensor *input, const lt_dims *s, const lt_dims *dim,
                            const char *norm, lt_tensor **out)
{
    return transform_all(
        (transform){"ifft2", input, s, dim != NULL ? dim : &last_two, norm, .forward = false}, out);
}

lt_status lt_fft_rfft2_impl(lt_tensor *input, const lt_dims *s, const lt_dims *dim,
                            const char *norm, lt_tensor **out)
{
    return all_to_half(
        (transform){"rfft2", input, s, dim != NULL ? dim : &last_two, norm, .forward = true}, out);
}

lt_status lt_fft_ihfft2_impl(lt_tensor *input, const lt_dims *s, const lt_dims *dim,
                             const char *norm, lt_tensor **out)
{
    return all_to_half(
        (transform){"ihfft2", input, s, dim != NULL ? dim : &last_two, norm, .forward = false},
        out);
}

lt_status lt_fft_irfft2_impl(lt_tensor *input, const lt_dims *s, const lt_dims *dim,
                             const char *norm, lt_tensor **out)
{
    return all_from_half(
        (transform){"irfft2", input, s, dim != NULL ? dim : &last_two, norm, .forward = false},
        out);
}

lt_status lt_fft_hfft2_impl(lt_tensor *input, const lt_dims *s, const lt_dims *dim,
                            const char *norm, lt_tensor **out)
{
    return all_from_half(
        (transform){"hfft2", input, s, dim != NULL ? dim : &last_two, norm, .forward = true}, out);
}
