/* declared.h - C functions of the module with the declaration that the reader of functions in Lua
 * (lib/support/arguments.lua) uses. */
#ifndef LT_LUA_DECLARED_H
#define LT_LUA_DECLARED_H

#include <lua.h>

/* declared(f, most, tables, read), for Lua: the C function f of the module, which accepts `most`
 * positional values. A call with more of them, or that ends with a table unless `tables` is true
 * (f accepts one), first passes its values through read, which returns them in the order of the
 * declaration or raises an error. Other calls cost one comparison more. */
int lt_lua_declared(lua_State *L);
/* methods_of(name), for Lua: the metatable with the methods of Generator, Stream, Event or
 * CUDAGraph. Hosts may run scripts without the library debug. */
int lt_lua_methods_of(lua_State *L);

#endif
