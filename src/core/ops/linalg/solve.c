/* solve.c - inverses, determinants and solutions of batches of matrices, by factorizations
 * (linalg.h). */
#include "linalg.h"

#include <complex.h>
#include <math.h>
#include <string.h>

#include "iter.h"
#include "op/_linalg_cholesky.h"
#include "op/_linalg_cholesky_ex.h"
#include "op/_linalg_inv_ex.h"
#include "op/_linalg_logabsdet.h"
#include "op/_linalg_sign_det.h"
#include "op/_linalg_solve.h"
#include "op/_linalg_solve_triangular.h"
#include "op/det.h"
#include "op/inverse.h"
#include "op/prod.h"
#include "op/triu.h"
#include "step/sgn.h"
#include "step/tril.h"

/* The inverse and, unless out_info is NULL, of each matrix the number of a diagonal element that is
 * zero, or 0. checked: such a matrix is an error. */
static lt_status invert(const char *op, lt_tensor *self, bool checked, lt_tensor **out,
                        lt_tensor **out_info)
{
    const lt_linalg_refusal singular = {
        op,
        "The diagonal element %d is zero, the inversion could not be completed because the input "
        "matrix is singular.",
        true};
    LT_TRY(lt_linalg_check_square(op, self));
    LT_TRY(lt_linalg_check_kind(op, self));
    const lt_dims sizes = lt_dims_of(self), one = lt_linalg_batch_of(self, -1, -1);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(inverse));
    /* row-major is the transpose in column-major order: its inverse is the transposed inverse */
    lt_tensor *work = do_dense_copy(&s, self), *info = do_new_integers(&s, self, &one);
    lt_tensor *pivots = do_lu(&s, work, &(lt_linalg_refusal){.op = op}, info),
              *result = do_new_like(&s, self, &sizes);
    if (s.status == LT_OK && checked) s.status = lt_linalg_refused(&singular, self, info, NULL);
    if (s.status == LT_OK && self->numel > 0) {
        lt_factor f = lt_linalg_factor_of(LT_FACTOR_INVERSE, work);
        f.pivots = lt_linalg_integers(pivots);
        f.b = lt_data(result);
        do_factor(&s, &f, self, NULL);
    }
    lt_scope_move_out(&s, result, out);
    if (out_info != NULL) lt_scope_move_out(&s, info, out_info);
    return lt_scope_close(&s);
}

lt_status lt_inverse_impl(lt_tensor *self, lt_tensor **out)
{
    return invert("linalg.inv", self, true, out, NULL);
}

lt_status lt__linalg_inv_ex_impl(lt_tensor *self, bool check_errors, lt_tensor **inverse,
                                 lt_tensor **info)
{
    return invert("linalg.inv_ex", self, check_errors, inverse, info);
}

static lt_tensor *do_products(lt_scope *s, lt_tensor *a) /* products along the last dimension */
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_prod_dim(a, a->ndim - 1, false, LT_DTYPE_NONE, &out);
    return lt_scope_hold(s, status, out);
}

typedef enum determinant { DETERMINANT, SIGN, LOG_MAGNITUDE } determinant;

static double complex element_of(lt_tensor *t, int64_t i)
{
    const void *data = lt_data(t);
    switch (t->dtype) {
    case LT_FLOAT32: return ((const float *)data)[i];
    case LT_FLOAT64: return ((const double *)data)[i];
    case LT_COMPLEX64: return ((const float complex *)data)[i];
    default: return ((const double complex *)data)[i];
    }
}

static void set_element(lt_tensor *t, int64_t i, double complex x)
{
    void *data = lt_data(t);
    switch (t->dtype) {
    case LT_FLOAT32: ((float *)data)[i] = (float)creal(x); break;
    case LT_FLOAT64: ((double *)data)[i] = creal(x); break;
    case LT_COMPLEX64: ((float complex *)data)[i] = (float complex)x; break;
    default: ((double complex *)data)[i] = x;
    }
}

/* On the host in double, matrix by matrix. */
static void determinants_of_host(determinant what, lt_tensor *work, lt_tensor *pivots,
                                 lt_tensor *out)
{
    const int64_t n = lt_rows(work);
    const int32_t *pivot = lt_linalg_integers(pivots);
    for (int64_t i = 0; i < out->numel; i++) {
        double complex sign = 1, product = 1;
        double log_magnitude = 0;
        for (int64_t d = 0; d < n; d++) {
            const double complex x = element_of(work, i * n * n + d * (n + 1));
            const double magnitude = cabs(x);
            if (pivot[i * n + d] != d + 1) sign = -sign, product = -product;
            sign *= isnan(magnitude) || magnitude == 0  ? 0
                    : isinf(magnitude) && cimag(x) == 0 ? copysign(1, creal(x))
                                                        : x / magnitude;
            log_magnitude += log(magnitude);
            product *= x;
        }
        set_element(out, i, what == SIGN ? sign : what == LOG_MAGNITUDE ? log_magnitude : product);
    }
}

/* The product of the diagonal, with the sign changed for each exchange of rows; the data stays on
 * the device. */
static lt_tensor *do_determinants(lt_scope *s, determinant what, lt_tensor *work, lt_tensor *pivots)
{
    lt_tensor *elements = do_diagonal(s, work, 0, -2, -1);
    if (what == LOG_MAGNITUDE) return do_sum_dim(s, do_log(s, do_abs(s, elements)), -1, false);
    lt_tensor *places = do_range(s, lt_rows(work), work->device);
    lt_tensor *kept = do_eq(s, pivots, do_add(s, places, do_number(s, 1)));
    lt_tensor *one = do_number(s, 1), *signs = do_where(s, kept, one, do_number(s, -1));
    return do_products(s, do_mul(s, what == SIGN ? do_sgn(s, elements) : elements, signs));
}

static lt_status determinants(const char *op, determinant what, lt_tensor *self, lt_tensor **out)
{
    LT_TRY(lt_linalg_check_square(op, self));
    LT_TRY(lt_linalg_check_kind(op, self));
    lt_dims sizes = lt_linalg_batch_of(self, -1, -1);
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *work = do_dense_copy(&s, self), *pivots = do_lu(&s, work, NULL, NULL),
              *result = NULL;
    if (s.status == LT_OK && self->device.type != LT_CPU) {
        result = do_determinants(&s, what, work, pivots);
    } else {
        result =
            what == LOG_MAGNITUDE ? do_new_real(&s, self, &sizes) : do_new_like(&s, self, &sizes);
        if (result != NULL) determinants_of_host(what, work, pivots, result);
    }
    return lt_scope_store(&s, result, out);
}

lt_status lt_det_impl(lt_tensor *self, lt_tensor **out)
{
    return determinants("linalg.det", DETERMINANT, self, out);
}

lt_status lt__linalg_sign_det_impl(lt_tensor *self, lt_tensor **out)
{
    return determinants("linalg.slogdet", SIGN, self, out);
}

lt_status lt__linalg_logabsdet_impl(lt_tensor *self, lt_tensor **out)
{
    return determinants("linalg.slogdet", LOG_MAGNITUDE, self, out);
}

/* Solves with every matrix of a, broadcasting batches. triangle: the triangle of a that is read;
 * NULL: a is any square matrix. */
typedef struct triangle {
    bool upper, unit;
} triangle;

static lt_status solve_each(const char *op, lt_tensor *a, lt_tensor *b, const triangle *triangle,
                            lt_tensor **out)
{
    LT_TRY(lt_linalg_check_square(op, a));
    LT_TRY(lt_linalg_check_kind(op, a));
    if (b->ndim < 2)
        return lt_error(LT_ERR_RUNTIME, "%s: The input tensor B must have at least 2 dimensions.",
                        op);
    LT_TRY(lt_linalg_check_matrix(op, b));
    if (a->dtype != b->dtype)
        return lt_error(LT_ERR_RUNTIME,
                        "%s: Expected A and B to have the same dtype, but found A of type %s and B "
                        "of type %s instead",
                        op, lt_dtype_scalar_name((lt_dtype)a->dtype),
                        lt_dtype_scalar_name((lt_dtype)b->dtype));
    if (lt_rows(b) != lt_rows(a))
        return lt_error(
            LT_ERR_RUNTIME,
            "%s: Incompatible shapes of A and B for the equation AX = B (%lldx%lld and %lldx%lld)",
            op, (long long)lt_rows(a), (long long)lt_columns(a), (long long)lt_rows(b),
            (long long)lt_columns(b));
    lt_device device;
    LT_TRY(lt_check_same_device(op, (lt_tensor *[]){a, b}, 2, false, &device));
    lt_dims batch;
    LT_TRY(lt_linalg_broadcast_batches(a, b, &batch));
    int n = (int)lt_rows(a), columns = (int)lt_columns(b);
    lt_dims wide_a = batch, wide_b = batch;
    wide_a.v[batch.n - 2] = wide_a.v[batch.n - 1] = wide_b.v[batch.n - 2] = n;
    wide_b.v[batch.n - 1] = columns;
    const lt_linalg_refusal singular = {
        op, "The solver failed because the input matrix is singular.", false};
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *left = do_expand(&s, a, &wide_a), *pivots = NULL, *turned = NULL;
    /* used in place, since it is only read */
    const bool as_it_is = triangle != NULL && !lt_dtype_is_complex((lt_dtype)a->dtype);
    if (as_it_is && left != NULL && !lt_is_contiguous(left)) turned = do_turn(&s, left);
    const bool by_columns = turned != NULL && lt_is_contiguous(turned);
    if (by_columns)
        left = turned;
    else if (!as_it_is || left == NULL || !lt_is_contiguous(left))
        left = do_dense_copy(&s, left);
    lt_tensor *right = do_expand(&s, b, &wide_b);
    if (right != NULL) right = do_dense_copy(&s, do_turn(&s, right));
    if (triangle == NULL) pivots = do_lu(&s, left, &singular, NULL); /* of the transpose */
    if (s.status == LT_OK && n > 0 && columns > 0) {
        lt_factor f =
            lt_linalg_factor_of(triangle != NULL ? LT_FACTOR_TRIANGULAR : LT_FACTOR_SOLVE, left);
        f.transposed = !by_columns;
        f.upper = triangle != NULL && triangle->upper == by_columns;
        f.unit = triangle != NULL && triangle->unit;
        f.pivots = pivots != NULL ? lt_linalg_integers(pivots) : NULL;
        f.columns = columns;
        f.b = lt_data(right);
        do_factor(&s, &f, left, NULL);
    }
    return lt_scope_store(&s, do_turn(&s, right), out);
}

lt_status lt__linalg_solve_impl(lt_tensor *self, lt_tensor *other, lt_tensor **out)
{
    return solve_each("torch.linalg.solve", self, other, NULL, out);
}

lt_status lt__linalg_solve_triangular_impl(lt_tensor *self, lt_tensor *other, bool upper,
                                           bool unitriangular, lt_tensor **out)
{
    return solve_each("linalg.solve_triangular", self, other, &(triangle){upper, unitriangular},
                      out);
}

/* The factor; with out_info, the order of the minor that is not positive-definite. */
static lt_status cholesky(const char *op, lt_tensor *self, bool upper, bool checked,
                          lt_tensor **out, lt_tensor **out_info)
{
    const lt_linalg_refusal indefinite = {
        op,
        "The factorization could not be completed because the input is not positive-definite (the "
        "leading minor of order %d is not positive-definite).",
        false};
    LT_TRY(lt_linalg_check_square(op, self));
    LT_TRY(lt_linalg_check_kind(op, self));
    const lt_dims one = lt_linalg_batch_of(self, -1, -1);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_cholesky));
    lt_tensor *work = do_dense_copy(&s, self), *result = NULL,
              *info = do_new_integers(&s, self, &one);
    if (s.status == LT_OK && work->numel > 0) {
        lt_factor f = lt_linalg_factor_of(LT_FACTOR_CHOLESKY, work);
        f.upper = !upper;
        f.infos = lt_linalg_integers(info);
        do_factor(&s, &f, self, &(lt_linalg_refusal){.op = op});
        if (self->device.type != LT_CPU) { /* LAPACK detects a nan pivot, cuSOLVER does not */
            lt_tensor *orders = do_reshape(&s, do_first_nan(&s, work), &one);
            info = do_where(&s, do_eq(&s, info, do_number(&s, 0)), orders, info);
        }
    }
    if (s.status == LT_OK && checked) s.status = lt_linalg_refused(&indefinite, self, info, NULL);
    if (s.status == LT_OK) {
        lt_status status = upper ? lt_triu(work, 0, &result) : lt_tril(work, 0, &result);
        result = lt_scope_hold(&s, status, result);
    }
    lt_scope_move_out(&s, result, out);
    if (out_info != NULL) lt_scope_move_out(&s, info, out_info);
    return lt_scope_close(&s);
}

lt_status lt__linalg_cholesky_impl(lt_tensor *self, bool upper, lt_tensor **out)
{
    return cholesky("linalg.cholesky", self, upper, true, out, NULL);
}

lt_status lt__linalg_cholesky_ex_impl(lt_tensor *self, bool upper, bool check_errors, lt_tensor **L,
                                      lt_tensor **info)
{
    return cholesky("linalg.cholesky_ex", self, upper, check_errors, L, info);
}
