/* resample_planes.c - separable resampling of the last two dimensions: pictures that shrink or
 * grow. Each thread makes rows of the result in order: the input rows that they sum are first
 * resampled along the last dimension, and are still in the thread's cache then. Both sums are
 * rounded as by one dimension after the other, the last one first. */
#include <string.h>

#include "cpu/common/threads.h"
#include "cpu/cpu.h"
#include "cpu/nn/resample.h"
#include "dtypes/dtype.h"
#include "memory/block.h"
#include "saturating.h"
#include "cpu/common/sizes.h"
#include "cpu_info.h"

#define LINES LT_LANES

typedef struct resample_planes_job {
    const lt_resampling *rows;
    const lt_slice_resampler *lines;
    char *out, *buffers;
    const char *in;
    int64_t tile, buffer, threads; /* slices of a tile, bytes of a thread's buffer */
} resample_planes_job;

/* A thread's tile: the input slices that some rows of the result need, each once. */
typedef struct tile {
    char *lines; /* resampled */
    char *turned, *picked;
    int64_t *which;  /* slice numbers in the plane, n of them */
    int64_t *slots;  /* for each slice of the plane its index in the tile; -1: none */
    int64_t *places; /* the places of the job's rows, as indices of the tile's slices */
    int64_t n;
} tile;

static int64_t words_of(const resample_planes_job *j)
{
    return lt_add_sat(lt_add_sat(j->tile, j->rows->in), j->rows->taps);
}

static int64_t elements_of(const resample_planes_job *j)
{
    const lt_resampling *columns = j->lines->r;
    return lt_add_sat(lt_add_sat(lt_mul_sat(j->tile, columns->out), lt_turned_elements(j->lines)),
                      lt_mul_sat(LINES, columns->in));
}

static tile tile_of(const resample_planes_job *j, int64_t thread)
{
    const lt_resampling *columns = j->lines->r;
    const int64_t size = j->lines->size;
    char *const buffer = j->buffers + thread * j->buffer;
    tile t = {.which = (int64_t *)(void *)buffer};
    t.slots = t.which + j->tile;
    t.places = t.slots + j->rows->in;
    t.lines = buffer + words_of(j) * (int64_t)sizeof *t.which;
    t.turned = t.lines + j->tile * columns->out * size;
    t.picked = t.turned + lt_turned_elements(j->lines) * size;
    for (int64_t i = 0; i < j->rows->in; i++) t.slots[i] = -1;
    return t;
}

/* Whether the slices of row o are in the tile, or fit into it and are added. */
static bool takes_row(tile *t, const resample_planes_job *j, int64_t o)
{
    const lt_resampling *r = j->rows;
    const int64_t before = t->n;
    for (int64_t k = r->starts[o]; k < r->starts[o + 1]; k++) {
        int64_t *const slot = &t->slots[r->places[k]];
        if (*slot < 0 && t->n == j->tile) {
            while (t->n > before) t->slots[t->which[--t->n]] = -1;
            return false;
        }
        if (*slot < 0) {
            t->which[t->n] = r->places[k];
            *slot = t->n++;
        }
        t->places[k] = *slot;
    }
    return true;
}

/* Resamples the slices of a tile from a plane; slices that are not adjacent are gathered first. */
static void make_lines(tile *t, const resample_planes_job *j, const char *plane)
{
    const int64_t in = j->lines->r->in * j->lines->size, out = j->lines->r->out * j->lines->size;
    for (int64_t first = 0, n; first < t->n; first += n) {
        n = t->n - first < LINES ? t->n - first : LINES;
        const int64_t *which = t->which + first;
        const char *from = plane + which[0] * in;
        bool together = true;
        for (int64_t i = 1; i < n; i++) together &= which[i] == which[0] + i;
        if (!together) {
            for (int64_t i = 0; i < n; i++)
                memcpy(t->picked + i * in, plane + which[i] * in, (size_t)in);
            from = t->picked;
        }
        lt_resample_lines(j->lines, t->lines + first * out, from, n, t->turned);
    }
}

/* A thread's rows of the result, numbered across planes. */
static void run_tiles(const void *context, int64_t thread)
{
    const resample_planes_job *j = context;
    const lt_resampling *rows = j->rows, *columns = j->lines->r;
    const int64_t size = j->lines->size, all = rows->outer * rows->out,
                  last = (thread + 1) * all / j->threads;
    tile t = tile_of(j, thread);
    lt_resampling of_tile = *rows;
    of_tile.places = t.places;
    for (int64_t row = thread * all / j->threads, done; row < last; row += done) {
        const int64_t plane = row / rows->out, from = row % rows->out;
        const int64_t most = rows->out - from < last - row ? rows->out - from : last - row;
        for (done = 0; done < most && takes_row(&t, j, from + done);) done++;
        make_lines(&t, j, j->in + plane * rows->in * columns->in * size);
        j->lines->loops->rows(&of_tile, t.lines, j->out + plane * rows->out * columns->out * size,
                              columns->out, columns->out, from, from + done);
        while (t.n > 0) t.slots[t.which[--t.n]] = -1;
    }
}

/* The same if each row of the result is one slice, without a sum: a slice that several rows show is
 * resampled once. */
static void run_choices(const void *context, int64_t thread)
{
    const resample_planes_job *j = context;
    const lt_resampling *rows = j->rows, *columns = j->lines->r;
    const int64_t in = columns->in * j->lines->size, out = columns->out * j->lines->size;
    const int64_t all = rows->outer * rows->out, first = thread * all / j->threads,
                  last = (thread + 1) * all / j->threads;
    for (int64_t row = first; row < last; row++) {
        const int64_t plane = row / rows->out, o = row % rows->out;
        char *const to = j->out + row * out;
        if (row > first && o > 0 && rows->places[o] == rows->places[o - 1])
            memcpy(to, to - out, (size_t)out);
        else
            lt_resample_lines(j->lines, to, j->in + (plane * rows->in + rows->places[o]) * in, 1,
                              NULL);
    }
}

static lt_status share_tiles(resample_planes_job *j)
{
    const lt_resampling *r = j->rows;
    const int64_t line = j->lines->r->out * j->lines->size;
    size_t capacity;
    const int64_t most = lt_processor.l2 / 4 / line;
    j->tile = most < LT_SHORT_SLICES ? most : LT_SHORT_SLICES;
    for (int64_t o = 0; o < r->out; o++)
        if (r->starts[o + 1] - r->starts[o] > j->tile) j->tile = r->starts[o + 1] - r->starts[o];
    j->buffer = lt_add_sat(lt_mul_sat(words_of(j), (int64_t)sizeof(int64_t)),
                           lt_mul_sat(elements_of(j), j->lines->size));
    j->buffer = lt_mul_sat(lt_add_sat(j->buffer, 63) / 64, 64);
    j->buffers = lt_block_array(lt_mul_sat(j->buffer, j->threads), 1, &capacity);
    if (j->buffers == NULL) return LT_ERR_MEMORY;
    const lt_status status = lt_parallel_for(j->threads, (int)j->threads, run_tiles, j);
    lt_block_free(j->buffers, capacity);
    return status;
}

lt_status lt_cpu_resample_planes(const lt_resampling *rows, const lt_resampling *columns, void *out,
                                 const void *in)
{
    const int64_t all = rows->outer * rows->out, numel = all * columns->out;
    if (numel == 0) return LT_OK;
    const int threads =
        lt_cpu_threads_for(numel * (1 + rows->taps / rows->out + columns->taps / columns->out));
    lt_slice_resampler lines;
    lt_status status = lt_slice_resampler_open(&lines, columns);
    resample_planes_job j = {.rows = rows,
                             .lines = &lines,
                             .out = out,
                             .in = in,
                             .threads = threads < all ? threads : all};
    const bool choices =
        lines.has_places && lt_resampling_is_nearest(rows) && !lt_is_weighted(rows);
    if (status == LT_OK)
        status =
            choices ? lt_parallel_for(j.threads, (int)j.threads, run_choices, &j) : share_tiles(&j);
    lt_slice_resampler_close(&lines);
    return status;
}
