/* statistics.c - variance, standard deviation and logsumexp, each a reduction of the backend. */
#include <math.h>

#include "ops/compose.h"
#include "ops/pointwise.h"
#include "statistics.h"
#include "op/logsumexp.h"
#include "op/std.h"
#include "op/var.h"

lt_status lt_count_reduced(const lt_dims *sizes, const lt_dims *dims, double *count)
{
    uint32_t mask;
    LT_TRY(lt_dims_mask(dims, sizes->n, &mask));
    *count = 1;
    for (int d = 0; d < sizes->n; d++)
        if (mask >> d & 1) *count *= (double)sizes->v[d];
    return LT_OK;
}

lt_status lt_degrees_of_freedom(const lt_tensor *self, const lt_dims *dims, lt_scalar correction,
                                double *freedom)
{
    lt_dims sizes = lt_dims_of(self);
    LT_TRY(lt_count_reduced(&sizes, dims, freedom));
    /* 0 for an empty tensor, with any correction */
    if (*freedom > 0) *freedom = fmax(*freedom - lt_scalar_double(correction), 0);
    return LT_OK;
}

/* ---- variance -------------------------------------------------------------------------------- */

static lt_status variance(lt_reduction op, lt_tensor *self, const lt_dims *dim,
                          lt_scalar correction, bool keepdim, lt_tensor **out)
{
    double freedom;
    if (!lt_dtype_is_inexact((lt_dtype)self->dtype))
        return lt_error(LT_ERR_RUNTIME,
                        "std and var only support floating point and complex dtypes");
    LT_TRY(lt_degrees_of_freedom(self, dim, correction, &freedom));
    return lt_reduce_over(op, self, dim, keepdim, lt_real_of((lt_dtype)self->dtype), freedom, out);
}

lt_status lt_var_impl(lt_tensor *self, const lt_dims *dim, lt_scalar correction, bool keepdim,
                      lt_tensor **out)
{
    return variance(LT_REDUCE_VAR, self, dim, correction, keepdim, out);
}

lt_status lt_std_impl(lt_tensor *self, const lt_dims *dim, lt_scalar correction, bool keepdim,
                      lt_tensor **out)
{
    return variance(LT_REDUCE_STD, self, dim, correction, keepdim, out);
}

lt_status lt_var_unbiased_impl(lt_tensor *self, bool unbiased, lt_tensor **out)
{
    return lt_var(self, NULL, lt_scalar_from_int(unbiased), false, out);
}

lt_status lt_var_dim_impl(lt_tensor *self, const lt_dims *dim, bool unbiased, bool keepdim,
                          lt_tensor **out)
{
    return lt_var(self, dim, lt_scalar_from_int(unbiased), keepdim, out);
}

lt_status lt_std_unbiased_impl(lt_tensor *self, bool unbiased, lt_tensor **out)
{
    return lt_std(self, NULL, lt_scalar_from_int(unbiased), false, out);
}

lt_status lt_std_dim_impl(lt_tensor *self, const lt_dims *dim, bool unbiased, bool keepdim,
                          lt_tensor **out)
{
    return lt_std(self, dim, lt_scalar_from_int(unbiased), keepdim, out);
}

/* ---- logsumexp ------------------------------------------------------------------------------- */

lt_status lt_logsumexp_impl(lt_tensor *self, const lt_dims *dim, bool keepdim, lt_tensor **out)
{
    lt_dtype own = (lt_dtype)self->dtype;
    if (lt_dtype_is_inexact(own))
        return lt_reduce_over(LT_REDUCE_LOGSUMEXP, self, dim, keepdim, own, 0, out);
    lt_tensor *in = NULL;
    LT_TRY(lt_cast(self, lt_get_default_dtype(), &in));
    lt_status status =
        lt_reduce_over(LT_REDUCE_LOGSUMEXP, in, dim, keepdim, lt_get_default_dtype(), 0, out);
    lt_tensor_release(in);
    return status;
}
