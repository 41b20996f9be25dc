/* autocast.c - torch.autocast: casts the arguments of listed ops on Lua's stack, before they are
 * matched.
 *
 * The generator's list (scripts/gen/autocast.lua) states the ops and their dtypes. Casts are
 * ordinary ops, so derivatives pass through them. In a scope a parameter is cast once: the table in
 * the registry under CACHE maps its box to an entry (see find_cached), until the outermost scope
 * ends. Settings belong to the interpreter. */
#include "autocast.h"

#include "call.h"
#include "devices/device_type.h"
#include "dtypes/dtype.h"
#include "op/_to_copy.h"
#include "memory/alloc.h"

#define CACHE "ltensor.autocast"

_Atomic int lt_autocast_scopes;

typedef struct mode {
    bool enabled;
    lt_dtype dtype;
} mode;

typedef struct lt_autocast {
    mode modes[LT_DEVICE_TYPES];
    bool cache_enabled;
} lt_autocast;

static const lt_autocast defaults = {
    .modes = {[LT_CPU] = {false, LT_BFLOAT16}, [LT_CUDA] = {false, LT_FLOAT16}},
    .cache_enabled = true};

static const lt_autocast *settings_of(lua_State *L)
{
    const lt_autocast *settings = lt_lua_state_current(L)->autocast;
    return settings != NULL ? settings : &defaults;
}

static bool any_on(const lt_autocast *a)
{
    return a->modes[LT_CPU].enabled || a->modes[LT_CUDA].enabled;
}

static void free_settings(lt_autocast *settings)
{
    if (any_on(settings)) atomic_fetch_sub(&lt_autocast_scopes, 1);
    lt_mem_free(settings);
}

/* ---- casting --------------------------------------------------------------------------------- */

static bool eligible(const lt_autocast *a, const lt_tensor *t)
{
    return a->modes[t->device.type].enabled && lt_dtype_is_float((lt_dtype)t->dtype) &&
           t->dtype != LT_FLOAT64;
}

static bool is_cached(const lt_autocast *a, const lt_tensor *t)
{
    return a->cache_enabled && t->dtype == LT_FLOAT32 && (t->flags & LT_FLAG_REQUIRES_GRAD) &&
           t->view_base == NULL && lt_is_leaf(t);
}

enum { ENTRY_COPY = 1, ENTRY_SOURCE, ENTRY_VERSION };

/* Pushes the cached cast of t (its box is at index) and returns true; else pushes nothing. An entry
 * is a table of the box of the cast, an alias of the source tensor and its version: t may have been
 * written, or given other memory, since. */
static bool find_cached(lua_State *L, int index, const lt_tensor *t, lt_dtype dtype)
{
    const int top = lua_gettop(L);
    lua_getfield(L, LUA_REGISTRYINDEX, CACHE);
    lua_pushvalue(L, index);
    if (lua_rawget(L, -2) == LUA_TTABLE) {
        lua_rawgeti(L, -1, ENTRY_VERSION);
        lua_rawgeti(L, -2, ENTRY_SOURCE);
        const lt_tensor *source = lt_lua_get(L, -1);
        const bool unchanged =
            lua_tointeger(L, -2) == (lua_Integer)t->storage->version && lt_same_elements(source, t);
        lua_rawgeti(L, -3, ENTRY_COPY);
        const lt_tensor *copy = lt_lua_get(L, -1);
        if (unchanged && copy->dtype == dtype) {
            lua_replace(L, top + 1);
            lua_settop(L, top + 1);
            return true;
        }
    }
    lua_settop(L, top);
    return false;
}

/* Caches the cast on top of the stack, which stays there. */
static void keep_cast(lua_State *L, int index, lt_tensor *t)
{
    const int copy = lua_gettop(L);
    lua_getfield(L, LUA_REGISTRYINDEX, CACHE);
    lua_pushvalue(L, index);
    lua_createtable(L, 3, 0);
    lua_pushvalue(L, copy);
    lua_rawseti(L, -2, ENTRY_COPY);
    lt_lua_check(L, lt_tensor_alias(t, lt_lua_new(L)));
    lua_rawseti(L, -2, ENTRY_SOURCE);
    lua_pushinteger(L, (lua_Integer)t->storage->version);
    lua_rawseti(L, -2, ENTRY_VERSION);
    lua_rawset(L, -3);
    lua_settop(L, copy);
}

/* Pushes a box of the tensor at index in the dtype. */
static void push_cast(lua_State *L, int index, lt_tensor *t, lt_dtype dtype)
{
    bool cached = is_cached(settings_of(L), t) && LT_INSIDE(L, lt_grad_mode_on());
    if (cached && find_cached(L, index, t, dtype)) return;
    lt_tensor **slot = lt_lua_new(L);
    lt_entry entry = lt_enter(L);
    lt_status status = lt__to_copy(t, dtype, NULL, false, slot);
    lt_leave(entry);
    lt_call_tensor(L, status, slot, &index, 1);
    if (cached) keep_cast(L, index, t);
}

static lt_dtype target(const lt_autocast *a, const lt_tensor *t, const lt_autocast_policy *policies,
                       bool wide)
{
    switch (policies[t->device.type]) {
    case LT_AUTOCAST_LOWER: return a->modes[t->device.type].dtype;
    case LT_AUTOCAST_FLOAT32: return LT_FLOAT32;
    case LT_AUTOCAST_WIDEST: return wide ? LT_FLOAT32 : (lt_dtype)t->dtype;
    default: return (lt_dtype)t->dtype;
    }
}

/* Replaces the value at index (absolute) when it is a tensor to be cast; true if so. */
static bool cast_value(lua_State *L, int index, const lt_autocast_policy *policies, bool wide)
{
    lt_tensor *t = lt_lua_get(L, index);
    if (t == NULL || !eligible(settings_of(L), t)) return false;
    lt_dtype dtype = target(settings_of(L), t, policies, wide);
    if (dtype == (lt_dtype)t->dtype) return false;
    push_cast(L, index, t, dtype);
    lua_replace(L, index);
    return true;
}

/* A table of arguments: lists of tensors and named arguments. Only a copy is changed. */
static bool is_plain_table(lua_State *L, int index)
{
    if (lua_type(L, index) != LUA_TTABLE) return false;
    if (!lua_getmetatable(L, index)) return true;
    lua_pop(L, 1);
    return false;
}

static void cast_table(lua_State *L, int index, const lt_autocast_policy *policies, bool wide)
{
    int copy = 0;
    lua_pushnil(L);
    while (lua_next(L, index) != 0) {
        if (cast_value(L, lua_gettop(L), policies, wide)) {
            if (copy == 0) { /* under the key and the value */
                lua_createtable(L, 0, 0);
                lua_pushnil(L);
                while (lua_next(L, index) != 0) {
                    lua_pushvalue(L, -2);
                    lua_insert(L, -2);
                    lua_rawset(L, -4);
                }
                lua_insert(L, -3);
                copy = lua_gettop(L) - 2;
            }
            lua_pushvalue(L, -2);
            lua_insert(L, -2);
            lua_rawset(L, copy);
        } else {
            lua_pop(L, 1);
        }
    }
    if (copy != 0) lua_replace(L, index);
}

/* Whether an argument that would be cast has float32. */
static bool any_float32(lua_State *L, int index)
{
    const lt_autocast *a = settings_of(L);
    lt_tensor *t = lt_lua_get(L, index);
    if (t != NULL) return eligible(a, t) && t->dtype == LT_FLOAT32;
    if (!is_plain_table(L, index)) return false;
    bool found = false;
    lua_pushnil(L);
    while (lua_next(L, index) != 0) {
        t = lt_lua_get(L, -1);
        found = found || (t != NULL && eligible(a, t) && t->dtype == LT_FLOAT32);
        lua_pop(L, 1);
    }
    return found;
}

void lt_lua_autocast(lua_State *L, lt_autocast_policy cpu, lt_autocast_policy cuda)
{
    const lt_autocast_policy policies[LT_DEVICE_TYPES] = {[LT_CPU] = cpu, [LT_CUDA] = cuda};
    const int n = lua_gettop(L);
    bool wide = false;
    if (!any_on(settings_of(L))) return; /* another interpreter's scope */
    luaL_checkstack(L, 12, NULL);
    for (int i = 1; i <= n && !wide; i++) wide = any_float32(L, i);
    for (int i = 1; i <= n; i++)
        if (is_plain_table(L, i))
            cast_table(L, i, policies, wide);
        else
            cast_value(L, i, policies, wide);
}

/* ---- settings -------------------------------------------------------------------------------- */

static lt_device_type check_type(lua_State *L, int arg)
{
    const char *names[LT_DEVICE_TYPES + 1] = {NULL};
    for (int type = 0; type < LT_DEVICE_TYPES; type++) names[type] = lt_device_types[type].name;
    return (lt_device_type)lt_lua_check_option(L, arg, names[lt_accelerator()], names);
}

/* The interpreter's settings, which may be changed. */
static lt_autocast *own_settings(lua_State *L)
{
    lt_lua_state *s = lt_lua_state_current(L);
    if (s->autocast != NULL) return s->autocast;
    s->autocast = lt_mem_alloc(sizeof *s->autocast);
    if (s->autocast == NULL) lt_lua_raise(L);
    *s->autocast = defaults;
    s->autocast_free = free_settings;
    return s->autocast;
}

/* autocast_set(type, enabled, dtype or nil, cache enabled) -> the previous settings */
static int autocast_set(lua_State *L)
{
    lt_device_type type = check_type(L, 1);
    lt_autocast *a = own_settings(L);
    mode previous = a->modes[type];
    bool previous_cache = a->cache_enabled, was_on = any_on(a);
    lt_dtype dtype = lt_lua_to_dtype(L, 3);
    a->modes[type].enabled = lua_toboolean(L, 2);
    if (dtype != LT_DTYPE_NONE) a->modes[type].dtype = dtype;
    a->cache_enabled = lua_toboolean(L, 4);
    if (any_on(a) != was_on) atomic_fetch_add(&lt_autocast_scopes, was_on ? -1 : 1);
    lua_pushboolean(L, previous.enabled);
    lt_lua_push_dtype(L, previous.dtype);
    lua_pushboolean(L, previous_cache);
    return 3;
}

static int clear_cache(lua_State *L)
{
    lua_createtable(L, 0, 0);
    lua_setfield(L, LUA_REGISTRYINDEX, CACHE);
    return 0;
}

static int is_enabled(lua_State *L)
{
    lua_pushboolean(L, settings_of(L)->modes[check_type(L, 1)].enabled);
    return 1;
}

static int get_dtype(lua_State *L)
{
    lt_lua_push_dtype(L, settings_of(L)->modes[check_type(L, 1)].dtype);
    return 1;
}

static int is_cache_enabled(lua_State *L)
{
    lua_pushboolean(L, settings_of(L)->cache_enabled);
    return 1;
}

void lt_lua_open_autocast(lua_State *L)
{
    static const luaL_Reg functions[] = {{"is_autocast_enabled", is_enabled},
                                         {"get_autocast_dtype", get_dtype},
                                         {"is_autocast_cache_enabled", is_cache_enabled},
                                         {"clear_autocast_cache", clear_cache},
                                         {NULL, NULL}};
    static const luaL_Reg internal[] = {{"autocast_set", autocast_set}, {NULL, NULL}};
    clear_cache(L);
    lua_pushvalue(L, 1);
    lt_lua_setfuncs(L, functions);
    lua_pop(L, 1);
    lua_pushvalue(L, 2);
    lt_lua_setfuncs(L, internal);
    lua_pop(L, 1);
}
