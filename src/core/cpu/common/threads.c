/* threads.c - see threads.h. */
#include "threads.h"

#include <omp.h>
#include <stdatomic.h>

#include "context/interrupt.h"
#include "error.h"

#define MOST_THREADS 1024
#define MOST_SHARES 16
#define MOST_RANGES 64 /* more threads begin with parts of others */

int lt_get_num_threads(void)
{
    lt_context *c = lt_here.context;
    int n = atomic_load_explicit(&c->threads, memory_order_relaxed);
    if (n == 0) {
        const int processors = omp_get_num_procs();
        n = omp_get_max_threads();
        if (n > processors) n = processors;
        atomic_store_explicit(&c->threads, n, memory_order_relaxed);
    }
    return n;
}

lt_status lt_set_num_threads(int n)
{
    if (n < 1 || n > MOST_THREADS)
        return lt_error(LT_ERR_RUNTIME, "set_num_threads expects a positive integer up to %d, got %d",
                        MOST_THREADS, n);
    atomic_store_explicit(&lt_here.context->threads, n, memory_order_relaxed);
    return LT_OK;
}

int lt_cpu_threads_for(int64_t work)
{
    if (work < 2 * LT_CPU_GRAIN) return 1;
    int64_t useful = work / LT_CPU_GRAIN;
    int most = lt_get_num_threads();
    return useful < most ? (int)useful : most;
}

int lt_cpu_cut(int64_t pieces, int most)
{
    int cut = 1;
    while (cut < most && cut < pieces) cut *= 2;
    return cut;
}

int lt_cpu_shares_for(int64_t work) { return lt_cpu_cut(work / LT_CPU_GRAIN, MOST_SHARES); }

int64_t lt_cpu_piece(int64_t n, int64_t most, int threads)
{
    const int64_t unit = 4096, even = (n / threads / 4 / unit + 1) * unit;
    return threads > 1 && even < most ? even : most;
}

/* Jobs that a thread begins with, and others take from when they have done theirs. */
typedef struct {
    _Alignas(64) _Atomic int64_t next;
    int64_t end;
} range;

static void set_ranges(range *ranges, int n, int64_t jobs)
{
    for (int64_t r = 0; r < n; r++) {
        atomic_init(&ranges[r].next, r * jobs / n);
        ranges[r].end = (r + 1) * jobs / n;
    }
}

static void run_ranges(range *ranges, int n, lt_job run, const void *context)
{
    const int own = omp_get_thread_num();
    for (int r = 0; r < n; r++) {
        range *from = &ranges[(own + r) % n];
        while (atomic_load_explicit(&from->next, memory_order_relaxed) < from->end && !lt_interrupted()) {
            const int64_t job = atomic_fetch_add_explicit(&from->next, 1, memory_order_relaxed);
            if (job < from->end) run(context, job);
        }
    }
}

static lt_status share(int64_t jobs, int count, int n, lt_job run, const void *context)
{
    if (count <= 1) {
        for (int64_t job = 0; job < jobs && !lt_interrupted(); job++) run(context, job);
    } else {
        lt_context *here = lt_here.context;
        range ranges[MOST_RANGES];
        set_ranges(ranges, n, jobs);
#pragma omp parallel num_threads(count)
        {
            const lt_thread own = lt_here;
            lt_here.context = here;
            lt_here.helper = own.helper || omp_get_thread_num() != 0;
            run_ranges(ranges, n, run, context);
            lt_here = own;
        }
    }
    return lt_interrupted() ? lt_stopped() : LT_OK;
}

lt_status lt_cpu_share(int64_t jobs, int count, lt_job run, const void *context)
{
    return share(jobs, count, count < MOST_RANGES ? count : MOST_RANGES, run, context);
}

lt_status lt_cpu_hand_out(int64_t jobs, int count, lt_job run, const void *context)
{
    return share(jobs, count, 1, run, context);
}
