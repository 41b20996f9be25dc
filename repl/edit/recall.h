/* recall.h - shows cells of the history in the edited line; see recall.c. */
#ifndef REPL_RECALL_H
#define REPL_RECALL_H

#include <stdbool.h>

/* Called at the start of a line: discards the changed history texts. */
void recall_begin(void);
/* Shows the entry `count` further back, or forward if negative; after the newest one comes the
 * typed text. With `prefix`, moves through entries that begin with it, each text once. The cursor
 * moves to the end. False if there is none; nothing changes. */
bool recall_move(int count, const char *prefix);
/* Runs a command of readline that itself shows history entries. */
int recall_by(int (*command)(int count, int key), int count, int key);

#endif
