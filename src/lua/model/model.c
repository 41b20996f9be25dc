/* model.c - lt_model (ltensor_model.h): a model of lib/onnx or lib/export in an interpreter of its
 * own, and the plans of its runs (plan.h).
 *
 * The interpreter runs the library's files alone, in the context of the calling thread, under the
 * model's lock. The list of plans is only changed under the lock; a plan that is removed from it is
 * freed when no other thread is inside lt_model_run. */
#include "ltensor_model.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "files/paths.h"
#include "interpreter.h"
#include "lock.h"
#include "memory/alloc.h"
#include "plan.h"

#include <unistd.h>

/* MAX_VARIANTS: plans for the same inputs, for the numbers that the program reads from them */
enum { MAX_PLANS = 64, MAX_VARIANTS = 8, REASON = 200 };

typedef struct plan_entry {
    lt_plan *plan;
    struct plan_entry *_Atomic next;
} plan_entry;

struct lt_model {
    lt_interpreter interpreter;
    lt_model_value *values; /* inputs, then outputs */
    int n_inputs, n_outputs;
    const char **names; /* of tensors; strings of the interpreter */
    lt_tensor **tensors;
    int n_tensors, n_parameters;
    plan_entry *_Atomic plans;
    plan_entry *removed; /* under the lock */
    int n_plans;
    _Atomic int running;
    char reason[REASON]; /* "": the last recorded run has a plan */
};

/* A request to the interpreter. */
typedef struct model_request {
    lt_model *model;
    const char *path;
    const char *function; /* of host.lua: call_with_path */
    const void *bytes;
    size_t size;
    bool on;
    lt_tensor *const *inputs;
    lt_tensor **results; /* new references, one for each output */
    lt_plan *plan;
} model_request;

/* ---- calling the interpreter ----------------------------------------------------------------- */

static lt_status guarded(lua_CFunction f, model_request *r)
{
    return lt_interpreter_call(&r->model->interpreter, f, r);
}

/* Pushes a function of host.lua and the model's state. */
static void push_host(lua_State *L, const char *function)
{
    lt_interpreter_push(L, "torch.model.host", function);
}

/* ---- loading --------------------------------------------------------------------------------- */

static void *allocate(lua_State *L, int n, size_t size)
{
    void *items = lt_mem_zarray(n + 1, size);
    if (items == NULL) lt_lua_raise(L);
    return items;
}

/* Reads one entry of host.lua's description, on top of the stack (popped). Its strings stay in the
 * registry. */
static void read_value(lua_State *L, lt_model_value *value)
{
    const int top = lua_gettop(L);
    *value = (lt_model_value){sizeof *value, NULL, LT_DTYPE_NONE, -1, NULL};
    lua_getfield(L, top, "name");
    value->name = lua_isstring(L, -1) ? lua_tostring(L, -1) : "";
    lua_getfield(L, top, "dtype");
    if (!lua_isnil(L, -1)) value->dtype = lt_lua_to_dtype(L, -1);
    if (lua_getfield(L, top, "sizes") == LUA_TTABLE) {
        const int n = (int)lua_rawlen(L, -1);
        int64_t *dims = allocate(L, n, sizeof *dims);
        value->dims = dims, value->ndim = n;
        for (int i = 0; i < n; i++) {
            lua_rawgeti(L, top + 3, i + 1);
            dims[i] = lua_tointeger(L, -1);
            lua_pop(L, 1);
        }
    }
    lua_settop(L, top - 1);
}

static int list_field(lua_State *L, int index, const char *name)
{
    lua_getfield(L, index, name);
    return (int)lua_rawlen(L, -1);
}

/* Copies the description of the model's state, at the top of the stack. */
static void describe(lua_State *L, lt_model *model)
{
    const int state = lua_gettop(L);
    model->n_inputs = list_field(L, state, "inputs");
    model->n_outputs = list_field(L, state, "outputs");
    model->n_tensors = list_field(L, state, "parameters");
    model->values = allocate(L, model->n_inputs + model->n_outputs, sizeof *model->values);
    for (int i = 0; i < model->n_inputs + model->n_outputs; i++) {
        lua_rawgeti(L, i < model->n_inputs ? state + 1 : state + 2,
                    (i < model->n_inputs ? i : i - model->n_inputs) + 1);
        read_value(L, &model->values[i]);
    }
    model->names = allocate(L, model->n_tensors, sizeof *model->names);
    model->tensors = allocate(L, model->n_tensors, sizeof *model->tensors);
    for (int i = 0; i < model->n_tensors; i++) {
        lua_rawgeti(L, state + 3, i + 1);
        lua_getfield(L, -1, "name");
        model->names[i] = lua_tostring(L, -1);
        lua_getfield(L, -2, "tensor");
        model->tensors[i] = lt_tensor_retain(lt_lua_get(L, -1));
        lua_getfield(L, -3, "is_buffer");
        if (!lua_toboolean(L, -1)) model->n_parameters++;
        lua_pop(L, 4);
    }
    lua_settop(L, state);
}

static int open_model(lua_State *L)
{
    model_request *r = lua_touserdata(L, 1);
    lt_interpreter_open_libraries(L);
    push_host(L, "open");
    lua_pop(L, 1);
    if (r->path != NULL)
        lua_pushstring(L, r->path);
    else
        lua_pushlstring(L, r->bytes, r->size);
    lua_pushboolean(L, r->path == NULL);
    lua_call(L, 2, 1);
    describe(L, r->model);
    lt_interpreter_set_state(L);
    lt_lua_collect(L);
    return 0;
}

static lt_status load(model_request *r, lt_model **out)
{
    lt_model *model = lt_mem_zalloc(sizeof *model);
    if (model == NULL) return LT_ERR_MEMORY;
    r->model = model;
    lt_status status = lt_interpreter_new(&model->interpreter);
    if (status == LT_OK) status = guarded(open_model, r);
    if (status == LT_OK)
        *out = model;
    else
        lt_model_release(model);
    return status;
}

lt_status lt_model_load(const char *path, lt_model **out)
{
    LT_REQUIRE(path);
    LT_REQUIRE(out);
    int fd;
    int64_t size;
    LT_TRY(lt_open_to_read(path, &fd, &size)); /* for the status of a missing file */
    close(fd);
    model_request r = {.path = path};
    return load(&r, out);
}

lt_status lt_model_load_memory(const void *bytes, size_t size, lt_model **out)
{
    LT_REQUIRE(bytes);
    LT_REQUIRE(out);
    model_request r = {.bytes = bytes, .size = size};
    return load(&r, out);
}

static void free_plans(plan_entry *entry)
{
    while (entry != NULL) {
        plan_entry *next = atomic_load(&entry->next);
        lt_plan_free(entry->plan);
        lt_mem_free(entry);
        entry = next;
    }
}

void lt_model_release(lt_model *model)
{
    if (model == NULL) return;
    free_plans(atomic_load(&model->plans));
    free_plans(model->removed);
    for (int i = 0; i < model->n_tensors && model->tensors != NULL; i++)
        lt_tensor_release(model->tensors[i]);
    for (int i = 0; i < model->n_inputs + model->n_outputs && model->values != NULL; i++)
        lt_mem_free((void *)model->values[i].dims);
    lt_mem_free(model->values);
    lt_mem_free(model->names);
    lt_mem_free(model->tensors);
    lt_interpreter_close(&model->interpreter);
    lt_mem_free(model);
}

/* "": runs have plans. */
static void set_reason(lt_model *model, const char *text)
{
    snprintf(model->reason, sizeof model->reason, "%s", text);
}

/* ---- plans ----------------------------------------------------------------------------------- */

static bool is_usable(const lt_model *model, const lt_plan *plan, lt_tensor *const *inputs)
{
    return lt_plan_fits(plan, inputs, model->n_inputs) && lt_plan_is_current(plan);
}

/* Runs the plan that applies; *done: there is one. */
static lt_status run_plans(lt_model *model, const lt_plan_call *call, bool *done)
{
    *done = false;
    for (plan_entry *entry = atomic_load(&model->plans); entry != NULL;
         entry = atomic_load(&entry->next)) {
        if (!is_usable(model, entry->plan, call->inputs)) continue;
        const lt_status status = lt_plan_run(entry->plan, call, done);
        if (status != LT_OK || *done) return status;
    }
    return LT_OK;
}

/* Removes plans of an older state of the parameters, or all. Under the lock. */
static void remove_plans(lt_model *model, bool all)
{
    plan_entry *_Atomic *link = &model->plans;
    for (plan_entry *entry = atomic_load(link); entry != NULL; entry = atomic_load(link)) {
        if (!all && lt_plan_is_current(entry->plan)) {
            link = &entry->next;
            continue;
        }
        atomic_store(link, atomic_load(&entry->next));
        /* A thread that is at this entry continues at the entries removed before it, then ends. */
        atomic_store(&entry->next, model->removed);
        model->removed = entry;
        model->n_plans--;
    }
}

/* Whether two outputs have the same elements, as far as that can be compared without a copy. */
static bool is_same(const lt_tensor *a, const lt_tensor *b)
{
    if (a->dtype != b->dtype || a->ndim != b->ndim || a->numel != b->numel) return false;
    if (memcmp(lt_tensor_sizes(a), lt_tensor_sizes(b), (size_t)a->ndim * sizeof(int64_t)) != 0)
        return false;
    if (a->device.type != LT_CPU || !lt_tensor_is_contiguous(a) || !lt_tensor_is_contiguous(b))
        return true;
    return a->numel == 0 || memcmp(lt_tensor_data(a), lt_tensor_data(b),
                                   (size_t)a->numel * lt_dtype_size((lt_dtype)a->dtype)) == 0;
}

static lt_plan_call call_of(const lt_model *model, lt_tensor *const *inputs, lt_tensor **outputs)
{
    return (lt_plan_call){
        inputs,         model->n_inputs, outputs, model->n_outputs, model->values + model->n_inputs,
        model->tensors, model->n_tensors};
}

/* Runs a new plan once: creates the workspace, and compares the results with the interpreter's. */
static bool is_equal_run(const lt_model *model, lt_plan *plan, lt_tensor *const *inputs,
                         lt_tensor *const *results)
{
    lt_tensor **made = lt_mem_zarray(model->n_outputs + 1, sizeof *made);
    const lt_plan_call call = call_of(model, inputs, made);
    bool applies;
    bool same = made != NULL && lt_plan_run(plan, &call, &applies) == LT_OK && applies;
    for (int i = 0; i < model->n_outputs && made != NULL; i++) {
        same = same && is_same(made[i], results[i]);
        lt_tensor_release(made[i]);
    }
    lt_mem_free(made);
    return same;
}

static void add_plan(lt_model *model, lt_plan *plan, lt_tensor *const *inputs,
                     lt_tensor *const *results)
{
    plan_entry *entry = lt_mem_zalloc(sizeof *entry);
    const bool equal = is_equal_run(model, plan, inputs, results);
    if (!equal) set_reason(model, "the recorded operations have other results");
    if (!equal || entry == NULL || lt_plan_sign(plan, inputs, model->n_inputs) != LT_OK) {
        lt_mem_free(entry);
        lt_plan_free(plan);
        return;
    }
    entry->plan = plan;
    atomic_store(&entry->next, atomic_load(&model->plans));
    atomic_store(&model->plans, entry);
    model->n_plans++;
}

/* ---- running --------------------------------------------------------------------------------- */

static int build_plan(lua_State *L)
{
    model_request *r = lua_touserdata(L, 1);
    lt_plan_build(L, 2, &r->plan);
    return 0;
}

/* Builds the plan of the recording at stack index 2; index 3: the reason why there is none. */
static void take_recording(lua_State *L, model_request *r)
{
    lt_model *model = r->model;
    if (lua_isnil(L, 2)) {
        set_reason(model, lua_isstring(L, 3) ? lua_tostring(L, 3) : "unknown");
        return;
    }
    lua_pushcfunction(L, build_plan);
    lua_pushlightuserdata(L, r);
    lua_pushvalue(L, 2);
    if (lua_pcall(L, 2, 0, 0) == LUA_OK) {
        set_reason(model, "");
        return;
    }
    set_reason(model, lua_isstring(L, -1) ? lua_tostring(L, -1) : "not enough memory");
    lt_plan_free(r->plan);
    r->plan = NULL;
}

static int run_program(lua_State *L)
{
    model_request *r = lua_touserdata(L, 1);
    lt_model *model = r->model;
    lua_settop(L, 0);
    luaL_checkstack(L, model->n_inputs + 8, "too many inputs");
    push_host(L, "run");
    lua_pushboolean(L, r->on);
    for (int i = 0; i < model->n_inputs; i++) {
        if (r->inputs[i] != NULL)
            lt_lua_push(L, r->inputs[i]);
        else
            lua_pushnil(L);
    }
    lua_call(L, model->n_inputs + 2, 3);
    for (int i = 0; i < model->n_outputs; i++) {
        lua_rawgeti(L, 1, i + 1);
        lt_tensor *t = lt_lua_get(L, -1);
        if (t == NULL) return luaL_error(L, "output %d of the model is absent", i);
        r->results[i] = lt_tensor_retain(t);
        lua_pop(L, 1);
    }
    if (r->on) take_recording(L, r);
    return 0;
}

/* If there are too many plans for these inputs, removes all and records no more. */
static void limit_variants(lt_model *model, lt_tensor *const *inputs)
{
    int n = 0;
    for (plan_entry *entry = atomic_load(&model->plans); entry != NULL;
         entry = atomic_load(&entry->next))
        if (is_usable(model, entry->plan, inputs)) n++;
    if (n < MAX_VARIANTS) return;
    remove_plans(model, true);
    set_reason(model, "the operations depend on numbers in the inputs, which vary");
}

/* Runs the program and, if there is room for a plan, records it. Under the lock. */
static lt_status interpret(lt_model *model, lt_tensor *const *inputs, lt_tensor **results)
{
    remove_plans(model, false);
    if (model->n_plans >= MAX_PLANS) remove_plans(model, true);
    limit_variants(model, inputs);
    if (atomic_load(&model->running) == 1) {
        free_plans(model->removed);
        model->removed = NULL;
    }
    model_request r = {.model = model, .inputs = inputs, .results = results};
    r.on = model->reason[0] == '\0';
    const lt_status status = guarded(run_program, &r);
    if (r.plan == NULL) return status;
    lt_lua_collect(model->interpreter.L);
    if (status == LT_OK)
        add_plan(model, r.plan, inputs, results);
    else
        lt_plan_free(r.plan);
    return status;
}

static lt_status run_without_plan(lt_model *model, const lt_plan_call *call)
{
    bool done;
    lt_tensor **results = lt_mem_zarray(call->n_outputs + 1, sizeof *results);
    if (results == NULL) return LT_ERR_MEMORY;
    pthread_mutex_lock(&model->interpreter.lock);
    /* Another thread may have recorded it. */
    lt_status status = run_plans(model, call, &done);
    if (status == LT_OK && !done) status = interpret(model, call->inputs, results);
    lt_unlock(&model->interpreter.lock);
    if (status == LT_OK && !done) status = lt_plan_set_outputs(call, results);
    for (int i = 0; i < call->n_outputs; i++) lt_tensor_release(results[i]);
    lt_mem_free(results);
    return status;
}

static lt_status check_run(const lt_model *model, lt_tensor *const *inputs, int n_inputs,
                           lt_tensor **outputs, int n_outputs)
{
    if (n_inputs != model->n_inputs)
        return lt_error(LT_ERR_RUNTIME, "lt_model_run(): %d inputs, but the model has %d", n_inputs,
                        model->n_inputs);
    if (n_outputs != model->n_outputs)
        return lt_error(LT_ERR_RUNTIME, "lt_model_run(): %d outputs, but the model has %d",
                        n_outputs, model->n_outputs);
    if (inputs == NULL && n_inputs > 0) return lt_null_argument("lt_model_run", "inputs");
    if (outputs == NULL && n_outputs > 0) return lt_null_argument("lt_model_run", "outputs");
    return LT_OK;
}

lt_status lt_model_run(lt_model *model, lt_tensor *const *inputs, int n_inputs, lt_tensor **outputs,
                       int n_outputs)
{
    LT_REQUIRE(model);
    LT_TRY(check_run(model, inputs, n_inputs, outputs, n_outputs));
    const lt_plan_call call = call_of(model, inputs, outputs);
    atomic_fetch_add(&model->running, 1);
    bool done;
    lt_status status = run_plans(model, &call, &done);
    if (status == LT_OK && !done) status = run_without_plan(model, &call);
    atomic_fetch_sub(&model->running, 1);
    return status;
}

const char *lt_model_interpreted(const lt_model *model)
{
    return model != NULL && model->reason[0] != '\0' ? model->reason : NULL;
}

/* ---- the parts of a model ------------------------------------------------------------------- */

int lt_model_input_count(const lt_model *model) { return model != NULL ? model->n_inputs : 0; }
int lt_model_output_count(const lt_model *model) { return model != NULL ? model->n_outputs : 0; }

const lt_model_value *lt_model_input(const lt_model *model, int i)
{
    return i >= 0 && i < lt_model_input_count(model) ? &model->values[i] : NULL;
}

const lt_model_value *lt_model_output(const lt_model *model, int i)
{
    return i >= 0 && i < lt_model_output_count(model) ? &model->values[model->n_inputs + i] : NULL;
}

int lt_model_tensor_count(const lt_model *model) { return model != NULL ? model->n_tensors : 0; }
int lt_model_parameter_count(const lt_model *model)
{
    return model != NULL ? model->n_parameters : 0;
}

const char *lt_model_tensor_name(const lt_model *model, int i)
{
    return i >= 0 && i < lt_model_tensor_count(model) ? model->names[i] : NULL;
}

lt_tensor *lt_model_tensor(const lt_model *model, int i)
{
    return i >= 0 && i < lt_model_tensor_count(model) ? model->tensors[i] : NULL;
}

lt_tensor *lt_model_find(const lt_model *model, const char *name)
{
    for (int i = 0; name != NULL && i < lt_model_tensor_count(model); i++)
        if (strcmp(model->names[i], name) == 0) return model->tensors[i];
    return NULL;
}

/* ---- mode and state -------------------------------------------------------------------------- */

static int set_training(lua_State *L)
{
    const model_request *r = lua_touserdata(L, 1);
    push_host(L, "set_training");
    lua_pushboolean(L, r->on);
    lua_call(L, 2, 0);
    return 0;
}

/* Calls the function of host.lua that saves or loads the state. */
static int call_with_path(lua_State *L)
{
    const model_request *r = lua_touserdata(L, 1);
    push_host(L, r->function);
    lua_pushstring(L, r->path);
    lua_call(L, 2, 0);
    return 0;
}

/* Calls f under the lock. renews: the plans are recorded again. */
static lt_status request_locked(lt_model *model, lua_CFunction f, model_request *r, bool renews)
{
    r->model = model;
    pthread_mutex_lock(&model->interpreter.lock);
    if (renews) {
        remove_plans(model, true);
        model->reason[0] = '\0';
    }
    const lt_status status = guarded(f, r);
    lt_unlock(&model->interpreter.lock);
    return status;
}

lt_status lt_model_set_training(lt_model *model, bool on)
{
    LT_REQUIRE(model);
    model_request r = {.on = on};
    return request_locked(model, set_training, &r, true);
}

lt_status lt_model_save(lt_model *model, const char *path)
{
    LT_REQUIRE(model);
    LT_REQUIRE(path);
    model_request r = {.path = path, .function = "save"};
    return request_locked(model, call_with_path, &r, false);
}

lt_status lt_model_save_state(lt_model *model, const char *path)
{
    LT_REQUIRE(model);
    LT_REQUIRE(path);
    model_request r = {.path = path, .function = "save_state"};
    return request_locked(model, call_with_path, &r, false);
}

lt_status lt_model_load_state(lt_model *model, const char *path)
{
    LT_REQUIRE(model);
    LT_REQUIRE(path);
    model_request r = {.path = path, .function = "load_state"};
    return request_locked(model, call_with_path, &r, true);
}
