/* pattern.h - string.find, match, gmatch and gsub that Ctrl-C can stop; see pattern.c. */
#ifndef REPL_PATTERN_H
#define REPL_PATTERN_H

#include <lua.h>

/* The Lua module repl.pattern: the four functions. */
int luaopen_repl_pattern(lua_State *L);

#endif
