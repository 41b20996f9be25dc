/* shape.c - the sparse forms of ops that permute, index and join. They make new tensors, not views;
 * a permutation of sparse dimensions shares the values. */
#include "components.h"
#include "dims.h"

#include "op/_slice.h"
#include "op/_sparse_compressed.h"
#include "op/cat.h"
#include "op/index_select.h"
#include "op/permute.h"
#include "op/select.h"
#include "op/t.h"
#include "op/transpose.h"
#include "op/unsqueeze.h"
#include "step/argsort.h"
#include "step/permute.h"
#include "user_index.h"

/* ---- permuting ------------------------------------------------------------------------------- */

/* A transposed CSR matrix is a CSC matrix with the same components. */
static lt_tensor *do_turned(lt_scope *s, lt_tensor *self, const lt_dims *sizes)
{
    const lt_sparse *p = lt_sparse_of(self);
    const char *layout = lt_layout_name(p->layout == LT_SPARSE_CSR ? LT_SPARSE_CSC : LT_SPARSE_CSR);
    lt_tensor *values = do__sparse_values(s, self), *out = NULL;
    if (s->status != LT_OK) return NULL;
    const lt_status status =
        lt__sparse_compressed(p->compressed, p->plain, values, sizes, layout, &out);
    return lt_scope_hold(s, status, out);
}

/* order: the dimension of self for each dimension of the result. */
static lt_status permuted(lt_tensor *self, const int *order, lt_tensor **out)
{
    const int places = lt_sparse_dims_of(self);
    lt_dims sizes = {self->ndim, {0}}, inside = {self->ndim - places + 1, {0}};
    lt_tensor *rows[LT_MAX_DIMS];
    bool turned = false, in_order = true;
    for (int d = 0; d < self->ndim; d++) {
        if ((d < places) != (order[d] < places))
            return lt_error(
                LT_ERR_RUNTIME,
                "permute(sparse_coo): transpositions between sparse and dense dimensions are not "
                "allowed.Only transpositions within sparse and dense dimensions are supported.");
        sizes.v[d] = self->sizes[order[d]];
        if (d >= places) inside.v[d - places + 1] = order[d] - places + 1;
        turned = turned || (d >= places && order[d] != d);
        in_order = in_order && (d >= places || order[d] == d);
    }
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *result;
    if (lt_tensor_layout(self) != LT_SPARSE_COO && !turned) {
        result = in_order ? self : do_turned(&s, self, &sizes);
    } else {
        lt_tensor *values = do__sparse_values(&s, self), *coordinates = do_coordinates(&s, self);
        if (turned) values = do_permute(&s, values, &inside);
        for (int d = 0; d < places; d++) rows[d] = do_coordinate(&s, coordinates, order[d]);
        coordinates = s.status == LT_OK ? do_stack(&s, rows, places, 0) : NULL;
        result = do_coo(&s, coordinates, values, &sizes,
                        in_order && lt_sparse_of(self)->coalesced &&
                            lt_tensor_layout(self) != LT_SPARSE_CSC);
    }
    return lt_scope_return(&s, result, out);
}

lt_status lt_transpose_sparse(lt_tensor *self, int64_t dim0, int64_t dim1, lt_tensor **out)
{
    int a, b, order[LT_MAX_DIMS];
    LT_TRY(lt_wrap_dim(dim0, self->ndim, &a));
    LT_TRY(lt_wrap_dim(dim1, self->ndim, &b));
    for (int d = 0; d < self->ndim; d++) order[d] = d;
    if (self->ndim > 0) order[a] = b, order[b] = a;
    return permuted(self, order, out);
}

lt_status lt_t_sparse(lt_tensor *self, lt_tensor **out)
{
    if (self->ndim > 2)
        return lt_error(
            LT_ERR_RUNTIME,
            "t() expects a tensor with <= 2 sparse and 0 dense dimensions, but self is %dD",
            self->ndim);
    return lt_transpose_sparse(self, 0, self->ndim == 2 ? 1 : 0, out);
}

lt_status lt_permute_sparse(lt_tensor *self, const lt_dims *dims, lt_tensor **out)
{
    int order[LT_MAX_DIMS];
    uint32_t mask;
    LT_TRY(lt_dims_mask(dims, self->ndim, &mask)); /* each at most once */
    if (dims->n != self->ndim)
        return lt_error(
            LT_ERR_RUNTIME,
            "permute: number of dimensions in the tensor input does not match the length of the "
            "desired ordering of dimensions, i.e. input.dim() = %d is not equal to len(dims) = %d",
            self->ndim, dims->n);
    for (int d = 0; d < self->ndim; d++) LT_TRY(lt_wrap_dim(dims->v[d], self->ndim, &order[d]));
    return permuted(self, order, out);
}

lt_status lt_unsqueeze_sparse(lt_tensor *self, int64_t dim, lt_tensor **out)
{
    lt_scope s;
    int at, kept = 0;
    LT_TRY(lt_wrap_dim(dim, self->ndim + 1, &at));
    const int places = lt_sparse_dims_of(self);
    lt_dims sizes = lt_dims_of(self);
    lt_tensor *rows[LT_MAX_DIMS];
    LT_TRY(lt_dims_insert(&sizes, at, 1));
    lt_scope_open(&s, true);
    lt_tensor *coo = do_as_coo(&s, self), *values = coo != NULL ? do__sparse_values(&s, coo) : NULL,
              *coordinates = coo != NULL ? do_coordinates(&s, coo) : NULL;
    if (at > places) {
        values = do_unsqueeze(&s, values, at - places + 1);
    } else {
        for (int d = 0; d <= places; d++) {
            lt_tensor *line =
                s.status != LT_OK ? NULL
                : d == at ? do_zeros(&s, coordinates, &(lt_dims){1, {coordinates->sizes[1]}})
                          : do_coordinate(&s, coordinates, d < at ? d : d - 1);
            rows[kept++] = line;
        }
        coordinates = s.status == LT_OK ? do_stack(&s, rows, kept, 0) : NULL;
    }
    return lt_scope_return(
        &s,
        s.status == LT_OK ? do_coo(&s, coordinates, values, &sizes, lt_sparse_of(coo)->coalesced)
                          : NULL,
        out);
}

/* ---- indexing -------------------------------------------------------------------------------- */

/* Stores the result, given in COO, in self's layout if it supports that. */
static lt_status give_like(lt_scope *s, lt_tensor *self, lt_tensor *coo, lt_tensor **out)
{
    if (s->status == LT_OK && lt_sparse_dims_of(coo) == 2)
        coo = do_as_layout(s, coo, lt_tensor_layout(self));
    return lt_scope_return(s, coo, out);
}

/* Coordinates with row d replaced. */
static lt_tensor *do_replaced(lt_scope *s, lt_tensor *coordinates, int d, lt_tensor *row)
{
    lt_tensor *parts[3];
    int n = 0;
    if (s->status != LT_OK) return NULL;
    if (d > 0) parts[n++] = do_part(s, coordinates, 0, 0, d);
    if (row != NULL) parts[n++] = do_unsqueeze(s, row, 0);
    if (d + 1 < coordinates->sizes[0])
        parts[n++] = do_part(s, coordinates, 0, d + 1, coordinates->sizes[0]);
    return s->status == LT_OK ? do_cat(s, parts, n, 0) : NULL;
}

lt_status lt_select_sparse(lt_tensor *self, int64_t dim, int64_t index, lt_tensor **out)
{
    lt_scope s;
    int d;
    if (self->ndim == 0)
        return lt_error(LT_ERR_INDEX, "select() cannot be applied to a 0-dim tensor.");
    LT_TRY(lt_wrap_dim(dim, self->ndim, &d));
    const int64_t size = self->sizes[d], at = index < 0 ? index + size : index;
    const int places = lt_sparse_dims_of(self);
    if (at < 0 || at >= size)
        return lt_error(
            LT_ERR_INDEX,
            "select(): index %lld out of range for tensor of size %lld at dimension %lld",
            lt_user_index(index), (long long)size, lt_user_index(d));
    lt_scope_open(&s, true);
    if (d >= places)
        return lt_scope_return(
            &s,
            do__sparse_like(&s, self,
                            do_select(&s, do__sparse_values(&s, self), d - places + 1, at)),
            out);
    lt_dims sizes = lt_dims_of(self);
    for (int e = d; e + 1 < sizes.n; e++) sizes.v[e] = sizes.v[e + 1];
    sizes.n--;
    lt_tensor *coordinates = do_coordinates(&s, self), *line = do_coordinate(&s, coordinates, d);
    lt_tensor *chosen = do_chosen(&s, do_eq(&s, line, do_scalar(&s, lt_scalar_from_int(at))));
    lt_tensor *values = do_index_select(&s, do__sparse_values(&s, self), 0, chosen);
    if (places == 1) return lt_scope_return(&s, do_sum_dim(&s, values, 0, false), out);
    coordinates = do_index_select(&s, do_replaced(&s, coordinates, d, NULL), 1, chosen);
    const bool coalesced = lt_sparse_of(self)->coalesced && lt_tensor_layout(self) != LT_SPARSE_CSC;
    return lt_scope_return(&s, do_coo(&s, coordinates, values, &sizes, coalesced), out);
}

lt_status lt__slice_sparse(lt_tensor *self, int64_t dim, int64_t start, int64_t stop, int64_t step,
                           lt_tensor **out)
{
    lt_scope s;
    int d;
    LT_TRY(lt_wrap_dim(dim, self->ndim, &d));
    if (step <= 0) return lt_error(LT_ERR_RUNTIME, "slice step must be positive");
    const int64_t size = self->sizes[d];
    const int places = lt_sparse_dims_of(self);
    if (start < 0) start = start + size > 0 ? start + size : 0;
    if (stop < 0) stop += size;
    if (start > size) start = size;
    if (stop > size) stop = size;
    if (stop < start) stop = start;
    lt_tensor *part = NULL;
    lt_scope_open(&s, true);
    if (d >= places) {
        lt_tensor *values = do__sparse_values(&s, self);
        if (s.status == LT_OK)
            s.status = lt__slice(values, d - places + 1, start, stop, step, &part);
        return lt_scope_return(&s, do__sparse_like(&s, self, lt_scope_hold(&s, s.status, part)),
                               out);
    }
    lt_dims sizes = lt_dims_of(self);
    sizes.v[d] = (stop - start + step - 1) / step;
    lt_tensor *coordinates = do_coordinates(&s, self), *line = do_coordinate(&s, coordinates, d);
    lt_tensor *from = do_sub(&s, line, do_scalar(&s, lt_scalar_from_int(start))),
              *every = do_scalar(&s, lt_scalar_from_int(step));
    lt_tensor *within =
        do_logical_and(&s, do_ge(&s, line, do_scalar(&s, lt_scalar_from_int(start))),
                       do_lt(&s, line, do_scalar(&s, lt_scalar_from_int(stop))));
    lt_tensor *at = do_floor_divide(&s, from, every);
    if (step > 1) within = do_logical_and(&s, within, do_eq(&s, do_mul(&s, at, every), from));
    lt_tensor *chosen = do_chosen(&s, within);
    coordinates = do_index_select(&s, do_replaced(&s, coordinates, d, at), 1, chosen);
    lt_tensor *values = do_index_select(&s, do__sparse_values(&s, self), 0, chosen);
    const bool coalesced = lt_sparse_of(self)->coalesced && lt_tensor_layout(self) != LT_SPARSE_CSC;
    return give_like(&s, self, do_coo(&s, coordinates, values, &sizes, coalesced), out);
}

/* An entry of `index` may select any number of values, and several entries may select one value. */
lt_status lt_index_select_sparse(lt_tensor *self, int64_t dim, lt_tensor *index, lt_tensor **out)
{
    lt_scope s;
    int d;
    LT_TRY(lt_require_strided("index_select", index));
    LT_TRY(lt_require_sparse("index_select", self));
    LT_TRY(lt_wrap_dim(dim, self->ndim, &d));
    if (index->ndim > 1)
        return lt_error(LT_ERR_INDEX, "index_select(): Index is supposed to be a vector");
    const int places = lt_sparse_dims_of(self);
    lt_scope_open(&s, true);
    if (d >= places) {
        lt_tensor *values = do_index_select(&s, do__sparse_values(&s, self), d - places + 1, index);
        return lt_scope_return(&s, do__sparse_like(&s, self, values), out);
    }
    lt_dims sizes = lt_dims_of(self);
    lt_tensor *wanted = do_cast(&s, do_reshape(&s, index, &(lt_dims){1, {index->numel}}), LT_INT64),
              *which = NULL;
    if (index->flags & LT_FLAG_POSITIONS)
        wanted = do_sub(&s, wanted, do_scalar(&s, lt_scalar_from_int(1)));
    /* index_select reports indices out of range */
    lt_tensor *range = do_range(&s, sizes.v[d], self->device);
    wanted = do_index_select(&s, range, 0, wanted);
    lt_tensor *coordinates = do_coordinates(&s, self), *line = do_coordinate(&s, coordinates, d),
              *order = do_argsort(&s, line);
    lt_tensor *sorted = do_index_select(&s, line, 0, order),
              *starts = do_search(&s, sorted, wanted, false);
    lt_tensor *found =
        do_ranges(&s, starts, do_sub(&s, do_search(&s, sorted, wanted, true), starts), &which);
    lt_tensor *from = do_index_select(&s, order, 0, found);
    coordinates = do_index_select(&s, coordinates, 1, from);
    coordinates = do_replaced(&s, coordinates, d, which);
    sizes.v[d] = index->numel;
    lt_tensor *values = do_index_select(&s, do__sparse_values(&s, self), 0, from);
    lt_tensor *chosen = do_coo(&s, coordinates, values, &sizes, false);
    if (s.status == LT_OK && lt_sparse_of(self)->coalesced) chosen = do_coalesce(&s, chosen);
    return give_like(&s, self, chosen, out);
}

/* ---- joining --------------------------------------------------------------------------------- */

static lt_status check_joined(const lt_tensor_list *tensors, int d)
{
    const lt_tensor *first = tensors->v[0];
    for (int64_t i = 0; i < tensors->n; i++) {
        const lt_tensor *t = tensors->v[i];
        if (!lt_is_sparse(t))
            return lt_error(
                LT_ERR_RUNTIME,
                "cat: sparse and dense tensors cannot be concatenated; tensor %lld is dense",
                lt_user_index(i));
        bool same = t->ndim == first->ndim && lt_sparse_dims_of(t) == lt_sparse_dims_of(first) &&
                    lt_tensor_layout(t) == lt_tensor_layout(first);
        for (int e = 0; same && e < t->ndim; e++) same = e == d || t->sizes[e] == first->sizes[e];
        if (!same)
            return lt_error(LT_ERR_RUNTIME,
                            "cat: sparse tensors must have the same layout and the same sizes "
                            "except in the dimension of concatenation; tensor %lld differs",
                            lt_user_index(i));
    }
    if (d >= lt_sparse_dims_of(first))
        return lt_error(LT_ERR_RUNTIME,
                        "cat: sparse tensors can be concatenated along a sparse dimension only, "
                        "but %lld is a dense dimension",
                        lt_user_index(d));
    return LT_OK;
}

lt_status lt_cat_sparse(const lt_tensor_list *tensors, int64_t dim, lt_tensor **out)
{
    int d;
    lt_scope s;
    lt_tensor *places = NULL, *values = NULL;
    LT_TRY(lt_wrap_dim(dim, tensors->v[0]->ndim, &d));
    LT_TRY(check_joined(tensors, d));
    lt_dims sizes = lt_dims_of(tensors->v[0]);
    sizes.v[d] = 0;
    lt_tensor_list parts[2];
    lt_scope_open(&s, true);
    for (int k = 0; k < 2; k++) { /* concatenates their indices, then their values */
        s.status = lt_list_new(tensors->n, &parts[k]);
        for (int64_t i = 0; s.status == LT_OK && i < tensors->n; i++) {
            lt_scope one;
            lt_scope_open(&one, true);
            lt_tensor *t = tensors->v[i],
                      *part = k == 0 ? do_coordinates(&one, t) : do__sparse_values(&one, t);
            if (k == 0) {
                lt_tensor *shifted = do_add(&one, do_coordinate(&one, part, d),
                                            do_scalar(&one, lt_scalar_from_int(sizes.v[d])));
                part = do_replaced(&one, part, d, shifted);
                sizes.v[d] += t->sizes[d];
            }
            s.status = lt_scope_return(&one, part, &parts[k].v[i]);
            if (s.status == LT_OK) parts[k].n++;
        }
        lt_tensor *joined = NULL;
        if (s.status == LT_OK) s.status = lt_cat(&parts[k], k == 0 ? 1 : 0, &joined);
        joined = lt_scope_hold(&s, s.status, joined);
        if (k == 0)
            places = joined;
        else
            values = joined;
        lt_list_release(&parts[k]);
        if (s.status != LT_OK) return lt_scope_close(&s);
    }
    lt_tensor *whole = do_coo(&s, places, values, &sizes, false);
    if (s.status == LT_OK && lt_tensor_layout(tensors->v[0]) != LT_SPARSE_COO)
        whole = do_as_layout(&s, whole, lt_tensor_layout(tensors->v[0]));
    return lt_scope_return(&s, whole, out);
}
