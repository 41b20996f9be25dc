/* context.c - see context.h: the process context, the thread state, access checks and the log.
 * Allocates nothing. */
#include "context.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assertion.h"
#include "error.h"
#include "processors.h"
#include "thread.h"
#include "thread_pool.h"

#define NO_LIMIT                                                                                   \
    {                                                                                              \
        0, INT64_MAX                                                                               \
    }
#define FOUR(x) x, x, x, x

lt_context lt_process_context = {
    .refs = 1,
    .default_dtype = LT_FLOAT32,
    .grad_mode = true,
    .print = LT_PRINT_DEFAULTS,
    .use = {NO_LIMIT, FOUR(FOUR(FOUR(NO_LIMIT)))},
    .deadline = INFINITY,
    .next_progress = INFINITY,
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .seed = LT_DEFAULT_SEED,
};
_Static_assert(LT_USES == 1 + 4 * 4 * 4, "one limit per use");

_Thread_local lt_thread lt_tls = {
    .context = &lt_process_context, .grad_mode = true, .process_grad_mode = true};

LT_HOLD_ACROSS_FORK(lt_process_context.lock)

void lt_context_init(lt_context *c)
{
    atomic_init(&c->refs, 1);
    atomic_init(&c->default_dtype, LT_FLOAT32);
    atomic_init(&c->grad_mode, true);
    atomic_init(&c->inference, false);
    c->print = (lt_print_options)LT_PRINT_DEFAULTS;
    for (int i = 0; i < LT_USES; i++) atomic_init(&c->use[i].limit, INT64_MAX);
    c->deadline = c->next_progress = INFINITY;
    lt_fork_mutex_init(&c->fork, &c->lock, false);
    c->seed = LT_DEFAULT_SEED;
}

void lt_context_on_end(lt_context *c, lt_context_ending *ending)
{
    ending->next = atomic_load(&c->endings);
    while (!atomic_compare_exchange_weak(&c->endings, &ending->next, ending)) {
    }
}

int lt_get_num_threads(void)
{
    int n = atomic_load_explicit(&lt_tls.context->threads, memory_order_relaxed);
    if (n == 0) n = lt_default_threads();
    const int limit = lt_pool_limit();
    return n < limit ? n : limit;
}

lt_status lt_set_num_threads(int n)
{
    if (n < 1 || n > LT_MOST_THREADS)
        return lt_error(LT_ERR_RUNTIME,
                        "set_num_threads expects a positive integer up to %d, got %d",
                        LT_MOST_THREADS, n);
    atomic_store_explicit(&lt_tls.context->threads, n, memory_order_relaxed);
    return LT_OK;
}

lt_status lt_refuse_access(int access, const char *name)
{
    static const char *const words[] = {
        [LT_ACCESS_FILE_READ] = "reading the file",   [LT_ACCESS_FILE_WRITE] = "writing the file",
        [LT_ACCESS_PROCESS] = "starting the process", [LT_ACCESS_LIBRARY] = "loading the library",
        [LT_ACCESS_DEVICE] = "using the device",      [LT_ACCESS_FILE_REMOVE] = "removing the file",
        [LT_ACCESS_FOLDER_MAKE] = "making the folder"};
    lt_context *c = lt_tls.context;
    LT_ASSERT(access >= 0 && access < (int)(sizeof words / sizeof *words) && words[access] != NULL,
              "access %d", access);
    if (c->authorize(c->user, access, name)) return LT_OK;
    return lt_error(LT_ERR_PERMISSION, "not permitted: %s '%.500s'", words[access], name);
}

void lt_log_line(int level, const char *format, ...)
{
    char raw[1024], text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(raw, sizeof raw, format, args);
    va_end(args);
    lt_printable(raw, strlen(raw), text, sizeof text);
    lt_context *c = lt_tls.context;
    if (c->log != NULL) {
        c->log(c->user, level, text);
        return;
    }
    fflush(stdout);
    fprintf(stderr, "%s\n", text);
}
