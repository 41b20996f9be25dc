/* launch.h - several ranks of the program. */
#ifndef REPL_LAUNCH_H
#define REPL_LAUNCH_H

/* Becomes the mpirun that starts this program so often, with the arguments from argv[1] on. Returns only when that fails, or when the
 * ranks are to be started again where they fail, `restarts` times at most: the status to exit with. */
int launch_ranks(int ranks, int restarts, int argc, char **argv);

#endif
