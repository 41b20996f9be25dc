/* main.c - the ltensor program: opens an interpreter with torch and runs the command line as `lua`
 * would: code, libraries, a script, stdin or the prompt; or the cells of a notebook.
 *
 * All work on the interpreter happens inside of one protected call. Errors go to stderr and make
 * the exit code 1. The prompt and notebooks are Lua modules embedded in the program (repl/ *.lua),
 * loaded on demand. Includes ltensor.h, the Lua API and this folder's headers. */
#include <errno.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "allocator.h"
#include "app.h"
#include "launch.h"
#include "ltensor_lua.h"
#include "system/lua_versions.h"
#include "modules.h"
#include "options.h"
#include "plugin.h"
#include "system/interrupt.h"
#include "system/recorder.h"
#include "system/system.h"

static const char program[] = "ltensor";

/* ---- errors ---------------------------------------------------------------------------------- */

static void print_error(const char *message)
{
    fflush(stdout);
    fprintf(stderr, "%s: %s\n", program, message);
    fflush(stderr);
}

/* Whether the file descriptor is a pipe without a reader. */
static bool is_closed_pipe(int fd)
{
    struct pollfd pipe = {.fd = fd, .events = POLLOUT};
    return poll(&pipe, 1, 0) > 0 && (pipe.revents & POLLERR) != 0;
}

/* Completes the output on stdout and returns the exit status: EXIT_FAILURE instead of EXIT_SUCCESS
 * if a write has failed, for example on a full device. A closed pipe is not reported. */
static int finish_output(int status)
{
    static bool is_reported;
    errno = 0;
    const bool failed = fflush(stdout) != 0 || ferror(stdout) || recorder_has_failed();
    if (!failed) return status;
    if (!is_reported && errno != EPIPE && !is_closed_pipe(STDOUT_FILENO))
        fprintf(stderr, "%s: the output on stdout is incomplete: %s\n", program,
                errno != 0 ? strerror(errno) : "a write failed");
    is_reported = true;
    return status == EXIT_SUCCESS ? EXIT_FAILURE : status;
}

/* Message handler: adds a traceback without the program's own frames. */
static int add_traceback(lua_State *L)
{
    modules_push_require(L);
    lua_pushliteral(L, "repl.errors");
    if (lua_pcall(L, 1, 1, 0) == LUA_OK && lua_istable(L, -1)) {
        lua_getfield(L, -1, "script");
        lua_pushvalue(L, 1);
        if (lua_pcall(L, 1, 1, 0) == LUA_OK && lua_isstring(L, -1)) return 1;
    }
    luaL_traceback(L, L, luaL_tolstring(L, 1, NULL), 1);
    return 1;
}

/* Prints the error on top of the stack, pops it, and returns false; LUA_OK returns true. */
static bool report(lua_State *L, int status)
{
    if (status == LUA_OK) return true;
    print_error(luaL_tolstring(L, -1, NULL));
    lua_pop(L, 2);
    return false;
}

/* Calls the function under its nargs arguments, with tracebacks. */
static int call(lua_State *L, int nargs, int nresults)
{
    int base = lua_gettop(L) - nargs;
    lua_pushcfunction(L, add_traceback);
    lua_insert(L, base);
    int status = lua_pcall(L, nargs, nresults, base);
    lua_remove(L, base);
    return status;
}

/* Reports the compiler's message on top of the stack with the source line. */
static bool report_refused(lua_State *L)
{
    modules_push_function(L, "repl.errors", "refused");
    lua_insert(L, -2);
    lua_pcall(L, 1, 1, 0);
    return report(L, LUA_ERRSYNTAX);
}

static bool run_lua_chunk(lua_State *L, int status)
{
    if (status == LUA_ERRSYNTAX) return report_refused(L);
    if (status == LUA_OK) status = call(L, 0, 0);
    return report(L, status);
}

/* Stores the text on top of the stack for error reports, under the chunk name that they show. */
static void keep_source(lua_State *L, const char *name)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, "ltensor.sources");
    lua_pushvalue(L, -2);
    lua_setfield(L, -2, name);
    lua_pop(L, 1);
}

/* Compile a text, a file. With Lua 5.3, load and loadfile of repl/program/lua53.lua do it. */
#if LUA_VERSION_NUM == 503
static int load_by(lua_State *L, const char *function, const char *source, size_t n,
                   const char *name)
{
    lua_getglobal(L, function);
    lua_pushlstring(L, source, n);
    if (name != NULL) lua_pushstring(L, name);
    lua_call(L, name != NULL ? 2 : 1, 2);
    lua_remove(L, lua_isnil(L, -2) ? -2 : -1);
    if (lua_isfunction(L, -1)) return LUA_OK;
    return strncmp(lua_tostring(L, -1), "cannot ", 7) == 0 ? LUA_ERRFILE : LUA_ERRSYNTAX;
}

static int load_buffer(lua_State *L, const char *text, size_t n, const char *name)
{
    return load_by(L, "load", text, n, name);
}

static int load_file(lua_State *L, const char *path)
{
    return load_by(L, "loadfile", path, strlen(path), NULL);
}
#else
static int load_buffer(lua_State *L, const char *text, size_t n, const char *name)
{
    return luaL_loadbuffer(L, text, n, name);
}

static int load_file(lua_State *L, const char *path) { return luaL_loadfile(L, path); }
#endif

/* Compiles the text on top of the stack, and stores it for error reports. */
static int load_text(lua_State *L, const char *name)
{
    size_t n;
    const char *text = lua_tolstring(L, -1, &n);
    keep_source(L, name + 1);
    int status = load_buffer(L, text, n, name);
    lua_remove(L, -2);
    return status;
}

/* Compiles stdin, as luaL_loadfile does: without a byte order mark and a first line that begins
 * with #. */
static int load_stdin(lua_State *L)
{
    luaL_Buffer buffer;
    luaL_buffinit(L, &buffer);
    while (!feof(stdin) && !ferror(stdin)) {
        char *bytes = luaL_prepbuffer(&buffer);
        luaL_addsize(&buffer, fread(bytes, 1, LUAL_BUFFERSIZE, stdin));
    }
    luaL_pushresult(&buffer);
    size_t n;
    const char *text = lua_tolstring(L, -1, &n), *start = text;
    if (strncmp(start, "\xEF\xBB\xBF", 3) == 0) start += 3;
    if (*start == '#') {
        start += strcspn(start, "\n"); /* the newline keeps the line numbers */
        if (*start == '\n' && start[1] == LUA_SIGNATURE[0]) start++;
    }
    if (start != text) {
        lua_pushlstring(L, start, n - (size_t)(start - text));
        lua_remove(L, -2);
    }
    return load_text(L, "=stdin");
}

/* Passes the frames of a coroutine that ended with an error to error reports. */
static int coroutine_failed(lua_State *L)
{
    modules_push_function(L, "repl.errors", "coroutine_failed");
    lua_insert(L, 1);
    lua_call(L, 2, 0);
    return 0;
}

/* The same for a callback of the library. */
static int callback_failed(lua_State *L)
{
    modules_push_function(L, "repl.errors", "callback_failed");
    lua_insert(L, 1);
    lua_call(L, 1, 0);
    return 0;
}

/* ---- the interpreter ------------------------------------------------------------------------- */

/* Prints the summary of hidden copies, if the binding has one. Never raises. */
static void show_copies_summary(lua_State *L)
{
    int top = lua_gettop(L);
    if (!lua_checkstack(L, 6)) return;
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    if (lua_getfield(L, -1, "torch") == LUA_TTABLE) {
        lua_pushliteral(L, "cuda");
        if (lua_rawget(L, -2) == LUA_TTABLE) {
            lua_pushliteral(L, "_copies_summary");
            if (lua_rawget(L, -2) == LUA_TFUNCTION) lua_pcall(L, 0, 0, 0);
        }
    }
    lua_settop(L, top);
}

/* os.exit of the program: runs the exit handlers first. */
static int exit_program(lua_State *L)
{
    system_end_capture();
    show_copies_summary(L);
    const bool succeeds = lua_isnoneornil(L, 1) || (lua_isboolean(L, 1) && lua_toboolean(L, 1)) ||
                          (lua_isinteger(L, 1) && lua_tointeger(L, 1) == EXIT_SUCCESS);
    if (finish_output(EXIT_SUCCESS) != EXIT_SUCCESS && succeeds) {
        lua_settop(L, 2);
        lua_pushboolean(L, false);
        lua_replace(L, 1);
    }
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, 0);
    return 0;
}

static void wrap_exit(lua_State *L)
{
    lua_getglobal(L, LUA_OSLIBNAME);
    lua_getfield(L, -1, "exit");
    lua_pushcclosure(L, exit_program, 1);
    lua_setfield(L, -2, "exit");
    lua_pop(L, 1);
}

/* Sets `torch` and the other predefined names. */
static void open_torch(lua_State *L)
{
    static const char *const globals[] = {"nn", "try_gpu", "try_all_gpus"};
    luaL_requiref(L, "torch", luaopen_torch, 1);
    if (lua_istable(L, -1)) {
        lua_getfield(L, -1, "_C");
        /* sets RANK etc. in a process started by mpirun */
        lua_getfield(L, -1, "comm_environment");
        lua_call(L, 0, 0);
        lua_getfield(L, -1, "accept_tensors");
        lua_call(L, 0, 0);
        lua_pop(L, 1);
        for (size_t i = 0; i < sizeof globals / sizeof *globals; i++) {
            if (lua_getfield(L, -1, globals[i]) != LUA_TNIL)
                lua_setglobal(L, globals[i]);
            else
                lua_pop(L, 1);
        }
    }
    lua_pop(L, 1);
}

#if LUA_VERSION_NUM == 503
/* Replaces load, loadfile and dofile in the globals, and in those of the prompt's modules. */
static void set_loaders(lua_State *L)
{
    modules_push_require(L);
    lua_pushliteral(L, "repl.program.lua53");
    lua_call(L, 1, 1);
    lua_pushvalue(L, -1);
    lua_pushglobaltable(L);
    lua_call(L, 1, 0);
    modules_push_globals(L);
    lua_call(L, 1, 0);
}
#endif

/* breakpoint(): stops the program for the debugger. */
static int stop_for_debugger(lua_State *L)
{
    modules_push_function(L, "repl.debug.engine", "breakpoint");
    lua_call(L, 0, 0);
    return 0;
}

static void set_arguments(lua_State *L, int argc, char **argv, int script)
{
    lua_createtable(L, argc, script + 1);
    for (int i = 0; i < argc; i++) {
        lua_pushstring(L, argv[i]);
        lua_rawseti(L, -2, i - script);
    }
    lua_setglobal(L, "arg");
}

/* ---- actions --------------------------------------------------------------------------------- */

static void print_version(lua_State *L)
{
    printf("ltensor %s\n%s\n", LT_VERSION, LUA_RELEASE);
    lua_getglobal(L, "torch");
    if (lua_istable(L, -1) && lua_getfield(L, -1, "__config__") == LUA_TTABLE) {
        lua_getfield(L, -1, "show");
        if (call(L, 0, 1) == LUA_OK && lua_isstring(L, -1)) {
            const char *text = lua_tostring(L, -1);
            size_t length = strlen(text);
            printf("%s%s", text, length > 0 && text[length - 1] == '\n' ? "" : "\n");
        }
    }
    fflush(stdout);
    lua_settop(L, 0);
}

static bool run_init(lua_State *L)
{
    const char *init = getenv("LTENSOR_INIT");
    if (!init) return true;
    if (init[0] == '@') return run_lua_chunk(L, load_file(L, init + 1));
    lua_pushstring(L, init);
    return run_lua_chunk(L, load_text(L, "=LTENSOR_INIT"));
}

/* -l name, -l g=name */
static bool require_library(lua_State *L, const char *spec)
{
    const char *equals = strchr(spec, '=');
    const char *module = equals ? equals + 1 : spec;
    /* in `name-version` only the name is the global, as in lua */
    size_t length = equals ? (size_t)(equals - spec) : strcspn(spec, "-");
    lua_getglobal(L, "require");
    lua_pushstring(L, module);
    if (!report(L, call(L, 1, 1))) return false;
    lua_pushlstring(L, spec, length);
    lua_insert(L, -2);
    lua_pushglobaltable(L);
    lua_insert(L, -3);
    lua_settable(L, -3);
    lua_pop(L, 1);
    return true;
}

/* Executes -e, -l and -W, in order. */
static bool run_code_options(lua_State *L, char **argv, int first)
{
    for (int i = 1; i < first; i++) {
        char letter = argv[i][0] == '-' ? argv[i][1] : '\0';
        if (letter == 'W') lua_warning(L, "@on", 0);
        if (letter != 'e' && letter != 'l') continue;
        const char *text = argv[i][2] ? argv[i] + 2 : argv[++i];
        bool ok;
        if (letter == 'l') {
            ok = require_library(L, text);
        } else {
            lua_pushstring(L, text);
            ok = run_lua_chunk(L, load_text(L, "=(command line)"));
        }
        if (!ok) return false;
    }
    return true;
}

/* Runs the script (NULL: stdin) with the arguments after it as `...`. */
static bool run_script(lua_State *L, const char *path)
{
    int status = path != NULL ? load_file(L, path) : load_stdin(L);
    if (status == LUA_ERRSYNTAX) return report_refused(L);
    if (status != LUA_OK) return report(L, status);
    lua_getglobal(L, "arg");
    int nargs = lua_istable(L, -1) ? (int)luaL_len(L, -1) : 0;
    luaL_checkstack(L, nargs + 3, "too many arguments to script");
    int table = lua_gettop(L);
    for (int i = 1; i <= nargs; i++) lua_rawgeti(L, table, i);
    lua_remove(L, table);
    return report(L, call(L, nargs, 0));
}

/* Runs the script inside of the executable (repl/bundle/app.lua) with the arguments. */
static bool run_app(lua_State *L, int argc, char **argv)
{
    modules_push_function(L, "repl.bundle.app", "open");
    if (!report(L, call(L, 0, 2))) return false;
    lua_pushvalue(L, -2);
    const int status = load_text(L, lua_tostring(L, -2));
    if (status == LUA_ERRSYNTAX) return report_refused(L);
    for (int i = 1; i < argc; i++) {
        luaL_checkstack(L, 1, "too many arguments");
        lua_pushstring(L, argv[i]);
    }
    return report(L, call(L, argc - 1, 0));
}

static bool run_cells(lua_State *L, const options *o, const char *path)
{
    modules_push_function(L, "repl.notebook", "main");
    lua_pushstring(L, path);
    lua_pushstring(L, o->check ? "check" : o->write ? "write" : "show");
    if (!report(L, call(L, 2, 1))) return false;
    return lua_toboolean(L, -1);
}

/* Pushes the program's path and the options before --kernel, the command that starts an installed
 * kernel. */
static void push_own_command(lua_State *L, char **argv, int end)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path);
    lua_newtable(L);
    if (n > 0)
        lua_pushlstring(L, path, (size_t)n);
    else
        lua_pushstring(L, argv[0]);
    lua_rawseti(L, -2, 1);
    for (int i = 1; i < end; i++) {
        lua_pushstring(L, argv[i]);
        lua_rawseti(L, -2, i + 1);
    }
}

static bool run_kernel(lua_State *L, const options *o, int argc, char **argv)
{
    modules_push_function(L, "repl.jupyter", "main");
    lua_pushcfunction(L, plugin_open);
    push_own_command(L, argv, o->kernel - 1);
    lua_newtable(L);
    for (int i = o->kernel; i < argc; i++) {
        lua_pushstring(L, argv[i]);
        lua_rawseti(L, -2, i - o->kernel + 1);
    }
    return report(L, call(L, 3, 0));
}

/* Runs a command with the arguments after its name. */
static bool run_command(lua_State *L, int argc, char **argv)
{
    const char *module = strcmp(argv[0], "build") == 0 ? "repl.bundle.command" : "repl.lm.commands";
    modules_push_function(L, module, "main");
    lua_pushstring(L, argv[0]);
    lua_newtable(L);
    for (int i = 1; i < argc; i++) {
        lua_pushstring(L, argv[i]);
        lua_rawseti(L, -2, i);
    }
    if (!report(L, call(L, 2, 1))) return false;
    return lua_toboolean(L, -1);
}

static bool run_adapter(lua_State *L, const options *o)
{
    modules_push_function(L, "repl.debug.adapter", "main");
    if (o->dap_port > 0)
        lua_pushinteger(L, o->dap_port);
    else
        lua_pushnil(L);
    if (!report(L, call(L, 1, 1))) return false;
    return lua_toboolean(L, -1);
}

static bool run_doctor(lua_State *L)
{
    modules_push_function(L, "repl.doctor", "main");
    lua_pushnil(L);
    lua_pushcfunction(L, plugin_open);
    return report(L, call(L, 2, 0));
}

/* Runs the prompt. A script runs in it first, so that the prompt has its locals and reports its
 * errors. */
static bool run_prompt(lua_State *L, const options *o, const char *script)
{
    modules_push_function(L, "repl.prompt", "main");
    lua_pushboolean(L, o->ignore_environment);
    lua_pushboolean(L, false);
    lua_pushstring(L, script);
    return report(L, call(L, 3, 0));
}

/* Whether the library of the simulated GPUs of --sim-gpus was loaded; reports the error. Without
 * GPUs for another reason (CUDA_VISIBLE_DEVICES hides all) scripts run on the CPU. */
static bool has_simulated_gpus(void)
{
    char name[64];
    if (getenv("LTENSOR_DISABLE_CUDA") != NULL) return true; /* disabled on purpose */
    if (lt_device_name((lt_device){LT_CUDA, 0}, name, sizeof name) == LT_OK) return true;
    if (strstr(lt_error_message(), "could not be loaded") == NULL) return true;
    print_error(lt_error_message());
    return false;
}

/* Executes the command line; true if nothing failed. */
static bool run_program(lua_State *L, const options *o, int argc, char **argv)
{
    bool prompts = o->interactive && !o->cells; /* even if -e or -l failed */
    if (o->app) return run_app(L, argc, argv);
    if (o->simulates && !o->doctor && !has_simulated_gpus()) return false;
    if (!o->ignore_environment && !run_init(L) && !prompts) return false;
    if (o->has_code && !run_code_options(L, argv, o->first) && !prompts) return false;
    if (o->doctor) return run_doctor(L);
    if (o->dap) return run_adapter(L, o);
    if (o->kernel) return run_kernel(L, o, argc, argv);
    if (o->command) return run_command(L, argc - o->command, argv + o->command);
    if (o->cells) return run_cells(L, o, argv[o->script]);
    if (o->script) {
        bool is_stdin = strcmp(argv[o->script], "-") == 0 && strcmp(argv[o->script - 1], "--") != 0;
        if (o->interactive && !is_stdin) return run_prompt(L, o, argv[o->script]);
        bool ok = run_script(L, is_stdin ? NULL : argv[o->script]);
        return o->interactive ? run_prompt(L, o, NULL) : ok;
    }
    if (o->interactive) return run_prompt(L, o, NULL);
    if (o->has_code || o->version) return true;
    return isatty(STDIN_FILENO) ? run_prompt(L, o, NULL) : run_script(L, NULL);
}

static int protected_main(lua_State *L)
{
    const options *o = lua_touserdata(L, 1);
    int argc = (int)lua_tointeger(L, 2);
    char **argv = lua_touserdata(L, 3);
    luaL_checkversion(L);
    if (o->ignore_environment) {
        lua_pushboolean(L, 1); /* read by the package library */
        lua_setfield(L, LUA_REGISTRYINDEX, "LUA_NOENV");
    }
    luaL_openlibs(L);
    wrap_exit(L);
    modules_preload(L);
    /* the interpreter is the only user of the process context */
    lt_lua_set_context(L, lt_context_process());
    set_arguments(L, argc, argv, o->script);
    interrupt_watch_coroutines(L, coroutine_failed);
    lua_pushcfunction(L, callback_failed);
    lua_setfield(L, LUA_REGISTRYINDEX, "ltensor.callback_failed"); /* src/lua/graph/callback.h */
    open_torch(L);
#if LUA_VERSION_NUM == 503
    set_loaders(L);
#endif
    lua_register(L, "breakpoint", stop_for_debugger);
    lua_settop(L, 0);
    if (o->version) print_version(L);
    lua_pushboolean(L, run_program(L, o, argc, argv));
    show_copies_summary(L);
    return 1;
}

int main(int argc, char **argv)
{
    options o = {.app = app_is_inside()};
    const char *bad = NULL;
    const char *problem = o.app ? NULL : options_parse(&argc, argv, &o, &bad);
    if (problem) {
        fprintf(stderr, "%s: '%s': %s; ltensor --help lists the options\n", program, bad, problem);
        return EXIT_FAILURE;
    }
    if (o.help) {
        fputs(options_help, stdout);
        return finish_output(EXIT_SUCCESS);
    }
    if (o.nproc > 0)
        return launch_ranks(o.nproc, o.restarts, !o.script && !o.has_code && !o.interactive, argc,
                            argv);
    lua_State *L = luaL_newstate();
    if (!L) {
        print_error("not enough memory");
        return EXIT_FAILURE;
    }
    allocator_install(L);
    lt_lua_set_gc_mode(
        L, LUA_GCGEN); /* minor collections free a loop's temporaries: src/lua/state.c */
    lua_pushcfunction(L, protected_main);
    lua_pushlightuserdata(L, &o);
    lua_pushinteger(L, argc);
    lua_pushlightuserdata(L, argv);
    bool ok = report(L, lua_pcall(L, 3, 1, 0)) && lua_toboolean(L, -1);
    lua_close(L);
    return finish_output(ok ? EXIT_SUCCESS : EXIT_FAILURE);
}
