/* implementation.c - own operations that are written in Lua: core calls these functions, which call
 * the Lua functions of the operation in protected calls.
 *
 * Tensors of a call are numbered as in lt_op_gradient. The context of a call (setup_context) is
 * stored in the registry; the node of the graph holds its number. The context refers to arguments
 * and results by number, so that core saves them, and no cycle through the interpreter arises. */
#include <string.h>

#include "graph/callback.h"
#include "memory/alloc.h"
#include "op/_position_to_index.h"
#include "op/add.h"
#include "own.h"

/* One call into the interpreter. */
typedef struct own_call {
    const lt_lua_own *own;
    const char *function; /* field of the table of functions */
    const lt_value *args, *made;
    lt_value *results;
    int nargs, nresults;
    lt_own_saved *saved;
    const lt_op_gradient *gradient;
    lt_lua_lent *lent; /* the generators among the arguments */
} own_call;

/* ---- values ---------------------------------------------------------------------------------- */

/* Pushes a tensor of indices as positions. */
static void push_positions(lua_State *L, lt_tensor *indices)
{
    lt_tensor *one = NULL, *positions = NULL;
    lt_status status = lt_tensor_from_scalar(lt_scalar_from_int(1), &one);
    if (status == LT_OK) status = lt_add(indices, one, lt_scalar_from_int(1), &positions);
    lt_tensor_release(one);
    lt_lua_check(L, status);
    lt_lua_push(L, positions);
    lt_tensor_release(positions);
}

static void push_integers(lua_State *L, const lt_value *v, bool positions)
{
    lua_createtable(L, (int)v->v.dims.n, 0);
    for (int64_t i = 0; i < v->v.dims.n; i++) {
        const int64_t entry = v->v.dims.v[i];
        lua_pushinteger(L, positions && entry >= 0 ? entry + 1 : entry);
        lua_rawseti(L, -2, i + 1);
    }
}

/* Pushes the next tensor of the list at `flat`, or the tensor itself. */
static void push_tensor(lua_State *L, lt_tensor *t, int flat, int *at)
{
    if (flat != 0)
        lua_rawgeti(L, flat, ++*at);
    else
        lt_lua_push(L, t);
}

void lt_lua_push_own_value(lua_State *L, const lt_own_op *op, int i, const lt_value *v, int flat,
                           int *at)
{
    const lt_arg_type type = op->args[i].type;
    const bool position = type == LT_ARG_DIM || type == LT_ARG_INDEX;
    luaL_checkstack(L, 4, NULL);
    switch ((lt_kind)v->kind) {
    case LT_KIND_BOOL: lua_pushboolean(L, v->v.b); return;
    case LT_KIND_INT: lua_pushinteger(L, v->v.i + (position && v->v.i >= 0)); return;
    case LT_KIND_DOUBLE: lua_pushnumber(L, v->v.d); return;
    case LT_KIND_STRING: lua_pushstring(L, v->v.s); return;
    case LT_KIND_TENSOR:
        if (type == LT_ARG_INDEX_TENSOR && flat == 0)
            push_positions(L, v->v.tensor);
        else
            push_tensor(L, v->v.tensor, flat, at);
        return;
    case LT_KIND_TENSORS:
        lua_createtable(L, (int)v->v.tensors.n, 0);
        for (int64_t k = 0; k < v->v.tensors.n; k++) {
            push_tensor(L, v->v.tensors.v[k], flat, at);
            lua_rawseti(L, -2, k + 1);
        }
        return;
    case LT_KIND_DIMS: push_integers(L, v, type == LT_ARG_DIMS); return;
    case LT_KIND_DTYPE: lt_lua_push_dtype(L, (lt_dtype)v->v.dtype); return;
    case LT_KIND_DEVICE: lt_lua_push_device(L, v->v.device); return;
    default: break;
    }
    if (op->args[i].info.kind == LT_KIND_TENSOR && flat != 0) ++*at; /* absent, but numbered */
    lua_pushnil(L);
}

/* Reads the value at a stack index as a result of this kind; other values are stored as none, which
 * core reports. */
static lt_status read_result(lua_State *L, int index, const lt_arg_info *info, lt_value *out)
{
    lt_tensor *t = lt_lua_tensor(L, index);
    *out = lt_value_none();
    if (info->kind == LT_KIND_TENSOR && t != NULL) {
        *out = lt_value_tensor(NULL);
        if (strcmp(info->type, "IndexTensor") == 0) return lt__position_to_index(t, &out->v.tensor);
        out->v.tensor = lt_tensor_retain(t);
    } else if (info->kind == LT_KIND_TENSORS && lua_istable(L, index)) {
        const int64_t n = (int64_t)lua_rawlen(L, index);
        lt_tensor **v = lt_op_allocate(n);
        if (v == NULL) return LT_ERR_MEMORY;
        *out = lt_value_tensors(n, v);
        for (int64_t k = 0; k < n; k++) {
            lua_rawgeti(L, index, k + 1);
            t = lt_lua_tensor(L, -1);
            v[k] = t != NULL ? lt_tensor_retain(t) : NULL;
            lua_pop(L, 1);
        }
    } else if (info->kind == LT_KIND_BOOL && lua_isboolean(L, index)) {
        *out = lt_value_bool(lua_toboolean(L, index));
    } else if (info->kind == LT_KIND_INT && lua_isinteger(L, index)) {
        *out = lt_value_int(lua_tointeger(L, index));
    } else if (info->kind == LT_KIND_DOUBLE && lua_type(L, index) == LUA_TNUMBER) {
        *out = lt_value_double(lua_tonumber(L, index));
    }
    return LT_OK;
}

/* Pushes a list of the boxes of all tensors; false where one is absent. */
static int push_tensors(lua_State *L, lt_tensor *const *list, int64_t n)
{
    lua_createtable(L, (int)n, 0);
    for (int64_t i = 0; i < n; i++) {
        if (list[i] != NULL)
            lt_lua_push(L, list[i]);
        else
            lua_pushboolean(L, false);
        lua_rawseti(L, -2, i + 1);
    }
    return lua_gettop(L);
}

/* As push_tensors, of the n values of the arguments or results; indices as positions. */
static int push_tensors_of(lua_State *L, const lt_own_op *op, const lt_value *values, int n,
                           bool results)
{
    int64_t at = 0;
    lua_newtable(L);
    for (int i = 0; i < n; i++) {
        const lt_value *v = &values[i];
        const lt_arg_info *info = results ? &op->results[i] : &op->args[i].info;
        const bool positions = strncmp(info->type, "IndexTensor", 11) == 0;
        if (info->kind != LT_KIND_TENSOR && info->kind != LT_KIND_TENSORS) continue;
        const int64_t entries = v->kind == LT_KIND_TENSORS      ? v->v.tensors.n
                                : info->kind == LT_KIND_TENSORS ? 0
                                                                : 1;
        for (int64_t k = 0; k < entries; k++) {
            lt_tensor *t = v->kind == LT_KIND_TENSORS  ? v->v.tensors.v[k]
                           : v->kind == LT_KIND_TENSOR ? v->v.tensor
                                                       : NULL;
            if (t == NULL)
                lua_pushboolean(L, false);
            else if (positions)
                push_positions(L, t);
            else
                lt_lua_push(L, t);
            lua_rawseti(L, -2, ++at);
        }
    }
    return lua_gettop(L);
}

/* ---- calls (protected: may raise) ------------------------------------------------------------ */

/* Pushes a function of the operation. */
static void push_function(lua_State *L, const own_call *c)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, c->own->functions);
    lua_getfield(L, -1, c->function);
    lua_remove(L, -2);
}

/* Pushes an argument as lt_lua_push_own_value does; a generator for the time of the call. */
static void push_argument(lua_State *L, own_call *c, int i, int flat, int *at)
{
    const lt_value *v = &c->args[i];
    if (v->kind == LT_KIND_GENERATOR && v->v.generator != NULL)
        lt_lua_push_lent_generator(L, v->v.generator, &c->lent);
    else
        lt_lua_push_own_value(L, c->own->op, i, v, flat, at);
}

/* Pushes a list with an entry for each result of tensors: the length of a Tensor[], false for one. */
static void push_lengths(lua_State *L, const lt_own_op *op, const lt_value *made, int n)
{
    int at = 0;
    lua_createtable(L, n, 0);
    for (int i = 0; i < n; i++) {
        const lt_kind kind = op->results[i].kind;
        if (kind != LT_KIND_TENSOR && kind != LT_KIND_TENSORS) continue;
        if (kind == LT_KIND_TENSORS)
            lua_pushinteger(L, made[i].kind == LT_KIND_TENSORS ? made[i].v.tensors.n : 0);
        else
            lua_pushboolean(L, false);
        lua_rawseti(L, -2, ++at);
    }
}

static int call_run(lua_State *L)
{
    own_call *c = lua_touserdata(L, 1);
    push_function(L, c);
    luaL_checkstack(L, c->nargs + c->nresults + 4, NULL);
    for (int i = 0; i < c->nargs; i++) push_argument(L, c, i, 0, NULL);
    const int base = lua_gettop(L) - c->nargs;
    lua_call(L, c->nargs, LUA_MULTRET);
    const int n = lua_gettop(L) - base + 1;
    if (n > c->nresults && !(c->nresults == 0 && n == 1 && lua_isnil(L, base)))
        return lt_lua_error(L, "%s(): the implementation returned %d values, but %d %s declared",
                            c->own->op->name, n, c->nresults, c->nresults == 1 ? "is" : "are");
    lua_settop(L, base + c->nresults);
    for (int i = 0; i < c->nresults; i++)
        lt_lua_check(L, read_result(L, base + i, &c->own->op->results[i], &c->results[i]));
    return 0;
}

/* setup(inputs, tensors of the inputs and of the outputs, lengths of the results) -> context, numbers
 * of tensors to save: results are negative */
static int call_setup(lua_State *L)
{
    own_call *c = lua_touserdata(L, 1);
    const lt_own_op *op = c->own->op;
    const int nresults = op->callable.info.n_results, nargs = op->callable.info.n_args;
    int at = 0;
    const int inputs = push_tensors_of(L, op, c->args, nargs, false);
    const int outputs = push_tensors_of(L, op, c->made, nresults, true);
    push_function(L, c);
    lua_createtable(L, nargs, 1);
    for (int i = 0; i < nargs; i++) {
        push_argument(L, c, i, inputs, &at);
        lua_rawseti(L, -2, i + 1);
    }
    lua_pushinteger(L, nargs);
    lua_setfield(L, -2, "n");
    lua_pushvalue(L, inputs);
    lua_pushvalue(L, outputs);
    push_lengths(L, op, c->made, nresults);
    lua_call(L, 4, 2);
    for (lua_Integer i = 1; lua_rawgeti(L, -1, i) == LUA_TNUMBER; i++) {
        const lua_Integer number = lua_tointeger(L, -1);
        if (number > 0 && number <= c->saved->n_inputs)
            c->saved->inputs[number - 1] = true;
        else if (number < 0 && -number <= c->saved->n_outputs)
            c->saved->outputs[-number - 1] = true;
        lua_pop(L, 1);
    }
    lua_pop(L, 2);
    c->saved->state = (void *)(intptr_t)luaL_ref(L, LUA_REGISTRYINDEX);
    return 0;
}

/* backward(context, needs, inputs, outputs, gradients) -> list of gradients, false or nil for none */
static int call_backward(lua_State *L)
{
    own_call *c = lua_touserdata(L, 1);
    const lt_op_gradient *g = c->gradient;
    push_function(L, c);
    lua_rawgeti(L, LUA_REGISTRYINDEX, (lua_Integer)(intptr_t)g->state);
    lua_createtable(L, (int)g->ninputs, 0);
    for (int64_t i = 0; i < g->ninputs; i++) {
        lua_pushboolean(L, g->needs[i]);
        lua_rawseti(L, -2, i + 1);
    }
    push_tensors_of(L, c->own->op, g->args, g->nargs, false);
    push_tensors_of(L, c->own->op, g->results, g->nresults, true);
    push_tensors(L, g->grads, g->ngrads);
    lua_call(L, 5, 1);
    for (int64_t i = 0; i < g->ninputs; i++) {
        lua_rawgeti(L, -1, i + 1);
        lt_tensor *t = lt_lua_tensor(L, -1);
        if (t != NULL) g->input_grads[i] = lt_tensor_retain(t);
        lua_pop(L, 1);
    }
    return 0;
}

/* ---- called by core -------------------------------------------------------------------------- */

/* The thread of the interpreter on which a call runs: the one that called core, or, if C calls on
 * the thread that defined the operation, the main one. */
static lt_status call_in_interpreter(own_call *c, lua_CFunction f)
{
    const lt_lua_own *own = c->own;
    lua_State *L = lt_tls.binding.ctx;
    if (L != NULL && lt_lua_state_of(L) == own->state) return lt_lua_call_back_on(L, f, c, true);
    if (L == NULL && own->state->main != NULL && pthread_equal(pthread_self(), own->thread))
        return lt_lua_call_back_on(own->state->main, f, c, false);
    return lt_error(
        LT_ERR_RUNTIME,
        "%s() is written in Lua and was called from outside of its interpreter; call it "
        "from the thread that defined it",
        own->op->name);
}

static lt_status call_interpreter(own_call *c, lua_CFunction f)
{
    const lt_status status = call_in_interpreter(c, f);
    lt_lua_lent_end(&c->lent);
    return status;
}

lt_status lt_lua_own_run(void *user, const lt_value *args, int nargs, lt_value *results,
                         int nresults)
{
    own_call c = {.own = user,
                  .function = "run",
                  .args = args,
                  .results = results,
                  .nargs = nargs,
                  .nresults = nresults};
    return call_interpreter(&c, call_run);
}

lt_status lt_lua_own_fake(void *user, const lt_value *args, int nargs, lt_value *results,
                          int nresults)
{
    own_call c = {.own = user,
                  .function = "fake",
                  .args = args,
                  .results = results,
                  .nargs = nargs,
                  .nresults = nresults};
    return call_interpreter(&c, call_run);
}

lt_status lt_lua_own_keep(void *user, const lt_value *args, const lt_value *results,
                          lt_own_saved *saved)
{
    own_call c = {.own = user, .function = "setup", .args = args, .made = results, .saved = saved};
    const bool grad_mode = lt_set_grad_enabled(false);
    lt_status status = lt_lua_number_values(c.own->state);
    if (status == LT_OK) status = call_interpreter(&c, call_setup);
    lt_set_grad_enabled(grad_mode);
    return status;
}

void lt_lua_own_drop(void *user, void *state)
{
    const lt_lua_own *own = user;
    lt_lua_give_up(own->state, (int)(intptr_t)state);
}

lt_status lt_lua_own_derivative(void *user, const lt_op_gradient *call)
{
    own_call c = {.own = user, .function = "backward", .gradient = call};
    return call_interpreter(&c, call_backward);
}

void lt_lua_own_free(void *user)
{
    lt_lua_own *own = user;
    lt_lua_give_up(own->state, own->functions);
    lt_lua_state_release(own->state);
    lt_mem_free(own);
}
