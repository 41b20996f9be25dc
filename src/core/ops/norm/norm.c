/* norm.c - layer_norm, rms_norm, group_norm: checks, calls of kernels, and the derivatives: by
 * kernels, or if they will be differentiated by formulas (formula.c). Kernels read half types
 * directly and compute in float; statistics are float or double. */
#include <stdio.h>

#include "autograd/dual.h"
#include "compile/trace.h"
#include "memory_format.h"
#include "norm.h"
#include "ops/pointwise.h"
#include "op/_group_norm.h"
#include "op/_group_norm_backward.h"
#include "op/_group_norm_tangent.h"
#include "op/_layer_norm.h"
#include "op/_layer_norm_backward.h"
#include "op/_layer_norm_tangent.h"
#include "op/_rms_norm.h"
#include "op/_rms_norm_backward.h"
#include "op/_rms_norm_tangent.h"
#include "op/group_norm.h"
#include "op/layer_norm.h"
#include "op/mean.h"
#include "op/rms_norm.h"
#include "step/rsqrt.h"

lt_dtype lt_norm_type(const lt_tensor *input)
{
    return input->dtype == LT_FLOAT64 ? LT_FLOAT64 : LT_FLOAT32;
}

/* ---- calls of kernels ------------------------------------------------------------------------ */

/* The tensor in the form for kernels: contiguous, on the CPU in the statistics' dtype. */
lt_tensor *lt_norm_dense(lt_scope *s, lt_tensor *t, lt_dtype statistics, bool channels_last)
{
    lt_tensor *dense = NULL;
    if (t != NULL && t->device.type == LT_CPU) t = do_cast(s, t, statistics);
    if (t == NULL || s->status != LT_OK) return NULL;
    lt_status status = lt_make_ordered(t, channels_last, &dense);
    return lt_scope_hold(s, status, dense);
}

lt_tensor *lt_norm_new(lt_scope *s, lt_dtype dtype, lt_device device, const lt_dims *sizes,
                       bool channels_last)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status =
        lt_tensor_new_ordered(dtype, device, sizes->n, sizes->v, channels_last, &out);
    return lt_scope_hold(s, status, out);
}

lt_tensor *lt_norm_output(lt_scope *s, lt_tensor *const *out, const lt_tensor *input,
                          lt_dtype dtype, bool channels_last)
{
    const lt_dims sizes = lt_dims_of(input);
    lt_tensor *none = NULL, *work = NULL;
    if (s->status != LT_OK) return NULL;
    const lt_status status =
        lt_begin_ordered_output((lt_dtype)input->dtype == dtype ? out : &none, dtype, input->device,
                                &sizes, channels_last, &work);
    return lt_scope_hold(s, status, work);
}

static lt_tensor *do_vector(lt_scope *s, lt_dtype dtype, lt_device device, int64_t n)
{
    return lt_norm_new(s, dtype, device, &(lt_dims){1, {n}}, false);
}

/* weight and bias must have input's dtype, or float if that is a half type. */
lt_status lt_norm_check_parameters(const lt_tensor *input, const lt_tensor *weight,
                                   const lt_tensor *bias)
{
    const lt_tensor *both[] = {weight, bias};
    if (!lt_dtype_is_float((lt_dtype)input->dtype))
        return lt_error(LT_ERR_RUNTIME, "\"LayerNormKernelImpl\" not implemented for '%s'",
                        lt_dtype_scalar_name((lt_dtype)input->dtype));
    for (int i = 0; i < 2; i++)
        if (both[i] != NULL && both[i]->dtype != input->dtype &&
            (lt_dtype)both[i]->dtype != lt_norm_type(input))
            return lt_error(LT_ERR_RUNTIME,
                            "mixed dtype: expect parameter to have scalar type of %s, got %s",
                            lt_dtype_scalar_name(lt_norm_type(input)),
                            lt_dtype_scalar_name((lt_dtype)both[i]->dtype));
    if (weight != NULL && bias != NULL && weight->dtype != bias->dtype)
        return lt_error(LT_ERR_RUNTIME, "mixed dtype: weight is %s, bias is %s",
                        lt_dtype_scalar_name((lt_dtype)weight->dtype),
                        lt_dtype_scalar_name((lt_dtype)bias->dtype));
    return LT_OK;
}

static lt_status norm_producer(const void *context, const lt_fused_producer *producer)
{
    lt_row_norm_args n = *(const lt_row_norm_args *)context;
    n.norm.producer = producer;
    return lt_backends[n.norm.device.type]->row_norm(&n);
}

/* out, rstd and mean are results; mean NULL: not subtracted. */
typedef struct normalized_rows {
    lt_tensor **out, **rstd, **mean;
} normalized_rows;

static lt_status normalize_rows(const lt_rows_shape *shape, lt_tensor *input, lt_tensor *weight,
                                lt_tensor *bias, double eps, normalized_rows results)
{
    lt_scope s;
    lt_device device;
    const lt_dtype type = lt_norm_type(input);
    LT_TRY(lt_check_same_device("layer_norm", (lt_tensor *[]){input, weight, bias}, 3, false,
                                &device));
    LT_TRY(lt_norm_check_parameters(input, weight, bias));
    const bool fused = lt_trace_fuses_rows(input, shape->length);
    if (!fused) LT_TRY(lt_materialize("layer_norm", input));
    /* An input saved for backward is read again. */
    const bool saved =
        lt_is_differentiated(input) || lt_is_differentiated(weight) || lt_is_differentiated(bias);
    lt_scope_open(&s, false);
    lt_tensor *x = fused ? NULL : lt_norm_dense(&s, input, type, false),
              *w = lt_norm_dense(&s, weight, type, false),
              *b = lt_norm_dense(&s, bias, type, false);
    const lt_dtype dtype = x != NULL               ? (lt_dtype)x->dtype
                           : device.type == LT_CPU ? type
                                                   : (lt_dtype)input->dtype;
    lt_tensor *result = lt_norm_output(&s, results.out, input, dtype, false);
    lt_tensor *mean = results.mean != NULL ? do_vector(&s, type, device, shape->rows) : NULL;
    lt_tensor *rstd = do_vector(&s, type, device, shape->rows);
    if (s.status == LT_OK && input->numel > 0) {
        lt_row_norm_args n = {.rows = shape->rows,
                              .length = shape->length,
                              .groups = shape->groups,
                              .run = shape->run};
        const lt_tensor *parameter = w != NULL ? w : b;
        n.norm = (lt_norm_args){.dtype = dtype,
                                .parameter_dtype =
                                    parameter != NULL ? (lt_dtype)parameter->dtype : dtype,
                                .device = device,
                                .eps = eps,
                                .in = lt_norm_data(x),
                                .weight = lt_norm_data(w),
                                .bias = lt_norm_data(b),
                                .out = lt_norm_data(result),
                                .mean = lt_norm_data(mean),
                                .rstd = lt_norm_data(rstd)};
        s.status = fused ? lt_trace_consume("layer_norm", input, saved, norm_producer, &n)
                         : norm_producer(&n, NULL);
    }
    lt_tensor *given[] = {do_narrow_to(&s, result, input), rstd, mean};
    return lt_norm_return(&s, results.mean != NULL ? 3 : 2, given,
                          (lt_tensor * *const[]){results.out, results.rstd, results.mean});
}

/* A gradient to fill in; NULL if it is not requested. Zeros if there is nothing to sum. */
static lt_tensor *do_gradient(lt_scope *s, bool wanted, lt_dtype dtype, lt_device device,
                              const lt_dims *sizes, bool channels_last, bool empty)
{
    lt_tensor *t = wanted ? lt_norm_new(s, dtype, device, sizes, channels_last) : NULL;
    if (t != NULL && empty) s->status = lt_fill_value(t, lt_scalar_from_int(0));
    return t;
}

lt_norm_args lt_norm_backward_args(lt_scope *s, const lt_norm_grads *g, lt_tensor *weight,
                                   const lt_dims *parameters, lt_tensor **results)
{
    lt_tensor *input = g->input;
    const lt_device device = input->device;
    const lt_dtype type = lt_norm_type(input),
                   parameter = weight != NULL ? (lt_dtype)weight->dtype : type;
    const lt_dims sizes = lt_dims_of(input);
    const bool empty = input->numel == 0, last = g->channels_last;
    lt_tensor *x = lt_norm_dense(s, input, type, last);
    /* A deferred gradient is fused with the kernel. */
    lt_tensor *grad = x != NULL && !g->grad->storage->deferred
                          ? lt_norm_dense(s, do_cast(s, g->grad, (lt_dtype)x->dtype), type, last)
                          : NULL;
    if (s->status == LT_OK)
        results[0] = do_gradient(s, g->needs[0], (lt_dtype)x->dtype, device, &sizes, last, empty);
    results[1] = do_gradient(s, g->needs[1], parameter, device, parameters, false, empty);
    results[2] = do_gradient(s, g->needs[2], parameter, device, parameters, false, empty);
    if (s->status != LT_OK) return (lt_norm_args){.dtype = type};
    return (lt_norm_args){.dtype = (lt_dtype)x->dtype,
                          .parameter_dtype = parameter,
                          .device = device,
                          .eps = g->eps,
                          .in = lt_norm_data(x),
                          .weight = lt_norm_data(weight),
                          .grad = lt_norm_data(grad),
                          .mean = lt_norm_data(g->mean),
                          .rstd = lt_norm_data(g->rstd),
                          .grad_in = lt_norm_data(results[0]),
                          .grad_weight = lt_norm_data(results[1]),
                          .grad_bias = lt_norm_data(results[2])};
}

static lt_status take_row_gradients(const void *context, const lt_fused_producer *producer)
{
    lt_row_norm_args n = *(const lt_row_norm_args *)context;
    n.norm.producer = producer;
    return lt_backends[n.norm.device.type]->row_norm_backward(&n);
}

/* The gradients by the kernel for rows. */
static lt_status rows_backward(const lt_rows_shape *shape, const lt_norm_grads *g, lt_tensor **outs)
{
    lt_scope s;
    lt_device device;
    lt_tensor *input = g->input;
    LT_TRY(lt_check_same_device("layer_norm_backward", (lt_tensor *[]){input, g->grad, g->weight},
                                3, false, &device));
    const bool fused = lt_trace_fuses_lines(g->grad, shape->length);
    if (!fused) LT_TRY(lt_materialize("layer_norm_backward", g->grad));
    lt_scope_open(&s, false);
    const lt_dims line = {1, {shape->groups * (shape->length / shape->run)}};
    lt_tensor *results[3] = {NULL, NULL, NULL};
    lt_row_norm_args n = {
        .rows = shape->rows, .length = shape->length, .groups = shape->groups, .run = shape->run};
    n.norm = lt_norm_backward_args(&s, g, lt_norm_dense(&s, g->weight, lt_norm_type(input), false),
                                   &line, results);
    if (s.status == LT_OK && input->numel > 0)
        s.status =
            fused ? lt_trace_consume("layer_norm_backward", g->grad, false, take_row_gradients, &n)
                  : take_row_gradients(&n, NULL);
    return lt_norm_return(&s, 3, results, (lt_tensor * *const[]){&outs[0], &outs[1], &outs[2]});
}

bool lt_norm_needs_formula(const lt_norm_grads *g)
{
    return lt_needs_formula(g->grad) || lt_needs_formula(g->input) || lt_needs_formula(g->weight);
}

/* The rows' shape for the formulas: [rows / groups, groups, entries, run]. */
static lt_dims sizes_of_rows(const lt_rows_shape *shape)
{
    return (lt_dims){
        4, {shape->rows / shape->groups, shape->groups, shape->length / shape->run, shape->run}};
}

static lt_dims parameters_of_rows(const lt_rows_shape *shape)
{
    return (lt_dims){4, {1, shape->groups, shape->length / shape->run, 1}};
}

static lt_status rows_gradients(const lt_rows_shape *shape, const lt_norm_grads *g,
                                lt_tensor **outs)
{
    if (!lt_norm_needs_formula(g)) return rows_backward(shape, g, outs);
    const lt_dims sizes = sizes_of_rows(shape), parameters = parameters_of_rows(shape);
    return lt_norm_formula(g, &sizes, &parameters, &(lt_dims){2, {2, 3}}, g->mean != NULL, outs);
}

static lt_status rows_tangent(const lt_rows_shape *shape, const lt_norm_tangents *t, bool centered,
                              lt_tensor **out)
{
    const lt_dims sizes = sizes_of_rows(shape), parameters = parameters_of_rows(shape);
    return lt_norm_tangent(t, &sizes, &parameters, &(lt_dims){2, {2, 3}}, centered, out);
}

/* ---- layer_norm, rms_norm -------------------------------------------------------------------- */

static lt_status check_normalized_shape(const lt_tensor *input, const lt_dims *shape,
                                        const lt_tensor *weight, const lt_tensor *bias)
{
    char a[256], b[256];
    if (shape->n < 1)
        return lt_error(LT_ERR_RUNTIME, "Expected normalized_shape to be at least 1-dimensional, "
                                        "i.e., containing at least one element, "
                                        "but got normalized_shape = []");
    const lt_tensor *both[] = {weight, bias};
    for (int i = 0; i < 2; i++) {
        bool same = both[i] == NULL || both[i]->ndim == shape->n;
        for (int d = 0; both[i] != NULL && same && d < shape->n; d++)
            same = both[i]->sizes[d] == shape->v[d];
        if (!same)
            return lt_error(
                LT_ERR_RUNTIME,
                "Expected %s to be of same shape as normalized_shape, but got %s of shape %s and "
                "normalized_shape = %s",
                i == 0 ? "weight" : "bias", i == 0 ? "weight" : "bias",
                lt_format_sizes(a, sizeof a, both[i]->ndim, both[i]->sizes),
                lt_format_sizes(b, sizeof b, shape->n, shape->v));
    }
    bool fits = input->ndim >= shape->n;
    for (int d = 0; fits && d < shape->n; d++)
        fits = input->sizes[input->ndim - shape->n + d] == shape->v[d];
    if (fits) return LT_OK;
    char expected[256] = "";
    for (int d = 0, at = 0; d < shape->n && at < (int)sizeof expected; d++)
        at +=
            snprintf(expected + at, sizeof expected - (size_t)at, ", %lld", (long long)shape->v[d]);
    return lt_error(
        LT_ERR_RUNTIME,
        "Given normalized_shape=%s, expected input with shape [*%s], but got input of size%s",
        lt_format_sizes(a, sizeof a, shape->n, shape->v), expected,
        lt_format_sizes(b, sizeof b, input->ndim, input->sizes));
}

/* Parameters of several dimensions, flattened. */
static lt_tensor *do_line(lt_scope *s, lt_tensor *parameter)
{
    if (parameter == NULL || parameter->ndim == 1) return parameter;
    return do_reshape(s, parameter, &(lt_dims){1, {parameter->numel}});
}

static int64_t length_of(const lt_dims *shape)
{
    int64_t length = 1;
    for (int d = 0; d < shape->n; d++) length *= shape->v[d];
    return length;
}

lt_status lt_layer_norm_impl(lt_tensor *input, const lt_dims *normalized_shape, lt_tensor *weight,
                             lt_tensor *bias, double eps, lt_tensor **out)
{
    lt_scope s;
    lt_tensor *result = *out, *mean = NULL, *rstd = NULL;
    LT_TRY(check_normalized_shape(input, normalized_shape, weight, bias));
    lt_scope_open(&s, LT_COMPOSITE(layer_norm));
    lt_tensor *w = do_line(&s, weight), *b = do_line(&s, bias);
    const int64_t length = length_of(normalized_shape);
    if (s.status == LT_OK)
        s.status = (result != NULL ? lt__layer_norm_impl : lt__layer_norm)(input, w, b, length, eps,
                                                                           &result, &mean, &rstd);
    if (mean != NULL) lt_tensor_release(mean);
    if (rstd != NULL) lt_tensor_release(rstd);
    if (*out != NULL) return lt_scope_close(&s);
    return lt_scope_return(&s, lt_scope_hold(&s, s.status, result), out);
}

static lt_rows_shape rows_shape_of(const lt_tensor *input, int64_t length)
{
    return (lt_rows_shape){length > 0 ? input->numel / length : 0, length, 1, 1};
}

lt_status lt__layer_norm_impl(lt_tensor *input, lt_tensor *weight, lt_tensor *bias, int64_t length,
                              double eps, lt_tensor **out_result, lt_tensor **out_mean,
                              lt_tensor **out_rstd)
{
    const lt_rows_shape shape = rows_shape_of(input, length);
    return normalize_rows(&shape, input, weight, bias, eps,
                          (normalized_rows){out_result, out_rstd, out_mean});
}

lt_status lt__layer_norm_backward_impl(lt_tensor *grad_output, lt_tensor *input, lt_tensor *weight,
                                       lt_tensor *mean, lt_tensor *rstd, int64_t length, double eps,
                                       bool needs_input, bool needs_weight, bool needs_bias,
                                       lt_tensor **out_grad_input, lt_tensor **out_grad_weight,
                                       lt_tensor **out_grad_bias)
{
    const lt_norm_grads g = {
        grad_output, input, weight, mean, rstd, eps, {needs_input, needs_weight, needs_bias},
        false};
    const lt_rows_shape shape = rows_shape_of(input, length);
    lt_tensor *outs[3] = {NULL, NULL, NULL};
    LT_TRY(rows_gradients(&shape, &g, outs));
    *out_grad_input = outs[0];
    *out_grad_weight = outs[1];
    *out_grad_bias = outs[2];
    return LT_OK;
}

lt_status lt__layer_norm_tangent_impl(lt_tensor *input, lt_tensor *weight, int64_t length,
                                      double eps, lt_tensor *input_t, lt_tensor *weight_t,
                                      lt_tensor *bias_t, lt_tensor **out)
{
    const lt_rows_shape shape = rows_shape_of(input, length);
    return rows_tangent(
        &shape, &(lt_norm_tangents){input, weight, NULL, NULL, input_t, weight_t, bias_t, eps},
        true, out);
}

/* As in PyTorch: the mean of the squares is complex, and so is its root. */
static lt_tensor *do_rms_norm_complex(lt_scope *s, lt_tensor *input, int ndim, lt_tensor *weight,
                                      double eps)
{
    lt_dims dims = {.n = ndim};
    lt_tensor *mean = NULL;
    for (int i = 0; i < ndim; i++) dims.v[i] = i - ndim;
    lt_tensor *square = do_mul(s, input, input);
    if (s->status != LT_OK) return NULL;
    const lt_status status = lt_mean_dim(square, &dims, true, LT_DTYPE_NONE, &mean);
    lt_tensor *result = do_mul(s, input, do_rsqrt(s, plus(s, lt_scope_hold(s, status, mean), eps)));
    return weight != NULL ? do_mul(s, result, weight) : result;
}

lt_status lt_rms_norm_impl(lt_tensor *input, const lt_dims *normalized_shape, lt_tensor *weight,
                           const double *eps, lt_tensor **out)
{
    lt_scope s;
    lt_tensor *result = *out, *rstd = NULL;
    /* PyTorch's default: the machine epsilon. */
    const double epsilon = eps != NULL                                        ? *eps
                           : lt_real_of((lt_dtype)input->dtype) == LT_FLOAT64 ? 0x1p-52
                                                                              : 0x1p-23;
    LT_TRY(check_normalized_shape(input, normalized_shape, weight, NULL));
    lt_scope_open(&s, LT_COMPOSITE(rms_norm));
    if (lt_dtype_is_complex((lt_dtype)input->dtype))
        return lt_scope_store(
            &s, do_rms_norm_complex(&s, input, normalized_shape->n, weight, epsilon), out);
    lt_tensor *w = do_line(&s, weight);
    if (s.status == LT_OK)
        s.status = (result != NULL ? lt__rms_norm_impl : lt__rms_norm)(
            input, w, length_of(normalized_shape), epsilon, &result, &rstd);
    if (rstd != NULL) lt_tensor_release(rstd);
    if (*out != NULL) return lt_scope_close(&s);
    return lt_scope_return(&s, lt_scope_hold(&s, s.status, result), out);
}

lt_status lt__rms_norm_impl(lt_tensor *input, lt_tensor *weight, int64_t length, double eps,
                            lt_tensor **out_result, lt_tensor **out_rstd)
{
    const lt_rows_shape shape = rows_shape_of(input, length);
    return normalize_rows(&shape, input, weight, NULL, eps,
                          (normalized_rows){out_result, out_rstd, NULL});
}

lt_status lt__rms_norm_backward_impl(lt_tensor *grad_output, lt_tensor *input, lt_tensor *weight,
                                     lt_tensor *rstd, int64_t length, double eps, bool needs_input,
                                     bool needs_weight, lt_tensor **out_grad_input,
                                     lt_tensor **out_grad_weight)
{
    const lt_norm_grads g = {
        grad_output, input, weight, NULL, rstd, eps, {needs_input, needs_weight, false}, false};
    const lt_rows_shape shape = rows_shape_of(input, length);
    lt_tensor *outs[3] = {NULL, NULL, NULL};
    LT_TRY(rows_gradients(&shape, &g, outs));
    *out_grad_input = outs[0];
    *out_grad_weight = outs[1];
    return LT_OK;
}

lt_status lt__rms_norm_tangent_impl(lt_tensor *input, lt_tensor *weight, int64_t length, double eps,
                                    lt_tensor *input_t, lt_tensor *weight_t, lt_tensor **out)
{
    const lt_rows_shape shape = rows_shape_of(input, length);
    return rows_tangent(
        &shape, &(lt_norm_tangents){input, weight, NULL, NULL, input_t, weight_t, NULL, eps}, false,
        out);
}

/* ---- group_norm ------------------------------------------------------------------------------ */

static lt_status check_channels(const lt_tensor *input, const char *what,
                                const lt_tensor *parameter, int64_t channels)
{
    char a[256];
    if (parameter == NULL || (parameter->ndim == 1 && parameter->numel == channels)) return LT_OK;
    return lt_error(LT_ERR_RUNTIME,
                    "Expected %s to be a vector of size equal to the number of channels in input, "
                    "but got %s of shape %s "
                    "and input of shape %s",
                    what, what, lt_format_sizes(a, 128, parameter->ndim, parameter->sizes),
                    lt_format_sizes(a + 128, 128, input->ndim, input->sizes));
}

lt_status lt_group_norm_impl(lt_tensor *input, int64_t num_groups, lt_tensor *weight,
                             lt_tensor *bias, double eps, lt_tensor **out)
{
    char a[256];
    if (input->ndim < 2)
        return lt_error(LT_ERR_RUNTIME,
                        "Expected at least 2 dimensions for input tensor but received %d",
                        input->ndim);
    if (num_groups <= 0)
        return lt_error(LT_ERR_RUNTIME, "Expected num groups to be greater than 0, got %lld",
                        (long long)num_groups);
    if (input->sizes[1] % num_groups != 0)
        return lt_error(LT_ERR_RUNTIME,
                        "Expected number of channels in input to be divisible by num_groups, but "
                        "got input of shape %s "
                        "and num_groups=%lld",
                        lt_format_sizes(a, sizeof a, input->ndim, input->sizes),
                        (long long)num_groups);
    LT_TRY(check_channels(input, "weight", weight, input->sizes[1]));
    LT_TRY(check_channels(input, "bias", bias, input->sizes[1]));
    if (input->numel == num_groups) /* each group is one value, and minus its mean it is 0 */
        return lt_error(LT_ERR_RUNTIME,
                        "Expected more than 1 value per channel when training, got input size %s",
                        lt_format_sizes(a, sizeof a, input->ndim, input->sizes));
    lt_tensor *result = *out, *mean = NULL, *rstd = NULL;
    LT_TRY((result != NULL ? lt__group_norm_impl : lt__group_norm)(input, weight, bias, num_groups,
                                                                   eps, &result, &mean, &rstd));
    lt_tensor_release(mean);
    lt_tensor_release(rstd);
    *out = result;
    return LT_OK;
}

static lt_rows_shape group_rows(const lt_tensor *input, int64_t groups)
{
    int64_t inner = 1;
    for (int d = 2; d < input->ndim; d++) inner *= input->sizes[d];
    return (lt_rows_shape){input->sizes[0] * groups, input->sizes[1] / groups * inner, groups,
                           inner > 0 ? inner : 1};
}

lt_status lt__group_norm_impl(lt_tensor *input, lt_tensor *weight, lt_tensor *bias, int64_t groups,
                              double eps, lt_tensor **out_result, lt_tensor **out_mean,
                              lt_tensor **out_rstd)
{
    const lt_rows_shape shape = group_rows(input, groups);
    return normalize_rows(&shape, input, weight, bias, eps,
                          (normalized_rows){out_result, out_rstd, out_mean});
}

lt_status lt__group_norm_backward_impl(lt_tensor *grad_output, lt_tensor *input, lt_tensor *weight,
                                       lt_tensor *mean, lt_tensor *rstd, int64_t groups, double eps,
                                       bool needs_input, bool needs_weight, bool needs_bias,
                                       lt_tensor **out_grad_input, lt_tensor **out_grad_weight,
                                       lt_tensor **out_grad_bias)
{
    const lt_norm_grads g = {
        grad_output, input, weight, mean, rstd, eps, {needs_input, needs_weight, needs_bias},
        false};
    const lt_rows_shape shape = group_rows(input, groups);
    lt_tensor *outs[3] = {NULL, NULL, NULL};
    LT_TRY(rows_gradients(&shape, &g, outs));
    *out_grad_input = outs[0];
    *out_grad_weight = outs[1];
    *out_grad_bias = outs[2];
    return LT_OK;
}

lt_status lt__group_norm_tangent_impl(lt_tensor *input, lt_tensor *weight, int64_t groups,
                                      double eps, lt_tensor *input_t, lt_tensor *weight_t,
                                      lt_tensor *bias_t, lt_tensor **out)
{
    const lt_rows_shape shape = group_rows(input, groups);
    return rows_tangent(
        &shape, &(lt_norm_tangents){input, weight, NULL, NULL, input_t, weight_t, bias_t, eps},
        true, out);
}
