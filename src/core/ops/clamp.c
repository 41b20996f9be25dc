/* clamp.c - ops that choose between several elementwise kernels: clamp with one bound or two, with bounds
 * that are tensors, and division whose quotient is rounded. */
#include <math.h>
#include <string.h>

#include "compose.h"
#include "pointwise.h"

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

/* a where it lies on the right side of the bound, else the bound; a bound of nan wins. */
static lt_tensor *bounded(lt_scope *s, lt_tensor *a, lt_tensor *bound, lt_tensor *beyond)
{
    return do_where(s, do_logical_or(s, beyond, do_isnan(s, bound)), bound, a);
}

lt_status lt_clamp_tensors_impl(lt_tensor *self, lt_tensor *min, lt_tensor *max, lt_tensor **out)
{
    lt_scope s;
    lt_tensor *result = self;
    if (min == NULL && max == NULL) return needs_bound();
    lt_scope_open(&s, true);
    if (min != NULL) result = bounded(&s, result, min, do_lt(&s, result, min));
    if (max != NULL) result = bounded(&s, result, max, do_gt(&s, result, max));
    return lt_scope_give(&s, result, out);
}

/* ---- division ---------------------------------------------------------------------------------------------- */

static lt_tensor *do_trunc(lt_scope *s, lt_tensor *a)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_trunc(a, &out);
    return lt_scope_hold(s, status, out);
}

static lt_tensor *do_fmod(lt_scope *s, lt_tensor *a, lt_tensor *b)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_fmod(a, b, &out);
    return lt_scope_hold(s, status, out);
}

lt_status lt_div_rounding_impl(lt_tensor *self, lt_tensor *other, const char *rounding_mode, lt_tensor **out)
{
    lt_tensor *operands[] = {self, other};
    bool floor = strcmp(rounding_mode, "floor") == 0;
    if (!floor && strcmp(rounding_mode, "trunc") != 0)
        return lt_error(LT_ERR_RUNTIME,
                        "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '%s'",
                        rounding_mode);
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *result;
    if (floor)
        result = do_floor_divide(&s, self, other);
    else if (lt_dtype_is_float(lt_result_type(operands, 2)))
        result = do_trunc(&s, do_div(&s, self, other));
    else /* a multiple of other, which floor_divide divides exactly */
        result = do_floor_divide(&s, do_sub(&s, self, do_fmod(&s, self, other)), other);
    return lt_scope_give(&s, result, out);
}
