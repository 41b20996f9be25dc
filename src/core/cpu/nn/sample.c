/* sample.c - grid_sample and its derivatives on the CPU: points are partitioned over the threads;
 * for the gradient of the image its planes, so that one thread alone writes each. */
#include <string.h>

#include "cpu/common/loops.h"
#include "cpu/common/threads.h"
#include "cpu/cpu.h"
#include "dtypes/dtype.h"

typedef struct sample_job {
    const lt_sampling *s;
    const lt_sample_loops *loops;
    const char *x, *grid, *grad;
    char *out;
    int64_t size;          /* bytes of an element */
    int64_t pieces, piece; /* of an image: its number of jobs; points or channels of one */
} sample_job;

/* A job's part of one image; from: its first point or channel. */
typedef struct sample_part {
    const char *x, *grid, *grad;
    int64_t batch, from, to;
} sample_part;

static sample_part sampling_part(const sample_job *j, int64_t index, int64_t all)
{
    const lt_sampling *s = j->s;
    sample_part p = {.batch = index / j->pieces, .from = index % j->pieces * j->piece};
    p.to = all - p.from < j->piece ? all : p.from + j->piece;
    p.x = j->x + p.batch * s->x_batch * j->size;
    p.grid = j->grid + p.batch * s->points * s->dims * j->size;
    p.grad = j->grad + p.batch * s->channels * s->points * j->size;
    return p;
}

static void sample_forward(const void *context, int64_t index)
{
    const sample_job *j = context;
    const lt_sampling *s = j->s;
    const sample_part p = sampling_part(j, index, s->points);
    j->loops->forward(s, j->out + p.batch * s->channels * s->points * j->size, p.x, p.grid, p.from,
                      p.to);
}

static void run_grad_grid(const void *context, int64_t index)
{
    const sample_job *j = context;
    const lt_sampling *s = j->s;
    const sample_part p = sampling_part(j, index, s->points);
    j->loops->grad_grid(s, j->out + p.batch * s->points * s->dims * j->size, p.grad, p.x, p.grid,
                        p.from, p.to);
}

static void run_grad_x(const void *context, int64_t index)
{
    const sample_job *j = context;
    const lt_sampling *s = j->s;
    const sample_part p = sampling_part(j, index, s->channels);
    const int64_t plane = s->in[0] * s->in[1] * s->in[2] * j->size;
    char *out = j->out + (p.batch * s->channels + p.from) * plane;
    memset(out, 0, (size_t)((p.to - p.from) * plane));
    lt_sampling dense = *s; /* x may have other strides */
    dense.x_step[0] = s->in[1] * s->in[2], dense.x_step[1] = s->in[2], dense.x_step[2] = 1;
    j->loops->grad_x(&dense, out, p.grad + p.from * s->points * j->size, p.grid, p.to - p.from);
}

/* all: points or channels of an image; piece: of one job. */
static lt_status share(sample_job j, lt_job run, int64_t all, int64_t piece, int threads)
{
    j.piece = piece;
    j.pieces = (all + piece - 1) / piece;
    return lt_parallel_for(j.s->batch * j.pieces, threads, run, &j);
}

static sample_job job_of(const lt_sampling *s, void *out, const void *grad, const void *x,
                         const void *grid)
{
    return (sample_job){.s = s,
                        .loops = &lt_loops.sample[s->dtype == LT_FLOAT64],
                        .x = x,
                        .grid = grid,
                        .grad = grad,
                        .out = out,
                        .size = (int64_t)lt_dtype_size(s->dtype)};
}

/* Several elements are read per point and channel. */
static int threads_for(const lt_sampling *s)
{
    return lt_cpu_threads_for(s->batch * s->points * (s->channels + 4) * 4);
}

lt_status lt_cpu_sample(const lt_sampling *s, void *y, const void *x, const void *grid)
{
    return share(job_of(s, y, NULL, x, grid), sample_forward, s->points, LT_CPU_PIECE,
                 threads_for(s));
}

lt_status lt_cpu_sample_backward(const lt_sampling *s, void *grad_x, void *grad_grid,
                                 const void *grad, const void *x, const void *grid)
{
    const int threads = threads_for(s);
    /* Each job computes the taps again, so there are no more jobs than keep the threads busy. */
    const int64_t jobs = threads == 1 ? 1 : 2 * threads,
                  pieces = (jobs + s->batch - 1) / (s->batch + (s->batch == 0));
    int64_t piece = pieces > 0 ? (s->channels + pieces - 1) / pieces : s->channels;
    if (piece < 1) piece = 1;
    lt_status status = LT_OK;
    if (grad_x != NULL)
        status = share(job_of(s, grad_x, grad, x, grid), run_grad_x, s->channels, piece, threads);
    if (status == LT_OK && grad_grid != NULL)
        status = share(job_of(s, grad_grid, grad, x, grid), run_grad_grid, s->points, LT_CPU_PIECE,
                       threads);
    return status;
}
