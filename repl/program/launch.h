/* launch.h - starts several ranks of the program. */
#ifndef REPL_LAUNCH_H
#define REPL_LAUNCH_H

#include <stdbool.h>

/* Replaces the process by an mpirun that starts `ranks` processes of this program with the
 * arguments from argv[1] on. prompt: there is no script. Returns the exit status only if that
 * fails, or if failing ranks are to be restarted, at most `restarts` times. */
int launch_ranks(int ranks, int restarts, bool prompt, int argc, char **argv);

#endif
