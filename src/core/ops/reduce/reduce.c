/* reduce.c - sums, products, extremes, truth values and norms over dimensions, each one pass of a
 * backend's kernel. Variance and logsumexp are in statistics.c, the derivatives in backward.c. */
#include <math.h>
#include <string.h>

#include "saturating.h"
#include "ops/compose.h"
#include "user_index.h"
#include "devices/device_type.h"
#include "iter.h"
#include "ops/pointwise.h"
#include "complex.h"
#include "kernel.h"
#include "statistics.h"
#include "op/_to_copy.h"
#include "op/all.h"
#include "op/amax.h"
#include "op/amin.h"
#include "op/aminmax.h"
#include "op/any.h"
#include "op/argmax.h"
#include "op/argmin.h"
#include "op/clone.h"
#include "op/count_nonzero.h"
#include "op/cumprod.h"
#include "op/cumsum.h"
#include "op/linalg_matrix_norm.h"
#include "op/linalg_vector_norm.h"
#include "op/logcumsumexp.h"
#include "op/max.h"
#include "op/maximum.h"
#include "op/mean.h"
#include "op/min.h"
#include "op/minimum.h"
#include "op/norm.h"
#include "op/prod.h"
#include "op/sum.h"
#include "op/trace.h"

static bool is_complex(const lt_tensor *t) { return lt_dtype_is_complex((lt_dtype)t->dtype); }

lt_status lt_reduce_over(lt_reduction op, lt_tensor *self, const lt_dims *dims, bool keepdim,
                         lt_dtype result, double parameter, lt_tensor **out)
{
    uint32_t mask;
    LT_TRY(lt_dims_mask(dims, self->ndim, &mask));
    if (is_complex(self)) return lt_reduce_complex(op, self, mask, keepdim, result, parameter, out);
    return lt_reduce_real(op, self, mask, keepdim, result, parameter, out);
}

/* The dtype in which an unsigned dtype is reduced: bool for tests against 0, int64 for sums and
 * products. LT_DTYPE_NONE: refused. */
static lt_dtype read_unsigned(lt_reduction op)
{
    if (op == LT_REDUCE_ANY || op == LT_REDUCE_ALL || op == LT_REDUCE_COUNT) return LT_BOOL;
    return op == LT_REDUCE_SUM || op == LT_REDUCE_PROD ? LT_INT64 : LT_DTYPE_NONE;
}

/* The dtypes of the converted input and of the result. */
typedef struct reduced_dtypes {
    lt_dtype read, result;
} reduced_dtypes;

/* Calls lt_reduce_over on the input converted to dtypes.read. */
static lt_status do_reduce(lt_reduction op, lt_tensor *self, const lt_dims *dims, bool keepdim,
                           reduced_dtypes dtypes, double parameter, lt_tensor **out)
{
    lt_dtype read = dtypes.read;
    if (lt_dtype_is_unsigned(read)) {
        read = read_unsigned(op);
        if (read == LT_DTYPE_NONE)
            return lt_refuse_unsigned(op == LT_REDUCE_MAX ? "max" : "min", self);
    }
    if ((lt_dtype)self->dtype == read)
        return lt_reduce_over(op, self, dims, keepdim, dtypes.result, parameter, out);
    lt_tensor *in = NULL;
    LT_TRY(lt_cast(self, read, &in));
    lt_status status = lt_reduce_over(op, in, dims, keepdim, dtypes.result, parameter, out);
    lt_tensor_release(in);
    return status;
}

/* ---- sums and products ----------------------------------------------------------------------- */

static lt_status total(lt_reduction op, lt_tensor *self, const lt_dims *dims, bool keepdim,
                       lt_dtype dtype, lt_tensor **out)
{
    lt_dtype own = (lt_dtype)self->dtype;
    lt_dtype result = dtype != LT_DTYPE_NONE ? dtype : lt_dtype_is_integral(own) ? LT_INT64 : own;
    return do_reduce(op, self, dims, keepdim,
                     (reduced_dtypes){dtype != LT_DTYPE_NONE ? dtype : own, result}, 0, out);
}

lt_status lt_sum_impl(lt_tensor *self, lt_dtype dtype, lt_tensor **out)
{
    return total(LT_REDUCE_SUM, self, NULL, false, dtype, out);
}

lt_status lt_sum_dim_impl(lt_tensor *self, const lt_dims *dim, bool keepdim, lt_dtype dtype,
                          lt_tensor **out)
{
    return total(LT_REDUCE_SUM, self, dim, keepdim, dtype, out);
}

lt_status lt_prod_impl(lt_tensor *self, lt_dtype dtype, lt_tensor **out)
{
    return total(LT_REDUCE_PROD, self, NULL, false, dtype, out);
}

lt_status lt_prod_dim_impl(lt_tensor *self, int64_t dim, bool keepdim, lt_dtype dtype,
                           lt_tensor **out)
{
    lt_dims dims = {.n = 1, .v = {dim}};
    return total(LT_REDUCE_PROD, self, &dims, keepdim, dtype, out);
}

lt_status lt_mean_dim_impl(lt_tensor *self, const lt_dims *dim, bool keepdim, lt_dtype dtype,
                           lt_tensor **out)
{
    lt_dtype read = dtype != LT_DTYPE_NONE ? dtype : (lt_dtype)self->dtype;
    if (!lt_dtype_is_inexact(read))
        return lt_error(
            LT_ERR_RUNTIME,
            "mean(): could not infer output dtype. Input dtype must be either a floating point or "
            "complex dtype. Got: %s",
            lt_dtype_scalar_name(read));
    return do_reduce(LT_REDUCE_MEAN, self, dim, keepdim, (reduced_dtypes){read, read}, 0, out);
}

lt_status lt_mean_impl(lt_tensor *self, lt_dtype dtype, lt_tensor **out)
{
    return lt_mean_dim_impl(self, NULL, false, dtype, out);
}

lt_status lt_count_nonzero_impl(lt_tensor *self, const lt_dims *dim, lt_tensor **out)
{
    return do_reduce(LT_REDUCE_COUNT, self, dim, false,
                     (reduced_dtypes){(lt_dtype)self->dtype, LT_INT64}, 0, out);
}

lt_status lt_trace_impl(lt_tensor *self, lt_tensor **out)
{
    if (self->ndim != 2)
        return lt_error(LT_ERR_RUNTIME, "trace: expected a matrix, but got tensor with dim %d",
                        self->ndim);
    if ((lt_dtype)self->dtype == LT_BOOL)
        return lt_error(LT_ERR_RUNTIME, "\"trace\" not implemented for 'Bool'");
    int64_t n = self->sizes[0] < self->sizes[1] ? self->sizes[0] : self->sizes[1];
    int64_t step = lt_add_within(self->strides[0], self->strides[1]);
    lt_tensor *diagonal = NULL;
    LT_TRY(lt_tensor_view(self, 1, &n, &step, self->offset, &diagonal));
    lt_status status = lt_sum_impl(diagonal, LT_DTYPE_NONE, out);
    lt_tensor_release(diagonal);
    return status;
}

/* ---- extremes -------------------------------------------------------------------------------- */

static lt_status needs_dim(const char *op)
{
    return lt_error(
        LT_ERR_RUNTIME,
        "%s(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
        "reduction dim with the 'dim' argument.",
        op);
}

static lt_status check_not_empty(const char *op, const lt_tensor *self, uint32_t mask)
{
    for (int d = 0; d < self->ndim; d++)
        if ((mask >> d & 1) && self->sizes[d] == 0)
            return lt_error(LT_ERR_INDEX,
                            "%s(): Expected reduction dim %lld to have non-zero size.", op,
                            lt_user_index(d));
    return LT_OK;
}

static lt_status extreme_of_all(lt_reduction op, const char *name, lt_tensor *self, lt_tensor **out)
{
    if (self->numel == 0) return needs_dim(name);
    return do_reduce(op, self, NULL, false,
                     (reduced_dtypes){(lt_dtype)self->dtype, (lt_dtype)self->dtype}, 0, out);
}

lt_status lt_max_impl(lt_tensor *self, lt_tensor **out)
{
    return extreme_of_all(LT_REDUCE_MAX, "max", self, out);
}
lt_status lt_min_impl(lt_tensor *self, lt_tensor **out)
{
    return extreme_of_all(LT_REDUCE_MIN, "min", self, out);
}

lt_status lt_max_other_impl(lt_tensor *self, lt_tensor *other, lt_tensor **out)
{
    return lt_maximum(self, other, out);
}
lt_status lt_min_other_impl(lt_tensor *self, lt_tensor *other, lt_tensor **out)
{
    return lt_minimum(self, other, out);
}

static lt_status refuse_complex(const char *name, const lt_tensor *self)
{
    if (!lt_dtype_is_complex((lt_dtype)self->dtype)) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "\"%s\" not implemented for '%s'", name,
                    lt_dtype_scalar_name((lt_dtype)self->dtype));
}

static lt_status extreme_over(lt_reduction op, const char *name, lt_tensor *self,
                              const lt_dims *dim, bool keepdim, lt_tensor **out)
{
    uint32_t mask;
    LT_TRY(lt_dims_mask(dim, self->ndim, &mask));
    if (self->numel == 0 && (dim == NULL || dim->n == 0)) return needs_dim(name);
    LT_TRY(check_not_empty(name, self, mask));
    LT_TRY(lt_refuse_unsigned(name, self));
    LT_TRY(refuse_complex(op == LT_REDUCE_MAX ? "max_values_cpu" : "min_values_cpu", self));
    return lt_reduce_real(op, self, mask, keepdim, (lt_dtype)self->dtype, 0, out);
}

lt_status lt_amax_impl(lt_tensor *self, const lt_dims *dim, bool keepdim, lt_tensor **out)
{
    return extreme_over(LT_REDUCE_MAX, "amax", self, dim, keepdim, out);
}

lt_status lt_amin_impl(lt_tensor *self, const lt_dims *dim, bool keepdim, lt_tensor **out)
{
    return extreme_over(LT_REDUCE_MIN, "amin", self, dim, keepdim, out);
}

lt_status lt_aminmax_impl(lt_tensor *self, const int64_t *dim, bool keepdim, lt_tensor **out_min,
                          lt_tensor **out_max)
{
    lt_dims dims = {.n = 1, .v = {dim != NULL ? *dim : 0}};
    const lt_dims *over = dim != NULL ? &dims : NULL;
    if (self->numel == 0 && dim == NULL)
        return lt_error(
            LT_ERR_RUNTIME,
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has "
            "no identity.");
    LT_TRY(refuse_complex("aminmax_cpu", self));
    LT_TRY(lt_amin(self, over, keepdim, out_min));
    lt_status status = lt_amax(self, over, keepdim, out_max);
    if (status == LT_OK) return LT_OK;
    lt_tensor_release(*out_min);
    *out_min = NULL;
    return status;
}

/* The geometry of a result for the backend: size 1 in dim, whether or not the tensor keeps it. */
typedef struct kept {
    lt_array array;
    int64_t sizes[LT_MAX_DIMS], strides[LT_MAX_DIMS];
} kept;

static const lt_array *keep_dim(kept *k, const lt_array *in, int dim, const lt_tensor *t)
{
    if (t == NULL) return NULL;
    for (int d = 0; d < in->ndim; d++) k->sizes[d] = d == dim ? 1 : in->sizes[d];
    lt_contiguous_strides(in->ndim, k->sizes, k->strides);
    k->array = (lt_array){lt_data(t), (lt_dtype)t->dtype, in->ndim, k->sizes,
                          k->strides, t->device,          0,        NULL};
    return &k->array;
}

/* The extremes of self along dim and their indices, *out_... as in lt_output; out_values NULL: not
 * requested. */
static lt_status extreme_along(const char *name, bool maximum, lt_tensor *self, int64_t dim,
                               bool keepdim, lt_tensor **out_values, lt_tensor **out_indices)
{
    int d, ndim;
    int64_t sizes[LT_MAX_DIMS];
    lt_tensor *values = NULL, *indices = NULL;
    lt_status status;
    kept v, i;
    LT_TRY(lt_wrap_dim(dim, self->ndim, &d));
    if (is_complex(self))
        return lt_error(LT_ERR_RUNTIME, "%s(): does not support complex input", name);
    LT_TRY(lt_refuse_unsigned(name, self));
    LT_TRY(check_not_empty(name, self, 1u << d));
    ndim = lt_reduced_shape(self, 1u << d, keepdim, sizes);
    if (out_values != NULL)
        LT_CHECK(
            lt_begin_output(out_values, (lt_dtype)self->dtype, self->device, ndim, sizes, &values));
    LT_CHECK(lt_begin_output(out_indices, LT_INT64, self->device, ndim, sizes, &indices));
    if (indices->numel > 0) {
        lt_array in = lt_slice_array_of(self);
        LT_CHECK(lt_backend_of(self)->extreme(maximum, keep_dim(&v, &in, d, values),
                                              keep_dim(&i, &in, d, indices), &in, d));
    }
    return lt_finish_outputs(out_values, values, out_indices, indices);
done:
    lt_tensor_release(values);
    lt_tensor_release(indices);
    return status;
}

lt_status lt_max_dim_impl(lt_tensor *self, int64_t dim, bool keepdim, lt_tensor **out_values,
                          lt_tensor **out_indices)
{
    return extreme_along("max", true, self, dim, keepdim, out_values, out_indices);
}

lt_status lt_min_dim_impl(lt_tensor *self, int64_t dim, bool keepdim, lt_tensor **out_values,
                          lt_tensor **out_indices)
{
    return extreme_along("min", false, self, dim, keepdim, out_values, out_indices);
}

static lt_status position(const char *name, bool maximum, lt_tensor *self, const int64_t *dim,
                          bool keepdim, lt_tensor **out)
{
    if ((lt_dtype)self->dtype == LT_BOOL)
        return lt_error(LT_ERR_RUNTIME, "%s(): does not support bool input", name);
    if (dim != NULL) return extreme_along(name, maximum, self, *dim, keepdim, NULL, out);
    if (self->numel == 0)
        return lt_error(LT_ERR_RUNTIME,
                        "%s(): Expected reduction dim to be specified for input.numel() == 0.",
                        name);
    lt_tensor *dense = NULL, *index = NULL;
    lt_dims sizes = {.n = keepdim ? self->ndim : 0};
    for (int d = 0; d < sizes.n; d++) sizes.v[d] = 1;
    lt_scope s;
    lt_scope_open(&s, false);
    lt_status status = lt_make_contiguous(self, &dense);
    dense = lt_scope_hold(&s, status, dense);
    lt_tensor *line = do_reshape(&s, dense, &(lt_dims){1, {self->numel}}),
              *target = lt_scope_target(&s, out, LT_INT64, self->device, &sizes, &(lt_dims){0});
    if (s.status != LT_OK) return lt_scope_close(&s);
    index = target;
    status = extreme_along(name, maximum, line, 0, false, NULL, &index);
    if (target != NULL) {
        s.status = status;
        return lt_scope_close(&s);
    }
    index = lt_scope_hold(&s, status, index);
    return lt_scope_store(&s, keepdim ? do_reshape(&s, index, &sizes) : index, out);
}

lt_status lt_argmax_impl(lt_tensor *self, const int64_t *dim, bool keepdim, lt_tensor **out)
{
    return position("argmax", true, self, dim, keepdim, out);
}

lt_status lt_argmin_impl(lt_tensor *self, const int64_t *dim, bool keepdim, lt_tensor **out)
{
    return position("argmin", false, self, dim, keepdim, out);
}

/* ---- truth values ---------------------------------------------------------------------------- */

/* Whether each element is not 0, in new memory. */
static lt_status each_truth(lt_tensor *self, lt_tensor **out)
{
    return self->dtype == LT_BOOL ? lt_clone(self, out) : lt_cast(self, LT_BOOL, out);
}

/* uint8 has a uint8 result, other dtypes a bool one. An empty list of dims reduces none, unlike for
 * sums. Both as in PyTorch. */
static lt_status reduce_truth(lt_reduction op, lt_tensor *self, const lt_dims *dim, bool keepdim,
                              lt_tensor **out)
{
    lt_tensor *flag = NULL;
    if (dim != NULL && dim->n == 0)
        LT_TRY(each_truth(self, &flag));
    else
        LT_TRY(do_reduce(op, self, dim, keepdim, (reduced_dtypes){(lt_dtype)self->dtype, LT_BOOL},
                         0, &flag));
    lt_status status = lt_cast(flag, (lt_dtype)self->dtype == LT_UINT8 ? LT_UINT8 : LT_BOOL, out);
    lt_tensor_release(flag);
    return status;
}

lt_status lt_any_impl(lt_tensor *self, lt_tensor **out)
{
    return reduce_truth(LT_REDUCE_ANY, self, NULL, false, out);
}
lt_status lt_all_impl(lt_tensor *self, lt_tensor **out)
{
    return reduce_truth(LT_REDUCE_ALL, self, NULL, false, out);
}
lt_status lt_any_dim_impl(lt_tensor *self, const lt_dims *dim, bool keepdim, lt_tensor **out)
{
    return reduce_truth(LT_REDUCE_ANY, self, dim, keepdim, out);
}
lt_status lt_all_dim_impl(lt_tensor *self, const lt_dims *dim, bool keepdim, lt_tensor **out)
{
    return reduce_truth(LT_REDUCE_ALL, self, dim, keepdim, out);
}

/* ---- norms and prefix sums ------------------------------------------------------------------- */

lt_status lt_norm_impl(lt_tensor *self, lt_scalar p, const lt_dims *dim, bool keepdim,
                       lt_dtype dtype, lt_tensor **out)
{
    lt_dtype read = dtype != LT_DTYPE_NONE ? dtype : (lt_dtype)self->dtype;
    double order = lt_scalar_double(p);
    if (!lt_dtype_is_inexact(read) || !lt_dtype_is_inexact((lt_dtype)self->dtype))
        return lt_error(
            LT_ERR_RUNTIME,
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got %s",
            lt_dtype_scalar_name((lt_dtype)self->dtype));
    if (self->numel == 0 && (dim == NULL || dim->n == 0) && (isinf(order) || order < 0))
        return lt_error(LT_ERR_RUNTIME,
                        "linalg.vector_norm cannot compute the %g norm on an empty tensor because "
                        "the operation "
                        "does not have an identity",
                        order);
    for (int i = 0; dim != NULL && i < dim->n && self->numel == 0 && (isinf(order) || order < 0);
         i++) {
        const int64_t d = dim->v[i] < 0 ? dim->v[i] + self->ndim : dim->v[i];
        if (d >= 0 && d < self->ndim && self->sizes[d] == 0)
            return lt_error(LT_ERR_RUNTIME,
                            "linalg.vector_norm cannot compute the %g norm on the dimension %lld "
                            "because this dimension is empty and the "
                            "operation does not have an identity",
                            order, lt_user_index(d));
    }
    return do_reduce(LT_REDUCE_NORM, self, dim, keepdim, (reduced_dtypes){read, read}, order, out);
}

lt_status lt_norm_fro_impl(lt_tensor *self, const char *p, const lt_dims *dim, bool keepdim,
                           lt_dtype dtype, lt_tensor **out)
{
    if (strcmp(p, "nuc") == 0)
        return lt_linalg_matrix_norm_named(self, p, dim, keepdim, dtype, out);
    if (strcmp(p, "fro") != 0) return lt_error(LT_ERR_RUNTIME, "norm: Order %s not supported.", p);
    return lt_norm(self, lt_scalar_from_int(2), dim, keepdim, dtype, out);
}

lt_status lt_linalg_vector_norm_impl(lt_tensor *self, lt_scalar ord, const lt_dims *dim,
                                     bool keepdim, lt_dtype dtype, lt_tensor **out)
{
    return lt_norm(self, ord, dim, keepdim, dtype, out);
}

static lt_status running(lt_scan op, lt_tensor *self, int64_t dim, lt_dtype dtype, lt_tensor **out)
{
    int d;
    LT_TRY(lt_wrap_dim(dim, self->ndim, &d));
    lt_dtype own = (lt_dtype)self->dtype;
    if (lt_dtype_is_complex(dtype != LT_DTYPE_NONE ? dtype : own))
        return lt_scan_complex(op, self, d, dtype, out);
    lt_dtype result = dtype != LT_DTYPE_NONE ? dtype : lt_dtype_is_integral(own) ? LT_INT64 : own;
    lt_tensor *in = NULL, *work = NULL;
    lt_status status;
    const bool across = *out != NULL && *out != self && (*out)->storage == self->storage;
    LT_CHECK(across ? lt__to_copy_impl(self, result, NULL, false, &in)
                    : lt_cast(self, result, &in));
    LT_CHECK(lt_begin_output(out, result, self->device, self->ndim, self->sizes, &work));
    if (work->numel > 0) {
        lt_array from = lt_slice_array_of(in), to = lt_slice_array_of(work);
        LT_CHECK(lt_backend_of(self)->scan(op, &to, &from, d));
    }
    status = lt_finish_output(out, work);
    work = NULL;
done:
    lt_tensor_release(in);
    lt_tensor_release(work);
    return status;
}

lt_status lt_cumsum_impl(lt_tensor *self, int64_t dim, lt_dtype dtype, lt_tensor **out)
{
    return running(LT_SCAN_SUM, self, dim, dtype, out);
}

lt_status lt_cumprod_impl(lt_tensor *self, int64_t dim, lt_dtype dtype, lt_tensor **out)
{
    return running(LT_SCAN_PROD, self, dim, dtype, out);
}

lt_status lt_logcumsumexp_impl(lt_tensor *self, int64_t dim, lt_tensor **out)
{
    if (!lt_dtype_is_inexact((lt_dtype)self->dtype) || self->dtype == LT_COMPLEX32)
        return lt_error(LT_ERR_RUNTIME, "\"logcumsumexp_out_%s\" not implemented for '%s'",
                        lt_device_type_name(self->device),
                        lt_dtype_scalar_name((lt_dtype)self->dtype));
    return running(LT_SCAN_LOGSUMEXP, self, dim, LT_DTYPE_NONE, out);
}
