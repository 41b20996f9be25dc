/* system.c - operating system functions for the program's Lua code: terminals, the clock, capturing
 * the output of a cell, and appending to files that sessions share.
 *
 * Capturing replaces file descriptors 1 and 2, not Lua's streams, so it includes the output of C
 * code and child processes. One capture at a time. Includes the Lua API and POSIX only. */
#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* isatty(fd) -> boolean */
static int is_terminal(lua_State *L)
{
    lua_pushboolean(L, isatty((int)luaL_checkinteger(L, 1)));
    return 1;
}

/* size() -> columns and rows of the terminal on stdout; 80 and 24 if unknown */
static int terminal_size(lua_State *L)
{
    struct winsize size;
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
    lua_pushinteger(L, known && size.ws_col > 0 ? size.ws_col : 80);
    lua_pushinteger(L, known && size.ws_row > 0 ? size.ws_row : 24);
    return 2;
}

/* clock() -> seconds of a monotonic clock */
static int monotonic_clock(lua_State *L)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    lua_pushnumber(L, (lua_Number)now.tv_sec + (lua_Number)now.tv_nsec * 1e-9);
    return 1;
}

/* ---- capturing ------------------------------------------------------------------------------- */

static struct capture {
    int descriptor; /* 1 or 2 */
    int saved;      /* the original file description */
    FILE *file;     /* the temporary file; NULL: not capturing */
} captures[2] = {{STDOUT_FILENO, -1, NULL}, {STDERR_FILENO, -1, NULL}};

static void undo_capture(struct capture *c)
{
    if (c->saved >= 0) {
        dup2(c->saved, c->descriptor);
        close(c->saved);
        c->saved = -1;
    }
}

/* A file without a name: of the system's folder for temporary files, or in memory if it has none. */
static FILE *unnamed_file(void)
{
    FILE *file = tmpfile();
    if (file != NULL) return file;
    const int fd = memfd_create("output", MFD_CLOEXEC);
    return fd >= 0 ? fdopen(fd, "w+") : NULL;
}

/* start_capture(): captures stdout and stderr from now on. */
static int start_capture(lua_State *L)
{
    fflush(stdout);
    fflush(stderr);
    setvbuf(stdout, NULL, _IOLBF, 0); /* keeps the order with output of child processes */
    for (int i = 0; i < 2; i++) {
        struct capture *c = &captures[i];
        if (c->file) return luaL_error(L, "a capture is under way");
        c->file = unnamed_file();
        c->saved = c->file ? dup(c->descriptor) : -1;
        if (c->saved < 0 || dup2(fileno(c->file), c->descriptor) < 0) {
            int error = errno;
            system_end_capture();
            return luaL_error(L, "cannot capture output: %s", strerror(error));
        }
    }
    return 0;
}

/* end_capture() -> the output on stdout, the output on stderr */
static int end_capture(lua_State *L)
{
    fflush(stdout);
    fflush(stderr);
    for (int i = 0; i < 2; i++) undo_capture(&captures[i]);
    for (int i = 0; i < 2; i++) {
        struct capture *c = &captures[i];
        luaL_Buffer text;
        size_t n;
        luaL_buffinit(L, &text);
        if (c->file) {
            rewind(c->file);
            do {
                char *place = luaL_prepbuffer(&text);
                n = fread(place, 1, LUAL_BUFFERSIZE, c->file);
                luaL_addsize(&text, n);
            } while (n > 0);
            fclose(c->file);
            c->file = NULL;
        }
        luaL_pushresult(&text);
    }
    return 2;
}

void system_end_capture(void)
{
    char block[4096];
    size_t n;
    fflush(stdout);
    fflush(stderr);
    for (int i = 0; i < 2; i++) {
        struct capture *c = &captures[i];
        undo_capture(c);
        if (!c->file) continue;
        rewind(c->file);
        FILE *target = c->descriptor == STDOUT_FILENO ? stdout : stderr;
        while ((n = fread(block, 1, sizeof block, c->file)) > 0) fwrite(block, 1, n, target);
        fclose(c->file);
        c->file = NULL;
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

/* make_directories(path [, for_all]): creates the folder and its parents, with permissions for the
 * user only or by the umask. */
static int make_directories(lua_State *L)
{
    char *path = strdup(luaL_checkstring(L, 1));
    mode_t mode = lua_toboolean(L, 2) ? 0777 : 0700;
    if (!path) return luaL_error(L, "out of memory");
    for (char *p = path + 1;; p++) {
        if (*p != '/' && *p != '\0') continue;
        char end = *p;
        *p = '\0';
        /* an existing folder is accepted; other errors appear when the caller opens a file */
        mkdir(path, mode);
        *p = end;
        if (end == '\0') break;
    }
    free(path);
    return 0;
}

/* append(path, text) -> true, or nil and a message. The file is created for the user only and
 * locked while writing, so that entries of two sessions never mix. */
static int append_locked(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1);
    size_t length, written = 0;
    const char *text = luaL_checklstring(L, 2, &length);
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) return luaL_fileresult(L, 0, path);
    flock(fd, LOCK_EX);
    while (written < length) {
        ssize_t n = write(fd, text + written, length - written);
        if (n < 0 && errno != EINTR) break;
        if (n > 0) written += (size_t)n;
    }
    int error = errno;
    close(fd);
    errno = error;
    return luaL_fileresult(L, written == length, path);
}

/* change_directory(path) -> true, or nil and a message */
static int change_directory(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1);
    return luaL_fileresult(L, chdir(path) == 0, path);
}

/* working_directory() -> path */
static int working_directory(lua_State *L)
{
    char *path = getcwd(NULL, 0);
    if (!path) return luaL_fileresult(L, 0, ".");
    lua_pushstring(L, path);
    free(path);
    return 1;
}

/* real_path(path) -> the absolute path without symbolic links; nil if there is no such file */
static int real_path(lua_State *L)
{
    char *path = realpath(luaL_checkstring(L, 1), NULL);
    if (!path) return 0;
    lua_pushstring(L, path);
    free(path);
    return 1;
}

/* program_folder() -> the folder of the running program; nil if unknown */
static int program_folder(lua_State *L)
{
    char path[4096];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
    if (n <= 0 || n == sizeof path) return 0;
    const char *slash = memrchr(path, '/', (size_t)n);
    if (slash == NULL) return 0;
    lua_pushlstring(L, path, (size_t)(slash - path));
    return 1;
}

/* modified(path) -> time of the last change in nanoseconds; nil if the file does not exist */
static int modified(lua_State *L)
{
    struct stat status;
    if (stat(luaL_checkstring(L, 1), &status) != 0) return 0;
    lua_pushinteger(L, (lua_Integer)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec);
    return 1;
}

/* make_executable(path): for each reader of the file */
static int make_executable(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1);
    struct stat status;
    const bool ok = stat(path, &status) == 0 &&
                    chmod(path, status.st_mode | ((status.st_mode & 0444) >> 2)) == 0;
    return luaL_fileresult(L, ok, path);
}

/* set_environment(name, value) */
static int set_environment(lua_State *L)
{
    return luaL_fileresult(L, setenv(luaL_checkstring(L, 1), luaL_checkstring(L, 2), 1) == 0, NULL);
}

int luaopen_repl_system(lua_State *L)
{
    static const luaL_Reg functions[] = {{"isatty", is_terminal},
                                         {"size", terminal_size},
                                         {"clock", monotonic_clock},
                                         {"start_capture", start_capture},
                                         {"end_capture", end_capture},
                                         {"make_directories", make_directories},
                                         {"append", append_locked},
                                         {"change_directory", change_directory},
                                         {"working_directory", working_directory},
                                         {"make_executable", make_executable},
                                         {"modified", modified},
                                         {"real_path", real_path},
                                         {"program_folder", program_folder},
                                         {"set_environment", set_environment},
                                         {NULL, NULL}};
    luaL_newlib(L, functions);
    return 1;
}
