/* resample.c - each element of a dimension as a weighted sum of input elements: interpolation and
 * its derivative. Along the last dimension a thread processes slices, else rows of adjacent
 * elements. */
#include "cpu/nn/resample.h"

#include <string.h>

#include "saturating.h"
#include "cpu/common/threads.h"
#include "cpu/cpu.h"
#include "dtypes/dtype.h"
#include "memory/block.h"

#define LINES LT_LANES

/* ---- 1-D slices along the last dimension ----------------------------------------------------- */

static bool has_places_each(const lt_resampling *r, int64_t n)
{
    bool each = r->taps == lt_mul_sat(n, r->out);
    for (int64_t o = 0; o < r->out && each; o++) each = r->starts[o] == n * o;
    return each;
}

bool lt_resampling_is_nearest(const lt_resampling *r) { return has_places_each(r, 1); }

bool lt_is_weighted(const lt_resampling *r)
{
    bool weighted = false;
    for (int64_t k = 0; k < r->taps && !weighted; k++)
        weighted = r->dtype == LT_FLOAT64 ? ((const double *)r->weights)[k] != 1
                                          : ((const float *)r->weights)[k] != 1;
    return weighted;
}

lt_status lt_slice_resampler_open(lt_slice_resampler *l, const lt_resampling *r)
{
    const bool one = lt_resampling_is_nearest(r), two = !one && r->dtype == LT_FLOAT32 &&
                                                        r->out <= r->in && r->in <= INT32_MAX &&
                                                        has_places_each(r, 2);
    const int64_t each = two ? 2 : 1, size = (int64_t)lt_dtype_size(r->dtype);
    *l = (lt_slice_resampler){.r = r,
                              .loops = &lt_loops.resample[r->dtype == LT_FLOAT64],
                              .size = size,
                              .has_places = one || two};
    l->places = (lt_resample_indices){.n = r->out,
                                      .two = two,
                                      .far = r->places,
                                      .weights = one && lt_is_weighted(r) ? r->weights : NULL};
    if (!l->has_places || r->in > INT32_MAX) return LT_OK;
    l->block = lt_block_array(lt_mul_sat(r->out, each),
                              sizeof *l->places.near + (two ? (size_t)size : 0), &l->capacity);
    if (l->block == NULL) return LT_ERR_MEMORY;
    char *const weights = l->block;
    int32_t *const near = (int32_t *)(void *)(weights + (two ? each * r->out * size : 0));
    for (int64_t k = 0; k < each * r->out; k++)
        near[k % each * r->out + k / each] = (int32_t)r->places[k];
    for (int64_t k = 0; k < each * r->out && two; k++)
        memcpy(weights + (k % each * r->out + k / each) * size, (const char *)r->weights + k * size,
               (size_t)size);
    l->places.near = near;
    if (two) l->places.weights = weights;
    return LT_OK;
}

void lt_slice_resampler_close(lt_slice_resampler *l)
{
    if (l->block != NULL) lt_block_free(l->block, l->capacity);
}

int64_t lt_turned_elements(const lt_slice_resampler *l)
{
    return l->has_places ? 0 : lt_mul_sat(lt_add_sat(l->r->in, l->r->out), LINES);
}

void lt_resample_lines(const lt_slice_resampler *l, char *out, const char *in, int64_t n,
                       char *turned)
{
    const lt_resampling *r = l->r;
    if (l->has_places) {
        for (int64_t i = 0; i < n; i++)
            l->loops->line_of_places(&l->places, in + i * r->in * l->size,
                                     out + i * r->out * l->size);
        return;
    }
    const lt_turn_loop turn = lt_loops.turn[l->size == 8];
    char *const made = turned + LINES * r->in * l->size;
    turn(turned, LINES, in, r->in, n, r->in);
    l->loops->rows(r, turned, made, LINES, n, 0, r->out);
    turn(out, r->out, made, LINES, r->out, n);
}

/* A thread's partition of the tiles of slices, with its own buffer. */
typedef struct resample_share {
    const lt_slice_resampler *lines;
    char *out, *buffers;
    const char *in;
    int64_t tiles, threads;
} resample_share;

static void resample_rows(const void *context, int64_t t)
{
    const resample_share *s = context;
    const lt_slice_resampler *l = s->lines;
    const lt_resampling *r = l->r;
    char *turned = s->buffers + t * lt_turned_elements(l) * l->size;
    for (int64_t tile = t * s->tiles / s->threads; tile < (t + 1) * s->tiles / s->threads; tile++) {
        const int64_t line = tile * LINES, n = r->outer - line < LINES ? r->outer - line : LINES;
        lt_resample_lines(l, s->out + line * r->out * l->size, s->in + line * r->in * l->size, n,
                          turned);
    }
}

static lt_status share_lines(const lt_resampling *r, void *out, const void *in, int threads)
{
    lt_slice_resampler lines;
    lt_status status = lt_slice_resampler_open(&lines, r);
    size_t capacity = 0;
    resample_share s = {
        .lines = &lines, .out = out, .in = in, .tiles = (r->outer + LINES - 1) / LINES};
    if (threads > s.tiles) threads = (int)s.tiles;
    s.threads = threads;
    if (status == LT_OK)
        s.buffers = lt_block_array(lt_mul_sat(lt_turned_elements(&lines), threads),
                                   (size_t)lines.size, &capacity);
    if (status == LT_OK && s.buffers == NULL) status = LT_ERR_MEMORY;
    if (status == LT_OK) status = lt_parallel_for(threads, threads, resample_rows, &s);
    if (s.buffers != NULL) lt_block_free(s.buffers, capacity);
    lt_slice_resampler_close(&lines);
    return status;
}

/* ---- other dimensions: rows of adjacent elements --------------------------------------------- */

typedef struct resample_job {
    const lt_resampling *r;
    char *out;
    const char *in;
    const lt_resample_loops *loops;
    int64_t size, rows; /* bytes of an element; rows of the result in a job */
} resample_job;

/* Rows of the result, numbered across planes. */
static void resample_plane_rows(const void *context, int64_t index)
{
    const resample_job *j = context;
    const lt_resampling *r = j->r;
    const int64_t last =
        (index + 1) * j->rows < r->outer * r->out ? (index + 1) * j->rows : r->outer * r->out;
    for (int64_t row = index * j->rows, to; row < last; row += to) {
        const int64_t plane = row / r->out, from = row % r->out;
        to = r->out - from < last - row ? r->out - from : last - row;
        j->loops->rows(r, j->in + plane * r->in * r->inner * j->size,
                       j->out + plane * r->out * r->inner * j->size, r->inner, r->inner, from,
                       from + to);
    }
}

lt_status lt_cpu_resample(const lt_resampling *r, void *out, const void *in)
{
    resample_job j = {.r = r,
                      .out = out,
                      .in = in,
                      .loops = &lt_loops.resample[r->dtype == LT_FLOAT64],
                      .size = (int64_t)lt_dtype_size(r->dtype),
                      .rows = 1 + LT_CPU_GRAIN / LT_CPU_MOVED / (r->inner + 1)};
    const int64_t numel = r->outer * r->out * r->inner;
    if (numel == 0) return LT_OK;
    const int threads = lt_cpu_threads_for(numel * (1 + r->taps / r->out));
    if (r->inner == 1) return share_lines(r, out, in, threads);
    return lt_parallel_for((r->outer * r->out + j.rows - 1) / j.rows, threads, resample_plane_rows,
                           &j);
}
