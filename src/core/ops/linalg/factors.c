/* factors.c - factorizations of matrices: LU, QR, Cholesky, singular values and eigenvalues; least
 * squares.
 *
 * Differentiable ops with several results are composed of one op that packs them into a single
 * tensor, and of views of its parts. */
#include "linalg.h"

#include "user_index.h"
#include "devices/copies.h"
#include "devices/device.h"
#include "op/_linalg_eig.h"
#include "op/_linalg_eigh.h"
#include "op/_linalg_eigvals.h"
#include "op/_linalg_ldl_solve.h"
#include "op/_linalg_lstsq.h"
#include "op/_linalg_lstsq_rank.h"
#include "op/_linalg_qr.h"
#include "op/_linalg_svd.h"
#include "op/_linalg_svdvals.h"
#include "op/amax.h"
#include "op/geqrf.h"
#include "op/linalg_ldl_factor_ex.h"
#include "op/linalg_svd.h"
#include "op/to.h"
#include "op/triu.h"
#include "step/tril.h"

/* ---- factorizations -------------------------------------------------------------------------- */

/* Closes the scope; on success moves its results to outs. */
static lt_status give_all(lt_scope *s, int n, lt_tensor *const *results, lt_tensor **const *outs)
{
    for (int i = 0; s->status == LT_OK && i < n; i++) *outs[i] = lt_tensor_retain(results[i]);
    return lt_scope_close(s);
}

lt_status lt_geqrf_impl(lt_tensor *self, lt_tensor **out_a, lt_tensor **out_tau)
{
    LT_TRY(lt_linalg_check_matrix("geqrf", self));
    LT_TRY(lt_linalg_check_kind("geqrf", self));
    const int64_t m = lt_rows(self), n = lt_columns(self), least = m < n ? m : n;
    const lt_dims number = lt_linalg_batch_of(self, least, -1);
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *work = do_dense_copy(&s, do_turn(&s, self)), *tau = do_new_like(&s, self, &number);
    if (s.status == LT_OK && least > 0) {
        lt_factor f = lt_linalg_factor_of(LT_FACTOR_QR, work);
        f.values = lt_data(tau);
        do_factor(&s, &f, self, NULL);
    }
    lt_tensor *turned = do_turn(&s, work);
    return give_all(&s, 2, (lt_tensor *[]){turned, tau}, (lt_tensor * *[]){out_a, out_tau});
}

/* ---- factorizations, packed into one tensor -------------------------------------------------- */

/* Q (m x k) above R (k x n) where k = n, else beside it. */
lt_status lt__linalg_qr_impl(lt_tensor *self, bool complete, lt_tensor **out)
{
    const char *op = "linalg.qr";
    LT_TRY(lt_linalg_check_matrix(op, self));
    LT_TRY(lt_linalg_check_kind(op, self));
    int m = (int)lt_rows(self), n = (int)lt_columns(self), least = m < n ? m : n,
        k = complete ? m : least;
    /* column-major */
    lt_dims room = lt_linalg_batch_of(self, k > n ? k : n, m),
            number = lt_linalg_batch_of(self, least, -1);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_qr));
    lt_tensor *tau = do_new_like(&s, self, &number), *work = do_zeros(&s, self, &room),
              *given = do_turn(&s, self), *r = NULL;
    if (given != NULL) do_store(&s, do_part(&s, work, -2, 0, n), given);
    if (s.status == LT_OK && least > 0) {
        lt_factor f = lt_linalg_factor_of(LT_FACTOR_QR, work);
        f.n = n;
        f.values = lt_data(tau);
        do_factor(&s, &f, self, NULL);
    }
    lt_tensor *upper = do_part(&s, do_turn(&s, do_part(&s, work, -2, 0, n)), -2, 0, k);
    if (upper != NULL) {
        lt_status status = lt_triu(upper, 0, &r);
        r = lt_scope_hold(&s, status, r);
    }
    if (s.status == LT_OK && k > 0) {
        lt_factor f = lt_linalg_factor_of(LT_FACTOR_Q, work);
        f.columns = k;
        f.k = least;
        f.values = lt_data(tau);
        do_factor(&s, &f, self, NULL);
    }
    lt_tensor *q = do_turn(&s, do_part(&s, work, -2, 0, k));
    return lt_scope_store(&s, do_cat(&s, (lt_tensor *[]){q, r}, 2, k == n ? -2 : -1), out);
}

static const lt_linalg_refusal divergent = {
    "linalg.svd",
    "The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
    "repeated singular values (error code: %d).",
    false};

/* Computes the singular values of self and, unless NULL, *u and *v: its vectors U and V^H
 * transposed. robust: a second algorithm, for real matrices that are not wide: a wide one is
 * transposed, which exchanges U and V. False: the algorithm failed, and another one supports more
 * matrices. */
static bool do_svd_by(lt_scope *s, bool robust, lt_tensor *self, bool full, lt_tensor *values,
                      lt_tensor **u, lt_tensor **v)
{
    const bool turned = robust && lt_rows(self) < lt_columns(self);
    lt_tensor *given = turned ? do_turn(s, self) : self,
              *work = do_dense_copy(s, turned ? self : do_turn(s, self));
    if (s->status != LT_OK) return true;
    const int64_t m = lt_rows(given), n = lt_columns(given), k = m < n ? m : n, of_u = full ? m : k,
                  of_v = full ? n : k;
    const lt_dims u_room = lt_linalg_batch_of(self, of_u, m),
                  v_room = lt_linalg_batch_of(self, n, of_v),
                  v_turned = lt_linalg_batch_of(self, of_v, n);
    lt_tensor *left = u != NULL ? do_zeros(s, self, &u_room) : NULL,
              *right = v != NULL ? do_zeros(s, self, &v_room) : NULL;
    if (s->status != LT_OK) return true;
    lt_factor f = lt_linalg_factor_of(LT_FACTOR_SVD, work);
    f.full = full;
    f.robust = robust;
    f.values = lt_data(values);
    f.u = left != NULL ? lt_data(left) : NULL;
    f.v = right != NULL ? lt_data(right) : NULL;
    if (!do_factor(s, &f, self, &divergent)) return false;
    if (u == NULL) return true;
    left = do_turn(s, left);
    if (f.v_by_rows) right = do_adjoint(s, do_reshape(s, right, &v_turned));
    *u = turned ? right : left;
    *v = turned ? left : right;
    return true;
}

static lt_status check_svd(lt_tensor *self)
{
    LT_TRY(lt_linalg_check_matrix(divergent.op, self));
    LT_TRY(lt_linalg_check_kind(divergent.op, self));
    return lt_linalg_refuse_nan("linalg.svd", self,
                                "linalg.svd: The algorithm failed to converge because the "
                                "input matrix contained non-finite values.");
}

static void do_svd(lt_scope *s, lt_tensor *self, bool full, lt_tensor *values, lt_tensor **u,
                   lt_tensor **v)
{
    if (!do_svd_by(s, false, self, full, values, u, v))
        do_svd_by(s, true, self, full, values, u, v);
}

/* Rows: U, then S, then V^H transposed, padded to the width of the widest of them. */
lt_status lt__linalg_svd_impl(lt_tensor *self, bool full_matrices, lt_tensor **out)
{
    LT_TRY(check_svd(self));
    int64_t m = lt_rows(self), n = lt_columns(self), k = m < n ? m : n,
            width = !full_matrices ? k
                    : m > n        ? m
                                   : n;
    int64_t of_u = full_matrices ? m : k, of_v = full_matrices ? n : k;
    lt_dims s_room = lt_linalg_batch_of(self, 1, k),
            sizes = lt_linalg_batch_of(self, m + 1 + n, width);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_svd));
    lt_tensor *packed = do_zeros(&s, self, &sizes), *values = do_new_real(&s, self, &s_room),
              *u = NULL, *v = NULL;
    if (values != NULL && k > 0) {
        do_svd(&s, self, full_matrices, values, &u, &v);
        if (s.status != LT_OK) return lt_scope_close(&s);
        do_store(&s, do_part(&s, do_part(&s, packed, -2, 0, m), -1, 0, of_u), u);
        do_store(&s, do_part(&s, do_part(&s, packed, -2, m, m + 1), -1, 0, k), values);
        do_store(&s, do_part(&s, do_part(&s, packed, -2, m + 1, m + 1 + n), -1, 0, of_v), v);
    }
    return lt_scope_store(&s, packed, out);
}

lt_status lt__linalg_svdvals_impl(lt_tensor *self, lt_tensor **out)
{
    LT_TRY(check_svd(self));
    int64_t m = lt_rows(self), n = lt_columns(self), k = m < n ? m : n;
    lt_dims sizes = lt_linalg_batch_of(self, 1, k), shape = lt_linalg_batch_of(self, k, -1);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_svdvals));
    lt_tensor *values = do_new_real(&s, self, &sizes);
    if (values != NULL && k > 0) do_svd(&s, self, false, values, NULL, NULL);
    return lt_scope_store(&s, do_reshape(&s, values, &shape), out);
}

/* The eigenvectors (n x n), below them the eigenvalues. */
lt_status lt__linalg_eigh_impl(lt_tensor *self, bool upper, bool vectors, lt_tensor **out)
{
    static const lt_linalg_refusal endless = {
        "linalg.eigh",
        "The algorithm failed to converge because the input matrix is ill-conditioned or has too "
        "many repeated eigenvalues (error code: %d).",
        false};
    LT_TRY(lt_linalg_check_square(endless.op, self));
    LT_TRY(lt_linalg_check_kind(endless.op, self));
    lt_dims sizes = lt_linalg_batch_of(self, 1, lt_rows(self));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_eigh));
    /* the other triangle is not read */
    lt_tensor *taken = upper ? do_triu_at(&s, self, 0) : do_tril_at(&s, self, 0);
    if (taken != NULL)
        s.status = lt_linalg_refuse_nan("linalg.eigh", taken,
                                        "linalg.eigh: The algorithm failed to converge because the "
                                        "input matrix contained non-finite values.");
    lt_tensor *work = do_dense_copy(&s, do_turn(&s, self)), *values = do_new_real(&s, self, &sizes);
    if (values != NULL && work->numel > 0) {
        lt_factor f = lt_linalg_factor_of(LT_FACTOR_EIGH, work);
        f.upper = upper;
        f.vectors = vectors;
        f.values = lt_data(values);
        do_factor(&s, &f, self, &endless);
    }
    return lt_scope_store(
        &s,
        do_cat(&s, (lt_tensor *[]){do_turn(&s, work), do_cast(&s, values, (lt_dtype)self->dtype)},
               2, -2),
        out);
}

/* ---- general square matrices: always on the host, since only LAPACK supports them ------------ */

static lt_tensor *do_to_device(lt_scope *s, lt_tensor *a, lt_device device)
{
    lt_tensor *moved = NULL;
    if (s->status != LT_OK) return NULL;
    const lt_status status = lt_to(a, &device, LT_DTYPE_NONE, false, false, &moved);
    return lt_scope_hold(s, status, moved);
}

static lt_tensor *do_on_host(lt_scope *s, lt_tensor *a) { return do_to_device(s, a, lt_host); }

/* The eigenvectors (n x n), or NULL, and the eigenvalues of a batch, both complex, on the host. */
static void do_eigen(lt_scope *s, lt_tensor *a, lt_tensor **vectors, lt_tensor **values)
{
    static const lt_linalg_refusal endless = {
        "linalg.eig",
        "The algorithm failed to converge because the input matrix is ill-conditioned or has too "
        "many repeated eigenvalues (error code: %d).",
        false};
    const lt_dtype dtype = lt_complex_of((lt_dtype)a->dtype);
    const lt_dims row = lt_linalg_batch_of(a, lt_rows(a), -1), square = lt_dims_of(a);
    lt_tensor *work = do_dense_copy(s, do_turn(s, do_on_host(s, a)));
    *values = do_new_of(s, dtype, lt_host, &row);
    if (vectors != NULL) *vectors = do_new_of(s, dtype, lt_host, &square);
    if (s->status != LT_OK || a->numel == 0) return;
    lt_factor f = lt_linalg_factor_of(LT_FACTOR_EIG, work);
    f.values = lt_data(*values);
    f.u = vectors != NULL ? lt_data(*vectors) : NULL;
    do_factor(s, &f, a, &endless);
    if (vectors != NULL) *vectors = do_turn(s, *vectors);
}

static lt_status check_eigen(lt_tensor *self, bool vectors)
{
    const char *op = vectors ? "linalg.eig" : "linalg.eigvals";
    LT_TRY(lt_linalg_check_square(op, self));
    LT_TRY(lt_linalg_check_kind(op, self));
    return lt_linalg_refuse_infinite(
        op, self, "torch.linalg.eig: input tensor should not contain infs or NaNs.");
}

/* The eigenvectors, below them the eigenvalues. */
lt_status lt__linalg_eig_impl(lt_tensor *self, lt_tensor **out)
{
    LT_TRY(check_eigen(self, true));
    const lt_copy_cause previous = lt_copies_imply("linalg.eig");
    lt_tensor *vectors, *values;
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_eig));
    do_eigen(&s, self, &vectors, &values);
    lt_tensor *packed = do_cat(&s, (lt_tensor *[]){vectors, do_unsqueeze(&s, values, -2)}, 2, -2);
    const lt_status status = lt_scope_store(&s, do_to_device(&s, packed, self->device), out);
    lt_copies_set_cause(previous);
    return status;
}

lt_status lt__linalg_eigvals_impl(lt_tensor *self, lt_tensor **out)
{
    LT_TRY(check_eigen(self, false));
    const lt_copy_cause previous = lt_copies_imply("linalg.eigvals");
    lt_tensor *values;
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_eigvals));
    do_eigen(&s, self, NULL, &values);
    const lt_status status = lt_scope_store(&s, do_to_device(&s, values, self->device), out);
    lt_copies_set_cause(previous);
    return status;
}

lt_status lt_linalg_ldl_factor_ex_impl(lt_tensor *self, bool hermitian, bool check_errors,
                                       lt_tensor **out_LD, lt_tensor **out_pivots,
                                       lt_tensor **out_info)
{
    static const lt_linalg_refusal singular = {
        "torch.linalg.ldl_factor_ex",
        "The factorization could not be completed because a block of D is 0 (block %d)", false};
    LT_TRY(lt_linalg_check_square(singular.op, self));
    LT_TRY(lt_linalg_check_kind(singular.op, self));
    const lt_dims row = lt_linalg_batch_of(self, lt_rows(self), -1),
                  one = lt_linalg_batch_of(self, -1, -1);
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *work = do_dense_copy(&s, do_turn(&s, do_on_host(&s, self)));
    lt_tensor *pivots = do_new_of(&s, LT_INT32, lt_host, &row),
              *info = do_new_of(&s, LT_INT32, lt_host, &one);
    if (info != NULL) s.status = lt_fill_value(info, lt_scalar_from_int(0));
    if (s.status == LT_OK && self->numel > 0) {
        lt_factor f = lt_linalg_factor_of(LT_FACTOR_LDL, work);
        f.hermitian = hermitian;
        f.pivots = lt_linalg_integers(pivots);
        f.infos = lt_linalg_integers(info);
        do_factor(&s, &f, work, NULL);
    }
    if (s.status == LT_OK && check_errors)
        s.status = lt_linalg_refused(&singular, self, info, NULL);
    lt_tensor *factors = do_to_device(&s, do_tril(&s, do_turn(&s, work)), self->device);
    pivots = do_to_device(&s, pivots, self->device), info = do_to_device(&s, info, self->device);
    return give_all(&s, 3, (lt_tensor *[]){factors, pivots, info},
                    (lt_tensor * *[]){out_LD, out_pivots, out_info});
}

/* Rejects pivots with which LAPACK would leave the matrix: each is a row, from 1, or its negative
 * in both rows of a block of two. */
static lt_status check_ldl_pivots(const int *pivots, int64_t matrices, int64_t n)
{
    for (int64_t i = 0; i < matrices; i++, pivots += n)
        for (int64_t k = 0, size; k < n; k += size) {
            size = pivots[k] < 0 ? 2 : 1;
            const bool whole = k + size <= n && (size == 1 || pivots[k + 1] < 0);
            for (int64_t j = k; j < k + size; j++)
                if (!whole || pivots[j] == 0 || pivots[j] < -n || pivots[j] > n)
                    return lt_error(LT_ERR_RUNTIME,
                                    "torch.linalg.ldl_solve: expected pivots from 1 to %lld, and "
                                    "the negatives of these in pairs, but entry %lld is %d. Did "
                                    "you properly pass the result of ldl_factor?",
                                    (long long)n, lt_user_index(whole ? j : k),
                                    pivots[whole ? j : k]);
        }
    return LT_OK;
}

lt_status lt__linalg_ldl_solve_impl(lt_tensor *LD, lt_tensor *pivots, lt_tensor *B, bool hermitian,
                                    lt_tensor **out)
{
    const lt_dims square = lt_linalg_batch_of(B, lt_rows(LD), lt_rows(LD)),
                  row = lt_linalg_batch_of(B, lt_rows(LD), -1);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_ldl_solve));
    lt_tensor *left = do_dense_copy(&s, do_turn(&s, do_on_host(&s, do_expand(&s, LD, &square))));
    lt_tensor *places = do_dense_copy(&s, do_on_host(&s, do_expand(&s, pivots, &row)));
    lt_tensor *right = do_dense_copy(&s, do_turn(&s, do_on_host(&s, B)));
    if (s.status == LT_OK && lt_rows(LD) > 0)
        s.status =
            check_ldl_pivots(lt_linalg_integers(places), places->numel / lt_rows(LD), lt_rows(LD));
    if (s.status == LT_OK && B->numel > 0) {
        lt_factor f = lt_linalg_factor_of(LT_FACTOR_LDL_SOLVE, left);
        f.hermitian = hermitian;
        f.pivots = lt_linalg_integers(places);
        f.columns = (int)lt_columns(B);
        f.b = lt_data(right);
        do_factor(&s, &f, left, NULL);
    }
    return lt_scope_store(&s, do_to_device(&s, do_turn(&s, right), B->device), out);
}

/* ---- least squares --------------------------------------------------------------------------- */

/* By the singular value decomposition, with values up to rcond times the largest taken as 0: V
 * diag(1 / S) U^H b. */
static lt_status by_singular_values(lt_tensor *a, lt_tensor *b, double rcond, const lt_dims *room,
                                    lt_tensor **ranks, lt_tensor **out)
{
    lt_tensor *u = NULL, *values = NULL, *vh = NULL, *largest = NULL;
    lt_scope s;
    lt_scope_open(&s, false);
    s.status = lt_linalg_svd(a, false, &u, &values, &vh);
    if (s.status != LT_OK) return lt_scope_close(&s);
    lt_scope_hold(&s, LT_OK, u);
    lt_scope_hold(&s, LT_OK, values);
    lt_scope_hold(&s, LT_OK, vh);
    if (s.status == LT_OK) {
        lt_status status = lt_amax(values, &(lt_dims){1, {-1}}, true, &largest);
        largest = lt_scope_hold(&s, status, largest);
    }
    lt_tensor *taken = do_gt(&s, values, times(&s, largest, rcond));
    if (ranks != NULL) return lt_scope_store(&s, do_sum_dim(&s, taken, -1, false), ranks);
    lt_tensor *inverted =
        do_where(&s, taken, do_div(&s, do_number(&s, 1), values), do_number(&s, 0));
    lt_tensor *scaled =
        do_mul(&s, do_matmul(&s, do_adjoint(&s, u), b), do_unsqueeze(&s, inverted, -1));
    lt_tensor *right = do_zeros(&s, a, room); /* solutions are column-major, as from LAPACK */
    lt_tensor *solution = do_turn(&s, do_part(&s, right, -1, 0, lt_columns(a)));
    return lt_scope_store(&s, do_store(&s, solution, do_matmul(&s, do_adjoint(&s, vh), scaled)),
                          out);
}

/* The solutions (n x columns) in *out; if ranks is not NULL, only the ranks of the matrices in
 * *ranks. */
static lt_status least_squares(lt_tensor *a, lt_tensor *b, double rcond, lt_tensor **ranks,
                               lt_tensor **out)
{
    const char *op = "torch.linalg.lstsq";
    LT_TRY(lt_linalg_check_matrix(op, a));
    LT_TRY(lt_linalg_check_kind(op, a));
    int64_t m = lt_rows(a), n = lt_columns(a), columns = lt_columns(b), rows = m > n ? m : n;
    lt_dims room = lt_linalg_batch_of(a, columns, rows), numbers = lt_linalg_batch_of(a, -1, -1);
    if (a->device.type != LT_CPU && a->numel > 0)
        return by_singular_values(a, b, rcond, &room, ranks, out);
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *left = do_dense_copy(&s, do_turn(&s, a)), *right = do_zeros(&s, a, &room);
    lt_tensor *found = do_new_of(&s, LT_INT32, a->device, &numbers);
    do_store(&s, do_part(&s, right, -1, 0, m), do_turn(&s, b));
    if (s.status == LT_OK) s.status = lt_fill_value(found, lt_scalar_from_int(0));
    if (s.status == LT_OK && a->numel > 0) {
        lt_factor f = lt_linalg_factor_of(LT_FACTOR_LEAST_SQUARES, left);
        f.columns = (int)columns;
        f.b = lt_data(right);
        f.rcond = rcond;
        f.infos = lt_linalg_integers(found);
        do_factor(&s, &f, a, NULL);
    }
    if (ranks != NULL) return lt_scope_store(&s, do_cast(&s, found, LT_INT64), ranks);
    return lt_scope_store(&s, right != NULL ? do_turn(&s, do_part(&s, right, -1, 0, n)) : NULL,
                          out);
}

lt_status lt__linalg_lstsq_impl(lt_tensor *self, lt_tensor *other, double rcond, lt_tensor **out)
{
    LT_TRY(lt_linalg_refuse_infinite(
        "linalg.lstsq", self,
        "torch.linalg.lstsq: expected finite numbers, but input contains infs or NaNs."));
    LT_TRY(lt_linalg_refuse_infinite(
        "linalg.lstsq", other,
        "torch.linalg.lstsq: expected finite numbers, but other contains infs or NaNs."));
    return least_squares(self, other, rcond, NULL, out);
}

lt_status lt__linalg_lstsq_rank_impl(lt_tensor *self, lt_tensor *other, double rcond,
                                     lt_tensor **out)
{
    return least_squares(self, other, rcond, out, NULL);
}
