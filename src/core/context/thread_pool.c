/* thread_pool.c - see thread_pool.h.
 *
 * The state of a worker is one atomic word:
 *
 *     EMPTY -> POSTED    the caller assigns a region
 *     POSTED -> EMPTY    the caller withdraws it: the worker has not started
 *     POSTED -> RUNNING  the worker starts the task
 *     RUNNING -> EMPTY   the task has returned
 *
 * A region without a task ends the worker.
 *
 * A side that waits spins first and then blocks on the worker's condition variable. `sleepers`
 * counts blocked threads, so that a state change takes the mutex only if a thread is blocked. */
#include "thread_pool.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "assertion.h"
#include "fork.h"
#include "lock.h"
#include "ltensor.h"
#include "system/clock.h"
#include "system/memory.h"
#include "system/process.h"
#include "thread.h"

enum { EMPTY, POSTED, RUNNING };

/* tuning: seconds that a thread spins before it blocks; about the time that waking a blocked thread
 * takes; make bench-programs on 2 virtual Zen 4 cores, 2026-11-28: 50, 150 and 300 us differ by
 * less than 1 % on an idle machine, and beside two busy loops programs take 0.93, 1.01 and 1.15 of
 * their time with one thread */
#define SPIN 50e-6

typedef struct pool_worker {
    _Alignas(64) _Atomic int state;
    _Atomic int sleepers;
    lt_task task;
    void *argument;
    int index;
    pthread_t thread;
    unsigned generation;      /* of the pool when the worker started */
    struct pool_worker *next; /* in the idle list, or in a region's list of borrowed workers */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
} pool_worker;

static struct {
    pthread_mutex_t mutex;
    /* LIFO: consecutive regions get the same workers in the same order */
    pool_worker *idle;
    int workers; /* total number */
    /* counts the changes of the settings; workers of earlier generations end instead of becoming
     * idle */
    unsigned generation;
    bool prepared; /* the fork handlers are registered */
} pool = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static _Atomic(const lt_thread_pool *) host_pool;

static _Thread_local struct {
    int index;
    bool busy;
} current;

int lt_pool_index(void) { return current.index; }

bool lt_pool_busy(void) { return current.busy; }

bool lt_pool_is_lent(void) { return atomic_load(&host_pool) != NULL; }

int lt_pool_limit(void)
{
    const lt_thread_pool *lent = atomic_load(&host_pool);
    return lent != NULL ? lent->threads : lt_thread_limit();
}

int lt_pool_workers(void)
{
    pthread_mutex_lock(&pool.mutex);
    const int n = pool.workers;
    lt_unlock(&pool.mutex);
    return n;
}

void lt_pool_lend(const lt_thread_pool *lent) { atomic_store(&host_pool, lent); }

/* ---- waiting --------------------------------------------------------------------------------- */

static inline void pause_core(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

static bool state_is(const pool_worker *w, int state)
{
    return atomic_load_explicit(&w->state, memory_order_acquire) == state;
}

static void wait_for_state(pool_worker *w, int state)
{
    if (state_is(w, state)) return;
    const double end = lt_clock() + SPIN;
    do
        for (int i = 0; i < 16; i++) {
            if (state_is(w, state)) return;
            pause_core();
        }
    while (lt_clock() < end);
    pthread_mutex_lock(&w->mutex);
    atomic_fetch_add(&w->sleepers, 1);
    while (atomic_load(&w->state) != state) pthread_cond_wait(&w->changed, &w->mutex);
    atomic_fetch_sub(&w->sleepers, 1);
    lt_unlock(&w->mutex);
}

/* Sequentially consistent with wait_for_state: either the waiter sees the new state, or this thread
 * sees the waiter. */
static void set_state(pool_worker *w, int state)
{
    LT_ASSERT(w->state == (state == POSTED ? EMPTY : RUNNING), "%d to %d", w->state, state);
    atomic_store(&w->state, state);
    if (atomic_load(&w->sleepers) == 0) return;
    pthread_mutex_lock(&w->mutex);
    pthread_cond_broadcast(&w->changed);
    lt_unlock(&w->mutex);
}

static bool change_state(pool_worker *w, int from, int to)
{
    return atomic_compare_exchange_strong(&w->state, &from, to);
}

/* ---- workers --------------------------------------------------------------------------------- */

static void run_task(lt_task task, void *argument, int index)
{
    LT_ASSERT(!current.busy, "thread %d of a region starts a task of another", current.index);
    LT_ASSERT(index >= 0, "thread %d", index);
    current.index = index;
    current.busy = true;
    task(argument, index);
    current.index = 0;
    current.busy = false;
}

static void *serve(void *argument)
{
    pool_worker *w = argument;
    lt_thread_use_settings();
    for (;;) {
        wait_for_state(w, POSTED);
        if (!change_state(w, POSTED, RUNNING)) continue; /* withdrawn */
        if (w->task == NULL) return NULL;
        LT_ASSERT(w->index > 0, "thread %d", w->index);
        run_task(w->task, w->argument, w->index);
        set_state(w, EMPTY);
    }
}

/* Locks are held across fork() so that the child finds them consistent. */
LT_HOLD_ACROSS_FORK(pool.mutex)

/* The child's only thread is the one that called fork(). Borrowed workers belonged to threads that
 * are gone, so their memory is abandoned with them. */
static void pool_in_child(void)
{
    while (pool.idle != NULL) {
        pool_worker *w = pool.idle;
        pool.idle = w->next;
        lt_aligned_free(w);
    }
    pool.workers = 0;
}

/* NULL: no thread can be started. The pool's mutex is held. */
static pool_worker *worker_new(void)
{
    LT_ASSERT(LT_IS_LOCKED(&pool.mutex));
    pool_worker *w = lt_aligned_alloc(sizeof *w);
    if (w == NULL) return NULL;
    *w = (pool_worker){.state = EMPTY, .generation = pool.generation};
    pthread_mutex_init(&w->mutex, NULL);
    pthread_cond_init(&w->changed, NULL);
    if (!lt_thread_start(&w->thread, serve, w)) {
        lt_aligned_free(w);
        return NULL;
    }
    pool.workers++;
    return w;
}

/* Ends the workers of a list, which are not in the pool any more, and waits for their threads. */
static void end_workers(pool_worker *first)
{
    for (pool_worker *w = first; w != NULL; w = w->next) {
        w->task = NULL;
        set_state(w, POSTED);
    }
    while (first != NULL) {
        pool_worker *w = first;
        first = w->next;
        pthread_join(w->thread, NULL);
        pthread_mutex_destroy(&w->mutex);
        pthread_cond_destroy(&w->changed);
        lt_aligned_free(w);
    }
}

void lt_pool_renew(void)
{
    pthread_mutex_lock(&pool.mutex);
    pool_worker *idle = pool.idle;
    for (const pool_worker *w = idle; w != NULL; w = w->next) pool.workers--;
    pool.idle = NULL;
    pool.generation++;
    lt_unlock(&pool.mutex);
    end_workers(idle);
}

/* Removes up to n workers from the idle list. Starts new ones only while fewer than n exist:
 * regions of other threads use the same pool rather than multiply it. */
static pool_worker *borrow(int n)
{
    pool_worker *first = NULL, **end = &first;
    pthread_mutex_lock(&pool.mutex);
    if (!pool.prepared) {
        pool.prepared = true;
        lt_at_fork(NULL, NULL, pool_in_child);
    }
    for (int i = 0; i < n; i++) {
        pool_worker *w = pool.idle;
        LT_ASSERT(w == NULL || w->state == EMPTY, "an idle worker's state is %d", w->state);
        if (w != NULL)
            pool.idle = w->next;
        else if (pool.workers < n)
            w = worker_new();
        if (w == NULL) break;
        *end = w;
        end = &w->next;
    }
    *end = NULL;
    lt_unlock(&pool.mutex);
    return first;
}

static void give_back(pool_worker *first)
{
    pool_worker *stale = NULL, **end = &first;
    pthread_mutex_lock(&pool.mutex);
    LT_ASSERT(pool.idle != first, "the workers are idle already");
    while (*end != NULL) {
        pool_worker *w = *end;
        LT_ASSERT(w->state == EMPTY, "state %d", w->state);
        if (w->generation == pool.generation) {
            end = &w->next;
            continue;
        }
        *end = w->next;
        w->next = stale;
        stale = w;
        pool.workers--;
    }
    *end = pool.idle;
    pool.idle = first;
    lt_unlock(&pool.mutex);
    if (stale != NULL) end_workers(stale);
}

/* A region that runs on the host's threads. */
typedef struct lent_region {
    lt_task task;
    void *argument;
} lent_region;

static void run_lent(void *argument, int index)
{
    const lent_region *r = argument;
    run_task(r->task, r->argument, index);
}

static void run_on_host_pool(const lt_thread_pool *lent, int n, lt_task task, void *argument)
{
    lent_region r = {task, argument};
    lent->run(lent->user, n, run_lent, &r);
}

static void run_on_workers(int n, lt_task task, void *argument)
{
    pool_worker *workers = borrow(n - 1);
    LT_ASSERT(n > 1, "%d threads", n);
    int index = 1;
    for (pool_worker *w = workers; w != NULL; w = w->next) {
        w->task = task;
        w->argument = argument;
        w->index = index++;
        set_state(w, POSTED);
    }
    run_task(task, argument, 0);
    for (pool_worker *w = workers; w != NULL; w = w->next)
        if (!change_state(w, POSTED, EMPTY)) wait_for_state(w, EMPTY);
    if (workers != NULL) give_back(workers);
}

void lt_pool_run(int n, lt_task task, void *argument)
{
    const lt_thread_pool *lent = atomic_load(&host_pool);
    const int limit = lent != NULL ? lent->threads : lt_thread_limit();
    if (n > limit) n = limit;
    if (n <= 1 || current.busy)
        task(argument, 0);
    else if (lent != NULL)
        run_on_host_pool(lent, n, task, argument);
    else
        run_on_workers(n, task, argument);
}
