/* host.c - the prompt inside another program's interpreter. Includes the Lua API, ltensor_prompt.h
 * and modules.h only.
 */
#include <lauxlib.h>

#include "ltensor_prompt.h"
#include "modules.h"

static int run_prompt(lua_State *L)
{
    modules_preload(L);
    modules_push_function(L, "repl.prompt", "main");
    lua_pushboolean(L, 0);
    lua_pushboolean(L, 1);
    lua_call(L, 2, 0);
    return 0;
}

int ltensor_prompt(lua_State *L)
{
    luaL_checkstack(L, 2, NULL);
    lua_pushcfunction(L, run_prompt);
    return lua_pcall(L, 0, 0, 0);
}
