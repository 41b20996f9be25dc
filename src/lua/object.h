/* object.h - instances of Lua classes (modules, optimizers, datasets) as userdata. */
#ifndef LT_LUA_OBJECT_H
#define LT_LUA_OBJECT_H

struct lua_State;

/* Adds new_object, object_fields, object_metatable and make_parameter to the table on top of the
 * stack (torch._C). */
void lt_lua_open_object(struct lua_State *L);

#endif
