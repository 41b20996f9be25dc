/* threads.h - how many threads a loop is worth, and parallel loops on the process's thread pool
 * (context/thread_pool.h). */
#ifndef LT_CPU_THREADS_H
#define LT_CPU_THREADS_H

#include "context/thread_pool.h"
#include "ltensor.h"

/* tuning: units of work per thread, a unit being an element in L1 that costs an instruction; a
 * second thread is started for twice as many, since starting and joining it costs as much as tens
 * of thousands of units; an epoch of softmax regression took a quarter of its time with it on 2
 * busy cores, 2026-11-21 */
#define LT_CPU_GRAIN 131072
/* tuning: units of work; an element that is read from memory or written there costs as many; neg
 * takes 0.03 to 0.07 ns for an element in L1, 0.16 ns in memory (Zen 5, 2026-11-28) */
#define LT_CPU_MOVED 4
/* Elements of a job whose elements cost more than one that is moved. */
#define LT_CPU_PIECE (LT_CPU_GRAIN / 8)

/* Threads for a loop of so many elements of work: 1 for a small one. */
int lt_cpu_threads_for(int64_t work);

/* At least so many pieces, or `most`, a power of two: a power of two, so that a few threads have as
 * many each. */
int lt_cpu_cut(int64_t pieces, int most);

/* Jobs for a sum that each job adds up apart: as the order of its additions comes from them, they
 * follow from the work alone, not from how many threads there are. 16 at most: more cost memory and
 * are joined by one thread, and so many already wait for memory together. */
int lt_cpu_shares_for(int64_t work);

/* How many of n elements a job takes, so that the threads end at about the same time: four jobs
 * each, of `most` elements at most. One thread's have that many. A multiple of 4096, so that no two
 * threads write to one line of the cache where elements lie together. */
int64_t lt_cpu_piece(int64_t n, int64_t most, int threads);

/* Runs run(context, job) for every job in [0, jobs) on so many threads, in order on one: opening a
 * parallel region costs more than most small operations. Each thread begins with a part of its own,
 * the first one with the first jobs, and takes from others when it has done that: so a loop finds
 * what another one of the same elements left near the thread. LT_ERR_INTERRUPTED when jobs were
 * left out. */
typedef void (*lt_job)(const void *context, int64_t job);
lt_status lt_parallel_for(int64_t jobs, int threads, lt_job run, const void *context);

/* The same as threads come, in order: of jobs that follow each other and read the same, or of
 * different lengths (pieces of one product: a fourteenth faster). */
lt_status lt_parallel_for_dynamic(int64_t jobs, int threads, lt_job run, const void *context);

#endif
