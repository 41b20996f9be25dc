/* callback.c - see callback.h. A callback runs in a protected call; backward() raises its error
 * value unchanged. */
#include "callback.h"

#include "memory/alloc.h"

static const char pending_error_key = 0;

lt_status lt_callback_new(lt_lua_state *s, int64_t id, lt_callback **out)
{
    lt_callback *c = lt_mem_alloc(sizeof *c);
    if (c == NULL) return LT_ERR_MEMORY;
    c->state = lt_lua_state_retain(s);
    c->id = id;
    *out = c;
    return LT_OK;
}

void lt_callback_release(void *ctx)
{
    lt_callback *c = ctx;
    lt_lua_state_release(c->state);
    lt_mem_free(c);
}

/* Runs in a protected call: may raise. Results are retained only at the end, when nothing can
 * raise. */
static int call_closure(lua_State *L)
{
    lt_callback_call *call = lua_touserdata(L, 1);
    if (!lt_lua_push_anchored(L, call->id))
        return lt_lua_error(
            L, "a function of the graph was collected: no tensor of its graph is held any more");
    luaL_checkstack(L, call->n_arguments + call->n_results + 8, NULL);
    int base = lua_gettop(L);
    if (call->needs != NULL) {
        lua_createtable(L, call->n_results, 0);
        for (int i = 0; i < call->n_results; i++) {
            lua_pushboolean(L, call->needs[i]);
            lua_rawseti(L, -2, i + 1);
        }
    }
    for (int i = 0; i < call->n_arguments; i++) {
        if (call->arguments[i] == NULL)
            lua_pushnil(L);
        else
            lt_lua_push(L, call->arguments[i]);
    }
    lua_call(L, lua_gettop(L) - base, call->n_results);
    for (int i = 0; i < call->n_results; i++) {
        int at = base + i;
        if (!lua_isnil(L, at) && lt_lua_tensor(L, at) == NULL)
            return lt_lua_error(L, "expected a Tensor or nil as gradient, got a %s (result %d)",
                                lt_lua_type_name(L, at), i + 1);
    }
    for (int i = 0; i < call->n_results; i++) {
        lt_tensor *t = lt_lua_tensor(L, base + i);
        if (t != NULL) call->results[i] = lt_tensor_retain(t);
    }
    return 0;
}

/* Message handler: passes the error to the program's function, before the stack is unwound. */
static int report_failure(lua_State *L)
{
    if (lua_getfield(L, LUA_REGISTRYINDEX, LT_LUA_CALLBACK_FAILED) == LUA_TFUNCTION) {
        lua_pushvalue(L, 1);
        lua_pcall(L, 1, 0, 0);
    }
    lua_settop(L, 1);
    return 1;
}

int lt_lua_call_protected(lua_State *L, lua_CFunction f, void *argument)
{
    lua_pushcfunction(L, report_failure);
    lua_pushcfunction(L, f);
    lua_pushlightuserdata(L, argument);
    const int status = lua_pcall(L, 1, 0, -3);
    lua_remove(L, status == LUA_OK ? -1 : -2);
    return status;
}

lt_status lt_lua_call_back(const lt_lua_state *state, lua_CFunction f, void *argument)
{
    if (state->running != NULL) return lt_lua_call_back_on(state->running, f, argument, true);
    return lt_error(LT_ERR_RUNTIME,
                    "a hook written in Lua was reached from outside of its interpreter");
}

lt_status lt_lua_call_back_on(lua_State *L, lua_CFunction f, void *argument, bool keep)
{
    if (!lua_checkstack(L, 4)) return lt_error(LT_ERR_MEMORY, "Lua stack overflow in a hook");
    if (lt_lua_call_protected(L, f, argument) == LUA_OK) return LT_OK;
    lt_status status =
        lt_error(LT_ERR_RUNTIME, "%s",
                 lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "error in a hook");
    if (keep)
        lua_rawsetp(L, LUA_REGISTRYINDEX, &pending_error_key);
    else
        lua_pop(L, 1);
    return status;
}

lt_status lt_callback_run(lt_callback *c, lt_callback_call *call)
{
    call->id = c->id;
    return lt_lua_call_back(c->state, call_closure, call);
}

lt_status lt_callback_run_hook(void *ctx, lt_tensor *grad, lt_tensor **replacement)
{
    lt_callback_call call = {
        .n_arguments = 1, .n_results = 1, .arguments = &grad, .results = replacement};
    return lt_callback_run(ctx, &call);
}

lt_status lt_callback_run_node_hook(void *ctx, lt_tensor **values, int n, lt_tensor *const *seen,
                                    int m)
{
    lt_tensor **list = lt_mem_zarray(2 * n + m + 1, sizeof *list), **given = list + n + m;
    if (list == NULL) return LT_ERR_MEMORY;
    for (int i = 0; i < n; i++) list[i] = values[i];
    for (int i = 0; i < m; i++) list[n + i] = seen[i];
    lt_callback_call call = {
        .n_arguments = n + m, .n_results = n, .arguments = list, .results = given};
    lt_status status = lt_callback_run(ctx, &call);
    for (int i = 0; i < n && status == LT_OK; i++)
        if (values[i] != NULL && given[i] != NULL && !lt_same_sizes(values[i], given[i]))
            status = lt_error(LT_ERR_RUNTIME, "hook has changed the size of value");
    for (int i = 0; i < n; i++) {
        lt_tensor *old = given[i];
        if (status == LT_OK) old = values[i], values[i] = given[i];
        lt_tensor_release(old);
    }
    lt_mem_free(list);
    return status;
}

int lt_callback_raise(lua_State *L)
{
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &pending_error_key) == LUA_TNIL) return lt_lua_raise(L);
    lua_pushnil(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &pending_error_key);
    return lua_error(L);
}
