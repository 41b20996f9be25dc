/* loss.c - losses of classes and other common ones, with their derivatives, as formulas. The
 * targets of nll_loss are classes from 0 here; messages count them from 1. */
#include <string.h>

#include "loss.h"
#include "user_index.h"
#include "ops/pointwise.h"
#include "op/_bce_with_logits_backward.h"
#include "op/_bce_with_logits_backward_target.h"
#include "op/_nll_loss_backward.h"
#include "op/binary_cross_entropy_with_logits.h"
#include "op/bitwise_and.h"
#include "op/cross_entropy.h"
#include "op/gather.h"
#include "op/index_select.h"
#include "op/nll_loss.h"
#include "op/scatter.h"
#include "step/log_softmax.h"

lt_status lt_loss_parse(const char *text, lt_over *out)
{
    if (strcmp(text, "none") == 0)
        *out = LT_OVER_NONE;
    else if (strcmp(text, "mean") == 0)
        *out = LT_OVER_MEAN;
    else if (strcmp(text, "sum") == 0)
        *out = LT_OVER_SUM;
    else
        return lt_error(LT_ERR_RUNTIME, "%s is not a valid value for reduction", text);
    return LT_OK;
}

lt_status lt_loss_check_float(const char *kernel, const lt_tensor *t)
{
    if (lt_dtype_is_float((lt_dtype)t->dtype)) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "\"%s\" not implemented for '%s'", kernel,
                    lt_dtype_scalar_name((lt_dtype)t->dtype));
}

lt_tensor *do_reduce(lt_scope *s, lt_tensor *a, lt_over how)
{
    return how == LT_OVER_NONE ? a : how == LT_OVER_SUM ? do_sum(s, a) : do_mean(s, a);
}

lt_tensor *do_share(lt_scope *s, lt_tensor *grad, lt_over how, int64_t numel)
{
    return how == LT_OVER_MEAN ? do_div(s, grad, do_number(s, (double)numel)) : grad;
}

/* ---- negative log likelihood ----------------------------------------------------------------- */

/* Values that forward and backward derive from the targets. */
typedef struct picks {
    int dim;            /* of the classes */
    lt_tensor *safe;    /* targets, ignored ones replaced by 0 */
    lt_tensor *ignored; /* bool; NULL: none is */
    lt_tensor *weight;  /* of each target; NULL: 1 */
    lt_tensor *total;   /* for reduction 'mean': the weights' sum; NULL: numel */
} picks;

static lt_status check_nll(const lt_dims *sizes, const lt_tensor *target, const lt_tensor *weight)
{
    char a[256], b[256];
    int dim = sizes->n > 1 ? 1 : 0;
    if (sizes->n == 0) return lt_error(LT_ERR_RUNTIME, "Expected 1 or more dimensions (got 0)");
    if (!lt_dtype_is_int((lt_dtype)target->dtype))
        return lt_error(LT_ERR_RUNTIME, "expected target dtype to be Long or Byte, but got %s",
                        lt_dtype_scalar_name((lt_dtype)target->dtype));
    if (sizes->n == 1 && target->numel != 1)
        return lt_error(LT_ERR_RUNTIME,
                        "For 1D input, 1D target must have size 1, but got target size: %lld",
                        (long long)target->numel);
    if (sizes->n > 1 && (target->ndim == 0 || target->sizes[0] != sizes->v[0]))
        return lt_error(
            LT_ERR_RUNTIME, "Expected input batch_size (%lld) to match target batch_size (%lld).",
            (long long)sizes->v[0], (long long)(target->ndim > 0 ? target->sizes[0] : 1));
    bool fits = sizes->n == 1 ? target->ndim <= 1 : target->ndim == sizes->n - 1;
    for (int d = 1; d < target->ndim && fits; d++) fits = target->sizes[d] == sizes->v[d + 1];
    if (!fits) {
        lt_dims want = {.n = sizes->n - 1};
        for (int d = 0; d < want.n; d++) want.v[d] = sizes->v[d == 0 ? 0 : d + 1];
        return lt_error(LT_ERR_RUNTIME, "Expected target size %s, got %s",
                        lt_format_sizes(a, sizeof a, want.n, want.v),
                        lt_format_sizes(b, sizeof b, target->ndim, target->sizes));
    }
    if (weight != NULL && (weight->ndim != 1 || weight->sizes[0] != sizes->v[dim]))
        return lt_error(LT_ERR_RUNTIME,
                        "weight tensor should be defined either for all %lld classes or no classes "
                        "but got weight tensor of shape: %s",
                        (long long)sizes->v[dim],
                        lt_format_sizes(a, sizeof a, weight->ndim, weight->sizes));
    return LT_OK;
}

/* Host targets, contiguous: reports an invalid class, and whether any is ignored. */
static lt_status scan_targets(const lt_tensor *target, int64_t classes, int64_t ignore_index,
                              bool *ignores)
{
    const int64_t *v = (const int64_t *)lt_data(target);
    *ignores = false;
    for (int64_t i = 0; i < target->numel; i++) {
        if (v[i] == ignore_index) {
            *ignores = true;
        } else if (v[i] < 0 || v[i] >= classes) {
            const char *reason = lt_user_index_reason(v[i]);
            return lt_error(LT_ERR_INDEX, "Target %lld is out of bounds%s", lt_user_index(v[i]),
                            reason[0] != '\0' ? reason : ".");
        }
    }
    return LT_OK;
}

static lt_tensor *do_index_select(lt_scope *s, lt_tensor *a, lt_tensor *index)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_index_select(a, 0, index, &out);
    return lt_scope_hold(s, status, out);
}

lt_tensor *do_no_negative(lt_scope *s, lt_tensor *target)
{
    lt_tensor *mask = do_scalar(s, lt_scalar_from_int(~LT_INDEX_FROM_END)), *out = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_bitwise_and_impl(target, mask, &out);
    return lt_scope_hold(s, status, out);
}

static void do_picks(lt_scope *s, const lt_dims *sizes, lt_tensor *target, lt_tensor *weight,
                     int64_t ignore_index, bool wants_total, picks *p)
{
    bool ignores = true;
    *p = (picks){.dim = sizes->n > 1 ? 1 : 0};
    s->status = check_nll(sizes, target, weight);
    lt_tensor *classes = do_contiguous(s, do_cast(s, target, LT_INT64));
    p->safe = sizes->n == 1 ? do_reshape(s, classes, &(lt_dims){.n = 0}) : classes;
    if (p->safe != NULL && p->safe->device.type == LT_CPU)
        s->status = scan_targets(p->safe, sizes->v[p->dim], ignore_index, &ignores);
    if (ignores) {
        lt_tensor *picked = p->safe != NULL && p->safe->device.type != LT_CPU
                                ? do_no_negative(s, p->safe)
                                : p->safe;
        p->ignored = do_eq(s, p->safe, do_scalar(s, lt_scalar_from_int(ignore_index)));
        p->safe = do_where(s, p->ignored, do_scalar(s, lt_scalar_from_int(0)), picked);
    }
    if (weight != NULL && s->status == LT_OK) {
        lt_dims shape = lt_dims_of(p->safe);
        lt_tensor *line = do_reshape(s, p->safe, &(lt_dims){1, {p->safe->numel}});
        p->weight = do_reshape(s, do_index_select(s, weight, line), &shape);
        if (ignores) p->weight = do_where(s, p->ignored, do_number(s, 0), p->weight);
        if (wants_total) p->total = do_sum(s, p->weight);
    } else if (ignores && wants_total) {
        p->total = do_sum(s, do_logical_not(s, p->ignored));
    }
}

lt_status lt_nll_loss_impl(lt_tensor *self, lt_tensor *target, lt_tensor *weight,
                           int64_t ignore_index, const char *reduction_name, lt_tensor **out)
{
    lt_scope s;
    picks p;
    lt_over how;
    lt_device device;
    lt_dims sizes = lt_dims_of(self);
    LT_TRY(lt_loss_parse(reduction_name, &how));
    LT_TRY(
        lt_check_same_device("nll_loss", (lt_tensor *[]){self, target, weight}, 3, false, &device));
    LT_TRY(lt_loss_check_float(self->device.type == LT_CPU
                                   ? "nll_loss_out_frame"
                                   : "nll_loss_forward_reduce_cuda_kernel_2d",
                               self));
    if (weight != NULL && weight->dtype != self->dtype)
        return lt_error(LT_ERR_RUNTIME, "expected scalar type %s but found %s",
                        lt_dtype_scalar_name((lt_dtype)self->dtype),
                        lt_dtype_scalar_name((lt_dtype)weight->dtype));
    lt_scope_open(&s, LT_COMPOSITE(nll_loss));
    do_picks(&s, &sizes, target, weight, ignore_index, how == LT_OVER_MEAN, &p);
    lt_tensor *index = do_unsqueeze(&s, p.safe, p.dim), *loss = NULL;
    if (index != NULL) {
        lt_status status = lt_gather(self, p.dim, index, &loss);
        loss = lt_scope_hold(&s, status, loss);
    }
    if (s.status == LT_OK) sizes = lt_dims_of(p.safe);
    if (how == LT_OVER_MEAN && p.weight == NULL && p.ignored == NULL)
        return lt_scope_return(&s, do_neg(&s, do_mean(&s, loss)), out);
    loss = do_neg(&s, do_reshape(&s, loss, &sizes));
    if (p.weight != NULL) loss = do_mul(&s, loss, p.weight);
    if (p.ignored != NULL) loss = do_where(&s, p.ignored, do_number(&s, 0), loss);
    if (how == LT_OVER_NONE) return lt_scope_return(&s, loss, out);
    lt_tensor *sum = do_sum(&s, loss);
    if (how == LT_OVER_MEAN)
        sum = do_div(&s, sum, p.total != NULL ? p.total : do_number(&s, (double)target->numel));
    return lt_scope_return(&s, sum, out);
}

lt_status lt__nll_loss_backward_impl(lt_tensor *grad_output, const lt_dims *sizes,
                                     lt_tensor *target, lt_tensor *weight, int64_t ignore_index,
                                     const char *reduction_name, lt_tensor **out)
{
    lt_scope s;
    picks p;
    lt_over how;
    LT_TRY(lt_loss_parse(reduction_name, &how));
    lt_scope_open(&s, LT_COMPOSITE(_nll_loss_backward));
    do_picks(&s, sizes, target, weight, ignore_index, how == LT_OVER_MEAN, &p);
    lt_tensor *grad = do_neg(&s, grad_output);
    if (how == LT_OVER_MEAN)
        grad = do_div(&s, grad, p.total != NULL ? p.total : do_number(&s, (double)target->numel));
    if (p.weight != NULL) grad = do_mul(&s, grad, p.weight);
    if (p.ignored != NULL) grad = do_where(&s, p.ignored, do_number(&s, 0), grad);
    lt_tensor *index = do_unsqueeze(&s, p.safe, p.dim);
    if (index != NULL) {
        lt_dims shape = lt_dims_of(p.safe), wide = lt_dims_of(index);
        grad = do_reshape(&s, do_expand(&s, grad, &shape), &wide);
    }
    lt_tensor *result = do_zeros(&s, grad_output, sizes);
    if (result != NULL) s.status = lt_scatter_impl(result, p.dim, index, grad, &result);
    return lt_scope_return(&s, result, out);
}

/* ---- cross entropy --------------------------------------------------------------------------- */

static lt_status check_smoothing(double label_smoothing)
{
    if (label_smoothing >= 0 && label_smoothing <= 1) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "label_smoothing must be between 0.0 and 1.0. Got: %g",
                    label_smoothing);
}

/* a times weight, which is broadcast along the classes in dim; NULL is 1. */
static lt_tensor *do_weigh(lt_scope *s, lt_tensor *a, lt_tensor *weight, int dim)
{
    if (weight == NULL || s->status != LT_OK) return a;
    lt_dims shape = {.n = a->ndim};
    for (int d = 0; d < a->ndim; d++) shape.v[d] = d == dim ? a->sizes[d] : 1;
    return do_mul(s, a, do_reshape(s, weight, &shape));
}

/* The label smoothing part of the loss, which is equal for all classes. */
static lt_tensor *do_smooth(lt_scope *s, lt_tensor *logp, lt_tensor *target, lt_tensor *weight,
                            int64_t ignore_index, lt_over how)
{
    picks p;
    lt_scope plain;
    if (s->status != LT_OK) return NULL;
    lt_dims sizes = lt_dims_of(logp);
    lt_scope_open(&plain, false); /* these are constants */
    do_picks(&plain, &sizes, target, weight, ignore_index, how == LT_OVER_MEAN, &p);
    lt_tensor *ignored = p.ignored != NULL ? lt_tensor_retain(p.ignored) : NULL;
    lt_tensor *total = p.total != NULL ? lt_tensor_retain(p.total) : NULL;
    s->status = lt_scope_close(&plain);
    if (ignored != NULL) ignored = lt_scope_hold(s, LT_OK, ignored);
    if (total != NULL) total = lt_scope_hold(s, LT_OK, total);
    lt_tensor *loss = do_neg(s, do_sum_dim(s, do_weigh(s, logp, weight, p.dim), p.dim, false));
    if (ignored != NULL) loss = do_where(s, ignored, do_number(s, 0), loss);
    if (how == LT_OVER_NONE) return loss;
    if (how == LT_OVER_SUM) return do_sum(s, loss);
    return do_div(s, do_sum(s, loss), total != NULL ? total : do_number(s, (double)target->numel));
}

lt_status lt_cross_entropy_impl(lt_tensor *input, lt_tensor *target, lt_tensor *weight,
                                int64_t ignore_index, const char *reduction_name,
                                double label_smoothing, lt_tensor **out)
{
    lt_over how;
    lt_scope s;
    if (lt_dtype_is_float((lt_dtype)target->dtype))
        return lt_cross_entropy_prob(input, target, weight, reduction_name, label_smoothing, out);
    LT_TRY(lt_loss_parse(reduction_name, &how));
    LT_TRY(check_smoothing(label_smoothing));
    lt_dims sizes = lt_dims_of(input);
    LT_TRY(check_nll(&sizes, target, weight));
    int dim = input->ndim > 1 ? 1 : 0;
    lt_scope_open(&s, LT_COMPOSITE(cross_entropy));
    lt_tensor *logp = do_log_softmax(&s, input, dim), *loss = NULL;
    if (logp == NULL) return lt_scope_close(&s);
    lt_status status = lt_nll_loss(logp, target, weight, ignore_index, reduction_name, &loss);
    loss = lt_scope_hold(&s, status, loss);
    if (label_smoothing > 0) {
        double share = label_smoothing / (double)input->sizes[dim];
        lt_tensor *smooth = do_smooth(&s, logp, target, weight, ignore_index, how);
        loss = do_add(&s, do_mul(&s, loss, do_number(&s, 1 - label_smoothing)),
                      do_mul(&s, smooth, do_number(&s, share)));
    }
    return lt_scope_return(&s, loss, out);
}

lt_status lt_cross_entropy_prob_impl(lt_tensor *input, lt_tensor *target, lt_tensor *weight,
                                     const char *reduction_name, double label_smoothing,
                                     lt_tensor **out)
{
    lt_over how;
    char a[256], b[256];
    int dim = input->ndim > 1 ? 1 : 0;
    LT_TRY(lt_loss_parse(reduction_name, &how));
    LT_TRY(check_smoothing(label_smoothing));
    if (!lt_dtype_is_float((lt_dtype)target->dtype))
        return lt_error(LT_ERR_RUNTIME,
                        "Expected floating point type for target with class probabilities, got %s",
                        lt_dtype_scalar_name((lt_dtype)target->dtype));
    if (input->ndim == 0 || !lt_same_sizes(input, target))
        return lt_error(LT_ERR_RUNTIME,
                        "cross_entropy: probabilities as targets must have the shape of the input, "
                        "got input %s and target %s",
                        lt_format_sizes(a, sizeof a, input->ndim, input->sizes),
                        lt_format_sizes(b, sizeof b, target->ndim, target->sizes));
    if (weight != NULL && (weight->ndim != 1 || weight->sizes[0] != input->sizes[dim]))
        return lt_error(LT_ERR_RUNTIME,
                        "cross_entropy: weight tensor should be defined either for all %lld "
                        "classes or no classes but got weight tensor of shape: %s",
                        (long long)input->sizes[dim],
                        lt_format_sizes(a, sizeof a, weight->ndim, weight->sizes));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(cross_entropy_prob));
    double classes = (double)input->sizes[dim];
    lt_tensor *share = target;
    if (label_smoothing > 0)
        share = do_add(&s, do_mul(&s, target, do_number(&s, 1 - label_smoothing)),
                       do_number(&s, label_smoothing / classes));
    lt_tensor *loss = do_weigh(&s, do_mul(&s, do_log_softmax(&s, input, dim), share), weight, dim);
    loss = do_neg(&s, how == LT_OVER_NONE ? do_sum_dim(&s, loss, dim, false) : do_sum(&s, loss));
    if (how == LT_OVER_MEAN) loss = do_div(&s, loss, do_number(&s, (double)input->numel / classes));
    return lt_scope_return(&s, loss, out);
}

/* ---- binary cross entropy -------------------------------------------------------------------- */

/* log(sigmoid(x)) = min(x, 0) - log1p(exp(-|x|)) */
static lt_tensor *do_log_sigmoid(lt_scope *s, lt_tensor *x)
{
    return do_sub(s, do_minimum(s, x, do_number(s, 0)),
                  do_log1p(s, do_exp(s, do_neg(s, do_abs(s, x)))));
}

static lt_tensor *do_one_minus(lt_scope *s, lt_tensor *x) { return do_sub(s, do_number(s, 1), x); }

/* 1 + (pos_weight - 1) * target */
static lt_tensor *do_positive_weight(lt_scope *s, lt_tensor *target, lt_tensor *pos_weight)
{
    lt_tensor *more = do_mul(s, do_sub(s, pos_weight, do_number(s, 1)), target);
    return do_add(s, more, do_number(s, 1));
}

static lt_status check_bce(const lt_tensor *self, const lt_tensor *target)
{
    if (lt_same_sizes(self, target)) return lt_loss_check_float("log_sigmoid_cpu", self);
    char a[256], b[256];
    return lt_error(LT_ERR_RUNTIME,
                    "Target size (torch.Size(%s)) must be the same as input size (torch.Size(%s))",
                    lt_format_sizes(a, sizeof a, target->ndim, target->sizes),
                    lt_format_sizes(b, sizeof b, self->ndim, self->sizes));
}

lt_status lt_binary_cross_entropy_with_logits_impl(lt_tensor *self, lt_tensor *target,
                                                   lt_tensor *weight, lt_tensor *pos_weight,
                                                   const char *reduction_name, lt_tensor **out)
{
    lt_over how;
    lt_scope s;
    LT_TRY(lt_loss_parse(reduction_name, &how));
    LT_TRY(check_bce(self, target));
    lt_scope_open_together(&s, LT_COMPOSITE(binary_cross_entropy_with_logits), self);
    lt_tensor *fit = do_log_sigmoid(&s, self);
    if (pos_weight != NULL) fit = do_mul(&s, fit, do_positive_weight(&s, target, pos_weight));
    lt_tensor *loss = do_sub(&s, do_mul(&s, do_one_minus(&s, target), self), fit);
    if (weight != NULL) loss = do_mul(&s, loss, weight);
    return lt_scope_return(&s, do_reduce(&s, loss, how), out);
}

/* grad_output times the derivative of one element's loss. */
static lt_tensor *do_scale(lt_scope *s, lt_tensor *derivative, lt_tensor *grad, lt_tensor *weight,
                           lt_over how, const lt_tensor *self)
{
    if (weight != NULL) derivative = do_mul(s, derivative, weight);
    return do_mul(s, derivative, do_share(s, grad, how, self->numel));
}

lt_status lt_binary_cross_entropy_with_logits_nn_impl(lt_tensor *input, lt_tensor *target,
                                                      lt_tensor *weight, const char *reduction,
                                                      lt_tensor *pos_weight, lt_tensor **out)
{
    return lt_binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction, out);
}

lt_status lt__bce_with_logits_backward_impl(lt_tensor *grad_output, lt_tensor *self,
                                            lt_tensor *target, lt_tensor *weight,
                                            lt_tensor *pos_weight, const char *reduction_name,
                                            lt_tensor **out)
{
    lt_over how;
    lt_scope s;
    LT_TRY(lt_loss_parse(reduction_name, &how));
    lt_scope_open_together(&s, LT_COMPOSITE(_bce_with_logits_backward), self);
    lt_tensor *p = do_sigmoid(&s, self), *derivative;
    if (pos_weight == NULL)
        derivative = do_sub(&s, p, target);
    else
        derivative =
            do_sub(&s, do_one_minus(&s, target),
                   do_mul(&s, do_positive_weight(&s, target, pos_weight), do_one_minus(&s, p)));
    return lt_scope_return(&s, do_scale(&s, derivative, grad_output, weight, how, self), out);
}

lt_status lt__bce_with_logits_backward_target_impl(lt_tensor *grad_output, lt_tensor *self,
                                                   lt_tensor *target, lt_tensor *weight,
                                                   lt_tensor *pos_weight,
                                                   const char *reduction_name, lt_tensor **out)
{
    lt_over how;
    lt_scope s;
    (void)target; /* the loss is linear in it */
    LT_TRY(lt_loss_parse(reduction_name, &how));
    lt_scope_open_together(&s, LT_COMPOSITE(_bce_with_logits_backward_target), self);
    lt_tensor *derivative = do_neg(&s, self);
    if (pos_weight != NULL)
        derivative =
            do_sub(&s, derivative,
                   do_mul(&s, do_sub(&s, pos_weight, do_number(&s, 1)), do_log_sigmoid(&s, self)));
    return lt_scope_return(&s, do_scale(&s, derivative, grad_output, weight, how, self), out);
}
