/* layout.h - the cell that readline edits as rows of a terminal; see layout.c. */
#ifndef REPL_LAYOUT_H
#define REPL_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

/* Classes of bytes with a meaning in this module; the painter interprets the others. */
#define LAYOUT_HIDDEN    'h' /* is not shown: blanks before `end` */
#define LAYOUT_SUGGESTED 'g' /* suggested text */

typedef struct {
    size_t start, end; /* of its bytes */
    int width;
    bool wraps; /* goes on in the next row without an end of line */
} row;

typedef struct {
    char *bytes, *classes; /* the shown bytes, and the class of each one */
    size_t length, capacity;
    row *rows;
    int count, row_capacity;
    int cursor_row, cursor_column;
    int place_row, place_column; /* of the first glyph since place_row was -1 */
    bool failed;                 /* memory ran out */
} screen;

/* Returns a class for each byte of the text, valid until the next call, or NULL; point is the
 * cursor's place, -1 when the cell is not edited any more. */
typedef const char *layout_classifier(const char *text, int length, int point);

/* The first prompt of the cell that comes. */
void layout_begin(const char *prompt);
/* Lays out readline's line with its prompt. With point -1 the cursor counts as behind the last
 * character. */
void layout_cell(screen *s, int columns, layout_classifier *classify, const char *suggestion,
                 int point);
/* The string that readline shows for the editing mode (show-mode-in-prompt of the inputrc). */
const char *layout_mode(void);

#endif
