/* plan.c - see plan.h. */
#include "plan.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "api/call_match.h"
#include "memory/alloc.h"
#include "memory/block.h"
#include "op/copy_.h"

enum { MAX_WORKSPACES = 16 }; /* kept for the next runs; more threads allocate theirs in each run */

/* A tensor argument that is set in each run. entry: its index in a list; -1: no list. */
typedef struct plan_patch {
    int arg, entry, slot;
} plan_patch;

/* A range of an array of the plan. */
typedef struct plan_range {
    int first, n;
} plan_range;

typedef struct plan_step {
    const lt_callable *callable;
    plan_range patches, results, ends; /* in patches, slots and slots */
    int list_arg, list_first;          /* a list argument in lists; -1: none */
} plan_step;

typedef struct plan_workspace {
    lt_call_frame *frames;
    lt_tensor **slots, **lists, **results;
    lt_block_pool pool;
} plan_workspace;

typedef struct plan_input {
    int dtype, ndim;
    lt_device device;
    bool requires_grad;
    int64_t sizes[LT_MAX_DIMS];
} plan_input;

/* An array that grows. */
typedef struct plan_list {
    void *items;
    int n, room;
} plan_list;

struct lt_plan {
    plan_list steps;     /* plan_step */
    plan_list frames;    /* lt_call_frame, one for each step */
    plan_list patches;   /* plan_patch */
    plan_list slots;     /* int: slots of results, and of values that end */
    plan_list lists;     /* lt_tensor *: entries of list arguments; NULL: patched */
    plan_list owned;     /* lt_tensor *: constants */
    plan_list texts;     /* char *: string arguments */
    plan_list inputs;    /* int: slots */
    plan_list outputs;   /* int: slots */
    plan_list depends;   /* lt_tensor *: parameters and buffers */
    plan_list versions;  /* uint32_t, of depends */
    plan_list signature; /* plan_input */
    bool grad;           /* grad mode of the recording */
    int n_slots;
    _Atomic(plan_workspace *) free[MAX_WORKSPACES];
};

/* ---- building -------------------------------------------------------------------------------- */

/* Appends n zeroed items and returns the first; raises "not enough memory". */
static void *add_items(lua_State *L, plan_list *list, size_t size, int n)
{
    if (list->n + n > list->room) {
        const int room = 2 * (list->n + n);
        void *items = lt_mem_rearray(list->items, room, size);
        if (items == NULL) lt_lua_raise(L);
        list->items = items, list->room = room;
    }
    void *first = (char *)list->items + (size_t)list->n * size;
    memset(first, 0, (size_t)n * size);
    list->n += n;
    return first;
}

static void add_int(lua_State *L, plan_list *list, int value)
{
    *(int *)add_items(L, list, sizeof value, 1) = value;
}

static lt_tensor *keep_tensor(lua_State *L, lt_plan *plan, lt_tensor *t)
{
    lt_tensor **kept = add_items(L, &plan->owned, sizeof *kept, 1);
    return *kept = lt_tensor_retain(t);
}

static const char *keep_text(lua_State *L, lt_plan *plan, int index)
{
    size_t size;
    const char *text = lua_tolstring(L, index, &size);
    char **kept = add_items(L, &plan->texts, sizeof *kept, 1);
    *kept = lt_mem_alloc(size + 1);
    if (*kept == NULL) lt_lua_raise(L);
    memcpy(*kept, text, size + 1);
    return *kept;
}

static int int_field(lua_State *L, int index, const char *name)
{
    lua_getfield(L, index, name);
    const int value = (int)lua_tointeger(L, -1);
    lua_pop(L, 1);
    return value;
}

/* The recorded tensor of the value on top of the stack (popped); *slot: its slot, -1 if it is a
 * constant. */
static lt_tensor *take_recorded(lua_State *L, int *slot)
{
    const int value = lua_gettop(L);
    lua_getfield(L, value, "varies");
    lua_getfield(L, value, "fixed");
    const bool is_constant = !lua_toboolean(L, -2) || lua_toboolean(L, -1);
    *slot = is_constant ? -1 : int_field(L, value, "slot") - 1;
    lua_getfield(L, value, "tensor");
    lt_tensor *t = lt_lua_get(L, -1);
    if (t == NULL) luaL_error(L, "a recorded value is not a tensor");
    lua_settop(L, value - 1);
    return t;
}

/* The arguments of a step while it is built. */
typedef struct call_args {
    lt_named_value named[LT_MAX_ARGS];
    int slots[LT_MAX_ARGS]; /* of a tensor argument; -1: none or constant */
    int64_t dims[LT_MAX_ARGS][LT_MAX_DIMS];
    int list_named, list_first; /* the index in named of a list argument; -1: none */
    plan_range list;
    int n;
} call_args;

static void read_tensor_list(lua_State *L, lt_plan *plan, int index, call_args *a)
{
    const int n = (int)lua_rawlen(L, index);
    if (a->list_named >= 0) luaL_error(L, "a call with two lists of tensors");
    a->list_named = a->n, a->list_first = plan->lists.n;
    (void)add_items(L, &plan->lists, sizeof(lt_tensor *), n);
    a->list = (plan_range){plan->patches.n, 0};
    for (int i = 0; i < n; i++) {
        int slot;
        lua_rawgeti(L, index, i + 1);
        lt_tensor *t = take_recorded(L, &slot);
        ((lt_tensor **)plan->lists.items)[a->list_first + i] =
            slot < 0 ? keep_tensor(L, plan, t) : t;
        if (slot < 0) continue;
        plan_patch *patch = add_items(L, &plan->patches, sizeof *patch, 1);
        *patch = (plan_patch){-1, i, slot};
        a->list.n++;
    }
    a->named[a->n].value = lt_value_tensors(n, (lt_tensor **)plan->lists.items + a->list_first);
}

static void read_dims(lua_State *L, int index, call_args *a)
{
    const int n = (int)lua_rawlen(L, index);
    if (n > LT_MAX_DIMS) luaL_error(L, "a list of %d sizes", n);
    for (int i = 0; i < n; i++) {
        lua_rawgeti(L, index, i + 1);
        a->dims[a->n][i] = lua_tointeger(L, -1);
        lua_pop(L, 1);
    }
    a->named[a->n].value = lt_value_dims(n, a->dims[a->n]);
}

/* Reads the argument {kind, value} on top of the stack. */
static void read_arg(lua_State *L, lt_plan *plan, const char *name, call_args *a)
{
    const int arg = lua_gettop(L);
    if (a->n == LT_MAX_ARGS) luaL_error(L, "more than %d arguments", LT_MAX_ARGS);
    lua_rawgeti(L, arg, 1);
    lua_rawgeti(L, arg, 2);
    const char *kind = lua_tostring(L, -2);
    lt_value *value = &a->named[a->n].value;
    a->slots[a->n] = -1;
    a->named[a->n].name = name;
    if (strcmp(kind, "tensor") == 0) {
        lt_tensor *t = take_recorded(L, &a->slots[a->n]);
        *value = lt_value_tensor(a->slots[a->n] < 0 ? keep_tensor(L, plan, t) : t);
    } else if (strcmp(kind, "tensors") == 0) {
        read_tensor_list(L, plan, arg + 2, a);
    } else if (strcmp(kind, "dims") == 0) {
        read_dims(L, arg + 2, a);
    } else if (strcmp(kind, "int") == 0) {
        *value = lt_value_int((int64_t)lua_tointeger(L, -1));
    } else if (strcmp(kind, "double") == 0) {
        *value = lt_value_double(lua_tonumber(L, -1));
    } else if (strcmp(kind, "bool") == 0) {
        *value = lt_value_bool(lua_toboolean(L, -1));
    } else if (strcmp(kind, "string") == 0) {
        *value = lt_value_string(keep_text(L, plan, arg + 2));
    } else if (strcmp(kind, "dtype") == 0) {
        *value = lt_value_dtype(lt_lua_to_dtype(L, -1));
    } else {
        lt_device device = {LT_CPU, 0};
        (void)lt_lua_to_device(L, -1, &device);
        *value = lt_value_device(device);
    }
    a->n++;
    lua_settop(L, arg);
}

static int find_arg(const lt_callable *f, const char *name)
{
    const int i = lt_callable_find_arg(f, name);
    return i < f->info.n_args ? i : 0; /* `input` may be another name of the first argument */
}

/* Adds the call of a step to the plan. */
static void bind_call(lua_State *L, lt_plan *plan, const char *op, call_args *a, plan_step *step)
{
    lt_call_match m;
    lt_named_call call = {.named = a->named, .nnamed = a->n};
    if (lt_call_bind(op, &call, &m, &step->callable) != LT_OK) {
        char qualified[100]; /* Lua's declarations leave out the module */
        snprintf(qualified, sizeof qualified, "nn.functional.%s", op);
        lt_lua_check(L, lt_call_bind(qualified, &call, &m, &step->callable));
    }
    lt_call_frame *frame = add_items(L, &plan->frames, sizeof *frame, 1);
    *frame = m.frame;
    /* The plan takes the converted numbers. A converted tensor would be the recorded one. */
    bool converted = false;
    while (m.n_owned > 0) {
        lt_tensor *t = m.owned[--m.n_owned];
        lt_tensor **kept = add_items(L, &plan->owned, sizeof *kept, 1);
        *kept = t;
    }
    step->list_arg = -1;
    step->patches = (plan_range){plan->patches.n, 0};
    for (int i = 0; i < a->n; i++) {
        const int arg = find_arg(step->callable, a->named[i].name);
        if (i == a->list_named) {
            step->list_arg = arg, step->list_first = a->list_first;
            plan_patch *entries = (plan_patch *)plan->patches.items + a->list.first;
            for (int k = 0; k < a->list.n; k++) entries[k].arg = arg;
        }
        if (a->slots[i] < 0) continue;
        converted |= frame->v[arg].tensor != a->named[i].value.v.tensor;
        plan_patch *patch = add_items(L, &plan->patches, sizeof *patch, 1);
        *patch = (plan_patch){arg, -1, a->slots[i]};
    }
    step->patches.n = plan->patches.n - step->patches.first;
    if (a->list_named >= 0)
        step->patches = (plan_range){a->list.first, plan->patches.n - a->list.first};
    if (converted) luaL_error(L, "an argument of %s() is converted in each call", op);
}

/* Adds the step on top of the stack (popped). */
static void add_step(lua_State *L, lt_plan *plan)
{
    const int top = lua_gettop(L);
    call_args a = {.list_named = -1};
    plan_step step = {0};
    lua_getfield(L, top, "op");
    const char *op = lua_tostring(L, -1);
    lua_getfield(L, top, "args");
    for (lua_pushnil(L); lua_next(L, top + 2) != 0; lua_settop(L, top + 3))
        read_arg(L, plan, lua_tostring(L, top + 3), &a);
    bind_call(L, plan, op, &a, &step);
    lua_getfield(L, top, "results");
    const int n = (int)lua_rawlen(L, -1);
    step.results = (plan_range){plan->slots.n, n};
    for (int i = 0; i < n; i++) {
        int slot;
        lua_rawgeti(L, -1, i + 1);
        (void)take_recorded(L, &slot);
        if (slot < 0) luaL_error(L, "a result of %s() is constant", op);
        add_int(L, &plan->slots, slot);
    }
    const lt_callable *f = step.callable;
    for (int i = 0; i < f->info.n_results; i++)
        if (f->results[i].kind != LT_KIND_TENSOR && f->results[i].kind != LT_KIND_TENSORS)
            luaL_error(L, "%s() returns a number", op);
    *(plan_step *)add_items(L, &plan->steps, sizeof step, 1) = step;
    lua_settop(L, top - 1);
}

static void add_slots(lua_State *L, int index, const char *name, plan_list *list)
{
    lua_getfield(L, index, name);
    const int n = (int)lua_rawlen(L, -1);
    for (int i = 0; i < n; i++) {
        lua_rawgeti(L, -1, i + 1);
        add_int(L, list, (int)lua_tointeger(L, -1) - 1);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

/* Marks where each slot is used last. Slots of outputs are kept to the end. */
static void mark_ends(lua_State *L, lt_plan *plan)
{
    int *last = lua_newuserdatauv(L, (size_t)plan->n_slots * sizeof *last + 1, 0);
    plan_step *steps = plan->steps.items;
    const plan_patch *patches = plan->patches.items;
    for (int i = 0; i < plan->n_slots; i++) last[i] = -1;
    for (int i = 0; i < plan->steps.n; i++) {
        const int *results = (const int *)plan->slots.items + steps[i].results.first;
        for (int k = 0; k < steps[i].patches.n; k++)
            last[patches[steps[i].patches.first + k].slot] = i;
        for (int k = 0; k < steps[i].results.n; k++) last[results[k]] = i;
    }
    const int *outputs = plan->outputs.items;
    for (int i = 0; i < plan->outputs.n; i++) last[outputs[i]] = -1;
    for (int i = 0; i < plan->steps.n; i++) {
        steps[i].ends.first = plan->slots.n;
        for (int slot = 0; slot < plan->n_slots; slot++)
            if (last[slot] == i) add_int(L, &plan->slots, slot);
        steps[i].ends.n = plan->slots.n - steps[i].ends.first;
    }
    lua_pop(L, 1);
}

static void add_depends(lua_State *L, int index, lt_plan *plan)
{
    lua_getfield(L, index, "depends");
    const int n = (int)lua_rawlen(L, -1);
    for (int i = 0; i < n; i++) {
        lua_rawgeti(L, -1, i + 1);
        lt_tensor *t = lt_lua_get(L, -1);
        lt_tensor **kept = add_items(L, &plan->depends, sizeof *kept, 1);
        *kept = lt_tensor_retain(t);
        uint32_t *version = add_items(L, &plan->versions, sizeof *version, 1);
        *version = atomic_load(&t->storage->version);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

void lt_plan_build(lua_State *L, int index, lt_plan **out)
{
    lt_plan *plan = *out = lt_mem_zalloc(sizeof *plan);
    if (plan == NULL) lt_lua_raise(L);
    plan->n_slots = int_field(L, index, "slots");
    plan->grad = lt_grad_enabled();
    add_slots(L, index, "inputs", &plan->inputs);
    add_slots(L, index, "outputs", &plan->outputs);
    add_depends(L, index, plan);
    lua_getfield(L, index, "steps");
    const int n = (int)lua_rawlen(L, -1);
    for (int i = 0; i < n; i++) {
        lua_rawgeti(L, -1, i + 1);
        add_step(L, plan);
    }
    lua_pop(L, 1);
    mark_ends(L, plan);
}

static void free_tensors(plan_list *list)
{
    lt_tensor **tensors = list->items;
    for (int i = 0; i < list->n; i++) lt_tensor_release(tensors[i]);
    lt_mem_free(list->items);
}

static void free_workspace(plan_workspace *w)
{
    if (w != NULL) lt_block_pool_clear(&w->pool);
    lt_mem_free(w);
}

void lt_plan_free(lt_plan *plan)
{
    if (plan == NULL) return;
    for (int i = 0; i < MAX_WORKSPACES; i++) free_workspace(atomic_load(&plan->free[i]));
    char **texts = plan->texts.items;
    for (int i = 0; i < plan->texts.n; i++) lt_mem_free(texts[i]);
    free_tensors(&plan->owned);
    free_tensors(&plan->depends);
    plan_list *const rest[] = {&plan->steps,    &plan->frames,   &plan->patches, &plan->slots,
                               &plan->lists,    &plan->texts,    &plan->inputs,  &plan->outputs,
                               &plan->versions, &plan->signature};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) lt_mem_free(rest[i]->items);
    lt_mem_free(plan);
}

/* ---- the signature --------------------------------------------------------------------------- */

lt_status lt_plan_sign(lt_plan *plan, lt_tensor *const *inputs, int n)
{
    plan_input *signature = lt_mem_zarray(n, sizeof *signature);
    if (signature == NULL && n > 0) return LT_ERR_MEMORY;
    for (int i = 0; i < n; i++) {
        const lt_tensor *t = inputs[i];
        signature[i] = (plan_input){.dtype = t->dtype, .ndim = t->ndim, .device = t->device};
        signature[i].requires_grad = lt_tensor_requires_grad(t);
        memcpy(signature[i].sizes, lt_tensor_sizes(t), (size_t)t->ndim * sizeof(int64_t));
    }
    plan->signature = (plan_list){signature, n, n};
    return LT_OK;
}

bool lt_plan_fits(const lt_plan *plan, lt_tensor *const *inputs, int n)
{
    const plan_input *s = plan->signature.items;
    if (plan->signature.n != n || plan->grad != lt_grad_enabled()) return false;
    for (int i = 0; i < n; i++) {
        const lt_tensor *t = inputs[i];
        if (t == NULL || t->dtype != s[i].dtype || t->ndim != s[i].ndim ||
            t->device.type != s[i].device.type || t->device.index != s[i].device.index ||
            lt_tensor_layout(t) != LT_STRIDED || lt_tensor_requires_grad(t) != s[i].requires_grad ||
            memcmp(lt_tensor_sizes(t), s[i].sizes, (size_t)t->ndim * sizeof(int64_t)) != 0)
            return false;
    }
    return true;
}

bool lt_plan_is_current(const lt_plan *plan)
{
    lt_tensor *const *tensors = plan->depends.items;
    const uint32_t *versions = plan->versions.items;
    for (int i = 0; i < plan->depends.n; i++)
        if (atomic_load_explicit(&tensors[i]->storage->version, memory_order_relaxed) !=
            versions[i])
            return false;
    return true;
}

/* ---- running --------------------------------------------------------------------------------- */

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
    free_workspace(w);
}

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

static lt_status run_step(const lt_plan *plan, int i, plan_workspace *w)
{
    const plan_step *step = (const plan_step *)plan->steps.items + i;
    const plan_patch *patch = (const plan_patch *)plan->patches.items + step->patches.first;
    const int *slots = plan->slots.items;
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
    for (int k = 0; k < step->ends.n; k++) put_slot(&w->slots[slots[step->ends.first + k]], NULL);
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

lt_status lt_plan_set_outputs(const lt_plan_outputs *outputs, lt_tensor *const *results)
{
    lt_tensor **to = outputs->tensors;
    for (int i = 0; i < outputs->n; i++)
        LT_TRY(check_output(&outputs->values[i], i, to[i], results[i]));
    for (int i = 0; i < outputs->n; i++)
        if (to[i] != NULL) LT_TRY(lt_copy_(to[i], results[i], false));
    for (int i = 0; i < outputs->n; i++)
        if (to[i] == NULL) to[i] = lt_tensor_retain(results[i]);
    return LT_OK;
}

lt_status lt_plan_run(lt_plan *plan, lt_tensor *const *inputs, const lt_plan_outputs *outputs)
{
    plan_workspace *w = take_workspace(plan);
    if (w == NULL) return LT_ERR_MEMORY;
    const int *in = plan->inputs.items, *out = plan->outputs.items;
    lt_block_pool *before = lt_block_pool_enter(&w->pool);
    for (int i = 0; i < plan->inputs.n; i++) w->slots[in[i]] = lt_tensor_retain(inputs[i]);
    lt_status status = LT_OK;
    for (int i = 0; i < plan->steps.n && status == LT_OK; i++) status = run_step(plan, i, w);
    for (int i = 0; i < plan->outputs.n; i++) w->results[i] = w->slots[out[i]];
    if (status == LT_OK) status = lt_plan_set_outputs(outputs, w->results);
    for (int i = 0; i < plan->n_slots; i++) put_slot(&w->slots[i], NULL);
    (void)lt_block_pool_enter(before);
    keep_workspace(plan, w);
    return status;
}
