/* low_rank.c - decompositions of low rank, from random directions. */
#include "linalg.h"
#include "op/linalg_qr.h"
#include "op/linalg_svd.h"
#include "op/mean.h"
#include "op/pca_lowrank.h"
#include "op/randn.h"
#include "op/svd_lowrank.h"
#include "step/detach.h"

/* Orthonormal columns that span the columns of a. */
static lt_tensor *do_orthonormal(lt_scope *s, lt_tensor *a)
{
    lt_tensor *q = NULL, *r = NULL;
    if (s->status != LT_OK) return NULL;
    const lt_status status = lt_linalg_qr(a, "reduced", &q, &r);
    lt_tensor_release(r);
    return lt_scope_hold(s, status, q);
}

/* One subspace iteration. Steals q. */
static lt_status iterate_subspace(lt_tensor *a, lt_tensor *q, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, false);
    lt_scope_hold(&s, LT_OK, q);
    lt_tensor *back = do_orthonormal(&s, do_matmul(&s, do_adjoint(&s, a), q));
    return lt_scope_return(&s, do_orthonormal(&s, do_matmul(&s, a, back)), out);
}

/* q orthonormal columns that span most of the range of A (N. Halko, P. Martinsson, J. Tropp:
 * Finding structure with randomness, 2009). A constant. */
static lt_status range_of(lt_tensor *A, int64_t q, int64_t iterations, lt_tensor **out)
{
    const lt_dims sizes = {2, {lt_columns(A), q}};
    lt_tensor *directions = NULL, *basis = NULL;
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *a = do_detach(&s, A);
    const lt_status status = lt_randn(&sizes, NULL, (lt_dtype)A->dtype, &A->device, &directions);
    directions = lt_scope_hold(&s, status, directions);
    lt_tensor *first = do_orthonormal(&s, do_matmul(&s, a, directions));
    if (s.status == LT_OK) basis = lt_tensor_retain(first);
    for (int64_t i = 0; i < iterations && s.status == LT_OK; i++) {
        lt_tensor *previous = basis;
        basis = NULL;
        s.status = iterate_subspace(a, previous, &basis);
    }
    return lt_scope_return(&s, lt_scope_hold(&s, s.status, basis), out);
}

static lt_status low_rank(lt_tensor *A, int64_t q, int64_t iterations, lt_tensor **U, lt_tensor **S,
                          lt_tensor **V)
{
    lt_tensor *basis = NULL, *u = NULL, *values = NULL, *vh = NULL;
    lt_scope s;
    lt_scope_open(&s, true);
    const bool wide = lt_rows(A) < lt_columns(A);
    lt_tensor *a = wide ? do_adjoint(&s, A) : A;
    if (a == NULL) return lt_scope_close(&s);
    lt_status status = range_of(a, q, iterations, &basis);
    basis = lt_scope_hold(&s, status, basis);
    lt_tensor *small = basis != NULL ? do_matmul(&s, do_adjoint(&s, basis), a) : NULL;
    if (small != NULL) {
        status = lt_linalg_svd(small, false, &u, &values, &vh);
        u = lt_scope_hold(&s, status, u);
        values = lt_scope_hold(&s, status, values);
        vh = lt_scope_hold(&s, status, vh);
    }
    lt_tensor *left = do_matmul(&s, basis, u), *right = vh != NULL ? do_adjoint(&s, vh) : NULL;
    if (lt_scope_move_out(&s, wide ? right : left, U) == LT_OK) {
        lt_scope_move_out(&s, values, S);
        lt_scope_move_out(&s, wide ? left : right, V);
    }
    return lt_scope_close(&s);
}

lt_status lt_svd_lowrank_impl(lt_tensor *A, int64_t q, int64_t niter, lt_tensor *M, lt_tensor **U,
                              lt_tensor **S, lt_tensor **V)
{
    LT_TRY(lt_linalg_check_matrix("svd_lowrank", A));
    if (M == NULL) return low_rank(A, q, niter, U, S, V);
    const lt_dims sizes = lt_dims_of(A);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(svd_lowrank));
    lt_tensor *a = do_sub(&s, A, do_expand(&s, M, &sizes));
    if (s.status == LT_OK) s.status = low_rank(a, q, niter, U, S, V);
    return lt_scope_close(&s);
}

lt_status lt_pca_lowrank_impl(lt_tensor *A, const int64_t *q, bool center, int64_t niter,
                              lt_tensor **U, lt_tensor **S, lt_tensor **V)
{
    LT_TRY(lt_linalg_check_matrix("pca_lowrank", A));
    const int64_t m = lt_rows(A), n = lt_columns(A), most = m < n ? m : n,
                  components = q != NULL  ? *q
                               : most < 6 ? most
                                          : 6;
    if (components < 0 || components > most)
        return lt_error(LT_ERR_RUNTIME,
                        "q(=%lld) must be non-negative integer and not greater than min(m, n)=%lld",
                        (long long)components, (long long)most);
    if (niter < 0)
        return lt_error(LT_ERR_RUNTIME, "niter(=%lld) must be non-negative integer",
                        (long long)niter);
    if (!center) return low_rank(A, components, niter, U, S, V);
    lt_tensor *mean = NULL;
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(pca_lowrank));
    const lt_status status = lt_mean_dim(A, &(lt_dims){1, {-2}}, true, LT_DTYPE_NONE, &mean);
    lt_tensor *a = do_sub(&s, A, lt_scope_hold(&s, status, mean));
    if (s.status == LT_OK) s.status = low_rank(a, components, niter, U, S, V);
    return lt_scope_close(&s);
}
