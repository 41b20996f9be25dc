/* backward.c - batching rules of derivatives with a batched gradient: vmap over a vjp, as in jacrev
 * and hessian. */
#include <string.h>

#include "batch.h"
#include "op/_convolution_grad_input.h"
#include "op/_convolution_grad_weight.h"
#include "op/_nll_loss_backward.h"
#include "op/mul.h"
#include "op/ones_like.h"
#include "op/unsqueeze.h"

/* ---- convolutions ---------------------------------------------------------------------------- */

/* sizes with one of them multiplied by the number of samples. */
static lt_dims times_at(const lt_dims *sizes, int at, int64_t size)
{
    lt_dims all = *sizes;
    all.v[at] *= size;
    return all;
}

static lt_status grad_input(const lt_batch_call *c, lt_tensor *grad, lt_tensor *weight,
                            const lt_dims *sizes, int64_t groups, lt_tensor **out)
{
    return lt__convolution_grad_input(grad, weight, sizes, &c->v[3].dims, &c->v[4].dims,
                                      &c->v[5].dims, c->v[6].b, &c->v[7].dims, groups, out);
}

/* With one weight the samples' images are joined into one batch; with a weight per sample they
 * become groups of channels. */
lt_status lt_batch_conv_input(lt_batch_call *c, int level, int64_t size)
{
    lt_tensor *grads = NULL, *grad = NULL, *weights = NULL, *weight = NULL, *made = NULL,
              *parts = NULL;
    lt_status status;
    if (size == 0) return lt_batch_loop(c, level, size);
    LT_CHECK(lt_batch_show(c->v[0].tensor, level, &grads));
    if (!lt_batch_has(c->v[1].tensor, level)) {
        const lt_dims sizes = times_at(&c->v[2].dims, 0, size);
        LT_CHECK(lt_batch_join(grads, &grad));
        LT_CHECK(grad_input(c, grad, c->v[1].tensor, &sizes, c->v[8].i, &made));
        LT_CHECK(lt_batch_part(made, size, &parts));
    } else {
        const lt_dims sizes = times_at(&c->v[2].dims, 1, size);
        LT_CHECK(lt_batch_beside(grads, &grad));
        LT_CHECK(lt_batch_show(c->v[1].tensor, level, &weights));
        LT_CHECK(lt_batch_join(weights, &weight));
        LT_CHECK(grad_input(c, grad, weight, &sizes, c->v[8].i * size, &made));
        LT_CHECK(lt_batch_outer_products(made, size, &parts));
    }
    LT_CHECK(lt_batch_hide(parts, level, &c->r[0].tensor));
done:
    lt_tensor_release(grads);
    lt_tensor_release(grad);
    lt_tensor_release(weights);
    lt_tensor_release(weight);
    lt_tensor_release(made);
    lt_tensor_release(parts);
    return status;
}

lt_status lt_batch_conv_weight(lt_batch_call *c, int level, int64_t size)
{
    lt_tensor *grads = NULL, *grad = NULL, *inputs = NULL, *input = NULL, *made = NULL,
              *parts = NULL;
    const lt_dims sizes = times_at(&c->v[2].dims, 0, size);
    lt_status status;
    if (size == 0) return lt_batch_loop(c, level, size);
    LT_CHECK(lt_batch_show(c->v[0].tensor, level, &grads));
    LT_CHECK(lt_batch_beside(grads, &grad));
    LT_CHECK(lt_batch_show(c->v[1].tensor, level, &inputs));
    LT_CHECK(lt_batch_beside(inputs, &input));
    LT_CHECK(lt__convolution_grad_weight(grad, input, &sizes, &c->v[3].dims, &c->v[4].dims,
                                         &c->v[5].dims, c->v[6].b, &c->v[7].dims, c->v[8].i * size,
                                         &made));
    LT_CHECK(lt_batch_part(made, size, &parts));
    LT_CHECK(lt_batch_hide(parts, level, &c->r[0].tensor));
done:
    lt_tensor_release(grads);
    lt_tensor_release(grad);
    lt_tensor_release(inputs);
    lt_tensor_release(input);
    lt_tensor_release(made);
    lt_tensor_release(parts);
    return status;
}

/* ---- pools ----------------------------------------------------------------------------------- */

/* Ops on [n, channels, ...] with an argument `spatial`: the samples are joined into one batch.
 * Without n the batch becomes n. */
lt_status lt_batch_pooled(lt_batch_call *c, int level, int64_t size)
{
    lt_batch_call all = *c;
    lt_tensor *held[LT_BATCH_ARGS] = {NULL};
    lt_status status = LT_OK;
    int spatial = 0;
    for (int i = 0; i < c->op->n_args; i++)
        if (strcmp(c->op->args[i].name, "spatial") == 0) spatial = (int)c->v[i].i;
    const bool has_n = c->v[0].tensor->ndim == spatial + 2;
    for (int i = 0; i < c->op->n_args; i++) {
        lt_tensor *shown = NULL;
        if (strcmp(c->op->args[i].name, "sizes") == 0) {
            if (has_n) {
                all.v[i].dims.v[0] *= size;
                continue;
            }
            memmove(all.v[i].dims.v + 1, all.v[i].dims.v,
                    (size_t)all.v[i].dims.n * sizeof *all.v[i].dims.v);
            all.v[i].dims.v[0] = size;
            all.v[i].dims.n++;
        }
        if (c->op->args[i].kind != LT_BATCH_TENSOR) continue;
        LT_CHECK(lt_batch_show(c->v[i].tensor, level, &shown));
        status = has_n ? lt_batch_join(shown, &held[i]) : LT_OK;
        if (has_n)
            lt_tensor_release(shown);
        else
            held[i] = shown;
        if (status != LT_OK) goto done;
        all.v[i].tensor = held[i];
    }
    LT_CHECK(c->op->run(&all));
    c->r[0] = all.r[0];
    if (has_n) {
        c->r[0].tensor = NULL;
        status = lt_batch_part(all.r[0].tensor, size, &c->r[0].tensor);
        lt_tensor_release(all.r[0].tensor);
    }
    if (status == LT_OK) status = lt_batch_hide_results(c, level);
done:
    for (int i = 0; i < c->op->n_args; i++) lt_tensor_release(held[i]);
    return status;
}

/* Ops with the same leading n in all tensors and results: the samples are joined into one batch. */
lt_status lt_batch_joined(lt_batch_call *c, int level, int64_t size)
{
    lt_batch_call all = *c;
    lt_tensor *held[LT_BATCH_ARGS] = {NULL};
    lt_status status = LT_OK;
    for (int i = 0; i < c->op->n_args; i++) {
        lt_tensor *shown = NULL;
        if (c->op->args[i].kind != LT_BATCH_TENSOR) continue;
        LT_CHECK(lt_batch_show(c->v[i].tensor, level, &shown));
        status = lt_batch_join(shown, &held[i]);
        lt_tensor_release(shown);
        if (status != LT_OK) goto done;
        all.v[i].tensor = held[i];
    }
    LT_CHECK(c->op->run(&all));
    for (int i = 0; i < c->op->n_results; i++) {
        c->r[i].tensor = NULL;
        if (status == LT_OK && all.r[i].tensor != NULL)
            status = lt_batch_part(all.r[i].tensor, size, &c->r[i].tensor);
        lt_tensor_release(all.r[i].tensor);
    }
    if (status == LT_OK) status = lt_batch_hide_results(c, level);
    for (int i = 0; i < c->op->n_results && status != LT_OK; i++) {
        lt_tensor_release(c->r[i].tensor);
        c->r[i].tensor = NULL;
    }
done:
    for (int i = 0; i < c->op->n_args; i++) lt_tensor_release(held[i]);
    return status;
}

/* ---- losses ---------------------------------------------------------------------------------- */

/* If only the gradient is batched: the derivative for a gradient of ones, times the gradient. */
lt_status lt_batch_nll_backward(lt_batch_call *c, int level, int64_t size)
{
    lt_tensor *grad = c->v[0].tensor, *sample = NULL, *ones = NULL, *slopes = NULL, *wide = NULL;
    lt_status status;
    if (lt_batch_has(c->v[2].tensor, level) || lt_batch_has(c->v[3].tensor, level) || size == 0)
        return lt_batch_loop(c, level, size);
    LT_CHECK(lt_ones_like(grad, LT_DTYPE_NONE, NULL, &sample));
    LT_CHECK(lt_batch_first(sample, level, &ones));
    LT_CHECK(lt__nll_loss_backward(ones, &c->v[1].dims, c->v[2].tensor, c->v[3].tensor, c->v[4].i,
                                   c->v[5].s, &slopes));
    /* [n, ...] times [n, classes, ...] */
    if (grad->ndim > 0) LT_CHECK(lt_unsqueeze(grad, 1, &wide));
    LT_CHECK(lt_mul(slopes, wide != NULL ? wide : grad, &c->r[0].tensor));
done:
    lt_tensor_release(sample);
    lt_tensor_release(ones);
    lt_tensor_release(slopes);
    lt_tensor_release(wide);
    return status;
}
