/* dlpack.c - capsules of DLPack (ltensor.h) as userdata "dltensor", and functions of torch._C for
 * lib/utils/dlpack.lua and lib/files/memory.lua: to_dlpack, from_dlpack, dlpack_device,
 * is_read_only, map_file, mapped_part. */
#include "interop/dlpack.h"

#include <string.h>

#include "binding.h"
#include "error.h"
#include "files/mapped_file.h"

static const char CAPSULE_META[] = "dltensor";

typedef struct dlpack_capsule {
    void *managed; /* NULL: consumed */
    bool versioned;
} dlpack_capsule;

/* Pushes an empty capsule. Fill it only after the call that makes its content has succeeded. */
static dlpack_capsule *push_capsule(lua_State *L)
{
    dlpack_capsule *c = lua_newuserdatauv(L, sizeof *c, 0);
    c->managed = NULL;
    luaL_setmetatable(L, CAPSULE_META);
    return c;
}

LT_API void lt_lua_push_dlpack(lua_State *L, void *managed, bool versioned)
{
    if (L == NULL) return;
    dlpack_capsule *c = push_capsule(L);
    c->managed = managed;
    c->versioned = versioned;
}

LT_API lt_status lt_lua_take_dlpack(lua_State *L, int index, void **managed, bool *versioned)
{
    LT_REQUIRE(L);
    LT_REQUIRE(managed);
    LT_REQUIRE(versioned);
    dlpack_capsule *c = luaL_testudata(L, index, CAPSULE_META);
    if (c == NULL)
        return lt_error(LT_ERR_TYPE, "a capsule of DLPack is expected, not a %s",
                        lt_lua_type_name(L, index));
    if (c->managed == NULL) return lt_error(LT_ERR_TYPE, "the capsule of DLPack was used before");
    *managed = c->managed;
    *versioned = c->versioned;
    c->managed = NULL;
    return LT_OK;
}

static int capsule_gc(lua_State *L)
{
    dlpack_capsule *c = lt_lua_check_udata(L, 1, CAPSULE_META);
    void *managed = c->managed;
    c->managed = NULL;
    if (managed != NULL) lt_dlpack_delete(managed, c->versioned);
    return 0;
}

/* As Python shows capsules: the name changes when the content is consumed. */
static int capsule_tostring(lua_State *L)
{
    const dlpack_capsule *c = lt_lua_check_udata(L, 1, CAPSULE_META);
    lua_pushfstring(L, "<capsule object \"%s%s\">",
                    c->managed == NULL ? "used_dltensor" : "dltensor",
                    c->versioned ? "_versioned" : "");
    return 1;
}

static int capsule_index(lua_State *L)
{
    const dlpack_capsule *c = lt_lua_check_udata(L, 1, CAPSULE_META);
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
    if (strcmp(name, "used") == 0)
        lua_pushboolean(L, c->managed == NULL);
    else if (strcmp(name, "versioned") == 0)
        lua_pushboolean(L, c->versioned);
    else
        lua_pushnil(L);
    return 1;
}

/* to_dlpack(tensor, versioned) -> capsule */
static int to_dlpack(lua_State *L)
{
    lt_tensor *t = lt_lua_check_tensor(L, 1);
    const bool versioned = lua_toboolean(L, 2);
    dlpack_capsule *c = push_capsule(L);
    c->versioned = versioned;
    lt_entry entry = lt_enter(L);
    const lt_status status = lt_tensor_to_dlpack(t, versioned, &c->managed);
    lt_leave(entry);
    lt_lua_check(L, status);
    return 1;
}

/* from_dlpack(capsule) -> tensor */
static int from_dlpack(lua_State *L)
{
    dlpack_capsule *c = luaL_testudata(L, 1, CAPSULE_META);
    if (c == NULL || c->managed == NULL)
        return lt_lua_error(
            L, "from_dlpack received an invalid capsule. Note that DLTensor capsules can be "
               "consumed only once, so you might have already constructed a tensor from it once.");
    lua_settop(L, 1);
    lt_tensor **out = lt_lua_new(L);
    lt_entry entry = lt_enter(L);
    /* cleared first: an emergency collection could finalize the capsule */
    void *managed = c->managed;
    c->managed = NULL;
    const lt_status status = lt_tensor_from_dlpack(managed, c->versioned, out);
    if (status != LT_OK) c->managed = managed;
    lt_leave(entry);
    lt_lua_check(L, status);
    return 1;
}

/* dlpack_device(tensor) -> its device type and device number, as in DLPack */
static int dlpack_device(lua_State *L)
{
    const DLDevice device = lt_dlpack_device(lt_lua_check_tensor(L, 1));
    lua_pushinteger(L, device.device_type);
    lua_pushinteger(L, device.device_id);
    return 2;
}

static int is_read_only(lua_State *L)
{
    lua_pushboolean(L, lt_tensor_is_read_only(lt_lua_check_tensor(L, 1)));
    return 1;
}

/* map_file(path, shared, number of elements, dtype) -> tensor */
static int map_file(lua_State *L)
{
    const char *path = lt_lua_check_path(L, 1);
    const bool shared = lua_toboolean(L, 2);
    const lua_Integer numel = lt_lua_check_integer(L, 3);
    const lt_dtype dtype = lt_lua_to_dtype(L, 4);
    if (dtype == LT_DTYPE_NONE) return lt_lua_refuse(L, 4, "a dtype");
    lt_tensor **out = lt_lua_new(L);
    lt_entry entry = lt_enter(L);
    const lt_status status = lt_tensor_from_file(path, shared, numel, dtype, out);
    lt_leave(entry);
    lt_lua_check(L, status);
    return 1;
}

/* mapped_part(mapping, byte from 0, dtype, number of elements) -> tensor; nil if the elements
 * cannot be used in place */
static int mapped_part(lua_State *L)
{
    lt_tensor *mapping = lt_lua_check_tensor(L, 1);
    const lua_Integer at = lt_lua_check_integer(L, 2);
    const lt_dtype dtype = lt_lua_to_dtype(L, 3);
    if (dtype == LT_DTYPE_NONE) return lt_lua_refuse(L, 3, "a dtype");
    const int64_t numel = lt_lua_check_integer(L, 4);
    if (!lt_can_map(at, dtype)) return 0;
    lt_tensor **out = lt_lua_new(L);
    lt_lua_do(L, lt_mapped_part(mapping, at, dtype, 1, &numel, out));
    return 1;
}

void lt_lua_open_dlpack(lua_State *L)
{
    static const luaL_Reg functions[] = {{"to_dlpack", to_dlpack},
                                         {"from_dlpack", from_dlpack},
                                         {"dlpack_device", dlpack_device},
                                         {"is_read_only", is_read_only},
                                         {"map_file", map_file},
                                         {"mapped_part", mapped_part},
                                         {NULL, NULL}};
    static const luaL_Reg metamethods[] = {{"__gc", capsule_gc},
                                           {"__tostring", capsule_tostring},
                                           {"__index", capsule_index},
                                           {NULL, NULL}};
    luaL_newmetatable(L, CAPSULE_META);
    lt_lua_setfuncs(L, metamethods);
    lt_lua_set_field_names(L, (const char *const[]){"used", "versioned", NULL});
    lua_pop(L, 1);
    lua_pushvalue(L, 2);
    lt_lua_setfuncs(L, functions);
    lua_pop(L, 1);
}
