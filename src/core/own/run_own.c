/* run_own.c - executes a call of an own operation, as the generated wrapper of a built-in one does:
 * vmap, deferred values, forward mode, the implementation without recording, checks of its results,
 * and the node in the graph. */
#include <string.h>

#include "assertion.h"
#include "autograd/autograd.h"
#include "autograd/forward.h"
#include "compile/deferred.h"
#include "compile/trace.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "memory/alloc.h"
#include "op/zeros_like.h"
#include "overlap.h"
#include "own/own_op.h"
#include "sparse.h"

/* ---- vmap ------------------------------------------------------------------------------------ */

_Static_assert(sizeof(lt_batch_slot) == sizeof(lt_call_slot), "the unions have the same members");

/* The operation as vmap calls it. */
typedef struct own_batch {
    lt_batch_op op; /* first */
    lt_own_op *own;
} own_batch;

/* Executes a call of one sample or level. */
static lt_status run_batch(lt_batch_call *c)
{
    lt_own_op *op = ((const own_batch *)c->op)->own;
    lt_call_frame frame;
    lt_value made[LT_CALL_MAX_RESULTS];
    const int n = c->op->n_args;
    memcpy(frame.v, c->v, (size_t)n * sizeof *frame.v);
    memcpy(frame.present, c->present, (size_t)n * sizeof *frame.present);
    LT_TRY(lt_own_run(op, &frame, made));
    for (int i = 0; i < c->op->n_results; i++) {
        if (made[i].kind == LT_KIND_TENSORS)
            c->r[i].list = made[i].v.tensors;
        else
            c->r[i].tensor = made[i].v.tensor;
    }
    return LT_OK;
}

static bool any_batched(const lt_own_op *op, const lt_call_frame *frame)
{
    for (int i = 0; i < op->callable.info.n_args; i++) {
        const lt_kind kind = op->args[i].info.kind;
        if (kind == LT_KIND_TENSOR && frame->v[i].tensor != NULL &&
            lt_is_batched(frame->v[i].tensor))
            return true;
        if (kind == LT_KIND_TENSORS && lt_any_batched(&frame->v[i].list)) return true;
    }
    return false;
}

static lt_status run_batched(lt_own_op *op, const lt_call_frame *frame, lt_value *made)
{
    const lt_op_info *info = &op->callable.info;
    if (info->n_results > LT_BATCH_RESULTS || (op->batch.gives_list && info->n_results > 1))
        return lt_error(LT_ERR_RUNTIME,
                        "vmap: %s() returns %d results; at most %d tensors or one list of tensors "
                        "are possible",
                        op->name, info->n_results, LT_BATCH_RESULTS);
    own_batch batch = {op->batch, op};
    batch.op.run = run_batch;
    lt_batch_call c = {.op = &batch.op};
    memcpy(c.v, frame->v, (size_t)info->n_args * sizeof *c.v);
    memcpy(c.present, frame->present, (size_t)info->n_args * sizeof *c.present);
    LT_TRY(lt_batch_do(&c));
    for (int i = 0; i < info->n_results; i++) {
        made[i] = lt_value_of(op->results[i].kind);
        if (op->batch.gives_list)
            made[i].v.tensors = c.r[i].list;
        else
            made[i].v.tensor = c.r[i].tensor;
    }
    return LT_OK;
}

/* ---- the implementation ---------------------------------------------------------------------- */

static lt_status refuse_alias(const lt_own_op *op)
{
    return lt_error(
        LT_ERR_RUNTIME,
        "%s: The output of this custom operator (1) must not also be an input to this custom "
        "operator and (2) may not alias any inputs to this custom operator or other returns. The "
        "most common way to trigger this error is if we have y = custom_op(x) and y and x are the "
        "same Tensor. Please instead return a clone of the offending output tensor(s) (e.g. "
        "return x.clone()) or refactor the custom operator to not return y.",
        op->name);
}

/* Results own their memory: autograd would lose the history of an alias. */
static lt_status check_aliases(const lt_own_op *op, const lt_own_values *given,
                               const lt_value *results)
{
    const int64_t n = lt_own_tensors(results, op->callable.info.n_results, NULL);
    lt_tensor **made = lt_mem_zarray(n + 1, sizeof *made);
    bool alias = false;
    if (made == NULL) return LT_ERR_MEMORY;
    lt_own_tensors(results, op->callable.info.n_results, made);
    for (int64_t i = 0; i < n && !alias; i++) {
        for (int64_t k = 0; k < given->n; k++)
            alias = alias ||
                    (given->tensors[k] != NULL && given->tensors[k]->storage == made[i]->storage);
        for (int64_t k = 0; k < i; k++) alias = alias || made[k]->storage == made[i]->storage;
    }
    lt_mem_free(made);
    return alias ? refuse_alias(op) : LT_OK;
}

static const char *const kind_names[] = {"no value", "a bool",   "an int",      "a double",
                                         "a string", "a Tensor", "dims",        "a list of Tensors",
                                         "a dtype",  "a device", "a generator", "a table"};

static lt_status check_result(const lt_own_op *op, int i, const lt_value *v)
{
    const lt_kind expected = op->results[i].kind;
    bool valid = v->kind == (int32_t)expected;
    if (valid && expected == LT_KIND_TENSOR) valid = v->v.tensor != NULL;
    for (int64_t k = 0; valid && expected == LT_KIND_TENSORS && k < v->v.tensors.n; k++)
        valid = v->v.tensors.v[k] != NULL;
    if (valid) return LT_OK;
    return lt_error(LT_ERR_RUNTIME,
                    "%s(): the implementation returned %s as result %d, but %s is "
                    "declared",
                    op->name,
                    v->kind == (int32_t)expected               ? "NULL"
                    : v->kind >= 0 && v->kind <= LT_KIND_TABLE ? kind_names[v->kind]
                                                               : "an invalid value",
                    i + 1, kind_names[expected]);
}

/* Calls run or meta with recording off, and checks the results. */
static lt_status call_function(const lt_own_op *op, lt_op_function function,
                               const lt_own_values *given, lt_value *results)
{
    const lt_op_info *info = &op->callable.info;
    for (int i = 0; i < info->n_results; i++) results[i] = lt_value_none();
    const bool grad_mode = lt_set_grad_enabled(false);
    lt_status status =
        function(op->definition.user, given->args, info->n_args, results, info->n_results);
    lt_set_grad_enabled(grad_mode);
    for (int i = 0; i < info->n_results && status == LT_OK; i++)
        status = check_result(op, i, &results[i]);
    if (status == LT_OK) status = check_aliases(op, given, results);
    if (status != LT_OK) lt_own_release_values(results, info->n_results);
    return status;
}

/* ---- forward mode ---------------------------------------------------------------------------- */

/* The tangent of result k: the transposed derivative (autograd/forward.h). */
static lt_status push_tangent(lt_own_op *op, lt_dual *d, const lt_own_values *given,
                              const lt_value *results, const lt_tensor_list *outputs, int k,
                              void *state)
{
    lt_tensor *leaf = NULL, *grad = NULL, *grads[LT_DUAL_ARGS] = {NULL},
              *terms[LT_DUAL_ARGS] = {NULL};
    bool needs[LT_DUAL_ARGS];
    int at[LT_DUAL_ARGS];
    lt_status status = LT_OK;
    lt_op_gradient call = {.size = sizeof call,
                           .args = given->args,
                           .results = results,
                           .nargs = op->callable.info.n_args,
                           .nresults = op->callable.info.n_results,
                           .ngrads = outputs->n,
                           .grads = grads,
                           .ninputs = given->n,
                           .needs = needs,
                           .input_grads = terms,
                           .state = state};
    if (!lt_dtype_is_inexact((lt_dtype)outputs->v[k]->dtype)) return LT_OK;
    for (int i = 0; i < given->n; i++) needs[i] = d->tangent[i] != NULL, at[i] = i;
    LT_CHECK(lt_dual_weight(d, outputs->v[k], false, &leaf, &grad));
    for (int i = 0; i < outputs->n; i++) {
        if (i == k)
            grads[i] = lt_tensor_retain(grad);
        else if (lt_dtype_is_inexact((lt_dtype)outputs->v[i]->dtype))
            LT_CHECK(lt_zeros_like(outputs->v[i], LT_DTYPE_NONE, NULL, &grads[i]));
    }
    LT_CHECK(lt_own_differentiate(op, &call));
    LT_CHECK(lt_dual_transpose(d, op->name, false, leaf, terms, at, (int)given->n));
    LT_CHECK(lt_dual_steal(d, outputs->v[k]));
done:
    if (d->transposing) lt_set_grad_enabled(d->grad_mode);
    d->transposing = false;
    lt_tensor_release(d->sum);
    d->sum = NULL;
    for (int i = 0; i < LT_DUAL_ARGS; i++) lt_tensor_release(grads[i]);
    for (int i = 0; i < LT_DUAL_ARGS; i++) lt_tensor_release(terms[i]);
    lt_tensor_release(leaf);
    lt_tensor_release(grad);
    return status;
}

/* Puts the tensors of `list`, by number, into the frame. */
static void replace_tensors(const lt_own_op *op, lt_call_frame *frame, lt_tensor **list)
{
    for (int i = 0; i < op->callable.info.n_args; i++) {
        if (op->args[i].info.kind == LT_KIND_TENSOR) frame->v[i].tensor = *list++;
        if (op->args[i].info.kind != LT_KIND_TENSORS) continue;
        frame->v[i].list.v = list;
        list += frame->v[i].list.n;
    }
}

static lt_status run_level(lt_own_op *op, const lt_call_frame *frame, const lt_own_values *given,
                           lt_value *results);

static lt_status push_tangents(lt_own_op *op, lt_dual *d, const lt_own_values *plain,
                               const lt_value *results)
{
    const int64_t n = lt_own_tensors(results, op->callable.info.n_results, NULL);
    lt_tensor *outputs[LT_DUAL_ARGS];
    const lt_tensor_list list = {n, outputs};
    bool flags[2 * LT_DUAL_ARGS] = {false};
    lt_own_saved kept = {flags, flags + LT_DUAL_ARGS, plain->n, n, NULL};
    lt_status status = LT_OK;
    if (n > LT_DUAL_ARGS) return lt_refuse_dual(op->name);
    lt_own_tensors(results, op->callable.info.n_results, outputs);
    if (op->keep != NULL) LT_TRY(op->keep(op->definition.user, plain->args, results, &kept));
    for (int k = 0; k < n && status == LT_OK; k++)
        status = push_tangent(op, d, plain, results, &list, k, kept.state);
    if (kept.state != NULL) op->drop(op->definition.user, kept.state);
    return status;
}

static lt_status run_dual(lt_own_op *op, const lt_call_frame *frame, const lt_own_values *given,
                          lt_value *results)
{
    lt_dual d = {0};
    lt_call_frame inner = *frame;
    lt_own_values plain = {.tensors = NULL};
    lt_status status = LT_OK;
    bool made = false;
    if (op->definition.derivative == NULL || given->n > LT_DUAL_ARGS)
        return lt_refuse_dual(op->name);
    LT_CHECK(lt_dual_open(&d, given->tensors, (int)given->n));
    replace_tensors(op, &inner, d.primal);
    LT_CHECK(lt_own_values_of(op, &inner, &plain));
    LT_CHECK(run_level(op, &inner, &plain, results));
    made = true;
    LT_CHECK(push_tangents(op, &d, &plain, results));
done:
    if (status != LT_OK && made) lt_own_release_values(results, op->callable.info.n_results);
    lt_own_values_free(&plain);
    lt_dual_close(&d);
    return status;
}

/* ---- a call ---------------------------------------------------------------------------------- */

static lt_status check_tensors(const lt_own_op *op, const lt_own_values *given)
{
    for (int64_t i = 0; i < given->n; i++)
        if (given->tensors[i] != NULL) LT_TRY(lt_require_strided(op->name, given->tensors[i]));
    return lt_materialize_all(op->name, given->n, given->tensors);
}

/* Before the implementation writes to arguments; the node of a write would need a derivative. */
static lt_status prepare_writes(const lt_own_op *op, const lt_own_values *given)
{
    for (int i = 0; op->writes && i < op->callable.info.n_args; i++) {
        lt_tensor *t = op->written[i] && given->args[i].kind == LT_KIND_TENSOR
                           ? given->args[i].v.tensor
                           : NULL;
        if (t == NULL) continue;
        LT_TRY(lt_prepare_write(t));
        if (lt_grad_mode_on()) LT_TRY(lt_check_inplace(t));
        if (lt_grad_mode_on() && lt_requires_grad(t))
            return lt_error(LT_ERR_RUNTIME,
                            "%s(): argument '%s' is written in place and requires grad, but the "
                            "operation has no derivative; pass %s:detach() or call it in "
                            "torch.no_grad()",
                            op->name, op->args[i].info.name, op->args[i].info.name);
    }
    return LT_OK;
}

static void finish_writes(const lt_own_op *op, const lt_own_values *given)
{
    for (int i = 0; op->writes && i < op->callable.info.n_args; i++)
        if (op->written[i] && given->args[i].kind == LT_KIND_TENSOR)
            lt_bump_version(given->args[i].v.tensor);
}

static bool any_dual(const lt_own_values *given)
{
    for (int64_t i = 0; lt_tls.duals != 0 && i < given->n; i++)
        if (given->tensors[i] != NULL && lt_is_dual(given->tensors[i])) return true;
    return false;
}

/* Removes one level of forward mode, or calls the implementation. */
static lt_status run_level(lt_own_op *op, const lt_call_frame *frame, const lt_own_values *given,
                           lt_value *results)
{
    return any_dual(given) ? run_dual(op, frame, given, results)
                           : call_function(op, op->definition.run, given, results);
}

lt_status lt_own_run(lt_own_op *op, const lt_call_frame *frame, lt_value *made)
{
    lt_own_values given;
    bool record = false, done = false;
    lt_status status = LT_OK;
    if (lt_tls.batches != 0 && any_batched(op, frame)) return run_batched(op, frame, made);
    LT_TRY(lt_own_values_of(op, frame, &given));
    LT_EAGERLY();
    LT_CHECK(check_tensors(op, &given));
    LT_CHECK(prepare_writes(op, &given));
    LT_CHECK(run_level(op, frame, &given, made));
    done = true;
    finish_writes(op, &given);
    for (int64_t i = 0; i < given.n && lt_grad_mode_on(); i++)
        record = record || lt_requires_grad(given.tensors[i]);
    if (record) LT_CHECK(lt_own_record(op, &given, made));
done:
    if (status != LT_OK && done) lt_own_release_values(made, op->callable.info.n_results);
    lt_own_values_free(&given);
    return status;
}

lt_status lt_own_infer(lt_own_op *op, const lt_call_frame *frame, lt_value *made)
{
    const lt_op_function function =
        op->definition.meta != NULL ? op->definition.meta : op->definition.run;
    lt_own_values given;
    LT_TRY(lt_own_values_of(op, frame, &given));
    LT_EAGERLY();
    lt_status status = check_tensors(op, &given);
    if (status == LT_OK && op->writes && op->definition.meta == NULL)
        status = lt_error(LT_ERR_RUNTIME, "%s() writes to its arguments and has no meta function",
                          op->name);
    if (status == LT_OK) status = call_function(op, function, &given, made);
    lt_own_values_free(&given);
    return status;
}
