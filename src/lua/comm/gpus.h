/* gpus.h - torch._C.device_...: a part of lt_lua_open_comm. */
#ifndef LT_LUA_COMM_GPUS_H
#define LT_LUA_COMM_GPUS_H

#include <lua.h>

void lt_lua_open_device_comm(lua_State *L);

#endif
