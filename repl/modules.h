/* modules.h - the modules of the prompt, for the program and for hosts. */
#ifndef REPL_MODULES_H
#define REPL_MODULES_H

#include <lua.h>

/* Registers repl.* for require(), once per interpreter; the standard libraries must be open. */
void modules_preload(lua_State *L);

/* Pushes the original `require`, which the user cannot change. */
void modules_push_require(lua_State *L);

/* Pushes the globals of these modules. */
void modules_push_globals(lua_State *L);

/* Pushes the function `function` of the embedded module `module`; raises errors. */
void modules_push_function(lua_State *L, const char *module, const char *function);

#endif
