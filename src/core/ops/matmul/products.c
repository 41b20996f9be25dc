/* products.c - products composed of others: outer and inner ones, chains, powers, tensordot, kron,
 * cross. */
#include <math.h>
#include <string.h>

#include "products.h"

#include "memory/alloc.h"
#include "user_index.h"
#include "dtypes/promotion.h"
#include "ops/steps.h"
#include "iter.h"
#include "op/copy_.h"
#include "op/_mm_as.h"
#include "op/_scaled.h"
#include "op/addbmm.h"
#include "op/addr.h"
#include "op/chain_matmul.h"
#include "op/clone.h"
#include "op/copy_.h"
#include "op/conj.h"
#include "op/cross.h"
#include "op/dot.h"
#include "op/eye.h"
#include "op/inner.h"
#include "op/inverse.h"
#include "op/kron.h"
#include "op/linalg_cross.h"
#include "op/linalg_multi_dot.h"
#include "op/matmul.h"
#include "op/matrix_power.h"
#include "op/mm.h"
#include "op/reshape.h"
#include "op/tensordot.h"
#include "op/vdot.h"
#include "step/mv.h"

lt_status lt__mm_as_impl(lt_tensor *self, lt_tensor *mat2, const lt_dims *strides, lt_tensor **out)
{
    if (strides->n != 2 || strides->v[0] != 1 || strides->v[1] == 1) return lt_mm(self, mat2, out);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_mm_as));
    return lt_scope_return(&s, do_t(&s, do_mm(&s, do_t(&s, mat2), do_t(&s, self))), out);
}

lt_status lt__scaled_impl(lt_tensor *self, lt_scalar factor, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_scaled));
    return lt_scope_return(&s, lt_scalar_equals(factor, 1) ? self : do_mul_scalar(&s, self, factor),
                           out);
}

/* Multiplies in the dtype of a: a factor is truncated for integers, and is true or false for bools.
 */
static lt_tensor *do_scaled_as(lt_scope *s, lt_tensor *a, lt_scalar factor)
{
    if (s->status != LT_OK) return NULL;
    if ((lt_dtype)a->dtype == LT_BOOL) factor = lt_scalar_from_bool(lt_scalar_double(factor) != 0);
    if (lt_dtype_is_int((lt_dtype)a->dtype)) factor = lt_scalar_from_int(lt_scalar_int(factor));
    return do_mul_scalar(s, a, factor);
}

static lt_tensor *do_addmm_scaled(lt_scope *s, lt_tensor *self, lt_tensor *product, lt_scalar beta,
                                  lt_scalar alpha)
{
    lt_tensor *right = lt_scalar_equals(alpha, 1) ? product : do_scaled_as(s, product, alpha);
    if (lt_scalar_equals(beta, 0)) return right; /* NaN of self is ignored, too */
    return do_add(s, lt_scalar_equals(beta, 1) ? self : do_scaled_as(s, self, beta), right);
}

lt_status lt_integer_product(lt_tensor *start, lt_tensor *a, lt_tensor *b, lt_scalar beta,
                             lt_scalar alpha, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *product = b->ndim == 1   ? do_mv(&s, a, b)
                         : b->ndim == 2 ? do_mm(&s, a, b)
                                        : do_bmm(&s, a, b);
    if (product == NULL) return lt_scope_store(&s, NULL, out);
    const lt_dims sizes = lt_dims_of(product);
    return lt_scope_store(
        &s, do_addmm_scaled(&s, do_expand(&s, start, &sizes), product, beta, alpha), out);
}

lt_status lt_addr_impl(lt_tensor *self, lt_tensor *vec1, lt_tensor *vec2, lt_scalar beta,
                       lt_scalar alpha, lt_tensor **out)
{
    if (vec1->ndim != 1 || vec2->ndim != 1)
        return lt_error(LT_ERR_RUNTIME, "addr: Expected 1-D argument %s, but got %d-D",
                        vec1->ndim != 1 ? "vec1" : "vec2",
                        vec1->ndim != 1 ? vec1->ndim : vec2->ndim);
    if (!lt_dtype_is_float(lt_result_type((lt_tensor *[]){self, vec1, vec2}, 3)) &&
        (beta.kind == LT_SCALAR_FLOAT || alpha.kind == LT_SCALAR_FLOAT))
        return lt_error(
            LT_ERR_RUNTIME,
            "For integral input tensors, argument %s must not be a floating point number.",
            beta.kind == LT_SCALAR_FLOAT ? "beta" : "alpha");
    lt_dims sizes = {2, {vec1->numel, vec2->numel}};
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(addr));
    lt_tensor *product = do_mul(&s, do_unsqueeze(&s, vec1, 1), vec2);
    return lt_scope_store(
        &s, do_addmm_scaled(&s, do_expand(&s, self, &sizes), product, beta, alpha), out);
}

lt_status lt_addbmm_impl(lt_tensor *self, lt_tensor *batch1, lt_tensor *batch2, lt_scalar beta,
                         lt_scalar alpha, lt_tensor **out)
{
    if (batch1->ndim != 3) return lt_error(LT_ERR_RUNTIME, "batch1 must be a 3D tensor");
    if (batch2->ndim != 3) return lt_error(LT_ERR_RUNTIME, "batch2 must be a 3D tensor");
    if (batch1->sizes[0] != batch2->sizes[0])
        return lt_error(LT_ERR_RUNTIME,
                        "batch1 and batch2 must have same number of batches, got %lld and %lld",
                        (long long)batch1->sizes[0], (long long)batch2->sizes[0]);
    int64_t b = batch1->sizes[0], n = batch1->sizes[1], k = batch1->sizes[2], m = batch2->sizes[2];
    if (batch2->sizes[1] != k)
        return lt_error(LT_ERR_RUNTIME,
                        "Incompatible matrix sizes for bmm (%lldx%lld and %lldx%lld)", (long long)n,
                        (long long)k, (long long)batch2->sizes[1], (long long)m);
    if (b > 0 && batch1->dtype != batch2->dtype)
        return lt_error(LT_ERR_RUNTIME, "mat1 and mat2 must have the same dtype, but got %s and %s",
                        lt_dtype_scalar_name((lt_dtype)batch1->dtype),
                        lt_dtype_scalar_name((lt_dtype)batch2->dtype));
    if (b > 0 && self->dtype != batch2->dtype)
        return lt_error(LT_ERR_RUNTIME, "self and mat2 must have the same dtype, but got %s and %s",
                        lt_dtype_scalar_name((lt_dtype)self->dtype),
                        lt_dtype_scalar_name((lt_dtype)batch2->dtype));
    lt_dims sizes = {2, {n, m}};
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(addbmm));
    /* the batches concatenated along k are one matrix product */
    lt_tensor *left = do_reshape(&s, do_transpose(&s, batch1, 0, 1), &(lt_dims){2, {n, b * k}});
    lt_tensor *right = do_reshape(&s, batch2, &(lt_dims){2, {b * k, m}});
    return lt_scope_store(
        &s, do_addmm_scaled(&s, do_expand(&s, self, &sizes), do_mm(&s, left, right), beta, alpha),
        out);
}

lt_status lt_inner_impl(lt_tensor *self, lt_tensor *other, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(inner));
    if (self->ndim == 0 || other->ndim == 0)
        return lt_scope_return(&s, do_mul(&s, self, other), out);
    int64_t k = self->sizes[self->ndim - 1];
    if (k != other->sizes[other->ndim - 1]) {
        char a[256], b[256];
        s.status = lt_error(
            LT_ERR_RUNTIME,
            "inner() the last dimension must match on both input tensors but got shapes %s and %s",
            lt_format_sizes(a, sizeof a, self->ndim, self->sizes),
            lt_format_sizes(b, sizeof b, other->ndim, other->sizes));
        return lt_scope_close(&s);
    }
    lt_dims shape = {.n = 0};
    int64_t rows = 1, columns = 1;
    if (self->ndim + other->ndim - 2 > LT_MAX_DIMS) {
        s.status = lt_error(LT_ERR_RUNTIME, "a tensor has at most %d dimensions", LT_MAX_DIMS);
        return lt_scope_close(&s);
    }
    for (int d = 0; d < self->ndim - 1; d++) rows *= shape.v[shape.n++] = self->sizes[d];
    for (int d = 0; d < other->ndim - 1; d++) columns *= shape.v[shape.n++] = other->sizes[d];
    lt_tensor *left = do_reshape(&s, self, &(lt_dims){2, {rows, k}});
    lt_tensor *right = do_reshape(&s, other, &(lt_dims){2, {columns, k}});
    return lt_scope_return(&s, do_reshape(&s, do_mm(&s, left, do_t(&s, right)), &shape), out);
}

lt_status lt_vdot_impl(lt_tensor *self, lt_tensor *other, lt_tensor **out)
{
    lt_tensor *turned = NULL;
    LT_TRY(lt_conj(self, &turned));
    lt_status status = lt_dot(turned, other, out);
    lt_tensor_release(turned);
    return status;
}

/* ---- tensordot, kron ------------------------------------------------------------------------- */

static lt_status tensordot(lt_tensor *a, lt_tensor *b, const lt_dims *dims_a, const lt_dims *dims_b,
                           lt_tensor **out)
{
    uint32_t in_a = 0, in_b = 0;
    if (dims_a->n != dims_b->n)
        return lt_error(LT_ERR_RUNTIME,
                        "both dimension lists should have same length, got %d and %d", dims_a->n,
                        dims_b->n);
    if (dims_a->n > 0) LT_TRY(lt_dims_mask(dims_a, a->ndim, &in_a));
    if (dims_b->n > 0) LT_TRY(lt_dims_mask(dims_b, b->ndim, &in_b));
    if (a->ndim + b->ndim - 2 * dims_a->n > LT_MAX_DIMS)
        return lt_error(LT_ERR_RUNTIME, "a tensor has at most %d dimensions", LT_MAX_DIMS);
    lt_dims order_a = {.n = 0}, order_b = {.n = 0}, shape = {.n = 0}, sums_a = {.n = 0},
            sums_b = {.n = 0};
    int64_t rows = 1, columns = 1, inner = 1;
    for (int d = 0; d < a->ndim; d++) {
        if (in_a >> d & 1) continue;
        order_a.v[order_a.n++] = d;
        rows *= shape.v[shape.n++] = a->sizes[d];
    }
    for (int i = 0; i < dims_a->n; i++) {
        int da, db;
        LT_TRY(lt_wrap_dim(dims_a->v[i], a->ndim, &da));
        LT_TRY(lt_wrap_dim(dims_b->v[i], b->ndim, &db));
        if (a->sizes[da] != b->sizes[db] && a->sizes[da] != 1 && b->sizes[db] != 1)
            return lt_error(LT_ERR_RUNTIME,
                            "contracted dimensions need to match, but first has size %lld in dim "
                            "%lld and second has size %lld in dim %lld",
                            (long long)a->sizes[da], lt_user_index(da), (long long)b->sizes[db],
                            lt_user_index(db));
        order_a.v[order_a.n++] = da;
        order_b.v[order_b.n++] = db;
        /* one is broadcast: sum the other first */
        if (a->sizes[da] != b->sizes[db]) {
            lt_dims *longer = a->sizes[da] == 1 ? &sums_b : &sums_a;
            longer->v[longer->n++] = a->sizes[da] == 1 ? db : da;
        } else {
            inner *= a->sizes[da];
        }
    }
    for (int d = 0; d < b->ndim; d++) {
        if (in_b >> d & 1) continue;
        order_b.v[order_b.n++] = d;
        columns *= shape.v[shape.n++] = b->sizes[d];
    }
    lt_scope s;
    lt_scope_open(&s, true);
    if (sums_a.n > 0) a = do_cast(&s, do_sum_dims(&s, a, &sums_a, true), (lt_dtype)a->dtype);
    if (sums_b.n > 0) b = do_cast(&s, do_sum_dims(&s, b, &sums_b, true), (lt_dtype)b->dtype);
    lt_tensor *left = do_reshape(&s, do_permute(&s, a, &order_a), &(lt_dims){2, {rows, inner}});
    lt_tensor *right = do_reshape(&s, do_permute(&s, b, &order_b), &(lt_dims){2, {inner, columns}});
    return lt_scope_return(&s, do_reshape(&s, do_mm(&s, left, right), &shape), out);
}

lt_status lt_tensordot_impl(lt_tensor *self, lt_tensor *other, int64_t dims, lt_tensor **out)
{
    if (dims < 0)
        return lt_error(LT_ERR_RUNTIME, "tensordot expects dims >= 0, but got dims=%lld",
                        (long long)dims);
    if (dims > self->ndim || dims > other->ndim)
        return lt_error(LT_ERR_RUNTIME,
                        "tensordot expects dims < ndim_a or ndim_b, but got dims=%lld",
                        (long long)dims);
    lt_dims last = {.n = (int)dims}, first = {.n = (int)dims};
    for (int i = 0; i < dims; i++) last.v[i] = self->ndim - dims + i, first.v[i] = i;
    return tensordot(self, other, &last, &first, out);
}

lt_status lt_tensordot_dims_impl(lt_tensor *self, lt_tensor *other, const lt_dims *dims_self,
                                 const lt_dims *dims_other, lt_tensor **out)
{
    return tensordot(self, other, dims_self, dims_other, out);
}

lt_status lt_kron_impl(lt_tensor *self, lt_tensor *other, lt_tensor **out)
{
    int n = self->ndim > other->ndim ? self->ndim : other->ndim;
    if (2 * n > LT_MAX_DIMS)
        return lt_error(LT_ERR_RUNTIME, "kron(): at most %d dimensions", LT_MAX_DIMS / 2);
    lt_dims a = {.n = 2 * n}, b = {.n = 2 * n}, shape = {.n = n};
    for (int d = 0; d < n; d++) {
        int of_a = d - (n - self->ndim), of_b = d - (n - other->ndim);
        a.v[2 * d] = of_a >= 0 ? self->sizes[of_a] : 1;
        b.v[2 * d + 1] = of_b >= 0 ? other->sizes[of_b] : 1;
        a.v[2 * d + 1] = b.v[2 * d] = 1;
        shape.v[d] = a.v[2 * d] * b.v[2 * d + 1];
    }
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(kron));
    lt_tensor *product = do_mul(&s, do_reshape(&s, self, &a), do_reshape(&s, other, &b));
    return lt_scope_return(&s, do_reshape(&s, product, &shape), out);
}

/* ---- cross ----------------------------------------------------------------------------------- */

lt_status lt_cross_impl(lt_tensor *self, lt_tensor *other, const int64_t *dim, lt_tensor **out)
{
    lt_dims shape;
    int d = -1;
    if (self->ndim != other->ndim)
        return lt_error(LT_ERR_RUNTIME,
                        "linalg.cross: inputs must have the same number of dimensions.");
    LT_TRY(lt_broadcast_shape((lt_tensor *[]){self, other}, 2, &shape.n, shape.v));
    if (dim != NULL)
        LT_TRY(lt_wrap_dim(*dim, self->ndim, &d));
    else
        for (int i = 0; i < self->ndim && d < 0; i++)
            if (self->sizes[i] == 3) d = i;
    if (d < 0) return lt_error(LT_ERR_RUNTIME, "no dimension of size 3 in input");
    if (self->ndim == 0 || self->sizes[d] != 3 || other->sizes[d] != 3)
        return lt_error(LT_ERR_RUNTIME,
                        "linalg.cross: inputs dimension %lld must have length 3. Got %lld and %lld",
                        lt_user_index(d), (long long)(self->ndim > 0 ? self->sizes[d] : 1),
                        (long long)(other->ndim > 0 ? other->sizes[d] : 1));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(cross));
    lt_tensor *part[3] = {NULL};
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        part[i] = do_sub(&s, do_mul(&s, do_select(&s, self, d, j), do_select(&s, other, d, k)),
                         do_mul(&s, do_select(&s, self, d, k), do_select(&s, other, d, j)));
    }
    return lt_scope_return(&s, do_stack(&s, part, 3, d), out);
}

lt_status lt_linalg_cross_impl(lt_tensor *self, lt_tensor *other, int64_t dim, lt_tensor **out)
{
    return lt_cross(self, other, &dim, out);
}

/* ---- chains and powers ----------------------------------------------------------------------- */

/* Optimal order of a matrix chain, by dynamic programming over the sizes of matrices 0 .. n - 1:
 * split_at[from * n + to] is the last matrix of the left factor of the range from .. to. */
static void best_splits(int n, const int64_t *sizes, double *cost, int *split_at)
{
    for (int i = 0; i < n; i++) cost[i * n + i] = 0;
    for (int length = 2; length <= n; length++)
        for (int i = 0; i + length <= n; i++) {
            int j = i + length - 1;
            cost[i * n + j] = INFINITY;
            for (int k = i; k < j; k++) {
                double all = cost[i * n + k] + cost[(k + 1) * n + j] +
                             (double)sizes[i] * (double)sizes[k + 1] * (double)sizes[j + 1];
                if (all >= cost[i * n + j]) continue;
                cost[i * n + j] = all;
                split_at[i * n + j] = k;
            }
        }
}

static lt_status multiply_chain(const lt_tensor_list *m, const int *split_at, int from, int to,
                                lt_tensor **out)
{
    if (from == to) {
        *out = lt_tensor_retain(m->v[from]);
        return LT_OK;
    }
    lt_tensor *left = NULL, *right = NULL;
    lt_status status = LT_OK;
    int at = split_at[from * (int)m->n + to];
    LT_CHECK(multiply_chain(m, split_at, from, at, &left));
    LT_CHECK(multiply_chain(m, split_at, at + 1, to, &right));
    status = lt_mm(left, right, out);
done:
    lt_tensor_release(left);
    lt_tensor_release(right);
    return status;
}

#define MAX_CHAIN 512

lt_status lt_linalg_multi_dot_impl(const lt_tensor_list *tensors, lt_tensor **out)
{
    int n = (int)tensors->n;
    if (n < 2)
        return lt_error(LT_ERR_RUNTIME, "multi_dot(): expected at least 2 tensors but got %d", n);
    if (n > MAX_CHAIN)
        return lt_error(LT_ERR_RUNTIME, "multi_dot(): at most %d tensors", MAX_CHAIN);
    lt_tensor_list matrices = {.n = 0, .v = lt_mem_zarray(n, sizeof *matrices.v)};
    int64_t sizes[MAX_CHAIN + 1];
    double *cost = lt_mem_array(n * n, sizeof *cost);
    int *split_at = lt_mem_array(n * n, sizeof *split_at);
    bool row = tensors->v[0]->ndim == 1, column = tensors->v[n - 1]->ndim == 1;
    lt_tensor *product = NULL;
    lt_status status = LT_OK;
    if (matrices.v == NULL || cost == NULL || split_at == NULL) {
        status = LT_ERR_MEMORY;
        goto done;
    }
    for (; matrices.n < n; matrices.n++) {
        int i = (int)matrices.n;
        lt_tensor *t = tensors->v[i], **matrix = &matrices.v[i];
        if (t->ndim != 2 && !(t->ndim == 1 && (i == 0 || i == n - 1))) {
            status = lt_error(LT_ERR_RUNTIME, "multi_dot(): tensor %lld must be %s but got %dD",
                              lt_user_index(i), i == 0 || i == n - 1 ? "1D or 2D" : "2D", t->ndim);
            goto done;
        }
        if (t->ndim == 1)
            LT_CHECK(lt_unsqueeze(t, i == 0 ? 0 : 1, matrix));
        else
            *matrix = lt_tensor_retain(t);
        if (i > 0 && sizes[i] != (*matrix)->sizes[0]) {
            status = lt_error(LT_ERR_RUNTIME,
                              "multi_dot(): tensors %lld and %lld with shapes that cannot be "
                              "multiplied (%lld columns, %lld rows)",
                              lt_user_index(i - 1), lt_user_index(i), (long long)sizes[i],
                              (long long)(*matrix)->sizes[0]);
            matrices.n++;
            goto done;
        }
        sizes[i] = (*matrix)->sizes[0];
        sizes[i + 1] = (*matrix)->sizes[1];
    }
    best_splits(n, sizes, cost, split_at);
    LT_CHECK(multiply_chain(&matrices, split_at, 0, n - 1, &product));
    lt_dims shape = {.n = 0};
    if (!row) shape.v[shape.n++] = sizes[0];
    if (!column) shape.v[shape.n++] = sizes[n];
    status = lt_reshape(product, &shape, out);
done:
    lt_tensor_release(product);
    if (matrices.v != NULL) lt_list_release(&matrices);
    lt_mem_free(cost);
    lt_mem_free(split_at);
    return status;
}

lt_status lt_chain_matmul_impl(const lt_tensor_list *matrices, lt_tensor **out)
{
    for (int64_t i = 0; i < matrices->n; i++)
        if (matrices->v[i]->ndim != 2)
            return lt_error(LT_ERR_RUNTIME, "Tensor dimension is %d, expected 2 instead.",
                            matrices->v[i]->ndim);
    if (matrices->n == 0)
        return lt_error(LT_ERR_RUNTIME, "chain_matmul(): Expected one or more matrices");
    if (matrices->n == 1) {
        *out = lt_tensor_retain(matrices->v[0]);
        return LT_OK;
    }
    return lt_linalg_multi_dot(matrices, out);
}

lt_status lt_matrix_power_impl(lt_tensor *self, int64_t n, lt_tensor **out)
{
    if (self->ndim < 2)
        return lt_error(LT_ERR_RUNTIME,
                        "linalg.matrix_power: The input tensor A must have at least 2 dimensions.");
    int64_t size = self->sizes[self->ndim - 1];
    if (self->sizes[self->ndim - 2] != size)
        return lt_error(LT_ERR_RUNTIME,
                        "linalg.matrix_power: A must be batches of square matrices, but they are "
                        "%lld by %lld matrices",
                        (long long)self->sizes[self->ndim - 2], (long long)size);
    lt_status status = LT_OK;
    lt_tensor *base = NULL, *result = NULL, *next = NULL;
    if (n == 0) {
        /* part of the graph, with a gradient of zeros */
        LT_CHECK(lt_clone_format(self, "contiguous_format", &result));
        LT_CHECK(lt_eye(size, NULL, (lt_dtype)self->dtype, &self->device, &next));
        LT_CHECK(lt_copy_(result, next, false));
        *out = lt_tensor_retain(result);
        goto done;
    }
    if (n < 0)
        LT_CHECK(lt_inverse(self, &base));
    else
        base = lt_tensor_retain(self);
    uint64_t rest = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    for (;;) {
        if (rest & 1) {
            if (result == NULL) {
                result = lt_tensor_retain(base);
            } else {
                LT_CHECK(lt_matmul(result, base, &next));
                lt_tensor_release(result);
                result = next;
                next = NULL;
            }
        }
        rest >>= 1;
        if (rest == 0) break;
        LT_CHECK(lt_matmul(base, base, &next));
        lt_tensor_release(base);
        base = next;
        next = NULL;
    }
    if (n == 1)
        status = lt_clone(result, out);
    else
        *out = lt_tensor_retain(result);
done:
    lt_tensor_release(base);
    lt_tensor_release(result);
    lt_tensor_release(next);
    return status;
}
