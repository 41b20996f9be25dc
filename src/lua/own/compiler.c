/* compiler.c - torch._C.compile_library: runs the compiler of the host (lib/utils/cpp_extension.lua).
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler.h"

#include "binding.h"
#include "context/context.h"

extern char **environ;

#define MAX_ARGS 64

/* Starts argv with its output in the pipe; returns an errno. */
static int start(char **argv, const int ends[2], pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) return error;
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    error = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Reads the output of the compiler to the end, and stores its first bytes as a string. Ctrl-C reaches
 * the compiler, too, which ends. */
static void read_output(int from, char *text, size_t room)
{
    char part[1024];
    size_t used = 0;
    ssize_t n;
    while ((n = read(from, part, sizeof part)) != 0) {
        if (n < 0 && errno != EINTR) break;
        const size_t fits = n < 0 ? 0 : (size_t)n < room - 1 - used ? (size_t)n : room - 1 - used;
        memcpy(text + used, part, fits);
        used += fits;
    }
    text[used] = '\0';
}

static int wait_for(pid_t pid)
{
    int state = 0;
    while (waitpid(pid, &state, 0) < 0)
        if (errno != EINTR) return -1;
    return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

/* compile_library(list of arguments, output): runs the compiler, args[1], which writes a temporary
 * file, and renames that to the output. -> whether it succeeded, and its messages; nil: the compiler
 * was not found */
static int compile_library(lua_State *L)
{
    char *argv[MAX_ARGS + 3], temporary[4096], messages[16384];
    int ends[2];
    pid_t pid;
    lt_lua_check_type(L, 1, LUA_TTABLE);
    const char *output = lt_lua_check_path(L, 2);
    const int n = (int)lua_rawlen(L, 1);
    luaL_checkstack(L, MAX_ARGS + 8, NULL);
    if (n < 1 || n > MAX_ARGS)
        return lt_lua_error(L, "the compiler has %d arguments, at most %d are possible", n,
                            MAX_ARGS);
    for (int i = 0; i < n; i++) {
        lua_rawgeti(L, 1, i + 1);
        argv[i] = (char *)lt_lua_check_string(L, lua_gettop(L));
    }
    snprintf(temporary, sizeof temporary, "%.4000s.%ld.tmp", output, (long)getpid());
    argv[n] = "-o", argv[n + 1] = temporary, argv[n + 2] = NULL;
    lt_lua_do(L, lt_authorize(LT_ACCESS_PROCESS, argv[0]));
    lt_lua_do(L, lt_authorize(LT_ACCESS_FILE_WRITE, output));
    if (pipe2(ends, O_CLOEXEC) != 0)
        return lt_lua_error(L, "the compiler could not be started: %s", strerror(errno));
    const int error = start(argv, ends, &pid);
    close(ends[1]);
    if (error != 0) {
        close(ends[0]);
        if (error != ENOENT && error != EACCES)
            return lt_lua_error(L, "%s could not be started: %s", argv[0], strerror(error));
        lua_pushnil(L);
        return 1;
    }
    read_output(ends[0], messages, sizeof messages);
    close(ends[0]);
    const int code = wait_for(pid);
    const bool done = code == 0 && rename(temporary, output) == 0;
    if (!done) (void)unlink(temporary);
    lua_pushboolean(L, done);
    lua_pushstring(L, messages);
    return 2;
}

void lt_lua_open_compiler(lua_State *L)
{
    lt_lua_pushfunction(L, compile_library);
    lua_setfield(L, 2, "compile_library");
}
