/* solutions.c - linear equations, least squares and pseudo-inverses, and their derivatives. */
#include "linalg.h"
#include "op/_linalg_lstsq.h"
#include "op/_linalg_lstsq_backward.h"
#include "op/_linalg_lstsq_rank.h"
#include "op/_linalg_lstsq_tangent.h"
#include "op/_linalg_pinv.h"
#include "op/_linalg_pinv_backward.h"
#include "op/_linalg_pinv_tangent.h"
#include "op/_linalg_solve_triangular_backward.h"
#include "op/_linalg_solve_triangular_backward_other.h"
#include "op/_linalg_triangle.h"
#include "op/linalg_eigh.h"
#include "op/linalg_lstsq.h"
#include "op/linalg_pinv.h"
#include "op/linalg_solve.h"
#include "op/linalg_solve_triangular.h"
#include "op/linalg_svd.h"
#include "op/pinverse.h"
#include "step/_linalg_solve.h"
#include "step/_linalg_solve_triangular.h"
#include "step/linalg_pinv.h"
#include "step/real.h"

/* ---- solutions ------------------------------------------------------------------------------- */

lt_status lt_linalg_solve_impl(lt_tensor *self, lt_tensor *other, bool left, lt_tensor **out)
{
    LT_TRY(lt_linalg_check_square("torch.linalg.solve", self));
    bool vectors = other->ndim == 1 || (other->ndim == self->ndim - 1);
    for (int d = 0; vectors && other->ndim > 1 && d < other->ndim; d++)
        vectors = other->sizes[d] == self->sizes[d];
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(linalg_solve));
    lt_tensor *a = left ? self : do_turn(&s, self),
              *b = vectors ? do_unsqueeze(&s, other, -1) : other;
    if (!vectors && !left) b = do_turn(&s, b);
    lt_tensor *x = do__linalg_solve(&s, a, b);
    if (vectors)
        x = do_squeeze_dim(&s, x, -1);
    else if (!left)
        x = do_turn(&s, x);
    return lt_scope_return(&s, x, out);
}

lt_status lt_linalg_solve_triangular_impl(lt_tensor *self, lt_tensor *other, bool upper, bool left,
                                          bool unitriangular, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(linalg_solve_triangular));
    if (left)
        return lt_scope_return(
            &s, do__linalg_solve_triangular(&s, self, other, upper, unitriangular), out);
    lt_tensor *b = do_turn(&s, other), *a = do_turn(&s, self);
    return lt_scope_return(
        &s, do_turn(&s, do__linalg_solve_triangular(&s, a, b, !upper, unitriangular)), out);
}

lt_tensor *do_linalg_triangular(lt_scope *s, lt_tensor *a, lt_tensor *b, bool upper,
                                lt_linalg_side side)
{
    lt_tensor *x = NULL;
    if (s->status != LT_OK) return NULL;
    const lt_status status = lt_linalg_solve_triangular(a, b, upper, !side.right, side.unit, &x);
    return lt_scope_hold(s, status, x);
}

lt_status lt__linalg_solve_triangular_backward_other_impl(lt_tensor *grad_output, lt_tensor *self,
                                                          bool upper, bool unitriangular,
                                                          lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_solve_triangular_backward_other));
    return lt_scope_return(
        &s, do__linalg_solve_triangular(&s, do_turn(&s, self), grad_output, !upper, unitriangular),
        out);
}

/* The stored elements of a triangular matrix; without a unit diagonal. */
static lt_tensor *do_triangle(lt_scope *s, lt_tensor *a, bool upper, bool unitriangular)
{
    const int64_t skip = unitriangular ? 1 : 0;
    return upper ? do_triu_at(s, a, skip) : do_tril_at(s, a, -skip);
}

lt_status lt__linalg_solve_triangular_backward_impl(lt_tensor *grad_output, lt_tensor *self,
                                                    lt_tensor *result, bool upper,
                                                    bool unitriangular, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_solve_triangular_backward));
    lt_tensor *right =
        do__linalg_solve_triangular(&s, do_turn(&s, self), grad_output, !upper, unitriangular);
    lt_tensor *full = do_neg(&s, do_matmul(&s, right, do_turn(&s, result)));
    return lt_scope_return(&s, do_triangle(&s, full, upper, unitriangular), out);
}

lt_status lt__linalg_triangle_impl(lt_tensor *self, bool upper, bool unitriangular, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_triangle));
    return lt_scope_return(&s, do_triangle(&s, self, upper, unitriangular), out);
}

lt_status lt_linalg_lstsq_impl(lt_tensor *self, lt_tensor *other, const double *rcond,
                               lt_tensor **solution, lt_tensor **residuals, lt_tensor **rank,
                               lt_tensor **singular_values)
{
    const char *op = "torch.linalg.lstsq";
    LT_TRY(lt_linalg_check_matrix(op, self));
    LT_TRY(lt_linalg_check_kind(op, self));
    bool vectors = other->ndim == self->ndim - 1;
    if (!vectors && other->ndim != self->ndim)
        return lt_error(LT_ERR_RUNTIME,
                        "%s: input.dim() must be greater or equal to other.dim() and (input.dim() "
                        "- other.dim()) <= 1",
                        op);
    for (int d = 0; d < self->ndim - 1; d++)
        if (self->sizes[d] != other->sizes[d])
            return lt_error(LT_ERR_RUNTIME, "%s: input.size(-2) should match other.size(-%d)", op,
                            vectors ? 1 : 2);
    if (self->dtype != other->dtype)
        return lt_error(LT_ERR_RUNTIME,
                        "%s: Expected input and other to have the same dtype, but got %s and %s",
                        op, lt_dtype_scalar_name((lt_dtype)self->dtype),
                        lt_dtype_scalar_name((lt_dtype)other->dtype));
    int64_t m = lt_rows(self), n = lt_columns(self);
    double tolerance = rcond != NULL ? *rcond : lt_linalg_epsilon(self) * (double)(m > n ? m : n);
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
    lt_tensor *none = do_zeros(&s, self, &(lt_dims){1, {0}}),
              *empty = do_real(&s, do_zeros(&s, self, &(lt_dims){1, {0}}));
    /* Empty residuals are also a function of both. */
    if (lt_requires_grad(self) || lt_requires_grad(other))
        none = do_mul(&s, none, do_add(&s, do_sum(&s, self), do_sum(&s, other)));
    none = do_real(&s, none);
    if (lt_scope_move_out(&s, given, solution) == LT_OK) {
        lt_scope_move_out(&s, none, residuals);
        lt_scope_move_out(&s, ranks, rank);
        lt_scope_move_out(&s, empty, singular_values);
    }
    return lt_scope_close(&s);
}

/* With P the pseudo-inverse of A: -P'G X' + (B - A X) (P P'G)' + P'X G' (1 - P A); X' is the
 * adjoint. */
lt_status lt__linalg_lstsq_backward_impl(lt_tensor *grad_output, lt_tensor *self, lt_tensor *other,
                                         lt_tensor *result, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_lstsq_backward));
    lt_tensor *p = do_linalg_pinv(&s, self), *pt = p != NULL ? do_adjoint(&s, p) : NULL;
    if (pt == NULL) return lt_scope_close(&s);
    lt_tensor *ptg = do_matmul(&s, pt, grad_output);
    lt_tensor *first = do_matmul(&s, ptg, do_adjoint(&s, result));
    lt_tensor *rest = do_sub(&s, other, do_matmul(&s, self, result));
    lt_tensor *sum = do_sub(&s, do_matmul(&s, rest, do_adjoint(&s, do_matmul(&s, p, ptg))), first);
    lt_tensor *free_part =
        do_sub(&s, do_eye_like(&s, self, lt_columns(self)), do_matmul(&s, p, self));
    lt_tensor *last = do_matmul(
        &s, do_matmul(&s, do_matmul(&s, pt, result), do_adjoint(&s, grad_output)), free_part);
    return lt_scope_return(&s, do_add(&s, sum, last), out);
}

/* P P' T' rest + (1 - P A) T' P' solution - P T solution, with T the tangent of A and P its
 * pseudo-inverse (G. H. Golub, V. Pereyra, The Differentiation of Pseudo-Inverses and Nonlinear
 * Least Squares Problems Whose Variables Separate, 1973, 4.12). */
static lt_tensor *do_pinv_tangent(lt_scope *s, lt_tensor *p, lt_tensor *a, lt_tensor *tangent,
                                  lt_tensor *rest, lt_tensor *solution)
{
    if (s->status != LT_OK) return NULL;
    lt_tensor *ph = do_adjoint(s, p), *th = do_adjoint(s, tangent);
    lt_tensor *outer = do_matmul(s, p, do_matmul(s, ph, do_matmul(s, th, rest)));
    lt_tensor *kernel = do_sub(s, do_eye_like(s, a, lt_columns(a)), do_matmul(s, p, a));
    lt_tensor *inner = do_matmul(s, kernel, do_matmul(s, th, do_matmul(s, ph, solution)));
    return do_sub(s, do_add(s, outer, inner), do_matmul(s, p, do_matmul(s, tangent, solution)));
}

lt_status lt__linalg_lstsq_tangent_impl(lt_tensor *self_t, lt_tensor *self, lt_tensor *other,
                                        lt_tensor *result, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_lstsq_tangent));
    lt_tensor *rest = do_sub(&s, other, do_matmul(&s, self, result));
    return lt_scope_return(
        &s, do_pinv_tangent(&s, do_linalg_pinv(&s, self), self, self_t, rest, result), out);
}

/* ---- pseudo-inverses ------------------------------------------------------------------------- */

lt_status lt_linalg_pinv_impl(lt_tensor *self, const double *rtol, bool hermitian, lt_tensor **out)
{
    LT_TRY(lt_linalg_check_matrix("linalg.pinv", self));
    if (hermitian) LT_TRY(lt_linalg_check_square("linalg.pinv", self));
    LT_TRY(lt_linalg_check_kind("linalg.pinv", self));
    const int64_t m = lt_rows(self), n = lt_columns(self);
    const double tolerance =
        rtol != NULL ? *rtol : lt_linalg_epsilon(self) * (double)(m > n ? m : n);
    return lt__linalg_pinv(self, tolerance, hermitian, out);
}

lt_status lt_pinverse_impl(lt_tensor *self, double rcond, lt_tensor **out)
{
    return lt_linalg_pinv(self, &rcond, false, out);
}

/* By the eigenvalues, using one triangle of the matrix: Q diag(1 / L) Q^H. */
static lt_status pinv_hermitian(lt_tensor *self, double rtol, lt_tensor **out)
{
    lt_tensor *values = NULL, *vectors = NULL;
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_pinv));
    s.status = lt_linalg_eigh(self, "L", &values, &vectors);
    if (s.status != LT_OK) return lt_scope_close(&s);
    lt_scope_hold(&s, LT_OK, values);
    lt_scope_hold(&s, LT_OK, vectors);
    lt_tensor *size = do_abs(&s, values), *least = times(&s, do_largest(&s, size), rtol);
    lt_tensor *kept = do_gt(&s, size, least), *one = do_number(&s, 1);
    lt_tensor *inverted =
        do_where(&s, kept, do_div(&s, one, do_where(&s, kept, values, one)), do_number(&s, 0));
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
    lt_tensor *least = do_mul(&s, do_largest(&s, values), do_number(&s, rtol));
    lt_tensor *inverted = do_where(&s, do_gt(&s, values, least),
                                   do_div(&s, do_number(&s, 1), values), do_number(&s, 0));
    lt_tensor *scaled = do_mul(&s, do_adjoint(&s, vh), do_unsqueeze(&s, inverted, -2));
    return lt_scope_store(&s, do_matmul(&s, scaled, do_adjoint(&s, u)), out);
}

/* -P'G P' + (1 - A P) G' P P' + P'P G' (1 - P A); X' is the adjoint */
lt_status lt__linalg_pinv_backward_impl(lt_tensor *grad_output, lt_tensor *self, lt_tensor *result,
                                        lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_pinv_backward));
    lt_tensor *p = result, *pt = do_adjoint(&s, p), *gt = do_adjoint(&s, grad_output);
    lt_tensor *first = do_matmul(&s, do_matmul(&s, pt, grad_output), pt);
    lt_tensor *left = do_sub(&s, do_eye_like(&s, self, lt_rows(self)), do_matmul(&s, self, p));
    lt_tensor *second = do_matmul(&s, do_matmul(&s, left, gt), do_matmul(&s, p, pt));
    lt_tensor *right = do_sub(&s, do_eye_like(&s, self, lt_columns(self)), do_matmul(&s, p, self));
    lt_tensor *third = do_matmul(&s, do_matmul(&s, do_matmul(&s, pt, p), gt), right);
    return lt_scope_return(&s, do_sub(&s, do_add(&s, second, third), first), out);
}

lt_status lt__linalg_pinv_tangent_impl(lt_tensor *self_t, lt_tensor *self, lt_tensor *result,
                                       lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_pinv_tangent));
    lt_tensor *rest = do_sub(&s, do_eye_like(&s, self, lt_rows(self)), do_matmul(&s, self, result));
    return lt_scope_return(&s, do_pinv_tangent(&s, result, self, self_t, rest, result), out);
}
