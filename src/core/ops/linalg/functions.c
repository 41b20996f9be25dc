/* functions.c - functions of whole matrices: exponentials, condition numbers, inverses and
 * solutions of tensors that stand for matrices, products and powers of vectors. */
#include <math.h>

#include "devices/copies.h"
#include "linalg.h"
#include "op/cumprod.h"
#include "op/linalg_cond.h"
#include "op/linalg_inv_ex.h"
#include "op/linalg_matrix_exp.h"
#include "op/linalg_matrix_norm.h"
#include "op/linalg_tensorinv.h"
#include "op/linalg_tensorsolve.h"
#include "op/linalg_vander.h"
#include "op/linalg_vecdot.h"
#include "op/matrix_exp.h"
#include "op/vander.h"
#include "ops/batch/batch.h"
#include "step/detach.h"
#include "step/inverse.h"
#include "step/linalg_matrix_norm.h"
#include "step/linalg_solve.h"
#include "step/linalg_svdvals.h"
#include "step/max.h"
#include "step/ones_like.h"
#include "step/real.h"

/* ---- exponentials ---------------------------------------------------------------------------- */

/* Pade's approximant of order 13 (N. Higham, The scaling and squaring method for the matrix
 * exponential revisited, 2005). */
static const double pade[] = {64764752532480000.0,
                              32382376266240000.0,
                              7771770303897600.0,
                              1187353796428800.0,
                              129060195264000.0,
                              10559470521600.0,
                              670442572800.0,
                              33522128640.0,
                              1323241920.0,
                              40840800.0,
                              960960.0,
                              16380.0,
                              182.0,
                              1.0};
static const double within = 5.371920351148152; /* 1-norm for which it is accurate to 2^-53 */

/* The number of halvings after which the approximant is accurate for all matrices, of all samples
 * of a vmap. */
static lt_status halvings(lt_tensor *A, int *n)
{
    lt_scalar largest = lt_scalar_from_float(0);
    lt_tensor *all = NULL;
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *constant = do_detach(&s, A);
    if (constant != NULL && lt_batch_depth() > 0) {
        const lt_status status = lt_batch_show_below(constant, lt_batch_depth(), &all);
        constant = lt_scope_hold(&s, status, all);
    }
    lt_tensor *norm = do_max(&s, do_sum_dim(&s, do_abs(&s, constant), -2, false));
    if (s.status == LT_OK) s.status = lt_tensor_item(norm, &largest);
    const double size = lt_scalar_double(largest);
    *n = size > 5.4 && isfinite(size) ? (int)fmax(0, ceil(log2(size / within))) : 0;
    return lt_scope_close(&s);
}

/* x6 (p12 x6 + p10 x4 + p8 x2) + p6 x6 + p4 x4 + p2 x2 + p0, of every second coefficient. */
static lt_tensor *do_polynomial(lt_scope *outer, lt_tensor *const powers[3], lt_tensor *one,
                                const double *p)
{
    lt_tensor *out = NULL, *x2 = powers[0], *x4 = powers[1], *x6 = powers[2];
    if (outer->status != LT_OK) return NULL;
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *high =
        do_add(&s, do_add(&s, times(&s, x6, p[12]), times(&s, x4, p[10])), times(&s, x2, p[8]));
    lt_tensor *low =
        do_add(&s, do_add(&s, times(&s, x6, p[6]), times(&s, x4, p[4])), times(&s, x2, p[2]));
    lt_tensor *sum = do_add(&s, do_matmul(&s, x6, high), do_add(&s, low, times(&s, one, p[0])));
    const lt_status status = lt_scope_return(&s, sum, &out);
    return lt_scope_hold(outer, status, out);
}

static lt_status exponential(lt_tensor *A, lt_tensor **out)
{
    int n = 0;
    LT_TRY(halvings(A, &n));
    lt_tensor *result = NULL;
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *x = n > 0 ? times(&s, A, ldexp(1, -n)) : A, *one = do_eye_like(&s, A, lt_rows(A));
    lt_tensor *x2 = do_matmul(&s, x, x), *x4 = do_matmul(&s, x2, x2), *x6 = do_matmul(&s, x4, x2);
    lt_tensor *const powers[] = {x2, x4, x6};
    lt_tensor *odd = do_matmul(&s, x, do_polynomial(&s, powers, one, pade + 1)),
              *even = do_polynomial(&s, powers, one, pade);
    lt_tensor *quotient = do_linalg_solve(&s, do_sub(&s, even, odd), do_add(&s, even, odd));
    LT_TRY(lt_scope_return(&s, quotient, &result));
    for (; n > 0; n--) {
        lt_tensor *previous = result;
        const lt_status status = lt_matmul(previous, previous, &result);
        lt_tensor_release(previous);
        LT_TRY(status);
    }
    *out = result;
    return LT_OK;
}

static lt_status matrix_exponential(lt_tensor *A, lt_tensor **out)
{
    const char *op = "linalg.matrix_exp";
    LT_TRY(lt_linalg_check_square(op, A));
    if (!lt_dtype_is_inexact((lt_dtype)A->dtype))
        return lt_error(LT_ERR_RUNTIME,
                        "%s: Expected a floating point or complex tensor as input. Got %s", op,
                        lt_dtype_scalar_name((lt_dtype)A->dtype));
    if (A->numel == 0) return lt_clone(A, out);
    if (lt_rows(A) == 1) return lt_exp(A, out);
    lt_tensor *wide, *result = NULL;
    lt_scope s;
    lt_scope_open(&s, true);
    wide = do_widen(&s, A);
    if (s.status == LT_OK) {
        const lt_copy_cause previous = lt_copies_imply("linalg.matrix_exp");
        const lt_status status = exponential(wide, &result);
        lt_copies_set_cause(previous);
        result = lt_scope_hold(&s, status, result);
    }
    return lt_scope_return(&s, do_narrow_to(&s, result, A), out);
}

lt_status lt_linalg_matrix_exp_impl(lt_tensor *self, lt_tensor **out)
{
    return matrix_exponential(self, out);
}

lt_status lt_matrix_exp_impl(lt_tensor *self, lt_tensor **out)
{
    return matrix_exponential(self, out);
}

/* ---- condition numbers ----------------------------------------------------------------------- */

/* A number for each matrix of A: zeros, which is the condition of an empty matrix. */
static lt_tensor *do_zero_for_each(lt_scope *s, lt_tensor *A)
{
    const lt_dims sizes = lt_linalg_batch_of(A, -1, -1);
    return do_real(s, do_zeros(s, A, &sizes));
}

/* The product of the norms; infinite if the matrix is singular. name: of the norm, or NULL: it is
 * p. */
static lt_status condition_by_inverse(lt_tensor *A, lt_scalar p, const char *name, lt_tensor **out)
{
    LT_TRY(lt_linalg_check_square("linalg.cond", A));
    lt_tensor *inverse = NULL, *info = NULL, *norms[2] = {NULL, NULL};
    lt_scope s;
    lt_scope_open(&s, true);
    if (A->numel == 0) return lt_scope_return(&s, do_zero_for_each(&s, A), out);
    lt_status status = lt_linalg_inv_ex(A, false, &inverse, &info);
    inverse = lt_scope_hold(&s, status, inverse);
    info = lt_scope_hold(&s, status, info);
    lt_tensor *singular = do_ne(&s, info, do_number(&s, 0)),
              *each = do_unsqueeze(&s, do_unsqueeze(&s, singular, -1), -1);
    lt_tensor *const matrices[] = {A, do_where(&s, each, do_number(&s, 0), inverse)};
    for (int i = 0; i < 2 && s.status == LT_OK; i++) {
        status = name != NULL
                     ? lt_linalg_matrix_norm_named(matrices[i], name, NULL, false, LT_DTYPE_NONE,
                                                   &norms[i])
                     : lt_linalg_matrix_norm(matrices[i], p, NULL, false, LT_DTYPE_NONE, &norms[i]);
        norms[i] = lt_scope_hold(&s, status, norms[i]);
    }
    lt_tensor *product = do_mul(&s, norms[0], norms[1]);
    return lt_scope_return(&s, do_where(&s, singular, do_number(&s, INFINITY), product), out);
}

static lt_status condition(lt_tensor *A, const lt_scalar *p, lt_tensor **out)
{
    LT_TRY(lt_linalg_check_matrix("linalg.cond", A));
    const double order = p != NULL ? lt_scalar_double(*p) : 2;
    if (fabs(order) != 2) return condition_by_inverse(A, *p, NULL, out);
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *values = do_linalg_svdvals(&s, A);
    if (values != NULL && values->sizes[values->ndim - 1] == 0)
        return lt_scope_return(&s, do_zero_for_each(&s, A), out);
    lt_tensor *largest = do_select(&s, values, -1, 0), *least = do_select(&s, values, -1, -1);
    return lt_scope_return(&s, order > 0 ? do_div(&s, largest, least) : do_div(&s, least, largest),
                           out);
}

lt_status lt_linalg_cond_impl(lt_tensor *A, const lt_scalar *p, lt_tensor **out)
{
    const lt_copy_cause previous = lt_copies_imply("linalg.cond");
    const lt_status status = condition(A, p, out);
    lt_copies_set_cause(previous);
    return status;
}

lt_status lt_linalg_cond_named_impl(lt_tensor *A, const char *p, lt_tensor **out)
{
    const lt_copy_cause previous = lt_copies_imply("linalg.cond");
    lt_status status = lt_linalg_check_matrix("linalg.cond", A);
    if (status == LT_OK) status = condition_by_inverse(A, lt_scalar_from_int(0), p, out);
    lt_copies_set_cause(previous);
    return status;
}

/* ---- tensors as matrices --------------------------------------------------------------------- */

static int64_t product_of(const lt_tensor *t, int from, int to)
{
    int64_t n = 1;
    for (int d = from; d < to && d < t->ndim; d++) n *= t->sizes[d];
    return n;
}

static lt_dims sizes_between(const lt_tensor *t, int from, int to)
{
    lt_dims sizes = {.n = 0};
    for (int d = from; d < to && d < t->ndim; d++) sizes.v[sizes.n++] = t->sizes[d];
    return sizes;
}

lt_status lt_linalg_tensorinv_impl(lt_tensor *A, int64_t ind, lt_tensor **out)
{
    if (ind <= 0) return lt_error(LT_ERR_RUNTIME, "Expected a strictly positive integer for 'ind'");
    const int split = ind < A->ndim ? (int)ind : A->ndim;
    const int64_t head = product_of(A, 0, split), tail = product_of(A, split, A->ndim);
    if (head != tail)
        return lt_error(LT_ERR_RUNTIME,
                        "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
                        "prod(self.shape[:ind]), but got %lld != %lld",
                        (long long)tail, (long long)head);
    lt_dims turned = sizes_between(A, split, A->ndim);
    for (int d = 0; d < split; d++) turned.v[turned.n++] = A->sizes[d];
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(linalg_tensorinv));
    lt_tensor *matrix = do_reshape(&s, A, &(lt_dims){2, {head, tail}});
    return lt_scope_return(&s, do_reshape(&s, do_inverse(&s, matrix), &turned), out);
}

/* The order of the dimensions of A in which the given ones are last. */
static lt_status order_with_last(const lt_tensor *A, const lt_dims *dims, lt_dims *order)
{
    uint32_t mask = 0;
    order->n = 0;
    if (dims->n > 0) LT_TRY(lt_dims_mask(dims, A->ndim, &mask));
    for (int d = 0; d < A->ndim; d++)
        if (!(mask >> d & 1)) order->v[order->n++] = d;
    for (int i = 0; i < dims->n; i++) {
        int d;
        LT_TRY(lt_wrap_dim(dims->v[i], A->ndim, &d));
        order->v[order->n++] = d;
    }
    return LT_OK;
}

lt_status lt_linalg_tensorsolve_impl(lt_tensor *A, lt_tensor *B, const lt_dims *dims,
                                     lt_tensor **out)
{
    lt_dims order;
    if (dims != NULL) LT_TRY(order_with_last(A, dims, &order));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(linalg_tensorsolve));
    lt_tensor *moved = dims != NULL ? do_permute(&s, A, &order) : A;
    if (moved == NULL) return lt_scope_close(&s);
    const lt_dims shape = sizes_between(moved, B->ndim, A->ndim);
    const int64_t n = product_of(moved, B->ndim, A->ndim);
    if (n != B->numel) {
        s.status = lt_error(LT_ERR_RUNTIME,
                            "Expected self to satisfy the requirement prod(self.shape[other.ndim:])"
                            " == prod(self.shape[:other.ndim]), but got %lld != %lld",
                            (long long)n, (long long)B->numel);
        return lt_scope_close(&s);
    }
    lt_tensor *matrix = do_reshape(&s, moved, &(lt_dims){2, {product_of(moved, 0, B->ndim), n}});
    lt_tensor *x = do_linalg_solve(&s, matrix, do_flatten(&s, B));
    return lt_scope_return(&s, do_reshape(&s, x, &shape), out);
}

lt_status lt_linalg_vecdot_impl(lt_tensor *x, lt_tensor *y, int64_t dim, lt_tensor **out)
{
    if (x->dtype == LT_BOOL)
        return lt_error(LT_ERR_RUNTIME, "linalg.vecdot: bool is not supported");
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(linalg_vecdot));
    lt_tensor *product = do_mul(&s, do_conj(&s, x), y);
    return lt_scope_return(&s, do_sum_dim(&s, product, dim, false), out);
}

/* The powers of the elements of x from 0 to n - 1 along a new last dimension. */
static lt_status powers(lt_tensor *x, int64_t n, bool increasing, lt_tensor **out)
{
    const bool integer = !lt_dtype_is_inexact((lt_dtype)x->dtype);
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *base = integer ? do_cast(&s, x, LT_INT64) : x;
    base = do_unsqueeze(&s, base, -1);
    if (base == NULL) return lt_scope_close(&s);
    lt_dims sizes = lt_dims_of(base);
    sizes.v[sizes.n - 1] = n > 0 ? n - 1 : 0;
    if (n == 0) return lt_scope_return(&s, do_zeros(&s, base, &sizes), out);
    lt_tensor *result = do_ones_like(&s, base), *products = NULL;
    if (n > 1) {
        lt_tensor *factors = do_expand(&s, base, &sizes);
        if (s.status == LT_OK) s.status = lt_cumprod(factors, -1, LT_DTYPE_NONE, &products);
        products = lt_scope_hold(&s, s.status, products);
        result = do_cat(&s, (lt_tensor *[]){result, products}, 2, -1);
    }
    return lt_scope_return(&s, increasing ? result : do_flip(&s, result, -1), out);
}

lt_status lt_vander_impl(lt_tensor *x, const int64_t *N, bool increasing, lt_tensor **out)
{
    if (x->ndim != 1) return lt_error(LT_ERR_RUNTIME, "x must be a one-dimensional tensor.");
    if (N != NULL && *N < 0) return lt_error(LT_ERR_RUNTIME, "N must be non-negative.");
    return powers(x, N != NULL ? *N : x->sizes[0], increasing, out);
}

lt_status lt_linalg_vander_impl(lt_tensor *x, const int64_t *N, lt_tensor **out)
{
    if (N != NULL && *N < 2)
        return lt_error(LT_ERR_RUNTIME, "linalg.vander: N must be greater than 1, but got %lld",
                        (long long)*N);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(linalg_vander));
    lt_tensor *bases = x->ndim > 0 ? x : do_flatten(&s, x);
    const int64_t n = N != NULL ? *N : x->ndim > 0 ? x->sizes[x->ndim - 1] : 1;
    if (s.status == LT_OK) s.status = powers(bases, n, true, out);
    return lt_scope_close(&s);
}
