/* cuda.c - torch.cuda's functions on devices: the list of devices, the current one, properties,
 * memory, seeds.
 *
 * lib/cuda.lua builds the guards and the readable forms on them. Checking whether there is a GPU
 * never raises and loads the backend; a function that needs a GPU raises an error that names the
 * missing component. Devices count from 0. */
#include <stdio.h>

#include "compile/trace.h"
#include "gpu.h"
#include "memory/idle.h"

/* ---- devices --------------------------------------------------------------------------------- */

static int count_devices(lua_State *L)
{
    const lt_backend *backend = LT_INSIDE(L, lt_backend_probe(LT_CUDA));
    return backend != NULL ? backend->device_count() : 0;
}

static int device_count(lua_State *L)
{
    lua_pushinteger(L, count_devices(L));
    return 1;
}

static int is_available(lua_State *L)
{
    lua_pushboolean(L, count_devices(L) > 0);
    return 1;
}

static int is_simulated(lua_State *L)
{
    const lt_backend *backend = LT_INSIDE(L, lt_backend_probe(LT_CUDA));
    lua_pushboolean(L, backend != NULL && backend->simulated);
    return 1;
}

static int current_device(lua_State *L)
{
    lua_pushinteger(L, lt_lua_gpu(L)->current_device());
    return 1;
}

/* set_device(d): a negative number changes nothing, as in PyTorch */
static int set_device(lua_State *L)
{
    lt_lua_check_any(L, 1);
    if (lua_isinteger(L, 1) && lua_tointeger(L, 1) < 0) return 0;
    int device = lt_lua_gpu_device(L, 1);
    lt_lua_gpu_do(L, set_device(device));
    return 0;
}

static int synchronize(lua_State *L)
{
    int device = lt_lua_gpu_device(L, 1);
    lt_lua_do(L, lt_trace_flush());
    lt_lua_gpu_do(L, synchronize(device));
    return 0;
}

static int can_device_access_peer(lua_State *L)
{
    lt_lua_check_any(L, 1);
    lt_lua_check_any(L, 2);
    int device = lt_lua_gpu_device(L, 1), peer = lt_lua_gpu_device(L, 2);
    lua_pushboolean(L, device != peer && lt_lua_gpu(L)->can_access_peer(device, peer));
    return 1;
}

/* ---- properties: a table that prints as PyTorch's object ------------------------------------- */

#define PROPERTIES_META "ltensor.DeviceProperties"

static int properties_tostring(lua_State *L)
{
    char text[512];
    lua_getfield(L, 1, "name");
    lua_getfield(L, 1, "major");
    lua_getfield(L, 1, "minor");
    lua_getfield(L, 1, "total_memory");
    lua_getfield(L, 1, "multi_processor_count");
    snprintf(text, sizeof text,
             "_CudaDeviceProperties(name='%s', major=%lld, minor=%lld, total_memory=%lldMB, "
             "multi_processor_count=%lld)",
             lt_lua_check_string(L, -5), (long long)lua_tointeger(L, -4),
             (long long)lua_tointeger(L, -3), (long long)(lua_tointeger(L, -2) >> 20),
             (long long)lua_tointeger(L, -1));
    lua_pushstring(L, text);
    return 1;
}

static void set_integer(lua_State *L, const char *name, int64_t value)
{
    lua_pushinteger(L, value);
    lua_setfield(L, -2, name);
}

static int get_device_properties(lua_State *L)
{
    lt_device_properties p;
    int device = lt_lua_gpu_device(L, 1);
    lt_lua_gpu_do(L, properties(device, &p));
    lua_createtable(L, 0, 5);
    lua_pushstring(L, p.name);
    lua_setfield(L, -2, "name");
    set_integer(L, "major", p.major);
    set_integer(L, "minor", p.minor);
    set_integer(L, "total_memory", (int64_t)p.total_memory);
    set_integer(L, "multi_processor_count", p.multi_processor_count);
    luaL_setmetatable(L, PROPERTIES_META);
    return 1;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* mem_get_info([d]) -> free bytes, total bytes */
static int mem_get_info(lua_State *L)
{
    size_t free_bytes, total;
    int device = lt_lua_gpu_device(L, 1);
    lt_lua_gpu_do(L, memory_info(device, &free_bytes, &total));
    lua_pushinteger(L, (lua_Integer)free_bytes);
    lua_pushinteger(L, (lua_Integer)total);
    return 2;
}

/* Fields like "allocated_bytes.all.peak" */
static void set_count(lua_State *L, int kind, int pool, const lt_memory_count *count)
{
    static const char *const kinds[LT_MEMORY_KINDS] = {
        "allocation",      "segment",        "active",       "inactive_split",
        "allocated_bytes", "reserved_bytes", "active_bytes", "inactive_split_bytes",
        "requested_bytes"};
    static const char *const pools[LT_POOLS] = {"all", "large_pool", "small_pool"};
    const struct {
        const char *name;
        int64_t value;
    } fields[] = {{"current", count->current},
                  {"peak", count->peak},
                  {"allocated", count->allocated},
                  {"freed", count->freed}};
    for (int i = 0; i < 4; i++) {
        lua_pushfstring(L, "%s.%s.%s", kinds[kind], pools[pool], fields[i].name);
        lua_pushinteger(L, fields[i].value);
        lua_rawset(L, -3);
    }
}

/* memory_stats([d]): by PyTorch's names; an empty table without a GPU */
static int memory_stats(lua_State *L)
{
    lua_settop(L, 1);
    if (count_devices(L) == 0) {
        lua_newtable(L);
        return 1;
    }
    int device = lt_lua_gpu_device(L, 1);
    lt_memory_stats *s = lua_newuserdatauv(L, sizeof *s, 0);
    lt_lua_gpu(L)->memory_stats(device, s);
    lua_createtable(L, 0, LT_MEMORY_KINDS * LT_POOLS * 4 + 4);
    for (int kind = 0; kind < LT_MEMORY_KINDS; kind++)
        for (int pool = 0; pool < LT_POOLS; pool++)
            set_count(L, kind, pool, &s->counts[kind][pool]);
    set_integer(L, "num_alloc_retries", s->retries);
    set_integer(L, "num_ooms", s->out_of_memory);
    set_integer(L, "num_device_alloc", s->device_allocs);
    set_integer(L, "num_device_free", s->device_frees);
    return 1;
}

static int reset_peak_memory_stats(lua_State *L)
{
    int device = lt_lua_gpu_device(L, 1);
    lt_lua_gpu(L)->reset_peak_stats(device);
    return 0;
}

static int empty_cache(lua_State *L)
{
    lt_idle_release_all(0);
    if (count_devices(L) > 0) lt_backends[LT_CUDA]->empty_cache();
    return 0;
}

static int set_per_process_memory_fraction(lua_State *L)
{
    lua_Number fraction = lt_lua_check_number(L, 1);
    int device = lt_lua_gpu_device(L, 2);
    if (!(fraction >= 0 && fraction <= 1)) {
        lt_error_set(LT_ERR_RUNTIME, "Invalid fraction value: %g. Allowed range: 0~1", fraction);
        return lt_lua_raise(L);
    }
    lt_lua_gpu_do(L, set_memory_fraction(device, fraction));
    return 0;
}

/* ---- seeds: without a GPU these do nothing, which is no error -------------------------------- */

static void seed_device(lua_State *L, int device, uint64_t seed)
{
    lt_generator *generator =
        LT_INSIDE(L, lt_default_generator((lt_device){LT_CUDA, (int8_t)device}));
    lt_generator_seed(generator, seed);
}

static int manual_seed(lua_State *L)
{
    uint64_t seed = (uint64_t)lt_lua_check_integer(L, 1);
    if (count_devices(L) > 0) seed_device(L, lt_backends[LT_CUDA]->current_device(), seed);
    return 0;
}

static int manual_seed_all(lua_State *L)
{
    uint64_t seed = (uint64_t)lt_lua_check_integer(L, 1);
    for (int device = count_devices(L) - 1; device >= 0; device--) seed_device(L, device, seed);
    return 0;
}

/* default_generator([device]) -> the generator of ops on that GPU that are called without one */
static int default_generator(lua_State *L)
{
    lt_lua_push_default_generator(L, (lt_device){LT_CUDA, (int8_t)lt_lua_gpu_device(L, 1)});
    return 1;
}

/* ---- products and convolutions: settings that also work without a GPU ------------------------ */

static int set_switch(lua_State *L, void (*set)(bool))
{
    lt_lua_check_type(L, 1, LUA_TBOOLEAN);
    const lt_entry entry = lt_enter(L);
    set(lua_toboolean(L, 1));
    lt_leave(entry);
    return 0;
}

static int get_switch(lua_State *L, bool (*get)(void))
{
    lua_pushboolean(L, LT_INSIDE(L, get()));
    return 1;
}

static int allow_tf32(lua_State *L) { return get_switch(L, lt_allow_tf32); }
static int set_allow_tf32(lua_State *L) { return set_switch(L, lt_set_allow_tf32); }
static int allow_convolution_tf32(lua_State *L) { return get_switch(L, lt_allow_convolution_tf32); }
static int set_allow_convolution_tf32(lua_State *L)
{
    return set_switch(L, lt_set_allow_convolution_tf32);
}
static int cudnn_enabled(lua_State *L) { return get_switch(L, lt_cudnn_enabled); }
static int set_cudnn_enabled(lua_State *L) { return set_switch(L, lt_set_cudnn_enabled); }

static lt_attention_algorithm way_of(lua_State *L)
{
    const lua_Integer way = luaL_checkinteger(L, 1);
    luaL_argcheck(L, way >= LT_ATTENTION_MATH && way <= LT_ATTENTION_CUDNN, 1,
                  "no way of attention has this number");
    return (lt_attention_algorithm)way;
}

static int attention_allowed(lua_State *L)
{
    const lt_attention_algorithm way = way_of(L);
    lua_pushboolean(L, LT_INSIDE(L, lt_attention_allowed(way)));
    return 1;
}

static int set_attention_allowed(lua_State *L)
{
    const lt_attention_algorithm way = way_of(L);
    lt_lua_check_type(L, 2, LUA_TBOOLEAN);
    const lt_entry entry = lt_enter(L);
    lt_set_attention_allowed(way, lua_toboolean(L, 2));
    lt_leave(entry);
    return 0;
}

/* ---- opening --------------------------------------------------------------------------------- */

void lt_lua_open_cuda(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"is_available", is_available},
        {"device_count", device_count},
        {"is_simulated", is_simulated},
        {"current_device", current_device},
        {"set_device", set_device},
        {"synchronize", synchronize},
        {"can_device_access_peer", can_device_access_peer},
        {"get_device_properties", get_device_properties},
        {"mem_get_info", mem_get_info},
        {"memory_stats", memory_stats},
        {"reset_peak_memory_stats", reset_peak_memory_stats},
        {"empty_cache", empty_cache},
        {"set_per_process_memory_fraction", set_per_process_memory_fraction},
        {"manual_seed", manual_seed},
        {"manual_seed_all", manual_seed_all},
        {"default_generator", default_generator},
        {"_allow_tf32", allow_tf32},
        {"_set_allow_tf32", set_allow_tf32},
        {"_allow_convolution_tf32", allow_convolution_tf32},
        {"_set_allow_convolution_tf32", set_allow_convolution_tf32},
        {"_cudnn_enabled", cudnn_enabled},
        {"_set_cudnn_enabled", set_cudnn_enabled},
        {"_attention_allowed", attention_allowed},
        {"_set_attention_allowed", set_attention_allowed},
        {NULL, NULL}};
    luaL_newmetatable(L, PROPERTIES_META);
    lua_pushcfunction(L, properties_tostring);
    lua_setfield(L, -2, "__tostring");
    lua_pushliteral(L, "_CudaDeviceProperties");
    lua_setfield(L, -2, "__name");
    lua_pop(L, 1);
    lua_createtable(L, 0, 64);
    lt_lua_setfuncs(L, functions);
    lt_lua_open_streams(L);
    lt_lua_open_graphs(L);
    lt_lua_open_user_kernels(L);
    lt_lua_open_ledger(L);
    lua_setfield(L, 1, "cuda");
}
