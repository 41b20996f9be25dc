/* statistics.c - variance, standard deviation and logsumexp: formulas of reductions, computed in float where
 * the tensor is of a half type. */
#include <math.h>

#include "compose.h"
#include "statistics.h"

static lt_tensor *do_mean_kept(lt_scope *s, lt_tensor *a, const lt_dims *dims)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_mean_dim(a, dims, true, LT_DTYPE_NONE, &out);
    return lt_scope_hold(s, status, out);
}

lt_status lt_count_reduced(const lt_dims *sizes, const lt_dims *dims, double *count)
{
    uint32_t mask;
    LT_TRY(lt_dims_mask(dims, sizes->n, &mask));
    *count = 1;
    for (int d = 0; d < sizes->n; d++)
        if (mask >> d & 1) *count *= (double)sizes->v[d];
    return LT_OK;
}

lt_status lt_degrees_of_freedom(const lt_tensor *self, const lt_dims *dims, lt_scalar correction, double *freedom)
{
    lt_dims sizes = lt_dims_of(self);
    LT_TRY(lt_count_reduced(&sizes, dims, freedom));
    *freedom = fmax(*freedom - lt_scalar_double(correction), 0);
    return LT_OK;
}

static bool is_half(lt_dtype dtype) { return dtype == LT_FLOAT16 || dtype == LT_BFLOAT16; }

/* self in a dtype in which long sums keep their digits. */
static lt_tensor *widened(lt_scope *s, lt_tensor *self)
{
    return is_half((lt_dtype)self->dtype) ? do_cast(s, self, LT_FLOAT32) : self;
}

/* ---- variance ---------------------------------------------------------------------------------------------- */

/* Squares t, a temporary of the formula, where it lies. */
static lt_tensor *squared(lt_scope *s, lt_tensor *t)
{
    if (s->status == LT_OK) s->status = lt_square_impl(t, &t);
    return s->status == LT_OK ? t : NULL;
}

static lt_tensor *variance(lt_scope *s, lt_tensor *self, const lt_dims *dim, lt_scalar correction, bool keepdim)
{
    double freedom;
    if (!lt_dtype_is_float((lt_dtype)self->dtype)) {
        s->status = lt_error(LT_ERR_RUNTIME, "std and var only support floating point and complex dtypes");
        return NULL;
    }
    s->status = lt_degrees_of_freedom(self, dim, correction, &freedom);
    if (s->status != LT_OK) return NULL;
    lt_tensor *in = widened(s, self);
    lt_tensor *deviations = do_sub(s, in, do_mean_kept(s, in, dim));
    return do_div(s, do_sum_dims(s, squared(s, deviations), dim, keepdim), do_number(s, freedom));
}

lt_status lt_var_impl(lt_tensor *self, const lt_dims *dim, lt_scalar correction, bool keepdim, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *result = variance(&s, self, dim, correction, keepdim);
    return lt_scope_store(&s, do_cast(&s, result, (lt_dtype)self->dtype), out);
}

lt_status lt_std_impl(lt_tensor *self, const lt_dims *dim, lt_scalar correction, bool keepdim, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *result = do_sqrt(&s, variance(&s, self, dim, correction, keepdim));
    return lt_scope_store(&s, do_cast(&s, result, (lt_dtype)self->dtype), out);
}

lt_status lt_var_unbiased_impl(lt_tensor *self, bool unbiased, lt_tensor **out)
{
    return lt_var(self, NULL, lt_int(unbiased), false, out);
}

lt_status lt_var_dim_impl(lt_tensor *self, const lt_dims *dim, bool unbiased, bool keepdim, lt_tensor **out)
{
    return lt_var(self, dim, lt_int(unbiased), keepdim, out);
}

lt_status lt_std_unbiased_impl(lt_tensor *self, bool unbiased, lt_tensor **out)
{
    return lt_std(self, NULL, lt_int(unbiased), false, out);
}

lt_status lt_std_dim_impl(lt_tensor *self, const lt_dims *dim, bool unbiased, bool keepdim, lt_tensor **out)
{
    return lt_std(self, dim, lt_int(unbiased), keepdim, out);
}

/* ---- logsumexp --------------------------------------------------------------------------------------------- */

/* The largest elements, which are taken out of the exponents; 0 where they are infinite. */
static lt_tensor *shift_of(lt_scope *s, lt_tensor *in, const lt_dims *dim)
{
    lt_tensor *largest = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_amax(in, dim, true, &largest);
    largest = lt_scope_hold(s, status, largest);
    return do_where(s, do_isinf(s, largest), do_number(s, 0), largest);
}

static lt_tensor *sum_of_shifted(lt_scope *s, lt_tensor *in, const lt_dims *dim, bool keepdim)
{
    lt_dims sizes = {.n = 0};
    lt_tensor *shift = shift_of(s, in, dim);
    lt_tensor *sum = do_log(s, do_sum_dims(s, do_exp(s, do_sub(s, in, shift)), dim, keepdim));
    if (s->status != LT_OK) return NULL;
    sizes = lt_dims_of(sum);
    return do_add(s, sum, do_reshape(s, shift, &sizes));
}

lt_status lt_logsumexp_impl(lt_tensor *self, const lt_dims *dim, bool keepdim, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, false);
    lt_dtype own = (lt_dtype)self->dtype, result = lt_dtype_is_float(own) ? own : lt_default_dtype();
    lt_tensor *in = widened(&s, result == own ? self : do_cast(&s, self, result));
    lt_tensor *sum;
    if (self->numel > 0)
        sum = sum_of_shifted(&s, in, dim, keepdim);
    else
        sum = do_log(&s, do_sum_dims(&s, do_exp(&s, in), dim, keepdim));
    return lt_scope_store(&s, do_cast(&s, sum, result), out);
}
