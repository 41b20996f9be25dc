/* saved.c - torch._C's functions for hooks of saved tensors (lib/autograd/graph.lua).
 *
 * The result of a pack hook, any value, is stored in the registry under a number that the graph
 * holds. Any thread may free a graph, also while the collector runs: freed numbers are put into a
 * list, and the interpreter's next call of lt_lua_forget_saved removes their values. */
#include <pthread.h>

#include "assertion.h"
#include "autograd/autograd.h"
#include "autograd/saved_copies.h"

#include "binding.h"
#include "call.h"
#include "callback.h"
#include "context/fork.h"
#include "lock.h"
#include "memory/alloc.h"

struct lt_saved_values {
    lt_fork_entry fork;
    pthread_mutex_t lock;
    int *unused; /* registry numbers */
    int64_t n, capacity;
};

typedef struct lua_hooks {
    lt_saved_hooks hooks;
    lt_lua_state *state; /* counted */
    int pack, unpack;    /* numbers of the functions */
} lua_hooks;

/* ---- values that are no longer needed -------------------------------------------------------- */

void lt_lua_give_up(lt_lua_state *s, int number)
{
    struct lt_saved_values *values = s->saved_values;
    LT_ASSERT(values != NULL && number >= 0, "number %d", number);
    pthread_mutex_lock(&values->lock);
    if (values->n == values->capacity) {
        const int64_t capacity = values->capacity > 0 ? 2 * values->capacity : 32;
        int *grown = lt_mem_rearray(values->unused, capacity, sizeof *grown);
        if (grown != NULL) values->unused = grown, values->capacity = capacity;
    }
    /* If the list cannot grow, the value stays until the interpreter ends. */
    if (values->n < values->capacity) values->unused[values->n++] = number;
    lt_unlock(&values->lock);
}

void lt_lua_forget_saved(lua_State *L, lt_lua_state *s)
{
    struct lt_saved_values *values = s->saved_values;
    if (values == NULL || values->n == 0 || !lua_checkstack(L, 4)) return;
    for (;;) {
        pthread_mutex_lock(&values->lock);
        const int number = values->n > 0 ? values->unused[--values->n] : LUA_NOREF;
        lt_unlock(&values->lock);
        if (number == LUA_NOREF) return;
        luaL_unref(L, LUA_REGISTRYINDEX, number);
    }
}

static void free_values(struct lt_saved_values *values)
{
    LT_ASSERT(values->n >= 0 && values->n <= values->capacity, "%lld of %lld", (long long)values->n,
              (long long)values->capacity);
    lt_fork_mutex_destroy(&values->fork);
    lt_mem_free(values->unused);
    lt_mem_free(values);
}

/* ---- calling the hooks ----------------------------------------------------------------------- */

typedef struct hook_call {
    int function, value; /* registry numbers; value: of the result, or of the argument */
    lt_tensor *tensor;   /* argument, or a new reference to the result */
} hook_call;

/* These run in protected calls: may raise. */
static int call_pack(lua_State *L)
{
    hook_call *call = lua_touserdata(L, 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, call->function);
    lt_lua_push(L, call->tensor);
    lua_call(L, 1, 1);
    if (lua_isnil(L, -1)) return lt_lua_error(L, "saved_tensors_hooks: pack_hook returned nil");
    call->value = luaL_ref(L, LUA_REGISTRYINDEX);
    return 0;
}

static int call_unpack(lua_State *L)
{
    hook_call *call = lua_touserdata(L, 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, call->function);
    lua_rawgeti(L, LUA_REGISTRYINDEX, call->value);
    lua_call(L, 1, 1);
    lt_tensor *t = lt_lua_tensor(L, -1);
    if (t == NULL)
        return lt_lua_error(L,
                            "TypeError: Output of saved tensor unpack_hook expected to be a Tensor "
                            "but got result of type %s",
                            lt_lua_type_name(L, -1));
    call->tensor = lt_tensor_retain(t);
    return 0;
}

static lt_status call_hook(const lua_hooks *h, lua_CFunction f, hook_call *call)
{
    lua_State *L = lt_tls.binding.ctx;
    if (L == NULL || !lua_checkstack(L, 4) || lt_lua_state_of(L) != h->state)
        return lt_error(LT_ERR_RUNTIME,
                        "a hook of saved tensors was reached from outside of its interpreter");
    if (lt_lua_call_protected(L, f, call) == LUA_OK) return LT_OK;
    lt_status status = lt_error(
        LT_ERR_RUNTIME, "%s",
        lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "error in a hook of saved tensors");
    lua_pop(L, 1);
    return status;
}

static lt_status pack_by_hook(lt_saved_hooks *hooks, lt_tensor *t, int64_t *packed)
{
    const lua_hooks *h = (lua_hooks *)hooks;
    hook_call call = {.function = h->pack, .tensor = t};
    LT_TRY(call_hook(h, call_pack, &call));
    *packed = call.value;
    return LT_OK;
}

static lt_status unpack_by_hook(lt_saved_hooks *hooks, int64_t packed, lt_tensor **out)
{
    const lua_hooks *h = (lua_hooks *)hooks;
    hook_call call = {.function = h->unpack, .value = (int)packed};
    LT_TRY(call_hook(h, call_unpack, &call));
    *out = call.tensor;
    return LT_OK;
}

static void drop_packed_value(lt_saved_hooks *hooks, int64_t packed)
{
    lt_lua_give_up(((lua_hooks *)hooks)->state, (int)packed);
}

static void free_hooks(lt_saved_hooks *hooks)
{
    lua_hooks *h = (lua_hooks *)hooks;
    LT_ASSERT(h->hooks.refs == 0, "refs %d", h->hooks.refs);
    lt_lua_give_up(h->state, h->pack);
    lt_lua_give_up(h->state, h->unpack);
    lt_lua_state_release(h->state);
    lt_mem_free(h);
}

/* ---- for Lua --------------------------------------------------------------------------------- */

lt_status lt_lua_number_values(lt_lua_state *s)
{
    if (s->saved_values != NULL) return LT_OK;
    struct lt_saved_values *values = lt_mem_zalloc(sizeof *values);
    if (values == NULL) return LT_ERR_MEMORY;
    lt_fork_mutex_init(&values->fork, &values->lock, false);
    s->saved_values = values;
    s->saved_free = free_values;
    s->saved_forget = lt_lua_forget_saved;
    return LT_OK;
}

/* open_saved_hooks(pack, unpack) -> a handle for close_saved_hooks */
static int open_saved_hooks(lua_State *L)
{
    lt_lua_state *s = lt_lua_state_current(L);
    lua_settop(L, 2);
    lt_lua_check_type(L, 1, LUA_TFUNCTION);
    lt_lua_check_type(L, 2, LUA_TFUNCTION);
    lt_lua_check(L, lt_lua_number_values(s));
    lt_lua_forget_saved(L, s);
    const int of_unpack = luaL_ref(L, LUA_REGISTRYINDEX), of_pack = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_hooks *h = lt_mem_zalloc(sizeof *h);
    if (h == NULL) {
        luaL_unref(L, LUA_REGISTRYINDEX, of_pack);
        luaL_unref(L, LUA_REGISTRYINDEX, of_unpack);
        lt_lua_check(L, LT_ERR_MEMORY);
    }
    atomic_init(&h->hooks.refs, 1);
    h->hooks.pack = pack_by_hook, h->hooks.unpack = unpack_by_hook,
    h->hooks.drop = drop_packed_value, h->hooks.free = free_hooks;
    h->state = lt_lua_state_retain(s);
    h->pack = of_pack, h->unpack = of_unpack;
    lt_saved_hooks_enter(&h->hooks);
    lua_pushlightuserdata(L, h);
    return 1;
}

static int close_saved_hooks(lua_State *L)
{
    lt_lua_check_type(L, 1, LUA_TLIGHTUSERDATA);
    lt_saved_hooks_leave(lua_touserdata(L, 1));
    lt_lua_forget_saved(L, lt_lua_state_current(L));
    return 0;
}

/* open_saved_copies(), close_saved_copies(): tensors saved in between are copied before they are
 * written */
static int open_saved_copies(lua_State *L)
{
    lt_lua_do(L, lt_saved_copies_open());
    return 0;
}

static int close_saved_copies(lua_State *L)
{
    (void)L;
    lt_saved_copies_close();
    return 0;
}

void lt_lua_open_saved(lua_State *L)
{
    static const luaL_Reg internal[] = {{"open_saved_hooks", open_saved_hooks},
                                        {"close_saved_hooks", close_saved_hooks},
                                        {"open_saved_copies", open_saved_copies},
                                        {"close_saved_copies", close_saved_copies},
                                        {NULL, NULL}};
    lua_pushvalue(L, 2);
    lt_lua_setfuncs(L, internal);
    lua_pop(L, 1);
}
