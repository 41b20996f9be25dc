/* construct.c - sparse tensors from components, and the components of sparse tensors. */
#include "components.h"

#include <stdio.h>

#include "user_index.h"
#include "devices/copies.h"
#include "dtypes/dtype.h"
#include "op/_sparse_coo.h"
#include "op/_sparse_compressed.h"
#include "op/ccol_indices.h"
#include "op/col_indices.h"
#include "op/crow_indices.h"
#include "op/dense_dim.h"
#include "op/indices.h"
#include "op/nnz.h"
#include "op/is_coalesced.h"
#include "op/row_indices.h"
#include "op/sparse_compressed_tensor.h"
#include "op/sparse_coo_tensor.h"
#include "op/sparse_dim.h"
#include "op/stored_indices.h"
#include "op/stored_values.h"
#include "op/values.h"

/* ---- checks ---------------------------------------------------------------------------------- */

static lt_status check_indices(const char *op, const char *what, const lt_tensor *indices, int ndim,
                               const lt_tensor *values)
{
    char a[16], b[16];
    if (indices->dtype != LT_INT64)
        return lt_error(LT_ERR_RUNTIME, "%s: %s must be an int64 tensor, but got %s", op, what,
                        lt_dtype_name((lt_dtype)indices->dtype));
    if (indices->ndim != ndim)
        return lt_error(LT_ERR_RUNTIME, "%s: %s must have %d dimension%s, but got %d", op, what,
                        ndim, ndim == 1 ? "" : "s", indices->ndim);
    if (!lt_device_equal(indices->device, values->device))
        return lt_error(LT_ERR_RUNTIME, "%s: device of %s (%s) must match device of values (%s)",
                        op, what, lt_format_device(a, sizeof a, indices->device),
                        lt_format_device(b, sizeof b, values->device));
    return LT_OK;
}

/* Checks the nnz values: their dimensions are sizes from sparse_dims on. */
static lt_status check_values(const char *op, const lt_tensor *values, int64_t nnz, int sparse_dims,
                              const lt_dims *sizes)
{
    char a[256], b[256];
    if (values->ndim < 1 || values->sizes[0] != nnz)
        return lt_error(LT_ERR_RUNTIME,
                        "%s: indices and values must have same nnz, but got nnz from indices: "
                        "%lld, nnz from values: %lld",
                        op, (long long)nnz, (long long)(values->ndim < 1 ? 0 : values->sizes[0]));
    if (sizes->n != sparse_dims + values->ndim - 1)
        return lt_error(
            LT_ERR_RUNTIME,
            "%s: number of dimensions must be sparse_dim (%d) + dense_dim (%d), but got %d", op,
            sparse_dims, values->ndim - 1, sizes->n);
    for (int d = 1; d < values->ndim; d++)
        if (values->sizes[d] != sizes->v[sparse_dims + d - 1])
            return lt_error(LT_ERR_RUNTIME,
                            "%s: values have the sizes %s, which do not match the size %s", op,
                            lt_format_sizes(a, sizeof a, values->ndim, values->sizes),
                            lt_format_sizes(b, sizeof b, sizes->n, sizes->v));
    return LT_OK;
}

/* Fails if a flag is set. */
static void refuse_any(lt_scope *s, const char *op, lt_tensor *flags, const char *message)
{
    bool any = false;
    const lt_copy_cause previous = lt_copies_imply(op);
    if (s->status == LT_OK) s->status = lt_any_set(s, flags, &any);
    lt_copies_set_cause(previous);
    if (s->status == LT_OK && any) s->status = lt_error(LT_ERR_RUNTIME, "%s: %s", op, message);
}

/* Checks that all indices in a row are in 0 .. size - 1. */
static void check_range(lt_scope *s, const char *op, lt_tensor *line, int64_t size,
                        const char *what)
{
    char message[192];
    if (s->status != LT_OK) return;
    snprintf(message, sizeof message,
             "size is inconsistent with indices: %s must be from %lld to %lld", what,
             lt_user_index(0), lt_user_index(size - 1));
    lt_tensor *outside = do_logical_or(s, do_lt(s, line, do_scalar(s, lt_scalar_from_int(0))),
                                       do_ge(s, line, do_scalar(s, lt_scalar_from_int(size))));
    refuse_any(s, op, outside, message);
}

/* ---- COO ------------------------------------------------------------------------------------- */

lt_status lt_sparse_coo_tensor_impl(lt_tensor *indices, lt_tensor *values, const lt_dims *size,
                                    bool is_coalesced, lt_tensor **out)
{
    static const char op[] = "sparse_coo_tensor";
    char what[64];
    lt_scope s;
    LT_TRY(check_indices(op, "indices", indices, 2, values));
    LT_TRY(check_values(op, values, indices->sizes[1], (int)indices->sizes[0], size));
    lt_scope_open(&s, LT_COMPOSITE(sparse_coo_tensor));
    for (int64_t d = 0; d < indices->sizes[0] && indices->sizes[1] > 0; d++) {
        snprintf(what, sizeof what, "the indices of dimension %lld", lt_user_index(d));
        check_range(&s, op, do_coordinate(&s, indices, d), size->v[d], what);
    }
    return lt_scope_return(&s, do_coo(&s, indices, values, size, is_coalesced), out);
}

/* New reference to a component for a sparse tensor: contiguous, without history. */
static lt_status own(lt_tensor *t, lt_tensor **out)
{
    lt_tensor *dense = NULL;
    LT_TRY(lt_make_contiguous(t, &dense));
    const lt_status status = lt_tensor_alias(dense, out);
    lt_tensor_release(dense);
    return status;
}

static lt_status make(lt_sparse parts, const lt_dims *sizes, lt_tensor **out)
{
    lt_sparse kept = parts;
    kept.indices = kept.compressed = kept.plain = kept.values = NULL;
    lt_status status = own(parts.values, &kept.values);
    if (status == LT_OK && parts.indices != NULL) status = own(parts.indices, &kept.indices);
    if (status == LT_OK && parts.compressed != NULL)
        status = own(parts.compressed, &kept.compressed);
    if (status == LT_OK && parts.plain != NULL) status = own(parts.plain, &kept.plain);
    if (status == LT_OK) status = lt_sparse_new(&kept, sizes->n, sizes->v, out);
    lt_tensor_release(kept.indices);
    lt_tensor_release(kept.compressed);
    lt_tensor_release(kept.plain);
    lt_tensor_release(kept.values);
    return status;
}

lt_status lt__sparse_coo_impl(lt_tensor *indices, lt_tensor *values, const lt_dims *size,
                              bool coalesced, lt_tensor **out)
{
    coalesced = coalesced || indices->sizes[1] <= 1;
    return make(
        (lt_sparse){
            .layout = LT_SPARSE_COO, .coalesced = coalesced, .indices = indices, .values = values},
        size, out);
}

/* ---- CSR and CSC ----------------------------------------------------------------------------- */

lt_status lt_sparse_compressed_tensor_impl(lt_tensor *compressed, lt_tensor *plain,
                                           lt_tensor *values, const lt_dims *size,
                                           const char *layout, lt_tensor **out)
{
    static const char op[] = "sparse_compressed_tensor";
    lt_layout kind;
    lt_scope s;
    LT_TRY(lt_layout_from_name(layout, &kind));
    if (kind != LT_SPARSE_CSR && kind != LT_SPARSE_CSC)
        return lt_error(LT_ERR_RUNTIME,
                        "%s: layout must be torch.sparse_csr or torch.sparse_csc, but got %s", op,
                        lt_layout_name(kind));
    const bool by_rows = kind == LT_SPARSE_CSR;
    const char *first = by_rows ? "crow_indices" : "ccol_indices",
               *second = by_rows ? "col_indices" : "row_indices";
    if (compressed->ndim > 1)
        return lt_error(LT_ERR_RUNTIME,
                        "%s: batches of compressed matrices are not supported: %s must have 1 "
                        "dimension, but got %d",
                        op, first, compressed->ndim);
    LT_TRY(check_indices(op, first, compressed, 1, values));
    LT_TRY(check_indices(op, second, plain, 1, values));
    LT_TRY(check_values(op, values, plain->sizes[0], 2, size));
    const int64_t lines = size->v[by_rows ? 0 : 1], width = size->v[by_rows ? 1 : 0],
                  nnz = plain->sizes[0];
    if (compressed->sizes[0] != lines + 1)
        return lt_error(LT_ERR_RUNTIME,
                        "%s: %s must have %lld entries, the number of %s plus 1, but got %lld", op,
                        first, (long long)lines + 1, by_rows ? "rows" : "columns",
                        (long long)compressed->sizes[0]);
    lt_scope_open(&s, LT_COMPOSITE(sparse_compressed_tensor));
    if (nnz > 0) check_range(&s, op, plain, width, second);
    lt_tensor *begins = do_part(&s, compressed, 0, 0, lines),
              *ends = do_part(&s, compressed, 0, 1, lines + 1);
    lt_tensor *ordered = do_le(&s, begins, ends);
    lt_tensor *bounds[] = {
        do_ne(&s, do_part(&s, compressed, 0, 0, 1), do_scalar(&s, lt_scalar_from_int(0))),
        do_ne(&s, do_part(&s, compressed, 0, lines, lines + 1),
              do_scalar(&s, lt_scalar_from_int(nnz))),
        do_logical_not(&s, ordered)};
    char message[256];
    snprintf(message, sizeof message,
             "%s must begin with %lld, not decrease, and end with %lld, after the last value",
             first, lt_user_index(0), lt_user_index(nnz));
    if (s.status == LT_OK) refuse_any(&s, op, do_cat(&s, bounds, 3, 0), message);
    if (s.status == LT_OK && nnz > 1) { /* indices must increase within a row */
        lt_tensor *which = do_search(&s, ends, do_range(&s, nnz, plain->device), true);
        lt_tensor *same =
            do_eq(&s, do_part(&s, which, 0, 0, nnz - 1), do_part(&s, which, 0, 1, nnz));
        lt_tensor *rises =
            do_lt(&s, do_part(&s, plain, 0, 0, nnz - 1), do_part(&s, plain, 0, 1, nnz));
        snprintf(message, sizeof message, "%s must be in order and distinct within each %s", second,
                 by_rows ? "row" : "column");
        refuse_any(&s, op, do_logical_and(&s, same, do_logical_not(&s, rises)), message);
    }
    lt_tensor *made = NULL;
    if (s.status == LT_OK) {
        const lt_status status =
            lt__sparse_compressed(compressed, plain, values, size, layout, &made);
        made = lt_scope_hold(&s, status, made);
    }
    return lt_scope_return(&s, made, out);
}

lt_status lt__sparse_compressed_impl(lt_tensor *compressed, lt_tensor *plain, lt_tensor *values,
                                     const lt_dims *size, const char *layout, lt_tensor **out)
{
    lt_layout kind;
    LT_TRY(lt_layout_from_name(layout, &kind));
    return make((lt_sparse){.layout = kind,
                            .coalesced = true,
                            .compressed = compressed,
                            .plain = plain,
                            .values = values},
                size, out);
}

lt_status lt__sparse_like_impl(lt_tensor *self, lt_tensor *values, lt_tensor **out)
{
    LT_TRY(lt_require_sparse("_sparse_like", self));
    lt_sparse parts = *lt_sparse_of(self);
    lt_dims sizes = {lt_sparse_dims_of(self), {0}};
    LT_TRY(lt_require_strided("_sparse_like", values));
    for (int d = 0; d < sizes.n; d++) sizes.v[d] = self->sizes[d];
    for (int d = 1; d < values->ndim; d++) sizes.v[sizes.n++] = values->sizes[d];
    parts.values = values;
    lt_tensor *own_values = NULL;
    LT_TRY(own(values, &own_values));
    parts.values = own_values;
    const lt_status status = lt_sparse_new(&parts, sizes.n, sizes.v, out);
    lt_tensor_release(own_values);
    return status;
}

/* ---- components ------------------------------------------------------------------------------ */

lt_status lt__sparse_values_impl(lt_tensor *self, lt_tensor **out)
{
    LT_TRY(lt_require_sparse("values", self));
    return lt_tensor_alias(lt_sparse_of(self)->values, out);
}

lt_status lt_stored_values_impl(lt_tensor *self, lt_tensor **out)
{
    return lt__sparse_values(self, out);
}

static lt_status require_coalesced(const char *what, const lt_tensor *self)
{
    LT_TRY(lt_require_sparse(what, self));
    if (lt_sparse_of(self)->coalesced) return LT_OK;
    return lt_error(LT_ERR_RUNTIME,
                    "Cannot get %s on an uncoalesced tensor, please call .coalesce() first", what);
}

lt_status lt_values_impl(lt_tensor *self, lt_tensor **out)
{
    LT_TRY(require_coalesced("values", self));
    return lt__sparse_values(self, out);
}

/* A component of one layout. */
static lt_status component(const char *what, const lt_tensor *self, lt_layout layout,
                           lt_tensor *which, lt_tensor **out)
{
    if (lt_tensor_layout(self) != layout)
        return lt_error(LT_ERR_RUNTIME, "%s expected a tensor of the layout %s, but got %s", what,
                        lt_layout_name(layout), lt_layout_name(lt_tensor_layout(self)));
    return lt_tensor_alias(which, out);
}

static const lt_sparse *parts_of(const lt_tensor *t)
{
    static const lt_sparse none;
    return lt_is_sparse(t) ? lt_sparse_of(t) : &none;
}

lt_status lt_stored_indices_impl(lt_tensor *self, lt_tensor **out)
{
    return component("_indices", self, LT_SPARSE_COO, parts_of(self)->indices, out);
}

lt_status lt_indices_impl(lt_tensor *self, lt_tensor **out)
{
    LT_TRY(require_coalesced("indices", self));
    return component("indices", self, LT_SPARSE_COO, parts_of(self)->indices, out);
}

lt_status lt_crow_indices_impl(lt_tensor *self, lt_tensor **out)
{
    return component("crow_indices", self, LT_SPARSE_CSR, parts_of(self)->compressed, out);
}

lt_status lt_col_indices_impl(lt_tensor *self, lt_tensor **out)
{
    return component("col_indices", self, LT_SPARSE_CSR, parts_of(self)->plain, out);
}

lt_status lt_ccol_indices_impl(lt_tensor *self, lt_tensor **out)
{
    return component("ccol_indices", self, LT_SPARSE_CSC, parts_of(self)->compressed, out);
}

lt_status lt_row_indices_impl(lt_tensor *self, lt_tensor **out)
{
    return component("row_indices", self, LT_SPARSE_CSC, parts_of(self)->plain, out);
}

lt_status lt_nnz_impl(lt_tensor *self, int64_t *out)
{
    LT_TRY(lt_require_sparse("_nnz", self));
    *out = lt_sparse_count(self);
    return LT_OK;
}

lt_status lt_sparse_dim_impl(lt_tensor *self, int64_t *out)
{
    *out = lt_is_sparse(self) ? lt_sparse_dims_of(self) : 0;
    return LT_OK;
}

lt_status lt_dense_dim_impl(lt_tensor *self, int64_t *out)
{
    *out = lt_is_sparse(self) ? self->ndim - lt_sparse_dims_of(self) : self->ndim;
    return LT_OK;
}

lt_status lt_is_coalesced_impl(lt_tensor *self, bool *out)
{
    LT_TRY(lt_require_sparse("is_coalesced", self));
    *out = lt_sparse_of(self)->coalesced;
    return LT_OK;
}
