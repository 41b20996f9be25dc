/* columns.c - im2col and col2im: the windows of an image as columns of a matrix. */
#include <stdio.h>

#include "user_index.h"
#include "devices/device_type.h"
#include "ops/steps.h"
#include "ops/windows.h"
#include "op/_col2im.h"
#include "op/col2im.h"
#include "op/complex.h"
#include "op/im2col.h"
#include "step/imag.h"
#include "step/real.h"

static lt_status read_windows(const lt_dims *kernel_size, const lt_dims *dilation,
                              const lt_dims *padding, const lt_dims *stride, lt_conv *c)
{
    const lt_dims *given[] = {kernel_size, dilation, padding, stride};
    static const char *const names[] = {"kernel_size", "dilation", "padding", "stride"};
    static const char *const titles[] = {"kernel size", "dilation", "padding", "stride"};
    static const char *const short_names[] = {"kernel", "dilation", "pad", "stride"};
    int64_t *to[] = {c->kernel, c->dilation, c->padding, c->stride};
    for (int i = 0; i < 4; i++) {
        for (int d = 0; d < given[i]->n; d++)
            if (given[i]->v[d] > INT32_MAX)
                return lt_error(LT_ERR_RUNTIME,
                                "value cannot be converted to type int without overflow: %s",
                                names[i]);
        if (!lt_spread_sizes(given[i], 2, i == 2 ? 0 : 1, to[i]))
            return lt_error(LT_ERR_RUNTIME, "It is expected %s equals to 2, but got size %d",
                            names[i], given[i]->n);
        if (to[i][1] < (i != 2) || to[i][2] < (i != 2))
            return lt_error(LT_ERR_RUNTIME,
                            "%s should be %s, but got %s_height: %lld %s_width: %lld", titles[i],
                            i == 2 ? "non-negative" : "greater than zero", short_names[i],
                            (long long)to[i][1], short_names[i], (long long)to[i][2]);
    }
    c->groups = 1;
    return LT_OK;
}

/* The format of a pair in messages. */
typedef struct pair {
    char text[64];
} pair;
static pair format_pair(const int64_t *v)
{
    pair p;
    snprintf(p.text, sizeof p.text, "(%lld, %lld)", (long long)v[1], (long long)v[2]);
    return p;
}

static lt_status count_windows(lt_conv *c)
{
    for (int d = 0; d < LT_SPATIAL; d++)
        c->out[d] = lt_window_count(c->in[d], c->kernel[d], c->stride[d], c->padding[d],
                                    c->dilation[d], false);
    if (c->out[1] > 0 && c->out[2] > 0) return LT_OK;
    return lt_error(LT_ERR_RUNTIME,
                    "Given %s %s, kernel_size=%s, dilation=%s, padding=%s, calculated shape of the "
                    "array of sliding blocks as %s, but its components must be at least one.",
                    "input with spatial size", format_pair(c->in).text, format_pair(c->kernel).text,
                    format_pair(c->dilation).text, format_pair(c->padding).text,
                    format_pair(c->out).text);
}

/* The dtypes that PyTorch supports: floating ones and bool. */
static lt_status check_columns(const lt_tensor *t, const char *op)
{
    const lt_dtype dtype = (lt_dtype)t->dtype;
    if ((lt_dtype_is_inexact(dtype) && dtype != LT_COMPLEX32) || dtype == LT_BOOL) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "\"%s_out_%s\" not implemented for '%s'", op,
                    lt_device_type_name(t->device), lt_dtype_scalar_name((lt_dtype)t->dtype));
}

/* Calls the kernel on a contiguous input; the result has these sizes. */
static lt_status move_windows(bool back, lt_conv *c, lt_tensor *input, const lt_dims *sizes,
                              lt_tensor **out)
{
    lt_tensor *from = NULL, *work = NULL;
    lt_status status;
    c->dtype = (lt_dtype)input->dtype;
    c->device = input->device;
    LT_CHECK(lt_make_contiguous(input, &from));
    LT_CHECK(lt_begin_output(out, c->dtype, c->device, sizes->n, sizes->v, &work));
    if (work->numel > 0)
        LT_CHECK(lt_backend_of(input)->columns(back, c, lt_data(back ? work : from),
                                               lt_data(back ? from : work)));
    status = lt_finish_output(out, work);
    work = NULL;
done:
    lt_tensor_release(from);
    lt_tensor_release(work);
    return status;
}

/* The real or imaginary parts of complex elements. */
static lt_tensor *do_move_part(lt_scope *s, bool back, lt_conv *c, lt_tensor *part,
                               const lt_dims *sizes)
{
    lt_tensor *moved = NULL;
    if (s->status != LT_OK) return NULL;
    const lt_status status = move_windows(back, c, part, sizes, &moved);
    return lt_scope_hold(s, status, moved);
}

static lt_status move_complex(bool back, lt_conv *c, lt_tensor *input, const lt_dims *sizes,
                              lt_tensor **out)
{
    lt_tensor *result = NULL;
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *real = do_move_part(&s, back, c, do_real(&s, input), sizes);
    lt_tensor *imaginary = do_move_part(&s, back, c, do_imag(&s, input), sizes);
    if (s.status != LT_OK) return lt_scope_close(&s);
    const lt_status status = lt_complex(real, imaginary, &result);
    return lt_scope_store(&s, lt_scope_hold(&s, status, result), out);
}

/* Bools are moved as the floats 0 and 1: an element that several windows cover is true if it is in
 * any of them. Real and imaginary parts of complex elements are moved separately. */
static lt_status move_elements(bool back, lt_conv *c, lt_tensor *input, const lt_dims *sizes,
                               lt_tensor **out)
{
    if (lt_dtype_is_complex((lt_dtype)input->dtype))
        return move_complex(back, c, input, sizes, out);
    if (input->dtype != LT_BOOL) return move_windows(back, c, input, sizes, out);
    lt_scope s;
    lt_tensor *result = NULL;
    lt_scope_open(&s, false);
    lt_tensor *from = do_cast(&s, input, LT_FLOAT32);
    if (from == NULL) return lt_scope_close(&s);
    lt_status status = move_windows(back, c, from, sizes, &result);
    return lt_scope_store(&s, do_cast(&s, lt_scope_hold(&s, status, result), LT_BOOL), out);
}

lt_status lt_im2col_impl(lt_tensor *input, const lt_dims *kernel_size, const lt_dims *dilation,
                         const lt_dims *padding, const lt_dims *stride, lt_tensor **out)
{
    lt_conv c = {.batch = 1};
    char text[256];
    int n = input->ndim;
    bool empty = n < 3 || n > 4;
    for (int d = n - 3; !empty && d < n; d++) empty = input->sizes[d] == 0;
    if (empty)
        return lt_error(LT_ERR_RUNTIME,
                        "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and "
                        "other non-zero dimensions for input, but got: %s",
                        lt_format_sizes(text, sizeof text, n, input->sizes));
    LT_TRY(check_columns(input, "im2col"));
    LT_TRY(read_windows(kernel_size, dilation, padding, stride, &c));
    lt_spatial_sizes(n, input->sizes, 2, c.in);
    LT_TRY(count_windows(&c));
    if (n == 4) c.batch = input->sizes[0];
    c.in_channels = input->sizes[n - 3];
    lt_dims sizes = {.n = n - 1};
    sizes.v[0] = c.batch;
    sizes.v[n - 3] = c.in_channels * c.kernel[1] * c.kernel[2];
    sizes.v[n - 2] = c.out[1] * c.out[2];
    return move_elements(false, &c, input, &sizes, out);
}

lt_status lt_col2im_impl(lt_tensor *input, const lt_dims *output_size, const lt_dims *kernel_size,
                         const lt_dims *dilation, const lt_dims *padding, const lt_dims *stride,
                         lt_tensor **out)
{
    lt_conv c = {.batch = 1};
    char text[256];
    int n = input->ndim;
    if (n < 2 || n > 3 || input->sizes[n - 2] == 0 || input->sizes[n - 1] == 0)
        return lt_error(LT_ERR_RUNTIME,
                        "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch "
                        "size and non-zero dimensions for input, but got: %s",
                        lt_format_sizes(text, sizeof text, n, input->sizes));
    LT_TRY(check_columns(input, "col2im"));
    LT_TRY(read_windows(kernel_size, dilation, padding, stride, &c));
    if (!lt_spread_sizes(output_size, 2, 1, c.in))
        return lt_error(LT_ERR_RUNTIME, "It is expected output_size equals to 2, but got size %d",
                        output_size->n);
    int64_t kernel = c.kernel[1] * c.kernel[2];
    if (input->sizes[n - 2] % kernel != 0)
        return lt_error(LT_ERR_RUNTIME,
                        "Expected size of input's dimension %lld to be divisible by the product of "
                        "kernel_size, but got input.size(%lld)=%lld and kernel_size=%s.",
                        lt_user_index(n - 2), lt_user_index(n - 2), (long long)input->sizes[n - 2],
                        format_pair(c.kernel).text);
    LT_TRY(count_windows(&c));
    if (input->sizes[n - 1] != c.out[1] * c.out[2])
        return lt_error(LT_ERR_RUNTIME,
                        "Given output_size=%s, kernel_size=%s, dilation=%s, padding=%s, stride=%s, "
                        "expected size of input's dimension %lld to match the calculated number of "
                        "sliding blocks %lld * %lld = %lld, but got input.size(%lld)=%lld.",
                        format_pair(c.in).text, format_pair(c.kernel).text,
                        format_pair(c.dilation).text, format_pair(c.padding).text,
                        format_pair(c.stride).text, lt_user_index(n - 1), (long long)c.out[1],
                        (long long)c.out[2], (long long)(c.out[1] * c.out[2]), lt_user_index(n - 1),
                        (long long)input->sizes[n - 1]);
    if (n == 3) c.batch = input->sizes[0];
    c.in_channels = input->sizes[n - 2] / kernel;
    lt_dims sizes = {.n = n + 1};
    sizes.v[0] = c.batch;
    sizes.v[n - 2] = c.in_channels;
    sizes.v[n - 1] = c.in[1];
    sizes.v[n] = c.in[2];
    return move_elements(true, &c, input, &sizes, out);
}

lt_status lt__col2im_impl(lt_tensor *input, const lt_dims *sizes, const lt_dims *kernel_size,
                          const lt_dims *dilation, const lt_dims *padding, const lt_dims *stride,
                          lt_tensor **out)
{
    return lt_col2im(input, &(lt_dims){2, {sizes->v[sizes->n - 2], sizes->v[sizes->n - 1]}},
                     kernel_size, dilation, padding, stride, out);
}
