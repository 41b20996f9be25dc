/* profile.c - torch._C.profile_..., for lib/profiler.lua. */
#include "context/profile.h"

#include "binding.h"
#include "devices/backend.h"
#include "devices/device_type.h"
#include "memory/alloc.h"

/* profile_start(gpu) */
static int start_profile(lua_State *L)
{
    const lt_entry entry = lt_enter(L);
    const bool gpu = lua_toboolean(L, 1);
    const lt_backend *gpus = gpu ? lt_backend_get(lt_accelerator()) : NULL;
    const lt_status status = gpu && gpus == NULL ? LT_ERR_DEVICE : lt_profile_start(gpus);
    lt_leave(entry);
    lt_lua_check(L, status);
    return 0;
}

static int is_on(lua_State *L)
{
    lua_pushboolean(L, lt_profiling);
    return 1;
}

/* profile_begin(name) -> the event's number, nil if the profiler is off */
static int begin_range(lua_State *L)
{
    const char *name = lt_lua_check_string(L, 1);
    if (!lt_profiling) return 0;
    lua_pushinteger(L, lt_profile_begin(name, LT_PROFILE_USER));
    return 1;
}

static int end(lua_State *L)
{
    if (lua_isinteger(L, 1)) lt_profile_end((int32_t)lua_tointeger(L, 1));
    return 0;
}

static void set_number(lua_State *L, const char *name, double value)
{
    lua_pushnumber(L, value);
    lua_setfield(L, -2, name);
}

static void set_integer(lua_State *L, const char *name, int64_t value)
{
    lua_pushinteger(L, value);
    lua_setfield(L, -2, name);
}

static int free_events(lua_State *L)
{
    lt_profile_event **box = lua_touserdata(L, 1);
    lt_mem_free(*box);
    *box = NULL;
    return 0;
}

/* profile_stop() -> a list of events {name, kind, parent (a position, 0: none), start, time, self,
 * memory, copies, copied, device, device_start, device_time, device_self}, times in seconds */
static int stop_profile(lua_State *L)
{
    static const char *const kinds[] = {"op", "backward", "user"};
    int64_t n = 0;
    lt_profile_event **box = lua_newuserdatauv(L, sizeof *box, 0);
    *box = NULL;
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, free_events);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    lt_lua_do(L, lt_profile_stop(box, &n));
    lua_createtable(L, (int)n, 0);
    for (int64_t i = 0; i < n; i++) {
        const lt_profile_event *e = &(*box)[i];
        lua_createtable(L, 0, 13);
        lua_pushstring(L, e->name);
        lua_setfield(L, -2, "name");
        lua_pushstring(L, kinds[e->kind]);
        lua_setfield(L, -2, "kind");
        set_integer(L, "parent", e->parent + 1);
        set_number(L, "start", e->start);
        set_number(L, "time", e->end - e->start);
        set_number(L, "self", e->end - e->start - e->inner);
        set_integer(L, "memory", e->memory);
        set_integer(L, "copies", e->copies);
        set_integer(L, "copied", e->copied);
        set_integer(L, "device", e->device);
        set_number(L, "device_start", e->device_start);
        set_number(L, "device_time", e->device_time);
        set_number(L, "device_self",
                   e->device_time > e->device_inner ? e->device_time - e->device_inner : 0);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

void lt_lua_open_profile(lua_State *L)
{
    static const luaL_Reg functions[] = {{"profile_start", start_profile},
                                         {"profile_stop", stop_profile},
                                         {"profile_begin", begin_range},
                                         {"profile_end", end},
                                         {"profile_on", is_on},
                                         {NULL, NULL}};
    lua_pushvalue(L, 2);
    lt_lua_setfuncs(L, functions);
    lua_pop(L, 1);
}
