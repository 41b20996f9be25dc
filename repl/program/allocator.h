/* allocator.h - the program's allocator for Lua objects. */
#ifndef REPL_ALLOCATOR_H
#define REPL_ALLOCATOR_H

struct lua_State;

/* Makes L allocate small objects from pools by size; call it right after luaL_newstate. If no
 * address space can be reserved for the pools, nothing changes. */
void allocator_install(struct lua_State *L);

#endif
