/* threads.c - see system/threads.h: winpthreads of mingw-w64. */
#include "system/threads.h"

#include <time.h>

#include "system/clock.h"

void lt_condition_init(pthread_cond_t *condition) { pthread_cond_init(condition, NULL); }

/* winpthreads has no condition with the monotonic clock, so the wait is relative. */
void lt_condition_wait_until(pthread_cond_t *condition, pthread_mutex_t *mutex, double time)
{
    const double left = time - lt_clock();
    const double seconds = left > 0 ? left : 0;
    const struct timespec until = {.tv_sec = (time_t)seconds,
                                   .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    pthread_cond_timedwait_relative_np(condition, mutex, &until);
}

int lt_thread_create(pthread_t *thread, size_t stack, void *(*run)(void *argument), void *argument)
{
    pthread_attr_t attributes;
    int failure = pthread_attr_init(&attributes);
    if (failure != 0) return failure;
    failure = pthread_attr_setstacksize(&attributes, stack);
    if (failure == 0) failure = pthread_create(thread, &attributes, run, argument);
    pthread_attr_destroy(&attributes);
    return failure;
}

/* Windows calls handlers of Ctrl-C in a thread of their own. */
void lt_signals_block(lt_signal_set *before) { (void)before; }

void lt_signals_restore(const lt_signal_set *before) { (void)before; }
