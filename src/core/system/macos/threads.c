/* threads.c - see system/threads.h. Conditions of macOS wait relative times only, without a
 * monotonic clock. */
#include "system/threads.h"

#include <signal.h>
#include <string.h>
#include <time.h>

#include "system/clock.h"

_Static_assert(sizeof(sigset_t) <= sizeof(lt_signal_set), "room for the signals");

void lt_condition_init(pthread_cond_t *condition) { pthread_cond_init(condition, NULL); }

void lt_condition_wait_until(pthread_cond_t *condition, pthread_mutex_t *mutex, double time)
{
    const double left = time - lt_clock();
    const double seconds = left > 0 ? left : 0;
    const struct timespec until = {.tv_sec = (time_t)seconds,
                                   .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    pthread_cond_timedwait_relative_np(condition, mutex, &until);
}

void lt_signals_block(lt_signal_set *before)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    sigset_t blocked, others;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(&blocked, faults[i]);
    pthread_sigmask(SIG_BLOCK, &blocked, &others);
    memcpy(before, &others, sizeof others);
}

void lt_signals_restore(const lt_signal_set *before)
{
    sigset_t others;
    memcpy(&others, before, sizeof others);
    pthread_sigmask(SIG_SETMASK, &others, NULL);
}
