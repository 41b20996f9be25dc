/* matmul.c - products of matrices and vectors. Each is one call of the backend's gemm: an operand
 * with contiguous rows or columns is read in place, any other is copied first. The result is always
 * contiguous. outer is composed of these products and records itself for autograd. */
#include "autograd/dual.h"
#include "ops/compose.h"
#include "complex.h"
#include "products.h"
#include "op/_addmm_backward.h"
#include "op/_mm_as.h"
#include "op/_scaled.h"
#include "op/addmv.h"
#include "op/baddbmm.h"
#include "op/bmm.h"
#include "op/dot.h"
#include "op/expand.h"
#include "op/mm.h"
#include "op/mv.h"
#include "op/outer.h"
#include "user_index.h"
#include "ops/pointwise.h"
#include "pointwise_ops.h"
#include "step/addmm.h"
#include "step/mv.h"

/* An operand as gemm reads it; a vector is a matrix of one row or column. Strides in elements. */
typedef struct gemm_matrix {
    lt_tensor *copy; /* NULL: the operand is read in place */
    const void *data;
    int64_t rows, cols, row_stride, col_stride, batch_stride;
    bool transposed;
    int64_t ld;
} gemm_matrix;

/* Whether rows of `length` elements, `stride` apart, are in a form that gemm supports. */
static bool dense_lines(int64_t lines, int64_t length, int64_t stride, int64_t step)
{
    return (length == 1 || step == 1) && (lines == 1 || stride >= (length > 1 ? length : 1));
}

static int64_t leading(int64_t lines, int64_t length, int64_t stride)
{
    return lines == 1 ? (length > 1 ? length : 1) : stride;
}

static lt_status settle(gemm_matrix *x, lt_tensor *t)
{
    x->copy = NULL;
    x->data = lt_data(t);
    x->transposed = false;
    if (dense_lines(x->rows, x->cols, x->row_stride, x->col_stride)) {
        x->ld = leading(x->rows, x->cols, x->row_stride);
        return LT_OK;
    }
    if (dense_lines(x->cols, x->rows, x->col_stride, x->row_stride)) {
        x->transposed = true;
        x->ld = leading(x->cols, x->rows, x->col_stride);
        return LT_OK;
    }
    LT_TRY(lt_make_contiguous(t, &x->copy));
    x->data = lt_data(x->copy);
    x->ld = x->cols > 1 ? x->cols : 1;
    x->batch_stride = x->rows * x->cols;
    return LT_OK;
}

/* The matrix of the last two dimensions of t, with a third one as batch. */
static lt_status as_matrix(lt_tensor *t, gemm_matrix *x)
{
    int d = t->ndim - 2;
    x->rows = t->sizes[d];
    x->cols = t->sizes[d + 1];
    x->row_stride = t->strides[d];
    x->col_stride = t->strides[d + 1];
    x->batch_stride = d > 0 ? t->strides[0] : 0;
    return settle(x, t);
}

static lt_status as_column(lt_tensor *t, gemm_matrix *x)
{
    *x =
        (gemm_matrix){.rows = t->sizes[0], .cols = 1, .row_stride = t->strides[0], .col_stride = 1};
    return settle(x, t);
}

static lt_status as_row(lt_tensor *t, gemm_matrix *x)
{
    *x =
        (gemm_matrix){.rows = 1, .cols = t->sizes[0], .row_stride = 1, .col_stride = t->strides[0]};
    return settle(x, t);
}

/* c = alpha a b + beta c; c is contiguous. */
static lt_gemm gemm_of(lt_tensor *c, int64_t batch, const gemm_matrix *a, const gemm_matrix *b,
                       double beta, double alpha)
{
    return (lt_gemm){.dtype = (lt_dtype)c->dtype,
                     .m = a->rows,
                     .n = b->cols,
                     .k = a->cols,
                     .batch = batch,
                     .trans_a = a->transposed,
                     .trans_b = b->transposed,
                     .alpha = alpha,
                     .beta = beta,
                     .a = a->data,
                     .b = b->data,
                     .c = lt_data(c),
                     .lda = a->ld,
                     .ldb = b->ld,
                     .ldc = b->cols > 1 ? b->cols : 1,
                     .batch_a = a->batch_stride,
                     .batch_b = b->batch_stride,
                     .batch_c = a->rows * b->cols,
                     .device = c->device};
}

/* The same; bias, if not NULL: a row that is added to every row of the product instead of beta c.
 * Releases the copies in a and b. */
static lt_status multiply_batch(lt_tensor *c, int64_t batch, gemm_matrix *a, gemm_matrix *b,
                                lt_tensor *bias, double beta, double alpha)
{
    lt_gemm g = gemm_of(c, batch, a, b, beta, alpha);
    g.bias = bias != NULL ? lt_data(bias) : NULL;
    lt_status status = c->numel > 0 ? lt_backend_of(c)->gemm(&g) : LT_OK;
    lt_tensor_release(a->copy);
    lt_tensor_release(b->copy);
    return status;
}

enum { LARGE = 1024 }; /* elements */

static bool is_floating(const lt_tensor *t)
{
    return t->dtype == LT_FLOAT32 || t->dtype == LT_FLOAT64;
}

/* Whether integers are multiplied by numbers other than 0 and 1, which a double may not represent.
 */
static bool scales_integers(const lt_tensor *t, lt_scalar beta, lt_scalar alpha)
{
    return lt_dtype_is_int((lt_dtype)t->dtype) &&
           !(lt_scalar_equals(alpha, 1) &&
             (lt_scalar_equals(beta, 0) || lt_scalar_equals(beta, 1)));
}

typedef lt_status (*operand_fn)(lt_tensor *t, gemm_matrix *x);

/* Whether a GPU's product can add `start` in its epilogue: it is one row of the result. common: the
 * inner size of the matrices. */
static bool is_bias(const lt_tensor *start, const lt_tensor *result, int64_t common, double beta)
{
    if (start == NULL || result->device.type == LT_CPU || beta != 1 ||
        start->dtype != result->dtype || result->ndim != 2)
        return false;
    if (!lt_dtype_is_float((lt_dtype)result->dtype) ||
        (start->ndim != 1 && (start->ndim != 2 || start->sizes[0] != 1)))
        return false;
    const int last = start->ndim - 1;
    return start->sizes[last] == result->sizes[1] &&
           (start->strides[last] == 1 || start->sizes[last] == 1) && common > 0;
}

/* alpha a b + beta start, `start` broadcast (NULL: none). */
typedef struct terms {
    lt_tensor *start, *a;
    operand_fn read_a;
    lt_tensor *b;
    operand_fn read_b;
    double beta, alpha;
} terms;

/* Computes the result into a tensor of the given sizes. */
static lt_status product(const terms *x, int ndim, const int64_t *sizes, lt_tensor **out)
{
    lt_tensor *const start = x->start, *const ta = x->a, *const tb = x->b;
    const double beta = x->beta;
    lt_tensor *given = *out, *work = NULL, *spread = NULL;
    lt_dtype dtype = (lt_dtype)ta->dtype;
    lt_status status;
    gemm_matrix a, b;
    bool aside =
        given != NULL && (given->storage == ta->storage || given->storage == tb->storage ||
                          (start != NULL && start != given && start->storage == given->storage));
    if (aside) {
        LT_TRY(lt_output(&given, dtype, ta->device, ndim, sizes));
        LT_TRY(lt_tensor_new(dtype, ta->device, ndim, sizes, &work));
    } else {
        LT_TRY(lt_begin_output(out, dtype, ta->device, ndim, sizes, &work));
    }
    const bool bias = start != work && is_bias(start, work, ta->sizes[ta->ndim - 1], beta);
    /* On the CPU, adding `start` to a large result in a separate pass is faster than products that
     * accumulate into it. */
    const bool after = start != NULL && start != work && beta != 0 && work->device.type == LT_CPU &&
                       is_floating(work) && work->numel >= LARGE;
    if (start != NULL && start != work && !bias) {
        LT_CHECK(lt_expand_impl(
            start, &(lt_dims){ndim, {sizes[0], ndim > 1 ? sizes[1] : 0, ndim > 2 ? sizes[2] : 0}},
            &spread));
        if (beta != 0 && !after) LT_CHECK(lt_copy_elements(work, spread));
    }
    LT_CHECK(x->read_a(ta, &a));
    status = x->read_b(tb, &b);
    if (status != LT_OK) {
        lt_tensor_release(a.copy);
        goto done;
    }
    LT_CHECK(multiply_batch(work, ndim > 2 ? sizes[0] : 1, &a, &b, bias ? start : NULL,
                            start != NULL && !bias && !after ? beta : 0, x->alpha));
    if (after) {
        lt_tensor *sum = work;
        LT_CHECK(lt_pointwise_run(LT_PW_ADD, (lt_tensor *[]){work, spread}, 2,
                                  (lt_scalar[]){lt_scalar_from_float(beta)}, 1, &sum));
    }
    status = lt_finish_output(out, work);
    work = NULL;
done:
    lt_tensor_release(spread);
    lt_tensor_release(work);
    return status;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static lt_status check_supported(const lt_tensor *t, const char *on_cpu, const char *on_cuda)
{
    lt_dtype dtype = (lt_dtype)t->dtype;
    if (dtype != LT_BOOL && dtype != LT_COMPLEX32 && !lt_dtype_is_unsigned(dtype)) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "\"%s\" not implemented for '%s'",
                    t->device.type == LT_CPU ? on_cpu : on_cuda, lt_dtype_scalar_name(dtype));
}

static bool is_complex(const lt_tensor *t) { return lt_dtype_is_complex((lt_dtype)t->dtype); }

static const char *scalar_name(const lt_tensor *t)
{
    return lt_dtype_scalar_name((lt_dtype)t->dtype);
}

static lt_status check_devices(const char *op, lt_tensor *a, lt_tensor *b, lt_tensor *c)
{
    lt_device device;
    return lt_check_same_device(op, (lt_tensor *[]){a, b, c}, 3, false, &device);
}

static lt_status check_mm_shapes(const lt_tensor *a, const lt_tensor *b)
{
    if (a->sizes[1] == b->sizes[0]) return LT_OK;
    return lt_error(LT_ERR_RUNTIME,
                    "mat1 and mat2 shapes cannot be multiplied (%lldx%lld and %lldx%lld)",
                    (long long)a->sizes[0], (long long)a->sizes[1], (long long)b->sizes[0],
                    (long long)b->sizes[1]);
}

static lt_status check_bmm_shapes(const lt_tensor *a, const lt_tensor *b)
{
    if (a->ndim != 3) return lt_error(LT_ERR_RUNTIME, "batch1 must be a 3D tensor");
    if (b->ndim != 3) return lt_error(LT_ERR_RUNTIME, "batch2 must be a 3D tensor");
    if (a->sizes[0] == b->sizes[0] && a->sizes[2] == b->sizes[1]) return LT_OK;
    return lt_error(LT_ERR_RUNTIME,
                    "Expected size for first two dimensions of batch2 tensor to be: [%lld, %lld] "
                    "but got: [%lld, %lld].",
                    (long long)a->sizes[0], (long long)a->sizes[2], (long long)b->sizes[0],
                    (long long)b->sizes[1]);
}

/* ---- matrices -------------------------------------------------------------------------------- */

lt_status lt_mm_impl(lt_tensor *self, lt_tensor *mat2, lt_tensor **out)
{
    if (self->ndim != 2) return lt_error(LT_ERR_RUNTIME, "self must be a matrix");
    if (mat2->ndim != 2) return lt_error(LT_ERR_RUNTIME, "mat2 must be a matrix");
    LT_TRY(check_devices("mm", self, mat2, *out));
    LT_TRY(check_mm_shapes(self, mat2));
    if (self->dtype != mat2->dtype)
        return lt_error(LT_ERR_RUNTIME,
                        "expected m1 and m2 to have the same dtype, but got: %s != %s",
                        lt_dtype_element_name((lt_dtype)self->dtype),
                        lt_dtype_element_name((lt_dtype)mat2->dtype));
    LT_TRY(check_supported(self, "addmm_impl_cpu_", "addmm_cuda"));
    if (is_complex(self))
        return lt_complex_product(NULL, self, mat2, lt_scalar_from_int(0), lt_scalar_from_int(1),
                                  out);
    int64_t sizes[] = {self->sizes[0], mat2->sizes[1]};
    return product(
        &(terms){.a = self, .read_a = as_matrix, .b = mat2, .read_b = as_matrix, .alpha = 1}, 2,
        sizes, out);
}

lt_status lt_addmm_impl(lt_tensor *self, lt_tensor *mat1, lt_tensor *mat2, lt_scalar beta,
                        lt_scalar alpha, lt_tensor **out)
{
    if (mat1->ndim != 2)
        return lt_error(LT_ERR_RUNTIME, "mat1 must be a matrix, got %d-D tensor", mat1->ndim);
    if (mat2->ndim != 2)
        return lt_error(LT_ERR_RUNTIME, "mat2 must be a matrix, got %d-D tensor", mat2->ndim);
    LT_TRY(check_devices("addmm", self, mat1, mat2));
    LT_TRY(check_mm_shapes(mat1, mat2));
    if (self->dtype != mat2->dtype)
        return lt_error(LT_ERR_RUNTIME, "self and mat2 must have the same dtype, but got %s and %s",
                        scalar_name(self), scalar_name(mat2));
    if (mat1->dtype != mat2->dtype)
        return lt_error(LT_ERR_RUNTIME, "mat1 and mat2 must have the same dtype, but got %s and %s",
                        scalar_name(mat1), scalar_name(mat2));
    LT_TRY(check_supported(mat1, "addmm_impl_cpu_", "addmm_cuda"));
    if (is_complex(self)) return lt_complex_product(self, mat1, mat2, beta, alpha, out);
    if (scales_integers(self, beta, alpha))
        return lt_integer_product(self, mat1, mat2, beta, alpha, out);
    int64_t sizes[] = {mat1->sizes[0], mat2->sizes[1]};
    return product(&(terms){self, mat1, as_matrix, mat2, as_matrix, lt_scalar_double(beta),
                            lt_scalar_double(alpha)},
                   2, sizes, out);
}

lt_status lt_bmm_impl(lt_tensor *self, lt_tensor *mat2, lt_tensor **out)
{
    LT_TRY(check_bmm_shapes(self, mat2));
    LT_TRY(check_devices("bmm", self, mat2, *out));
    if (self->dtype != mat2->dtype)
        return lt_error(LT_ERR_RUNTIME, "expected scalar type %s but found %s", scalar_name(self),
                        scalar_name(mat2));
    LT_TRY(check_supported(self, "bmm", "baddbmm_cuda"));
    if (is_complex(self))
        return lt_complex_product(NULL, self, mat2, lt_scalar_from_int(0), lt_scalar_from_int(1),
                                  out);
    int64_t sizes[] = {self->sizes[0], self->sizes[1], mat2->sizes[2]};
    return product(
        &(terms){.a = self, .read_a = as_matrix, .b = mat2, .read_b = as_matrix, .alpha = 1}, 3,
        sizes, out);
}

lt_status lt_baddbmm_impl(lt_tensor *self, lt_tensor *batch1, lt_tensor *batch2, lt_scalar beta,
                          lt_scalar alpha, lt_tensor **out)
{
    LT_TRY(check_bmm_shapes(batch1, batch2));
    LT_TRY(check_devices("baddbmm", self, batch1, batch2));
    if (self->dtype != batch1->dtype || batch1->dtype != batch2->dtype)
        return lt_error(LT_ERR_RUNTIME,
                        "Input dtypes must be the same, got: input %s, batch1: %s, batch2: %s",
                        lt_dtype_element_name((lt_dtype)self->dtype),
                        lt_dtype_element_name((lt_dtype)batch1->dtype),
                        lt_dtype_element_name((lt_dtype)batch2->dtype));
    LT_TRY(check_supported(batch1, "baddbmm", "baddbmm_cuda"));
    if (is_complex(self)) return lt_complex_product(self, batch1, batch2, beta, alpha, out);
    if (scales_integers(self, beta, alpha))
        return lt_integer_product(self, batch1, batch2, beta, alpha, out);
    int64_t sizes[] = {batch1->sizes[0], batch1->sizes[1], batch2->sizes[2]};
    return product(&(terms){self, batch1, as_matrix, batch2, as_matrix, lt_scalar_double(beta),
                            lt_scalar_double(alpha)},
                   3, sizes, out);
}

/* ---- vectors --------------------------------------------------------------------------------- */

/* self NULL: no addend. */
static lt_status matrix_vector(lt_tensor *self, lt_tensor *mat, lt_tensor *vec, lt_scalar beta,
                               lt_scalar alpha, lt_tensor **out)
{
    if (mat->ndim != 2 || vec->ndim != 1 || (self != NULL && self->ndim > 1))
        return lt_error(LT_ERR_RUNTIME, "vector + matrix @ vector expected, got %d, %d, %d",
                        self != NULL ? self->ndim : 1, mat->ndim, vec->ndim);
    int64_t rows = mat->sizes[0], length = self == NULL || self->ndim == 0 ? 1 : self->sizes[0];
    if (mat->sizes[1] != vec->sizes[0] || (length != 1 && length != rows))
        return lt_error(LT_ERR_RUNTIME,
                        "size mismatch, got input (%lld), mat (%lldx%lld), vec (%lld)",
                        (long long)(self != NULL ? length : rows), (long long)rows,
                        (long long)mat->sizes[1], (long long)vec->sizes[0]);
    LT_TRY(check_devices(self != NULL ? "addmv" : "mv", self, mat, vec));
    const lt_tensor *first = self != NULL ? self : vec;
    if (mat->dtype != vec->dtype || first->dtype != vec->dtype)
        return lt_error(LT_ERR_RUNTIME,
                        "addmv input tensors must have the same dtype, but got %s, %s, and %s",
                        scalar_name(first), scalar_name(mat), scalar_name(vec));
    LT_TRY(check_supported(mat, "addmv_impl_cpu", "addmv_impl_cuda"));
    if (is_complex(mat)) return lt_complex_product(self, mat, vec, beta, alpha, out);
    if (self != NULL && scales_integers(self, beta, alpha))
        return lt_integer_product(self, mat, vec, beta, alpha, out);
    return product(&(terms){self, mat, as_matrix, vec, as_column, lt_scalar_double(beta),
                            lt_scalar_double(alpha)},
                   1, &rows, out);
}

lt_status lt_mv_impl(lt_tensor *self, lt_tensor *vec, lt_tensor **out)
{
    return matrix_vector(NULL, self, vec, lt_scalar_from_int(0), lt_scalar_from_int(1), out);
}

lt_status lt_addmv_impl(lt_tensor *self, lt_tensor *mat, lt_tensor *vec, lt_scalar beta,
                        lt_scalar alpha, lt_tensor **out)
{
    return matrix_vector(self, mat, vec, beta, alpha, out);
}

lt_status lt_dot_impl(lt_tensor *self, lt_tensor *tensor, lt_tensor **out)
{
    if (self->ndim != 1 || tensor->ndim != 1)
        return lt_error(LT_ERR_RUNTIME, "1D tensors expected, but got %dD and %dD tensors",
                        self->ndim, tensor->ndim);
    if (self->dtype != tensor->dtype)
        return lt_error(LT_ERR_RUNTIME,
                        "dot : expected both vectors to have same dtype, but found %s and %s",
                        scalar_name(self), scalar_name(tensor));
    long long n = (long long)self->numel, m = (long long)tensor->numel;
    if (n != m)
        return lt_error(LT_ERR_RUNTIME,
                        "inconsistent tensor size, expected tensor [%lld] and src [%lld] to have "
                        "the same number of elements, but got %lld and %lld elements respectively",
                        n, m, n, m);
    LT_TRY(check_devices("dot", self, tensor, *out));
    LT_TRY(check_supported(self, "dot", "dot"));
    if (is_complex(self))
        return lt_complex_product(NULL, self, tensor, lt_scalar_from_int(0), lt_scalar_from_int(1),
                                  out);
    return product(
        &(terms){.a = self, .read_a = as_row, .b = tensor, .read_b = as_column, .alpha = 1}, 0,
        (int64_t[]){0}, out);
}

lt_status lt_outer_impl(lt_tensor *self, lt_tensor *vec2, lt_tensor **out)
{
    if (self->ndim != 1)
        return lt_error(LT_ERR_RUNTIME, "outer: Expected 1-D argument self, but got %d-D",
                        self->ndim);
    if (vec2->ndim != 1)
        return lt_error(LT_ERR_RUNTIME, "outer: Expected 1-D argument vec2, but got %d-D",
                        vec2->ndim);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(outer));
    return lt_scope_return(&s, do_mul(&s, do_unsqueeze(&s, self, 1), vec2), out);
}

/* ---- the derivatives of addmm ---------------------------------------------------------------- */

/* Whether a GPU can compute the gradient of a bias within the product for the gradient of the
 * weight: for a linear layer, with a transposed weight. */
static bool sums_within(const lt_tensor *grad, const lt_tensor *mat1, const lt_dims *sizes,
                        const lt_dims *strides, double beta, double alpha)
{
    if (grad->device.type == LT_CPU || beta != 1 || alpha != 1 || grad->dtype != mat1->dtype)
        return false;
    if (!lt_dtype_is_float((lt_dtype)grad->dtype) || grad->numel == 0 || mat1->numel == 0)
        return false;
    return sizes->n == 1 && sizes->v[0] == grad->sizes[1] && strides->v[0] == 1 &&
           strides->v[1] != 1;
}

/* grad^T mat1, transposed, and the sums of grad over its rows. */
static lt_status product_and_sums(lt_tensor *grad, lt_tensor *mat1, lt_tensor **out_self,
                                  lt_tensor **out_mat2)
{
    lt_scope s;
    gemm_matrix a, b;
    bool summed = false;
    const int64_t sizes[] = {grad->sizes[1], mat1->sizes[1]};
    lt_tensor *result = NULL, *sums = NULL;
    lt_scope_open(&s, false);
    lt_tensor *turned = do_t(&s, grad);
    if (s.status == LT_OK) {
        lt_status status = lt_tensor_new((lt_dtype)grad->dtype, grad->device, 2, sizes, &result);
        result = lt_scope_hold(&s, status, result);
    }
    if (s.status == LT_OK) {
        lt_status status = lt_tensor_new((lt_dtype)grad->dtype, grad->device, 1, sizes, &sums);
        sums = lt_scope_hold(&s, status, sums);
    }
    if (s.status == LT_OK) s.status = as_matrix(turned, &a);
    if (s.status == LT_OK) {
        s.status = as_matrix(mat1, &b);
        if (s.status == LT_OK) {
            lt_gemm g = gemm_of(result, 1, &a, &b, 0, 1);
            g.sums = lt_data(sums);
            g.summed = &summed;
            s.status = lt_backend_of(result)->gemm(&g);
            lt_tensor_release(b.copy);
        }
        lt_tensor_release(a.copy);
    }
    if (!summed) sums = do_sum_dim(&s, grad, 0, false);
    result = do_t(&s, result);
    if (s.status == LT_OK) {
        *out_self = lt_tensor_retain(sums);
        *out_mat2 = lt_tensor_retain(result);
    }
    return lt_scope_close(&s);
}

lt_status lt__addmm_backward_impl(lt_tensor *grad_output, lt_tensor *mat1, const lt_dims *sizes,
                                  const lt_dims *strides, lt_scalar beta, lt_scalar alpha,
                                  bool needs_self, bool needs_mat2, lt_tensor **out_self,
                                  lt_tensor **out_mat2)
{
    lt_scope s;
    lt_tensor *of_self = NULL, *of_mat2 = NULL;
    const bool by_ops = lt_needs_formula(grad_output) || lt_needs_formula(mat1);
    *out_self = *out_mat2 = NULL;
    if (needs_self && needs_mat2 && !by_ops &&
        sums_within(grad_output, mat1, sizes, strides, lt_scalar_double(beta),
                    lt_scalar_double(alpha)))
        return product_and_sums(grad_output, mat1, out_self, out_mat2);
    lt_scope_open(&s, LT_COMPOSITE(_addmm_backward));
    if (needs_self) {
        lt_status status = lt__scaled(grad_output, beta, &of_self);
        of_self = lt_scope_hold(&s, status, of_self);
    }
    if (needs_mat2) {
        lt_tensor *turned = do_t(&s, mat1), *whole = NULL;
        lt_status status =
            s.status == LT_OK ? lt__mm_as(turned, grad_output, strides, &whole) : s.status;
        whole = lt_scope_hold(&s, status, whole);
        status = s.status == LT_OK ? lt__scaled(whole, alpha, &of_mat2) : s.status;
        of_mat2 = lt_scope_hold(&s, status, of_mat2);
    }
    if (s.status == LT_OK && needs_self) *out_self = lt_tensor_retain(of_self);
    if (s.status == LT_OK && needs_mat2) *out_mat2 = lt_tensor_retain(of_mat2);
    return lt_scope_close(&s);
}
