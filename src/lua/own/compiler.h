/* compiler.h - the compiler of the host: part of lt_lua_open_own. */
#ifndef LT_LUA_COMPILER_H
#define LT_LUA_COMPILER_H

struct lua_State;

/* Adds compile_library to torch._C, the table at 2. */
void lt_lua_open_compiler(struct lua_State *L);

#endif
