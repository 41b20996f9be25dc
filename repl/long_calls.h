/* long_calls.h - functions of Lua's libraries that Ctrl-C can stop; see long_calls.c. */
#ifndef REPL_LONG_CALLS_H
#define REPL_LONG_CALLS_H

#include <lua.h>

/* The Lua module repl.long_calls: tables of functions by library: string, table, utf8, _G. */
int luaopen_repl_long_calls(lua_State *L);

#endif
