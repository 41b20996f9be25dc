/* sample_formula.c - the derivatives of grid_sample as formulas of differentiable ops, for second
 * derivatives, and where sums must keep an order. In the shapes below N is the batch, C the
 * channels, P the points, A the taps along a dimension (one for the nearest element, two, or four
 * by cubic polynomials), K all taps of a point. The formulas of a coordinate are the same as in
 * formulas/sampling.inc. */
#include "sample.h"
#include "step/detach.h"
#include "step/floor.h"
#include "step/fmod.h"
#include "step/ones_like.h"
#include "step/round.h"
#include "step/scatter_add.h"
#include "step/zeros_like.h"

/* A scope within another one, since a scope holds few tensors; at its end its results move to the
 * outer one. */
static void open_within(lt_scope *s, const lt_scope *outer)
{
    lt_scope_open(s, true);
    s->status = outer->status;
}

static void close_into(lt_scope *outer, lt_scope *s, lt_tensor **const *results, int n)
{
    lt_tensor *kept[4];
    for (int i = 0; i < n; i++) kept[i] = s->status == LT_OK ? lt_tensor_retain(*results[i]) : NULL;
    const lt_status status = lt_scope_close(s);
    for (int i = 0; i < n; i++) *results[i] = lt_scope_hold(outer, status, kept[i]);
}

/* A coordinate [N, P] in elements, differentiable, and its derivative by the coordinate of the
 * padded image, a constant. */
typedef struct sample_point {
    lt_tensor *at, *slope;
} sample_point;

static sample_point do_reflect(lt_scope *outer, lt_tensor *x, int64_t size, bool aligned)
{
    lt_scope within, *s = &within;
    sample_point p = {NULL, NULL};
    const double low = aligned ? 0 : -0.5, span = (double)(aligned ? size - 1 : size);
    if (span == 0) return (sample_point){do_zeros_like(outer, x), do_zeros_like(outer, x)};
    open_within(s, outer);
    lt_tensor *shifted = plus(s, x, -low), *distance = do_abs(s, shifted),
              *fixed = do_detach(s, shifted);
    lt_tensor *rest = do_fmod(s, distance, do_number(s, span));
    lt_tensor *turns = do_floor(s, times(s, do_detach(s, distance), 1 / span));
    lt_tensor *even = do_eq(s, do_fmod(s, turns, do_number(s, 2)), do_number(s, 0));
    lt_tensor *back = do_sub(s, do_number(s, span + low), rest);
    lt_tensor *sign =
        do_where(s, do_lt(s, fixed, do_number(s, 0)), do_number(s, -1), do_ones_like(s, fixed));
    p.at = do_where(s, even, plus(s, rest, low), back);
    p.slope = do_where(s, even, sign, do_neg(s, sign));
    close_into(outer, s, (lt_tensor * *[]){&p.at, &p.slope}, 2);
    return p;
}

static sample_point do_pad(lt_scope *outer, const lt_sampling *how, lt_tensor *x, int64_t size)
{
    lt_scope within, *s = &within;
    sample_point p = {x, do_ones_like(outer, x)};
    if (how->padding == LT_SAMPLE_ZEROS) return p;
    open_within(s, outer);
    if (how->padding == LT_SAMPLE_REFLECTION) p = do_reflect(s, x, size, how->align_corners);
    lt_tensor *zero = do_number(s, 0), *last = do_number(s, (double)(size - 1)),
              *fixed = do_detach(s, p.at);
    lt_tensor *above = do_gt(s, fixed, zero), *below = do_lt(s, fixed, last);
    /* of nan */
    lt_tensor *ends =
        how->dims == 3 ? do_where(s, below, zero, last) : do_where(s, above, last, zero);
    lt_tensor *inside = do_logical_and(s, above, below);
    p.at = do_where(s, inside, p.at, do_cast(s, ends, how->dtype));
    p.slope = do_where(s, inside, p.slope, do_zeros_like(s, p.slope));
    close_into(outer, s, (lt_tensor * *[]){&p.at, &p.slope}, 2);
    return p;
}

/* One dimension, [N, P, A]: weights and their derivatives by the grid's coordinate, offsets, and
 * whether taps are inside the image. */
typedef struct axis {
    lt_tensor *weight, *slope, *offset, *inside;
    int64_t taps;
} axis;

/* A polynomial in a; coefficients from the highest power down. */
static lt_tensor *do_polynomial(lt_scope *outer, lt_tensor *a, const double *coefficients, int n)
{
    lt_scope within, *s = &within;
    open_within(s, outer);
    lt_tensor *sum = plus(s, times(s, a, coefficients[0]), coefficients[1]);
    for (int i = 2; i < n; i++) sum = plus(s, do_mul(s, sum, a), coefficients[i]);
    close_into(outer, s, (lt_tensor * *[]){&sum}, 1);
    return sum;
}

static lt_tensor *do_near(lt_scope *s, lt_tensor *a)
{
    return do_polynomial(s, a, (double[]){1.25, -2.25, 0, 1}, 4);
}
static lt_tensor *do_far(lt_scope *s, lt_tensor *a)
{
    return do_polynomial(s, a, (double[]){-0.75, 3.75, -6, 3}, 4);
}
static lt_tensor *do_near_slope(lt_scope *s, lt_tensor *a)
{
    return do_polynomial(s, a, (double[]){3.75, -4.5, 0}, 3);
}
static lt_tensor *do_far_slope(lt_scope *s, lt_tensor *a)
{
    return do_polynomial(s, a, (double[]){-2.25, 7.5, -6}, 3);
}

/* Converts integral places [N, P, A] to offsets. */
static void do_locate(lt_scope *s, axis *a, lt_tensor *places, int64_t size, int64_t step)
{
    a->inside = do_logical_and(s, do_ge(s, places, do_number(s, 0)),
                               do_le(s, places, do_number(s, (double)(size - 1))));
    lt_tensor *safe = do_where(s, a->inside, places, do_zeros_like(s, places));
    a->offset = do_mul_scalar(s, do_cast(s, safe, LT_INT64), lt_scalar_from_int(step));
}

/* The four taps of a position with fractional part t: places low - 1 to low + 2. */
static void do_cubic(lt_scope *outer, const lt_sampling *how, axis *a, lt_tensor *t, lt_tensor *low,
                     int64_t size, int64_t step)
{
    lt_scope within, *s = &within;
    open_within(s, outer);
    lt_tensor *distance[4] = {plus(s, t, 1), t, do_sub(s, do_number(s, 1), t),
                              do_sub(s, do_number(s, 2), t)};
    lt_tensor *weight[4] = {do_far(s, distance[0]), do_near(s, distance[1]),
                            do_near(s, distance[2]), do_far(s, distance[3])};
    lt_tensor *slope[4] = {do_far_slope(s, distance[0]), do_near_slope(s, distance[1]),
                           do_neg(s, do_near_slope(s, distance[2])),
                           do_neg(s, do_far_slope(s, distance[3]))};
    lt_tensor *places[4];
    for (int k = 0; k < 4; k++) places[k] = plus(s, low, k - 1);
    a->taps = 4;
    a->weight = do_stack(s, weight, 4, 2);
    a->slope = do_stack(s, slope, 4, 2);
    do_locate(s, a, do_pad(s, how, do_stack(s, places, 4, 2), size).at, size, step);
    close_into(outer, s, (lt_tensor * *[]){&a->weight, &a->slope, &a->offset, &a->inside}, 4);
}

/* The weights and offsets of the dimension of coordinate d. */
static axis do_axis(lt_scope *outer, const lt_sampling *how, lt_tensor *points, int d, int64_t step)
{
    lt_scope within, *s = &within;
    open_within(s, outer);
    axis a = {.taps = how->mode == LT_SAMPLE_NEAREST ? 1 : 2};
    const int64_t size = how->in[2 - d];
    lt_tensor *x = plus(s, do_select(s, points, 2, d), 1);
    x = how->align_corners ? times(s, times(s, x, 0.5), (double)(size - 1))
                           : times(s, plus(s, times(s, x, (double)size), -1), 0.5);
    sample_point p = how->mode == LT_SAMPLE_BICUBIC ? (sample_point){x, do_ones_like(s, x)}
                                                    : do_pad(s, how, x, size);
    lt_tensor *scale = times(s, p.slope, (double)(how->align_corners ? size - 1 : size) / 2),
              *fixed = do_detach(s, p.at);
    lt_tensor *low = how->mode == LT_SAMPLE_NEAREST ? do_round(s, fixed) : do_floor(s, fixed),
              *part = do_sub(s, p.at, low);
    if (how->mode == LT_SAMPLE_NEAREST) {
        lt_tensor *taps = do_unsqueeze(s, low, 2);
        a.weight = do_ones_like(s, taps);
        a.slope = do_zeros_like(s, taps);
        do_locate(s, &a, taps, size, step);
    } else if (how->mode == LT_SAMPLE_BILINEAR) {
        a.weight = do_stack(s, (lt_tensor *[]){do_sub(s, do_number(s, 1), part), part}, 2, 2);
        a.slope = do_stack(s, (lt_tensor *[]){do_neg(s, scale), scale}, 2, 2);
        do_locate(s, &a, do_stack(s, (lt_tensor *[]){low, plus(s, low, 1)}, 2, 2), size, step);
    } else {
        do_cubic(s, how, &a, part, low, size, step);
        a.slope = do_mul(s, a.slope, do_unsqueeze(s, scale, 2));
    }
    close_into(outer, s, (lt_tensor * *[]){&a.weight, &a.slope, &a.offset, &a.inside}, 4);
    return a;
}

typedef lt_tensor *(*combine)(lt_scope *s, lt_tensor *a, lt_tensor *b);

/* Combines [N, P, A] of each dimension (NULL: none) to all taps, [N, P, K]: x varies fastest. */
static lt_tensor *do_all_taps(lt_scope *outer, combine by, lt_tensor *x, lt_tensor *y, lt_tensor *z)
{
    if (outer->status != LT_OK) return NULL;
    lt_scope within, *s = &within;
    open_within(s, outer);
    lt_tensor *all = by(s, do_unsqueeze(s, x, 2), do_unsqueeze(s, y, 3));
    lt_dims sizes = {3, {x->sizes[0], x->sizes[1], x->sizes[2] * y->sizes[2]}};
    all = do_reshape(s, all, &sizes);
    if (z != NULL) all = do_all_taps(s, by, all, z, NULL);
    close_into(outer, s, (lt_tensor * *[]){&all}, 1);
    return all;
}

/* The derivative by coordinate d, [N, P], from the sums over channels of the gradient times each
 * tap's element. */
static lt_tensor *do_along(lt_scope *outer, int dims, const axis *a, int d, lt_tensor *dots,
                           lt_tensor *inside)
{
    lt_tensor *factor[3];
    lt_scope within, *s = &within;
    open_within(s, outer);
    for (int e = 0; e < 3; e++) factor[e] = e == d ? a[e].slope : a[e].weight;
    lt_tensor *parts = do_mul(s, dots, do_all_taps(s, do_mul, factor[0], factor[1], factor[2]));
    /* where a weight of nan counts in images */
    if (dims == 3) parts = do_where(s, inside, parts, do_number(s, 0));
    lt_tensor *sum = do_sum_dim(s, parts, 2, false);
    close_into(outer, s, (lt_tensor * *[]){&sum}, 1);
    return sum;
}

void lt_sample_formula(lt_scope *s, const lt_sampling *how, lt_tensor *grad, lt_tensor *input,
                       lt_tensor *grid, lt_tensor **grad_input, lt_tensor **grad_grid)
{
    const int64_t n = how->batch, channels = how->channels, n_points = how->points,
                  all = how->in[0] * how->in[1] * how->in[2];
    const int dims = how->dims;
    const lt_dims by_point = {3, {n, n_points, dims}}, planes = {3, {n, channels, all}};
    const lt_dims columns = {4, {n, channels, n_points, 1}};
    lt_tensor *points = do_reshape(s, grid, &by_point), *image = do_reshape(s, input, &planes),
              *g = do_reshape(s, grad, &columns);
    axis a[3] = {{0}};
    for (int d = 0; d < dims; d++)
        a[d] = do_axis(s, how, points, d,
                       d == 0   ? 1
                       : d == 1 ? how->in[2]
                                : how->in[2] * how->in[1]);
    lt_tensor *offset = do_all_taps(s, do_add, a[0].offset, a[1].offset, a[2].offset);
    lt_tensor *inside = do_all_taps(s, do_logical_and, a[0].inside, a[1].inside, a[2].inside);
    if (s->status != LT_OK) return;
    const int64_t taps = offset->sizes[2];
    const lt_dims four = {4, {n, channels, n_points, taps}},
                  looked_up = {3, {n, channels, n_points * taps}};
    lt_tensor *index = do_reshape(s, do_expand(s, do_unsqueeze(s, offset, 1), &four), &looked_up),
              *seen = do_unsqueeze(s, inside, 1);
    lt_tensor *zero = do_number(s, 0);
    if (grad_input != NULL) {
        lt_tensor *weight =
            do_unsqueeze(s, do_all_taps(s, do_mul, a[0].weight, a[1].weight, a[2].weight), 1);
        lt_tensor *parts = do_where(s, seen, do_mul(s, g, weight), zero);
        lt_tensor *sums = do_scatter_add(s, do_zeros(s, input, &planes), 2, index,
                                         do_reshape(s, parts, &looked_up));
        const lt_dims sizes = lt_dims_of(input);
        *grad_input = do_reshape(s, sums, &sizes);
    }
    if (grad_grid == NULL) return;
    lt_tensor *values = do_reshape(s, do_gather(s, image, 2, index), &four);
    lt_tensor *dots = do_sum_dim(s, do_mul(s, g, do_where(s, seen, values, zero)), 1, false),
              *along[3];
    for (int d = 0; d < dims; d++) along[d] = do_along(s, dims, a, d, dots, inside);
    const lt_dims sizes = lt_dims_of(grid);
    *grad_grid = do_reshape(s, do_stack(s, along, dims, 2), &sizes);
}
