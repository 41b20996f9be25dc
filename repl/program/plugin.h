/* plugin.h - loads the implementation of Jupyter's protocol, a separate shared object. */
#ifndef REPL_PLUGIN_H
#define REPL_PLUGIN_H

#include <lua.h>

/* Lua function: loads libltensor_jupyter.so and returns its module. Raises an error that names the
 * missing package. */
int plugin_open(lua_State *L);

#endif
