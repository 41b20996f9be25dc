/* products.c - the sparse forms of matrix products. A sparse matrix times a dense one is dense, a
 * product of two sparse ones is sparse. Derivatives are with respect to the stored values: the
 * gradient of a sparse matrix has its sparsity pattern. */
#include "components.h"

#include "op/_csr_product.h"
#include "op/_csr_product_backward_dense.h"
#include "op/_csr_product_backward_values.h"
#include "op/addmm.h"
#include "op/bmm.h"
#include "op/matmul.h"
#include "op/mm.h"
#include "op/mv.h"

static lt_status require_matrices(const char *op, const lt_tensor *a, const lt_tensor *b)
{
    char x[256], y[256];
    if (a->ndim != 2 || b->ndim != 2)
        return lt_error(LT_ERR_RUNTIME, "%s: Expected 2D matrices, but got %dD and %dD", op,
                        a->ndim, b->ndim);
    if (a->sizes[1] != b->sizes[0])
        return lt_error(LT_ERR_RUNTIME, "%s: mat1 and mat2 shapes cannot be multiplied (%s and %s)",
                        op, lt_format_sizes(x, sizeof x, 2, a->sizes),
                        lt_format_sizes(y, sizeof y, 2, b->sizes));
    if (a->dtype != b->dtype)
        return lt_error(LT_ERR_RUNTIME,
                        "%s: expected mat1 and mat2 to have the same dtype, but got: %s != %s", op,
                        lt_dtype_name((lt_dtype)a->dtype), lt_dtype_name((lt_dtype)b->dtype));
    for (int i = 0; i < 2; i++) {
        const lt_tensor *t = i == 0 ? a : b;
        if (lt_is_sparse(t) && lt_sparse_dims_of(t) != 2)
            return lt_error(LT_ERR_RUNTIME,
                            "%s: a sparse matrix with dense dimensions cannot be multiplied", op);
    }
    lt_device device;
    return lt_check_same_device(op, (lt_tensor *[]){(lt_tensor *)a, (lt_tensor *)b}, 2, false,
                                &device);
}

/* Each value times the row of dense with its column's number, added to its own row of the result.
 */
static lt_tensor *do_added_products(lt_scope *s, int64_t n, lt_tensor *rows, lt_tensor *columns,
                                    lt_tensor *values, lt_tensor *dense)
{
    return do_added_rows(
        s, n, rows, do_mul(s, do_index_select(s, dense, 0, columns), do_unsqueeze(s, values, 1)));
}

/* The product by the backend's kernel; NULL if it does not support the operands. values and dense
 * are not empty. */
static lt_tensor *do_by_kernel(lt_scope *s, lt_tensor *begins, lt_tensor *columns,
                               lt_tensor *values, lt_tensor *dense)
{
    bool done = false;
    lt_tensor *weights = do_contiguous(s, values), *in = dense, *result = NULL;
    const int64_t width = dense->sizes[1], sizes[] = {begins->sizes[0] - 1, width};
    if ((dense->strides[1] != 1 && width > 1) || dense->strides[0] < width)
        in = do_contiguous(s, dense);
    if (s->status != LT_OK) return NULL;
    const lt_status status =
        lt_tensor_new((lt_dtype)dense->dtype, dense->device, 2, sizes, &result);
    result = lt_scope_hold(s, status, result);
    if (result == NULL) return NULL;
    s->status = lt_backend_of(dense)->csr_product(
        &(lt_csr_product){.dtype = (lt_dtype)dense->dtype,
                          .rows = sizes[0],
                          .in_rows = dense->sizes[0],
                          .columns = width,
                          .count = values->numel,
                          /* any number if there is one row */
                          .in_step = in->strides[0] > width ? in->strides[0] : width,
                          .begins = (const int64_t *)lt_data(begins),
                          .places = (const int64_t *)lt_data(columns),
                          .values = lt_data(weights),
                          .in = lt_data(in),
                          .out = lt_data(result),
                          .device = dense->device},
        &done);
    return s->status == LT_OK && done ? result : NULL;
}

lt_status lt__csr_product_impl(lt_tensor *begins, lt_tensor *columns, lt_tensor *values,
                               lt_tensor *dense, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_csr_product));
    lt_tensor *result = values->numel > 0 && dense->numel > 0
                            ? do_by_kernel(&s, begins, columns, values, dense)
                            : NULL;
    if (s.status == LT_OK && result == NULL)
        result = do_added_products(&s, begins->sizes[0] - 1, do_lines_of(&s, begins, columns),
                                   columns, values, dense);
    return lt_scope_store(&s, result, out);
}

lt_status lt__csr_product_backward_values_impl(lt_tensor *grad_output, lt_tensor *begins,
                                               lt_tensor *columns, lt_tensor *dense,
                                               lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_csr_product_backward_values));
    lt_tensor *grads = do_index_select(&s, grad_output, 0, do_lines_of(&s, begins, columns));
    return lt_scope_return(
        &s, do_sum_dim(&s, do_mul(&s, grads, do_index_select(&s, dense, 0, columns)), 1, false),
        out);
}

lt_status lt__csr_product_backward_dense_impl(lt_tensor *grad_output, lt_tensor *begins,
                                              lt_tensor *columns, lt_tensor *values,
                                              const lt_dims *sizes, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_csr_product_backward_dense));
    lt_tensor *grads = do_index_select(&s, grad_output, 0, do_lines_of(&s, begins, columns));
    return lt_scope_return(
        &s, do_added_rows(&s, sizes->v[0], columns, do_mul(&s, grads, do_unsqueeze(&s, values, 1))),
        out);
}

static bool has_kernel(const lt_tensor *a, const lt_tensor *dense)
{
    const lt_dtype dtype = (lt_dtype)dense->dtype;
    return lt_tensor_layout(a) == LT_SPARSE_CSR && lt_backend_of(dense)->csr_product != NULL &&
           (dtype == LT_FLOAT32 || dtype == LT_FLOAT64) && !lt_is_batched(dense);
}

static lt_tensor *do_times_dense(lt_scope *s, lt_tensor *a, lt_tensor *dense)
{
    if (s->status != LT_OK) return NULL;
    if (has_kernel(a, dense)) {
        const lt_sparse *parts = lt_sparse_of(a);
        lt_tensor *values = do__sparse_values(s, a), *out = NULL;
        const lt_status status =
            s->status == LT_OK
                ? lt__csr_product(parts->compressed, parts->plain, values, dense, &out)
                : s->status;
        return lt_scope_hold(s, status, out);
    }
    lt_tensor *places = do_coordinates(s, a);
    return do_added_products(s, a->sizes[0], do_coordinate(s, places, 0),
                             do_coordinate(s, places, 1), do__sparse_values(s, a), dense);
}

/* Each value (i, k) of a is multiplied by all of row k of b. */
static lt_tensor *do_times_sparse(lt_scope *s, lt_tensor *a, lt_tensor *b)
{
    lt_tensor *which = NULL;
    const lt_layout layout = lt_tensor_layout(a);
    const lt_dims sizes = {2, {a->sizes[0], b->sizes[1]}};
    b = do_as_layout(s, b, LT_SPARSE_CSR);
    if (s->status != LT_OK) return NULL;
    lt_tensor *begins = lt_sparse_of(b)->compressed, *places = do_coordinates(s, a),
              *middle = do_coordinate(s, places, 1);
    lt_tensor *starts = do_index_select(s, do_part(s, begins, 0, 0, b->sizes[0]), 0, middle);
    lt_tensor *ends = do_index_select(s, do_part(s, begins, 0, 1, b->sizes[0] + 1), 0, middle);
    lt_tensor *of_b = do_ranges(s, starts, do_sub(s, ends, starts), &which);
    lt_tensor *pair[] = {do_index_select(s, do_coordinate(s, places, 0), 0, which), NULL};
    if (s->status == LT_OK) pair[1] = do_index_select(s, lt_sparse_of(b)->plain, 0, of_b);
    lt_tensor *values = do_mul(s, do_index_select(s, do__sparse_values(s, a), 0, which),
                               do_index_select(s, do__sparse_values(s, b), 0, of_b));
    if (s->status != LT_OK) return NULL;
    lt_tensor *product = do_coalesce(s, do_coo(s, do_stack(s, pair, 2, 0), values, &sizes, false));
    return product != NULL ? do_as_layout(s, product, layout) : NULL;
}

static lt_tensor *do_sparse_product(lt_scope *s, lt_tensor *a, lt_tensor *b)
{
    if (lt_is_sparse(a))
        return lt_is_sparse(b) ? do_times_sparse(s, a, b) : do_times_dense(s, a, b);
    return do_t(s, do_times_dense(s, do_t(s, b), do_t(s, a)));
}

lt_status lt_mm_sparse(lt_tensor *self, lt_tensor *mat2, lt_tensor **out)
{
    lt_scope s;
    LT_TRY(require_matrices("mm", self, mat2));
    lt_scope_open(&s, true);
    return lt_scope_return(&s, do_sparse_product(&s, self, mat2), out);
}

lt_status lt_mv_sparse(lt_tensor *self, lt_tensor *vec, lt_tensor **out)
{
    lt_scope s;
    if (lt_is_sparse(vec) || vec->ndim != 1 || self->ndim != 2)
        return lt_error(LT_ERR_RUNTIME,
                        "mv: expected a sparse matrix and a dense vector, but got %dD and %dD",
                        self->ndim, vec->ndim);
    lt_scope_open(&s, true);
    lt_tensor *column = do_unsqueeze(&s, vec, 1);
    if (s.status == LT_OK) s.status = require_matrices("mv", self, column);
    return lt_scope_return(
        &s, s.status == LT_OK ? do_select(&s, do_sparse_product(&s, self, column), 1, 0) : NULL,
        out);
}

lt_status lt_matmul_sparse(lt_tensor *self, lt_tensor *other, lt_tensor **out)
{
    if (self->ndim == 2 && other->ndim == 2) return lt_mm(self, other, out);
    if (self->ndim == 2 && other->ndim == 1) return lt_mv(self, other, out);
    if (self->ndim == 3 && other->ndim == 3) return lt_bmm(self, other, out);
    return lt_error(LT_ERR_RUNTIME,
                    "matmul: of sparse tensors a matrix can be multiplied with a matrix or a "
                    "vector, a batch with a batch, not %dD with %dD",
                    self->ndim, other->ndim);
}

lt_status lt_addmm_sparse(lt_tensor *self, lt_tensor *mat1, lt_tensor *mat2, lt_scalar beta,
                          lt_scalar alpha, lt_tensor **out)
{
    lt_scope s;
    LT_TRY(require_matrices("addmm", mat1, mat2));
    lt_scope_open(&s, true);
    lt_tensor *product = do_mul_scalar(&s, do_sparse_product(&s, mat1, mat2), alpha), *added = NULL;
    if (s.status == LT_OK && lt_scalar_equals(beta, 0)) return lt_scope_return(&s, product, out);
    if (s.status == LT_OK && !lt_is_sparse(self)) {
        const lt_dims sizes = lt_dims_of(product);
        self = do_expand(&s, self, &sizes);
    }
    added = do_mul_scalar(&s, self, beta);
    return lt_scope_return(&s, do_add(&s, added, product), out);
}

/* A batch in COO as one block-diagonal matrix [batches * rows, batches * columns]. */
lt_status lt_bmm_sparse(lt_tensor *self, lt_tensor *mat2, lt_tensor **out)
{
    lt_scope s;
    if (lt_tensor_layout(self) != LT_SPARSE_COO || lt_is_sparse(mat2) ||
        lt_sparse_dims_of(self) != 3 || mat2->ndim != 3)
        return lt_error(
            LT_ERR_RUNTIME,
            "bmm: expected a batch of sparse matrices in COO and one of dense matrices");
    if (self->sizes[0] != mat2->sizes[0])
        return lt_error(LT_ERR_RUNTIME,
                        "bmm: expected batches of the same size, but got %lld and %lld",
                        (long long)self->sizes[0], (long long)mat2->sizes[0]);
    lt_scope_open(&s, true);
    const int64_t batches = self->sizes[0], rows = self->sizes[1], columns = self->sizes[2];
    lt_tensor *places = do_coordinates(&s, self), *batch = do_coordinate(&s, places, 0);
    lt_tensor *pair[] = {do_add(&s, do_mul_scalar(&s, batch, lt_scalar_from_int(rows)),
                                do_coordinate(&s, places, 1)),
                         do_add(&s, do_mul_scalar(&s, batch, lt_scalar_from_int(columns)),
                                do_coordinate(&s, places, 2))};
    if (s.status != LT_OK) return lt_scope_close(&s);
    lt_tensor *blocks = do_coo(&s, do_stack(&s, pair, 2, 0), do__sparse_values(&s, self),
                               &(lt_dims){2, {batches * rows, batches * columns}}, false);
    lt_tensor *stacked = do_flat(&s, mat2, 2);
    if (s.status == LT_OK) s.status = require_matrices("bmm", blocks, stacked);
    lt_tensor *product = s.status == LT_OK ? do_times_dense(&s, blocks, stacked) : NULL;
    return lt_scope_return(
        &s, do_reshape(&s, product, &(lt_dims){3, {batches, rows, mat2->sizes[2]}}), out);
}
