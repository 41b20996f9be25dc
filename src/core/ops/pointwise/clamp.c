/* clamp.c - ops that choose between several elementwise kernels: clamp with one bound or two, or
 * with tensors as bounds, division with a rounded quotient, and rounding to decimals. */
#include <math.h>
#include <string.h>

#include "ops/compose.h"
#include "devices/device_type.h"
#include "dtypes/promotion.h"
#include "ops/pointwise.h"
#include "op/_clamp_backward.h"
#include "op/_clamp_both.h"
#include "op/_clamp_tensors_backward.h"
#include "op/_clamp_tensors_tangent.h"
#include "op/_round_at.h"
#include "op/_within.h"
#include "op/clamp.h"
#include "op/clamp_max.h"
#include "op/clamp_min.h"
#include "op/div.h"
#include "op/maximum.h"
#include "op/minimum.h"
#include "op/round.h"
#include "step/fmod.h"
#include "step/trunc.h"

static lt_status needs_bound(void)
{
    return lt_error(LT_ERR_RUNTIME, "torch.clamp: At least one of 'min' or 'max' must not be None");
}

lt_status lt_clamp_impl(lt_tensor *self, const lt_scalar *min, const lt_scalar *max,
                        lt_tensor **out)
{
    if (min == NULL && max == NULL) return needs_bound();
    if (max == NULL) return lt_clamp_min_impl(self, *min, out);
    if (min == NULL) return lt_clamp_max_impl(self, *max, out);
    return lt__clamp_both_impl(self, *min, *max, out);
}

lt_status lt__clamp_backward_impl(lt_tensor *grad_output, lt_tensor *self, const lt_scalar *min,
                                  const lt_scalar *max, lt_tensor **out)
{
    return lt__within(grad_output, self,
                      min != NULL ? *min : lt_scalar_from_float(-(double)INFINITY),
                      max != NULL ? *max : lt_scalar_from_float((double)INFINITY), out);
}

lt_status lt_clamp_min_tensor_impl(lt_tensor *self, lt_tensor *min, lt_tensor **out)
{
    return lt_maximum_impl(self, min, out);
}

lt_status lt_clamp_max_tensor_impl(lt_tensor *self, lt_tensor *max, lt_tensor **out)
{
    return lt_minimum_impl(self, max, out);
}

lt_status lt_clamp_tensors_impl(lt_tensor *self, lt_tensor *min, lt_tensor *max, lt_tensor **out)
{
    if (min == NULL && max == NULL) return needs_bound();
    if (max == NULL) return lt_maximum_impl(self, min, out);
    if (min == NULL) return lt_minimum_impl(self, max, out);
    lt_tensor *raised = NULL;
    LT_TRY(lt_maximum_impl(self, min, &raised));
    lt_status status = lt_minimum_impl(raised, max, out);
    lt_tensor_release(raised);
    return status;
}

/* Stores grad_output where chosen is true, else 0, as one of the results. */
static void give_where(lt_scope *s, lt_tensor *grad, lt_tensor *chosen, lt_tensor **out)
{
    lt_tensor *part = do_where(s, chosen, grad, do_number(s, 0));
    if (s->status == LT_OK) *out = lt_tensor_retain(part);
}

/* Masks of the source of each element of clamp; NULL: no element. */
typedef struct came_from {
    lt_tensor *self, *min, *max;
} came_from;

/* The result is max where self or min is above it; min where self is below it and min is below max;
 * self where it is within the bounds. With nan it is none of them. */
static came_from origins(lt_scope *s, lt_tensor *self, lt_tensor *min, lt_tensor *max)
{
    came_from from = {NULL, min != NULL ? do_lt(s, self, min) : NULL,
                      max != NULL ? do_gt(s, self, max) : NULL};
    lt_tensor *over = min != NULL ? do_ge(s, self, min) : NULL,
              *under = max != NULL ? do_le(s, self, max) : NULL;
    from.self = over == NULL ? under : under == NULL ? over : do_logical_and(s, over, under);
    if (min != NULL && max != NULL) {
        from.max = do_logical_or(s, from.max, do_gt(s, min, max));
        from.min = do_logical_and(s, from.min, do_lt(s, min, max));
    }
    return from;
}

lt_status lt__clamp_tensors_backward_impl(lt_tensor *grad_output, lt_tensor *self, lt_tensor *min,
                                          lt_tensor *max, bool needs_self, bool needs_min,
                                          bool needs_max, lt_tensor **grad_self,
                                          lt_tensor **grad_min, lt_tensor **grad_max)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_clamp_tensors_backward));
    const came_from from = origins(&s, self, min, max);
    if (s.status == LT_OK && needs_self) give_where(&s, grad_output, from.self, grad_self);
    if (s.status == LT_OK && needs_min && min != NULL)
        give_where(&s, grad_output, from.min, grad_min);
    if (s.status == LT_OK && needs_max && max != NULL)
        give_where(&s, grad_output, from.max, grad_max);
    if (s.status != LT_OK) {
        lt_tensor **results[] = {grad_self, grad_min, grad_max};
        for (int i = 0; i < 3; i++) {
            lt_tensor_release(*results[i]);
            *results[i] = NULL;
        }
    }
    return lt_scope_close(&s);
}

lt_status lt__clamp_tensors_tangent_impl(lt_tensor *self, lt_tensor *min, lt_tensor *max,
                                         lt_tensor *self_t, lt_tensor *min_t, lt_tensor *max_t,
                                         lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_clamp_tensors_tangent));
    const came_from from = origins(&s, self, min, max);
    lt_tensor *tangent = do_where(&s, from.self, self_t, do_number(&s, 0));
    if (min_t != NULL) tangent = do_where(&s, from.min, min_t, tangent);
    if (max_t != NULL) tangent = do_where(&s, from.max, max_t, tangent);
    return lt_scope_return(&s, tangent, out);
}

/* ---- division -------------------------------------------------------------------------------- */

lt_status lt_div_rounding_impl(lt_tensor *self, lt_tensor *other, const char *rounding_mode,
                               lt_tensor **out)
{
    lt_tensor *operands[] = {self, other};
    bool floor = strcmp(rounding_mode, "floor") == 0;
    if (!floor && strcmp(rounding_mode, "trunc") != 0)
        return lt_error(
            LT_ERR_RUNTIME,
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '%s'",
            rounding_mode);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(div_rounding));
    lt_tensor *result;
    if (floor)
        result = do_floor_divide(&s, self, other);
    else if (lt_dtype_is_float(lt_result_type(operands, 2)))
        result = do_trunc(&s, do_div(&s, self, other));
    else { /* a multiple of other, so that floor_divide is exact */
        lt_tensor *rest = do_fmod(&s, self, other), *from = self;
        /* bools cannot be subtracted from */
        if (rest != NULL && self->dtype == LT_BOOL) from = do_cast(&s, self, (lt_dtype)rest->dtype);
        result = do_floor_divide(&s, do_sub(&s, from, rest), other);
    }
    return lt_scope_store(&s, result, out);
}

lt_status lt_round_decimals_impl(lt_tensor *self, int64_t decimals, lt_tensor **out)
{
    if (!lt_dtype_is_float((lt_dtype)self->dtype))
        return lt_error(LT_ERR_RUNTIME, "\"round_%s\" not implemented for '%s'",
                        lt_device_type_name(self->device),
                        lt_dtype_scalar_name((lt_dtype)self->dtype));
    const double step = pow(10, fabs((double)decimals));
    return lt__round_at_impl(self, lt_scalar_from_float(decimals > 0 ? step : 1),
                             lt_scalar_from_float(decimals > 0 ? 1 : step), out);
}
