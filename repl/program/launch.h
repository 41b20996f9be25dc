/* launch.h - several ranks of the program. */
#ifndef REPL_LAUNCH_H
#define REPL_LAUNCH_H

/* Becomes the mpirun that starts this program so often, with the arguments from argv[1] on. Returns only when that fails: the
 * status to exit with. */
int launch_ranks(int ranks, int argc, char **argv);

#endif
