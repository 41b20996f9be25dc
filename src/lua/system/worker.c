/* worker.c - torch._C.fork_worker: a copy of this process that replies to messages, for the workers
 * of the DataLoader.
 *
 * A message is eight bytes of length and the bytes. The worker runs one Lua function and then ends
 * without closing resources shared with its parent; it ignores SIGINT, which its parent handles,
 * and dies with it. The parent's waits end at an interrupt. Closing a worker kills it and waits for
 * its end, so that no zombie is left. */
#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "binding.h"
#include "system/clock.h"
#include "context/interrupt.h"
#include "error.h"

#define WORKER_NAME "ltensor.worker"
#define MOST_BYTES  ((uint64_t)1 << 40) /* maximum size of a message: a larger one is damaged */

typedef struct {
    pid_t pid; /* 0 when closed */
    int to, from;
} worker_process;

enum { POLL_MS = 50 }; /* between two checks of the interrupt flag */
typedef enum { DONE, ENDED, TIMEOUT, INTERRUPTED } outcome;

/* Waits until one of n descriptors is ready. deadline < 0: no limit. */
static outcome wait_for_any(lua_State *L, struct pollfd *p, int n_descriptors, double deadline)
{
    for (;;) {
        if (LT_INSIDE(L, lt_interrupted())) return INTERRUPTED;
        int n = poll(p, (nfds_t)n_descriptors, POLL_MS);
        if (n > 0) return DONE;
        if (n < 0 && errno != EINTR) return ENDED;
        if (deadline >= 0 && lt_clock() > deadline) return TIMEOUT;
    }
}

static outcome wait_for_fd(lua_State *L, int fd, short events, double deadline)
{
    struct pollfd p = {fd, events, 0};
    return wait_for_any(L, &p, 1, deadline);
}

/* Reads or writes all n bytes. */
static outcome transfer(lua_State *L, int fd, char *bytes, size_t n, bool writes, double deadline)
{
    while (n > 0) {
        outcome ready = wait_for_fd(L, fd, writes ? POLLOUT : POLLIN, deadline);
        if (ready != DONE) return ready;
        ssize_t some = writes ? write(fd, bytes, n) : read(fd, bytes, n);
        if (some < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (some <= 0) return ENDED;
        bytes += some;
        n -= (size_t)some;
    }
    return DONE;
}

static outcome write_message(lua_State *L, int fd, const char *bytes, size_t n)
{
    uint64_t length = n;
    outcome sent = transfer(L, fd, (char *)&length, sizeof length, true, -1);
    return sent == DONE ? transfer(L, fd, (char *)bytes, n, true, -1) : sent;
}

/* Pushes the next message when the outcome is DONE. */
static outcome read_message(lua_State *L, int fd, double deadline)
{
    uint64_t length;
    luaL_Buffer buffer;
    outcome got = transfer(L, fd, (char *)&length, sizeof length, false, deadline);
    if (got != DONE) return got;
    if (length > MOST_BYTES) return ENDED;
    char *to = luaL_buffinitsize(L, &buffer, (size_t)length);
    got = transfer(L, fd, to, (size_t)length, false, deadline);
    luaL_pushresultsize(&buffer, got == DONE ? (size_t)length : 0);
    if (got != DONE) lua_pop(L, 1);
    return got;
}

#define END lua_upvalueindex(LT_UPVALUES + 1)

static void push_end(lua_State *L, int fd, lua_CFunction f)
{
    lt_lua_pushvalues(L);
    lua_pushinteger(L, fd);
    lua_pushcclosure(L, f, LT_UPVALUES + 1);
}

/* ---- the worker's side ----------------------------------------------------------------------- */

static int child_receive(lua_State *L)
{
    if (read_message(L, (int)lua_tointeger(L, END), -1) != DONE) lua_pushnil(L);
    return 1;
}

static int child_send(lua_State *L)
{
    size_t n;
    const char *bytes = lt_lua_check_lstring(L, 1, &n);
    if (write_message(L, (int)lua_tointeger(L, END), bytes, n) != DONE) _exit(0);
    return 0;
}

/* Runs the function on top of the stack with the pipe's ends; does not return. */
static void run_child(lua_State *L, int from, int to, pid_t parent)
{
    signal(SIGINT, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    push_end(L, from, child_receive);
    push_end(L, to, child_send);
    if (lua_pcall(L, 2, 0, 0) != LUA_OK) {
        const char *message = luaL_tolstring(L, -1, NULL);
        const lt_entry entry = lt_enter(L);
        lt_log_line(LT_LOG_ERROR, "worker %d: %s", (int)getpid(), message);
        lt_leave(entry);
        _exit(1);
    }
    _exit(0);
}

/* ---- the parent's side ----------------------------------------------------------------------- */

static worker_process *check_worker(lua_State *L)
{
    worker_process *w = lt_lua_check_udata(L, 1, WORKER_NAME);
    if (w->pid <= 0) lt_lua_error(L, "the worker has been closed");
    return w;
}

/* fork_worker(f) -> a worker that runs f(receive, send) */
static int fork_worker(lua_State *L)
{
    int down[2], up[2];
    lt_lua_check_type(L, 1, LUA_TFUNCTION);
    lua_settop(L, 1);
    lt_lua_do(L, lt_authorize(LT_ACCESS_PROCESS, "worker"));
    worker_process *w = lua_newuserdatauv(L, sizeof *w, 0);
    w->pid = 0;
    luaL_setmetatable(L, WORKER_NAME);
    if (pipe2(down, O_CLOEXEC) != 0) return lt_lua_error(L, "a worker's pipe: %s", strerror(errno));
    if (pipe2(up, O_CLOEXEC) != 0) {
        close(down[0]);
        close(down[1]);
        return lt_lua_error(L, "a worker's pipe: %s", strerror(errno));
    }
    fflush(NULL); /* else the worker would write the buffers again */
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        close(down[1]);
        close(up[0]);
        lua_settop(L, 1);
        run_child(L, down[0], up[1], parent);
    }
    int failed = pid < 0 ? errno : 0;
    close(down[0]);
    close(up[1]);
    if (failed) {
        close(down[1]);
        close(up[0]);
        return lt_lua_error(L, "a worker process: %s", strerror(failed));
    }
    fcntl(down[1], F_SETFL, O_NONBLOCK); /* a busy worker must not delay an interrupt */
    *w = (worker_process){pid, down[1], up[0]};
    return 1;
}

/* worker:send(message): reports no error if the worker has ended; receive does. */
static int worker_send(lua_State *L)
{
    size_t n;
    worker_process *w = check_worker(L);
    const char *bytes = lt_lua_check_lstring(L, 2, &n);
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    sigaction(SIGPIPE, &ignore, &before);
    outcome sent = write_message(L, w->to, bytes, n);
    sigaction(SIGPIPE, &before, NULL);
    if (sent == INTERRUPTED) lt_lua_do(L, lt_stopped());
    return 0;
}

static void describe_end(lua_State *L, worker_process *w)
{
    int status = 0;
    pid_t ended = waitpid(w->pid, &status, 0);
    close(w->to);
    close(w->from);
    w->pid = 0;
    if (ended > 0 && WIFSIGNALED(status))
        lua_pushfstring(L, "killed by signal %d (%s)", WTERMSIG(status),
                        strsignal(WTERMSIG(status)));
    else
        lua_pushfstring(L, "exit code %d", ended > 0 ? WEXITSTATUS(status) : -1);
}

/* worker:receive([seconds]) -> message; nil and "timeout" or how the worker has ended */
static int worker_receive(lua_State *L)
{
    worker_process *w = check_worker(L);
    double deadline = lua_isnoneornil(L, 2) ? -1 : lt_clock() + lt_lua_check_number(L, 2);
    switch (read_message(L, w->from, deadline)) {
    case DONE: return 1;
    case INTERRUPTED: lt_lua_do(L, lt_stopped()); return 0;
    case TIMEOUT:
        lua_pushnil(L);
        lua_pushliteral(L, "timeout");
        return 2;
    case ENDED:
        lua_pushnil(L);
        kill(w->pid, SIGKILL); /* if only its pipe was closed */
        describe_end(L, w);
        return 2;
    }
    return 0;
}

/* first_worker(workers, [seconds]) -> the position of the first worker in the list that has sent a
 * message or has ended; nil: none within the time */
static int first_worker(lua_State *L)
{
    lt_lua_check_type(L, 1, LUA_TTABLE);
    const int n = (int)lua_rawlen(L, 1);
    const double deadline = lua_isnoneornil(L, 2) ? -1 : lt_clock() + lt_lua_check_number(L, 2);
    lua_settop(L, 1);
    struct pollfd *p = lua_newuserdatauv(L, (size_t)(n + 1) * sizeof *p, 0);
    for (int i = 0; i < n; i++) {
        lua_rawgeti(L, 1, i + 1);
        const worker_process *w = lt_lua_check_udata(L, -1, WORKER_NAME);
        p[i] = (struct pollfd){w->from, POLLIN, 0};
        lua_pop(L, 1);
    }
    const outcome waited = wait_for_any(L, p, n, deadline);
    if (waited == INTERRUPTED) lt_lua_do(L, lt_stopped());
    int first = 0;
    while (first < n && p[first].revents == 0) first++;
    if (waited == DONE && first < n)
        lua_pushinteger(L, first + 1);
    else
        lua_pushnil(L);
    return 1;
}

static int worker_pid(lua_State *L)
{
    worker_process *w = lt_lua_check_udata(L, 1, WORKER_NAME);
    lua_pushinteger(L, w->pid);
    return 1;
}

static int worker_close(lua_State *L)
{
    worker_process *w = lt_lua_check_udata(L, 1, WORKER_NAME);
    if (w->pid <= 0) return 0;
    close(w->to);
    close(w->from);
    kill(w->pid, SIGKILL);
    while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR) continue;
    w->pid = 0;
    return 0;
}

void lt_lua_open_worker(lua_State *L)
{
    static const luaL_Reg methods[] = {{"send", worker_send},
                                       {"receive", worker_receive},
                                       {"pid", worker_pid},
                                       {"close", worker_close},
                                       {NULL, NULL}};
    static const luaL_Reg functions[] = {
        {"fork_worker", fork_worker}, {"first_worker", first_worker}, {NULL, NULL}};
    luaL_newmetatable(L, WORKER_NAME);
    lua_createtable(L, 0, 5);
    lt_lua_setfuncs(L, methods);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, worker_close);
    lua_setfield(L, -2, "__gc");
    lua_pop(L, 1);
    lua_pushvalue(L, 2);
    lt_lua_setfuncs(L, functions);
    lua_pop(L, 1);
}
