/* paths.c - functions of torch._C for paths of the host, as lib needs them: files of Lua's io
 * library, removing, folders, names from files; and the memory budget of loading a file. Functions
 * that reach outside query the authorizer of the interpreter's context. */
#include <errno.h>
#include <lauxlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "binding.h"
#include "error.h"
#include "files/paths.h"
#include "memory/alloc.h"
#include "memory/budget.h"
#include "saturating.h"

const char *lt_lua_check_path(lua_State *L, int arg)
{
    size_t n;
    const char *path = lt_lua_check_lstring(L, arg, &n);
    if (strlen(path) != n) lt_lua_error(L, "paths must not contain zero bytes");
    return path;
}

/* Pushes nil, the message and errno, as functions of io do; raises an error if the authorizer
 * refused. */
static int push_failure(lua_State *L, lt_status status, int code)
{
    if (status == LT_ERR_PERMISSION) return lt_lua_raise(L);
    lua_pushnil(L);
    lua_pushstring(L, lt_error_message());
    lua_pushinteger(L, code);
    return 3;
}

/* ---- files of Lua's io library --------------------------------------------------------------- */

static int close_stream(lua_State *L)
{
    luaL_Stream *stream = luaL_checkudata(L, 1, LUA_FILEHANDLE);
    return luaL_fileresult(L, fclose(stream->f) == 0, NULL);
}

/* open_stream(path, mode: 'r', 'w' or 'a') -> a file; or nil, a message, the system's number */
static int open_stream(lua_State *L)
{
    static const char *const modes[] = {"r", "w", "a", NULL};
    const char *path = lt_lua_check_path(L, 1);
    const int mode = lt_lua_check_option(L, 2, NULL, modes);
    luaL_Stream *stream = lua_newuserdatauv(L, sizeof *stream, 0);
    stream->closef = NULL; /* closed, until it is open */
    luaL_setmetatable(L, LUA_FILEHANDLE);
    int64_t size;
    int fd = -1;
    errno = 0;
    const lt_status status = mode == 0 ? LT_INSIDE(L, lt_open_to_read(path, &fd, &size))
                                       : LT_INSIDE(L, lt_open_to_write(path, mode == 2, &fd));
    if (status != LT_OK) return push_failure(L, status, errno);
    stream->f = fdopen(fd, modes[mode]);
    if (stream->f == NULL) {
        close(fd);
        return luaL_fileresult(L, 0, path);
    }
    stream->closef = close_stream;
    return 1;
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* remove_file(path) -> true; or nil, a message, the system's number */
static int remove_file(lua_State *L)
{
    const char *path = lt_lua_check_path(L, 1);
    errno = 0;
    const lt_status status = LT_INSIDE(L, lt_remove_file(path));
    if (status != LT_OK) return push_failure(L, status, errno);
    lua_pushboolean(L, true);
    return 1;
}

/* make_folder(path): raises an error if it fails */
static int make_folder(lua_State *L)
{
    const char *path = lt_lua_check_path(L, 1);
    lt_lua_do(L, lt_make_folder(path));
    return 0;
}

typedef struct name_list {
    char *bytes; /* names with their zero bytes */
    size_t length, room;
} name_list;

static lt_status add_name(void *context, const char *name)
{
    name_list *list = context;
    const size_t n = strlen(name) + 1;
    if (list->length + n > list->room) {
        const size_t room = 2 * (list->length + n);
        char *bytes = lt_mem_realloc(list->bytes, room);
        if (bytes == NULL) return LT_ERR_MEMORY;
        list->bytes = bytes;
        list->room = room;
    }
    memcpy(list->bytes + list->length, name, n);
    list->length += n;
    return LT_OK;
}

/* (bytes, length) -> a list of the names */
static int push_names(lua_State *L)
{
    const char *at = lua_touserdata(L, 1), *end = at + lua_tointeger(L, 2);
    lua_newtable(L);
    for (lua_Integer i = 1; at < end; i++, at += strlen(at) + 1) {
        lua_pushstring(L, at);
        lua_rawseti(L, -2, i);
    }
    return 1;
}

/* list_folder(path) -> a list of the names in it; or nil, a message, the system's number */
static int list_folder(lua_State *L)
{
    name_list list = {0};
    const char *path = lt_lua_check_path(L, 1);
    lua_settop(L, 1);
    lt_lua_pushfunction(L, push_names);
    errno = 0;
    const lt_status status = LT_INSIDE(L, lt_list_folder(path, add_name, &list));
    if (status != LT_OK) {
        const int code = errno;
        lt_mem_free(list.bytes);
        return push_failure(L, status, code);
    }
    lua_pushlightuserdata(L, list.bytes);
    lua_pushinteger(L, (lua_Integer)list.length);
    const int failed = lua_pcall(L, 2, 1, 0);
    lt_mem_free(list.bytes);
    if (failed) return lua_error(L);
    return 1;
}

/* path_inside(beside, name) -> the path of a file that the file `beside` names; nil if it is not in
 * the same folder */
static int path_inside(lua_State *L)
{
    char path[PATH_MAX];
    size_t n;
    const char *beside = lt_lua_check_path(L, 1), *name = lt_lua_check_lstring(L, 2, &n);
    if (strlen(name) != n || !lt_path_inside(beside, name, path)) return 0;
    lua_pushstring(L, path);
    return 1;
}

/* printable(text) -> the text with escapes in place of control characters */
static int printable(lua_State *L)
{
    lt_lua_check_string(L, 1);
    lua_settop(L, 1);
    lt_lua_make_printable(L);
    return 1;
}

/* ---- memory of a loader ---------------------------------------------------------------------- */

/* within_budget(bytes of the file, max_memory or nil, f, ...) -> the results of f(...). f may
 * increase the host memory in use by at most lt_budget_for. It cannot yield: the budget belongs to
 * the thread. */
static int within_budget(lua_State *L)
{
    const lua_Integer size = lt_lua_check_integer(L, 1), asked = lt_lua_opt_integer(L, 2, 0);
    if (!lua_isnoneornil(L, 2) && asked < 1)
        lt_lua_error(L, "max_memory must be a number of bytes, at least 1, got %I",
                     (LUAI_UACINT)asked);
    lt_budget budget;
    lua_rotate(L, 1, -2);
    lua_pop(L, 2);
    lt_budget_open(&budget, lt_budget_for(size, asked));
    const int failed = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
    lt_budget_close(&budget);
    return failed ? lua_error(L) : lua_gettop(L);
}

/* extend_budget(bytes of a file): the loader has opened another file, named by the first one */
static int extend_budget(lua_State *L)
{
    const lua_Integer size = lt_lua_check_integer(L, 1);
    if (lt_tls.budget != NULL)
        lt_tls.budget->limit = lt_add_sat(lt_tls.budget->limit, lt_mul_sat(size, LT_BUDGET_TIMES));
    return 0;
}

/* spend(bytes): counts memory that Lua is about to allocate for the file being loaded; raises an
 * error if that exceeds the budget */
static int spend(lua_State *L)
{
    const lua_Integer bytes = lt_lua_check_integer(L, 1);
    lt_lua_do(L, lt_budget_spend(bytes));
    return 0;
}

void lt_lua_open_paths(lua_State *L)
{
    static const luaL_Reg functions[] = {{"open_stream", open_stream},
                                         {"remove_file", remove_file},
                                         {"make_folder", make_folder},
                                         {"list_folder", list_folder},
                                         {"path_inside", path_inside},
                                         {"printable", printable},
                                         {"within_budget", within_budget},
                                         {"extend_budget", extend_budget},
                                         {"spend", spend},
                                         {NULL, NULL}};
    lua_pushvalue(L, 2);
    lt_lua_setfuncs(L, functions);
    lua_pop(L, 1);
}
