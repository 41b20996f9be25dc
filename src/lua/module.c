/* module.c - luaopen_torch: assembles the module.
 *
 * torch._C holds the functions that only our own Lua files call. These files (lib/) are in the
 * binary and are loaded when they are first required. For work on them, LTENSOR_LUA_LIB names a
 * folder to load them from instead (torch.nn.layers.linear is nn/layers/linear.lua there). */
#include <stdlib.h>
#include <string.h>

#include "api/features.h"
#include "arg_messages.h"
#include "binding.h"
#include "caller.h"
#include "declared.h"
#include "system/embedded.h"
#include "script/numbers.h"
#include "object.h"
#include "system/system.h"
#include "text/text.h"

static int load_module(lua_State *L, const struct lt_embedded *module)
{
    const char *folder = getenv("LTENSOR_LUA_LIB");
    if (folder == NULL) return lt_embedded_load(L, module);
    const char *file = luaL_gsub(L, module->name + strlen("torch."), ".", "/");
    return luaL_loadfile(L, lua_pushfstring(L, "%s/%s.lua", folder, file));
}

/* The module is loaded once, even if package.loaded is emptied: its classes must not exist twice.
 */
static int load_embedded(lua_State *L)
{
    const struct lt_embedded *module = lua_touserdata(L, lua_upvalueindex(1));
    lua_settop(L, 0);
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, module) != LUA_TNIL) return 1;
    if (load_module(L, module) != LUA_OK) return lua_error(L);
    lua_pushstring(L, module->name);
    lua_call(L, 1, 1);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, module);
    /* under its own name, even if required by an alias */
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_pushvalue(L, -2);
    lua_setfield(L, -2, module->name);
    lua_pop(L, 1);
    return 1;
}

/* module_source(name) -> the text of our module `name`, or nil; for help. */
static int module_source(lua_State *L)
{
    const char *name = lt_lua_check_string(L, 1);
    for (const struct lt_embedded *module = lib_modules; module->name != NULL; module++) {
        if (strcmp(module->name, name) != 0) continue;
        lt_embedded_push_text(L, module);
        return 1;
    }
    return 0;
}

static void preload_modules(lua_State *L)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    for (const struct lt_embedded *module = lib_modules; module->name != NULL; module++) {
        lua_pushlightuserdata(L, (void *)module);
        lua_pushcclosure(L, load_embedded, 1);
        if (strcmp(module->name, "torch.d2l") == 0) { /* also has a name of its own */
            lua_pushvalue(L, -1);
            lua_setfield(L, -3, "d2l");
        }
        lua_setfield(L, -2, module->name);
    }
    lua_pop(L, 1);
}

/* A failed start leaves no partial module behind. */
static void set_loaded(lua_State *L, bool loaded)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    if (loaded)
        lua_pushvalue(L, 1);
    else
        lua_pushnil(L);
    lua_setfield(L, -2, "torch");
    lua_pop(L, 1);
}

/* The feature is available even if no state opens the module. */
__attribute__((constructor)) static void announce(void) { lt_feature_provide("lua"); }

LT_API int luaopen_torch(lua_State *L)
{
    if (L == NULL || lt_lua_check_caller(L, __builtin_return_address(0),
                                         (const void *)(uintptr_t)luaopen_torch) == 0)
        return 0;
    luaL_checkversion(L);
    lua_settop(L, 0);
    lua_createtable(L, 0, 400); /* 1: torch */
    lua_createtable(L, 0, 64);  /* 2: torch._C */
    lua_createtable(L, 0, 400); /* 3: the methods of tensors */
    lua_pushvalue(L, 2);
    lua_setfield(L, 1, "_C");
    lua_pushvalue(L, 3);
    lua_setfield(L, 2, "methods");
    lua_pushcfunction(L, module_source);
    lua_setfield(L, 2, "module_source");
    lua_pushcfunction(L, lt_lua_nearest_name);
    lua_setfield(L, 2, "nearest_name");
    lua_pushcfunction(L, lt_lua_push_aliases);
    lua_setfield(L, 2, "argument_aliases");
    lua_pushcfunction(L, lt_lua_declared);
    lua_setfield(L, 2, "declared");
    lua_pushcfunction(L, lt_lua_methods_of);
    lua_setfield(L, 2, "methods_of");
    lua_pushcfunction(L, lt_lua_refuse_named);
    lua_setfield(L, 2, "refuse_name");
    lua_pushcfunction(L, lt_lua_raise_text);
    lua_setfield(L, 2, "raise");
    lt_lua_open_state(L);
    lt_lua_open_reclaimer(L);
    lt_lua_open_types(L);
    lt_lua_open_ops(L);
    lt_lua_open_complex(L);
    lt_lua_open_nonzero(L);
    lt_lua_open_tensor(L);
    lt_lua_open_numbers(L);
    lt_lua_open_index(L);
    lt_lua_open_convert(L);
    lt_lua_open_promotion(L);
    lt_lua_open_autograd(L);
    lt_lua_open_batches(L);
    lt_lua_open_duals(L);
    lt_lua_open_saved(L);
    lt_lua_open_traces(L);
    lt_lua_open_own(L);
    lt_lua_open_formulas(L);
    lt_lua_open_random(L);
    lt_lua_open_settings(L);
    lt_lua_open_autocast(L);
    lt_lua_open_profile(L);
    lt_lua_open_cuda(L);
    lt_lua_open_files(L);
    lt_lua_open_bytes(L);
    lt_lua_open_json(L);
    lt_lua_open_text(L);
    lt_lua_open_images(L);
    lt_lua_open_csv(L);
    lt_lua_open_worker(L);
    lt_lua_open_byte_files(L);
    lt_lua_open_paths(L);
    lt_lua_open_dlpack(L);
    lt_lua_open_arrow(L);
    lt_lua_open_comm(L);
    lt_lua_open_stoppable(L);
    lua_pushvalue(L, 2);
    lt_lua_open_object(L);
    lt_lua_open_system(L);
    lua_settop(L, 1);
    preload_modules(L);
    set_loaded(L, true);
    lua_getglobal(L, "require");
    lua_pushliteral(L, "torch.init");
    if (lua_pcall(L, 1, 0, 0) != LUA_OK) {
        set_loaded(L, false);
        return lua_error(L);
    }
    lua_settop(L, 1);
    return 1;
}
