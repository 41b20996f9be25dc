/* shell.h - other programs on the program's terminal: the user's shell, a pager. */
#ifndef REPL_SHELL_H
#define REPL_SHELL_H

#include <lua.h>

/* The Lua module repl.shell: run(command [, noted]), page(text, command). */
int luaopen_repl_shell(lua_State *L);

#endif
