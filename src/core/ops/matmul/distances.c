/* distances.c - distances between all pairs of rows: norms of differences, or for many rows by a
 * product of matrices. */
#include <string.h>

#include "iter.h"
#include "ops/steps.h"
#include "op/_euclidean_backward.h"
#include "op/_euclidean_dist.h"
#include "op/_euclidean_tangent.h"
#include "op/cdist.h"
#include "op/norm.h"
#include "step/_euclidean_dist.h"
#include "step/clamp_min.h"
#include "step/eq.h"
#include "step/matmul.h"
#include "step/ones_like.h"
#include "step/sqrt.h"
#include "step/transpose.h"
#include "step/unsqueeze.h"

enum { FEW_ROWS = 25 }; /* up to this many on both sides PyTorch also sums differences */

typedef enum distance_way { IF_MANY, ALWAYS, NEVER } distance_way;

static lt_status parse_compute_mode(const char *mode, distance_way *out)
{
    static const char *const modes[] = {[IF_MANY] = "use_mm_for_euclid_dist_if_necessary",
                                        [ALWAYS] = "use_mm_for_euclid_dist",
                                        [NEVER] = "donot_use_mm_for_euclid_dist"};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (strcmp(mode, modes[i]) != 0) continue;
        *out = (distance_way)i;
        return LT_OK;
    }
    return lt_error(LT_ERR_RUNTIME, "%s is not a valid value for compute_mode", mode);
}

static lt_tensor *do_squared_length(lt_scope *s, lt_tensor *rows)
{
    return do_sum_dim(s, do_mul(s, rows, rows), -1, true);
}

/* |a - b|^2 = a.a - 2 a.b + b.b, all three by one product: of rows (-2 a, a.a, 1) and (b, 1, b.b),
 * or (a, a.a, 1) and (-2 b, 1, b.b), with the same bits unless a value overflows: the smaller
 * operand is doubled. */
lt_status lt__euclidean_dist_impl(lt_tensor *x1, lt_tensor *x2, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open_together(&s, false, x1);
    lt_tensor *length1 = do_squared_length(&s, x1), *length2 = do_squared_length(&s, x2);
    lt_tensor **fewer = x1->numel <= x2->numel ? &x1 : &x2;
    *fewer = do_mul_scalar(&s, *fewer, lt_scalar_from_int(-2));
    lt_tensor *left[] = {x1, length1, do_ones_like(&s, length1)};
    lt_tensor *right[] = {x2, do_ones_like(&s, length2), length2};
    lt_tensor *columns = do_transpose(&s, do_cat(&s, right, 3, -1), -2, -1);
    lt_tensor *squares = do_matmul(&s, do_cat(&s, left, 3, -1), columns);
    return lt_scope_return(&s, do_sqrt(&s, do_clamp_min(&s, squares, lt_scalar_from_int(0))), out);
}

/* a / distance, 0 at distance 0. */
static lt_tensor *do_ratio(lt_scope *s, lt_tensor *a, lt_tensor *distances)
{
    lt_tensor *zero = do_scalar(s, lt_scalar_from_int(0)), *none = do_eq(s, distances, zero);
    lt_tensor *apart = do_where(s, none, do_scalar(s, lt_scalar_from_int(1)), distances);
    return do_where(s, none, zero, do_div(s, a, apart));
}

/* sum over j of (x1[i] - x2[j]) * ratio[i][j], where ratio = grad / distance. */
lt_status lt__euclidean_backward_impl(lt_tensor *grad, lt_tensor *x1, lt_tensor *x2,
                                      lt_tensor *distances, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_euclidean_backward));
    lt_tensor *ratio = do_ratio(&s, grad, distances);
    lt_tensor *own = do_mul(&s, x1, do_sum_dim(&s, ratio, -1, true));
    return lt_scope_return(&s, do_sub(&s, own, do_matmul(&s, ratio, x2)), out);
}

/* (x1[i] - x2[j]) tangent[i] / distance */
lt_status lt__euclidean_tangent_impl(lt_tensor *x1_t, lt_tensor *x1, lt_tensor *x2,
                                     lt_tensor *distances, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_euclidean_tangent));
    lt_tensor *own = do_sum_dim(&s, do_mul(&s, x1, x1_t), -1, true);
    lt_tensor *products = do_sub(&s, own, do_matmul(&s, x1_t, do_transpose(&s, x2, -2, -1)));
    return lt_scope_return(&s, do_ratio(&s, products, distances), out);
}

static lt_status check_distances(lt_tensor *x1, lt_tensor *x2, double p)
{
    lt_device device;
    LT_TRY(lt_check_same_device("cdist", (lt_tensor *[]){x1, x2}, 2, false, &device));
    if (!lt_dtype_is_float((lt_dtype)x1->dtype) || !lt_dtype_is_float((lt_dtype)x2->dtype))
        return lt_error(LT_ERR_RUNTIME, "cdist only supports floating-point dtypes, %s got: %s",
                        lt_dtype_is_float((lt_dtype)x1->dtype) ? "X2" : "X1",
                        lt_dtype_scalar_name(
                            (lt_dtype)(lt_dtype_is_float((lt_dtype)x1->dtype) ? x2 : x1)->dtype));
    if (x1->ndim < 2 || x2->ndim < 2)
        return lt_error(LT_ERR_RUNTIME, "cdist only supports at least 2D tensors, X%d got: %dD",
                        x1->ndim < 2 ? 1 : 2, x1->ndim < 2 ? x1->ndim : x2->ndim);
    if (x1->sizes[x1->ndim - 1] != x2->sizes[x2->ndim - 1])
        return lt_error(LT_ERR_RUNTIME,
                        "X1 and X2 must have the same number of columns. X1: %lld X2: %lld",
                        (long long)x1->sizes[x1->ndim - 1], (long long)x2->sizes[x2->ndim - 1]);
    if (!(p >= 0)) return lt_error(LT_ERR_RUNTIME, "cdist only supports non-negative p values");
    return LT_OK;
}

/* Whether a matrix product computes the distances: it rounds more, as PyTorch's does. Half types
 * are summed directly, since their squares exceed the range. */
static bool by_product(const lt_tensor *x1, const lt_tensor *x2, double p, distance_way way)
{
    const lt_dtype dtype = (lt_dtype)x1->dtype;
    if (p != 2 || way == NEVER || x1->dtype != x2->dtype ||
        (dtype != LT_FLOAT32 && dtype != LT_FLOAT64))
        return false;
    if (x1->numel == 0 || x2->numel == 0) return false;
    return way == ALWAYS || x1->sizes[x1->ndim - 2] > FEW_ROWS ||
           x2->sizes[x2->ndim - 2] > FEW_ROWS;
}

/* x expanded to the batches of both, so that each has a derivative of its own shape. */
static lt_tensor *do_expand_batches(lt_scope *s, lt_tensor *x, const lt_tensor *other)
{
    lt_dims shape = {.n = x->ndim > other->ndim ? x->ndim : other->ndim};
    bool same = x->ndim == shape.n;
    for (int d = 0; d < shape.n; d++) {
        const int own = d - (shape.n - x->ndim), its = d - (shape.n - other->ndim);
        const int64_t size = own >= 0 ? x->sizes[own] : 1,
                      wanted = its >= 0 ? other->sizes[its] : 1;
        shape.v[d] = d >= shape.n - 2 || size != 1 ? size : wanted;
        same = same && shape.v[d] == size;
    }
    return same ? x : do_expand(s, x, &shape);
}

lt_status lt_cdist_impl(lt_tensor *x1, lt_tensor *x2, double p, const char *compute_mode,
                        lt_tensor **out)
{
    distance_way way;
    LT_TRY(parse_compute_mode(compute_mode, &way));
    LT_TRY(check_distances(x1, x2, p));
    lt_scope s;
    /* fused, so that the differences of all pairs are not written to memory */
    lt_scope_open_together(&s, LT_COMPOSITE(cdist), x1);
    if (by_product(x1, x2, p, way))
        return lt_scope_return(
            &s,
            do__euclidean_dist(&s, do_expand_batches(&s, x1, x2), do_expand_batches(&s, x2, x1)),
            out);
    lt_tensor *result = NULL;
    lt_tensor *apart = do_sub(&s, do_unsqueeze(&s, x1, -2), do_unsqueeze(&s, x2, -3));
    if (apart == NULL) return lt_scope_close(&s);
    lt_status status =
        lt_norm(apart, lt_scalar_from_float(p), &(lt_dims){1, {-1}}, false, LT_DTYPE_NONE, &result);
    return lt_scope_return(&s, lt_scope_hold(&s, status, result), out);
}
