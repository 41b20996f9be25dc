/* static_lua.c - a host with a Lua of its own, linked statically: requires torch and prints how
 * many functions torch.nn.functional has, or the value that require returned, or the error. The
 * folder of torch.so is the only argument. */
#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>

static const char script[] = "local torch = require 'torch'\n"
                             "if type(torch) ~= 'table' then return tostring(torch) end\n"
                             "local n = 0\n"
                             "for _ in pairs(torch.nn.functional) do n = n + 1 end\n"
                             "return n .. ' functions, ' .. torch.ones(2, 3):sum():item()\n";

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    lua_getglobal(L, "package");
    lua_pushfstring(L, "%s/?.so", argv[1]);
    lua_setfield(L, -2, "cpath");
    (void)luaL_dostring(L, script);
    puts(lua_tostring(L, -1));
    lua_close(L);
    return 0;
}
