/* script.c - lt_script: an interpreter with its own context, which is entered whenever the script
 * runs.
 *
 * All Lua calls that may raise are inside one protected call (`guarded`). A count hook checks the
 * context's flags; once they request a stop it runs at every instruction, so that code that catches
 * the error is ended at its next one. Lua switches hooks off inside a finalizer, a message handler
 * of xpcall and a __close of a coroutine that a hook has ended: sandbox.lua keeps scripts from
 * having these at such times. */
#include "script.h"

#include <lualib.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "api/values.h"
#include "context/interrupt.h"
#include "error.h"
#include "system/lua_versions.h"
#include "memory/alloc.h"
#include "stoppable.h"

/* Instructions between two runs of the hook. Few, if there are large strings and tables, since one
 * instruction that compares, copies or searches 4 MB takes up to a millisecond. */
enum { OFTEN = 100 };
#define LARGE ((size_t)8 << 20)

/* ---- limits ---------------------------------------------------------------------------------- */

static int interval(lua_State *L)
{
    void *user;
    (void)lua_getallocf(L, &user);
    const size_t largest = ((const lt_script *)user)->largest;
    if (largest <= LARGE) return OFTEN;
    return largest < OFTEN * LARGE ? (int)(OFTEN * LARGE / largest) : 1;
}

/* Lua's own emergency collection, before a memory error, calls no finalizers, so it frees no
 * tensor: garbage tensors would make the next calls fail as well. */
static void collect_if_refused(lua_State *L)
{
    void *user;
    (void)lua_getallocf(L, &user);
    lt_script *s = user;
    if (!s->refused) return;
    s->refused = false;
    lt_lua_collect(L);
}

static void count_hook(lua_State *L, lua_Debug *frame)
{
    (void)frame;
    const bool stops = lt_interrupted();
    const int count = stops ? 1 : interval(L);
    if (!stops) collect_if_refused(L);
    if (lua_gethookcount(L) != count) lua_sethook(L, count_hook, LUA_MASKCOUNT, count);
    if (stops) {
        (void)lt_stopped();
        luaL_error(L, "%s", lt_error_message());
    }
}

/* The interpreter's allocator. A refused request is recorded, so that a full collection follows. A
 * block that is larger than all before (and than LARGE) makes the hook run at the next instruction
 * of the main thread, since the instructions of the current interval may all be slow. */
static void *allocate(void *user, void *old, size_t old_bytes, size_t bytes)
{
    lt_script *s = user;
    void *p = lt_lua_alloc(s->context, old, old_bytes, bytes);
    if (p == NULL && bytes > 0) s->refused = true;
    const size_t size = p != NULL ? bytes : bytes > 0 ? SIZE_MAX : 0;
    if (size <= s->largest) return p;
    s->largest = size;
    if (size > LARGE && s->L != NULL && lua_gethook(s->L) == count_hook)
        lua_sethook(s->L, count_hook, LUA_MASKCOUNT, 1);
    return p;
}

static bool authorize(void *user, int access, const char *name)
{
    const lt_script *s = user;
    return s->authorize != NULL ? s->authorize(s->user, access, name) : s->trusted;
}

static void log_line(void *user, int level, const char *text)
{
    const lt_script *s = user;
    s->log(s->user, level, text);
}

/* Called when the context and everything made in it is freed. */
static void script_release(void *user)
{
    lt_script *s = user;
    if (s->release != NULL) s->release(s->user);
    lt_mem_free(s);
}

/* ---- functions that run protected ------------------------------------------------------------ */

/* A request of the host, and its results, which are freed on failure. */
typedef struct request {
    lt_script *script;
    const char *text, *name, *global;
    size_t bytes;
    const lt_value *args, *value;
    int nargs;
    lt_value *results; /* of the library's struct size */
    int room, n;
} request;

#define GLOBALS "ltensor.script.globals" /* the field of the registry that holds them */

static int open(lua_State *L)
{
    request *r = lua_touserdata(L, 1);
    lt_script_open(L, r->script);
    lua_setfield(L, LUA_REGISTRYINDEX, GLOBALS);
    lua_sethook(L, count_hook, LUA_MASKCOUNT, OFTEN);
    return 0;
}

static void take_results(lua_State *L, request *r, int first)
{
    const int n = lua_gettop(L) - first + 1, taken = first + n;
    lua_newtable(L);
    for (; r->n < n && r->n < r->room; r->n++)
        lt_script_take(L, first + r->n, taken, &r->results[r->n]);
    lt_script_end_taking(L, taken);
}

static int run_text(lua_State *L)
{
    request *r = lua_touserdata(L, 1);
    lua_settop(L, 0);
    const char *name = lua_pushfstring(L, "=%s", r->name);
    if (luaL_loadbufferx(L, r->text, r->bytes, name, "t") != LUA_OK) return lua_error(L);
    lua_getfield(L, LUA_REGISTRYINDEX, GLOBALS);
    lua_setupvalue(L, 2, 1);
    lua_call(L, 0, r->room);
    take_results(L, r, 2);
    return 0;
}

/* Pushes the value with a name such as "model.forward" or "model:forward"; with a colon also, above
 * it, the object of the method. */
static int push_named(lua_State *L, const char *name)
{
    lua_getfield(L, LUA_REGISTRYINDEX, GLOBALS);
    for (const char *part = name;;) {
        const size_t size = strcspn(part, ".:");
        const bool method = part[size] == ':';
        const int type = lua_type(L, -1);
        if (type != LUA_TTABLE && type != LUA_TUSERDATA)
            return luaL_error(L, "'%s' has no part before '%s': it is %s", name, part,
                              type == LUA_TNIL ? "nil" : lua_typename(L, type));
        lua_pushlstring(L, part, size);
        lua_gettable(L, -2);
        lua_remove(L, -2);
        if (part[size] == '\0') return 0;
        part += size + 1;
        if (!method) continue;
        if (lua_isnil(L, -1))
            return luaL_error(L, "'%s' has no part before '%s': it is nil", name, part);
        lua_pushvalue(L, -1);
        lua_getfield(L, -1, part);
        lua_remove(L, -2);
        lua_insert(L, -2);
        return 1;
    }
}

/* Calls the function named by the request; leaves its results at stack index 1 and up. */
static void call_named(lua_State *L, const request *r, int results)
{
    lua_settop(L, 0);
    const int self = push_named(L, r->name);
    if (lua_isnil(L, 1)) luaL_error(L, "the script has no function '%s'", r->name);
    luaL_checkstack(L, r->nargs + 1, "too many arguments");
    for (int i = 0; i < r->nargs; i++) lt_script_push(L, lt_value_at(r->args, i));
    lua_call(L, r->nargs + self, results);
}

static int call(lua_State *L)
{
    request *r = lua_touserdata(L, 1);
    call_named(L, r, r->room);
    take_results(L, r, 1);
    return 0;
}

static int call_and_keep(lua_State *L)
{
    request *r = lua_touserdata(L, 1);
    call_named(L, r, 1);
    lua_getfield(L, LUA_REGISTRYINDEX, GLOBALS);
    lua_pushstring(L, r->global);
    lua_pushvalue(L, 1);
    lua_rawset(L, -3);
    return 0;
}

static int set_global(lua_State *L)
{
    request *r = lua_touserdata(L, 1);
    lua_getfield(L, LUA_REGISTRYINDEX, GLOBALS);
    lua_pushstring(L, r->name);
    lt_script_push(L, r->value);
    lua_rawset(L, -3);
    return 0;
}

static int get_global(lua_State *L)
{
    request *r = lua_touserdata(L, 1);
    lua_settop(L, 0);
    push_named(L, r->name);
    lua_settop(L, 1);
    take_results(L, r, 1);
    return 0;
}

/* Converts the error value on top of the stack, caught by a protected call, to a status. */
static lt_status caught(lua_State *L, int code)
{
    if (lt_interrupted()) return lt_stopped();
    if (lt_lua_call_status(L, code) == LUA_ERRMEM)
        return lt_error(LT_ERR_MEMORY, "the script needs more memory than it may have");
    if (lua_type(L, -1) == LUA_TSTRING) return lt_error(LT_ERR_RUNTIME, "%s", lua_tostring(L, -1));
    return lt_error(LT_ERR_RUNTIME, "the script raised an error that is a %s",
                    luaL_typename(L, -1));
}

/* Used after an error, when much of the script's memory may be garbage. */
static bool is_half_full(lt_context *context)
{
    int64_t used, limit;
    return lt_context_memory(context, (lt_device){LT_CPU, 0}, &used, &limit) == LT_OK &&
           used > limit / 2;
}

/* Runs f in the script's context, within its time limit. A call by a callback of the host, while
 * the script runs, shares the time of the outer call. */
static lt_status guarded(lua_CFunction f, request *r)
{
    lt_script *s = r->script;
    lt_context *before = lt_context_enter(s->context);
    const bool outermost = s->entered == 0, timed = outermost && s->seconds > 0;
    const int top = lua_gettop(s->L);
    lt_status status = timed ? lt_context_set_deadline(s->context, s->seconds) : LT_OK;
    if (status == LT_OK && !lua_checkstack(s->L, 3))
        status = lt_error(LT_ERR_MEMORY, "out of memory: the script's stack is full");
    s->entered++;
    if (status == LT_OK) {
        lua_pushcfunction(s->L, f);
        lua_pushlightuserdata(s->L, r);
        const int code = lua_pcall(s->L, 1, 0, 0);
        if (code != LUA_OK) s->refused |= is_half_full(s->context);
        collect_if_refused(s->L);
        if (code != LUA_OK)
            status = caught(s->L, code);
        else if (lt_interrupted()) /* a stop ended a coroutine, and the script returned at once */
            status = lt_stopped();
        lua_settop(s->L, top);
    }
    s->entered--;
    if (timed) (void)lt_context_set_deadline(s->context, INFINITY);
    lt_context_enter(before);
    if (status != LT_OK)
        while (r->n > 0) lt_value_release(&r->results[--r->n]);
    return status;
}

/* Copies the results to values of the caller's struct size. */
static lt_status guarded_with_results(const char *function, lua_CFunction f, request *r,
                                      lt_value *results, int *nresults)
{
    if (results != NULL && nresults == NULL) return lt_null_argument(function, "nresults");
    r->room = results != NULL ? *nresults : 0;
    if (r->room < 0)
        return lt_error(LT_ERR_RUNTIME, "%s(): nresults is %d, expected at least 0", function,
                        r->room);
    if (r->room == 0) {
        if (nresults != NULL) *nresults = 0;
        return guarded(f, r);
    }
    LT_TRY(lt_host_value_check(function, "result", 0, results, results->size));
    r->results = lt_mem_array(r->room, sizeof *r->results);
    if (r->results == NULL) return LT_ERR_MEMORY;
    for (int i = 0; i < r->room; i++) r->results[i] = lt_value_none();
    const lt_status status = guarded(f, r);
    if (status == LT_OK) {
        lt_value_hand_over(r->results, r->room, results);
        *nresults = r->n;
    }
    lt_mem_free(r->results);
    return status;
}

/* ---- the functions of ltensor_script.h ------------------------------------------------------- */

static lt_status new_context(lt_script *s, const lt_script_config *c)
{
    lt_context_config config = lt_context_defaults();
    config.user = s, config.release = script_release;
    config.memory_limit = c->memory_limit;
    config.authorize = authorize;
    if (c->log != NULL) config.log = log_line;
    return lt_context_new(&config, &s->context);
}

lt_status lt_script_new(const lt_script_config *config, lt_script **out)
{
    LT_REQUIRE(out);
    lt_script_config c = lt_script_defaults();
    const size_t least = offsetof(lt_script_config, log) + sizeof c.log;
    if (config != NULL && config->size < least)
        return lt_error(LT_ERR_TYPE,
                        "lt_script_new(): config.size is %zu; lt_script_defaults() sets it",
                        config->size);
    if (config != NULL) memcpy(&c, config, config->size < sizeof c ? config->size : sizeof c);
    if (!(c.seconds >= 0) || c.memory_limit < 0)
        return lt_error(LT_ERR_RUNTIME, "lt_script_new(): %s must not be negative",
                        c.memory_limit < 0 ? "memory_limit" : "seconds");
    lt_script *s = lt_mem_zalloc(sizeof *s);
    if (s == NULL) return LT_ERR_MEMORY;
    s->trusted = c.trusted, s->user = c.user, s->print = c.print;
    s->authorize = c.authorize, s->log = c.log;
    lt_status status = new_context(s, &c);
    if (status != LT_OK) {
        lt_mem_free(s);
        return status;
    }
    s->L = lt_lua_new_state(allocate, s); /* NULL until then */
    request r = {.script = s};
    if (s->L != NULL)
        lt_lua_set_gc_mode(s->L, LUA_GCGEN); /* generational mode, as in the program */
    status = s->L != NULL
                 ? guarded(open, &r)
                 : lt_error(LT_ERR_MEMORY, "memory_limit is less than an interpreter needs");
    if (status != LT_OK) {
        lt_script_release(s);
        return status;
    }
    s->seconds = c.seconds;
    s->release = c.release;
    *out = s;
    return LT_OK;
}

void lt_script_release(lt_script *s)
{
    if (s == NULL) return;
    lt_context *before = lt_context_enter(s->context);
    if (s->L != NULL) lua_close(s->L);
    s->L = NULL;
    lt_context_enter(before);
    lt_context_release(s->context); /* frees s with the last tensor of the context */
}

void lt_script_free(lt_script *script) { lt_script_release(script); }

lt_status lt_script_load(lt_script *script, const char *text, size_t bytes, const char *name,
                         lt_value *results, int *nresults)
{
    LT_REQUIRE(script);
    LT_REQUIRE(text);
    LT_REQUIRE(name);
    request r = {.script = script, .text = text, .bytes = bytes, .name = name};
    return guarded_with_results(__func__, run_text, &r, results, nresults);
}

static lt_status check_arguments(const char *function, const lt_value *args, int nargs)
{
    if (nargs < 0) return lt_error(LT_ERR_RUNTIME, "%s(): %d arguments", function, nargs);
    if (nargs > 0 && args == NULL) return lt_null_argument(function, "args");
    for (int i = 0; i < nargs; i++)
        LT_TRY(lt_host_value_check(function, "argument", i, lt_value_at(args, i), args->size));
    return LT_OK;
}

lt_status lt_script_call(lt_script *script, const char *function, const lt_value *args, int nargs,
                         lt_value *results, int *nresults)
{
    LT_REQUIRE(script);
    LT_REQUIRE(function);
    LT_TRY(check_arguments(__func__, args, nargs));
    request r = {.script = script, .name = function, .args = args, .nargs = nargs};
    return guarded_with_results(__func__, call, &r, results, nresults);
}

lt_status lt_script_keep(lt_script *script, const char *global, const char *function,
                         const lt_value *args, int nargs)
{
    LT_REQUIRE(script);
    LT_REQUIRE(global);
    LT_REQUIRE(function);
    LT_TRY(check_arguments(__func__, args, nargs));
    request r = {
        .script = script, .global = global, .name = function, .args = args, .nargs = nargs};
    return guarded(call_and_keep, &r);
}

lt_status lt_script_set(lt_script *script, const char *name, const lt_value *value)
{
    LT_REQUIRE(script);
    LT_REQUIRE(name);
    LT_REQUIRE(value);
    LT_TRY(lt_host_value_check(__func__, "value", 0, value, value->size));
    request r = {.script = script, .name = name, .value = value};
    return guarded(set_global, &r);
}

lt_status lt_script_get(lt_script *script, const char *name, lt_value *value)
{
    LT_REQUIRE(script);
    LT_REQUIRE(name);
    LT_REQUIRE(value);
    request r = {.script = script, .name = name};
    int one = 1;
    return guarded_with_results(__func__, get_global, &r, value, &one);
}

lt_context *lt_script_context(lt_script *script) { return script != NULL ? script->context : NULL; }
lua_State *lt_script_state(lt_script *script) { return script != NULL ? script->L : NULL; }
