/* csv.c - torch._C.read_csv, for lib/utils/data/csv.lua. */
#include <string.h>

#include <lauxlib.h>

#include "binding.h"
#include "files/csv.h"

/* The strings of the list at index; the list keeps them alive. */
static const lt_csv_text *texts_of(lua_State *L, int index, int64_t *n)
{
    *n = (int64_t)lua_rawlen(L, index);
    lt_csv_text *texts = lua_newuserdatauv(L, ((size_t)*n + 1) * sizeof *texts, 0);
    for (int64_t i = 0; i < *n; i++) {
        size_t length;
        if (lua_rawgeti(L, index, i + 1) != LUA_TSTRING)
            lt_lua_error(L, "a list of strings has a %s", lt_lua_type_name(L, -1));
        texts[i].bytes = lua_tolstring(L, -1, &length);
        texts[i].length = (int64_t)length;
        lua_pop(L, 1);
    }
    return texts;
}

/* {name = kind, ...}; the table keeps the names alive. */
static const lt_csv_type *types_of(lua_State *L, int index, int64_t *n)
{
    int64_t count = 0;
    for (lua_pushnil(L); lua_next(L, index) != 0; lua_pop(L, 1)) count++;
    lt_csv_type *types = lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *types, 0);
    *n = 0;
    for (lua_pushnil(L); lua_next(L, index) != 0; lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING)
            lt_lua_error(L, "the names in types must be strings, got %s", lt_lua_type_name(L, -2));
        types[(*n)++] = (lt_csv_type){lua_tostring(L, -2), (lt_csv_kind)lua_tointeger(L, -1)};
    }
    return types;
}

/* (table) -> names, columns */
static int push_columns(lua_State *L)
{
    lt_csv_table *table = lua_touserdata(L, 1);
    lua_createtable(L, (int)(table->n < 10000 ? table->n : 0), 0);
    lua_createtable(L, (int)(table->n < 10000 ? table->n : 0), 0);
    for (int64_t i = 0; i < table->n; i++) {
        lt_csv_column *c = &table->columns[i];
        lt_csv_text text;
        lua_pushlstring(L, c->name.bytes, (size_t)c->name.length);
        lua_rawseti(L, 2, i + 1);
        if (c->numbers != NULL) {
            *lt_lua_new(L) = c->numbers;
            c->numbers = NULL;
        } else {
            lua_createtable(L, (int)(table->rows < (1 << 30) ? table->rows : 0), 0);
            for (lua_Integer row = 1; lt_csv_next_text(c, &text); row++) {
                lua_pushlstring(L, text.bytes, (size_t)text.length);
                lua_rawseti(L, -2, row);
            }
        }
        lua_rawseti(L, 3, i + 1);
    }
    return 2;
}

/* read_csv(path, {separator =, comment =, skip =, max_bytes =, header = true | false | names, types
 * = {name = kind}, missing =, fill =}) -> names, columns: tensors, lists of strings. separator
 * false: runs of blanks. */
static int read_csv(lua_State *L)
{
    lt_csv_options options = {0};
    lt_csv_table table;
    const char *path = lt_lua_check_string(L, 1);
    lt_lua_check_type(L, 2, LUA_TTABLE);
    lua_settop(L, 2);
    lua_getfield(L, 2, "separator"); /* 3 */
    options.format.separator = lua_tostring(L, 3);
    lua_getfield(L, 2, "comment");
    options.format.comment = lua_isstring(L, 4) ? lua_tostring(L, 4)[0] : 0;
    lua_getfield(L, 2, "skip");
    options.format.skip = lua_tointeger(L, 5);
    lua_getfield(L, 2, "max_bytes");
    options.format.max_bytes = lua_tointeger(L, 6);
    lua_getfield(L, 2, "header");
    options.headed = lua_isboolean(L, 7) && lua_toboolean(L, 7);
    lua_getfield(L, 2, "types");
    lua_getfield(L, 2, "missing");
    lua_getfield(L, 2, "fill");
    options.fill = lua_isinteger(L, 10) ? lt_scalar_from_int(lua_tointeger(L, 10))
                                        : lt_scalar_from_float(lua_tonumber(L, 10));
    for (int list = 8; list <= 9; list++)
        if (!lua_istable(L, list))
            return lt_lua_error(L, "types and missing must be tables, not %s",
                                lt_lua_type_name(L, list));
    if (lua_istable(L, 7)) options.names = texts_of(L, 7, &options.n_names);
    options.types = types_of(L, 8, &options.n_types);
    options.missing = texts_of(L, 9, &options.n_missing);
    lt_lua_pushfunction(L, push_columns);
    lua_pushlightuserdata(L, &table);
    lt_lua_check(L, LT_INSIDE(L, lt_csv_read(path, &options, &table)));
    /* Millions of new strings contain no garbage, but a collector would traverse them repeatedly,
     * so stop it. */
    const int collects = lua_gc(L, LUA_GCISRUNNING, 0);
    lua_gc(L, LUA_GCSTOP, 0);
    const int failed = lua_pcall(L, 1, 2, 0);
    if (collects) lua_gc(L, LUA_GCRESTART, 0);
    lt_csv_free(&table);
    if (failed) return lua_error(L);
    return 2;
}

void lt_lua_open_csv(lua_State *L)
{
    lt_lua_pushfunction(L, read_csv);
    lua_setfield(L, 2, "read_csv");
}
