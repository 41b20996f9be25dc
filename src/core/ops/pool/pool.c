/* pool.c - maxima and averages of windows: geometry and checks; the kernels process planes
 * (backend.h). The number of windows is a function of the input's sizes, so a derivative recomputes
 * it. */
#include "autograd/dual.h"
#include "compile/trace.h"
#include "ops/steps.h"
#include "ops/windows.h"
#include "op/_adaptive_avg_pool_backward.h"
#include "op/_adaptive_avg_pool_like.h"
#include "op/_adaptive_max_pool_backward.h"
#include "op/_avg_pool.h"
#include "op/_avg_pool_backward.h"
#include "op/_max_pool_backward.h"
#include "op/_pool_gather.h"
#include "op/adaptive_avg_pool1d.h"
#include "op/adaptive_avg_pool2d.h"
#include "op/adaptive_avg_pool3d.h"
#include "op/avg_pool1d.h"
#include "op/avg_pool2d.h"
#include "op/avg_pool3d.h"
#include "op/max_pool1d_with_indices.h"
#include "op/max_pool2d_with_indices.h"
#include "op/max_pool3d_with_indices.h"
#include "user_index.h"
#include "memory_format.h"

/* ---- geometry -------------------------------------------------------------------------------- */

static lt_status check_int(const char *op, const char *what, const lt_dims *given, int64_t least)
{
    for (int i = 0; i < given->n; i++) {
        if (given->v[i] > INT32_MAX)
            return lt_error(LT_ERR_RUNTIME,
                            "%s: value cannot be converted to type int without overflow: %s", op,
                            what);
        if (given->v[i] < least)
            return lt_error(LT_ERR_RUNTIME, "%s: %s must be %s, but got %lld", op, what,
                            least > 0 ? "greater than zero" : "non-negative",
                            (long long)given->v[i]);
    }
    return LT_OK;
}

static lt_status check_spread(const char *op, const char *what, const char *before,
                              const lt_dims *given, int spatial, int64_t fill, int64_t *v)
{
    static const char *const numbers[] = {"", "one int", "two ints", "three ints"};
    if (lt_spread_sizes(given, spatial, fill, v)) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "%s: %s must %sa single int, or a tuple of %s", op, what,
                    before, numbers[spatial]);
}

/* The arguments that determine the windows. stride NULL or empty: the kernel size. */
typedef struct pool_windows {
    const lt_dims *kernel_size, *stride, *padding, *dilation;
    bool ceil, count_padding; /* count_padding and divisor (NULL: none) are for averages */
    const int64_t *divisor;
} pool_windows;

/* Reads all but the number of windows. */
static lt_status read_windows(const char *op, int spatial, const pool_windows *w, lt_pooling *p)
{
    const lt_dims *const kernel_size = w->kernel_size, *const padding = w->padding,
                         *const dilation = w->dilation;
    const lt_dims *const stride = w->stride != NULL && w->stride->n > 0 ? w->stride : kernel_size;
    LT_TRY(check_spread(op, "kernel_size", "either be ", kernel_size, spatial, 1, p->kernel));
    LT_TRY(check_spread(op, "stride", "either be omitted, ", stride, spatial, 1, p->stride));
    LT_TRY(check_spread(op, "padding", "either be ", padding, spatial, 0, p->padding));
    LT_TRY(check_spread(op, "dilation", "either be ", dilation, spatial, 1, p->dilation));
    LT_TRY(check_int(op, "kernel_size", kernel_size, 1));
    for (int d = LT_SPATIAL - spatial; d < LT_SPATIAL; d++)
        if (p->stride[d] == 0) return lt_error(LT_ERR_RUNTIME, "stride should not be zero");
    LT_TRY(check_int(op, "stride", stride, 1));
    LT_TRY(check_int(op, "dilation", dilation, 1));
    for (int d = LT_SPATIAL - spatial; d < LT_SPATIAL; d++) {
        if (p->padding[d] < 0)
            return lt_error(LT_ERR_RUNTIME, "pad must be non-negative, but got pad: %lld",
                            (long long)p->padding[d]);
        if (p->padding[d] > ((p->kernel[d] - 1) * p->dilation[d] + 1) / 2)
            return lt_error(LT_ERR_RUNTIME,
                            "pad should be at most half of effective kernel size, but got "
                            "pad=%lld, kernel_size=%lld and "
                            "dilation=%lld",
                            (long long)p->padding[d], (long long)p->kernel[d],
                            (long long)p->dilation[d]);
    }
    return LT_OK;
}

/* Reads the planes of an input, [batch, channels, spatial...] or without the batch. */
static lt_status read_planes(const char *op, int spatial, int ndim, const int64_t *sizes,
                             lt_pooling *p)
{
    char text[256];
    bool empty = ndim != spatial + 1 && ndim != spatial + 2;
    for (int d = ndim - spatial - 1; !empty && d < ndim; d++) empty = sizes[d] == 0;
    if (empty)
        return lt_error(LT_ERR_RUNTIME,
                        "%s: Expected %dD or %dD (batch mode) tensor with optional 0 dim batch "
                        "size for input, but got:%s",
                        op, spatial + 1, spatial + 2,
                        lt_format_sizes(text, sizeof text, ndim, sizes));
    p->planes = 1;
    for (int d = 0; d < ndim - spatial; d++) p->planes *= sizes[d];
    lt_spatial_sizes(ndim, sizes, spatial, p->in);
    return LT_OK;
}

static lt_status count_windows(int spatial, int64_t channels, bool ceil, lt_pooling *p)
{
    char given[128], made[128];
    bool fits = true;
    for (int d = 0; d < LT_SPATIAL; d++) {
        p->out[d] = lt_window_count(p->in[d], p->kernel[d], p->stride[d], p->padding[d],
                                    p->dilation[d], ceil);
        fits = fits && p->out[d] >= 1;
    }
    if (fits) return LT_OK;
    for (int d = 0; d < LT_SPATIAL; d++)
        if (p->out[d] < 0) p->out[d] = 0;
    return lt_error(
        LT_ERR_RUNTIME,
        "Given input size: (%lldx%s). Calculated output size: (%lldx%s). Output size is too small",
        (long long)channels, lt_format_product(given, sizeof given, spatial, p->in, "x"),
        (long long)channels, lt_format_product(made, sizeof made, spatial, p->out, "x"));
}

static lt_status pool_not_implemented(const char *op, const lt_tensor *t)
{
    return lt_error(LT_ERR_RUNTIME, "\"%s\" not implemented for '%s'", op,
                    lt_dtype_scalar_name((lt_dtype)t->dtype));
}

static lt_status check_floating(const char *op, const lt_tensor *t)
{
    return lt_dtype_is_float((lt_dtype)t->dtype) ? LT_OK : pool_not_implemented(op, t);
}

/* The sizes of the result: t's with the spatial ones replaced. */
static lt_dims pooled_sizes(const lt_tensor *t, int spatial, const int64_t *v)
{
    lt_dims sizes = lt_dims_of(t);
    for (int d = 0; d < spatial; d++) sizes.v[t->ndim - spatial + d] = v[LT_SPATIAL - spatial + d];
    return sizes;
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* Whether t, [batch, channels, spatial...], is pooled in channels-last order; then p->planes is the
 * batch and p->lanes the channels. */
static bool keep_channels_last(lt_pooling *p, int spatial, const lt_tensor *t,
                               const lt_tensor *given)
{
    p->lanes = 1;
    if (given != NULL && !lt_is_channels_last(given)) return false;
    if (t->ndim != spatial + 2 || !lt_keeps_channels_last(t)) return false;
    p->planes = t->sizes[0];
    p->lanes = t->sizes[1];
    return true;
}

typedef struct pool_kernel {
    const lt_pooling *pool;
    const lt_backend *backend;
    bool extremes;
    lt_tensor *out, *indices, *in; /* in NULL: fused producer */
} pool_kernel;

static lt_status pool_producer(const void *context, const lt_fused_producer *producer)
{
    const pool_kernel *k = context;
    lt_pooling p = *k->pool;
    p.producer = producer;
    const void *const in = k->in != NULL ? lt_data(k->in) : NULL;
    if (!k->extremes) return k->backend->avg_pool(&p, lt_data(k->out), in);
    return k->backend->max_pool(&p, lt_data(k->out),
                                k->indices != NULL ? (int64_t *)(void *)lt_data(k->indices) : NULL,
                                in);
}

/* out_indices NULL: averages, or maxima without indices (`extremes`). The dtype must be one of the
 * kernels'. */
static lt_status pool_forward(lt_pooling *p, int spatial, bool extremes, lt_tensor *self,
                              lt_tensor **out, lt_tensor **out_indices)
{
    lt_tensor *from = NULL, *work = NULL, *indices = NULL;
    lt_status status;
    lt_dims sizes = pooled_sizes(self, spatial, p->out);
    const char *const name = extremes ? "max_pool" : "avg_pool";
    p->dtype = (lt_dtype)self->dtype;
    p->device = self->device;
    const bool last = keep_channels_last(p, spatial, self,
                                         *out != NULL || out_indices == NULL ? *out : *out_indices);
    const bool fused = !last && lt_trace_fuses_lines(self, p->in[0] * p->in[1] * p->in[2]);
    if (!fused) {
        LT_CHECK(lt_materialize(name, self));
        LT_CHECK(lt_make_ordered(self, last, &from));
    }
    LT_CHECK(lt_begin_ordered_output(out, p->dtype, p->device, &sizes, last, &work));
    if (out_indices != NULL)
        LT_CHECK(lt_begin_ordered_output(out_indices, LT_INT64, p->device, &sizes, last, &indices));
    if (work->numel > 0) {
        const pool_kernel k = {p, lt_backend_of(self), extremes, work, indices, from};
        /* An input saved for backward is read again. */
        LT_CHECK(fused ? lt_trace_consume(name, self, lt_is_differentiated(self), pool_producer, &k)
                       : pool_producer(&k, NULL));
    }
    if (indices != NULL) {
        status = lt_finish_output(out_indices, indices);
        indices = NULL;
        if (status != LT_OK) goto done;
    }
    status = lt_finish_output(out, work);
    work = NULL;
done:
    lt_tensor_release(from);
    lt_tensor_release(work);
    lt_tensor_release(indices);
    return status;
}

/* Narrow integers are computed in int64. */
static lt_status do_pool_forward(lt_pooling *p, int spatial, bool extremes, lt_tensor *self,
                                 lt_tensor **out, lt_tensor **out_indices)
{
    const lt_dtype dtype = (lt_dtype)self->dtype;
    if (lt_dtype_is_float(dtype) || dtype == LT_INT64)
        return pool_forward(p, spatial, extremes, self, out, out_indices);
    lt_scope s;
    lt_tensor *result = NULL;
    lt_scope_open(&s, false);
    lt_tensor *wide = do_cast(&s, self, LT_INT64);
    if (wide == NULL) return lt_scope_close(&s);
    lt_status status = pool_forward(p, spatial, extremes, wide, &result, out_indices);
    return lt_scope_store(&s, do_cast(&s, lt_scope_hold(&s, status, result), dtype), out);
}

/* indices NULL: the backward pass of averages. */
static lt_status pool_backward(lt_pooling *p, int spatial, lt_tensor *grad_output,
                               lt_tensor *indices, const lt_dims *sizes, lt_tensor **out)
{
    lt_tensor *grad = NULL, *where = NULL, *work = NULL;
    lt_status status;
    p->dtype = (lt_dtype)grad_output->dtype;
    p->device = grad_output->device;
    const bool last = keep_channels_last(p, spatial, grad_output, *out);
    LT_CHECK(lt_make_ordered(grad_output, last, &grad));
    if (indices != NULL) LT_CHECK(lt_make_ordered(indices, last, &where));
    LT_CHECK(lt_begin_ordered_output(out, p->dtype, p->device, sizes, last, &work));
    if (grad->numel == 0) {
        LT_CHECK(lt_fill_value(work, lt_scalar_from_int(0)));
    } else if (indices != NULL) {
        LT_CHECK(lt_backend_of(grad)->max_pool_backward(p, lt_data(work), lt_data(grad),
                                                        (const int64_t *)(void *)lt_data(where)));
    } else {
        LT_CHECK(lt_backend_of(grad)->avg_pool_backward(p, lt_data(work), lt_data(grad)));
    }
    status = lt_finish_output(out, work);
    work = NULL;
done:
    lt_tensor_release(grad);
    lt_tensor_release(where);
    lt_tensor_release(work);
    return status;
}

/* ---- extremes -------------------------------------------------------------------------------- */

/* max_pool1d has its own messages. */
static lt_status check_line(const char *op, const lt_dims *kernel_size, const lt_dims *padding)
{
    if (kernel_size->n != 1 || padding->n != 1) return LT_OK;
    if (kernel_size->v[0] <= 0)
        return lt_error(LT_ERR_RUNTIME, "%s() kernel_size must be greater than zero, but got %lld",
                        op, (long long)kernel_size->v[0]);
    if (padding->v[0] > kernel_size->v[0] / 2)
        return lt_error(LT_ERR_RUNTIME,
                        "%s() padding should be at most half of kernel size, but got padding=%lld "
                        "and kernel_size=%lld",
                        op, (long long)padding->v[0], (long long)kernel_size->v[0]);
    return LT_OK;
}

static lt_status extremes(const char *op, int spatial, lt_tensor *self, const pool_windows *w,
                          lt_tensor **out_values, lt_tensor **out_indices)
{
    lt_pooling p = {.adaptive = false};
    if (spatial == 1) LT_TRY(check_line(op, w->kernel_size, w->padding));
    LT_TRY(read_windows(op, spatial, w, &p));
    LT_TRY(read_planes(op, spatial, self->ndim, self->sizes, &p));
    lt_status fits = count_windows(spatial, self->sizes[self->ndim - spatial - 1], w->ceil, &p);
    if (fits != LT_OK && spatial == 1)
        return lt_error(LT_ERR_RUNTIME, "%s() Invalid computed output size: %lld", op,
                        (long long)p.out[2]);
    LT_TRY(fits);
    if (self->dtype == LT_BOOL) return pool_not_implemented(op, self);
    return do_pool_forward(&p, spatial, true, self, out_values, out_indices);
}

lt_status lt__max_pool_backward_impl(lt_tensor *grad_output, lt_tensor *indices,
                                     const lt_dims *sizes, int64_t spatial,
                                     const lt_dims *kernel_size, const lt_dims *stride,
                                     const lt_dims *padding, const lt_dims *dilation,
                                     lt_tensor **out)
{
    lt_pooling p = {.adaptive = false};
    const pool_windows w = {
        .kernel_size = kernel_size, .stride = stride, .padding = padding, .dilation = dilation};
    LT_TRY(read_windows("max_pool", (int)spatial, &w, &p));
    LT_TRY(read_planes("max_pool", (int)spatial, sizes->n, sizes->v, &p));
    lt_spatial_sizes(grad_output->ndim, grad_output->sizes, (int)spatial, p.out);
    return pool_backward(&p, (int)spatial, grad_output, indices, sizes, out);
}

lt_status lt__pool_gather_impl(lt_tensor *self, lt_tensor *indices, int64_t spatial,
                               lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_pool_gather));
    lt_dims given = lt_dims_of(self), wanted = lt_dims_of(indices), sizes = wanted;
    int64_t from = 1, to = 1;
    for (int d = self->ndim - (int)spatial; d < self->ndim; d++) {
        from *= given.v[d];
        to *= wanted.v[d];
    }
    given.n = wanted.n = self->ndim - (int)spatial + 1;
    given.v[given.n - 1] = from;
    wanted.v[wanted.n - 1] = to;
    lt_tensor *lines = do_reshape(&s, self, &given), *places = do_reshape(&s, indices, &wanted);
    return lt_scope_return(&s, do_reshape(&s, do_gather(&s, lines, -1, places), &sizes), out);
}

/* ---- averages -------------------------------------------------------------------------------- */

static const lt_dims ones = {1, {1}};

static lt_status read_average(const char *op, int spatial, int ndim, const int64_t *sizes,
                              const pool_windows *w, lt_pooling *p)
{
    *p = (lt_pooling){.count_padding = w->count_padding,
                      .divisor = w->divisor != NULL ? *w->divisor : 0};
    LT_TRY(read_windows(op, spatial, w, p));
    if (w->divisor != NULL && *w->divisor == 0)
        return lt_error(LT_ERR_RUNTIME, "divisor must be not zero");
    LT_TRY(read_planes(op, spatial, ndim, sizes, p));
    return count_windows(spatial, sizes[ndim - spatial - 1], w->ceil, p);
}

static lt_status average(const char *op, int spatial, lt_tensor *self, const pool_windows *w,
                         lt_tensor **out)
{
    lt_pooling p;
    LT_TRY(read_average(op, spatial, self->ndim, self->sizes, w, &p));
    if (self->dtype != LT_INT64) LT_TRY(check_floating(op, self));
    return do_pool_forward(&p, spatial, false, self, out, NULL);
}

lt_status lt__avg_pool_backward_impl(lt_tensor *grad_output, const lt_dims *sizes, int64_t spatial,
                                     const lt_dims *kernel_size, const lt_dims *stride,
                                     const lt_dims *padding, bool ceil_mode, bool count_include_pad,
                                     const int64_t *divisor_override, lt_tensor **out)
{
    lt_pooling p;
    const pool_windows w = {.kernel_size = kernel_size,
                            .stride = stride,
                            .padding = padding,
                            .dilation = &ones,
                            .ceil = ceil_mode,
                            .count_padding = count_include_pad,
                            .divisor = divisor_override};
    LT_TRY(read_average("avg_pool", (int)spatial, sizes->n, sizes->v, &w, &p));
    return pool_backward(&p, (int)spatial, grad_output, NULL, sizes, out);
}

lt_status lt__avg_pool_impl(lt_tensor *self, int64_t spatial, const lt_dims *kernel_size,
                            const lt_dims *stride, const lt_dims *padding, bool ceil_mode,
                            bool count_include_pad, const int64_t *divisor_override,
                            lt_tensor **out)
{
    if (spatial == 1)
        return lt_avg_pool1d(self, kernel_size, stride, padding, ceil_mode, count_include_pad, out);
    if (spatial == 2)
        return lt_avg_pool2d(self, kernel_size, stride, padding, ceil_mode, count_include_pad,
                             divisor_override, out);
    return lt_avg_pool3d(self, kernel_size, stride, padding, ceil_mode, count_include_pad,
                         divisor_override, out);
}

/* ---- windows that cover the planes (adaptive) ------------------------------------------------ */

static lt_status read_adaptive(const char *op, int spatial, int ndim, const int64_t *sizes,
                               const lt_dims *output_size, lt_pooling *p)
{
    char text[256];
    *p = (lt_pooling){.adaptive = true};
    if (ndim != spatial + 1 && ndim != spatial + 2)
        return lt_error(LT_ERR_RUNTIME, "%s(): Expected %dD or %dD tensor, but got %s", op,
                        spatial + 1, spatial + 2, lt_format_sizes(text, sizeof text, ndim, sizes));
    for (int d = ndim - spatial; d < ndim; d++)
        if (sizes[d] == 0)
            return lt_error(LT_ERR_RUNTIME,
                            "%s(): Expected input to have non-zero size for non-batch dimensions, "
                            "but input has sizes %s with "
                            "dimension %lld being empty",
                            op, lt_format_sizes(text, sizeof text, ndim, sizes), lt_user_index(d));
    if (!lt_spread_sizes(output_size, spatial, 1, p->out))
        return lt_error(LT_ERR_RUNTIME, "%s: output_size must be %d", op, spatial);
    for (int d = 0; d < LT_SPATIAL; d++) {
        if (p->out[d] < 0)
            return lt_error(
                LT_ERR_RUNTIME,
                "%s: elements of output_size must be greater than or equal to 0 but received %lld",
                op, (long long)p->out[d]);
        if (p->out[d] > INT32_MAX)
            return lt_error(
                LT_ERR_RUNTIME,
                "%s: value cannot be converted to type int without overflow: output_size", op);
    }
    p->planes = 1;
    for (int d = 0; d < ndim - spatial; d++) p->planes *= sizes[d];
    lt_spatial_sizes(ndim, sizes, spatial, p->in);
    return LT_OK;
}

static lt_status adaptive(const char *op, int spatial, bool extreme, lt_tensor *self,
                          const lt_dims *output_size, lt_tensor **out, lt_tensor **out_indices)
{
    lt_pooling p;
    LT_TRY(read_adaptive(op, spatial, self->ndim, self->sizes, output_size, &p));
    LT_TRY(check_floating(op, self));
    return do_pool_forward(&p, spatial, extreme, self, out, out_indices);
}

/* The last `spatial` of a tensor's sizes. */
static lt_dims last_sizes(int n, const int64_t *sizes, int64_t spatial)
{
    lt_dims last = {.n = (int)spatial};
    for (int d = 0; d < last.n; d++) last.v[d] = sizes[n - last.n + d];
    return last;
}

lt_status lt__adaptive_max_pool_backward_impl(lt_tensor *grad_output, lt_tensor *indices,
                                              const lt_dims *sizes, int64_t spatial,
                                              lt_tensor **out)
{
    lt_pooling p;
    lt_dims output_size = last_sizes(grad_output->ndim, grad_output->sizes, spatial);
    LT_TRY(read_adaptive("adaptive_max_pool", (int)spatial, sizes->n, sizes->v, &output_size, &p));
    return pool_backward(&p, (int)spatial, grad_output, indices, sizes, out);
}

lt_status lt__adaptive_avg_pool_backward_impl(lt_tensor *grad_output, const lt_dims *sizes,
                                              int64_t spatial, lt_tensor **out)
{
    lt_pooling p;
    lt_dims output_size = last_sizes(grad_output->ndim, grad_output->sizes, spatial);
    LT_TRY(read_adaptive("adaptive_avg_pool", (int)spatial, sizes->n, sizes->v, &output_size, &p));
    return pool_backward(&p, (int)spatial, grad_output, NULL, sizes, out);
}

lt_status lt__adaptive_avg_pool_like_impl(lt_tensor *self, const lt_dims *sizes, int64_t spatial,
                                          lt_tensor **out)
{
    lt_dims output_size = last_sizes(sizes->n, sizes->v, spatial);
    return spatial == 1   ? lt_adaptive_avg_pool1d(self, &output_size, out)
           : spatial == 2 ? lt_adaptive_avg_pool2d(self, &output_size, out)
                          : lt_adaptive_avg_pool3d(self, &output_size, out);
}

/* ---- the ops of 1, 2 and 3 dimensions -------------------------------------------------------- */

/* max_pool computes indices only if a derivative will need them. */
static lt_status max_pool(const char *op, int spatial, lt_tensor *self, const pool_windows *w,
                          lt_tensor **out)
{
    if (*out != NULL || !lt_is_differentiated(self))
        return extremes(op, spatial, self, w, out, NULL);
    lt_status (*const with_indices[])(const lt_tensor *, const lt_dims *, const lt_dims *,
                                      const lt_dims *, const lt_dims *, bool, lt_tensor **,
                                      lt_tensor **) = {
        lt_max_pool1d_with_indices, lt_max_pool2d_with_indices, lt_max_pool3d_with_indices};
    lt_tensor *indices = NULL;
    LT_TRY(with_indices[spatial - 1](self, w->kernel_size, w->stride, w->padding, w->dilation,
                                     w->ceil, out, &indices));
    lt_tensor_release(indices);
    return LT_OK;
}

#define POOLS(spatial)                                                                             \
    lt_status lt_max_pool##spatial##d_with_indices_impl(                                           \
        lt_tensor *self, const lt_dims *kernel_size, const lt_dims *stride,                        \
        const lt_dims *padding, const lt_dims *dilation, bool ceil_mode, lt_tensor **out_values,   \
        lt_tensor **out_indices)                                                                   \
    {                                                                                              \
        const pool_windows w = {.kernel_size = kernel_size,                                        \
                                .stride = stride,                                                  \
                                .padding = padding,                                                \
                                .dilation = dilation,                                              \
                                .ceil = ceil_mode};                                                \
        return extremes("max_pool" #spatial "d", spatial, self, &w, out_values, out_indices);      \
    }                                                                                              \
    lt_status lt_max_pool##spatial##d_impl(                                                        \
        lt_tensor *self, const lt_dims *kernel_size, const lt_dims *stride,                        \
        const lt_dims *padding, const lt_dims *dilation, bool ceil_mode, lt_tensor **out)          \
    {                                                                                              \
        const pool_windows w = {.kernel_size = kernel_size,                                        \
                                .stride = stride,                                                  \
                                .padding = padding,                                                \
                                .dilation = dilation,                                              \
                                .ceil = ceil_mode};                                                \
        return max_pool("max_pool" #spatial "d", spatial, self, &w, out);                          \
    }                                                                                              \
    lt_status lt_adaptive_avg_pool##spatial##d_impl(lt_tensor *self, const lt_dims *output_size,   \
                                                    lt_tensor **out)                               \
    {                                                                                              \
        return adaptive("adaptive_avg_pool" #spatial "d", spatial, false, self, output_size, out,  \
                        NULL);                                                                     \
    }                                                                                              \
    lt_status lt_adaptive_max_pool##spatial##d_impl(lt_tensor *self, const lt_dims *output_size,   \
                                                    lt_tensor **out_values,                        \
                                                    lt_tensor **out_indices)                       \
    {                                                                                              \
        return adaptive("adaptive_max_pool" #spatial "d", spatial, true, self, output_size,        \
                        out_values, out_indices);                                                  \
    }
POOLS(1)
POOLS(2)
POOLS(3)
#undef POOLS

lt_status lt_avg_pool1d_impl(lt_tensor *self, const lt_dims *kernel_size, const lt_dims *stride,
                             const lt_dims *padding, bool ceil_mode, bool count_include_pad,
                             lt_tensor **out)
{
    const pool_windows w = {.kernel_size = kernel_size,
                            .stride = stride,
                            .padding = padding,
                            .dilation = &ones,
                            .ceil = ceil_mode,
                            .count_padding = count_include_pad,
                            .divisor = NULL};
    return average("avg_pool1d", 1, self, &w, out);
}

lt_status lt_avg_pool2d_impl(lt_tensor *self, const lt_dims *kernel_size, const lt_dims *stride,
                             const lt_dims *padding, bool ceil_mode, bool count_include_pad,
                             const int64_t *divisor_override, lt_tensor **out)
{
    const pool_windows w = {.kernel_size = kernel_size,
                            .stride = stride,
                            .padding = padding,
                            .dilation = &ones,
                            .ceil = ceil_mode,
                            .count_padding = count_include_pad,
                            .divisor = divisor_override};
    return average("avg_pool2d", 2, self, &w, out);
}

lt_status lt_avg_pool3d_impl(lt_tensor *self, const lt_dims *kernel_size, const lt_dims *stride,
                             const lt_dims *padding, bool ceil_mode, bool count_include_pad,
                             const int64_t *divisor_override, lt_tensor **out)
{
    const pool_windows w = {.kernel_size = kernel_size,
                            .stride = stride,
                            .padding = padding,
                            .dilation = &ones,
                            .ceil = ceil_mode,
                            .count_padding = count_include_pad,
                            .divisor = divisor_override};
    return average("avg_pool3d", 3, self, &w, out);
}
