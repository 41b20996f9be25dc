/* pool.c - maxima and averages of windows on the CPU: planes are partitioned over the threads, and
 * one thread alone writes a plane, also in backward. Half types are computed in float, integers are
 * int64. */
#include <math.h>
#include <string.h>

#include "cpu/common/is_nan.h"
#include "cpu/common/mean.h"
#include "cpu/common/threads.h"
#include "cpu/common/widened.h"
#include "cpu/cpu.h"
#include "cpu/compile/fused_rows.h"
#include "cpu/common/scratch.h"

/* ---- windows --------------------------------------------------------------------------------- */

/* Elements [from, to) of one dimension, step apart; size: their number with the padding. */
typedef struct window_range {
    int64_t from, to, step, size;
} window_range;

static window_range window_span(const lt_pooling *p, int d, int64_t at)
{
    window_range s = {.step = 1};
    if (p->adaptive) {
        s.from = at * p->in[d] / p->out[d];
        s.to = ((at + 1) * p->in[d] + p->out[d] - 1) / p->out[d];
        s.size = s.to - s.from;
        return s;
    }
    s.step = p->dilation[d];
    s.from = at * p->stride[d] - p->padding[d];
    s.to = s.from + (p->kernel[d] - 1) * s.step + 1;
    if (s.to > p->in[d] + p->padding[d]) s.to = p->in[d] + p->padding[d];
    s.size = s.to - s.from;
    if (s.from < 0) s.from += (-s.from + s.step - 1) / s.step * s.step;
    if (s.to > p->in[d]) s.to = p->in[d];
    return s;
}

static bool empty(window_range s) { return s.from >= s.to; }

static int64_t divisor_of(const lt_pooling *p, window_range z, window_range y, window_range x)
{
    if (p->divisor != 0) return p->divisor;
    if (p->count_padding && !p->adaptive) return z.size * y.size * x.size;
    return (z.to - z.from) * (y.to - y.from) * (x.to - x.from);
}

/* ---- planes ---------------------------------------------------------------------------------- */

typedef struct pool_job {
    const lt_pooling *pool;
    char *out;
    int64_t *indices; /* forward, may be NULL */
    const char *in;
    int64_t first;         /* the first plane in `in` */
    const int64_t *places; /* for backward of maxima */
    /* use next_window, even if rows of windows would be possible */
    bool each_window;
    /* the windows along the last dimension, computed once for all rows; for loops over single
     * windows */
    const window_range *columns;
} pool_job;

/* The position of an iteration over the windows of a plane. */
typedef struct window {
    int64_t at, place[3]; /* its number, from 0, and its coordinates in the output */
    window_range z, y, x;
} window;

static const window before_first = {.at = -1};

/* Advances to the next window, in the order of the output: for (window w = before_first;
 * next_window(j, &w);) */
static bool next_window(const pool_job *j, window *w)
{
    const lt_pooling *p = j->pool;
    if (++w->at > 0 && ++w->place[2] == p->out[2]) {
        w->place[2] = 0;
        if (++w->place[1] == p->out[1]) w->place[1] = 0, w->place[0]++;
    }
    if (w->place[0] >= p->out[0] || lt_volume(p->out) == 0) return false;
    if (w->place[2] == 0) {
        w->z = window_span(p, 0, w->place[0]);
        w->y = window_span(p, 1, w->place[1]);
    }
    w->x = j->columns[w->place[2]];
    return true;
}

/* Windows of two by two elements with stride 2, the most common case. */
static bool quarters(const lt_pooling *p)
{
    if (p->adaptive || p->divisor != 0 || p->in[0] != 1 || p->kernel[0] != 1 || p->out[0] != 1 ||
        p->padding[0] != 0)
        return false;
    for (int d = 1; d < 3; d++)
        if (p->kernel[d] != 2 || p->stride[d] != 2 || p->padding[d] != 0 || p->dilation[d] != 1 ||
            p->in[d] < 2 * p->out[d])
            return false;
    return true;
}

/* Windows [from, to) of a row, at most LT_COLUMNS, which are processed together. */
typedef struct piece {
    int64_t from, to;
} piece;

static piece next_piece(const lt_pooling *p, int64_t from)
{
    return (piece){from, p->out[2] - from < LT_COLUMNS ? p->out[2] : from + LT_COLUMNS};
}

/* The windows of a piece with element k inside the input. */
static piece within(const lt_pooling *p, int64_t k, piece of)
{
    const int64_t shift = k * p->dilation[2] - p->padding[2], stride = p->stride[2];
    const int64_t low = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
    const int64_t high = p->in[2] - shift <= 0 ? 0 : (p->in[2] - shift + stride - 1) / stride;
    if (of.to > high) of.to = high;
    if (of.from < low) of.from = low;
    if (of.from > of.to) of.from = of.to;
    return of;
}

/* The windows that are entirely inside the input, and so have one size. */
static piece whole_windows(const lt_pooling *p, piece of)
{
    const piece begin = within(p, 0, of), end = within(p, p->kernel[2] - 1, of);
    return begin.from < end.to ? (piece){begin.from, end.to} : (piece){of.from, of.from};
}

/* Whether the loops on rows of windows support this plane. */
static bool by_rows(const lt_pooling *p)
{
    return !p->adaptive && p->out[2] >= 4 && lt_volume(p->in) < INT32_MAX;
}

#define T       float
#define SUM     float
#define KIND    0
#define LOWEST  -INFINITY
#define S(name) name##_f32
#include "pool.inc"
#include "pool_backward.inc"
#undef T
#undef SUM
#undef KIND
#undef LOWEST
#undef S
#define T       double
#define SUM     double
#define KIND    1
#define LOWEST  -INFINITY
#define S(name) name##_f64
#include "pool.inc"
#include "pool_backward.inc"
#undef T
#undef SUM
#undef KIND
#undef LOWEST
#undef S
#define T       int64_t
#define SUM     uint64_t
#define KIND    2
#define LOWEST  INT64_MIN
#define S(name) name##_i64
#include "pool.inc"
#include "cpu/common/sizes.h"
#undef T
#undef SUM
#undef KIND
#undef LOWEST
#undef S

/* Adaptive windows of one size that do not overlap are ordinary ones. Long ones are summed faster
 * window by window. */
static lt_pooling plain_windows(const lt_pooling *p)
{
    lt_pooling plain = *p;
    bool even = p->adaptive && p->out[2] >= 16 && p->in[2] <= 4 * p->out[2];
    for (int d = 0; d < 3; d++) even = even && p->out[d] > 0 && p->in[d] % p->out[d] == 0;
    if (!even) return plain;
    plain.adaptive = false;
    plain.divisor = 0;
    for (int d = 0; d < 3; d++) {
        plain.kernel[d] = plain.stride[d] = p->in[d] / p->out[d];
        plain.padding[d] = 0;
        plain.dilation[d] = 1;
    }
    return plain;
}

/* ---- planes from a fused producer ------------------------------------------------------------ */

typedef struct fused_pool_job {
    const pool_job *job;
    lt_job plane;
    const lt_fused_row_reader *in;
    int threads;
    char *rooms;
    size_t room; /* of a thread */
} fused_pool_job;

static void take_planes(const void *context, int64_t first, int64_t last, const char *in)
{
    const fused_pool_job *f = context;
    pool_job j = *f->job;
    j.in = in;
    j.first = first;
    for (int64_t plane = first; plane < last; plane++) f->plane(&j, plane);
}

static void pool_fused(const void *context, int64_t t)
{
    const fused_pool_job *f = context;
    lt_fused_row_reader_part(f->in, f->job->pool->planes, t, f->threads,
                             f->rooms + (size_t)t * f->room, take_planes, f);
}

static lt_status share_fused(const pool_job *j, int threads, lt_job plane)
{
    lt_fused_row_reader in; /* not zeroed */
    lt_scratch scratch;
    lt_fused_row_reader_init(&in, j->pool->producer, lt_volume(j->pool->in), 0, j->pool->dtype);
    fused_pool_job f = {.job = j,
                        .plane = plane,
                        .in = &in,
                        .threads = threads,
                        .room = lt_fused_row_reader_bytes(&in)};
    f.rooms = lt_scratch_alloc(&scratch, threads, f.room);
    if (f.rooms == NULL) return LT_ERR_MEMORY;
    lt_status status = lt_parallel_for(threads, threads, pool_fused, &f);
    lt_scratch_free(&scratch, f.rooms);
    return status;
}

/* ---- the entries ----------------------------------------------------------------------------- */

static lt_status share(const lt_pooling *asked, const pool_job *planes, lt_job plane)
{
    const lt_pooling plain = plain_windows(asked), *p = &plain;
    const int64_t wide = planes->each_window || !by_rows(p) ? p->out[2] : 0;
    lt_scratch scratch;
    window_range *columns = lt_scratch_alloc(&scratch, wide, sizeof *columns);
    if (columns == NULL) return LT_ERR_MEMORY;
    for (int64_t i = 0; i < wide; i++) columns[i] = window_span(p, 2, i);
    pool_job shared = *planes, *j = &shared;
    j->pool = p;
    j->columns = columns;
    const int64_t work = p->planes * (lt_volume(p->in) +
                                      lt_volume(p->out) * (p->adaptive ? 1 : lt_volume(p->kernel)));
    int threads = lt_cpu_threads_for(work);
    if (threads > p->planes) threads = (int)p->planes;
    const lt_status status = p->producer != NULL ? share_fused(j, threads, plane)
                                                 : lt_parallel_for(p->planes, threads, plane, j);
    lt_scratch_free(&scratch, columns);
    return status;
}

/* Half types: converts `in` (n_in elements; in memory or from a fused producer) to float, and the
 * result back to out. */
static lt_status share_wide(const lt_pooling *p, const pool_job *j, int64_t n_in, int64_t n_out,
                            lt_job of_float, lt_job of_double)
{
    if (!lt_dtype_is_half(p->dtype))
        return share(p, j, p->dtype == LT_FLOAT32 ? of_float : of_double);
    lt_widened in = {NULL, 0}, out = {NULL, 0};
    lt_pooling f = *p;
    pool_job wide = *j;
    f.dtype = LT_FLOAT32;
    lt_status status = p->producer == NULL ? lt_widen(&in, p->dtype, j->in, n_in) : LT_OK;
    if (status == LT_OK) status = lt_widen(&out, p->dtype, NULL, n_out);
    wide.pool = &f;
    wide.in = (const char *)in.data;
    wide.out = (char *)out.data;
    if (status == LT_OK) status = share(&f, &wide, of_float);
    if (status == LT_OK) lt_convert_dense(p->dtype, j->out, LT_FLOAT32, out.data, n_out);
    lt_widened_free(&in);
    lt_widened_free(&out);
    return status;
}

lt_status lt_cpu_max_pool(const lt_pooling *p, void *out, int64_t *indices, const void *in)
{
    const pool_job j = {.pool = p, .out = out, .indices = indices, .in = in};
    if (p->dtype == LT_INT64) return share(p, &j, run_extremes_i64);
    return share_wide(p, &j, p->planes * lt_volume(p->in), p->planes * lt_volume(p->out),
                      run_extremes_f32, run_extremes_f64);
}

lt_status lt_cpu_max_pool_backward(const lt_pooling *p, void *grad_in, const void *grad,
                                   const int64_t *indices)
{
    const pool_job j = {.pool = p, .out = grad_in, .in = grad, .places = indices};
    return share_wide(p, &j, p->planes * lt_volume(p->out), p->planes * lt_volume(p->in),
                      run_extremes_back_f32, run_extremes_back_f64);
}

lt_status lt_cpu_avg_pool(const lt_pooling *p, void *out, const void *in)
{
    const pool_job j = {.pool = p, .out = out, .in = in};
    if (p->dtype == LT_INT64) return share(p, &j, run_means_i64);
    return share_wide(p, &j, p->planes * lt_volume(p->in), p->planes * lt_volume(p->out),
                      run_means_f32, run_means_f64);
}

lt_status lt_cpu_avg_pool_backward(const lt_pooling *p, void *grad_in, const void *grad)
{
    const pool_job j = {.pool = p, .out = grad_in, .in = grad, .each_window = true};
    return share_wide(p, &j, p->planes * lt_volume(p->out), p->planes * lt_volume(p->in),
                      run_means_back_f32, run_means_back_f64);
}
