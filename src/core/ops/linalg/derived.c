/* derived.c - the ops of torch.linalg made of factorizations (linalg.c), and the derivatives of those. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "autograd/dual.h"
#include "devices/transfer.h"
#include "linalg.h"
#include "op/_linalg_cholesky.h"
#include "op/_linalg_cholesky_backward.h"
#include "op/_linalg_det_backward.h"
#include "op/_linalg_eig.h"
#include "op/_linalg_eig_backward.h"
#include "op/_linalg_eigh.h"
#include "op/_linalg_eigh_backward.h"
#include "op/_linalg_eigvals.h"
#include "op/_linalg_logabsdet.h"
#include "op/_linalg_logabsdet_backward.h"
#include "op/_linalg_lstsq.h"
#include "op/_linalg_lstsq_backward.h"
#include "op/_linalg_lstsq_rank.h"
#include "op/_linalg_pinv.h"
#include "op/_linalg_pinv_backward.h"
#include "op/_linalg_qr.h"
#include "op/_linalg_qr_backward.h"
#include "op/_linalg_sign_det.h"
#include "op/_linalg_sign_det_backward.h"
#include "op/_linalg_solve.h"
#include "op/_linalg_solve_triangular.h"
#include "op/_linalg_solve_triangular_backward.h"
#include "op/_linalg_solve_triangular_backward_other.h"
#include "op/_linalg_svd.h"
#include "op/_linalg_svd_backward.h"
#include "op/_linalg_svdvals.h"
#include "op/_prod_backward.h"
#include "op/all.h"
#include "op/amax.h"
#include "op/amin.h"
#include "op/cholesky.h"
#include "op/det.h"
#include "op/detach.h"
#include "op/diag_embed.h"
#include "op/eye.h"
#include "op/linalg_eig.h"
#include "op/linalg_eigh.h"
#include "op/linalg_eigvals.h"
#include "op/linalg_eigvalsh.h"
#include "op/linalg_lstsq.h"
#include "op/linalg_matrix_norm.h"
#include "op/linalg_matrix_rank.h"
#include "op/linalg_pinv.h"
#include "op/linalg_qr.h"
#include "op/linalg_solve.h"
#include "op/linalg_solve_triangular.h"
#include "op/linalg_svd.h"
#include "op/linalg_svdvals.h"
#include "op/logdet.h"
#include "op/norm.h"
#include "op/ones_like.h"
#include "op/pinverse.h"
#include "op/qr.h"
#include "op/slogdet.h"
#include "op/svd.h"
#include "op/tril.h"
#include "op/triu.h"
#include "step/real.h"
#include "step/sgn.h"

/* ---- steps ------------------------------------------------------------------------------------------------- */

#define STEP(call)                                                                                 \
    lt_tensor *out = NULL;                                                                         \
    if (s->status != LT_OK) return NULL;                                                           \
    lt_status status = call;                                                                       \
    return lt_scope_hold(s, status, out);
static lt_tensor *do_solve(lt_scope *s, lt_tensor *a, lt_tensor *b) { STEP(lt__linalg_solve(a, b, &out)) }
static lt_tensor *do_solve_triangular(lt_scope *s, lt_tensor *a, lt_tensor *b, bool upper, bool unit)
{
    STEP(lt__linalg_solve_triangular(a, b, upper, unit, &out))
}
static lt_tensor *do_tril(lt_scope *s, lt_tensor *a, int64_t diagonal) { STEP(lt_tril(a, diagonal, &out)) }
static lt_tensor *do_triu(lt_scope *s, lt_tensor *a, int64_t diagonal) { STEP(lt_triu(a, diagonal, &out)) }
static lt_tensor *do_diag_embed(lt_scope *s, lt_tensor *a) { STEP(lt_diag_embed(a, 0, -2, -1, &out)) }
static lt_tensor *do_pinv(lt_scope *s, lt_tensor *a) { STEP(lt_linalg_pinv(a, NULL, false, &out)) }
static lt_tensor *do_eye(lt_scope *s, const lt_tensor *like, int64_t n)
{
    STEP(lt_eye(n, NULL, (lt_dtype)like->dtype, &like->device, &out))
}
static lt_tensor *do_amax(lt_scope *s, lt_tensor *a, int64_t dim, bool keepdim)
{
    STEP(lt_amax(a, &(lt_dims){1, {dim}}, keepdim, &out))
}
static lt_tensor *do_amin(lt_scope *s, lt_tensor *a, int64_t dim, bool keepdim)
{
    STEP(lt_amin(a, &(lt_dims){1, {dim}}, keepdim, &out))
}

static double epsilon(const lt_tensor *t) { return lt_real_of((lt_dtype)t->dtype) == LT_FLOAT32 ? FLT_EPSILON : DBL_EPSILON; }

/* The result t of one output, moved out of an open scope. */
static lt_status hand(lt_scope *s, lt_tensor *t, lt_tensor **out)
{
    if (s->status == LT_OK) *out = lt_tensor_retain(t);
    return s->status;
}

/* ---- determinants --------------------------------------------------------------------------------------------- */

static bool any_singular(lt_scope *s, lt_tensor *det)
{
    lt_tensor *regular = NULL;
    lt_scalar all = lt_int(1);
    if (s->status != LT_OK) return false;
    lt_status status = lt_all(det, &regular);
    regular = lt_scope_hold(s, status, regular);
    if (s->status == LT_OK) s->status = lt_tensor_item(regular, &all);
    return s->status == LT_OK && lt_scalar_double(all) == 0;
}

/* The determinant of an orthogonal or unitary matrix, a constant of length 1. */
static lt_tensor *do_orientation(lt_scope *s, lt_tensor *q)
{
    lt_tensor *constant = NULL, *det = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_detach(q, &constant);
    constant = lt_scope_hold(s, status, constant);
    if (s->status != LT_OK) return NULL;
    status = lt_det(constant, &det);
    return do_sgn(s, lt_scope_hold(s, status, det));
}

/* The cofactors by the singular values, which need no inverse: det(U) det(V^H) conj(U diag(products of the others) V^H). */
static lt_tensor *do_cofactors(lt_scope *s, lt_tensor *a)
{
    lt_tensor *u = NULL, *values = NULL, *vh = NULL, *ones = NULL, *others = NULL;
    if (s->status != LT_OK) return NULL;
    s->status = lt_linalg_svd(a, true, &u, &values, &vh);
    if (s->status != LT_OK) return NULL;
    u = lt_scope_hold(s, LT_OK, u), values = lt_scope_hold(s, LT_OK, values), vh = lt_scope_hold(s, LT_OK, vh);
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_ones_like(values, LT_DTYPE_NONE, NULL, &ones);
    ones = lt_scope_hold(s, status, ones);
    if (s->status != LT_OK) return NULL;
    status = lt__prod_backward_dim(ones, values, values->ndim - 1, true, &others);
    others = lt_scope_hold(s, status, others);
    lt_tensor *sign = do_mul(s, do_orientation(s, u), do_orientation(s, vh));
    others = do_mul(s, do_unsqueeze(s, others, -2), do_unsqueeze(s, do_unsqueeze(s, sign, -1), -1));
    return do_matmul(s, do_mul(s, do_conj(s, u), others), do_conj(s, vh));
}

lt_status lt__linalg_det_backward_impl(lt_tensor *grad_output, lt_tensor *self, lt_tensor *det, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_det_backward));
    if (any_singular(&s, det)) {
        lt_tensor *grad = do_unsqueeze(&s, do_unsqueeze(&s, grad_output, -1), -1);
        return lt_scope_give(&s, do_mul(&s, grad, do_cofactors(&s, self)), out);
    }
    lt_tensor *factor = do_unsqueeze(&s, do_unsqueeze(&s, do_mul(&s, grad_output, det), -1), -1);
    lt_tensor *eye = do_eye(&s, self, lt_columns(self));
    return lt_scope_give(&s, do_mul(&s, do_solve(&s, do_turn(&s, self), eye), factor), out);
}

/* The inverse of A^H times a number a matrix. */
static lt_tensor *do_adjoint_inverse(lt_scope *s, lt_tensor *a, lt_tensor *factor)
{
    lt_tensor *eye = do_eye(s, a, lt_columns(a));
    return do_mul(s, do_solve(s, do_adjoint(s, a), eye), do_unsqueeze(s, do_unsqueeze(s, factor, -1), -1));
}

lt_status lt__linalg_logabsdet_backward_impl(lt_tensor *grad_output, lt_tensor *self, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_logabsdet_backward));
    return lt_scope_give(&s, do_adjoint_inverse(&s, self, grad_output), out);
}

lt_status lt__linalg_sign_det_backward_impl(lt_tensor *grad_output, lt_tensor *self, lt_tensor *sign, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_sign_det_backward));
    const lt_dims sizes = lt_dims_of(self);
    if (!lt_dtype_is_complex((lt_dtype)self->dtype)) { /* nothing, but linear in the gradient as any derivative is */
        lt_tensor *nothing = do_mul(&s, grad_output, do_number(&s, 0));
        return lt_scope_give(&s, do_mul(&s, do_zeros(&s, self, &sizes), do_unsqueeze(&s, do_unsqueeze(&s, nothing, -1), -1)), out);
    }
    /* d sign = i sign Im(tr(A^-1 dA)) */
    lt_tensor *turned = do_mul(&s, do_conj(&s, grad_output), sign);
    lt_tensor *along = do_sub(&s, turned, do_conj(&s, turned)); /* 2 i Im */
    return lt_scope_give(&s, do_adjoint_inverse(&s, self, do_mul(&s, along, do_number(&s, -0.5))), out);
}

lt_status lt_slogdet_impl(lt_tensor *self, lt_tensor **sign, lt_tensor **logabsdet)
{
    lt_tensor *first = NULL;
    LT_TRY(lt__linalg_sign_det(self, &first));
    lt_status status = lt__linalg_logabsdet(self, logabsdet);
    if (status == LT_OK)
        *sign = first;
    else
        lt_tensor_release(first);
    return status;
}

lt_status lt_logdet_impl(lt_tensor *self, lt_tensor **out)
{
    lt_tensor *sign = NULL, *log_magnitude = NULL;
    LT_TRY(lt_slogdet(self, &sign, &log_magnitude));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(logdet));
    lt_scope_hold(&s, LT_OK, sign);
    lt_scope_hold(&s, LT_OK, log_magnitude);
    if (lt_dtype_is_complex((lt_dtype)self->dtype))
        return lt_scope_give(&s, do_add(&s, do_log(&s, sign), log_magnitude), out);
    lt_tensor *negative = do_lt(&s, sign, do_number(&s, 0));
    return lt_scope_give(&s, do_where(&s, negative, do_number(&s, NAN), log_magnitude), out);
}

/* ---- solutions -------------------------------------------------------------------------------------------------- */

lt_status lt_linalg_solve_impl(lt_tensor *self, lt_tensor *other, bool left, lt_tensor **out)
{
    LT_TRY(lt_linalg_check_square("torch.linalg.solve", self));
    bool vectors = other->ndim == 1 || (other->ndim == self->ndim - 1);
    for (int d = 0; vectors && other->ndim > 1 && d < other->ndim; d++) vectors = other->sizes[d] == self->sizes[d];
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(linalg_solve));
    lt_tensor *a = left ? self : do_turn(&s, self), *b = vectors ? do_unsqueeze(&s, other, -1) : other;
    if (!vectors && !left) b = do_turn(&s, b);
    lt_tensor *x = do_solve(&s, a, b);
    if (vectors)
        x = do_squeeze_dim(&s, x, -1);
    else if (!left)
        x = do_turn(&s, x);
    return lt_scope_give(&s, x, out);
}

lt_status lt_linalg_solve_triangular_impl(lt_tensor *self, lt_tensor *other, bool upper, bool left, bool unitriangular,
                                          lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(linalg_solve_triangular));
    if (left) return lt_scope_give(&s, do_solve_triangular(&s, self, other, upper, unitriangular), out);
    lt_tensor *b = do_turn(&s, other), *a = do_turn(&s, self);
    return lt_scope_give(&s, do_turn(&s, do_solve_triangular(&s, a, b, !upper, unitriangular)), out);
}

lt_status lt__linalg_solve_triangular_backward_other_impl(lt_tensor *grad_output, lt_tensor *self, bool upper,
                                                          bool unitriangular, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_solve_triangular_backward_other));
    return lt_scope_give(&s, do_solve_triangular(&s, do_turn(&s, self), grad_output, !upper, unitriangular), out);
}

lt_status lt__linalg_solve_triangular_backward_impl(lt_tensor *grad_output, lt_tensor *self, lt_tensor *result, bool upper,
                                                    bool unitriangular, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_solve_triangular_backward));
    lt_tensor *right = do_solve_triangular(&s, do_turn(&s, self), grad_output, !upper, unitriangular);
    lt_tensor *full = do_neg(&s, do_matmul(&s, right, do_turn(&s, result)));
    int64_t skip = unitriangular ? 1 : 0;
    return lt_scope_give(&s, upper ? do_triu(&s, full, skip) : do_tril(&s, full, -skip), out);
}

lt_status lt_linalg_lstsq_impl(lt_tensor *self, lt_tensor *other, const double *rcond, lt_tensor **solution,
                               lt_tensor **residuals, lt_tensor **rank, lt_tensor **singular_values)
{
    const char *op = "torch.linalg.lstsq";
    LT_TRY(lt_linalg_check_matrix(op, self));
    LT_TRY(lt_linalg_check_kind(op, self));
    bool vectors = other->ndim == self->ndim - 1;
    if (!vectors && other->ndim != self->ndim)
        return lt_error(LT_ERR_RUNTIME, "%s: input.dim() must be greater or equal to other.dim() and (input.dim() - "
                                        "other.dim()) <= 1",
                        op);
    for (int d = 0; d < self->ndim - 1; d++)
        if (self->sizes[d] != other->sizes[d])
            return lt_error(LT_ERR_RUNTIME, "%s: input.size(-2) should match other.size(-%d)", op, vectors ? 1 : 2);
    if (self->dtype != other->dtype)
        return lt_error(LT_ERR_RUNTIME, "%s: Expected input and other to have the same dtype, but got %s and %s", op,
                        lt_dtype_scalar_name((lt_dtype)self->dtype), lt_dtype_scalar_name((lt_dtype)other->dtype));
    int64_t m = lt_rows(self), n = lt_columns(self);
    double tolerance = rcond != NULL ? *rcond : epsilon(self) * (double)(m > n ? m : n);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(linalg_lstsq));
    lt_tensor *b = vectors ? do_unsqueeze(&s, other, -1) : other, *x = NULL, *ranks = NULL;
    if (b == NULL) return lt_scope_close(&s);
    lt_status status = lt__linalg_lstsq(self, b, tolerance, &x);
    x = lt_scope_hold(&s, status, x);
    if (s.status == LT_OK) {
        status = lt__linalg_lstsq_rank(self, b, tolerance, &ranks);
        ranks = lt_scope_hold(&s, status, ranks);
    }
    lt_tensor *given = vectors && x != NULL ? do_squeeze_dim(&s, x, -1) : x;
    lt_tensor *none = do_real(&s, do_zeros(&s, self, &(lt_dims){1, {0}})), *empty = do_real(&s, do_zeros(&s, self, &(lt_dims){1, {0}}));
    if (hand(&s, given, solution) == LT_OK) {
        hand(&s, none, residuals);
        hand(&s, ranks, rank);
        hand(&s, empty, singular_values);
    }
    return lt_scope_close(&s);
}

/* With P the pseudo-inverse of A: -P'G X' + (B - A X) (P P'G)' + P'X G' (1 - P A); X' is the adjoint. */
lt_status lt__linalg_lstsq_backward_impl(lt_tensor *grad_output, lt_tensor *self, lt_tensor *other, lt_tensor *result,
                                         lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_lstsq_backward));
    lt_tensor *p = do_pinv(&s, self), *pt = p != NULL ? do_adjoint(&s, p) : NULL;
    if (pt == NULL) return lt_scope_close(&s);
    lt_tensor *ptg = do_matmul(&s, pt, grad_output);
    lt_tensor *first = do_matmul(&s, ptg, do_adjoint(&s, result));
    lt_tensor *rest = do_sub(&s, other, do_matmul(&s, self, result));
    lt_tensor *sum = do_sub(&s, do_matmul(&s, rest, do_adjoint(&s, do_matmul(&s, p, ptg))), first);
    lt_tensor *free_part = do_sub(&s, do_eye(&s, self, lt_columns(self)), do_matmul(&s, p, self));
    lt_tensor *last = do_matmul(&s, do_matmul(&s, do_matmul(&s, pt, result), do_adjoint(&s, grad_output)), free_part);
    return lt_scope_give(&s, do_add(&s, sum, last), out);
}

/* ---- pseudo-inverses ---------------------------------------------------------------------------------------------- */

lt_status lt_linalg_pinv_impl(lt_tensor *self, const double *rtol, bool hermitian, lt_tensor **out)
{
    LT_TRY(lt_linalg_check_matrix("linalg.pinv", self));
    if (hermitian) LT_TRY(lt_linalg_check_square("linalg.pinv", self));
    LT_TRY(lt_linalg_check_kind("linalg.pinv", self));
    const int64_t m = lt_rows(self), n = lt_columns(self);
    const double tolerance = rtol != NULL ? *rtol : epsilon(self) * (double)(m > n ? m : n);
    return lt__linalg_pinv(self, tolerance, hermitian, out);
}

lt_status lt_pinverse_impl(lt_tensor *self, double rcond, lt_tensor **out)
{
    return lt_linalg_pinv(self, &rcond, false, out);
}

/* By the eigenvalues, which one triangle of the matrix decides: Q diag(1 / L) Q^H. */
static lt_status pinv_hermitian(lt_tensor *self, double rtol, lt_tensor **out)
{
    lt_tensor *values = NULL, *vectors = NULL;
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_pinv));
    s.status = lt_linalg_eigh(self, "L", &values, &vectors);
    if (s.status != LT_OK) return lt_scope_close(&s);
    lt_scope_hold(&s, LT_OK, values);
    lt_scope_hold(&s, LT_OK, vectors);
    lt_tensor *size = do_abs(&s, values), *least = times(&s, do_amax(&s, size, -1, true), rtol);
    lt_tensor *kept = do_gt(&s, size, least), *one = do_number(&s, 1);
    lt_tensor *inverted = do_where(&s, kept, do_div(&s, one, do_where(&s, kept, values, one)), do_number(&s, 0));
    lt_tensor *scaled = do_mul(&s, vectors, do_unsqueeze(&s, inverted, -2));
    return lt_scope_store(&s, do_matmul(&s, scaled, do_adjoint(&s, vectors)), out);
}

lt_status lt__linalg_pinv_impl(lt_tensor *self, double rtol, bool hermitian, lt_tensor **out)
{
    if (hermitian && self->numel > 0) return pinv_hermitian(self, rtol, out);
    lt_tensor *u = NULL, *values = NULL, *vh = NULL;
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_pinv));
    if (self->numel == 0) {
        lt_dims turned = lt_dims_of(self);
        turned.v[self->ndim - 2] = lt_columns(self);
        turned.v[self->ndim - 1] = lt_rows(self);
        return lt_scope_store(&s, do_zeros(&s, self, &turned), out);
    }
    s.status = lt_linalg_svd(self, false, &u, &values, &vh);
    if (s.status != LT_OK) return lt_scope_close(&s);
    lt_scope_hold(&s, LT_OK, u);
    lt_scope_hold(&s, LT_OK, values);
    lt_scope_hold(&s, LT_OK, vh);
    lt_tensor *least = do_mul(&s, do_amax(&s, values, -1, true), do_number(&s, rtol));
    lt_tensor *inverted = do_where(&s, do_gt(&s, values, least), do_div(&s, do_number(&s, 1), values), do_number(&s, 0));
    lt_tensor *scaled = do_mul(&s, do_adjoint(&s, vh), do_unsqueeze(&s, inverted, -2));
    return lt_scope_store(&s, do_matmul(&s, scaled, do_adjoint(&s, u)), out);
}

/* -P'G P' + (1 - A P) G' P P' + P'P G' (1 - P A); X' is the adjoint */
lt_status lt__linalg_pinv_backward_impl(lt_tensor *grad_output, lt_tensor *self, lt_tensor *result, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_pinv_backward));
    lt_tensor *p = result, *pt = do_adjoint(&s, p), *gt = do_adjoint(&s, grad_output);
    lt_tensor *first = do_matmul(&s, do_matmul(&s, pt, grad_output), pt);
    lt_tensor *left = do_sub(&s, do_eye(&s, self, lt_rows(self)), do_matmul(&s, self, p));
    lt_tensor *second = do_matmul(&s, do_matmul(&s, left, gt), do_matmul(&s, p, pt));
    lt_tensor *right = do_sub(&s, do_eye(&s, self, lt_columns(self)), do_matmul(&s, p, self));
    lt_tensor *third = do_matmul(&s, do_matmul(&s, do_matmul(&s, pt, p), gt), right);
    return lt_scope_give(&s, do_sub(&s, do_add(&s, second, third), first), out);
}

/* ---- Cholesky ----------------------------------------------------------------------------------------------------- */

lt_status lt_cholesky_impl(lt_tensor *self, bool upper, lt_tensor **out) { return lt__linalg_cholesky(self, upper, out); }

/* The lower triangle, mirrored to the upper one. */
static lt_tensor *do_mirrored(lt_scope *s, lt_tensor *a)
{
    return do_add(s, do_tril(s, a, 0), do_adjoint(s, do_tril(s, a, -1)));
}

/* L^-H (L^H G, mirrored) L^-1 / 2 */
lt_status lt__linalg_cholesky_backward_impl(lt_tensor *grad_output, lt_tensor *result, bool upper, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_cholesky_backward));
    lt_tensor *l = upper ? do_adjoint(&s, result) : result, *g = upper ? do_adjoint(&s, grad_output) : grad_output;
    if (g == NULL || l == NULL) return lt_scope_close(&s);
    lt_tensor *lh = do_adjoint(&s, l), *inner = do_mirrored(&s, do_matmul(&s, lh, g));
    lt_tensor *left = do_solve_triangular(&s, lh, inner, true, false);
    lt_tensor *full = do_adjoint(&s, do_solve_triangular(&s, lh, do_adjoint(&s, left), true, false));
    return lt_scope_give(&s, times(&s, full, 0.5), out);
}

/* ---- QR ------------------------------------------------------------------------------------------------------------ */

/* Q and R of the packed result of _linalg_qr, k columns of Q. */
static void unpack_qr(lt_scope *s, lt_tensor *packed, int64_t m, int64_t n, int64_t k, lt_tensor **q, lt_tensor **r)
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
                        "qr received unrecognized mode '%s' but expected one of 'reduced' (default), 'r', or 'complete'", mode);
    int64_t m = lt_rows(self), n = lt_columns(self), least = m < n ? m : n, k = complete ? m : least;
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(linalg_qr));
    lt_tensor *packed = NULL, *q = NULL, *r = NULL;
    bool wide = n > m; /* R's columns beyond the square part follow from Q, with their derivatives */
    lt_tensor *square = wide ? do_part(&s, self, -1, 0, m) : self;
    lt_status status = square != NULL ? lt__linalg_qr(square, complete && m > n, &packed) : s.status;
    packed = lt_scope_hold(&s, status, packed);
    if (packed == NULL) return lt_scope_close(&s);
    unpack_qr(&s, packed, m, wide ? m : n, k, &q, &r);
    if (wide && s.status == LT_OK) {
        lt_tensor *rest = do_matmul(&s, do_adjoint(&s, q), do_part(&s, self, -1, m, n));
        r = do_cat(&s, (lt_tensor *[]){r, rest}, 2, -1);
    }
    if (only_r) q = do_zeros(&s, self, &(lt_dims){1, {0}});
    if (hand(&s, q, Q) == LT_OK) hand(&s, r, R);
    return lt_scope_close(&s);
}

lt_status lt_qr_impl(lt_tensor *self, bool some, lt_tensor **Q, lt_tensor **R)
{
    return lt_linalg_qr(self, some ? "reduced" : "complete", Q, R);
}

/* With M = R GR^H - GQ^H Q: (GQ + Q copyltu(M)) R^-H, where copyltu mirrors the lower triangle and keeps of the diagonal
 * what is real, as the diagonal of R is. */
lt_status lt__linalg_qr_backward_impl(lt_tensor *grad_output, const lt_dims *sizes, lt_tensor *result, bool complete,
                                      lt_tensor **out)
{
    int64_t m = sizes->v[sizes->n - 2], n = sizes->v[sizes->n - 1];
    if (complete)
        return lt_error(LT_ERR_RUNTIME, "The QR decomposition is not differentiable when mode='complete' and nrows > ncols.");
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_qr_backward));
    lt_tensor *q, *r, *gq, *gr;
    unpack_qr(&s, result, m, n, n, &q, &r);
    unpack_qr(&s, grad_output, m, n, n, &gq, &gr);
    if (s.status != LT_OK) return lt_scope_close(&s);
    lt_tensor *inner = do_sub(&s, do_matmul(&s, r, do_adjoint(&s, gr)), do_matmul(&s, do_adjoint(&s, gq), q));
    if (inner == NULL) return lt_scope_close(&s);
    lt_tensor *lower = do_tril(&s, inner, -1);
    lt_tensor *middle = do_diag_embed(&s, do_real(&s, do_diagonal(&s, inner, 0, -2, -1)));
    lt_tensor *mirrored = do_add(&s, do_add(&s, lower, do_adjoint(&s, lower)), middle);
    lt_tensor *sum = do_add(&s, gq, do_matmul(&s, q, mirrored)); /* X R^H = sum: R X^H = sum^H */
    return lt_scope_give(&s, do_adjoint(&s, do_solve_triangular(&s, r, do_adjoint(&s, sum), true, false)), out);
}

/* ---- singular values ------------------------------------------------------------------------------------------------- */

/* U (m x of_u), S (k) and V^H transposed (n x of_v) of a packed result of _linalg_svd. */
static void unpack_svd(lt_scope *s, lt_tensor *packed, int64_t m, int64_t n, int64_t of_u, int64_t of_v, lt_tensor **u,
                       lt_tensor **values, lt_tensor **v_conj)
{
    int64_t k = m < n ? m : n;
    *u = do_part(s, do_part(s, packed, -2, 0, m), -1, 0, of_u);
    *values = do_real(s, do_part(s, do_select(s, packed, -2, m), -1, 0, k));
    *v_conj = do_part(s, do_part(s, packed, -2, m + 1, m + 1 + n), -1, 0, of_v);
}

static lt_status decompose(lt_tensor *self, bool full, bool turn_v, lt_tensor **U, lt_tensor **S, lt_tensor **V)
{
    LT_TRY(lt_linalg_check_matrix("linalg.svd", self));
    int64_t m = lt_rows(self), n = lt_columns(self), k = m < n ? m : n;
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *packed = NULL, *u = NULL, *values = NULL, *v = NULL;
    lt_status status = lt__linalg_svd(self, full, &packed);
    packed = lt_scope_hold(&s, status, packed);
    if (packed == NULL) return lt_scope_close(&s);
    unpack_svd(&s, packed, m, n, full ? m : k, full ? n : k, &u, &values, &v);
    v = turn_v ? do_turn(&s, v) : do_conj(&s, v);
    if (hand(&s, u, U) == LT_OK) {
        hand(&s, values, S);
        hand(&s, v, V);
    }
    return lt_scope_close(&s);
}

lt_status lt_linalg_svd_impl(lt_tensor *self, bool full_matrices, lt_tensor **U, lt_tensor **S, lt_tensor **Vh)
{
    return decompose(self, full_matrices, true, U, S, Vh);
}

lt_status lt_svd_impl(lt_tensor *self, bool some, bool compute_uv, lt_tensor **U, lt_tensor **S, lt_tensor **V)
{
    if (compute_uv) return decompose(self, !some, false, U, S, V);
    LT_TRY(lt_linalg_check_matrix("svd", self));
    lt_dims of_u = lt_dims_of(self), of_v = of_u;
    lt_tensor *values = NULL;
    lt_scope s;
    of_u.v[of_u.n - 1] = lt_rows(self);
    of_v.v[of_v.n - 2] = lt_columns(self);
    lt_scope_open(&s, LT_COMPOSITE(svd));
    lt_status status = lt_linalg_svdvals(self, &values);
    values = lt_scope_hold(&s, status, values);
    lt_tensor *u = do_zeros(&s, self, &of_u), *v = do_transpose(&s, do_zeros(&s, self, &of_v), -2, -1);
    if (hand(&s, u, U) == LT_OK) {
        hand(&s, values, S);
        hand(&s, v, V);
    }
    return lt_scope_close(&s);
}

lt_status lt_linalg_svdvals_impl(lt_tensor *self, lt_tensor **out)
{
    LT_TRY(lt_linalg_check_matrix("linalg.svd", self));
    if (!lt_is_differentiated(self)) return lt__linalg_svdvals(self, out);
    lt_tensor *u = NULL, *vh = NULL;
    LT_TRY(lt_linalg_svd(self, false, &u, out, &vh));
    lt_tensor_release(u);
    lt_tensor_release(vh);
    return LT_OK;
}

/* x_j - x_i off the diagonal, 1 on it. */
static lt_tensor *do_differences(lt_scope *s, lt_tensor *x)
{
    lt_tensor *apart = do_sub(s, do_unsqueeze(s, x, -2), do_unsqueeze(s, x, -1));
    if (apart == NULL) return NULL;
    return do_add(s, apart, do_eye(s, x, x->sizes[x->ndim - 1]));
}

/* a / b, and 0 where both are: what nothing asks of two equal values. */
static lt_tensor *do_quotient(lt_scope *s, lt_tensor *a, lt_tensor *b)
{
    if (a == NULL || b == NULL) return NULL;
    lt_scope inner;
    lt_scope_open(&inner, true);
    lt_tensor *zero = do_number(&inner, 0), *out = NULL;
    lt_tensor *neither = do_logical_and(&inner, do_eq(&inner, a, zero), do_eq(&inner, b, zero));
    lt_status status = lt_scope_give(&inner, do_div(&inner, a, do_add(&inner, b, neither)), &out);
    return lt_scope_hold(s, status, out);
}

/* U [ (skew(U'GU) / E) S + S (skew(V'GV) / E) + diag(GS) + i Im(diag(U'GU)) / S ] V', and what GU and GV say outside of the
 * spans of U and V; E = differences of S squared, skew(X) = X - X', X' the adjoint. The last term, of complex matrices, is
 * that of columns of U and V that turn together. */
lt_status lt__linalg_svd_backward_impl(lt_tensor *grad_output, const lt_dims *sizes, lt_tensor *result, lt_tensor **out)
{
    int64_t m = sizes->v[sizes->n - 2], n = sizes->v[sizes->n - 1], k = m < n ? m : n;
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_svd_backward));
    lt_tensor *u, *values, *v, *gu, *gs, *gv;
    unpack_svd(&s, result, m, n, k, k, &u, &values, &v);
    unpack_svd(&s, grad_output, m, n, k, k, &gu, &gs, &gv);
    v = do_conj(&s, v), gv = do_conj(&s, gv);
    if (s.status != LT_OK) return lt_scope_close(&s);
    lt_scope inner;
    lt_scope_open(&inner, LT_COMPOSITE(_linalg_svd_backward));
    lt_tensor *row = do_unsqueeze(&inner, values, -2), *column = do_unsqueeze(&inner, values, -1), *ut = do_adjoint(&inner, u),
              *vt = do_adjoint(&inner, v);
    lt_tensor *e = do_differences(&inner, do_mul(&inner, values, values));
    lt_tensor *of_u = do_matmul(&inner, ut, gu), *of_v = do_matmul(&inner, vt, gv), *sum = NULL, *core = NULL;
    if (of_u != NULL && of_v != NULL) {
        lt_tensor *of_u_skew = do_sub(&inner, of_u, do_adjoint(&inner, of_u)), *skew_u = do_quotient(&inner, of_u_skew, e);
        lt_tensor *skew_v = do_quotient(&inner, do_sub(&inner, of_v, do_adjoint(&inner, of_v)), e);
        core = do_add(&inner, do_add(&inner, do_mul(&inner, skew_u, row), do_mul(&inner, column, skew_v)),
                      do_diag_embed(&inner, gs));
        if (core != NULL && lt_dtype_is_complex((lt_dtype)core->dtype)) {
            lt_tensor *turns = do_quotient(&inner, do_diagonal(&inner, of_u_skew, 0, -2, -1), times(&inner, values, 2));
            core = do_add(&inner, core, do_diag_embed(&inner, turns));
        }
    }
    lt_status status = lt_scope_give(&inner, core, &sum);
    core = lt_scope_hold(&s, status, sum);
    if (core == NULL) return lt_scope_close(&s);
    row = do_unsqueeze(&s, values, -2);
    lt_tensor *total = do_matmul(&s, do_matmul(&s, u, core), do_adjoint(&s, v));
    if (m > k) {
        lt_tensor *outside = do_sub(&s, gu, do_matmul(&s, u, do_matmul(&s, do_adjoint(&s, u), gu)));
        total = do_add(&s, total, do_matmul(&s, do_quotient(&s, outside, row), do_adjoint(&s, v)));
    }
    if (n > k) {
        lt_tensor *outside = do_sub(&s, gv, do_matmul(&s, v, do_matmul(&s, do_adjoint(&s, v), gv)));
        total = do_add(&s, total, do_matmul(&s, u, do_adjoint(&s, do_quotient(&s, outside, row))));
    }
    return lt_scope_give(&s, total, out);
}

/* ---- symmetric eigenvalues ------------------------------------------------------------------------------------------- */

static lt_status upper_or_lower(const char *op, const char *uplo, bool *upper)
{
    char c = uplo[0] != 0 && uplo[1] == 0 ? uplo[0] : 0;
    *upper = c == 'U' || c == 'u';
    if (*upper || c == 'L' || c == 'l') return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "Expected UPLO argument to be 'L' or 'U', but got %s (%s)", uplo, op);
}

lt_status lt_linalg_eigh_impl(lt_tensor *self, const char *UPLO, lt_tensor **eigenvalues, lt_tensor **eigenvectors)
{
    bool upper;
    LT_TRY(lt_linalg_check_square("linalg.eigh", self));
    LT_TRY(upper_or_lower("linalg.eigh", UPLO, &upper));
    int64_t n = lt_rows(self);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(linalg_eigh));
    lt_tensor *packed = NULL;
    lt_status status = lt__linalg_eigh(self, upper, true, &packed);
    packed = lt_scope_hold(&s, status, packed);
    lt_tensor *values = do_real(&s, do_select(&s, packed, -2, n)), *vectors = do_part(&s, packed, -2, 0, n);
    if (hand(&s, values, eigenvalues) == LT_OK) hand(&s, vectors, eigenvectors);
    return lt_scope_close(&s);
}

lt_status lt_linalg_eigvalsh_impl(lt_tensor *self, const char *UPLO, lt_tensor **out)
{
    bool upper;
    LT_TRY(lt_linalg_check_square("linalg.eigvalsh", self));
    LT_TRY(upper_or_lower("linalg.eigvalsh", UPLO, &upper));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(linalg_eigvalsh));
    lt_tensor *packed = NULL;
    lt_status status = lt__linalg_eigh(self, upper, lt_is_differentiated(self), &packed);
    packed = lt_scope_hold(&s, status, packed);
    return lt_scope_give(&s, do_real(&s, do_select(&s, packed, -2, lt_rows(self))), out);
}

/* V [ (V'GV) / E + diag(GL) ] V', V' the adjoint, with E = differences of the eigenvalues. */
lt_status lt__linalg_eigh_backward_impl(lt_tensor *grad_output, lt_tensor *result, lt_tensor **out)
{
    int64_t n = lt_columns(result);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_eigh_backward));
    lt_tensor *v = do_part(&s, result, -2, 0, n), *gv = do_part(&s, grad_output, -2, 0, n);
    lt_tensor *vt = do_adjoint(&s, v), *apart = do_differences(&s, do_real(&s, do_select(&s, result, -2, n)));
    lt_tensor *mixed = do_quotient(&s, do_matmul(&s, vt, gv), apart);
    if (mixed == NULL) return lt_scope_close(&s);
    lt_tensor *off = do_sub(&s, mixed, do_diag_embed(&s, do_diagonal(&s, mixed, 0, -2, -1)));
    lt_tensor *core = do_add(&s, off, do_diag_embed(&s, do_real(&s, do_select(&s, grad_output, -2, n))));
    return lt_scope_give(&s, do_matmul(&s, do_matmul(&s, v, core), vt), out);
}

/* ---- eigenvalues of any square matrix ---------------------------------------------------------------------------------- */

lt_status lt_linalg_eig_impl(lt_tensor *self, lt_tensor **eigenvalues, lt_tensor **eigenvectors)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(linalg_eig));
    lt_tensor *packed = NULL;
    lt_status status = lt__linalg_eig(self, &packed);
    packed = lt_scope_hold(&s, status, packed);
    if (packed == NULL) return lt_scope_close(&s);
    const int64_t n = lt_columns(packed);
    lt_tensor *values = do_select(&s, packed, -2, n), *vectors = do_part(&s, packed, -2, 0, n);
    if (hand(&s, values, eigenvalues) == LT_OK) hand(&s, vectors, eigenvectors);
    return lt_scope_close(&s);
}

lt_status lt_linalg_eigvals_impl(lt_tensor *self, lt_tensor **out)
{
    if (!lt_is_differentiated(self)) return lt__linalg_eigvals(self, out);
    lt_tensor *vectors = NULL;
    LT_TRY(lt_linalg_eig(self, out, &vectors));
    lt_tensor_release(vectors);
    return LT_OK;
}

/* V^-H [ diag(GL) + (V^H GV - V^H V diag(Re(V^H GV))) / conj(E) ] V^H with E = differences of the eigenvalues: the vectors have
 * length 1 (C. Boeddeker et al., On the computation of complex-valued gradients, 2017, 4.60). */
lt_status lt__linalg_eig_backward_impl(lt_tensor *grad_output, lt_tensor *result, lt_tensor **out)
{
    const int64_t n = lt_columns(result);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_eig_backward));
    lt_tensor *v = do_part(&s, result, -2, 0, n), *gv = do_part(&s, grad_output, -2, 0, n);
    lt_tensor *vh = do_adjoint(&s, v), *mixed = do_matmul(&s, vh, gv);
    lt_tensor *lengths = do_unsqueeze(&s, do_real(&s, do_diagonal(&s, mixed, 0, -2, -1)), -2);
    lt_tensor *turned = do_sub(&s, mixed, do_mul(&s, do_matmul(&s, vh, v), lengths));
    lt_tensor *apart = do_differences(&s, do_conj(&s, do_select(&s, result, -2, n)));
    lt_tensor *quotient = do_quotient(&s, turned, apart);
    if (quotient == NULL) return lt_scope_close(&s);
    lt_tensor *off = do_sub(&s, quotient, do_diag_embed(&s, do_diagonal(&s, quotient, 0, -2, -1)));
    lt_tensor *core = do_add(&s, off, do_diag_embed(&s, do_select(&s, grad_output, -2, n)));
    return lt_scope_give(&s, do_solve(&s, vh, do_matmul(&s, core, vh)), out);
}

/* ---- norms and ranks ------------------------------------------------------------------------------------------------- */

/* The two dimensions, the last ones when dims is NULL, moved to the end. */
static lt_status at_the_end(lt_scope *s, lt_tensor *self, const lt_dims *dims, lt_dtype dtype, lt_tensor **moved,
                            lt_dims *places)
{
    int a = self->ndim - 2, b = self->ndim - 1;
    if (self->ndim < 2)
        return lt_error(LT_ERR_RUNTIME, "linalg.matrix_norm: The input tensor A must have at least 2 dimensions.");
    if (dims != NULL) {
        if (dims->n != 2)
            return lt_error(LT_ERR_RUNTIME, "linalg.matrix_norm: dim must be a 2-tuple. Got %d", dims->n);
        LT_TRY(lt_wrap_dim(dims->v[0], self->ndim, &a));
        LT_TRY(lt_wrap_dim(dims->v[1], self->ndim, &b));
        if (a == b)
            return lt_error(LT_ERR_RUNTIME, "linalg.matrix_norm: dims must be different. Got (%d, %d)", a + 1, b + 1);
    }
    if (!lt_dtype_is_inexact((lt_dtype)self->dtype))
        return lt_error(LT_ERR_RUNTIME, "linalg.matrix_norm: Expected a floating point or complex tensor as input. Got %s",
                        lt_dtype_scalar_name((lt_dtype)self->dtype));
    lt_dims order = {.n = 0};
    for (int d = 0; d < self->ndim; d++)
        if (d != a && d != b) order.v[order.n++] = d;
    order.v[order.n++] = a;
    order.v[order.n++] = b;
    *places = (lt_dims){2, {a, b}};
    lt_tensor *from = dtype != LT_DTYPE_NONE ? do_cast(s, self, dtype) : self;
    *moved = from != NULL ? do_permute(s, from, &order) : NULL;
    return s->status;
}

static lt_tensor *do_singular_values(lt_scope *s, lt_tensor *a) { STEP(lt_linalg_svdvals(a, &out)) }

/* The result of a batch of matrices, with the two dimensions back as size 1 where they were. */
static lt_tensor *do_keep(lt_scope *s, lt_tensor *norms, const lt_tensor *self, const lt_dims *places, bool keepdim)
{
    return keepdim ? do_restore_dims(s, norms, self->ndim, places, false) : norms;
}

lt_status lt_linalg_matrix_norm_impl(lt_tensor *self, lt_scalar ord, const lt_dims *dim, bool keepdim, lt_dtype dtype,
                                     lt_tensor **out)
{
    double p = lt_scalar_double(ord), size = fabs(p);
    if (size != 1 && size != 2 && !isinf(p))
        return lt_error(LT_ERR_RUNTIME, "linalg.matrix_norm: Order %g not supported.", p);
    lt_tensor *a, *norms;
    lt_dims places;
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(linalg_matrix_norm));
    s.status = at_the_end(&s, self, dim, dtype, &a, &places);
    if (s.status != LT_OK) return lt_scope_close(&s);
    lt_tensor *lines = size == 2 ? do_singular_values(&s, a) : do_sum_dim(&s, do_abs(&s, a), size == 1 ? -2 : -1, false);
    const bool empty = lines != NULL && lines->sizes[lines->ndim - 1] == 0; /* the largest of nothing is 0 */
    norms = p < 0 ? do_amin(&s, lines, -1, false) : empty ? do_sum_dim(&s, lines, -1, false) : do_amax(&s, lines, -1, false);
    return lt_scope_give(&s, do_keep(&s, norms, self, &places, keepdim), out);
}

lt_status lt_linalg_matrix_norm_named_impl(lt_tensor *self, const char *ord, const lt_dims *dim, bool keepdim,
                                           lt_dtype dtype, lt_tensor **out)
{
    bool nuclear = strcmp(ord, "nuc") == 0;
    if (!nuclear && strcmp(ord, "fro") != 0)
        return lt_error(LT_ERR_RUNTIME, "linalg.matrix_norm: Order %s not supported.", ord);
    lt_tensor *a, *norms = NULL;
    lt_dims places;
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(linalg_matrix_norm_named));
    s.status = at_the_end(&s, self, dim, dtype, &a, &places);
    if (s.status != LT_OK) return lt_scope_close(&s);
    if (nuclear) {
        norms = do_sum_dim(&s, do_singular_values(&s, a), -1, false);
    } else {
        lt_status status = lt_norm(a, lt_int(2), &(lt_dims){2, {-2, -1}}, false, LT_DTYPE_NONE, &norms);
        norms = lt_scope_hold(&s, status, norms);
    }
    return lt_scope_give(&s, do_keep(&s, norms, self, &places, keepdim), out);
}

lt_status lt_linalg_matrix_rank_impl(lt_tensor *self, const double *rtol, bool hermitian, lt_tensor **out)
{
    LT_TRY(lt_linalg_check_matrix("linalg.matrix_rank", self));
    if (hermitian) LT_TRY(lt_linalg_check_square("linalg.matrix_rank", self));
    LT_TRY(lt_linalg_check_kind("linalg.matrix_rank", self));
    int64_t m = lt_rows(self), n = lt_columns(self);
    double tolerance = rtol != NULL ? *rtol : epsilon(self) * (double)(m > n ? m : n);
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *values = do_singular_values(&s, self);
    if (values != NULL && (m == 0 || n == 0)) return lt_scope_give(&s, do_cast(&s, do_sum_dim(&s, values, -1, false), LT_INT64), out);
    lt_tensor *least = do_mul(&s, do_amax(&s, values, -1, true), do_number(&s, tolerance));
    return lt_scope_give(&s, do_sum_dim(&s, do_gt(&s, values, least), -1, false), out);
}
