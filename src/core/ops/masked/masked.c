/* masked.c - reductions and normalizations of the elements where a mask is true: torch.masked. Other
 * elements are replaced by the neutral element, which is the result if no element is left. */
#include <math.h>

#include "dtypes/fits.h"
#include "ops/steps.h"
#include "op/argmax.h"
#include "op/argmin.h"
#include "op/linalg_vector_norm.h"
#include "op/log_softmax.h"
#include "op/logsumexp.h"
#include "op/masked_amax.h"
#include "op/masked_amin.h"
#include "op/masked_argmax.h"
#include "op/masked_argmin.h"
#include "op/masked_cumprod.h"
#include "op/masked_cumsum.h"
#include "op/masked_log_softmax.h"
#include "op/masked_logaddexp.h"
#include "op/masked_logsumexp.h"
#include "op/masked_mean.h"
#include "op/masked_median.h"
#include "op/masked_norm.h"
#include "op/masked_normalize.h"
#include "op/masked_prod.h"
#include "op/masked_softmax.h"
#include "op/masked_softmin.h"
#include "op/masked_std.h"
#include "op/masked_sum.h"
#include "op/masked_var.h"
#include "op/amax.h"
#include "op/amin.h"
#include "op/cumprod.h"
#include "op/cumsum.h"
#include "op/nanmedian.h"
#include "op/prod.h"
#include "op/softmax.h"
#include "op/softmin.h"
#include "op/sum.h"
#include "step/clamp_min.h"
#include "step/conj.h"
#include "step/logaddexp.h"

/* Holds the result of a call with the output `result`. */
#define HOLD(call)                                                                                 \
    lt_tensor *result = NULL;                                                                      \
    if (s->status != LT_OK) return NULL;                                                           \
    const lt_status status = call;                                                                 \
    return lt_scope_hold(s, status, result);

/* ---- masks ----------------------------------------------------------------------------------- */

/* x where the mask is true, otherwise the number; the mask broadcasts to x. */
static lt_tensor *do_filled(lt_scope *s, lt_tensor *x, lt_tensor *mask, lt_scalar number)
{
    if (mask == NULL || s->status != LT_OK) return x;
    if (mask->dtype != LT_BOOL) {
        s->status = lt_error(LT_ERR_RUNTIME, "expected a mask of bools, got torch.%s",
                             lt_dtype_name((lt_dtype)mask->dtype));
        return NULL;
    }
    if (mask->ndim > x->ndim) {
        s->status = lt_error(LT_ERR_RUNTIME, "_input_mask expected broadcastable mask (got mask "
                                             "dimensionality higher than of the input)");
        return NULL;
    }
    const lt_dims sizes = lt_dims_of(x);
    return do_where(s, do_expand(s, mask, &sizes), x, do_scalar(s, number));
}

static const lt_dims *all_or(const lt_dims *dim) { return dim != NULL && dim->n > 0 ? dim : NULL; }

static lt_tensor *do_cast_if(lt_scope *s, lt_tensor *t, lt_dtype dtype)
{
    return dtype == LT_DTYPE_NONE ? t : do_cast(s, t, dtype);
}

static lt_dtype dtype_or(lt_dtype dtype, const lt_tensor *x)
{
    return dtype == LT_DTYPE_NONE ? (lt_dtype)x->dtype : dtype;
}

/* ---- sums and products ----------------------------------------------------------------------- */

/* Integers below int64 are summed in int64. */
static lt_dtype sum_dtype(lt_dtype dtype, const lt_tensor *x)
{
    if (dtype != LT_DTYPE_NONE) return dtype;
    switch ((lt_dtype)x->dtype) {
    case LT_UINT8:
    case LT_BOOL:
    case LT_INT8:
    case LT_INT16:
    case LT_INT32: return LT_INT64;
    default: return (lt_dtype)x->dtype;
    }
}

/* The arguments of a reduction. */
typedef struct masked_reduction {
    const lt_dims *dim;
    bool keepdim;
    lt_dtype dtype;
    lt_tensor *mask;
} masked_reduction;

static lt_tensor *do_masked_sum(lt_scope *s, lt_tensor *x, const masked_reduction *r)
{
    lt_tensor *filled = do_filled(s, x, r->mask, lt_scalar_from_int(0));
    HOLD(lt_sum_dim(filled, all_or(r->dim), r->keepdim, sum_dtype(r->dtype, x), &result))
}

lt_status lt_masked_sum_impl(lt_tensor *input, const lt_dims *dim, bool keepdim, lt_dtype dtype,
                             lt_tensor *mask, lt_tensor **out)
{
    const masked_reduction r = {dim, keepdim, dtype, mask};
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(masked_sum));
    return lt_scope_return(&s, do_masked_sum(&s, input, &r), out);
}

static lt_tensor *do_prod_along(lt_scope *s, lt_tensor *t, int64_t dim, bool keepdim,
                                lt_dtype dtype){HOLD(lt_prod_dim(t, dim, keepdim, dtype, &result))}

lt_status lt_masked_prod_impl(lt_tensor *input, const lt_dims *dim, bool keepdim, lt_dtype dtype,
                              lt_tensor *mask, lt_tensor **out)
{
    uint32_t dims;
    const bool single = input->ndim == 0 && dim != NULL && dim->n > 0;
    LT_TRY(lt_dims_mask(dim, single ? 1 : input->ndim, &dims));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(masked_prod));
    const lt_dtype wanted = sum_dtype(dtype, input);
    lt_tensor *t = do_filled(&s, input, mask, lt_scalar_from_int(1));
    for (int d = LT_MAX_DIMS - 1; d >= 0; d--)
        if (d < 32 && (dims >> d & 1) != 0) t = do_prod_along(&s, t, d, keepdim, wanted);
    if (dims == 0) t = do_cast(&s, do_clone(&s, t), wanted);
    return lt_scope_return(&s, t, out);
}

/* The number of elements where the mask is true. */
static lt_tensor *do_count(lt_scope *s, lt_tensor *x, const lt_dims *dim, bool keepdim,
                           lt_tensor *mask)
{
    if (s->status != LT_OK) return NULL;
    if (mask == NULL) {
        uint32_t dims;
        int64_t n = 1;
        s->status = lt_dims_mask(dim, x->ndim, &dims);
        for (int d = 0; d < x->ndim && s->status == LT_OK; d++)
            if ((dims >> d & 1) != 0) n *= x->sizes[d];
        return do_number(s, (double)n);
    }
    const lt_dims sizes = lt_dims_of(x);
    lt_tensor *counted = do_expand(s, mask, &sizes);
    HOLD(lt_sum_dim(counted, all_or(dim), keepdim, LT_INT64, &result))
}

static lt_tensor *do_masked_mean(lt_scope *s, lt_tensor *x, const masked_reduction *r)
{
    lt_tensor *sum = do_masked_sum(s, x, r);
    return do_div(s, sum, do_count(s, x, r->dim, r->keepdim, r->mask));
}

lt_status lt_masked_mean_impl(lt_tensor *input, const lt_dims *dim, bool keepdim, lt_dtype dtype,
                              lt_tensor *mask, lt_tensor **out)
{
    const masked_reduction r = {dim, keepdim, dtype_or(dtype, input), mask};
    if (!lt_dtype_is_inexact(r.dtype))
        return lt_error(LT_ERR_RUNTIME,
                        "mean(): Could not infer output dtype. %s dtype must be either a floating "
                        "point or complex dtype. Got: torch.%s",
                        dtype != LT_DTYPE_NONE ? "Optional" : "Input", lt_dtype_name(r.dtype));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(masked_mean));
    return lt_scope_return(&s, do_masked_mean(&s, input, &r), out);
}

typedef struct masked_spread {
    const lt_dims *dim;
    const bool *unbiased;
    const lt_scalar *correction;
    bool keepdim;
    lt_dtype dtype;
    lt_tensor *mask;
} masked_spread;

static lt_tensor *do_variance(lt_scope *s, lt_tensor *x, const masked_spread *v)
{
    if (v->unbiased != NULL && v->correction != NULL)
        s->status = lt_error(LT_ERR_RUNTIME, "Only one of unbiased and correction may be given");
    const double correction = v->correction != NULL ? lt_scalar_double(*v->correction)
                              : v->unbiased != NULL && !*v->unbiased ? 0
                                                                     : 1;
    lt_dtype wanted = dtype_or(v->dtype, x);
    if (!lt_dtype_is_inexact(wanted)) wanted = LT_FLOAT32;
    const lt_dtype compute = wanted == LT_FLOAT16 || wanted == LT_BFLOAT16 ? LT_FLOAT32 : wanted;
    const masked_reduction center = {v->dim, true, wanted, v->mask},
                           total = {v->dim, v->keepdim, compute, v->mask};
    lt_tensor *distance = do_sub(s, x, do_masked_mean(s, x, &center));
    lt_tensor *squares = do_mul(s, distance, do_conj(s, distance));
    lt_tensor *sum = squares == NULL ? NULL : do_masked_sum(s, squares, &total);
    lt_tensor *freedom = do_sub(s, do_count(s, x, v->dim, v->keepdim, v->mask),
                                do_scalar(s, correction == floor(correction)
                                                 ? lt_scalar_from_int((int64_t)correction)
                                                 : lt_scalar_from_float(correction)));
    freedom = do_clamp_min(s, freedom, lt_scalar_from_int(0));
    return do_cast(s, do_div(s, sum, freedom), wanted);
}

lt_status lt_masked_var_impl(lt_tensor *input, const lt_dims *dim, const bool *unbiased,
                             const lt_scalar *correction, bool keepdim, lt_dtype dtype,
                             lt_tensor *mask, lt_tensor **out)
{
    const masked_spread v = {dim, unbiased, correction, keepdim, dtype, mask};
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(masked_var));
    return lt_scope_return(&s, do_variance(&s, input, &v), out);
}

lt_status lt_masked_std_impl(lt_tensor *input, const lt_dims *dim, const bool *unbiased,
                             const lt_scalar *correction, bool keepdim, lt_dtype dtype,
                             lt_tensor *mask, lt_tensor **out)
{
    const masked_spread v = {dim, unbiased, correction, keepdim, dtype, mask};
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(masked_std));
    return lt_scope_return(&s, do_sqrt(&s, do_variance(&s, input, &v)), out);
}

/* ---- extremes and order ---------------------------------------------------------------------- */

typedef lt_status extreme_op(const lt_tensor *self, const lt_dims *dim, bool keepdim,
                             lt_tensor **out);
typedef lt_status place_op(const lt_tensor *self, const int64_t *dim, bool keepdim,
                           lt_tensor **out);

static lt_tensor *do_extreme(lt_scope *s, extreme_op *op, lt_tensor *x, const masked_reduction *r)
{
    HOLD(op(x, all_or(r->dim), r->keepdim, &result))
}

static lt_tensor *do_place(lt_scope *s, place_op *op, lt_tensor *x, const int64_t *dim,
                           bool keepdim){HOLD(op(x, dim, keepdim, &result))}

lt_status lt_masked_amax_impl(lt_tensor *input, const lt_dims *dim, bool keepdim, lt_dtype dtype,
                              lt_tensor *mask, lt_tensor **out)
{
    const masked_reduction r = {dim, keepdim, dtype, mask};
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(masked_amax));
    lt_tensor *filled = do_filled(&s, input, mask, lt_extreme_of((lt_dtype)input->dtype, false));
    return lt_scope_return(&s, do_cast_if(&s, do_extreme(&s, lt_amax, filled, &r), dtype), out);
}

lt_status lt_masked_amin_impl(lt_tensor *input, const lt_dims *dim, bool keepdim, lt_dtype dtype,
                              lt_tensor *mask, lt_tensor **out)
{
    const masked_reduction r = {dim, keepdim, dtype, mask};
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(masked_amin));
    lt_tensor *filled = do_filled(&s, input, mask, lt_extreme_of((lt_dtype)input->dtype, true));
    return lt_scope_return(&s, do_cast_if(&s, do_extreme(&s, lt_amin, filled, &r), dtype), out);
}

lt_status lt_masked_argmax_impl(lt_tensor *input, const int64_t *dim, bool keepdim, lt_dtype dtype,
                                lt_tensor *mask, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(masked_argmax));
    lt_tensor *filled = do_filled(&s, input, mask, lt_extreme_of((lt_dtype)input->dtype, false));
    lt_tensor *place = do_place(&s, lt_argmax, filled, dim, keepdim);
    return lt_scope_return(&s, do_cast(&s, place, dtype_or(dtype, input)), out);
}

lt_status lt_masked_argmin_impl(lt_tensor *input, const int64_t *dim, bool keepdim, lt_dtype dtype,
                                lt_tensor *mask, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(masked_argmin));
    lt_tensor *filled = do_filled(&s, input, mask, lt_extreme_of((lt_dtype)input->dtype, true));
    lt_tensor *place = do_place(&s, lt_argmin, filled, dim, keepdim);
    return lt_scope_return(&s, do_cast(&s, place, dtype_or(dtype, input)), out);
}

lt_status lt_masked_median_impl(lt_tensor *input, int64_t dim, bool keepdim, lt_dtype dtype,
                                lt_tensor *mask, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(masked_median));
    const bool exact = !lt_dtype_is_inexact((lt_dtype)input->dtype);
    lt_tensor *x = exact ? do_cast(&s, input, LT_FLOAT32) : input, *values = NULL, *at = NULL;
    x = do_filled(&s, x, mask, lt_scalar_from_float(NAN));
    if (s.status != LT_OK) return lt_scope_close(&s);
    const lt_status found = lt_nanmedian_dim(x, dim, keepdim, &values, &at);
    if (found == LT_OK) lt_tensor_release(at);
    values = lt_scope_hold(&s, found, values);
    bool none = false;
    if (exact && lt_any_set(&s, do_isnan(&s, values), &none) == LT_OK && none)
        s.status = lt_error(LT_ERR_RUNTIME, "masked median expects no fully masked out rows if "
                                            "dtype is not floating point");
    return lt_scope_return(&s, exact ? do_cast(&s, values, dtype_or(dtype, input)) : values, out);
}

/* ---- exponentials ---------------------------------------------------------------------------- */

lt_status lt_masked_logsumexp_impl(lt_tensor *input, const lt_dims *dim, bool keepdim,
                                   lt_dtype dtype, lt_tensor *mask, lt_tensor **out)
{
    lt_dims dims = {.n = 0};
    if (all_or(dim) != NULL) dims = *dim;
    for (int d = 0; all_or(dim) == NULL && d < input->ndim; d++) dims.v[dims.n++] = d;
    if (dims.n == 0) dims = (lt_dims){1, {-1}};
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(masked_logsumexp));
    lt_tensor *x = do_filled(&s, input, mask, lt_extreme_of((lt_dtype)input->dtype, false)),
              *sum = NULL;
    if (s.status == LT_OK) {
        const lt_status status = lt_logsumexp(x, &dims, keepdim, &sum);
        sum = lt_scope_hold(&s, status, sum);
    }
    return lt_scope_return(&s, do_cast(&s, sum, dtype_or(dtype, input)), out);
}

lt_status lt_masked_logaddexp_impl(lt_tensor *input, lt_tensor *other, lt_dtype dtype,
                                   lt_tensor *input_mask, lt_tensor *other_mask, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(masked_logaddexp));
    const lt_scalar low = lt_scalar_from_float(-INFINITY);
    lt_tensor *a = do_filled(&s, input, input_mask, low),
              *b = do_filled(&s, other, other_mask, low);
    return lt_scope_return(&s, do_cast(&s, do_logaddexp(&s, a, b), dtype_or(dtype, input)), out);
}

typedef lt_status line_op(const lt_tensor *self, int64_t dim, lt_dtype dtype, lt_tensor **out);

static lt_tensor *do_line(lt_scope *s, line_op *op, lt_tensor *x, int64_t dim,
                          lt_dtype dtype){HOLD(op(x, dim, dtype, &result))}

#define MASKED_LINE(name, number, of_input)                                                        \
    lt_status lt_masked_##name##_impl(lt_tensor *input, int64_t dim, lt_dtype dtype,               \
                                      lt_tensor *mask, lt_tensor **out)                            \
    {                                                                                              \
        lt_scope s;                                                                                \
        lt_scope_open(&s, LT_COMPOSITE(masked_##name));                                            \
        lt_tensor *x = do_filled(&s, input, mask, number);                                         \
        return lt_scope_return(                                                                    \
            &s, do_line(&s, lt_##name, x, dim, (of_input) ? dtype_or(dtype, input) : dtype), out); \
    }
MASKED_LINE(cumsum, lt_scalar_from_int(0), true) MASKED_LINE(cumprod, lt_scalar_from_int(1), true)
    MASKED_LINE(softmax, lt_scalar_from_float(-INFINITY), false)
        MASKED_LINE(log_softmax, lt_scalar_from_float(-INFINITY), false)
            MASKED_LINE(softmin, lt_scalar_from_float(INFINITY), false)
#undef MASKED_LINE

    /* ---- norms ----------------------------------------------------------------------------------- */

    static lt_tensor *do_norm(lt_scope *s, lt_tensor *x, lt_scalar ord, const masked_reduction *r)
{
    const bool lowest = ord.kind == LT_SCALAR_FLOAT && ord.v.d == -INFINITY;
    lt_tensor *filled =
        do_filled(s, x, r->mask, lowest ? lt_scalar_from_float(INFINITY) : lt_scalar_from_int(0));
    HOLD(lt_linalg_vector_norm(filled, ord, all_or(r->dim), r->keepdim, r->dtype, &result))
}

lt_status lt_masked_norm_impl(lt_tensor *input, lt_scalar ord, const lt_dims *dim, bool keepdim,
                              lt_dtype dtype, lt_tensor *mask, lt_tensor **out)
{
    const masked_reduction r = {dim, keepdim, dtype, mask};
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(masked_norm));
    return lt_scope_return(&s, do_norm(&s, input, ord, &r), out);
}

lt_status lt_masked_normalize_impl(lt_tensor *input, lt_scalar ord, int64_t dim, double eps,
                                   lt_dtype dtype, lt_tensor *mask, lt_tensor **out)
{
    const lt_dims dims = {1, {dim}};
    const masked_reduction r = {&dims, true, dtype, mask};
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(masked_normalize));
    lt_tensor *length = do_clamp_min(&s, do_norm(&s, input, ord, &r), lt_scalar_from_float(eps));
    lt_tensor *x = do_cast_if(&s, do_filled(&s, input, mask, lt_scalar_from_int(0)), dtype);
    return lt_scope_return(&s, do_div(&s, x, length), out);
}
