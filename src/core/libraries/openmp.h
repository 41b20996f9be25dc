/* openmp.h - the OpenMP runtime of libraries that this library opens (oneDNN, OpenBLAS). Loops of
 * our own use context/thread_pool.h instead.
 *
 * Without this module such a runtime would keep its threads spinning for milliseconds after each
 * call, and a process forked after a parallel call would hang in its next one. */
#ifndef LT_OPENMP_H
#define LT_OPENMP_H

#include <stdbool.h>

typedef struct lt_openmp {
    void (*set_num_threads)(int n);
    int (*get_max_threads)(void);
} lt_openmp;

/* lt_shared_open(name) with a short wait policy for an OpenMP runtime that comes with it, unless the
 * environment sets a policy (OMP_WAIT_POLICY, GOMP_SPINCOUNT). Fills *runtime; its functions are
 * NULL if the library has no OpenMP runtime. Called under the lock of lt_library_need. NULL:
 * lt_shared_error() gives the reason. */
void *lt_openmp_open(const char *name, lt_openmp *runtime);

/* Sets the number of threads that parallel regions of this thread use; returns the previous number
 * for a second call. Does nothing without a runtime. */
int lt_openmp_set_threads(const lt_openmp *runtime, int n);

/* Whether the system lets the calling thread start a team of n threads. GCC's runtime ends the
 * process if it does not, as with a limit of processes (ulimit -u, TasksMax= of systemd). */
bool lt_openmp_can_start(int n);

/* Ends the team of threads of the calling thread; its next parallel region starts one again. */
void lt_openmp_end_team(void);

#endif
