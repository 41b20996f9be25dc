/* display.c - draws the cell that readline edits: one prompt per line, with syntax colours.
 *
 * Readline calls redraw() after each possible change. The cell is laid out in rows of the terminal;
 * only rows that differ from the drawn ones are written, from the first difference on. A cell
 * higher than the terminal is drawn in part, around the cursor. ANSI sequences move the cursor; on
 * a terminal without them, dumb.c draws. Includes readline, layout.h and dumb.h; does not include
 * Lua. */
#include "display.h"

#ifndef LT_LIBEDIT

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <readline/readline.h>

#include "dumb.h"

static screen drawn, next;
static int drawn_columns;     /* the terminal's width when `drawn` was drawn */
static int top;               /* first row on the screen, if not all fit */
static int at_row, at_column; /* cursor position, as row of `drawn` and column */
static bool stopped;
static bool coloured;
static layout_classifier *classifier;
static display_suggester *suggester;
static display_menu *menu_of;

/* ---- writing --------------------------------------------------------------------------------- */

/* The sequence of each class, "" for none. */
enum { LONGEST_SEQUENCE = 16 };
static char colours[128][LONGEST_SEQUENCE] = {
    ['p'] = "\033[32m",  /* prompt */
    ['k'] = "\033[35m",  /* keyword */
    ['s'] = "\033[33m",  /* string */
    ['n'] = "\033[36m",  /* number */
    ['c'] = "\033[2m",   /* comment */
    ['x'] = "\033[36m",  /* command */
    ['b'] = "\033[1;4m", /* matching brackets */
    [LAYOUT_SUGGESTED] = "\033[2m",
};

static const char *colour_of(char class)
{
    unsigned char index = (unsigned char)class;
    return index < sizeof colours / sizeof *colours && *colours[index] ? colours[index] : NULL;
}

void display_set_colours(const char *(*sequence)(char class, void *context), void *context)
{
    for (size_t i = 0; i < sizeof colours / sizeof *colours; i++) {
        const char *text = sequence((char)i, context);
        snprintf(colours[i], sizeof colours[i], "%s", text ? text : "");
    }
}

/* Moves the cursor; the rows below the drawn ones need not exist yet. */
static void move_to(int to_row, int to_column)
{
    if (to_row < at_row) fprintf(rl_outstream, "\033[%dA", at_row - to_row);
    if (to_row > at_row ||
        at_column >= drawn_columns) { /* after the last column, only \r is reliable */
        for (; at_row < to_row; at_row++) fputs("\n", rl_outstream);
        fputs("\r", rl_outstream);
        at_column = 0;
    }
    at_row = to_row;
    if (to_column == 0 && at_column > 0)
        fputs("\r", rl_outstream);
    else if (to_column > at_column)
        fprintf(rl_outstream, "\033[%dC", to_column - at_column);
    else if (to_column < at_column)
        fprintf(rl_outstream, "\033[%dD", at_column - to_column);
    at_column = to_column;
}

static void write_bytes(const screen *s, size_t start, size_t end)
{
    const char *colour = NULL;
    for (size_t i = start; i < end; i++) {
        const char *wanted = coloured ? colour_of(s->classes[i]) : NULL;
        if (wanted != colour) {
            if (colour) fputs("\033[0m", rl_outstream);
            if (wanted) fputs(wanted, rl_outstream);
            colour = wanted;
        }
        putc(s->bytes[i], rl_outstream);
    }
    if (colour) fputs("\033[0m", rl_outstream);
}

/* Display width of the bytes, which are whole characters. */
static int columns_of(const char *bytes, size_t size)
{
    mbstate_t state;
    int columns = 0;
    memset(&state, 0, sizeof state);
    while (size > 0) {
        wchar_t wide;
        size_t used = mbrtowc(&wide, bytes, size, &state);
        if (used == 0 || used > size) return columns;
        int width = wcwidth(wide);
        columns += width > 0 ? width : 0;
        bytes += used;
        size -= used;
    }
    return columns;
}

/* The number of equal bytes at the start of both rows, in whole characters with combining marks. */
static size_t common_start(const row *a, const row *b)
{
    const char *old = drawn.bytes + a->start, *new = next.bytes + b->start;
    size_t old_size = a->end - a->start, new_size = b->end - b->start;
    size_t most = old_size < new_size ? old_size : new_size, same = 0;
    while (same < most && old[same] == new[same] &&
           drawn.classes[a->start + same] == next.classes[b->start + same])
        same++;
    if (same == old_size && same == new_size) return same;
    while (same > 0 && ((unsigned char)new[same] >= 0x80 ||
                        (same < old_size && (unsigned char)old[same] >= 0x80)))
        same--; /* of two non-ASCII characters, the second may be a combining mark */
    return same;
}

/* Writes the difference in row i; all of it if `whole`. `shown`: the number of columns that may be
 * non-blank on the screen. */
static void draw_row(int i, bool whole, int shown)
{
    const row *new = &next.rows[i], *old = whole ? NULL : &drawn.rows[i];
    size_t same = old ? common_start(old, new) : 0;
    if (old && same == old->end - old->start && same == new->end - new->start) return;
    move_to(i, columns_of(next.bytes + new->start, same));
    write_bytes(&next, new->start + same, new->end);
    at_column = new->width;
    if (shown > new->width &&new->width < drawn_columns) fputs("\033[K", rl_outstream);
}

/* The terminal wraps a long line itself, so that it can be copied as one line: text beyond its edge
 * is written without moving the cursor. True if the next row must therefore be written whole. */
static bool wrap_after(int i)
{
    const row *r = &next.rows[i];
    if (!r->wraps || at_row != i || at_column < drawn_columns || i + 1 >= next.count) return false;
    if (r[1].width == 0) fputs(" \r", rl_outstream);
    at_row = i + 1;
    at_column = 0;
    return true;
}

/* Adapts the cursor and the rows after the terminal has changed its width and rewrapped the rows.
 */
static void reflow(int columns)
{
    int above = 0;
    for (int i = top; i < at_row && i < drawn.count; i++)
        above += drawn.rows[i].width > columns ? (drawn.rows[i].width + columns - 1) / columns : 1;
    above += at_column > 0 ? (at_column - (at_column >= drawn_columns)) / columns : 0;
    if (above > 0) fprintf(rl_outstream, "\033[%dA", above);
    fputs("\r\033[J", rl_outstream);
    drawn.count = 0;
}

/* Draws the rows around the cursor that fit on the terminal. */
static void draw_lines(int height)
{
    int first = next.cursor_row < top ? next.cursor_row : top;
    if (next.cursor_row - first >= height) first = next.cursor_row - height + 1;
    if (next.count - first < height) first = next.count > height ? next.count - height : 0;
    if (first > next.cursor_row) first = next.cursor_row;
    int last = next.count < first + height ? next.count : first + height;
    int drawn_last = drawn.count < top + height ? drawn.count : top + height;
    bool whole = drawn.count == 0 || first != top;
    if (first != top && drawn.count > 0) {
        move_to(top, 0);
        fputs("\033[J", rl_outstream);
    }
    if (whole) {
        at_row = first;
        at_column = 0;
    }
    top = first;
    for (int i = first, wrapped = 0; i < last; i++) {
        bool is_new = whole || i >= drawn_last;
        draw_row(i, is_new || wrapped, is_new ? wrapped : drawn.rows[i].width + wrapped);
        wrapped = i + 1 < last && wrap_after(i);
    }
    if (!whole && drawn_last > last) {
        move_to(last, 0);
        fputs("\033[J", rl_outstream);
    }
}

/* Writes the part of the mode string between \1 and \2 (the cursor shape) if it changed. */
static void write_mode(void)
{
    static char written[64];
    const char *mode = layout_mode();
    if (strncmp(mode, written, sizeof written - 1) == 0) return;
    snprintf(written, sizeof written, "%s", mode);
    bool hidden = false;
    for (; *mode; mode++) {
        if (*mode == RL_PROMPT_START_IGNORE || *mode == RL_PROMPT_END_IGNORE)
            hidden = *mode == RL_PROMPT_START_IGNORE;
        else if (hidden)
            putc(*mode, rl_outstream);
    }
}

/* Draws the changes. With `at_end`, the cursor is placed after the last character. */
static bool update(bool at_end)
{
    int height, columns;
    if (stopped) return false;
    rl_get_screen_size(&height, &columns);
    if (columns < 1) columns = 80;
    if (height < 1) height = 24;
    if (drawn.count > 0 && columns != drawn_columns) reflow(columns);
    drawn_columns = columns;
    /* without colours, a suggestion looks like typed text */
    const char *suggestion = display_suggests() && suggester && !at_end ? suggester() : NULL;
    layout_cell(&next, columns, classifier, suggestion, at_end ? -1 : rl_point);
    if (next.failed) return false;
    write_mode();
    draw_lines(height);
    screen old = drawn;
    drawn = next;
    next = old;
    return true;
}

static void redraw(void)
{
    if (!update(false)) return;
    move_to(drawn.cursor_row, drawn.cursor_column);
    fflush(rl_outstream);
}

/* ---- the interface --------------------------------------------------------------------------- */

/* Waits for a key after a page of the menu. Returns the number of further lines to write: a page, 1,
 * or 0 to stop. */
static int lines_after_page(int page)
{
    static const char question[] = "--More--";
    fputs(question, rl_outstream);
    fflush(rl_outstream);
    int key = rl_read_key();
    fprintf(rl_outstream, "\r%*s\r", (int)sizeof question - 1, "");
    if (key == '\r' || key == '\n' || key == 'j') return 1;
    return key == ' ' || key == 'y' || key == 'Y' || key == '\t' ? page : 0;
}

/* Writes the lines of the menu, a page of the terminal at a time. */
static void write_menu(const char *text)
{
    int height, columns;
    rl_get_screen_size(&height, &columns);
    const char *paged = rl_variable_value("page-completions");
    const int page = paged && strcmp(paged, "off") == 0 ? 0 : height > 2 ? height - 1 : 1;
    int left = page;
    while (*text) {
        if (page > 0 && left-- == 0 && (left = lines_after_page(page) - 1) < 0) return;
        size_t size = strcspn(text, "\n");
        fwrite(text, 1, size, rl_outstream);
        fputs("\r\n", rl_outstream);
        text += text[size] ? size + 1 : size;
    }
}

/* Waits for the answer to a question: y or blank, or n or another key that cancels. A second Tab,
 * which users type in a row, is no answer. */
static bool confirmed(void)
{
    int key = rl_read_key();
    while (key == '\t') key = rl_read_key();
    return key == 'y' || key == 'Y' || key == ' ';
}

/* Shows the menu of the completions below the cell. */
static void list_words(char **words, int count, int longest)
{
    display_finish();
    if (rl_completion_query_items > 0 && count >= rl_completion_query_items) {
        fprintf(rl_outstream, "\r\nDisplay all %d possibilities? (y or n)", count);
        fflush(rl_outstream);
        if (!confirmed()) count = 0;
    }
    int height, columns;
    rl_get_screen_size(&height, &columns);
    char *text = count > 0 && menu_of ? menu_of(words + 1, count, columns - 1) : NULL;
    if (text || count == 0) fputs("\r\n", rl_outstream);
    if (text)
        write_menu(text);
    else if (count > 0)
        rl_display_match_list(words, count, longest);
    free(text);
    display_begin(NULL);
    redraw();
}

int display_clear_screen(int count, int key)
{
    if (rl_redisplay_function != redraw) return rl_clear_screen(count, key);
    fputs("\033[H\033[2J", rl_outstream);
    display_begin(NULL);
    redraw();
    return 0;
}

bool display_install(layout_classifier *classify, display_suggester *suggest, display_menu *menu,
                     bool colours)
{
    const char *term = getenv("TERM");
    if (!term || !*term || strcmp(term, "dumb") == 0) {
        rl_redisplay_function = dumb_redraw;
        return false;
    }
    classifier = classify;
    suggester = suggest;
    menu_of = menu;
    coloured = colours;
    rl_redisplay_function = redraw;
    rl_completion_display_matches_hook = list_words;
    return true;
}

bool display_suggests(void)
{
    return coloured && colour_of(LAYOUT_SUGGESTED) && rl_redisplay_function == redraw;
}

void display_begin(const char *prompt)
{
    drawn.count = 0;
    top = at_row = at_column = 0;
    if (!prompt) return;
    stopped = false;
    layout_begin(prompt);
    dumb_begin();
}

void display_finish(void)
{
    if (rl_redisplay_function != redraw) return;
    if (!update(true)) return;
    move_to(drawn.cursor_row, drawn.cursor_column);
    fflush(rl_outstream);
}

void display_end(bool new_line)
{
    if (rl_redisplay_function != redraw || stopped) return;
    fputs("\r", rl_outstream); /* readline may have moved the cursor within its row */
    at_column = 0;
    if (update(true)) move_to(drawn.cursor_row, 0);
    if (new_line) fputs("\n", rl_outstream);
    fflush(rl_outstream);
    stopped = true;
}

int display_rows(void) { return drawn.count > 0 ? drawn.count : 1; }

void display_stop(void) { stopped = true; }

#else /* libedit draws for itself */

bool display_install(layout_classifier *classify, display_suggester *suggest, display_menu *menu,
                     bool colours)
{
    (void)classify, (void)suggest, (void)menu, (void)colours;
    return false;
}
void display_set_colours(const char *(*sequence)(char class, void *context), void *context)
{
    (void)sequence, (void)context;
}
bool display_suggests(void) { return false; }
void display_begin(const char *prompt) { (void)prompt; }
void display_finish(void) {}
void display_end(bool new_line) { (void)new_line; }
int display_rows(void) { return 1; }
void display_stop(void) {}

#endif
