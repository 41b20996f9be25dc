/* display.h - how the line that readline edits is drawn; see display.c. */
#ifndef LT_REPL_DISPLAY_H
#define LT_REPL_DISPLAY_H

#include <stdbool.h>

#include "layout.h"

/* Returns what could follow the line, or NULL. */
typedef const char *display_suggester(void);

/* Takes readline's drawing over, after rl_initialize(), where the terminal has cursor movement;
 * false where it has not. Without colours only what is hidden counts of the classes, and nothing is
 * suggested. */
bool display_install(layout_classifier *classify, display_suggester *suggest, bool colours);
/* Whether what is suggested is shown. */
bool display_suggests(void);
/* The cursor is at the start of an empty row: what is drawn next begins there. With `prompt`, the
 * prompt of readline() that is about to be called. */
void display_begin(const char *prompt);
/* Draws what has changed and puts the cursor behind the last character. */
void display_finish(void);
/* The line is done: draws it for the last time; with `new_line`, the cursor goes to a row of its
 * own. */
void display_end(bool new_line);
/* How many rows of the terminal the cell takes. */
int display_rows(void);
/* Readline's command for Ctrl-L. */
int display_clear_screen(int count, int key);
/* Nothing more is drawn until display_begin. */
void display_stop(void);

#endif
