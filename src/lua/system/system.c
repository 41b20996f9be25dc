/* system.c - functions of torch._C that reach the system: a clock, the terminal,
 * the log, zlib.
 *
 * Includes Lua, zlib, the binding and the context. */
#include "system.h"

#include <lauxlib.h>
#include <lua.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <zlib.h>

#include "binding.h"
#include "system/clock.h"
#include "context/context.h"
#include "files/gunzip.h"

int lt_lua_clock(lua_State *L)
{
    lua_pushnumber(L, lt_clock());
    return 1;
}

/* log_warning(text) writes a line to the context's log, or to stderr. */
static int system_log_warning(lua_State *L)
{
    const char *text = lt_lua_check_string(L, 1);
    const lt_entry entry = lt_enter(L);
    lt_log_line(LT_LOG_WARNING, "%s", text);
    lt_leave(entry);
    return 0;
}

/* terminal(fd) -> its columns and rows; nothing if it is not a terminal */
static int system_terminal(lua_State *L)
{
    int fd = (int)lt_lua_check_integer(L, 1);
    struct winsize size;
    if (!isatty(fd)) return 0;
    bool known = ioctl(fd, TIOCGWINSZ, &size) == 0;
    lua_pushinteger(L, known && size.ws_col > 0 ? size.ws_col : 80);
    lua_pushinteger(L, known && size.ws_row > 0 ? size.ws_row : 24);
    return 2;
}

/* gunzip(path [, max_memory]) -> the decompressed bytes as a uint8 tensor, or nil and a message */
static int system_gunzip(lua_State *L)
{
    const char *path = lt_lua_check_path(L, 1);
    const lua_Integer max_memory = lt_lua_opt_integer(L, 2, 0);
    lt_tensor **bytes = lt_lua_new(L);
    if (LT_INSIDE(L, lt_gunzip(path, max_memory, bytes)) == LT_OK) return 1;
    lua_pushnil(L);
    lua_pushstring(L, lt_error_message());
    return 2;
}

/* crc32(bytes [, CRC of the bytes before]) -> the checksum of zip and PNG */
static int system_crc32(lua_State *L)
{
    size_t size;
    const char *bytes = lt_lua_check_lstring(L, 1, &size);
    uLong before = (uLong)lt_lua_opt_integer(L, 2, 0);
    lua_pushinteger(L, (lua_Integer)crc32_z(before, (const Bytef *)bytes, size));
    return 1;
}

enum { RAW = -15, WITH_HEADER = 15, MEMORY = 8 }; /* zlib's windowBits and memLevel */

/* deflate(bytes, with_header) -> the compressed bytes, raw or in zlib's wrapping */
static int system_deflate(lua_State *L)
{
    size_t size;
    const char *bytes = lt_lua_check_lstring(L, 1, &size);
    z_stream z = {0};
    luaL_Buffer out;
    if (size > (1u << 31)) lt_lua_error(L, "%d bytes are too many to compress at once", (int)size);
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, lua_toboolean(L, 2) ? WITH_HEADER : RAW,
                     MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        return lt_lua_error(L, "not enough memory");
    size_t room = deflateBound(&z, (uLong)size);
    deflateEnd(&z);
    char *to = luaL_buffinitsize(L, &out, room); /* may raise: nothing is held here */
    z = (z_stream){.next_in = (Bytef *)bytes,
                   .avail_in = (uInt)size,
                   .next_out = (Bytef *)to,
                   .avail_out = (uInt)room};
    bool done =
        deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, lua_toboolean(L, 2) ? WITH_HEADER : RAW,
                     MEMORY, Z_DEFAULT_STRATEGY) == Z_OK &&
        deflate(&z, Z_FINISH) == Z_STREAM_END;
    size_t length = z.total_out;
    deflateEnd(&z);
    if (!done) return lt_lua_error(L, "not enough memory");
    luaL_pushresultsize(&out, length);
    return 1;
}

void lt_lua_open_system(lua_State *L)
{
    static const luaL_Reg functions[] = {{"clock", lt_lua_clock},
                                         {"terminal", system_terminal},
                                         {"gunzip", system_gunzip},
                                         {"crc32", system_crc32},
                                         {"deflate", system_deflate},
                                         {"log_warning", system_log_warning},
                                         {NULL, NULL}};
    lt_lua_setfuncs(L, functions);
}
