/* recall.h - the cells of the history in the line that is edited; see recall.c. */
#ifndef REPL_RECALL_H
#define REPL_RECALL_H

#include <stdbool.h>

/* A line begins: nothing of the history was changed in it. */
void recall_begin(void);
/* Shows the entry `count` further back, for a negative one forward; behind the newest is what was
 * typed. With `prefix`, the entries that begin so, each text once. The cursor goes to the end.
 * False when there is none, and nothing happens. */
bool recall_move(int count, const char *prefix);
/* Runs a command of readline that shows other entries by itself. */
int recall_by(int (*command)(int count, int key), int count, int key);

#endif
