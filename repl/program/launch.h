/* launch.h - several ranks of the program. */
#ifndef REPL_LAUNCH_H
#define REPL_LAUNCH_H

#include <stdbool.h>

/* Becomes the mpirun that starts this program so often, with the arguments from argv[1] on. Returns
 * only when that fails, or when the ranks are to be started again where they fail, `restarts` times
 * at most: the status to exit with. prompt: without a script. */
int launch_ranks(int ranks, int restarts, bool prompt, int argc, char **argv);

#endif
