/* stoppable.c - how what stoppable.h declares ends, and its way to our own Lua files. */
#include "stoppable.h"

#include "binding.h"

void lt_lua_stop(lua_State *L, lt_context *context)
{
    const lt_context_outer outer = lt_context_visit(context);
    const bool stops = lt_must_stop();
    if (stops) (void)lt_stopped();
    lt_context_return(outer);
    if (stops) luaL_error(L, "%s", lt_error_message());
}

/* stoppable() -> the functions, by library */
static int stoppable(lua_State *L)
{
    lt_lua_push_stoppable(L);
    return 1;
}

void lt_lua_open_stoppable(lua_State *L)
{
    lua_pushcfunction(L, stoppable);
    lua_setfield(L, 2, "stoppable");
}
