/* short_time.c - the Fourier transforms of windows of a signal (stft), and the signal of given
 * transforms (istft). */
#include "devices/copies.h"
#include "ops/steps.h"
#include "op/fft_fft.h"
#include "op/fft_ifft.h"
#include "op/fft_irfft.h"
#include "op/fft_rfft.h"
#include "op/index_add.h"
#include "op/istft.h"
#include "op/pad.h"
#include "op/stft.h"
#include "step/amin.h"
#include "step/detach.h"
#include "step/real.h"
#include "step/unfold.h"
#include "step/view_as_real.h"

static bool is_complex_tensor(const lt_tensor *t)
{
    return t != NULL && lt_dtype_is_complex((lt_dtype)t->dtype);
}

static lt_tensor *do_padded(lt_scope *s, lt_tensor *t, int64_t before, int64_t after,
                            const char *mode)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    const lt_status status = lt_pad(t, &(lt_dims){2, {before, after}}, mode, NULL, &out);
    return lt_scope_hold(s, status, out);
}

/* The window, by default ones, padded with zeros on both sides to n_fft elements. */
static lt_tensor *do_full_window(lt_scope *s, const char *op, lt_tensor *like, int64_t n_fft,
                                 int64_t length, lt_tensor *window)
{
    char text[128];
    if (s->status != LT_OK) return NULL;
    if (window != NULL && (window->ndim != 1 || window->sizes[0] != length))
        s->status = lt_error(LT_ERR_RUNTIME,
                             "%s(): expected a 1D window tensor of size equal to win_length=%lld, "
                             "but got window with size %s",
                             op, (long long)length,
                             lt_format_sizes(text, sizeof text, window->ndim, window->sizes));
    if (window == NULL) {
        lt_tensor *real = is_complex_tensor(like) ? do_real(s, like) : like;
        window = real == NULL ? NULL : plus(s, do_zeros(s, real, &(lt_dims){1, {length}}), 1);
    }
    const int64_t left = (n_fft - length) / 2;
    return length == n_fft ? window : do_padded(s, window, left, n_fft - length - left, "constant");
}

typedef lt_status transform(const lt_tensor *input, const int64_t *n, int64_t dim, const char *norm,
                            lt_tensor **out);

static lt_tensor *do_transform(lt_scope *s, transform *f, lt_tensor *t, const int64_t *n,
                               bool normalized)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    const lt_status status = f(t, n, -1, normalized ? "ortho" : NULL, &out);
    return lt_scope_hold(s, status, out);
}

/* ---- stft ------------------------------------------------------------------------------------ */

static lt_status check_frames(int64_t n, int64_t n_fft, int64_t hop, int64_t length)
{
    if (n_fft <= 0 || n_fft > n)
        return lt_error(LT_ERR_RUNTIME, "stft: expected 0 < n_fft < %lld, but got n_fft=%lld",
                        (long long)n, (long long)n_fft);
    if (hop <= 0)
        return lt_error(LT_ERR_RUNTIME, "stft: expected hop_length > 0, but got hop_length=%lld",
                        (long long)hop);
    if (length <= 0 || length > n_fft)
        return lt_error(LT_ERR_RUNTIME,
                        "stft: expected 0 < win_length <= n_fft, but got win_length=%lld",
                        (long long)length);
    return LT_OK;
}

lt_status lt_stft_impl(lt_tensor *self, int64_t n_fft, const int64_t *hop_length,
                       const int64_t *win_length, lt_tensor *window, bool center,
                       const char *pad_mode, bool normalized, const bool *onesided,
                       const bool *return_complex, lt_tensor **out)
{
    const int64_t hop = hop_length != NULL ? *hop_length : n_fft / 4,
                  length = win_length != NULL ? *win_length : n_fft;
    const bool complex = is_complex_tensor(self) || is_complex_tensor(window),
               half = onesided != NULL ? *onesided : !complex;
    if (return_complex == NULL && !complex)
        return lt_error(LT_ERR_RUNTIME, "stft requires the return_complex parameter be given for "
                                        "real inputs; pass {return_complex = true}");
    if (self->ndim != 1 && self->ndim != 2)
        return lt_error(LT_ERR_RUNTIME, "stft: expected a 1D or 2D tensor, but got a %dD tensor",
                        self->ndim);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(stft));
    lt_tensor *x = self->ndim == 1 ? do_unsqueeze(&s, self, 0) : self;
    if (center) {
        x = do_padded(&s, do_unsqueeze(&s, x, 0), n_fft / 2, n_fft / 2, pad_mode);
        x = do_squeeze_dim(&s, x, 0);
    }
    if (s.status == LT_OK) s.status = check_frames(x->sizes[1], n_fft, hop, length);
    lt_tensor *full = do_full_window(&s, "stft", x, n_fft, length, window);
    if (s.status == LT_OK && half && complex)
        s.status =
            lt_error(LT_ERR_RUNTIME, "Cannot have onesided output if window or input is complex");
    lt_tensor *frames = do_mul(&s, do_unfold(&s, x, 1, n_fft, hop), full);
    lt_tensor *result = do_transform(&s, half ? lt_fft_rfft : lt_fft_fft, frames, NULL, normalized);
    result = do_transpose(&s, result, 1, 2);
    if (self->ndim == 1) result = do_squeeze_dim(&s, result, 0);
    if (return_complex != NULL && !*return_complex) result = do_view_as_real(&s, result);
    return lt_scope_return(&s, result, out);
}

/* ---- istft ----------------------------------------------------------------------------------- */

/* The frames [..., n_fft] added up at distances of hop elements: [..., total]. */
static lt_tensor *do_overlap_add(lt_scope *s, lt_tensor *frames, lt_tensor *elements, int64_t total)
{
    if (s->status != LT_OK) return NULL;
    const int lead = frames->ndim - 2;
    lt_dims flat = {.n = lead + 1}, sizes = {.n = lead + 1};
    for (int d = 0; d < lead; d++) flat.v[d] = sizes.v[d] = frames->sizes[d];
    flat.v[lead] = frames->sizes[lead] * frames->sizes[lead + 1];
    sizes.v[lead] = total;
    lt_tensor *zeros = do_zeros(s, frames, &sizes), *source = do_reshape(s, frames, &flat),
              *sum = NULL;
    if (s->status != LT_OK) return NULL;
    const lt_status added =
        lt_index_add(zeros, lead, elements, source, lt_scalar_from_int(1), &sum);
    return lt_scope_hold(s, added, sum);
}

/* Checks that the windows cover every sample. */
static void check_envelope(lt_scope *s, lt_tensor *envelope)
{
    lt_scalar least;
    lt_tensor *size = do_abs(s, do_detach(s, envelope));
    if (s->status != LT_OK || size->numel == 0) return;
    lt_tensor *smallest = do_amin(s, size);
    const lt_copy_cause previous = lt_copies_imply("istft");
    if (s->status == LT_OK) s->status = lt_tensor_item(smallest, &least);
    lt_copies_set_cause(previous);
    if (s->status == LT_OK && lt_scalar_double(least) <= 1e-11)
        s->status = lt_error(LT_ERR_RUNTIME,
                             "istft: window overlap add min: 1: the windows do not cover every "
                             "sample; use a smaller hop_length");
}

typedef struct inverse {
    int64_t n_fft, hop, width;
    bool center, normalized, complex;
    const int64_t *length;
} inverse;

static lt_status check_inverse(const inverse *v, const lt_tensor *self, const bool *onesided)
{
    if (!is_complex_tensor(self))
        return lt_error(LT_ERR_RUNTIME,
                        "istft requires a complex-valued input tensor matching the output from "
                        "stft with {return_complex = true}.");
    if (self->ndim != 2 && self->ndim != 3)
        return lt_error(LT_ERR_RUNTIME,
                        "istft: expected a tensor with 2 or 3 dimensions, but got %d", self->ndim);
    const int64_t frequencies = self->sizes[self->ndim - 2];
    const bool half = onesided != NULL ? *onesided : frequencies != v->n_fft;
    if (frequencies != (half ? v->n_fft / 2 + 1 : v->n_fft))
        return lt_error(LT_ERR_RUNTIME,
                        "istft: expected the frequency dimension (3rd to the last) of the input "
                        "tensor to match n_fft / 2 + 1 when onesided = true, but got %lld",
                        (long long)frequencies);
    if (v->hop <= 0 || v->hop > v->width)
        return lt_error(LT_ERR_RUNTIME, "istft: expected 0 < hop_length <= win_length");
    if (v->width <= 0 || v->width > v->n_fft)
        return lt_error(LT_ERR_RUNTIME, "istft: expected 0 < win_length <= n_fft");
    if (v->complex && half)
        return lt_error(LT_ERR_RUNTIME,
                        "Cannot have onesided output if window or input is complex");
    return LT_OK;
}

/* The signal [batch, samples] of transforms [batch, frames, frequencies]. */
static lt_tensor *do_signal(lt_scope *s, const inverse *v, lt_tensor *x, lt_tensor *window)
{
    const int64_t n = v->n_fft;
    lt_tensor *full = do_full_window(s, "istft", x, n, v->width, window);
    if (s->status != LT_OK) return NULL;
    if (!v->complex && x->sizes[2] == n) x = do_part(s, x, 2, 0, n / 2 + 1); /* the other half */
    lt_tensor *parts =                                                       /* is redundant */
        do_transform(s, v->complex ? lt_fft_ifft : lt_fft_irfft, x, &n, v->normalized);
    if (s->status != LT_OK) return NULL;
    const int64_t frames = parts->sizes[1], total = n + v->hop * (frames - 1);
    lt_tensor *starts =
        do_mul_scalar(s, do_range(s, frames, x->device), lt_scalar_from_int(v->hop));
    lt_tensor *elements =
        do_flatten(s, do_add(s, do_unsqueeze(s, starts, 1), do_range(s, n, x->device)));
    lt_tensor *y = do_overlap_add(s, do_mul(s, parts, full), elements, total);
    lt_tensor *squares = do_expand(s, do_mul(s, full, full), &(lt_dims){2, {frames, n}});
    lt_tensor *envelope = do_overlap_add(s, squares, elements, total);
    const int64_t first = v->center ? n / 2 : 0;
    const int64_t last = v->length != NULL ? first + *v->length : v->center ? total - n / 2 : total;
    const int64_t stop = last < total ? last : total;
    y = do_part(s, y, 1, first, stop);
    envelope = do_part(s, envelope, 0, first, stop);
    check_envelope(s, envelope);
    y = do_div(s, y, envelope);
    return last > total ? do_padded(s, y, 0, last - total, "constant") : y;
}

lt_status lt_istft_impl(lt_tensor *self, int64_t n_fft, const int64_t *hop_length,
                        const int64_t *win_length, lt_tensor *window, bool center, bool normalized,
                        const bool *onesided, const int64_t *length, bool return_complex,
                        lt_tensor **out)
{
    const inverse v = {.n_fft = n_fft,
                       .hop = hop_length != NULL ? *hop_length : n_fft / 4,
                       .width = win_length != NULL ? *win_length : n_fft,
                       .center = center,
                       .normalized = normalized,
                       .complex = return_complex,
                       .length = length};
    LT_TRY(check_inverse(&v, self, onesided));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(istft));
    lt_tensor *x = do_transpose(&s, self->ndim == 2 ? do_unsqueeze(&s, self, 0) : self, 1, 2);
    lt_tensor *y = do_signal(&s, &v, x, window);
    return lt_scope_return(&s, self->ndim == 2 ? do_squeeze_dim(&s, y, 0) : y, out);
}
