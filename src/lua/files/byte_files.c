/* byte_files.c - functions of torch._C that read and write files piece by piece, for
 * lib/files/zip.lua, lib/files/npy.lua and lib/pickle.lua.
 *
 * open_file(path) returns a file to read: file:section(offset, packed, length, deflated, summed)
 * selects a section, file:text(n) and file:tensor(dtype, n, swap) read its next bytes,
 * file:finish() returns the CRC-32 of the section if summed. create_file(path) returns a file to
 * write: file:write(text or tensor), file:commit(); without commit no file appears. Offsets count
 * from 0, as in the formats. Both are closed by close(), `<close>` or the collector. */
#include <string.h>
#include <zlib.h>

#include "system/atomic_file.h"
#include "binding.h"
#include "files/byte_source.h"
#include "files/saved_form.h"
#include "compile/deferred.h"
#include "memory/budget.h"

static const char SOURCE_META[] = "ltensor.ByteSource";
static const char OUTPUT_META[] = "ltensor.ByteOutput";

/* ---- reading --------------------------------------------------------------------------------- */

static lt_byte_source *check_source(lua_State *L)
{
    lt_byte_source *s = lt_lua_check_udata(L, 1, SOURCE_META);
    if (s->fd < 0 && s->memory == NULL) lt_lua_error(L, "the file is closed");
    return s;
}

/* open_file(path or bytes) -> file, its size. A string with a zero byte, which no path has, is the
 * content of a file. */
static int byte_file_open(lua_State *L)
{
    size_t n;
    const char *path = lt_lua_check_lstring(L, 1, &n);
    lt_byte_source *s = lua_newuserdatauv(L, sizeof *s, 1);
    s->fd = -1, s->memory = NULL;
    s->inflating = false;
    s->buffer = NULL;
    luaL_setmetatable(L, SOURCE_META);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1); /* keeps the path or the bytes */
    if (memchr(path, 0, n) != NULL)
        lt_byte_source_open_memory(s, path, (int64_t)n);
    else
        lt_lua_do(L, lt_byte_source_open(s, path));
    lua_pushinteger(L, s->size);
    return 2;
}

static int source_section(lua_State *L)
{
    lt_byte_source *s = check_source(L);
    lua_Integer offset = lt_lua_check_integer(L, 2), packed = lt_lua_check_integer(L, 3),
                length = lt_lua_check_integer(L, 4);
    const bool deflated = lua_toboolean(L, 5), summed = lua_toboolean(L, 6);
    lt_lua_do(L, lt_byte_source_section(s, offset, packed, length, deflated, summed));
    return 0;
}

static int source_text(lua_State *L)
{
    lt_byte_source *s = check_source(L);
    lua_Integer n = lt_lua_check_integer(L, 2);
    luaL_Buffer b;
    if (n < 0) lt_lua_refuse(L, 2, "at least 0");
    if (s->deflated) lt_lua_do(L, lt_budget_spend(n <= s->left ? n : 0));
    /* Read no more than the file has: memory is allocated before reading. */
    char *to = luaL_buffinitsize(L, &b, n <= s->left ? (size_t)n : 0);
    lt_lua_do(L, lt_byte_source_read(s, to, n));
    luaL_pushresultsize(&b, (size_t)n);
    return 1;
}

/* file:tensor(dtype, n, swap) -> a tensor of one dimension */
static int source_tensor(lua_State *L)
{
    lt_byte_source *s = check_source(L);
    lt_dtype dtype = lt_lua_to_dtype(L, 2);
    if (dtype == LT_DTYPE_NONE) lt_lua_refuse(L, 2, "a dtype");
    lua_Integer n = lt_lua_check_integer(L, 3);
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
    lt_byte_source *s = check_source(L);
    lt_lua_do(L, lt_byte_source_finish(s, &crc));
    lua_pushinteger(L, crc);
    return 1;
}

static int source_close(lua_State *L)
{
    lt_byte_source_close(lt_lua_check_udata(L, 1, SOURCE_META));
    return 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

typedef struct output {
    lt_atomic_file file;
    bool open;
} output;

static output *check_output(lua_State *L)
{
    output *o = lt_lua_check_udata(L, 1, OUTPUT_META);
    if (!o->open) lt_lua_error(L, "the file is closed");
    return o;
}

static int create_file(lua_State *L)
{
    const char *path = lt_lua_check_path(L, 1);
    output *o = lua_newuserdatauv(L, sizeof *o, 1);
    o->open = false;
    luaL_setmetatable(L, OUTPUT_META);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1); /* keeps the path */
    lt_lua_do(L, lt_atomic_file_open(&o->file, path));
    o->open = true;
    return 1;
}

/* The bytes of a string or of a tensor in saved form. */
static const void *check_bytes(lua_State *L, int arg, size_t *n)
{
    if (lua_type(L, arg) == LUA_TSTRING) return lua_tolstring(L, arg, n);
    const lt_tensor *t = lt_lua_check_tensor(L, arg);
    if (t->device.type != LT_CPU || !lt_is_contiguous(t)) lt_lua_refuse(L, arg, "in saved form");
    lt_lua_do(L, lt_materialize("save", t));
    *n = (size_t)t->numel * lt_dtype_size((lt_dtype)t->dtype);
    return *n > 0 ? lt_data(t) : "";
}

static int output_write(lua_State *L)
{
    output *o = check_output(L);
    size_t n;
    const void *bytes = check_bytes(L, 2, &n);
    lt_lua_do(L, lt_atomic_file_write(&o->file, bytes, n));
    return 0;
}

static int output_commit(lua_State *L)
{
    output *o = check_output(L);
    o->open = false;
    lt_lua_do(L, lt_atomic_file_commit(&o->file));
    return 0;
}

static int output_close(lua_State *L)
{
    output *o = lt_lua_check_udata(L, 1, OUTPUT_META);
    if (o->open) lt_atomic_file_abort(&o->file);
    o->open = false;
    return 0;
}

/* saved_form(tensor) -> its elements in order, on the host, contiguous */
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

/* checksum(bytes, crc) -> the CRC-32 including these bytes; crc: the CRC-32 of all bytes before
 * them */
static int checksum(lua_State *L)
{
    size_t n;
    const void *bytes = check_bytes(L, 1, &n);
    lua_pushinteger(L, lt_crc32((uint32_t)lt_lua_check_integer(L, 2), bytes, (int64_t)n));
    return 1;
}

/* Writes the concatenated parts as a deflate stream to out, which has room bytes; returns its
 * length, or -1. */
static int64_t deflate_parts(z_stream *z, lua_State *L, int parts, Bytef *out, int64_t room)
{
    const int64_t most = 1 << 30; /* zlib counts in unsigned int */
    const int64_t n = (int64_t)lua_rawlen(L, parts);
    int64_t written = 0;
    int code = Z_OK;
    for (int64_t i = 1; i <= n || code != Z_STREAM_END; i++) {
        size_t left = 0;
        const Bytef *bytes = (const Bytef *)"";
        if (i <= n) {
            lua_rawgeti(L, parts, i);
            bytes = check_bytes(L, -1, &left);
            lua_pop(L, 1);
        }
        do {
            const uInt take = (uInt)((int64_t)left < most ? (int64_t)left : most);
            z->next_in = (Bytef *)(uintptr_t)bytes;
            z->avail_in = take;
            z->next_out = out + written;
            z->avail_out = (uInt)(room - written < most ? room - written : most);
            code = deflate(z, i > n ? Z_FINISH : Z_NO_FLUSH);
            if (code == Z_STREAM_ERROR || (z->avail_out == 0 && written == room)) return -1;
            bytes += take - z->avail_in;
            left -= take - z->avail_in;
            written = z->next_out - out;
        } while (left > 0);
    }
    return written;
}

/* deflated(parts) -> a uint8 tensor: a deflate stream of all parts, strings and tensors in saved
 * form */
static int deflated(lua_State *L)
{
    z_stream z = {.zalloc = Z_NULL};
    lt_lua_check_type(L, 1, LUA_TTABLE);
    int64_t total = 0, room;
    for (int64_t i = 1, n = (int64_t)lua_rawlen(L, 1); i <= n; i++, lua_pop(L, 1)) {
        size_t bytes;
        lua_rawgeti(L, 1, i);
        check_bytes(L, -1, &bytes);
        total += (int64_t)bytes;
    }
    lt_tensor **memory = lt_lua_new(L), **out = lt_lua_new(L);
    room = total + total / 1000 + 1024; /* more than deflate adds to incompressible data */
    lt_lua_do(L, lt_tensor_new(LT_UINT8, lt_host, 1, &room, memory));
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return lt_lua_error(L, "out of memory");
    const int64_t stride = 1, length = deflate_parts(&z, L, 1, (Bytef *)lt_data(*memory), room);
    deflateEnd(&z);
    if (length < 0) return lt_lua_error(L, "zlib refuses to compress");
    lt_lua_do(L, lt_tensor_view(*memory, 1, &length, &stride, 0, out));
    return 1;
}

/* ---- opening --------------------------------------------------------------------------------- */

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
    static const luaL_Reg functions[] = {
        {"open_file", byte_file_open}, {"create_file", create_file}, {"saved_form", saved_form},
        {"checksum", checksum},        {"deflated", deflated},       {NULL, NULL}};
    static const luaL_Reg source[] = {{"section", source_section}, {"text", source_text},
                                      {"tensor", source_tensor},   {"finish", source_finish},
                                      {"close", source_close},     {NULL, NULL}};
    static const luaL_Reg written[] = {
        {"write", output_write}, {"commit", output_commit}, {"close", output_close}, {NULL, NULL}};
    make_class(L, SOURCE_META, source, source_close);
    make_class(L, OUTPUT_META, written, output_close);
    lua_pushvalue(L, 2);
    lt_lua_setfuncs(L, functions);
    lua_pop(L, 1);
}
