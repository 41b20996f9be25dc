/* system.c - functions of torch._C that reach the system: a clock, the terminal, reading gzipped files.
 *
 * Includes Lua and the public header. */
#include "system.h"

#include <lauxlib.h>
#include <lua.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "gunzip.h"
#include "ltensor.h"

int lt_lua_clock(lua_State *L)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    lua_pushnumber(L, (lua_Number)now.tv_sec + (lua_Number)now.tv_nsec * 1e-9);
    return 1;
}

/* terminal(fd) -> its columns and rows; nothing when it is no terminal */
static int system_terminal(lua_State *L)
{
    int fd = (int)luaL_checkinteger(L, 1);
    struct winsize size;
    if (!isatty(fd)) return 0;
    bool known = ioctl(fd, TIOCGWINSZ, &size) == 0;
    lua_pushinteger(L, known && size.ws_col > 0 ? size.ws_col : 80);
    lua_pushinteger(L, known && size.ws_row > 0 ? size.ws_row : 24);
    return 2;
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
        {"clock", lt_lua_clock}, {"terminal", system_terminal}, {"gunzip", system_gunzip}, {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
