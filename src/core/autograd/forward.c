/* forward.c - see forward.h: one op on dual tensors. */
#include "autograd/forward.h"

#include "autograd/internal.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "memory/alloc.h"
#include "op/add.h"
#include "op/clone.h"
#include "op/conj.h"
#include "op/copy_.h"
#include "op/ones_like.h"
#include "op/zeros_like.h"

static bool is_complex(const lt_tensor *t)
{
    return t != NULL && lt_dtype_is_complex((lt_dtype)t->dtype);
}

lt_status lt_refuse_dual(const char *op)
{
    return lt_error(LT_ERR_RUNTIME,
                    "Trying to use forward AD with %s that does not support it because it has not "
                    "been implemented yet.",
                    op);
}

lt_status lt_refuse_dual_argument(const char *op, const char *argument)
{
    return lt_error(LT_ERR_RUNTIME,
                    "%s(): the derivative for '%s' is not implemented, and it has a tangent.", op,
                    argument);
}

lt_status lt_refuse_dual_out(const char *op)
{
    return lt_error(LT_ERR_RUNTIME,
                    "%s(): functions with out=... arguments don't support forward AD, but one of "
                    "the arguments has a tangent",
                    op);
}

/* ---- arguments ------------------------------------------------------------------------------- */

lt_status lt_dual_open(lt_dual *d, lt_tensor *const *given, int n)
{
    d->n = n;
    d->level = -1;
    for (int i = 0; i < n; i++) {
        const int level = lt_dual_level_of(given[i]);
        if (level > d->level) d->level = level;
    }
    for (int i = 0; i < n; i++)
        if (given[i] != NULL)
            LT_TRY(lt_unpack_dual(given[i], d->level, &d->primal[i], &d->tangent[i]));
    return LT_OK;
}

lt_status lt_dual_open_written(lt_dual *d, int level, lt_tensor *const *given, int n, bool others,
                               bool *any)
{
    d->n = n;
    d->level = level;
    *any = false;
    for (int i = 0; i < n; i++) {
        if (given[i] != NULL) LT_TRY(lt_tangent_of(given[i], level, &d->tangent[i]));
        *any = *any || (d->tangent[i] != NULL && (i == 0 || others));
    }
    if (!*any) return LT_OK;
    lt_tensor_release(d->tangent[0]);
    d->tangent[0] = NULL;
    LT_TRY(lt_tangent_to_write(given[0], level, &d->tangent[0]));
    for (int i = 1; i < n; i++)
        if (given[i] != NULL && d->tangent[i] == NULL)
            LT_TRY(lt_zeros_like(given[i], LT_DTYPE_NONE, NULL, &d->tangent[i]));
    return LT_OK;
}

lt_status lt_dual_fill(lt_dual *d)
{
    for (int i = 0; i < d->n; i++)
        if (d->primal[i] != NULL && d->tangent[i] == NULL &&
            lt_dtype_is_inexact((lt_dtype)d->primal[i]->dtype))
            LT_TRY(lt_zeros_like(d->primal[i], LT_DTYPE_NONE, NULL, &d->tangent[i]));
    return LT_OK;
}

void lt_dual_close(lt_dual *d)
{
    if (d->transposing) lt_set_grad_enabled(d->grad_mode);
    for (int i = 0; i < d->n; i++) {
        lt_tensor_release(d->primal[i]);
        lt_tensor_release(d->tangent[i]);
    }
    lt_tensor_release(d->sum);
}

static lt_status open_entry(const lt_dual_pieces *p, lt_tensor *given, int64_t i)
{
    lt_tensor **tangents = (lt_tensor **)p->tangent.v;
    LT_TRY(lt_unpack_dual(given, p->level, (lt_tensor **)&p->primal.v[i], &tangents[i]));
    if (tangents[i] != NULL) return LT_OK;
    return lt_zeros_like(p->primal.v[i], LT_DTYPE_NONE, NULL, &tangents[i]);
}

lt_status lt_dual_open_list(lt_dual_pieces *p, const lt_tensor_list *given)
{
    p->level = -1;
    p->primal.v = lt_mem_zarray(given->n, sizeof *p->primal.v);
    p->tangent.v = lt_mem_zarray(given->n, sizeof *p->tangent.v);
    if (p->primal.v == NULL || p->tangent.v == NULL) return LT_ERR_MEMORY;
    p->primal.n = p->tangent.n = given->n;
    for (int64_t i = 0; i < given->n; i++) {
        const int level = lt_dual_level_of(given->v[i]);
        if (level > p->level) p->level = level;
    }
    for (int64_t i = 0; i < given->n; i++) LT_TRY(open_entry(p, given->v[i], i));
    return LT_OK;
}

void lt_dual_close_list(lt_dual_pieces *p)
{
    for (int64_t i = 0; i < p->primal.n; i++) {
        lt_tensor_release(p->primal.v[i]);
        lt_tensor_release(p->tangent.v[i]);
    }
    lt_mem_free((void *)p->primal.v);
    lt_mem_free((void *)p->tangent.v);
}

/* ---- results --------------------------------------------------------------------------------- */

lt_status lt_dual_add(lt_dual *d, lt_tensor **term)
{
    lt_tensor *one = *term, *sum = NULL;
    *term = NULL;
    if (one == NULL) return LT_OK;
    if (d->sum == NULL) {
        d->sum = one;
        return LT_OK;
    }
    lt_status status = lt_add(d->sum, one, lt_scalar_from_int(1), &sum);
    lt_tensor_release(one);
    if (status != LT_OK) return status;
    lt_tensor_release(d->sum);
    d->sum = sum;
    return LT_OK;
}

lt_status lt_dual_steal(lt_dual *d, lt_tensor *result)
{
    lt_tensor *fitted = NULL;
    if (d->sum == NULL) return LT_OK;
    lt_tensor *sum = d->sum;
    /* Tangents of arguments are referenced elsewhere, so lt_tangent_fitted copies them. */
    LT_TRY(lt_tangent_fitted(result, sum, &fitted));
    return lt_tangent_set_steal(result, d->level, fitted);
}

lt_status lt_dual_plain(lt_tensor **result)
{
    lt_tensor *plain = NULL;
    if (!lt_requires_grad(*result)) return LT_OK;
    LT_TRY(lt_dual_detach(*result, true, &plain));
    lt_tensor_release(*result);
    *result = plain;
    return LT_OK;
}

lt_status lt_dual_before(lt_tensor *self, lt_tensor **out)
{
    if (lt_grad_mode_on()) {
        LT_TRY(lt_check_inplace(self));
        return lt_clone(self, out);
    }
    *out = lt_tensor_retain(self);
    return LT_OK;
}

lt_status lt_replace_with(lt_tensor *self, lt_tensor *result)
{
    char own[256], made[256];
    if (!lt_same_sizes(self, result))
        return lt_error(LT_ERR_RUNTIME, "output with shape %s doesn't match the broadcast shape %s",
                        lt_format_sizes(own, sizeof own, self->ndim, self->sizes),
                        lt_format_sizes(made, sizeof made, result->ndim, result->sizes));
    if (!lt_can_cast((lt_dtype)result->dtype, (lt_dtype)self->dtype))
        return lt_error(LT_ERR_RUNTIME,
                        "result type %s can't be cast to the desired output type %s",
                        lt_dtype_scalar_name((lt_dtype)result->dtype),
                        lt_dtype_scalar_name((lt_dtype)self->dtype));
    return lt_copy_(self, result, false);
}

/* ---- ops without a formula ------------------------------------------------------------------- */

lt_status lt_dual_weight(lt_dual *d, const lt_tensor *result, bool conjugates, lt_tensor **leaf,
                         lt_tensor **grad)
{
    d->grad_mode = lt_set_grad_enabled(true);
    d->transposing = true;
    LT_TRY(lt_ones_like((lt_tensor *)result, LT_DTYPE_NONE, NULL,
                        leaf)); /* not 0, where some formulas are not differentiable */
    (*leaf)->flags |= LT_FLAG_REQUIRES_GRAD;
    if (conjugates && is_complex(*leaf)) return lt_conj(*leaf, grad);
    *grad = lt_tensor_retain(*leaf);
    return LT_OK;
}

/* Makes the gradient fit the primal, as the engine does before it sends it on. */
static lt_status fit(lt_tensor **gradient, const lt_tensor *primal, bool conjugates,
                     const lt_tensor *leaf)
{
    lt_like like;
    if (conjugates && is_complex(leaf) && is_complex(*gradient)) {
        lt_tensor *conjugate = NULL;
        LT_TRY(lt_conj(*gradient, &conjugate));
        lt_tensor_release(*gradient);
        *gradient = conjugate;
    }
    lt_like_of(&like, primal);
    return lt_fit_gradient(NULL, 0, &like, gradient);
}

lt_status lt_dual_transpose(lt_dual *d, const char *op, bool conjugates, lt_tensor *leaf,
                            lt_tensor **gradients, const int *at, int n)
{
    lt_tensor *roots[LT_DUAL_ARGS], *weights[LT_DUAL_ARGS], *term = NULL;
    int found = 0;
    bool again = false;
    for (int i = 0; i < n; i++) {
        if (gradients[i] == NULL) continue;
        LT_TRY(fit(&gradients[i], d->primal[at[i]], conjugates, leaf));
        if (!lt_requires_grad(gradients[i])) return lt_refuse_dual(op);
        roots[found] = gradients[i];
        weights[found] = d->tangent[at[i]];
        found++;
    }
    if (found == 0) return LT_OK;
    for (int i = 0; i < d->n; i++)
        again = again || lt_requires_grad(d->primal[i]) || lt_requires_grad(d->tangent[i]);
    LT_TRY(lt_run_backward(&(lt_backward_args){.roots = roots,
                                               .grads = weights,
                                               .n = found,
                                               .create_graph = again && d->grad_mode,
                                               .inputs = &leaf,
                                               .n_inputs = 1,
                                               .allow_unused = true,
                                               .results = &term}));
    return lt_dual_add(d, &term);
}
