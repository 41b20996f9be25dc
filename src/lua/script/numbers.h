/* numbers.h - tensors of one element as Lua numbers. */
#ifndef LT_LUA_NUMBERS_H
#define LT_LUA_NUMBERS_H

#include <lua.h>

/* Sets __concat of tensors and torch._C.accept_tensors; torch._C is at index 2. */
void lt_lua_open_numbers(lua_State *L);

#endif
