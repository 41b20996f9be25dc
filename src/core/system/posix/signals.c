/* signals.c - the signals of a thread; see system/threads.h. */
#include "system/threads.h"

#include <signal.h>
#include <string.h>

_Static_assert(sizeof(sigset_t) <= sizeof(lt_signal_set), "room for the signals");

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
