/* thread.c - see thread.h. */
#include "thread.h"

#include <errno.h>
#include <stdatomic.h>

#include "fork.h"
#include "lock.h"

#ifdef LT_NO_THREADS
#define LIMIT 1
#else
#define LIMIT LT_MOST_THREADS
#endif

static _Atomic int limit = LIMIT;

static struct {
    pthread_mutex_t mutex;
    lt_thread_settings settings;
} shared = {.mutex = PTHREAD_MUTEX_INITIALIZER, .settings = {.limit = LIMIT}};

LT_HOLD_ACROSS_FORK(shared.mutex)

int lt_thread_limit(void) { return atomic_load_explicit(&limit, memory_order_relaxed); }

lt_thread_settings lt_thread_settings_get(void)
{
    pthread_mutex_lock(&shared.mutex);
    const lt_thread_settings settings = shared.settings;
    lt_unlock(&shared.mutex);
    return settings;
}

void lt_thread_settings_set(const lt_thread_settings *settings)
{
    pthread_mutex_lock(&shared.mutex);
    shared.settings = *settings;
    if (shared.settings.limit > LIMIT) shared.settings.limit = LIMIT;
    atomic_store(&limit, shared.settings.limit);
    lt_unlock(&shared.mutex);
}

#ifndef LT_NO_THREADS
/* fixed: bytes of address space; the limit that Linux sets for a process by default. A process or a
 * C library with a lower limit (ulimit -s, musl) gives threads less than the 300 KB that a fused
 * reduction needs. */
#define STACK_SIZE ((size_t)8 << 20)

/* Starts run(argument) on a joinable thread. Returns 0 or a number of errno. */
static int create_thread(pthread_t *thread, void *(*run)(void *argument), void *argument)
{
    pthread_attr_t attributes;
    int failure = pthread_attr_init(&attributes);
    if (failure != 0) return failure;
    failure = pthread_attr_setstacksize(&attributes, STACK_SIZE);
    if (failure == 0) failure = pthread_create(thread, &attributes, run, argument);
    pthread_attr_destroy(&attributes);
    return failure;
}
#endif

bool lt_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument)
{
#ifdef LT_NO_THREADS
    (void)thread, (void)run, (void)argument;
    errno = ENOTSUP;
    return false;
#else
    lt_signal_set before;
    if (lt_thread_limit() == 1) {
        errno = EPERM;
        return false;
    }
    lt_signals_block(&before);
    const int failure = create_thread(thread, run, argument);
    lt_signals_restore(&before);
    errno = failure;
    return failure == 0;
#endif
}

void lt_thread_use_settings(void)
{
    const lt_thread_settings settings = lt_thread_settings_get();
    lt_cpu_set cpus = settings.cpus;
    if (settings.pinned || lt_process_cpus(&cpus)) lt_thread_bind(&cpus);
    if (settings.nice > 0) lt_thread_add_nice(settings.nice);
}
