/* rerun.c - derivatives of recurrent layers from a second run by differentiable operations: for
 * create_graph, and for gradients under vmap or in forward mode. */
#include "assertion.h"
#include "autograd/dual.h"
#include "error.h"
#include "memory/alloc.h"
#include "ops/recurrent/recurrent.h"
#include "op/detach.h"
#include "op/view_as.h"

bool lt_is_transformed(lt_tensor *const *tensors, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (tensors[i] != NULL && (lt_is_batched(tensors[i]) || lt_is_dual(tensors[i])))
            return true;
    return false;
}

lt_status lt_rerun_input(lt_tensor *original, bool needed, lt_tensor **out)
{
    if (original == NULL) return LT_OK;
    if (lt_grad_mode_on() && lt_requires_grad(original)) return lt_view_as(original, original, out);
    LT_TRY(lt_detach(original, out));
    return needed ? lt_set_requires_grad(*out, true) : LT_OK;
}

lt_status lt_rerun_gradients(lt_tensor *const *outputs, lt_tensor *const *grads, int n_outputs,
                             lt_tensor *const *inputs, const bool *needs, int64_t n_inputs,
                             lt_tensor **results)
{
    lt_tensor *roots[3], *root_grads[3];
    int n_roots = 0, n_wanted = 0;
    lt_status status = LT_OK;
    LT_ASSERT(n_outputs <= 3, "%d outputs", n_outputs);
    /* one array: the needed inputs, then their gradients */
    lt_tensor **wanted = lt_mem_zarray(2 * n_inputs, sizeof *wanted);
    if (wanted == NULL) return LT_ERR_MEMORY;
    for (int k = 0; k < n_outputs; k++) {
        if (grads[k] == NULL || outputs[k] == NULL || !lt_requires_grad(outputs[k])) continue;
        roots[n_roots] = outputs[k];
        root_grads[n_roots++] = grads[k];
    }
    for (int64_t i = 0; i < n_inputs; i++)
        if (needs[i]) wanted[n_wanted++] = inputs[i];
    lt_tensor **found = wanted + n_inputs;
    if (n_roots > 0 && n_wanted > 0)
        status = lt_grad_within(roots, root_grads, n_roots, wanted, n_wanted, found);
    for (int64_t i = 0, at = 0; status == LT_OK && i < n_inputs; i++)
        if (needs[i]) results[i] = found[at++];
    lt_mem_free(wanted);
    return status;
}
