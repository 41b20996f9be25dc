/* resample.c - positions of a dimension as weighted sums of others: interpolation and its derivative. Where the dimension is the last one,
 * lines are turned, so that neighbours are there to be worked on together, unless each position is that of one element. */
#include "cpu/cpu.h"
#include "cpu/common/loops.h"
#include "cpu/common/threads.h"
#include "dtypes/dtype.h"
#include "mem.h"

#define LINES 16               /* that are turned at a time */
#define WORK  ((int64_t)32768) /* elements of the result in a job */

typedef struct job {
    const lt_resampling *r;
    char *out;
    const char *in;
    const lt_resample_loops *loops;
    int64_t size, rows; /* bytes of an element; rows of the result in a job */
} job;

/* Rows of the result, which follow one another from plane to plane. */
static void run_rows(const void *context, int64_t index)
{
    const job *j = context;
    const lt_resampling *r = j->r;
    const int64_t last = (index + 1) * j->rows < r->outer * r->out ? (index + 1) * j->rows : r->outer * r->out;
    for (int64_t row = index * j->rows, to; row < last; row += to) {
        const int64_t plane = row / r->out, from = row % r->out;
        to = r->out - from < last - row ? r->out - from : last - row;
        j->loops->rows(r, j->in + plane * r->in * r->inner * j->size, j->out + plane * r->out * r->inner * j->size, r->inner, r->inner,
                from, from + to);
    }
}

static bool has_one_place_each(const lt_resampling *r)
{
    bool one = r->taps == r->out;
    for (int64_t o = 0; o < r->out && one; o++) one = r->starts[o] == o;
    return one;
}

static void run_places(const void *context, int64_t index)
{
    const job *j = context;
    const lt_resampling *r = j->r;
    const int64_t first = index * j->rows, n = r->outer - first < j->rows ? r->outer - first : j->rows;
    j->loops->lines_of_places(r, j->in + first * r->in * j->size, j->out + first * r->out * j->size, n);
}

/* What one thread does with lines: its share of the tiles, with buffers of its own. */
typedef struct share {
    const job *job;
    char *buffers;
    int64_t tiles, threads;
} share;

static void run_lines(const void *context, int64_t t)
{
    const share *s = context;
    const lt_resampling *r = s->job->r;
    const int64_t size = s->job->size;
    const lt_turn_loop turn = lt_loops.turn[size == 8];
    char *turned = s->buffers + t * LINES * (r->in + r->out) * size, *made = turned + LINES * r->in * size;
    for (int64_t tile = t * s->tiles / s->threads; tile < (t + 1) * s->tiles / s->threads; tile++) {
        const int64_t line = tile * LINES, n = r->outer - line < LINES ? r->outer - line : LINES;
        turn(turned, LINES, s->job->in + line * r->in * size, r->in, n, r->in);
        s->job->loops->rows(r, turned, made, LINES, n, 0, r->out);
        turn(s->job->out + line * r->out * size, r->out, made, LINES, r->out, n);
    }
}

lt_status lt_cpu_resample(const lt_resampling *r, void *out, const void *in)
{
    job j = {.r = r, .out = out, .in = in, .loops = &lt_loops.resample[r->dtype == LT_FLOAT64],
             .size = (int64_t)lt_dtype_size(r->dtype), .rows = 1 + WORK / (r->inner + 1)};
    const int64_t numel = r->outer * r->out * r->inner;
    if (numel == 0) return LT_OK;
    int threads = lt_cpu_threads_for(numel * (1 + r->taps / r->out));
    if (r->inner > 1) return lt_cpu_share((r->outer * r->out + j.rows - 1) / j.rows, threads, run_rows, &j);
    if (has_one_place_each(r)) {
        j.rows = 1 + WORK / (r->out + 1);
        return lt_cpu_share((r->outer + j.rows - 1) / j.rows, threads, run_places, &j);
    }
    share s = {.job = &j, .tiles = (r->outer + LINES - 1) / LINES};
    if (threads > s.tiles) threads = (int)s.tiles;
    s.threads = threads;
    size_t capacity;
    s.buffers = lt_block_array(lt_times(lt_times(r->in + r->out, LINES), threads), (size_t)j.size, &capacity);
    if (s.buffers == NULL) return LT_ERR_MEMORY;
    lt_status status = lt_cpu_share(threads, threads, run_lines, &s);
    lt_block_free(s.buffers, capacity);
    return status;
}
