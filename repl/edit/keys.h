/* keys.h - the bytes that readline reads from the terminal; see keys.c. */
#ifndef REPL_KEYS_H
#define REPL_KEYS_H

#include <stdbool.h>
#include <stdio.h>

/* Called at the start of a line. `on_signal` is called when a signal other than SIGINT has
 * interrupted a wait. */
void keys_begin(void (*on_signal)(void));
/* Whether Ctrl-C was pressed since keys_begin. */
bool keys_interrupted(void);
/* Key-reading function for readline: returns a byte, or EOF at the end of input and after Ctrl-C.
 */
int keys_read(FILE *stream);
/* Hook for readline: whether a key can be read within the timeout set in readline. */
int keys_available(void);

#endif
