/* watch.c - see watch.h. The contexts form a list under one lock; the thread sleeps until the
 * earliest of their times. A forked process inherits the list and starts its own thread if a
 * deadline is pending. */
#include "watch.h"

#include <dlfcn.h>
#include <math.h>
#include <signal.h>

#include "assertion.h"
#include "clock.h"
#include "error.h"
#include "fork.h"

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    lt_context *first;
    double (*call)(void);
    double call_time;
    bool prepared, running;
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER, .call_time = INFINITY};

static double first_time(void)
{
    LT_ASSERT(LT_IS_LOCKED(&watch.lock));
    double time = watch.call_time;
    for (const lt_context *c = watch.first; c != NULL; c = c->next_watched)
        time = fmin(time, fmin(c->deadline, c->next_progress));
    return time;
}

static void set_expired_flags(lt_context *c, double now)
{
    if (c->deadline <= now) {
        c->deadline = INFINITY;
        atomic_fetch_or(&c->flags, LT_CONTEXT_LATE);
    }
    if (c->next_progress <= now) {
        c->next_progress = now + c->progress_seconds;
        atomic_fetch_or(&c->flags, LT_CONTEXT_PROGRESS);
    }
}

static void *run_watch_thread(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&watch.lock);
    for (;;) {
        const double now = lt_clock(), next = first_time();
        if (next <= now) {
            for (lt_context *c = watch.first; c != NULL; c = c->next_watched)
                set_expired_flags(c, now);
            if (watch.call_time <= now) watch.call_time = now + watch.call();
        } else if (isfinite(next)) {
            const double second = floor(next);
            const struct timespec until = {(time_t)second, (long)((next - second) * 1e9)};
            pthread_cond_timedwait(&watch.changed, &watch.lock, &until);
        } else {
            pthread_cond_wait(&watch.changed, &watch.lock);
        }
    }
    return NULL;
}

static void make_condition(void)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&watch.changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

LT_HOLD_ACROSS_FORK(watch.lock)
static void watch_in_child(void);

/* Runs once, with the lock held. The thread never ends, so the library must stay loaded. */
static void prepare_watch(void)
{
    Dl_info here;
    if (watch.prepared) return;
    watch.prepared = true;
    make_condition();
    pthread_atfork(NULL, NULL, watch_in_child);
    if (dladdr((void *)(uintptr_t)&run_watch_thread, &here) != 0)
        dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

/* Starts the thread if an event is pending. The lock is held. Signals are blocked in it: the host's
 * threads handle them. */
static lt_status start_watch(void)
{
    sigset_t all, before;
    pthread_t thread;
    prepare_watch();
    pthread_cond_signal(&watch.changed);
    if (watch.running || !isfinite(first_time())) return LT_OK;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    watch.running = pthread_create(&thread, NULL, run_watch_thread, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!watch.running) return lt_error(LT_ERR_MEMORY, "out of memory: no thread could be started");
    pthread_detach(thread);
    return LT_OK;
}

/* If no thread can be started, the first operation that sets a deadline reports it. */
static void watch_in_child(void)
{
    pthread_mutex_lock(&watch.lock);
    watch.running = false;
    watch.call_time = INFINITY; /* memory/block.c requests it again with the next block */
    make_condition();
    (void)start_watch();
    pthread_mutex_unlock(&watch.lock);
}

static void enlist(lt_context *c)
{
    LT_ASSERT(LT_IS_LOCKED(&watch.lock));
    if (c->watched) return;
    c->watched = true;
    c->next_watched = watch.first;
    watch.first = c;
}

lt_status lt_watch_deadline(lt_context *c, double seconds)
{
    const double now = lt_clock();
    pthread_mutex_lock(&watch.lock);
    enlist(c);
    atomic_store(&c->seconds, seconds);
    atomic_fetch_and(&c->flags, ~(uint32_t)LT_CONTEXT_LATE);
    c->deadline = now + seconds;
    set_expired_flags(c, now); /* a deadline in the past takes effect at once */
    lt_status status = start_watch();
    if (status != LT_OK) c->deadline = INFINITY;
    pthread_mutex_unlock(&watch.lock);
    return status;
}

void lt_watch_call(double (*f)(void), double seconds)
{
    pthread_mutex_lock(&watch.lock);
    watch.call = f;
    watch.call_time = lt_clock() + seconds;
    (void)start_watch();
    pthread_mutex_unlock(&watch.lock);
}

lt_status lt_watch_progress(lt_context *c)
{
    pthread_mutex_lock(&watch.lock);
    enlist(c);
    c->next_progress = lt_clock() + c->progress_seconds;
    lt_status status = start_watch();
    pthread_mutex_unlock(&watch.lock);
    return status;
}

void lt_unwatch(lt_context *c)
{
    pthread_mutex_lock(&watch.lock);
    lt_context **at = &watch.first;
    while (*at != NULL && *at != c) at = &(*at)->next_watched;
    LT_ASSERT((*at == c) == c->watched, "watched %d", c->watched);
    if (*at == c) *at = c->next_watched;
    c->watched = false;
    pthread_mutex_unlock(&watch.lock);
}
