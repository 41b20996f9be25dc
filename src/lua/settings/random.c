/* random.c - torch.Generator and the functions that seed: manual_seed, seed, initial_seed,
 * get_rng_state.
 *
 * A Generator userdata holds its generator, or refers to a device's default one, which core may
 * replace. */
#include <stddef.h>
#include <string.h>
#include <sys/random.h>

#include "binding.h"
#include "devices/backend.h"
#include "devices/device.h"
#include "ltensor_host.h"
#include "memory/alloc.h"
#include "random/random.h"

#define GENERATOR_META "ltensor.Generator"

static const char default_key = 0; /* the userdata of the CPU's default generator */

/* A generator that belongs to the caller of a callback. The userdata and the list of the call own it
 * together. */
struct lt_lua_lent {
    int owners;
    lt_generator *generator; /* NULL: the call has ended */
    lt_lua_lent *next;
};

typedef struct generator {
    lt_device device;
    bool is_default, ended;
    lt_lua_lent *lent; /* NULL: none */
    lt_generator own;  /* unused if is_default or lent */
} generator;

static void release_lent(lt_lua_lent *lent)
{
    if (lent != NULL && --lent->owners == 0) lt_mem_free(lent);
}

void lt_lua_push_lent_generator(lua_State *L, lt_generator *g, lt_lua_lent **lent)
{
    generator *box = lua_newuserdatauv(L, sizeof *box, 0);
    *box = (generator){.device = g->device, .ended = true};
    luaL_setmetatable(L, GENERATOR_META);
    lt_lua_lent *made = lt_mem_zalloc(sizeof *made);
    if (made == NULL) lt_lua_check(L, LT_ERR_MEMORY);
    *made = (lt_lua_lent){.owners = 2, .generator = g, .next = *lent};
    *lent = box->lent = made;
}

void lt_lua_lent_end(lt_lua_lent **lent)
{
    while (*lent != NULL) {
        lt_lua_lent *first = *lent;
        *lent = first->next;
        first->generator = NULL;
        release_lent(first);
    }
}

lt_generator *lt_lua_to_generator(lua_State *L, int index)
{
    generator *g = luaL_testudata(L, index, GENERATOR_META);
    if (g == NULL) return NULL;
    if (g->lent != NULL && g->lent->generator == NULL)
        lt_lua_error(L, "the generator belongs to a call that has ended; create one with "
                        "torch.Generator()");
    if (g->lent != NULL) return g->lent->generator;
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

static int push_state(lua_State *L, lt_generator *g)
{
    lt_tensor **slot = lt_lua_new(L);
    lt_lua_do(L, lt_generator_get_state(g, slot));
    return 1;
}

static void take_state(lua_State *L, lt_generator *g, int arg)
{
    const lt_tensor *state = lt_lua_check_tensor(L, arg);
    lt_lua_do(L, lt_generator_set_state(g, state));
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
    g->lent = NULL;
    lt_generator_init(&g->own, device);
    luaL_setmetatable(L, GENERATOR_META);
    return 1;
}

static int generator_gc(lua_State *L)
{
    generator *g = lt_lua_check_udata(L, 1, GENERATOR_META);
    if (!g->ended) lt_generator_end(&g->own);
    release_lent(g->lent);
    g->lent = NULL;
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
    g->lent = NULL;
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
