/* composed.c - activations composed of other ops: gated ones (glu), learned slopes (prelu), random
 * ones (rrelu, gumbel_softmax). */
#include "ops/compose.h"
#include "user_index.h"
#include "devices/transfer.h"
#include "ops/pointwise.h"
#include "ops/steps.h"
#include "op/_glu_backward.h"
#include "op/_halves_sum.h"
#include "op/_prelu_kernel.h"
#include "op/exponential_.h"
#include "op/glu.h"
#include "op/gumbel_softmax.h"
#include "op/leaky_relu.h"
#include "op/masked_scatter.h"
#include "op/max.h"
#include "op/mul.h"
#include "op/prelu.h"
#include "op/rrelu.h"
#include "op/scatter.h"
#include "op/softmax.h"
#include "op/softsign.h"
#include "op/tanhshrink.h"
#include "op/uniform_.h"

static lt_status check_float(const char *kernel, const lt_tensor *t)
{
    if (lt_dtype_is_float((lt_dtype)t->dtype)) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "\"%s\" not implemented for '%s'", kernel,
                    lt_dtype_scalar_name((lt_dtype)t->dtype));
}

/* ---- curves ---------------------------------------------------------------------------------- */

lt_status lt_softsign_impl(lt_tensor *input, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(softsign));
    return lt_scope_return(&s, do_div(&s, input, plus(&s, do_abs(&s, input), 1)), out);
}

lt_status lt_tanhshrink_impl(lt_tensor *input, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(tanhshrink));
    return lt_scope_return(&s, do_sub(&s, input, do_tanh(&s, input)), out);
}

/* ---- slopes ---------------------------------------------------------------------------------- */

lt_status lt_prelu_impl(lt_tensor *self, lt_tensor *weight, lt_tensor **out)
{
    lt_scope s;
    lt_tensor *result = NULL;
    const int64_t channels = self->ndim >= 2 ? self->sizes[1] : 1;
    LT_TRY(check_float("prelu_cpu", self));
    if (weight->dtype != self->dtype)
        return lt_error(LT_ERR_RUNTIME, "prelu: Type promoting not supported. Got %s and %s",
                        lt_dtype_scalar_name((lt_dtype)self->dtype),
                        lt_dtype_scalar_name((lt_dtype)weight->dtype));
    if (weight->ndim > 1)
        return lt_error(LT_ERR_RUNTIME,
                        "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = %d",
                        weight->ndim);
    if (weight->numel != 1 && self->ndim == 0)
        return lt_error(LT_ERR_RUNTIME, "Not allow zero-dim input tensor.");
    if (weight->numel != 1 && weight->numel != channels)
        return lt_error(LT_ERR_RUNTIME,
                        "Mismatch of parameter numbers and input channel size. Found parameter "
                        "numbers = %lld and channel size = %lld.",
                        (long long)weight->numel, (long long)channels);
    lt_scope_open(&s, LT_COMPOSITE(prelu));
    lt_dims shape = {.n = self->ndim};
    for (int d = 0; d < self->ndim; d++) shape.v[d] = d == 1 && weight->numel != 1 ? channels : 1;
    if (self->ndim == 1 && weight->numel != 1) shape.v[0] = weight->numel;
    lt_tensor *slope = do_reshape(&s, weight, &shape);
    if (slope == NULL) return lt_scope_close(&s);
    lt_status status = lt__prelu_kernel(self, slope, &result);
    return lt_scope_return(&s, lt_scope_hold(&s, status, result), out);
}

/* Slopes where x is not positive, ones elsewhere. On the CPU random numbers are drawn only for the
 * slopes. */
static lt_tensor *do_slopes(lt_scope *s, lt_tensor *input, double lower, double upper)
{
    lt_scope plain;
    lt_tensor *result = NULL, *drawn = NULL, *mixed = NULL;
    lt_scalar count = lt_scalar_from_int(input->numel);
    const bool host = input->device.type == LT_CPU;
    if (s->status != LT_OK) return NULL;
    lt_scope_open(&plain, false);
    lt_tensor *low = do_le(&plain, input, do_scalar(&plain, lt_scalar_from_int(0)));
    lt_tensor *number = host ? do_sum(&plain, low) : NULL;
    if (host && plain.status == LT_OK) plain.status = lt_tensor_item(number, &count);
    if (plain.status == LT_OK) {
        const lt_dims sizes = host ? (lt_dims){1, {count.v.i}} : lt_dims_of(input);
        lt_status status =
            lt_tensor_new(host || input->dtype == LT_FLOAT64 ? LT_FLOAT64 : LT_FLOAT32,
                          input->device, sizes.n, sizes.v, &drawn);
        drawn = lt_scope_hold(&plain, status, drawn);
    }
    if (plain.status == LT_OK) plain.status = lt_uniform_(drawn, lower, upper, NULL);
    lt_tensor *slopes =
        plain.status == LT_OK ? do_cast(&plain, drawn, (lt_dtype)input->dtype) : NULL;
    lt_tensor *ones = do_scalar(&plain, lt_scalar_from_int(1));
    if (!host) {
        mixed = do_where(&plain, low, slopes, ones);
    } else if (plain.status == LT_OK) {
        const lt_dims sizes = lt_dims_of(input);
        lt_tensor *base = plus(&plain, do_zeros(&plain, input, &sizes), 1);
        if (base != NULL) {
            lt_status status = lt_masked_scatter(base, low, slopes, &mixed);
            mixed = lt_scope_hold(&plain, status, mixed);
        }
    }
    lt_status status = lt_scope_return(&plain, mixed, &result);
    return lt_scope_hold(s, status, result);
}

lt_status lt_rrelu_impl(lt_tensor *input, double lower, double upper, bool training, bool inplace,
                        lt_tensor **out)
{
    lt_scope s;
    const lt_scalar mean = lt_scalar_from_float((lower + upper) / 2);
    LT_TRY(check_float("rrelu_with_noise_out_cpu", input));
    if (!(lower <= upper))
        return lt_error(LT_ERR_RUNTIME,
                        "Lower bound should be less than or equal to the upper bound");
    if (!training && !inplace) return lt_leaky_relu(input, mean, out);
    lt_scope_open(&s, LT_COMPOSITE(rrelu));
    lt_tensor *result = input;
    if (!training)
        s.status = lt_leaky_relu_(input, mean);
    else if (!inplace)
        result = do_mul(&s, input, do_slopes(&s, input, lower, upper));
    else if (do_slopes(&s, input, lower, upper) != NULL)
        s.status = lt_mul_(input, s.held[s.n - 1]);
    return lt_scope_return(&s, result, out);
}

/* ---- gates ----------------------------------------------------------------------------------- */

static lt_status glu_half(const lt_tensor *self, int64_t dim, int *d, int64_t *half)
{
    if (self->ndim == 0)
        return lt_error(LT_ERR_RUNTIME, "glu does not support 0-dimensional tensors");
    LT_TRY(lt_wrap_dim(dim, self->ndim, d));
    *half = self->sizes[*d] / 2;
    if (self->sizes[*d] % 2 == 0) return LT_OK;
    return lt_error(LT_ERR_RUNTIME,
                    "Halving dimension must be even, but dimension %lld is size %lld",
                    lt_user_index(*d), (long long)self->sizes[*d]);
}

lt_status lt_glu_impl(lt_tensor *self, int64_t dim, lt_tensor **out)
{
    lt_scope s;
    int d;
    int64_t half;
    LT_TRY(glu_half(self, dim, &d, &half));
    lt_scope_open(&s, LT_COMPOSITE(glu));
    lt_tensor *value = do_part(&s, self, d, 0, half),
              *gate = do_sigmoid(&s, do_part(&s, self, d, half, 2 * half));
    return lt_scope_return(&s, do_mul(&s, value, gate), out);
}

lt_status lt__glu_backward_impl(lt_tensor *grad_output, lt_tensor *self, int64_t dim,
                                lt_tensor **out)
{
    lt_scope s;
    int d;
    int64_t half;
    LT_TRY(glu_half(self, dim, &d, &half));
    lt_scope_open(&s, LT_COMPOSITE(_glu_backward));
    lt_tensor *value = do_part(&s, self, d, 0, half),
              *gate = do_sigmoid(&s, do_part(&s, self, d, half, 2 * half));
    lt_tensor *first = do_mul(&s, grad_output, gate);
    lt_tensor *rest = do_sub(&s, do_number(&s, 1), gate);
    lt_tensor *second = do_mul(&s, do_mul(&s, first, value), rest);
    return lt_scope_return(&s, do_cat(&s, (lt_tensor *[]){first, second}, 2, d), out);
}

lt_status lt__halves_sum_impl(lt_tensor *self, int64_t dim, lt_tensor **out)
{
    lt_scope s;
    int d;
    int64_t half;
    LT_TRY(glu_half(self, dim, &d, &half));
    lt_scope_open(&s, LT_COMPOSITE(_halves_sum));
    return lt_scope_return(
        &s, do_add(&s, do_part(&s, self, d, 0, half), do_part(&s, self, d, half, 2 * half)), out);
}

/* ---- samples --------------------------------------------------------------------------------- */

/* Straight-through estimator: the one-hot of the maximum minus the soft sample, as a constant. */
static lt_tensor *do_hardening(lt_scope *s, lt_tensor *soft, int64_t dim)
{
    lt_scope plain;
    lt_tensor *result = NULL, *values = NULL, *index = NULL, *hot = NULL;
    if (s->status != LT_OK) return NULL;
    lt_scope_open(&plain, false);
    const lt_dims sizes = lt_dims_of(soft);
    plain.status = lt_max_dim(soft, dim, true, &values, &index);
    lt_scope_hold(&plain, LT_OK, values);
    index = lt_scope_hold(&plain, LT_OK, index);
    lt_tensor *zeros = do_zeros(&plain, soft, &sizes);
    if (zeros != NULL) {
        lt_status status = lt_scatter_value(zeros, dim, index, lt_scalar_from_int(1), &hot);
        hot = lt_scope_hold(&plain, status, hot);
    }
    lt_status status = lt_scope_return(&plain, do_sub(&plain, hot, soft), &result);
    return lt_scope_hold(s, status, result);
}

lt_status lt_gumbel_softmax_impl(lt_tensor *logits, double tau, bool hard, double eps, int64_t dim,
                                 lt_tensor **out)
{
    lt_scope s;
    int d;
    lt_tensor *noise = NULL, *soft = NULL;
    (void)eps; /* PyTorch also accepts it without using it */
    LT_TRY(lt_wrap_dim(dim, logits->ndim, &d));
    LT_TRY(check_float("gumbel_softmax", logits));
    lt_scope_open(&s, LT_COMPOSITE(gumbel_softmax));
    lt_status status = lt_tensor_shaped(logits, (lt_dtype)logits->dtype, &noise);
    noise = lt_scope_hold(&s, status, noise);
    if (s.status == LT_OK) s.status = lt_exponential_(noise, 1, NULL);
    lt_tensor *scores = times(&s, do_sub(&s, logits, do_log(&s, noise)), 1 / tau);
    if (scores == NULL) return lt_scope_close(&s);
    status = lt_softmax(scores, d, LT_DTYPE_NONE, &soft);
    soft = lt_scope_hold(&s, status, soft);
    return lt_scope_return(&s, hard ? do_add(&s, soft, do_hardening(&s, soft, d)) : soft, out);
}
