/* hook.h - the hook of the debugger: stops the program at breakpoints, steps and watches. */
#ifndef REPL_HOOK_H
#define REPL_HOOK_H

#include <lua.h>

/* The Lua module repl.hook. */
int luaopen_repl_hook(lua_State *L);

/* Installs the hook on the thread if the debugger needs it, else removes it. Other hooks stay. */
void hook_attach(lua_State *L);

/* Ends a step: the cell or the program has ended. */
void hook_end_step(lua_State *L);

#endif
