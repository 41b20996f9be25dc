/* relay.c - processes and descriptors for the Debug Adapter Protocol (repl/debug/adapter.lua).
 *
 * The adapter forks: the child runs the program, with its output in two pipes; the parent passes
 * messages between the client and the child. Includes the Lua API and POSIX only. */
#include "relay.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { READ_BYTES = 1 << 16, MAX_DESCRIPTORS = 8 };

static int fail(lua_State *L, const char *operation)
{
    return luaL_error(L, "--dap: %s: %s", operation, strerror(errno));
}

/* Connects the child's standard descriptors: no input, output to the two pipes. */
static void redirect(int out, int err)
{
    const int null = open("/dev/null", O_RDONLY);
    dup2(null, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    if (null > STDERR_FILENO) close(null);
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
}

/* fork() -> 0 and a socket in the child, which runs the program; in the parent the child's process,
 * the socket, and the read ends of the child's stdout and stderr. */
static int fork_program(lua_State *L)
{
    int ends[2], out[2], err[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0 ||
        pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0)
        return fail(L, "cannot open a pipe");
    fflush(stdout);
    fflush(stderr);
    const pid_t child = fork();
    if (child < 0) return fail(L, "cannot start a process");
    const int mine = child == 0 ? 1 : 0;
    close(ends[1 - mine]);
    if (child == 0) redirect(out[1], err[1]);
    close(out[1]);
    close(err[1]);
    lua_pushinteger(L, child);
    lua_pushinteger(L, ends[mine]);
    if (child == 0) {
        close(out[0]);
        close(err[0]);
        return 2;
    }
    lua_pushinteger(L, out[0]);
    lua_pushinteger(L, err[0]);
    return 4;
}

/* wait(child) -> its exit code, or 128 and the number of the signal that ended it */
static int wait_for(lua_State *L)
{
    int status = 0;
    while (waitpid((pid_t)luaL_checkinteger(L, 1), &status, 0) < 0 && errno == EINTR) continue;
    lua_pushinteger(L, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
    return 1;
}

/* kill(child) */
static int kill_child(lua_State *L)
{
    kill((pid_t)luaL_checkinteger(L, 1), SIGKILL);
    return 0;
}

/* ready({descriptors} [, milliseconds]) -> {descriptor = true}: the readable ones, at the latest
 * after that time */
static int ready(lua_State *L)
{
    struct pollfd wait[MAX_DESCRIPTORS];
    luaL_checktype(L, 1, LUA_TTABLE);
    const lua_Integer length = luaL_len(L, 1);
    if (length < 0 || length > MAX_DESCRIPTORS)
        return luaL_argerror(L, 1, "wrong number of descriptors");
    const int n = (int)length;
    for (int i = 0; i < n; i++) {
        lua_geti(L, 1, i + 1);
        wait[i] = (struct pollfd){(int)luaL_checkinteger(L, -1), POLLIN, 0};
        lua_pop(L, 1);
    }
    const int found = poll(wait, (nfds_t)n, (int)luaL_optinteger(L, 2, -1));
    lua_newtable(L);
    for (int i = 0; i < n && found > 0; i++) {
        if (wait[i].revents == 0) continue;
        lua_pushboolean(L, 1);
        lua_seti(L, -2, wait[i].fd);
    }
    return 1;
}

/* read(descriptor) -> bytes; nil at the end */
static int read_bytes(lua_State *L)
{
    luaL_Buffer buffer;
    const int descriptor = (int)luaL_checkinteger(L, 1);
    char *bytes = luaL_buffinitsize(L, &buffer, READ_BYTES);
    ssize_t n;
    do n = read(descriptor, bytes, READ_BYTES);
    while (n < 0 && errno == EINTR);
    if (n <= 0) return 0;
    luaL_pushresultsize(&buffer, (size_t)n);
    return 1;
}

/* write(descriptor, bytes) -> true; nil if the reader has closed */
static int write_bytes(lua_State *L)
{
    size_t size;
    const int descriptor = (int)luaL_checkinteger(L, 1);
    const char *bytes = luaL_checklstring(L, 2, &size);
    while (size > 0) {
        const ssize_t n = write(descriptor, bytes, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return 0;
        bytes += n;
        size -= (size_t)n;
    }
    lua_pushboolean(L, 1);
    return 1;
}

static int close_descriptor(lua_State *L)
{
    close((int)luaL_checkinteger(L, 1));
    return 0;
}

/* accept(port) -> the descriptor of one connection to this port of the local host */
static int accept_client(lua_State *L)
{
    const int yes = 1;
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)luaL_checkinteger(L, 1)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server < 0) return fail(L, "cannot open a socket");
    setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(server, (struct sockaddr *)&address, sizeof address) != 0 || listen(server, 1) != 0) {
        close(server);
        return fail(L, "cannot listen on the port");
    }
    int client;
    do client = accept4(server, NULL, NULL, SOCK_CLOEXEC);
    while (client < 0 && errno == EINTR);
    close(server);
    if (client < 0) return fail(L, "cannot accept a client");
    lua_pushinteger(L, client);
    return 1;
}

/* ignore_broken_pipe(): writing to a client that has closed is an error, not the end. */
static int ignore_broken_pipe(lua_State *L)
{
    (void)L;
    signal(SIGPIPE, SIG_IGN);
    return 0;
}

int luaopen_repl_relay(lua_State *L)
{
    static const luaL_Reg functions[] = {{"fork", fork_program},
                                         {"wait", wait_for},
                                         {"kill", kill_child},
                                         {"ready", ready},
                                         {"read", read_bytes},
                                         {"write", write_bytes},
                                         {"close", close_descriptor},
                                         {"accept", accept_client},
                                         {"ignore_broken_pipe", ignore_broken_pipe},
                                         {NULL, NULL}};
    luaL_newlib(L, functions);
    return 1;
}
