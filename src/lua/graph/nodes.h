/* nodes.h - nodes of the autograd graph as userdata: part of lt_lua_open_autograd. */
#ifndef LT_LUA_NODES_H
#define LT_LUA_NODES_H

#include <lua.h>

/* Adds the metatable, and functions to torch._C, the table at 2. */
void lt_lua_open_nodes(lua_State *L);

#endif
