/* losses.c - batching rules of losses: computes the elementwise losses of all samples at once, then
 * reduces each sample. */
#include <string.h>

#include "batch.h"
#include "op/div.h"
#include "op/full_like.h"
#include "op/mean.h"
#include "op/nll_loss.h"
#include "op/reshape.h"
#include "op/sum.h"

/* New reference: losses [size, ...] reduced to a number per sample, or (none) unchanged. */
static lt_status reduced(lt_tensor *losses, const char *reduction, lt_tensor **out)
{
    lt_tensor *lines = NULL;
    const lt_dims last = {.n = 1, .v = {1}};
    lt_dims shape = {.n = 2, .v = {losses->sizes[0], 1}};
    lt_status status;
    if (strcmp(reduction, "none") == 0) {
        *out = lt_tensor_retain(losses);
        return LT_OK;
    }
    for (int d = 1; d < losses->ndim; d++) shape.v[1] *= losses->sizes[d];
    LT_TRY(lt_reshape(losses, &shape, &lines));
    status = strcmp(reduction, "mean") == 0 ? lt_mean_dim(lines, &last, false, LT_DTYPE_NONE, out)
                                            : lt_sum_dim(lines, &last, false, LT_DTYPE_NONE, out);
    lt_tensor_release(lines);
    return status;
}

/* Elementwise losses that broadcast, with an argument `reduction`. */
lt_status lt_batch_loss(lt_batch_call *c, int level, int64_t size)
{
    lt_batch_call each = *c;
    lt_tensor *held[LT_BATCH_ARGS] = {NULL}, *made = NULL;
    lt_status status = LT_OK;
    const char **reduction = NULL;
    const int ndim = lt_batch_max_dims(c);
    (void)size;
    for (int i = 0; i < c->op->n_args; i++) {
        lt_tensor *shown = NULL;
        if (strcmp(c->op->args[i].name, "reduction") == 0) reduction = &each.v[i].s;
        /* Scores and targets must have one shape, weights broadcast. */
        const bool alike = i < 2 && c->v[1].tensor != NULL;
        if (c->op->args[i].kind != LT_BATCH_TENSOR ||
            !(alike || lt_batch_has(c->v[i].tensor, level)))
            continue;
        LT_CHECK(lt_batch_show(c->v[i].tensor, level, &shown));
        status = lt_batch_padded(shown, ndim, &held[i]);
        lt_tensor_release(shown);
        if (status != LT_OK) goto done;
        each.v[i].tensor = held[i];
    }
    const char *given = *reduction;
    *reduction = "none";
    LT_CHECK(c->op->run(&each));
    status = reduced(each.r[0].tensor, given, &made);
    lt_tensor_release(each.r[0].tensor);
    if (status == LT_OK) status = lt_batch_hide(made, level, &c->r[0].tensor);
done:
    for (int i = 0; i < c->op->n_args; i++) lt_tensor_release(held[i]);
    lt_tensor_release(made);
    return status;
}

/* New reference: the class weight of each target, 0 for ignored ones: the nll_loss of scores that
 * are all -1. */
static lt_status weights_of(const lt_batch_call *c, lt_tensor *scores, lt_tensor *target,
                            lt_tensor **out)
{
    lt_tensor *minus_one = NULL;
    LT_TRY(lt_full_like(scores, lt_scalar_from_float(-1), LT_DTYPE_NONE, NULL, &minus_one));
    lt_status status = lt_nll_loss(minus_one, target, c->v[2].tensor, c->v[3].i, "none", out);
    lt_tensor_release(minus_one);
    return status;
}

/* nll_loss of samples [n, classes, ...], or of one [classes]. A mean divides by the sum of weights.
 */
lt_status lt_batch_nll(lt_batch_call *c, int level, int64_t size)
{
    lt_tensor *shown[2] = {NULL, NULL}, *flat[2] = {NULL, NULL}, *losses = NULL, *weights = NULL,
              *made = NULL, *total = NULL, *mean = NULL;
    const bool several = c->v[0].tensor->ndim >= 2, is_mean = strcmp(c->v[4].s, "mean") == 0;
    lt_status status = LT_OK;
    if (c->v[0].tensor->ndim == 0 || lt_batch_has(c->v[2].tensor, level))
        return lt_batch_loop(c, level, size);
    for (int i = 0; i < 2; i++) {
        LT_CHECK(lt_batch_show(c->v[i].tensor, level, &shown[i]));
        if (several)
            LT_CHECK(lt_batch_join(shown[i], &flat[i]));
        else
            flat[i] = lt_tensor_retain(shown[i]);
    }
    LT_CHECK(lt_nll_loss(flat[0], flat[1], c->v[2].tensor, c->v[3].i, "none", &losses));
    if (is_mean) LT_CHECK(weights_of(c, flat[0], flat[1], &weights));
    for (int i = 0; several && i < 2; i++) {
        lt_tensor **part = i == 0 ? &losses : &weights, *apart = NULL;
        if (*part == NULL) continue;
        LT_CHECK(lt_batch_part(*part, size, &apart));
        lt_tensor_release(*part);
        *part = apart;
    }
    LT_CHECK(reduced(losses, is_mean ? "sum" : c->v[4].s, &made));
    if (is_mean) {
        LT_CHECK(reduced(weights, "sum", &total));
        LT_CHECK(lt_div(made, total, &mean));
    }
    LT_CHECK(lt_batch_hide(is_mean ? mean : made, level, &c->r[0].tensor));
done:
    for (int i = 0; i < 2; i++) lt_tensor_release(shown[i]), lt_tensor_release(flat[i]);
    lt_tensor_release(losses);
    lt_tensor_release(weights);
    lt_tensor_release(made);
    lt_tensor_release(total);
    lt_tensor_release(mean);
    return status;
}
