/* values.c - converts values between a script and its host. Intermediate objects that are not yet
 * handed over when Lua raises are owned by a userdata on the stack, and its finalizer frees them.
 */
#include <string.h>

#include "api/values.h"
#include "script.h"
#include "stoppable.h"

enum { DEEPEST = 100 };

static void push(lua_State *L, const lt_value *value, int depth);

static void push_table(lua_State *L, const lt_table *table, int depth)
{
    if (table == NULL) luaL_error(L, "a table is NULL");
    if (depth > DEEPEST) luaL_error(L, "tables are nested more than %d deep", DEEPEST);
    luaL_checkstack(L, 3, "tables are nested too deep");
    const int64_t n = lt_table_length(table), names = lt_table_names(table);
    lua_createtable(L, n < 1 << 20 ? (int)n : 0, names < 1 << 20 ? (int)names : 0);
    for (int64_t i = 0; i < n; i++) {
        push(L, lt_table_at(table, i), depth + 1);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    for (int64_t i = 0; i < names; i++) {
        const char *name = lt_table_name(table, i);
        lua_pushstring(L, name);
        push(L, lt_table_get(table, name), depth + 1);
        lua_rawset(L, -3);
    }
}

static void push(lua_State *L, const lt_value *value, int depth)
{
    switch (value->kind) {
    case LT_KIND_NONE: lua_pushnil(L); break;
    case LT_KIND_BOOL: lua_pushboolean(L, value->v.b); break;
    case LT_KIND_INT: lua_pushinteger(L, (lua_Integer)value->v.i); break;
    case LT_KIND_DOUBLE: lua_pushnumber(L, value->v.d); break;
    case LT_KIND_STRING:
        if (value->v.text.s == NULL) luaL_error(L, "a string is NULL");
        lua_pushlstring(L, value->v.text.s, lt_value_text_size(value));
        break;
    case LT_KIND_TENSOR: lt_lua_push(L, value->v.tensor); break;
    case LT_KIND_DTYPE:
        if (value->v.dtype < 0 || value->v.dtype >= LT_DTYPE_COUNT)
            luaL_error(L, "unknown dtype %d", (int)value->v.dtype);
        lt_lua_push_dtype(L, (lt_dtype)value->v.dtype);
        break;
    case LT_KIND_DEVICE: lt_lua_push_device(L, value->v.device); break;
    case LT_KIND_DIMS:
        lua_newtable(L);
        for (int64_t i = 0; i < value->v.dims.n; i++) {
            lua_pushinteger(L, (lua_Integer)value->v.dims.v[i]);
            lua_rawseti(L, -2, (lua_Integer)i + 1);
        }
        break;
    case LT_KIND_TENSORS:
        lua_newtable(L);
        for (int64_t i = 0; i < value->v.tensors.n; i++) {
            lt_lua_push(L, value->v.tensors.v[i]);
            lua_rawseti(L, -2, (lua_Integer)i + 1);
        }
        break;
    case LT_KIND_TABLE: push_table(L, value->v.table, depth); break;
    default: luaL_error(L, "a value of kind %d cannot be handed to a script", (int)value->kind);
    }
}

void lt_script_push(lua_State *L, const lt_value *value)
{
    luaL_checkstack(L, 4, "too many values");
    push(L, value, 1);
}

/* ---- from the script ------------------------------------------------------------------------- */

static int drop_table(lua_State *L)
{
    lt_table **holder = lua_touserdata(L, 1);
    lt_table_release(*holder);
    *holder = NULL;
    return 0;
}

/* Pushes a userdata that owns a new table. */
static lt_table **push_holder(lua_State *L)
{
    lt_table **holder = lua_newuserdatauv(L, sizeof *holder, 0);
    *holder = NULL;
    if (luaL_newmetatable(L, "ltensor.script.table")) {
        lua_pushcfunction(L, drop_table);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    lt_lua_check(L, lt_table_new(holder));
    return holder;
}

static void take_value(lua_State *L, int index, int taken, lt_value *out, int depth);

/* Moves the value on top of the stack into the table: appended, or under the name. */
static void put_field(lua_State *L, lt_table *table, const char *name, int taken, int depth)
{
    lt_value value = lt_value_none();
    lt_lua_look_at(L, lt_lua_context(L));
    take_value(L, lua_gettop(L), taken, &value, depth);
    const lt_status status =
        name != NULL ? lt_table_set(table, name, &value) : lt_table_append(table, &value);
    lt_value_release(&value);
    lt_lua_check(L, status);
    lua_pop(L, 1);
}

/* taken: the stack index of a table that maps Lua tables to the holders of their converted form. A
 * table that is reachable several times becomes one shared table. */
static void take_table(lua_State *L, int index, int taken, lt_value *out, int depth)
{
    if (depth > DEEPEST) luaL_error(L, "a table is nested more than %d deep", DEEPEST);
    luaL_checkstack(L, 8, "tables are nested too deep");
    lua_pushvalue(L, index);
    const int type = lua_rawget(L, taken);
    if (type == LUA_TBOOLEAN) luaL_error(L, "a table contains itself");
    if (type == LUA_TUSERDATA) {
        *out = lt_value_table(lt_table_retain(*(lt_table **)lua_touserdata(L, -1)));
        lua_pop(L, 1);
        return;
    }
    lua_pop(L, 1);
    lua_pushvalue(L, index);
    lua_pushboolean(L, true);
    lua_rawset(L, taken);
    lt_table **holder = push_holder(L);
    lua_Integer n = 0;
    while (lua_rawgeti(L, index, n + 1) != LUA_TNIL) {
        put_field(L, *holder, NULL, taken, depth + 1);
        n++;
    }
    lua_pop(L, 1);
    for (lua_pushnil(L); lua_next(L, index) != 0;) {
        if (lua_isinteger(L, -2) && lua_tointeger(L, -2) >= 1 && lua_tointeger(L, -2) <= n) {
            lua_pop(L, 1);
            continue;
        }
        if (lua_type(L, -2) != LUA_TSTRING)
            luaL_error(L, "a table with a key that is %s cannot leave the script",
                       lua_isinteger(L, -2) ? "beyond its list" : luaL_typename(L, -2));
        size_t size;
        const char *name = lua_tolstring(L, -2, &size);
        if (size != strlen(name))
            luaL_error(L, "a table with a name that contains a zero byte cannot leave the script");
        put_field(L, *holder, name, taken, depth + 1);
    }
    *out = lt_value_table(lt_table_retain(*holder));
    lua_pushvalue(L, index);
    lua_insert(L, -2);
    lua_rawset(L, taken);
}

static void take_userdata(lua_State *L, int index, lt_value *out)
{
    lt_device device;
    lt_tensor *t = lt_lua_tensor(L, index);
    const lt_dtype dtype = t == NULL ? lt_lua_to_dtype(L, index) : LT_DTYPE_NONE;
    if (t != NULL)
        *out = lt_value_tensor(lt_tensor_retain(t));
    else if (dtype != LT_DTYPE_NONE)
        *out = lt_value_dtype(dtype);
    else if (lt_lua_to_device(L, index, &device))
        *out = lt_value_device(device);
    else
        luaL_error(L, "a %s cannot leave the script", lt_lua_type_name(L, index));
}

static void take_value(lua_State *L, int index, int taken, lt_value *out, int depth)
{
    size_t size;
    switch (lua_type(L, index)) {
    case LUA_TNONE:
    case LUA_TNIL: *out = lt_value_none(); break;
    case LUA_TBOOLEAN: *out = lt_value_bool(lua_toboolean(L, index)); break;
    case LUA_TNUMBER:
        *out = lua_isinteger(L, index) ? lt_value_int((int64_t)lua_tointeger(L, index))
                                       : lt_value_double(lua_tonumber(L, index));
        break;
    case LUA_TSTRING: {
        const char *s = lua_tolstring(L, index, &size);
        lt_lua_check(L, lt_value_own_text(s, size, out));
        break;
    }
    case LUA_TTABLE: take_table(L, index, taken, out, depth); break;
    case LUA_TUSERDATA: take_userdata(L, index, out); break;
    default: luaL_error(L, "a %s cannot leave the script", luaL_typename(L, index));
    }
}

void lt_script_end_taking(lua_State *L, int taken)
{
    for (lua_pushnil(L); lua_next(L, taken) != 0; lua_pop(L, 1)) {
        lt_table **holder = lua_touserdata(L, -1);
        if (holder == NULL) continue;
        lt_table_release(*holder);
        *holder = NULL;
    }
}

void lt_script_take(lua_State *L, int index, int taken, lt_value *out)
{
    take_value(L, lua_absindex(L, index), taken, out, 1);
}
