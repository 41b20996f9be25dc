/* arrange.c - diagonals, triangles as positions, rotations, grids and combinations: ops composed of
 * views and joins. */
#include "context/interrupt.h"
#include "devices/copies.h"
#include "saturating.h"
#include "dims.h"
#include "user_index.h"
#include "memory/alloc.h"
#include "ops/steps.h"
#include "op/_fill_diagonal_backward.h"
#include "op/_slice.h"
#include "op/atleast_1d.h"
#include "op/atleast_2d.h"
#include "op/atleast_3d.h"
#include "op/block_diag.h"
#include "op/broadcast_tensors.h"
#include "op/cartesian_prod.h"
#include "op/cat.h"
#include "op/clone.h"
#include "op/column_stack.h"
#include "op/combinations.h"
#include "op/constant_pad_nd.h"
#include "op/contiguous.h"
#include "op/copy_.h"
#include "op/diag.h"
#include "op/diag_embed.h"
#include "op/diagflat.h"
#include "op/diagonal.h"
#include "op/expand.h"
#include "op/fill_diagonal_.h"
#include "op/flip.h"
#include "op/fliplr.h"
#include "op/flipud.h"
#include "op/hstack.h"
#include "op/meshgrid.h"
#include "op/ravel.h"
#include "op/reshape.h"
#include "op/rot90.h"
#include "op/view.h"
#include "op/zeros.h"

/* ---- broadcasting ---------------------------------------------------------------------------- */

lt_status lt_broadcast_tensors_impl(const lt_tensor_list *tensors, lt_tensor_list *out)
{
    lt_dims shape = {.n = 0};
    for (int64_t i = 0; i < tensors->n; i++) { /* two at a time, since the list may be long */
        const lt_tensor *t = tensors->v[i];
        if (t->ndim > shape.n) {
            for (int d = t->ndim - 1; d >= 0; d--) {
                int from = d - (t->ndim - shape.n);
                shape.v[d] = from >= 0 ? shape.v[from] : 1;
            }
            shape.n = t->ndim;
        }
        for (int d = 0; d < t->ndim; d++) {
            int64_t *to = &shape.v[shape.n - t->ndim + d];
            if (*to == 1) *to = t->sizes[d];
            if (t->sizes[d] != 1 && t->sizes[d] != *to)
                return lt_error(LT_ERR_RUNTIME,
                                "The size of tensor a (%lld) must match the size of tensor b "
                                "(%lld) at non-singleton dimension %lld",
                                (long long)*to, (long long)t->sizes[d],
                                lt_user_index(shape.n - t->ndim + d));
        }
    }
    lt_tensor_list list;
    LT_TRY(lt_list_new(tensors->n, &list));
    for (; list.n < tensors->n; list.n++) {
        lt_status status = lt_expand(tensors->v[list.n], &shape, &list.v[list.n]);
        if (status != LT_OK) {
            lt_list_release(&list);
            return status;
        }
    }
    *out = list;
    return LT_OK;
}

/* ---- diagonals ------------------------------------------------------------------------------- */

lt_status lt_diag_embed_impl(lt_tensor *self, int64_t offset, int64_t dim1, int64_t dim2,
                             lt_tensor **out)
{
    int a, b;
    if (self->ndim == 0)
        return lt_error(LT_ERR_INDEX, "Dimension specified as -2 but tensor has no dimensions");
    LT_TRY(lt_wrap_dim(dim1, self->ndim + 1, &a));
    LT_TRY(lt_wrap_dim(dim2, self->ndim + 1, &b));
    if (a == b)
        return lt_error(LT_ERR_RUNTIME, "diagonal dimensions cannot be identical %lld, %lld",
                        lt_user_index(a), lt_user_index(b));
    int64_t length =
        lt_add_sat(self->sizes[self->ndim - 1], offset < 0 ? lt_sub_within(0, offset) : offset);
    lt_dims sizes = lt_dims_of(self);
    sizes.n--; /* the last one becomes two, the first of them in its place */
    LT_TRY(lt_dims_insert(&sizes, a < b ? a : b, length));
    LT_TRY(lt_dims_insert(&sizes, a < b ? b : a, length));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(diag_embed));
    lt_tensor *result = do_zeros(&s, self, &sizes), *view = NULL;
    if (result != NULL) view = do_diagonal(&s, result, offset, a, b);
    if (view != NULL) s.status = lt_copy_elements(view, self);
    return lt_scope_store(&s, result, out);
}

lt_status lt_diag_impl(lt_tensor *self, int64_t diagonal, lt_tensor **out)
{
    if (self->ndim == 1) return lt_diag_embed(self, diagonal, 0, 1, out);
    if (self->ndim != 2)
        return lt_error(LT_ERR_RUNTIME, "diag(): Supports 1D or 2D tensors. Got %dD", self->ndim);
    lt_tensor *view = NULL;
    LT_TRY(lt_diagonal(self, diagonal, 0, 1, &view));
    lt_status status = lt_clone(view, out);
    lt_tensor_release(view);
    return status;
}

lt_status lt_diagflat_impl(lt_tensor *self, int64_t offset, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(diagflat));
    lt_tensor *line = do_flatten(&s, self), *result = NULL;
    if (line == NULL) return lt_scope_close(&s);
    lt_status status = lt_diag_embed(line, offset, 0, 1, &result);
    return lt_scope_return(&s, lt_scope_hold(&s, status, result), out);
}

static lt_status fill_diagonal(lt_tensor *self, lt_scalar value, bool wrap)
{
    if (self->ndim < 2) return lt_error(LT_ERR_RUNTIME, "dimensions must larger than 1");
    const int64_t rows = self->sizes[0], columns = self->sizes[1];
    int64_t shortest = rows, stride = 0;
    for (int d = 0; d < self->ndim; d++) {
        if (self->ndim > 2 && self->sizes[d] != rows)
            return lt_error(LT_ERR_RUNTIME, "all dimensions of input must be of equal length");
        if (self->sizes[d] < shortest) shortest = self->sizes[d];
        stride = lt_add_within(stride, self->strides[d]);
    }
    if (self->numel == 0) return LT_OK;
    /* the next diagonal begins one row below the square */
    const int64_t step = wrap && self->ndim == 2 ? columns + 1 : rows;
    for (int64_t row = 0; row < rows; row += step) {
        lt_tensor *view = NULL;
        const int64_t n = rows - row < shortest ? rows - row : shortest;
        if (lt_interrupted()) return lt_stopped();
        LT_TRY(lt_tensor_view(self, 1, &n, &stride, self->offset + row * self->strides[0], &view));
        lt_status status = lt_fill_value(view, value);
        lt_tensor_release(view);
        LT_TRY(status);
    }
    return LT_OK;
}

lt_status lt_fill_diagonal__impl(lt_tensor *self, lt_scalar fill_value, bool wrap)
{
    return fill_diagonal(self, fill_value, wrap);
}

lt_status lt__fill_diagonal_backward_impl(lt_tensor *grad_output, bool wrap, lt_tensor **out)
{
    lt_tensor *copy = NULL;
    LT_TRY(lt_clone(grad_output, &copy));
    lt_status status = lt_fill_diagonal_(copy, lt_scalar_from_int(0), wrap);
    if (status == LT_OK)
        *out = copy;
    else
        lt_tensor_release(copy);
    return status;
}

/* ---- rotations ------------------------------------------------------------------------------- */

lt_status lt_rot90_impl(lt_tensor *self, int64_t k, const lt_dims *dims, lt_tensor **out)
{
    int a = 0, b = 1;
    int64_t count = dims != NULL ? dims->n : 2;
    if (count != 2)
        return lt_error(LT_ERR_RUNTIME, "expected total rotation dims == 2, but got dims = %lld",
                        (long long)count);
    if (self->ndim < 2)
        return lt_error(LT_ERR_RUNTIME, "expected total dims >= 2, but got total dims = %d",
                        self->ndim);
    if (dims != NULL) {
        LT_TRY(lt_wrap_dim(dims->v[0], self->ndim, &a));
        LT_TRY(lt_wrap_dim(dims->v[1], self->ndim, &b));
    }
    if (a == b)
        return lt_error(
            LT_ERR_RUNTIME,
            "expected rotation dims to be different, but got dim0 = %lld and dim1 = %lld",
            lt_user_index(a), lt_user_index(b));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(rot90));
    lt_tensor *result = NULL;
    switch ((k % 4 + 4) % 4) {
    case 1: result = do_transpose(&s, do_flip(&s, self, b), a, b); break;
    case 2: result = do_flip(&s, do_flip(&s, self, a), b); break;
    case 3: result = do_transpose(&s, do_flip(&s, self, a), a, b); break;
    default: {
        lt_status status = lt_clone_format(self, "contiguous_format", &result);
        result = lt_scope_hold(&s, status, result);
    }
    }
    return lt_scope_return(&s, result, out);
}

static lt_status flipped(const char *op, lt_tensor *self, int least, int64_t dim, lt_tensor **out)
{
    if (self->ndim < least)
        return lt_error(LT_ERR_RUNTIME, "Input must be >= %d-d. (%s)", least, op);
    return lt_flip(self, &(lt_dims){1, {dim}}, out);
}

lt_status lt_fliplr_impl(lt_tensor *self, lt_tensor **out)
{
    return flipped("fliplr", self, 2, 1, out);
}
lt_status lt_flipud_impl(lt_tensor *self, lt_tensor **out)
{
    return flipped("flipud", self, 1, 0, out);
}
lt_status lt_ravel_impl(lt_tensor *self, lt_tensor **out)
{
    lt_tensor *dense = NULL;
    LT_TRY(lt_contiguous(self, &dense));
    lt_status status = lt_view(dense, &(lt_dims){1, {-1}}, out);
    lt_tensor_release(dense);
    return status;
}

/* A view of at least n dimensions; with three, a vector becomes the second. */
static lt_status at_least(lt_tensor *self, int n, lt_tensor **out)
{
    if (self->ndim >= n) {
        *out = lt_tensor_retain(self);
        return LT_OK;
    }
    lt_dims shape = {.n = n, .v = {1, 1, 1}};
    int first = n == 2 || (n == 3 && self->ndim == 1) ? 1 : 0;
    for (int d = 0; d < self->ndim; d++) shape.v[first + d] = self->sizes[d];
    return lt_reshape(self, &shape, out);
}

lt_status lt_atleast_1d_impl(lt_tensor *self, lt_tensor **out) { return at_least(self, 1, out); }
lt_status lt_atleast_2d_impl(lt_tensor *self, lt_tensor **out) { return at_least(self, 2, out); }
lt_status lt_atleast_3d_impl(lt_tensor *self, lt_tensor **out) { return at_least(self, 3, out); }

lt_status lt_column_stack_impl(const lt_tensor_list *tensors, lt_tensor **out)
{
    lt_tensor_list columns;
    LT_TRY(lt_list_new(tensors->n, &columns));
    lt_status status = LT_OK;
    for (; columns.n < tensors->n; columns.n++) {
        lt_tensor *t = tensors->v[columns.n];
        if (t->ndim > 1)
            columns.v[columns.n] = lt_tensor_retain(t);
        else
            LT_CHECK(lt_reshape(t, &(lt_dims){2, {t->numel, 1}}, &columns.v[columns.n]));
    }
    status = lt_hstack(&columns, out);
done:
    lt_list_release(&columns);
    return status;
}

/* ---- grids and combinations ------------------------------------------------------------------ */

lt_status lt_meshgrid_impl(const lt_tensor_list *tensors, const char *indexing, lt_tensor_list *out)
{
    bool by_columns = indexing[0] == 'x' && indexing[1] == 'y' && indexing[2] == 0;
    if (!by_columns && !(indexing[0] == 'i' && indexing[1] == 'j' && indexing[2] == 0))
        return lt_error(
            LT_ERR_RUNTIME,
            "torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: %s", indexing);
    int64_t n = tensors->n;
    if (n == 0) return lt_error(LT_ERR_RUNTIME, "meshgrid expects a non-empty TensorList");
    if (n > LT_MAX_DIMS)
        return lt_error(LT_ERR_RUNTIME, "a tensor has at most %d dimensions", LT_MAX_DIMS);
    by_columns = by_columns && n >= 2;
    lt_dims shape = {.n = (int)n};
    for (int64_t i = 0; i < n; i++) {
        const lt_tensor *t = tensors->v[i];
        char text[256];
        if (t->ndim > 1)
            return lt_error(
                LT_ERR_RUNTIME,
                "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: %s",
                lt_format_sizes(text, sizeof text, t->ndim, t->sizes));
        if (t->dtype != tensors->v[0]->dtype)
            return lt_error(LT_ERR_RUNTIME,
                            "torch.meshgrid expects all tensors to have the same dtype");
        if (!lt_device_equal(t->device, tensors->v[0]->device))
            return lt_error(LT_ERR_RUNTIME,
                            "torch.meshgrid expects all tensors to have the same device");
        int64_t place = by_columns && i < 2 ? 1 - i : i;
        shape.v[place] = t->numel;
    }
    lt_tensor_list list;
    LT_TRY(lt_list_new(n, &list));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(meshgrid));
    for (; list.n < n && s.status == LT_OK; list.n++) {
        int64_t place = by_columns && list.n < 2 ? 1 - list.n : list.n;
        lt_dims line = {.n = (int)n};
        for (int d = 0; d < n; d++) line.v[d] = d == place ? tensors->v[list.n]->numel : 1;
        lt_tensor *wide = do_expand(&s, do_reshape(&s, tensors->v[list.n], &line), &shape);
        if (wide == NULL) break;
        list.v[list.n] = lt_tensor_retain(wide);
    }
    return lt_scope_give_list(&s, &list, out);
}

lt_status lt_cartesian_prod_impl(const lt_tensor_list *tensors, lt_tensor **out)
{
    if (tensors->n == 0)
        return lt_error(LT_ERR_RUNTIME, "cartesian_prod expects a non-empty TensorList");
    for (int64_t i = 0; i < tensors->n; i++)
        if (tensors->v[i]->ndim != 1)
            return lt_error(
                LT_ERR_RUNTIME, "Expect a 1D vector, but got shape %s",
                lt_format_sizes((char[256]){0}, 256, tensors->v[i]->ndim, tensors->v[i]->sizes));
    if (tensors->n == 1) {
        *out = lt_tensor_retain(tensors->v[0]);
        return LT_OK;
    }
    lt_tensor_list grids;
    LT_TRY(lt_meshgrid_impl(tensors, "ij", &grids));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(cartesian_prod));
    lt_tensor *joined = do_stack(&s, grids.v, grids.n, -1);
    lt_list_release(&grids);
    return lt_scope_return(&s, do_reshape(&s, joined, &(lt_dims){2, {-1, tensors->n}}), out);
}

/* The next r positions below n in order, with or without repetition; false after the last. */
static bool advance(int64_t *at, int64_t r, int64_t n, bool repeated)
{
    int64_t i = r - 1;
    while (i >= 0 && at[i] == (repeated ? n - 1 : n - r + i)) i--;
    if (i < 0) return false;
    at[i]++;
    for (int64_t j = i + 1; j < r; j++) at[j] = at[j - 1] + (repeated ? 0 : 1);
    return true;
}

#define MOST_COMBINATIONS 1e12

lt_status lt_combinations_impl(lt_tensor *self, int64_t r, bool with_replacement, lt_tensor **out)
{
    if (self->ndim != 1)
        return lt_error(LT_ERR_RUNTIME, "Expect a 1D vector, but got shape %s",
                        lt_format_sizes((char[256]){0}, 256, self->ndim, self->sizes));
    if (r < 0)
        return lt_error(LT_ERR_RUNTIME, "Expect a non-negative number, but got %lld", (long long)r);
    int64_t n = self->numel;
    /* combinations of r out of this many */
    const int64_t of = with_replacement ? lt_add_sat(n, r) - 1 : n;
    const int64_t least = r < of - r ? r : of - r;
    double count = r == 0 || n == 0 || least < 0 ? 0 : 1;
    /* increases with each factor */
    for (int64_t i = 1; i <= least && count <= MOST_COMBINATIONS; i++)
        count *= (double)(of - least + i) / (double)i;
    if (count > MOST_COMBINATIONS)
        return lt_error(LT_ERR_MEMORY, "combinations(): more than %g combinations",
                        MOST_COMBINATIONS);
    int64_t rows = (int64_t)(count + 0.5),
            *values = lt_mem_array(lt_mul_sat(rows, r), sizeof *values);
    int64_t *at = lt_mem_array(rows > 0 ? r : 0, sizeof *at);
    lt_status status = values != NULL && at != NULL ? LT_OK : LT_ERR_MEMORY;
    for (int64_t j = 0; status == LT_OK && rows > 0 && j < r; j++) at[j] = with_replacement ? 0 : j;
    for (int64_t i = 0, to = 0; status == LT_OK && i < rows; i++) {
        for (int64_t j = 0; j < r && status == LT_OK; j++) {
            values[to++] = at[j];
            if (to % LT_INTERRUPT_STEP == 0 && lt_interrupted()) status = lt_stopped();
        }
        advance(at, r, n, with_replacement);
    }
    lt_mem_free(at);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(combinations));
    s.status = status;
    const lt_copy_cause previous = lt_copies_imply("combinations");
    lt_tensor *index = do_positions(&s, values, &(lt_dims){1, {rows * r}}, self->device);
    lt_copies_set_cause(previous);
    lt_dims shape = r == 0 ? (lt_dims){1, {0}} : (lt_dims){2, {rows, r}};
    return lt_scope_return(&s, do_reshape(&s, do_index_select(&s, self, 0, index), &shape), out);
}

lt_status lt_block_diag_impl(const lt_tensor_list *tensors, lt_tensor **out)
{
    int64_t columns = 0;
    lt_dtype dtype = tensors->n > 0 ? (lt_dtype)tensors->v[0]->dtype : lt_get_default_dtype();
    for (int64_t i = 0; i < tensors->n; i++) {
        const lt_tensor *t = tensors->v[i];
        if (t->ndim > 2)
            return lt_error(LT_ERR_RUNTIME,
                            "torch.block_diag: Input tensors must have 2 or fewer dimensions. "
                            "Input %lld has %d dimensions",
                            lt_user_index(i), t->ndim);
        dtype = lt_promote(dtype, (lt_dtype)t->dtype);
        columns = lt_add_sat(columns, t->ndim == 2 ? t->sizes[1] : t->numel);
    }
    if (dtype == LT_DTYPE_NONE) return LT_ERR_RUNTIME;
    if (tensors->n == 0) return lt_zeros(&(lt_dims){2, {1, 0}}, dtype, &lt_host, out);
    lt_tensor **bands = lt_mem_zarray(tensors->n, sizeof *bands), *block = NULL;
    lt_status status = bands != NULL ? LT_OK : LT_ERR_MEMORY;
    for (int64_t i = 0, column = 0; i < tensors->n && status == LT_OK; i++) {
        lt_tensor *t = tensors->v[i];
        int64_t height = t->ndim == 2 ? t->sizes[0] : 1,
                width = t->ndim == 2 ? t->sizes[1] : t->numel;
        LT_CHECK(lt_reshape(t, &(lt_dims){2, {height, width}}, &block));
        LT_CHECK(lt_constant_pad_nd(block, &(lt_dims){2, {column, columns - column - width}},
                                    lt_scalar_from_int(0), &bands[i]));
        lt_tensor_release(block);
        block = NULL;
        column += width;
    }
    LT_CHECK(status);
    LT_CHECK(lt_cat(&(lt_tensor_list){tensors->n, bands}, 0, out));
done:
    lt_tensor_release(block);
    for (int64_t i = 0; bands != NULL && i < tensors->n; i++) lt_tensor_release(bands[i]);
    lt_mem_free(bands);
    return status;
}
