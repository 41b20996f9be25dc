/* ledger.c - the ledger of copies (copies.h) for Lua: torch.cuda.copies and the functions that
 * switch its messages on and off. */
#include <string.h>

#include "devices/copies.h"
#include "gpu.h"
#include "memory/alloc.h"

#define LIST_META "ltensor.CopyList" /* owns core's array until it is converted to a table */

static int list_free(lua_State *L)
{
    lt_copy_entry **list = lt_lua_check_udata(L, 1, LIST_META);
    lt_mem_free(*list);
    *list = NULL;
    return 0;
}

static void push_entry(lua_State *L, const lt_copy_entry *e)
{
    lua_createtable(L, 0, 8);
    lt_lua_push_device(L, e->from);
    lua_setfield(L, -2, "from");
    lt_lua_push_device(L, e->to);
    lua_setfield(L, -2, "to");
    lua_pushinteger(L, e->count);
    lua_setfield(L, -2, "count");
    lua_pushinteger(L, e->bytes);
    lua_setfield(L, -2, "bytes");
    lua_pushnumber(L, e->waited);
    lua_setfield(L, -2, "seconds");
    lua_pushstring(L, e->cause);
    lua_setfield(L, -2, "cause");
    lua_pushstring(L, e->origin);
    lua_setfield(L, -2, "origin");
    lua_pushboolean(L, e->implicit);
    lua_setfield(L, -2, "implicit");
}

/* copies([cause]) -> a list of entries with the totals in its fields count, bytes and seconds */
static int copies(lua_State *L)
{
    const char *cause = lt_lua_opt_string(L, 1, NULL);
    int64_t n = 0, count = 0, bytes = 0;
    double waited = 0;
    lt_copy_entry **list = lua_newuserdatauv(L, sizeof *list, 0);
    *list = NULL;
    luaL_setmetatable(L, LIST_META);
    lt_lua_do(L, lt_copies_list(cause, list, &n));
    lua_createtable(L, (int)n, 3);
    for (int64_t i = 0; i < n; i++) {
        const lt_copy_entry *e = &(*list)[i];
        push_entry(L, e);
        lua_rawseti(L, -2, i + 1);
        count += e->count;
        bytes += e->bytes;
        waited += e->waited;
    }
    lt_mem_free(*list);
    *list = NULL;
    lua_pushinteger(L, count);
    lua_setfield(L, -2, "count");
    lua_pushinteger(L, bytes);
    lua_setfield(L, -2, "bytes");
    lua_pushnumber(L, waited);
    lua_setfield(L, -2, "seconds");
    return 1;
}

static int reset_copies(lua_State *L)
{
    const lt_entry entry = lt_enter(L);
    lt_copies_reset();
    lt_leave(entry);
    return 0;
}

/* show_copies([on]): on unless false is given */
static int show_copies(lua_State *L)
{
    const bool on = lua_isnoneornil(L, 1) || lua_toboolean(L, 1);
    const lt_entry entry = lt_enter(L);
    lt_copies_show(on);
    lt_leave(entry);
    return 0;
}

static int copies_summary(lua_State *L)
{
    const lt_entry entry = lt_enter(L);
    lt_copies_summary();
    lt_leave(entry);
    return 0;
}

static int set_sync_debug_mode(lua_State *L)
{
    static const char *const names[] = {"default", "warn", "error"};
    lua_Integer mode = -1;
    if (lua_isinteger(L, 1)) mode = lua_tointeger(L, 1);
    if (lua_type(L, 1) == LUA_TSTRING)
        for (int i = 0; i < 3; i++)
            if (strcmp(lua_tostring(L, 1), names[i]) == 0) mode = i;
    if (mode < 0 || mode > 2) {
        lt_error_set(LT_ERR_RUNTIME,
                     "invalid value of debug_mode, expected one of `default`, `warn`, `error`");
        return lt_lua_raise(L);
    }
    const lt_entry entry = lt_enter(L);
    lt_copies_set_sync_mode((int)mode);
    lt_leave(entry);
    return 0;
}

static int get_sync_debug_mode(lua_State *L)
{
    lua_pushinteger(L, LT_INSIDE(L, lt_copies_sync_mode()));
    return 1;
}

/* _set_loading(true or false): attributes copies without another cause to the DataLoader */
static int set_loading(lua_State *L)
{
    lt_copies_set_cause(lua_toboolean(L, 1) ? (lt_copy_cause){"loader", false}
                                            : (lt_copy_cause){NULL, false});
    return 0;
}

/* _imply_copies(name): makes the operation the implicit cause of the copies of its parts; false, and
 * unchanged, if there is a cause. _imply_copies() ends that. The caller keeps the name alive. */
static int imply_copies(lua_State *L)
{
    const char *name = lt_lua_opt_string(L, 1, NULL);
    const lt_copy_cause previous = lt_copies_set_cause((lt_copy_cause){name, name != NULL});
    const bool is_outer = name != NULL && previous.name != NULL;
    if (is_outer) lt_copies_set_cause(previous);
    lua_pushboolean(L, !is_outer);
    return 1;
}

/* _set_copy_origin(label or nil): the recorded origin of copies while no user code is running, as
 * when the prompt prints the value of a cell */
static int set_copy_origin(lua_State *L)
{
    lt_lua_state *s = lt_lua_state_current(L);
    const char *label = lt_lua_opt_string(L, 1, "");
    strncpy(s->origin, label, sizeof s->origin - 1);
    s->origin[sizeof s->origin - 1] = '\0';
    return 0;
}

void lt_lua_open_ledger(lua_State *L)
{
    static const luaL_Reg functions[] = {{"copies", copies},
                                         {"reset_copies", reset_copies},
                                         {"show_copies", show_copies},
                                         {"set_sync_debug_mode", set_sync_debug_mode},
                                         {"get_sync_debug_mode", get_sync_debug_mode},
                                         {"_copies_summary", copies_summary},
                                         {"_set_copy_origin", set_copy_origin},
                                         {"_set_loading", set_loading},
                                         {"_imply_copies", imply_copies},
                                         {NULL, NULL}};
    luaL_newmetatable(L, LIST_META);
    lua_pushcfunction(L, list_free);
    lua_setfield(L, -2, "__gc");
    lua_pop(L, 1);
    lt_lua_setfuncs(L, functions);
}
