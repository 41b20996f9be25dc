/* thread_pool.h - the threads that help with loops: one pool for the process, shared by all
 * contexts.
 *
 * A caller borrows idle workers for one parallel region and gives them back when the region ends.
 * Workers that the scheduler has not started yet are withdrawn, so that a region never waits for a
 * thread without a processor.
 *
 * Invariants
 * - A worker is either on the idle list or borrowed by exactly one region.
 * - A task runs index 0 on the caller. The other indices may be skipped: a task has to complete the
 *   work alone.
 * - Workers end only when the settings of threads change (lt_pool_renew). The library cannot be
 *   unloaded (-z nodelete), so their code stays mapped.
 * - After fork() the child has no workers and starts new ones on demand. */
#ifndef LT_THREAD_POOL_H
#define LT_THREAD_POOL_H

#include <stdbool.h>

struct lt_thread_pool; /* ltensor.h */

/* One thread's part of a region; index is unique among the threads of the region and below n. */
typedef void (*lt_task)(void *argument, int index);

/* Runs task(argument, 0) on the calling thread and task(argument, i), 0 < i < n, on as many other
 * threads as are available. Returns after every started task has returned. Inside a region, runs
 * task(argument, 0) alone. With a pool of the host (lt_set_thread_pool), the host's threads run all
 * tasks. At most lt_pool_limit() threads. */
void lt_pool_run(int n, lt_task task, void *argument);

/* Index of the calling thread in the current region; 0 outside a region. */
int lt_pool_index(void);

/* True while the calling thread runs a task of a region. */
bool lt_pool_busy(void);

/* Workers that exist. */
int lt_pool_workers(void);

/* Ends the idle workers, and each borrowed one when its region ends, so that the next regions start
 * workers with the current settings (thread.h). Returns after the idle ones have ended. */
void lt_pool_renew(void);

/* lt_set_thread_pool with a valid pool or NULL. */
void lt_pool_lend(const struct lt_thread_pool *lent);
/* Whether the host provides the threads. */
bool lt_pool_is_lent(void);
/* The maximum number of threads of a region: of the host's pool, or by the settings. */
int lt_pool_limit(void);

#endif
