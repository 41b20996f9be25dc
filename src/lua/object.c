/* object.c - instances of Lua classes as userdata: lib/support/class.lua builds on these functions.
 *
 * An object is an empty userdata with the table of its fields as user value. A field is searched
 * there first, then in the class (and through its metatable in the parents); an integer key calls
 * the method __getitem; a slice ("1:2", {1, 2}), or a tensor of positions, __getslice. Only metatables made here become
 * metatables of objects: an object with the metatable of tensors or files would be mistaken for
 * one. Includes Lua and the binding's tensor header only. */
#include "object.h"

#include <lauxlib.h>
#include <lua.h>
#include <stdbool.h>
#include <string.h>

#include "ltensor_lua.h"
#include "system/lua_versions.h"
#include "refuse.h"
#include "tensor.h"

/* Its address is the registry key of the weak set of objects' metatables. */
static const char metatables;

/* new_object(metatable, fields) -> userdata. It has no finalizer: one could not be interrupted,
 * since the collector switches hooks off. */
static int new_object(lua_State *L)
{
    lt_lua_check_type(L, 1, LUA_TTABLE);
    lt_lua_check_type(L, 2, LUA_TTABLE);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &metatables);
    lua_pushvalue(L, 1);
    if (lua_rawget(L, -2) == LUA_TNIL)
        return lt_lua_refuse(L, 1, "the metatable of a class's objects");
    lua_settop(L, 2);
    lua_pushliteral(L, "__gc");
    if (lua_rawget(L, 1) != LUA_TNIL)
        return lt_lua_error(L, "objects of classes cannot have a finalizer (__gc)");
    lua_settop(L, 2);
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
    if (lua_type(L, 1) != LUA_TUSERDATA || lua_getiuservalue(L, 1, 1) != LUA_TTABLE)
        return lt_lua_refuse(L, 1, "an object");
    return 1;
}

/* The method that reads the key at 2: a position, a slice ("1:2", {1, 2}) or a tensor; NULL for a name. A
 * class may have a method of its own for the position 1, which ipairs reads first. */
static const char *item_method(lua_State *L)
{
    if (lua_isinteger(L, 2)) {
        if (lua_tointeger(L, 2) != 1) return "__getitem";
        const bool has_first = lua_getfield(L, lua_upvalueindex(1), "__getfirst") != LUA_TNIL;
        lua_pop(L, 1);
        return has_first ? "__getfirst" : "__getitem";
    }
    if (lua_type(L, 2) == LUA_TTABLE || lt_lua_tensor(L, 2) != NULL) return "__getslice";
    return lua_type(L, 2) == LUA_TSTRING && strchr(lua_tostring(L, 2), ':') != NULL ? "__getslice"
                                                                                    : NULL;
}

/* __index of an object; upvalue 1 is its class. */
static int index_object(lua_State *L)
{
    /* a metatable's functions can be called with any value */
    lt_lua_check_type(L, 1, LUA_TUSERDATA);
    lua_settop(L, 2);
    if (lua_getiuservalue(L, 1, 1) == LUA_TTABLE) {
        lua_pushvalue(L, 2);
        if (lua_rawget(L, -2) != LUA_TNIL) return 1;
    }
    lua_pushvalue(L, 2);
    if (lua_gettable(L, lua_upvalueindex(1)) != LUA_TNIL) return 1;
    const char *method = item_method(L);
    if (method == NULL || lua_getfield(L, lua_upvalueindex(1), method) == LUA_TNIL) return 1;
    lua_pushvalue(L, 1);
    lua_pushvalue(L, 2);
    lua_call(L, 2, 1); /* as Lua, keep one result */
    return 1;
}

/* object_metatable(class) -> a metatable for its objects, with __index */
static int object_metatable(lua_State *L)
{
    lt_lua_check_type(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    lua_createtable(L, 0, 10);
    lua_pushvalue(L, 1);
    lua_pushcclosure(L, index_object, 1);
    lua_setfield(L, 2, "__index");
    lua_rawgetp(L, LUA_REGISTRYINDEX, &metatables);
    lua_pushvalue(L, 2);
    lua_pushboolean(L, true);
    lua_rawset(L, -3);
    lua_settop(L, 2);
    return 1;
}

/* make_parameter(tensor) marks a tensor as an nn.Parameter; is_parameter(value) tests the mark. */
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
        {"new_object", new_object},
        {"object_fields", object_fields},
        {"object_metatable", object_metatable},
        {"make_parameter", make_parameter},
        {"is_parameter", is_parameter},
        {NULL, NULL},
    };
    luaL_setfuncs(L, functions, 0);
    lua_newtable(L);
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "k");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &metatables);
}
