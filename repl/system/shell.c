/* shell.c - other programs on the program's terminal: the user's shell, a pager.
 *
 * A command keeps our terminal for input and Ctrl-C. If its output is recorded, the output is a
 * pseudo-terminal with our width (a pipe if ours is not a terminal), which is forwarded to ours; a
 * thread forwards the output of processes in the background. Includes recorder.h, the Lua API and
 * POSIX only. */
#include "shell.h"

#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <poll.h>
#include <pthread.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "recorder.h"

/* ---- output of a command --------------------------------------------------------------------- */

typedef struct {
    int ours, theirs; /* ends of the pseudo-terminal or pipe; -1 for none */
    bool terminal;
    unsigned long cell;
} outlet;

static void keep_to_ourselves(int fd) { fcntl(fd, F_SETFD, FD_CLOEXEC); }

/* Opens an outlet for a command. If that fails, ours is -1, and the command writes directly to our
 * stdout. */
static outlet outlet_open(void)
{
    outlet o = {-1, -1, isatty(STDOUT_FILENO), recorder_cell()};
    int ends[2];
    if (o.terminal) {
        struct termios settings;
        struct winsize size;
        bool sized = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
        if (openpty(&o.ours, &o.theirs, NULL, NULL, sized ? &size : NULL) != 0)
            return (outlet){-1, -1, false, 0};
        if (tcgetattr(o.theirs, &settings) == 0) { /* our own terminal converts line ends */
            settings.c_oflag &= ~(tcflag_t)OPOST;
            tcsetattr(o.theirs, TCSANOW, &settings);
        }
    } else if (pipe(ends) == 0) {
        o.ours = ends[0];
        o.theirs = ends[1];
    }
    if (o.ours >= 0) {
        keep_to_ourselves(o.ours);
        keep_to_ourselves(o.theirs);
    }
    return o;
}

/* Forwards input that arrives within `milliseconds`; false at its end. */
static bool outlet_pass_on(const outlet *o, int milliseconds)
{
    struct pollfd wait = {o->ours, POLLIN, 0};
    char bytes[4096];
    if (poll(&wait, 1, milliseconds) <= 0) return true;
    ssize_t size = read(o->ours, bytes, sizeof bytes);
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) return true;
    if (size <= 0) return false;
    recorder_add(o->cell, bytes, (size_t)size);
    for (ssize_t done = 0; done < size;) {
        ssize_t n = write(STDOUT_FILENO, bytes + done, (size_t)(size - done));
        if (n < 0 && errno != EINTR && errno != EAGAIN) return false;
        if (n > 0) done += n;
    }
    return true;
}

static void *pass_on_the_rest(void *argument)
{
    outlet o = *(outlet *)argument;
    free(argument);
    while (outlet_pass_on(&o, -1)) continue;
    close(o.ours);
    return NULL;
}

/* Called when the command has ended; background programs may keep the outlet open. */
static void outlet_leave(outlet *o)
{
    sigset_t all, before;
    pthread_t thread;
    bool open;
    struct pollfd wait = {o->ours, POLLIN, 0};
    do open = outlet_pass_on(o, 0);
    while (open && poll(&wait, 1, 0) > 0);
    outlet *rest = open ? malloc(sizeof *rest) : NULL;
    if (rest) {
        *rest = *o;
        sigfillset(&all); /* signals are handled by the thread that runs cells */
        pthread_sigmask(SIG_SETMASK, &all, &before);
        bool started = pthread_create(&thread, NULL, pass_on_the_rest, rest) == 0;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (started) {
            pthread_detach(thread);
            return;
        }
        free(rest);
    }
    close(o->ours);
}

/* Waits for the child and forwards its output. */
static int wait_for_child(pid_t child, outlet *o)
{
    enum { LOOK_MS = 20 };
    int status = 0;
    if (o->ours < 0) {
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
        return status;
    }
    struct winsize size, known = {0};
    bool open = true;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (o->terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
            memcmp(&size, &known, sizeof size) != 0) {
            ioctl(o->ours, TIOCSWINSZ, &size);
            known = size;
        }
        if (open)
            open = outlet_pass_on(o, LOOK_MS);
        else
            poll(NULL, 0, LOOK_MS);
    }
    if (open)
        outlet_leave(o);
    else
        close(o->ours);
    return status;
}

/* ---- the module ------------------------------------------------------------------------------ */

/* run(command [, noted]) -> exit code; runs it in the user's shell. If a signal kills it, the code
 * is 128 plus its number. Ctrl-C goes to the command only. With `noted`, its output is recorded for
 * the cell. */
static int run_command(lua_State *L)
{
    const char *command = luaL_checkstring(L, 1);
    bool noted = lua_toboolean(L, 2);
    const char *shell = getenv("SHELL");
    struct sigaction ignore, saved_int, saved_quit;
    if (!shell || !*shell) shell = "/bin/sh";
    fflush(NULL);
    memset(&ignore, 0, sizeof ignore);
    ignore.sa_handler = SIG_IGN;
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGINT, &ignore, &saved_int);
    sigaction(SIGQUIT, &ignore, &saved_quit);
    outlet o = noted ? outlet_open() : (outlet){-1, -1, false, 0};
    pid_t child = fork();
    if (child == 0) {
        if (o.theirs >= 0) dup2(o.theirs, STDOUT_FILENO);
        signal(SIGINT, SIG_DFL);
        signal(SIGQUIT, SIG_DFL);
        execl(shell, shell, "-c", command, (char *)NULL);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    int fork_error = child < 0 ? errno : 0;
    if (o.theirs >= 0) close(o.theirs);
    int status = child > 0 ? wait_for_child(child, &o) : 0;
    if (child < 0 && o.ours >= 0) close(o.ours);
    sigaction(SIGINT, &saved_int, NULL);
    sigaction(SIGQUIT, &saved_quit, NULL);
    if (fork_error) return luaL_error(L, "cannot start a shell: %s", strerror(fork_error));
    lua_pushinteger(L, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
    return 1;
}

/* page(text, command) -> exit code of the pager; quitting it early is not an error, and it handles
 * Ctrl-C itself. */
static int page(lua_State *L)
{
    size_t length;
    const char *text = luaL_checklstring(L, 1, &length);
    const char *command = luaL_checkstring(L, 2);
    struct sigaction ignore, saved_int, saved_pipe;
    fflush(NULL);
    memset(&ignore, 0, sizeof ignore);
    ignore.sa_handler = SIG_IGN;
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGINT, &ignore, &saved_int);
    sigaction(SIGPIPE, &ignore, &saved_pipe);
    int status = -1;
    FILE *pager = popen(command, "w");
    if (pager) {
        fwrite(text, 1, length, pager);
        status = pclose(pager);
    }
    sigaction(SIGINT, &saved_int, NULL);
    sigaction(SIGPIPE, &saved_pipe, NULL);
    lua_pushinteger(L, status >= 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 128);
    return 1;
}

int luaopen_repl_shell(lua_State *L)
{
    static const luaL_Reg functions[] = {{"run", run_command}, {"page", page}, {NULL, NULL}};
    luaL_newlib(L, functions);
    return 1;
}
