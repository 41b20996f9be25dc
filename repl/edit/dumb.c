/* dumb.c - cells of several lines on a terminal that cannot move its cursor, such as TERM=dumb in
 * the shells of editors.
 *
 * Readline draws single lines well there, but shows a newline within a line as ^J. A cell of
 * several lines is written whole, below, after each change other than text added at its end.
 * Includes readline only. */
#include "dumb.h"

#ifndef LT_LIBEDIT

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <readline/readline.h>

static char *shown; /* the last written text; NULL if none */
static size_t shown_size;

void dumb_begin(void)
{
    free(shown);
    shown = NULL;
    shown_size = 0;
}

/* Writes the text with a prompt before each line but the first. */
static void write_lines(const char *text, size_t size)
{
    int blanks = (int)strlen(rl_display_prompt) - (int)strlen("...: ");
    for (size_t i = 0; i < size; i++) {
        putc(text[i], rl_outstream);
        if (text[i] == '\n') fprintf(rl_outstream, "%*s...: ", blanks > 0 ? blanks : 0, "");
    }
}

void dumb_redraw(void)
{
    size_t size = (size_t)rl_end;
    if (!memchr(rl_line_buffer, '\n', size)) {
        if (shown) {
            fputs("\n", rl_outstream);
            rl_on_new_line();
            dumb_begin();
        }
        rl_redisplay();
        return;
    }
    size_t same = shown && shown_size <= size && memcmp(shown, rl_line_buffer, shown_size) == 0
                      ? shown_size
                      : 0;
    if (same == size) return;
    if (same == 0) fprintf(rl_outstream, "\n%s", rl_display_prompt);
    write_lines(rl_line_buffer + same, size - same);
    fflush(rl_outstream);
    dumb_begin();
    shown = malloc(size);
    if (!shown) return;
    memcpy(shown, rl_line_buffer, size);
    shown_size = size;
}

#endif
