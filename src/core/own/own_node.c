/* own_node.c - the node of an own operation in the graph: the saved arguments and results of a
 * call, and the call of its derivative. */
#include <string.h>

#include "assertion.h"
#include "autograd/internal.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "memory/alloc.h"
#include "op/zeros.h"
#include "own/own_op.h"

/* ---- values ---------------------------------------------------------------------------------- */

static lt_value value_of_slot(const lt_call_arg *arg, const lt_call_slot *slot, bool present)
{
    lt_value v = lt_value_of(arg->info.kind);
    const bool absent = !present && (arg->info.optional || arg->info.default_text == NULL);
    switch (arg->type) {
    case LT_ARG_TENSOR:
    case LT_ARG_TENSOR_OR_SCALAR:
    case LT_ARG_INDEX_TENSOR: v.v.tensor = slot->tensor; break;
    case LT_ARG_TENSORS: v.v.tensors = slot->list; break;
    case LT_ARG_SCALAR:
        if (slot->scalar.kind == LT_SCALAR_FLOAT) {
            v.v.d = slot->scalar.v.d;
        } else {
            v = slot->scalar.kind == LT_SCALAR_BOOL ? lt_value_bool(slot->scalar.v.i != 0)
                                                    : lt_value_int(slot->scalar.v.i);
        }
        break;
    case LT_ARG_FLOAT: v.v.d = slot->d; break;
    case LT_ARG_BOOL: v.v.b = slot->b; break;
    case LT_ARG_STRING: v.v.text.s = slot->s, v.v.text.n = 0; break;
    case LT_ARG_DIMS:
    case LT_ARG_SIZE: v.v.dims.v = slot->dims.v, v.v.dims.n = slot->dims.n; break;
    case LT_ARG_DTYPE: v.v.dtype = slot->dtype; break;
    case LT_ARG_DEVICE: v.v.device = slot->device; break;
    case LT_ARG_GENERATOR: v.v.generator = slot->generator; break;
    default: v.v.i = slot->i;
    }
    return absent ? lt_value_none() : v;
}

int64_t lt_own_tensors(const lt_value *values, int n, lt_tensor **list)
{
    int64_t found = 0;
    for (int i = 0; i < n; i++) {
        const lt_value *v = &values[i];
        const int64_t entries = v->kind == LT_KIND_TENSORS ? v->v.tensors.n : 1;
        if (v->kind != LT_KIND_TENSOR && v->kind != LT_KIND_TENSORS) continue;
        for (int64_t k = 0; k < entries && list != NULL; k++)
            list[found + k] = v->kind == LT_KIND_TENSORS ? v->v.tensors.v[k] : v->v.tensor;
        found += entries;
    }
    return found;
}

lt_status lt_own_values_of(const lt_own_op *op, const lt_call_frame *frame, lt_own_values *out)
{
    const int n = op->callable.info.n_args;
    for (int i = 0; i < n; i++) {
        const lt_call_slot *slot = &frame->v[i];
        if (op->args[i].type == LT_ARG_SCALAR && slot->scalar.kind == LT_SCALAR_COMPLEX)
            return lt_error(LT_ERR_TYPE,
                            "%s(): argument '%s' must be a real number, not a complex "
                            "one",
                            op->name, op->args[i].info.name);
        out->args[i] = value_of_slot(&op->args[i], slot, frame->present[i]);
        /* An absent tensor keeps its number: it is a tensor that is NULL. */
        if (op->args[i].info.kind == LT_KIND_TENSOR) out->args[i].kind = LT_KIND_TENSOR;
    }
    out->n = lt_own_tensors(out->args, n, NULL);
    out->tensors = lt_mem_zarray(out->n + 1, sizeof *out->tensors);
    if (out->tensors == NULL) return LT_ERR_MEMORY;
    lt_own_tensors(out->args, n, out->tensors);
    for (int i = 0; i < n; i++)
        if (out->args[i].kind == LT_KIND_TENSOR && out->args[i].v.tensor == NULL)
            out->args[i] = lt_value_none();
    return LT_OK;
}

void lt_own_values_free(lt_own_values *values)
{
    lt_mem_free(values->tensors);
    values->tensors = NULL;
}

void lt_own_release_values(lt_value *values, int n)
{
    for (int i = 0; i < n; i++) lt_value_release(&values[i]);
}

/* ---- the node -------------------------------------------------------------------------------- */

typedef struct own_node {
    lt_node node;
    lt_own_op *op;
    lt_saved_list inputs, outputs; /* entries that are not kept are empty */
    /* The arguments: tensors are kept in `inputs`; strings and dims follow the array in memory.
     * lengths: number of entries of each Tensor[]. */
    lt_value *args;
    lt_value results[LT_CALL_MAX_RESULTS]; /* kinds and numbers */
    int64_t result_lengths[LT_CALL_MAX_RESULTS], lengths[LT_MAX_ARGS];
    bool present[LT_MAX_ARGS];
    void *state;
} own_node;

static void drop_state(own_node *saved)
{
    if (saved->state != NULL) saved->op->drop(saved->op->definition.user, saved->state);
    saved->state = NULL;
}

static void own_release_saved(lt_node *node)
{
    own_node *saved = (own_node *)node;
    lt_saved_list_release(&saved->inputs);
    lt_saved_list_release(&saved->outputs);
    drop_state(saved);
}

static void own_destroy(lt_node *node)
{
    own_node *saved = (own_node *)node;
    lt_mem_free(saved->inputs.v);
    lt_mem_free(saved->outputs.v);
    lt_mem_free(saved->args);
    lt_own_release(saved->op);
}

static lt_status own_apply(lt_node *node, lt_tensor *const *grads, lt_tensor **results,
                           const bool *needs);

static const lt_owned own_owned[] = {{offsetof(own_node, inputs), LT_OWNED_SAVED_LIST},
                                     {offsetof(own_node, outputs), LT_OWNED_SAVED_LIST},
                                     {0, LT_OWNED_NODE}};
static const lt_node_class own_class = {
    "OwnBackward", sizeof(own_node), own_apply, own_release_saved,
    own_destroy,   own_owned,        false,     false};

/* ---- backward -------------------------------------------------------------------------------- */

/* Sets the tensors of the values to the entries of the list, in order; kinds[i] NONE stays. */
static void fill_tensors(lt_value *values, int n, const int64_t *lengths, const bool *present,
                         lt_tensor **list)
{
    for (int i = 0; i < n; i++) {
        lt_value *v = &values[i];
        if (v->kind == LT_KIND_TENSORS) {
            v->v.tensors = (lt_tensor_list){lengths[i], list};
            list += lengths[i];
        } else if (v->kind == LT_KIND_TENSOR) {
            if (*list != NULL && (present == NULL || present[i]))
                v->v.tensor = *list;
            else
                *v = lt_value_none();
            list++;
        }
    }
}

/* Replaces missing gradients by zeros of their metadata; new references in *made. */
static lt_status complete_grads(const lt_node *node, lt_tensor *const *grads, lt_tensor **made)
{
    for (int i = 0; i < node->inputs; i++) {
        const lt_like *like = &node->meta[i];
        lt_dims sizes = {.n = like->ndim};
        if (grads[i] != NULL) {
            made[i] = lt_tensor_retain(grads[i]);
            continue;
        }
        if (!lt_dtype_is_inexact((lt_dtype)like->dtype)) continue; /* not differentiable */
        memcpy(sizes.v, like->sizes, sizeof sizes.v);
        LT_TRY(lt_zeros(&sizes, (lt_dtype)like->dtype, &like->device, &made[i]));
    }
    return LT_OK;
}

lt_status lt_own_differentiate(const lt_own_op *op, const lt_op_gradient *call)
{
    lt_status status = op->definition.derivative(op->definition.user, call);
    for (int64_t i = 0; i < call->ninputs; i++) {
        if (call->needs[i] && status == LT_OK) continue;
        lt_tensor_release(call->input_grads[i]);
        call->input_grads[i] = NULL;
    }
    return status;
}

static lt_status refuse_backward(const lt_own_op *op)
{
    return lt_error(LT_ERR_RUNTIME,
                    "Trying to backward through %s but no autograd formula was registered. Please "
                    "use register_autograd to add one.",
                    op->name);
}

static lt_status own_apply(lt_node *node, lt_tensor *const *grads, lt_tensor **results,
                           const bool *needs)
{
    own_node *saved = (own_node *)node;
    const lt_own_op *op = saved->op;
    const lt_op_info *info = &op->callable.info;
    lt_tensor_list inputs = {0, NULL}, outputs = {0, NULL};
    lt_value args[LT_MAX_ARGS], made[LT_CALL_MAX_RESULTS];
    if (op->definition.derivative == NULL) return refuse_backward(op);
    if (op->keep != NULL && saved->state == NULL) return lt_saved_is_freed();
    lt_tensor **all = lt_mem_zarray(node->inputs + 1, sizeof *all);
    lt_status status = all != NULL ? LT_OK : LT_ERR_MEMORY;
    if (status != LT_OK) goto done;
    LT_CHECK(lt_unpack_list(&saved->inputs, node, &inputs));
    LT_CHECK(lt_unpack_list(&saved->outputs, node, &outputs));
    LT_CHECK(complete_grads(node, grads, all));
    for (int i = 0; i < info->n_args; i++) args[i] = saved->args[i];
    memcpy(made, saved->results, sizeof made);
    fill_tensors(args, info->n_args, saved->lengths, saved->present, inputs.v);
    fill_tensors(made, info->n_results, saved->result_lengths, NULL, outputs.v);
    const lt_op_gradient call = {.size = sizeof call,
                                 .args = args,
                                 .results = made,
                                 .nargs = info->n_args,
                                 .nresults = info->n_results,
                                 .ngrads = node->inputs,
                                 .grads = all,
                                 .ninputs = node->outputs,
                                 .needs = needs,
                                 .input_grads = results,
                                 .state = saved->state};
    LT_CHECK(lt_own_differentiate(op, &call));
done:
    for (int i = 0; all != NULL && i < node->inputs; i++) lt_tensor_release(all[i]);
    lt_mem_free(all);
    lt_unpacked_release(&inputs);
    lt_unpacked_release(&outputs);
    return status;
}

/* ---- recording ------------------------------------------------------------------------------- */

/* Copies the arguments: one block with the array, and the dims and strings behind it. */
static lt_status copy_arguments(own_node *saved, const lt_value *args, int n)
{
    size_t bytes = (size_t)(n + 1) * sizeof *args;
    for (int i = 0; i < n; i++) {
        if (args[i].kind == LT_KIND_DIMS) bytes += (size_t)args[i].v.dims.n * sizeof(int64_t);
        if (args[i].kind == LT_KIND_STRING) bytes += (strlen(args[i].v.s) + 8) / 8 * 8;
    }
    saved->args = lt_mem_zalloc(bytes);
    if (saved->args == NULL) return LT_ERR_MEMORY;
    char *at = (char *)(saved->args + n + 1);
    for (int i = 0; i < n; i++) {
        lt_value *v = &saved->args[i];
        *v = args[i];
        saved->present[i] = v->kind != LT_KIND_NONE;
        saved->lengths[i] = v->kind == LT_KIND_TENSORS ? v->v.tensors.n : 0;
        if (v->kind == LT_KIND_DIMS && v->v.dims.n > 0) {
            memcpy(at, v->v.dims.v, (size_t)v->v.dims.n * sizeof(int64_t));
            v->v.dims.v = (const int64_t *)at;
            at += (size_t)v->v.dims.n * sizeof(int64_t);
        } else if (v->kind == LT_KIND_STRING) {
            const size_t size = strlen(v->v.s) + 1;
            memcpy(at, v->v.s, size);
            v->v.text.s = at;
            at += (size + 7) / 8 * 8;
        } else if (v->kind == LT_KIND_GENERATOR) {
            *v = lt_value_none(); /* the caller may free it before backward */
        } else if (saved->op->args[i].info.kind == LT_KIND_TENSOR) {
            *v = lt_value_of(LT_KIND_TENSOR); /* also where it is absent: it has a number */
        }
    }
    return LT_OK;
}

/* Which tensors are kept: by the declaration, or by the script. */
static lt_status choose_kept(own_node *saved, const lt_own_values *given, const lt_value *results,
                             lt_own_saved *kept)
{
    const lt_own_op *op = saved->op;
    int64_t at = 0;
    if (op->definition.derivative == NULL) return LT_OK;
    if (op->keep != NULL) {
        LT_TRY(op->keep(op->definition.user, given->args, results, kept));
        saved->state = kept->state;
        return LT_OK;
    }
    for (int i = 0; i < op->callable.info.n_args; i++) {
        const lt_kind kind = op->args[i].info.kind;
        const int64_t n = kind == LT_KIND_TENSOR    ? 1
                          : kind == LT_KIND_TENSORS ? saved->lengths[i]
                                                    : 0;
        for (int64_t k = 0; k < n; k++) kept->inputs[at++] = op->keeps[i];
    }
    at = 0;
    for (int i = 0; i < op->callable.info.n_results; i++) {
        const int64_t n = lt_own_tensors(&results[i], 1, NULL);
        for (int64_t k = 0; k < n; k++) kept->outputs[at++] = op->keeps_result[i];
    }
    return LT_OK;
}

static lt_status save_tensors(own_node *saved, const lt_own_values *given, lt_tensor **outputs,
                              const lt_own_saved *kept)
{
    saved->inputs.v = lt_mem_zarray(given->n + 1, sizeof *saved->inputs.v);
    saved->outputs.v = lt_mem_zarray(kept->n_outputs + 1, sizeof *saved->outputs.v);
    if (saved->inputs.v == NULL || saved->outputs.v == NULL) return LT_ERR_MEMORY;
    saved->inputs.n = given->n, saved->outputs.n = kept->n_outputs;
    for (int64_t i = 0; i < given->n; i++)
        if (kept->inputs[i]) LT_TRY(lt_save_input(&saved->inputs.v[i], given->tensors[i]));
    for (int64_t i = 0; i < kept->n_outputs; i++)
        if (kept->outputs[i]) LT_TRY(lt_save_output(&saved->outputs.v[i], outputs[i], (int)i));
    return LT_OK;
}

lt_status lt_own_record(lt_own_op *op, const lt_own_values *given, const lt_value *results)
{
    const lt_op_info *info = &op->callable.info;
    const int64_t n = lt_own_tensors(results, info->n_results, NULL);
    lt_node *node = NULL;
    lt_status status = LT_OK;
    lt_own_saved kept = {.n_inputs = given->n, .n_outputs = n};
    lt_tensor **outputs = lt_mem_zarray(n + 1, sizeof *outputs);
    kept.inputs = lt_mem_zarray(given->n + n + 1, sizeof *kept.inputs);
    if (outputs == NULL || kept.inputs == NULL) {
        status = LT_ERR_MEMORY;
        goto done;
    }
    kept.outputs = kept.inputs + given->n;
    lt_own_tensors(results, info->n_results, outputs);
    LT_CHECK(lt_node_new(&own_class, (int)n, (int)given->n, &node));
    own_node *saved = (own_node *)node;
    saved->op = lt_own_retain(op);
    node->name = op->node_name;
    for (int i = 0; i < info->n_results; i++) {
        saved->results[i] = results[i];
        saved->result_lengths[i] = results[i].kind == LT_KIND_TENSORS ? results[i].v.tensors.n : 0;
    }
    LT_CHECK(copy_arguments(saved, given->args, info->n_args));
    LT_CHECK(choose_kept(saved, given, results, &kept));
    LT_CHECK(save_tensors(saved, given, outputs, &kept));
    for (int64_t i = 0; i < given->n; i++)
        LT_CHECK(lt_node_connect(node, (int)i, given->tensors[i]));
    for (int64_t i = 0; i < n; i++) {
        lt_like_of(&node->meta[i], outputs[i]);
        if (lt_dtype_is_inexact((lt_dtype)outputs[i]->dtype))
            LT_CHECK(lt_node_attach(node, (int)i, outputs[i]));
    }
done:
    lt_node_release(node);
    lt_mem_free(outputs);
    lt_mem_free(kept.inputs);
    return status;
}
