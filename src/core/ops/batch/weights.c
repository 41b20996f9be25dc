/* weights.c - batching rules of layers whose weights differ from sample to sample, as they do where each sample's gradient is asked for. */
#include <string.h>

#include "batch.h"
#include "op/add.h"
#include "op/index_select.h"
#include "op/mul.h"
#include "op/reshape.h"

/* ---- embeddings ---------------------------------------------------------------------------------------- */

/* A table for each sample: rows picked from it. Rows that get no gradient, or a weighted one, are left to the loop. */
lt_status lt_batch_embedding(lt_batch_call *c, int level, int64_t size)
{
    lt_tensor *weight = c->v[0].tensor, *indices = c->v[1].tensor, *line = NULL, *rows = NULL;
    const lt_dims flat = {.n = 1, .v = {indices->numel}};
    lt_dims shape = {.n = indices->ndim + 1};
    lt_status status;
    if (!lt_batch_has(weight, level)) return lt_batch_front(c, level, size);
    if (c->present[2] || c->v[3].b || weight->ndim != 2) return lt_batch_loop(c, level, size);
    for (int d = 0; d < indices->ndim; d++) shape.v[d] = indices->sizes[d];
    shape.v[indices->ndim] = weight->sizes[1];
    LT_CHECK(lt_reshape(indices, &flat, &line));
    LT_CHECK(lt_index_select(weight, 0, line, &rows));
    LT_CHECK(lt_reshape(rows, &shape, &c->r[0].tensor));
done:
    lt_tensor_release(line);
    lt_tensor_release(rows);
    return status;
}

/* ---- norms ------------------------------------------------------------------------------------------------ */

/* layer_norm and rms_norm: the rows first, then a weight and a bias for each sample. */
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
        if (status == LT_OK) status = i == 0 ? lt_mul(made, aligned, &next) : lt_add(made, aligned, lt_int(1), &next);
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

/* _batch_norm: every sample's channels are channels of their own. Statistics that are written are shared by all samples: PyTorch refuses
 * that too. */
lt_status lt_batch_batch_norm(lt_batch_call *c, int level, int64_t size)
{
    lt_batch_call all = *c;
    lt_tensor *held[LT_BATCH_ARGS] = {NULL}, *shown = NULL;
    lt_status status = LT_OK;
    const bool training = c->v[5].b;
    if (training && c->v[3].tensor != NULL)
        return lt_error(LT_ERR_RUNTIME, "Batch norm got a batched tensor as input while the running_mean or running_var, which will be updated "
                                        "in place, were not batched.\nIf you are using modules and do not need eval mode, please set "
                                        "`track_running_stats` to be False: torch.func.replace_all_batch_norm_modules_ does.");
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
        if (status == LT_OK) status = i == 0 ? lt_batch_apart(made, size, &c->r[i].tensor) : lt_batch_part(made, size, &c->r[i].tensor);
        lt_tensor_release(made);
    }
    if (status == LT_OK) status = lt_batch_hide_results(c, level);
done:
    lt_tensor_release(shown);
    for (int i = 0; i < 5; i++) lt_tensor_release(held[i]);
    return status;
}
