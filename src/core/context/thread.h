/* thread.h - starts the threads of the library: the only caller of pthread_create. Holds the
 * configuration of ltensor_threads.h: limit, processors and niceness. */
#ifndef LT_THREAD_H
#define LT_THREAD_H

#include <stdbool.h>

#include "system/processors.h"
#include "system/threads.h"

/* Bounds of ltensor.h for the number of threads of an operation. */
#define LT_MOST_THREADS 1024

typedef struct lt_thread_settings {
    int limit;   /* maximum number of threads of an operation; 1: the library starts no thread */
    bool pinned; /* cpus is set */
    lt_cpu_set cpus;
    int nice; /* added to the niceness of the process */
} lt_thread_settings;

/* The maximum number of threads of an operation, the calling one included: 1 to LT_MOST_THREADS.
 * 1 in a build without threads. */
int lt_thread_limit(void);

lt_thread_settings lt_thread_settings_get(void);
/* Threads that are started later have these settings. */
void lt_thread_settings_set(const lt_thread_settings *settings);

/* Starts run(argument) on a new thread, which is joinable, has a stack of 8 MiB and blocks signals as
 * lt_signals_block does. False: the limit is 1, the build has no threads, or the system has no memory or no thread
 * left; errno is the reason. */
bool lt_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

/* Sets the processors and the niceness of the calling thread, which has to be one that computes.
 * Processors: the configured ones, otherwise the ones of the process's first thread: the host's
 * thread that started this one may be bound to a single processor. */
void lt_thread_use_settings(void);

#endif
