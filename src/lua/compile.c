/* compile.c - torch._C's functions for torch.compile (lib/compile.lua), over compile/trace.h. */
#include "compile/trace.h"

#include "binding.h"

#define SCOPE_META "ltensor.trace"

/* trace_open(least) -> a to-be-closed value that ends the trace */
static int trace_open(lua_State *L)
{
    const int64_t least = lt_lua_check_integer(L, 1);
    lt_lua_do(L, lt_trace_open(least));
    luaL_getmetatable(L, SCOPE_META);
    return 1;
}

/* trace_finish(): computes the deferred values, once the traced function has returned */
static int trace_finish(lua_State *L)
{
    lt_lua_do(L, lt_trace_finish());
    return 0;
}

/* Also called when the block ends with an error; that error is then the one raised. */
static int trace_close(lua_State *L)
{
    const lt_status status = LT_INSIDE(L, lt_trace_close());
    if (lua_isnoneornil(L, 2)) lt_lua_check(L, status);
    return 0;
}

/* trace_notes() -> a list of the last trace's evaluations, {reason, ops, steps, passes, written,
 * elements, where}; the total count of evaluations; why ops on a GPU were not recorded, or nil */
static int trace_notes(lua_State *L)
{
    int n;
    int64_t all;
    const lt_trace_location *notes = lt_trace_locations(&n, &all);
    lua_createtable(L, n, 0);
    for (int i = 0; i < n; i++) {
        lua_createtable(L, 0, 7);
        const struct {
            const char *name;
            int64_t value;
        } numbers[] = {{"ops", notes[i].ops},
                       {"steps", notes[i].steps},
                       {"passes", notes[i].passes},
                       {"written", notes[i].written},
                       {"elements", notes[i].elements}};
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
            lua_pushinteger(L, numbers[k].value);
            lua_setfield(L, -2, numbers[k].name);
        }
        lua_pushstring(L, notes[i].reason);
        lua_setfield(L, -2, "reason");
        lua_pushstring(L, notes[i].where);
        lua_setfield(L, -2, "where");
        lua_rawseti(L, -2, i + 1);
    }
    lua_pushinteger(L, all);
    lua_pushstring(L, lt_trace_why_not());
    return 3;
}

void lt_lua_open_traces(lua_State *L)
{
    static const luaL_Reg internal[] = {{"trace_open", trace_open},
                                        {"trace_finish", trace_finish},
                                        {"trace_notes", trace_notes},
                                        {NULL, NULL}};
    lua_pushvalue(L, 2);
    lt_lua_setfuncs(L, internal);
    lua_pop(L, 1);
    /* The scope has no state of its own, so its metatable serves as the value. */
    luaL_newmetatable(L, SCOPE_META);
    lt_lua_pushfunction(L, trace_close);
    lua_setfield(L, -2, "__close");
    lua_pushvalue(L, -1);
    lua_setmetatable(L, -2);
    lua_pop(L, 1);
}
