/* convolution.c - convolutions of one to three spatial dimensions and their transposes. These and
 * their derivatives each compute one of the three parts of a relation of an image x, a kernel w and
 * a result y (backend.h): a transposed convolution computes x from y. Unequal padding is first
 * applied to the input. */
#include <stdio.h>
#include <string.h>

#include "ops/steps.h"
#include "ops/windows.h"
#include "op/_bias_to_channel_dim.h"
#include "op/_convolution_grad_bias.h"
#include "op/_convolution_grad_input.h"
#include "op/_convolution_grad_weight.h"
#include "op/add.h"
#include "op/constant_pad_nd.h"
#include "op/convolution.h"
#include "op/mv.h"
#include "op/new_ones.h"
#include "op/sum.h"
#include "user_index.h"
#include "memory_format.h"

/* ---- arguments ------------------------------------------------------------------------------- */

static lt_status check_count(const char *what, const lt_dims *given, int spatial)
{
    char text[256];
    for (int i = 0; i < given->n; i++)
        if (given->v[i] > INT32_MAX || given->v[i] < -INT32_MAX)
            return lt_error(LT_ERR_RUNTIME,
                            "value cannot be converted to type int without overflow: %s", what);
    if (given->n == 1 || given->n == spatial) return LT_OK;
    return lt_error(LT_ERR_RUNTIME,
                    "expected %s to be a single integer value or a list of %d values to match the "
                    "convolution dimensions, but got %s=%s",
                    what, spatial, what, lt_format_sizes(text, sizeof text, given->n, given->v));
}

static lt_status check_least(const lt_dims *given, int64_t least, const char *message)
{
    for (int i = 0; i < given->n; i++)
        if (given->v[i] < least) return lt_error(LT_ERR_RUNTIME, "%s", message);
    return LT_OK;
}

/* Reads and checks the numbers of a call; sizes and channels are filled in later. */
static lt_status read_numbers(int spatial, const lt_conv_numbers *numbers, lt_conv *c,
                              int64_t *more)
{
    const lt_dims *const stride = numbers->stride, *const padding = numbers->padding,
                         *const dilation = numbers->dilation,
                         *const output_padding = numbers->output_padding;
    const int64_t groups = numbers->groups;
    char text[256];
    if (groups <= 0) return lt_error(LT_ERR_RUNTIME, "non-positive groups is not supported");
    LT_TRY(check_count("stride", stride, spatial));
    LT_TRY(check_count("padding", padding, spatial));
    LT_TRY(check_count("dilation", dilation, spatial));
    LT_TRY(check_count("output_padding", output_padding, spatial));
    LT_TRY(check_least(padding, 0, "negative padding is not supported"));
    LT_TRY(check_least(output_padding, 0, "negative output_padding is not supported"));
    LT_TRY(check_least(stride, 1, "non-positive stride is not supported"));
    lt_spread_sizes(stride, spatial, 1, c->stride);
    lt_spread_sizes(padding, spatial, 0, c->padding);
    lt_spread_sizes(dilation, spatial, 1, c->dilation);
    lt_spread_sizes(output_padding, spatial, 0, more);
    for (int d = LT_SPATIAL - spatial; d < LT_SPATIAL; d++)
        if (c->dilation[d] <= 0)
            return lt_error(
                LT_ERR_RUNTIME, "dilation should be greater than zero, but got %s",
                lt_format_sizes(text, sizeof text, spatial, c->dilation + LT_SPATIAL - spatial));
    c->groups = groups;
    return LT_OK;
}

static lt_status check_dtypes(const lt_tensor *input, const lt_tensor *weight,
                              const lt_tensor *bias)
{
    if (input->dtype == LT_BOOL || lt_dtype_is_unsigned((lt_dtype)input->dtype))
        return lt_error(LT_ERR_RUNTIME, "\"%s\" not implemented for '%s'",
                        input->device.type == LT_CPU ? "slow_conv2d_cpu" : "convolution_cuda",
                        lt_dtype_scalar_name((lt_dtype)input->dtype));
    if (input->dtype != weight->dtype)
        return lt_error(LT_ERR_RUNTIME,
                        "Input type (%s) and weight type (%s) should be the same: expected scalar "
                        "type %s but found %s",
                        lt_dtype_element_name((lt_dtype)input->dtype),
                        lt_dtype_element_name((lt_dtype)weight->dtype),
                        lt_dtype_scalar_name((lt_dtype)input->dtype),
                        lt_dtype_scalar_name((lt_dtype)weight->dtype));
    if (bias != NULL && bias->dtype != input->dtype)
        return lt_error(LT_ERR_RUNTIME, "Input type (%s) and bias type (%s) should be the same",
                        lt_dtype_element_name((lt_dtype)input->dtype),
                        lt_dtype_element_name((lt_dtype)bias->dtype));
    return LT_OK;
}

static lt_status check_shapes(const lt_tensor *input, const lt_tensor *weight,
                              const lt_tensor *bias, bool transposed, int64_t groups)
{
    char of_weight[256], of_input[256];
    long long g = (long long)groups;
    int64_t outputs = transposed ? weight->sizes[1] * groups : weight->sizes[0];
    lt_format_sizes(of_weight, sizeof of_weight, weight->ndim, weight->sizes);
    if (input->ndim != weight->ndim)
        return lt_error(LT_ERR_RUNTIME,
                        "Expected %d-dimensional input for %d-dimensional weight %s, but got "
                        "%d-dimensional input of size %s instead",
                        weight->ndim, weight->ndim, of_weight, input->ndim,
                        lt_format_sizes(of_input, sizeof of_input, input->ndim, input->sizes));
    if (weight->sizes[0] < groups)
        return lt_error(LT_ERR_RUNTIME,
                        "Given groups=%lld, expected weight to be at least %lld at dimension %lld, "
                        "but got weight of size %s instead",
                        g, g, lt_user_index(0), of_weight);
    if (weight->sizes[0] % groups != 0)
        return lt_error(LT_ERR_RUNTIME,
                        "Given groups=%lld, expected weight to be divisible by %lld at dimension "
                        "%lld, but got weight of size [%s] instead",
                        g, g, lt_user_index(0), of_weight);
    int64_t wanted = transposed ? weight->sizes[0] : weight->sizes[1] * groups;
    if (input->sizes[1] != wanted) {
        lt_format_sizes(of_input, sizeof of_input, input->ndim, input->sizes);
        return lt_error(LT_ERR_RUNTIME,
                        "Given %s=%lld, weight of size %s, expected input%s to have %lld channels, "
                        "but got %lld channels instead",
                        transposed ? "transposed" : "groups", transposed ? 1 : g, of_weight,
                        of_input, (long long)wanted, (long long)input->sizes[1]);
    }
    if (bias != NULL && (bias->ndim != 1 || bias->sizes[0] != outputs))
        return lt_error(LT_ERR_RUNTIME,
                        "Given %sweight of size %s, expected bias to be 1-dimensional with %lld "
                        "elements, but got bias of size %s instead",
                        transposed ? "transposed=1, " : "", of_weight, (long long)outputs,
                        lt_format_sizes(of_input, sizeof of_input, bias->ndim, bias->sizes));
    return LT_OK;
}

static lt_status check_kernel(const lt_conv *c, int spatial)
{
    static const char *const names[] = {"depth", "height", "width"};
    for (int d = LT_SPATIAL - spatial; d < LT_SPATIAL; d++)
        if (c->kernel[d] <= 0)
            return lt_error(LT_ERR_RUNTIME,
                            "kernel size should be greater than zero, but got kernel_%s: %lld",
                            names[d], (long long)c->kernel[d]);
    return LT_OK;
}

/* Computes the sizes of y from the sizes of x; the kernel must fit. */
static lt_status fit_windows(lt_conv *c, int spatial)
{
    char padded[128], kernel[128];
    int64_t room[LT_SPATIAL], reach[LT_SPATIAL];
    bool fits = true;
    for (int d = 0; d < LT_SPATIAL; d++) {
        room[d] = c->in[d] + 2 * c->padding[d];
        reach[d] = c->dilation[d] * (c->kernel[d] - 1) + 1;
        fits = fits && reach[d] <= room[d];
        c->out[d] = (room[d] - reach[d]) / c->stride[d] + 1;
    }
    if (fits) return LT_OK;
    return lt_error(LT_ERR_RUNTIME,
                    "Calculated padded input size per channel: (%s). Kernel size: (%s). Kernel "
                    "size can't be greater than actual input size",
                    lt_format_product(padded, sizeof padded, spatial, room, " x "),
                    lt_format_product(kernel, sizeof kernel, spatial, reach, " x "));
}

/* Computes the sizes of x, the result of a transposed convolution, from the sizes of y. */
static lt_status fit_transposed(lt_conv *c, int spatial, const int64_t *more)
{
    char given[128], made[128];
    bool fits = true;
    for (int d = 0; d < LT_SPATIAL; d++) {
        c->in[d] = (c->out[d] - 1) * c->stride[d] - 2 * c->padding[d] +
                   c->dilation[d] * (c->kernel[d] - 1) + more[d] + 1;
        fits = fits && c->in[d] > 0;
    }
    for (int d = LT_SPATIAL - spatial; d < LT_SPATIAL; d++)
        if (more[d] >= c->stride[d] && more[d] >= c->dilation[d])
            return lt_error(LT_ERR_RUNTIME,
                            "output padding must be smaller than either stride or dilation, but "
                            "got output_padding: %lld stride: %lld dilation: %lld",
                            (long long)more[d], (long long)c->stride[d], (long long)c->dilation[d]);
    if (fits) return LT_OK;
    return lt_error(LT_ERR_RUNTIME,
                    "Given input size per channel: (%s). Calculated output size per channel: (%s). "
                    "Output size is too small",
                    lt_format_product(given, sizeof given, spatial, c->out, " x "),
                    lt_format_product(made, sizeof made, spatial, c->in, " x "));
}

/* ---- the three parts ------------------------------------------------------------------------- */

/* The contiguous array of one operand, owned by the scope; NULL for none. */
static lt_tensor *dense(lt_scope *s, lt_tensor *t)
{
    lt_tensor *copy = NULL;
    if (t == NULL || s->status != LT_OK) return NULL;
    lt_status status = lt_make_contiguous(t, &copy);
    return lt_scope_hold(s, status, copy);
}

/* Adds bias to the channels of a new result. */
static lt_status add_bias(lt_scope *s, lt_tensor *result, lt_tensor *bias)
{
    lt_dims sizes = {.n = result->ndim};
    for (int d = 0; d < sizes.n; d++) sizes.v[d] = d == 1 ? bias->sizes[0] : 1;
    lt_tensor *column = do_reshape(s, bias, &sizes);
    if (column == NULL) return s->status;
    return lt_add_(result, column, lt_scalar_from_int(1));
}

/* Computes the part from the other two; the tensor of the part is the result. */
static lt_status compute_part(lt_conv_part part, lt_conv *c, lt_tensor *x, lt_tensor *w,
                              lt_tensor *y, lt_tensor *bias)
{
    lt_tensor *result = part == LT_CONV_X ? x : part == LT_CONV_W ? w : y;
    lt_tensor *one = result == x ? w : x, *other = result == y ? w : y;
    if (result->numel == 0) return LT_OK;
    lt_scope s;
    lt_scope_open(&s, false);
    if (one->numel == 0 || other->numel == 0) {
        s.status = lt_fill_value(result, lt_scalar_from_int(0));
        if (s.status == LT_OK && bias != NULL) s.status = add_bias(&s, result, bias);
        return lt_scope_close(&s);
    }
    lt_tensor *from_x = result == x ? x : dense(&s, x), *from_w = result == w ? w : dense(&s, w),
              *from_y = result == y ? y : dense(&s, y), *added = dense(&s, bias);
    const bool exact = !lt_dtype_is_float(c->dtype), fused = part == LT_CONV_Y && !exact;
    if (s.status == LT_OK && exact)
        lt_convolve_by_columns(&s, part, c, from_x, from_w, from_y);
    else if (s.status == LT_OK)
        s.status = lt_backend_of(result)->convolution(
            part, c, lt_data(from_x), lt_data(from_w), lt_data(from_y),
            added != NULL && fused ? lt_data(added) : NULL);
    if (s.status == LT_OK && bias != NULL && !fused) s.status = add_bias(&s, result, bias);
    return lt_scope_close(&s);
}

/* t in channels-last order, owned by the scope. */
static lt_tensor *do_channels_last(lt_scope *s, lt_tensor *t)
{
    lt_tensor *copy = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_make_ordered(t, true, &copy);
    return lt_scope_hold(s, status, copy);
}

/* The array to be computed: its dtype, device and sizes. */
typedef struct result {
    lt_conv_part part;
    lt_dtype dtype;
    lt_device device;
    lt_dims sizes;
} result;

/* As PyTorch with cuDNN: for floats other than double, if either operand is channels-last. */
static bool wants_channels_last(const result *r, const lt_tensor *one, const lt_tensor *other)
{
    for (int d = 0; d < r->sizes.n; d++)
        if (r->sizes.v[d] == 0) return false;
    return lt_dtype_is_float(r->dtype) && r->dtype != LT_FLOAT64 && one->numel > 0 &&
           other->numel > 0 && (lt_suggests_channels_last(one) || lt_suggests_channels_last(other));
}

/* By the backend with all arrays channels-last; *done: whether it supports this. */
static lt_status compute_channels_last(lt_conv *c, const result *r, lt_tensor *one,
                                       lt_tensor *other, lt_tensor *bias, lt_tensor **out,
                                       bool *done)
{
    const lt_backend *backend = lt_backends[r->device.type];
    lt_tensor *work = NULL;
    lt_scope s;
    *done = false;
    if (*out != NULL && !lt_is_channels_last(*out))
        return LT_OK; /* a given tensor has its own strides */
    if (backend->convolution_channels_last == NULL || !wants_channels_last(r, one, other))
        return LT_OK;
    LT_TRY(lt_begin_ordered_output(out, r->dtype, r->device, &r->sizes, true, &work));
    lt_scope_open(&s, false);
    lt_tensor *a = do_channels_last(&s, one), *b = do_channels_last(&s, other),
              *added = dense(&s, bias);
    const bool fused = r->part == LT_CONV_Y;
    if (s.status == LT_OK) {
        void *data = lt_data(work), *first = lt_data(a), *second = lt_data(b);
        s.status = backend->convolution_channels_last(
            r->part, c, r->part == LT_CONV_X ? data : first,
            r->part == LT_CONV_W   ? data
            : r->part == LT_CONV_X ? first
                                   : second,
            r->part == LT_CONV_Y ? data : second, added != NULL && fused ? lt_data(added) : NULL,
            done);
    }
    if (s.status == LT_OK && *done && bias != NULL && !fused) s.status = add_bias(&s, work, bias);
    lt_status status = lt_scope_close(&s);
    if (status == LT_OK && *done) return lt_finish_output(out, work);
    lt_tensor_release(work);
    return status;
}

/* Computes one of x, w and y from the other two (one, other: in this order), channels-last if they
 * or the backend's rules require it, else contiguous. */
static lt_status compute_output(lt_conv *c, const result *r, lt_tensor *one, lt_tensor *other,
                                lt_tensor *bias, lt_tensor **out)
{
    bool done;
    lt_tensor *work;
    c->dtype = r->dtype;
    c->device = r->device;
    LT_TRY(compute_channels_last(c, r, one, other, bias, out, &done));
    if (done) return LT_OK;
    LT_TRY(lt_begin_output(out, r->dtype, r->device, r->sizes.n, r->sizes.v, &work));
    lt_status status = r->part == LT_CONV_X   ? compute_part(r->part, c, work, one, other, bias)
                       : r->part == LT_CONV_W ? compute_part(r->part, c, one, work, other, bias)
                                              : compute_part(r->part, c, one, other, work, bias);
    if (status == LT_OK) return lt_finish_output(out, work);
    lt_tensor_release(work);
    return status;
}

/* Sizes of an array of the relation: [first, second, v...]. */
static lt_dims sizes_with(int64_t first, int64_t second, int spatial, const int64_t *v)
{
    lt_dims sizes = {.n = spatial + 2, .v = {first, second}};
    for (int d = 0; d < spatial; d++) sizes.v[d + 2] = v[LT_SPATIAL - spatial + d];
    return sizes;
}

/* Sizes of the result. */
static lt_dims sizes_of(const lt_conv *c, bool transposed, int spatial)
{
    return transposed ? sizes_with(c->batch, c->in_channels, spatial, c->in)
                      : sizes_with(c->batch, c->out_channels, spatial, c->out);
}

lt_status lt_convolution_fit(lt_tensor *input, lt_tensor *weight, lt_tensor *bias,
                             const lt_conv_numbers *numbers, lt_conv *c)
{
    const bool transposed = numbers->transposed;
    int64_t more[LT_SPATIAL];
    int spatial = weight->ndim - 2;
    *c = (lt_conv){.dtype = (lt_dtype)input->dtype};
    if (spatial < 1 || spatial > LT_SPATIAL)
        return lt_error(LT_ERR_RUNTIME,
                        "convolution: weight should have at least three and at most five "
                        "dimensions, but has %d",
                        weight->ndim);
    LT_TRY(lt_check_same_device("convolution", (lt_tensor *[]){input, weight, bias},
                                bias != NULL ? 3 : 2, false, &c->device));
    LT_TRY(read_numbers(spatial, numbers, c, more));
    LT_TRY(check_shapes(input, weight, bias, transposed, numbers->groups));
    lt_spatial_sizes(weight->ndim, weight->sizes, spatial, c->kernel);
    LT_TRY(check_kernel(c, spatial));
    c->batch = input->sizes[0];
    c->out_channels = weight->sizes[0];
    c->in_channels = weight->sizes[1] * numbers->groups;
    lt_spatial_sizes(input->ndim, input->sizes, spatial, transposed ? c->out : c->in);
    return transposed ? fit_transposed(c, spatial, more) : fit_windows(c, spatial);
}

lt_status lt_convolution_impl(lt_tensor *input, lt_tensor *weight, lt_tensor *bias,
                              const lt_dims *stride, const lt_dims *padding,
                              const lt_dims *dilation, bool transposed,
                              const lt_dims *output_padding, int64_t groups, lt_tensor **out)
{
    lt_conv c;
    const lt_conv_numbers numbers = {.stride = stride,
                                     .padding = padding,
                                     .dilation = dilation,
                                     .output_padding = output_padding,
                                     .groups = groups,
                                     .transposed = transposed};
    LT_TRY(lt_convolution_fit(input, weight, bias, &numbers, &c));
    LT_TRY(check_dtypes(input, weight, bias));
    const int spatial = weight->ndim - 2;
    const lt_dims sizes = sizes_of(&c, transposed, spatial);
    const result r = {transposed ? LT_CONV_X : LT_CONV_Y, (lt_dtype)input->dtype, c.device, sizes};
    return transposed ? compute_output(&c, &r, weight, input, bias, out)
                      : compute_output(&c, &r, input, weight, bias, out);
}

/* Fills in c for a derivative, from the sizes of input and weight and the gradient of the result.
 */
static lt_status relate(const lt_dims *of_input, const lt_dims *of_weight, const lt_tensor *grad,
                        const lt_conv_numbers *numbers, lt_conv *c)
{
    const bool transposed = numbers->transposed;
    int spatial = of_weight->n - 2;
    int64_t more[LT_SPATIAL];
    LT_TRY(read_numbers(spatial, numbers, c, more));
    lt_spatial_sizes(of_weight->n, of_weight->v, spatial, c->kernel);
    lt_spatial_sizes(of_input->n, of_input->v, spatial, transposed ? c->out : c->in);
    lt_spatial_sizes(grad->ndim, grad->sizes, spatial, transposed ? c->in : c->out);
    c->batch = of_input->v[0];
    c->out_channels = of_weight->v[0];
    c->in_channels = of_weight->v[1] * numbers->groups;
    return LT_OK;
}

lt_status lt__convolution_grad_input_impl(lt_tensor *grad_output, lt_tensor *weight,
                                          const lt_dims *sizes, const lt_dims *stride,
                                          const lt_dims *padding, const lt_dims *dilation,
                                          bool transposed, const lt_dims *output_padding,
                                          int64_t groups, lt_tensor **out)
{
    lt_conv c;
    lt_dims of_weight = lt_dims_of(weight);
    const lt_conv_numbers numbers = {.stride = stride,
                                     .padding = padding,
                                     .dilation = dilation,
                                     .output_padding = output_padding,
                                     .groups = groups,
                                     .transposed = transposed};
    LT_TRY(relate(sizes, &of_weight, grad_output, &numbers, &c));
    const result r = {transposed ? LT_CONV_Y : LT_CONV_X, (lt_dtype)weight->dtype, weight->device,
                      *sizes};
    return transposed ? compute_output(&c, &r, grad_output, weight, NULL, out)
                      : compute_output(&c, &r, weight, grad_output, NULL, out);
}

lt_status lt__convolution_grad_weight_impl(lt_tensor *grad_output, lt_tensor *input,
                                           const lt_dims *sizes, const lt_dims *stride,
                                           const lt_dims *padding, const lt_dims *dilation,
                                           bool transposed, const lt_dims *output_padding,
                                           int64_t groups, lt_tensor **out)
{
    lt_conv c;
    lt_dims of_input = lt_dims_of(input);
    const lt_conv_numbers numbers = {.stride = stride,
                                     .padding = padding,
                                     .dilation = dilation,
                                     .output_padding = output_padding,
                                     .groups = groups,
                                     .transposed = transposed};
    LT_TRY(relate(&of_input, sizes, grad_output, &numbers, &c));
    const result r = {LT_CONV_W, (lt_dtype)input->dtype, input->device, *sizes};
    return transposed ? compute_output(&c, &r, grad_output, input, NULL, out)
                      : compute_output(&c, &r, input, grad_output, NULL, out);
}

/* The sum over the spatial dimensions by a product with ones, which is faster on the CPU if they
 * are small. */
static lt_tensor *do_sum_spatial(lt_scope *s, lt_tensor *grad)
{
    int64_t n = grad->sizes[0], channels = grad->sizes[1],
            width = n * channels > 0 ? grad->numel / (n * channels) : 0;
    lt_tensor *ones = NULL, *sums = NULL;
    lt_tensor *lines = do_reshape(s, grad, &(lt_dims){2, {n * channels, width}});
    if (lines == NULL) return NULL;
    lt_status status = lt_new_ones(grad, &(lt_dims){1, {width}}, LT_DTYPE_NONE, NULL, &ones);
    ones = lt_scope_hold(s, status, ones);
    if (ones == NULL) return NULL;
    status = lt_mv(lines, ones, &sums);
    return do_reshape(s, lt_scope_hold(s, status, sums), &(lt_dims){2, {n, channels}});
}

lt_status lt__bias_to_channel_dim_impl(lt_tensor *bias, const lt_dims *sizes, lt_tensor **out)
{
    lt_dims shape = {.n = sizes->n - 1, .v = {bias->sizes[0]}};
    for (int d = 1; d < shape.n; d++) shape.v[d] = 1;
    return lt_reshape(bias, &shape, out);
}

lt_status lt__convolution_grad_bias_impl(lt_tensor *grad_output, lt_tensor **out)
{
    lt_dims dims = {.n = 0};
    for (int d = 0; d < grad_output->ndim; d++)
        if (d != 1) dims.v[dims.n++] = d;
    bool product = grad_output->device.type == LT_CPU && grad_output->numel > 0 &&
                   (grad_output->dtype == LT_FLOAT32 || grad_output->dtype == LT_FLOAT64);
    if (!product) return lt_sum_dim(grad_output, &dims, false, LT_DTYPE_NONE, out);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_convolution_grad_bias));
    return lt_scope_return(&s, do_sum_dim(&s, do_sum_spatial(&s, grad_output), 0, false), out);
}

/* ---- convNd ---------------------------------------------------------------------------------- */

static const lt_dims none = {1, {0}};

static lt_status do_convolve(lt_tensor *input, lt_tensor *weight, lt_tensor *bias,
                             const lt_conv_numbers *numbers, lt_tensor **out)
{
    if (*out != NULL)
        return lt_convolution_out(input, weight, bias, numbers->stride, numbers->padding,
                                  numbers->dilation, numbers->transposed, numbers->output_padding,
                                  numbers->groups, *out);
    return lt_convolution(input, weight, bias, numbers->stride, numbers->padding, numbers->dilation,
                          numbers->transposed, numbers->output_padding, numbers->groups, out);
}

/* Calls `convolution`, adding a batch dimension to an input without one. */
static lt_status with_batch(const char *name, int spatial, lt_tensor *input, lt_tensor *weight,
                            lt_tensor *bias, const lt_conv_numbers *numbers, lt_tensor **out)
{
    char text[256];
    if (input->ndim != spatial + 1 && input->ndim != spatial + 2)
        return lt_error(
            LT_ERR_RUNTIME,
            "Expected %dD (unbatched) or %dD (batched) input to %s, but got input of size: %s",
            spatial + 1, spatial + 2, name,
            lt_format_sizes(text, sizeof text, input->ndim, input->sizes));
    if (weight->ndim != spatial + 2)
        return lt_error(LT_ERR_RUNTIME,
                        "Expected %d-dimensional weight for %s, but got weight of size %s instead",
                        spatial + 2, name,
                        lt_format_sizes(text, sizeof text, weight->ndim, weight->sizes));
    if (input->ndim == spatial + 2) return do_convolve(input, weight, bias, numbers, out);
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *batch = do_unsqueeze(&s, input, 0), *result = NULL;
    if (batch != NULL && *out != NULL) {
        lt_conv c;
        s.status = lt_convolution_fit(batch, weight, bias, numbers, &c);
        if (s.status != LT_OK) return lt_scope_close(&s);
        const lt_dims sizes = sizes_of(&c, numbers->transposed, spatial);
        lt_dims one = sizes;
        one.n--;
        for (int d = 0; d < one.n; d++) one.v[d] = sizes.v[d + 1];
        result = lt_scope_target(&s, out, (lt_dtype)input->dtype, c.device, &one, &sizes);
    }
    if (batch == NULL || s.status != LT_OK) return lt_scope_close(&s);
    if (result != NULL) {
        s.status = do_convolve(batch, weight, bias, numbers, &result);
        return lt_scope_close(&s);
    }
    lt_status status = do_convolve(batch, weight, bias, numbers, &result);
    return lt_scope_store(&s, do_squeeze_dim(&s, lt_scope_hold(&s, status, result), 0), out);
}

/* padding 'same': half of dilation * (kernel - 1) on each side, an odd element at the end. */
static lt_status with_words(const char *name, int spatial, lt_tensor *input, lt_tensor *weight,
                            lt_tensor *bias, const lt_conv_numbers *given, lt_tensor **out)
{
    const lt_dims *const stride = given->stride, *const dilation = given->dilation;
    lt_conv_numbers numbers = *given;
    int64_t step[LT_SPATIAL];
    numbers.padding = numbers.output_padding = &none;
    if (strcmp(given->word, "valid") == 0)
        return with_batch(name, spatial, input, weight, bias, &numbers, out);
    if (strcmp(given->word, "same") != 0)
        return lt_error(LT_ERR_RUNTIME, "Invalid padding string: '%s'", given->word);
    LT_TRY(check_count("stride", stride, spatial));
    LT_TRY(check_count("dilation", dilation, spatial));
    for (int i = 0; i < stride->n; i++)
        if (stride->v[i] != 1)
            return lt_error(LT_ERR_RUNTIME,
                            "padding='same' is not supported for strided convolutions");
    lt_dims around = {.n = spatial}, pad = {.n = 2 * spatial};
    bool odd = false;
    lt_spread_sizes(dilation, spatial, 1, step);
    for (int d = 0; d < spatial && weight->ndim == spatial + 2; d++) {
        int64_t total = step[LT_SPATIAL - spatial + d] * (weight->sizes[d + 2] - 1);
        around.v[d] = total > 0 ? total / 2 : 0;
        pad.v[2 * (spatial - 1 - d) + 1] = total > 0 ? total % 2 : 0;
        odd = odd || pad.v[2 * (spatial - 1 - d) + 1] != 0;
    }
    numbers.padding = &around;
    if (!odd || input->ndim < spatial)
        return with_batch(name, spatial, input, weight, bias, &numbers, out);
    lt_tensor *padded = NULL;
    LT_TRY(lt_constant_pad_nd(input, &pad, lt_scalar_from_int(0), &padded));
    lt_status status = with_batch(name, spatial, padded, weight, bias, &numbers, out);
    lt_tensor_release(padded);
    return status;
}

#define CONVOLUTIONS(spatial)                                                                      \
    lt_status lt_conv##spatial##d_impl(lt_tensor *input, lt_tensor *weight, lt_tensor *bias,       \
                                       const lt_dims *stride, const lt_dims *padding,              \
                                       const lt_dims *dilation, int64_t groups, lt_tensor **out)   \
    {                                                                                              \
        const lt_conv_numbers numbers = {stride, padding, dilation, &none, groups, false, NULL};   \
        return with_batch("conv" #spatial "d", spatial, input, weight, bias, &numbers, out);       \
    }                                                                                              \
    lt_status lt_conv##spatial##d_padding_impl(                                                    \
        lt_tensor *input, lt_tensor *weight, lt_tensor *bias, const lt_dims *stride,               \
        const char *padding, const lt_dims *dilation, int64_t groups, lt_tensor **out)             \
    {                                                                                              \
        const lt_conv_numbers numbers = {stride, &none, dilation, &none, groups, false, padding};  \
        return with_words("conv" #spatial "d", spatial, input, weight, bias, &numbers, out);       \
    }                                                                                              \
    lt_status lt_conv_transpose##spatial##d_impl(                                                  \
        lt_tensor *input, lt_tensor *weight, lt_tensor *bias, const lt_dims *stride,               \
        const lt_dims *padding, const lt_dims *output_padding, int64_t groups,                     \
        const lt_dims *dilation, lt_tensor **out)                                                  \
    {                                                                                              \
        const lt_conv_numbers numbers = {stride, padding, dilation, output_padding,                \
                                         groups, true,    NULL};                                   \
        return with_batch("conv_transpose" #spatial "d", spatial, input, weight, bias, &numbers,   \
                          out);                                                                    \
    }
CONVOLUTIONS(1)
CONVOLUTIONS(2)
CONVOLUTIONS(3)
#undef CONVOLUTIONS
