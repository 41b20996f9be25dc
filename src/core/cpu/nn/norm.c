/* norm.c - normalization on the CPU: rows and channels are shared out among the threads, the loops over them
 * stand in vector/nn/norm.c. Half types do not come here (core computes them in float). */
#include <string.h>

#include "cpu/cpu.h"
#include "dtypes/dtype.h"
#include "context/interrupt.h"
#include "cpu/common/loops.h"
#include "mem.h"
#include "cpu/common/threads.h"

#define CHUNK 256 /* rows whose parts of the parameters' gradients are summed before they are added in double */

static const lt_norm_loops *loops_of(const lt_norm_args *n) { return &lt_loops.norm[n->dtype == LT_FLOAT64]; }

/* ---- rows ------------------------------------------------------------------------------------------------------ */

typedef struct row_job {
    const lt_row_norm_args *n;
    int threads;
    int64_t entries; /* of each parameter */
    char *chunks;    /* per thread: sums and products of the current chunk */
    double *totals;  /* per thread: of all its chunks; NULL: parameters get no gradient */
} row_job;

static void run_rows(const void *context, int64_t t)
{
    const row_job *j = context;
    const int64_t last = (t + 1) * j->n->rows / j->threads, step = LT_INTERRUPT_STEP / (j->n->length + 1) + 1;
    for (int64_t row = t * j->n->rows / j->threads; row < last && !lt_interrupted(); row += step)
        loops_of(&j->n->norm)->rows(j->n, row, last - row < step ? last : row + step);
}

lt_status lt_cpu_row_norm(const lt_row_norm_args *n)
{
    int threads = lt_cpu_threads_for(n->rows * n->length);
    if (threads > n->rows) threads = (int)n->rows;
    const row_job j = {.n = n, .threads = threads};
    return lt_cpu_share(threads, threads, run_rows, &j);
}

static void add_chunk(double *totals, const void *chunk, int64_t n, lt_dtype dtype)
{
    for (int64_t i = 0; i < n; i++)
        totals[i] += dtype == LT_FLOAT64 ? ((const double *)chunk)[i] : ((const float *)chunk)[i];
}

static void run_rows_backward(const void *context, int64_t t)
{
    const row_job *j = context;
    const lt_row_norm_args *n = j->n;
    const int64_t first = t * n->rows / j->threads, last = (t + 1) * n->rows / j->threads;
    const lt_norm_loops *loops = loops_of(&n->norm);
    if (j->totals == NULL) {
        const int64_t step = LT_INTERRUPT_STEP / (n->length + 1) + 1;
        for (int64_t r = first; r < last && !lt_interrupted(); r += step)
            loops->rows_backward(n, r, last - r < step ? last : r + step, NULL, NULL);
        return;
    }
    const size_t bytes = (size_t)j->entries * lt_dtype_size(n->norm.dtype);
    char *sums = j->chunks + (size_t)t * 2 * bytes, *products = sums + bytes;
    double *totals = j->totals + t * 2 * j->entries;
    memset(totals, 0, 2 * (size_t)j->entries * sizeof *totals);
    for (int64_t r = first; r < last && !lt_interrupted(); r += CHUNK) {
        memset(sums, 0, 2 * bytes);
        loops->rows_backward(n, r, r + CHUNK < last ? r + CHUNK : last, n->norm.grad_bias != NULL ? sums : NULL,
                             n->norm.grad_weight != NULL ? products : NULL);
        add_chunk(totals, sums, 2 * j->entries, n->norm.dtype);
    }
}

/* The gradient of a parameter from what each thread has of it, `from` in its totals. */
static void join_totals(const row_job *j, void *grad, int64_t from)
{
    for (int64_t i = 0; i < j->entries && grad != NULL; i++) {
        double sum = 0;
        for (int t = 0; t < j->threads; t++) sum += j->totals[t * 2 * j->entries + from + i];
        lt_store_scalar((char *)grad + i * (int64_t)lt_dtype_size(j->n->norm.dtype), j->n->norm.dtype, lt_float(sum));
    }
}

lt_status lt_cpu_row_norm_backward(const lt_row_norm_args *n)
{
    int threads = lt_cpu_threads_for(n->rows * n->length * 2);
    if (threads > n->rows) threads = n->rows > 0 ? (int)n->rows : 1;
    row_job j = {.n = n, .threads = threads, .entries = n->groups * (n->length / n->run)};
    const size_t chunk = 2 * (size_t)j.entries * lt_dtype_size(n->norm.dtype),
                 total = 2 * (size_t)j.entries * sizeof(double);
    size_t capacity = 0;
    char *block = NULL;
    if (n->norm.grad_weight != NULL || n->norm.grad_bias != NULL) {
        block = lt_block_array(threads, chunk + total, &capacity);
        if (block == NULL) return LT_ERR_MEMORY;
        j.totals = (double *)block;
        j.chunks = block + (size_t)threads * total;
    }
    lt_status status = lt_cpu_share(threads, threads, run_rows_backward, &j);
    if (block != NULL && status == LT_OK) {
        join_totals(&j, n->norm.grad_bias, 0);
        join_totals(&j, n->norm.grad_weight, j.entries);
    }
    lt_block_free(block, capacity);
    return status;
}

/* ---- channels ---------------------------------------------------------------------------------------------------- */

typedef struct channel_job {
    const lt_batch_norm_args *n;
    int64_t jobs;
    bool backward;
} channel_job;

static void run_channels(const void *context, int64_t job)
{
    const channel_job *j = context;
    const int64_t first = job * j->n->channels / j->jobs, last = (job + 1) * j->n->channels / j->jobs;
    const lt_norm_loops *loops = loops_of(&j->n->norm);
    const int64_t step = LT_INTERRUPT_STEP / (j->n->outer * j->n->inner + 1) + 1;
    for (int64_t c = first; c < last && !lt_interrupted(); c += step)
        (j->backward ? loops->channels_backward : loops->channels)(j->n, c, last - c < step ? last : c + step);
}

static lt_status share_channels(const lt_batch_norm_args *n, bool backward)
{
    int threads = lt_cpu_threads_for(n->outer * n->channels * n->inner * 2);
    if (threads > n->channels) threads = n->channels > 0 ? (int)n->channels : 1;
    const channel_job j = {n, threads, backward};
    return lt_cpu_share(threads, threads, run_channels, &j);
}

lt_status lt_cpu_batch_norm(const lt_batch_norm_args *n) { return share_channels(n, false); }
lt_status lt_cpu_batch_norm_backward(const lt_batch_norm_args *n) { return share_channels(n, true); }
