/* plugin.h - the part of the program that speaks Jupyter's protocol, in a shared object of its
 * own. */
#ifndef REPL_PLUGIN_H
#define REPL_PLUGIN_H

#include <lua.h>

/* A function for Lua: opens libltensor_jupyter.so and returns its module. Raises an error that
 * names the missing package. */
int plugin_open(lua_State *L);

#endif
