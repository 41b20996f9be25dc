/* fork.h - keeps mutexes usable in a forked process.
 *
 * fork() copies only the calling thread. A mutex that another thread holds at that moment would
 * stay locked in the child for ever, and the data that it protects might be half changed. So the
 * forking thread acquires all registered mutexes first.
 *
 * It waits for one mutex at a time and holds no other one meanwhile, so that the order in which
 * other threads nest these mutexes does not matter, and any thread may register and unregister
 * one. */
#ifndef LT_FORK_H
#define LT_FORK_H

#include <stdbool.h>

#include "system/threads.h"

typedef struct lt_fork_entry {
    pthread_mutex_t *mutex;
    bool recursive;
    int awaited; /* forking threads that wait for the mutex: the entry must stay */
    struct lt_fork_entry *next, **link;
} lt_fork_entry;

/* Initializes a mutex of an object and holds it across fork() until the object's end. */
void lt_fork_mutex_init(lt_fork_entry *entry, pthread_mutex_t *mutex, bool recursive);
/* Destroys it. The caller does not hold it. */
void lt_fork_mutex_destroy(lt_fork_entry *entry);

/* Holds a mutex that is initialized already. */
void lt_fork_hold(lt_fork_entry *entry, pthread_mutex_t *mutex);

/* Holds a static mutex. Use it once in a file, at file scope. */
#define LT_HOLD_ACROSS_FORK(mutex)                                                                 \
    __attribute__((constructor)) static void hold_across_fork(void)                                \
    {                                                                                              \
        static lt_fork_entry entry;                                                                \
        lt_fork_hold(&entry, &(mutex));                                                            \
    }

#endif
