/* hook.c - the hook of the debugger.
 *
 * - A hook is installed only while breakpoints, watches or a step exist. New coroutines inherit it;
 *   others get it when they are resumed (interrupt.c).
 * - A line event first tests a bitmap of line numbers; only a line with a breakpoint in some file
 *   calls Lua code.
 * - A stop runs the function `stopped` of repl.debug.engine in a coroutine of its own, so that the
 *   levels of the stopped thread do not change while the user inspects them.
 * - "over" stops when the frame at `depth` reaches a new line or has returned. One call of
 *   lua_getstack() compares depths. After the return, a count hook of one instruction stops in the
 *   middle of the caller's line.
 * - A descriptor with messages of a client sends SIGIO; a count hook of one instruction then reads
 *   them.
 *
 * Code of the library (chunks "[ltensor ...]") never stops. Includes the Lua API, interrupt.h and
 * POSIX only.
 */
#include "hook.h"

#include <fcntl.h>
#include <lauxlib.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "interrupt.h"
#include "system/lua_versions.h"

enum { LINES = 1 << 14 }; /* larger line numbers share a bit with smaller ones */

typedef enum step_mode { RUN, STEP, OVER } step_mode;

static const char *const mode_names[] = {"run", "step", "over", NULL};

static unsigned char lines[LINES / CHAR_BIT];
static bool has_lines;  /* a breakpoint exists */
static bool every_line; /* watches are checked at every line */
static bool stopped;    /* the function `stopped` runs */
static bool has_handlers;

/* The current step. */
static struct {
    step_mode mode;
    lua_State *thread;
    int depth;    /* number of frames up to the frame of the step */
    bool leaving; /* the frame itself does not stop: finish, or it has made a tail call */
    bool landing; /* the frame has returned: stop at the next instruction of its caller, */
    int line;     /* whose line this is, else the event of the new line stops */
} step;

/* In Lua 5.3, lua_sethook in a count hook causes an event of the current line. */
static struct {
    lua_State *thread;
    const void *frame;
    int line;
    bool again; /* the next event may repeat this one */
} last_line;

static volatile sig_atomic_t has_input; /* a descriptor of input() is readable */

/* Their addresses are registry keys: the functions of handlers(), and the thread of the step. */
static const char matches_key = 0, stopped_key = 0, thread_key = 0;

static void on_event(lua_State *L, lua_Debug *frame);

/* ---- installing ------------------------------------------------------------------------------ */

static int wanted_mask(void)
{
    int mask = 0;
    if (has_lines || every_line || step.mode != RUN) mask |= LUA_MASKLINE;
    if (step.mode != RUN) mask |= LUA_MASKCALL | LUA_MASKRET;
    return mask;
}

static void install(lua_State *L, bool counts)
{
    const int mask = wanted_mask() | (counts ? LUA_MASKCOUNT : 0);
    const lua_Hook current = lua_gethook(L);
    if (current != NULL && current != on_event) return;
    if (mask == 0 && current == NULL) return;
    if (mask == 0)
        lua_sethook(L, NULL, 0, 0);
    else if (current == NULL || lua_gethookmask(L) != mask)
        lua_sethook(L, on_event, mask, counts ? 1 : 0);
}

void hook_attach(lua_State *L) { install(L, has_input || (step.landing && L == step.thread)); }

static void attach_all(lua_State *L)
{
    lua_State *running = interrupt_running();
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
    hook_attach(lua_tothread(L, -1));
    lua_pop(L, 1);
    if (running != NULL) hook_attach(running);
    hook_attach(L);
}

void hook_end_step(lua_State *L)
{
    if (step.mode == RUN) return;
    memset(&step, 0, sizeof step);
    lua_pushnil(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &thread_key);
    attach_all(L);
}

/* ---- stopping -------------------------------------------------------------------------------- */

/* Calls stopped(thread, kind, matched) in a new coroutine; its error ends the program. */
static void stop(lua_State *L, const char *kind, bool matched)
{
    luaL_checkstack(L, LUA_MINSTACK, "the debugger");
    const int top = lua_gettop(L);
    lua_State *own = lua_newthread(L);
    lua_sethook(own, NULL, 0, 0);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &stopped_key);
    lua_xmove(L, own, 1);
    lua_pushthread(L);
    lua_pushstring(L, kind);
    lua_pushboolean(L, matched);
    stopped = true;
    const int results = interrupt_resume(L, own, 3);
    stopped = false;
    if (results < 0) {
        lt_lua_close_thread(own, L); /* closes its pending variables */
        lua_error(L);
    }
    lua_settop(L, top);
    attach_all(L);
}

/* True if repl.cell calls the frame at that level: the chunk around a cell, which creates its
 * function. */
static bool is_around_cell(lua_State *L, int level)
{
    lua_Debug caller;
    return lua_getstack(L, level + 1, &caller) && lua_getinfo(L, "S", &caller) &&
           strcmp(caller.source, "=[ltensor repl.cell]") == 0;
}

/* True if the frame at that level runs code of the user; gets its source and line. */
static bool is_users(lua_State *L, lua_Debug *frame, int level)
{
    static const char internal[] = "=[ltensor ";
    lua_getinfo(L, "Sl", frame);
    if (strncmp(frame->source, internal, sizeof internal - 1) == 0 || *frame->what == 'C')
        return false;
    return *frame->what != 'm' || !is_around_cell(L, level);
}

static bool has_bit(int line)
{
    const unsigned bit = (unsigned)line % LINES;
    return (lines[bit / CHAR_BIT] >> bit % CHAR_BIT & 1) != 0;
}

/* True if a breakpoint exists at the line of the frame. */
static bool matches(lua_State *L, const lua_Debug *frame)
{
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &matches_key) != LUA_TFUNCTION) {
        lua_pop(L, 1);
        return false;
    }
    lua_pushstring(L, frame->source);
    lua_pushinteger(L, frame->currentline);
    lua_call(L, 2, 1);
    const bool found = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return found;
}

/* True if the thread has yielded or ended, so that its step continues in its caller. */
static bool is_over(lua_State *thread)
{
    lua_Debug frame;
    return lua_status(thread) != LUA_OK || !lua_getstack(thread, 0, &frame);
}

static bool is_step_done(lua_State *L)
{
    lua_Debug frame;
    if (step.mode != OVER) return step.mode == STEP;
    if (L != step.thread) return is_over(step.thread);
    if (lua_getstack(L, step.depth, &frame)) return false;
    return !step.leaving || !lua_getstack(L, step.depth - 1, &frame);
}

static void keep_line(lua_State *L, const lua_Debug *frame, bool again)
{
    last_line.thread = L;
    last_line.frame = frame->i_ci;
    last_line.line = frame->currentline;
    last_line.again = again;
}

static bool is_repeated(lua_State *L, const lua_Debug *frame)
{
    const bool same = last_line.again && last_line.thread == L && last_line.frame == frame->i_ci &&
                      last_line.line == frame->currentline;
    keep_line(L, frame, false);
    return same;
}

static void at_line(lua_State *L, lua_Debug *frame)
{
    if (LUA_VERSION_NUM == 503 && is_repeated(L, frame)) return;
    const bool stepped = is_step_done(L);
    bool matched = has_lines && has_bit(frame->currentline);
    if ((!stepped && !matched && !every_line) || !is_users(L, frame, 0)) return;
    if (matched) matched = matches(L, frame);
    if (stepped || matched || every_line) stop(L, stepped ? "step" : "line", matched);
}

/* The line of the first caller of the frame on top that runs code of the user; 0: none. */
static int line_of_caller(lua_State *L)
{
    lua_Debug frame;
    for (int level = 1; lua_getstack(L, level, &frame); level++)
        if (is_users(L, &frame, level)) return frame.currentline;
    return 0;
}

/* The frame on top returns or has made a tail call. */
static void leave(lua_State *L, bool returns)
{
    lua_Debug frame;
    /* Lua 5.3 calls the hook of a tail call before it removes the frame. */
    const int depth = step.depth + (LUA_VERSION_NUM == 503 && !returns);
    if (step.mode == RUN || L != step.thread || lua_getstack(L, depth, &frame)) return;
    step.leaving = !returns;
    if (!returns) return;
    step.depth--;
    step.landing = true;
    step.line = line_of_caller(L);
    hook_attach(L);
}

static void at_instruction(lua_State *L, lua_Debug *frame)
{
    lua_Debug deeper;
    last_line.again = true;
    if (has_input) {
        has_input = 0;
        hook_attach(L);
        if (has_handlers) stop(L, "input", false);
    } else if (!step.landing || L != step.thread) {
        hook_attach(L);
    } else if (!lua_getstack(L, step.depth, &deeper) && is_users(L, frame, 0)) {
        step.landing = false;
        if (frame->currentline == step.line) {
            keep_line(L, frame, true);
            stop(L, "step", false);
        } else
            hook_attach(L);
    }
}

static void on_event(lua_State *L, lua_Debug *frame)
{
    if (stopped) return;
    switch (frame->event) {
    case LUA_HOOKLINE: at_line(L, frame); break;
    case LUA_HOOKRET: leave(L, true); break;
    case LUA_HOOKTAILCALL: leave(L, false); break;
    case LUA_HOOKCOUNT: at_instruction(L, frame); break;
    default: break;
    }
    if (wanted_mask() == 0) hook_attach(L);
}

/* ---- input of a client ----------------------------------------------------------------------- */

static void on_sigio(int signal_number)
{
    (void)signal_number;
    has_input = 1;
    lua_State *running = interrupt_running();
    if (running != NULL && !stopped) install(running, true);
}

/* input([descriptor]): the program stops with the kind "input" when SIGIO arrives, which the
 * descriptor sends when it becomes readable. */
static int notice_input(lua_State *L)
{
    struct sigaction action = {.sa_handler = on_sigio, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGIO, &action, NULL);
    if (lua_isnoneornil(L, 1)) return 0;
    const int descriptor = (int)luaL_checkinteger(L, 1);
    fcntl(descriptor, F_SETOWN, getpid());
    fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_ASYNC);
    return 0;
}

/* ---- the module ------------------------------------------------------------------------------ */

/* handlers(matches, stopped): matches(source, line) returns true if a breakpoint exists there;
 * stopped(thread, kind, matched) inspects the program until it continues. */
static int set_handlers(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TFUNCTION);
    luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_settop(L, 2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &stopped_key);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &matches_key);
    has_handlers = true;
    return 0;
}

/* watch({lines}, every): the lines that have breakpoints in some file; every: stop at all lines. */
static int set_lines(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    const lua_Integer n = luaL_len(L, 1);
    memset(lines, 0, sizeof lines);
    for (lua_Integer i = 1; i <= n; i++) {
        lua_geti(L, 1, i);
        const unsigned bit = (unsigned)luaL_checkinteger(L, -1) % LINES;
        lines[bit / CHAR_BIT] |= (unsigned char)(1 << bit % CHAR_BIT);
        lua_pop(L, 1);
    }
    has_lines = n > 0;
    every_line = lua_toboolean(L, 2);
    attach_all(L);
    return 0;
}

/* Number of frames of the thread from the given level to its base. */
static int depth_below(lua_State *thread, int level)
{
    lua_Debug frame;
    int low = level, high = level + 1; /* low exists */
    while (lua_getstack(thread, high, &frame)) low = high, high *= 2;
    while (low + 1 < high) {
        const int middle = low + (high - low) / 2;
        if (lua_getstack(thread, middle, &frame))
            low = middle;
        else
            high = middle;
    }
    return low - level + 1;
}

/* go(mode [, thread, level, leaving]): how the program continues after the stop: "run", "step" to
 * the next line, or "over" the calls of the frame; leaving: over the frame, too. */
static int go(lua_State *L)
{
    memset(&step, 0, sizeof step);
    step.mode = (step_mode)luaL_checkoption(L, 1, NULL, mode_names);
    if (step.mode != RUN) {
        luaL_checktype(L, 2, LUA_TTHREAD);
        step.thread = lua_tothread(L, 2);
        step.depth = depth_below(step.thread, (int)luaL_checkinteger(L, 3));
        step.leaving = lua_toboolean(L, 4);
        lua_pushvalue(L, 2);
    } else {
        lua_pushnil(L);
    }
    lua_rawsetp(L, LUA_REGISTRYINDEX, &thread_key);
    attach_all(L);
    return 0;
}

/* stop(kind): stops the calling thread now. */
static int stop_now(lua_State *L)
{
    if (!stopped) stop(L, luaL_checkstring(L, 1), false);
    return 0;
}

/* caller(thread) -> the thread that resumed it, or nil */
static int caller_of(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTHREAD);
    lua_State *from = interrupt_resumer(lua_tothread(L, 1));
    if (from == NULL || !lua_checkstack(from, 1)) return 0;
    lua_pushthread(from);
    lua_xmove(from, L, 1);
    return 1;
}

int luaopen_repl_hook(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"handlers", set_handlers}, {"watch", set_lines},    {"go", go},  {"stop", stop_now},
        {"caller", caller_of},      {"input", notice_input}, {NULL, NULL}};
    luaL_newlib(L, functions);
    return 1;
}
