/* types.c - the small values of the module: torch.Size, dtypes, devices.
 *
 * A Size is a Lua table with a metatable, so that # ipairs and table.unpack work on it. There is
 * one userdata per dtype: dtypes compare by identity. Devices are compared by type and index. */
#include <stdio.h>
#include <string.h>

#include "binding.h"
#include "devices/backend.h"
#include "devices/device.h"
#include "devices/device_type.h"
#include "dtypes/dtype.h"

#define SIZE_META   "ltensor.Size"
#define DTYPE_META  "ltensor.dtype"
#define DEVICE_META "ltensor.device"

static const char dtypes_key = 0;

/* ---- Size ------------------------------------------------------------------------------------ */

void lt_lua_push_size(lua_State *L, int n, const int64_t *sizes)
{
    lua_createtable(L, n, 0);
    for (int i = 0; i < n; i++) {
        lua_pushinteger(L, sizes[i]);
        lua_rawseti(L, -2, i + 1);
    }
    luaL_setmetatable(L, SIZE_META);
}

static int size_tostring(lua_State *L)
{
    luaL_Buffer b;
    lt_lua_check_type(L, 1, LUA_TTABLE);
    luaL_buffinit(L, &b);
    luaL_addstring(&b, "torch.Size([");
    lua_Integer n = (lua_Integer)lua_rawlen(L, 1);
    for (lua_Integer i = 1; i <= n; i++) {
        lua_rawgeti(L, 1, i);
        luaL_tolstring(L, -1, NULL);
        lua_remove(L, -2);
        luaL_addvalue(&b);
        if (i < n) luaL_addstring(&b, ", ");
    }
    luaL_addstring(&b, "])");
    luaL_pushresult(&b);
    return 1;
}

static int size_eq(lua_State *L)
{
    bool same = lua_istable(L, 1) && lua_istable(L, 2) && lua_rawlen(L, 1) == lua_rawlen(L, 2);
    lua_Integer n = same ? (lua_Integer)lua_rawlen(L, 1) : 0;
    for (lua_Integer i = 1; i <= n && same; i++) {
        lua_rawgeti(L, 1, i);
        lua_rawgeti(L, 2, i);
        same = lua_compare(L, -1, -2, LUA_OPEQ);
        lua_pop(L, 2);
    }
    lua_pushboolean(L, same);
    return 1;
}

static int size_numel(lua_State *L)
{
    lt_lua_check_type(L, 1, LUA_TTABLE);
    lua_Integer numel = 1;
    for (lua_Integer i = (lua_Integer)lua_rawlen(L, 1); i > 0; i--) {
        lua_rawgeti(L, 1, i);
        numel *= lt_lua_check_integer(L, -1);
        lua_pop(L, 1);
    }
    lua_pushinteger(L, numel);
    return 1;
}

/* Keys that are not in the table of a Size: a size counted from the end, or numel. A loop in C
 * (ipairs, unpack) gets nil for the entry behind the last; Lua code gets an error. Upvalue 1: the
 * methods. */
static int size_index(lua_State *L)
{
    lua_Debug caller;
    int64_t i;
    if (lua_type(L, 2) == LUA_TSTRING) {
        lua_pushvalue(L, 2);
        if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) return 1;
        return lt_lua_no_field(L, "torch.Size", lua_upvalueindex(1), 0);
    }
    lt_lua_check_type(L, 1, LUA_TTABLE);
    lua_Integer n = (lua_Integer)lua_rawlen(L, 1);
    if (lua_type(L, 2) != LUA_TNUMBER || !lua_isinteger(L, 2))
        return lt_lua_error(L, "a torch.Size is indexed by a whole number, not %s",
                            lt_lua_type_name(L, 2));
    i = lua_tointeger(L, 2);
    if (i < 0 && i >= -n) {
        lua_rawgeti(L, 1, n + 1 + i);
        return 1;
    }
    if (i == 0) return lt_lua_error(L, "dim 0: positions count from 1");
    if (i > 0 &&
        (!lua_getstack(L, 1, &caller) || (lua_getinfo(L, "l", &caller), caller.currentline < 0)))
        return 0;
    return lt_lua_error(L, "dim %I is out of range for a size of %I dimensions", (LUAI_UACINT)i,
                        (LUAI_UACINT)n);
}

/* Size{2, 3}: copies the table. */
static int size_new(lua_State *L)
{
    int64_t sizes[LT_MAX_DIMS];
    lt_lua_check_type(L, 1, LUA_TTABLE);
    if (lua_gettop(L) > 1 && !lua_isnil(L, 2))
        return lt_lua_error(L, "Size() takes one table of integers, but %d values were given",
                            lua_gettop(L));
    lua_Integer n = (lua_Integer)lua_rawlen(L, 1);
    if (n > LT_MAX_DIMS)
        lt_lua_error(L, "Size(): %I entries, at most %d are possible", (LUAI_UACINT)n, LT_MAX_DIMS);
    for (lua_Integer i = 1; i <= n; i++) {
        int is_integer;
        lua_rawgeti(L, 1, i);
        sizes[i - 1] = lua_tointegerx(L, -1, &is_integer);
        if (!is_integer || lua_type(L, -1) != LUA_TNUMBER)
            return lt_lua_error(L, "Size(): entry %d must be an integer, not %s", (int)i,
                                lt_lua_type_name(L, -1));
        lua_pop(L, 1);
    }
    if (n > 0)
        lua_pushinteger(L, n);
    else
        lua_pushnil(L);
    for (; lua_next(L, 1) != 0; lua_pop(L, 1)) {
        const char *key = luaL_tolstring(L, -2, NULL);
        if (strcmp(key, "n") != 0) /* of table.pack */
            return lt_lua_error(L, "Size() takes a list of integers, but it also has the key '%s'",
                                key);
        lua_pop(L, 1);
    }
    lt_lua_push_size(L, (int)n, sizes);
    return 1;
}

/* ---- dtypes ---------------------------------------------------------------------------------- */

void lt_lua_push_dtype(lua_State *L, lt_dtype dtype)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &dtypes_key);
    lua_rawgeti(L, -1, dtype);
    lua_remove(L, -2);
}

lt_dtype lt_lua_to_dtype(lua_State *L, int index)
{
    const lt_dtype *dtype = luaL_testudata(L, index, DTYPE_META);
    if (dtype != NULL) return *dtype;
    if (lua_type(L, index) != LUA_TSTRING) return LT_DTYPE_NONE;
    const char *name = lua_tostring(L, index);
    return lt_dtype_from_name(strncmp(name, "torch.", 6) == 0 ? name + 6 : name);
}

static int dtype_tostring(lua_State *L)
{
    const lt_dtype *dtype = lt_lua_check_udata(L, 1, DTYPE_META);
    lua_pushfstring(L, "torch.%s", lt_dtype_name(*dtype));
    return 1;
}

/* Raises an error: a value of the class has only these fields (ended by NULL). */
static int refuse_field(lua_State *L, const char *class, const char *const *fields)
{
    lua_newtable(L);
    for (; *fields != NULL; fields++) {
        lua_pushboolean(L, true);
        lua_setfield(L, -2, *fields);
    }
    luaL_tolstring(L, 2, NULL);
    lua_replace(L, 2);
    return lt_lua_no_field(L, class, -1, 0);
}

static const char *const dtype_fields[] = {"is_floating_point", "is_complex", "is_signed",
                                           "itemsize", NULL};

static int dtype_index(lua_State *L)
{
    const lt_dtype *dtype = lt_lua_check_udata(L, 1, DTYPE_META);
    const char *key = luaL_tolstring(L, 2, NULL);
    if (strcmp(key, "is_floating_point") == 0)
        lua_pushboolean(L, lt_dtype_is_float(*dtype) || lt_dtype_is_float8(*dtype));
    else if (strcmp(key, "is_complex") == 0)
        lua_pushboolean(L, lt_dtype_is_complex(*dtype));
    else if (strcmp(key, "is_signed") == 0)
        lua_pushboolean(L, *dtype != LT_BOOL && *dtype != LT_UINT8 &&
                               !lt_dtype_is_unsigned(*dtype) && *dtype != LT_FLOAT8_E8M0FNU);
    else if (strcmp(key, "itemsize") == 0)
        lua_pushinteger(L, (lua_Integer)lt_dtype_size(*dtype));
    else
        return refuse_field(L, "dtype", dtype_fields);
    return 1;
}

static void open_dtypes(lua_State *L)
{
    static const struct {
        const char *alias;
        lt_dtype dtype;
    } aliases[] = {
        {"float", LT_FLOAT32},   {"double", LT_FLOAT64},   {"half", LT_FLOAT16},
        {"long", LT_INT64},      {"int", LT_INT32},        {"short", LT_INT16},
        {"chalf", LT_COMPLEX32}, {"cfloat", LT_COMPLEX64}, {"cdouble", LT_COMPLEX128},
    };
    static const luaL_Reg meta[] = {{"__tostring", dtype_tostring},
                                    {"__repr", dtype_tostring},
                                    {"__index", dtype_index},
                                    {NULL, NULL}};
    luaL_newmetatable(L, DTYPE_META);
    luaL_setfuncs(L, meta, 0);
    lua_pushliteral(L, "dtype");
    lua_setfield(L, -2, "__name");
    lt_lua_set_field_names(L, dtype_fields);
    lua_pop(L, 1);
    lua_newtable(L);
    for (int d = 0; d < LT_DTYPE_COUNT; d++) {
        lt_dtype *dtype = lua_newuserdatauv(L, sizeof *dtype, 0);
        *dtype = (lt_dtype)d;
        luaL_setmetatable(L, DTYPE_META);
        lua_pushvalue(L, -1);
        lua_setfield(L, 1, lt_dtype_name((lt_dtype)d));
        lua_rawseti(L, -2, d);
    }
    lua_rawsetp(L, LUA_REGISTRYINDEX, &dtypes_key);
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        lt_lua_push_dtype(L, aliases[i].dtype);
        lua_setfield(L, 1, aliases[i].alias);
    }
}

/* ---- devices --------------------------------------------------------------------------------- */

void lt_lua_push_device(lua_State *L, lt_device device)
{
    lt_device *d = lua_newuserdatauv(L, sizeof *d, 0);
    *d = device;
    luaL_setmetatable(L, DEVICE_META);
}

bool lt_lua_is_device(lua_State *L, int index)
{
    return luaL_testudata(L, index, DEVICE_META) != NULL;
}

bool lt_lua_to_device(lua_State *L, int index, lt_device *out)
{
    const lt_device *d = luaL_testudata(L, index, DEVICE_META);
    if (d != NULL) {
        *out = *d;
        return true;
    }
    if (lua_type(L, index) == LUA_TSTRING)
        return lt_device_parse(lua_tostring(L, index), out) == LT_OK;
    if (lua_isinteger(L, index) && lua_tointeger(L, index) >= 0 && lua_tointeger(L, index) < 128) {
        *out = (lt_device){(int8_t)lt_accelerator(), (int8_t)lua_tointeger(L, index)};
        return true;
    }
    lt_error_set(LT_ERR_TYPE, "expected a device or a string such as 'cuda:0', got %s",
                 lua_isnone(L, index) ? "nothing" : lt_lua_type_name(L, index));
    return false;
}

/* device('cuda:1'), device('cuda', 1), device(1), device(other) */
static int device_new(lua_State *L)
{
    lt_device device;
    if (!lt_lua_to_device(L, 1, &device)) return lt_lua_raise(L);
    if (!lua_isnoneornil(L, 2)) {
        lua_Integer index = lt_lua_check_integer(L, 2);
        if (index < 0 || index > 127) lt_lua_refuse(L, 2, "a device number from 0 to 127");
        if (lua_type(L, 1) != LUA_TSTRING || strchr(lua_tostring(L, 1), ':') != NULL)
            return lt_lua_error(
                L,
                "type (string) must not include an index because index was passed explicitly: %s",
                luaL_tolstring(L, 1, NULL));
        device.index = (int8_t)index;
    }
    lt_lua_push_device(L, device);
    return 1;
}

static int device_tostring(lua_State *L)
{
    const lt_device *d = lt_lua_check_udata(L, 1, DEVICE_META);
    char text[32];
    lua_pushstring(L, lt_format_device(text, sizeof text, *d));
    return 1;
}

static int device_repr(lua_State *L)
{
    const lt_device *d = lt_lua_check_udata(L, 1, DEVICE_META);
    if (d->type == LT_CPU || d->index < 0)
        lua_pushfstring(L, "device(type='%s')", lt_device_type_name(*d));
    else
        lua_pushfstring(L, "device(type='%s', index=%d)", lt_device_type_name(*d), d->index);
    return 1;
}

static int device_eq(lua_State *L)
{
    const lt_device *a = luaL_testudata(L, 1, DEVICE_META), *b = luaL_testudata(L, 2, DEVICE_META);
    lua_pushboolean(L, a != NULL && b != NULL && lt_device_equal(*a, *b));
    return 1;
}

static const char *const device_fields[] = {"type", "index", NULL};

static int device_index(lua_State *L)
{
    const lt_device *d = lt_lua_check_udata(L, 1, DEVICE_META);
    const char *key = luaL_tolstring(L, 2, NULL);
    if (strcmp(key, "type") == 0) {
        lua_pushstring(L, lt_device_type_name(*d));
        return 1;
    }
    if (strcmp(key, "index") != 0) return refuse_field(L, "device", device_fields);
    if (d->type != LT_CPU && d->index >= 0)
        lua_pushinteger(L, d->index);
    else
        lua_pushnil(L);
    return 1;
}

/* ---- torch.type, opening --------------------------------------------------------------------- */

void lt_lua_push_scalar(lua_State *L, lt_scalar s)
{
    if (s.kind == LT_SCALAR_BOOL)
        lua_pushboolean(L, s.v.i != 0);
    else if (s.kind == LT_SCALAR_INT)
        lua_pushinteger(L, s.v.i);
    else if (s.kind == LT_SCALAR_COMPLEX)
        lt_lua_push_complex(L, s.v.d, s.imaginary);
    else
        lua_pushnumber(L, s.v.d);
}

/* type(value): the __name of its metatable ("Tensor", "Linear"), else Lua's type. */
static int torch_type_of(lua_State *L)
{
    lt_lua_check_any(L, 1);
    if (luaL_getmetafield(L, 1, "__name") != LUA_TSTRING) lua_pushstring(L, luaL_typename(L, 1));
    return 1;
}

void lt_lua_open_types(lua_State *L)
{
    static const luaL_Reg size_meta[] = {
        {"__tostring", size_tostring}, {"__eq", size_eq}, {NULL, NULL}};
    static const luaL_Reg device_meta[] = {{"__tostring", device_tostring},
                                           {"__repr", device_repr},
                                           {"__eq", device_eq},
                                           {"__index", device_index},
                                           {NULL, NULL}};
    luaL_newmetatable(L, SIZE_META);
    luaL_setfuncs(L, size_meta, 0);
    lua_pushliteral(L, "torch.Size");
    lua_setfield(L, -2, "__name");
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, size_numel);
    lua_setfield(L, -2, "numel");
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "__methods");
    lua_pushcclosure(L, size_index, 1);
    lua_setfield(L, -2, "__index");
    luaL_newmetatable(L, DEVICE_META);
    luaL_setfuncs(L, device_meta, 0);
    lua_pushliteral(L, "device");
    lua_setfield(L, -2, "__name");
    lt_lua_set_field_names(L, device_fields);
    lua_pop(L, 2);
    open_dtypes(L);
    lua_pushcfunction(L, size_new);
    lua_setfield(L, 1, "Size");
    lua_pushcfunction(L, device_new);
    lua_setfield(L, 1, "device");
    lua_pushcfunction(L, torch_type_of);
    lua_setfield(L, 1, "type");
}
