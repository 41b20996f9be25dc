/* watch.c - see watch.h. The contexts form a list under one lock; the thread sleeps until the
 * earliest of their times. A forked process inherits the list and starts its own thread if a
 * deadline is pending.
 *
 * Without the thread, LT_CONTEXT_PROGRESS stays set in a context with a pending time, so that its
 * operations call lt_watch_poll at each check. */
#include "watch.h"

#include <math.h>

#include "assertion.h"
#include "fork.h"
#include "lock.h"
#include "system/clock.h"
#include "system/process.h"
#include "system/shared_library.h"
#include "thread.h"

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    lt_context *first;
    double (*call)(void);
    double call_time;
    bool prepared, running, ending;
    pthread_t thread;
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER, .call_time = INFINITY};

/* No thread could be started: operations poll the clock. */
static _Atomic bool is_polled;

static double first_time(void)
{
    LT_ASSERT(LT_IS_LOCKED(&watch.lock));
    double time = watch.call_time;
    for (const lt_context *c = watch.first; c != NULL; c = c->next_watched)
        time = fmin(time, fmin(c->deadline, c->next_progress));
    return time;
}

static bool is_pending(const lt_context *c)
{
    return isfinite(c->deadline) || isfinite(c->next_progress);
}

static void set_late_flag(lt_context *c, double now)
{
    if (c->deadline > now) return;
    c->deadline = INFINITY;
    atomic_fetch_or(&c->flags, LT_CONTEXT_LATE);
}

static void set_expired_flags(lt_context *c, double now)
{
    set_late_flag(c, now);
    if (c->next_progress <= now) {
        c->next_progress = now + c->progress_seconds;
        atomic_fetch_or(&c->flags, LT_CONTEXT_PROGRESS);
    }
}

static void *run_watch_thread(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&watch.lock);
    while (!watch.ending) {
        const double now = lt_clock(), next = first_time();
        if (next <= now) {
            for (lt_context *c = watch.first; c != NULL; c = c->next_watched)
                set_expired_flags(c, now);
            if (watch.call_time <= now) watch.call_time = now + watch.call();
        } else if (isfinite(next)) {
            lt_condition_wait_until(&watch.changed, &watch.lock, next);
        } else {
            pthread_cond_wait(&watch.changed, &watch.lock);
        }
    }
    lt_unlock(&watch.lock);
    return NULL;
}

LT_HOLD_ACROSS_FORK(watch.lock)
static void watch_in_child(void);

/* Runs once, with the lock held. The thread may run until the process ends, so the library must stay
 * loaded. */
static void prepare_watch(void)
{
    if (watch.prepared) return;
    watch.prepared = true;
    lt_condition_init(&watch.changed);
    lt_at_fork(NULL, NULL, watch_in_child);
    lt_shared_keep_own();
}

/* The lock is held. */
static void poll_instead(void)
{
    for (lt_context *c = watch.first; c != NULL; c = c->next_watched)
        if (is_pending(c)) atomic_fetch_or(&c->flags, LT_CONTEXT_PROGRESS);
}

/* Starts the thread if an event is pending. The lock is held. */
static void start_watch(void)
{
    prepare_watch();
    pthread_cond_signal(&watch.changed);
    if (watch.running || !isfinite(first_time())) return;
    watch.running = lt_thread_start(&watch.thread, run_watch_thread, NULL);
    atomic_store(&is_polled, !watch.running);
    if (!watch.running) poll_instead();
}

static void watch_in_child(void)
{
    pthread_mutex_lock(&watch.lock);
    watch.running = watch.ending = false;
    watch.call_time = INFINITY; /* memory/block.c requests it again with the next block */
    lt_condition_init(&watch.changed);
    start_watch();
    lt_unlock(&watch.lock);
}

void lt_watch_renew(void)
{
    pthread_mutex_lock(&watch.lock);
    const bool ends = watch.running && !watch.ending;
    if (ends) {
        watch.ending = true;
        pthread_cond_signal(&watch.changed);
        lt_unlock(&watch.lock);
        pthread_join(watch.thread, NULL);
        pthread_mutex_lock(&watch.lock);
        watch.running = watch.ending = false;
    }
    start_watch();
    lt_unlock(&watch.lock);
}

void lt_watch_poll_deadline(lt_context *c)
{
    if (!atomic_load(&is_polled)) return;
    pthread_mutex_lock(&watch.lock);
    set_late_flag(c, lt_clock());
    lt_unlock(&watch.lock);
}

bool lt_watch_poll(lt_context *c)
{
    bool due = c->progress != NULL;
    pthread_mutex_lock(&watch.lock);
    if (!watch.running) {
        const double now = lt_clock();
        due = due && c->next_progress <= now;
        set_expired_flags(c, now);
        if (is_pending(c))
            atomic_fetch_or(&c->flags, LT_CONTEXT_PROGRESS);
        else
            atomic_fetch_and(&c->flags, ~(uint32_t)LT_CONTEXT_PROGRESS);
    }
    lt_unlock(&watch.lock);
    return due;
}

static void enlist(lt_context *c)
{
    LT_ASSERT(LT_IS_LOCKED(&watch.lock));
    if (c->watched) return;
    c->watched = true;
    c->next_watched = watch.first;
    watch.first = c;
}

void lt_watch_deadline(lt_context *c, double seconds)
{
    const double now = lt_clock();
    pthread_mutex_lock(&watch.lock);
    enlist(c);
    atomic_store(&c->seconds, seconds);
    atomic_fetch_and(&c->flags, ~(uint32_t)LT_CONTEXT_LATE);
    c->deadline = now + seconds;
    set_expired_flags(c, now); /* a deadline in the past takes effect at once */
    start_watch();
    lt_unlock(&watch.lock);
}

void lt_watch_call(double (*f)(void), double seconds)
{
    pthread_mutex_lock(&watch.lock);
    watch.call = f;
    watch.call_time = lt_clock() + seconds;
    start_watch();
    lt_unlock(&watch.lock);
}

void lt_watch_progress(lt_context *c)
{
    pthread_mutex_lock(&watch.lock);
    enlist(c);
    c->next_progress = lt_clock() + c->progress_seconds;
    start_watch();
    lt_unlock(&watch.lock);
}

void lt_unwatch(lt_context *c)
{
    pthread_mutex_lock(&watch.lock);
    lt_context **at = &watch.first;
    while (*at != NULL && *at != c) at = &(*at)->next_watched;
    LT_ASSERT((*at == c) == c->watched, "watched %d", c->watched);
    if (*at == c) *at = c->next_watched;
    c->watched = false;
    lt_unlock(&watch.lock);
}
