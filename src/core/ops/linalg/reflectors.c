/* reflectors.c - products of Householder reflectors, as geqrf returns them: with column i of V
 * zero above the diagonal and one on it, reflector i is 1 - tau v v^H. */
#include "linalg.h"
#include "op/linalg_householder_product.h"
#include "op/orgqr.h"
#include "op/ormqr.h"

static lt_status check_reflectors(const char *op, const lt_tensor *A, const lt_tensor *tau)
{
    LT_TRY(lt_linalg_check_matrix(op, A));
    if (tau->ndim != A->ndim - 1)
        return lt_error(LT_ERR_RUNTIME,
                        "%s: Expected tau to have one dimension less than input, but got tau.ndim "
                        "equal to %d and input.ndim is equal to %d",
                        op, tau->ndim, A->ndim);
    for (int d = 0; d < A->ndim - 2; d++)
        if (tau->sizes[d] != A->sizes[d]) {
            char own[256], other[256];
            return lt_error(LT_ERR_RUNTIME,
                            "%s: Expected batch dimensions of tau to be equal to those of input, "
                            "but got shapes torch.Size(%s) and torch.Size(%s)",
                            op, lt_format_sizes(own, sizeof own, tau->ndim, tau->sizes),
                            lt_format_sizes(other, sizeof other, A->ndim, A->sizes));
        }
    if (tau->dtype != A->dtype)
        return lt_error(LT_ERR_RUNTIME, "%s: tau dtype %s does not match input dtype %s", op,
                        lt_dtype_scalar_name((lt_dtype)tau->dtype),
                        lt_dtype_scalar_name((lt_dtype)A->dtype));
    return LT_OK;
}

/* V, of the first k columns of A. */
static lt_tensor *do_vectors(lt_scope *s, lt_tensor *A, int64_t k)
{
    lt_tensor *ones = NULL, *below = do_part(s, A, -1, 0, k);
    if (s->status != LT_OK) return NULL;
    const lt_status status = lt_eye(lt_rows(A), &k, (lt_dtype)A->dtype, &A->device, &ones);
    ones = lt_scope_hold(s, status, ones);
    return do_add(s, do_tril_at(s, below, -1), ones);
}

/* x - tau v v^H x, with reflector i. Steals x. */
static lt_status apply_reflector(lt_tensor *vectors, lt_tensor *tau, int64_t i, lt_tensor *x,
                                 lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, true);
    lt_scope_hold(&s, LT_OK, x);
    lt_tensor *v = do_part(&s, vectors, -1, i, i + 1),
              *factor = do_unsqueeze(&s, do_part(&s, tau, -1, i, i + 1), -1);
    lt_tensor *along = do_matmul(&s, do_adjoint(&s, v), x);
    lt_tensor *change = do_mul(&s, factor, do_matmul(&s, v, along));
    return lt_scope_return(&s, do_sub(&s, x, change), out);
}

/* The product of the first k reflectors times x; adjoint: of the adjoint of the product. x is
 * borrowed. */
static lt_status apply_reflectors(lt_scope *s, lt_tensor *A, lt_tensor *tau, bool adjoint,
                                  lt_tensor *x, lt_tensor **out)
{
    const int64_t k = tau->sizes[tau->ndim - 1];
    lt_tensor *vectors = do_vectors(s, A, k), *factors = adjoint ? do_conj(s, tau) : tau;
    if (s->status != LT_OK) return s->status;
    lt_tensor *product = lt_tensor_retain(x);
    for (int64_t step = 0; step < k; step++) {
        lt_tensor *previous = product;
        LT_TRY(
            apply_reflector(vectors, factors, adjoint ? step : k - 1 - step, previous, &product));
    }
    *out = product;
    return LT_OK;
}

static lt_status householder_product(lt_tensor *A, lt_tensor *tau, lt_tensor **out)
{
    const char *op = "torch.linalg.householder_product";
    LT_TRY(check_reflectors(op, A, tau));
    if (lt_rows(A) < lt_columns(A))
        return lt_error(LT_ERR_RUNTIME,
                        "%s: input.shape[-2] must be greater than or equal to input.shape[-1]", op);
    if (lt_columns(A) < tau->sizes[tau->ndim - 1])
        return lt_error(LT_ERR_RUNTIME,
                        "%s: input.shape[-1] must be greater than or equal to tau.shape[-1]", op);
    const lt_dims sizes = lt_dims_of(A);
    const int64_t n = lt_columns(A);
    lt_tensor *one = NULL, *product = NULL;
    lt_scope s;
    lt_scope_open(&s, true);
    lt_status status = lt_eye(lt_rows(A), &n, (lt_dtype)A->dtype, &A->device, &one);
    one = lt_scope_hold(&s, status, one);
    lt_tensor *start = do_clone(&s, do_expand(&s, one, &sizes));
    if (s.status == LT_OK) {
        status = apply_reflectors(&s, A, tau, false, start, &product);
        product = lt_scope_hold(&s, status, product);
    }
    return lt_scope_return(&s, product, out);
}

lt_status lt_linalg_householder_product_impl(lt_tensor *A, lt_tensor *tau, lt_tensor **out)
{
    return householder_product(A, tau, out);
}

lt_status lt_orgqr_impl(lt_tensor *self, lt_tensor *tau, lt_tensor **out)
{
    return householder_product(self, tau, out);
}

static lt_status check_ormqr(const lt_tensor *self, const lt_tensor *tau, const lt_tensor *other,
                             bool left)
{
    const char *op = "torch.ormqr";
    LT_TRY(check_reflectors(op, self, tau));
    if (other->ndim < 2)
        return lt_error(LT_ERR_RUNTIME, "%s: other must have at least 2 dimensions.", op);
    if (other->ndim != self->ndim)
        return lt_error(LT_ERR_RUNTIME,
                        "%s: Expected other to have the same number of dimensions as input, but "
                        "got other.ndim equal to %d and input.ndim is equal to %d",
                        op, other->ndim, self->ndim);
    const int along = left ? 2 : 1;
    const int64_t size = other->sizes[other->ndim - along], n = lt_columns(self);
    if (tau->sizes[tau->ndim - 1] != (size < n ? size : n))
        return lt_error(LT_ERR_RUNTIME,
                        "%s: tau.shape[-1] must be equal to min(other.shape[-%d], input.shape[-1])",
                        op, along);
    if (lt_rows(self) != size)
        return lt_error(LT_ERR_RUNTIME, "%s: other.shape[-%d] must be equal to input.shape[-2]", op,
                        along);
    return LT_OK;
}

lt_status lt_ormqr_impl(lt_tensor *self, lt_tensor *tau, lt_tensor *other, bool left,
                        bool transpose, lt_tensor **out)
{
    LT_TRY(check_ormqr(self, tau, other, left));
    lt_tensor *product = NULL;
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(ormqr));
    /* C Q is (Q^H C^H)^H */
    lt_tensor *given = do_clone(&s, left ? other : do_adjoint(&s, other));
    if (s.status == LT_OK) {
        const lt_status status =
            apply_reflectors(&s, self, tau, transpose == left, given, &product);
        product = lt_scope_hold(&s, status, product);
    }
    return lt_scope_return(&s, left ? product : do_adjoint(&s, product), out);
}
