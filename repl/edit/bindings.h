/* bindings.h - what the keys do in a cell of several lines; see bindings.c. */
#ifndef REPL_BINDINGS_H
#define REPL_BINDINGS_H

#include <stdbool.h>

/* Whether the line is unfinished; then `indent` is how far the line after the cursor's is to be
 * indented. */
typedef bool bindings_judge(int *indent);

/* A line begins to be read: from now on readline's functions, wherever the user's inputrc binds
 * them, are ours. With `continues`, Up goes back to the lines that this one continues. */
void bindings_begin(bool continues, bindings_judge *judge);
/* Whether the user went back to those lines. */
bool bindings_reopened(void);
/* What to do when readline has begun the line: the next one goes on in the mode of the one
 * before. */
void bindings_restore_mode(void);
/* The rest of the newest cell of the history that begins as the line, with the cursor at its end;
 * or NULL. */
const char *bindings_suggestion(void);

#endif
