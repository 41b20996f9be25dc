/* refuse.h - errors for values that one of our functions does not accept: luaL_error and
 * luaL_check..., but with the line of the user's code, however many of our own Lua functions are in
 * between, and with the function's own name.
 *
 * "size(): argument 2 must be an integer, not string". The checks cost nothing more on success. */
#ifndef LT_LUA_REFUSE_H
#define LT_LUA_REFUSE_H

#include <lauxlib.h>
#include <lua.h>
#include <stdbool.h>

/* The innermost frame of the user's own code: neither C nor one of our modules. */
bool lt_lua_users_frame(lua_State *L, lua_Debug *frame);
/* As luaL_error, with the position of the user's code; never returns. */
int lt_lua_error(lua_State *L, const char *format, ...);
/* raise(text): the same for Lua */
int lt_lua_raise_text(lua_State *L);
/* "name(): argument 2 must be EXPECTED, not number", with a hint if a method was called with a dot.
 */
int lt_lua_refuse(lua_State *L, int arg, const char *expected);

/* Lua's type of a value, or its metatable's __name ("Tensor", "Linear"); "no value". Lives as long
 * as the value. */
const char *lt_lua_type_name(lua_State *L, int index);
/* The string key of the table, or `best` (found before, NULL: none), that is most similar to name.
 * NULL if none is within an edit distance of a third of its letters. Its text lives as long as the
 * table. */
const char *lt_lua_nearest(lua_State *L, int table, const char *name, const char *best);
/* Raises an error: values of the class have no field with the name at stack index 2. The message
 * suggests a similar string key of the two tables (the second may be 0). */
int lt_lua_no_field(lua_State *L, const char *class, int table, int other);
/* Sets __fields of the metatable on top of the stack: a set of the names that its function __index
 * reads, for completion. `names` ends with NULL. */
void lt_lua_set_field_names(lua_State *L, const char *const *names);
/* nearest_name(name, list of names), for Lua */
int lt_lua_nearest_name(lua_State *L);
/* Raises an error: `what` has no argument with the name at stack index `name`. The message suggests
 * a similar name of the list at `names`, or lists all. */
int lt_lua_refuse_name(lua_State *L, const char *what, int name, int names);
/* refuse_name(what, name, list of names), for Lua */
int lt_lua_refuse_named(lua_State *L);
/* Raises an error when a key of the table at arg is not among known (ended by NULL). */
void lt_lua_check_names(lua_State *L, int arg, const char *what, const char *const *known);

void lt_lua_check_any(lua_State *L, int arg);
void lt_lua_check_type(lua_State *L, int arg, int type);
void *lt_lua_check_udata(lua_State *L, int arg, const char *metatable);
lua_Integer lt_lua_check_integer(lua_State *L, int arg);
lua_Integer lt_lua_opt_integer(lua_State *L, int arg, lua_Integer otherwise);
lua_Number lt_lua_check_number(lua_State *L, int arg);
/* Escapes the control characters of the string on top of the stack (lt_printable). */
void lt_lua_make_printable(lua_State *L);
const char *lt_lua_check_lstring(lua_State *L, int arg, size_t *n);
const char *lt_lua_check_string(lua_State *L, int arg);
const char *lt_lua_opt_string(lua_State *L, int arg, const char *otherwise);
/* The index of the string, or of `otherwise` if absent, in the list (ended by NULL). */
int lt_lua_check_option(lua_State *L, int arg, const char *otherwise, const char *const *list);

#endif
