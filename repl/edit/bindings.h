/* bindings.h - key bindings for cells of several lines; see bindings.c. */
#ifndef REPL_BINDINGS_H
#define REPL_BINDINGS_H

#include <stdbool.h>

/* Returns whether the input is incomplete; if so, `indent` is set to the indentation of the line
 * after the cursor's. */
typedef bool bindings_judge(int *indent);

/* Called at the start of a line: replaces readline's functions by ours on all keys of the user's
 * inputrc. With `continues`, Up returns to the lines that this one continues. */
void bindings_begin(bool continues, bindings_judge *judge);
/* True if the user returned to the earlier lines. */
bool bindings_reopened(void);
/* Called after readline started a line: the next line continues in the mode of the previous one. */
void bindings_restore_mode(void);
/* The rest of the newest history cell that begins with the line, if the cursor is at its end;
 * otherwise NULL. */
const char *bindings_suggestion(void);

#endif
