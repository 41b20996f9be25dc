/* arithmetic.c - the sparse forms of arithmetic, copies and conversions. The sum of two sparse
 * tensors has the union of their sparsity patterns, a product the intersection; with a dense tensor
 * the sum is dense, and the product has the pattern of the sparse one. */
#include "components.h"

#include "dtypes/promotion.h"
#include "op/_to_copy.h"
#include "op/add.h"
#include "op/clone.h"
#include "op/copy_.h"
#include "op/detach.h"
#include "op/div.h"
#include "op/index_add.h"
#include "op/mul.h"
#include "op/pow.h"
#include "op/sub.h"
#include "op/zero_.h"
#include "op/zeros_like.h"

static lt_status require_same_sizes(const char *op, const lt_tensor *a, const lt_tensor *b)
{
    char x[256], y[256];
    if (lt_same_sizes(a, b)) return LT_OK;
    return lt_error(LT_ERR_RUNTIME,
                    "%s: expected 'self' and 'other' to have same size, but self has size %s while "
                    "other has size %s",
                    op, lt_format_sizes(x, sizeof x, a->ndim, a->sizes),
                    lt_format_sizes(y, sizeof y, b->ndim, b->sizes));
}

static lt_status require_same_device(const char *op, lt_tensor *a, lt_tensor *b)
{
    lt_device device;
    return lt_check_same_device(op, (lt_tensor *[]){a, b}, 2, true, &device);
}

/* ---- sums ------------------------------------------------------------------------------------ */

static lt_tensor *do_scaled(lt_scope *s, lt_tensor *values, lt_scalar alpha)
{
    const bool one = alpha.kind == LT_SCALAR_INT && alpha.v.i == 1;
    return one || s->status != LT_OK ? values : do_mul_scalar(s, values, alpha);
}

/* The sum of two sparse tensors: their values concatenated, or added if they are known to have the
 * same pattern. */
static lt_tensor *do_joined(lt_scope *s, lt_tensor *a, lt_tensor *b, lt_scalar alpha)
{
    if (lt_sparse_same_indices(a, b))
        return do__sparse_like(
            s, a, do_add(s, do__sparse_values(s, a), do_scaled(s, do__sparse_values(s, b), alpha)));
    const lt_layout layout = lt_tensor_layout(a);
    const lt_dims sizes = lt_dims_of(a);
    const lt_dtype dtype = lt_promote((lt_dtype)a->dtype, (lt_dtype)b->dtype);
    const bool coalesced = lt_sparse_of(a)->coalesced && lt_sparse_of(b)->coalesced;
    if (lt_sparse_dims_of(a) != lt_sparse_dims_of(b)) {
        s->status = lt_error(LT_ERR_RUNTIME,
                             "add: expected 'self' and 'other' to have same number of sparse "
                             "dimensions, but got %d and %d",
                             lt_sparse_dims_of(a), lt_sparse_dims_of(b));
        return NULL;
    }
    lt_tensor *places[] = {do_coordinates(s, a), do_coordinates(s, b)};
    lt_tensor *values[] = {do_cast(s, do__sparse_values(s, a), dtype),
                           do_scaled(s, do_cast(s, do__sparse_values(s, b), dtype), alpha)};
    if (s->status != LT_OK) return NULL;
    lt_tensor *joined = do_coo(s, do_cat(s, places, 2, 1), do_cat(s, values, 2, 0), &sizes, false);
    if (layout != LT_SPARSE_COO) return joined != NULL ? do_as_layout(s, joined, layout) : NULL;
    return coalesced && joined != NULL ? do_coalesce(s, joined) : joined;
}

/* dense + alpha * sparse, or alpha * dense + sparse: a dense result. */
static lt_tensor *do_added_to_dense(lt_scope *s, lt_tensor *dense, lt_tensor *sparse,
                                    lt_scalar dense_alpha, lt_scalar sparse_alpha)
{
    const lt_dims sizes = lt_dims_of(dense);
    const lt_dtype dtype = lt_promote((lt_dtype)dense->dtype, (lt_dtype)sparse->dtype);
    lt_tensor *flat = do_flat(s, do_scaled(s, do_cast(s, dense, dtype), dense_alpha),
                              lt_sparse_dims_of(sparse)),
              *sum = NULL;
    lt_tensor *values = do_scaled(s, do_cast(s, do__sparse_values(s, sparse), dtype), sparse_alpha),
              *keys = do_places(s, sparse);
    if (s->status != LT_OK) return NULL;
    const lt_status status = lt_index_add(flat, 0, keys, values, lt_scalar_from_int(1), &sum);
    return do_reshape(s, lt_scope_hold(s, status, sum), &sizes);
}

static lt_status add_sparse(const char *op, lt_tensor *self, lt_tensor *other, lt_scalar alpha,
                            lt_tensor **out)
{
    lt_scope s;
    if ((self->flags | other->flags) & LT_FLAG_WRAPPED_NUMBER)
        return lt_error(LT_ERR_RUNTIME,
                        "%s: a number and a sparse tensor cannot be added: the elements that are "
                        "not stored would not stay 0",
                        op);
    LT_TRY(require_same_device(op, self, other));
    LT_TRY(require_same_sizes(op, self, other));
    lt_scope_open(&s, true);
    lt_tensor *sum = lt_is_sparse(self) && lt_is_sparse(other) ? do_joined(&s, self, other, alpha)
                     : lt_is_sparse(self)
                         ? do_added_to_dense(&s, other, self, alpha, lt_scalar_from_int(1))
                         : do_added_to_dense(&s, self, other, lt_scalar_from_int(1), alpha);
    return lt_scope_return(&s, sum, out);
}

lt_status lt_add_sparse(lt_tensor *self, lt_tensor *other, lt_scalar alpha, lt_tensor **out)
{
    return add_sparse("add", self, other, alpha, out);
}

static lt_scalar negative(lt_scalar alpha)
{
    if (alpha.kind < LT_SCALAR_FLOAT) return lt_scalar_from_int(-alpha.v.i);
    alpha.v.d = -alpha.v.d;
    alpha.imaginary = -alpha.imaginary;
    return alpha;
}

lt_status lt_sub_sparse(lt_tensor *self, lt_tensor *other, lt_scalar alpha, lt_tensor **out)
{
    return add_sparse("sub", self, other, negative(alpha), out);
}

/* In place: in a dense tensor only the elements at other's indices are accessed, if these can be
 * viewed as its rows. */
static lt_status add_in_place(const char *op, lt_tensor *self, lt_tensor *other, lt_scalar alpha)
{
    lt_scope s;
    lt_tensor *result = NULL;
    if (lt_is_sparse(self) || !lt_is_sparse(other) ||
        (lt_sparse_dims_of(other) != 1 && !lt_is_contiguous(self))) {
        LT_TRY(add_sparse(op, self, other, alpha, &result));
        return lt_sparse_store_steal(op, self, result);
    }
    LT_TRY(require_same_device(op, self, other));
    LT_TRY(require_same_sizes(op, self, other));
    lt_scope_open(&s, true);
    lt_tensor *rows = lt_sparse_dims_of(other) == 1 ? self
                                                    : do_flat(&s, self, lt_sparse_dims_of(other)),
              *keys = do_places(&s, other);
    lt_tensor *values = do_cast(&s, do__sparse_values(&s, other), (lt_dtype)self->dtype);
    if (s.status == LT_OK) s.status = lt_index_add_(rows, 0, keys, values, alpha);
    return lt_scope_close(&s);
}

lt_status lt_add__sparse(lt_tensor *self, lt_tensor *other, lt_scalar alpha)
{
    return add_in_place("add", self, other, alpha);
}

lt_status lt_sub__sparse(lt_tensor *self, lt_tensor *other, lt_scalar alpha)
{
    return add_in_place("sub", self, other, negative(alpha));
}

/* ---- products -------------------------------------------------------------------------------- */

/* The product on the common indices. */
static lt_tensor *do_common(lt_scope *s, lt_tensor *a, lt_tensor *b)
{
    if (lt_sparse_same_indices(a, b) && lt_sparse_of(a)->coalesced)
        return do__sparse_like(s, a, do_mul(s, do__sparse_values(s, a), do__sparse_values(s, b)));
    const lt_layout layout = lt_tensor_layout(a);
    const lt_dims sizes = lt_dims_of(a);
    a = do_coalesce(s, do_as_coo(s, a));
    b = do_coalesce(s, do_as_coo(s, b));
    if (s->status != LT_OK) return NULL;
    lt_tensor *first = do_places(s, a), *second = do_places(s, b);
    lt_tensor *at = do_search(s, second, first, false);
    if (s->status != LT_OK) return NULL;
    lt_tensor *within = do_lt(s, at, do_scalar(s, lt_scalar_from_int(second->numel))), *chosen,
              *matches;
    /* indices beyond the last one of the other tensor have no match */
    chosen = do_chosen(s, within);
    at = do_index_select(s, at, 0, chosen);
    matches = do_chosen(
        s, do_eq(s, do_index_select(s, second, 0, at), do_index_select(s, first, 0, chosen)));
    chosen = do_index_select(s, chosen, 0, matches);
    at = do_index_select(s, at, 0, matches);
    lt_tensor *values = do_mul(s, do_index_select(s, do__sparse_values(s, a), 0, chosen),
                               do_index_select(s, do__sparse_values(s, b), 0, at));
    lt_tensor *product =
        do_coo(s, do_index_select(s, do_coordinates(s, a), 1, chosen), values, &sizes, true);
    return product != NULL ? do_as_layout(s, product, layout) : NULL;
}

/* The values of a sparse tensor times the elements of a dense one, broadcast, at the same indices.
 */
static lt_tensor *do_at_places(lt_scope *s, lt_tensor *sparse, lt_tensor *dense)
{
    lt_tensor *values = do__sparse_values(s, sparse);
    if (dense->ndim > 0) {
        const lt_dims sizes = lt_dims_of(sparse);
        lt_tensor *flat = do_flat(s, do_expand(s, dense, &sizes), lt_sparse_dims_of(sparse));
        dense = do_index_select(s, flat, 0, do_places(s, sparse));
    }
    return do__sparse_like(s, sparse, do_mul(s, values, dense));
}

lt_status lt_mul_sparse(lt_tensor *self, lt_tensor *other, lt_tensor **out)
{
    lt_scope s;
    LT_TRY(require_same_device("mul", self, other));
    const bool both = lt_is_sparse(self) && lt_is_sparse(other);
    if (both) LT_TRY(require_same_sizes("mul", self, other));
    if (both && lt_sparse_dims_of(self) != lt_sparse_dims_of(other))
        return lt_error(
            LT_ERR_RUNTIME,
            "mul: expected 'self' and 'other' to have same sparse_dim, but got %d and %d",
            lt_sparse_dims_of(self), lt_sparse_dims_of(other));
    lt_scope_open(&s, true);
    lt_tensor *product = both                 ? do_common(&s, self, other)
                         : lt_is_sparse(self) ? do_at_places(&s, self, other)
                                              : do_at_places(&s, other, self);
    return lt_scope_return(&s, product, out);
}

lt_status lt_div_sparse(lt_tensor *self, lt_tensor *other, lt_tensor **out)
{
    lt_scope s;
    if (lt_is_sparse(other) || other->ndim > 0)
        return lt_error(LT_ERR_RUNTIME, "div: a sparse tensor can be divided only by a number or a "
                                        "dense tensor without dimensions");
    LT_TRY(require_same_device("div", self, other));
    lt_scope_open(&s, true);
    return lt_scope_return(
        &s, do__sparse_like(&s, self, do_div(&s, do__sparse_values(&s, self), other)), out);
}

lt_status lt_pow_sparse(lt_tensor *self, lt_tensor *exponent, lt_tensor **out)
{
    lt_scope s;
    lt_scalar power;
    if (lt_is_sparse(exponent) || exponent->ndim > 0)
        return lt_error(LT_ERR_RUNTIME, "pow: a sparse tensor can be raised to a number only");
    LT_TRY(lt_tensor_item(exponent, &power));
    if (!(lt_scalar_double(power) > 0))
        return lt_error(LT_ERR_RUNTIME, "pow: of a sparse tensor only positive powers leave the "
                                        "elements that are not stored 0");
    lt_scope_open(&s, true);
    lt_tensor *base = lt_sparse_of(self)->coalesced ? self : do_coalesce(&s, self);
    return lt_scope_return(
        &s, do__sparse_like(&s, base, do_pow(&s, do__sparse_values(&s, base), exponent)), out);
}

/* ---- copies ---------------------------------------------------------------------------------- */

lt_status lt_clone_sparse(lt_tensor *self, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, true);
    return lt_scope_return(&s, do__sparse_like(&s, self, do_clone(&s, do__sparse_values(&s, self))),
                           out);
}

lt_status lt_detach_sparse(lt_tensor *self, lt_tensor **out) { return lt_tensor_alias(self, out); }

/* An index tensor on another device. */
static lt_status moved_to(lt_tensor *t, const lt_device *device, bool non_blocking, lt_tensor **out)
{
    *out = NULL;
    if (t == NULL) return LT_OK;
    if (device == NULL || lt_device_equal(*device, t->device)) {
        *out = lt_tensor_retain(t);
        return LT_OK;
    }
    return lt__to_copy(t, LT_DTYPE_NONE, device, non_blocking, out);
}

/* self's pattern on a device (NULL: unchanged), with these values, which are already on it. */
static lt_tensor *do_pattern_on(lt_scope *s, lt_tensor *self, const lt_device *device,
                                bool non_blocking, lt_tensor *values)
{
    const lt_sparse *from = lt_sparse_of(self);
    lt_sparse parts = *from;
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    parts.values = values;
    parts.indices = parts.compressed = parts.plain = NULL;
    lt_status status = moved_to(from->indices, device, non_blocking, &parts.indices);
    if (status == LT_OK)
        status = moved_to(from->compressed, device, non_blocking, &parts.compressed);
    if (status == LT_OK) status = moved_to(from->plain, device, non_blocking, &parts.plain);
    if (status == LT_OK) status = lt_sparse_new(&parts, self->ndim, self->sizes, &out);
    lt_tensor_release(parts.indices);
    lt_tensor_release(parts.compressed);
    lt_tensor_release(parts.plain);
    return lt_scope_hold(s, status, out);
}

lt_status lt__to_copy_sparse(lt_tensor *self, lt_dtype dtype, const lt_device *device,
                             bool non_blocking, lt_tensor **out)
{
    lt_scope s;
    lt_tensor *values = NULL, *plain = NULL;
    lt_scope_open(&s, true);
    lt_tensor *own = do__sparse_values(&s, self);
    if (s.status == LT_OK) s.status = lt__to_copy(own, dtype, device, non_blocking, &values);
    values = lt_scope_hold(&s, s.status, values);
    /* components have no autograd history */
    if (s.status == LT_OK) s.status = lt_tensor_alias(values, &plain);
    plain = lt_scope_hold(&s, s.status, plain);
    lt_tensor *pattern = do_pattern_on(&s, self, device, non_blocking, plain);
    return lt_scope_return(&s, do__sparse_like(&s, pattern, values), out);
}

/* A sparse tensor without values: every element is 0. */
static lt_status empty_like(lt_tensor *self, lt_dtype dtype, const lt_device *device,
                            lt_tensor **out)
{
    lt_scope s;
    lt_sparse parts = {.layout = lt_tensor_layout(self), .coalesced = true};
    const lt_sparse *from = lt_sparse_of(self);
    const lt_device place = device != NULL ? *device : self->device;
    lt_dims sizes = lt_dims_of(from->values);
    lt_tensor *made = NULL;
    sizes.v[0] = 0;
    lt_scope_open(&s, false);
    s.status = lt_tensor_new(dtype == LT_DTYPE_NONE ? (lt_dtype)self->dtype : dtype, place, sizes.n,
                             sizes.v, &parts.values);
    lt_scope_hold(&s, s.status, parts.values);
    if (s.status == LT_OK && from->indices != NULL) {
        s.status = lt_tensor_new(LT_INT64, place, 2, (int64_t[]){from->indices->sizes[0], 0},
                                 &parts.indices);
        lt_scope_hold(&s, s.status, parts.indices);
    } else if (s.status == LT_OK) {
        s.status = lt_tensor_new(LT_INT64, place, 1, (int64_t[]){0}, &parts.plain);
        lt_scope_hold(&s, s.status, parts.plain);
        if (s.status == LT_OK)
            s.status =
                lt_tensor_new(LT_INT64, place, 1, from->compressed->sizes, &parts.compressed);
        lt_scope_hold(&s, s.status, parts.compressed);
        if (s.status == LT_OK) s.status = lt_fill_value(parts.compressed, lt_scalar_from_int(0));
    }
    if (s.status == LT_OK) s.status = lt_sparse_new(&parts, self->ndim, self->sizes, &made);
    made = lt_scope_hold(&s, s.status, made);
    return lt_scope_return(&s, made, out);
}

lt_status lt_zeros_like_sparse(lt_tensor *self, lt_dtype dtype, const lt_device *device,
                               lt_tensor **out)
{
    return empty_like(self, dtype, device, out);
}

lt_status lt_zero__sparse(lt_tensor *self)
{
    lt_tensor *zeros = NULL;
    LT_TRY(empty_like(self, LT_DTYPE_NONE, NULL, &zeros));
    return lt_sparse_store_steal("zero", self, zeros);
}

lt_status lt_copy__sparse(lt_tensor *self, lt_tensor *src, bool non_blocking)
{
    lt_scope s;
    lt_tensor *copy = NULL;
    if (!lt_is_sparse(self)) { /* dense: write all elements */
        lt_scope_open(&s, true);
        lt_tensor *dense = do_to_dense(&s, src);
        if (s.status == LT_OK) s.status = lt_copy_(self, dense, non_blocking);
        return lt_scope_close(&s);
    }
    if (!lt_is_sparse(src))
        return lt_error(LT_ERR_RUNTIME,
                        "copy_(): a sparse tensor can be written from a sparse one only");
    LT_TRY(lt__to_copy(src, (lt_dtype)self->dtype, &self->device, non_blocking, &copy));
    return lt_sparse_store_steal("copy", self, copy);
}
