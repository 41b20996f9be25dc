/* json.c - torch._C.read_json: parses JSON with cJSON and builds Lua tables of it.
 *
 * cJSON stores numbers as doubles, in the order of the text. Notebooks are read by it and written
 * back, so 1 has to stay an integer, 1.0 a float and 2^60 + 1 itself: numbers are parsed from the
 * text, which is scanned in parallel with the tree. Strings of cJSON end at a zero byte: the caller
 * replaces zero bytes by ZERO, a byte that UTF-8 does not use. Includes the Lua API and cJSON. */
#include <cjson/cJSON.h>
#include <string.h>

#include "binding.h"
#include "memory/budget.h"

enum {
    MAX_DEPTH = 200,
    /* upper bound for the memory of cJSON and Lua per value, besides the bytes of strings */
    VALUE_BYTES = 160
};
static const char ZERO = '\xff';

static const char tree_meta[] = "ltensor.JsonTree";

typedef struct json_reading {
    lua_State *L;
    const char *at, *end; /* the text behind the last number */
    int new_object, null; /* stack indices */
} json_reading;

/* The next byte from p on that is outside strings and one of `wanted`; `end` if there is none. */
static const char *find_outside_strings(const char *p, const char *end, const char *wanted)
{
    for (; p < end; p++) {
        if (*p == '"') {
            for (p++; p < end && *p != '"'; p++)
                if (*p == '\\') p++;
        } else if (*p != '\0' && strchr(wanted, *p) != NULL) {
            return p;
        }
    }
    return end;
}

/* The first bracket with nesting depth above MAX_DEPTH; `end` if there is none. */
static const char *find_too_deep(const char *text, const char *end)
{
    int depth = 0;
    for (const char *p = text; (p = find_outside_strings(p, end, "[]{}")) < end; p++) {
        depth += *p == '[' || *p == '{' ? 1 : -1;
        if (depth > MAX_DEPTH) return p;
    }
    return end;
}

/* The number of values in a text: one at its beginning, and one behind each of these characters. */
static int64_t count_values(const char *text, const char *end)
{
    int64_t n = 1;
    for (const char *p = text; (p = find_outside_strings(p, end, "[{,:")) < end; p++) n++;
    return n;
}

static void push_number(json_reading *r, const cJSON *item)
{
    const char *first = find_outside_strings(r->at, r->end, "-0123456789");
    size_t n = strspn(first, "-+0123456789.eE");
    r->at = first + n;
    lua_pushlstring(r->L, first, n);
    if (lua_stringtonumber(r->L, lua_tostring(r->L, -1)) == 0)
        lua_pushnumber(r->L, item->valuedouble);
    lua_remove(r->L, -2);
}

static void push_string(lua_State *L, const char *text)
{
    luaL_Buffer b;
    if (strchr(text, ZERO) == NULL) {
        lua_pushstring(L, text);
        return;
    }
    luaL_buffinit(L, &b);
    for (; *text != '\0'; text++) luaL_addchar(&b, *text == ZERO ? '\0' : *text);
    luaL_pushresult(&b);
}

static void push_value(json_reading *r, const cJSON *item)
{
    lua_State *L = r->L;
    luaL_checkstack(L, 6, "JSON");
    if (cJSON_IsString(item)) {
        push_string(L, item->valuestring);
    } else if (cJSON_IsNumber(item)) {
        push_number(r, item);
    } else if (cJSON_IsBool(item)) {
        lua_pushboolean(L, cJSON_IsTrue(item));
    } else if (cJSON_IsArray(item)) {
        lua_Integer i = 0;
        lua_newtable(L);
        for (const cJSON *child = item->child; child != NULL; child = child->next) {
            push_value(r, child);
            lua_rawseti(L, -2, ++i);
        }
    } else if (cJSON_IsObject(item)) {
        lua_pushvalue(L, r->new_object);
        lua_call(L, 0, 1);
        for (const cJSON *child = item->child; child != NULL; child = child->next) {
            push_string(L, child->string);
            push_value(r, child);
            lua_settable(L, -3);
        }
    } else {
        lua_pushvalue(L, r->null);
    }
}

static int free_tree(lua_State *L)
{
    cJSON **tree = luaL_checkudata(L, 1, tree_meta);
    cJSON_Delete(*tree);
    *tree = NULL;
    return 0;
}

/* Pushes nil, the problem and its position. */
static int json_error(lua_State *L, const char *what, ptrdiff_t offset)
{
    lua_pushnil(L);
    lua_pushstring(L, what);
    lua_pushinteger(L, offset + 1);
    return 3;
}

/* read_json(text, new_object, null) -> the value, or nil, the problem (nil: the text is not JSON),
 * its position. text: UTF-8. new_object(): returns a table for an object. null: the value that
 * stands for null. */
static int read_json(lua_State *L)
{
    size_t length;
    const char *text = lt_lua_check_lstring(L, 1, &length), *end = text + length, *stop = NULL;
    lt_lua_check_type(L, 2, LUA_TFUNCTION);
    lua_settop(L, 3);
    const char *deep = find_too_deep(text, end);
    if (deep < end) return json_error(L, "nested too deep", deep - text);
    lt_lua_do(L, lt_budget_spend(VALUE_BYTES * count_values(text, end) + 2 * (int64_t)length));
    cJSON **tree = lua_newuserdatauv(L, sizeof *tree, 0); /* frees the tree on every exit */
    *tree = NULL;
    luaL_setmetatable(L, tree_meta);
    lua_toclose(L, 4);
    *tree = cJSON_ParseWithLengthOpts(text, length + 1, &stop,
                                      true); /* with the zero byte that must follow it */
    if (*tree == NULL) return json_error(L, NULL, stop != NULL ? stop - text : 0);
    push_value(&(json_reading){.L = L, .at = text, .end = end, .new_object = 2, .null = 3}, *tree);
    return 1;
}

void lt_lua_open_json(lua_State *L)
{
    luaL_newmetatable(L, tree_meta);
    lua_pushcfunction(L, free_tree);
    lua_setfield(L, -2, "__close");
    lua_pushcfunction(L, free_tree);
    lua_setfield(L, -2, "__gc");
    lua_pop(L, 1);
    lt_lua_pushfunction(L, read_json);
    lua_setfield(L, 2, "read_json");
}
