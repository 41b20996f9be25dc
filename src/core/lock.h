/* lock.h - releases a mutex. Builds with assertions check that it is locked, so that a lock that is
 * missing is detected without a race. */
#ifndef LT_LOCK_H
#define LT_LOCK_H

#include "assertion.h"
#include "system/threads.h"

static inline void lt_unlock(pthread_mutex_t *mutex)
{
    LT_ASSERT(LT_IS_LOCKED(mutex), "unlocks a mutex that is not locked");
    pthread_mutex_unlock(mutex);
}

#endif
