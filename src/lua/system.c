/* system.c - functions of torch._C that reach the system: a wall clock, reading gzipped files.
 *
 * Includes Lua and the public header. */
#include "system.h"

#include <lauxlib.h>
#include <lua.h>
#include <time.h>

#include "gunzip.h"
#include "ltensor.h"

int lt_lua_clock(lua_State *L)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    lua_pushnumber(L, (lua_Number)now.tv_sec + (lua_Number)now.tv_nsec * 1e-9);
    return 1;
}

static int push_tensor(lua_State *L)
{
    lt_lua_push(L, lua_touserdata(L, 1));
    return 1;
}

/* gunzip(path) -> the decompressed bytes as a uint8 tensor, or nil and a message */
static int system_gunzip(lua_State *L)
{
    lt_tensor *bytes;
    if (lt_gunzip(luaL_checkstring(L, 1), &bytes) != LT_OK) {
        lua_pushnil(L);
        lua_pushstring(L, lt_error_message());
        return 2;
    }
    lua_pushcfunction(L, push_tensor); /* protected: pushing may fail for memory */
    lua_pushlightuserdata(L, bytes);
    int failed = lua_pcall(L, 1, 1, 0);
    lt_tensor_release(bytes);
    return failed ? lua_error(L) : 1;
}

void lt_lua_open_system(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"clock", lt_lua_clock}, {"gunzip", system_gunzip}, {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
