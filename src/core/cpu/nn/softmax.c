/* softmax.c - softmax and log_softmax over any dimension, forward and backward, by 1-D slices
 * ("lines"). vector/nn/softmax.c has the loops over one contiguous slice and over interleaved
 * slices; short contiguous ones are transposed to interleaved ones. Slices with other strides or a
 * half dtype pass through a buffer of float, a tile of adjacent slices at a time. Slices of view 0
 * may come from a fused producer, a few at a time. */
#include "cpu/cpu.h"
#include "cpu/compile/fused_rows.h"
#include "dtypes/dtype.h"
#include "context/interrupt.h"
#include "cpu/common/fetch.h"
#include "cpu/common/slices.h"
#include "cpu/common/loops.h"
#include "memory/block.h"
#include "saturating.h"
#include "cpu/common/threads.h"
#include "cpu/common/sizes.h"
#include "cpu_info.h"

/* Forward: view 0 is the input, 1 the output. Backward: 0 grad, 1 grad_in, 2 the forward's
 * result. */
typedef struct softmax_job {
    lt_slices lines;
    bool log, backward;
    lt_dtype type; /* computed in */
    int64_t size;  /* bytes of it */
    bool dense;    /* every slice of every view is used in place */
    int64_t width; /* interleaved slices that are processed together */
    /* prefetch distance in elements, for contiguous slices in sequence; else 0 */
    int64_t ahead;
} softmax_job;

/* Slices of one size, with their addresses. */
typedef struct group {
    int lines;
    char *out[LT_LANES];
    const char *in[LT_LANES], *result[LT_LANES];
} group;

/* How many slices are processed together: as many as fit into L1, with their results, from one pass
 * to the next. */
static int64_t together(const softmax_job *j)
{
    const int64_t lines = lt_processor.l1 / 4 / (j->lines.length * j->size);
    return lines < 1 ? 1 : lines < LT_LANES ? lines : LT_LANES;
}

static void compute_group(const softmax_job *j, const group *g, int64_t ahead)
{
    const lt_softmax_loops *loops = &lt_loops.softmax[j->type == LT_FLOAT64];
    if (!j->backward)
        loops->forward(j->log, g->out, g->in, g->lines, j->lines.length, ahead);
    else
        for (int l = 0; l < g->lines; l++)
            loops->backward(j->log, g->out[l], g->in[l], g->result[l], j->lines.length);
}

/* Contiguous slices [first, last). in: a buffer of the slices of view 0; NULL: they are in memory.
 */
static void compute_dense(const softmax_job *j, int64_t first, int64_t last, const char *in,
                          int64_t ahead)
{
    const lt_slices *lines = &j->lines;
    const int64_t most = together(j), bytes = lines->length * j->size;
    for (int64_t l = first; l < last;) {
        group g; /* not zeroed */
        for (g.lines = 0; g.lines < most && l < last; g.lines++, l++) {
            g.out[g.lines] = lt_slice_at(lines, 1, l);
            g.in[g.lines] = in != NULL ? in + (l - first) * bytes : lt_slice_at(lines, 0, l);
            if (j->backward) g.result[g.lines] = lt_slice_at(lines, 2, l);
        }
        compute_group(j, &g, ahead);
    }
}

/* Copies slices [first, last) of view v to the contiguous buffer, or back. */
static void move_tile(const softmax_job *j, int v, int64_t first, int64_t last, char *buffer,
                      bool back)
{
    const lt_slices *lines = &j->lines;
    for (int64_t from = 0; from < lines->length; from += LT_BLOCK) {
        int64_t n = lines->length - from < LT_BLOCK ? lines->length - from : LT_BLOCK;
        for (int64_t l = first; l < last; l++) {
            char *dense = buffer + ((l - first) * lines->length + from) * j->size;
            if (back)
                lt_slice_store(lines, v, lt_slice_at(lines, v, l), from, n, dense, j->type);
            else
                lt_slice_load(lines, v, lt_slice_at(lines, v, l), from, n, dense, j->type);
        }
    }
}

/* buffer: space for a tile of slices, twice for backward. */
static void run_tile(const softmax_job *j, int64_t first, int64_t last, char *buffer)
{
    const lt_slices *lines = &j->lines;
    const int64_t n = lines->length;
    if (j->dense) {
        compute_dense(j, first, last, NULL, j->ahead);
        return;
    }
    char *results = buffer + LT_LANES * n * j->size;
    move_tile(j, 0, first, last, buffer, false);
    if (j->backward) move_tile(j, 2, first, last, results, false);
    for (int64_t l = 0; l < last - first; l++) {
        char *line = buffer + l * n * j->size;
        compute_group(j, &(group){1, {line}, {line}, {results + l * n * j->size}}, 0);
    }
    move_tile(j, 1, first, last, buffer, true);
}

/* A thread's partition of the tiles, with its own buffer. */
typedef struct softmax_part {
    const softmax_job *job;
    char *buffers; /* NULL if all slices are contiguous */
    int64_t tile_bytes, tiles;
    int threads;
} softmax_part;

static void softmax_share(const void *context, int64_t t)
{
    const softmax_part *s = context;
    const int64_t count = s->job->lines.count;
    char *buffer = s->buffers != NULL ? s->buffers + t * s->tile_bytes : NULL;
    for (int64_t tile = t * s->tiles / s->threads; tile < (t + 1) * s->tiles / s->threads; tile++) {
        int64_t first = tile * LT_LANES, last = first + LT_LANES;
        if (!lt_interrupted()) run_tile(s->job, first, last < count ? last : count, buffer);
    }
}

/* Adjacent slices, interleaved in memory. */
static void softmax_columns(const void *context, int64_t tile)
{
    const softmax_job *j = context;
    const lt_slices *lines = &j->lines;
    const lt_softmax_loops *loops = &lt_loops.softmax[j->type == LT_FLOAT64];
    const int64_t across = lines->sizes[0], tiles = (across + j->width - 1) / j->width;
    const int64_t column = tile % tiles * j->width, first = tile / tiles * across + column;
    const int64_t width = across - column < j->width ? across - column : j->width;
    const char *in = lt_slice_at(lines, 0, first);
    char *out = lt_slice_at(lines, 1, first);
    if (j->backward)
        loops->columns_backward(j->log,
                                &(lt_softmax_columns){.grad_in = out,
                                                      .grad = in,
                                                      .result = lt_slice_at(lines, 2, first),
                                                      .in_step = lines->step[1] / j->size,
                                                      .grad_step = lines->step[0] / j->size,
                                                      .result_step = lines->step[2] / j->size,
                                                      .n = lines->length,
                                                      .width = width});
    else
        loops->columns(j->log, out, lines->step[1] / j->size, in, lines->step[0] / j->size,
                       lines->length, width);
}

/* Short contiguous slices of each view, transposed in batches of at most LT_SHORT_SLICES. in: a
 * buffer of the slices of view 0; NULL: they are in memory. */
static void turn_lines(const softmax_job *j, int64_t first, int64_t last, const char *in)
{
    const lt_slices *lines = &j->lines;
    const lt_softmax_loops *loops = &lt_loops.softmax[j->type == LT_FLOAT64];
    const lt_turn_loop turn = lt_loops.turn[j->type == LT_FLOAT64];
    const int64_t length = lines->length,
                  step = in != NULL ? length : lines->strides[0][0] / j->size;
    _Alignas(64) char rows[LT_SHORT_SLICES * LT_SHORT_SLICE * 8],
        result[LT_SHORT_SLICES * LT_SHORT_SLICE * 8];
    for (int64_t l = first, n; l < last; l += n) {
        n = lt_slices_in_row(lines, l, last);
        turn(rows, LT_SHORT_SLICES,
             in != NULL ? in + (l - first) * length * j->size : lt_slice_at(lines, 0, l), step, n,
             length);
        if (j->backward) {
            turn(result, LT_SHORT_SLICES, lt_slice_at(lines, 2, l), lines->strides[2][0] / j->size,
                 n, length);
            loops->columns_backward(j->log, &(lt_softmax_columns){rows, rows, result,
                                                                  LT_SHORT_SLICES, LT_SHORT_SLICES,
                                                                  LT_SHORT_SLICES, length, n});
        } else {
            loops->columns(j->log, rows, LT_SHORT_SLICES, rows, LT_SHORT_SLICES, length, n);
        }
        turn(lt_slice_at(lines, 1, l), lines->strides[1][0] / j->size, rows, LT_SHORT_SLICES,
             length, n);
    }
}

static void run_turned(const void *context, int64_t tile)
{
    const softmax_job *j = context;
    const int64_t last = (tile + 1) * LT_SHORT_SLICES;
    turn_lines(j, tile * LT_SHORT_SLICES, last < j->lines.count ? last : j->lines.count, NULL);
}

/* ---- slices of view 0 from a fused producer -------------------------------------------------- */

typedef struct fused_softmax_job {
    const softmax_job *job;
    const lt_fused_row_reader *in;
    bool turned;
    int threads;
    /* per thread: buffer of the producer; and if slices are not contiguous, one slice of the result
     * and one of view 2 */
    char *buffers;
    size_t room, bytes;
} fused_softmax_job;

/* A thread's part. */
typedef struct fed_lines {
    const fused_softmax_job *producer;
    char *line; /* space for two slices */
} fed_lines;

static void take_lines(const void *context, int64_t first, int64_t last, const char *in)
{
    const fed_lines *f = context;
    const softmax_job *j = f->producer->job;
    const lt_slices *lines = &j->lines;
    const int64_t n = lines->length;
    if (f->producer->turned) {
        turn_lines(j, first, last, in);
        return;
    }
    if (j->dense) {
        compute_dense(j, first, last, in, 0);
        return;
    }
    for (int64_t l = first; l < last; l++, in += n * j->size) {
        char *out = lt_slice_at(lines, 1, l),
             *result = j->backward ? lt_slice_at(lines, 2, l) : NULL;
        char *const results = f->line + n * j->size;
        if (j->backward) lt_slice_load(lines, 2, result, 0, n, results, j->type);
        compute_group(j, &(group){1, {f->line}, {in}, {results}}, 0);
        lt_slice_store(lines, 1, out, 0, n, f->line, j->type);
    }
}

static void run_fed(const void *context, int64_t t)
{
    const fused_softmax_job *f = context;
    char *const room = f->buffers + (size_t)t * f->bytes;
    const fed_lines lines = {f, room + f->room};
    lt_fused_row_reader_part(f->in, f->job->lines.count, t, f->threads, room, take_lines, &lines);
}

/* turned: the slices are short, so the producer computes as many at once as are transposed
 * together. */
static lt_status share_fused(const softmax_job *j, const lt_fused_producer *producer, bool turned,
                             int threads)
{
    lt_fused_row_reader in; /* not zeroed */
    size_t capacity = 0;
    lt_fused_row_reader_init(&in, producer, j->lines.length, turned ? LT_SHORT_SLICES : 0, j->type);
    fused_softmax_job f = {.job = j,
                           .in = &in,
                           .turned = turned,
                           .threads = threads,
                           .room = lt_fused_row_reader_bytes(&in)};
    f.bytes = f.room + (j->dense ? 0 : (size_t)(2 * j->lines.length * j->size + 63) / 64 * 64);
    f.buffers = lt_block_array(threads, f.bytes, &capacity);
    if (f.buffers == NULL) return LT_ERR_MEMORY;
    lt_status status = lt_parallel_for(threads, threads, run_fed, &f);
    lt_block_free(f.buffers, capacity);
    return status;
}

/* The prefetch distance: the next slice, or one page. */
static int64_t ahead_of(const lt_slices *lines, int64_t size)
{
    const int64_t page = LT_FETCHED_PAGE / size, n = lines->length;
    if (lines->ndim == 0 || lines->strides[0][0] != n * size) return 0;
    return n < page ? page : n <= 4 * page ? n : 0;
}

/* ---- selecting the algorithm ----------------------------------------------------------------- */

static lt_status run_softmax(softmax_job *j, const lt_array *const *views, int n, int dim)
{
    lt_slices_of(&j->lines, views, n, dim);
    j->type = views[0]->dtype == LT_FLOAT64 ? LT_FLOAT64 : LT_FLOAT32;
    j->size = (int64_t)lt_dtype_size(j->type);
    bool direct = true; /* no conversion */
    for (int v = 0; v < n; v++) direct = direct && views[v]->dtype == j->type;
    j->dense = direct && lt_slices_are_dense(&j->lines, n);
    j->ahead = ahead_of(&j->lines, j->size);
    const int64_t count = j->lines.count,
                  tile_bytes = lt_mul_sat(j->lines.length, 2 * LT_LANES * j->size);
    const int threads = lt_cpu_threads_for(count > 1 ? count * j->lines.length * 4 : 0);
    if (count == 0 || j->lines.length == 0) return LT_OK;
    if (direct && lt_slices_are_interleaved(&j->lines, n)) {
        j->width = lt_processor.l2 / 2 / (j->lines.length * j->size) / 64 * 64;
        if (j->width < 64) j->width = 64;
        if (j->width > LT_COLUMNS) j->width = LT_COLUMNS;
        const int64_t tiles = (j->lines.sizes[0] + j->width - 1) / j->width;
        return lt_parallel_for(count / j->lines.sizes[0] * tiles, threads, softmax_columns, j);
    }
    const bool turned = j->dense && j->lines.length <= LT_SHORT_SLICE && j->lines.ndim > 0 &&
                        j->lines.sizes[0] >= LT_SHORT_SLICES / 4;
    if (views[0]->producer != NULL) return share_fused(j, views[0]->producer, turned, threads);
    if (turned)
        return lt_parallel_for((count + LT_SHORT_SLICES - 1) / LT_SHORT_SLICES, threads, run_turned,
                               j);
    size_t capacity = 0;
    char *buffers = NULL;
    if (!j->dense) {
        buffers = lt_block_array(tile_bytes, (size_t)threads, &capacity);
        if (buffers == NULL) return LT_ERR_MEMORY;
    }
    const int64_t tiles = (count + LT_LANES - 1) / LT_LANES;
    const softmax_part s = {j, buffers, tile_bytes, tiles, threads};
    lt_status status = lt_parallel_for(threads, threads, softmax_share, &s);
    lt_block_free(buffers, capacity);
    return status;
}

lt_status lt_cpu_softmax(bool log, const lt_array *out, const lt_array *in, int dim)
{
    softmax_job j = {.log = log, .backward = false};
    return run_softmax(&j, (const lt_array *const[]){in, out}, 2, dim);
}

lt_status lt_cpu_softmax_backward(bool log, const lt_array *grad_in, const lt_array *grad,
                                  const lt_array *result, int dim)
{
    softmax_job j = {.log = log, .backward = true};
    return run_softmax(&j, (const lt_array *const[]){grad, grad_in, result}, 3, dim);
}
