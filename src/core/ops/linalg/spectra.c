/* spectra.c - singular values, eigenvalues and their vectors, and their derivatives. */
#include "autograd/dual.h"
#include "linalg.h"
#include "op/_linalg_eig.h"
#include "op/_linalg_eig_backward.h"
#include "op/_linalg_eig_tangent.h"
#include "op/_linalg_eigh.h"
#include "op/_linalg_eigh_backward.h"
#include "op/_linalg_eigh_tangent.h"
#include "op/_linalg_eigvals.h"
#include "op/_linalg_svd.h"
#include "op/_linalg_svd_backward.h"
#include "op/_linalg_svd_tangent.h"
#include "op/_linalg_svdvals.h"
#include "op/linalg_eig.h"
#include "op/linalg_eigh.h"
#include "op/linalg_eigvals.h"
#include "op/linalg_eigvalsh.h"
#include "op/linalg_svd.h"
#include "op/linalg_svdvals.h"
#include "op/svd.h"
#include "step/_linalg_solve.h"
#include "step/diag_embed.h"
#include "step/real.h"

/* ---- singular values ------------------------------------------------------------------------- */

/* U (m x of_u), S (k) and V^H transposed (n x of_v) of a packed result of _linalg_svd. */
typedef struct svd {
    lt_tensor *u, *values, *v_conj;
} svd;

static svd unpack_svd(lt_scope *s, lt_tensor *packed, int64_t m, int64_t n, int64_t of_u,
                      int64_t of_v)
{
    int64_t k = m < n ? m : n;
    return (svd){.u = do_part(s, do_part(s, packed, -2, 0, m), -1, 0, of_u),
                 .values = do_real(s, do_part(s, do_select(s, packed, -2, m), -1, 0, k)),
                 .v_conj = do_part(s, do_part(s, packed, -2, m + 1, m + 1 + n), -1, 0, of_v)};
}

static lt_status decompose(lt_tensor *self, bool full, bool turn_v, lt_tensor **U, lt_tensor **S,
                           lt_tensor **V)
{
    LT_TRY(lt_linalg_check_matrix("linalg.svd", self));
    int64_t m = lt_rows(self), n = lt_columns(self), k = m < n ? m : n;
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *packed = NULL;
    lt_status status = lt__linalg_svd(self, full, &packed);
    packed = lt_scope_hold(&s, status, packed);
    if (packed == NULL) return lt_scope_close(&s);
    const svd x = unpack_svd(&s, packed, m, n, full ? m : k, full ? n : k);
    lt_tensor *v = turn_v ? do_turn(&s, x.v_conj) : do_conj(&s, x.v_conj);
    if (lt_scope_move_out(&s, x.u, U) == LT_OK) {
        lt_scope_move_out(&s, x.values, S);
        lt_scope_move_out(&s, v, V);
    }
    return lt_scope_close(&s);
}

lt_status lt_linalg_svd_impl(lt_tensor *self, bool full_matrices, lt_tensor **U, lt_tensor **S,
                             lt_tensor **Vh)
{
    return decompose(self, full_matrices, true, U, S, Vh);
}

lt_status lt_svd_impl(lt_tensor *self, bool some, bool compute_uv, lt_tensor **U, lt_tensor **S,
                      lt_tensor **V)
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
    lt_tensor *u = do_zeros(&s, self, &of_u),
              *v = do_transpose(&s, do_zeros(&s, self, &of_v), -2, -1);
    if (lt_scope_move_out(&s, u, U) == LT_OK) {
        lt_scope_move_out(&s, values, S);
        lt_scope_move_out(&s, v, V);
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
    return do_add(s, apart, do_eye_like(s, x, x->sizes[x->ndim - 1]));
}

/* a / b, and 0 for 0 / 0: equal values without a gradient that separates them. */
static lt_tensor *do_quotient(lt_scope *s, lt_tensor *a, lt_tensor *b)
{
    if (a == NULL || b == NULL) return NULL;
    lt_scope inner;
    lt_scope_open(&inner, true);
    lt_tensor *zero = do_number(&inner, 0), *out = NULL;
    lt_tensor *neither = do_logical_and(&inner, do_eq(&inner, a, zero), do_eq(&inner, b, zero));
    lt_status status = lt_scope_return(&inner, do_div(&inner, a, do_add(&inner, b, neither)), &out);
    return lt_scope_hold(s, status, out);
}

static lt_tensor *do_without_diagonal(lt_scope *s, lt_tensor *a)
{
    return a != NULL ? do_sub(s, a, do_diag_embed(s, do_diagonal(s, a, 0, -2, -1))) : NULL;
}

/* U [ (skew(U'GU) / E) S + S (skew(V'GV) / E) + diag(GS) + i Im(diag(U'GU)) / S ] V', plus the
 * parts of GU and GV outside the spans of U and V; E = differences of S squared, skew(X) = X - X',
 * X' the adjoint. The last term, for complex matrices, is that of a common phase of the columns of
 * U and V. */
lt_status lt__linalg_svd_backward_impl(lt_tensor *grad_output, const lt_dims *sizes,
                                       lt_tensor *result, lt_tensor **out)
{
    int64_t m = sizes->v[sizes->n - 2], n = sizes->v[sizes->n - 1], k = m < n ? m : n;
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_svd_backward));
    const svd x = unpack_svd(&s, result, m, n, k, k), g = unpack_svd(&s, grad_output, m, n, k, k);
    lt_tensor *u = x.u, *values = x.values, *v = do_conj(&s, x.v_conj);
    lt_tensor *gu = g.u, *gs = g.values, *gv = do_conj(&s, g.v_conj);
    if (s.status != LT_OK) return lt_scope_close(&s);
    lt_scope inner;
    lt_scope_open(&inner, LT_COMPOSITE(_linalg_svd_backward));
    lt_tensor *row = do_unsqueeze(&inner, values, -2), *column = do_unsqueeze(&inner, values, -1),
              *ut = do_adjoint(&inner, u), *vt = do_adjoint(&inner, v);
    lt_tensor *e = do_differences(&inner, do_mul(&inner, values, values));
    lt_tensor *of_u = do_matmul(&inner, ut, gu), *of_v = do_matmul(&inner, vt, gv), *sum = NULL,
              *core = NULL;
    if (of_u != NULL && of_v != NULL) {
        lt_tensor *of_u_skew = do_sub(&inner, of_u, do_adjoint(&inner, of_u)),
                  *skew_u = do_quotient(&inner, of_u_skew, e);
        lt_tensor *skew_v = do_quotient(&inner, do_sub(&inner, of_v, do_adjoint(&inner, of_v)), e);
        core = do_add(&inner,
                      do_add(&inner, do_mul(&inner, skew_u, row), do_mul(&inner, column, skew_v)),
                      do_diag_embed(&inner, gs));
        if (core != NULL && lt_dtype_is_complex((lt_dtype)core->dtype)) {
            lt_tensor *turns = do_quotient(&inner, do_diagonal(&inner, of_u_skew, 0, -2, -1),
                                           times(&inner, values, 2));
            core = do_add(&inner, core, do_diag_embed(&inner, turns));
        }
    }
    lt_status status = lt_scope_return(&inner, core, &sum);
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
    return lt_scope_return(&s, total, out);
}

/* a with zero columns appended, as in a packed result of _linalg_svd. */
static lt_tensor *do_widened(lt_scope *s, lt_tensor *a, int64_t columns)
{
    if (a == NULL || lt_columns(a) == columns) return a;
    lt_dims missing = lt_dims_of(a);
    missing.v[missing.n - 1] = columns - lt_columns(a);
    return do_cat(s, (lt_tensor *[]){a, do_zeros(s, a, &missing)}, 2, -1);
}

/* (left scaled by the columns' values + right scaled by the rows' values) / E, without its
 * diagonal. */
static lt_tensor *do_svd_turn(lt_scope *s, lt_tensor *left, lt_tensor *right, lt_tensor *values)
{
    if (s->status != LT_OK) return NULL;
    lt_scope inner;
    lt_scope_open(&inner, true);
    lt_tensor *by_column = do_mul(&inner, left, do_unsqueeze(&inner, values, -2));
    lt_tensor *by_row = do_mul(&inner, right, do_unsqueeze(&inner, values, -1)), *out = NULL;
    lt_tensor *e = do_differences(&inner, do_mul(&inner, values, values));
    lt_tensor *turn =
        do_without_diagonal(&inner, do_quotient(&inner, do_add(&inner, by_column, by_row), e));
    const lt_status status = lt_scope_return(&inner, turn, &out);
    return lt_scope_hold(s, status, out);
}

/* With M = U' T V and E the differences of S squared: S changes by the real diagonal of M, U by U
 * ((M S + S M') / E) and V by V ((S M + M' S) / E), and both by the part of T outside their spans.
 * The imaginary part of the diagonal changes the phase of the columns of U. */
lt_status lt__linalg_svd_tangent_impl(lt_tensor *self_t, lt_tensor *result, lt_tensor **out)
{
    int64_t m = lt_rows(self_t), n = lt_columns(self_t), k = m < n ? m : n,
            columns = lt_columns(result);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_svd_tangent));
    const svd x = unpack_svd(&s, result, m, n, k, k);
    lt_tensor *u = x.u, *values = x.values, *v = do_conj(&s, x.v_conj);
    if (s.status != LT_OK) return lt_scope_close(&s);
    lt_tensor *row = do_unsqueeze(&s, values, -2), *of_v = do_matmul(&s, self_t, v);
    lt_tensor *inner = do_matmul(&s, do_adjoint(&s, u), of_v),
              *inner_h = inner != NULL ? do_adjoint(&s, inner) : NULL;
    lt_tensor *turn_u = do_svd_turn(&s, inner, inner_h, values),
              *turn_v = do_svd_turn(&s, inner_h, inner, values);
    if (s.status != LT_OK) return lt_scope_close(&s);
    lt_tensor *diagonal = do_diagonal(&s, inner, 0, -2, -1);
    if (lt_dtype_is_complex((lt_dtype)self_t->dtype)) {
        lt_tensor *imaginary = do_sub(&s, diagonal, do_real(&s, diagonal));
        turn_u = do_add(&s, turn_u, do_diag_embed(&s, do_quotient(&s, imaginary, values)));
    }
    lt_tensor *u_t = do_matmul(&s, u, turn_u), *v_t = do_matmul(&s, v, turn_v);
    if (m > k)
        u_t = do_add(&s, u_t, do_quotient(&s, do_sub(&s, of_v, do_matmul(&s, u, inner)), row));
    if (n > k) {
        lt_tensor *outside =
            do_sub(&s, do_matmul(&s, do_adjoint(&s, self_t), u), do_matmul(&s, v, inner_h));
        v_t = do_add(&s, v_t, do_quotient(&s, outside, row));
    }
    lt_tensor *values_t =
        do_unsqueeze(&s, do_cast(&s, do_real(&s, diagonal), (lt_dtype)result->dtype), -2);
    lt_tensor *parts[] = {do_widened(&s, u_t, columns), do_widened(&s, values_t, columns),
                          do_widened(&s, do_conj(&s, v_t), columns)};
    return lt_scope_return(&s, do_cat(&s, parts, 3, -2), out);
}

/* ---- symmetric eigenvalues ------------------------------------------------------------------- */

static lt_status upper_or_lower(const char *op, const char *uplo, bool *upper)
{
    char c = uplo[0] != 0 && uplo[1] == 0 ? uplo[0] : 0;
    *upper = c == 'U' || c == 'u';
    if (*upper || c == 'L' || c == 'l') return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "Expected UPLO argument to be 'L' or 'U', but got %s (%s)",
                    uplo, op);
}

lt_status lt_linalg_eigh_impl(lt_tensor *self, const char *UPLO, lt_tensor **eigenvalues,
                              lt_tensor **eigenvectors)
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
    lt_tensor *values = do_real(&s, do_select(&s, packed, -2, n)),
              *vectors = do_part(&s, packed, -2, 0, n);
    if (lt_scope_move_out(&s, values, eigenvalues) == LT_OK)
        lt_scope_move_out(&s, vectors, eigenvectors);
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
    return lt_scope_return(&s, do_real(&s, do_select(&s, packed, -2, lt_rows(self))), out);
}

/* V [ (M - M') / 2E + diag(GL) ] V', with M = V'GV, ' the adjoint and E = differences of the
 * eigenvalues. Only the skew part of M rotates the vectors: so the gradient is symmetric, like the
 * matrix. */
lt_status lt__linalg_eigh_backward_impl(lt_tensor *grad_output, lt_tensor *result, lt_tensor **out)
{
    int64_t n = lt_columns(result);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_eigh_backward));
    lt_tensor *v = do_part(&s, result, -2, 0, n), *gv = do_part(&s, grad_output, -2, 0, n);
    lt_tensor *vt = do_adjoint(&s, v),
              *apart = do_differences(&s, do_real(&s, do_select(&s, result, -2, n)));
    lt_tensor *inner = do_matmul(&s, vt, gv);
    if (inner == NULL) return lt_scope_close(&s);
    lt_tensor *mixed =
        do_quotient(&s, times(&s, do_sub(&s, inner, do_adjoint(&s, inner)), 0.5), apart);
    if (mixed == NULL) return lt_scope_close(&s);
    lt_tensor *off = do_without_diagonal(&s, mixed);
    lt_tensor *core =
        do_add(&s, off, do_diag_embed(&s, do_real(&s, do_select(&s, grad_output, -2, n))));
    return lt_scope_return(&s, do_matmul(&s, do_matmul(&s, v, core), vt), out);
}

/* With M = V' T V: the eigenvalues change by its diagonal, the vectors by V (M / E). */
lt_status lt__linalg_eigh_tangent_impl(lt_tensor *self_t, lt_tensor *result, lt_tensor **out)
{
    int64_t n = lt_columns(result);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_eigh_tangent));
    lt_tensor *v = do_part(&s, result, -2, 0, n),
              *apart = do_differences(&s, do_real(&s, do_select(&s, result, -2, n)));
    lt_tensor *inner = do_matmul(&s, do_adjoint(&s, v), do_matmul(&s, self_t, v));
    lt_tensor *turn = do_without_diagonal(&s, do_quotient(&s, inner, apart));
    if (turn == NULL) return lt_scope_close(&s);
    lt_tensor *values =
        do_cast(&s, do_real(&s, do_diagonal(&s, inner, 0, -2, -1)), (lt_dtype)result->dtype);
    return lt_scope_return(
        &s,
        do_cat(&s, (lt_tensor *[]){do_matmul(&s, v, turn), do_unsqueeze(&s, values, -2)}, 2, -2),
        out);
}

/* ---- eigenvalues of any square matrix -------------------------------------------------------- */

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
    if (lt_scope_move_out(&s, values, eigenvalues) == LT_OK)
        lt_scope_move_out(&s, vectors, eigenvectors);
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

/* V^-H [ diag(GL) + (V^H GV - V^H V diag(Re(V^H GV))) / conj(E) ] V^H with E = differences of the
 * eigenvalues: the vectors have length 1 (C. Boeddeker et al., On the computation of complex-valued
 * gradients, 2017, 4.60). */
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
    lt_tensor *off = do_without_diagonal(&s, quotient);
    lt_tensor *core = do_add(&s, off, do_diag_embed(&s, do_select(&s, grad_output, -2, n)));
    return lt_scope_return(&s, do__linalg_solve(&s, vh, do_matmul(&s, core, vh)), out);
}

/* With M = V^-1 T V: the eigenvalues change by its diagonal, the vectors by V (M / E) minus the
 * component that would change their length. */
lt_status lt__linalg_eig_tangent_impl(lt_tensor *self_t, lt_tensor *result, lt_tensor **out)
{
    const int64_t n = lt_columns(result);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_eig_tangent));
    lt_tensor *v = do_part(&s, result, -2, 0, n),
              *tangent = do_cast(&s, self_t, (lt_dtype)result->dtype);
    lt_tensor *inner = do__linalg_solve(&s, v, do_matmul(&s, tangent, v)),
              *apart = do_differences(&s, do_select(&s, result, -2, n));
    lt_tensor *turn = do_matmul(&s, v, do_without_diagonal(&s, do_quotient(&s, inner, apart)));
    if (turn == NULL) return lt_scope_close(&s);
    lt_tensor *lengths = do_real(&s, do_sum_dim(&s, do_mul(&s, do_conj(&s, v), turn), -2, true));
    lt_tensor *values = do_unsqueeze(&s, do_diagonal(&s, inner, 0, -2, -1), -2);
    return lt_scope_return(
        &s, do_cat(&s, (lt_tensor *[]){do_sub(&s, turn, do_mul(&s, v, lengths)), values}, 2, -2),
        out);
}
