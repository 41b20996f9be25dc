/* readline.c - line editing for the prompt; the only file that knows readline (or libedit, with
 * LT_LIBEDIT, which does without some conveniences).
 *
 * Keys are read by a function of our own, so that Ctrl-C is ours to handle and leaves no readline
 * state behind. The interpreter that reads is known only while read() runs. Completion calls a Lua function, protected; it gets the text before the cursor
 * and returns the words that could stand there. Includes readline, the Lua API and interrupt.h.
 */
#include "readline.h"

#include <errno.h>
#include <lauxlib.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#ifdef LT_LIBEDIT
#include <editline/readline.h>
#else
#include <readline/history.h>
#include <readline/readline.h>
#endif

#include "interrupt.h"

static const char completer_key = 0; /* its address is the completer's key in the registry */
static lua_State *reader;            /* the interpreter inside read(), else NULL */

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
    rl_attempted_completion_over = 1; /* never file names of readline's own accord */
    rl_completion_suppress_append = 1;
    if (!reader || !lua_checkstack(reader, 8)) return NULL;
    int top = lua_gettop(reader);
    lua_rawgetp(reader, LUA_REGISTRYINDEX, &completer_key);
    lua_pushlstring(reader, rl_line_buffer, (size_t)end);
    lua_pushstring(reader, text);
    if (lua_pcall(reader, 2, 1, 0) == LUA_OK && lua_istable(reader, -1))
        matches = rl_completion_matches(text, next_match);
    lua_settop(reader, top);
    return matches;
}

/* ---- keys and the terminal ------------------------------------------------------------------- */

#ifdef LT_LIBEDIT

/* libedit has neither prefix search nor functions to bind; its own bindings stay. */
static void prepare_readline(void) {}
static void handle_readline_signals(void) {}

#else

/* Tab: indents where only blanks stand before the cursor on its line, completes elsewhere. */
static int complete_or_indent(int count, int key)
{
    int at = rl_point;
    while (at > 0 && (rl_line_buffer[at - 1] == ' ' || rl_line_buffer[at - 1] == '\t')) at--;
    if (at == 0 || rl_line_buffer[at - 1] == '\n') return rl_insert_text("  ");
    /* A second Tab lists the words; readline asks whether the last one was its own function. */
    if (rl_last_func == complete_or_indent) rl_last_func = rl_complete;
    return rl_complete(count, key);
}

static int history_up(int count, int key);
static int history_down(int count, int key);

/* Whether the arrows search for what stands before the cursor; on an empty line, and until another
 * key is pressed, they step through all entries. */
static bool searching(void)
{
    static bool was;
    if (rl_last_func != history_up && rl_last_func != history_down) was = rl_point > 0;
    return was;
}

static int history_up(int count, int key)
{
    return searching() ? rl_history_search_backward(count, key)
                       : rl_get_previous_history(count, key);
}

static int history_down(int count, int key)
{
    return searching() ? rl_history_search_forward(count, key) : rl_get_next_history(count, key);
}

/* As readline prepares it, but reads do not wait: Ctrl-C discards what poll has already announced. */
static void prepare_terminal(int meta)
{
    struct termios settings;
    rl_prep_terminal(meta);
    if (tcgetattr(fileno(rl_instream), &settings) != 0) return;
    settings.c_cc[VMIN] = 0;
    settings.c_cc[VTIME] = 0;
    tcsetattr(fileno(rl_instream), TCSADRAIN, &settings);
}

/* What must be set before the user's inputrc is read, which may say otherwise. */
static void prepare_readline(void)
{
    rl_prep_term_function = prepare_terminal;
    rl_bind_key('\t', complete_or_indent);
    rl_bind_keyseq("\033[A", history_up);
    rl_bind_keyseq("\033OA", history_up);
    rl_bind_keyseq("\033[B", history_down);
    rl_bind_keyseq("\033OB", history_down);
}

static void handle_readline_signals(void) { rl_check_signals(); }

#endif

/* ---- reading --------------------------------------------------------------------------------- */

static sigset_t outer_mask; /* signals blocked outside read(): SIGINT is not among them */
static bool interrupted;    /* Ctrl-C was pressed in this read() */
static const char *initial; /* text to begin the line with, or NULL */

/* The next byte from the terminal, or EOF at its end and after Ctrl-C: readline then returns, from
 * whatever mode it is in. SIGINT arrives only inside ppoll. */
static int read_key(FILE *stream)
{
    struct pollfd wait = {fileno(stream), POLLIN, 0};
    unsigned char byte;
    while (!interrupted) {
        if (ppoll(&wait, 1, NULL, &outer_mask) < 0) {
            if (errno != EINTR) return EOF;
            handle_readline_signals(); /* the window's size */
            interrupted = interrupt_while_editing();
            if (interrupted) fputs("^C", rl_outstream);
            continue;
        }
        ssize_t n = read(wait.fd, &byte, 1);
        if (n == 1) return byte;
        if (n < 0 && errno != EINTR) return EOF;
        if (n == 0 && (wait.revents & (POLLHUP | POLLERR))) return EOF;
    }
    return EOF;
}

static int insert_initial(void)
{
    if (initial) rl_insert_text(initial);
    return 0;
}

static void initialize(void)
{
    static bool done;
    if (done) return;
    done = true;
    setlocale(LC_CTYPE, ""); /* how wide a character is; numbers stay as C writes them */
    rl_readline_name = "ltensor";
    rl_catch_signals = 0;
    rl_getc_function = read_key;
    rl_startup_hook = insert_initial;
    rl_attempted_completion_function = complete;
    rl_completer_word_break_characters = (char *)" \t\n\"\\'`@$><=;|&{}()[].:,+-*/%~#^!?";
    rl_completer_quote_characters = "";
    prepare_readline();
    rl_initialize();
}

/* read(prompt [, initial]) -> the line, nil at end of input, false after Ctrl-C. */
static int read_line(lua_State *L)
{
    const char *prompt = luaL_checkstring(L, 1);
    sigset_t blocked;

    initialize();
    initial = luaL_optstring(L, 2, NULL);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGINT);
    sigprocmask(SIG_BLOCK, &blocked, &outer_mask);
    interrupt_while_editing(); /* one that came before is not meant for this line */
    interrupted = false;
    reader = L;
    char *line = readline(prompt);
    reader = NULL;
    sigprocmask(SIG_SETMASK, &outer_mask, NULL);

    if (interrupted)
        lua_pushboolean(L, 0);
    else if (line)
        lua_pushstring(L, line);
    else
        lua_pushnil(L);
    free(line);
    return 1;
}

/* ---- the rest of the module ------------------------------------------------------------------ */

/* set_completer(f): f(text before the cursor, word) returns a list of words to put for `word`. */
static int set_completer(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_settop(L, 1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &completer_key);
    return 0;
}

/* add_history(text): the text, of any number of lines, becomes one entry. */
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

/* filenames(prefix) -> list of paths that begin so; folders end in "/". */
static int filenames(lua_State *L)
{
    const char *prefix = luaL_checkstring(L, 1);
    lua_newtable(L);
    char *path;
    for (int i = 0; (path = rl_filename_completion_function(prefix, i)) != NULL; i++) {
        lua_pushstring(L, path);
        free(path);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

int luaopen_repl_readline(lua_State *L)
{
    static const luaL_Reg functions[] = {{"read", read_line},
                                         {"set_completer", set_completer},
                                         {"add_history", add_to_history},
                                         {"clear_history", forget_history},
                                         {"filenames", filenames},
                                         {NULL, NULL}};
    luaL_newlib(L, functions);
    return 1;
}
