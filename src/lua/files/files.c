/* files.c - functions of torch._C for files of tensors: the core of torch.save and torch.load. The
 * rules for nested tables and devices are in lib/files/serialization.lua.
 *
 * Arrays passed to core are userdata, and results of core are pushed in a protected call, so that a
 * Lua error leaks nothing. */
#include <string.h>

#include "binding.h"
#include "error.h"
#include "files/safetensors.h"

/* raise(message): an error at the position of the user's code */
static int files_raise(lua_State *L)
{
    lt_error_set(LT_ERR_RUNTIME, "%s", lt_lua_check_string(L, 1));
    return lt_lua_raise(L);
}

/* A string without zero bytes, at which core would end it. */
static const char *check_text(lua_State *L, int index, const char *what)
{
    size_t n;
    if (lua_type(L, index) != LUA_TSTRING)
        lt_lua_error(L, "%s must be strings, got %s", what, lt_lua_type_name(L, index));
    const char *text = lua_tolstring(L, index, &n);
    if (strlen(text) != n) lt_lua_error(L, "%s must not contain zero bytes", what);
    return text;
}

/* The names are kept alive by their tables, the tensors by their boxes: both are on the stack. */
static lt_named_tensor *read_tensors(lua_State *L, int names, int tensors, lua_Integer n)
{
    lt_named_tensor *named = lua_newuserdatauv(L, ((size_t)n + 1) * sizeof *named, 0);
    for (lua_Integer i = 0; i < n; i++) {
        lua_rawgeti(L, names, i + 1);
        lua_rawgeti(L, tensors, i + 1);
        named[i] = (lt_named_tensor){check_text(L, -2, "names"), lt_lua_get(L, -1)};
        if (named[i].tensor == NULL)
            lt_lua_error(L, "tensor %I is a %s", (LUAI_UACINT)(i + 1), lt_lua_type_name(L, -1));
        lua_pop(L, 2);
    }
    return named;
}

static lt_named_text *read_texts(lua_State *L, int table, int64_t *n)
{
    int64_t count = 0;
    *n = 0;
    for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) count++;
    lt_named_text *texts = lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *texts, 0);
    for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1))
        texts[(*n)++] =
            (lt_named_text){check_text(L, -2, "keys of metadata"), check_text(L, -1, "metadata")};
    return texts;
}

/* save_safetensors(path, names, tensors, metadata): lists of names and tensors, a table of
 * strings */
static int save_safetensors(lua_State *L)
{
    const char *path = check_text(L, 1, "paths");
    for (int arg = 2; arg <= 4; arg++) lt_lua_check_type(L, arg, LUA_TTABLE);
    lua_settop(L, 4);
    int64_t n = (int64_t)lua_rawlen(L, 2), n_texts;
    lt_named_tensor *tensors = read_tensors(L, 2, 3, n);
    lt_named_text *texts = read_texts(L, 4, &n_texts);
    /* A finalizer that runs during an emergency collection could empty the table. */
    for (int64_t i = 0; i < n; i++) lt_tensor_retain(tensors[i].tensor);
    lt_entry entry = lt_enter(L);
    lt_status status = lt_safetensors_write(path, tensors, n, texts, n_texts);
    lt_leave(entry);
    for (int64_t i = 0; i < n; i++) lt_tensor_release(tensors[i].tensor);
    lt_lua_check(L, status);
    return 0;
}

/* (file) -> names, tensors, metadata */
static int push_contents(lua_State *L)
{
    lt_safetensors *file = lua_touserdata(L, 1);
    lua_newtable(L);
    lua_newtable(L);
    lua_newtable(L);
    for (int64_t i = 0; i < file->n; i++) {
        lua_pushstring(L, file->tensors[i].name);
        lua_rawseti(L, 2, i + 1);
        *lt_lua_new(L) = file->tensors[i].tensor;
        file->tensors[i].tensor = NULL;
        lua_rawseti(L, 3, i + 1);
    }
    for (int64_t i = 0; i < file->n_texts; i++) {
        lua_pushstring(L, file->texts[i].text);
        lua_setfield(L, 4, file->texts[i].name);
    }
    return 3;
}

static lt_status read_contents(const char *path, size_t n, bool mapped, lt_safetensors *file)
{
    lt_byte_source source;
    if (memchr(path, 0, n) == NULL) return lt_safetensors_read(path, mapped, file);
    lt_byte_source_open_memory(&source, path, (int64_t)n);
    const lt_status status = lt_safetensors_read_source(&source, file);
    lt_byte_source_close(&source);
    return status;
}

/* load_safetensors(path or bytes, mapped) -> names, tensors (on the host), metadata. A string with a
 * zero byte, which no path has, is the content of a file. */
static int load_safetensors(lua_State *L)
{
    lt_safetensors file = {0};
    size_t n;
    const char *path = lt_lua_check_lstring(L, 1, &n);
    const bool mapped = lua_toboolean(L, 2);
    lua_settop(L, 1);
    lt_lua_pushfunction(L, push_contents);
    lua_pushlightuserdata(L, &file);
    lt_entry entry = lt_enter(L);
    lt_status status = read_contents(path, n, mapped, &file);
    lt_leave(entry);
    lt_lua_check(L, status);
    int failed = lua_pcall(L, 1, 3, 0);
    lt_safetensors_free(&file);
    if (failed) return lua_error(L);
    return 3;
}

void lt_lua_open_files(lua_State *L)
{
    static const luaL_Reg functions[] = {{"raise", files_raise},
                                         {"save_safetensors", save_safetensors},
                                         {"load_safetensors", load_safetensors},
                                         {NULL, NULL}};
    lua_pushvalue(L, 2);
    lt_lua_setfuncs(L, functions);
    lua_pop(L, 1);
}
