/* system.h - what programs need of the system and Lua's own library does not have. */
#ifndef LT_LUA_SYSTEM_H
#define LT_LUA_SYSTEM_H

struct lua_State;

/* Adds clock and gunzip to the table on top of the stack (torch._C). */
void lt_lua_open_system(struct lua_State *L);

/* clock() -> seconds since some fixed time, for measuring intervals (os.clock counts every
 * thread's) */
int lt_lua_clock(struct lua_State *L);

#endif
