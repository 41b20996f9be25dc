/* sandbox.c - opens a script's libraries, and the C functions from which sandbox.lua builds its
 * globals. */
#include <lualib.h>
#include <stdio.h>

#include "context/interrupt.h"
#include "script.h"
#include "stoppable.h"

/* print(...): passes a line to the host's function, or writes it to stdout. The script is the
 * upvalue. */
static int print(lua_State *L)
{
    const lt_script *s = lua_touserdata(L, lua_upvalueindex(1));
    const int n = lua_gettop(L);
    luaL_Buffer line;
    luaL_buffinit(L, &line);
    for (int i = 1; i <= n; i++) {
        if (i > 1) luaL_addchar(&line, '\t');
        luaL_tolstring(L, i, NULL);
        luaL_addvalue(&line);
    }
    luaL_pushresult(&line);
    size_t size;
    const char *text = lua_tolstring(L, -1, &size);
    if (s->print != NULL) {
        s->print(s->user, text, size);
    } else {
        fwrite(text, 1, size, stdout);
        putchar('\n');
    }
    return 0;
}

/* is_stopping() -> whether the script was requested to stop: functions that catch errors must then
 * pass them on */
static int is_stopping(lua_State *L)
{
    lua_pushboolean(L, lt_interrupted());
    return 1;
}

/* Replaces Lua's functions by interruptible ones. */
static void install_stoppable(lua_State *L)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lt_lua_push_stoppable(L);
    for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
        lua_pushvalue(L, -2);
        lua_gettable(L, -5); /* Lua's library of that name */
        for (lua_pushnil(L); lua_next(L, -3) != 0;) {
            lua_pushvalue(L, -2);
            lua_insert(L, -2);
            lua_rawset(L, -4);
        }
        lua_pop(L, 1);
    }
    lua_pop(L, 2);
}

/* Libraries that reach outside are opened for our own Lua files, which query the context
 * (torch._C.authorize): sandbox.lua leaves them out of the script's globals. */
void lt_script_open(lua_State *L, lt_script *script)
{
    luaL_openlibs(L);
    (void)lt_lua_set_context(L, script->context);
    luaL_requiref(L, "torch", luaopen_torch, 1);
    install_stoppable(L);
    lua_pushlightuserdata(L, script);
    lua_pushcclosure(L, print, 1);
    if (script->trusted) {
        if (script->print != NULL) lua_setglobal(L, "print");
        lua_pushglobaltable(L);
        return;
    }
    lua_getglobal(L, "require");
    lua_pushliteral(L, "torch.support.sandbox");
    lua_call(L, 1, 1);
    lua_pushvalue(L, -2);
    lua_pushcfunction(L, is_stopping);
    lua_call(L, 2, 1);
}
