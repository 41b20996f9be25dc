/* openmp.c - see openmp.h. */
#include "openmp.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

/* Iterations that a waiting thread of GCC's runtime spins before it sleeps: some microseconds, as
 * the thread pool's. */
#define SPIN_COUNT "100"

/* omp_pause_resource_all; NULL: no runtime is loaded. */
static int (*_Atomic pause_all)(int kind);

/* fork() copies only the calling thread. Its OpenMP team ends here and starts again on demand, in
 * parent and child: otherwise the child would wait for team members that it does not have. */
static void end_team(void)
{
    enum { OMP_PAUSE_SOFT = 1 };
    int (*pause)(int kind) = atomic_load(&pause_all);
    if (pause != NULL) pause(OMP_PAUSE_SOFT);
}

void *lt_openmp_dlopen(const char *name, lt_openmp *runtime)
{
    const bool chosen = getenv("OMP_WAIT_POLICY") != NULL || getenv("GOMP_SPINCOUNT") != NULL;
    if (!chosen) {
        setenv("OMP_WAIT_POLICY", "passive", 1);
        setenv("GOMP_SPINCOUNT", SPIN_COUNT, 1);
    }
    void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (!chosen) { /* child processes of the host choose for themselves */
        unsetenv("OMP_WAIT_POLICY");
        unsetenv("GOMP_SPINCOUNT");
    }
    if (library == NULL) return NULL;
    void *pause = dlsym(library, "omp_pause_resource_all");
    *(void **)&runtime->set_num_threads = dlsym(library, "omp_set_num_threads");
    *(void **)&runtime->get_max_threads = dlsym(library, "omp_get_max_threads");
    if (pause != NULL) {
        int (*known)(int kind) = atomic_load(&pause_all), (*found)(int kind);
        *(void **)&found = pause;
        atomic_store(&pause_all, found);
        if (known == NULL) pthread_atfork(end_team, NULL, NULL);
    }
    return library;
}

int lt_openmp_set_threads(const lt_openmp *runtime, int n)
{
    if (runtime->set_num_threads == NULL || runtime->get_max_threads == NULL) return n;
    const int before = runtime->get_max_threads();
    if (before != n) runtime->set_num_threads(n);
    return before;
}
