/* display.h - how the line that readline edits is drawn; see display.c. */
#ifndef LT_REPL_DISPLAY_H
#define LT_REPL_DISPLAY_H

#include <stdbool.h>

/* Gives the class of every byte of the text, or NULL when nothing is to be coloured; valid until the
 * next call. Classes are the letters of display.c's palette. */
typedef const char *display_classifier(const char *text, int length);

/* Takes readline's drawing over, after rl_initialize(), where the terminal has cursor movement; false where it has not. */
bool display_install(display_classifier *classify);
/* The cursor is at the start of an empty row: what is drawn next begins there. With `prompt`, the
 * prompt of readline() that is about to be called. */
void display_begin(const char *prompt);
/* Draws what has changed and puts the cursor behind the last character. */
void display_finish(void);
/* The line is done: draws it for the last time; with `new_line`, the cursor goes to a row of its own. */
void display_end(bool new_line);
/* How many rows of the terminal the cell takes. */
int display_rows(void);
/* Readline's command for Ctrl-L. */
int display_clear_screen(int count, int key);
/* Nothing more is drawn until display_begin. */
void display_stop(void);

#endif
