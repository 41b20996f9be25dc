/* readline.c - line editing for the prompt; the only file that depends on readline (or libedit,
 * with LT_LIBEDIT, which lacks some features).
 *
 * keys.c reads keys, so that Ctrl-C is handled here and leaves no readline state behind. The
 * interpreter is stored only while read() runs. Completion calls a Lua function in protected mode;
 * it receives the text before the cursor and returns candidates. Includes readline, the Lua API,
 * display.h and keys.h. */
#include "readline.h"

#include <lauxlib.h>
#include <locale.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#ifdef LT_LIBEDIT
#include <editline/readline.h>
#define WORD_BREAKS rl_basic_word_break_characters /* word separators of completion */
#else
#include <readline/history.h>
#include <readline/readline.h>
#include <readline/tilde.h>
#define WORD_BREAKS rl_completer_word_break_characters
#endif

#include "bindings.h"
#include "display.h"
#include "../system/recorder.h"
#include "keys.h"

/* Their addresses are keys in the registry: of the completer, the menu of its words, the judge of
 * unfinished input, the highlighter, and whether there are colours. */
static const char completer_key = 0, menu_key = 0, judge_key = 0, highlighter_key = 0,
                  colours_key = 0;
static lua_State *reader; /* the interpreter inside read(), else NULL */

/* ---- completion ------------------------------------------------------------------------------ */

/* Next word of the list on top of the reader's stack; readline frees it. */
static char *next_match(const char *text, int state)
{
    static lua_Integer index;
    (void)text;
    if (state == 0) index = 0;
    if (lua_rawgeti(reader, -1, ++index) != LUA_TSTRING) {
        lua_pop(reader, 1);
        return NULL;
    }
    char *word = strdup(lua_tostring(reader, -1));
    lua_pop(reader, 1);
    return word;
}

static char **complete(const char *text, int start, int end)
{
    char **matches = NULL;
    (void)start;
    rl_attempted_completion_over = 1; /* no fallback to readline's file names */
    rl_completion_append_character = '\0';
    if (!reader || !lua_checkstack(reader, 8)) return NULL;
    int top = lua_gettop(reader);
    lua_rawgetp(reader, LUA_REGISTRYINDEX, &completer_key);
    lua_pushlstring(reader, rl_line_buffer, (size_t)end);
    lua_pushstring(reader, text);
    if (lua_pcall(reader, 2, 1, 0) == LUA_OK && lua_istable(reader, -1))
        matches = rl_completion_matches(text, next_match);
    lua_settop(reader, top);
    /* At a second Tab, readline itself would write the only match below the cursor. */
    if (matches && !matches[1] && strcmp(matches[0], text) == 0) {
        free(matches[0]);
        free(matches);
        matches = NULL;
    }
    return matches;
}

/* The menu of the words, from the Lua function of set_completer. */
static char *menu_text(char **words, int count, int columns)
{
    char *text = NULL;
    if (!reader || !lua_checkstack(reader, 8)) return NULL;
    int top = lua_gettop(reader);
    lua_rawgetp(reader, LUA_REGISTRYINDEX, &menu_key);
    lua_newtable(reader);
    for (int i = 0; i < count; i++) {
        lua_pushstring(reader, words[i]);
        lua_rawseti(reader, -2, i + 1);
    }
    lua_pushinteger(reader, columns);
    if (lua_pcall(reader, 2, 1, 0) == LUA_OK && lua_type(reader, -1) == LUA_TSTRING)
        text = strdup(lua_tostring(reader, -1));
    lua_settop(reader, top);
    return text;
}

/* ---- keys and the terminal ------------------------------------------------------------------- */

#ifdef LT_LIBEDIT

static void prepare_readline(void) {}
static const char *classify(const char *text, int length, int point)
{
    return (void)text, (void)length, (void)point, NULL;
}
static bool wants_more(int *indent) { return *indent = 0, false; }
static void handle_readline_signals(void) {}
static void watch_signals(bool on) { (void)on; }
static void set_readline(const char *name, const char *value)
{
    if (strcmp(name, "editing-mode") == 0)
        rl_parse_and_bind(strcmp(value, "vi") == 0 ? "bind -v" : "bind -e");
}

#else

/* Calls the function that decides if the input in the buffer is complete. */
static bool wants_more(int *indent)
{
    *indent = 0;
    if (!reader || !lua_checkstack(reader, 8)) return false;
    int top = lua_gettop(reader);
    lua_rawgetp(reader, LUA_REGISTRYINDEX, &judge_key);
    lua_pushlstring(reader, rl_line_buffer, (size_t)rl_end);
    lua_pushinteger(reader, rl_point);
    bool more = lua_pcall(reader, 2, 1, 0) == LUA_OK && lua_isinteger(reader, -1);
    if (more) *indent = (int)lua_tointeger(reader, -1);
    lua_settop(reader, top);
    return more;
}

/* The classes of the buffer's bytes, from the highlighter. */
static const char *classify(const char *text, int length, int point)
{
    static char classes[1 << 15];
    if (!reader || (size_t)length >= sizeof classes || !lua_checkstack(reader, 8)) return NULL;
    int top = lua_gettop(reader);
    size_t size = 0;
    lua_rawgetp(reader, LUA_REGISTRYINDEX, &highlighter_key);
    lua_pushlstring(reader, text, (size_t)length);
    lua_pushinteger(reader, point);
    const char *found =
        lua_pcall(reader, 2, 1, 0) == LUA_OK ? lua_tolstring(reader, -1, &size) : NULL;
    bool usable = found && size == (size_t)length;
    if (usable) memcpy(classes, found, size);
    lua_settop(reader, top);
    return usable ? classes : NULL;
}

/* Like readline's own function, but with nonblocking reads: Ctrl-C discards input that poll has
 * already reported. */
static void prepare_terminal(int meta)
{
    struct termios settings;
    rl_prep_terminal(meta);
    if (tcgetattr(fileno(rl_instream), &settings) != 0) return;
    settings.c_cc[VMIN] = 0;
    settings.c_cc[VTIME] = 0;
    tcsetattr(fileno(rl_instream), TCSADRAIN, &settings);
}

static void prepare_readline(void) { rl_prep_term_function = prepare_terminal; }

static volatile sig_atomic_t continued,
    resized; /* the program was stopped and continued; SIGWINCH arrived */

static void on_sigcont(int signal_number)
{
    (void)signal_number;
    continued = 1;
}

static void on_sigwinch(int signal_number)
{
    (void)signal_number;
    resized = 1;
}

/* Passes the size of the terminal to readline; false if it is narrower than readline's redisplay
 * supports. */
static bool take_size(void)
{
    enum { NARROWEST = 8 };
    struct winsize size;
    if (ioctl(fileno(rl_instream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return true;
    bool fits = size.ws_col >= NARROWEST && size.ws_row >= 2;
    if (!fits)
        rl_set_screen_size(size.ws_row < 2 ? 2 : size.ws_row,
                           size.ws_col < NARROWEST ? NARROWEST : size.ws_col);
    return fits;
}

/* Applies a new window size; after ^Z and fg, restores the terminal's mode, which the shell has
 * changed. */
static void handle_readline_signals(void)
{
    rl_check_signals();
    if (resized) {
        resized = 0;
        if (take_size()) rl_resize_terminal();
    }
    if (!continued) return;
    continued = 0;
    rl_deprep_terminal();
    prepare_terminal(1);
    rl_on_new_line();
    display_begin(NULL);
    rl_forced_update_display();
}

/* Handles these signals while a line is edited; a changed terminal size is queried. */
static void watch_signals(bool on)
{
    static struct sigaction before_cont, before_winch;
    static rl_hook_func_t *before_available;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_handler = on_sigcont;
    sigaction(SIGCONT, on ? &action : &before_cont, on ? &before_cont : NULL);
    action.sa_handler = on_sigwinch;
    sigaction(SIGWINCH, on ? &action : &before_winch, on ? &before_winch : NULL);
    if (on) before_available = rl_input_available_hook;
    rl_input_available_hook = on ? keys_available : before_available;
    if (on) {
        rl_reset_screen_size();
        take_size();
    }
}

static void set_readline(const char *name, const char *value) { rl_variable_bind(name, value); }

#endif

/* ---- reading --------------------------------------------------------------------------------- */

static const char *initial; /* initial text of the line, or NULL */
static lua_Integer cursor;  /* initial cursor position in it; -1: the end */

static int insert_initial(void)
{
    if (initial) rl_insert_text(initial);
    if (cursor >= 0 && cursor <= rl_end) rl_point = (int)cursor;
    return 0;
}

static int restore_mode(void)
{
    bindings_restore_mode();
    return 0;
}

/* If the environment specifies no character set, uses UTF-8, also for child processes. */
static void choose_locale(void)
{
    const char *name = setlocale(LC_CTYPE, "");
    if (name && strcmp(name, "C") != 0 && strcmp(name, "POSIX") != 0) return;
    const char *all = getenv("LC_ALL");
    if ((!all || !*all) && setlocale(LC_CTYPE, "C.UTF-8")) setenv("LC_CTYPE", "C.UTF-8", 1);
}

/* Readline's variables before the first read(), restored for hosts that use readline themselves. */
static struct {
    bool taken;
    __typeof__(rl_readline_name) name;
    __typeof__(rl_catch_signals) catch_signals, catch_sigwinch;
    __typeof__(rl_getc_function) getc;
    __typeof__(rl_startup_hook) startup, pre_input;
    __typeof__(rl_attempted_completion_function) complete;
    __typeof__(WORD_BREAKS) word_breaks;
    __typeof__(rl_completer_quote_characters) quotes;
    __typeof__(rl_prep_term_function) prepare;
    __typeof__(rl_redisplay_function) redisplay;
    __typeof__(rl_outstream) output;
    __typeof__(rl_completion_display_matches_hook) list;
} before;

static void initialize(lua_State *L)
{
    if (before.taken) return;
    before.taken = true;
    before.name = rl_readline_name;
    before.catch_signals = rl_catch_signals;
    before.catch_sigwinch = rl_catch_sigwinch;
    before.getc = rl_getc_function;
    before.startup = rl_startup_hook;
    before.pre_input = rl_pre_input_hook;
    before.complete = rl_attempted_completion_function;
    before.word_breaks = WORD_BREAKS;
    before.quotes = rl_completer_quote_characters;
    before.prepare = rl_prep_term_function;
    before.redisplay = rl_redisplay_function;
    before.output = rl_outstream;
    before.list = rl_completion_display_matches_hook;
    choose_locale(); /* sets the width of characters; the format of numbers stays that of C */
    rl_readline_name = "ltensor";
    rl_outstream = recorder_terminal();
    rl_catch_signals = 0;
    rl_catch_sigwinch = 0;
    rl_getc_function = keys_read;
    rl_startup_hook = insert_initial;
    rl_pre_input_hook = restore_mode;
    rl_attempted_completion_function = complete;
    WORD_BREAKS = (char *)" \t\n\"\\'`@$><=;|&{}()[].:,+-*/%~#^!?";
    rl_completer_quote_characters = "";
    prepare_readline();
    set_readline("show-all-if-unmodified", "on"); /* before the user's inputrc */
    rl_initialize(); /* treats the terminal as dumb if readline does not draw itself */
    lua_rawgetp(L, LUA_REGISTRYINDEX, &colours_key);
    display_install(classify, bindings_suggestion, menu_text, lua_toboolean(L, -1));
    lua_pop(L, 1);
}

/* restore(): restores readline's variables from before the first read(). */
static int restore(lua_State *L)
{
    (void)L;
    if (!before.taken) return 0;
    before.taken = false;
    rl_readline_name = before.name;
    rl_catch_signals = before.catch_signals;
    rl_catch_sigwinch = before.catch_sigwinch;
    rl_getc_function = before.getc;
    rl_startup_hook = before.startup;
    rl_pre_input_hook = before.pre_input;
    rl_attempted_completion_function = before.complete;
    WORD_BREAKS = before.word_breaks;
    rl_completer_quote_characters = before.quotes;
    rl_prep_term_function = before.prepare;
    rl_redisplay_function = before.redisplay;
    rl_outstream = before.output;
    rl_completion_display_matches_hook = before.list;
    return 0;
}

/* read(prompt [, initial [, cursor [, continues]]]) -> the line, nil at end of input, false after
 * Ctrl-C. `initial` is the initial text, with the cursor after `cursor` bytes. With `continues`, Up
 * ends the reading with a second result, true. The third result is the number of terminal rows of
 * the cell. */
static int read_line(lua_State *L)
{
    const char *prompt = luaL_checkstring(L, 1);

    initialize(L);
    initial = luaL_optstring(L, 2, NULL);
    cursor = luaL_optinteger(L, 3, -1);
    bindings_begin(lua_toboolean(L, 4), wants_more);
    reader = L;
    fflush(stdout);
    keys_begin(handle_readline_signals);
    watch_signals(true);
    display_begin(prompt);
    char *line = readline(prompt);
    if (line && !keys_interrupted()) display_end(!bindings_reopened());
    watch_signals(false);
    reader = NULL;

    if (keys_interrupted())
        lua_pushboolean(L, 0);
    else if (line)
        lua_pushstring(L, line);
    else
        lua_pushnil(L);
    free(line);
    lua_pushboolean(L, bindings_reopened());
    lua_pushinteger(L, display_rows());
    return 3;
}

/* ---- other functions of the module ----------------------------------------------------------- */

/* set_completer(f, menu): f(text before the cursor, word) returns a list of replacements for `word`;
 * menu(words, columns) returns the text that lists them. */
static int set_completer(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TFUNCTION);
    luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_settop(L, 2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &menu_key);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &completer_key);
    return 0;
}

/* set_judge(f): f(text, point) returns nil if the text is complete, otherwise the indentation of a
 * line that begins at the cursor. */
static int set_judge(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_settop(L, 1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &judge_key);
    return 0;
}

/* set_highlighter(f, colours): f(text, point) returns a string with the class of each byte (see
 * display.c), or nil; point is the cursor's byte offset, -1 after the end of editing. Must be
 * called before the first read(). */
static int set_highlighter(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_settop(L, 2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &colours_key);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &highlighter_key);
    return 0;
}

static const char *sequence_of(char class, void *context)
{
    lua_State *L = context;
    lua_pushlstring(L, &class, 1);
    const char *text = lua_rawget(L, 1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
    lua_settop(L, 1); /* the table holds the string */
    return text;
}

/* set_colours(table): the ANSI sequence of each class of the highlighter. */
static int set_colours(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    display_set_colours(sequence_of, L);
    return 0;
}

/* set_option(name, value): like a line `set name value` of an inputrc. */
static int set_option(lua_State *L)
{
    initialize(L);
    set_readline(luaL_checkstring(L, 1), luaL_checkstring(L, 2));
    return 0;
}

/* add_history(text): adds the text, of any number of lines, as one entry. */
static int add_to_history(lua_State *L)
{
    add_history(luaL_checkstring(L, 1));
    return 0;
}

static int forget_history(lua_State *L)
{
    (void)L;
    clear_history();
    return 0;
}

/* filenames(prefix) -> list of paths that begin with prefix; folders end in "/". */
static int filenames(lua_State *L)
{
    const char *prefix = luaL_checkstring(L, 1);
    lua_newtable(L);
    char *path;
    for (int i = 0; (path = rl_filename_completion_function(prefix, i)) != NULL; i++) {
        char *expanded = *path == '~' ? tilde_expand(path) : NULL;
        struct stat status;
        bool folder = stat(expanded ? expanded : path, &status) == 0 && S_ISDIR(status.st_mode);
        free(expanded);
        lua_pushfstring(L, folder ? "%s/" : "%s", path);
        free(path);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

int luaopen_repl_readline(lua_State *L)
{
    static const luaL_Reg functions[] = {{"read", read_line},
                                         {"restore", restore},
                                         {"set_completer", set_completer},
                                         {"set_judge", set_judge},
                                         {"set_highlighter", set_highlighter},
                                         {"set_colours", set_colours},
                                         {"set_option", set_option},
                                         {"add_history", add_to_history},
                                         {"clear_history", forget_history},
                                         {"filenames", filenames},
                                         {NULL, NULL}};
    luaL_newlib(L, functions);
    return 1;
}
