/* reduce_columns.c - reductions down the columns: the kept dimension is the contiguous one. Rows
 * are read in place, a tile of adjacent columns at a time; tall tiles are cut into chunks of rows,
 * and their totals are merged in order. Short rows that are contiguous in sequence are processed as
 * one long row (a group) with accumulators for each of them, since a loop over few columns is
 * mostly overhead. */
#include "cpu/cpu.h"
#include "cpu/common/for_each.h"
#include "context/interrupt.h"
#include "memory/alloc.h"
#include "saturating.h"
#include "reduce.h"
#include "cpu/common/threads.h"
#include "cpu/common/sizes.h"

#define FOUR  4    /* rows that are added to each other first */
#define BLOCK FOUR /* rows converted at a time */

typedef struct columns {
    const lt_reduce_plan *plan;
    const lt_reduce_loops *loops;
    const void *parameters; /* of the elements' type, one per column */
    int64_t width;
    int64_t group;    /* rows processed as one */
    lt_total *totals; /* width of them */
    char *lanes;      /* width accumulators for each row of a group */
    /* maximum number of elements in an accumulator that have not been merged into totals */
    int64_t *pending;
} columns;

static void flush_lanes(const columns *c)
{
    for (int64_t g = 0; g<c->group && * c->pending> 0; g++)
        c->loops->join(c->totals, c->lanes + g * c->width * c->loops->lane, c->width);
    *c->pending = 0;
}

/* m rows, at most BLOCK where they are converted. An incomplete group goes to the first row's
 * accumulators. */
static void add_rows(const columns *c, const char *row, int64_t stride, int64_t m)
{
    const lt_reduce_plan *p = c->plan;
    _Alignas(64) char block[BLOCK * LT_REDUCE_TILE * 8];
    if (p->convert != NULL) {
        for (int64_t i = 0; i < m; i++)
            p->convert((char *[]){block + i * c->width * p->size, (char *)row + i * stride},
                       (int64_t[]){p->size, p->in_size}, c->width, NULL);
        row = block;
        stride = c->width * p->size;
    }
    const int64_t groups = m / c->group, left = m - groups * c->group;
    c->loops->rows(c->lanes, *c->pending == 0, row, c->group * stride, groups, c->group * c->width,
                   c->parameters);
    if (left > 0)
        c->loops->rows(c->lanes, false, row + groups * c->group * stride, stride, left, c->width,
                       c->parameters);
    *c->pending += groups + left;
}

/* n rows, strides[1] apart. */
static void reduce_rows(char *const *ptrs, const int64_t *strides, int64_t n, const void *context)
{
    const columns *c = context;
    const char *row = ptrs[1];
    while (n > 0 && !lt_interrupted()) {
        /* leave capacity for an incomplete group; groups are processed by fours */
        if (*c->pending + FOUR + c->group - 1 > LT_COLUMNS_FLUSH) flush_lanes(c);
        int64_t m = (LT_COLUMNS_FLUSH - *c->pending - (c->group - 1)) / FOUR * FOUR * c->group;
        if (c->plan->convert != NULL && m > BLOCK) m = BLOCK;
        if (m > n) m = n;
        add_rows(c, row, strides[1], m);
        row += m * strides[1];
        n -= m;
    }
}

/* The parameters of a tile in the form of its loops, for each row of a group; NULL: there are none.
 */
static const void *spread_parameters(const lt_reduce_plan *p, const lt_total *parameters,
                                     void *buffer, int64_t width, int64_t group)
{
    const bool power = p->op == LT_REDUCE_NORM;
    if (parameters == NULL && !power) return NULL;
    for (int64_t j = 0; j < group * width; j++) {
        const double x = power ? p->parameter : parameters[j % width].d;
        if (p->type == LT_ROWS_F32)
            ((float *)buffer)[j] = (float)x;
        else
            ((double *)buffer)[j] = x;
    }
    return buffer;
}

/* The number of rows that a fused producer computes at a time: a few thousand elements, in
 * multiples of four groups, since they are added by fours. */
static int64_t rows_at_once(const columns *c)
{
    const int64_t four = FOUR * c->group, fours = (2 * LT_STRIP) / c->width / four;
    return fours > 0 ? fours * four : four;
}

/* Rows [from, to) of a tile. */
typedef struct tile_rows {
    char *ptrs[2]; /* of the tile's result and its first element */
    int64_t width; /* columns of the tile */
    int64_t from, to;
} tile_rows;

/* Reduces rows of a tile into totals. parameters: of the pass, one per column; NULL: none. */
static void reduce_tile(const lt_reduce_plan *p, int pass, const tile_rows *t,
                        const lt_total *parameters, lt_total *totals)
{
    _Alignas(64) char lanes[LT_REDUCE_TILE * 8], spread_out[LT_REDUCE_TILE * 8];
    int64_t pending = 0;
    const int64_t width = t->width;
    const bool dense = p->convert == NULL && p->it->strides[1][0] == width * p->size;
    const int64_t group = dense && width <= LT_ACCUMULATORS / 2 ? LT_ACCUMULATORS / width : 1;
    columns c = {p, p->passes[pass], NULL, width, group, totals, lanes, &pending};
    c.parameters = spread_parameters(p, parameters, spread_out, width, group);
    lt_reduce_begin(p, pass, totals, width);
    if (p->fusion != NULL)
        lt_reduce_fused_rows(p, t->from, t->to, rows_at_once(&c), reduce_rows, &c);
    else
        lt_cpu_walk(p->it, p->reduced_dims, t->ptrs, t->from, t->to, reduce_rows, &c);
    flush_lanes(&c);
}

/* Tiles of up to LT_REDUCE_TILE columns, each partitioned into `chunks` of rows; the totals of
 * several chunks are stored and merged. */
typedef struct tiled {
    const lt_reduce_plan *plan;
    int pass;
    int64_t tiles_across, chunks, rows, width;
    lt_total *parts;      /* NULL for one chunk */
    lt_total *first;      /* parameters of the first pass, one per column, if it has any */
    lt_total *parameters; /* of the second pass */
} tiled;

/* The address of a tile; *n: its number of columns. */
static void tile_at(const tiled *t, int64_t tile, int64_t *n, char **ptrs)
{
    const lt_reduce_plan *p = t->plan;
    const int64_t column = tile % t->tiles_across * LT_REDUCE_TILE,
                  left = p->it->sizes[p->reduced_dims] - column;
    *n = left < LT_REDUCE_TILE ? left : LT_REDUCE_TILE;
    lt_reduce_result_at(p->it, p->reduced_dims + 1, tile / t->tiles_across, ptrs);
    ptrs[0] += column * p->it->strides[0][p->reduced_dims];
    ptrs[1] += column * p->in_size;
}

static void tile_job(const void *context, int64_t job)
{
    const tiled *t = context;
    const lt_reduce_plan *p = t->plan;
    tile_rows all = {.to = p->count};
    tile_at(t, job, &all.width, all.ptrs);
    lt_total totals[LT_REDUCE_TILE], parameters[LT_REDUCE_TILE], first[LT_REDUCE_TILE];
    if (p->npasses == 2) {
        const lt_total *before = lt_reduce_before(p, all.ptrs[1], p->in_size, all.width, first);
        reduce_tile(p, 0, &all, before, parameters);
        lt_reduce_between(p, parameters, before, all.width);
    }
    reduce_tile(p, p->npasses - 1, &all, p->npasses == 2 ? parameters : NULL, totals);
    lt_reduce_store(p, all.ptrs[0], p->it->strides[0][p->reduced_dims], totals, parameters,
                    all.width);
}

static void chunk_job(const void *context, int64_t job)
{
    const tiled *t = context;
    const int64_t count = t->plan->count, from = job % t->chunks * t->rows, to = from + t->rows;
    const int64_t tile = job / t->chunks;
    tile_rows rows = {.from = from < count ? from : count, .to = to < count ? to : count};
    tile_at(t, tile, &rows.width, rows.ptrs);
    const lt_total *parameters = t->pass == 1 ? t->parameters : t->plan->varies ? t->first : NULL;
    reduce_tile(t->plan, t->pass, &rows, parameters != NULL ? parameters + tile * t->width : NULL,
                t->parts + job * t->width);
}

/* Merges the chunks of a slice of a tile into the first one. After the last pass, stores the
 * results. */
static void join_job(const void *context, int64_t job)
{
    const tiled *t = context;
    const lt_reduce_plan *p = t->plan;
    const int64_t slices = (t->width + LT_BLOCK - 1) / LT_BLOCK, tile = job / slices,
                  from = job % slices * LT_BLOCK;
    char *ptrs[2];
    int64_t n;
    tile_at(t, tile, &n, ptrs);
    if (from >= n) return;
    if (n > from + LT_BLOCK) n = from + LT_BLOCK;
    lt_total *totals = t->parts + tile * t->chunks * t->width + from,
             *parameters = t->parameters + tile * t->width + from;
    for (int64_t chunk = 1; chunk < t->chunks; chunk++)
        p->passes[t->pass]->merge(totals, totals + chunk * t->width, n - from);
    if (t->pass == p->npasses - 1) {
        const int64_t stride = p->it->strides[0][p->reduced_dims];
        lt_reduce_store(p, ptrs[0] + from * stride, stride, totals, parameters, n - from);
        return;
    }
    for (int64_t j = 0; j < n - from; j++) parameters[j] = totals[j];
    lt_reduce_between(p, parameters, t->first + tile * t->width + from, n - from);
}

lt_status lt_reduce_columns(const lt_reduce_plan *p)
{
    const int64_t across = p->it->sizes[p->reduced_dims],
                  tiles_across = (across + LT_REDUCE_TILE - 1) / LT_REDUCE_TILE;
    const int64_t tiles = p->results / across * tiles_across,
                  width = across < LT_REDUCE_TILE ? across : LT_REDUCE_TILE;
    const int64_t chunks = tiles >= LT_REDUCE_CHUNKS
                               ? 1
                               : lt_cpu_cut(p->count * width / LT_REDUCE_LONG, LT_REDUCE_CHUNKS);
    int threads = lt_cpu_threads_for(p->it->numel);
    tiled t = {.plan = p, .tiles_across = tiles_across, .chunks = chunks, .width = width};
    if (chunks <= 1) return lt_parallel_for(tiles, threads, tile_job, &t);
    t.rows = (p->count + chunks - 1) / chunks;
    if (p->fusion != NULL && !lt_fused_divides(p->fusion, t.rows * across)) threads = 1;
    t.parts = lt_mem_array(lt_mul_sat(lt_mul_sat(tiles, chunks + 2), width), sizeof *t.parts);
    if (t.parts == NULL) return LT_ERR_MEMORY;
    t.parameters = t.parts + tiles * chunks * width;
    t.first = t.parameters + tiles * width;
    for (int64_t tile = 0; tile < tiles; tile++) {
        char *ptrs[2];
        int64_t n;
        tile_at(&t, tile, &n, ptrs);
        lt_reduce_before(p, ptrs[1], p->in_size, n, t.first + tile * width);
    }
    const int64_t slices = (width + LT_BLOCK - 1) / LT_BLOCK;
    lt_status status = LT_OK;
    for (; t.pass < p->npasses && status == LT_OK; t.pass++) {
        status = lt_parallel_for(tiles * chunks, threads, chunk_job, &t);
        if (status == LT_OK)
            status = lt_parallel_for(tiles * slices, lt_cpu_threads_for(tiles * chunks * width),
                                     join_job, &t);
    }
    lt_mem_free(t.parts);
    return status;
}
