/* clamp.c - ops that choose between several elementwise kernels: clamp with one bound or two, with bounds
 * that are tensors, division whose quotient is rounded, and rounding to decimals. */
#include <math.h>
#include <string.h>

#include "ops/compose.h"
#include "devices/device_type.h"
#include "dtypes/promotion.h"
#include "ops/pointwise.h"
#include "op/_clamp_backward.h"
#include "op/_clamp_both.h"
#include "op/_clamp_tensors_backward.h"
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

lt_status lt_clamp_impl(lt_tensor *self, const lt_scalar *min, const lt_scalar *max, lt_tensor **out)
{
    if (min == NULL && max == NULL) return needs_bound();
    if (max == NULL) return lt_clamp_min_impl(self, *min, out);
    if (min == NULL) return lt_clamp_max_impl(self, *max, out);
    return lt__clamp_both_impl(self, *min, *max, out);
}

lt_status lt__clamp_backward_impl(lt_tensor *grad_output, lt_tensor *self, const lt_scalar *min,
                                  const lt_scalar *max, lt_tensor **out)
{
    return lt__within(grad_output, self, min != NULL ? *min : lt_float(-(double)INFINITY),
                      max != NULL ? *max : lt_float((double)INFINITY), out);
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

/* grad_output where chosen holds, as one of the results. */
static void give_where(lt_scope *s, lt_tensor *grad, lt_tensor *chosen, lt_tensor **out)
{
    lt_tensor *part = do_where(s, chosen, grad, do_number(s, 0));
    if (s->status == LT_OK) *out = lt_tensor_retain(part);
}

/* An element came from max where it, or the bound min, lies above; from min where it lies below that, and that below max. */
lt_status lt__clamp_tensors_backward_impl(lt_tensor *grad_output, lt_tensor *self, lt_tensor *min,
                                          lt_tensor *max, bool needs_self, bool needs_min,
                                          bool needs_max, lt_tensor **grad_self,
                                          lt_tensor **grad_min, lt_tensor **grad_max)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_clamp_tensors_backward));
    lt_tensor *below = min != NULL ? do_lt(&s, self, min) : NULL,
              *above = max != NULL ? do_gt(&s, self, max) : NULL;
    if (min != NULL && max != NULL) {
        above = do_logical_or(&s, above, do_gt(&s, min, max));
        below = do_logical_and(&s, below, do_lt(&s, min, max));
    }
    if (s.status == LT_OK && needs_self) { /* not where either is nan */
        lt_tensor *over = min != NULL ? do_ge(&s, self, min) : NULL, *under = max != NULL ? do_le(&s, self, max) : NULL;
        give_where(&s, grad_output, over == NULL ? under : under == NULL ? over : do_logical_and(&s, over, under), grad_self);
    }
    if (s.status == LT_OK && needs_min && min != NULL) give_where(&s, grad_output, below, grad_min);
    if (s.status == LT_OK && needs_max && max != NULL) give_where(&s, grad_output, above, grad_max);
    if (s.status != LT_OK) {
        lt_tensor **results[] = {grad_self, grad_min, grad_max};
        for (int i = 0; i < 3; i++) {
            lt_tensor_release(*results[i]);
            *results[i] = NULL;
        }
    }
    return lt_scope_close(&s);
}

/* ---- division ---------------------------------------------------------------------------------------------- */

lt_status lt_div_rounding_impl(lt_tensor *self, lt_tensor *other, const char *rounding_mode, lt_tensor **out)
{
    lt_tensor *operands[] = {self, other};
    bool floor = strcmp(rounding_mode, "floor") == 0;
    if (!floor && strcmp(rounding_mode, "trunc") != 0)
        return lt_error(LT_ERR_RUNTIME,
                        "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '%s'",
                        rounding_mode);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(div_rounding));
    lt_tensor *result;
    if (floor)
        result = do_floor_divide(&s, self, other);
    else if (lt_dtype_is_float(lt_result_type(operands, 2)))
        result = do_trunc(&s, do_div(&s, self, other));
    else /* a multiple of other, which floor_divide divides exactly */
        result = do_floor_divide(&s, do_sub(&s, self, do_fmod(&s, self, other)), other);
    return lt_scope_give(&s, result, out);
}

lt_status lt_round_decimals_impl(lt_tensor *self, int64_t decimals, lt_tensor **out)
{
    if (!lt_dtype_is_float((lt_dtype)self->dtype))
        return lt_error(LT_ERR_RUNTIME, "\"round_%s\" not implemented for '%s'", lt_device_type_name(self->device),
                        lt_dtype_scalar_name((lt_dtype)self->dtype));
    const double step = pow(10, fabs((double)decimals));
    return lt__round_at_impl(self, lt_float(decimals > 0 ? step : 1), lt_float(decimals > 0 ? 1 : step), out);
}
