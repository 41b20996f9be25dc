/* refuse.h - errors for values that a function of ours cannot take: what luaL_error and
 * luaL_check... do, but at the line of the user's code, however many of our own Lua functions lie
 * in between, and with the function's own name.
 *
 * "size(): argument 2 must be an integer, not string". Nothing here is called unless an error is
 * due, except for the checks themselves, which look and return. */
#ifndef LT_LUA_REFUSE_H
#define LT_LUA_REFUSE_H

#include <lauxlib.h>
#include <lua.h>
#include <stdbool.h>

/* The nearest frame of the user's own code: neither C nor a module of ours. */
bool lt_lua_users_frame(lua_State *L, lua_Debug *frame);
/* Raises what lua_pushfstring makes of the format, with the user's position; never returns. */
int lt_lua_error(lua_State *L, const char *format, ...);
/* "name(): argument 2 must be EXPECTED, not number"; of a method called with a dot it says so. */
int lt_lua_refuse(lua_State *L, int arg, const char *expected);

/* Lua's type of a value, or what its metatable calls it ("Tensor", "Linear"); "no value". Lives as
 * long as the value. */
const char *lt_lua_type_name(lua_State *L, int index);
/* The entry nearest to name among the string keys of the table, and of `best`, found before (NULL:
 * none). NULL when none is near: within a third of its letters, two that are swapped counting once.
 * Its text lives as long as the table. */
const char *lt_lua_nearest(lua_State *L, int table, const char *name, const char *best);
/* Raises that a value of the class has no field of the name at stack index 2, naming the nearest
 * among the string keys of two tables (the second may be 0). */
int lt_lua_no_field(lua_State *L, const char *class, int table, int other);
/* nearest_name(name, list of names), for Lua */
int lt_lua_nearest_name(lua_State *L);
/* Raises that `what` takes no argument of the name at stack index `name`, with the nearest in the
 * list of names at `names`, or all. */
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
/* Replaces the string on top of the stack by the one with escapes in place of control characters
 * (lt_printable). */
void lt_lua_make_printable(lua_State *L);
const char *lt_lua_check_lstring(lua_State *L, int arg, size_t *n);
const char *lt_lua_check_string(lua_State *L, int arg);
const char *lt_lua_opt_string(lua_State *L, int arg, const char *otherwise);
/* The position of the string, or of `otherwise` for none, in the list (ended by NULL). */
int lt_lua_check_option(lua_State *L, int arg, const char *otherwise, const char *const *list);

#endif
