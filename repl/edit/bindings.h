/* bindings.h - key bindings for cells of several lines; see bindings.c. */
#ifndef REPL_BINDINGS_H
#define REPL_BINDINGS_H

#include <stdbool.h>

/* Whether the line is unfinished; then `indent` is how far the line after the cursor's is to be
 * indented. */
typedef bool bindings_judge(int *indent);

/* A line begins to be read: from now on readline's functions, wherever the user's inputrc binds
 * them, are ours. With `continues`, Up goes back to the lines that this one continues. */
void bindings_begin(bool continues, bindings_judge *judge);
/* True if the user returned to those lines. */
bool bindings_reopened(void);
/* Called after readline started a line: the next line continues in the mode of the previous one. */
void bindings_restore_mode(void);
/* The rest of the newest cell of the history that begins as the line, with the cursor at its end;
 * or NULL. */
const char *bindings_suggestion(void);

#endif
