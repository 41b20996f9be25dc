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

/* Windows calls handlers of Ctrl-C in a thread of their own. */
void lt_signals_block(lt_signal_set *before) { (void)before; }

void lt_signals_restore(const lt_signal_set *before) { (void)before; }
