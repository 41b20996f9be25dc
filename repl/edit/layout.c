/* layout.c - lays out the cell in rows of the terminal: one prompt per line, and the suggestion
 * after the text. Includes readline and layout.h; does not include Lua and writes nothing. */
#include "layout.h"

#ifndef LT_LIBEDIT

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <readline/readline.h>

enum { INNER_PROMPT = 5, TAB_STOP = 8, MAX_COLOURED = 1 << 15 };

static int prompt_columns; /* width of the first prompt */
static int mode_columns;   /* width of the editing mode shown before it */

void layout_begin(const char *prompt) { prompt_columns = (int)strlen(prompt); }

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

/* Adds the representation of one character; it is never split at the terminal's edge. */
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

/* Adds the first character of the text; returns its size in bytes. */
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
    if (width < 0 || width > columns) { /* invalid in the locale, or wider than the terminal */
        add_glyph(s, "?", 1, 1, class, columns);
        return used == 0 || used > size ? 1 : used;
    }
    add_glyph(s, text, used, width, class, columns);
    return used;
}

/* Adds the prompt without its zero-width parts, which \1 and \2 enclose. */
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

/* The string that readline shows for the editing mode (show-mode-in-prompt of the inputrc). */
const char *layout_mode(void)
{
    const char *shown = rl_variable_value("show-mode-in-prompt");
    if (!shown || strcmp(shown, "on") != 0) return "";
    const char *name = rl_editing_mode != 0                    ? "emacs-mode-string"
                       : rl_get_keymap() == vi_movement_keymap ? "vi-cmd-mode-string"
                                                               : "vi-ins-mode-string";
    const char *text = rl_variable_value(name);
    return text ? text : "";
}

/* Adds the suggestion after the cell. */
static void add_suggestion(screen *s, const char *text, int columns)
{
    size_t size = strlen(text);
    while (size > 0 && !s->failed) {
        size_t used = 1;
        if (*text == '\n') {
            add_row(s);
            if (!s->failed) add_inner_prompt(s, columns);
        } else {
            used = add_character(s, text, size, LAYOUT_SUGGESTED, columns);
        }
        text += used;
        size -= used;
    }
}

void layout_cell(screen *s, int columns, layout_classifier *classify, const char *suggestion,
                 int point)
{
    const char *text = rl_line_buffer ? rl_line_buffer : "";
    size_t length = rl_line_buffer ? (size_t)rl_end : 0, at = point < 0 ? length : (size_t)point;
    const char *classes =
        classify && length < MAX_COLOURED ? classify(text, (int)length, point) : NULL;
    s->length = 0;
    s->count = 0;
    s->failed = false;
    add_row(s);
    if (!s->failed) add_prompt(s, layout_mode(), columns);
    mode_columns = s->rows[0].width;
    if (!s->failed) add_prompt(s, rl_display_prompt ? rl_display_prompt : "", columns);
    for (size_t i = 0; i <= length && !s->failed;) {
        bool full = s->rows[s->count - 1].width >= columns;
        bool ends = i == length || text[i] == '\n';
        bool hidden = !ends && classes && classes[i] == LAYOUT_HIDDEN;
        if (full && ends && at == i) { /* there is no cursor position after the last column */
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
        } else if (i < length && !hidden) {
            used = add_character(s, text + i, length - i, classes ? classes[i] : ' ', columns);
        }
        if (at >= i && at < i + used) {
            s->cursor_row = ends || hidden ? line_row : s->place_row;
            s->cursor_column = ends || hidden ? line_column : s->place_column;
        }
        i += used;
    }
    if (suggestion && !s->failed) add_suggestion(s, suggestion, columns);
}

#endif
