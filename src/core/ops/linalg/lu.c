/* lu.c - LU factors of matrices of any shape, their derivatives, and solutions from them. */
#include "linalg.h"
#include "memory/alloc.h"
#include "op/_linalg_lu.h"
#include "op/_linalg_lu_backward.h"
#include "op/_linalg_lu_tangent.h"
#include "op/_linalg_row_order.h"
#include "op/linalg_lu.h"
#include "op/linalg_lu_factor.h"
#include "op/linalg_lu_factor_ex.h"
#include "op/linalg_lu_solve.h"
#include "op/lu_solve.h"
#include "op/lu_unpack.h"
#include "step/_linalg_row_order.h"
#include "step/scatter.h"

static int64_t smaller_side(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- permutations ---------------------------------------------------------------------------- */

static lt_status invalid_pivot(void)
{
    return lt_error(LT_ERR_RUNTIME,
                    "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive. Did "
                    "you properly pass the result of lu_factor?");
}

static lt_status row_order_of_host(lt_tensor *pivots, int64_t rows, lt_tensor *order)
{
    const int64_t k = pivots->sizes[pivots->ndim - 1], batch = rows > 0 ? order->numel / rows : 0;
    const int32_t *pivot = lt_linalg_integers(pivots);
    for (int64_t i = 0; i < batch; i++) {
        int64_t *row = (int64_t *)(void *)lt_data(order) + i * rows;
        for (int64_t j = 0; j < rows; j++) row[j] = j;
        for (int64_t j = 0; j < k && j < rows; j++) {
            const int64_t other = pivot[i * k + j] - 1, own = row[j];
            if (other < 0 || other >= rows) return invalid_pivot();
            row[j] = row[other];
            row[other] = own;
        }
    }
    return LT_OK;
}

/* Exchanges entry j of each row of order with the entry that the pivots name. Steals order. */
static lt_status exchange_entry(lt_tensor *pivots, int64_t j, lt_tensor *order, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, false);
    lt_scope_hold(&s, LT_OK, order);
    lt_tensor *other = do_sub(&s, do_cast(&s, do_part(&s, pivots, -1, j, j + 1), LT_INT64),
                              do_scalar(&s, lt_scalar_from_int(1))),
              *own = do_clone(&s, do_part(&s, order, -1, j, j + 1)), *next = NULL;
    lt_tensor *moved = do_gather(&s, order, -1, other);
    if (moved != NULL) next = do_scatter(&s, order, -1, other, own);
    do_store(&s, do_part(&s, next, -1, j, j + 1), moved);
    return lt_scope_return(&s, next, out);
}

/* The row of A at each row of P^T A, from 0. */
lt_status lt__linalg_row_order_impl(lt_tensor *pivots, int64_t rows, lt_tensor **out)
{
    lt_dims sizes = lt_dims_of(pivots);
    const int64_t k = sizes.v[sizes.n - 1];
    sizes.v[sizes.n - 1] = rows;
    lt_tensor *order = NULL, *dense = NULL;
    if (pivots->device.type == LT_CPU) {
        LT_TRY(lt_make_contiguous(pivots, &dense));
        lt_status status = lt_tensor_new(LT_INT64, lt_host, sizes.n, sizes.v, &order);
        if (status == LT_OK) status = row_order_of_host(dense, rows, order);
        lt_tensor_release(dense);
        if (status == LT_OK)
            *out = order;
        else
            lt_tensor_release(order);
        return status;
    }
    lt_scope s;
    lt_scope_open(&s, false);
    LT_TRY(lt_scope_return(
        &s, do_contiguous(&s, do_expand(&s, do_range(&s, rows, pivots->device), &sizes)), &order));
    for (int64_t j = 0; j < k; j++) {
        lt_tensor *previous = order;
        order = NULL;
        LT_TRY(exchange_entry(pivots, j, previous, &order));
    }
    *out = order;
    return LT_OK;
}

/* P of P L U, with the dtype of LU. */
static lt_tensor *do_permutation(lt_scope *s, lt_tensor *lu, lt_tensor *pivots)
{
    if (s->status != LT_OK) return NULL;
    const int64_t rows = lt_rows(lu);
    lt_tensor *order = do_unsqueeze(s, do__linalg_row_order(s, pivots, rows), -2);
    lt_tensor *row = do_unsqueeze(s, do_range(s, rows, lu->device), -1);
    return do_cast(s, do_eq(s, order, row), (lt_dtype)lu->dtype);
}

/* ---- factors --------------------------------------------------------------------------------- */

static lt_tensor *do_lu_rows(lt_scope *s, lt_tensor *a, int64_t from, int64_t to)
{
    return do_part(s, a, -2, from, to);
}
static lt_tensor *do_lu_columns(lt_scope *s, lt_tensor *a, int64_t from, int64_t to)
{
    return do_part(s, a, -1, from, to);
}

/* L (m x k, with ones on the diagonal) and U (k x n) of LU (m x n). */
static lt_tensor *do_lower(lt_scope *s, lt_tensor *lu)
{
    if (s->status != LT_OK) return NULL;
    const int64_t m = lt_rows(lu), k = smaller_side(m, lt_columns(lu));
    lt_tensor *ones = NULL;
    const lt_status status = lt_eye(m, &k, (lt_dtype)lu->dtype, &lu->device, &ones);
    ones = lt_scope_hold(s, status, ones);
    return do_add(s, do_tril_at(s, do_lu_columns(s, lu, 0, k), -1), ones);
}

static lt_tensor *do_upper(lt_scope *s, lt_tensor *lu)
{
    if (s->status != LT_OK) return NULL;
    return do_triu_at(s, do_lu_rows(s, lu, 0, smaller_side(lt_rows(lu), lt_columns(lu))), 0);
}

/* Zeros pad other matrices to square ones; this changes no relevant pivot. */
lt_status lt__linalg_lu_impl(lt_tensor *self, const char *checked_as, lt_tensor **out_LU,
                             lt_tensor **out_pivots, lt_tensor **out_info)
{
    LT_TRY(lt_linalg_check_matrix("linalg.lu_factor", self));
    LT_TRY(lt_linalg_check_kind("linalg.lu_factor", self));
    const int64_t m = lt_rows(self), n = lt_columns(self), k = smaller_side(m, n),
                  size = m > n ? m : n;
    const lt_dims room = lt_linalg_batch_of(self, size, size),
                  each = lt_linalg_batch_of(self, size, -1), one = lt_linalg_batch_of(self, -1, -1);
    lt_scope s;
    lt_scope_open(&s, false);
    /* column-major */
    lt_tensor *turned = do_turn(&s, self), *work = NULL;
    if (m == n) {
        work = do_dense_copy(&s, turned);
    } else {
        work = do_zeros(&s, self, &room);
        do_store(&s, do_lu_columns(&s, do_lu_rows(&s, work, 0, n), 0, m), turned);
    }
    lt_tensor *pivots = do_new_of(&s, LT_INT32, self->device, &each),
              *info = do_new_integers(&s, self, &one);
    if (s.status == LT_OK && self->numel > 0) {
        lt_factor f = lt_linalg_factor_of(LT_FACTOR_LU, work);
        f.pivots = lt_linalg_integers(pivots);
        f.infos = lt_linalg_integers(info);
        do_factor(&s, &f, work, NULL);
    }
    if (m != n) {
        lt_tensor *padding = do_gt(&s, info, do_number(&s, (double)k));
        info = do_cast(&s, do_where(&s, padding, do_scalar(&s, lt_scalar_from_int(0)), info),
                       LT_INT32);
        work = do_contiguous(&s, do_lu_columns(&s, do_lu_rows(&s, work, 0, n), 0, m));
        pivots = do_contiguous(&s, do_part(&s, pivots, -1, 0, k));
    }
    const lt_linalg_refusal zero = {
        checked_as,
        "U[%d,%d] is zero and using it on lu_solve would result in a division by zero. If you "
        "still want to perform the factorization, consider calling linalg.lu(A, pivot) or "
        "linalg.lu_factor_ex(A, pivot)",
        false};
    if (s.status == LT_OK && checked_as[0] != 0)
        s.status = lt_linalg_refused(&zero, self, info, NULL);
    lt_tensor *factors = do_turn(&s, work);
    if (lt_scope_move_out(&s, factors, out_LU) == LT_OK) {
        lt_scope_move_out(&s, pivots, out_pivots);
        lt_scope_move_out(&s, info, out_info);
    }
    return lt_scope_close(&s);
}

static lt_status check_pivot(const char *op, bool pivot)
{
    if (pivot) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "%s: LU without pivoting is not implemented on the CPU", op);
}

lt_status lt_linalg_lu_factor_ex_impl(lt_tensor *A, bool pivot, bool check_errors, lt_tensor **LU,
                                      lt_tensor **pivots, lt_tensor **info)
{
    LT_TRY(check_pivot("linalg.lu_factor", pivot));
    return lt__linalg_lu(A, check_errors ? "torch.linalg.lu_factor_ex" : "", LU, pivots, info);
}

lt_status lt_linalg_lu_factor_impl(lt_tensor *A, bool pivot, lt_tensor **LU, lt_tensor **pivots)
{
    lt_tensor *info = NULL;
    LT_TRY(check_pivot("linalg.lu_factor", pivot));
    LT_TRY(lt__linalg_lu(A, "torch.linalg.lu_factor", LU, pivots, &info));
    lt_tensor_release(info);
    return LT_OK;
}

static lt_status unpack_factors(lt_scope *s, lt_tensor *lu, lt_tensor *pivots, lt_tensor **P,
                                lt_tensor **L, lt_tensor **U)
{
    lt_tensor *permutation = do_permutation(s, lu, pivots), *lower = do_lower(s, lu),
              *upper = do_upper(s, lu);
    if (lt_scope_move_out(s, permutation, P) == LT_OK) {
        lt_scope_move_out(s, lower, L);
        lt_scope_move_out(s, upper, U);
    }
    return lt_scope_close(s);
}

lt_status lt_linalg_lu_impl(lt_tensor *A, bool pivot, lt_tensor **P, lt_tensor **L, lt_tensor **U)
{
    lt_tensor *lu = NULL, *pivots = NULL, *info = NULL;
    LT_TRY(check_pivot("linalg.lu", pivot));
    LT_TRY(lt__linalg_lu(A, "", &lu, &pivots, &info));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(linalg_lu));
    lt_scope_hold(&s, LT_OK, info);
    lt_scope_hold(&s, LT_OK, lu);
    lt_scope_hold(&s, LT_OK, pivots);
    return unpack_factors(&s, lu, pivots, P, L, U);
}

lt_status lt_lu_unpack_impl(lt_tensor *LU_data, lt_tensor *LU_pivots, bool unpack_data,
                            bool unpack_pivots, lt_tensor **P, lt_tensor **L, lt_tensor **U)
{
    const char *op = "torch.lu_unpack";
    LT_TRY(lt_linalg_check_matrix(op, LU_data));
    if (LU_pivots->dtype != LT_INT32)
        return lt_error(LT_ERR_RUNTIME,
                        "%s: LU_pivots is expected to be a contiguous tensor of torch.int32 "
                        "dtype.\nNote: this function is intended to be used with the output "
                        "produced by torch.linalg.lu_factor",
                        op);
    LT_TRY(lt_linalg_check_pivots(op, "LU", LU_data, LU_pivots));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(lu_unpack));
    const lt_dims nothing = {1, {0}};
    lt_tensor *permutation = unpack_pivots ? do_permutation(&s, LU_data, LU_pivots)
                                           : do_zeros(&s, LU_data, &nothing),
              *lower = unpack_data ? do_lower(&s, LU_data) : do_zeros(&s, LU_data, &nothing),
              *upper = unpack_data ? do_upper(&s, LU_data) : do_zeros(&s, LU_data, &nothing);
    if (lt_scope_move_out(&s, permutation, P) == LT_OK) {
        lt_scope_move_out(&s, lower, L);
        lt_scope_move_out(&s, upper, U);
    }
    return lt_scope_close(&s);
}

/* ---- derivatives ----------------------------------------------------------------------------- */

/* X of X A = B. */
static lt_tensor *do_triangular_right(lt_scope *s, lt_tensor *a, lt_tensor *b, bool upper)
{
    return do_linalg_triangular(s, a, b, upper, (lt_linalg_side){.right = true});
}

/* X of A X = B; A has ones on its diagonal. */
static lt_tensor *do_triangular_unit(lt_scope *s, lt_tensor *a, lt_tensor *b, bool upper)
{
    return do_linalg_triangular(s, a, b, upper, (lt_linalg_side){.unit = true});
}

/* The derivative by the part of A below (m > n) or beside (n > m) the square one; changes the
 * derivatives by the triangles of the square one. */
static lt_tensor *do_rest_backward(lt_scope *s, lt_tensor *grad, lt_tensor *lu, lt_tensor *u,
                                   lt_tensor *lh, lt_tensor **by_lower, lt_tensor **by_upper)
{
    if (s->status != LT_OK) return NULL;
    const int64_t m = lt_rows(lu), n = lt_columns(lu), k = smaller_side(m, n);
    if (m > n) {
        lt_tensor *uh = do_adjoint(s, u);
        lt_tensor *rest = do_triangular_right(s, uh, do_lu_rows(s, grad, k, m), false);
        *by_upper =
            do_sub(s, *by_upper, do_matmul(s, do_adjoint(s, do_lu_rows(s, lu, k, m)), rest));
        return rest;
    }
    lt_tensor *rest = do_triangular_unit(s, lh, do_lu_columns(s, grad, k, n), true);
    *by_lower = do_sub(s, *by_lower, do_matmul(s, rest, do_adjoint(s, do_lu_columns(s, lu, k, n))));
    return rest;
}

/* For the square part by its triangles; the part below or beside it is the solution of a system
 * with the other factor. */
lt_status lt__linalg_lu_backward_impl(lt_tensor *grad_output, lt_tensor *LU, lt_tensor *pivots,
                                      lt_tensor **out)
{
    const int64_t m = lt_rows(LU), n = lt_columns(LU), k = smaller_side(m, n);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_lu_backward));
    lt_tensor *lower = do_lower(&s, LU), *lh = do_adjoint(&s, do_lu_rows(&s, lower, 0, k)),
              *u = do_lu_columns(&s, do_upper(&s, LU), 0, k);
    lt_tensor *square = do_lu_columns(&s, do_lu_rows(&s, grad_output, 0, k), 0, k);
    lt_tensor *by_lower = square != NULL ? do_tril_at(&s, square, -1) : NULL,
              *by_upper = square != NULL ? do_triu_at(&s, square, 0) : NULL, *rest = NULL;
    if (m != n) rest = do_rest_backward(&s, grad_output, LU, u, lh, &by_lower, &by_upper);
    lt_tensor *uh = do_adjoint(&s, u);
    lt_tensor *of_l = do_matmul(&s, lh, by_lower), *of_u = do_matmul(&s, by_upper, uh);
    if (s.status != LT_OK) return lt_scope_close(&s);
    lt_tensor *inner = do_add(&s, do_tril_at(&s, of_l, -1), do_triu_at(&s, of_u, 0));
    lt_tensor *result = do_triangular_unit(&s, lh, do_triangular_right(&s, uh, inner, false), true);
    if (m != n) result = do_cat(&s, (lt_tensor *[]){result, rest}, 2, m > n ? -2 : -1);
    return lt_scope_return(&s, do_matmul(&s, do_permutation(&s, LU, pivots), result), out);
}

/* With M = L^-1 P' T U^-1 of the square part, L changes by L tril(M, -1) and U by triu(M) U; the
 * part below or beside it remains the solution of a system with the other factor. */
lt_status lt__linalg_lu_tangent_impl(lt_tensor *self_t, lt_tensor *LU, lt_tensor *pivots,
                                     lt_tensor **out)
{
    const int64_t m = lt_rows(LU), n = lt_columns(LU), k = smaller_side(m, n);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_lu_tangent));
    lt_tensor *l = do_lu_rows(&s, do_lower(&s, LU), 0, k),
              *u = do_lu_columns(&s, do_upper(&s, LU), 0, k);
    lt_tensor *moved = do_matmul(&s, do_turn(&s, do_permutation(&s, LU, pivots)), self_t);
    lt_tensor *square = do_lu_columns(&s, do_lu_rows(&s, moved, 0, k), 0, k);
    lt_tensor *both = do_triangular_right(&s, u, do_triangular_unit(&s, l, square, false), true);
    if (both == NULL) return lt_scope_close(&s);
    lt_tensor *of_lower = do_tril_at(&s, both, -1),
              *of_upper = do_matmul(&s, do_triu_at(&s, both, 0), u);
    lt_tensor *result = do_add(&s, do_matmul(&s, l, of_lower), of_upper);
    if (m > n) {
        lt_tensor *below = do_sub(&s, do_lu_rows(&s, moved, k, m),
                                  do_matmul(&s, do_lu_rows(&s, LU, k, m), of_upper));
        lt_tensor *rest = do_triangular_right(&s, u, below, true);
        result = do_cat(&s, (lt_tensor *[]){result, rest}, 2, -2);
    } else if (n > m) {
        lt_tensor *beside = do_triangular_unit(&s, l, do_lu_columns(&s, moved, k, n), false);
        lt_tensor *rest = do_sub(&s, beside, do_matmul(&s, of_lower, do_lu_columns(&s, LU, k, n)));
        result = do_cat(&s, (lt_tensor *[]){result, rest}, 2, -1);
    }
    return lt_scope_return(&s, result, out);
}

/* ---- solutions ------------------------------------------------------------------------------- */

static lt_status check_system(lt_tensor *LU, lt_tensor *pivots, lt_tensor *B)
{
    LT_TRY(lt_linalg_check_square("torch.linalg.lu_solve", LU));
    LT_TRY(lt_linalg_check_kind("torch.linalg.lu_solve", LU));
    if (LU->dtype != B->dtype)
        return lt_error(LT_ERR_RUNTIME,
                        "linalg.lu_solve: Expected LU and B to have the same dtype, but found LU "
                        "of type %s and B of type %s instead",
                        lt_dtype_scalar_name((lt_dtype)LU->dtype),
                        lt_dtype_scalar_name((lt_dtype)B->dtype));
    if (pivots->dtype != LT_INT32)
        return lt_error(LT_ERR_RUNTIME,
                        "linalg.lu_solve: pivots should be a Tensor of dtype torch.int32, but got "
                        "torch.%s",
                        lt_dtype_name((lt_dtype)pivots->dtype));
    LT_TRY(lt_linalg_check_pivots("linalg.lu_solve", "LU", LU, pivots));
    if (B->ndim < 2)
        return lt_error(LT_ERR_RUNTIME,
                        "linalg.lu_solve: The input tensor B must have at least 2 dimensions.");
    return LT_OK;
}

lt_status lt_linalg_lu_solve_impl(lt_tensor *LU, lt_tensor *pivots, lt_tensor *B, bool left,
                                  bool adjoint, lt_tensor **out)
{
    LT_TRY(check_system(LU, pivots, B));
    const int64_t n = lt_rows(LU), rows = left ? lt_rows(B) : lt_columns(B);
    if (rows != n)
        return lt_error(LT_ERR_RUNTIME,
                        "linalg.lu_solve: Incompatible shapes of A and B for the equation %s "
                        "(%lldx%lld and %lldx%lld)",
                        left ? "AX = B" : "XA = B", (long long)n, (long long)n,
                        (long long)lt_rows(B), (long long)lt_columns(B));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(linalg_lu_solve));
    /* X A = B is A^H X^H = B^H */
    lt_tensor *b = left ? B : do_adjoint(&s, B), *p = do_permutation(&s, LU, pivots), *x;
    if (adjoint == left) {
        lt_tensor *lh = do_adjoint(&s, LU);
        lt_tensor *inner = do_linalg_triangular(&s, lh, b, false, (lt_linalg_side){.unit = false});
        x = do_matmul(&s, p, do_triangular_unit(&s, lh, inner, true));
    } else {
        lt_tensor *inner = do_triangular_unit(&s, LU, do_matmul(&s, do_turn(&s, p), b), false);
        x = do_linalg_triangular(&s, LU, inner, true, (lt_linalg_side){.unit = false});
    }
    return lt_scope_return(&s, left ? x : do_adjoint(&s, x), out);
}

lt_status lt_lu_solve_impl(lt_tensor *b, lt_tensor *LU_data, lt_tensor *LU_pivots, lt_tensor **out)
{
    return lt_linalg_lu_solve(LU_data, LU_pivots, b, true, false, out);
}
