/* linear.c - matmul and linear: composed of products of matrices and vectors. */
#include "autograd/dual.h"
#include "user_index.h"
#include "ops/compose.h"
#include "products.h"
#include "op/_unsafe_view.h"
#include "op/bmm.h"
#include "op/dot.h"
#include "op/expand.h"
#include "op/linear.h"
#include "op/matmul.h"
#include "op/mm.h"
#include "op/mv.h"
#include "step/addmm.h"
#include "step/mv.h"

/* A new product, viewed in another shape. */
static lt_tensor *do_unsafe_view(lt_scope *s, lt_tensor *t, const lt_dims *sizes)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt__unsafe_view(t, sizes, &out);
    return lt_scope_hold(s, status, out);
}

static int64_t rows_of(const lt_tensor *t)
{
    int64_t n = 1;
    for (int d = 0; d < t->ndim - 1; d++) n *= t->sizes[d];
    return n;
}

/* Merges all dimensions but the last: [..., k] to [n, k]. */
static lt_tensor *do_rows(lt_scope *s, lt_tensor *t)
{
    return do_reshape(s, t, &(lt_dims){2, {rows_of(t), t->sizes[t->ndim - 1]}});
}

/* The sizes of t with the last one replaced, or dropped for `last` < 0. */
static lt_dims with_last(const lt_tensor *t, int64_t last)
{
    lt_dims sizes = lt_dims_of(t);
    if (last < 0)
        sizes.n--;
    else
        sizes.v[sizes.n - 1] = last;
    return sizes;
}

/* The memory of *out (lt_scope_target) for a product of a and b. */
static lt_tensor *product_target(lt_scope *s, lt_tensor *const *out, const lt_tensor *a,
                                 const lt_dims *sizes, const lt_dims *view)
{
    return lt_scope_target(s, out, (lt_dtype)a->dtype, a->device, sizes, view);
}

/* The product of the rows of a and b, plus bias unless it is NULL, in these sizes. */
static lt_tensor *do_rows_product(lt_scope *s, lt_tensor *bias, lt_tensor *a, lt_tensor *b,
                                  const lt_dims *sizes, lt_tensor **out)
{
    lt_tensor *rows = do_rows(s, a);
    if (rows == NULL) return NULL;
    const lt_dims of_rows = {2, {rows->sizes[0], b->sizes[1]}};
    lt_tensor *target = product_target(s, out, a, sizes, &of_rows);
    lt_tensor *product =
        bias != NULL ? do_addmm_into(s, bias, rows, b, target) : do_mm_into(s, rows, b, target);
    if (target != NULL) return *out;
    return bias != NULL ? do_reshape(s, product, sizes) : do_unsafe_view(s, product, sizes);
}

/* [..., n, k] times [..., k, m] with broadcast batches. */
static lt_tensor *do_batched(lt_scope *s, lt_tensor *a, lt_tensor *b, lt_tensor **out)
{
    lt_dims batch = {.n = a->ndim > b->ndim ? a->ndim - 2 : b->ndim - 2};
    int64_t count = 1;
    for (int d = 0; d < batch.n; d++) {
        int of_a = d - (batch.n - (a->ndim - 2)), of_b = d - (batch.n - (b->ndim - 2));
        int64_t x = of_a >= 0 ? a->sizes[of_a] : 1, y = of_b >= 0 ? b->sizes[of_b] : 1;
        if (x != y && x != 1 && y != 1) {
            s->status = lt_error(LT_ERR_RUNTIME,
                                 "The size of tensor a (%lld) must match the size of tensor b "
                                 "(%lld) at non-singleton dimension %lld",
                                 (long long)x, (long long)y, lt_user_index(d));
            return NULL;
        }
        batch.v[d] = x == 1 ? y : x;
        count *= batch.v[d];
    }
    int64_t n = a->sizes[a->ndim - 2], k = a->sizes[a->ndim - 1], l = b->sizes[b->ndim - 2],
            m = b->sizes[b->ndim - 1];
    lt_dims wide = batch;
    wide.n += 2;
    wide.v[batch.n] = n, wide.v[batch.n + 1] = k;
    lt_tensor *left = do_reshape(s, do_expand(s, a, &wide), &(lt_dims){3, {count, n, k}});
    wide.v[batch.n] = l, wide.v[batch.n + 1] = m;
    lt_tensor *right = do_reshape(s, do_expand(s, b, &wide), &(lt_dims){3, {count, l, m}});
    wide.v[batch.n] = n;
    lt_tensor *target =
        out != NULL ? product_target(s, out, a, &wide, &(lt_dims){3, {count, n, m}}) : NULL;
    lt_tensor *product = do_bmm_into(s, left, right, target);
    return target != NULL ? *out : do_unsafe_view(s, product, &wide);
}

static lt_tensor *do_linear_product(lt_scope *s, lt_tensor *a, lt_tensor *b, lt_tensor **out)
{
    if (b->ndim == 1) { /* [..., n, k] and [k] */
        const lt_dims sizes = with_last(a, -1), line = {1, {rows_of(a)}};
        lt_tensor *target = product_target(s, out, a, &sizes, &line);
        lt_tensor *product = do_mv_into(s, do_rows(s, a), b, target);
        return target != NULL ? *out : do_unsafe_view(s, product, &sizes);
    }
    if (b->ndim == 2 && a->ndim > 2) {
        const lt_dims sizes = with_last(a, b->sizes[1]);
        return do_rows_product(s, NULL, a, b, &sizes, out);
    }
    if (a->ndim == 1 && b->ndim == 2 && *out != NULL)
        return do_rows_product(s, NULL, a, b, &(lt_dims){1, {b->sizes[1]}}, out);
    if (a->ndim == 1) {
        lt_tensor *row = do_unsqueeze(s, a, 0);
        if (row == NULL) return NULL;
        return do_squeeze_dim(s, b->ndim == 2 ? do_mm(s, row, b) : do_batched(s, row, b, NULL), -2);
    }
    return do_batched(s, a, b, out);
}

lt_status lt_matmul_impl(lt_tensor *self, lt_tensor *other, lt_tensor **out)
{
    if (self->ndim == 0 || other->ndim == 0)
        return lt_error(LT_ERR_RUNTIME,
                        "both arguments to matmul need to be at least 1D, but they are %dD and %dD",
                        self->ndim, other->ndim);
    lt_tensor *given = *out;
    if (self->ndim == 2 && other->ndim == 2)
        return given != NULL ? lt_mm_out(self, other, given) : lt_mm(self, other, out);
    if (self->ndim == 2 && other->ndim == 1)
        return given != NULL ? lt_mv_out(self, other, given) : lt_mv(self, other, out);
    if (self->ndim == 1 && other->ndim == 1)
        return given != NULL ? lt_dot_out(self, other, given) : lt_dot(self, other, out);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(matmul));
    return lt_scope_store(&s, do_linear_product(&s, self, other, out), out);
}

lt_status lt_linear_impl(lt_tensor *input, lt_tensor *weight, lt_tensor *bias, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(linear));
    lt_tensor *turned = do_t(&s, weight), *result = NULL;
    if (turned == NULL) return lt_scope_close(&s);
    if (input->ndim == 0 || bias == NULL) {
        result = do_matmul_into(&s, input, turned, *out);
    } else if (input->ndim == 2) {
        result = do_addmm_into(&s, bias, input, turned, *out);
    } else if (turned->ndim == 2) {
        const lt_dims sizes = with_last(input, turned->sizes[1]);
        result = do_rows_product(&s, bias, input, turned, &sizes, out);
    } else {
        s.status = lt_error(LT_ERR_RUNTIME, "mat2 must be a matrix, got %d-D tensor", turned->ndim);
    }
    return lt_scope_store(&s, result, out);
}
