/* threads.h - the number of threads for a loop, and parallel loops on the process's thread pool
 * (context/thread_pool.h). */
#ifndef LT_CPU_THREADS_H
#define LT_CPU_THREADS_H

#include "context/thread_pool.h"
#include "ltensor.h"

/* tuning: units of work per thread (grain size), a unit being an element in L1 that costs an
 * instruction; a second thread is used from twice as many on, since starting and joining it costs
 * tens of thousands of units; an epoch of softmax regression took a quarter of its time with it on
 * 2 busy cores, 2026-11-21 */
#define LT_CPU_GRAIN 131072
/* tuning: units of work; the cost of an element that is read from memory or written to it; neg
 * takes 0.03 to 0.07 ns for an element in L1, 0.16 ns in memory (Zen 5, 2026-11-28) */
#define LT_CPU_MOVED 4
/* Elements per job if an element costs more than moving it. */
#define LT_CPU_PIECE (LT_CPU_GRAIN / 8)

/* The number of threads for `work` units; 1 if it is small. */
int lt_cpu_threads_for(int64_t work);

/* The smallest power of two that is at least min(pieces, most). A power of two, so that a few
 * threads get equal numbers. */
int lt_cpu_cut(int64_t pieces, int most);

/* The number of partial sums for `work` units, one per job. It depends on the work alone, not on
 * the number of threads, since it determines the order of additions. At most 16: more cost memory
 * and time of the one thread that adds them, and 16 already overlap their memory accesses. */
int lt_cpu_shares_for(int64_t work);

/* Elements per job of n elements: four jobs per thread, for load balancing, of at most `most`
 * elements; with one thread `most`. A multiple of 4096, so that threads do not share cache lines of
 * contiguous elements. */
int64_t lt_cpu_piece(int64_t n, int64_t most, int threads);

/* Static schedule with work stealing: runs run(context, job) for each job in [0, jobs) on so many
 * threads; on one thread in order, since starting a parallel region costs more than most small ops.
 * Each thread begins with its own range of jobs, the first thread with the first one, then steals
 * from other ranges. So a loop finds the elements that an earlier loop of the same size left in a
 * thread's cache. Returns LT_ERR_INTERRUPTED if jobs were skipped. */
typedef void (*lt_job)(const void *context, int64_t job);
lt_status lt_parallel_for(int64_t jobs, int threads, lt_job run, const void *context);

#endif
