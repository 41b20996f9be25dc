/* display.h - draws the line that readline edits; see display.c. */
#ifndef LT_REPL_DISPLAY_H
#define LT_REPL_DISPLAY_H

#include <stdbool.h>

#include "layout.h"

/* Returns a suggestion for the rest of the line, or NULL. */
typedef const char *display_suggester(void);

/* Returns the menu of `count` completions as text of at most `columns` columns, which the caller
 * frees, or NULL. */
typedef char *display_menu(char **words, int count, int columns);

/* Replaces readline's redisplay after rl_initialize() if the terminal has cursor movement; false
 * otherwise. Without colours, only hidden text is marked, and there are no suggestions. */
bool display_install(layout_classifier *classify, display_suggester *suggest, display_menu *menu,
                     bool colours);
/* Sets the ANSI sequences of the classes of bytes; `sequence` returns the one of a class, NULL for
 * none, and the result is copied. */
void display_set_colours(const char *(*sequence)(char class, void *context), void *context);
/* True if a suggestion is shown. */
bool display_suggests(void);
/* Starts a new drawing. The cursor must be at the start of an empty row. `prompt`: the prompt of
 * the next readline() call. */
void display_begin(const char *prompt);
/* Draws the changes and puts the cursor after the last character. */
void display_finish(void);
/* Ends the line: draws it for the last time; with `new_line`, moves the cursor to the next row. */
void display_end(bool new_line);
/* The number of terminal rows of the cell. */
int display_rows(void);
/* Readline's command for Ctrl-L. */
int display_clear_screen(int count, int key);
/* Stops drawing until display_begin. */
void display_stop(void);

#endif
