/* norm.c - normalization on the CPU: rows and channels are partitioned over the threads, their
 * loops are in vector/nn/norm.c. Half types are converted to float by core beforehand. */
#include <string.h>

#include "cpu/cpu.h"
#include "cpu/compile/fused_rows.h"
#include "dtypes/dtype.h"
#include "context/interrupt.h"
#include "cpu/common/loops.h"
#include "memory/block.h"
#include "cpu/common/threads.h"

static const lt_norm_loops *loops_of(const lt_norm_args *n)
{
    return &lt_loops.norm[n->dtype == LT_FLOAT64];
}

/* ---- rows ------------------------------------------------------------------------------------ */

typedef struct row_job {
    const lt_row_norm_args *n;
    /* the fused producer of the rows of `in`, or of `grad`; NULL: they are in memory */
    const lt_fused_row_reader *producer;
    char *rooms;     /* per share: buffer of the producer */
    int shares;      /* jobs */
    int64_t entries; /* of each parameter */
    char *chunks;    /* per share: gradient sums and products of the current chunk */
    double *totals;  /* per share: sums over its chunks; NULL: parameters get no gradient */
} row_job;

static void norm_rows(const void *context, int64_t t)
{
    const row_job *j = context;
    const int64_t last = (t + 1) * j->n->rows / j->shares,
                  step = LT_INTERRUPT_STEP / (j->n->length + 1) + 1;
    for (int64_t row = t * j->n->rows / j->shares; row < last && !lt_interrupted(); row += step)
        loops_of(&j->n->norm)->rows(j->n, row, last - row < step ? last : row + step);
}

/* The arguments for rows from number `row` on; with several groups, for that row alone. */
static lt_row_norm_args rows_from(const lt_row_norm_args *n, int64_t row)
{
    lt_row_norm_args from = *n;
    const int64_t size = (int64_t)lt_dtype_size(n->norm.dtype), at = row * n->length * size,
                  entry = row % n->groups * (n->length / n->run) * size;
    from.norm.in = n->norm.in != NULL ? (const char *)n->norm.in + at : NULL;
    from.norm.grad = n->norm.grad != NULL ? (const char *)n->norm.grad + at : NULL;
    from.norm.out = n->norm.out != NULL ? (char *)n->norm.out + at : NULL;
    from.norm.grad_in = n->norm.grad_in != NULL ? (char *)n->norm.grad_in + at : NULL;
    from.norm.mean = n->norm.mean != NULL ? (char *)n->norm.mean + row * size : NULL;
    from.norm.rstd = (char *)n->norm.rstd + row * size;
    from.norm.weight = n->norm.weight != NULL ? (const char *)n->norm.weight + entry : NULL;
    from.norm.bias = n->norm.bias != NULL ? (const char *)n->norm.bias + entry : NULL;
    return from;
}

static void norm_rows_read(const void *context, int64_t first, int64_t last, const char *in)
{
    const lt_row_norm_args *n = context;
    lt_row_norm_args rows = rows_from(n, first);
    rows.norm.in = in;
    loops_of(&n->norm)->rows(&rows, 0, last - first);
}

/* The same partition, but for its exact boundaries. */
static void run_fed_rows(const void *context, int64_t t)
{
    const row_job *j = context;
    lt_fused_row_reader_part(j->producer, j->n->rows, t, j->shares,
                             j->rooms + (size_t)t * lt_fused_row_reader_bytes(j->producer),
                             norm_rows_read, j->n);
}

static void prepare_fused(const lt_row_norm_args *n, lt_fused_row_reader *lines)
{
    lt_fused_row_reader_init(lines, n->norm.producer, n->length, n->groups > 1 ? 1 : 0,
                             n->norm.dtype);
}

lt_status lt_cpu_row_norm(const lt_row_norm_args *n)
{
    int threads = lt_cpu_threads_for(n->rows * n->length);
    if (threads > n->rows) threads = (int)n->rows;
    row_job j = {.n = n, .shares = threads};
    if (n->norm.producer == NULL) return lt_parallel_for(threads, threads, norm_rows, &j);
    lt_fused_row_reader lines; /* not zeroed */
    size_t capacity = 0;
    prepare_fused(n, &lines);
    j.producer = &lines;
    j.rooms = lt_block_array(threads, lt_fused_row_reader_bytes(&lines), &capacity);
    if (j.rooms == NULL) return LT_ERR_MEMORY;
    lt_status status = lt_parallel_for(threads, threads, run_fed_rows, &j);
    lt_block_free(j.rooms, capacity);
    return status;
}

static void add_chunk(double *totals, const void *chunk, int64_t n, lt_dtype dtype)
{
    for (int64_t i = 0; i < n; i++)
        totals[i] += dtype == LT_FLOAT64 ? ((const double *)chunk)[i] : ((const float *)chunk)[i];
}

/* For rows with a fused producer of their gradient: the sums of the parameters' gradients. */
typedef struct fed_backward {
    const lt_row_norm_args *n;
    char *sums, *products;
} fed_backward;

static void take_rows_backward(const void *context, int64_t first, int64_t last, const char *in)
{
    const fed_backward *f = context;
    const lt_row_norm_args *n = f->n;
    const int64_t at =
        first % n->groups * (n->length / n->run) * (int64_t)lt_dtype_size(n->norm.dtype);
    lt_row_norm_args rows = rows_from(n, first);
    rows.norm.grad = in;
    loops_of(&n->norm)->rows_backward(&rows, 0, last - first, f->sums != NULL ? f->sums + at : NULL,
                                      f->products != NULL ? f->products + at : NULL);
}

/* Rows [first, last), of share t. */
static void rows_backward(const row_job *j, int64_t t, int64_t first, int64_t last, char *sums,
                          char *products)
{
    if (j->producer == NULL) {
        loops_of(&j->n->norm)->rows_backward(j->n, first, last, sums, products);
        return;
    }
    const fed_backward f = {j->n, sums, products};
    lt_fused_row_reader_read(j->producer, first, last,
                             j->rooms + (size_t)t * lt_fused_row_reader_bytes(j->producer),
                             take_rows_backward, &f);
}

static void run_rows_backward(const void *context, int64_t t)
{
    const row_job *j = context;
    const lt_row_norm_args *n = j->n;
    const int64_t first = t * n->rows / j->shares, last = (t + 1) * n->rows / j->shares;
    if (j->totals == NULL) {
        const int64_t step = LT_INTERRUPT_STEP / (n->length + 1) + 1;
        for (int64_t r = first; r < last && !lt_interrupted(); r += step)
            rows_backward(j, t, r, last - r < step ? last : r + step, NULL, NULL);
        return;
    }
    const size_t bytes = (size_t)j->entries * lt_dtype_size(n->norm.dtype);
    char *sums = j->chunks + (size_t)t * 2 * bytes, *products = sums + bytes;
    double *totals = j->totals + t * 2 * j->entries;
    memset(totals, 0, 2 * (size_t)j->entries * sizeof *totals);
    for (int64_t r = first; r < last && !lt_interrupted(); r += LT_COLUMNS_FLUSH) {
        memset(sums, 0, 2 * bytes);
        rows_backward(j, t, r, r + LT_COLUMNS_FLUSH < last ? r + LT_COLUMNS_FLUSH : last,
                      n->norm.grad_bias != NULL ? sums : NULL,
                      n->norm.grad_weight != NULL ? products : NULL);
        add_chunk(totals, sums, 2 * j->entries, n->norm.dtype);
    }
}

/* Sums a parameter's gradient over all shares; from: its offset in their totals. */
static void join_totals(const row_job *j, void *grad, int64_t from)
{
    for (int64_t i = 0; i < j->entries && grad != NULL; i++) {
        double sum = 0;
        for (int t = 0; t < j->shares; t++) sum += j->totals[t * 2 * j->entries + from + i];
        lt_store_scalar((char *)grad + i * (int64_t)lt_dtype_size(j->n->norm.dtype),
                        j->n->norm.dtype, lt_scalar_from_float(sum));
    }
}

lt_status lt_cpu_row_norm_backward(const lt_row_norm_args *n)
{
    const bool parameters = n->norm.grad_weight != NULL || n->norm.grad_bias != NULL;
    const int threads = lt_cpu_threads_for(n->rows * n->length * 2);
    int shares = parameters ? lt_cpu_shares_for(n->rows * n->length * 2) : threads;
    if (shares > n->rows) shares = n->rows > 0 ? (int)n->rows : 1;
    row_job j = {.n = n, .shares = shares, .entries = n->groups * (n->length / n->run)};
    const size_t chunk = 2 * (size_t)j.entries * lt_dtype_size(n->norm.dtype),
                 total = 2 * (size_t)j.entries * sizeof(double);
    lt_fused_row_reader lines; /* not zeroed */
    size_t capacity = 0, room = 0;
    char *block = NULL;
    int at_once = threads;
    if (n->norm.producer != NULL) {
        prepare_fused(n, &lines);
        j.producer = &lines;
        room = lt_fused_row_reader_bytes(&lines);
        /* The same partition as for rows in memory, since the sums depend on it. */
        for (int t = 1; t < shares; t++)
            if (!lt_fused_divides(&lines.program, t * n->rows / shares * n->length)) at_once = 1;
    }
    if (parameters || j.producer != NULL) {
        block = lt_block_array(shares, room + (parameters ? chunk + total : 0), &capacity);
        if (block == NULL) return LT_ERR_MEMORY;
        j.rooms = block;
        if (parameters) j.totals = (double *)(block + (size_t)shares * room);
        j.chunks = block + (size_t)shares * (room + total);
    }
    lt_status status = lt_parallel_for(shares, at_once, run_rows_backward, &j);
    if (parameters && status == LT_OK) {
        join_totals(&j, n->norm.grad_bias, 0);
        join_totals(&j, n->norm.grad_weight, j.entries);
    }
    lt_block_free(block, capacity);
    return status;
}

/* ---- channels -------------------------------------------------------------------------------- */

typedef struct channel_job {
    const lt_batch_norm_args *n;
    int64_t jobs;
    bool backward;
} channel_job;

static void run_channels(const void *context, int64_t job)
{
    const channel_job *j = context;
    const int64_t first = job * j->n->channels / j->jobs,
                  last = (job + 1) * j->n->channels / j->jobs;
    const lt_norm_loops *loops = loops_of(&j->n->norm);
    const int64_t step = LT_INTERRUPT_STEP / (j->n->outer * j->n->inner + 1) + 1;
    for (int64_t c = first; c < last && !lt_interrupted(); c += step)
        (j->backward ? loops->channels_backward
                     : loops->channels)(j->n, c, last - c < step ? last : c + step);
}

static lt_status share_channels(const lt_batch_norm_args *n, bool backward)
{
    int threads = lt_cpu_threads_for(n->outer * n->channels * n->inner * 2);
    if (threads > n->channels) threads = n->channels > 0 ? (int)n->channels : 1;
    const channel_job j = {n, threads, backward};
    return lt_parallel_for(threads, threads, run_channels, &j);
}

lt_status lt_cpu_batch_norm(const lt_batch_norm_args *n) { return share_channels(n, false); }
lt_status lt_cpu_batch_norm_backward(const lt_batch_norm_args *n)
{
    return share_channels(n, true);
}
