/* layout.h - the cell that readline edits as rows of a terminal; see layout.c. */
#ifndef REPL_LAYOUT_H
#define REPL_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

/* Classes of bytes that the layout interprets; the other classes are passed to the painter. */
#define LAYOUT_HIDDEN    'h' /* not shown: blanks before `end` */
#define LAYOUT_SUGGESTED 'g' /* suggested text */

typedef struct {
    size_t start, end; /* byte range */
    int width;
    bool wraps; /* continues in the next row without a newline */
} row;

typedef struct {
    char *bytes, *classes; /* the shown bytes, and the class of each one */
    size_t length, capacity;
    row *rows;
    int count, row_capacity;
    int cursor_row, cursor_column;
    /* position of the first glyph added since place_row was set to -1 */
    int place_row, place_column;
    bool failed; /* out of memory */
} screen;

/* Returns a class for each byte of the text, valid until the next call, or NULL; point is the
 * cursor's byte offset, -1 after the end of editing. */
typedef const char *layout_classifier(const char *text, int length, int point);

/* Sets the first prompt of the next cell. */
void layout_begin(const char *prompt);
/* Lays out readline's line with its prompt. With point -1, the cursor is placed after the last
 * character. */
void layout_cell(screen *s, int columns, layout_classifier *classify, const char *suggestion,
                 int point);
/* The string that readline shows for the editing mode (show-mode-in-prompt of the inputrc). */
const char *layout_mode(void);

#endif
