/* run.c - runs plans: see plan.h. */
#include <string.h>

#include "memory/alloc.h"
#include "op/clone.h"
#include "op/copy_.h"
#include "plan_parts.h"

/* ---- workspaces ------------------------------------------------------------------------------ */

void lt_plan_free_workspace(plan_workspace *w)
{
    if (w != NULL) lt_block_pool_clear(&w->pool);
    lt_mem_free(w);
}

static plan_workspace *new_workspace(const lt_plan *plan)
{
    const size_t frames = (size_t)plan->frames.n * sizeof(lt_call_frame),
                 slots = (size_t)plan->n_slots * sizeof(lt_tensor *),
                 lists = (size_t)plan->lists.n * sizeof(lt_tensor *),
                 results = (size_t)plan->outputs.n * sizeof(lt_tensor *);
    plan_workspace *w = lt_mem_zalloc(sizeof *w + frames + slots + lists + results);
    if (w == NULL) return NULL;
    w->frames = (lt_call_frame *)(w + 1);
    w->slots = (lt_tensor **)((char *)w->frames + frames);
    w->lists = w->slots + plan->n_slots;
    w->results = w->lists + plan->lists.n;
    if (frames > 0) memcpy(w->frames, plan->frames.items, frames);
    if (lists > 0) memcpy(w->lists, plan->lists.items, lists);
    const plan_step *steps = plan->steps.items;
    for (int i = 0; i < plan->steps.n; i++)
        if (steps[i].list_arg >= 0)
            w->frames[i].v[steps[i].list_arg].list.v = w->lists + steps[i].list_first;
    return w;
}

static plan_workspace *take_workspace(lt_plan *plan)
{
    for (int i = 0; i < MAX_WORKSPACES; i++) {
        plan_workspace *w = atomic_exchange_explicit(&plan->free[i], NULL, memory_order_acquire);
        if (w != NULL) return w;
    }
    return new_workspace(plan);
}

static void keep_workspace(lt_plan *plan, plan_workspace *w)
{
    for (int i = 0; i < MAX_WORKSPACES; i++) {
        plan_workspace *empty = NULL;
        if (atomic_compare_exchange_strong_explicit(&plan->free[i], &empty, w, memory_order_release,
                                                    memory_order_relaxed))
            return;
    }
    lt_plan_free_workspace(w);
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void put_slot(lt_tensor **slot, lt_tensor *t)
{
    lt_tensor *before = *slot;
    *slot = t;
    lt_tensor_release(before);
}

/* Moves the results of a call into their slots. */
static void store_made(const lt_plan *plan, const plan_step *step, plan_workspace *w,
                       lt_value *made)
{
    const int *slots = (const int *)plan->slots.items + step->results.first;
    if (step->callable->results[0].kind != LT_KIND_TENSORS) {
        for (int i = 0; i < step->callable->info.n_results; i++) {
            if (i < step->results.n)
                put_slot(&w->slots[slots[i]], made[i].v.tensor);
            else
                lt_tensor_release(made[i].v.tensor);
        }
        return;
    }
    lt_tensor_list *list = &made[0].v.tensors;
    for (int i = 0; i < step->results.n && i < list->n; i++)
        put_slot(&w->slots[slots[i]], lt_tensor_retain(list->v[i]));
    lt_tensor_list_release(list);
}

static void end_slots(const lt_plan *plan, const plan_step *step, plan_workspace *w)
{
    const int *slots = (const int *)plan->slots.items + step->ends.first;
    for (int k = 0; k < step->ends.n; k++) put_slot(&w->slots[slots[k]], NULL);
}

static lt_status check_number(const lt_plan *plan, const plan_step *step, plan_workspace *w,
                              bool *applies)
{
    const plan_patch *patch = (const plan_patch *)plan->patches.items + step->patches.first;
    lt_scalar number;
    LT_TRY(lt_tensor_item(w->slots[patch->slot], &number));
    *applies = lt_scalar_int(number) == step->expected;
    end_slots(plan, step, w);
    return LT_OK;
}

static lt_status run_step(const lt_plan *plan, const plan_step *step, plan_workspace *w)
{
    const int i = (int)(step - (const plan_step *)plan->steps.items);
    const plan_patch *patch = (const plan_patch *)plan->patches.items + step->patches.first;
    lt_call_frame *frame = &w->frames[i];
    lt_value made[LT_CALL_MAX_RESULTS];
    for (int k = 0; k < step->patches.n; k++, patch++) {
        lt_tensor *t = w->slots[patch->slot];
        if (patch->entry < 0)
            frame->v[patch->arg].tensor = t;
        else
            frame->v[patch->arg].list.v[patch->entry] = t;
    }
    for (int k = 0; k < step->callable->info.n_results; k++)
        made[k] = lt_value_of(step->callable->results[k].kind);
    LT_TRY(lt_call_run(step->callable, frame, made));
    store_made(plan, step, w, made);
    end_slots(plan, step, w);
    return LT_OK;
}

static lt_status check_output(const lt_model_value *value, int i, const lt_tensor *to,
                              const lt_tensor *from)
{
    if (to == NULL || (to->dtype == from->dtype && lt_same_sizes(to, from))) return LT_OK;
    return lt_error(LT_ERR_RUNTIME,
                    "lt_model_run(): output '%s' is %s with %d dimensions, but outputs[%d] has "
                    "another shape or dtype; pass NULL for a new tensor",
                    value->name, lt_dtype_name((lt_dtype)from->dtype), from->ndim, i);
}

static bool shares_memory(const lt_tensor *t, lt_tensor *const *others, int n)
{
    for (int i = 0; i < n; i++)
        if (others[i] != NULL && others[i]->storage == t->storage) return true;
    return false;
}

/* Replaces a result that is an input, a parameter or a buffer, or a view of one, by a copy. */
static lt_status separate_result(const lt_plan_call *call, lt_tensor **result)
{
    lt_tensor *copy = NULL;
    if (!shares_memory(*result, call->inputs, call->n_inputs) &&
        !shares_memory(*result, call->tensors, call->n_tensors))
        return LT_OK;
    LT_TRY(lt_clone(*result, &copy));
    put_slot(result, copy);
    return LT_OK;
}

lt_status lt_plan_set_outputs(const lt_plan_call *call, lt_tensor **results)
{
    lt_tensor **to = call->outputs;
    for (int i = 0; i < call->n_outputs; i++) {
        LT_TRY(check_output(&call->values[i], i, to[i], results[i]));
        if (to[i] == NULL) LT_TRY(separate_result(call, &results[i]));
    }
    for (int i = 0; i < call->n_outputs; i++)
        if (to[i] != NULL) LT_TRY(lt_copy_(to[i], results[i], false));
    for (int i = 0; i < call->n_outputs; i++)
        if (to[i] == NULL) to[i] = lt_tensor_retain(results[i]);
    return LT_OK;
}

lt_status lt_plan_run(lt_plan *plan, const lt_plan_call *call, bool *applies)
{
    plan_workspace *w = take_workspace(plan);
    if (w == NULL) return LT_ERR_MEMORY;
    const int *in = plan->inputs.items, *out = plan->outputs.items;
    lt_block_pool *before = lt_block_pool_enter(&w->pool);
    for (int i = 0; i < plan->inputs.n; i++) w->slots[in[i]] = lt_tensor_retain(call->inputs[i]);
    const plan_step *step = plan->steps.items, *end = step + plan->steps.n;
    lt_status status = LT_OK;
    for (*applies = true; step < end && status == LT_OK && *applies; step++)
        status =
            step->callable != NULL ? run_step(plan, step, w) : check_number(plan, step, w, applies);
    for (int i = 0; i < plan->outputs.n; i++) w->results[i] = lt_tensor_retain(w->slots[out[i]]);
    if (status == LT_OK && *applies) status = lt_plan_set_outputs(call, w->results);
    for (int i = 0; i < plan->outputs.n; i++) put_slot(&w->results[i], NULL);
    for (int i = 0; i < plan->n_slots; i++) put_slot(&w->slots[i], NULL);
    (void)lt_block_pool_enter(before);
    keep_workspace(plan, w);
    return status;
}
