/* integer.c - convolutions of integers, exact in each dtype, and of complex numbers, as matrix
 * products on columns (im2col). A transposed one is a convolution with stride 1 of its input, with
 * zeros inserted between the elements, by the flipped kernel. Composed of other ops, so that every
 * device supports them. */
#include "ops/steps.h"
#include "ops/windows.h"
#include "op/as_strided.h"
#include "op/constant_pad_nd.h"

/* The windows of a padded image [batch, channels, three sizes] as columns: a copy [batch, groups,
 * channels / groups * kernel, number of windows]. */
static lt_tensor *columns_of(lt_scope *s, const lt_conv *c, const int64_t *stride,
                             const int64_t *windows, lt_tensor *padded)
{
    if (padded == NULL) return NULL;
    const int64_t *step = padded->strides, channels = padded->sizes[1] / c->groups;
    lt_dims sizes = {9, {padded->sizes[0], c->groups, channels}},
            strides = {9, {step[0], channels * step[1], step[1]}};
    int64_t kernel = 1, places = 1;
    for (int d = 0; d < LT_SPATIAL; d++) {
        sizes.v[3 + d] = c->kernel[d];
        strides.v[3 + d] = c->dilation[d] * step[2 + d];
        sizes.v[6 + d] = windows[d];
        strides.v[6 + d] = stride[d] * step[2 + d];
        kernel *= c->kernel[d];
        places *= windows[d];
    }
    lt_tensor *view = NULL;
    lt_status status = lt_as_strided(padded, &sizes, &strides, NULL, &view);
    return do_reshape(s, lt_scope_hold(s, status, view),
                      &(lt_dims){4, {sizes.v[0], c->groups, channels * kernel, places}});
}

/* Pads with the given numbers of zeros before and after; negative ones crop. */
static lt_tensor *do_surround(lt_scope *s, lt_tensor *a, const int64_t *before,
                              const int64_t *after)
{
    lt_tensor *padded = NULL;
    if (a == NULL) return NULL;
    lt_dims amounts = {2 * LT_SPATIAL,
                       {before[2], after[2], before[1], after[1], before[0], after[0]}};
    lt_status status = lt_constant_pad_nd(a, &amounts, lt_scalar_from_int(0), &padded);
    return do_contiguous(s, lt_scope_hold(s, status, padded));
}

/* [batch, channels, three sizes]. */
static lt_tensor *with_three_sizes(lt_scope *s, lt_tensor *a, int64_t channels, const int64_t *v,
                                   int64_t batch)
{
    return do_reshape(s, a, &(lt_dims){5, {batch, channels, v[0], v[1], v[2]}});
}

/* y from x. */
static lt_tensor *integer_forward(lt_scope *s, const lt_conv *c, lt_tensor *x, lt_tensor *w)
{
    lt_tensor *image = with_three_sizes(s, x, c->in_channels, c->in, c->batch);
    lt_tensor *columns =
        columns_of(s, c, c->stride, c->out, do_surround(s, image, c->padding, c->padding));
    if (columns == NULL) return NULL;
    return do_matmul(
        s,
        do_reshape(s, w,
                   &(lt_dims){4, {1, c->groups, c->out_channels / c->groups, columns->sizes[2]}}),
        columns);
}

/* x from y. */
static lt_tensor *transposed(lt_scope *s, const lt_conv *c, lt_tensor *y, lt_tensor *w)
{
    static const int64_t ones[LT_SPATIAL] = {1, 1, 1};
    lt_dims apart = {5, {c->batch, c->out_channels}};
    int64_t before[LT_SPATIAL], after[LT_SPATIAL], outputs = c->out_channels / c->groups,
                                                   inputs = c->in_channels / c->groups;
    for (int d = 0; d < LT_SPATIAL; d++) {
        apart.v[2 + d] = (c->out[d] - 1) * c->stride[d] + 1;
        before[d] = c->dilation[d] * (c->kernel[d] - 1) - c->padding[d];
        after[d] = c->in[d] + c->dilation[d] * (c->kernel[d] - 1) - apart.v[2 + d] - before[d];
    }
    lt_tensor *spread = do_zeros(s, y, &apart), *places = NULL;
    if (spread == NULL) return NULL;
    lt_dims strides = {5, {spread->strides[0], spread->strides[1]}},
            sizes = {5, {c->batch, c->out_channels}};
    for (int d = 0; d < LT_SPATIAL; d++) {
        sizes.v[2 + d] = c->out[d];
        strides.v[2 + d] = spread->strides[2 + d] * c->stride[d];
    }
    lt_status status = lt_as_strided(spread, &sizes, &strides, NULL, &places);
    places = lt_scope_hold(s, status, places);
    if (places == NULL ||
        do_store(s, places, with_three_sizes(s, y, c->out_channels, c->out, c->batch)) == NULL)
        return NULL;
    lt_tensor *columns = columns_of(s, c, ones, c->in, do_surround(s, spread, before, after));
    lt_tensor *kernels = do_reshape(
        s, w,
        &(lt_dims){6, {c->groups, outputs, inputs, c->kernel[0], c->kernel[1], c->kernel[2]}});
    for (int d = 3; d < 6; d++) kernels = do_flip(s, kernels, d);
    kernels = do_transpose(s, kernels, 1, 2);
    if (columns == NULL || kernels == NULL) return NULL;
    return do_matmul(
        s, do_reshape(s, kernels, &(lt_dims){4, {1, c->groups, inputs, columns->sizes[2]}}),
        columns);
}

/* w from x and y: the products of the images of a batch, summed. */
static lt_tensor *kernels(lt_scope *s, const lt_conv *c, lt_tensor *x, lt_tensor *y)
{
    lt_tensor *image = with_three_sizes(s, x, c->in_channels, c->in, c->batch);
    lt_tensor *columns =
        columns_of(s, c, c->stride, c->out, do_surround(s, image, c->padding, c->padding));
    if (columns == NULL) return NULL;
    const lt_dims sizes = {4,
                           {c->batch, c->groups, c->out_channels / c->groups, columns->sizes[3]}};
    return do_sum_dim(s, do_matmul(s, do_reshape(s, y, &sizes), do_transpose(s, columns, 2, 3)), 0,
                      false);
}

lt_status lt_convolve_by_columns(lt_scope *s, lt_conv_part part, const lt_conv *c, lt_tensor *x,
                                 lt_tensor *w, lt_tensor *y)
{
    lt_tensor *to = part == LT_CONV_X ? x : part == LT_CONV_W ? w : y;
    lt_tensor *result = part == LT_CONV_X   ? transposed(s, c, y, w)
                        : part == LT_CONV_W ? kernels(s, c, x, y)
                                            : integer_forward(s, c, x, w);
    lt_dims sizes = lt_dims_of(to);
    result = do_reshape(s, result, &sizes);
    if (s->status == LT_OK) s->status = lt_copy_elements(to, result);
    return s->status;
}
