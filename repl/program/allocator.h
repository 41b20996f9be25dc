/* allocator.h - the program's memory for Lua objects. */
#ifndef REPL_ALLOCATOR_H
#define REPL_ALLOCATOR_H

struct lua_State;

/* From now on L's small objects come from pools by size; call it right after luaL_newstate. Without
 * the address space for pools everything stays as it was. */
void allocator_install(struct lua_State *L);

#endif
