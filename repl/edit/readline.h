/* readline.h - line editing for the prompt. */
#ifndef REPL_READLINE_H
#define REPL_READLINE_H

#include <lua.h>

/* The Lua module repl.edit.readline: read, add_history, clear_history, set_completer, filenames. */
int luaopen_repl_readline(lua_State *L);

#endif
