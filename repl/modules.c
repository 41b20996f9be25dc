/* modules.c - opens the Lua modules of the prompt (repl/ *.lua, embedded) and their C modules in an
 * interpreter.
 *
 * They run with private copies of the global libraries, so they work after the user changes `print`
 * or `string.format`. Includes the Lua API and this folder's headers. */
#include "modules.h"

#include <lauxlib.h>
#include <stdbool.h>

#include "edit/readline.h"
#include "embedded.h"
#include "system/hook.h"
#include "system/interrupt.h"
#include "system/recorder.h"
#include "system/relay.h"
#include "system/shell.h"
#include "system/system.h"

static const char private_globals = 0; /* its address is the registry key of that table */

void modules_push_globals(lua_State *L) { lua_rawgetp(L, LUA_REGISTRYINDEX, &private_globals); }

void modules_push_require(lua_State *L)
{
    modules_push_globals(L);
    lua_getfield(L, -1, "require");
    lua_remove(L, -2);
}

void modules_push_function(lua_State *L, const char *module, const char *function)
{
    modules_push_require(L);
    lua_pushstring(L, module);
    lua_call(L, 1, 1);
    lua_getfield(L, -1, function);
    lua_remove(L, -2);
}

/* Pushes a copy of the globals and of the libraries in them. */
static void push_private_globals(lua_State *L)
{
    lua_newtable(L);
    int copy = lua_gettop(L);
    lua_pushglobaltable(L);
    for (lua_pushnil(L); lua_next(L, copy + 1) != 0; lua_pop(L, 1)) {
        bool is_library = lua_istable(L, -1) && !lua_rawequal(L, -1, copy + 1);
        lua_pushvalue(L, -2);
        if (is_library) {
            lua_newtable(L);
            for (lua_pushnil(L); lua_next(L, -4) != 0; lua_pop(L, 1)) {
                lua_pushvalue(L, -2);
                lua_pushvalue(L, -2);
                lua_rawset(L, -5);
            }
        } else {
            lua_pushvalue(L, -2);
        }
        lua_rawset(L, copy);
    }
    lua_pop(L, 1);
}

static int load_embedded(lua_State *L)
{
    const struct lt_embedded *module = lua_touserdata(L, lua_upvalueindex(1));
    lua_pushfstring(L, "=[ltensor %s]", module->name);
    if (luaL_loadbufferx(L, (const char *)module->data, module->size, lua_tostring(L, -1), "t") !=
        LUA_OK)
        return lua_error(L);
    lua_pushvalue(L, lua_upvalueindex(2));
    lua_setupvalue(L, -2, 1);
    lua_pushstring(L, module->name);
    lua_call(L, 1, 1);
    return 1;
}

void modules_preload(lua_State *L)
{
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &private_globals) == LUA_TTABLE) {
        lua_pop(L, 1);
        return;
    }
    lua_pop(L, 1);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    push_private_globals(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &private_globals);
    for (const struct lt_embedded *module = repl_modules; module->name; module++) {
        lua_pushlightuserdata(L, (void *)module);
        lua_pushvalue(L, -2);
        lua_pushcclosure(L, load_embedded, 2);
        lua_setfield(L, -3, module->name);
    }
    lua_pop(L, 1);
    lua_pushcfunction(L, luaopen_repl_hook);
    lua_setfield(L, -2, "repl.hook");
    lua_pushcfunction(L, luaopen_repl_interrupt);
    lua_setfield(L, -2, "repl.interrupt");
    lua_pushcfunction(L, luaopen_repl_readline);
    lua_setfield(L, -2, "repl.edit.readline");
    lua_pushcfunction(L, luaopen_repl_recorder);
    lua_setfield(L, -2, "repl.recorder");
    lua_pushcfunction(L, luaopen_repl_relay);
    lua_setfield(L, -2, "repl.relay");
    lua_pushcfunction(L, luaopen_repl_shell);
    lua_setfield(L, -2, "repl.shell");
    lua_pushcfunction(L, luaopen_repl_system);
    lua_setfield(L, -2, "repl.system");
    lua_pop(L, 1);
}
