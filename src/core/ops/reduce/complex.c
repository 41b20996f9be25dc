/* complex.c - see complex.h. Sums and means are computed by parts; a variance is the sum of the
 * parts' variances; norms use the magnitudes; products multiply halves of the dimension repeatedly.
 */
#include "complex.h"

#include "ops/complex/complex.h"
#include "ops/compose.h"
#include "ops/pointwise.h"
#include "kernel.h"
#include "op/_slice.h"
#include "op/logaddexp.h"
#include "op/ones.h"
#include "op/real.h"

/* Reduces a magnitude, truth value or part of the tensor over the same dimensions. */
static lt_status reduce_like(lt_reduction op, lt_tensor *t, const lt_dims *dims, bool keepdim,
                             lt_dtype result, double parameter, lt_tensor **out)
{
    uint32_t mask;
    LT_TRY(lt_dims_mask(dims, t->ndim, &mask));
    if (lt_dtype_is_complex((lt_dtype)t->dtype))
        return lt_reduce_complex(op, t, mask, keepdim, result, parameter, out);
    return lt_reduce_real(op, t, mask, keepdim, result, parameter, out);
}

static lt_dims dims_of_mask(uint32_t mask, int ndim)
{
    lt_dims dims = {.n = 0};
    for (int d = 0; d < ndim; d++)
        if (mask >> d & 1) dims.v[dims.n++] = d;
    return dims;
}

static lt_tensor *reduced(lt_scope *s, lt_reduction op, lt_tensor *t, const lt_dims *dims,
                          bool keepdim, double parameter)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    if (dims->n == 0) return t; /* no dimension: elements stay as they are */
    lt_status status = reduce_like(op, t, dims, keepdim, (lt_dtype)t->dtype, parameter, &out);
    return lt_scope_hold(s, status, out);
}

static lt_tensor *parts(lt_scope *s, lt_tensor *t)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_parts_of(t, &out);
    return lt_scope_hold(s, status, out);
}

static lt_tensor *pairs(lt_scope *s, lt_tensor *t)
{
    lt_tensor *out = NULL;
    t = do_contiguous(s, t);
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_pairs_as_complex(t, &out);
    return lt_scope_hold(s, status, out);
}

static lt_tensor *sliced(lt_scope *s, lt_tensor *t, int64_t dim, int64_t from, int64_t to,
                         int64_t step)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt__slice(t, dim, from, to, step, &out);
    return lt_scope_hold(s, status, out);
}

/* Halves d until one element is left, by pairwise products. An odd one is multiplied to the first.
 */
static lt_status product_along(lt_tensor *t, int d, lt_tensor **out)
{
    lt_scope s;
    lt_tensor *now = lt_tensor_retain(t), *next = NULL;
    lt_status status = LT_OK;
    if (t->sizes[d] == 0) {
        lt_dims sizes = lt_dims_of(t);
        sizes.v[d] = 1;
        lt_tensor_release(now);
        return lt_ones(&sizes, (lt_dtype)t->dtype, &t->device, out);
    }
    while (status == LT_OK && now->sizes[d] > 1) {
        const int64_t n = now->sizes[d], half = n / 2;
        lt_scope_open(&s, false);
        lt_tensor *product =
            do_mul(&s, sliced(&s, now, d, 0, half, 1), sliced(&s, now, d, half, 2 * half, 1));
        if (n % 2 != 0 && s.status == LT_OK) {
            lt_tensor *first = sliced(&s, product, d, 0, 1, 1);
            lt_tensor *joined = do_mul(&s, first, sliced(&s, now, d, n - 1, n, 1));
            if (s.status == LT_OK) s.status = lt_copy_elements(first, joined);
        }
        next = NULL;
        status = lt_scope_return(&s, product, &next);
        if (status != LT_OK) break;
        lt_tensor_release(now);
        now = next;
    }
    if (status == LT_OK)
        *out = now;
    else
        lt_tensor_release(now);
    return status;
}

static lt_tensor *do_complex_prod(lt_scope *s, lt_tensor *t, const lt_dims *dims, bool keepdim)
{
    for (int i = dims->n - 1; i >= 0 && s->status == LT_OK; i--) {
        lt_tensor *out = NULL;
        lt_status status = product_along(t, (int)dims->v[i], &out);
        t = lt_scope_hold(s, status, out);
        if (!keepdim) t = do_squeeze_dim(s, t, dims->v[i]);
    }
    return s->status == LT_OK ? t : NULL;
}

/* Subtracts the largest real part from the exponents, unless it is infinite. */
static lt_tensor *do_logsumexp(lt_scope *s, lt_tensor *t, const lt_dims *dims, bool keepdim)
{
    lt_tensor *real = NULL, *finite = NULL;
    s->status = lt_real(t, &real);
    real = reduced(s, LT_REDUCE_MAX, lt_scope_hold(s, s->status, real), dims, true, 0);
    finite = do_where(s, do_isinf(s, real), do_number(s, 0), real);
    lt_tensor *sum = reduced(s, LT_REDUCE_SUM, do_exp(s, do_sub(s, t, finite)), dims, true, 0);
    lt_tensor *r = do_add(s, do_log(s, sum), finite);
    for (int i = dims->n - 1; i >= 0 && !keepdim; i--) r = do_squeeze_dim(s, r, dims->v[i]);
    return r;
}

lt_status lt_reduce_complex(lt_reduction op, lt_tensor *self, uint32_t mask, bool keepdim,
                            lt_dtype result, double parameter, lt_tensor **out)
{
    const lt_dims dims = dims_of_mask(mask, self->ndim);
    lt_scope s;
    lt_tensor *r;
    lt_scope_open(&s, false);
    switch (op) {
    case LT_REDUCE_SUM:
    case LT_REDUCE_MEAN:
        r = pairs(&s, reduced(&s, op, parts(&s, self), &dims, keepdim, parameter));
        break;
    case LT_REDUCE_VAR:
    case LT_REDUCE_STD:
        r = parts(&s, self);
        if (dims.n > 0)
            r = reduced(&s, LT_REDUCE_VAR, r, &dims, keepdim, parameter);
        else
            r = do_mul(&s, do_sub(&s, r, r), do_number(&s, 1 / parameter));
        r = do_sum_dim(&s, r, -1, false);
        if (op == LT_REDUCE_STD) r = do_sqrt(&s, r);
        break;
    case LT_REDUCE_LOGSUMEXP: r = do_logsumexp(&s, self, &dims, keepdim); break;
    case LT_REDUCE_PROD: r = do_complex_prod(&s, self, &dims, keepdim); break;
    case LT_REDUCE_ANY:
    case LT_REDUCE_ALL:
    case LT_REDUCE_COUNT:
        r = do_ne(&s, self, do_number(&s, 0));
        if (s.status == LT_OK)
            s.status = reduce_like(op, r, &dims, keepdim, result, parameter, out);
        return lt_scope_close(&s);
    case LT_REDUCE_NORM:
        r = do_abs(&s, self);
        if (s.status == LT_OK)
            s.status = reduce_like(op, r, &dims, keepdim, lt_real_of(result), parameter, out);
        return lt_scope_close(&s);
    default:
        s.status = lt_refuse_complex(op == LT_REDUCE_MAX ? "max_values" : "min_values", self);
        return lt_scope_close(&s);
    }
    if (r != NULL && r->storage == self->storage) r = do_clone(&s, r); /* nothing was computed */
    return lt_scope_store(&s, r, out);
}

/* A scan in log2(n) steps: each element is multiplied by the element 1, 2, 4 ... before it. */
static lt_status running_product(lt_tensor *t, int d, lt_tensor **out)
{
    lt_tensor *now = lt_tensor_retain(t);
    lt_status status = LT_OK;
    for (int64_t step = 1; t->ndim > 0 && step < t->sizes[d] && status == LT_OK; step *= 2) {
        lt_scope s;
        lt_scope_open(&s, false);
        const int64_t n = t->sizes[d];
        lt_tensor *next = do_clone(&s, now), *late = sliced(&s, next, d, step, n, 1);
        lt_tensor *product =
            do_mul(&s, sliced(&s, now, d, step, n, 1), sliced(&s, now, d, 0, n - step, 1));
        if (s.status == LT_OK) s.status = lt_copy_elements(late, product);
        lt_tensor *kept = NULL;
        status = lt_scope_return(&s, next, &kept);
        if (status != LT_OK) break;
        lt_tensor_release(now);
        now = kept;
    }
    if (status == LT_OK)
        *out = now;
    else
        lt_tensor_release(now);
    return status;
}

/* Sequential: the branch of the logarithm depends on the order, which is PyTorch's. */
static lt_status running_logarithm(lt_tensor *t, int d, lt_tensor **out)
{
    lt_scope whole;
    lt_scope_open(&whole, false);
    lt_tensor *result = NULL;
    whole.status = lt_tensor_shaped(t, (lt_dtype)t->dtype, &result);
    result = lt_scope_hold(&whole, whole.status, result);
    if (whole.status == LT_OK) whole.status = lt_copy_elements(result, t);
    for (int64_t i = 1; t->ndim > 0 && i < t->sizes[d] && whole.status == LT_OK; i++) {
        lt_scope s;
        lt_tensor *sum = NULL;
        lt_scope_open(&s, false);
        lt_tensor *now = sliced(&s, result, d, i, i + 1, 1),
                  *before = sliced(&s, result, d, i - 1, i, 1);
        if (s.status == LT_OK) s.status = lt_logaddexp(now, before, &sum);
        sum = lt_scope_hold(&s, s.status, sum);
        if (s.status == LT_OK) s.status = lt_copy_elements(now, sum);
        whole.status = lt_scope_close(&s);
    }
    return lt_scope_return(&whole, result, out);
}

lt_status lt_scan_complex(lt_scan op, lt_tensor *self, int d, lt_dtype dtype, lt_tensor **out)
{
    lt_scope s;
    lt_tensor *r = NULL;
    lt_scope_open(&s, false);
    lt_tensor *t = dtype != LT_DTYPE_NONE ? do_cast(&s, self, dtype) : self;
    if (s.status != LT_OK) return lt_scope_close(&s);
    if (op != LT_SCAN_SUM) {
        lt_status status =
            op == LT_SCAN_PROD ? running_product(t, d, &r) : running_logarithm(t, d, &r);
        r = lt_scope_hold(&s, status, r);
        if (r != NULL && r->storage == self->storage) r = do_clone(&s, r);
        return lt_scope_store(&s, r, out);
    }
    if (t->ndim == 0) return lt_scope_store(&s, t, out);
    lt_tensor *from = parts(&s, t), *sums = NULL;
    if (s.status != LT_OK) return lt_scope_close(&s);
    lt_status status = lt_tensor_shaped(from, (lt_dtype)from->dtype, &sums);
    sums = lt_scope_hold(&s, status, sums);
    if (s.status == LT_OK && sums->numel > 0) {
        lt_array in = lt_array_of(from), to = lt_array_of(sums);
        s.status = lt_backend_of(self)->scan(op, &to, &in, d);
    }
    return lt_scope_store(&s, pairs(&s, sums), out);
}
