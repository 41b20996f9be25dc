/* system.h - operating system functions for the program's Lua code. */
#ifndef REPL_SYSTEM_H
#define REPL_SYSTEM_H

#include <lua.h>

/* The Lua module repl.system; each function is described where it is defined. */
int luaopen_repl_system(lua_State *L);

/* Ends an active capture and writes its contents; for leaving the process early. */
void system_end_capture(void);

#endif
