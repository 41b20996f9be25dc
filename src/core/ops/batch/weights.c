/* weights.c - batching rules of layers with different weights for each sample, as in per-sample
 * gradients. */
#include <string.h>

#include "batch.h"
#include "dims.h"
#include "ops/compose.h"
#include "op/add.h"
#include "op/expand.h"
#include "op/index_select.h"
#include "op/mul.h"
#include "op/reshape.h"

/* ---- embeddings ------------------------------------------------------------------------------ */

/* One table per sample: selects rows of it. Calls with rows without a gradient, or with a weighted
 * one, go sample by sample. */
lt_status lt_batch_embedding(lt_batch_call *c, int level, int64_t size)
{
    lt_tensor *weight = c->v[0].tensor, *indices = c->v[1].tensor, *line = NULL, *rows = NULL;
    const lt_dims flat = {.n = 1, .v = {indices->numel}};
    lt_dims shape = lt_dims_of(indices);
    lt_status status;
    if (!lt_batch_has(weight, level)) return lt_batch_front(c, level, size);
    if (c->present[2] || c->v[3].b || weight->ndim != 2) return lt_batch_loop(c, level, size);
    LT_TRY(lt_dims_insert(&shape, shape.n, weight->sizes[1]));
    LT_CHECK(lt_reshape(indices, &flat, &line));
    LT_CHECK(lt_index_select(weight, 0, line, &rows));
    LT_CHECK(lt_reshape(rows, &shape, &c->r[0].tensor));
done:
    lt_tensor_release(line);
    lt_tensor_release(rows);
    return status;
}

/* ---- norms ----------------------------------------------------------------------------------- */

/* layer_norm and rms_norm: normalizes the rows, then applies a weight and a bias per sample. */
lt_status lt_batch_scaled_rows(lt_batch_call *c, int level, int64_t size)
{
    lt_batch_call plain = *c;
    lt_tensor *input = NULL, *made = NULL;
    lt_tensor *factors[2] = {NULL, NULL};
    bool batched = false;
    lt_status status = LT_OK;
    for (int i = 1; i < c->op->n_args; i++) {
        if (c->op->args[i].kind != LT_BATCH_TENSOR) continue;
        batched = batched || lt_batch_has(c->v[i].tensor, level);
        factors[strcmp(c->op->args[i].name, "bias") == 0] = c->v[i].tensor;
        plain.v[i].tensor = NULL;
    }
    if (!batched) return lt_batch_front(c, level, size);
    LT_CHECK(lt_batch_show(c->v[0].tensor, level, &input));
    plain.v[0].tensor = input;
    LT_CHECK(c->op->run(&plain));
    made = plain.r[0].tensor;
    for (int i = 0; i < 2; i++) {
        lt_tensor *shown = NULL, *aligned = NULL, *next = NULL;
        if (factors[i] == NULL) continue;
        status = lt_batch_show(factors[i], level, &shown);
        if (status == LT_OK) status = lt_batch_padded(shown, input->ndim - 1, &aligned);
        if (status == LT_OK)
            status = i == 0 ? lt_mul(made, aligned, &next)
                            : lt_add(made, aligned, lt_scalar_from_int(1), &next);
        lt_tensor_release(shown);
        lt_tensor_release(aligned);
        if (status != LT_OK) goto done;
        lt_tensor_release(made);
        made = next;
    }
    LT_CHECK(lt_batch_hide(made, level, &c->r[0].tensor));
done:
    lt_tensor_release(input);
    lt_tensor_release(made);
    return status;
}

/* Splits the results of a joined batch into the samples' batches. */
static lt_status part_results(lt_batch_call *c, lt_batch_call *all, int64_t size)
{
    lt_status status = LT_OK;
    for (int i = 0; i < c->op->n_results; i++) {
        if (status == LT_OK) status = lt_batch_part(all->r[i].tensor, size, &c->r[i].tensor);
        lt_tensor_release(all->r[i].tensor);
    }
    return status;
}

static lt_status hide_or_release(lt_batch_call *c, int level, lt_status status)
{
    if (status == LT_OK) return lt_batch_hide_results(c, level);
    for (int i = 0; i < c->op->n_results; i++) {
        lt_tensor_release(c->r[i].tensor);
        c->r[i].tensor = NULL;
    }
    return status;
}

/* _group_norm: the samples are joined into one batch; a weight and a bias per sample are applied
 * afterwards. */
lt_status lt_batch_group_norm(lt_batch_call *c, int level, int64_t size)
{
    lt_batch_call all = *c;
    lt_tensor *shown = NULL, *joined = NULL, *made = NULL;
    const lt_tensor *input = c->v[0].tensor;
    const bool each = lt_batch_has(c->v[1].tensor, level) || lt_batch_has(c->v[2].tensor, level);
    lt_status status = LT_OK;
    if (size == 0) return lt_batch_loop(c, level, size);
    LT_CHECK(lt_batch_show(c->v[0].tensor, level, &shown));
    LT_CHECK(lt_batch_join(shown, &joined));
    all.v[0].tensor = joined;
    if (each) all.v[1].tensor = all.v[2].tensor = NULL;
    LT_CHECK(c->op->run(&all));
    status = part_results(c, &all, size);
    for (int i = 1; i < 3 && each && status == LT_OK; i++) {
        if (c->v[i].tensor == NULL) continue;
        lt_tensor *factor = NULL, *aligned = NULL;
        lt_dims sizes = {.n = input->ndim, .v = {1, input->sizes[1]}};
        for (int d = 2; d < sizes.n; d++) sizes.v[d] = 1;
        status = lt_dims_insert(&sizes, 0, size);
        if (status == LT_OK) status = lt_batch_show(c->v[i].tensor, level, &factor);
        if (status == LT_OK) status = lt_reshape(factor, &sizes, &aligned);
        if (status == LT_OK)
            status = i == 1 ? lt_mul(c->r[0].tensor, aligned, &made)
                            : lt_add(c->r[0].tensor, aligned, lt_scalar_from_int(1), &made);
        lt_tensor_release(factor);
        lt_tensor_release(aligned);
        if (status != LT_OK) break;
        lt_tensor_release(c->r[0].tensor);
        c->r[0].tensor = made;
    }
    status = hide_or_release(c, level, status);
done:
    lt_tensor_release(shown);
    lt_tensor_release(joined);
    return status;
}

/* _batch_norm: the samples' channels are separate channels. All samples would share updated
 * statistics, so that this is an error, as in PyTorch. */
lt_status lt_batch_batch_norm(lt_batch_call *c, int level, int64_t size)
{
    lt_batch_call all = *c;
    lt_tensor *held[LT_BATCH_ARGS] = {NULL}, *shown = NULL;
    lt_status status = LT_OK;
    const bool training = c->v[5].b;
    if (training && c->v[3].tensor != NULL)
        return lt_error(
            LT_ERR_RUNTIME,
            "Batch norm got a batched tensor as input while the running_mean or running_var, which "
            "will be updated in place, were not batched.\nIf you are using modules and do not need "
            "eval mode, please set `track_running_stats` to be False: "
            "torch.func.replace_all_batch_norm_modules_ does.");
    if (size == 0 || c->v[0].tensor->ndim < 2) return lt_batch_loop(c, level, size);
    for (int i = 0; i < 5; i++) {
        if (c->v[i].tensor == NULL) continue;
        LT_CHECK(lt_batch_show(c->v[i].tensor, level, &shown));
        LT_CHECK(i == 0 ? lt_batch_beside(shown, &held[i]) : lt_batch_join(shown, &held[i]));
        lt_tensor_release(shown);
        shown = NULL;
        all.v[i].tensor = held[i];
    }
    LT_CHECK(c->op->run(&all));
    for (int i = 0; i < c->op->n_results; i++) {
        lt_tensor *made = all.r[i].tensor;
        if (status == LT_OK)
            status = i == 0 ? lt_batch_outer_products(made, size, &c->r[i].tensor)
                            : lt_batch_part(made, size, &c->r[i].tensor);
        lt_tensor_release(made);
    }
    if (status == LT_OK) status = lt_batch_hide_results(c, level);
done:
    lt_tensor_release(shown);
    for (int i = 0; i < 5; i++) lt_tensor_release(held[i]);
    return status;
}

/* _attention: the samples' batches are joined into one. */
lt_status lt_batch_attention(lt_batch_call *c, int level, int64_t size)
{
    lt_batch_call all = *c;
    lt_tensor *held[4] = {NULL}, *shown = NULL, *padded = NULL;
    lt_status status = LT_OK;
    if (size == 0 || c->v[4].tensor != NULL) return lt_batch_loop(c, level, size);
    for (int i = 0; i < 4; i++) {
        lt_tensor *t = c->v[i].tensor;
        const bool is_mask = i == 3;
        if (t == NULL || (is_mask && !lt_batch_has(t, level) && t->ndim < 4)) continue;
        LT_CHECK(lt_batch_show(t, level, &shown));
        LT_CHECK(lt_batch_padded(shown, 4, &padded));
        if (is_mask) { /* a sample may have one entry for its whole batch */
            lt_dims whole = {.n = 5,
                             .v = {size, c->v[0].tensor->sizes[0], padded->sizes[2],
                                   padded->sizes[3], padded->sizes[4]}};
            lt_tensor_release(shown);
            shown = padded;
            padded = NULL;
            LT_CHECK(lt_expand(shown, &whole, &padded));
        }
        LT_CHECK(lt_batch_join(padded, &held[i]));
        all.v[i].tensor = held[i];
        lt_tensor_release(shown);
        lt_tensor_release(padded);
        shown = padded = NULL;
    }
    LT_CHECK(c->op->run(&all));
    status = part_results(c, &all, size);
    status = hide_or_release(c, level, status);
done:
    lt_tensor_release(shown);
    lt_tensor_release(padded);
    for (int i = 0; i < 4; i++) lt_tensor_release(held[i]);
    return status;
}
