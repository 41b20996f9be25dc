/* system.h - what the program's Lua code needs from the operating system. */
#ifndef REPL_SYSTEM_H
#define REPL_SYSTEM_H

#include <lua.h>

/* The Lua module repl.system; each function is described where it is defined. */
int luaopen_repl_system(lua_State *L);

/* Ends a capture that is under way and passes on what it holds; for leaving the process early. */
void system_end_capture(void);

#endif
