/* refuse.c - errors for values that one of our functions does not accept; see refuse.h. Includes
 * Lua and the tag that distinguishes tensors from other userdata. */
#include "refuse.h"

#include <stdarg.h>
#include <string.h>

#include "binding.h"
#include "error.h"
#include "similar_name.h"

/* ---- position and function name -------------------------------------------------------------- */

const char lt_box_tag = 0;

static bool is_ours(const lua_Debug *frame)
{
    return strncmp(frame->source, "=[ltensor ", 10) == 0;
}

/* The level of the innermost frame of the user's own code; -1: there is none. */
static int users_level(lua_State *L, lua_Debug *frame)
{
    for (int level = 0; lua_getstack(L, level, frame); level++) {
        lua_getinfo(L, "Sl", frame);
        if (frame->currentline >= 0 && !is_ours(frame)) return level;
    }
    return -1;
}

bool lt_lua_users_frame(lua_State *L, lua_Debug *frame) { return users_level(L, frame) >= 0; }

void lt_lua_make_printable(lua_State *L)
{
    size_t n;
    const char *text = lua_tolstring(L, -1, &n);
    const size_t length = lt_printable(text, n, NULL, 0);
    if (length == n) return; /* escapes are longer */
    luaL_Buffer buffer;
    lt_printable(text, n, luaL_buffinitsize(L, &buffer, length + 1), length + 1);
    luaL_pushresultsize(&buffer, length);
    lua_remove(L, -2);
}

/* The name in package.loaded of the table on top of the stack, if it is one of our modules and has
 * the field (NULL: any); NULL otherwise. */
static const char *module_name(lua_State *L, const char *field)
{
    const int table = lua_gettop(L);
    const char *name = NULL;
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    for (lua_pushnil(L); name == NULL && lua_next(L, table + 1) != 0; lua_pop(L, 1))
        if (lua_rawequal(L, -1, table) && lua_type(L, -2) == LUA_TSTRING &&
            strncmp(lua_tostring(L, -2), "torch", 5) == 0) {
            name = lua_tostring(L, -2);
            lua_pop(L, 2);
            if (field != NULL && (lua_pushstring(L, field), lua_rawget(L, table)) == LUA_TNIL)
                name = NULL;
            break;
        }
    lua_settop(L, table);
    return name;
}

/* Appends a hint to the message on top of the stack if the user's code, at the level, called a
 * function of a module with a colon, so that the module is its first argument. A tail call of the
 * function hides its name and the colon. */
static void add_dot_hint(lua_State *L, int level)
{
    static const int slots[] = {1, 2, -1}; /* also of a class, which is called through __call */
    lua_Debug callee;
    if (level < 1 || !lua_getstack(L, level - 1, &callee)) return;
    lua_getinfo(L, "nt", &callee);
    if (!callee.istailcall && (callee.name == NULL || strcmp(callee.namewhat, "method") != 0))
        return;
    const char *module = NULL, *name = callee.istailcall ? NULL : callee.name;
    for (size_t i = 0; module == NULL && i < sizeof slots / sizeof *slots; i++) {
        if (lua_getlocal(L, &callee, slots[i]) == NULL) continue;
        if (lua_istable(L, -1)) module = module_name(L, name);
        lua_pop(L, 1);
    }
    if (module == NULL) return;
    const char *text = lua_tostring(L, -1),
               *colon = strstr(text, " (a method is called with a colon");
    if (colon != NULL) {
        lua_pushlstring(L, text, (size_t)(colon - text));
        lua_replace(L, -2);
    }
    if (name != NULL)
        lua_pushfstring(L, " (a function of a module is called with a dot: %s.%s())", module, name);
    else
        lua_pushliteral(L, " (a function of a module is called with a dot, not with a colon)");
    lua_concat(L, 2);
}

/* Raises the text on top of the stack. */
static int raise_at_user(lua_State *L)
{
    lua_Debug frame;
    lt_lua_make_printable(L);
    const int level = users_level(L, &frame);
    if (level >= 0) {
        add_dot_hint(L, level);
        lua_pushfstring(L, "%s:%d: ", frame.short_src, frame.currentline);
        lua_insert(L, -2);
        lua_concat(L, 2);
    }
    return lua_error(L);
}

int lt_lua_error(lua_State *L, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = lua_pushvfstring(L, format, args);
    va_end(args);
    if (text == NULL) lua_pushliteral(L, "not enough memory"); /* Lua 5.5 raises no error */
    return raise_at_user(L);
}

int lt_lua_raise_text(lua_State *L)
{
    lt_lua_check_string(L, 1);
    lua_settop(L, 1);
    return raise_at_user(L);
}

const char *lt_lua_type_name(lua_State *L, int index)
{
    const char *name = luaL_typename(L, index);
    if (lua_isnone(L, index)) return name;
    if (luaL_testudata(L, index, LT_TENSOR_META_NAME) != NULL && lt_lua_box(L, index) == NULL)
        return "finalized Tensor";
    int type = luaL_getmetafield(L, index, "__name");
    if (type == LUA_TSTRING) name = lua_tostring(L, -1);
    if (type != LUA_TNIL) lua_pop(L, 1);
    return name;
}

/* Pushes the key under which the table on top of the stack holds the function below it; nil if
 * there is none. */
static bool push_key_of(lua_State *L)
{
    int table = lua_gettop(L);
    for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
        if (!lua_rawequal(L, -1, table - 1) || lua_type(L, -2) != LUA_TSTRING) continue;
        lua_pop(L, 1);
        return true;
    }
    lua_pushnil(L);
    return false;
}

/* Pushes the name of the running C function: its name in torch, the methods or torch._C, else the
 * name that the caller uses. Sets *method if it is a method of tensors. */
static const char *push_function_name(lua_State *L, bool *method)
{
    lua_Debug frame;
    *method = false;
    if (!lua_getstack(L, 0, &frame)) return lua_pushliteral(L, "?");
    lua_getinfo(L, "nf", &frame);
    int f = lua_gettop(L);
    luaL_getmetatable(L, LT_TENSOR_META_NAME);
    if (lua_getfield(L, -1, "__methods") == LUA_TTABLE) {
        lua_pushvalue(L, f);
        lua_insert(L, -2);
        if (push_key_of(L)) {
            *method = true;
            return lua_tostring(L, -1);
        }
    }
    lua_settop(L, f);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    if (lua_getfield(L, -1, "torch") == LUA_TTABLE) {
        lua_pushvalue(L, f);
        lua_insert(L, -2);
        if (push_key_of(L)) return lua_tostring(L, -1);
    }
    lua_settop(L, f);
    return lua_pushstring(L, frame.name != NULL ? frame.name : "?");
}

/* Pushes the name of our Lua function that the user's code called, if such a function has called
 * the running C function. */
static const char *push_entry_name(lua_State *L)
{
    lua_Debug frame, entry;
    bool ours = false;
    for (int level = 1; lua_getstack(L, level, &frame); level++) {
        lua_getinfo(L, "S", &frame);
        if (*frame.what != 'C' && !is_ours(&frame)) break;
        if (level == 1 && !is_ours(&frame)) return NULL;
        if (!is_ours(&frame)) continue;
        entry = frame;
        ours = true;
    }
    if (!ours) return NULL;
    lua_getinfo(L, "n", &entry);
    return entry.name != NULL ? lua_pushfstring(L, "%s(): ", entry.name) : lua_pushliteral(L, "");
}

int lt_lua_refuse(lua_State *L, int arg, const char *expected)
{
    const char *entry = push_entry_name(L);
    if (entry != NULL)
        return lt_lua_error(L, "%sexpected %s, got %s", entry, expected, lt_lua_type_name(L, arg));
    bool method;
    const char *got = lt_lua_type_name(L, arg), *name = push_function_name(L, &method);
    if (method && arg == 1)
        return lt_lua_error(
            L, "%s(): argument 'self' must be %s, not %s (a method is called with a colon: x:%s())",
            name, expected, got, name);
    return lt_lua_error(L, "%s(): argument %d must be %s, not %s", name, arg, expected, got);
}

/* ---- similar names --------------------------------------------------------------------------- */

const char *lt_lua_nearest(lua_State *L, int table, const char *name, const char *best)
{
    table = lua_absindex(L, table);
    for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING) continue;
        const char *candidate = lua_tostring(L, -2);
        if (lt_is_nearer_name(name, candidate, best)) best = candidate;
    }
    return best;
}

/* Raises an error if the value at 1 is the self of our calling Lua function: a layer's method was
 * called with a dot. */
static void check_self(lua_State *L)
{
    lua_Debug caller;
    if (!lua_getstack(L, 1, &caller) || !lua_getinfo(L, "Sn", &caller) || !is_ours(&caller)) return;
    const char *local = lua_getlocal(L, &caller, 1);
    if (local == NULL) return;
    if (strcmp(local, "self") == 0 && lua_rawequal(L, -1, 1)) {
        const char *name = caller.name != NULL ? caller.name : "forward";
        lt_lua_error(L,
                     "%s(): argument 'self' must be an object, not a %s (a method is called with a "
                     "colon: net:%s())",
                     name, lt_lua_type_name(L, 1), name);
    }
    lua_pop(L, 1);
}

int lt_lua_no_field(lua_State *L, const char *class, int table, int other)
{
    check_self(L);
    const char *name = lua_tostring(L, 2), *best = lt_lua_nearest(L, table, name, NULL);
    if (other != 0) best = lt_lua_nearest(L, other, name, best);
    if (best != NULL)
        return lt_lua_error(L, "a %s has no field '%s'; did you mean '%s'?", class, name, best);
    return lt_lua_error(L, "a %s has no field '%s'", class, name);
}

void lt_lua_set_field_names(lua_State *L, const char *const *names)
{
    lua_newtable(L);
    for (; *names != NULL; names++) {
        lua_pushboolean(L, true);
        lua_setfield(L, -2, *names);
    }
    lua_setfield(L, -2, "__fields");
}

/* The most similar string of a list; NULL if none is similar. */
static const char *nearest_of_list(lua_State *L, int list, const char *name)
{
    const char *best = NULL;
    for (lua_Integer i = (lua_Integer)lua_rawlen(L, list); i > 0; i--) {
        lua_rawgeti(L, list, i);
        if (lua_type(L, -1) == LUA_TSTRING && lt_is_nearer_name(name, lua_tostring(L, -1), best))
            best = lua_tostring(L, -1);
        lua_pop(L, 1);
    }
    return best;
}

int lt_lua_nearest_name(lua_State *L)
{
    const char *name = lt_lua_check_string(L, 1);
    lt_lua_check_type(L, 2, LUA_TTABLE);
    lua_pushstring(L, nearest_of_list(L, 2, name));
    return 1;
}

/* ---- names of arguments ---------------------------------------------------------------------- */

int lt_lua_refuse_name(lua_State *L, const char *what, int name, int names)
{
    luaL_Buffer b;
    names = lua_absindex(L, names);
    const char *given = luaL_tolstring(L, name, NULL), *best = nearest_of_list(L, names, given);
    if (best != NULL)
        return lt_lua_error(L, "%s() got an unexpected keyword argument '%s'; did you mean '%s'?",
                            what, given, best);
    luaL_buffinit(L, &b);
    for (lua_Integer i = 1, n = (lua_Integer)lua_rawlen(L, names); i <= n; i++) {
        if (i > 1) luaL_addstring(&b, ", ");
        lua_rawgeti(L, names, i);
        luaL_addvalue(&b);
    }
    luaL_pushresult(&b);
    return lt_lua_error(L, "%s() got an unexpected keyword argument '%s'; it accepts %s", what,
                        given, lua_tostring(L, -1));
}

int lt_lua_refuse_named(lua_State *L)
{
    const char *what = lt_lua_check_string(L, 1);
    lt_lua_check_type(L, 3, LUA_TTABLE);
    return lt_lua_refuse_name(L, what, 2, 3);
}

void lt_lua_check_names(lua_State *L, int arg, const char *what, const char *const *known)
{
    lt_lua_check_type(L, arg, LUA_TTABLE);
    for (lua_pushnil(L); lua_next(L, arg) != 0; lua_pop(L, 1)) {
        const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";
        int i = 0;
        while (known[i] != NULL && strcmp(known[i], key) != 0) i++;
        if (known[i] != NULL) continue;
        lua_newtable(L);
        for (i = 0; known[i] != NULL; i++) {
            lua_pushstring(L, known[i]);
            lua_rawseti(L, -2, i + 1);
        }
        lt_lua_refuse_name(L, what, lua_absindex(L, -3), -1);
    }
}

/* ---- checks ---------------------------------------------------------------------------------- */

void lt_lua_check_any(lua_State *L, int arg)
{
    if (lua_isnone(L, arg)) lt_lua_refuse(L, arg, "given");
}

void lt_lua_check_type(lua_State *L, int arg, int type)
{
    if (lua_type(L, arg) != type)
        lt_lua_refuse(L, arg, lua_pushfstring(L, "a %s", lua_typename(L, type)));
}

void *lt_lua_check_udata(lua_State *L, int arg, const char *metatable)
{
    void *value = luaL_testudata(L, arg, metatable);
    if (value != NULL) return value;
    const char *name = strrchr(metatable, '.');
    luaL_getmetatable(L, metatable);
    if (lua_istable(L, -1) && lua_getfield(L, -1, "__name") == LUA_TSTRING)
        name = lua_tostring(L, -1);
    else
        name = name != NULL ? name + 1 : metatable;
    lt_lua_refuse(L, arg, lua_pushfstring(L, "a %s", name));
    return NULL;
}

lua_Integer lt_lua_check_integer(lua_State *L, int arg)
{
    int whole;
    lua_Integer value = lua_tointegerx(L, arg, &whole);
    if (!whole || lua_type(L, arg) != LUA_TNUMBER)
        lt_lua_refuse(L, arg, lua_type(L, arg) == LUA_TNUMBER ? "a whole number" : "an integer");
    return value;
}

lua_Integer lt_lua_opt_integer(lua_State *L, int arg, lua_Integer otherwise)
{
    return lua_isnoneornil(L, arg) ? otherwise : lt_lua_check_integer(L, arg);
}

lua_Number lt_lua_check_number(lua_State *L, int arg)
{
    if (lua_type(L, arg) != LUA_TNUMBER) lt_lua_refuse(L, arg, "a number");
    return lua_tonumber(L, arg);
}

const char *lt_lua_check_lstring(lua_State *L, int arg, size_t *n)
{
    if (lua_type(L, arg) != LUA_TSTRING) lt_lua_refuse(L, arg, "a string");
    return lua_tolstring(L, arg, n);
}

const char *lt_lua_check_string(lua_State *L, int arg)
{
    return lt_lua_check_lstring(L, arg, NULL);
}

const char *lt_lua_opt_string(lua_State *L, int arg, const char *otherwise)
{
    return lua_isnoneornil(L, arg) ? otherwise : lt_lua_check_string(L, arg);
}

int lt_lua_check_option(lua_State *L, int arg, const char *otherwise, const char *const *list)
{
    const char *given = lua_type(L, arg) == LUA_TSTRING ? lua_tostring(L, arg)
                        : lua_isnoneornil(L, arg)       ? otherwise
                                                        : NULL;
    luaL_Buffer b;
    for (int i = 0; given != NULL && list[i] != NULL; i++)
        if (strcmp(list[i], given) == 0) return i;
    luaL_buffinit(L, &b);
    for (int i = 0; list[i] != NULL; i++) {
        luaL_addstring(&b, i > 0 ? " or '" : "'");
        luaL_addstring(&b, list[i]);
        luaL_addchar(&b, '\'');
    }
    luaL_pushresult(&b);
    return lt_lua_refuse(L, arg, lua_tostring(L, -1));
}
