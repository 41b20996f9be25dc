/* solve.c - linear equations with a sparse matrix, and their derivatives: the one for the right
 * side is such a system with the transpose. */
#include "libraries/cxsparse.h"
#include "components.h"

#include "op/_spsolve.h"
#include "op/_spsolve_backward_other.h"
#include "op/_spsolve_backward_values.h"
#include "op/_spsolve_tangent.h"
#include "op/sparse_solve.h"
#include "step/_spsolve.h"
#include "step/neg.h"

lt_status lt__spsolve_impl(lt_tensor *begins, lt_tensor *plain, lt_tensor *values, lt_tensor *other,
                           bool by_columns, lt_tensor **out)
{
    lt_scope s;
    const lt_dtype dtype = (lt_dtype)other->dtype,
                   wide = lt_dtype_is_complex(dtype) ? LT_COMPLEX128 : LT_FLOAT64;
    lt_scope_open(&s, false);
    lt_tensor *weights = do_contiguous(&s, do_cast(&s, values, wide)),
              *x = do_clone(&s, do_contiguous(&s, do_cast(&s, other, wide)));
    if (s.status == LT_OK && x->numel > 0) {
        const lt_csc a = {.n = x->numel,
                          .count = weights->numel,
                          .begins = (const int64_t *)lt_data(begins),
                          .rows = (const int64_t *)lt_data(plain),
                          .values = lt_data(weights)};
        s.status = lt_cxsparse_solve(wide, &a, !by_columns, lt_data(x));
    }
    return lt_scope_store(&s, do_cast(&s, x, dtype), out);
}

lt_status lt__spsolve_backward_other_impl(lt_tensor *grad_output, lt_tensor *begins,
                                          lt_tensor *plain, lt_tensor *values, bool by_columns,
                                          lt_tensor **out)
{
    return lt__spsolve(begins, plain, values, grad_output, !by_columns, out);
}

/* dA is -A'^-1 g x', at A's indices. */
lt_status lt__spsolve_backward_values_impl(lt_tensor *grad_output, lt_tensor *begins,
                                           lt_tensor *plain, lt_tensor *values, lt_tensor *result,
                                           bool by_columns, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_spsolve_backward_values));
    lt_tensor *w = do__spsolve(&s, begins, plain, values, grad_output, !by_columns),
              *lines = do_lines_of(&s, begins, plain);
    lt_tensor *rows = do_index_select(&s, w, 0, by_columns ? plain : lines);
    return lt_scope_return(
        &s,
        do_neg(&s, do_mul(&s, rows, do_index_select(&s, result, 0, by_columns ? lines : plain))),
        out);
}

/* dx is -A^-1 dA x. */
lt_status lt__spsolve_tangent_impl(lt_tensor *begins, lt_tensor *plain, lt_tensor *values,
                                   lt_tensor *values_t, lt_tensor *result, bool by_columns,
                                   lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_spsolve_tangent));
    lt_tensor *lines = do_lines_of(&s, begins, plain);
    lt_tensor *products =
        do_mul(&s, values_t, do_index_select(&s, result, 0, by_columns ? lines : plain));
    lt_tensor *moved = do_added_rows(&s, result->sizes[0], by_columns ? plain : lines, products);
    return lt_scope_return(
        &s, do_neg(&s, do__spsolve(&s, begins, plain, values, moved, by_columns)), out);
}

static lt_status check_system(const lt_tensor *a, const lt_tensor *b)
{
    char given[256];
    lt_device device;
    LT_TRY(lt_require_sparse("spsolve", a));
    if (lt_is_sparse(b))
        return lt_error(LT_ERR_RUNTIME,
                        "spsolve: the right side must be dense, but got a sparse tensor");
    if (a->ndim != 2 || lt_sparse_dims_of(a) != 2 || a->sizes[0] != a->sizes[1])
        return lt_error(LT_ERR_RUNTIME,
                        "spsolve: expected a square sparse matrix of numbers, got one of size %s",
                        lt_format_sizes(given, sizeof given, a->ndim, a->sizes));
    if (b->ndim != 1 || b->sizes[0] != a->sizes[0])
        return lt_error(LT_ERR_RUNTIME, "spsolve: expected a right side of size [%lld], got %s",
                        (long long)a->sizes[0],
                        lt_format_sizes(given, sizeof given, b->ndim, b->sizes));
    const lt_dtype dtype = (lt_dtype)a->dtype;
    if (dtype != LT_FLOAT32 && dtype != LT_FLOAT64 && dtype != LT_COMPLEX64 &&
        dtype != LT_COMPLEX128)
        return lt_error(LT_ERR_RUNTIME, "\"spsolve\" not implemented for '%s'",
                        lt_dtype_scalar_name(dtype));
    if (b->dtype != a->dtype)
        return lt_error(
            LT_ERR_RUNTIME,
            "spsolve: expected both arguments to have the same dtype, but got: %s != %s",
            lt_dtype_name(dtype), lt_dtype_name((lt_dtype)b->dtype));
    LT_TRY(lt_check_same_device("spsolve", (lt_tensor *[]){(lt_tensor *)a, (lt_tensor *)b}, 2,
                                false, &device));
    if (device.type != LT_CPU)
        return lt_error(
            LT_ERR_RUNTIME,
            "spsolve: sparse systems are solved on the CPU alone; move both with :cpu()");
    return LT_OK;
}

lt_status lt_sparse_solve_impl(lt_tensor *self, lt_tensor *other, lt_tensor **out)
{
    lt_scope s;
    LT_TRY(check_system(self, other));
    lt_scope_open(&s, LT_COMPOSITE(sparse_solve));
    lt_tensor *a = self;
    if (lt_tensor_layout(a) == LT_SPARSE_COO)
        a = do_as_layout(&s, do_coalesce(&s, a), LT_SPARSE_CSC);
    if (s.status != LT_OK) return lt_scope_close(&s);
    const lt_sparse *parts = lt_sparse_of(a);
    const bool by_columns = lt_tensor_layout(a) == LT_SPARSE_CSC;
    return lt_scope_return(&s,
                           do__spsolve(&s, parts->compressed, parts->plain,
                                       do__sparse_values(&s, a), other, by_columns),
                           out);
}
