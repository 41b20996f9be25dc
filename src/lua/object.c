/* object.c - instances of Lua classes as userdata: lib/class.lua builds on these three functions.
 *
 * An object is an empty userdata whose user value is the table of its fields. Reading a field looks there
 * first, then in the class (whose metatable leads to its parents); an integer key goes to the method
 * __getitem, as Python's subscript does. Includes Lua and the binding's tensor header only. */
#include "object.h"

#include <lauxlib.h>
#include <lua.h>

#include "ltensor.h"
#include "refuse.h"
#include "tensor.h"

/* new_object(metatable, fields) -> userdata */
static int new_object(lua_State *L)
{
    lt_lua_check_type(L, 1, LUA_TTABLE);
    lt_lua_check_type(L, 2, LUA_TTABLE);
    lua_newuserdatauv(L, 0, 1);
    lua_pushvalue(L, 2);
    lua_setiuservalue(L, -2, 1);
    lua_pushvalue(L, 1);
    lua_setmetatable(L, -2);
    return 1;
}

/* object_fields(object) -> the table of its fields, to read and write without metamethods */
static int object_fields(lua_State *L)
{
    if (lua_type(L, 1) != LUA_TUSERDATA || lua_getiuservalue(L, 1, 1) != LUA_TTABLE) return lt_lua_refuse(L, 1, "an object");
    return 1;
}

/* __index of an object; upvalue 1 is its class. */
static int index_object(lua_State *L)
{
    lt_lua_check_type(L, 1, LUA_TUSERDATA); /* a metatable's functions can be called with anything */
    lua_settop(L, 2);
    if (lua_getiuservalue(L, 1, 1) == LUA_TTABLE) {
        lua_pushvalue(L, 2);
        if (lua_rawget(L, -2) != LUA_TNIL) return 1;
    }
    lua_pushvalue(L, 2);
    if (lua_gettable(L, lua_upvalueindex(1)) != LUA_TNIL) return 1;
    if (!lua_isinteger(L, 2)) return 1;
    if (lua_getfield(L, lua_upvalueindex(1), "__getitem") == LUA_TNIL) return 1;
    lua_pushvalue(L, 1);
    lua_pushvalue(L, 2);
    lua_call(L, 2, 1); /* Lua keeps one result of an index */
    return 1;
}

/* object_index(class) -> an __index function for the metatable of its objects */
static int object_index(lua_State *L)
{
    lt_lua_check_type(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    lua_pushcclosure(L, index_object, 1);
    return 1;
}

/* make_parameter(tensor) marks a tensor as an nn.Parameter; is_parameter(value) asks. */
static int make_parameter(lua_State *L)
{
    lt_tensor *t = lt_lua_tensor(L, 1);
    if (t == NULL) return lt_lua_refuse(L, 1, "a Tensor");
    t->flags |= LT_FLAG_PARAMETER;
    lua_settop(L, 1);
    return 1;
}

static int is_parameter(lua_State *L)
{
    const lt_tensor *t = lt_lua_tensor(L, 1);
    lua_pushboolean(L, t != NULL && (t->flags & LT_FLAG_PARAMETER));
    return 1;
}

void lt_lua_open_object(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"new_object", new_object},         {"object_fields", object_fields},
        {"object_index", object_index},     {"make_parameter", make_parameter},
        {"is_parameter", is_parameter},     {NULL, NULL},
    };
    luaL_setfuncs(L, functions, 0);
}
