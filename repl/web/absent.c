/* absent.c - parts of the program that WebAssembly has no system functions for: the shell, pools for Lua's objects.
 * Includes the Lua API and this folder's headers. */
#include <lauxlib.h>
#include <stdio.h>

#include "program/allocator.h"
#include "system/shell.h"

/* The exit code of a shell that does not find a command. */
static int no_command(lua_State *L)
{
    puts("there are no other programs in WebAssembly");
    lua_pushinteger(L, 127);
    return 1;
}

int luaopen_repl_shell(lua_State *L)
{
    static const luaL_Reg functions[] = {{"run", no_command}, {"page", no_command}, {NULL, NULL}};
    luaL_newlib(L, functions);
    return 1;
}

void allocator_install(lua_State *L) { (void)L; }
