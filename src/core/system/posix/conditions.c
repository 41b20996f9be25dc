/* conditions.c - condition variables; see system/threads.h. macOS and winpthreads have none with the
 * monotonic clock, but waits for a relative time. */
#include "system/threads.h"

#include <time.h>

#include "system/clock.h"

static struct timespec seconds_of(double time)
{
    const double seconds = time > 0 ? time : 0;
    return (struct timespec){.tv_sec = (time_t)seconds,
                             .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
}

#if defined(__APPLE__) || defined(_WIN32)

void lt_condition_init(pthread_cond_t *condition) { pthread_cond_init(condition, NULL); }

void lt_condition_wait_until(pthread_cond_t *condition, pthread_mutex_t *mutex, double time)
{
    const struct timespec left = seconds_of(time - lt_clock());
    pthread_cond_timedwait_relative_np(condition, mutex, &left);
}

#else

void lt_condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

void lt_condition_wait_until(pthread_cond_t *condition, pthread_mutex_t *mutex, double time)
{
    const struct timespec until = seconds_of(time);
    pthread_cond_timedwait(condition, mutex, &until);
}

#endif
