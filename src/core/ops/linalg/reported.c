/* reported.c - inverses, solutions and factorizations that report failures in info instead of
 * raising an error, and solutions from LDL and Cholesky factors. */
#include "linalg.h"
#include "op/_linalg_cholesky_ex.h"
#include "op/_linalg_inv_ex.h"
#include "op/_linalg_ldl_solve.h"
#include "op/_linalg_lu.h"
#include "op/cholesky_inverse.h"
#include "op/cholesky_solve.h"
#include "op/linalg_cholesky_ex.h"
#include "op/linalg_inv_ex.h"
#include "op/linalg_ldl_factor.h"
#include "op/linalg_ldl_factor_ex.h"
#include "op/linalg_ldl_solve.h"
#include "op/linalg_solve.h"
#include "op/linalg_solve_ex.h"
#include "op/triangular_solve.h"
#include "step/detach.h"

lt_status lt_linalg_check_pivots(const char *op, const char *name, const lt_tensor *factors,
                                 const lt_tensor *pivots)
{
    char expected[256], given[256], own[256];
    const int64_t m = lt_rows(factors), n = lt_columns(factors);
    const lt_dims sizes = lt_linalg_batch_of(factors, m < n ? m : n, -1);
    bool same = pivots->ndim == sizes.n;
    for (int d = 0; same && d < sizes.n; d++) same = pivots->sizes[d] == sizes.v[d];
    if (same) return LT_OK;
    return lt_error(LT_ERR_RUNTIME,
                    "%s: Expected pivots with shape torch.Size(%s) for %s with shape "
                    "torch.Size(%s), but got pivots with shape torch.Size(%s) instead",
                    op, lt_format_sizes(expected, sizeof expected, sizes.n, sizes.v), name,
                    lt_format_sizes(own, sizeof own, factors->ndim, factors->sizes),
                    lt_format_sizes(given, sizeof given, pivots->ndim, pivots->sizes));
}

lt_status lt_linalg_cholesky_ex_impl(lt_tensor *A, bool upper, bool check_errors, lt_tensor **L,
                                     lt_tensor **info)
{
    return lt__linalg_cholesky_ex(A, upper, check_errors, L, info);
}

lt_status lt_linalg_inv_ex_impl(lt_tensor *A, bool check_errors, lt_tensor **inverse,
                                lt_tensor **info)
{
    return lt__linalg_inv_ex(A, check_errors, inverse, info);
}

/* A singular A is replaced by the identity. */
lt_status lt_linalg_solve_ex_impl(lt_tensor *A, lt_tensor *B, bool left, bool check_errors,
                                  lt_tensor **result, lt_tensor **info)
{
    LT_TRY(lt_linalg_check_square("linalg.solve", A));
    LT_TRY(lt_linalg_check_kind("linalg.solve", A));
    lt_tensor *lu = NULL, *pivots = NULL, *infos = NULL, *x = NULL;
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(linalg_solve_ex));
    lt_tensor *constant = do_detach(&s, A), *a = A;
    lt_status status = s.status;
    if (status == LT_OK) status = lt__linalg_lu(constant, "", &lu, &pivots, &infos);
    lt_scope_hold(&s, status, lu);
    lt_scope_hold(&s, status, pivots);
    infos = lt_scope_hold(&s, status, infos);
    if (!check_errors) {
        lt_tensor *singular = do_ne(&s, infos, do_number(&s, 0));
        singular = do_unsqueeze(&s, do_unsqueeze(&s, singular, -1), -1);
        a = do_where(&s, singular, do_eye_like(&s, A, lt_rows(A)), A);
    }
    if (s.status == LT_OK) {
        status = lt_linalg_solve(a, B, left, &x);
        x = lt_scope_hold(&s, status, x);
    }
    if (lt_scope_move_out(&s, x, result) == LT_OK) lt_scope_move_out(&s, infos, info);
    return lt_scope_close(&s);
}

/* ---- symmetric matrices that need not be positive -------------------------------------------- */

lt_status lt_linalg_ldl_factor_impl(lt_tensor *A, bool hermitian, lt_tensor **LD,
                                    lt_tensor **pivots)
{
    lt_tensor *info = NULL;
    LT_TRY(lt_linalg_ldl_factor_ex(A, hermitian, true, LD, pivots, &info));
    lt_tensor_release(info);
    return LT_OK;
}

static lt_status check_ldl_system(const char *op, const lt_tensor *LD, const lt_tensor *pivots,
                                  const lt_tensor *B)
{
    LT_TRY(lt_linalg_check_square(op, LD));
    LT_TRY(lt_linalg_check_kind(op, LD));
    if (B->ndim < 2)
        return lt_error(
            LT_ERR_RUNTIME,
            "%s: Expected B to have at least 2 dimensions, but it has %d dimensions instead", op,
            B->ndim);
    if (lt_columns(LD) != lt_rows(B))
        return lt_error(LT_ERR_RUNTIME,
                        "%s: Incompatible shapes of LD and B for the equation AX = B (%lldx%lld "
                        "and %lldx%lld)",
                        op, (long long)lt_rows(LD), (long long)lt_columns(LD),
                        (long long)lt_rows(B), (long long)lt_columns(B));
    LT_TRY(lt_linalg_check_pivots(op, "LD", LD, pivots));
    if (lt_dtype_is_inexact((lt_dtype)pivots->dtype) || pivots->dtype == LT_BOOL)
        return lt_error(LT_ERR_RUNTIME, "%s: Expected pivots to be integers. Got %s", op,
                        lt_dtype_scalar_name((lt_dtype)pivots->dtype));
    if (LD->dtype != B->dtype)
        return lt_error(LT_ERR_RUNTIME, "%s: LD dtype %s does not match b dtype %s", op,
                        lt_dtype_scalar_name((lt_dtype)LD->dtype),
                        lt_dtype_scalar_name((lt_dtype)B->dtype));
    return LT_OK;
}

lt_status lt_linalg_ldl_solve_impl(lt_tensor *LD, lt_tensor *pivots, lt_tensor *B, bool hermitian,
                                   lt_tensor **out)
{
    LT_TRY(check_ldl_system("torch.linalg.ldl_solve", LD, pivots, B));
    lt_dims sizes;
    LT_TRY(lt_linalg_broadcast_batches(LD, B, &sizes));
    sizes.v[sizes.n - 2] = lt_rows(B);
    sizes.v[sizes.n - 1] = lt_columns(B);
    lt_tensor *x = NULL;
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(linalg_ldl_solve));
    lt_tensor *exchanges = do_cast(&s, pivots, LT_INT32), *b = do_expand(&s, B, &sizes);
    if (s.status == LT_OK) s.status = lt__linalg_ldl_solve(LD, exchanges, b, hermitian, &x);
    return lt_scope_return(&s, x != NULL ? lt_scope_hold(&s, s.status, x) : NULL, out);
}

/* ---- triangles ------------------------------------------------------------------------------- */

static lt_status check_right_side(const char *op, const lt_tensor *A, const lt_tensor *B)
{
    LT_TRY(lt_linalg_check_square(op, A));
    if (B->ndim < 2)
        return lt_error(LT_ERR_RUNTIME,
                        "%s: b should have at least 2 dimensions, but has %d dimensions instead",
                        op, B->ndim);
    if (lt_rows(B) != lt_columns(A))
        return lt_error(LT_ERR_RUNTIME,
                        "%s: Incompatible matrix sizes: each A matrix is %lld by %lld but each b "
                        "matrix is %lld by %lld",
                        op, (long long)lt_rows(A), (long long)lt_columns(A), (long long)lt_rows(B),
                        (long long)lt_columns(B));
    if (A->dtype != B->dtype)
        return lt_error(LT_ERR_RUNTIME,
                        "%s: Expected b and A to have the same dtype, but found b of type %s and "
                        "A of type %s instead",
                        op, lt_dtype_scalar_name((lt_dtype)B->dtype),
                        lt_dtype_scalar_name((lt_dtype)A->dtype));
    return LT_OK;
}

/* X of L L^H X = B; upper: of U^H U X = B. */
static lt_tensor *do_cholesky_solve(lt_scope *s, lt_tensor *B, lt_tensor *L, bool upper)
{
    const lt_linalg_side left = {.right = false};
    lt_tensor *lh = do_adjoint(s, L), *first = upper ? lh : L, *second = upper ? L : lh;
    return do_linalg_triangular(s, second, do_linalg_triangular(s, first, B, false, left), true,
                                left);
}

lt_status lt_cholesky_solve_impl(lt_tensor *B, lt_tensor *L, bool upper, lt_tensor **out)
{
    LT_TRY(check_right_side("cholesky_solve", L, B));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(cholesky_solve));
    return lt_scope_return(&s, do_cholesky_solve(&s, B, L, upper), out);
}

lt_status lt_cholesky_inverse_impl(lt_tensor *L, bool upper, lt_tensor **out)
{
    LT_TRY(lt_linalg_check_square("cholesky_inverse", L));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(cholesky_inverse));
    lt_tensor *one = do_eye_like(&s, L, lt_rows(L));
    return lt_scope_return(&s, do_cholesky_solve(&s, one, L, upper), out);
}

lt_status lt_triangular_solve_impl(lt_tensor *b, lt_tensor *A, bool upper, bool transpose,
                                   bool unitriangular, lt_tensor **solution,
                                   lt_tensor **cloned_coefficient)
{
    LT_TRY(check_right_side("triangular_solve", A, b));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(triangular_solve));
    lt_tensor *a = transpose ? do_turn(&s, A) : A;
    lt_tensor *x = do_linalg_triangular(&s, a, b, upper != transpose,
                                        (lt_linalg_side){.unit = unitriangular}),
              *copy = do_clone(&s, A);
    if (lt_scope_move_out(&s, x, solution) == LT_OK)
        lt_scope_move_out(&s, copy, cloned_coefficient);
    return lt_scope_close(&s);
}
