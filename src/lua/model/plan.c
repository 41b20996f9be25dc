/* plan.c - builds and frees plans, and compares inputs with them: see plan.h. */
#include "plan_parts.h"

#include <stdio.h>
#include <string.h>

#include "memory/alloc.h"

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
    } else if (strcmp(kind, "none") == 0) {
        *value = lt_value_none();
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
    char qualified[100]; /* Lua's declarations leave out the module */
    snprintf(qualified, sizeof qualified, "nn.functional.%s", op);
    if (lt_call_bind(op, &call, &m, &step->callable) != LT_OK &&
        (lt_op_builtin(qualified) == NULL ||
         lt_call_bind(qualified, &call, &m, &step->callable) != LT_OK))
        lt_lua_raise(L);
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

/* The name of the argument with the key at the stack index: the name or, for operations without a
 * declaration in Lua, the number. */
static const char *arg_name(lua_State *L, const char *op, int index)
{
    if (lua_type(L, index) == LUA_TSTRING) return lua_tostring(L, index);
    const lt_op *f = lt_op_builtin(op);
    if (f == NULL) luaL_error(L, "%s() is not an operation of C", op);
    const lt_callable *overload = lt_callables[f->first];
    const int i = (int)lua_tointeger(L, index) - 1;
    if (i >= overload->info.n_args) luaL_error(L, "%s() has %d arguments", op, i);
    return overload->args[i].info.name;
}

/* Adds the step {guard, expected} at the stack index. */
static void add_guard(lua_State *L, lt_plan *plan, int index)
{
    plan_step step = {.patches = {plan->patches.n, 1}, .list_arg = -1};
    plan_patch *patch = add_items(L, &plan->patches, sizeof *patch, 1);
    lua_getfield(L, index, "guard");
    *patch = (plan_patch){0, -1, 0};
    (void)take_recorded(L, &patch->slot);
    if (patch->slot < 0) luaL_error(L, "a constant is read");
    lua_getfield(L, index, "expected");
    step.expected = lua_isboolean(L, -1) ? lua_toboolean(L, -1) : (int64_t)lua_tointeger(L, -1);
    lua_pop(L, 1);
    (void)add_items(L, &plan->frames, sizeof(lt_call_frame), 1);
    *(plan_step *)add_items(L, &plan->steps, sizeof step, 1) = step;
}

/* Adds the step on top of the stack (popped). */
static void add_step(lua_State *L, lt_plan *plan)
{
    const int top = lua_gettop(L);
    call_args a = {.list_named = -1};
    if (lua_getfield(L, top, "guard") != LUA_TNIL) {
        add_guard(L, plan, top);
        lua_settop(L, top - 1);
        return;
    }
    lua_settop(L, top);
    plan_step step = {0};
    lua_getfield(L, top, "op");
    const char *op = lua_tostring(L, -1);
    lua_getfield(L, top, "args");
    for (lua_pushnil(L); lua_next(L, top + 2) != 0; lua_settop(L, top + 3))
        read_arg(L, plan, arg_name(L, op, top + 3), &a);
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

void lt_plan_free(lt_plan *plan)
{
    if (plan == NULL) return;
    for (int i = 0; i < MAX_WORKSPACES; i++) lt_plan_free_workspace(atomic_load(&plan->free[i]));
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
