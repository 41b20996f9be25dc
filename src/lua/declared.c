/* declared.c - see declared.h. */
#include "declared.h"

#include "binding.h"

typedef struct lt_declared_function {
    lua_CFunction function;
    int most;
    bool tables;
} lt_declared_function;

/* The function runs in this closure, which has the common upvalues. */
static int call_function(lua_State *L)
{
    const lt_declared_function *d = lua_touserdata(L, lua_upvalueindex(LT_UPVALUES + 1));
    int n = lua_gettop(L);
    if (n > d->most || (!d->tables && n > 0 && lua_type(L, n) == LUA_TTABLE)) {
        lua_pushvalue(L, lua_upvalueindex(LT_UPVALUES + 2));
        lua_insert(L, 1);
        lua_call(L, n, LUA_MULTRET);
        while (lua_gettop(L) > 0 && lua_isnil(L, -1)) lua_pop(L, 1);
    }
    return d->function(L);
}

int lt_lua_declared(lua_State *L)
{
    lua_CFunction function = lua_tocfunction(L, 1);
    lt_lua_pushvalues(L);
    bool ours = function != NULL && lua_getupvalue(L, 1, LT_UPVALUES + 1) == NULL;
    if (ours && lua_getupvalue(L, 1, 1) != NULL) {
        ours = lua_rawequal(L, -1, -3);
        lua_pop(L, 1);
    }
    if (!ours) return lt_lua_error(L, "declared(): not a function of the module");
    lt_declared_function *d = lua_newuserdatauv(L, sizeof *d, 0);
    *d = (lt_declared_function){function, (int)lt_lua_check_integer(L, 2), lua_toboolean(L, 3)};
    lua_pushvalue(L, 4);
    lua_pushcclosure(L, call_function, LT_UPVALUES + 2);
    return 1;
}

int lt_lua_methods_of(lua_State *L)
{
    luaL_getmetatable(L, lua_pushfstring(L, "ltensor.%s", lt_lua_check_string(L, 1)));
    return 1;
}
