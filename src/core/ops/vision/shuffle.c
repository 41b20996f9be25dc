/* shuffle.c - rearranging channels and pixels, and bilinear, as views and copies. */
#include "ops/compose.h"
#include "ops/steps.h"
#include "op/bilinear.h"
#include "op/channel_shuffle.h"
#include "op/pixel_shuffle.h"
#include "op/pixel_unshuffle.h"
#include "user_index.h"

/* ---- pixels ---------------------------------------------------------------------------------- */

static lt_status check_image(const char *op, const char *name, const lt_tensor *self,
                             int64_t factor)
{
    if (self->ndim < 3)
        return lt_error(
            LT_ERR_RUNTIME,
            "%s expects input to have at least 3 dimensions, but got input with %d dimension(s)",
            op, self->ndim);
    if (factor > 0 && factor < 1 << 15) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "%s expects a positive %s, but got %lld", op, name,
                    (long long)factor);
}

/* Merges the batch into one dimension, splits channels and pixels into (c, r, r, h, w) or (c, h, r,
 * w, r), and permutes them. */
static lt_status rearrange(lt_tensor *self, int64_t c, int64_t h, int64_t w, int64_t r,
                           bool to_pixels, lt_tensor **out)
{
    lt_scope s;
    int64_t batch = 1;
    lt_dims sizes = lt_dims_of(self);
    for (int d = 0; d < self->ndim - 3; d++) batch *= sizes.v[d];
    lt_dims cut =
        to_pixels ? (lt_dims){6, {batch, c, r, r, h, w}} : (lt_dims){6, {batch, c, h, r, w, r}};
    lt_dims order = to_pixels ? (lt_dims){6, {0, 1, 4, 2, 5, 3}} : (lt_dims){6, {0, 1, 3, 5, 2, 4}};
    int64_t *last = sizes.v + sizes.n - 3;
    last[0] = to_pixels ? c : c * r * r;
    last[1] = to_pixels ? h * r : h;
    last[2] = to_pixels ? w * r : w;
    lt_scope_open(&s, false);
    lt_tensor *moved = do_permute(&s, do_reshape(&s, self, &cut), &order);
    lt_tensor *dense = s.status == LT_OK ? do_contiguous(&s, moved) : NULL;
    if (r == 1) dense = do_clone(&s, dense); /* nothing moved: still self's memory */
    return lt_scope_return(&s, do_reshape(&s, dense, &sizes), out);
}

lt_status lt_pixel_shuffle_impl(lt_tensor *self, int64_t upscale_factor, lt_tensor **out)
{
    const int64_t r = upscale_factor;
    LT_TRY(check_image("pixel_shuffle", "upscale_factor", self, r));
    const int64_t *last = self->sizes + self->ndim - 3;
    if (last[0] % (r * r) != 0)
        return lt_error(
            LT_ERR_RUNTIME,
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
            "of upscale_factor, but input.size(-3)=%lld is not divisible by %lld",
            (long long)last[0], (long long)(r * r));
    return rearrange(self, last[0] / (r * r), last[1], last[2], r, true, out);
}

lt_status lt_pixel_unshuffle_impl(lt_tensor *self, int64_t downscale_factor, lt_tensor **out)
{
    const int64_t r = downscale_factor;
    LT_TRY(check_image("pixel_unshuffle", "downscale_factor", self, r));
    const int64_t *last = self->sizes + self->ndim - 3;
    for (int d = 1; d < 3; d++)
        if (last[d] % r != 0)
            return lt_error(LT_ERR_RUNTIME,
                            "pixel_unshuffle expects %s to be divisible by downscale_factor, but "
                            "input.size(-%d)=%lld is not divisible by %lld",
                            d == 1 ? "height" : "width", 3 - d, (long long)last[d], (long long)r);
    return rearrange(self, last[0], last[1] / r, last[2] / r, r, false, out);
}

lt_status lt_channel_shuffle_impl(lt_tensor *self, int64_t groups, lt_tensor **out)
{
    lt_scope s;
    if (self->ndim < 3)
        return lt_error(
            LT_ERR_RUNTIME,
            "channel_shuffle expects input with > 2 dims, but got input with sizes of %d dims",
            self->ndim);
    const int64_t channels = self->sizes[1];
    if (groups <= 0)
        return lt_error(
            LT_ERR_RUNTIME,
            "Number of groups to divide channels in must be positive. Value of groups:%lld",
            (long long)groups);
    if (channels % groups != 0)
        return lt_error(
            LT_ERR_RUNTIME,
            "Number of channels must be divisible by groups. Got %lld channels and %lld groups.",
            (long long)channels, (long long)groups);
    lt_scope_open(&s, LT_COMPOSITE(channel_shuffle));
    const lt_dims sizes = lt_dims_of(self);
    const int64_t inner =
        channels > 0 && sizes.v[0] > 0 ? self->numel / (sizes.v[0] * channels) : 0;
    lt_tensor *cut =
        do_reshape(&s, self, &(lt_dims){4, {sizes.v[0], groups, channels / groups, inner}});
    lt_tensor *dealt = do_reshape(&s, do_transpose(&s, cut, 1, 2), &sizes);
    return lt_scope_return(&s, groups == 1 || channels == groups ? do_clone(&s, dealt) : dealt,
                           out);
}

/* ---- bilinear -------------------------------------------------------------------------------- */

lt_status lt_bilinear_impl(lt_tensor *input1, lt_tensor *input2, lt_tensor *weight, lt_tensor *bias,
                           lt_tensor **out)
{
    lt_scope s;
    if (weight->ndim != 3)
        return lt_error(LT_ERR_RUNTIME, "bilinear(): weight must have 3 dimensions, got %d",
                        weight->ndim);
    if (input1->ndim == 0 || input1->ndim != input2->ndim)
        return lt_error(LT_ERR_RUNTIME, "bilinear(): input dimensions do not match: got %d and %d",
                        input1->ndim, input2->ndim);
    const int last = input1->ndim - 1;
    for (int d = 0; d < last; d++)
        if (input1->sizes[d] != input2->sizes[d])
            return lt_error(
                LT_ERR_RUNTIME,
                "bilinear(): input batch dimensions do not match at dim %lld: got %lld and %lld",
                lt_user_index(d), (long long)input1->sizes[d], (long long)input2->sizes[d]);
    const int64_t outputs = weight->sizes[0], n1 = weight->sizes[1], n2 = weight->sizes[2];
    if (input1->sizes[last] != n1 || input2->sizes[last] != n2)
        return lt_error(
            LT_ERR_RUNTIME,
            "bilinear(): input%d size does not match weight size: got %lld but expected %lld",
            input1->sizes[last] != n1 ? 1 : 2,
            (long long)(input1->sizes[last] != n1 ? input1->sizes[last] : input2->sizes[last]),
            (long long)(input1->sizes[last] != n1 ? n1 : n2));
    if (bias != NULL && bias->numel != outputs)
        return lt_error(
            LT_ERR_RUNTIME,
            "bilinear(): bias size does not match weight size: got %lld but expected %lld",
            (long long)bias->numel, (long long)outputs);
    lt_scope_open(&s, LT_COMPOSITE(bilinear));
    lt_dims sizes = lt_dims_of(input1);
    int64_t rows = 1;
    for (int d = 0; d < last; d++) rows *= sizes.v[d];
    sizes.v[last] = outputs;
    lt_tensor *x1 = do_reshape(&s, input1, &(lt_dims){2, {rows, n1}}),
              *x2 = do_reshape(&s, input2, &(lt_dims){3, {rows, n2, 1}});
    lt_tensor *w =
        do_reshape(&s, do_transpose(&s, weight, 0, 1), &(lt_dims){2, {n1, outputs * n2}});
    lt_tensor *left = do_reshape(&s, do_mm(&s, x1, w), &(lt_dims){3, {rows, outputs, n2}});
    lt_tensor *result = do_reshape(&s, do_bmm(&s, left, x2), &sizes);
    return lt_scope_return(&s, bias != NULL ? do_add(&s, result, bias) : result, out);
}
