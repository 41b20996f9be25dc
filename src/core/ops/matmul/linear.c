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

/* Merges all dimensions but the last: [..., k] to [n, k]. */
static lt_tensor *do_rows(lt_scope *s, lt_tensor *t)
{
    int64_t n = 1;
    for (int d = 0; d < t->ndim - 1; d++) n *= t->sizes[d];
    return do_reshape(s, t, &(lt_dims){2, {n, t->sizes[t->ndim - 1]}});
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

/* [..., n, k] times [..., k, m] with broadcast batches. */
static lt_tensor *do_batched(lt_scope *s, lt_tensor *a, lt_tensor *b)
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
    return do_unsafe_view(s, do_bmm(s, left, right), &wide);
}

static lt_tensor *do_linear_product(lt_scope *s, lt_tensor *a, lt_tensor *b)
{
    if (b->ndim == 1) { /* [..., n, k] and [k] */
        lt_dims sizes = with_last(a, -1);
        return do_unsafe_view(s, do_mv(s, do_rows(s, a), b), &sizes);
    }
    if (b->ndim == 2 && a->ndim > 2) {
        lt_dims sizes = with_last(a, b->sizes[1]);
        return do_unsafe_view(s, do_mm(s, do_rows(s, a), b), &sizes);
    }
    if (a->ndim == 1) {
        lt_tensor *row = do_unsqueeze(s, a, 0);
        if (row == NULL) return NULL;
        return do_squeeze_dim(s, b->ndim == 2 ? do_mm(s, row, b) : do_batched(s, row, b), -2);
    }
    return do_batched(s, a, b);
}

lt_status lt_matmul_impl(lt_tensor *self, lt_tensor *other, lt_tensor **out)
{
    if (self->ndim == 0 || other->ndim == 0)
        return lt_error(LT_ERR_RUNTIME,
                        "both arguments to matmul need to be at least 1D, but they are %dD and %dD",
                        self->ndim, other->ndim);
    if (self->ndim == 2 && other->ndim == 2) return lt_mm(self, other, out);
    if (self->ndim == 2 && other->ndim == 1) return lt_mv(self, other, out);
    if (self->ndim == 1 && other->ndim == 1) return lt_dot(self, other, out);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(matmul));
    return lt_scope_return(&s, do_linear_product(&s, self, other), out);
}

lt_status lt_linear_impl(lt_tensor *input, lt_tensor *weight, lt_tensor *bias, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(linear));
    lt_tensor *turned = do_t(&s, weight), *result = NULL;
    if (turned == NULL) return lt_scope_close(&s);
    if (input->ndim == 0 || bias == NULL) {
        lt_status status = lt_matmul(input, turned, &result);
        result = lt_scope_hold(&s, status, result);
    } else if (input->ndim == 2) {
        result = do_addmm(&s, bias, input, turned);
    } else if (turned->ndim == 2) {
        lt_dims sizes = with_last(input, turned->sizes[1]);
        result = do_reshape(&s, do_addmm(&s, bias, do_rows(&s, input), turned), &sizes);
    } else {
        s.status = lt_error(LT_ERR_RUNTIME, "mat2 must be a matrix, got %d-D tensor", turned->ndim);
    }
    return lt_scope_return(&s, result, out);
}
