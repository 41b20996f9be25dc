/* bindings.c - key bindings for cells of several lines: arrow keys move between lines and through
 * the history, Home and End move within a line, Return accepts a complete cell, Right accepts the
 * suggestion.
 *
 * The user's inputrc has priority: readline functions for a single line are replaced by ours on all
 * keys to which they are bound. libedit keeps its own key bindings. Includes readline, display.h
 * and recall.h; does not include Lua. */
#include "bindings.h"

#include <stddef.h>

#ifndef LT_LIBEDIT
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <readline/history.h>
#include <readline/readline.h>

#include "display.h"
#include "recall.h"

static const char WORD[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

static bool continues;          /* the input continues earlier lines */
static bool reopened;           /* the user returned to the earlier lines */
static bool in_vi_command_mode; /* vi mode at that time */
static bindings_judge *judge;

bool bindings_reopened(void) { return reopened; }

/* Tab: indents if only blanks precede the cursor on its line, otherwise completes. */
static int complete_or_indent(int count, int key)
{
    int at = rl_point;
    while (at > 0 && (rl_line_buffer[at - 1] == ' ' || rl_line_buffer[at - 1] == '\t')) at--;
    if (at == 0 || rl_line_buffer[at - 1] == '\n') return rl_insert_text("  ");
    /* A second Tab lists the words: readline tests whether the last command was its function. */
    if (rl_last_func == complete_or_indent) rl_last_func = rl_complete;
    return rl_complete(count, key);
}

/* A buffer may have several lines: the arrow keys move between them, and from the first and the
 * last line through the history. */
static int line_start(int at)
{
    while (at > 0 && rl_line_buffer[at - 1] != '\n') at--;
    return at;
}

static int line_end(int at)
{
    while (at < rl_end && rl_line_buffer[at] != '\n') at++;
    return at;
}

/* The start of the UTF-8 character at or before `at`. */
static int character_start(int at)
{
    while (at > 0 && ((unsigned char)rl_line_buffer[at] & 0xC0) == 0x80) at--;
    return at;
}

/* Moves the cursor to byte `offset` of the line that begins at `start`. */
static void go_to_line(int start, int offset)
{
    int end = line_end(start);
    rl_point = start + offset < end ? character_start(start + offset) : end;
}

static int history_up(int count, int key);
static int history_down(int count, int key);

/* The search prefix of the arrow keys: the text before the cursor. NULL if the search began at the
 * start of the line: then they step through all entries. */
static const char *searched(void)
{
    static char *prefix;
    if (rl_last_func == history_up || rl_last_func == history_down) return prefix;
    free(prefix);
    return prefix = rl_point > 0 ? strndup(rl_line_buffer, (size_t)rl_point) : NULL;
}

/* Moves the cursor to the position for the next step: the end of the first line, or after the
 * search prefix. */
static void show_older(int count)
{
    const char *prefix = searched();
    if (!recall_move(count, prefix)) rl_ding();
    rl_point = prefix ? (int)strlen(prefix) : line_end(0);
    if (rl_point > rl_end) rl_point = rl_end;
}

static void show_newer(int count)
{
    const char *prefix = searched();
    if (!recall_move(-count, prefix))
        rl_ding();
    else if (prefix && where_history() < history_length)
        rl_point = (int)strlen(prefix);
}

static int history_up(int count, int key)
{
    (void)key;
    int start = line_start(rl_point);
    if (start > 0) {
        go_to_line(line_start(start - 1), rl_point - start);
        return 0;
    }
    if (continues) {
        reopened = true;
        in_vi_command_mode = rl_get_keymap() == vi_movement_keymap;
        rl_point = rl_end;
        rl_redisplay_function();
        rl_done = 1;
        return 0;
    }
    show_older(count);
    return 0;
}

static int history_down(int count, int key)
{
    (void)key;
    int end = line_end(rl_point);
    if (end < rl_end) {
        go_to_line(end + 1, rl_point - line_start(rl_point));
        return 0;
    }
    show_newer(count);
    return 0;
}

/* M-< and M->. */
static int go_to_oldest(int count, int key)
{
    (void)count;
    (void)key;
    recall_move(where_history(), NULL);
    return 0;
}

static int go_to_typed(int count, int key)
{
    (void)count;
    (void)key;
    recall_move(where_history() - history_length, NULL);
    return 0;
}

static int search_back(int count, int key)
{
    return recall_by(rl_reverse_search_history, count, key);
}
static int search_on(int count, int key)
{
    return recall_by(rl_forward_search_history, count, key);
}
static int find_back(int count, int key) { return recall_by(rl_noninc_reverse_search, count, key); }
static int find_on(int count, int key) { return recall_by(rl_noninc_forward_search, count, key); }
static int find_back_again(int count, int key)
{
    return recall_by(rl_noninc_reverse_search_again, count, key);
}
static int find_on_again(int count, int key)
{
    return recall_by(rl_noninc_forward_search_again, count, key);
}
static int substring_back(int count, int key)
{
    return recall_by(rl_history_substr_search_backward, count, key);
}
static int substring_on(int count, int key)
{
    return recall_by(rl_history_substr_search_forward, count, key);
}
static int vi_find(int count, int key) { return recall_by(rl_vi_search, count, key); }
static int vi_find_again(int count, int key) { return recall_by(rl_vi_search_again, count, key); }
static int vi_fetch(int count, int key) { return recall_by(rl_vi_fetch_history, count, key); }

/* ---- suggestions ----------------------------------------------------------------------------- */

enum { MOST_SUGGESTED = 1000 }; /* maximum bytes of a suggested cell */

const char *bindings_suggestion(void)
{
    if (rl_point < rl_end || rl_end == 0 || continues) return NULL;
    if (RL_ISSTATE(RL_STATE_ISEARCH | RL_STATE_NSEARCH | RL_STATE_COMPLETING)) return NULL;
    HIST_ENTRY **entries = history_list();
    for (int i = history_length - 1; entries && i >= 0; i--) {
        const char *cell = entries[i]->line;
        if (strncmp(cell, rl_line_buffer, (size_t)rl_end) != 0 || cell[rl_end] == '\0') continue;
        return strnlen(cell, MOST_SUGGESTED) < MOST_SUGGESTED ? cell + rl_end : NULL;
    }
    return NULL;
}

/* Inserts the suggestion, or its first word; false if there is none. */
static bool take_suggestion(bool word)
{
    const char *rest = display_suggests() ? bindings_suggestion() : NULL;
    if (!rest) return false;
    size_t size = strlen(rest);
    if (word) {
        size = strcspn(rest, WORD);
        size += strspn(rest + size, WORD);
    }
    char *taken = strndup(rest, size);
    if (taken) rl_insert_text(taken);
    free(taken);
    return taken != NULL;
}

/* ---- lines of the cell ----------------------------------------------------------------------- */

/* Home, End and Ctrl-K refer to the cursor's line in the buffer. */
static int go_to_start(int count, int key)
{
    (void)count;
    (void)key;
    rl_point = line_start(rl_point);
    return 0;
}

static int go_to_end(int count, int key)
{
    (void)count;
    (void)key;
    if (take_suggestion(false)) return 0;
    rl_point = line_end(rl_point);
    return 0;
}

/* Right and forward-word accept the suggestion if the cursor is at the end. */
static int forward_char(int count, int key)
{
    return take_suggestion(false) ? 0 : rl_forward_char(count, key);
}

static int forward_word(int count, int key)
{
    return take_suggestion(true) ? 0 : rl_forward_word(count, key);
}

static int kill_to_end(int count, int key)
{
    int end = line_end(rl_point);
    if (end == rl_end || count < 1) return rl_kill_line(count, key);
    return rl_kill_text(rl_point, end > rl_point ? end : end + 1);
}

/* The same in vi's command mode, where the cursor is on a character, except for the motion of a
 * command. */
static int vi_go_to_end(int count, int key)
{
    (void)count;
    (void)key;
    rl_point = line_end(rl_point);
    if (!RL_ISSTATE(RL_STATE_VIMOTION) && rl_point > line_start(rl_point))
        rl_point = character_start(rl_point - 1);
    return 0;
}

static int vi_go_to_start(int count, int key)
{
    return rl_explicit_arg && key == '0' ? rl_vi_arg_digit(count, key) : go_to_start(count, key);
}

static int vi_go_to_text(int count, int key)
{
    go_to_start(count, key);
    while (rl_line_buffer[rl_point] == ' ' || rl_line_buffer[rl_point] == '\t') rl_point++;
    return 0;
}

static int vi_append_to_line(int count, int key)
{
    rl_point = line_end(rl_point);
    return rl_vi_insert_mode(count, key);
}

static int vi_insert_before_line(int count, int key)
{
    vi_go_to_text(count, key);
    return rl_vi_insert_mode(count, key);
}

static bool redoing;

/* Repeats the last change. If the motion of the change is this key, readline would repeat it
 * forever. */
static int vi_redo(int count, int key)
{
    if (redoing) return rl_ding();
    redoing = true;
    int status = rl_vi_redo(count, key);
    redoing = false;
    return status;
}

static int insert_newline(int count, int key)
{
    int indent = 0;
    (void)count;
    (void)key;
    if (!judge(&indent)) indent = 0;
    rl_insert_text("\n");
    for (; indent > 0; indent--) rl_insert_text(" ");
    return 0;
}

/* Return accepts the cell from any cursor position; in the middle of an incomplete one, it inserts
 * a newline. */
static int accept_cell(int count, int key)
{
    if (rl_point < rl_end && memchr(rl_line_buffer, '\n', (size_t)rl_end)) {
        int indent;
        if (judge(&indent)) return insert_newline(count, key);
        rl_point = rl_end;
        rl_redisplay_function();
    }
    display_end(true);
    return rl_newline(count, key);
}

void bindings_restore_mode(void)
{
    int point = rl_point;
    if (in_vi_command_mode && rl_editing_mode == 0) {
        rl_vi_movement_mode(1, 0);
        rl_point = point;
    }
    in_vi_command_mode = false;
}

/* ---- binding --------------------------------------------------------------------------------- */

enum { CTRL_L = 12 };

typedef struct {
    rl_command_func_t *theirs, *ours;
} replacement;

static const replacement while_typing[] = {{rl_beg_of_line, go_to_start},
                                           {rl_end_of_line, go_to_end},
                                           {rl_kill_line, kill_to_end},
                                           {rl_forward_char, forward_char},
                                           {rl_forward_word, forward_word},
                                           {rl_complete, complete_or_indent},
                                           {NULL, NULL}};
static const replacement in_vi_commands[] = {{rl_beg_of_line, vi_go_to_start},
                                             {rl_end_of_line, vi_go_to_end},
                                             {rl_vi_first_print, vi_go_to_text},
                                             {rl_vi_append_eol, vi_append_to_line},
                                             {rl_vi_insert_beg, vi_insert_before_line},
                                             {rl_vi_redo, vi_redo},
                                             {NULL, NULL}};
static const replacement everywhere[] = {{rl_get_previous_history, history_up},
                                         {rl_history_search_backward, history_up},
                                         {rl_get_next_history, history_down},
                                         {rl_history_search_forward, history_down},
                                         {rl_beginning_of_history, go_to_oldest},
                                         {rl_end_of_history, go_to_typed},
                                         {rl_reverse_search_history, search_back},
                                         {rl_forward_search_history, search_on},
                                         {rl_noninc_reverse_search, find_back},
                                         {rl_noninc_forward_search, find_on},
                                         {rl_noninc_reverse_search_again, find_back_again},
                                         {rl_noninc_forward_search_again, find_on_again},
                                         {rl_history_substr_search_backward, substring_back},
                                         {rl_history_substr_search_forward, substring_on},
                                         {rl_vi_search, vi_find},
                                         {rl_vi_search_again, vi_find_again},
                                         {rl_vi_fetch_history, vi_fetch},
                                         {rl_newline, accept_cell},
                                         {rl_clear_screen, display_clear_screen},
                                         {NULL, NULL}};

static void replace_bindings(Keymap map, const replacement *list)
{
    for (int key = 0; key < KEYMAP_SIZE; key++) {
        if (map[key].type == ISKMAP && map[key].function)
            replace_bindings((Keymap)map[key].function, list);
        if (map[key].type != ISFUNC) continue;
        for (const replacement *r = list; r->theirs; r++)
            if (map[key].function == r->theirs) map[key].function = r->ours;
    }
}

/* Alt-Return inserts a new line. Readline's default switches to vi mode, which surprises users. */
static void bind_alt_return(void)
{
    static const char *const keys[] = {"\033\r", "\033\n"};
    for (int i = 0; i < 2; i++) {
        rl_command_func_t *bound = rl_function_of_keyseq(keys[i], emacs_standard_keymap, NULL);
        if (bound == NULL || bound == rl_vi_editing_mode)
            rl_bind_keyseq_in_map(keys[i], insert_newline, emacs_standard_keymap);
    }
}

void bindings_begin(bool line_continues, bindings_judge *line_judge)
{
    static const struct {
        const char *keys;
        rl_command_func_t *function;
    } usual[] = {
        {"\033[1~", rl_beg_of_line}, {"\033[7~", rl_beg_of_line}, {"\033[H", rl_beg_of_line},
        {"\033OH", rl_beg_of_line},  {"\033[4~", rl_end_of_line}, {"\033[8~", rl_end_of_line},
        {"\033[F", rl_end_of_line},  {"\033OF", rl_end_of_line},  {"\033[3~", rl_delete}};
    Keymap maps[] = {emacs_standard_keymap, vi_insertion_keymap, vi_movement_keymap};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
        for (size_t k = 0; k < sizeof usual / sizeof *usual; k++)
            rl_bind_keyseq_if_unbound_in_map(usual[k].keys, usual[k].function, maps[i]);
        if (maps[i][CTRL_L].type == ISFUNC &&
            maps[i][CTRL_L].function == rl_insert) /* vi's insertion mode binds it so */
            maps[i][CTRL_L].function = display_clear_screen;
        replace_bindings(maps[i], everywhere);
        replace_bindings(maps[i], maps[i] == vi_movement_keymap ? in_vi_commands : while_typing);
    }
    bind_alt_return();
    continues = line_continues;
    judge = line_judge;
    reopened = redoing = false;
    recall_begin();
}

#else

void bindings_begin(bool continues, bindings_judge *judge) { (void)continues, (void)judge; }
bool bindings_reopened(void) { return false; }
void bindings_restore_mode(void) {}
const char *bindings_suggestion(void) { return NULL; }

#endif
