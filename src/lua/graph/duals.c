/* duals.c - torch._C's functions for forward mode (lib/autograd/forward_ad.lua,
 * lib/func/forward.lua), over autograd/dual.h. Levels count from 0. */
#include "autograd/dual.h"

#include "binding.h"
#include "call.h"

/* dual_enter() -> level: begins a level of forward mode on this thread. */
static int dual_enter(lua_State *L)
{
    int level;
    lt_lua_do(L, lt_dual_enter(&level));
    lua_pushinteger(L, level);
    return 1;
}

/* dual_leave(level): ends the innermost level. */
static int dual_leave(lua_State *L)
{
    const int level = (int)lt_lua_check_integer(L, 1);
    lt_lua_do(L, lt_dual_leave(level));
    return 0;
}

/* dual_depth() -> the number of open levels. */
static int dual_depth(lua_State *L)
{
    lua_pushinteger(L, lt_tls.duals);
    return 1;
}

/* make_dual(primal, tangent, level) -> tensor; batched ones as whole batches. */
static int make_dual(lua_State *L)
{
    static const int arguments[] = {1, 2};
    lt_tensor *primal = lt_lua_check_tensor(L, 1), *tangent = lt_lua_check_tensor(L, 2);
    const int level = (int)lt_lua_check_integer(L, 3);
    lua_settop(L, 3);
    lt_tensor **slot = lt_lua_new(L);
    lt_lua_do(L, lt_make_dual(primal, tangent, level, slot));
    if (lt_call_has_history(*slot) || lt_call_has_history(tangent))
        lt_lua_link(L, lua_gettop(L), arguments, 2);
    return 1;
}

/* unpack_dual(tensor, level) -> primal, tangent or nil */
static int unpack_dual(lua_State *L)
{
    static const int arguments[] = {1};
    lt_tensor *t = lt_lua_check_tensor(L, 1);
    const int level = (int)lt_lua_check_integer(L, 2);
    lua_settop(L, 2);
    lt_tensor **primal = lt_lua_new(L), **tangent = lt_lua_new(L);
    lt_lua_do(L, lt_unpack_dual(t, level, primal, tangent));
    if (lt_call_has_history(*primal)) lt_lua_link(L, 3, arguments, 1);
    if (*tangent == NULL) {
        lua_pop(L, 1);
        lua_pushnil(L);
    } else if (lt_call_has_history(*tangent)) {
        lt_lua_link(L, 4, arguments, 1);
    }
    return 2;
}

/* is_dual(tensor) -> whether it has a tangent at an open level */
static int is_dual(lua_State *L)
{
    lua_pushboolean(L, lt_tls.duals != 0 && lt_is_dual(lt_lua_check_tensor(L, 1)));
    return 1;
}

/* dual_detach(tensor, leaf): detached, but with its tangents; `leaf`: these are not detached */
static int dual_detach(lua_State *L)
{
    lt_tensor *t = lt_lua_check_tensor(L, 1);
    const bool leaf = lua_toboolean(L, 2);
    lua_settop(L, 2);
    lt_tensor **slot = lt_lua_new(L);
    lt_lua_do(L, lt_dual_detach(t, leaf, slot));
    return 1;
}

void lt_lua_open_duals(lua_State *L)
{
    static const luaL_Reg internal[] = {
        {"dual_enter", dual_enter},   {"dual_leave", dual_leave},
        {"dual_depth", dual_depth},   {"make_dual", make_dual},
        {"unpack_dual", unpack_dual}, {"is_dual", is_dual},
        {"dual_detach", dual_detach}, {NULL, NULL},
    };
    lua_pushvalue(L, 2);
    lt_lua_setfuncs(L, internal);
    lua_pop(L, 1);
}
