/* thread.c - see thread.h. */
#include "thread.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

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

void lt_signals_block(sigset_t *before)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    sigset_t blocked;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(&blocked, faults[i]);
    pthread_sigmask(SIG_BLOCK, &blocked, before);
}

void lt_signals_restore(const sigset_t *before) { pthread_sigmask(SIG_SETMASK, before, NULL); }

#ifndef LT_NO_THREADS
/* fixed: bytes of address space; the limit that Linux sets for a process by default. A process or a
 * C library with a lower limit (ulimit -s, musl) gives threads less than the 300 KB that a fused
 * reduction needs. */
#define STACK_SIZE ((size_t)8 << 20)

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
    sigset_t before;
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

/* On Linux, affinity and niceness belong to a thread, and the id of the process is that of its
 * first thread. */
void lt_thread_use_settings(void)
{
    const lt_thread_settings settings = lt_thread_settings_get();
    cpu_set_t cpus = settings.cpus;
    if (settings.pinned || sched_getaffinity(getpid(), sizeof cpus, &cpus) == 0)
        sched_setaffinity(0, sizeof cpus, &cpus);
    if (settings.nice > 0)
        setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, (id_t)getpid()) + settings.nice);
}
