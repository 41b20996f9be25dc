/* bytes.c - functions of torch._C between tensors, strings of bytes and files: what readers and writers of file
 * formats in Lua are made of. Includes zlib and core's atomic files. */
#include <lauxlib.h>
#include <string.h>
#include <zlib.h>

#include "atomic_file.h"
#include "binding.h"
#include "error.h"
#include "ltensor_ops.h"

enum { RAW = -15 }; /* zlib's windowBits: no header */

/* tensor_bytes(tensor on the host) -> its elements in order, as they lie in memory */
static int bytes_of_tensor(lua_State *L)
{
    lt_tensor *t = lt_lua_check_tensor(L, 1), *dense;
    luaL_argcheck(L, lt_tensor_device(t).type == LT_CPU, 1, "a tensor on the CPU expected");
    lt_lua_check(L, lt_contiguous(t, &dense));
    *lt_lua_new(L) = dense;
    lua_pushlstring(L, lt_tensor_data(dense), (size_t)lt_tensor_numel(dense) * lt_dtype_size(lt_tensor_dtype(dense)));
    return 1;
}

/* tensor_of_bytes(bytes, dtype, sizes [, first byte [, Fortran's order]]) -> tensor */
static int tensor_of_bytes(lua_State *L)
{
    size_t length;
    const char *bytes = luaL_checklstring(L, 1, &length);
    lt_dtype dtype = lt_lua_to_dtype(L, 2);
    luaL_argcheck(L, dtype != LT_DTYPE_NONE, 2, "a dtype expected");
    luaL_checktype(L, 3, LUA_TTABLE);
    lua_Integer first = luaL_optinteger(L, 4, 1);
    int64_t sizes[LT_MAX_DIMS], numel = 1, wanted;
    lua_Integer n = (lua_Integer)lua_rawlen(L, 3);
    luaL_argcheck(L, n <= LT_MAX_DIMS, 3, "too many dimensions");
    for (int i = 0; i < n; i++) {
        lua_rawgeti(L, 3, i + 1);
        sizes[i] = lua_isinteger(L, -1) ? lua_tointeger(L, -1) : -1;
        lua_pop(L, 1);
        if (sizes[i] < 0 || __builtin_mul_overflow(numel, sizes[i], &numel)) return luaL_error(L, "the sizes are too large");
    }
    if (__builtin_mul_overflow(numel, (int64_t)lt_dtype_size(dtype), &wanted) || first < 1 ||
        (uint64_t)first - 1 > length || (uint64_t)wanted > length - ((size_t)first - 1))
        return luaL_error(L, "the data end early");
    lt_tensor **out = lt_lua_new(L);
    lt_lua_check(L, lt_tensor_new(dtype, (lt_device){LT_CPU, 0}, (int)n, sizes, out));
    char *to = lt_tensor_data(*out);
    if (wanted) memcpy(to, bytes + first - 1, (size_t)wanted);
    if (dtype == LT_BOOL) /* any other value would be one that no C program can read */
        for (int64_t i = 0; i < wanted; i++) to[i] = to[i] != 0;
    return 1;
}

/* inflate(bytes, first, count, size) -> what `count` raw deflated bytes from `first` hold: `size` bytes; nil and why */
static int bytes_inflate(lua_State *L)
{
    size_t length;
    const char *bytes = luaL_checklstring(L, 1, &length);
    lua_Integer first = luaL_checkinteger(L, 2), count = luaL_checkinteger(L, 3), size = luaL_checkinteger(L, 4);
    bool within = first >= 1 && count >= 0 && (uint64_t)first - 1 <= length && (uint64_t)count <= length - ((size_t)first - 1);
    luaL_argcheck(L, within, 3, "outside of the bytes");
    /* deflate reaches a factor of 1032 (zlib's documentation): more is a lie, for which no memory is taken */
    if (size < 0 || size / 1032 > count + 1 || size > UINT32_MAX || count > UINT32_MAX) {
        lua_pushnil(L);
        lua_pushliteral(L, "the size is not that of the data");
        return 2;
    }
    luaL_Buffer out;
    char *to = luaL_buffinitsize(L, &out, (size_t)size + 1);
    z_stream z = {.next_in = (Bytef *)(bytes + first - 1),
                  .avail_in = (uInt)count,
                  .next_out = (Bytef *)to,
                  .avail_out = (uInt)size + (size < UINT32_MAX)};
    int code = inflateInit2(&z, RAW) == Z_OK ? inflate(&z, Z_FINISH) : Z_MEM_ERROR;
    size_t got = z.total_out;
    inflateEnd(&z);
    if (code != Z_STREAM_END || got != (size_t)size) {
        lua_pushnil(L);
        lua_pushliteral(L, "the compressed data are damaged");
        return 2;
    }
    luaL_pushresultsize(&out, got);
    return 1;
}

/* write_file(path, list of strings): the file appears complete or not at all */
static int write_file(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1);
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_Integer n = (lua_Integer)lua_rawlen(L, 2);
    for (lua_Integer i = 1; i <= n; i++) {
        luaL_argcheck(L, lua_rawgeti(L, 2, i) == LUA_TSTRING, 2, "strings expected");
        lua_pop(L, 1);
    }
    lt_atomic_file file;
    lt_lua_check(L, lt_atomic_file_open(&file, path));
    lt_status status = LT_OK;
    for (lua_Integer i = 1; i <= n && status == LT_OK; i++) { /* nothing here raises */
        lua_rawgeti(L, 2, i);
        size_t size;
        const char *part = lua_tolstring(L, -1, &size);
        status = lt_atomic_file_write(&file, part, size);
        lua_pop(L, 1);
    }
    if (status == LT_OK)
        status = lt_atomic_file_commit(&file);
    else
        lt_atomic_file_abort(&file);
    lt_lua_check(L, status);
    return 0;
}

void lt_lua_open_bytes(lua_State *L)
{
    static const luaL_Reg functions[] = {{"tensor_bytes", bytes_of_tensor},
                                         {"tensor_of_bytes", tensor_of_bytes},
                                         {"inflate", bytes_inflate},
                                         {"write_file", write_file},
                                         {NULL, NULL}};
    lua_pushvalue(L, 2);
    lt_lua_setfuncs(L, functions);
    lua_pop(L, 1);
}
