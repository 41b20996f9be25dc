/* fork.h - keeps a lock usable in a forked process.
 *
 * fork() copies only the calling thread. A mutex that another thread holds at that moment would
 * stay locked in the child for ever, and the data that it protects might be half changed. So the
 * forking thread acquires the library's static mutexes first. memory/block.c registers first and is
 * therefore acquired last: the other modules allocate under their locks. */
#ifndef LT_FORK_H
#define LT_FORK_H

#include <pthread.h>

/* Holds a static mutex across fork(). Use it once in a file, at file scope. */
#define LT_HOLD_ACROSS_FORK(mutex)                                                                 \
    static void lock_before_fork(void) { pthread_mutex_lock(&(mutex)); }                           \
    static void unlock_after_fork(void) { pthread_mutex_unlock(&(mutex)); }                        \
    __attribute__((constructor)) static void register_fork_handlers(void)                          \
    {                                                                                              \
        pthread_atfork(lock_before_fork, unlock_after_fork, unlock_after_fork);                    \
    }

#endif
