/* interrupt.c - Ctrl-C for the prompt.
 *
 * - The handler sets a flag, interrupts the context of the interpreter (lt_context_interrupt) and
 *   installs a count hook on the main state and the running coroutine; the hook raises
 *   "interrupted". No hook is installed otherwise, so a tight loop runs at full speed.
 * - While the flag is set the hook stays installed: an error that pcall catches is raised again at
 *   the next instruction or call, until the cell ends.
 * - A signal that arrives just before C code blocks would not end that wait. Therefore a timer
 *   repeats the signal until the cell ends; it also ends a long __gc.
 * - To find the running coroutine, install() replaces coroutine.resume and coroutine.wrap by
 *   versions that record it.
 *
 * Includes the Lua API, hook.h, lt_context_interrupt of ltensor.h and lt_lua_context of
 * ltensor_lua.h only.
 */
#include "interrupt.h"

#include <errno.h>
#include <lauxlib.h>
#include <lualib.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hook.h"
#include "ltensor_lua.h"
#include "system/lua_versions.h"

/* number of SIGINTs since the cell began: 0, 1, or 2 for more */
static volatile sig_atomic_t times;
static volatile sig_atomic_t warned; /* the next SIGINT kills */
static struct timespec first_sigint; /* time of the first SIGINT */
static volatile sig_atomic_t reached,
    waited;                           /* the interrupt was raised; number of signals before that */
static volatile sig_atomic_t closing; /* a __close is running; the first Ctrl-C lets it finish */
static volatile sig_atomic_t depth;   /* nesting depth of call() */
static volatile sig_atomic_t editing; /* a SIGINT arrived while no cell was running */
static lua_State *main_state;
static lt_context *volatile context; /* of the running cell */
static lua_State *volatile running;  /* the running coroutine, or the main state */

/* The user's hook on the main state before the cell, restored afterwards. */
static struct {
    lua_Hook function;
    int mask, count;
} user_hook;
static struct sigaction previous_action, previous_wake_action;
static timer_t wake_timer;
static bool has_timer;

#if LUA_VERSION_NUM == 503
/* lib/lua53/scope.lua calls the metamethod by this name. It must reach that call and the protected
 * call of the scope, so its own frame and that of a C function that it calls count, too. */
static bool is_close(const lua_Debug *frame, int level)
{
    return (level <= 1 && strcmp(frame->source, "=[ltensor torch.lua53.scope]") == 0) ||
           (frame->name != NULL && strcmp(frame->name, "lt_close") == 0);
}
#else
static bool is_close(const lua_Debug *frame, int level)
{
    (void)level;
    return strcmp(frame->namewhat, "metamethod") == 0 && strcmp(frame->name, "close") == 0;
}
#endif

/* A __close metamethod restores the state of its scope, so it may finish. Only the newest frames
 * are searched: lua_getstack() walks from the top, so a search of a deep recursion would take
 * quadratic time, 46 s for 20,000 calls. */
static bool inside_close(lua_State *L)
{
    enum { MAX_LEVELS = 200 };
    lua_Debug frame;
    for (int level = 0; level < MAX_LEVELS && lua_getstack(L, level, &frame); level++) {
        lua_getinfo(L, "nS", &frame);
        if (is_close(&frame, level)) return true;
    }
    return false;
}

static void raise_interrupted(lua_State *L, lua_Debug *frame)
{
    (void)frame;
    if (times == 0) { /* left over on a coroutine that outlived its cell */
        lua_sethook(L, NULL, 0, 0);
        return;
    }
    bool was_closing = closing;
    closing = times == 1 && inside_close(L);
    if (closing) { /* functions called by it must run, too */
        lt_context_interrupt_clear(context);
        return;
    }
    if (was_closing) lt_context_interrupt(context);
    reached = 1;
    luaL_error(L, "interrupted");
}

bool interrupt_is_due(void) { return times > 0 && !reached && !closing; }

/* ---- hooks inside a __gc --------------------------------------------------------------------- */

/* Lua runs a __gc with hooks disabled by a byte of the state that no API function sets. Its offset
 * is found by comparing states with and without a hook. If it is not found (0), a __gc runs to
 * completion. */
static size_t hooks_byte;

enum {
    FIRST = sizeof(void *),
    LAST = 2 * sizeof(void *)
}; /* after the collector's link, before the stack */

static unsigned char outside[LAST - FIRST]; /* the bytes before a hook ran */

static void look_at_state(lua_State *L, lua_Debug *frame)
{
    (void)frame;
    const unsigned char *inside = (const unsigned char *)L + FIRST;
    size_t found = 0, candidates = 0;
    for (size_t i = 0; i < sizeof outside; i++)
        if (outside[i] == 1 && inside[i] == 0) found = FIRST + i, candidates++;
    hooks_byte = candidates == 1 ? found : 0;
    lua_sethook(L, NULL, 0, 0);
}

static void find_hooks_byte(lua_State *L)
{
    lua_Hook hook = lua_gethook(L);
    int mask = lua_gethookmask(L), count = lua_gethookcount(L);
    if (luaL_loadstring(L, "return 1") == LUA_OK) {
        memcpy(outside, (const unsigned char *)L + FIRST, sizeof outside);
        lua_sethook(L, look_at_state, LUA_MASKCOUNT, 1);
        lua_call(L, 0, 0);
        lua_sethook(L, hook, mask, count);
    } else {
        lua_pop(L, 1);
    }
}

static void allow_hooks(lua_State *L)
{
    if (hooks_byte != 0) ((unsigned char *)L)[hooks_byte] = 1;
}

/* ---- signals --------------------------------------------------------------------------------- */

#define WAKE_SIGNAL SIGURG /* ignored without a handler */

/* Enables hooks in a running __gc, so that it is interrupted. If no interrupt was raised within a
 * second, prints the reason. */
static void on_wake(int signal_number)
{
    enum { SIGNALS = 20 }; /* one second, by EVERY_NS */
    static const char reason[] =
        "waiting for C code to end, which Ctrl-C cannot stop; ^C twice more to kill\n";
    int saved_errno = errno;
    (void)signal_number;
    if (times > 0 && !closing) {
        allow_hooks(main_state);
        if (running != main_state) allow_hooks(running);
    }
    if (times > 0 && !reached) {
        waited = waited + 1;
        if (waited == SIGNALS && write(STDERR_FILENO, reason, sizeof reason - 1) < 0)
            errno = saved_errno;
    }
    errno = saved_errno;
}

/* Starts or stops the timer; its signals interrupt blocking calls. */
static void wake(bool on)
{
    enum { EVERY_NS = 50000000 };
    struct itimerspec every = {{0, on ? EVERY_NS : 0}, {0, on ? EVERY_NS : 0}};
    if (has_timer) timer_settime(wake_timer, 0, &every, NULL);
}

static void arm(lua_State *L)
{
    lua_sethook(L, raise_interrupted, LUA_MASKCOUNT | LUA_MASKCALL, 1);
}

/* Whether C code has had a second to react to the interrupt: repeated or held keys send signals
 * much faster. */
static bool has_had_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const double seconds = (double)(now.tv_sec - first_sigint.tv_sec) +
                           (double)(now.tv_nsec - first_sigint.tv_nsec) * 1e-9;
    return seconds >= 1;
}

static void on_sigint(int signal_number)
{
    static const char warning[] = "still inside C code; ^C again to kill\n";
    int saved_errno = errno;
    if (depth == 0) {
        editing = 1;
    } else {
        times = times == 0 ? 1 : 2;
        if (times == 1) {
            reached = waited = closing = warned = 0;
            clock_gettime(CLOCK_MONOTONIC, &first_sigint);
            lt_context_interrupt(context);
            arm(main_state);
            if (running != main_state) arm(running);
            wake(true);
        } else if (has_had_time() && !warned) {
            warned = 1;
            if (write(STDERR_FILENO, warning, sizeof warning - 1) < 0) errno = saved_errno;
        } else if (warned) {
            signal(signal_number, SIG_DFL);
            raise(signal_number);
        }
    }
    errno = saved_errno;
}

bool interrupt_while_editing(void)
{
    bool was = editing;
    editing = 0;
    return was;
}

/* ---- interruptible coroutines ---------------------------------------------------------------- */

static const char failed_key = 0; /* its address is the registry key of watch()'s function */

/* Passes the error that ended co, on top of L, to the function of watch(). Errors of that function
 * are dropped. */
static void tell_failed(lua_State *L, lua_State *co)
{
    if (times > 0 || !lua_checkstack(L, LUA_MINSTACK) || !lua_checkstack(co, 1)) return;
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &failed_key) == LUA_TFUNCTION) {
        lua_pushthread(co);
        lua_xmove(co, L, 1);
        lua_pushvalue(L, -3);
        if (lua_pcall(L, 2, 0, 0) == LUA_OK) return;
    }
    lua_pop(L, 1);
}

/* watch(f): f(coroutine, value) is called when a coroutine has ended with an error. */
static int watch(lua_State *L)
{
    lua_settop(L, 1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &failed_key);
    return 0;
}

/* The resumed coroutines, innermost first. */
typedef struct resumption {
    lua_State *from, *to;
    struct resumption *outer;
} resumption;
static resumption *innermost;

lua_State *interrupt_running(void) { return running; }

lua_State *interrupt_resumer(lua_State *co)
{
    for (const resumption *r = innermost; r != NULL; r = r->outer)
        if (r->to == co) return r->from;
    return NULL;
}

int interrupt_resume(lua_State *L, lua_State *co, int nargs)
{
    int nresults;
    resumption inside = {L, co, innermost};
    if (!lua_checkstack(co, nargs)) {
        lua_pushliteral(L, "too many arguments to resume");
        return -1;
    }
    lua_xmove(L, co, nargs);
    running = co;
    innermost = &inside;
    if (times > 0 && !closing)
        arm(co); /* a signal that arrived since L's last instruction */
    else
        hook_attach(co);
    int status = lt_lua_resume(co, L, nargs, &nresults);
    running = main_state != NULL ? L : NULL; /* without a handler, nothing follows L's end */
    innermost = inside.outer;
    if (times > 0)
        arm(L);
    else
        hook_attach(L);
    if (status != LUA_OK && status != LUA_YIELD) {
        lua_xmove(co, L, 1);
        tell_failed(L, co);
        return -1;
    }
    if (!lua_checkstack(L, nresults + 1)) {
        lua_pop(co, nresults);
        lua_pushliteral(L, "too many results to resume");
        return -1;
    }
    lua_xmove(co, L, nresults);
    return nresults;
}

static int coroutine_resume(lua_State *L)
{
    lua_State *co = lua_tothread(L, 1);
    luaL_argexpected(L, co, 1, "coroutine");
    int nresults = interrupt_resume(L, co, lua_gettop(L) - 1);
    lua_pushboolean(L, nresults >= 0);
    if (nresults < 0) {
        lua_insert(L, -2);
        return 2;
    }
    lua_insert(L, -(nresults + 1));
    return nresults + 1;
}

static int call_wrapped(lua_State *L)
{
    lua_State *co = lua_tothread(L, lua_upvalueindex(1));
    int nresults = interrupt_resume(L, co, lua_gettop(L));
    if (nresults >= 0) return nresults;
    int status = lua_status(co);
    if (status != LUA_OK && status != LUA_YIELD) {
        status = lt_lua_close_thread(
            co, L); /* closes its pending variables, which may change the error */
        lua_pop(L, 1);
        lua_xmove(co, L, 1);
    }
    if (status != LUA_ERRMEM && lua_type(L, -1) == LUA_TSTRING) {
        luaL_where(L, 1);
        lua_insert(L, -2);
        lua_concat(L, 2);
    }
    return lua_error(L);
}

static int coroutine_wrap(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_State *co = lua_newthread(L);
    lua_pushvalue(L, 1);
    lua_xmove(L, co, 1);
    lua_pushcclosure(L, call_wrapped, 1);
    return 1;
}

/* ---- the module ------------------------------------------------------------------------------ */

/* Addresses are the registry keys of the original fields of `coroutine`. */
static const char resume_key = 0, wrap_key = 0;

/* Stores the function in the field of the table on top of the stack, and saves the original. */
static void replace_field(lua_State *L, const char *name, lua_CFunction function, const char *key)
{
    lua_getfield(L, -1, name);
    lua_rawsetp(L, LUA_REGISTRYINDEX, key);
    lua_pushcfunction(L, function);
    lua_setfield(L, -2, name);
}

static void restore_field(lua_State *L, const char *name, const char *key)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, key);
    lua_setfield(L, -2, name);
}

/* Installs the versions of coroutine.resume and coroutine.wrap above, once. */
static void replace_coroutines(lua_State *L)
{
    lua_getglobal(L, LUA_COLIBNAME);
    if (lua_istable(L, -1)) {
        lua_getfield(L, -1, "wrap");
        const bool is_replaced = lua_tocfunction(L, -1) == coroutine_wrap;
        lua_pop(L, 1);
        if (!is_replaced) {
            replace_field(L, "resume", coroutine_resume, &resume_key);
            replace_field(L, "wrap", coroutine_wrap, &wrap_key);
        }
    }
    lua_pop(L, 1);
}

void interrupt_watch_coroutines(lua_State *L, lua_CFunction f)
{
    lua_pushcfunction(L, f);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &failed_key);
    replace_coroutines(L);
}

/* install(): makes SIGINT stop the cell in this interpreter. */
static int install(lua_State *L)
{
    struct sigaction action;
    find_hooks_byte(L);
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
    main_state = running = lua_tothread(L, -1);
    memset(&action, 0, sizeof action);
    action.sa_handler = on_sigint; /* without SA_RESTART: a blocked read returns */
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, &previous_action);
    action.sa_handler = on_wake;
    sigaction(WAKE_SIGNAL, &action, &previous_wake_action);
    has_timer =
        timer_create(CLOCK_MONOTONIC,
                     &(struct sigevent){.sigev_notify = SIGEV_SIGNAL, .sigev_signo = WAKE_SIGNAL},
                     &wake_timer) == 0;
    replace_coroutines(L);
    return 0;
}

/* restore(): restores the state from before install(). */
static int restore(lua_State *L)
{
    if (has_timer) timer_delete(wake_timer);
    has_timer = false;
    sigaction(SIGINT, &previous_action, NULL);
    sigaction(WAKE_SIGNAL, &previous_wake_action, NULL);
    lua_getglobal(L, LUA_COLIBNAME);
    if (lua_istable(L, -1)) {
        restore_field(L, "resume", &resume_key);
        restore_field(L, "wrap", &wrap_key);
    }
    return 0;
}

/* Called at the beginning and end of the outermost call(). */
static void begin_interruptible(void)
{
    if (depth == 0 && main_state) {
        context = lt_lua_context(main_state);
        user_hook.function = lua_gethook(main_state);
        user_hook.mask = lua_gethookmask(main_state);
        user_hook.count = lua_gethookcount(main_state);
        times = 0;
    }
    depth = depth + 1;
}

/* Removes the hook: the interrupt has reached the call that ends the cell. */
static void disarm(lua_State *L)
{
    wake(false);
    lt_context_interrupt_clear(context);
    lua_sethook(main_state, user_hook.function, user_hook.mask, user_hook.count);
    if (L != main_state) lua_sethook(L, NULL, 0, 0);
    hook_attach(main_state);
}

/* The message handler of call(). The hook must be removed before a handler written in Lua runs. */
static int handle_message(lua_State *L)
{
    if (times > 0) disarm(L);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, 1, 1);
    return 1;
}

/* call(f, handler, ...) -> ok, interrupted, results: xpcall(f, handler, ...) that Ctrl-C can stop.
 * Calls nest; the interrupt stays pending until the outermost one has ended. */
static int call_interruptible(lua_State *L)
{
    luaL_checkany(L, 2);
    lua_pushvalue(L, 2);
    lua_pushcclosure(L, handle_message, 1);
    lua_replace(L, 2);
    lua_pushvalue(L, 1); /* handler at 2, arguments above, the function below them */
    lua_insert(L, 3);
    begin_interruptible();
    int status = lua_pcall(L, lua_gettop(L) - 3, LUA_MULTRET, 2);
    bool interrupted = times > 0;
    depth = depth - 1;
    if (interrupted) disarm(L);
    if (depth == 0) {
        times = 0;
        hook_end_step(L);
    }
    lua_pushboolean(L, status == LUA_OK);
    lua_replace(L, 1);
    lua_pushboolean(L, interrupted);
    lua_replace(L, 2);
    return lua_gettop(L);
}

int luaopen_repl_interrupt(lua_State *L)
{
    static const luaL_Reg functions[] = {{"install", install},
                                         {"restore", restore},
                                         {"call", call_interruptible},
                                         {"watch", watch},
                                         {NULL, NULL}};
    luaL_newlib(L, functions);
    return 1;
}
