/* linalg.c - factorizations and solutions of batches of matrices, by the backend's LAPACK or
 * cuSOLVER.
 *
 * Those read matrices column after column: a dense tensor of the transposed matrices is what they
 * want, and what they leave is turned back as a view. On a GPU everything stays there but one
 * number per matrix that says whether it could be dealt with: to raise an error the host waits for
 * it, as PyTorch does, and the ledger is told. Ops with several results that have derivatives are
 * made of one that packs them into a single tensor, and of views of its parts. */
#include "linalg.h"

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "devices/backend.h"
#include "devices/copies.h"
#include "counting.h"
#include "devices/device.h"
#include "memory/alloc.h"
#include "iter.h"
#include "op/_linalg_cholesky.h"
#include "op/_linalg_eig.h"
#include "op/_linalg_eigh.h"
#include "op/_linalg_eigvals.h"
#include "op/_linalg_ldl.h"
#include "op/_linalg_ldl_solve.h"
#include "op/_linalg_logabsdet.h"
#include "op/_linalg_lu.h"
#include "op/_linalg_lstsq.h"
#include "op/_linalg_lstsq_rank.h"
#include "op/_linalg_qr.h"
#include "op/_linalg_reflectors.h"
#include "op/_linalg_sign_det.h"
#include "op/_linalg_solve.h"
#include "op/_linalg_solve_triangular.h"
#include "op/_linalg_svd.h"
#include "op/_linalg_svdvals.h"
#include "op/amax.h"
#include "op/det.h"
#include "op/inverse.h"
#include "op/linalg_svd.h"
#include "op/prod.h"
#include "op/to.h"
#include "op/triu.h"
#include "step/sgn.h"
#include "step/tril.h"

/* ---- checks ---------------------------------------------------------------------------------- */

lt_status lt_linalg_check_matrix(const char *op, const lt_tensor *a)
{
    if (a->ndim < 2)
        return lt_error(LT_ERR_RUNTIME, "%s: The input tensor A must have at least 2 dimensions.",
                        op);
    /* LAPACK counts in int */
    if (lt_rows(a) <= INT32_MAX && lt_columns(a) <= INT32_MAX) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "%s: matrices have at most %d rows and columns", op, INT32_MAX);
}

lt_status lt_linalg_check_square(const char *op, const lt_tensor *a)
{
    LT_TRY(lt_linalg_check_matrix(op, a));
    if (lt_rows(a) == lt_columns(a)) return LT_OK;
    return lt_error(LT_ERR_RUNTIME,
                    "%s: A must be batches of square matrices, but they are %lld by %lld matrices",
                    op, (long long)lt_rows(a), (long long)lt_columns(a));
}

lt_status lt_linalg_check_kind(const char *op, const lt_tensor *a)
{
    lt_dtype dtype = (lt_dtype)a->dtype;
    if (!lt_dtype_is_inexact(dtype))
        return lt_error(LT_ERR_RUNTIME,
                        "%s: Expected a floating point or complex tensor as input. Got %s", op,
                        lt_dtype_scalar_name(dtype));
    if (dtype != LT_FLOAT32 && dtype != LT_FLOAT64 && dtype != LT_COMPLEX64 &&
        dtype != LT_COMPLEX128)
        return lt_error(LT_ERR_RUNTIME, "%s: Low precision dtypes not supported. Got %s", op,
                        lt_dtype_scalar_name(dtype));
    return LT_OK;
}

/* ---- batches --------------------------------------------------------------------------------- */

static int64_t batch_count(const lt_tensor *a)
{
    int64_t n = 1;
    for (int d = 0; d < a->ndim - 2; d++) n *= a->sizes[d];
    return n;
}

/* A dense copy of its own. */
static lt_tensor *do_dense_copy(lt_scope *s, lt_tensor *a)
{
    lt_tensor *copy = NULL;
    if (s->status != LT_OK) return NULL;
    s->status = lt_tensor_shaped(a, (lt_dtype)a->dtype, &copy);
    if (s->status == LT_OK && lt_scope_hold(s, LT_OK, copy) != NULL)
        s->status = lt_copy_elements(copy, a);
    return s->status == LT_OK ? copy : NULL;
}

static lt_tensor *do_new_of(lt_scope *s, lt_dtype dtype, lt_device device, const lt_dims *sizes)
{
    lt_tensor *t = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_tensor_new(dtype, device, sizes->n, sizes->v, &t);
    return lt_scope_hold(s, status, t);
}

static lt_tensor *do_new(lt_scope *s, const lt_tensor *like, const lt_dims *sizes)
{
    return do_new_of(s, (lt_dtype)like->dtype, like->device, sizes);
}

/* Numbers that are real whatever a is: its singular values, its eigenvalues. */
static lt_tensor *do_new_real(lt_scope *s, const lt_tensor *like, const lt_dims *sizes)
{
    lt_tensor *t = do_new_of(s, lt_real_of((lt_dtype)like->dtype), like->device, sizes);
    if (t != NULL) s->status = lt_fill_value(t, lt_int(0));
    return s->status == LT_OK ? t : NULL;
}

/* The sizes of a batch like a's, of rows x columns matrices; columns < 0: of vectors; rows < 0: of
 * numbers. */
static lt_dims batch_of(const lt_tensor *a, int64_t rows, int64_t columns)
{
    lt_dims sizes = lt_dims_of(a);
    sizes.n = a->ndim - 2;
    if (rows >= 0) sizes.v[sizes.n++] = rows;
    if (columns >= 0) sizes.v[sizes.n++] = columns;
    return sizes;
}

static int32_t *integers_of(lt_tensor *t) { return (int32_t *)(void *)lt_data(t); }

/* ---- factors of a batch ---------------------------------------------------------------------- */

/* Whose errors they are, and what a matrix that cannot be dealt with is told, in PyTorch's words:
 * its %d is what LAPACK says, or, where that is the number of an element of the diagonal, this
 * element as the caller counts. */
typedef struct refusal {
    const char *op, *format;
    bool element;
} refusal;

static lt_factor factor_of(lt_factor_kind kind, const lt_tensor *a)
{
    return (lt_factor){.kind = kind,
                       .dtype = (lt_dtype)a->dtype,
                       .device = a->device,
                       .batch = batch_count(a),
                       .stride_a = lt_rows(a) * lt_columns(a),
                       .m = (int)lt_columns(a),
                       .n = (int)lt_rows(a),
                       .a = lt_data((lt_tensor *)a)};
}

/* The numbers of an int32 tensor, on the host: its own, or copied into a fresh array, *copy. */
static lt_status numbers_on_host(const char *op, lt_tensor *t, const int32_t **numbers,
                                 int32_t **copy)
{
    *copy = NULL;
    *numbers = integers_of(t);
    if (t->device.type == LT_CPU) return LT_OK;
    const size_t bytes = (size_t)t->numel * sizeof **copy;
    double waited = 0;
    LT_TRY(lt_copies_check_sync(op));
    *copy = lt_mem_array(t->numel, sizeof **copy);
    if (*copy == NULL) return LT_ERR_MEMORY;
    LT_TRY(lt_backend_of(t)->transfer(*copy, lt_host, lt_data(t), t->device, bytes, false,
                                      LT_COPY_BLOCKING, &waited));
    lt_copy_cause outer = lt_copies_set_cause((lt_copy_cause){op, true});
    if (outer.name != NULL) lt_copies_set_cause(outer);
    lt_copies_record(t->device, lt_host, (int64_t)bytes, waited);
    lt_copies_set_cause(outer);
    *numbers = *copy;
    return LT_OK;
}

/* The error of the first matrix that could not be dealt with, or, where `any` asks, whether there
 * is one. a has the shape that the caller knows. */
static lt_status refused(const refusal *r, const lt_tensor *a, lt_tensor *infos, bool *any)
{
    char batch[48] = "", reason[256];
    const int32_t *info;
    int32_t *copy;
    lt_status status = numbers_on_host(r->op, infos, &info, &copy);
    for (int64_t i = 0; status == LT_OK && i < infos->numel; i++) {
        if (info[i] == 0) continue;
        if (any != NULL) {
            *any = true;
            break;
        }
        if (a->ndim > 2) snprintf(batch, sizeof batch, "(Batch element %lld): ", lt_shown(i));
        snprintf(reason, sizeof reason, r->format,
                 r->element ? (int)lt_shown(info[i] - 1) : info[i]);
        status = lt_error(LT_ERR_RUNTIME, "%s: %s%s", r->op, batch, reason);
    }
    lt_mem_free(copy);
    return status;
}

/* Runs f; with `r`, a matrix of a that cannot be dealt with is an error, or, where the backend has
 * a way that deals with more, makes this false. */
static bool do_factor(lt_scope *s, lt_factor *f, const lt_tensor *a, const refusal *r)
{
    lt_tensor *infos = NULL;
    bool any = false;
    if (s->status != LT_OK || f->batch == 0) return true;
    if (r != NULL) {
        infos = do_new_of(s, LT_INT32, f->device, &(lt_dims){1, {f->batch}});
        if (infos == NULL) return true;
        f->infos = integers_of(infos);
    }
    const bool at_home = f->device.type == LT_CPU || !lt_dtype_is_complex(f->dtype);
    s->status = at_home ? lt_backends[f->device.type]->factor(f)
                        : lt_linalg_factor_on_host(f, r != NULL ? r->op : "linalg");
    if (s->status == LT_OK && r != NULL)
        s->status = refused(r, a, infos, f->has_robust ? &any : NULL);
    return !any;
}

/* LU factors of square matrices that lie column after column, in place; the pivots. */
static lt_tensor *do_lu(lt_scope *s, lt_tensor *work, const refusal *r)
{
    if (s->status != LT_OK) return NULL;
    lt_dims sizes = batch_of(work, lt_rows(work), -1);
    lt_tensor *pivots = do_new_of(s, LT_INT32, work->device, &sizes);
    if (pivots == NULL) return NULL;
    lt_factor f = factor_of(LT_FACTOR_LU, work);
    f.pivots = integers_of(pivots);
    if (f.n > 0) do_factor(s, &f, work, r);
    return s->status == LT_OK ? pivots : NULL;
}

/* ---- inverse, determinants, solutions -------------------------------------------------------- */

lt_status lt_inverse_impl(lt_tensor *self, lt_tensor **out)
{
    static const refusal singular = {
        "linalg.inv",
        "The diagonal element %d is zero, the inversion could not be completed "
        "because the input matrix is singular.",
        true};
    LT_TRY(lt_linalg_check_square(singular.op, self));
    LT_TRY(lt_linalg_check_kind(singular.op, self));
    lt_dims sizes = lt_dims_of(self);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(inverse));
    /* the inverse of the transposed lies as the transposed inverse */
    lt_tensor *work = do_dense_copy(&s, self);
    lt_tensor *pivots = do_lu(&s, work, &singular), *result = do_new(&s, self, &sizes);
    if (result != NULL && self->numel > 0) {
        lt_factor f = factor_of(LT_FACTOR_INVERSE, work);
        f.pivots = integers_of(pivots);
        f.b = lt_data(result);
        do_factor(&s, &f, self, NULL);
    }
    return lt_scope_store(&s, result, out);
}

static lt_tensor *do_products(lt_scope *s, lt_tensor *a) /* of the last dimension */
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

/* On the host in double, one matrix after the other. */
static void determinants_of_host(determinant what, lt_tensor *work, lt_tensor *pivots,
                                 lt_tensor *out)
{
    const int64_t n = lt_rows(work);
    const int32_t *pivot = integers_of(pivots);
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

/* Of the elements of the diagonal, the sign changed where rows were exchanged: nothing leaves the
 * device. */
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
    lt_dims sizes = batch_of(self, -1, -1);
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *work = do_dense_copy(&s, self), *pivots = do_lu(&s, work, NULL), *result = NULL;
    if (s.status == LT_OK && self->device.type != LT_CPU) {
        result = do_determinants(&s, what, work, pivots);
    } else {
        result = what == LOG_MAGNITUDE ? do_new_real(&s, self, &sizes) : do_new(&s, self, &sizes);
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

/* Solves with every matrix of a, batches broadcast. triangle NULL: a is any square matrix, else it
 * says which of its triangles is read. */
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
    lt_dims batch_a = batch_of(a, 1, 1), batch_b = batch_of(b, 1, 1), batch = {.n = 0};
    lt_tensor like_a = {.ndim = (uint8_t)batch_a.n}, like_b = {.ndim = (uint8_t)batch_b.n};
    memcpy(like_a.sizes, batch_a.v, sizeof like_a.sizes);
    memcpy(like_b.sizes, batch_b.v, sizeof like_b.sizes);
    LT_TRY(lt_broadcast_shape((lt_tensor *[]){&like_a, &like_b}, 2, &batch.n, batch.v));
    int n = (int)lt_rows(a), columns = (int)lt_columns(b);
    lt_dims wide_a = batch, wide_b = batch;
    wide_a.v[batch.n - 2] = wide_a.v[batch.n - 1] = wide_b.v[batch.n - 2] = n;
    wide_b.v[batch.n - 1] = columns;
    const refusal singular = {op, "The solver failed because the input matrix is singular.", false};
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *left = do_expand(&s, a, &wide_a), *pivots = NULL, *turned = NULL;
    /* it is only read */
    const bool as_it_is = triangle != NULL && !lt_dtype_is_complex((lt_dtype)a->dtype);
    if (as_it_is && left != NULL && !lt_is_contiguous(left)) turned = do_turn(&s, left);
    const bool by_columns = turned != NULL && lt_is_contiguous(turned);
    if (by_columns)
        left = turned;
    else if (!as_it_is || left == NULL || !lt_is_contiguous(left))
        left = do_dense_copy(&s, left);
    lt_tensor *right = do_expand(&s, b, &wide_b);
    if (right != NULL) right = do_dense_copy(&s, do_turn(&s, right));
    if (triangle == NULL) pivots = do_lu(&s, left, &singular); /* of the transposed */
    if (s.status == LT_OK && n > 0 && columns > 0) {
        lt_factor f = factor_of(triangle != NULL ? LT_FACTOR_TRIANGULAR : LT_FACTOR_SOLVE, left);
        f.transposed = !by_columns;
        f.upper = triangle != NULL && triangle->upper == by_columns;
        f.unit = triangle != NULL && triangle->unit;
        f.pivots = pivots != NULL ? integers_of(pivots) : NULL;
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

lt_status lt__linalg_cholesky_impl(lt_tensor *self, bool upper, lt_tensor **out)
{
    static const refusal indefinite = {
        "linalg.cholesky",
        "The factorization could not be completed because the input is not "
        "positive-definite (the leading minor of order %d is not positive-definite).",
        false};
    LT_TRY(lt_linalg_check_square(indefinite.op, self));
    LT_TRY(lt_linalg_check_kind(indefinite.op, self));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_cholesky));
    lt_tensor *work = do_dense_copy(&s, self), *result = NULL;
    if (work != NULL && work->numel > 0) {
        lt_factor f = factor_of(LT_FACTOR_CHOLESKY, work);
        f.upper = !upper;
        do_factor(&s, &f, self, &indefinite);
        if (self->device.type != LT_CPU) { /* LAPACK finds a pivot that is nan, cuSOLVER goes on */
            lt_tensor *orders = do_first_nan(&s, work);
            if (orders != NULL) s.status = refused(&indefinite, self, orders, NULL);
        }
    }
    if (s.status == LT_OK) {
        lt_status status = upper ? lt_triu(work, 0, &result) : lt_tril(work, 0, &result);
        result = lt_scope_hold(&s, status, result);
    }
    return lt_scope_store(&s, result, out);
}

/* ---- factors as they are --------------------------------------------------------------------- */

/* Hands the results of an open scope out. */
static lt_status give_all(lt_scope *s, int n, lt_tensor *const *results, lt_tensor **const *outs)
{
    for (int i = 0; s->status == LT_OK && i < n; i++) *outs[i] = lt_tensor_retain(results[i]);
    return lt_scope_close(s);
}

lt_status lt__linalg_lu_impl(lt_tensor *self, lt_tensor **out_LU, lt_tensor **out_pivots,
                             lt_tensor **out_info)
{
    LT_TRY(lt_linalg_check_square("linalg.lu_factor", self));
    LT_TRY(lt_linalg_check_kind("linalg.lu_factor", self));
    const lt_dims each = batch_of(self, lt_rows(self), -1), one = batch_of(self, -1, -1);
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *work = do_dense_copy(&s, do_turn(&s, self)); /* columns lie one after another */
    lt_tensor *pivots = do_new_of(&s, LT_INT32, self->device, &each),
              *info = do_new_of(&s, LT_INT32, self->device, &one);
    if (info != NULL) s.status = lt_fill_value(info, lt_int(0));
    if (s.status == LT_OK && self->numel > 0) {
        lt_factor f = factor_of(LT_FACTOR_LU, work);
        f.pivots = integers_of(pivots);
        f.infos = integers_of(info);
        do_factor(&s, &f, work, NULL);
    }
    lt_tensor *factors = do_turn(&s, work);
    return give_all(&s, 3, (lt_tensor *[]){factors, pivots, info},
                    (lt_tensor * *[]){out_LU, out_pivots, out_info});
}

lt_status lt__linalg_reflectors_impl(lt_tensor *self, lt_tensor **out_a, lt_tensor **out_tau)
{
    LT_TRY(lt_linalg_check_matrix("geqrf", self));
    LT_TRY(lt_linalg_check_kind("geqrf", self));
    const int64_t m = lt_rows(self), n = lt_columns(self), least = m < n ? m : n;
    const lt_dims number = batch_of(self, least, -1);
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *work = do_dense_copy(&s, do_turn(&s, self)), *tau = do_new(&s, self, &number);
    if (s.status == LT_OK && least > 0) {
        lt_factor f = factor_of(LT_FACTOR_QR, work);
        f.values = lt_data(tau);
        do_factor(&s, &f, self, NULL);
    }
    lt_tensor *turned = do_turn(&s, work);
    return give_all(&s, 2, (lt_tensor *[]){turned, tau}, (lt_tensor * *[]){out_a, out_tau});
}

/* ---- factors, packed into one tensor --------------------------------------------------------- */

/* Q (m x k) above R (k x n) where k = n, else beside it. */
lt_status lt__linalg_qr_impl(lt_tensor *self, bool complete, lt_tensor **out)
{
    const char *op = "linalg.qr";
    LT_TRY(lt_linalg_check_matrix(op, self));
    LT_TRY(lt_linalg_check_kind(op, self));
    int m = (int)lt_rows(self), n = (int)lt_columns(self), least = m < n ? m : n,
        k = complete ? m : least;
    /* columns lie one after another */
    lt_dims room = batch_of(self, k > n ? k : n, m), number = batch_of(self, least, -1);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_qr));
    lt_tensor *tau = do_new(&s, self, &number), *work = do_zeros(&s, self, &room),
              *given = do_turn(&s, self), *r = NULL;
    if (given != NULL) do_store(&s, do_part(&s, work, -2, 0, n), given);
    if (s.status == LT_OK && least > 0) {
        lt_factor f = factor_of(LT_FACTOR_QR, work);
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
        lt_factor f = factor_of(LT_FACTOR_Q, work);
        f.columns = k;
        f.k = least;
        f.values = lt_data(tau);
        do_factor(&s, &f, self, NULL);
    }
    lt_tensor *q = do_turn(&s, do_part(&s, work, -2, 0, k));
    return lt_scope_store(&s, do_cat(&s, (lt_tensor *[]){q, r}, 2, k == n ? -2 : -1), out);
}

static const refusal divergent = {
    "linalg.svd",
    "The algorithm failed to converge because the input matrix is ill-conditioned "
    "or has too many repeated singular values (error code: %d).",
    false};

/* values becomes the singular values of self; *u and *v, unless NULL, its vectors U and V^H
 * transposed. The robust way, of real matrices, is for matrices that are not wide: the transposed
 * of wide ones have their vectors in each other's place. False: another way deals with more
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
    const lt_dims u_room = batch_of(self, of_u, m), v_room = batch_of(self, n, of_v),
                  v_turned = batch_of(self, of_v, n);
    lt_tensor *left = u != NULL ? do_zeros(s, self, &u_room) : NULL,
              *right = v != NULL ? do_zeros(s, self, &v_room) : NULL;
    if (s->status != LT_OK) return true;
    lt_factor f = factor_of(LT_FACTOR_SVD, work);
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
    return lt_linalg_refuse_nan(self, "linalg.svd: The algorithm failed to converge because the "
                                      "input matrix contained non-finite values.");
}

static void do_svd(lt_scope *s, lt_tensor *self, bool full, lt_tensor *values, lt_tensor **u,
                   lt_tensor **v)
{
    if (!do_svd_by(s, false, self, full, values, u, v))
        do_svd_by(s, true, self, full, values, u, v);
}

/* Rows: U, then S, then V^H transposed, all of one width: that of the largest of them. */
lt_status lt__linalg_svd_impl(lt_tensor *self, bool full_matrices, lt_tensor **out)
{
    LT_TRY(check_svd(self));
    int64_t m = lt_rows(self), n = lt_columns(self), k = m < n ? m : n,
            width = !full_matrices ? k
                    : m > n        ? m
                                   : n;
    int64_t of_u = full_matrices ? m : k, of_v = full_matrices ? n : k;
    lt_dims s_room = batch_of(self, 1, k), sizes = batch_of(self, m + 1 + n, width);
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
    lt_dims sizes = batch_of(self, 1, k), shape = batch_of(self, k, -1);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_svdvals));
    lt_tensor *values = do_new_real(&s, self, &sizes);
    if (values != NULL && k > 0) do_svd(&s, self, false, values, NULL, NULL);
    return lt_scope_store(&s, do_reshape(&s, values, &shape), out);
}

/* The eigenvectors (n x n), below them the eigenvalues. */
lt_status lt__linalg_eigh_impl(lt_tensor *self, bool upper, bool vectors, lt_tensor **out)
{
    static const refusal endless = {
        "linalg.eigh",
        "The algorithm failed to converge because the input matrix is ill-conditioned "
        "or has too many repeated eigenvalues (error code: %d).",
        false};
    LT_TRY(lt_linalg_check_square(endless.op, self));
    LT_TRY(lt_linalg_check_kind(endless.op, self));
    lt_dims sizes = batch_of(self, 1, lt_rows(self));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_eigh));
    /* what lies in the other triangle is not looked at */
    lt_tensor *taken = upper ? do_triu_at(&s, self, 0) : do_tril_at(&s, self, 0);
    if (taken != NULL)
        s.status =
            lt_linalg_refuse_nan(taken, "linalg.eigh: The algorithm failed to converge because the "
                                        "input matrix contained non-finite values.");
    lt_tensor *work = do_dense_copy(&s, do_turn(&s, self)), *values = do_new_real(&s, self, &sizes);
    if (values != NULL && work->numel > 0) {
        lt_factor f = factor_of(LT_FACTOR_EIGH, work);
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

/* ---- any square matrices: on the host, whatever device they are on, as LAPACK alone has them ---- */

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
    static const refusal endless = {
        "linalg.eig",
        "The algorithm failed to converge because the input matrix is ill-conditioned "
        "or has too many repeated eigenvalues (error code: %d).",
        false};
    const lt_dtype dtype = lt_complex_of((lt_dtype)a->dtype);
    const lt_dims row = batch_of(a, lt_rows(a), -1), square = lt_dims_of(a);
    lt_tensor *work = do_dense_copy(s, do_turn(s, do_on_host(s, a)));
    *values = do_new_of(s, dtype, lt_host, &row);
    if (vectors != NULL) *vectors = do_new_of(s, dtype, lt_host, &square);
    if (s->status != LT_OK || a->numel == 0) return;
    lt_factor f = factor_of(LT_FACTOR_EIG, work);
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
        self, "torch.linalg.eig: input tensor should not contain infs or NaNs.");
}

/* The eigenvectors, below them the eigenvalues. */
lt_status lt__linalg_eig_impl(lt_tensor *self, lt_tensor **out)
{
    LT_TRY(check_eigen(self, true));
    lt_tensor *vectors, *values;
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_eig));
    do_eigen(&s, self, &vectors, &values);
    lt_tensor *packed = do_cat(&s, (lt_tensor *[]){vectors, do_unsqueeze(&s, values, -2)}, 2, -2);
    return lt_scope_store(&s, do_to_device(&s, packed, self->device), out);
}

lt_status lt__linalg_eigvals_impl(lt_tensor *self, lt_tensor **out)
{
    LT_TRY(check_eigen(self, false));
    lt_tensor *values;
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_eigvals));
    do_eigen(&s, self, NULL, &values);
    return lt_scope_store(&s, do_to_device(&s, values, self->device), out);
}

lt_status lt__linalg_ldl_impl(lt_tensor *self, bool hermitian, lt_tensor **out_LD,
                              lt_tensor **out_pivots, lt_tensor **out_info)
{
    LT_TRY(lt_linalg_check_square("torch.linalg.ldl_factor_ex", self));
    LT_TRY(lt_linalg_check_kind("torch.linalg.ldl_factor_ex", self));
    const lt_dims row = batch_of(self, lt_rows(self), -1), one = batch_of(self, -1, -1);
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *work = do_dense_copy(&s, do_turn(&s, do_on_host(&s, self)));
    lt_tensor *pivots = do_new_of(&s, LT_INT32, lt_host, &row),
              *info = do_new_of(&s, LT_INT32, lt_host, &one);
    if (info != NULL) s.status = lt_fill_value(info, lt_int(0));
    if (s.status == LT_OK && self->numel > 0) {
        lt_factor f = factor_of(LT_FACTOR_LDL, work);
        f.hermitian = hermitian;
        f.pivots = integers_of(pivots);
        f.infos = integers_of(info);
        do_factor(&s, &f, work, NULL);
    }
    lt_tensor *factors = do_to_device(&s, do_tril(&s, do_turn(&s, work)), self->device);
    pivots = do_to_device(&s, pivots, self->device), info = do_to_device(&s, info, self->device);
    return give_all(&s, 3, (lt_tensor *[]){factors, pivots, info},
                    (lt_tensor * *[]){out_LD, out_pivots, out_info});
}

/* Pivots that LAPACK would follow out of the matrix: each is a row, from 1, or the negative of one
 * in both rows of a block of two. */
static lt_status check_ldl_pivots(const int *pivots, int64_t matrices, int64_t n)
{
    for (int64_t i = 0; i < matrices; i++, pivots += n)
        for (int64_t k = 0, size; k < n; k += size) {
            size = pivots[k] < 0 ? 2 : 1;
            const bool whole = k + size <= n && (size == 1 || pivots[k + 1] < 0);
            for (int64_t j = k; j < k + size; j++)
                if (!whole || pivots[j] == 0 || pivots[j] < -n || pivots[j] > n)
                    return lt_error(
                        LT_ERR_RUNTIME,
                        "torch.linalg.ldl_solve: expected pivots from 1 to %lld, and the negatives "
                        "of these in pairs, but "
                        "entry %lld is %d. Did you properly pass the result of ldl_factor?",
                        (long long)n, lt_shown(whole ? j : k), pivots[whole ? j : k]);
        }
    return LT_OK;
}

lt_status lt__linalg_ldl_solve_impl(lt_tensor *LD, lt_tensor *pivots, lt_tensor *B, bool hermitian,
                                    lt_tensor **out)
{
    const lt_dims square = batch_of(B, lt_rows(LD), lt_rows(LD)),
                  row = batch_of(B, lt_rows(LD), -1);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_linalg_ldl_solve));
    lt_tensor *left = do_dense_copy(&s, do_turn(&s, do_on_host(&s, do_expand(&s, LD, &square))));
    lt_tensor *places = do_dense_copy(&s, do_on_host(&s, do_expand(&s, pivots, &row)));
    lt_tensor *right = do_dense_copy(&s, do_turn(&s, do_on_host(&s, B)));
    if (s.status == LT_OK && lt_rows(LD) > 0)
        s.status = check_ldl_pivots(integers_of(places), places->numel / lt_rows(LD), lt_rows(LD));
    if (s.status == LT_OK && B->numel > 0) {
        lt_factor f = factor_of(LT_FACTOR_LDL_SOLVE, left);
        f.hermitian = hermitian;
        f.pivots = integers_of(places);
        f.columns = (int)lt_columns(B);
        f.b = lt_data(right);
        do_factor(&s, &f, left, NULL);
    }
    return lt_scope_store(&s, do_to_device(&s, do_turn(&s, right), B->device), out);
}

/* ---- least squares --------------------------------------------------------------------------- */

/* By the singular values, of which those up to rcond times the largest count as 0: V diag(1 / S)
 * U^H b. */
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
    lt_tensor *right = do_zeros(&s, a, room); /* the solutions lie as LAPACK leaves them */
    lt_tensor *solution = do_turn(&s, do_part(&s, right, -1, 0, lt_columns(a)));
    return lt_scope_store(&s, do_store(&s, solution, do_matmul(&s, do_adjoint(&s, vh), scaled)),
                          out);
}

/* The solutions (n x columns) in *out; where ranks is not NULL, the ranks of the matrices in it
 * instead. */
static lt_status least_squares(lt_tensor *a, lt_tensor *b, double rcond, lt_tensor **ranks,
                               lt_tensor **out)
{
    const char *op = "torch.linalg.lstsq";
    LT_TRY(lt_linalg_check_matrix(op, a));
    LT_TRY(lt_linalg_check_kind(op, a));
    int64_t m = lt_rows(a), n = lt_columns(a), columns = lt_columns(b), rows = m > n ? m : n;
    lt_dims room = batch_of(a, columns, rows), numbers = batch_of(a, -1, -1);
    if (a->device.type != LT_CPU && a->numel > 0)
        return by_singular_values(a, b, rcond, &room, ranks, out);
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *left = do_dense_copy(&s, do_turn(&s, a)), *right = do_zeros(&s, a, &room);
    lt_tensor *found = do_new_of(&s, LT_INT32, a->device, &numbers);
    do_store(&s, do_part(&s, right, -1, 0, m), do_turn(&s, b));
    if (s.status == LT_OK) s.status = lt_fill_value(found, lt_int(0));
    if (s.status == LT_OK && a->numel > 0) {
        lt_factor f = factor_of(LT_FACTOR_LEAST_SQUARES, left);
        f.columns = (int)columns;
        f.b = lt_data(right);
        f.rcond = rcond;
        f.infos = integers_of(found);
        do_factor(&s, &f, a, NULL);
    }
    if (ranks != NULL) return lt_scope_store(&s, do_cast(&s, found, LT_INT64), ranks);
    return lt_scope_store(&s, right != NULL ? do_turn(&s, do_part(&s, right, -1, 0, n)) : NULL,
                          out);
}

lt_status lt__linalg_lstsq_impl(lt_tensor *self, lt_tensor *other, double rcond, lt_tensor **out)
{
    LT_TRY(lt_linalg_refuse_infinite(
        self, "torch.linalg.lstsq: expected finite numbers, but input contains infs or NaNs."));
    LT_TRY(lt_linalg_refuse_infinite(
        other, "torch.linalg.lstsq: expected finite numbers, but other contains infs or NaNs."));
    return least_squares(self, other, rcond, NULL, out);
}

lt_status lt__linalg_lstsq_rank_impl(lt_tensor *self, lt_tensor *other, double rcond,
                                     lt_tensor **out)
{
    return least_squares(self, other, rcond, out, NULL);
}
