/* byte_files.c - functions of torch._C that read and write files piece by piece: what lib/zip.lua, lib/npy.lua and
 * lib/pickle.lua are made of.
 *
 * open_file(path) gives a file to read: file:section(offset, packed, length, deflated) chooses a part, file:text(n)
 * and file:tensor(dtype, n, swap) take its next bytes, file:finish() gives its CRC-32. create_file(path) gives a file
 * to write: file:write(text or tensor), file:commit(); without commit no file appears. Offsets count from 0, as in
 * the formats. Both are closed by close(), `<close>` or the collector. */
#include <string.h>

#include "atomic_file.h"
#include "binding.h"
#include "byte_source.h"
#include "saved_form.h"

static const char SOURCE_META[] = "ltensor.ByteSource";
static const char OUTPUT_META[] = "ltensor.ByteOutput";

/* A path without zero bytes, which the system would take for its end. */
static const char *check_path(lua_State *L)
{
    size_t n;
    const char *path = luaL_checklstring(L, 1, &n);
    if (strlen(path) != n) luaL_error(L, "paths must not contain zero bytes");
    return path;
}

/* ---- reading ------------------------------------------------------------------------------------------------ */

static lt_byte_source *check_source(lua_State *L)
{
    lt_byte_source *s = luaL_checkudata(L, 1, SOURCE_META);
    if (s->fd < 0) luaL_error(L, "the file is closed");
    return s;
}

/* open_file(path) -> file, its size */
static int open_file(lua_State *L)
{
    const char *path = check_path(L);
    lt_byte_source *s = lua_newuserdatauv(L, sizeof *s, 1);
    s->fd = -1;
    s->inflating = false;
    s->buffer = NULL;
    luaL_setmetatable(L, SOURCE_META);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1); /* keeps the path */
    lt_lua_check(L, lt_byte_source_open(s, path));
    lua_pushinteger(L, s->size);
    return 2;
}

static int source_section(lua_State *L)
{
    lt_byte_source *s = check_source(L);
    lua_Integer offset = luaL_checkinteger(L, 2), packed = luaL_checkinteger(L, 3), length = luaL_checkinteger(L, 4);
    lt_lua_check(L, lt_byte_source_section(s, offset, packed, length, lua_toboolean(L, 5)));
    return 0;
}

static int source_text(lua_State *L)
{
    lt_byte_source *s = check_source(L);
    lua_Integer n = luaL_checkinteger(L, 2);
    luaL_Buffer b;
    luaL_argcheck(L, n >= 0, 2, "negative");
    /* Not more than there is: the memory comes before the bytes. */
    char *to = luaL_buffinitsize(L, &b, n <= s->left ? (size_t)n : 0);
    lt_lua_check(L, lt_byte_source_read(s, to, n));
    luaL_pushresultsize(&b, (size_t)n);
    return 1;
}

/* file:tensor(dtype, n, swap) -> a tensor of one dimension */
static int source_tensor(lua_State *L)
{
    lt_byte_source *s = check_source(L);
    lt_dtype dtype = lt_lua_to_dtype(L, 2);
    luaL_argcheck(L, dtype != LT_DTYPE_NONE, 2, "dtype expected");
    lua_Integer n = luaL_checkinteger(L, 3);
    bool swap = lua_toboolean(L, 4);
    lt_tensor **out = lt_lua_new(L);
    lt_entry entry = lt_enter(L);
    lt_status status = lt_byte_source_tensor(s, dtype, n, swap, out);
    lt_leave(entry);
    lt_lua_check(L, status);
    return 1;
}

static int source_finish(lua_State *L)
{
    uint32_t crc;
    lt_lua_check(L, lt_byte_source_finish(check_source(L), &crc));
    lua_pushinteger(L, crc);
    return 1;
}

static int source_close(lua_State *L)
{
    lt_byte_source_close(luaL_checkudata(L, 1, SOURCE_META));
    return 0;
}

/* ---- writing ------------------------------------------------------------------------------------------------ */

typedef struct output {
    lt_atomic_file file;
    bool open;
} output;

static output *check_output(lua_State *L)
{
    output *o = luaL_checkudata(L, 1, OUTPUT_META);
    if (!o->open) luaL_error(L, "the file is closed");
    return o;
}

static int create_file(lua_State *L)
{
    const char *path = check_path(L);
    output *o = lua_newuserdatauv(L, sizeof *o, 1);
    o->open = false;
    luaL_setmetatable(L, OUTPUT_META);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1); /* keeps the path */
    lt_lua_check(L, lt_atomic_file_open(&o->file, path));
    o->open = true;
    return 1;
}

/* The bytes of a string or of a tensor in saved form. */
static const void *check_bytes(lua_State *L, int arg, size_t *n)
{
    if (lua_type(L, arg) == LUA_TSTRING) return lua_tolstring(L, arg, n);
    const lt_tensor *t = lt_lua_check_tensor(L, arg);
    luaL_argcheck(L, t->device.type == LT_CPU && lt_is_contiguous(t), arg, "not in saved form");
    *n = (size_t)t->numel * lt_dtype_size((lt_dtype)t->dtype);
    return *n > 0 ? lt_data(t) : "";
}

static int output_write(lua_State *L)
{
    output *o = check_output(L);
    size_t n;
    const void *bytes = check_bytes(L, 2, &n);
    lt_lua_check(L, lt_atomic_file_write(&o->file, bytes, n));
    return 0;
}

static int output_commit(lua_State *L)
{
    output *o = check_output(L);
    o->open = false;
    lt_lua_check(L, lt_atomic_file_commit(&o->file));
    return 0;
}

static int output_close(lua_State *L)
{
    output *o = luaL_checkudata(L, 1, OUTPUT_META);
    if (o->open) lt_atomic_file_abort(&o->file);
    o->open = false;
    return 0;
}

/* saved_form(tensor) -> its elements in order, on the host, without gaps */
static int saved_form(lua_State *L)
{
    lt_tensor *t = lt_lua_check_tensor(L, 1);
    lt_tensor **out = lt_lua_new(L);
    lt_entry entry = lt_enter(L);
    lt_status status = lt_saved_form(t, out);
    lt_leave(entry);
    lt_lua_check(L, status);
    return 1;
}

/* checksum(bytes, crc) -> the CRC-32 of all bytes, when crc is that of those before */
static int checksum(lua_State *L)
{
    size_t n;
    const void *bytes = check_bytes(L, 1, &n);
    lua_pushinteger(L, lt_crc32((uint32_t)luaL_checkinteger(L, 2), bytes, (int64_t)n));
    return 1;
}

/* ---- opening ------------------------------------------------------------------------------------------------ */

static void make_class(lua_State *L, const char *name, const luaL_Reg *methods, lua_CFunction close)
{
    luaL_newmetatable(L, name);
    lua_newtable(L);
    lt_lua_setfuncs(L, methods);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, close);
    lua_setfield(L, -2, "__gc");
    lua_pushcfunction(L, close);
    lua_setfield(L, -2, "__close");
    lua_pop(L, 1);
}

void lt_lua_open_byte_files(lua_State *L)
{
    static const luaL_Reg functions[] = {{"open_file", open_file},
                                         {"create_file", create_file},
                                         {"saved_form", saved_form},
                                         {"checksum", checksum},
                                         {NULL, NULL}};
    static const luaL_Reg source[] = {{"section", source_section}, {"text", source_text},   {"tensor", source_tensor},
                                      {"finish", source_finish},   {"close", source_close}, {NULL, NULL}};
    static const luaL_Reg written[] = {
        {"write", output_write}, {"commit", output_commit}, {"close", output_close}, {NULL, NULL}};
    make_class(L, SOURCE_META, source, source_close);
    make_class(L, OUTPUT_META, written, output_close);
    lua_pushvalue(L, 2);
    lt_lua_setfuncs(L, functions);
    lua_pop(L, 1);
}
