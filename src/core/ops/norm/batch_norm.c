/* batch_norm.c - normalization of channels: batch_norm, and instance_norm, which is batch_norm with
 * the entries of the batch as further channels. */
#include "norm.h"

#include "ops/steps.h"
#include "overlap.h"
#include "op/clone.h"
#include "op/div.h"
#include "op/_batch_norm.h"
#include "op/_batch_norm_backward.h"
#include "op/_batch_norm_tangent.h"
#include "op/batch_norm.h"
#include "op/clone.h"
#include "op/constant_pad_nd.h"
#include "op/div.h"
#include "op/instance_norm.h"
#include "op/local_response_norm.h"
#include "op/mean.h"
#include "op/rsqrt.h"

/* ---- the kernels' calls ---------------------------------------------------------------------- */

static lt_batch_norm_args batch_of(const lt_tensor *input, bool training)
{
    lt_batch_norm_args n = {
        .outer = input->sizes[0], .channels = input->sizes[1], .inner = 1, .training = training};
    for (int d = 2; d < input->ndim; d++) n.inner *= input->sizes[d];
    return n;
}

/* The same as the kernels need it: channels-last, all other dimensions are outer ones. */
static lt_batch_norm_args arrays_of(const lt_tensor *input, bool training, bool channels_last)
{
    lt_batch_norm_args n = batch_of(input, training);
    if (channels_last) n.outer *= n.inner, n.inner = 1;
    return n;
}

/* Copies running statistics back if the kernel wrote to a copy, of another dtype or contiguous. */
static lt_status store_back(lt_scope *s, lt_tensor *running, lt_tensor *used)
{
    if (s->status == LT_OK && running != NULL && used != running)
        s->status = lt_copy_elements(running, used);
    if (s->status == LT_OK && running != NULL) lt_bump_version(running);
    return s->status;
}

/* Rejects running statistics that training may not modify. */
static lt_status refuse_running(lt_tensor *mean, lt_tensor *var)
{
    if (mean != NULL) LT_TRY(lt_prepare_write(mean));
    return var != NULL ? lt_prepare_write(var) : LT_OK;
}

static lt_tensor *do_typed(lt_scope *s, lt_tensor *t, lt_dtype type)
{
    return t != NULL ? do_contiguous(s, do_cast(s, t, type)) : NULL;
}

lt_status lt__batch_norm_impl(lt_tensor *input, lt_tensor *weight, lt_tensor *bias,
                              lt_tensor *running_mean, lt_tensor *running_var, bool training,
                              double momentum, double eps, lt_tensor **out_result,
                              lt_tensor **out_mean, lt_tensor **out_rstd)
{
    lt_scope s;
    lt_device device;
    const lt_dtype type = lt_norm_type(input);
    lt_tensor *all[] = {input, weight, bias, running_mean, running_var};
    LT_TRY(lt_check_same_device("batch_norm", all, 5, false, &device));
    if (training) LT_TRY(refuse_running(running_mean, running_var));
    LT_TRY(lt_norm_check_parameters(input, weight, bias));
    lt_scope_open(&s, LT_COMPOSITE(_batch_norm));
    const bool last = lt_keeps_channels_last(input);
    lt_batch_norm_args n = arrays_of(input, training, last);
    const lt_dims line = {1, {n.channels}};
    lt_tensor *x = lt_norm_dense(&s, input, type, last), *w = do_typed(&s, weight, type),
              *b = do_typed(&s, bias, type);
    lt_tensor *running[2] = {do_typed(&s, running_mean, type), do_typed(&s, running_var, type)};
    lt_tensor *result = s.status == LT_OK
                            ? lt_norm_output(&s, out_result, input, (lt_dtype)x->dtype, last)
                            : NULL,
              *mean, *rstd;
    if (training) {
        mean = lt_norm_new(&s, type, device, &line, false);
        rstd = lt_norm_new(&s, type, device, &line, false);
    } else {
        mean = do_clone(&s, running[0]);
        rstd = plus(&s, running[1], eps);
        if (s.status == LT_OK) s.status = lt_rsqrt_(rstd);
    }
    if (s.status == LT_OK && input->numel > 0) {
        n.momentum = momentum;
        n.running_mean = training ? lt_norm_data(running[0]) : NULL;
        n.running_var = training ? lt_norm_data(running[1]) : NULL;
        n.norm = (lt_norm_args){.dtype = (lt_dtype)x->dtype,
                                .parameter_dtype = type,
                                .device = device,
                                .eps = eps,
                                .in = lt_norm_data(x),
                                .weight = lt_norm_data(w),
                                .bias = lt_norm_data(b),
                                .out = lt_norm_data(result),
                                .mean = lt_norm_data(mean),
                                .rstd = lt_norm_data(rstd)};
        s.status = lt_backend_of(input)->batch_norm(&n);
    }
    if (training) {
        store_back(&s, running_mean, running[0]);
        store_back(&s, running_var, running[1]);
    }
    lt_tensor *results[] = {do_narrow_to(&s, result, input), mean, rstd};
    return lt_norm_return(&s, 3, results, (lt_tensor * *const[]){out_result, out_mean, out_rstd});
}

static lt_status channels_backward(const lt_norm_grads *g, bool training, lt_tensor **outs)
{
    lt_scope s;
    lt_device device;
    lt_tensor *input = g->input;
    LT_TRY(lt_check_same_device("batch_norm_backward", (lt_tensor *[]){input, g->grad, g->weight},
                                3, false, &device));
    lt_scope_open(&s, false);
    lt_batch_norm_args n = arrays_of(input, training, g->channels_last);
    const lt_dims line = {1, {n.channels}};
    lt_tensor *results[3] = {NULL, NULL, NULL};
    n.norm =
        lt_norm_backward_args(&s, g, do_typed(&s, g->weight, lt_norm_type(input)), &line, results);
    if (s.status == LT_OK && input->numel > 0)
        s.status = lt_backend_of(input)->batch_norm_backward(&n);
    return lt_norm_return(&s, 3, results, (lt_tensor * *const[]){&outs[0], &outs[1], &outs[2]});
}

lt_status lt__batch_norm_backward_impl(lt_tensor *grad_output, lt_tensor *input, lt_tensor *weight,
                                       lt_tensor *mean, lt_tensor *rstd, bool training, double eps,
                                       bool needs_input, bool needs_weight, bool needs_bias,
                                       lt_tensor **out_grad_input, lt_tensor **out_grad_weight,
                                       lt_tensor **out_grad_bias)
{
    const lt_norm_grads g = {grad_output,
                             input,
                             weight,
                             mean,
                             rstd,
                             eps,
                             {needs_input, needs_weight, needs_bias},
                             lt_keeps_channels_last(input)};
    lt_tensor *outs[3] = {NULL, NULL, NULL};
    if (lt_norm_needs_formula(&g)) {
        const lt_batch_norm_args n = batch_of(input, training);
        const lt_dims over = {training ? 2 : 0, {0, 2}};
        LT_TRY(lt_norm_formula(&g, &(lt_dims){3, {n.outer, n.channels, n.inner}},
                               &(lt_dims){3, {1, n.channels, 1}}, &over, true, outs));
    } else {
        LT_TRY(channels_backward(&g, training, outs));
    }
    *out_grad_input = outs[0];
    *out_grad_weight = outs[1];
    *out_grad_bias = outs[2];
    return LT_OK;
}

lt_status lt__batch_norm_tangent_impl(lt_tensor *input, lt_tensor *weight, lt_tensor *mean,
                                      lt_tensor *rstd, bool training, double eps,
                                      lt_tensor *input_t, lt_tensor *weight_t, lt_tensor *bias_t,
                                      lt_tensor **out)
{
    const lt_batch_norm_args n = batch_of(input, training);
    return lt_norm_tangent(
        &(lt_norm_tangents){input, weight, mean, rstd, input_t, weight_t, bias_t, eps},
        &(lt_dims){3, {n.outer, n.channels, n.inner}}, &(lt_dims){3, {1, n.channels, 1}},
        &(lt_dims){training ? 2 : 0, {0, 2}}, true, out);
}

/* ---- batch_norm ------------------------------------------------------------------------------ */

static lt_status check_vector(const char *name, const lt_tensor *t, int64_t channels)
{
    if (t == NULL || t->numel == channels) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "%s should contain %lld elements not %lld", name,
                    (long long)channels, (long long)t->numel);
}

/* An empty input has no statistics; the results depend on the first elements of the parameters, so
 * that they have gradients. */
static lt_status empty_batch_norm(lt_tensor *input, lt_tensor *weight, lt_tensor *bias,
                                  lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *result = NULL;
    lt_status status = lt_clone(input, &result);
    result = lt_scope_hold(&s, status, result);
    if (weight != NULL) result = do_mul(&s, result, do_select(&s, weight, 0, 0));
    if (bias != NULL) result = do_add(&s, result, do_select(&s, bias, 0, 0));
    return lt_scope_return(&s, result, out);
}

lt_status lt_batch_norm_impl(lt_tensor *input, lt_tensor *running_mean, lt_tensor *running_var,
                             lt_tensor *weight, lt_tensor *bias, bool training, double momentum,
                             double eps, lt_tensor **out)
{
    char a[256];
    if (input->numel == 0) return empty_batch_norm(input, weight, bias, out);
    if (input->ndim < 2)
        return lt_error(LT_ERR_RUNTIME,
                        "batch_norm: expected an input of at least 2 dimensions, got %d",
                        input->ndim);
    if (!training && (running_mean == NULL || running_var == NULL))
        return lt_error(LT_ERR_RUNTIME, "%s must be defined in evaluation mode",
                        running_mean == NULL ? "running_mean" : "running_var");
    const int64_t channels = input->sizes[1];
    LT_TRY(check_vector("running_mean", running_mean, channels));
    LT_TRY(check_vector("running_var", running_var, channels));
    LT_TRY(check_vector("weight", weight, channels));
    LT_TRY(check_vector("bias", bias, channels));
    if (training && !(eps > 0))
        return lt_error(LT_ERR_RUNTIME,
                        "batch_norm eps must be positive during training, but got %g", eps);
    if (training && channels > 0 && input->numel / channels == 1)
        return lt_error(
            LT_ERR_RUNTIME,
            "Expected more than 1 value per channel when training, got input size torch.Size(%s)",
            lt_format_sizes(a, sizeof a, input->ndim, input->sizes));
    lt_tensor *result = *out, *mean = NULL, *rstd = NULL;
    LT_TRY((result != NULL ? lt__batch_norm_impl
                           : lt__batch_norm)(input, weight, bias, running_mean, running_var,
                                             training, momentum, eps, &result, &mean, &rstd));
    lt_tensor_release(mean);
    lt_tensor_release(rstd);
    *out = result;
    return LT_OK;
}

/* ---- instance_norm --------------------------------------------------------------------------- */

/* A parameter repeated for each entry of the batch. */
static lt_tensor *do_per_entry(lt_scope *s, lt_tensor *parameter, int64_t entries)
{
    if (parameter == NULL || s->status != LT_OK) return NULL;
    lt_tensor *wide = do_expand(s, parameter, &(lt_dims){2, {entries, parameter->numel}});
    return do_reshape(s, wide, &(lt_dims){1, {entries * parameter->numel}});
}

/* Stores the mean over entries in the running statistics. */
static void store_mean(lt_scope *s, lt_tensor *running, lt_tensor *each, int64_t entries)
{
    lt_tensor *mean = NULL;
    if (running == NULL || s->status != LT_OK) return;
    lt_tensor *table = do_reshape(s, each, &(lt_dims){2, {entries, running->numel}});
    if (table == NULL) return;
    lt_status status = lt_mean_dim(table, &(lt_dims){1, {0}}, false, LT_DTYPE_NONE, &mean);
    mean = lt_scope_hold(s, status, mean);
    if (mean != NULL) s->status = lt_copy_elements(running, mean);
    if (mean != NULL) lt_bump_version(running);
}

lt_status lt_instance_norm_impl(lt_tensor *input, lt_tensor *running_mean, lt_tensor *running_var,
                                lt_tensor *weight, lt_tensor *bias, bool use_input_stats,
                                double momentum, double eps, lt_tensor **out)
{
    char a[256];
    if (input->ndim < 3)
        return lt_error(
            LT_ERR_RUNTIME,
            "Expected more than 1 spatial element when training, got input size torch.Size(%s)",
            lt_format_sizes(a, sizeof a, input->ndim, input->sizes));
    if (!use_input_stats && (running_mean == NULL || running_var == NULL))
        return lt_error(
            LT_ERR_RUNTIME,
            "Expected running_mean and running_var to be defined when use_input_stats is false");
    const int64_t entries = input->sizes[0], channels = input->sizes[1];
    LT_TRY(check_vector("running_mean", running_mean, channels));
    LT_TRY(check_vector("running_var", running_var, channels));
    LT_TRY(check_vector("weight", weight, channels));
    LT_TRY(check_vector("bias", bias, channels));
    if (use_input_stats && input->numel > 0 && input->numel / (entries * channels) == 1)
        return lt_error(
            LT_ERR_RUNTIME,
            "Expected more than 1 spatial element when training, got input size torch.Size(%s)",
            lt_format_sizes(a, sizeof a, input->ndim, input->sizes));
    if (use_input_stats) LT_TRY(refuse_running(running_mean, running_var));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(instance_norm));
    const lt_dims sizes = lt_dims_of(input);
    lt_dims joined = sizes;
    joined.v[0] = 1;
    joined.v[1] = entries * channels;
    lt_tensor *x = do_reshape(&s, input, &joined), *result = NULL;
    lt_tensor *w = do_per_entry(&s, weight, entries), *b = do_per_entry(&s, bias, entries);
    lt_tensor *mean = do_per_entry(&s, running_mean, entries),
              *var = do_per_entry(&s, running_var, entries);
    if (mean != NULL && entries == 1) mean = do_clone(&s, mean);
    if (var != NULL && entries == 1) var = do_clone(&s, var);
    if (s.status == LT_OK) {
        lt_status status =
            lt_batch_norm(x, mean, var, w, b, use_input_stats, momentum, eps, &result);
        result = lt_scope_hold(&s, status, result);
    }
    if (use_input_stats && entries > 0) {
        store_mean(&s, running_mean, mean, entries);
        store_mean(&s, running_var, var, entries);
    }
    return lt_scope_return(&s, do_reshape(&s, result, &sizes), out);
}

/* ---- local_response_norm --------------------------------------------------------------------- */

lt_status lt_local_response_norm_impl(lt_tensor *input, int64_t size, double alpha, double beta,
                                      double k, lt_tensor **out)
{
    if (input->ndim < 3)
        return lt_error(LT_ERR_RUNTIME,
                        "Expected 3D or higher dimensionality                          input (got "
                        "%d dimensions)",
                        input->ndim);
    if (size < 1)
        return lt_error(LT_ERR_RUNTIME, "local_response_norm: size must be positive, got %lld",
                        (long long)size);
    if (input->numel == 0) {
        *out = lt_tensor_retain(input);
        return LT_OK;
    }
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(local_response_norm));
    /* The sum over a window of channels is a difference of prefix sums; windows are clipped at the
     * ends. */
    const int64_t channels = input->sizes[1], before = size / 2, after = size - before - 1;
    const lt_dims sizes = lt_dims_of(input),
                  flat = {.n = 3,
                          .v = {sizes.v[0], channels, input->numel / (sizes.v[0] * channels)}};
    lt_tensor *square = do_reshape(&s, do_square(&s, input), &flat), *total = NULL;
    const int64_t first = before < channels ? -before : 1 - channels,
                  last = after < channels ? after : channels - 1;
    for (int64_t shift = first; shift <= last && s.status == LT_OK; shift++) {
        lt_scope step; /* one temporary per window, not one per channel in it */
        lt_scope_open(&step, LT_COMPOSITE(local_response_norm));
        lt_dims pad = {.n = 4, .v = {0, 0, shift < 0 ? -shift : 0, shift > 0 ? shift : 0}};
        lt_tensor *part = do_part(&step, square, 1, shift > 0 ? shift : 0,
                                  shift < 0 ? channels + shift : channels),
                  *moved = NULL;
        if (part != NULL) {
            lt_status status = lt_constant_pad_nd(part, &pad, lt_scalar_from_int(0), &moved);
            moved = lt_scope_hold(&step, status, moved);
        }
        lt_tensor *sum = total != NULL ? do_add(&step, total, moved) : moved, *kept = NULL;
        s.status = lt_scope_return(&step, sum, &kept);
        if (total != NULL) lt_tensor_release(total);
        total = kept;
    }
    if (total != NULL) total = lt_scope_hold(&s, LT_OK, total);
    total = do_reshape(&s, total, &sizes);
    if (!lt_dtype_is_float((lt_dtype)input->dtype)) { /* for integers the mean is an integer, too */
        lt_tensor *count = do_number(&s, (double)size), *mean = NULL;
        lt_status status =
            s.status == LT_OK ? lt_div_rounding(total, count, "trunc", &mean) : s.status;
        total = lt_scope_hold(&s, status, mean);
    } else {
        alpha /= (double)size;
    }
    lt_tensor *base = plus(&s, times(&s, total, alpha), k);
    return lt_scope_return(&s, do_div(&s, input, do_pow(&s, base, do_number(&s, beta))), out);
}
