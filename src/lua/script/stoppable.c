/* stoppable.c - raises the error by which functions of stoppable.h end. */
#include "stoppable.h"

#include "error.h"

void lt_lua_stop(lua_State *L, lt_context *context)
{
    const lt_context_outer outer = lt_context_visit(context);
    const bool stops = lt_must_stop();
    if (stops) (void)lt_stopped();
    lt_context_return(outer);
    if (stops) luaL_error(L, "%s", lt_error_message());
}
