/* recorder.c - records the terminal output of a cell.
 *
 * C's stdout, which print() and io.stdout write to, becomes a stream that records its output and
 * passes it to file descriptor 1; `print` and `io.write` do not change. The first 64 KB of a cell
 * are kept. Threads that forward the output of processes add to the record. Includes the Lua API
 * only. */
#include "recorder.h"

#include <errno.h>
#include <lauxlib.h>
#include <lualib.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static FILE *plain, *recording; /* the original stdout; the recording stream that replaces it */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A forked child may record output, too, so the forking thread holds the lock during fork(). */
static void acquire(void) { pthread_mutex_lock(&lock); }
static void unlock_in_fork(void) { pthread_mutex_unlock(&lock); }
__attribute__((constructor)) static void hold_across_fork(void)
{
    pthread_atfork(acquire, unlock_in_fork, unlock_in_fork);
}

static struct {
    unsigned long cell;
    char text[64 << 10];
    size_t size;
    char last; /* last byte written, or 0 */
} recorded;

unsigned long recorder_cell(void)
{
    pthread_mutex_lock(&lock);
    unsigned long cell = recorded.cell;
    pthread_mutex_unlock(&lock);
    return cell;
}

void recorder_add(unsigned long cell, const char *bytes, size_t size)
{
    pthread_mutex_lock(&lock);
    if (cell == recorded.cell && size > 0) {
        size_t room = sizeof recorded.text - recorded.size, taken = size < room ? size : room;
        memcpy(recorded.text + recorded.size, bytes, taken);
        recorded.size += taken;
        recorded.last = bytes[size - 1];
    }
    pthread_mutex_unlock(&lock);
}

bool recorder_has_failed(void) { return recording && ferror(recording); }

FILE *recorder_terminal(void) { return plain && stdout == recording ? plain : stdout; }

/* Like stdout's own function: a signal ends a blocked write. */
static ssize_t pass_on(void *cookie, const char *bytes, size_t size)
{
    (void)cookie;
    recorder_add(recorder_cell(), bytes, size);
    size_t done = 0;
    while (done < size) {
        ssize_t n = write(STDOUT_FILENO, bytes + done, size - done);
        if (n <= 0) break;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

/* Redirects io.stdout, if it is C's stdout, to the other stream. */
static void move_stdout(lua_State *L, FILE *from, FILE *to)
{
    lua_getglobal(L, LUA_IOLIBNAME);
    if (lua_istable(L, -1)) {
        lua_pushliteral(L, "stdout");
        lua_rawget(L, -2);
        luaL_Stream *stream = luaL_testudata(L, -1, LUA_FILEHANDLE);
        if (stream && stream->f == from) stream->f = to;
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    fflush(stdout);
    stdout = to;
}

/* start([lines]): starts recording. lines: output is line-buffered, as to a terminal. */
static int start_recording(lua_State *L)
{
    if (stdout == recording && recording) return 0;
    if (!recording) {
        recording = fopencookie(NULL, "w", (cookie_io_functions_t){.write = pass_on});
        if (!recording) return luaL_error(L, "cannot record output: %s", strerror(errno));
        setvbuf(recording, NULL, isatty(STDOUT_FILENO) || lua_toboolean(L, 1) ? _IOLBF : _IOFBF,
                BUFSIZ);
    }
    plain = stdout;
    move_stdout(L, plain, recording);
    return 0;
}

/* stop(): restores stdout. */
static int stop_recording(lua_State *L)
{
    if (recording && stdout == recording) move_stdout(L, recording, plain);
    return 0;
}

/* begin(): the following output belongs to a new cell. */
static int begin_cell(lua_State *L)
{
    (void)L;
    fflush(stdout);
    pthread_mutex_lock(&lock);
    recorded.cell++;
    recorded.size = 0;
    recorded.last = '\0';
    pthread_mutex_unlock(&lock);
    return 0;
}

/* text() -> the output of the cell */
static int text(lua_State *L)
{
    fflush(stdout);
    luaL_Buffer buffer;
    char *place = luaL_buffinitsize(L, &buffer, sizeof recorded.text);
    pthread_mutex_lock(&lock);
    size_t size = recorded.size;
    memcpy(place, recorded.text, size);
    pthread_mutex_unlock(&lock);
    luaL_pushresultsize(&buffer, size);
    return 1;
}

/* inside_line() -> whether the cell's output ends within a line */
static int inside_line(lua_State *L)
{
    fflush(stdout);
    pthread_mutex_lock(&lock);
    bool inside = recorded.last != '\0' && recorded.last != '\n';
    pthread_mutex_unlock(&lock);
    lua_pushboolean(L, inside);
    return 1;
}

int luaopen_repl_recorder(lua_State *L)
{
    static const luaL_Reg functions[] = {{"start", start_recording},   {"stop", stop_recording},
                                         {"begin", begin_cell},        {"text", text},
                                         {"inside_line", inside_line}, {NULL, NULL}};
    luaL_newlib(L, functions);
    return 1;
}
