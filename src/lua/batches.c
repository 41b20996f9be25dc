/* batches.c - torch._C's functions for torch.func.vmap (lib/func/vmap.lua, level.lua), over
 * ops/batch/batch.h. Levels count from 0. */
#include <string.h>

#include "binding.h"
#include "call.h"
#include "ops/batch/batch.h"

/* batch_enter(size, randomness) -> level: begins a vmap on this thread. */
static int batch_enter(lua_State *L)
{
    const char *word = lt_lua_check_string(L, 2);
    int level;
    lt_batch_randomness randomness = strcmp(word, "different") == 0 ? LT_RANDOM_DIFFERENT
                                     : strcmp(word, "same") == 0    ? LT_RANDOM_SAME
                                                                    : LT_RANDOM_ERROR;
    lt_lua_check(L, lt_batch_enter(lt_lua_check_integer(L, 1), randomness, &level));
    lua_pushinteger(L, level);
    return 1;
}

/* batch_leave(): ends the innermost vmap. */
static int batch_leave(lua_State *L)
{
    if (lt_batch_depth() == 0) return luaL_error(L, "batch_leave(): no vmap is active");
    lt_batch_leave();
    return 0;
}

/* batch_depth() -> the number of active vmaps. */
static int batch_depth(lua_State *L)
{
    lua_pushinteger(L, lt_batch_depth());
    return 1;
}

/* Argument 2: a level, or a number of levels, of at most `most`. */
static int check_level(lua_State *L, int most)
{
    lua_Integer level = lt_lua_check_integer(L, 2);
    if (level < 0 || level > most)
        lt_lua_error(L, "vmap level %I, expected 0 to %d", (LUAI_UACINT)level, most);
    return (int)level;
}

/* Argument 2: an active level. Operations do not search for hidden dimensions without a vmap, and
 * would read beyond the memory of a tensor that hides one. */
static int check_active_level(lua_State *L)
{
    if (lt_batch_depth() == 0) lt_lua_error(L, "no vmap is active");
    return check_level(L, lt_batch_depth() - 1);
}
static int check_active_levels(lua_State *L) { return check_level(L, lt_batch_depth()); }

/* is_batched(tensor, level or nil) */
static int is_batched(lua_State *L)
{
    const lt_tensor *t = lt_lua_check_tensor(L, 1);
    lua_pushboolean(L, lua_isnoneornil(L, 2) ? lt_is_batched(t)
                                             : lt_batch_has(t, check_level(L, LT_MAX_BATCHES - 1)));
    return 1;
}

typedef lt_status (*look)(lt_tensor *t, int level, lt_tensor **out);

static int looked_at(lua_State *L, look how, int level)
{
    static const int arguments[] = {1};
    lt_tensor *t = lt_lua_check_tensor(L, 1);
    lua_settop(L, 2);
    lt_tensor **slot = lt_lua_new(L);
    lt_lua_do(L, how(t, level, slot));
    if (lt_call_has_history(*slot)) lt_lua_link(L, lua_gettop(L), arguments, 1);
    return 1;
}

/* (tensor, level) -> tensor: call the core function of this name. */
static int batch_hide(lua_State *L) { return looked_at(L, lt_batch_hide, check_active_level(L)); }
static int batch_show(lua_State *L) { return looked_at(L, lt_batch_show, check_active_level(L)); }
static int batch_show_below(lua_State *L)
{
    return looked_at(L, lt_batch_show_below, check_active_levels(L));
}
static int batch_hide_below(lua_State *L)
{
    return looked_at(L, lt_batch_hide_below, check_active_levels(L));
}

void lt_lua_open_batches(lua_State *L)
{
    static const luaL_Reg internal[] = {
        {"batch_enter", batch_enter},
        {"batch_leave", batch_leave},
        {"batch_depth", batch_depth},
        {"is_batched", is_batched},
        {"batch_hide", batch_hide},
        {"batch_show", batch_show},
        {"batch_show_below", batch_show_below},
        {"batch_hide_below", batch_hide_below},
        {NULL, NULL},
    };
    lua_pushvalue(L, 2);
    lt_lua_setfuncs(L, internal);
    lua_pop(L, 1);
}
