/* process.h - the process: its forks, its end, its environment and its limits. */
#ifndef LT_SYSTEM_PROCESS_H
#define LT_SYSTEM_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/* Registers handlers of fork(), as pthread_atfork: `before` runs in the forking thread, most
 * recently registered first, the others after it, first registered first. NULL: none. Does nothing
 * on systems without fork(). */
void lt_at_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void));

/* Records the exit status for the exit handlers that are registered so far. */
void lt_exit_status_record(void);
/* During exit(): the recorded status. False: the system does not report it, and it counts as 0. */
bool lt_exit_status(int *status);
/* Ends the process without destructors. */
__attribute__((noreturn)) void lt_exit_now(int status);

/* Sets a variable of the environment; value NULL: removes it. */
void lt_variable_set(const char *name, const char *value);

/* The limit of the process's address space in bytes; UINT64_MAX: none. */
uint64_t lt_address_space_limit(void);

#endif
