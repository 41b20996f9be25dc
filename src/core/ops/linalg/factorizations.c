/* factorizations.c - the factors of Cholesky and QR, and their derivatives. */
#include <string.h>

#include "linalg.h"
#include "op/_linalg_cholesky.h"
#include "op/_linalg_cholesky_backward.h"
#include "op/_linalg_cholesky_tangent.h"
#include "op/_linalg_qr.h"
#include "op/_linalg_qr_backward.h"
#include "op/_linalg_qr_tangent.h"
#include "op/cholesky.h"
#include "op/linalg_qr.h"
#include "op/qr.h"
#include "step/_linalg_solve_triangular.h"
#include "step/diag_embed.h"
#include "step/real.h"

/* ---- Cholesky -------------------------------------------------------------------------------- */

lt_status lt_cholesky_impl(lt_tensor *self, bool upper, lt_tensor **out)
{
    return lt__linalg_cholesky(self, upper, out);
}

/* The lower triangle, mirrored to the upper one. */
static lt_tensor *do_mirrored(lt_scope *s, lt_tensor *a)
{
    return do_add(s, do_tril_at(s, a, 0), do_adjoint(s, do_tril_at(s, a, -1)));
}

/* L^-H (L^H G, mirrored) L^-1 / 2 */
lt_status lt__linalg_cholesky_backward_impl(lt_tensor *grad_output, lt_tensor *result, bool upper,
                                            lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_cholesky_backward));
    lt_tensor *l = upper ? do_adjoint(&s, result) : result,
              *g = upper ? do_adjoint(&s, grad_output) : grad_output;
    if (g == NULL || l == NULL) return lt_scope_close(&s);
    lt_tensor *lh = do_adjoint(&s, l), *inner = do_mirrored(&s, do_matmul(&s, lh, g));
    lt_tensor *left = do__linalg_solve_triangular(&s, lh, inner, true, false);
    lt_tensor *full =
        do_adjoint(&s, do__linalg_solve_triangular(&s, lh, do_adjoint(&s, left), true, false));
    return lt_scope_return(&s, times(&s, full, 0.5), out);
}

/* L (the lower triangle of L^-1 T L^-H, with half its diagonal), of the Hermitian part T of the
 * tangent. */
lt_status lt__linalg_cholesky_tangent_impl(lt_tensor *self_t, lt_tensor *result, bool upper,
                                           lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_cholesky_tangent));
    lt_tensor *l = upper ? do_adjoint(&s, result) : result,
              *hermitian = times(&s, do_add(&s, self_t, do_adjoint(&s, self_t)), 0.5);
    if (l == NULL || hermitian == NULL) return lt_scope_close(&s);
    lt_tensor *left = do__linalg_solve_triangular(&s, l, hermitian, false, false);
    lt_tensor *inner = do__linalg_solve_triangular(&s, l, do_adjoint(&s, left), false, false);
    lt_tensor *half =
        times(&s, do_add(&s, do_tril_at(&s, inner, 0), do_tril_at(&s, inner, -1)), 0.5);
    lt_tensor *tangent = do_matmul(&s, l, half);
    return lt_scope_return(&s, upper ? do_adjoint(&s, tangent) : tangent, out);
}

/* ---- QR -------------------------------------------------------------------------------------- */

/* Q and R of the packed result of _linalg_qr, k columns of Q. */
static void unpack_qr(lt_scope *s, lt_tensor *packed, int64_t m, int64_t n, int64_t k,
                      lt_tensor **q, lt_tensor **r)
{
    int64_t dim = k == n ? -2 : -1, first = k == n ? m : k, all = k == n ? m + k : k + n;
    *q = do_part(s, packed, dim, 0, first);
    *r = do_part(s, packed, dim, first, all);
}

lt_status lt_linalg_qr_impl(lt_tensor *self, const char *mode, lt_tensor **Q, lt_tensor **R)
{
    const char *op = "linalg.qr";
    LT_TRY(lt_linalg_check_matrix(op, self));
    bool complete = strcmp(mode, "complete") == 0, only_r = strcmp(mode, "r") == 0;
    if (!complete && !only_r && strcmp(mode, "reduced") != 0)
        return lt_error(LT_ERR_RUNTIME,
                        "qr received unrecognized mode '%s' but expected one of 'reduced' "
                        "(default), 'r', or 'complete'",
                        mode);
    int64_t m = lt_rows(self), n = lt_columns(self), least = m < n ? m : n,
            k = complete ? m : least;
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(linalg_qr));
    lt_tensor *packed = NULL, *q = NULL, *r = NULL;
    /* R's columns beyond the square part, and their derivatives, follow from Q */
    bool wide = n > m;
    lt_tensor *square = wide ? do_part(&s, self, -1, 0, m) : self;
    lt_status status =
        square != NULL ? lt__linalg_qr(square, complete && m > n, &packed) : s.status;
    packed = lt_scope_hold(&s, status, packed);
    if (packed == NULL) return lt_scope_close(&s);
    unpack_qr(&s, packed, m, wide ? m : n, k, &q, &r);
    if (wide && s.status == LT_OK) {
        lt_tensor *rest = do_matmul(&s, do_adjoint(&s, q), do_part(&s, self, -1, m, n));
        r = do_cat(&s, (lt_tensor *[]){r, rest}, 2, -1);
    }
    if (only_r) q = do_zeros(&s, self, &(lt_dims){1, {0}});
    if (lt_scope_move_out(&s, q, Q) == LT_OK) lt_scope_move_out(&s, r, R);
    return lt_scope_close(&s);
}

lt_status lt_qr_impl(lt_tensor *self, bool some, lt_tensor **Q, lt_tensor **R)
{
    return lt_linalg_qr(self, some ? "reduced" : "complete", Q, R);
}

static lt_status refuse_complete(bool complete)
{
    if (!complete) return LT_OK;
    return lt_error(
        LT_ERR_RUNTIME,
        "The QR decomposition is not differentiable when mode='complete' and nrows > ncols.");
}

static lt_tensor *do_real_diagonal(lt_scope *s, lt_tensor *a)
{
    return do_diag_embed(s, do_real(s, do_diagonal(s, a, 0, -2, -1)));
}

/* With M = R GR^H - GQ^H Q: (GQ + Q copyltu(M)) R^-H, where copyltu mirrors the lower triangle and
 * keeps the real part of the diagonal, since the diagonal of R is real. */
lt_status lt__linalg_qr_backward_impl(lt_tensor *grad_output, const lt_dims *sizes,
                                      lt_tensor *result, bool complete, lt_tensor **out)
{
    int64_t m = sizes->v[sizes->n - 2], n = sizes->v[sizes->n - 1];
    LT_TRY(refuse_complete(complete));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_qr_backward));
    lt_tensor *q, *r, *gq, *gr;
    unpack_qr(&s, result, m, n, n, &q, &r);
    unpack_qr(&s, grad_output, m, n, n, &gq, &gr);
    if (s.status != LT_OK) return lt_scope_close(&s);
    lt_tensor *inner =
        do_sub(&s, do_matmul(&s, r, do_adjoint(&s, gr)), do_matmul(&s, do_adjoint(&s, gq), q));
    if (inner == NULL) return lt_scope_close(&s);
    lt_tensor *lower = do_tril_at(&s, inner, -1);
    lt_tensor *middle = do_real_diagonal(&s, inner);
    lt_tensor *mirrored = do_add(&s, do_add(&s, lower, do_adjoint(&s, lower)), middle);
    lt_tensor *sum = do_add(&s, gq, do_matmul(&s, q, mirrored)); /* X R^H = sum: R X^H = sum^H */
    return lt_scope_return(
        &s, do_adjoint(&s, do__linalg_solve_triangular(&s, r, do_adjoint(&s, sum), true, false)),
        out);
}

/* With M = Q^H T R^-1: the part above the diagonal and the real part of the diagonal change R, the
 * rest rotates Q. */
lt_status lt__linalg_qr_tangent_impl(lt_tensor *self_t, lt_tensor *result, bool complete,
                                     lt_tensor **out)
{
    int64_t m = lt_rows(self_t), n = lt_columns(self_t);
    LT_TRY(refuse_complete(complete));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_qr_tangent));
    lt_tensor *q, *r;
    unpack_qr(&s, result, m, n, n, &q, &r);
    if (s.status != LT_OK) return lt_scope_close(&s);
    /* X R = T: R^T X^T = T^T */
    lt_tensor *right = do_turn(
        &s, do__linalg_solve_triangular(&s, do_turn(&s, r), do_turn(&s, self_t), false, false));
    lt_tensor *inner = do_matmul(&s, do_adjoint(&s, q), right);
    if (inner == NULL) return lt_scope_close(&s);
    lt_tensor *rest =
        do_add(&s, do_triu_at(&s, inner, 1), do_adjoint(&s, do_tril_at(&s, inner, -1)));
    lt_tensor *of_r = do_add(&s, rest, do_real_diagonal(&s, inner));
    lt_tensor *of_q = do_sub(&s, right, do_matmul(&s, q, of_r));
    return lt_scope_return(&s, do_cat(&s, (lt_tensor *[]){of_q, do_matmul(&s, of_r, r)}, 2, -2),
                           out);
}
