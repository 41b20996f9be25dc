/* caller.h - whether the Lua that calls the module is the Lua that the library is bound to.
 *
 * A process may hold several Luas: an interpreter of another version, or a host with a copy of its
 * own that modules do not see. The loader then binds the library's calls to a different Lua than
 * the one that runs `require 'torch'`. A state passed to functions of another Lua is corrupted, so
 * the two must be compared before the state is used. */
#ifndef LT_LUA_CALLER_H
#define LT_LUA_CALLER_H

#include <lua.h>

/* Compares the Lua at a return address of luaopen_torch with the one of the library, without using
 * L.
 * - the same Lua, or one that cannot be determined (a static program): returns 1;
 * - another one: raises an error through that Lua's own luaL_error; where that is not exported,
 *   writes the message to stderr and returns 0, and the caller must return without using L.
 * opener: luaopen_torch. */
int lt_lua_check_caller(lua_State *L, const void *return_address, const void *opener);

#endif
