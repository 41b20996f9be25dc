/* random.c - torch.Generator and the functions that seed: manual_seed, seed, initial_seed,
 * get_rng_state.
 *
 * A Generator userdata holds its generator, or refers to a device's default one, which core may
 * replace. States are uint8 tensors in PyTorch's layout, so that one saved by PyTorch continues
 * here. */
#include <stddef.h>
#include <string.h>
#include <sys/random.h>

#include "binding.h"
#include "devices/backend.h"
#include "devices/device.h"
#include "compile/deferred.h"
#include "random/random.h"

#define GENERATOR_META "ltensor.Generator"

static const char default_key = 0; /* the userdata of the CPU's default generator */

typedef struct generator {
    lt_device device;
    bool is_default, ended;
    lt_generator own; /* unused if is_default */
} generator;

lt_generator *lt_lua_to_generator(lua_State *L, int index)
{
    generator *g = luaL_testudata(L, index, GENERATOR_META);
    if (g == NULL) return NULL;
    return g->is_default ? LT_INSIDE(L, lt_default_generator(g->device)) : &g->own;
}

static lt_generator *check_generator(lua_State *L, int arg)
{
    lt_lua_check_udata(L, arg, GENERATOR_META);
    return lt_lua_to_generator(L, arg);
}

/* Pushes a Lua integer with the same 64 bits. */
static int push_seed(lua_State *L, uint64_t seed)
{
    lua_pushinteger(L, (lua_Integer)seed);
    return 1;
}

/* 53 bits, which a float represents exactly. */
static uint64_t random_seed(lua_State *L)
{
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
        lt_lua_error(L, "the system gave no random numbers");
    return seed >> 11;
}

/* ---- states ---------------------------------------------------------------------------------- */

/* The byte layout of a CPU generator's state in PyTorch. */
typedef struct cpu_state {
    uint64_t seed;
    int32_t left, seeded;
    uint64_t next, mt[LT_MT_N];
    double normal_x, next_double, normal_rho;
    int32_t has_next_double, padding;
    float next_float;
    uint8_t has_next_float, unused[3];
} cpu_state;

typedef struct cuda_state {
    uint64_t seed, offset;
} cuda_state;

/* The caller holds the generator's lock. */
static size_t pack_state(const lt_generator *g, void *bytes)
{
    if (g->device.type != LT_CPU) {
        cuda_state s = {g->seed, g->philox_offset};
        memcpy(bytes, &s, sizeof s);
        return sizeof s;
    }
    cpu_state s = {.seed = g->seed, .left = g->mt_left, .seeded = 1, .next = (uint64_t)g->mt_next};
    for (int i = 0; i < LT_MT_N; i++) s.mt[i] = g->mt[i];
    s.has_next_double = g->has_next_double;
    if (g->has_next_double) s.next_double = g->next_double;
    s.has_next_float = g->has_next_float;
    if (g->has_next_float) s.next_float = g->next_float;
    memcpy(bytes, &s, sizeof s);
    return sizeof s;
}

/* Rejects a state with which reads would leave the array of numbers. The caller holds the
 * generator's lock. */
static lt_status unpack_state(lt_generator *g, const void *bytes, size_t n)
{
    if (g->device.type != LT_CPU) {
        cuda_state s;
        if (n != sizeof s) return lt_error(LT_ERR_RUNTIME, "RNG state is wrong size");
        memcpy(&s, bytes, sizeof s);
        g->seed = s.seed;
        g->philox_offset = s.offset;
        return LT_OK;
    }
    cpu_state s;
    if (n != sizeof s)
        return lt_error(LT_ERR_RUNTIME,
                        "Expected a CPUGeneratorImplState of size %zu but found the input RNG "
                        "state size to be %zu",
                        sizeof s, n);
    memcpy(&s, bytes, sizeof s);
    if (s.seeded != 1 || s.left < 1 || s.left > LT_MT_N || s.next > LT_MT_N ||
        s.next + (uint64_t)s.left > LT_MT_N + 1)
        return lt_error(LT_ERR_RUNTIME, "Invalid mt19937 state");
    g->seed = s.seed;
    g->mt_left = s.left;
    g->mt_next = (int)s.next;
    for (int i = 0; i < LT_MT_N; i++) g->mt[i] = (uint32_t)s.mt[i];
    g->has_next_double = s.has_next_double != 0;
    g->next_double = s.next_double;
    g->has_next_float = s.has_next_float != 0;
    g->next_float = s.next_float;
    return LT_OK;
}

static int push_state(lua_State *L, lt_generator *g)
{
    char bytes[sizeof(cpu_state)];
    lt_generator_lock(g);
    int64_t n = (int64_t)pack_state(g, bytes);
    lt_generator_unlock(g);
    lt_tensor **slot = lt_lua_new(L);
    lt_entry entry = lt_enter(L);
    lt_status status = lt_tensor_new(LT_UINT8, lt_host, 1, &n, slot);
    lt_leave(entry);
    lt_lua_check(L, status);
    memcpy(lt_data(*slot), bytes, (size_t)n);
    return 1;
}

static void take_state(lua_State *L, lt_generator *g, int arg)
{
    const lt_tensor *t = lt_lua_check_tensor(L, arg);
    char bytes[sizeof(cpu_state)];
    if (t->dtype != LT_UINT8 || lt_is_sparse(t) || t->device.type != LT_CPU || t->ndim != 1) {
        lt_error_set(LT_ERR_TYPE, "RNG state must be a torch.ByteTensor");
        lt_lua_raise(L);
    }
    lt_lua_do(L, lt_materialize("set_rng_state", t));
    const char *p = t->numel > 0 ? lt_data(t) : NULL;
    for (int64_t i = 0; i < t->numel && i < (int64_t)sizeof bytes; i++)
        bytes[i] = p[i * t->strides[0]];
    lt_generator_lock(g);
    const lt_status status = unpack_state(g, bytes, (size_t)t->numel);
    lt_generator_unlock(g);
    lt_lua_check(L, status);
}

static lt_generator *default_of_host(lua_State *L)
{
    return LT_INSIDE(L, lt_default_generator(lt_host));
}

static int get_rng_state(lua_State *L) { return push_state(L, default_of_host(L)); }

static int set_rng_state(lua_State *L)
{
    take_state(L, default_of_host(L), 1);
    return 0;
}

/* ---- Generator ------------------------------------------------------------------------------- */

/* Generator(device) */
static int generator_new(lua_State *L)
{
    lt_device device = lt_host;
    lua_settop(L, 1);
    if (!lua_isnil(L, 1) && !lt_lua_to_device(L, 1, &device)) return lt_lua_raise(L);
    lt_lua_do(L, lt_device_resolve(&device));
    generator *g = lua_newuserdatauv(L, sizeof *g, 0);
    g->device = device;
    g->is_default = g->ended = false;
    lt_generator_init(&g->own, device);
    luaL_setmetatable(L, GENERATOR_META);
    return 1;
}

static int generator_gc(lua_State *L)
{
    generator *g = lt_lua_check_udata(L, 1, GENERATOR_META);
    if (!g->ended) lt_generator_end(&g->own);
    g->ended = true;
    return 0;
}

static int generator_manual_seed(lua_State *L)
{
    lt_generator_seed(check_generator(L, 1), (uint64_t)lt_lua_check_integer(L, 2));
    lua_settop(L, 1);
    return 1;
}

static int generator_seed(lua_State *L)
{
    lt_generator *g = check_generator(L, 1);
    const uint64_t seed = random_seed(L);
    lt_generator_seed(g, seed);
    return push_seed(L, seed);
}

static int generator_initial_seed(lua_State *L)
{
    return push_seed(L, lt_generator_initial_seed(check_generator(L, 1)));
}
static int generator_get_state(lua_State *L) { return push_state(L, check_generator(L, 1)); }

static int generator_set_state(lua_State *L)
{
    take_state(L, check_generator(L, 1), 2);
    lua_settop(L, 1);
    return 1;
}

static int generator_index(lua_State *L)
{
    const generator *g = lt_lua_check_udata(L, 1, GENERATOR_META);
    if (lua_type(L, 2) == LUA_TSTRING && strcmp(lua_tostring(L, 2), "device") == 0) {
        lt_lua_push_device(L, g->device);
        return 1;
    }
    lua_getmetatable(L, 1);
    lua_pushvalue(L, 2);
    lua_rawget(L, -2);
    return 1;
}

static int generator_tostring(lua_State *L)
{
    const generator *g = lt_lua_check_udata(L, 1, GENERATOR_META);
    char text[32];
    lua_pushfstring(L, "<torch.Generator device=%s>",
                    lt_format_device(text, sizeof text, g->device));
    return 1;
}

void lt_lua_push_default_generator(lua_State *L, lt_device device)
{
    generator *g = lua_newuserdatauv(L, offsetof(generator, own), 0);
    g->device = device;
    g->is_default = g->ended = true;
    luaL_setmetatable(L, GENERATOR_META);
}

/* ---- torch's own ----------------------------------------------------------------------------- */

static void seed_all(lua_State *L, uint64_t value)
{
    const lt_entry entry = lt_enter(L);
    lt_manual_seed(value);
    lt_leave(entry);
}

/* manual_seed(n) -> the CPU's default generator; also seeds the GPUs */
static int manual_seed(lua_State *L)
{
    seed_all(L, (uint64_t)lt_lua_check_integer(L, 1));
    lua_rawgetp(L, LUA_REGISTRYINDEX, &default_key);
    return 1;
}

static int seed(lua_State *L)
{
    uint64_t value = random_seed(L);
    seed_all(L, value);
    return push_seed(L, value);
}

static int initial_seed(lua_State *L)
{
    return push_seed(L, lt_generator_initial_seed(default_of_host(L)));
}

void lt_lua_open_random(lua_State *L)
{
    static const luaL_Reg meta[] = {{"manual_seed", generator_manual_seed},
                                    {"seed", generator_seed},
                                    {"initial_seed", generator_initial_seed},
                                    {"get_state", generator_get_state},
                                    {"set_state", generator_set_state},
                                    {"__index", generator_index},
                                    {"__tostring", generator_tostring},
                                    {"__gc", generator_gc},
                                    {NULL, NULL}};
    static const luaL_Reg functions[] = {{"Generator", generator_new},
                                         {"manual_seed", manual_seed},
                                         {"seed", seed},
                                         {"initial_seed", initial_seed},
                                         {"get_rng_state", get_rng_state},
                                         {"set_rng_state", set_rng_state},
                                         {NULL, NULL}};
    luaL_newmetatable(L, GENERATOR_META);
    lt_lua_setfuncs(L, meta);
    lua_pushliteral(L, "Generator");
    lua_setfield(L, -2, "__name");
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, "__methods");
    lt_lua_set_field_names(L, (const char *const[]){"device", NULL});
    lua_pop(L, 1);

    lt_lua_push_default_generator(L, lt_host);
    lua_pushvalue(L, -1);
    lua_setfield(L, 1, "default_generator");
    lua_rawsetp(L, LUA_REGISTRYINDEX, &default_key);

    lua_pushvalue(L, 1);
    lt_lua_setfuncs(L, functions);
    lua_pop(L, 1);
}
