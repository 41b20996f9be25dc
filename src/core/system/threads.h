/* threads.h - threads, mutexes and condition variables: the functions of POSIX, which every
 * supported system has (Windows: winpthreads of mingw-w64). The rest of core includes this header
 * instead of pthread.h. */
#ifndef LT_SYSTEM_THREADS_H
#define LT_SYSTEM_THREADS_H

#include <pthread.h>
#include <stdint.h>

/* Initializes a condition for lt_condition_wait_until. */
void lt_condition_init(pthread_cond_t *condition);

/* Waits until the condition is signaled or until a time of lt_clock(); may return earlier. The
 * caller holds the mutex. */
void lt_condition_wait_until(pthread_cond_t *condition, pthread_mutex_t *mutex, double time);

/* The signals that a thread blocks: a sigset_t. */
typedef struct lt_signal_set {
    uint64_t bits[16];
} lt_signal_set;

/* Blocks the signals of the process in the calling thread, so that the host's threads handle them.
 * Signals of a fault in the thread itself (SIGSEGV) stay deliverable: the host may report crashes.
 * Also applied around calls of libraries that start threads. */
void lt_signals_block(lt_signal_set *before);
void lt_signals_restore(const lt_signal_set *before);

#endif
