/* comm.c - worlds of ranks, their groups and work (src/comm/comm.h) as userdata, for
 * lib/distributed: torch._C.comm_open, comm_fake, comm_environment. Ranks are numbers from 0. */
#include "comm/comm.h"

#include <string.h>

#include "binding.h"
#include "buckets.h"
#include "gpus.h"
#include "devices/copies.h"
#include "compile/deferred.h"

#define WORLD_NAME "ltensor.World"
#define GROUP_NAME "ltensor.Ranks"
#define WORK_NAME  "ltensor.Work"

typedef struct world_box {
    lt_world *world;
    bool fake; /* to be freed */
} world_box;

typedef struct group_box {
    lt_ranks *group; /* user value 1: the world's box */
} group_box;

typedef struct work_box {
    lt_work *work; /* user value 1: the world's box */
} work_box;

/* ---- groups ---------------------------------------------------------------------------------- */

static lt_ranks *check_group(lua_State *L)
{
    return ((group_box *)lt_lua_check_udata(L, 1, GROUP_NAME))->group;
}

/* Pushes the group. Its user value is the box of its world, at stack index `world`. */
static void push_group(lua_State *L, lt_ranks *group, int world)
{
    world = lua_absindex(L, world);
    group_box *box = lua_newuserdatauv(L, sizeof *box, 1);
    box->group = group;
    lua_pushvalue(L, world);
    lua_setiuservalue(L, -2, 1);
    luaL_setmetatable(L, GROUP_NAME);
}

static int group_size(lua_State *L)
{
    lua_pushinteger(L, lt_ranks_size(check_group(L)));
    return 1;
}

static int group_me(lua_State *L)
{
    lua_pushinteger(L, lt_ranks_me(check_group(L)));
    return 1;
}

/* global(rank in the group) -> rank in the world */
static int group_global(lua_State *L)
{
    lt_ranks *group = check_group(L);
    const lua_Integer rank = lt_lua_check_integer(L, 2);
    if (rank < 0 || rank >= lt_ranks_size(group))
        return lt_lua_error(L, "rank %d is not in the group", (int)rank);
    lua_pushinteger(L, lt_ranks_global(group, (int)rank));
    return 1;
}

static int group_set_timeout(lua_State *L)
{
    lt_ranks_set_timeout(check_group(L), lt_lua_check_number(L, 2));
    return 0;
}

/* The names of the operations for users. */
static const struct operation {
    const char *name;
    lt_collective kind;
} operations[] = {
    {"barrier", LT_BARRIER},
    {"broadcast", LT_BROADCAST},
    {"all_reduce", LT_ALL_REDUCE},
    {"reduce", LT_REDUCE},
    {"all_gather", LT_ALL_GATHER},
    {"all_gather_into_tensor", LT_ALL_GATHER},
    {"reduce_scatter", LT_REDUCE_SCATTER},
    {"reduce_scatter_tensor", LT_REDUCE_SCATTER},
    {"gather", LT_GATHER},
    {"scatter", LT_SCATTER},
    {"all_to_all", LT_ALL_TO_ALL},
    {"all_to_all_single", LT_ALL_TO_ALL},
    {"send", LT_SEND},
    {"isend", LT_SEND},
    {"recv", LT_RECV},
    {"irecv", LT_RECV},
    {"new_group", LT_NEW_GROUP},
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

static const struct operation *find_operation(lua_State *L, const char *name)
{
    for (int i = 0; i < OPERATIONS; i++)
        if (strcmp(operations[i].name, name) == 0) return &operations[i];
    lt_lua_error(L, "'%s' is no operation between ranks", name);
    return NULL;
}

static lt_tensor *optional_tensor(lua_State *L, int arg)
{
    lt_tensor *t = lua_isnoneornil(L, arg) ? NULL : lt_lua_check_tensor(L, arg);
    if (lt_is_sparse(t)) lt_lua_refuse(L, arg, "an ordinary tensor, not a sparse one");
    return t;
}

/* Pushes a userdata with the integers of the table at arg and returns it; NULL (and nil pushed) for
 * nil. */
static int64_t *check_integers(lua_State *L, int arg, int *n)
{
    *n = 0;
    if (lua_isnoneornil(L, arg)) {
        lua_pushnil(L);
        return NULL;
    }
    lt_lua_check_type(L, arg, LUA_TTABLE);
    *n = (int)lua_rawlen(L, arg);
    int64_t *values = lua_newuserdatauv(L, (size_t)(*n + 1) * sizeof *values, 0);
    for (int i = 0; i < *n; i++) {
        lua_rawgeti(L, arg, i + 1);
        values[i] = lua_tointeger(L, -1);
        lua_pop(L, 1);
    }
    return values;
}

/* begin(name, input, output, peer, tag, reduction, given, got, ranks, timeout,
 * compare_only) -> work */
static int group_begin(lua_State *L)
{
    lt_ranks *group = check_group(L);
    const struct operation *operation = find_operation(L, lt_lua_check_string(L, 2));
    int n_given, n_got, n_ranks;
    lua_settop(L, 12);
    lt_comm_call call = {
        .kind = operation->kind,
        .name = operation->name,
        .input = optional_tensor(L, 3),
        .output = optional_tensor(L, 4),
        .peer = (int)lt_lua_opt_integer(L, 5, 0),
        .tag = (int)lt_lua_opt_integer(L, 6, 0),
        .reduction = (lt_comm_reduction)lt_lua_opt_integer(L, 7, 0),
        .timeout = lua_isnil(L, 11) ? 0 : lt_lua_check_number(L, 11),
        .compare_only = lua_toboolean(L, 12),
    };
    call.given = check_integers(L, 8, &n_given);
    call.got = check_integers(L, 9, &n_got);
    int64_t *wide = check_integers(L, 10, &n_ranks);
    int *ranks = lua_newuserdatauv(L, (size_t)(n_ranks + 1) * sizeof *ranks, 0);
    for (int i = 0; i < n_ranks; i++) ranks[i] = (int)wide[i];
    call.ranks = wide != NULL ? ranks : NULL;
    call.n_ranks = n_ranks;
    work_box *box = lua_newuserdatauv(L, sizeof *box, 1);
    box->work = NULL;
    luaL_setmetatable(L, WORK_NAME);
    lua_getiuservalue(L, 1, 1);
    lua_setiuservalue(L, -2, 1);
    lt_lua_do(L, lt_work_begin(group, &call, &box->work));
    return 1;
}

/* ---- work ------------------------------------------------------------------------------------ */

static work_box *check_work(lua_State *L) { return lt_lua_check_udata(L, 1, WORK_NAME); }

static int work_gc(lua_State *L)
{
    work_box *box = check_work(L);
    lt_work_release(box->work);
    box->work = NULL;
    return 0;
}

/* ended() -> whether it has ended; then whether it succeeded, and the error */
static int work_ended(lua_State *L)
{
    lt_work *work = check_work(L)->work;
    lt_status status;
    if (!lt_work_ended(work, &status)) {
        lua_pushboolean(L, false);
        return 1;
    }
    lua_pushboolean(L, true);
    lua_pushboolean(L, status == LT_OK);
    lua_pushstring(L, status == LT_OK ? NULL : lt_work_reason(work));
    return 3;
}

/* wait(seconds; 0: its own timeout) -> whether it succeeded, and the error */
static int work_wait(lua_State *L)
{
    lt_work *work = check_work(L)->work;
    const double seconds = luaL_optnumber(L, 2, 0);
    const lt_status status = LT_INSIDE(L, lt_work_wait(work, seconds));
    lt_status ended;
    if (status == LT_ERR_INTERRUPTED || status == LT_ERR_DEADLINE) return lt_lua_raise(L);
    lua_pushboolean(L, status == LT_OK);
    if (status == LT_OK) return 1;
    lua_pushstring(L, lt_work_ended(work, &ended) && ended != LT_OK ? lt_work_reason(work)
                                                                    : lt_error_message());
    return 2;
}

static int work_from(lua_State *L)
{
    lua_pushinteger(L, lt_work_from(check_work(L)->work));
    return 1;
}

/* times() -> the times of its submission and its end (0: not yet) */
static int work_times(lua_State *L)
{
    double begun, ended;
    lt_work_times(check_work(L)->work, &begun, &ended);
    lua_pushnumber(L, begun);
    lua_pushnumber(L, ended);
    return 2;
}

/* group() -> the group that new_group made; nil if this rank is not a member */
static int work_group(lua_State *L)
{
    lt_ranks *group = lt_work_group(check_work(L)->work);
    if (group == NULL) return 0;
    lua_getiuservalue(L, 1, 1);
    push_group(L, group, -1);
    return 1;
}

/* ---- worlds ---------------------------------------------------------------------------------- */

static lt_world *check_world(lua_State *L)
{
    return ((world_box *)lt_lua_check_udata(L, 1, WORLD_NAME))->world;
}

static world_box *new_world(lua_State *L)
{
    world_box *box = lua_newuserdatauv(L, sizeof *box, 0);
    *box = (world_box){NULL, false};
    luaL_setmetatable(L, WORLD_NAME);
    return box;
}

static int world_gc(lua_State *L)
{
    world_box *box = lt_lua_check_udata(L, 1, WORLD_NAME);
    if (box->fake && box->world != NULL) lt_world_free(box->world);
    box->world = NULL;
    return 0;
}

static int world_rank(lua_State *L)
{
    lua_pushinteger(L, lt_world_rank(check_world(L)));
    return 1;
}

static int world_size(lua_State *L)
{
    lua_pushinteger(L, lt_world_size(check_world(L)));
    return 1;
}

static int world_engine(lua_State *L)
{
    lua_pushstring(L, lt_world_engine(check_world(L)));
    return 1;
}

static int world_group(lua_State *L)
{
    push_group(L, lt_world_ranks(check_world(L)), 1);
    return 1;
}

/* set_native(on) */
static int world_set_native(lua_State *L)
{
    lt_world_set_native(check_world(L), lua_toboolean(L, 2));
    return 0;
}

static int world_step(lua_State *L)
{
    lt_world_step(check_world(L));
    return 0;
}

/* describe() -> text on this rank's current and last operation */
static int world_describe(lua_State *L)
{
    char text[2048];
    lt_world_describe(check_world(L), text, sizeof text);
    lua_pushstring(L, text);
    return 1;
}

/* comm_open(backend, timeout) -> the world of this process */
static int comm_open(lua_State *L)
{
    const char *backend = lt_lua_check_string(L, 1);
    const double timeout = lt_lua_check_number(L, 2);
    world_box *box = new_world(L);
    lt_lua_do(L, lt_world_open(backend, timeout, &box->world));
    return 1;
}

/* comm_fake(size, timeout) -> a list of simulated worlds in this process, one per rank */
static int comm_fake(lua_State *L)
{
    const lua_Integer size = lt_lua_check_integer(L, 1);
    const double timeout = lt_lua_check_number(L, 2);
    if (size < 1 || size > 65536)
        return lt_lua_error(L, "a world has 1 to 65536 ranks, not %d", (int)size);
    lua_createtable(L, (int)size, 0);
    for (int i = 1; i <= size; i++) {
        new_world(L);
        lua_rawseti(L, -2, i);
    }
    lt_world **worlds = lua_newuserdatauv(L, (size_t)size * sizeof *worlds, 0);
    memset(worlds, 0, (size_t)size * sizeof *worlds);
    const lt_status status = LT_INSIDE(L, lt_worlds_fake((int)size, timeout, worlds));
    for (int i = 0; i < size; i++) {
        lua_rawgeti(L, -2, i + 1);
        *(world_box *)lua_touserdata(L, -1) = (world_box){worlds[i], true};
        lua_pop(L, 1);
    }
    lt_lua_check(L, status);
    lua_pop(L, 1);
    return 1;
}

static int comm_environment(lua_State *L)
{
    (void)L;
    lt_comm_environment();
    return 0;
}

/* comm_origin() -> the line of the user's code that runs: "train.lua:31" */
static int comm_origin(lua_State *L)
{
    char origin[128] = "";
    const lt_entry entry = lt_enter(L);
    lt_copies_origin(origin, sizeof origin);
    lt_leave(entry);
    lua_pushstring(L, origin);
    return 1;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* storage_take(tensor, other, version): exchanges the memory of the two storages, for all views and
 * saved tensors, and sets the version of the first: derivatives reject tensors saved with another
 * version. */
static int storage_take(lua_State *L)
{
    lt_tensor *self = lt_lua_check_tensor(L, 1), *other = lt_lua_check_tensor(L, 2);
    const lua_Integer version = lt_lua_check_integer(L, 3);
    lt_lua_do(L, lt_storage_exchange(self, other));
    atomic_store_explicit(&self->storage->version, (uint32_t)version, memory_order_relaxed);
    return 0;
}

/* storage_drop(tensor, parts, reason): frees the memory of the tensor, its views and its saved
 * copies until storage_take replaces it. parts: a list of { at =, name = }: the part called name
 * begins at element `at`, counted from 0. reason: for the message of an op that reads it. */
static int storage_drop(lua_State *L)
{
    lt_tensor *self = lt_lua_check_tensor(L, 1);
    lt_lua_check_type(L, 2, LUA_TTABLE);
    const char *reason = lt_lua_check_string(L, 3);
    const int64_t size = (int64_t)lt_dtype_size((lt_dtype)self->dtype);
    const int n = (int)lua_rawlen(L, 2);
    lua_settop(L, 3);
    luaL_checkstack(L, n + 4, NULL); /* the names stay on it */
    lt_freed_part *parts = lua_newuserdatauv(L, (size_t)n * sizeof *parts, 0);
    for (int i = 0; i < n; i++) {
        lua_rawgeti(L, 2, i + 1);
        lua_getfield(L, -1, "at");
        parts[i].from = (self->offset + lua_tointeger(L, -1)) * size;
        lua_pop(L, 1);
        lua_getfield(L, -1, "name");
        parts[i].name = lt_lua_check_string(L, -1);
        lua_remove(L, -2);
    }
    lt_tensor **freed = lt_lua_new(L);
    lt_lua_do(L, lt_storage_freed(self, parts, n, reason, freed));
    lt_lua_do(L, lt_storage_exchange(self, *freed));
    lt_tensor_release(*freed);
    *freed = NULL;
    return 0;
}

/* ---- the types ------------------------------------------------------------------------------- */

static void new_type(lua_State *L, const char *name, const luaL_Reg *methods, lua_CFunction gc)
{
    luaL_newmetatable(L, name);
    lua_createtable(L, 0, 8);
    lt_lua_setfuncs(L, methods);
    lua_setfield(L, -2, "__index");
    if (gc != NULL) {
        lt_lua_pushfunction(L, gc);
        lua_setfield(L, -2, "__gc");
    }
    lua_pop(L, 1);
}

void lt_lua_open_comm(lua_State *L)
{
    static const luaL_Reg of_worlds[] = {
        {"rank", world_rank},         {"size", world_size}, {"engine", world_engine},
        {"group", world_group},       {"step", world_step}, {"set_native", world_set_native},
        {"describe", world_describe}, {NULL, NULL}};
    static const luaL_Reg of_groups[] = {
        {"size", group_size},     {"me", group_me},
        {"global", group_global}, {"set_timeout", group_set_timeout},
        {"begin", group_begin},   {NULL, NULL}};
    static const luaL_Reg of_works[] = {{"ended", work_ended}, {"wait", work_wait},
                                        {"from", work_from},   {"group", work_group},
                                        {"times", work_times}, {NULL, NULL}};
    static const luaL_Reg functions[] = {{"comm_open", comm_open},
                                         {"comm_fake", comm_fake},
                                         {"comm_environment", comm_environment},
                                         {"comm_origin", comm_origin},
                                         {"storage_take", storage_take},
                                         {"storage_drop", storage_drop},
                                         {NULL, NULL}};
    new_type(L, WORLD_NAME, of_worlds, world_gc);
    new_type(L, GROUP_NAME, of_groups, NULL);
    new_type(L, WORK_NAME, of_works, work_gc);
    lt_lua_open_device_comm(L);
    lt_lua_open_reducer(L);
    lua_pushvalue(L, 2);
    lt_lua_setfuncs(L, functions);
    lua_pop(L, 1);
}
