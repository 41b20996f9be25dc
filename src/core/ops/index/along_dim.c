/* along_dim.c - reading and writing along one dimension (gather, scatter, index_select, ...). Index
 * tensors hold indices from 0, or with LT_FLAG_POSITIONS positions from 1 (int64, or int32 which is
 * converted); the kernels check them. */
#include <string.h>

#include "saturating.h"
#include "user_index.h"
#include "dtypes/fits.h"
#include "iter.h"
#include "ops/steps.h"
#include "ops/common.h"
#include "op/_gather_backward.h"
#include "op/_index_select_backward.h"
#include "op/_scatter_reduce_backward_self.h"
#include "op/_scatter_reduce_backward_src.h"
#include "op/_scatter_value_with_backward.h"
#include "op/_scatter_with_backward_self.h"
#include "op/_scatter_with_backward_src.h"
#include "op/clone.h"
#include "op/gather.h"
#include "op/index_add.h"
#include "op/index_copy.h"
#include "op/index_fill.h"
#include "op/index_select.h"
#include "op/mul.h"
#include "op/ones_like.h"
#include "op/scatter.h"
#include "op/scatter_add.h"
#include "op/take.h"
#include "op/to.h"

/* ---- shared by the ops below ----------------------------------------------------------------- */

/* New reference: index as int64. */
static lt_status bring_index(const char *op, lt_tensor *index, lt_tensor **out)
{
    lt_dtype dtype = (lt_dtype)index->dtype;
    if (dtype != LT_INT64 && dtype != LT_INT32)
        return lt_error(LT_ERR_RUNTIME, "%s(): Expected dtype int32/int64 for index", op);
    return lt_cast(index, LT_INT64, out);
}

/* New reference: the tensor to change: self itself in place, else a copy of it, in a memory_format
 * of clone. */
static lt_status begin_change(lt_tensor *self, const char *memory_format, lt_tensor *const *out,
                              lt_tensor **work)
{
    if (*out == NULL) return lt_clone_format_impl(self, memory_format, work);
    lt_tensor *given = *out;
    if (given != self) {
        LT_TRY(lt_output(&given, (lt_dtype)self->dtype, self->device, self->ndim, self->sizes));
        LT_TRY(lt_copy_elements(given, self));
    }
    *work = lt_tensor_retain(given);
    return LT_OK;
}

/* Steals the reference to work. */
static void end_change(lt_tensor **out, lt_tensor *work)
{
    if (*out == NULL)
        *out = work;
    else
        lt_tensor_release(work);
}

static int rank(const lt_tensor *t) { return t->ndim > 0 ? t->ndim : 1; }
static int64_t size_at(const lt_tensor *t, int d) { return t->ndim > 0 ? t->sizes[d] : 1; }

/* ---- gather and scatter ---------------------------------------------------------------------- */

static lt_status check_gather(const lt_tensor *self, int dim, const lt_tensor *index)
{
    if (rank(self) != rank(index))
        return lt_error(LT_ERR_RUNTIME,
                        "Index tensor must have the same number of dimensions as input tensor");
    for (int d = 0; d < index->ndim; d++) {
        if (d == dim || index->sizes[d] <= size_at(self, d)) continue;
        char a[256], b[256];
        return lt_error(LT_ERR_RUNTIME,
                        "Size does not match at dimension %lld expected index %s to be no larger "
                        "than self %s apart from dimension %lld",
                        lt_user_index(d), lt_format_sizes(a, sizeof a, index->ndim, index->sizes),
                        lt_format_sizes(b, sizeof b, self->ndim, self->sizes), lt_user_index(dim));
    }
    return LT_OK;
}

lt_status lt_gather_impl(lt_tensor *self, int64_t dim, lt_tensor *index, lt_tensor **out)
{
    int d;
    lt_device device;
    lt_tensor *where = NULL, *work = NULL;
    lt_status status;
    LT_TRY(lt_wrap_dim(dim, self->ndim, &d));
    LT_TRY(lt_check_same_device("gather", (lt_tensor *[]){self, index}, 2, false, &device));
    LT_CHECK(bring_index("gather", index, &where));
    if (index->numel > 0) LT_CHECK(check_gather(self, d, index));
    LT_CHECK(lt_begin_output(out, (lt_dtype)self->dtype, device, index->ndim, index->sizes, &work));
    if (work->numel > 0) {
        lt_array to = lt_slice_array_of(work), in = lt_slice_array_of(self),
                 at = lt_slice_array_of(where);
        if (lt_dtype_is_complex(in.dtype)) {
            lt_real_imag wide_to, wide_in, wide_at;
            LT_CHECK(lt_real_imag_of(&to, &wide_to));
            LT_CHECK(lt_real_imag_of(&in, &wide_in));
            LT_CHECK(lt_real_imag_of(&at, &wide_at));
            LT_CHECK(
                lt_backend_of(self)->gather(&wide_to.array, &wide_in.array, d, &wide_at.array));
        } else {
            LT_CHECK(lt_backend_of(self)->gather(&to, &in, d, &at));
        }
    }
    status = lt_finish_output(out, work);
    work = NULL;
done:
    lt_tensor_release(where);
    lt_tensor_release(work);
    return status;
}

static lt_status check_scatter(const lt_tensor *self, int dim, const lt_tensor *index,
                               const lt_tensor *src)
{
    if (rank(self) != rank(index))
        return lt_error(LT_ERR_RUNTIME,
                        "Index tensor must have the same number of dimensions as self tensor");
    if (src != NULL && rank(src) != rank(index))
        return lt_error(LT_ERR_RUNTIME,
                        "Index tensor must have the same number of dimensions as src tensor");
    bool fits = true;
    for (int d = 0; d < rank(index) && fits; d++)
        fits = (d == dim || size_at(index, d) <= size_at(self, d)) &&
               (src == NULL || size_at(index, d) <= size_at(src, d));
    if (fits) return LT_OK;
    char a[256], b[256], c[256] = "";
    if (src != NULL) lt_format_sizes(c, sizeof c, src->ndim, src->sizes);
    return lt_error(LT_ERR_RUNTIME,
                    "Expected index %s to be no larger than self %s apart from dimension %lld%s%s",
                    lt_format_sizes(a, sizeof a, index->ndim, index->sizes),
                    lt_format_sizes(b, sizeof b, self->ndim, self->sizes), lt_user_index(dim),
                    src != NULL ? " and to be no larger size than src " : "", c);
}

/* The values to scatter: a tensor, or if it is NULL a number. */
typedef struct source {
    lt_tensor *src;
    lt_scalar value;
} source;

/* Complex numbers by their parts: a number becomes a tensor expanded along them. */
static lt_status scatter_lanes(lt_scatter_mode mode, const char *op, lt_tensor *work, int d,
                               lt_tensor *where, source from, bool fresh)
{
    static const int64_t nowhere[LT_MAX_DIMS];
    lt_real_imag to, at, in;
    lt_tensor *one = NULL;
    lt_status status;
    lt_array plain = lt_slice_array_of(work), positions = lt_slice_array_of(where), given;
    if (mode != LT_SCATTER_SET && mode != LT_SCATTER_ADD) LT_TRY(lt_refuse_complex(op, work));
    LT_CHECK(lt_real_imag_of(&plain, &to));
    LT_CHECK(lt_real_imag_of(&positions, &at));
    if (from.src != NULL) {
        given = lt_slice_array_of(from.src);
    } else {
        LT_CHECK(lt_tensor_new((lt_dtype)work->dtype, work->device, 0, NULL, &one));
        LT_CHECK(lt_fill_value(one, from.value));
        given = positions;
        given.data = lt_data(one), given.dtype = (lt_dtype)work->dtype, given.strides = nowhere;
    }
    LT_CHECK(lt_real_imag_of(&given, &in));
    LT_CHECK(lt_backend_of(work)->scatter(mode, &to.array, d, &at.array, &in.array,
                                          lt_scalar_from_int(0), fresh));
done:
    lt_tensor_release(one);
    return status;
}

static lt_status scatter(const char *op, lt_scatter_mode mode, lt_tensor *self, int64_t dim,
                         lt_tensor *index, source from, lt_tensor **out)
{
    lt_tensor *const src = from.src;
    int d;
    lt_device device;
    lt_tensor *where = NULL, *work = NULL;
    lt_status status;
    LT_TRY(lt_wrap_dim(dim, self->ndim, &d));
    LT_TRY(lt_check_same_device(op, (lt_tensor *[]){self, index, src}, 3, false, &device));
    if (src != NULL && src->dtype != self->dtype)
        return lt_error(LT_ERR_RUNTIME, "%s(): Expected self.dtype to be equal to src.dtype", op);
    if (index->numel > 0) LT_TRY(check_scatter(self, d, index, src));
    if (mode != LT_SCATTER_SET && mode != LT_SCATTER_ADD) LT_TRY(lt_refuse_unsigned(op, self));
    LT_CHECK(begin_change(self, "contiguous_format", out, &work));
    LT_CHECK(bring_index(op, index, &where));
    if (index->numel > 0) {
        lt_array to = lt_slice_array_of(work), at = lt_slice_array_of(where), in;
        if (src != NULL) in = lt_slice_array_of(src);
        if (lt_dtype_is_complex(to.dtype))
            LT_CHECK(scatter_lanes(mode, op, work, d, where, from, *out == NULL));
        else
            LT_CHECK(lt_backend_of(self)->scatter(
                mode, &to, d, &at, src != NULL ? &in : NULL,
                lt_stored_value(from.value, (lt_dtype)self->dtype), *out == NULL));
    }
    end_change(out, work);
    work = NULL;
done:
    lt_tensor_release(where);
    lt_tensor_release(work);
    return status;
}

lt_status lt_scatter_impl(lt_tensor *self, int64_t dim, lt_tensor *index, lt_tensor *src,
                          lt_tensor **out)
{
    return scatter("scatter", LT_SCATTER_SET, self, dim, index, (source){.src = src}, out);
}

lt_status lt_scatter_value_impl(lt_tensor *self, int64_t dim, lt_tensor *index, lt_scalar value,
                                lt_tensor **out)
{
    LT_TRY(lt_check_fits(value, (lt_dtype)self->dtype));
    return scatter("scatter", LT_SCATTER_SET, self, dim, index, (source){.value = value}, out);
}

lt_status lt_scatter_add_impl(lt_tensor *self, int64_t dim, lt_tensor *index, lt_tensor *src,
                              lt_tensor **out)
{
    return scatter("scatter_add", LT_SCATTER_ADD, self, dim, index, (source){.src = src}, out);
}

lt_status lt_scatter_combine(const char *op, lt_scatter_mode mode, lt_tensor *self, int64_t dim,
                             lt_tensor *index, lt_tensor *src, lt_tensor **out)
{
    return scatter(op, mode, self, dim, index, (source){.src = src}, out);
}

/* scatter's reductions: 'add' or 'multiply'. */
static lt_status mode_named(const char *reduce, lt_scatter_mode *mode)
{
    *mode = strcmp(reduce, "multiply") == 0 ? LT_SCATTER_MUL : LT_SCATTER_ADD;
    if (*mode == LT_SCATTER_MUL || strcmp(reduce, "add") == 0) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "reduce argument must be either add or multiply.");
}

/* The name of the same reduction in scatter_reduce. */
static const char *word_of(const char *reduce)
{
    return strcmp(reduce, "add") == 0 ? "sum" : "prod";
}

lt_status lt_scatter_with_impl(lt_tensor *self, int64_t dim, lt_tensor *index, lt_tensor *src,
                               const char *reduce, lt_tensor **out)
{
    lt_scatter_mode mode;
    LT_TRY(mode_named(reduce, &mode));
    return scatter("scatter", mode, self, dim, index, (source){.src = src}, out);
}

lt_status lt_scatter_value_with_impl(lt_tensor *self, int64_t dim, lt_tensor *index,
                                     lt_scalar value, const char *reduce, lt_tensor **out)
{
    lt_scatter_mode mode;
    LT_TRY(mode_named(reduce, &mode));
    lt_dims sizes = lt_dims_of(index);
    lt_tensor *number = NULL;
    LT_TRY(lt_tensor_new((lt_dtype)self->dtype, self->device, 0, NULL, &number));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(scatter_value_with));
    lt_scope_hold(&s, lt_fill_value(number, value), number);
    lt_tensor *src = do_expand(&s, number, &sizes);
    if (s.status == LT_OK)
        s.status = scatter("scatter", mode, self, dim, index, (source){.src = src}, out);
    return lt_scope_close(&s);
}

lt_status lt__scatter_with_backward_self_impl(lt_tensor *grad_output, lt_tensor *self, int64_t dim,
                                              lt_tensor *index, lt_tensor *src, const char *reduce,
                                              lt_tensor *result, lt_tensor **out)
{
    return lt__scatter_reduce_backward_self(grad_output, self, dim, index, src, word_of(reduce),
                                            true, result, out);
}

lt_status lt__scatter_with_backward_src_impl(lt_tensor *grad_output, lt_tensor *self, int64_t dim,
                                             lt_tensor *index, lt_tensor *src, const char *reduce,
                                             lt_tensor *result, lt_tensor **out)
{
    return lt__scatter_reduce_backward_src(grad_output, self, dim, index, src, word_of(reduce),
                                           true, result, out);
}

lt_status lt__scatter_value_with_backward_impl(lt_tensor *grad_output, int64_t dim,
                                               lt_tensor *index, lt_scalar value,
                                               const char *reduce, lt_tensor **out)
{
    lt_tensor *ones = NULL, *factor = NULL;
    if (strcmp(reduce, "add") == 0) {
        *out = lt_tensor_retain(grad_output);
        return LT_OK;
    }
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_scatter_value_with_backward));
    s.status = lt_ones_like(grad_output, LT_DTYPE_NONE, NULL, &ones);
    lt_scope_hold(&s, s.status, ones);
    if (s.status == LT_OK) {
        lt_status status = lt_scatter_value_with(ones, dim, index, value, reduce, &factor);
        factor = lt_scope_hold(&s, status, factor);
    }
    return lt_scope_return(&s, do_mul(&s, grad_output, factor), out);
}

lt_status lt__gather_backward_impl(lt_tensor *grad_output, const lt_dims *sizes, int64_t dim,
                                   lt_tensor *index, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_gather_backward));
    lt_tensor *result = do_zeros(&s, grad_output, sizes);
    if (result != NULL) s.status = lt_scatter_add_(result, dim, index, grad_output);
    return lt_scope_return(&s, result, out);
}

/* ---- whole entries of a dimension ------------------------------------------------------------ */

/* An iterator over self's shape with n entries in dim. dense has that shape, or is 0-dim. */
static void iter_along_dim(lt_tensor *self, int dim, lt_tensor *index, lt_tensor *dense,
                           lt_iter *it, lt_index_args *args)
{
    int64_t sizes[LT_MAX_DIMS], strides[3][LT_MAX_DIMS];
    for (int d = 0; d < self->ndim; d++) {
        sizes[d] = d == dim ? index->numel : self->sizes[d];
        strides[0][d] = dense->ndim > 0 ? dense->strides[d] : 0;
        strides[1][d] = d == dim ? 0 : self->strides[d];
        strides[2][d] = d == dim && index->ndim > 0 ? index->strides[0] : 0;
    }
    *args = (lt_index_args){
        .count = 1, .dims = {dim}, .base = {(index->flags & LT_FLAG_POSITIONS) != 0}};
    args->sizes[0] = size_at(self, dim);
    args->strides[0] = self->ndim > 0 ? lt_mul_within(self->strides[dim],
                                                      (int64_t)lt_dtype_size((lt_dtype)self->dtype))
                                      : 0;
    lt_iter_strided(it, (lt_tensor *[]){dense, self, index}, 3, self->ndim, sizes,
                    (const int64_t *[]){strides[0], strides[1], strides[2]});
}

lt_status lt_index_select_impl(lt_tensor *self, int64_t dim, lt_tensor *index, lt_tensor **out)
{
    int d;
    lt_device device;
    lt_tensor *where = NULL, *work = NULL;
    int64_t sizes[LT_MAX_DIMS];
    lt_iter it;
    lt_index_args args;
    lt_status status;
    LT_TRY(lt_wrap_dim(dim, self->ndim, &d));
    if (index->ndim > 1)
        return lt_error(LT_ERR_INDEX, "index_select(): Index is supposed to be a vector");
    if (self->ndim == 0 && index->numel != 1)
        return lt_error(LT_ERR_RUNTIME,
                        "index_select(): Index to scalar can have only 1 value, got %lld value(s)",
                        (long long)index->numel);
    LT_TRY(lt_check_same_device("index_select", (lt_tensor *[]){self, index}, 2, false, &device));
    for (int e = 0; e < self->ndim; e++) sizes[e] = e == d ? index->numel : self->sizes[e];
    LT_CHECK(bring_index("index_select", index, &where));
    LT_CHECK(lt_begin_output(out, (lt_dtype)self->dtype, device, self->ndim, sizes, &work));
    iter_along_dim(self, d, where, work, &it, &args);
    LT_CHECK(lt_iter_for_moving(&it));
    if (it.numel > 0) {
        status = lt_backend_of(self)->index_get(&it, &args);
        if (status == LT_ERR_INDEX)
            lt_error_set(status, "index out of range in self: %s", lt_error_message());
        if (status != LT_OK) goto done;
    }
    status = lt_finish_output(out, work);
    work = NULL;
done:
    lt_tensor_release(where);
    lt_tensor_release(work);
    return status;
}

/* Stores or adds entries of source (0-dim: one number) at the positions of index. As in PyTorch the
 * result is contiguous, except that one filled with a number has self's memory order. */
static lt_status change_entries(const char *op, lt_tensor *self, int dim, lt_tensor *index,
                                lt_tensor *source, bool accumulate, lt_tensor **out)
{
    lt_device device;
    lt_tensor *where = NULL, *work = NULL;
    lt_iter it;
    lt_index_args args;
    lt_status status;
    LT_TRY(lt_check_same_device(op, (lt_tensor *[]){self, index, source}, 3, false, &device));
    const bool filled = source->ndim < self->ndim;
    LT_CHECK(begin_change(self, filled ? "preserve_format" : "contiguous_format", out, &work));
    LT_CHECK(bring_index(op, index, &where));
    iter_along_dim(work, dim, where, source, &it, &args);
    args.fresh = *out == NULL;
    LT_CHECK(lt_iter_for_moving(&it));
    /* a 0-dim tensor has one element also if there are no indices */
    if (it.numel > 0 && index->numel > 0)
        LT_CHECK(lt_backend_of(self)->index_put(&it, &args, accumulate));
    end_change(out, work);
    work = NULL;
done:
    lt_tensor_release(where);
    lt_tensor_release(work);
    return status;
}

static bool same_but(const lt_tensor *a, const lt_tensor *b, int dim)
{
    bool same = a->ndim == b->ndim;
    for (int d = 0; same && d < a->ndim; d++) same = d == dim || a->sizes[d] == b->sizes[d];
    return same;
}

lt_status lt_index_add_impl(lt_tensor *self, int64_t dim, lt_tensor *index, lt_tensor *source,
                            lt_scalar alpha, lt_tensor **out)
{
    int d;
    LT_TRY(lt_wrap_dim(dim, self->ndim, &d));
    char a[256], b[256];
    if (index->ndim > 1)
        return lt_error(LT_ERR_INDEX,
                        "index_add_(): Index is supposed to be a vector, but got dim: %d with "
                        "type: %s and size: %s",
                        index->ndim, lt_dtype_scalar_name((lt_dtype)index->dtype),
                        lt_format_sizes(a, sizeof a, index->ndim, index->sizes));
    if (source->dtype != self->dtype)
        return lt_error(LT_ERR_RUNTIME,
                        "index_add_(): self (%s) and source (%s) must have the same scalar type",
                        lt_dtype_scalar_name((lt_dtype)self->dtype),
                        lt_dtype_scalar_name((lt_dtype)source->dtype));
    if (!same_but(self, source, d))
        return lt_error(LT_ERR_RUNTIME,
                        "source tensor shape must match self tensor shape, excluding the specified "
                        "dimension. Got self.shape = %s source.shape = %s",
                        lt_format_sizes(a, sizeof a, self->ndim, self->sizes),
                        lt_format_sizes(b, sizeof b, source->ndim, source->sizes));
    if (index->numel != size_at(source, d))
        return lt_error(LT_ERR_RUNTIME,
                        "index_add_(): Number of indices (%lld) should be equal to "
                        "source.size(dim): (%lld), for dim: %lld",
                        (long long)index->numel, (long long)size_at(source, d), lt_user_index(d));
    /* as PyTorch has it */
    if (lt_dtype_is_int((lt_dtype)self->dtype)) alpha = lt_scalar_from_int(lt_scalar_int(alpha));
    if (lt_scalar_equals(alpha, 1))
        return change_entries("index_add", self, d, index, source, true, out);
    lt_tensor *factor = NULL, *scaled = NULL, *fitting = NULL;
    lt_status status;
    LT_CHECK(lt_tensor_from_scalar(alpha, &factor));
    LT_CHECK(lt_mul_impl(source, factor, &scaled));
    LT_CHECK(lt_cast(scaled, (lt_dtype)self->dtype, &fitting));
    LT_CHECK(change_entries("index_add", self, d, index, fitting, true, out));
done:
    lt_tensor_release(factor);
    lt_tensor_release(scaled);
    lt_tensor_release(fitting);
    return status;
}

lt_status lt_index_copy_impl(lt_tensor *self, int64_t dim, lt_tensor *index, lt_tensor *source,
                             lt_tensor **out)
{
    int d;
    LT_TRY(lt_wrap_dim(dim, self->ndim, &d));
    if (index->ndim > 1)
        return lt_error(LT_ERR_INDEX, "index_copy_(): Index should have dimension 1 or 0 (got %d)",
                        index->ndim);
    if (source->ndim != self->ndim)
        return lt_error(
            LT_ERR_INDEX,
            "index_copy_(): When source and destination are not scalars, their dimensionality must "
            "match. Source dimensionality (%d), destination dimensionality (%d)",
            source->ndim, self->ndim);
    if (index->numel != size_at(source, d))
        return lt_error(
            LT_ERR_INDEX,
            "index_copy_(): Number of indices (%lld) should be equal to source.size(dim) (%lld)",
            (long long)index->numel, (long long)size_at(source, d));
    if (source->dtype != self->dtype)
        return lt_error(LT_ERR_RUNTIME,
                        "index_copy_(): self and source expected to have the same dtype, but got "
                        "(self) %s and (source) %s",
                        lt_dtype_scalar_name((lt_dtype)self->dtype),
                        lt_dtype_scalar_name((lt_dtype)source->dtype));
    if (!same_but(self, source, d)) {
        char a[256], b[256];
        return lt_error(LT_ERR_RUNTIME,
                        "index_copy_(): Source/destination tensor must have same slice shapes. "
                        "Destination shape: %s and source shape: %s, apart from dimension %lld.",
                        lt_format_sizes(a, sizeof a, self->ndim, self->sizes),
                        lt_format_sizes(b, sizeof b, source->ndim, source->sizes),
                        lt_user_index(d));
    }
    return change_entries("index_copy", self, d, index, source, false, out);
}

lt_status lt_index_fill_impl(lt_tensor *self, int64_t dim, lt_tensor *index, lt_scalar value,
                             lt_tensor **out)
{
    int d;
    LT_TRY(lt_wrap_dim(dim, self->ndim, &d));
    if (index->ndim > 1) return lt_error(LT_ERR_RUNTIME, "Index has to be a vector/scalar");
    lt_tensor *number = NULL;
    LT_TRY(lt_check_fits(value, (lt_dtype)self->dtype));
    LT_TRY(lt_tensor_new((lt_dtype)self->dtype, self->device, 0, NULL, &number));
    lt_status status = lt_fill_value(number, value);
    if (status == LT_OK) status = change_entries("index_fill", self, d, index, number, false, out);
    lt_tensor_release(number);
    return status;
}

lt_status lt_index_fill_tensor_impl(lt_tensor *self, int64_t dim, lt_tensor *index,
                                    lt_tensor *value, lt_tensor **out)
{
    int d;
    LT_TRY(lt_wrap_dim(dim, self->ndim, &d));
    if (index->ndim > 1) return lt_error(LT_ERR_RUNTIME, "Index has to be a vector/scalar");
    if (value->ndim != 0)
        return lt_error(LT_ERR_RUNTIME,
                        "index_fill_ only supports a 0-dimensional value tensor, but got tensor "
                        "with %d dimension(s).",
                        value->ndim);
    lt_tensor *number = NULL;
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(index_fill_tensor));
    s.status = lt_to(value, &self->device, (lt_dtype)self->dtype, false, false, &number);
    lt_scope_hold(&s, s.status, number);
    if (s.status == LT_OK)
        s.status = change_entries("index_fill", self, d, index, number, false, out);
    return lt_scope_close(&s);
}

lt_status lt__index_select_backward_impl(lt_tensor *grad_output, const lt_dims *sizes, int64_t dim,
                                         lt_tensor *index, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_index_select_backward));
    lt_tensor *result = do_zeros(&s, grad_output, sizes);
    if (result != NULL)
        s.status = lt_index_add_(result, dim, index, grad_output, lt_scalar_from_int(1));
    return lt_scope_return(&s, result, out);
}

lt_status lt_take_impl(lt_tensor *self, lt_tensor *index, lt_tensor **out)
{
    lt_scope s;
    lt_dims sizes = lt_dims_of(index), line = {1, {-1}};
    lt_scope_open(&s, LT_COMPOSITE(take));
    line.v[0] = self->numel;
    lt_tensor *from = do_reshape(&s, self, &line), *picked = NULL;
    line.v[0] = index->numel;
    lt_tensor *where = do_reshape(&s, index, &line);
    if (where == NULL) return lt_scope_close(&s);
    lt_status status = lt_index_select(from, 0, where, &picked);
    return lt_scope_return(&s, do_reshape(&s, lt_scope_hold(&s, status, picked), &sizes), out);
}
