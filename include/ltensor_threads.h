/* ltensor_threads.h - the threads of the library in the process of a host: their limit, processors
 * and priority.
 *
 * One pool of worker threads serves all threads of the host. An operation with n threads uses at
 * most n - 1 idle workers beside its caller, so 16 threads of the host with lt_set_num_threads(8)
 * share 7 workers. Workers block all signals but the ones of a fault in the thread itself
 * (SIGSEGV). After fork() the child starts workers of its own.
 *
 * To run the loops on threads of the host, call lt_set_thread_pool (ltensor.h). */
#ifndef LTENSOR_THREADS_H
#define LTENSOR_THREADS_H

#include "ltensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lt_thread_config {
    size_t size; /* sizeof this struct in the caller; set by lt_thread_defaults */
    /* The maximum number of threads of an operation in any context, the calling one included, 1 to
     * 1024; 0: none but lt_set_num_threads. 1: the library starts no thread. Then operations compare
     * the clock themselves for deadlines and progress, a factorization cannot be interrupted, and
     * cached memory is kept until lt_memory_trim. */
    int limit;
    /* Numbers of the processors, from 0, on which workers and factorizations of long duration run,
     * and their count. NULL: the ones of the first thread of the process. */
    const int *cpus;
    int n_cpus;
    int nice; /* 0 to 19: added to the niceness of the process; larger values yield to others */
} lt_thread_config;

LT_INLINE lt_thread_config lt_thread_defaults(void)
{
    lt_thread_config config;
    config.size = sizeof config;
    config.limit = 0, config.cpus = NULL, config.n_cpus = 0, config.nice = 0;
    return config;
}

/* Configures the threads of the process; a call replaces the previous configuration. NULL:
 * lt_thread_defaults(). Idle workers and the thread of deadlines have ended when it returns, workers
 * of a running operation end with it, and later operations start new ones. Any thread may call it.
 * A forked process inherits the configuration. LT_ERR_TYPE: invalid size; LT_ERR_RUNTIME: a number
 * out of range, a processor that the process may not use. */
LT_API lt_status lt_threads_configure(const lt_thread_config *config);

/* The number of workers that exist. */
LT_API int lt_threads_count(void);

/* The processors that the library may use, which is the default of lt_set_num_threads: the
 * configured ones, otherwise the ones in the affinity mask of the process's first thread; at most as
 * many as the quota of the cgroup (cpu.max), rounded up. $OMP_NUM_THREADS can lower the default. */
LT_API int lt_threads_processors(void);

#ifdef __cplusplus
}
#endif

#endif
