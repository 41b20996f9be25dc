/* absent.c - parts of the program that WebAssembly has no system functions for: the line editor, records of a
 * terminal's output, the shell, pools for Lua's objects. Includes the Lua API and this folder's headers. */
#include <lauxlib.h>
#include <stdio.h>

#include "edit/readline.h"
#include "program/allocator.h"
#include "system/recorder.h"
#include "system/shell.h"

int luaopen_repl_readline(lua_State *L)
{
    return luaL_error(L, "WebAssembly has no line editor; run a script, or a page with a prompt");
}

static int nothing(lua_State *L)
{
    (void)L;
    return 0;
}

static int no_text(lua_State *L)
{
    lua_pushliteral(L, "");
    return 1;
}

int luaopen_repl_recorder(lua_State *L)
{
    static const luaL_Reg functions[] = {{"start", nothing},       {"stop", nothing},
                                         {"begin", nothing},       {"text", no_text},
                                         {"inside_line", nothing}, {NULL, NULL}};
    luaL_newlib(L, functions);
    return 1;
}

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

unsigned long recorder_cell(void) { return 0; }

void recorder_add(unsigned long cell, const char *bytes, size_t size)
{
    (void)cell, (void)bytes, (void)size;
}

bool recorder_has_failed(void) { return false; }

void allocator_install(lua_State *L) { (void)L; }
