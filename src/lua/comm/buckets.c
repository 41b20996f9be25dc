/* buckets.c - torch._C.reducer for lib/distributed/reducer.lua: the collection of gradients in
 * buckets (src/comm/reducer.h) as userdata. Parameters and buckets count from 1. */
#include "buckets.h"

#include "binding.h"
#include "comm/reducer.h"

#define REDUCER_NAME "ltensor.Reducer"

typedef struct reducer_box {
    lt_reducer *reducer; /* user value 1: the callback */
    lt_lua_state *state;
} reducer_box;

/* The registry's table of boxes, weak, by their addresses. */
static const char boxes_key = 0;

static reducer_box *check_box(lua_State *L)
{
    reducer_box *box = lt_lua_check_udata(L, 1, REDUCER_NAME);
    if (box->reducer == NULL) lt_lua_error(L, "the reducer was not made");
    return box;
}

/* ---- calling the callback -------------------------------------------------------------------- */

typedef struct bucket_message {
    reducer_box *box;
    lt_reducer_event event;
    int number;
} bucket_message;

static int call_function(lua_State *L)
{
    static const char *const names[] = {"first", "full", "twice"};
    const bucket_message *m = lua_touserdata(L, 1);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &boxes_key);
    lua_rawgetp(L, -1, m->box);
    lua_getiuservalue(L, -1, 1);
    lua_pushstring(L, names[m->event]);
    lua_pushinteger(L, m->event == LT_REDUCER_FULL ? m->number : m->number + 1);
    lua_call(L, 2, 0);
    return 0;
}

static lt_status report_event(void *ctx, lt_reducer_event event, int number)
{
    reducer_box *box = ctx;
    return lt_lua_call_back(box->state, call_function, &(bucket_message){box, event, number});
}

/* ---- creation -------------------------------------------------------------------------------- */

/* reducer(parameters, as_view, callback) -> a reducer of these leaves. It calls callback('first',
 * index) at the first gradient of a backward pass, callback('full', n) when the first n buckets are
 * full, and callback('twice', index) for a second gradient of the same parameter. */
static int new_reducer(lua_State *L)
{
    lt_lua_check_type(L, 1, LUA_TTABLE);
    lt_lua_check_type(L, 3, LUA_TFUNCTION);
    const bool as_view = lua_toboolean(L, 2);
    const int n = (int)lua_rawlen(L, 1);
    lua_settop(L, 3);
    reducer_box *box = lua_newuserdatauv(L, sizeof *box, 1);
    *box = (reducer_box){.reducer = NULL};
    luaL_setmetatable(L, REDUCER_NAME);
    lua_pushvalue(L, 3);
    lua_setiuservalue(L, 4, 1);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &boxes_key);
    lua_pushvalue(L, 4);
    lua_rawsetp(L, -2, box);
    lt_tensor **list = lua_newuserdatauv(L, (size_t)n * sizeof *list, 0);
    for (int i = 0; i < n; i++) {
        lua_rawgeti(L, 1, i + 1);
        list[i] = lt_lua_check_tensor(L, -1); /* the table holds it */
        lua_pop(L, 1);
    }
    box->state = lt_lua_state_retain(lt_lua_state_current(L));
    lt_lua_do(
        L, lt_reducer_new(list, n, as_view, (lt_reducer_owner){report_event, box}, &box->reducer));
    lua_pushvalue(L, 4);
    return 1;
}

static int reducer_gc(lua_State *L)
{
    reducer_box *box = lua_touserdata(L, 1);
    lt_reducer *r = box->reducer;
    lt_lua_state *state = box->state;
    *box = (reducer_box){.reducer = NULL};
    if (r != NULL) lt_reducer_close(r);
    if (state != NULL) lt_lua_state_release(state);
    return 0;
}

/* Reads entry i, from 0, of the table on top of the stack: a parameter's number. */
static int place_at(lua_State *L, const lt_reducer *r, int i)
{
    lua_rawgeti(L, -1, i + 1);
    const lua_Integer place = lua_tointeger(L, -1);
    if (place < 1 || place > lt_reducer_parameters(r))
        lt_lua_error(L, "invalid parameter %I, expected 1 to %d", (LUAI_UACINT)place,
                     lt_reducer_parameters(r));
    lua_pop(L, 1);
    return (int)place - 1;
}

/* set_buckets { { places = list, views = list }, ... }: every parameter is in one bucket. */
static int set_buckets(lua_State *L)
{
    reducer_box *box = check_box(L);
    const int n = lt_reducer_parameters(box->reducer);
    lt_lua_check_type(L, 2, LUA_TTABLE);
    const int n_buckets = (int)lua_rawlen(L, 2);
    lua_settop(L, 2);
    int *counts = lua_newuserdatauv(L, (size_t)(n_buckets + n) * sizeof *counts, 0), at = 0;
    lt_tensor **views = lua_newuserdatauv(L, (size_t)n * sizeof *views, 0);
    for (int b = 0; b < n_buckets; b++) {
        lua_rawgeti(L, 2, b + 1);
        lua_getfield(L, -1, "views");
        lua_getfield(L, -2, "places");
        for (int list = -2; list < 0; list++)
            if (!lua_istable(L, list))
                return lt_lua_error(L, "bucket %d: both lists must be tables, not %s", b + 1,
                                    lt_lua_type_name(L, list));
        counts[b] = (int)lua_rawlen(L, -1);
        if (counts[b] > n - at)
            return lt_lua_error(L, "the buckets have more than the %d parameters of the reducer",
                                n);
        for (int i = 0; i < counts[b]; i++, at++) {
            counts[n_buckets + at] = place_at(L, box->reducer, i);
            lua_rawgeti(L, -2, i + 1);
            views[at] = lt_lua_check_tensor(L, -1);
            lua_pop(L, 1);
        }
        lua_pop(L, 3);
    }
    if (at != n) return lt_lua_error(L, "the buckets have %d parameters of %d", at, n);
    lt_lua_do(L,
              lt_reducer_set_buckets(box->reducer, n_buckets, counts, counts + n_buckets, views));
    return 0;
}

/* ---- a backward pass ------------------------------------------------------------------------- */

/* reset(expecting) */
static int reset(lua_State *L)
{
    lt_reducer_reset(check_box(L)->reducer, lua_toboolean(L, 2));
    return 0;
}

/* count_only(on) */
static int count_only(lua_State *L)
{
    lt_reducer_count_only(check_box(L)->reducer, lua_toboolean(L, 2));
    return 0;
}

static int keep_counts(lua_State *L)
{
    lt_reducer_keep_counts(check_box(L)->reducer);
    return 0;
}

static int check_number(lua_State *L, int most)
{
    const lua_Integer number = lt_lua_check_integer(L, 2);
    if (number < 1 || number > most)
        lt_lua_error(L, "invalid number %I, expected 1 to %d", (LUAI_UACINT)number, most);
    return (int)number - 1;
}

/* ready(place) */
static int ready(lua_State *L)
{
    lt_reducer *r = check_box(L)->reducer;
    const int place = check_number(L, lt_reducer_parameters(r));
    lt_lua_do(L, lt_reducer_ready(r, place));
    return 0;
}

/* take(bucket, used): used: nil, or a list of flags, 0 or another number, by parameter */
static int bucket_take(lua_State *L)
{
    lt_reducer *r = check_box(L)->reducer;
    const int bucket = check_number(L, lt_reducer_buckets(r)), n = lt_reducer_parameters(r);
    int64_t *used = NULL;
    if (!lua_isnoneornil(L, 3)) {
        lt_lua_check_type(L, 3, LUA_TTABLE);
        used = lua_newuserdatauv(L, (size_t)n * sizeof *used, 0);
        for (int i = 0; i < n; i++) {
            lua_rawgeti(L, 3, i + 1);
            used[i] = lua_tointeger(L, -1);
            lua_pop(L, 1);
        }
    }
    lt_lua_do(L, lt_reducer_take(r, bucket, used));
    return 0;
}

/* ---- queries --------------------------------------------------------------------------------- */

static int expects(lua_State *L)
{
    lua_pushboolean(L, lt_reducer_expects(check_box(L)->reducer));
    return 1;
}

/* full() -> the number of buckets, from the first on, that are full */
static int full(lua_State *L)
{
    lua_pushinteger(L, lt_reducer_full(check_box(L)->reducer));
    return 1;
}

/* left() -> the number of parameters that are not ready */
static int left(lua_State *L)
{
    lua_pushinteger(L, lt_reducer_left(check_box(L)->reducer));
    return 1;
}

/* A list of the parameters for which the flag is false. */
static int push_without(lua_State *L, bool (*flag)(const lt_reducer *r, int place))
{
    const lt_reducer *r = check_box(L)->reducer;
    const int n = lt_reducer_parameters(r);
    lua_newtable(L);
    for (int i = 0, at = 0; i < n; i++)
        if (!flag(r, i)) {
            lua_pushinteger(L, i + 1);
            lua_rawseti(L, -2, ++at);
        }
    return 1;
}

static bool has_come(const lt_reducer *r, int place) { return lt_reducer_seen(r, place) > 0; }

/* missing() -> the parameters that are not ready */
static int missing(lua_State *L) { return push_without(L, lt_reducer_is_ready); }
/* unseen() -> the parameters without a gradient */
static int unseen(lua_State *L) { return push_without(L, has_come); }

/* order() -> the parameters in the order in which their gradients arrived */
static int bucket_order(lua_State *L)
{
    int n;
    const int *places = lt_reducer_order(check_box(L)->reducer, &n);
    lua_createtable(L, n, 0);
    for (int i = 0; i < n; i++) {
        lua_pushinteger(L, places[i] + 1);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

void lt_lua_open_reducer(lua_State *L)
{
    static const luaL_Reg methods[] = {{"set_buckets", set_buckets},
                                       {"reset", reset},
                                       {"count_only", count_only},
                                       {"keep_counts", keep_counts},
                                       {"ready", ready},
                                       {"take", bucket_take},
                                       {"expects", expects},
                                       {"full", full},
                                       {"left", left},
                                       {"missing", missing},
                                       {"unseen", unseen},
                                       {"order", bucket_order},
                                       {NULL, NULL}};
    static const luaL_Reg functions[] = {{"reducer", new_reducer}, {NULL, NULL}};
    luaL_newmetatable(L, REDUCER_NAME);
    lua_createtable(L, 0, 12);
    lt_lua_setfuncs(L, methods);
    lua_setfield(L, -2, "__index");
    lt_lua_pushfunction(L, reducer_gc);
    lua_setfield(L, -2, "__gc");
    lua_pop(L, 1);
    lua_newtable(L);
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "v");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &boxes_key);
    lua_pushvalue(L, 2);
    lt_lua_setfuncs(L, functions);
    lua_pop(L, 1);
}
