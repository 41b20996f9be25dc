/* linalg.c - factorizations and solutions of batches of matrices, by LAPACK on the host.
 *
 * LAPACK reads matrices column after column: a dense tensor of the transposed matrices is what it wants, and what
 * it leaves is turned back as a view. Ops with several results that have derivatives are made of one that packs
 * them into a single tensor, and of views of its parts. */
#include "linalg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "counting.h"
#include "devices/device.h"
#include "libraries/lapack.h"
#include "mem.h"
#include "iter.h"
#include "op/_linalg_cholesky.h"
#include "op/_linalg_eigh.h"
#include "op/_linalg_logabsdet.h"
#include "op/_linalg_lstsq.h"
#include "op/_linalg_lstsq_rank.h"
#include "op/_linalg_qr.h"
#include "op/_linalg_sign_det.h"
#include "op/_linalg_solve.h"
#include "op/_linalg_solve_triangular.h"
#include "op/_linalg_svd.h"
#include "op/_linalg_svdvals.h"
#include "op/det.h"
#include "op/inverse.h"
#include "op/tril.h"
#include "op/triu.h"

/* ---- checks ------------------------------------------------------------------------------------------------ */

lt_status lt_linalg_check_matrix(const char *op, const lt_tensor *a)
{
    if (a->ndim < 2) return lt_error(LT_ERR_RUNTIME, "%s: The input tensor A must have at least 2 dimensions.", op);
    if (lt_rows(a) <= INT32_MAX && lt_columns(a) <= INT32_MAX) return LT_OK; /* LAPACK counts in int */
    return lt_error(LT_ERR_RUNTIME, "%s: matrices have at most %d rows and columns", op, INT32_MAX);
}

lt_status lt_linalg_check_square(const char *op, const lt_tensor *a)
{
    LT_TRY(lt_linalg_check_matrix(op, a));
    if (lt_rows(a) == lt_columns(a)) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "%s: A must be batches of square matrices, but they are %lld by %lld matrices", op,
                    (long long)lt_rows(a), (long long)lt_columns(a));
}

lt_status lt_linalg_check_kind(const char *op, const lt_tensor *a)
{
    lt_dtype dtype = (lt_dtype)a->dtype;
    if (!lt_dtype_is_float(dtype))
        return lt_error(LT_ERR_RUNTIME, "%s: Expected a floating point or complex tensor as input. Got %s", op,
                        lt_dtype_scalar_name(dtype));
    if (dtype != LT_FLOAT32 && dtype != LT_FLOAT64)
        return lt_error(LT_ERR_RUNTIME, "%s: Low precision dtypes not supported. Got %s", op, lt_dtype_scalar_name(dtype));
    if (a->device.type == LT_CPU) return LT_OK;
    char device[16];
    return lt_error(LT_ERR_RUNTIME,
                    "%s: not available on %s: no library of factorizations was built in for GPUs. Move the tensor to "
                    "the CPU first",
                    op, lt_format_device(device, sizeof device, a->device));
}

/* ---- walking batches --------------------------------------------------------------------------------------- */

static int64_t batch_count(const lt_tensor *a)
{
    int64_t n = 1;
    for (int d = 0; d < a->ndim - 2; d++) n *= a->sizes[d];
    return n;
}

static lt_dtype dtype_of(const lt_tensor *a) { return (lt_dtype)a->dtype; }

static size_t element(const lt_tensor *a) { return lt_dtype_size((lt_dtype)a->dtype); }

static char *matrix_at(const lt_tensor *a, int64_t i) /* of a dense batch */
{
    return lt_data(a) + (size_t)(i * lt_rows(a) * lt_columns(a)) * element(a);
}

/* A dense copy of its own. */
static lt_tensor *do_dense_copy(lt_scope *s, lt_tensor *a)
{
    lt_tensor *copy = NULL;
    if (s->status != LT_OK) return NULL;
    s->status = lt_tensor_shaped(a, (lt_dtype)a->dtype, &copy);
    if (s->status == LT_OK && lt_scope_hold(s, LT_OK, copy) != NULL) s->status = lt_copy_elements(copy, a);
    return s->status == LT_OK ? copy : NULL;
}

static lt_tensor *do_new(lt_scope *s, const lt_tensor *like, const lt_dims *sizes)
{
    lt_tensor *t = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_tensor_new((lt_dtype)like->dtype, like->device, sizes->n, sizes->v, &t);
    return lt_scope_hold(s, status, t);
}

/* The sizes of a batch like a's, of rows x columns matrices; columns < 0: of vectors; rows < 0: of numbers. */
static lt_dims batch_of(const lt_tensor *a, int64_t rows, int64_t columns)
{
    lt_dims sizes = lt_dims_of(a);
    sizes.n = a->ndim - 2;
    if (rows >= 0) sizes.v[sizes.n++] = rows;
    if (columns >= 0) sizes.v[sizes.n++] = columns;
    return sizes;
}

/* What LAPACK said about matrix i: where > 0 the reason, in PyTorch's words. */
static lt_status refused(const char *op, const lt_tensor *a, int64_t i, int info, const char *format)
{
    char batch[48] = "", reason[256];
    if (info < LT_LAPACK_FAILED(LT_OK) && info > LT_LAPACK_ABSENT) return (lt_status)LT_LAPACK_FAILED(info);
    if (info == LT_LAPACK_ABSENT)
        return lt_error(LT_ERR_RUNTIME, "%s needs LAPACK, whose library libopenblas.so.0 cannot be opened", op);
    if (info == -1) return lt_error(LT_ERR_MEMORY, "%s: out of memory", op);
    if (info < 0) return lt_error(LT_ERR_RUNTIME, "%s: LAPACK refused argument %d", op, -info);
    if (a->ndim > 2) snprintf(batch, sizeof batch, "(Batch element %lld): ", lt_shown(i));
    snprintf(reason, sizeof reason, format, info);
    return lt_error(LT_ERR_RUNTIME, "%s: %s%s", op, batch, reason);
}

/* The same where it is the number of an element of the diagonal, which LAPACK counts from 1. */
static lt_status refused_element(const char *op, const lt_tensor *a, int64_t i, int info,
                                 const char *format)
{
    return refused(op, a, i, info > 0 ? (int)lt_shown(info - 1) : info, format);
}

/* ---- inverse, determinants, solutions ------------------------------------------------------------------------ */

lt_status lt_inverse_impl(lt_tensor *self, lt_tensor **out)
{
    const char *op = "linalg.inv";
    LT_TRY(lt_linalg_check_square(op, self));
    LT_TRY(lt_linalg_check_kind(op, self));
    lt_dtype dtype = (lt_dtype)self->dtype;
    int n = (int)lt_rows(self);
    int *pivots = lt_mem_array(n, sizeof *pivots);
    lt_scope s;
    lt_scope_open(&s, false);
    if (pivots == NULL) s.status = LT_ERR_MEMORY;
    lt_tensor *work = do_dense_copy(&s, self); /* the inverse of the transposed lies as the transposed inverse */
    for (int64_t i = 0; s.status == LT_OK && n > 0 && i < batch_count(self); i++) {
        int info = lt_lapack_lu(dtype, n, matrix_at(work, i), pivots);
        if (info == 0) info = lt_lapack_lu_inverse(dtype, n, matrix_at(work, i), pivots);
        if (info != 0)
            s.status = refused_element(op, self, i, info,
                                       "The diagonal element %d is zero, the inversion could not "
                                       "be completed because the input "
                                       "matrix is singular.");
    }
    lt_mem_free(pivots);
    return lt_scope_store(&s, work, out);
}

/* Signs (1, -1, 0) and logarithms of magnitudes of the determinants, or their values: outputs may be NULL. */
static lt_status determinants(const char *op, lt_tensor *self, lt_tensor *sign, lt_tensor *log_magnitude, lt_tensor *value)
{
    lt_dtype dtype = (lt_dtype)self->dtype;
    int n = (int)lt_rows(self);
    int *pivots = lt_mem_array(n, sizeof *pivots);
    lt_scope s;
    lt_scope_open(&s, false);
    if (pivots == NULL) s.status = LT_ERR_MEMORY;
    lt_tensor *work = do_dense_copy(&s, self);
    for (int64_t i = 0; s.status == LT_OK && i < batch_count(self); i++) {
        int info = n > 0 ? lt_lapack_lu(dtype, n, matrix_at(work, i), pivots) : 0;
        if (info < 0) s.status = refused(op, self, i, info, "%d");
        double s_i = 1, log_i = 0, product = 1;
        for (int d = 0; d < n; d++) {
            const char *at = matrix_at(work, i) + (size_t)d * (size_t)(n + 1) * element(work);
            double x = dtype == LT_FLOAT32 ? (double)*(const float *)at : *(const double *)at;
            if (pivots[d] != d + 1) s_i = -s_i, product = -product;
            if (x < 0) s_i = -s_i;
            if (x == 0) s_i = 0;
            log_i += log(fabs(x));
            product *= x;
        }
        lt_tensor *to[] = {sign, log_magnitude, value};
        double results[] = {s_i, log_i, product};
        for (int k = 0; k < 3; k++) {
            if (to[k] == NULL) continue;
            if (dtype == LT_FLOAT32)
                ((float *)lt_data(to[k]))[i] = (float)results[k];
            else
                ((double *)lt_data(to[k]))[i] = results[k];
        }
    }
    lt_mem_free(pivots);
    return lt_scope_close(&s);
}

lt_status lt_det_impl(lt_tensor *self, lt_tensor **out)
{
    LT_TRY(lt_linalg_check_square("linalg.det", self));
    LT_TRY(lt_linalg_check_kind("linalg.det", self));
    lt_dims sizes = batch_of(self, -1, -1);
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *value = do_new(&s, self, &sizes);
    if (value != NULL) s.status = determinants("linalg.det", self, NULL, NULL, value);
    return lt_scope_store(&s, value, out);
}

lt_status lt__linalg_sign_det_impl(lt_tensor *self, lt_tensor **out)
{
    LT_TRY(lt_linalg_check_square("linalg.slogdet", self));
    LT_TRY(lt_linalg_check_kind("linalg.slogdet", self));
    lt_dims sizes = batch_of(self, -1, -1);
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *sign = do_new(&s, self, &sizes);
    if (sign != NULL) s.status = determinants("linalg.slogdet", self, sign, NULL, NULL);
    return lt_scope_store(&s, sign, out);
}

lt_status lt__linalg_logabsdet_impl(lt_tensor *self, lt_tensor **out)
{
    LT_TRY(lt_linalg_check_square("linalg.slogdet", self));
    LT_TRY(lt_linalg_check_kind("linalg.slogdet", self));
    lt_dims sizes = batch_of(self, -1, -1);
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *value = do_new(&s, self, &sizes);
    if (value != NULL) s.status = determinants("linalg.slogdet", self, NULL, value, NULL);
    return lt_scope_store(&s, value, out);
}

/* Solves with every matrix of a (of the batch of b, dense): b's matrices become the solutions. */
typedef int (*solve_fn)(lt_dtype dtype, int n, int columns, char *a, int *pivots, char *b, unsigned flags);

static int solve_general(lt_dtype dtype, int n, int columns, char *a, int *pivots, char *b, unsigned flags)
{
    (void)flags;
    int info = lt_lapack_lu(dtype, n, a, pivots); /* of the transposed */
    return info != 0 ? info : lt_lapack_lu_solve(dtype, true, n, columns, a, pivots, b);
}

enum { UPPER = 1, UNIT = 2 };

static int solve_triangular(lt_dtype dtype, int n, int columns, char *a, int *pivots, char *b, unsigned flags)
{
    (void)pivots;
    return lt_lapack_triangular(dtype, !(flags & UPPER), true, flags & UNIT, n, columns, a, b);
}

static lt_status solve_each(const char *op, lt_tensor *a, lt_tensor *b, solve_fn solve, unsigned flags,
                            const char *reason, lt_tensor **out)
{
    LT_TRY(lt_linalg_check_square(op, a));
    LT_TRY(lt_linalg_check_kind(op, a));
    LT_TRY(lt_linalg_check_matrix(op, b));
    if (a->dtype != b->dtype)
        return lt_error(LT_ERR_RUNTIME, "%s: Expected A and B to have the same dtype, but found A of type %s and B of type %s instead",
                        op, lt_dtype_scalar_name((lt_dtype)a->dtype), lt_dtype_scalar_name((lt_dtype)b->dtype));
    if (lt_rows(b) != lt_rows(a))
        return lt_error(LT_ERR_RUNTIME, "%s: Incompatible shapes of A and B for the equation AX = B (%lldx%lld and %lldx%lld)",
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
    int *pivots = lt_mem_array(n, sizeof *pivots);
    lt_dims wide_a = batch, wide_b = batch;
    wide_a.v[batch.n - 2] = wide_a.v[batch.n - 1] = wide_b.v[batch.n - 2] = n;
    wide_b.v[batch.n - 1] = columns;
    lt_scope s;
    lt_scope_open(&s, false);
    if (pivots == NULL) s.status = LT_ERR_MEMORY;
    lt_tensor *left = do_dense_copy(&s, do_expand(&s, a, &wide_a));
    lt_tensor *right = do_expand(&s, b, &wide_b);
    if (right != NULL) right = do_dense_copy(&s, do_turn(&s, right));
    for (int64_t i = 0; s.status == LT_OK && n > 0 && i < batch_count(right); i++) {
        int info = solve(dtype_of(a), n, columns, matrix_at(left, i), pivots, matrix_at(right, i), flags);
        if (info != 0) s.status = refused_element(op, left, i, info, reason);
    }
    lt_mem_free(pivots);
    return lt_scope_store(&s, do_turn(&s, right), out);
}

lt_status lt__linalg_solve_impl(lt_tensor *self, lt_tensor *other, lt_tensor **out)
{
    return solve_each("torch.linalg.solve", self, other, solve_general, 0,
                      "The solver failed because the input matrix is singular.", out);
}

lt_status lt__linalg_solve_triangular_impl(lt_tensor *self, lt_tensor *other, bool upper, bool unitriangular,
                                           lt_tensor **out)
{
    return solve_each("linalg.solve_triangular", self, other, solve_triangular,
                      (upper ? UPPER : 0u) | (unitriangular ? UNIT : 0u), "A is singular: element %d of its diagonal is zero.",
                      out);
}

lt_status lt__linalg_cholesky_impl(lt_tensor *self, bool upper, lt_tensor **out)
{
    const char *op = "linalg.cholesky";
    LT_TRY(lt_linalg_check_square(op, self));
    LT_TRY(lt_linalg_check_kind(op, self));
    int n = (int)lt_rows(self);
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *work = do_dense_copy(&s, self), *result = NULL;
    for (int64_t i = 0; s.status == LT_OK && n > 0 && i < batch_count(self); i++) {
        int info = lt_lapack_cholesky(dtype_of(self), !upper, n, matrix_at(work, i));
        if (info != 0)
            s.status = refused(op, self, i, info,
                               "The factorization could not be completed because the input is not positive-definite (the "
                               "leading minor of order %d is not positive-definite).");
    }
    if (s.status == LT_OK) {
        lt_status status = upper ? lt_triu(work, 0, &result) : lt_tril(work, 0, &result);
        result = lt_scope_hold(&s, status, result);
    }
    return lt_scope_store(&s, result, out);
}

/* ---- factors, packed into one tensor ----------------------------------------------------------------------------- */

/* Q (m x k) above R (k x n) where k = n, else beside it. */
lt_status lt__linalg_qr_impl(lt_tensor *self, bool complete, lt_tensor **out)
{
    const char *op = "linalg.qr";
    LT_TRY(lt_linalg_check_matrix(op, self));
    LT_TRY(lt_linalg_check_kind(op, self));
    int m = (int)lt_rows(self), n = (int)lt_columns(self), least = m < n ? m : n, k = complete ? m : least;
    void *tau = lt_mem_array(least, sizeof(double));
    lt_dims room = batch_of(self, k > n ? k : n, m); /* columns lie one after another */
    lt_scope s;
    lt_scope_open(&s, false);
    if (tau == NULL) s.status = LT_ERR_MEMORY;
    lt_tensor *work = do_zeros(&s, self, &room), *given = do_turn(&s, self);
    if (given != NULL) do_store(&s, do_part(&s, work, -2, 0, n), given);
    lt_dims sizes = batch_of(self, k, n);
    lt_tensor *r = do_zeros(&s, self, &sizes);
    for (int64_t i = 0; s.status == LT_OK && i < batch_count(self) && m > 0; i++) {
        int info = lt_lapack_qr(dtype_of(self), m, n, matrix_at(work, i), tau);
        for (int row = 0; info == 0 && row < least; row++)
            for (int column = row; column < n; column++)
                memcpy(matrix_at(r, i) + (size_t)(row * n + column) * element(r),
                       matrix_at(work, i) + (size_t)(column * m + row) * element(r), element(r));
        if (info == 0) info = lt_lapack_qr_q(dtype_of(self), m, k, least, matrix_at(work, i), tau);
        if (info != 0) s.status = refused(op, self, i, info, "LAPACK failed with %d");
    }
    lt_mem_free(tau);
    lt_tensor *q = work != NULL ? do_turn(&s, do_part(&s, work, -2, 0, k)) : NULL;
    return lt_scope_store(&s, do_cat(&s, (lt_tensor *[]){q, r}, 2, k == n ? -2 : -1), out);
}

/* Rows: U, then S, then V (not transposed), all of one width: that of the largest of them. */
lt_status lt__linalg_svd_impl(lt_tensor *self, bool full_matrices, lt_tensor **out)
{
    const char *op = "linalg.svd";
    LT_TRY(lt_linalg_check_matrix(op, self));
    LT_TRY(lt_linalg_check_kind(op, self));
    int64_t m = lt_rows(self), n = lt_columns(self), k = m < n ? m : n, width = !full_matrices ? k : m > n ? m : n;
    int64_t of_u = full_matrices ? m : k, of_v = full_matrices ? n : k;
    lt_dims u_room = batch_of(self, of_u, m), v_room = batch_of(self, n, of_v), s_room = batch_of(self, 1, k);
    lt_dims sizes = batch_of(self, m + 1 + n, width);
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *work = do_dense_copy(&s, do_turn(&s, self)), *packed = do_zeros(&s, self, &sizes);
    lt_tensor *u = do_zeros(&s, self, &u_room), *v = do_zeros(&s, self, &v_room), *values = do_zeros(&s, self, &s_room);
    for (int64_t i = 0; s.status == LT_OK && i < batch_count(self); i++) {
        int info = 0;
        if (k > 0)
            info = lt_lapack_svd(dtype_of(self), full_matrices, (int)m, (int)n, matrix_at(work, i), matrix_at(values, i),
                                 matrix_at(u, i), matrix_at(v, i));
        if (info != 0)
            s.status = refused(op, self, i, info,
                               "The algorithm failed to converge because the input matrix is ill-conditioned or has too "
                               "many repeated singular values (error code: %d).");
    }
    if (s.status != LT_OK) return lt_scope_close(&s);
    do_store(&s, do_part(&s, do_part(&s, packed, -2, 0, m), -1, 0, of_u), do_turn(&s, u));
    do_store(&s, do_part(&s, do_part(&s, packed, -2, m, m + 1), -1, 0, k), values);
    do_store(&s, do_part(&s, do_part(&s, packed, -2, m + 1, m + 1 + n), -1, 0, of_v), v);
    return lt_scope_store(&s, packed, out);
}

lt_status lt__linalg_svdvals_impl(lt_tensor *self, lt_tensor **out)
{
    const char *op = "linalg.svd";
    LT_TRY(lt_linalg_check_matrix(op, self));
    LT_TRY(lt_linalg_check_kind(op, self));
    int64_t m = lt_rows(self), n = lt_columns(self), k = m < n ? m : n;
    lt_dims sizes = batch_of(self, 1, k), shape = batch_of(self, k, -1);
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *work = do_dense_copy(&s, do_turn(&s, self)), *values = do_zeros(&s, self, &sizes);
    for (int64_t i = 0; s.status == LT_OK && k > 0 && i < batch_count(self); i++) {
        int info = lt_lapack_svd(dtype_of(self), false, (int)m, (int)n, matrix_at(work, i), matrix_at(values, i), NULL, NULL);
        if (info != 0) s.status = refused(op, self, i, info, "The algorithm failed to converge (error code: %d).");
    }
    return lt_scope_store(&s, do_reshape(&s, values, &shape), out);
}

/* The eigenvectors (n x n), below them the eigenvalues. */
lt_status lt__linalg_eigh_impl(lt_tensor *self, bool upper, bool vectors, lt_tensor **out)
{
    const char *op = "linalg.eigh";
    LT_TRY(lt_linalg_check_square(op, self));
    LT_TRY(lt_linalg_check_kind(op, self));
    int64_t n = lt_rows(self);
    lt_dims sizes = batch_of(self, 1, n);
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *work = do_dense_copy(&s, do_turn(&s, self)), *values = do_zeros(&s, self, &sizes);
    for (int64_t i = 0; s.status == LT_OK && n > 0 && i < batch_count(self); i++) {
        int info = lt_lapack_symmetric_eigen(dtype_of(self), upper, vectors, (int)n, matrix_at(work, i), matrix_at(values, i));
        if (info != 0)
            s.status = refused(op, self, i, info,
                               "The algorithm failed to converge because the input matrix is ill-conditioned or has too "
                               "many repeated eigenvalues (error code: %d).");
    }
    return lt_scope_store(&s, do_cat(&s, (lt_tensor *[]){do_turn(&s, work), values}, 2, -2), out);
}

/* ---- least squares --------------------------------------------------------------------------------------------------- */

/* The solutions (n x columns) in *out; where ranks is not NULL, the ranks of the matrices in it instead. */
static lt_status least_squares(lt_tensor *a, lt_tensor *b, double rcond, lt_tensor **ranks, lt_tensor **out)
{
    const char *op = "torch.linalg.lstsq";
    LT_TRY(lt_linalg_check_matrix(op, a));
    LT_TRY(lt_linalg_check_kind(op, a));
    int64_t m = lt_rows(a), n = lt_columns(a), columns = lt_columns(b), rows = m > n ? m : n;
    lt_dims room = batch_of(a, columns, rows), numbers = batch_of(a, -1, -1);
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *left = do_dense_copy(&s, do_turn(&s, a)), *right = do_zeros(&s, a, &room), *rank = NULL;
    do_store(&s, do_part(&s, right, -1, 0, m), do_turn(&s, b));
    if (s.status == LT_OK) {
        s.status = lt_tensor_new(LT_INT64, lt_host, numbers.n, numbers.v, &rank);
        lt_scope_hold(&s, s.status, rank);
    }
    for (int64_t i = 0; s.status == LT_OK && i < batch_count(a); i++) {
        int found = 0, info = 0;
        if (m > 0 && n > 0)
            info = lt_lapack_least_squares(dtype_of(a), (int)m, (int)n, (int)columns, matrix_at(left, i),
                                           matrix_at(right, i), rcond, &found);
        if (info != 0) s.status = refused(op, a, i, info, "LAPACK failed with %d");
        ((int64_t *)lt_data(rank))[i] = found;
    }
    if (ranks != NULL) return lt_scope_store(&s, rank, ranks);
    return lt_scope_store(&s, right != NULL ? do_turn(&s, do_part(&s, right, -1, 0, n)) : NULL, out);
}

lt_status lt__linalg_lstsq_impl(lt_tensor *self, lt_tensor *other, double rcond, lt_tensor **out)
{
    return least_squares(self, other, rcond, NULL, out);
}

lt_status lt__linalg_lstsq_rank_impl(lt_tensor *self, lt_tensor *other, double rcond, lt_tensor **out)
{
    return least_squares(self, other, rcond, out, NULL);
}
