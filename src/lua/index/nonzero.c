/* places.c - forms of where and nonzero that declarations cannot express: nonzero{as_tuple = true}
 * and torch.where(condition), which return the positions along each dimension as separate results,
 * and the method x:where(condition, other), in which the condition comes second.
 *
 * Each replaces the declared function, which it calls through a pointer in an upvalue behind the
 * common two. */
#include <string.h>

#include "binding.h"

#define DECLARED lua_upvalueindex(LT_UPVALUES + 1)

static int call_declared(lua_State *L)
{
    return (*(lua_CFunction *)lua_touserdata(L, DECLARED))(L);
}

/* Calls a method of the value on top of the stack; the result replaces the value. */
static void call_method(lua_State *L, const char *name, lua_Integer argument)
{
    lua_getfield(L, -1, name);
    lua_insert(L, -2);
    lua_pushinteger(L, argument);
    lua_call(L, 2, 1);
}

/* The positions of the non-zero elements of the tensor at 1, one result per dimension. */
static int push_places(lua_State *L)
{
    lua_settop(L, 1);
    int dims = lt_lua_get(L, 1)->ndim;
    if (dims == 0) call_method(L, "unsqueeze", 1);
    lua_getfield(L, 1, "nonzero");
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
    call_method(L, "unbind", 2);
    if (dims == 0) dims = 1;
    luaL_checkstack(L, dims, NULL);
    for (int i = 1; i <= dims; i++) lua_rawgeti(L, 2, i);
    lt_lua_mark_results(L, dims);
    return dims;
}

/* nonzero{input = x, as_tuple = true}: moves the tensor before the names. */
static void take_input(lua_State *L)
{
    static const char *const names[] = {"input", "self", "x", NULL};
    if (lua_gettop(L) != 1 || lua_type(L, 1) != LUA_TTABLE) return;
    int found = -1;
    lua_newtable(L);
    for (int i = 0; names[i] != NULL; i++) {
        lua_getfield(L, 1, names[i]);
        if (found < 0 && lt_lua_get(L, -1) != NULL)
            found = i;
        else
            lua_pop(L, 1);
    }
    if (found < 0) {
        lua_settop(L, 1);
        return;
    }
    for (lua_pushnil(L); lua_next(L, 1) != 0;) {
        if (lua_type(L, -2) == LUA_TSTRING && strcmp(lua_tostring(L, -2), names[found]) == 0) {
            lua_pop(L, 1);
            continue;
        }
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, 2);
    }
    lua_replace(L, 1);
}

/* nonzero(x), nonzero(x, {as_tuple = true}), nonzero(x, {as_tuple = false, out = y}) */
static int nonzero(lua_State *L)
{
    take_input(L);
    if (lua_gettop(L) != 2 || lua_type(L, 2) != LUA_TTABLE || lt_lua_get(L, 1) == NULL)
        return call_declared(L);
    if (lua_getfield(L, 2, "as_tuple") != LUA_TBOOLEAN) {
        lua_settop(L, 2);
        return call_declared(L);
    }
    bool as_tuple = lua_toboolean(L, -1);
    static const char *const known[] = {"as_tuple", "out", NULL}, *const known_of_tuples[] = {
                                                                      "as_tuple", NULL};
    lt_lua_check_names(L, 2, "nonzero", as_tuple ? known_of_tuples : known);
    if (as_tuple) return push_places(L);
    lua_createtable(L, 0, 1);
    lua_getfield(L, 2, "out");
    lua_setfield(L, -2, "out");
    lua_replace(L, 2);
    lua_settop(L, 2);
    return call_declared(L);
}

/* where(condition), where(condition, x, other) */
static int where(lua_State *L)
{
    return lua_gettop(L) == 1 && lt_lua_get(L, 1) != NULL ? push_places(L) : call_declared(L);
}

/* x:where(condition, other), also by name */
static int where_method(lua_State *L)
{
    if (lua_gettop(L) >= 2 && lua_type(L, lua_gettop(L)) == LUA_TTABLE) {
        static const char *const known[] = {"condition", "other", NULL};
        int names = lua_gettop(L);
        lt_lua_check_names(L, names, "where", known);
        if (names == 2) {
            lua_getfield(L, 2, "condition");
            lua_insert(L, 2);
        }
        lua_getfield(L, -1, "other");
        lua_remove(L, -2);
    }
    if (lua_gettop(L) < 3)
        return lt_lua_error(L, "where(): the method of a tensor accepts (condition, other)");
    lua_pushvalue(L, 1);
    lua_copy(L, 2, 1);
    lua_replace(L, 2);
    return call_declared(L);
}

/* Replaces a field of the table at `table` by f, which wraps the function declared in the table at
 * `from`. A library with a selection of ops may lack that: then the field stays nil. */
static void stand_before(lua_State *L, int table, int from, const char *name, lua_CFunction f)
{
    lt_lua_pushfunction(L, f); /* for its upvalues */
    lua_getupvalue(L, -1, 1);
    lua_getupvalue(L, -2, 2);
    lua_getfield(L, from, name);
    lua_CFunction declared = lua_tocfunction(L, -1);
    lua_pop(L, 1);
    if (declared == NULL) {
        lua_pop(L, 3);
        return;
    }
    *(lua_CFunction *)lua_newuserdatauv(L, sizeof declared, 0) = declared;
    lua_pushcclosure(L, f, LT_UPVALUES + 1);
    lua_setfield(L, table, name);
    lua_pop(L, 1);
}

void lt_lua_open_nonzero(lua_State *L)
{
    stand_before(L, 3, 1, "where", where_method);
    stand_before(L, 1, 1, "where", where);
    stand_before(L, 3, 3, "nonzero", nonzero);
    stand_before(L, 1, 1, "nonzero", nonzero);
}
