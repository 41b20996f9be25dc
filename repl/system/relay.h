/* relay.h - processes and descriptors for the Debug Adapter Protocol. */
#ifndef REPL_RELAY_H
#define REPL_RELAY_H

#include <lua.h>

/* The Lua module repl.relay. */
int luaopen_repl_relay(lua_State *L);

#endif
