/* differences.c - differences of neighbours, and integrals by the trapezoidal rule. */
#include "ops/steps.h"
#include "user_index.h"
#include "op/cumulative_trapezoid.h"
#include "op/diff.h"
#include "op/trapezoid.h"
#include "step/logical_xor.h"

/* Entries from .. to - 1 of a dimension, which may be none. */
static lt_tensor *do_entries(lt_scope *s, lt_tensor *a, int dim, int64_t from, int64_t to)
{
    return do_part(s, a, dim, from, to > from ? to : from);
}

/* Converts dim to an index; a tensor without dimensions counts as a vector. */
static lt_status wrap(const lt_tensor *t, int64_t dim, int *out)
{
    return lt_wrap_dim(dim, t->ndim > 0 ? t->ndim : 1, out);
}

/* ---- differences ----------------------------------------------------------------------------- */

static lt_status check_more(const lt_tensor *self, const lt_tensor *more, int dim)
{
    if (more == NULL) return LT_OK;
    if (more->ndim != self->ndim)
        return lt_error(LT_ERR_RUNTIME,
                        "diff expects prepend or append to be the same dimension as input");
    for (int d = 0; d < self->ndim; d++)
        if (d != dim && more->sizes[d] != self->sizes[d])
            return lt_error(LT_ERR_RUNTIME,
                            "diff expects the shape of tensor to prepend or append to match that "
                            "of input except along the differencing dimension; input.size(%lld) = "
                            "%lld, but got tensor.size(%lld) = %lld",
                            lt_user_index(d), (long long)self->sizes[d], lt_user_index(d),
                            (long long)more->sizes[d]);
    return LT_OK;
}

static lt_status difference(lt_tensor *y, int dim, lt_tensor **out)
{
    const int64_t n = y->sizes[dim];
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *later = do_entries(&s, y, dim, 1, n), *earlier = do_entries(&s, y, dim, 0, n - 1);
    return lt_scope_return(
        &s, y->dtype == LT_BOOL ? do_logical_xor(&s, later, earlier) : do_sub(&s, later, earlier),
        out);
}

lt_status lt_diff_impl(lt_tensor *self, int64_t n, int64_t dim, lt_tensor *prepend,
                       lt_tensor *append, lt_tensor **out)
{
    int d;
    if (self->ndim == 0)
        return lt_error(LT_ERR_RUNTIME, "diff expects input to be at least one-dimensional");
    LT_TRY(lt_wrap_dim(dim, self->ndim, &d));
    if (n < 0)
        return lt_error(LT_ERR_RUNTIME, "order must be non-negative but got %lld", (long long)n);
    LT_TRY(check_more(self, prepend, d));
    LT_TRY(check_more(self, append, d));
    if (n == 0) return lt_clone(self, out); /* as in PyTorch, without prepend and append */
    lt_tensor *parts[3], *y = NULL;
    int count = 0;
    if (prepend != NULL) parts[count++] = prepend;
    parts[count++] = self;
    if (append != NULL) parts[count++] = append;
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(diff));
    LT_TRY(lt_scope_return(&s, count > 1 ? do_cat(&s, parts, count, d) : self, &y));
    for (int64_t i = 0; i < n && y->sizes[d] > 0; i++) {
        lt_tensor *previous = y;
        const lt_status status = difference(previous, d, &y);
        lt_tensor_release(previous);
        LT_TRY(status);
    }
    if (y != self) {
        *out = y;
        return LT_OK;
    }
    lt_tensor_release(y);
    return lt_clone(self, out);
}

/* ---- integrals ------------------------------------------------------------------------------- */

/* The differences of x along dim, with the dimensions of y. */
static lt_tensor *do_steps(lt_scope *s, const char *op, lt_tensor *y, lt_tensor *x, int dim)
{
    lt_tensor *steps = NULL;
    if (s->status != LT_OK) return NULL;
    if (x->ndim == 1 && x->sizes[0] != y->sizes[dim]) {
        s->status =
            lt_error(LT_ERR_RUNTIME, "%s: There must be one `x` value for each sample point", op);
        return NULL;
    }
    lt_dims sizes = {.n = y->ndim};
    for (int d = 0; d < y->ndim; d++) {
        const int own = d - (y->ndim - x->ndim);
        sizes.v[d] = x->ndim == 1 ? (d == dim ? x->sizes[0] : 1) : own >= 0 ? x->sizes[own] : 1;
    }
    lt_tensor *aligned = x->ndim <= y->ndim ? do_reshape(s, x, &sizes) : x;
    const lt_status status =
        s->status == LT_OK ? difference(aligned, aligned->ndim - y->ndim + dim, &steps) : s->status;
    return lt_scope_hold(s, status, steps);
}

/* Twice the areas between neighbours along dim. */
static lt_tensor *do_double_areas(lt_scope *s, const char *op, lt_tensor *y, lt_tensor *x,
                                  lt_scalar dx, int dim)
{
    const int64_t n = y->sizes[dim];
    lt_tensor *sums = do_add(s, do_entries(s, y, dim, 0, n - 1), do_entries(s, y, dim, 1, n));
    return do_mul(s, sums, x != NULL ? do_steps(s, op, y, x, dim) : do_scalar(s, dx));
}

static lt_status check_integral(const char *op, const lt_tensor *y, int64_t dim, int *out)
{
    if (y->dtype == LT_BOOL)
        return lt_error(LT_ERR_RUNTIME,
                        "%s: received a bool input for `x` or `y`, but bool is not supported", op);
    LT_TRY(wrap(y, dim, out));
    if (y->ndim > 0) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "%s: expected values with at least one dimension", op);
}

lt_status lt_trapezoid_impl(lt_tensor *y, lt_tensor *x, lt_scalar dx, int64_t dim, lt_tensor **out)
{
    int d;
    LT_TRY(check_integral("trapezoid", y, dim, &d));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(trapezoid));
    if (y->sizes[d] == 0) {
        lt_dims sizes = {.n = 0};
        for (int i = 0; i < y->ndim; i++)
            if (i != d) sizes.v[sizes.n++] = y->sizes[i];
        return lt_scope_return(&s, do_zeros(&s, y, &sizes), out);
    }
    lt_tensor *areas = do_double_areas(&s, "trapezoid", y, x, dx, d);
    lt_tensor *sum = do_sum_dim(&s, areas, areas != NULL ? areas->ndim - y->ndim + d : d, false);
    return lt_scope_return(&s, do_div(&s, sum, do_number(&s, 2)), out);
}

lt_status lt_cumulative_trapezoid_impl(lt_tensor *y, lt_tensor *x, lt_scalar dx, int64_t dim,
                                       lt_tensor **out)
{
    int d;
    LT_TRY(check_integral("cumulative_trapezoid", y, dim, &d));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(cumulative_trapezoid));
    lt_tensor *areas = do_double_areas(&s, "cumulative_trapezoid", y, x, dx, d);
    lt_tensor *sums = do_cumsum(&s, areas, areas != NULL ? areas->ndim - y->ndim + d : d);
    return lt_scope_return(&s, do_div(&s, sums, do_number(&s, 2)), out);
}
