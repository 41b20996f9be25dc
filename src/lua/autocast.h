/* autocast.h - what generated functions call so that torch.autocast casts their arguments. */
#ifndef LT_LUA_AUTOCAST_H
#define LT_LUA_AUTOCAST_H

#include <lua.h>
#include <stdbool.h>

typedef enum lt_autocast_policy {
    LT_AUTOCAST_NONE,
    LT_AUTOCAST_LOWER,   /* to the scope's dtype */
    LT_AUTOCAST_FLOAT32,
    LT_AUTOCAST_WIDEST   /* to float32 when an argument has it */
} lt_autocast_policy;

/* Whether a scope is on in this thread: all that an op pays when none is. */
extern _Thread_local bool lt_autocast_on;

/* Replaces the arguments of the running function, by the policy for their device. */
void lt_lua_autocast(lua_State *L, lt_autocast_policy cpu, lt_autocast_policy cuda);

#endif
