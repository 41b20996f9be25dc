/* convert.c - conversion between layouts: dense, COO, coalesced COO, CSR and CSC. */
#include "components.h"

#include "op/_sparse_compressed.h"
#include "op/_sparse_gradient.h"
#include "op/_sparse_values_at.h"
#include "op/any.h"
#include "op/coalesce.h"
#include "op/index_copy.h"
#include "op/sparse_mask.h"
#include "op/to_dense.h"
#include "op/to_sparse_compressed.h"
#include "op/to_sparse_coo.h"
#include "op/unique.h"
#include "step/argsort.h"

/* ---- coalescing ------------------------------------------------------------------------------ */

/* Sorted distinct keys; *inverse: the index of each key among them. */
static lt_tensor *do_unique(lt_scope *s, lt_tensor *keys, lt_tensor **inverse)
{
    lt_tensor *distinct = NULL, *counts = NULL;
    *inverse = NULL;
    if (s->status != LT_OK) return NULL;
    const lt_status status = lt_unique(keys, true, true, false, NULL, &distinct, inverse, &counts);
    *inverse = lt_scope_hold(s, status, *inverse);
    lt_scope_hold(s, status, counts);
    return lt_scope_hold(s, status, distinct);
}

lt_status lt_coalesce_impl(lt_tensor *self, lt_tensor **out)
{
    lt_scope s;
    lt_tensor *inverse;
    if (lt_tensor_layout(self) != LT_SPARSE_COO)
        return lt_error(LT_ERR_RUNTIME,
                        "coalesce expected sparse coordinate tensor layout but got %s",
                        lt_layout_name(lt_tensor_layout(self)) + 6);
    if (lt_sparse_of(self)->coalesced) {
        *out = lt_tensor_retain(self);
        return LT_OK;
    }
    const lt_dims sizes = lt_dims_of(self);
    lt_scope_open(&s, LT_COMPOSITE(coalesce));
    lt_tensor *keys = do_unique(&s, do_places(&s, self), &inverse),
              *values = do__sparse_values(&s, self);
    if (s.status == LT_OK) values = do_added_rows(&s, keys->numel, inverse, values);
    return lt_scope_return(&s,
                           do_coo(&s, do_unravel(&s, keys, lt_sparse_dims_of(self), self->sizes),
                                  values, &sizes, true),
                           out);
}

lt_status lt__sparse_gradient_impl(lt_tensor *self, lt_tensor *grad_values, lt_tensor **out)
{
    lt_scope s;
    lt_tensor *which;
    if (lt_sparse_of(self)->coalesced) return lt__sparse_like(self, grad_values, out);
    lt_dims sizes = lt_dims_of(self);
    lt_scope_open(&s, LT_COMPOSITE(_sparse_gradient));
    lt_tensor *keys = do_unique(&s, do_places(&s, self), &which), *values = NULL;
    if (s.status == LT_OK) {
        lt_dims column = {grad_values->ndim, {grad_values->sizes[0]}};
        for (int d = 1; d < column.n; d++) column.v[d] = 1;
        lt_tensor *ones = plus(&s, do_zeros(&s, grad_values, &column), 1);
        values = do_div(&s, do_added_rows(&s, keys->numel, which, grad_values),
                        do_added_rows(&s, keys->numel, which, ones));
    }
    return lt_scope_return(&s,
                           do_coo(&s, do_unravel(&s, keys, lt_sparse_dims_of(self), self->sizes),
                                  values, &sizes, true),
                           out);
}

/* ---- all elements ---------------------------------------------------------------------------- */

lt_status lt_to_dense_impl(lt_tensor *self, lt_dtype dtype, const bool *masked_grad,
                           lt_tensor **out)
{
    lt_scope s;
    (void)masked_grad;
    lt_scope_open(&s, LT_COMPOSITE(to_dense));
    lt_tensor *result = self;
    if (lt_is_sparse(self)) {
        const lt_dims sizes = lt_dims_of(self);
        int64_t places = 1;
        for (int d = 0; d < lt_sparse_dims_of(self); d++) places *= self->sizes[d];
        lt_tensor *values = do__sparse_values(&s, self), *keys = do_places(&s, self);
        /* any dtype: nothing is added */
        if (s.status == LT_OK && lt_sparse_of(self)->coalesced) {
            lt_dims wide = lt_dims_of(values);
            wide.v[0] = places;
            lt_tensor *zeros = do_zeros(&s, values, &wide), *copied = NULL;
            if (s.status == LT_OK) s.status = lt_index_copy(zeros, 0, keys, values, &copied);
            result = lt_scope_hold(&s, s.status, copied);
        } else {
            result = do_added_rows(&s, places, keys, values);
        }
        result = do_reshape(&s, result, &sizes);
    }
    if (s.status == LT_OK && dtype != LT_DTYPE_NONE) result = do_cast(&s, result, dtype);
    return lt_scope_return(&s, result, out);
}

/* ---- the elements that are not 0 ------------------------------------------------------------- */

static lt_tensor *do_dense_to_coo(lt_scope *s, lt_tensor *self, int sparse_dims)
{
    const lt_dims sizes = lt_dims_of(self);
    lt_tensor *flat = do_flat(s, self, sparse_dims), *wanted = NULL;
    if (s->status != LT_OK) return NULL;
    wanted = do_ne(s, flat, do_scalar(s, lt_scalar_from_int(0)));
    lt_dims inside = {flat->ndim - 1, {0}};
    for (int d = 0; d < inside.n; d++) inside.v[d] = d + 1;
    if (s->status == LT_OK && inside.n > 0) {
        lt_tensor *any = NULL;
        const lt_status status = lt_any_dim(wanted, &inside, false, &any);
        wanted = lt_scope_hold(s, status, any);
    }
    lt_tensor *keys = do_chosen(s, wanted), *values = do_index_select(s, flat, 0, keys);
    return do_coo(s, do_unravel(s, keys, sparse_dims, self->sizes), values, &sizes, true);
}

lt_status lt_to_sparse_coo_impl(lt_tensor *self, const int64_t *sparse_dim, lt_tensor **out)
{
    lt_scope s;
    const int64_t dims = sparse_dim != NULL   ? *sparse_dim
                         : lt_is_sparse(self) ? lt_sparse_dims_of(self)
                                              : self->ndim;
    if (lt_is_sparse(self) && dims != lt_sparse_dims_of(self))
        return lt_error(
            LT_ERR_RUNTIME,
            "to_sparse: sparse_dim argument for sparse input must not be specified, but got %lld",
            (long long)dims);
    if (dims < 0 || dims > self->ndim || (dims == 0 && self->ndim > 0))
        return lt_error(LT_ERR_RUNTIME,
                        "to_sparse: sparse_dim argument must be in >=1 and <=%d, but got %lld",
                        self->ndim, (long long)dims);
    lt_scope_open(&s, LT_COMPOSITE(to_sparse_coo));
    lt_tensor *result = !lt_is_sparse(self) ? do_dense_to_coo(&s, self, (int)dims)
                                            : do_as_layout(&s, self, LT_SPARSE_COO);
    return lt_scope_return(&s, result, out);
}

/* ---- rows and columns ------------------------------------------------------------------------ */

lt_status lt_to_sparse_compressed_impl(lt_tensor *self, const char *layout, int64_t dense_dim,
                                       lt_tensor **out)
{
    lt_scope s;
    lt_layout kind;
    LT_TRY(lt_layout_from_name(layout, &kind));
    if (kind != LT_SPARSE_CSR && kind != LT_SPARSE_CSC)
        return lt_error(LT_ERR_RUNTIME, "to_sparse: %s is not a compressed layout",
                        lt_layout_name(kind));
    if (lt_tensor_layout(self) == kind) {
        *out = lt_tensor_retain(self);
        return LT_OK;
    }
    if (self->ndim - dense_dim != 2 || (lt_is_sparse(self) && lt_sparse_dims_of(self) != 2))
        return lt_error(LT_ERR_RUNTIME,
                        "to_sparse: a tensor in %s has 2 dimensions besides the dense ones, but "
                        "got %d dimensions with %lld dense",
                        lt_layout_name(kind), self->ndim, (long long)dense_dim);
    lt_scope_open(&s, LT_COMPOSITE(to_sparse_compressed));
    const lt_dims sizes = lt_dims_of(self);
    const int first = kind == LT_SPARSE_CSC;
    lt_tensor *coo = !lt_is_sparse(self) ? do_dense_to_coo(&s, self, 2) : do_as_coo(&s, self),
              *made = NULL;
    if (s.status == LT_OK && lt_tensor_layout(self) != LT_SPARSE_CSC) coo = do_coalesce(&s, coo);
    lt_tensor *coordinates = coo != NULL ? do_coordinates(&s, coo) : NULL,
              *values = coo != NULL ? do__sparse_values(&s, coo) : NULL;
    lt_tensor *lines = do_coordinate(&s, coordinates, first),
              *plain = do_coordinate(&s, coordinates, 1 - first);
    /* row by row, and ordered in each */
    if (s.status == LT_OK && (first || !lt_sparse_of(coo)->coalesced)) {
        lt_tensor *keys =
            do_add(&s, do_mul(&s, lines, do_scalar(&s, lt_scalar_from_int(self->sizes[1 - first]))),
                   plain);
        lt_tensor *order = do_argsort(&s, keys);
        lines = do_index_select(&s, lines, 0, order);
        plain = do_index_select(&s, plain, 0, order);
        values = do_index_select(&s, values, 0, order);
    }
    lt_tensor *compressed =
        do_search(&s, lines, do_range(&s, self->sizes[first] + 1, self->device), false);
    if (s.status == LT_OK) {
        const lt_status status =
            lt__sparse_compressed(compressed, plain, values, &sizes, lt_layout_name(kind), &made);
        made = lt_scope_hold(&s, status, made);
    }
    return lt_scope_return(&s, made, out);
}

/* ---- the elements at given indices ----------------------------------------------------------- */

/* The values of a coalesced tensor in COO at the linear indices in keys, 0 where it has none. */
static lt_tensor *do_found(lt_scope *s, lt_tensor *coo, lt_tensor *keys)
{
    if (s->status != LT_OK) return NULL;
    lt_tensor *values = do__sparse_values(s, coo), *own = do_places(s, coo);
    if (s->status != LT_OK) return NULL;
    if (own->numel == 0) {
        lt_dims sizes = lt_dims_of(values);
        sizes.v[0] = keys->numel;
        return do_zeros(s, values, &sizes);
    }
    lt_tensor *at = do_clamp_within(s, do_search(s, own, keys, false), 0, own->numel - 1);
    lt_tensor *missing = do_ne(s, do_index_select(s, own, 0, at), keys),
              *rows = do_index_select(s, values, 0, at);
    for (int d = 1; s->status == LT_OK && d < rows->ndim; d++)
        missing = do_unsqueeze(s, missing, -1);
    return do_where(s, missing, do_scalar(s, lt_scalar_from_int(0)), rows);
}

lt_status lt__sparse_values_at_impl(lt_tensor *self, lt_tensor *pattern, lt_tensor **out)
{
    lt_scope s;
    LT_TRY(lt_require_sparse("sparse_mask", pattern));
    if (lt_is_sparse(self) && lt_sparse_of(self)->coalesced &&
        lt_sparse_same_indices(self, pattern))
        return lt__sparse_values(self, out);
    lt_scope_open(&s, LT_COMPOSITE(_sparse_values_at));
    const int dims = lt_sparse_dims_of(pattern);
    lt_tensor *keys = do_places(&s, pattern), *rows;
    if (!lt_is_sparse(self))
        rows = do_index_select(&s, do_flat(&s, self, dims), 0, keys);
    else if (lt_sparse_dims_of(self) == dims)
        rows = do_found(&s, do_coalesce(&s, do_as_coo(&s, self)), keys);
    else
        rows = do_index_select(&s, do_flat(&s, do_to_dense(&s, self), dims), 0, keys);
    return lt_scope_return(&s, rows, out);
}

lt_status lt_sparse_mask_impl(lt_tensor *self, lt_tensor *mask, lt_tensor **out)
{
    char a[256], b[256];
    lt_scope s;
    lt_tensor *values = NULL;
    LT_TRY(lt_require_sparse("sparse_mask", mask));
    if (!lt_same_sizes(self, mask))
        return lt_error(LT_ERR_RUNTIME,
                        "sparse_mask(): operands have incompatible sizes; self has size %s but "
                        "mask has size %s",
                        lt_format_sizes(a, sizeof a, self->ndim, self->sizes),
                        lt_format_sizes(b, sizeof b, mask->ndim, mask->sizes));
    lt_scope_open(&s, LT_COMPOSITE(sparse_mask));
    if (!lt_sparse_of(mask)->coalesced) mask = do_coalesce(&s, mask);
    if (s.status == LT_OK) s.status = lt__sparse_values_at(self, mask, &values);
    values = lt_scope_hold(&s, s.status, values);
    return lt_scope_return(&s, do__sparse_like(&s, mask, values), out);
}
