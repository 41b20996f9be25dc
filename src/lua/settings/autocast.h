/* autocast.h - called by generated functions so that torch.autocast casts their arguments. */
#ifndef LT_LUA_AUTOCAST_H
#define LT_LUA_AUTOCAST_H

#include <lua.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef enum lt_autocast_policy {
    LT_AUTOCAST_NONE,
    LT_AUTOCAST_LOWER, /* to the scope's dtype */
    LT_AUTOCAST_FLOAT32,
    LT_AUTOCAST_WIDEST /* to float32 when an argument has it */
} lt_autocast_policy;

/* The number of interpreters in the process with an active scope: if it is 0, an op only tests
 * this. */
extern _Atomic int lt_autocast_scopes;
static inline bool lt_autocast_on(void)
{
    return __builtin_expect(atomic_load_explicit(&lt_autocast_scopes, memory_order_relaxed) != 0,
                            0);
}

/* Replaces the arguments of the running function, by the policy for their device. */
void lt_lua_autocast(lua_State *L, lt_autocast_policy cpu, lt_autocast_policy cuda);

#endif
