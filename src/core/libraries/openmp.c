/* openmp.c - see openmp.h. */
#include "openmp.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "context/thread.h"
#include "lock.h"

/* Iterations that a waiting thread of GCC's runtime spins before it sleeps: some microseconds, as
 * the thread pool's. */
#define SPIN_COUNT "100"

/* The largest team of the calling thread that could start. */
static _Thread_local int largest_team;

/* omp_pause_resource_all; NULL: no runtime is loaded. */
static int (*_Atomic pause_all)(int kind);

/* Called before fork(), which copies only the calling thread: with a team, the child would wait for
 * members that it does not have. */
void lt_openmp_end_team(void)
{
    enum { OMP_PAUSE_SOFT = 1 };
    int (*pause)(int kind) = atomic_load(&pause_all);
    if (pause != NULL) pause(OMP_PAUSE_SOFT);
    largest_team = 0;
}

void *lt_openmp_dlopen(const char *name, lt_openmp *runtime)
{
    const bool chosen = getenv("OMP_WAIT_POLICY") != NULL || getenv("GOMP_SPINCOUNT") != NULL;
    if (!chosen) {
        setenv("OMP_WAIT_POLICY", "passive", 1);
        setenv("GOMP_SPINCOUNT", SPIN_COUNT, 1);
    }
    /* an OpenBLAS with threads of its own starts them when it is loaded */
    const bool alone = lt_thread_limit() == 1 && getenv("OPENBLAS_NUM_THREADS") == NULL;
    sigset_t before;
    if (alone) setenv("OPENBLAS_NUM_THREADS", "1", 1);
    lt_signals_block(&before);
    void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    lt_signals_restore(&before);
    if (alone) unsetenv("OPENBLAS_NUM_THREADS");
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
        if (known == NULL) pthread_atfork(lt_openmp_end_team, NULL, NULL);
    }
    return library;
}

static void *until_unlocked(void *mutex)
{
    pthread_mutex_lock(mutex);
    lt_unlock(mutex);
    return NULL;
}

/* Starts n - 1 threads at the same time, and ends them. */
bool lt_openmp_can_start(int n)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_t threads[LT_MOST_THREADS];
    int started = 0;
    if (n <= largest_team) return true;
    if (n > LT_MOST_THREADS) return false;
    pthread_mutex_lock(&mutex);
    while (started < n - 1 && lt_thread_start(&threads[started], until_unlocked, &mutex)) started++;
    lt_unlock(&mutex);
    for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
    if (started == n - 1) largest_team = n;
    return largest_team == n;
}

int lt_openmp_set_threads(const lt_openmp *runtime, int n)
{
    if (runtime->set_num_threads == NULL || runtime->get_max_threads == NULL) return n;
    const int before = runtime->get_max_threads();
    if (before != n) runtime->set_num_threads(n);
    return before;
}
