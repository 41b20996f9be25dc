/* buckets.h - torch._C.reducer: a part of lt_lua_open_comm. */
#ifndef LT_LUA_COMM_BUCKETS_H
#define LT_LUA_COMM_BUCKETS_H

#include <lua.h>

void lt_lua_open_reducer(lua_State *L);

#endif
