/* components.c - see components.h. Linear indices are int64; products of sizes fit, since numel does. */
#include "components.h"

#include "memory/alloc.h"
#include "op/_sparse_coo.h"
#include "op/index_add.h"
#include "op/repeat_interleave.h"
#include "op/searchsorted.h"
#include "op/to_dense.h"
#include "op/to_sparse_compressed.h"
#include "step/nonzero.h"
#include "step/remainder.h"

lt_status lt_require_sparse(const char *what, const lt_tensor *t)
{
    if (lt_is_sparse(t)) return LT_OK;
    return lt_error(LT_ERR_RUNTIME,
                    "%s() expected a sparse tensor, but got one of the layout torch.strided", what);
}

bool lt_sparse_same_indices(const lt_tensor *a, const lt_tensor *b)
{
    const lt_sparse *p = lt_sparse_of(a), *q = lt_sparse_of(b);
    return p->layout == q->layout && p->indices == q->indices && p->compressed == q->compressed &&
           p->plain == q->plain;
}

lt_tensor *do_search(lt_scope *s, lt_tensor *sorted, lt_tensor *values, bool right)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    const lt_status status = lt_searchsorted(sorted, values, false, right, NULL, NULL, &out);
    return lt_scope_hold(s, status, out);
}

lt_tensor *do_coordinate(lt_scope *s, lt_tensor *coordinates, int64_t dim)
{
    return do_select(s, coordinates, 0, dim);
}

lt_tensor *do_coordinates(lt_scope *s, lt_tensor *t)
{
    if (s->status != LT_OK) return NULL;
    const lt_sparse *p = lt_sparse_of(t);
    if (p->indices != NULL) return p->indices;
    /* Value k belongs to the first row that ends after k. */
    lt_tensor *ends = do_part(s, p->compressed, 0, 1, p->compressed->sizes[0]);
    lt_tensor *lines = do_search(s, ends, do_range(s, p->plain->sizes[0], p->plain->device), true);
    lt_tensor *pair[] = {lines, p->plain};
    if (p->layout == LT_SPARSE_CSC) pair[0] = p->plain, pair[1] = lines;
    return s->status == LT_OK ? do_stack(s, pair, 2, 0) : NULL;
}

/* A column [dims, 1] of one number per dimension. */
static lt_tensor *do_column(lt_scope *s, const int64_t *numbers, int dims, lt_device device)
{
    if (s->status != LT_OK) return NULL;
    int64_t *copy = lt_mem_array(dims, sizeof *copy);
    for (int d = 0; copy != NULL && d < dims; d++) copy[d] = numbers[d];
    return do_positions(s, copy, &(lt_dims){2, {dims, 1}}, device);
}

lt_tensor *do_keys(lt_scope *s, lt_tensor *coordinates, const int64_t *sizes)
{
    if (s->status != LT_OK) return NULL;
    const int dims = (int)coordinates->sizes[0];
    int64_t strides[LT_MAX_DIMS];
    if (dims == 0) return do_zeros(s, coordinates, &(lt_dims){1, {coordinates->sizes[1]}});
    if (dims == 1) return do_coordinate(s, coordinates, 0);
    if (dims == 2) {
        lt_tensor *lines =
            do_mul(s, do_coordinate(s, coordinates, 0), do_scalar(s, lt_scalar_from_int(sizes[1])));
        return do_add(s, lines, do_coordinate(s, coordinates, 1));
    }
    lt_contiguous_strides(dims, sizes, strides);
    return do_sum_dim(s, do_mul(s, coordinates, do_column(s, strides, dims, coordinates->device)),
                      0, false);
}

lt_tensor *do_unravel(lt_scope *s, lt_tensor *keys, int dims, const int64_t *sizes)
{
    int64_t strides[LT_MAX_DIMS];
    if (s->status != LT_OK) return NULL;
    if (dims == 0) return do_zeros(s, keys, &(lt_dims){2, {0, keys->numel}});
    if (dims == 1) return do_unsqueeze(s, keys, 0);
    /* avoids a division by sizes of 0 */
    if (keys->numel == 0) return do_zeros(s, keys, &(lt_dims){2, {dims, 0}});
    if (dims == 2) {
        lt_tensor *size = do_scalar(s, lt_scalar_from_int(sizes[1]));
        lt_tensor *pair[] = {do_floor_divide(s, keys, size), do_remainder(s, keys, size)};
        return s->status == LT_OK ? do_stack(s, pair, 2, 0) : NULL;
    }
    lt_contiguous_strides(dims, sizes, strides);
    lt_tensor *lines =
        do_floor_divide(s, do_unsqueeze(s, keys, 0), do_column(s, strides, dims, keys->device));
    return do_remainder(s, lines, do_column(s, sizes, dims, keys->device));
}

lt_tensor *do_places(lt_scope *s, lt_tensor *t)
{
    return s->status == LT_OK ? do_keys(s, do_coordinates(s, t), t->sizes) : NULL;
}

lt_tensor *do_flat(lt_scope *s, lt_tensor *dense, int sparse_dims)
{
    if (s->status != LT_OK) return NULL;
    lt_dims sizes = {1, {1}};
    for (int d = 0; d < dense->ndim; d++) {
        if (d < sparse_dims)
            sizes.v[0] *= dense->sizes[d];
        else
            sizes.v[sizes.n++] = dense->sizes[d];
    }
    return do_reshape(s, dense, &sizes);
}

lt_tensor *do_coo(lt_scope *s, lt_tensor *coordinates, lt_tensor *values, const lt_dims *sizes,
                  bool coalesced)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    const lt_status status = lt__sparse_coo(coordinates, values, sizes, coalesced, &out);
    return lt_scope_hold(s, status, out);
}

lt_tensor *do_as_coo(lt_scope *s, lt_tensor *t)
{
    if (s->status != LT_OK || lt_tensor_layout(t) == LT_SPARSE_COO)
        return s->status == LT_OK ? t : NULL;
    const lt_dims sizes = lt_dims_of(t);
    return do_coo(s, do_coordinates(s, t), do__sparse_values(s, t), &sizes,
                  lt_tensor_layout(t) == LT_SPARSE_CSR);
}

lt_tensor *do_as_layout(lt_scope *s, lt_tensor *t, lt_layout layout)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK || lt_tensor_layout(t) == layout) return s->status == LT_OK ? t : NULL;
    if (layout == LT_SPARSE_COO) return do_coalesce(s, do_as_coo(s, t));
    const int64_t dense = t->ndim - lt_sparse_dims_of(t);
    const lt_status status = lt_to_sparse_compressed(t, lt_layout_name(layout), dense, &out);
    return lt_scope_hold(s, status, out);
}

lt_tensor *do_to_dense(lt_scope *s, lt_tensor *t)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    const lt_status status = lt_to_dense(t, LT_DTYPE_NONE, NULL, &out);
    return lt_scope_hold(s, status, out);
}

lt_tensor *do_chosen(lt_scope *s, lt_tensor *flags) { return do_flatten(s, do_nonzero(s, flags)); }

lt_tensor *do_lines_of(lt_scope *s, lt_tensor *compressed, lt_tensor *plain)
{
    lt_tensor *ends = do_part(s, compressed, 0, 1, compressed->sizes[0]);
    return do_search(s, ends, do_range(s, plain->sizes[0], plain->device), true);
}

lt_tensor *do_ranges(lt_scope *s, lt_tensor *starts, lt_tensor *counts, lt_tensor **which)
{
    lt_tensor *of = NULL;
    if (s->status != LT_OK) return NULL;
    const lt_status status = lt_repeat_interleave_repeats(counts, NULL, &of);
    *which = of = lt_scope_hold(s, status, of);
    if (of == NULL) return NULL;
    lt_tensor *before = do_sub(s, do_cumsum(s, counts, 0), counts);
    lt_tensor *shift = do_index_select(s, do_sub(s, starts, before), 0, of);
    return do_add(s, do_range(s, of->numel, of->device), shift);
}

lt_tensor *do_added_rows(lt_scope *s, int64_t n, lt_tensor *index, lt_tensor *rows)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    lt_dims sizes = lt_dims_of(rows);
    sizes.v[0] = n;
    lt_tensor *zeros = do_zeros(s, rows, &sizes);
    if (zeros == NULL) return NULL;
    const lt_status status = lt_index_add(zeros, 0, index, rows, lt_scalar_from_int(1), &out);
    return lt_scope_hold(s, status, out);
}
