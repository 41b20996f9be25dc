/* threads.c - see threads.h. */
#include "threads.h"

#include <stdatomic.h>

#include "assertion.h"
#include "context/interrupt.h"
#include "error.h"

/* fixed: maximum of partial sums, which one thread adds; determines the order of additions */
#define MOST_SHARES 16
/* fixed: maximum of ranges, which are on the stack; further threads start with ranges of others */
#define MOST_RANGES 64

int lt_cpu_threads_for(int64_t work)
{
    if (work < 2 * LT_CPU_GRAIN) return 1;
    int64_t useful = work / LT_CPU_GRAIN;
    int most = lt_get_num_threads();
    LT_ASSERT(most >= 1, "%d threads", most);
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

/* A thread's own range of jobs, from which threads without jobs steal. A cache line each, against
 * false sharing. */
typedef struct {
    _Alignas(64) _Atomic int64_t next;
    int64_t end;
} job_range;

static void set_ranges(job_range *ranges, int n, int64_t jobs)
{
    LT_ASSERT(n >= 1 && n <= MOST_RANGES && jobs >= 0, "%d ranges, %lld jobs", n, (long long)jobs);
    for (int64_t r = 0; r < n; r++) {
        atomic_init(&ranges[r].next, r * jobs / n);
        ranges[r].end = (r + 1) * jobs / n;
    }
}

/* A parallel loop. */
typedef struct loop {
    job_range *ranges;
    int n;
    lt_job run;
    const void *context;
    lt_context *caller; /* helpers run in the caller's context */
} loop;

static void run_ranges(void *argument, int index)
{
    const loop *l = argument;
    const lt_thread own = lt_tls;
    LT_ASSERT(index >= 0 && l->caller->refs > 0, "thread %d, refs %d", index, l->caller->refs);
    lt_tls.context = l->caller;
    lt_tls.helper = own.helper || index != 0;
    for (int r = 0; r < l->n; r++) {
        job_range *from = &l->ranges[(index + r) % l->n];
        while (atomic_load_explicit(&from->next, memory_order_relaxed) < from->end &&
               !lt_interrupted()) {
            const int64_t job = atomic_fetch_add_explicit(&from->next, 1, memory_order_relaxed);
            if (job < from->end) l->run(l->context, job);
        }
    }
    lt_tls = own;
}

lt_status lt_parallel_for(int64_t jobs, int threads, lt_job run, const void *context)
{
    if (threads <= 1 || jobs <= 1 || lt_pool_busy()) {
        for (int64_t job = 0; job < jobs && !lt_interrupted(); job++) run(context, job);
    } else {
        const int n = threads < MOST_RANGES ? threads : MOST_RANGES;
        job_range ranges[MOST_RANGES];
        loop l = {ranges, n, run, context, lt_tls.context};
        set_ranges(ranges, n, jobs);
        lt_pool_run(threads < jobs ? threads : (int)jobs, run_ranges, &l);
    }
    return lt_interrupted() ? lt_stopped() : LT_OK;
}
