/* view.c - views: the same storage with another geometry. Composite forms call the basic ones. */
#include <stdio.h>

#include "dims.h"
#include "saturating.h"
#include "ops/common.h"
#include "user_index.h"
#include "op/_alias.h"
#include "op/_unsafe_view.h"
#include "op/as_strided.h"
#include "op/broadcast_to.h"
#include "op/clone.h"
#include "op/expand.h"
#include "op/expand_as.h"
#include "op/flatten.h"
#include "op/movedim.h"
#include "op/permute.h"
#include "op/reshape.h"
#include "op/reshape_as.h"
#include "op/squeeze.h"
#include "op/swapaxes.h"
#include "op/t.h"
#include "op/transpose.h"
#include "op/unflatten.h"
#include "op/unsqueeze.h"
#include "op/view.h"
#include "op/view_as.h"

static lt_status view_same_order(lt_tensor *self, const lt_dims *shape, lt_tensor **out)
{
    int64_t strides[LT_MAX_DIMS];
    if (!lt_view_strides(self, shape, strides))
        return lt_error(
            LT_ERR_RUNTIME,
            "view size is not compatible with input tensor's size and stride (at least one "
            "dimension spans across two contiguous subspaces). Use reshape(...) instead.");
    return lt_tensor_view(self, shape->n, shape->v, strides, self->offset, out);
}

lt_status lt_view_impl(lt_tensor *self, const lt_dims *size, lt_tensor **out)
{
    lt_dims shape;
    LT_TRY(lt_infer_shape(size, self->numel, &shape));
    return view_same_order(self, &shape, out);
}

/* ---- other dtypes ---------------------------------------------------------------------------- */

static lt_status check_last_stride(const lt_tensor *self, const char *from, const char *to)
{
    const int last = self->ndim - 1;
    if (last < 0)
        return lt_error(LT_ERR_RUNTIME,
                        "self.dim() cannot be 0 to view %s as %s (different element sizes)", from,
                        to);
    if (self->strides[last] == 1) return LT_OK;
    return lt_error(
        LT_ERR_RUNTIME,
        "self.stride(-1) must be 1 to view %s as %s (different element sizes), but got %lld", from,
        to, (long long)self->strides[last]);
}

static lt_status check_divisible(const char *what, int64_t value, int64_t by, const char *from,
                                 const char *to)
{
    if (value % by == 0) return LT_OK;
    return lt_error(
        LT_ERR_RUNTIME,
        "%s must be divisible by %lld to view %s as %s (different element sizes), but got %lld",
        what, (long long)by, from, to, (long long)value);
}

/* Each element of self as `ratio` narrower ones. */
static lt_status narrowed(const lt_tensor *self, int64_t ratio, lt_tensor *view)
{
    const int last = self->ndim - 1;
    int64_t numel;
    view->offset = lt_mul_within(self->offset, ratio);
    for (int d = 0; d < last; d++) view->strides[d] = lt_mul_within(self->strides[d], ratio);
    view->sizes[last] = lt_mul_sat(self->sizes[last], ratio);
    LT_TRY(lt_check_sizes(view->ndim, view->sizes, &numel));
    view->numel = numel;
    return LT_OK;
}

/* `ratio` elements of self as one wider one. */
static lt_status widened(const lt_tensor *self, int64_t ratio, const char *from, const char *to,
                         lt_tensor *view)
{
    const int last = self->ndim - 1;
    LT_TRY(check_divisible("self.size(-1)", self->sizes[last], ratio, from, to));
    LT_TRY(check_divisible("self.storage_offset()", self->offset, ratio, from, to));
    for (int d = 0; d < last; d++) {
        char what[32];
        snprintf(what, sizeof what, "self.stride(%lld)", lt_user_index(d));
        LT_TRY(check_divisible(what, self->strides[d], ratio, from, to));
        view->strides[d] = self->strides[d] / ratio;
    }
    view->offset = self->offset / ratio;
    view->sizes[last] = self->sizes[last] / ratio;
    view->numel = self->numel / ratio;
    return LT_OK;
}

/* Kernels rely on bools being 0 or 1, so no other dtype shares memory with them. As in PyTorch, a
 * view as another dtype is a constant for autograd. */
lt_status lt_view_dtype_impl(lt_tensor *self, lt_dtype dtype, lt_tensor **out)
{
    const lt_dtype own = (lt_dtype)self->dtype;
    const char *from = lt_dtype_scalar_name(own), *to = lt_dtype_scalar_name(dtype);
    if (own != dtype && own == LT_BOOL)
        return lt_error(LT_ERR_RUNTIME,
                        "view: bools cannot be viewed as another dtype, because a write could "
                        "store bytes other than 0 and 1; use to(dtype)");
    if (own != dtype && dtype == LT_BOOL)
        return lt_error(LT_ERR_RUNTIME, "view: elements cannot be viewed as bools, because their "
                                        "bytes may differ from 0 and 1; use ne(0)");
    const int64_t given = (int64_t)lt_dtype_size(own), wanted = (int64_t)lt_dtype_size(dtype);
    if (given != wanted) LT_TRY(check_last_stride(self, from, to));
    lt_tensor *view;
    LT_TRY(lt_tensor_alias(self, &view));
    lt_status status = given == wanted  ? LT_OK
                       : given > wanted ? narrowed(self, given / wanted, view)
                                        : widened(self, wanted / given, from, to, view);
    view->dtype = (int8_t)dtype;
    if (status == LT_OK)
        *out = view;
    else
        lt_tensor_release(view);
    return status;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

lt_status lt__unsafe_view_impl(lt_tensor *self, const lt_dims *size, lt_tensor **out)
{
    lt_tensor *view;
    LT_TRY(lt_view_impl(self, size, &view));
    lt_tensor_release(view->view_base); /* the view is the only owner of the copy */
    view->view_base = NULL;
    *out = view;
    return LT_OK;
}

lt_status lt_reshape_impl(lt_tensor *self, const lt_dims *shape, lt_tensor **out)
{
    lt_dims final;
    int64_t strides[LT_MAX_DIMS];
    LT_TRY(lt_infer_shape(shape, self->numel, &final));
    if (lt_view_strides(self, &final, strides)) return lt_view(self, &final, out);
    lt_tensor *copy;
    LT_TRY(lt_clone_format(self, "contiguous_format", &copy));
    lt_status status = lt__unsafe_view(copy, &final, out);
    lt_tensor_release(copy);
    return status;
}

lt_status lt_view_as_impl(lt_tensor *self, lt_tensor *other, lt_tensor **out)
{
    lt_dims shape = lt_dims_of(other);
    return lt_view(self, &shape, out);
}

lt_status lt_reshape_as_impl(lt_tensor *self, lt_tensor *other, lt_tensor **out)
{
    lt_dims shape = lt_dims_of(other);
    return lt_reshape(self, &shape, out);
}

lt_status lt_flatten_impl(lt_tensor *self, int64_t start_dim, int64_t end_dim, lt_tensor **out)
{
    int first, last;
    LT_TRY(lt_wrap_dim(start_dim, self->ndim, &first));
    LT_TRY(lt_wrap_dim(end_dim, self->ndim, &last));
    if (first > last)
        return lt_error(LT_ERR_RUNTIME,
                        "flatten() has invalid args: start_dim cannot come after end_dim");
    lt_dims shape = {.n = 0};
    for (int d = 0; d < first; d++) shape.v[shape.n++] = self->sizes[d];
    int64_t merged = 1;
    for (int d = first; d <= last && d < self->ndim; d++) merged *= self->sizes[d];
    shape.v[shape.n++] = merged;
    for (int d = last + 1; d < self->ndim; d++) shape.v[shape.n++] = self->sizes[d];
    if (self->ndim > 0 && first == last) {
        *out = lt_tensor_retain(self);
        return LT_OK;
    }
    return lt_reshape(self, &shape, out);
}

lt_status lt_unflatten_impl(lt_tensor *self, int64_t dim, const lt_dims *sizes, lt_tensor **out)
{
    int d;
    LT_TRY(lt_wrap_dim(dim, self->ndim, &d));
    if (self->ndim == 0)
        return lt_error(LT_ERR_RUNTIME, "Dimension specified as %lld but tensor has no dimensions",
                        lt_user_index(dim));
    lt_dims parts, shape = {.n = 0};
    lt_status status = lt_infer_shape(sizes, self->sizes[d], &parts);
    char text[256];
    if (status != LT_OK)
        return lt_error(
            LT_ERR_RUNTIME,
            "unflatten: Provided sizes %s don't multiply up to the size of dim %lld (%lld)",
            lt_format_sizes(text, sizeof text, sizes->n, sizes->v), lt_user_index(d),
            (long long)self->sizes[d]);
    if (self->ndim - 1 + parts.n > LT_MAX_DIMS)
        return lt_error(LT_ERR_RUNTIME, "a tensor has at most %d dimensions", LT_MAX_DIMS);
    for (int i = 0; i < d; i++) shape.v[shape.n++] = self->sizes[i];
    for (int i = 0; i < parts.n; i++) shape.v[shape.n++] = parts.v[i];
    for (int i = d + 1; i < self->ndim; i++) shape.v[shape.n++] = self->sizes[i];
    return lt_view(self, &shape, out);
}

static lt_status permuted(lt_tensor *self, const int *order, lt_tensor **out)
{
    int64_t sizes[LT_MAX_DIMS], strides[LT_MAX_DIMS];
    for (int d = 0; d < self->ndim; d++) {
        sizes[d] = self->sizes[order[d]];
        strides[d] = self->strides[order[d]];
    }
    return lt_tensor_view(self, self->ndim, sizes, strides, self->offset, out);
}

lt_status lt_permute_impl(lt_tensor *self, const lt_dims *dims, lt_tensor **out)
{
    if (dims->n != self->ndim)
        return lt_error(
            LT_ERR_RUNTIME,
            "permute: number of dimensions in the tensor input does not match the length of the "
            "desired ordering of dimensions i.e. input.dim() = %d is not equal to len(dims) = %d",
            self->ndim, dims->n);
    uint32_t seen = 0;
    int order[LT_MAX_DIMS];
    for (int i = 0; i < dims->n; i++) {
        LT_TRY(lt_wrap_dim(dims->v[i], self->ndim, &order[i]));
        if (seen >> order[i] & 1)
            return lt_error(LT_ERR_RUNTIME, "permute(): duplicate dims are not allowed.");
        seen |= 1u << order[i];
    }
    return permuted(self, order, out);
}

lt_status lt_transpose_impl(lt_tensor *self, int64_t dim0, int64_t dim1, lt_tensor **out)
{
    int a, b, order[LT_MAX_DIMS];
    LT_TRY(lt_wrap_dim(dim0, self->ndim, &a));
    LT_TRY(lt_wrap_dim(dim1, self->ndim, &b));
    for (int d = 0; d < self->ndim; d++) order[d] = d;
    if (self->ndim > 0) order[a] = b, order[b] = a;
    return permuted(self, order, out);
}

lt_status lt_swapaxes_impl(lt_tensor *self, int64_t axis0, int64_t axis1, lt_tensor **out)
{
    return lt_transpose_impl(self, axis0, axis1, out);
}

lt_status lt_t_impl(lt_tensor *self, lt_tensor **out)
{
    if (self->ndim > 2)
        return lt_error(LT_ERR_RUNTIME,
                        "t() expects a tensor with <= 2 dimensions, but self is %dD", self->ndim);
    return lt_transpose_impl(self, 0, self->ndim == 2 ? 1 : 0, out);
}

lt_status lt__alias_impl(lt_tensor *self, lt_tensor **out)
{
    return lt_tensor_view(self, self->ndim, self->sizes, self->strides, self->offset, out);
}

lt_status lt_movedim_impl(lt_tensor *self, const lt_dims *source, const lt_dims *destination,
                          lt_tensor **out)
{
    uint32_t taken, placed;
    if (source->n != destination->n)
        return lt_error(LT_ERR_RUNTIME,
                        "movedim: Invalid source or destination dims: source (%d dims) should "
                        "contain the same number of dims as destination (%d dims)",
                        source->n, destination->n);
    lt_dims order = {.n = self->ndim};
    LT_TRY(source->n > 0 ? lt_dims_mask(source, self->ndim, &taken) : (taken = 0, LT_OK));
    LT_TRY(destination->n > 0 ? lt_dims_mask(destination, self->ndim, &placed)
                              : (placed = 0, LT_OK));
    for (int i = 0; i < source->n; i++) {
        int from, to;
        LT_TRY(lt_wrap_dim(source->v[i], self->ndim, &from));
        LT_TRY(lt_wrap_dim(destination->v[i], self->ndim, &to));
        order.v[to] = from;
    }
    for (int to = 0, from = 0; to < self->ndim; to++) {
        if (placed >> to & 1) continue;
        while (taken >> from & 1) from++;
        order.v[to] = from++;
    }
    return lt_permute(self, &order, out);
}

static lt_status squeezed(lt_tensor *self, uint32_t mask, lt_tensor **out)
{
    int64_t sizes[LT_MAX_DIMS], strides[LT_MAX_DIMS];
    int n = 0;
    for (int d = 0; d < self->ndim; d++) {
        if (self->sizes[d] == 1 && mask >> d & 1) continue;
        sizes[n] = self->sizes[d];
        strides[n++] = self->strides[d];
    }
    return lt_tensor_view(self, n, sizes, strides, self->offset, out);
}

lt_status lt_squeeze_impl(lt_tensor *self, lt_tensor **out) { return squeezed(self, ~0u, out); }

lt_status lt_squeeze_dim_impl(lt_tensor *self, int64_t dim, lt_tensor **out)
{
    int d;
    LT_TRY(lt_wrap_dim(dim, self->ndim, &d));
    return squeezed(self, 1u << d, out);
}

lt_status lt_squeeze_dims_impl(lt_tensor *self, const lt_dims *dim, lt_tensor **out)
{
    uint32_t mask = 0;
    if (dim->n > 0) LT_TRY(lt_dims_mask(dim, self->ndim, &mask));
    return squeezed(self, mask, out);
}

lt_status lt_unsqueeze_impl(lt_tensor *self, int64_t dim, lt_tensor **out)
{
    int at;
    LT_TRY(lt_wrap_dim(dim, self->ndim + 1, &at));
    if (self->ndim == LT_MAX_DIMS)
        return lt_error(LT_ERR_RUNTIME, "a tensor has at most %d dimensions", LT_MAX_DIMS);
    int64_t sizes[LT_MAX_DIMS], strides[LT_MAX_DIMS];
    for (int d = 0, to = 0; to <= self->ndim; to++) {
        if (to == at) {
            sizes[to] = 1;
            strides[to] = d < self->ndim ? lt_mul_within(self->sizes[d], self->strides[d]) : 1;
        } else {
            sizes[to] = self->sizes[d];
            strides[to] = self->strides[d++];
        }
    }
    return lt_tensor_view(self, self->ndim + 1, sizes, strides, self->offset, out);
}

lt_status lt_expand_impl(lt_tensor *self, const lt_dims *size, lt_tensor **out)
{
    char a[256], b[256];
    if (size->n < self->ndim)
        return lt_error(LT_ERR_RUNTIME,
                        "expand(torch.%sTensor{%s}, size=%s): the number of sizes provided (%d) "
                        "must be greater or equal to the number of dimensions in the tensor (%d)",
                        lt_dtype_scalar_name((lt_dtype)self->dtype),
                        lt_format_sizes(a, sizeof a, self->ndim, self->sizes),
                        lt_format_sizes(b, sizeof b, size->n, size->v), size->n, self->ndim);
    int64_t sizes[LT_MAX_DIMS], strides[LT_MAX_DIMS];
    for (int d = size->n - 1; d >= 0; d--) { /* the message names the last one that does not fit */
        int own = d - (size->n - self->ndim);
        int64_t have = own >= 0 ? self->sizes[own] : 1, want = size->v[d];
        if (want == -1 && own < 0)
            return lt_error(LT_ERR_RUNTIME,
                            "The expanded size of the tensor (-1) isn't allowed in a leading, "
                            "non-existing dimension %lld",
                            lt_user_index(d));
        if (want == -1) want = have;
        if (have != want && have != 1)
            return lt_error(
                LT_ERR_RUNTIME,
                "The expanded size of the tensor (%lld) must match the existing size (%lld) at "
                "non-singleton dimension %lld.  Target sizes: %s.  Tensor sizes: %s",
                (long long)want, (long long)have, lt_user_index(d),
                lt_format_sizes(a, sizeof a, size->n, size->v),
                lt_format_sizes(b, sizeof b, self->ndim, self->sizes));
        sizes[d] = want;
        strides[d] = have == want ? (own >= 0 ? self->strides[own] : 0) : 0;
    }
    return lt_tensor_view(self, size->n, sizes, strides, self->offset, out);
}

lt_status lt_expand_as_impl(lt_tensor *self, lt_tensor *other, lt_tensor **out)
{
    lt_dims shape = lt_dims_of(other);
    return lt_expand(self, &shape, out);
}

lt_status lt_broadcast_to_impl(lt_tensor *self, const lt_dims *size, lt_tensor **out)
{
    return lt_expand(self, size, out);
}

lt_status lt_as_strided_impl(lt_tensor *self, const lt_dims *size, const lt_dims *stride,
                             const int64_t *storage_offset, lt_tensor **out)
{
    if (size->n != stride->n)
        return lt_error(LT_ERR_RUNTIME, "mismatch in length of strides and shape");
    int64_t offset = storage_offset != NULL ? *storage_offset : self->offset, last = offset, numel;
    LT_TRY(lt_check_sizes(size->n, size->v, &numel));
    /* Also for a tensor without elements: lt_data() computes the address of the first one. */
    if (offset < 0 || offset > LT_MOST_ELEMENTS)
        return lt_error(LT_ERR_RUNTIME, "Tensor: invalid storage offset %lld", (long long)offset);
    bool overflow = false;
    for (int d = 0; d < size->n; d++) {
        int64_t reach;
        if (stride->v[d] < 0)
            return lt_error(
                LT_ERR_RUNTIME,
                "as_strided: Negative strides are not supported at the moment, got strides: %lld",
                (long long)stride->v[d]);
        overflow = __builtin_mul_overflow(size->v[d] - 1, stride->v[d], &reach) || overflow;
        overflow = __builtin_add_overflow(last, reach, &last) || overflow;
    }
    int64_t available = (int64_t)(self->storage->nbytes / lt_dtype_size((lt_dtype)self->dtype));
    if (numel > 0 && (overflow || last >= available)) {
        char a[256], b[256];
        return lt_error(LT_ERR_RUNTIME,
                        "setStorage: sizes %s, strides %s, storage offset %lld are out of bounds "
                        "for storage of %lld elements",
                        lt_format_sizes(a, sizeof a, size->n, size->v),
                        lt_format_sizes(b, sizeof b, stride->n, stride->v), (long long)offset,
                        (long long)available);
    }
    return lt_tensor_view(self, size->n, size->v, stride->v, offset, out);
}
