/* keys.h - the bytes that readline reads from the terminal; see keys.c. */
#ifndef REPL_KEYS_H
#define REPL_KEYS_H

#include <stdbool.h>
#include <stdio.h>

/* A line begins to be read. `on_signal` is called when a signal other than SIGINT ended a wait. */
void keys_begin(void (*on_signal)(void));
/* Whether Ctrl-C was pressed since. */
bool keys_interrupted(void);
/* Readline's function to read a key: a byte, or EOF at the end of input and after Ctrl-C. */
int keys_read(FILE *stream);
/* Readline's hook to learn whether a key can be read, within the time that readline has set. */
int keys_available(void);

#endif
