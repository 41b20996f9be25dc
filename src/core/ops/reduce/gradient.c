/* gradient.c - gradients of samples by central differences, of first or second order at the ends. */
#include "ops/steps.h"
#include "ops/numbers.h"
#include "op/diff.h"
#include "op/gradient.h"

/* The distance of neighbours along one dimension: a number, or the coordinates of the samples. */
typedef struct spacing {
    double step;
    lt_tensor *at; /* NULL: step */
} spacing;

static lt_tensor *do_point(lt_scope *s, lt_tensor *x, int dim, int64_t i)
{
    return do_part(s, x, dim, i, i + 1);
}

/* The sum of three weighted parts: of numbers (weights), or of tensors (tensor_weights). */
static lt_tensor *do_weighted_parts(lt_scope *s, lt_tensor *const parts[3], const double *weights,
                                    lt_tensor *const *tensor_weights)
{
    lt_tensor *sum = NULL;
    for (int i = 0; i < 3; i++) {
        lt_tensor *term = weights != NULL ? times(s, parts[i], weights[i])
                                          : do_mul(s, tensor_weights[i], parts[i]);
        sum = i == 0 ? term : do_add(s, sum, term);
    }
    return sum;
}

/* ---- equal distances ------------------------------------------------------------------------- */

/* The difference of second order at an end: sign 1 at the first entry, -1 at the last one. */
static lt_tensor *do_end(lt_scope *s, lt_tensor *x, int dim, double step, int order, int sign)
{
    static const double weights[] = {-1.5, 2, -0.5};
    const int64_t end = sign > 0 ? 0 : x->sizes[dim] - 1;
    lt_tensor *own = do_point(s, x, dim, end), *next = do_point(s, x, dim, end + sign);
    if (order == 1) {
        lt_tensor *change = sign > 0 ? do_sub(s, next, own) : do_sub(s, own, next);
        return do_div(s, change, do_number(s, step));
    }
    lt_tensor *const parts[] = {own, next, do_point(s, x, dim, end + 2 * sign)};
    return do_div(s, do_weighted_parts(s, parts, weights, NULL), do_number(s, sign * step));
}

static lt_status slope_of_equal(lt_tensor *x, int dim, double step, int order, lt_tensor **out)
{
    const int64_t n = x->sizes[dim];
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *change = do_sub(&s, do_part(&s, x, dim, n > 2 ? 2 : n, n),
                               do_part(&s, x, dim, 0, n > 2 ? n - 2 : 0));
    lt_tensor *middle = do_div(&s, change, do_number(&s, 2 * step));
    lt_tensor *first = do_end(&s, x, dim, step, order, 1),
              *last = do_end(&s, x, dim, step, order, -1);
    return lt_scope_return(&s, do_cat(&s, (lt_tensor *[]){first, middle, last}, 3, dim), out);
}

/* ---- coordinates ----------------------------------------------------------------------------- */

/* With distances p and q to both neighbours: the weights of the previous, own and next sample at
 * the own one (place 0), at the previous one (-1), or at the next one (1). */
static void weigh(lt_scope *s, lt_tensor *p, lt_tensor *q, int place, lt_tensor **w)
{
    lt_tensor *sum = do_add(s, p, q), *pq = do_mul(s, p, q);
    lt_tensor *by_p = do_mul(s, p, sum), *by_q = do_mul(s, q, sum);
    if (place == 0) {
        w[0] = do_div(s, do_neg(s, q), by_p);
        w[1] = do_div(s, do_sub(s, q, p), pq);
        w[2] = do_div(s, p, by_q);
    } else if (place < 0) {
        w[0] = do_div(s, do_neg(s, do_add(s, times(s, p, 2), q)), by_p);
        w[1] = do_div(s, sum, pq);
        w[2] = do_neg(s, do_div(s, p, by_q));
    } else {
        w[0] = do_div(s, q, by_p);
        w[1] = do_neg(s, do_div(s, sum, pq));
        w[2] = do_div(s, do_add(s, times(s, q, 2), p), by_q);
    }
}

/* The slopes at samples from .. to - 1 and, for place -1 or 1, at the end beside them. */
static lt_tensor *do_slope_at(lt_scope *outer, lt_tensor *x, int dim, lt_tensor *steps, int place)
{
    const int64_t n = x->sizes[dim], from = place > 0 ? n - 3 : 0, count = place == 0 ? n - 2 : 1;
    lt_tensor *out = NULL, *w[3], *parts[3];
    if (outer->status != LT_OK) return NULL;
    lt_scope s;
    lt_scope_open(&s, true);
    for (int i = 0; i < 3; i++) parts[i] = do_part(&s, x, dim, from + i, from + i + count);
    weigh(&s, do_part(&s, steps, dim, from, from + count),
          do_part(&s, steps, dim, from + 1, from + 1 + count), place, w);
    const lt_status status = lt_scope_return(&s, do_weighted_parts(&s, parts, NULL, w), &out);
    return lt_scope_hold(outer, status, out);
}

/* The difference of two neighbours, of which i is the first. */
static lt_tensor *do_step(lt_scope *s, lt_tensor *x, int dim, lt_tensor *steps, int64_t i)
{
    lt_tensor *change = do_sub(s, do_point(s, x, dim, i + 1), do_point(s, x, dim, i));
    return do_div(s, change, do_point(s, steps, dim, i));
}

static lt_status slope_at_coordinates(lt_tensor *x, int dim, lt_tensor *at, int order,
                                      lt_tensor **out)
{
    const int64_t n = x->sizes[dim];
    lt_dims along = {.n = x->ndim};
    for (int d = 0; d < x->ndim; d++) along.v[d] = d == dim ? n - 1 : 1;
    lt_tensor *steps = NULL, *parts[3];
    int count = 0;
    lt_scope s;
    lt_scope_open(&s, true);
    s.status = lt_diff(at, 1, 0, NULL, NULL, &steps);
    steps = do_reshape(&s, lt_scope_hold(&s, s.status, steps), &along);
    parts[count++] =
        order == 1 ? do_step(&s, x, dim, steps, 0) : do_slope_at(&s, x, dim, steps, -1);
    if (n > 2) parts[count++] = do_slope_at(&s, x, dim, steps, 0);
    parts[count++] =
        order == 1 ? do_step(&s, x, dim, steps, n - 2) : do_slope_at(&s, x, dim, steps, 1);
    return lt_scope_return(&s, do_cat(&s, parts, count, dim), out);
}

/* ---- the operation --------------------------------------------------------------------------- */

/* The dimensions: all unless some are given. */
static lt_status gradient_dims(const lt_tensor *self, const lt_dims *dim, lt_dims *out)
{
    uint32_t mask;
    out->n = 0;
    if (dim == NULL)
        for (int d = 0; d < self->ndim; d++) out->v[out->n++] = d;
    if (dim == NULL || dim->n == 0) return LT_OK;
    LT_TRY(lt_dims_mask(dim, self->ndim, &mask));
    for (int i = 0; i < dim->n; i++) {
        int d;
        LT_TRY(lt_wrap_dim(dim->v[i], self->ndim, &d));
        out->v[out->n++] = d;
    }
    return LT_OK;
}

static lt_status check_count(int expected, int64_t given)
{
    if (given == expected) return LT_OK;
    return lt_error(LT_ERR_RUNTIME,
                    "torch.gradient expected spacing to be unspecified, a scalar, or a list of "
                    "length equal to 'self.dim() = %d', since dim argument was not given, but got "
                    "a list of length %lld",
                    expected, (long long)given);
}

static lt_status check_spacing(const lt_tensor *self, int dim, const spacing *by, int64_t order)
{
    const int64_t n = self->sizes[dim];
    if (n < order + 1)
        return lt_error(LT_ERR_RUNTIME,
                        "torch.gradient expected each dimension size to be at least edge_order+1");
    if (by->at == NULL || (by->at->ndim == 1 && by->at->sizes[0] == n)) return LT_OK;
    return lt_error(LT_ERR_RUNTIME,
                    "torch.gradient expected each element of spacing to have one dimension, but "
                    "expected a coordinate for each of the %lld elements",
                    (long long)n);
}

static lt_status slopes(lt_tensor *self, const spacing *by, const lt_dims *dims, int64_t order,
                        lt_tensor_list *out)
{
    if (order != 1 && order != 2)
        return lt_error(LT_ERR_RUNTIME,
                        "torch.gradient only supports edge_order=1 and edge_order=2.");
    for (int i = 0; i < dims->n; i++) LT_TRY(check_spacing(self, (int)dims->v[i], &by[i], order));
    lt_tensor_list list = {0, NULL};
    lt_status status = lt_list_new(dims->n, &list);
    for (int i = 0; status == LT_OK && i < dims->n; i++) {
        const int dim = (int)dims->v[i];
        status = by[i].at != NULL
                     ? slope_at_coordinates(self, dim, by[i].at, (int)order, &list.v[i])
                     : slope_of_equal(self, dim, by[i].step, (int)order, &list.v[i]);
        if (status == LT_OK) list.n++;
    }
    if (status == LT_OK)
        *out = list;
    else
        lt_list_release(&list);
    return status;
}

lt_status lt_gradient_impl(lt_tensor *self, lt_scalar step, const lt_dims *dim, int64_t edge_order,
                           lt_tensor_list *out)
{
    spacing by[LT_MAX_DIMS];
    lt_dims dims;
    LT_TRY(gradient_dims(self, dim, &dims));
    for (int i = 0; i < dims.n; i++) by[i] = (spacing){lt_scalar_double(step), NULL};
    return slopes(self, by, &dims, edge_order, out);
}

lt_status lt_gradient_each_impl(lt_tensor *self, lt_tensor *steps, const lt_dims *dim,
                                int64_t edge_order, lt_tensor_list *out)
{
    double numbers[LT_MAX_DIMS];
    spacing by[LT_MAX_DIMS];
    lt_dims dims;
    LT_TRY(gradient_dims(self, dim, &dims));
    LT_TRY(check_count(dims.n, steps->numel));
    LT_TRY(lt_numbers_of("gradient", "spacing", steps, dims.n, numbers));
    for (int i = 0; i < dims.n; i++) by[i] = (spacing){numbers[i], NULL};
    return slopes(self, by, &dims, edge_order, out);
}

lt_status lt_gradient_at_impl(lt_tensor *self, const lt_tensor_list *coordinates,
                              const lt_dims *dim, int64_t edge_order, lt_tensor_list *out)
{
    spacing by[LT_MAX_DIMS];
    lt_dims dims;
    LT_TRY(gradient_dims(self, dim, &dims));
    LT_TRY(check_count(dims.n, coordinates->n));
    for (int i = 0; i < dims.n; i++) by[i] = (spacing){0, coordinates->v[i]};
    return slopes(self, by, &dims, edge_order, out);
}
