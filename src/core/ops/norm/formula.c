/* formula.c - the derivatives of normalization as formulas of differentiable ops, for second
 * derivatives, and the tangents of forward mode. With x' = (x - mean) * rstd, w the weight, g the
 * gradient and E the mean over a row's elements: the gradient is rstd * (g w - E(g w) - x' E(g w
 * x')) for the input, and the sums of g x' and of g for the parameters. */
#include "norm.h"
#include "op/mean.h"
#include "step/rsqrt.h"

static lt_tensor *do_mean_over(lt_scope *s, lt_tensor *a, const lt_dims *dims)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_mean_dim(a, dims, true, LT_DTYPE_NONE, &out);
    return lt_scope_hold(s, status, out);
}

/* Sums over the dimensions along which a parameter is broadcast, in its dtype (the dtype of like).
 */
static lt_tensor *do_sum_to_parameter(lt_scope *s, lt_tensor *a, const lt_dims *parameters,
                                      const lt_tensor *like)
{
    int64_t numel = 1;
    for (int d = 0; d < parameters->n; d++) numel *= parameters->v[d];
    lt_tensor *line = do_reshape(s, do_sum_to(s, a, parameters), &(lt_dims){1, {numel}});
    return like != NULL ? do_narrow_to(s, line, like) : line;
}

/* The input and its statistics: its own (over not empty), or given ones. */
typedef struct normalized {
    lt_tensor *input, *mean, *given_rstd;
    double eps;
} normalized;

/* x', and the reciprocal standard deviations. */
static lt_tensor *do_normal(lt_scope *s, const normalized *n, const lt_dims *sizes,
                            const lt_dims *parameters, const lt_dims *over, bool centered,
                            lt_tensor **rstd)
{
    lt_tensor *normal = do_reshape(s, do_widen(s, n->input), sizes);
    if (over->n == 0) {
        *rstd = do_reshape(s, n->given_rstd, parameters);
        normal = do_sub(s, normal, do_reshape(s, n->mean, parameters));
    } else {
        if (centered) normal = do_sub(s, normal, do_mean_over(s, normal, over));
        *rstd = do_rsqrt(s, plus(s, do_mean_over(s, do_square(s, normal), over), n->eps));
    }
    return do_mul(s, normal, *rstd);
}

/* rstd * (a - E(a) - x' E(a x')): the derivative of x' by x in the direction of a; the map is
 * symmetric. */
static lt_tensor *do_across(lt_scope *s, lt_tensor *a, lt_tensor *normal, lt_tensor *rstd,
                            const lt_dims *over, bool centered)
{
    lt_tensor *left = a;
    if (over->n > 0 && centered) left = do_sub(s, left, do_mean_over(s, a, over));
    if (over->n > 0)
        left = do_sub(s, left, do_mul(s, normal, do_mean_over(s, do_mul(s, a, normal), over)));
    return do_mul(s, left, rstd);
}

/* Closes the scope; stores its results in outs as new references. Entries may be NULL. */
lt_status lt_norm_return(lt_scope *s, int n, lt_tensor *const *results, lt_tensor **const *outs)
{
    for (int i = 0; i < n; i++)
        if (results[i] != NULL) lt_scope_put(s, results[i], outs[i]);
    return lt_scope_close(s);
}

lt_status lt_norm_formula(const lt_norm_grads *g, const lt_dims *sizes, const lt_dims *parameters,
                          const lt_dims *over, bool centered, lt_tensor **outs)
{
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *grad = do_reshape(&s, do_widen(&s, g->grad), sizes), *gw = grad, *rstd;
    lt_tensor *normal = do_normal(&s, &(normalized){g->input, g->mean, g->rstd, g->eps}, sizes,
                                  parameters, over, centered, &rstd);
    if (g->weight != NULL)
        gw = do_mul(&s, grad, do_reshape(&s, do_widen(&s, g->weight), parameters));
    lt_tensor *results[3] = {NULL, NULL, NULL};
    if (g->needs[0]) {
        lt_tensor *left = do_across(&s, gw, normal, rstd, over, centered);
        const lt_dims whole = lt_dims_of(g->input);
        results[0] = do_narrow_to(&s, do_reshape(&s, left, &whole), g->input);
    }
    if (g->needs[1])
        results[1] = do_sum_to_parameter(&s, do_mul(&s, grad, normal), parameters, g->weight);
    if (g->needs[2]) results[2] = do_sum_to_parameter(&s, grad, parameters, g->weight);
    return lt_norm_return(&s, 3, results, (lt_tensor * *const[]){&outs[0], &outs[1], &outs[2]});
}

lt_status lt_norm_tangent(const lt_norm_tangents *t, const lt_dims *sizes,
                          const lt_dims *parameters, const lt_dims *over, bool centered,
                          lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, true);
    const lt_dims whole = lt_dims_of(t->input);
    lt_tensor *rstd;
    lt_tensor *normal = do_normal(&s, &(normalized){t->input, t->mean, t->rstd, t->eps}, sizes,
                                  parameters, over, centered, &rstd);
    lt_tensor *tangent = do_across(&s, do_reshape(&s, do_widen(&s, t->input_t), sizes), normal,
                                   rstd, over, centered);
    if (t->weight != NULL)
        tangent = do_mul(&s, tangent, do_reshape(&s, do_widen(&s, t->weight), parameters));
    if (t->weight_t != NULL)
        tangent = do_add(&s, tangent,
                         do_mul(&s, normal, do_reshape(&s, do_widen(&s, t->weight_t), parameters)));
    if (t->bias_t != NULL)
        tangent = do_add(&s, tangent, do_reshape(&s, do_widen(&s, t->bias_t), parameters));
    return lt_scope_return(&s, do_narrow_to(&s, do_reshape(&s, tangent, &whole), t->input), out);
}
