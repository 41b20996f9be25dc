/* elementwise.c - elementwise losses: differences and likelihoods, as formulas. */
#include <math.h>
#include <string.h>

#include "dtypes/promotion.h"
#include "loss.h"
#include "ops/check_values.h"
#include "devices/transfer.h"
#include "ops/pointwise.h"
#include "op/_binary_cross_entropy_backward.h"
#include "op/_binary_cross_entropy_backward_target.h"
#include "op/_huber_loss.h"
#include "op/_huber_loss_backward.h"
#include "op/_mse_loss.h"
#include "op/_mse_loss_backward.h"
#include "op/_smooth_l1_loss_backward.h"
#include "op/_soft_margin_loss_backward.h"
#include "op/binary_cross_entropy.h"
#include "op/clamp.h"
#include "op/clamp_max.h"
#include "op/clamp_min.h"
#include "op/gaussian_nll_loss.h"
#include "op/huber_loss.h"
#include "op/kl_div.h"
#include "op/l1_loss.h"
#include "op/mse_loss.h"
#include "op/multilabel_soft_margin_loss.h"
#include "op/poisson_nll_loss.h"
#include "op/smooth_l1_loss.h"
#include "op/soft_margin_loss.h"
#include "step/xlogy.h"

lt_tensor *do_at_least(lt_scope *s, lt_tensor *a, double least)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    /* An integer bound does not promote integers. */
    lt_status status =
        lt_clamp_min(a, least == 0 ? lt_scalar_from_int(0) : lt_scalar_from_float(least), &out);
    return lt_scope_hold(s, status, out);
}

lt_tensor *do_lifted(lt_scope *s, lt_tensor *a, double least)
{
    lt_scope plain; /* the added amount is a constant */
    lt_tensor *lift = NULL;
    if (s->status != LT_OK) return NULL;
    lt_scope_open(&plain, false);
    lt_status status =
        lt_scope_return(&plain, do_sub(&plain, do_at_least(&plain, a, least), a), &lift);
    return do_add(s, a, lt_scope_hold(s, status, lift));
}

static lt_tensor *do_clamp(lt_scope *s, lt_tensor *a, double low, double high)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    const lt_scalar least = lt_scalar_from_float(low), most = lt_scalar_from_float(high);
    lt_status status = lt_clamp(a, &least, &most, &out);
    return lt_scope_hold(s, status, out);
}

static lt_tensor *do_at_most(lt_scope *s, lt_tensor *a, double most)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_clamp_max(a, lt_scalar_from_float(most), &out);
    return lt_scope_hold(s, status, out);
}

static lt_tensor *do_one_minus(lt_scope *s, lt_tensor *x) { return do_sub(s, do_number(s, 1), x); }

/* weight times the losses; their mean divides by the sum of weights. */
static lt_tensor *do_weighted(lt_scope *s, lt_tensor *loss, lt_tensor *weight, lt_over how)
{
    lt_tensor *weighted = do_mul(s, loss, weight);
    if (how == LT_OVER_NONE) return weighted;
    lt_tensor *sum = do_sum(s, weighted);
    return how == LT_OVER_SUM ? sum : do_div(s, sum, do_sum(s, weight));
}

static lt_status check_weight(const lt_tensor *self, const lt_tensor *weight)
{
    if (weight == NULL || lt_same_sizes(self, weight)) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "Weights and input must have the same size.");
}

/* derivative times the gradient of each element of the loss, for its reduction. */
static lt_tensor *do_chain(lt_scope *s, lt_tensor *derivative, lt_tensor *grad, lt_over how)
{
    return s->status == LT_OK ? do_mul(s, derivative, do_share(s, grad, how, derivative->numel))
                              : NULL;
}

/* self - target in their common dtype. sub() rejects bools, which these losses accept, as in
 * PyTorch. */
static lt_tensor *do_difference(lt_scope *s, lt_tensor *self, lt_tensor *target)
{
    const lt_dtype dtype = lt_result_type((lt_tensor *[]){self, target}, 2);
    if (self->dtype == LT_BOOL && dtype != LT_BOOL) self = do_cast(s, self, dtype);
    if (target->dtype == LT_BOOL && dtype != LT_BOOL) target = do_cast(s, target, dtype);
    return s->status == LT_OK ? do_sub(s, self, target) : NULL;
}

/* ---- mse_loss, l1_loss ----------------------------------------------------------------------- */

lt_status lt_mse_loss_impl(lt_tensor *self, lt_tensor *target, const char *reduction,
                           lt_tensor *weight, lt_tensor **out)
{
    lt_over how;
    lt_scope s;
    if (weight == NULL) return lt__mse_loss(self, target, reduction, out);
    LT_TRY(lt_loss_parse(reduction, &how));
    LT_TRY(check_weight(self, weight));
    lt_scope_open_together(&s, LT_COMPOSITE(mse_loss), self);
    return lt_scope_return(
        &s, do_weighted(&s, do_square(&s, do_difference(&s, self, target)), weight, how), out);
}

lt_status lt__mse_loss_impl(lt_tensor *self, lt_tensor *target, const char *reduction,
                            lt_tensor **out)
{
    lt_over how;
    lt_scope s;
    LT_TRY(lt_loss_parse(reduction, &how));
    lt_scope_open_together(&s, LT_COMPOSITE(_mse_loss), self);
    lt_tensor *difference = do_difference(&s, self, target);
    if (difference != NULL)
        s.status =
            lt_loss_check_float(self->device.type == LT_CPU ? "mse_cpu" : "mse_cuda", difference);
    return lt_scope_return(&s, do_reduce(&s, do_square(&s, difference), how), out);
}

lt_status lt__mse_loss_backward_impl(lt_tensor *grad_output, lt_tensor *self, lt_tensor *target,
                                     const char *reduction, lt_tensor **out)
{
    lt_over how;
    lt_scope s;
    LT_TRY(lt_loss_parse(reduction, &how));
    lt_scope_open_together(&s, LT_COMPOSITE(_mse_loss_backward), self);
    lt_tensor *difference = do_difference(&s, self, target);
    double factor =
        how == LT_OVER_MEAN && difference != NULL ? 2.0 / (double)difference->numel : 2.0;
    return lt_scope_return(
        &s, do_mul(&s, difference, do_mul(&s, grad_output, do_number(&s, factor))), out);
}

lt_status lt_l1_loss_impl(lt_tensor *self, lt_tensor *target, const char *reduction,
                          lt_tensor *weight, lt_tensor **out)
{
    lt_over how;
    lt_scope s;
    LT_TRY(lt_loss_parse(reduction, &how));
    LT_TRY(check_weight(self, weight));
    lt_scope_open_together(&s, LT_COMPOSITE(l1_loss), self);
    lt_tensor *loss = do_abs(&s, do_sub(&s, self, target));
    return lt_scope_return(
        &s, weight != NULL ? do_weighted(&s, loss, weight, how) : do_reduce(&s, loss, how), out);
}

/* ---- smooth_l1_loss, huber_loss -------------------------------------------------------------- */

lt_status lt_smooth_l1_loss_impl(lt_tensor *self, lt_tensor *target, const char *reduction,
                                 double beta, lt_tensor **out)
{
    lt_over how;
    lt_scope s;
    LT_TRY(lt_loss_parse(reduction, &how));
    if (!(beta >= 0))
        return lt_error(LT_ERR_RUNTIME,
                        "smooth_l1_loss does not support negative values for beta.");
    lt_scope_open_together(&s, LT_COMPOSITE(smooth_l1_loss), self);
    lt_tensor *size = do_abs(&s, do_difference(&s, self, target));
    if (size != NULL)
        s.status = lt_loss_check_float(
            self->device.type == LT_CPU ? "smooth_l1_cpu" : "smooth_l1_cuda", size);
    /* with c = min(size, beta): c / beta * (size - c / 2) */
    if ((self->dtype == LT_FLOAT64 ? beta : (float)beta) > 0) {
        lt_tensor *c = do_at_most(&s, size, beta);
        size = do_mul(&s, do_add(&s, times(&s, c, -0.5), size),
                      beta == 1 ? c : do_div(&s, c, do_number(&s, beta)));
    }
    return lt_scope_return(&s, do_reduce(&s, size, how), out);
}

lt_status lt__smooth_l1_loss_backward_impl(lt_tensor *grad_output, lt_tensor *self,
                                           lt_tensor *target, const char *reduction, double beta,
                                           lt_tensor **out)
{
    lt_over how;
    lt_scope s;
    LT_TRY(lt_loss_parse(reduction, &how));
    lt_scope_open_together(&s, LT_COMPOSITE(_smooth_l1_loss_backward), self);
    lt_tensor *difference = do_difference(&s, self, target);
    lt_tensor *slope =
        beta > 0 ? do_clamp(&s, times(&s, difference, 1 / beta), -1, 1) : do_sign(&s, difference);
    return lt_scope_return(&s, do_chain(&s, slope, grad_output, how), out);
}

lt_status lt_huber_loss_impl(lt_tensor *input, lt_tensor *target, const char *reduction,
                             double delta, lt_tensor *weight, lt_tensor **out)
{
    lt_over how;
    lt_scope s;
    lt_tensor *each = NULL;
    if (weight == NULL) return lt__huber_loss(input, target, reduction, delta, out);
    LT_TRY(lt_loss_parse(reduction, &how));
    LT_TRY(check_weight(input, weight));
    lt_scope_open_together(&s, LT_COMPOSITE(huber_loss), input);
    lt_status status = lt__huber_loss(input, target, "none", delta, &each);
    each = lt_scope_hold(&s, status, each);
    return lt_scope_return(&s, do_reduce(&s, do_mul(&s, each, weight), how), out);
}

lt_status lt__huber_loss_impl(lt_tensor *self, lt_tensor *target, const char *reduction,
                              double delta, lt_tensor **out)
{
    lt_over how;
    lt_scope s;
    LT_TRY(lt_loss_parse(reduction, &how));
    if (!(delta > 0))
        return lt_error(LT_ERR_RUNTIME,
                        "huber_loss does not support non-positive values for delta.");
    lt_scope_open_together(&s, LT_COMPOSITE(_huber_loss), self);
    lt_tensor *size = do_abs(&s, do_difference(&s, self, target));
    if (size != NULL)
        s.status =
            lt_loss_check_float(self->device.type == LT_CPU ? "huber_cpu" : "huber_cuda", size);
    lt_tensor *loss =
        do_where(&s, do_le(&s, size, do_number(&s, delta)), times(&s, do_square(&s, size), 0.5),
                 times(&s, plus(&s, size, -0.5 * delta), delta));
    return lt_scope_return(&s, do_reduce(&s, loss, how), out);
}

lt_status lt__huber_loss_backward_impl(lt_tensor *grad_output, lt_tensor *self, lt_tensor *target,
                                       const char *reduction, double delta, lt_tensor **out)
{
    lt_over how;
    lt_scope s;
    LT_TRY(lt_loss_parse(reduction, &how));
    lt_scope_open_together(&s, LT_COMPOSITE(_huber_loss_backward), self);
    lt_tensor *slope = do_clamp(&s, do_difference(&s, self, target), -delta, delta);
    return lt_scope_return(&s, do_chain(&s, slope, grad_output, how), out);
}

/* ---- binary_cross_entropy -------------------------------------------------------------------- */

lt_status lt_binary_cross_entropy_impl(lt_tensor *self, lt_tensor *target, lt_tensor *weight,
                                       const char *reduction, lt_tensor **out)
{
    lt_over how;
    lt_scope s;
    char a[256], b[256];
    LT_TRY(lt_loss_parse(reduction, &how));
    LT_TRY(lt_loss_check_float("binary_cross_entropy", self));
    if (!lt_same_sizes(self, target))
        return lt_error(LT_ERR_RUNTIME,
                        "Using a target size (torch.Size(%s)) that is different to the input size "
                        "(torch.Size(%s)) is deprecated. Please ensure they have the same size.",
                        lt_format_sizes(a, sizeof a, target->ndim, target->sizes),
                        lt_format_sizes(b, sizeof b, self->ndim, self->sizes));
    LT_TRY(lt_check_values(
        self,
        (lt_value_check){.high = 1, .text = "all elements of input should be between 0 and 1"}));
    lt_scope_open_together(&s, LT_COMPOSITE(binary_cross_entropy), self);
    lt_tensor *x = do_widen(&s, self), *t = do_widen(&s, target);
    lt_tensor *log_one = do_at_least(&s, do_log(&s, x), -100),
              *log_zero = do_at_least(&s, do_log1p(&s, do_neg(&s, x)), -100);
    lt_tensor *loss = do_sub(&s, do_mul(&s, plus(&s, t, -1), log_zero), do_mul(&s, t, log_one));
    if (weight != NULL) loss = do_mul(&s, loss, weight);
    return lt_scope_return(&s, do_narrow_to(&s, do_reduce(&s, loss, how), self), out);
}

lt_status lt__binary_cross_entropy_backward_impl(lt_tensor *grad_output, lt_tensor *self,
                                                 lt_tensor *target, lt_tensor *weight,
                                                 const char *reduction, lt_tensor **out)
{
    lt_over how;
    lt_scope s;
    LT_TRY(lt_loss_parse(reduction, &how));
    lt_scope_open_together(&s, LT_COMPOSITE(_binary_cross_entropy_backward), self);
    lt_tensor *x = do_widen(&s, self), *t = do_widen(&s, target);
    lt_tensor *scale = do_at_least(&s, do_mul(&s, do_one_minus(&s, x), x), 1e-12);
    lt_tensor *slope = do_div(&s, do_sub(&s, x, t), scale);
    if (weight != NULL) slope = do_mul(&s, slope, weight);
    return lt_scope_return(
        &s, do_narrow_to(&s, do_chain(&s, slope, do_widen(&s, grad_output), how), self), out);
}

lt_status lt__binary_cross_entropy_backward_target_impl(lt_tensor *grad_output, lt_tensor *self,
                                                        lt_tensor *target, lt_tensor *weight,
                                                        const char *reduction, lt_tensor **out)
{
    lt_over how;
    lt_scope s;
    (void)target; /* the loss is linear in it */
    LT_TRY(lt_loss_parse(reduction, &how));
    lt_scope_open_together(&s, LT_COMPOSITE(_binary_cross_entropy_backward_target), self);
    lt_tensor *x = do_widen(&s, self);
    lt_tensor *slope = do_sub(&s, do_log1p(&s, do_neg(&s, x)), do_log(&s, x));
    if (weight != NULL) slope = do_mul(&s, slope, weight);
    return lt_scope_return(
        &s, do_narrow_to(&s, do_chain(&s, slope, do_widen(&s, grad_output), how), self), out);
}

/* ---- likelihoods ----------------------------------------------------------------------------- */

lt_status lt_kl_div_impl(lt_tensor *input, lt_tensor *target, const char *reduction,
                         bool log_target, lt_tensor **out)
{
    lt_over how = LT_OVER_SUM;
    lt_scope s;
    const bool batch = strcmp(reduction, "batchmean") == 0;
    if (!batch) LT_TRY(lt_loss_parse(reduction, &how));
    lt_scope_open_together(&s, LT_COMPOSITE(kl_div), input);
    lt_tensor *loss = log_target
                          ? do_mul(&s, do_exp(&s, target), do_sub(&s, target, input))
                          : do_sub(&s, do_xlogy(&s, target, target), do_mul(&s, target, input));
    loss = do_reduce(&s, loss, how);
    if (batch && input->ndim > 0) loss = do_div(&s, loss, do_number(&s, (double)input->sizes[0]));
    return lt_scope_return(&s, loss, out);
}

#define LOG_2PI 1.83787706640934548356

lt_status lt_poisson_nll_loss_impl(lt_tensor *input, lt_tensor *target, bool log_input, bool full,
                                   double eps, const char *reduction, lt_tensor **out)
{
    lt_over how;
    lt_scope s;
    LT_TRY(lt_loss_parse(reduction, &how));
    lt_scope_open_together(&s, LT_COMPOSITE(poisson_nll_loss), input);
    lt_tensor *loss = log_input
                          ? do_sub(&s, do_exp(&s, input), do_mul(&s, target, input))
                          : do_sub(&s, input, do_mul(&s, target, do_log(&s, plus(&s, input, eps))));
    if (full) { /* t log(t) - t + log(2 pi t) / 2 where t > 1 */
        lt_tensor *log = do_log(&s, target);
        lt_tensor *stirling = do_add(&s, do_sub(&s, do_mul(&s, target, log), target),
                                     times(&s, plus(&s, log, LOG_2PI), 0.5));
        lt_tensor *large = do_gt(&s, target, do_number(&s, 1));
        loss = do_add(&s, loss, do_where(&s, large, stirling, do_number(&s, 0)));
    }
    return lt_scope_return(&s, do_reduce(&s, loss, how), out);
}

/* var, shaped to broadcast to input. */
static lt_tensor *do_variance(lt_scope *s, const lt_tensor *input, lt_tensor *var)
{
    if (s->status != LT_OK) return NULL;
    /* of the input's dtype, also if the input is 0-dim */
    if (var->flags & LT_FLAG_WRAPPED_NUMBER) {
        const lt_dims sizes = lt_dims_of(input);
        return do_add(s, do_zeros(s, input, &sizes), var);
    }
    if (lt_same_sizes(input, var)) return var;
    bool shorter = var->ndim == input->ndim - 1;
    for (int d = 0; d < var->ndim && shorter; d++) shorter = var->sizes[d] == input->sizes[d];
    if (shorter) return do_unsqueeze(s, var, -1);
    int64_t others = 0; /* sizes of var that differ from the input's: at most one, of size 1 */
    for (int d = 0; d < var->ndim && var->ndim == input->ndim; d++)
        others += var->sizes[d] != input->sizes[d] ? var->sizes[d] : 0;
    if (others != 1) s->status = lt_error(LT_ERR_RUNTIME, "var is of incorrect size");
    return s->status == LT_OK ? var : NULL;
}

lt_status lt_gaussian_nll_loss_impl(lt_tensor *input, lt_tensor *target, lt_tensor *var, bool full,
                                    double eps, const char *reduction, lt_tensor **out)
{
    lt_over how;
    lt_scope s;
    LT_TRY(lt_check_values(
        var,
        (lt_value_check){.high = INFINITY, .nan = true, .text = "var has negative entry/entries"}));
    LT_TRY(lt_loss_parse(reduction, &how));
    lt_scope_open_together(&s, LT_COMPOSITE(gaussian_nll_loss), input);
    lt_tensor *given = do_variance(&s, input, var);
    lt_tensor *safe = do_lifted(&s, given, eps);
    lt_tensor *ratio = do_div(&s, do_square(&s, do_sub(&s, input, target)), safe);
    lt_tensor *loss = times(&s, do_add(&s, do_log(&s, safe), ratio), 0.5);
    if (full) loss = plus(&s, loss, 0.5 * LOG_2PI);
    return lt_scope_return(&s, do_reduce(&s, loss, how), out);
}

/* log(1 + exp(x)) without overflow. */
static lt_tensor *do_softplus(lt_scope *s, lt_tensor *x)
{
    return do_add(s, do_at_least(s, x, 0), do_log1p(s, do_exp(s, do_neg(s, do_abs(s, x)))));
}

lt_status lt_soft_margin_loss_impl(lt_tensor *self, lt_tensor *target, const char *reduction,
                                   lt_tensor **out)
{
    lt_over how;
    lt_scope s;
    LT_TRY(lt_loss_parse(reduction, &how));
    lt_scope_open_together(&s, LT_COMPOSITE(soft_margin_loss), self);
    return lt_scope_return(
        &s, do_reduce(&s, do_softplus(&s, do_neg(&s, do_mul(&s, target, self))), how), out);
}

lt_status lt__soft_margin_loss_backward_impl(lt_tensor *grad_output, lt_tensor *self,
                                             lt_tensor *target, const char *reduction,
                                             lt_tensor **out)
{
    lt_over how;
    lt_scope s;
    LT_TRY(lt_loss_parse(reduction, &how));
    lt_scope_open_together(&s, LT_COMPOSITE(_soft_margin_loss_backward), self);
    lt_tensor *slope =
        do_neg(&s, do_mul(&s, target, do_sigmoid(&s, do_neg(&s, do_mul(&s, target, self)))));
    return lt_scope_return(&s, do_chain(&s, slope, grad_output, how), out);
}

lt_status lt_multilabel_soft_margin_loss_impl(lt_tensor *input, lt_tensor *target,
                                              lt_tensor *weight, const char *reduction,
                                              lt_tensor **out)
{
    lt_over how;
    lt_scope s;
    LT_TRY(lt_loss_parse(reduction, &how));
    if (input->ndim == 0)
        return lt_error(LT_ERR_RUNTIME,
                        "multilabel_soft_margin_loss: expected an input of classes, got a number");
    lt_scope_open_together(&s, LT_COMPOSITE(multilabel_soft_margin_loss), input);
    lt_tensor *zero = do_softplus(&s, input), *one = do_softplus(&s, do_neg(&s, input));
    lt_tensor *loss =
        do_add(&s, do_mul(&s, target, one), do_mul(&s, do_one_minus(&s, target), zero));
    if (weight != NULL) loss = do_mul(&s, loss, weight);
    loss = times(&s, do_sum_dim(&s, loss, -1, false), 1.0 / (double)input->sizes[input->ndim - 1]);
    return lt_scope_return(&s, do_reduce(&s, loss, how), out);
}
