/* determinants.c - the determinant of a matrix, its logarithm, and their derivatives. */
#include <math.h>

#include "linalg.h"
#include "op/_linalg_det_backward.h"
#include "op/_linalg_logabsdet.h"
#include "op/_linalg_logabsdet_backward.h"
#include "op/_linalg_sign_det.h"
#include "op/_linalg_sign_det_backward.h"
#include "op/_linalg_sign_det_tangent.h"
#include "op/_prod_backward.h"
#include "op/det.h"
#include "op/detach.h"
#include "op/linalg_svd.h"
#include "op/logdet.h"
#include "op/ones_like.h"
#include "op/slogdet.h"
#include "step/_linalg_solve.h"
#include "step/sgn.h"

/* The determinant of an orthogonal or unitary matrix, a constant of absolute value 1. */
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

/* The cofactors by the singular values, without an inverse: det(U) det(V^H) conj(U diag(products of
 * the others) V^H). */
static lt_tensor *do_cofactors(lt_scope *s, lt_tensor *a)
{
    lt_tensor *u = NULL, *values = NULL, *vh = NULL, *ones = NULL, *others = NULL;
    if (s->status != LT_OK) return NULL;
    s->status = lt_linalg_svd(a, true, &u, &values, &vh);
    if (s->status != LT_OK) return NULL;
    u = lt_scope_hold(s, LT_OK, u), values = lt_scope_hold(s, LT_OK, values),
    vh = lt_scope_hold(s, LT_OK, vh);
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

lt_status lt__linalg_det_backward_impl(lt_tensor *grad_output, lt_tensor *self, lt_tensor *det,
                                       lt_tensor **out)
{
    bool regular = true;
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_det_backward));
    if (lt_all_set(&s, det, &regular) == LT_OK && !regular) {
        lt_tensor *grad = do_unsqueeze(&s, do_unsqueeze(&s, grad_output, -1), -1);
        return lt_scope_return(&s, do_mul(&s, grad, do_cofactors(&s, self)), out);
    }
    lt_tensor *factor = do_unsqueeze(&s, do_unsqueeze(&s, do_mul(&s, grad_output, det), -1), -1);
    lt_tensor *eye = do_eye_like(&s, self, lt_columns(self));
    return lt_scope_return(&s, do_mul(&s, do__linalg_solve(&s, do_turn(&s, self), eye), factor),
                           out);
}

/* The inverse of A^H times a number per matrix. */
static lt_tensor *do_adjoint_inverse(lt_scope *s, lt_tensor *a, lt_tensor *factor)
{
    lt_tensor *eye = do_eye_like(s, a, lt_columns(a));
    return do_mul(s, do__linalg_solve(s, do_adjoint(s, a), eye),
                  do_unsqueeze(s, do_unsqueeze(s, factor, -1), -1));
}

lt_status lt__linalg_logabsdet_backward_impl(lt_tensor *grad_output, lt_tensor *self,
                                             lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_logabsdet_backward));
    return lt_scope_return(&s, do_adjoint_inverse(&s, self, grad_output), out);
}

lt_status lt__linalg_sign_det_backward_impl(lt_tensor *grad_output, lt_tensor *self,
                                            lt_tensor *sign, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_sign_det_backward));
    const lt_dims sizes = lt_dims_of(self);
    /* zero, but as a linear function of the gradient, so that it can be differentiated */
    if (!lt_dtype_is_complex((lt_dtype)self->dtype)) {
        lt_tensor *nothing = do_mul(&s, grad_output, do_number(&s, 0));
        return lt_scope_return(&s,
                               do_mul(&s, do_zeros(&s, self, &sizes),
                                      do_unsqueeze(&s, do_unsqueeze(&s, nothing, -1), -1)),
                               out);
    }
    /* d sign = i sign Im(tr(A^-1 dA)) */
    lt_tensor *turned = do_mul(&s, do_conj(&s, grad_output), sign);
    lt_tensor *along = do_sub(&s, turned, do_conj(&s, turned)); /* 2 i Im */
    return lt_scope_return(&s, do_adjoint_inverse(&s, self, do_mul(&s, along, do_number(&s, -0.5))),
                           out);
}

lt_status lt__linalg_sign_det_tangent_impl(lt_tensor *self_t, lt_tensor *self, lt_tensor *sign,
                                           lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_sign_det_tangent));
    const lt_dims sizes = lt_dims_of(sign);
    if (!lt_dtype_is_complex((lt_dtype)self->dtype))
        return lt_scope_return(&s, do_zeros(&s, sign, &sizes), out);
    lt_tensor *turn = do_diagonal(&s, do__linalg_solve(&s, self, self_t), 0, -2, -1);
    lt_tensor *trace = do_sum_dim(&s, turn, -1, false);
    lt_tensor *along = times(&s, do_sub(&s, trace, do_conj(&s, trace)), 0.5); /* i Im */
    return lt_scope_return(&s, do_mul(&s, sign, along), out);
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
        return lt_scope_return(&s, do_add(&s, do_log(&s, sign), log_magnitude), out);
    lt_tensor *negative = do_lt(&s, sign, do_number(&s, 0));
    return lt_scope_return(&s, do_where(&s, negative, do_number(&s, NAN), log_magnitude), out);
}
