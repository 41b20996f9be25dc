/* threads.c - see threads.h. */
#include "threads.h"

#include <omp.h>
#include <stdatomic.h>

#include "context/interrupt.h"
#include "error.h"

#define MOST_THREADS 1024
#define MOST_SHARES 16

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

int lt_cpu_shares_for(int64_t work)
{
    const int64_t shares = work / LT_CPU_GRAIN;
    return shares < 1 ? 1 : shares < MOST_SHARES ? (int)shares : MOST_SHARES;
}

int64_t lt_cpu_piece(int64_t n, int64_t most, int threads)
{
    const int64_t unit = 4096, even = (n / threads / 4 / unit + 1) * unit;
    return threads > 1 && even < most ? even : most;
}

lt_status lt_cpu_share(int64_t jobs, int count, lt_job run, const void *context)
{
    if (count <= 1) {
        for (int64_t job = 0; job < jobs && !lt_interrupted(); job++) run(context, job);
    } else {
        lt_context *here = lt_here.context;
#pragma omp parallel num_threads(count)
        {
            const lt_thread own = lt_here;
            lt_here.context = here;
            lt_here.helper = own.helper || omp_get_thread_num() != 0;
#pragma omp for schedule(dynamic, 1)
            for (int64_t job = 0; job < jobs; job++)
                if (!lt_interrupted()) run(context, job);
            lt_here = own;
        }
    }
    return lt_interrupted() ? lt_stopped() : LT_OK;
}
