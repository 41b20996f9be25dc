/* openmp.c - see openmp.h. */
#include "openmp.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "context/thread.h"
#include "lock.h"
#include "system/process.h"
#include "system/shared_library.h"
#include "system/threads.h"

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

void *lt_openmp_open(const char *name, lt_openmp *runtime)
{
    const bool chosen = getenv("OMP_WAIT_POLICY") != NULL || getenv("GOMP_SPINCOUNT") != NULL;
    if (!chosen) {
        lt_variable_set("OMP_WAIT_POLICY", "passive");
        lt_variable_set("GOMP_SPINCOUNT", SPIN_COUNT);
    }
    /* an OpenBLAS with threads of its own starts them when it is loaded */
    const bool alone = lt_thread_limit() == 1 && getenv("OPENBLAS_NUM_THREADS") == NULL;
    lt_signal_set before;
    if (alone) lt_variable_set("OPENBLAS_NUM_THREADS", "1");
    lt_signals_block(&before);
    void *library = lt_shared_open(name);
    lt_signals_restore(&before);
    if (alone) lt_variable_set("OPENBLAS_NUM_THREADS", NULL);
    if (!chosen) { /* child processes of the host choose for themselves */
        lt_variable_set("OMP_WAIT_POLICY", NULL);
        lt_variable_set("GOMP_SPINCOUNT", NULL);
    }
    if (library == NULL) return NULL;
    void *pause = lt_shared_symbol(library, "omp_pause_resource_all");
    *(void **)&runtime->set_num_threads = lt_shared_symbol(library, "omp_set_num_threads");
    *(void **)&runtime->get_max_threads = lt_shared_symbol(library, "omp_get_max_threads");
    if (pause != NULL) {
        int (*known)(int kind) = atomic_load(&pause_all), (*found)(int kind);
        *(void **)&found = pause;
        atomic_store(&pause_all, found);
        if (known == NULL) lt_at_fork(lt_openmp_end_team, NULL, NULL);
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
