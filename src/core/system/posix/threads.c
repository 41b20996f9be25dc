/* threads.c - see system/threads.h. */
#include "system/threads.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <time.h>

_Static_assert(sizeof(sigset_t) <= sizeof(lt_signal_set), "room for the signals");

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
    const double second = floor(time);
    const struct timespec until = {(time_t)second, (long)((time - second) * 1e9)};
    pthread_cond_timedwait(condition, mutex, &until);
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
