/* display.c - draws the cell that readline edits: its lines each after a prompt, Lua in colours.
 *
 * Readline calls redraw() whenever something may have changed. The cell is laid out as rows of the
 * terminal; only rows that differ from those drawn before are written, from the first difference on. A cell
 * higher than the terminal is drawn in part, around the cursor. The cursor is moved by ANSI sequences; on a
 * terminal without them readline's own drawing stays. Includes readline and display.h; knows no Lua.
 */
#include "display.h"

#ifndef LT_LIBEDIT

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <readline/readline.h>

enum { INNER_PROMPT = 5, TAB_STOP = 8, MAX_COLOURED = 1 << 15 };

typedef struct {
    size_t start, end; /* of its bytes */
    int width;
    bool wraps; /* goes on in the next row without an end of line */
} row;

typedef struct {
    char *bytes, *classes; /* what is shown, and the class of each byte */
    size_t length, capacity;
    row *rows;
    int count, row_capacity;
    int cursor_row, cursor_column;
    int place_row, place_column; /* of the first glyph since place_row was -1 */
    bool failed;                 /* memory ran out */
} screen;

static screen drawn, next;
static int drawn_columns;     /* of the terminal when `drawn` was drawn */
static int top;               /* first row that is on the terminal: the others did not fit */
static int at_row, at_column; /* where the cursor is, in rows of `drawn` and columns */
static int prompt_columns;    /* of the first prompt */
static int mode_columns;      /* of the editing mode shown before it */
static bool stopped;
static display_classifier *classifier;

/* ---- layout ---------------------------------------------------------------------------------- */

static void add_byte(screen *s, char byte, char class)
{
    if (s->length == s->capacity) {
        size_t capacity = s->capacity ? s->capacity * 2 : 1024;
        char *bytes = realloc(s->bytes, capacity);
        if (bytes) s->bytes = bytes;
        char *classes = bytes ? realloc(s->classes, capacity) : NULL;
        if (classes) s->classes = classes;
        if (!bytes || !classes) {
            s->failed = true;
            return;
        }
        s->capacity = capacity;
    }
    s->bytes[s->length] = byte;
    s->classes[s->length++] = class;
}

static void add_row(screen *s)
{
    if (s->count == s->row_capacity) {
        int capacity = s->row_capacity ? s->row_capacity * 2 : 16;
        row *rows = realloc(s->rows, (size_t)capacity * sizeof *rows);
        if (!rows) {
            s->failed = true;
            return;
        }
        s->rows = rows;
        s->row_capacity = capacity;
    }
    s->rows[s->count++] = (row){s->length, s->length, 0, false};
}

/* Adds what is shown for one character; it never crosses the terminal's edge. */
static void add_glyph(screen *s, const char *bytes, size_t size, int width, char class, int columns)
{
    if (s->rows[s->count - 1].width + width > columns && s->rows[s->count - 1].width > 0) {
        s->rows[s->count - 1].wraps = true;
        add_row(s);
        if (s->failed) return;
    }
    row *r = &s->rows[s->count - 1];
    if (s->place_row < 0) {
        s->place_row = s->count - 1;
        s->place_column = r->width;
    }
    for (size_t i = 0; i < size && !s->failed; i++) add_byte(s, bytes[i], class);
    r->end = s->length;
    r->width += width;
}

/* Adds the first character of the text; returns the bytes it takes. */
static size_t add_character(screen *s, const char *text, size_t size, char class, int columns)
{
    unsigned char byte = (unsigned char)*text;
    mbstate_t state;
    wchar_t wide;
    memset(&state, 0, sizeof state);
    if (byte == '\t') {
        do add_glyph(s, " ", 1, 1, class, columns);
        while (!s->failed && s->rows[s->count - 1].width % TAB_STOP != 0 &&
               s->rows[s->count - 1].width < columns);
        return 1;
    }
    if (byte < 0x20 || byte == 0x7f) {
        char code = (char)(byte ^ 0x40);
        add_glyph(s, "^", 1, 1, class, columns);
        if (!s->failed) add_glyph(s, &code, 1, 1, class, columns);
        return 1;
    }
    size_t used = mbrtowc(&wide, text, size, &state);
    int width = used == 0 || used > size ? -1 : wcwidth(wide);
    if (width < 0 || width > columns) { /* no character of the locale, or there is no room for it */
        add_glyph(s, "?", 1, 1, class, columns);
        return used == 0 || used > size ? 1 : used;
    }
    add_glyph(s, text, used, width, class, columns);
    return used;
}

/* Adds the prompt without what takes no columns: what \1 and \2 enclose. */
static void add_prompt(screen *s, const char *prompt, int columns)
{
    bool hidden = false;
    for (size_t size = strlen(prompt); size > 0 && !s->failed;) {
        size_t used = 1;
        if (*prompt == RL_PROMPT_START_IGNORE || *prompt == RL_PROMPT_END_IGNORE)
            hidden = *prompt == RL_PROMPT_START_IGNORE;
        else if (!hidden)
            used = add_character(s, prompt, size, 'p', columns);
        prompt += used;
        size -= used;
    }
}

static void add_inner_prompt(screen *s, int columns)
{
    int blanks = mode_columns + (prompt_columns > INNER_PROMPT ? prompt_columns - INNER_PROMPT : 0);
    for (int i = 0; i < blanks && !s->failed; i++) add_glyph(s, " ", 1, 1, 'p', columns);
    for (const char *p = "...: "; *p && !s->failed; p++) add_glyph(s, p, 1, 1, 'p', columns);
}

/* What the user has readline show for the editing mode (show-mode-in-prompt of the inputrc). */
static const char *mode_string(void)
{
    const char *shown = rl_variable_value("show-mode-in-prompt");
    if (!shown || strcmp(shown, "on") != 0) return "";
    const char *name = rl_editing_mode != 0                    ? "emacs-mode-string"
                       : rl_get_keymap() == vi_movement_keymap ? "vi-cmd-mode-string"
                                                               : "vi-ins-mode-string";
    const char *text = rl_variable_value(name);
    return text ? text : "";
}

static void lay_out(screen *s, int columns)
{
    const char *text = rl_line_buffer ? rl_line_buffer : "";
    size_t length = rl_line_buffer ? (size_t)rl_end : 0;
    const char *classes =
        classifier && length < MAX_COLOURED ? classifier(text, (int)length) : NULL;
    s->length = 0;
    s->count = 0;
    s->failed = false;
    add_row(s);
    if (!s->failed) add_prompt(s, mode_string(), columns);
    mode_columns = s->rows[0].width;
    if (!s->failed) add_prompt(s, rl_display_prompt ? rl_display_prompt : "", columns);
    for (size_t i = 0; i <= length && !s->failed;) {
        bool full = s->rows[s->count - 1].width >= columns;
        bool ends = i == length || text[i] == '\n';
        if (full && ends &&
            (size_t)rl_point == i) { /* the cursor has no place behind the last column */
            s->rows[s->count - 1].wraps = true;
            add_row(s);
        }
        if (s->failed) return;
        int line_row = s->count - 1, line_column = s->rows[line_row].width;
        size_t used = 1;
        s->place_row = -1;
        if (ends && i < length) {
            add_row(s);
            if (!s->failed) add_inner_prompt(s, columns);
        } else if (i < length) {
            used = add_character(s, text + i, length - i, classes ? classes[i] : ' ', columns);
        }
        if ((size_t)rl_point >= i && (size_t)rl_point < i + used) {
            s->cursor_row = ends ? line_row : s->place_row;
            s->cursor_column = ends ? line_column : s->place_column;
        }
        i += used;
    }
}

/* ---- writing --------------------------------------------------------------------------------- */

static const char *colour_of(char class)
{
    switch (class) {
    case 'p': return "\033[32m"; /* prompt */
    case 'k': return "\033[35m"; /* keyword */
    case 's': return "\033[33m"; /* string */
    case 'n': return "\033[36m"; /* number */
    case 'c': return "\033[2m";  /* comment */
    case 'x': return "\033[36m"; /* command */
    default: return NULL;
    }
}

/* Puts the cursor there; the rows from the drawn one on need not exist yet. */
static void move_to(int to_row, int to_column)
{
    if (to_row < at_row) fprintf(rl_outstream, "\033[%dA", at_row - to_row);
    if (to_row > at_row ||
        at_column >= drawn_columns) { /* behind the last column: only \r is sure */
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
        const char *wanted = classifier ? colour_of(s->classes[i]) : NULL;
        if (wanted != colour) {
            if (colour) fputs("\033[0m", rl_outstream);
            if (wanted) fputs(wanted, rl_outstream);
            colour = wanted;
        }
        putc(s->bytes[i], rl_outstream);
    }
    if (colour) fputs("\033[0m", rl_outstream);
}

/* Columns of the bytes, which are whole characters. */
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

/* How many bytes of the rows agree, in whole characters with what combines with them. */
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
        same--; /* of two characters that are no ASCII the second may combine with the first */
    return same;
}

/* Writes what differs in row i; all of it when `whole`. `shown`: columns that may hold something now. */
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

/* The terminal wraps a long line of its own accord, so that it can be copied as one: what comes after its edge
 * is written without moving the cursor. True when the next row must be written whole for that. */
static bool wrap_after(int i)
{
    const row *r = &next.rows[i];
    if (!r->wraps || at_row != i || at_column < drawn_columns || i + 1 >= next.count) return false;
    if (r[1].width == 0) fputs(" \r", rl_outstream);
    at_row = i + 1;
    at_column = 0;
    return true;
}

/* Where the cursor and the rows are after the terminal has changed its width and broken rows anew. */
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

/* Draws the rows that fit on the terminal, those around the cursor. */
static void draw(int height)
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

/* Writes what the mode's string has between \1 and \2, as the form of the cursor, when it is not as written before. */
static void write_mode(void)
{
    static char written[64];
    const char *mode = mode_string();
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

/* Draws what has changed. With `at_end`, the cursor counts as behind the last character. */
static bool update(bool at_end)
{
    int height, columns;
    if (stopped) return false;
    rl_get_screen_size(&height, &columns);
    if (columns < 1) columns = 80;
    if (height < 1) height = 24;
    if (drawn.count > 0 && columns != drawn_columns) reflow(columns);
    drawn_columns = columns;
    int point = rl_point;
    if (at_end) rl_point = rl_end;
    lay_out(&next, columns);
    rl_point = point;
    if (next.failed) return false;
    write_mode();
    draw(height);
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

/* Lists the words that could stand before the cursor, below the cell. */
static void list_words(char **words, int count, int longest)
{
    display_finish();
    if (rl_completion_query_items > 0 && count >= rl_completion_query_items) {
        fprintf(rl_outstream, "\r\nDisplay all %d possibilities? (y or n)", count);
        fflush(rl_outstream);
        int key = rl_read_key();
        if (key != 'y' && key != 'Y' && key != ' ') count = 0;
    }
    if (count > 0)
        rl_display_match_list(words, count, longest);
    else
        fputs("\n", rl_outstream);
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

bool display_install(display_classifier *classify)
{
    const char *term = getenv("TERM");
    if (!term || !*term || strcmp(term, "dumb") == 0) return false;
    classifier = classify;
    rl_redisplay_function = redraw;
    rl_completion_display_matches_hook = list_words;
    return true;
}

void display_begin(const char *prompt)
{
    drawn.count = 0;
    top = at_row = at_column = 0;
    if (!prompt) return;
    stopped = false;
    prompt_columns = (int)strlen(prompt);
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
    fputs("\r", rl_outstream); /* wherever in its row readline has left the cursor */
    at_column = 0;
    if (update(true)) move_to(drawn.cursor_row, 0);
    if (new_line) fputs("\n", rl_outstream);
    fflush(rl_outstream);
    stopped = true;
}

int display_rows(void) { return drawn.count > 0 ? drawn.count : 1; }

void display_stop(void) { stopped = true; }

#else /* libedit draws for itself */

bool display_install(display_classifier *classify)
{
    (void)classify;
    return false;
}
void display_begin(const char *prompt) { (void)prompt; }
void display_finish(void) {}
void display_end(bool new_line) { (void)new_line; }
int display_rows(void) { return 1; }
void display_stop(void) {}

#endif
