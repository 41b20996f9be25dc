/* stoppable.h - functions of Lua's libraries that end when the interpreter's context was requested
 * to stop: by Ctrl-C at the prompt, by an interrupt or the deadline of a script's host. Lua's own
 * process any number of bytes without running a hook. They replace Lua's while the prompt runs
 * cells and in the interpreters of lt_script; programs that only use the library keep Lua's. */
#ifndef LT_LUA_STOPPABLE_H
#define LT_LUA_STOPPABLE_H

#include <lauxlib.h>

#include "context/interrupt.h"
#include "ltensor_lua.h"

/* Raises "interrupted", or that the deadline has passed. */
void lt_lua_stop(lua_State *L, lt_context *context) __attribute__((cold));

/* Long loops call it regularly, with the context of their interpreter; NULL: it has none. */
static inline void lt_lua_look_at(lua_State *L, lt_context *context)
{
    if (context != NULL && lt_something_up(context)) lt_lua_stop(L, context);
}

/* string.find, match, gmatch and gsub. */
extern const luaL_Reg lt_lua_patterns[];

/* Pushes a table of tables of functions by library: string, table, utf8, _G. */
void lt_lua_push_stoppable(lua_State *L);

#endif
