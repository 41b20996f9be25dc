/* system.h - system functions that programs need and Lua's own library lacks. */
#ifndef LT_LUA_SYSTEM_H
#define LT_LUA_SYSTEM_H

struct lua_State;

/* Adds clock and gunzip to the table on top of the stack (torch._C). */
void lt_lua_open_system(struct lua_State *L);

/* clock() -> seconds of a monotonic clock, for measuring intervals (os.clock sums over threads) */
int lt_lua_clock(struct lua_State *L);

#endif
