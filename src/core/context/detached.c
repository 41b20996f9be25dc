/* detached.c - see detached.h. A job is freed by its last user: the caller after it has copied the
 * results, or the thread if the caller has abandoned the call. If the process exits while such a
 * thread runs, destructors of the libraries that the thread uses must not run: the process then
 * calls lt_exit_now. */
#include "detached.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assertion.h"
#include "context.h"
#include "error.h"
#include "interrupt.h"
#include "lock.h"
#include "system/clock.h"
#include "system/process.h"
#include "system/shared_library.h"
#include "system/threads.h"
#include "thread.h"
#include "memory/alloc.h"
#include "memory/block.h"

#define POLL_SECONDS 0.01 /* between two polls of the interrupt flag */

typedef struct detached_job {
    void (*call)(void *context);
    void *context;
    int n;
    void *data[LT_APART_ARRAYS];
    size_t capacity[LT_APART_ARRAYS];
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool done, left; /* the call has ended; the caller has abandoned it */
    /* held; the arrays are charged to it, and the call polls its interrupt flag */
    lt_context *context_of_caller;
} detached_job;

static _Atomic int left;

int lt_detached_count(void) { return atomic_load(&left); }

/* The child of a fork does not have the threads of abandoned calls. */
static void detached_in_child(void) { atomic_store(&left, 0); }

__attribute__((constructor)) static void register_fork_handlers(void)
{
    lt_at_fork(NULL, NULL, detached_in_child);
}

/* Runs after the program's exit handlers and before the destructors of the libraries that this one
 * links to. */
__attribute__((destructor)) static void leave_at_once(void)
{
    int status;
    if (lt_detached_count() == 0 || !lt_exit_status(&status)) return;
    fflush(NULL);
    lt_exit_now(status);
}

static void job_free(detached_job *j)
{
    LT_ASSERT(j->n >= 0 && j->n <= LT_APART_ARRAYS, "%d arrays", j->n);
    LT_ASSERT(j->context_of_caller->refs > 0, "refs %d", j->context_of_caller->refs);
    const lt_context_outer outer = lt_context_visit(j->context_of_caller);
    for (int i = 0; i < j->n; i++)
        if (j->data[i] != NULL) lt_block_free(j->data[i], j->capacity[i]);
    lt_context_return(outer);
    lt_context_drop(j->context_of_caller);
    pthread_mutex_destroy(&j->lock);
    pthread_cond_destroy(&j->ended);
    lt_mem_free(j->context);
    lt_mem_free(j);
}

static void *run_detached_thread(void *argument)
{
    detached_job *j = argument;
    lt_thread_use_settings();
    lt_tls.context = j->context_of_caller;
    lt_tls.helper = true;
    j->call(j->context);
    pthread_mutex_lock(&j->lock);
    j->done = true;
    const bool alone = j->left;
    pthread_cond_signal(&j->ended);
    lt_unlock(&j->lock);
    lt_tls.context = &lt_process_context; /* the caller may free the job now */
    if (alone) {
        job_free(j);
        LT_ASSERT(left > 0, "%d calls are left", left);
        atomic_fetch_sub(&left, 1);
    }
    return NULL;
}

static void **pointer_at(void *context, const lt_detached_array *a)
{
    return (void **)(void *)((char *)context + a->at);
}

static lt_status job_new(void (*call)(void *context), const void *context, size_t size,
                         const lt_detached_array *arrays, int n, detached_job **out)
{
    LT_ASSERT(n >= 0 && n <= LT_APART_ARRAYS, "%d arrays", n);
    detached_job *j = lt_mem_zalloc(sizeof *j);
    if (j == NULL) return LT_ERR_MEMORY;
    pthread_mutex_init(&j->lock, NULL);
    lt_condition_init(&j->ended);
    j->call = call;
    j->n = n;
    lt_context_hold(j->context_of_caller = lt_tls.context);
    j->context = lt_mem_alloc(size);
    bool enough = j->context != NULL;
    if (enough) memcpy(j->context, context, size);
    for (int i = 0; i < n && enough; i++) {
        if (arrays[i].bytes == 0) continue;
        void **pointer = pointer_at(j->context, &arrays[i]);
        j->data[i] = lt_block_array(arrays[i].bytes, 1, &j->capacity[i]);
        enough = j->data[i] != NULL;
        if (enough && arrays[i].in) memcpy(j->data[i], *pointer, (size_t)arrays[i].bytes);
        *pointer = j->data[i];
    }
    if (enough)
        *out = j;
    else
        job_free(j);
    return enough ? LT_OK : LT_ERR_MEMORY;
}

static bool start_detached(detached_job *j)
{
    pthread_t thread;
    if (!lt_thread_start(&thread, run_detached_thread, j)) return false;
    pthread_detach(thread);
    return true;
}

/* Keeps the library loaded after lt_shared_close(): the thread still runs its code. Also registers the exit
 * handler. */
static void keep_loaded(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, lt_exit_status_record);
    lt_shared_keep_own();
}

/* Waits until the call ends; false: interrupted, and the thread owns the job. */
static bool wait_for_detached(detached_job *j)
{
    pthread_mutex_lock(&j->lock);
    while (!j->done && !lt_interrupted())
        lt_condition_wait_until(&j->ended, &j->lock, lt_clock() + POLL_SECONDS);
    const bool done = j->done;
    if (!done) {
        j->left = true;
        atomic_fetch_add(&left, 1);
    }
    lt_unlock(&j->lock);
    return done;
}

lt_status lt_call_detached(void (*call)(void *context), void *context, size_t size,
                           const lt_detached_array *arrays, int n)
{
    detached_job *j;
    void *pointers[LT_APART_ARRAYS];
    LT_TRY(job_new(call, context, size, arrays, n, &j));
    if (!start_detached(j)) { /* no thread can be started: the call cannot be interrupted */
        j->call(j->context);
        j->done = true;
    }
    if (!wait_for_detached(j)) {
        keep_loaded();
        return lt_stopped();
    }
    for (int i = 0; i < n; i++) {
        pointers[i] = *pointer_at(context, &arrays[i]);
        if (arrays[i].out && arrays[i].bytes > 0)
            memcpy(pointers[i], j->data[i], (size_t)arrays[i].bytes);
    }
    LT_ASSERT(j->done && !j->left);
    memcpy(context, j->context, size);
    for (int i = 0; i < n; i++) *pointer_at(context, &arrays[i]) = pointers[i];
    job_free(j);
    return LT_OK;
}
