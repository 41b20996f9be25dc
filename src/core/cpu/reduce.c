/* reduce.c - reductions on the CPU: sum, mean, prod, max, min, any, all, norm.
 *
 * Elements are read as float, double, int64 or bool (others are converted block by block) and accumulated
 * by the loops of vector/rows.c in that type, at most FLUSH rows; then the accumulators are added up in
 * double (int64). A sum of floats is so as exact as PyTorch's cascade. Two ways: along the lines (the
 * reduced dimension is cut into rows of LT_ROWS_WIDTH lanes), or down the columns, when the dimension
 * that stays is the dense one. How the work is cut depends on sizes only, never on the number of
 * threads, so the result doesn't either. */
#include <math.h>

#include "cpu.h"
#include "dtype.h"
#include "error.h"
#include "for_each.h"
#include "interrupt.h"
#include "mem.h"
#include "threads.h"

#define FLUSH 128
#define BLOCK 1024 /* elements converted at a time */
#define TILE 512   /* columns at a time */
#define CHUNK ((int64_t)131072)
#define MOST_CHUNKS 64

typedef union accumulator {
    double d;
    int64_t i;
} accumulator;

/* How partial results are joined. */
typedef enum join { JOIN_SUM, JOIN_PROD, JOIN_MAX, JOIN_MIN } join;

typedef struct plan {
    lt_reduction op;
    lt_rows_loop rows, join_rows;
    join join;
    int type;             /* LT_ROWS_F32 ... */
    lt_dtype read;        /* elements are read as this dtype */
    int64_t size;         /* bytes of it */
    int64_t in_size;      /* bytes of the input's elements */
    lt_loop convert;      /* from the input's dtype to it; NULL when it is the same */
    lt_loop gather;       /* as convert, or a copy: for strided input */
    lt_loop store;        /* accumulators to the output's dtype */
    accumulator identity;
    char identity_row[LT_ROWS_WIDTH * 8];
    double parameter;
    int64_t count; /* reduced elements per result */
} plan;

/* ---- planning --------------------------------------------------------------------------------------- */

static lt_dtype read_dtype(lt_reduction op, lt_dtype in, lt_dtype out)
{
    if (op == LT_REDUCE_ANY || op == LT_REDUCE_ALL) return LT_BOOL;
    lt_dtype decides = op == LT_REDUCE_MAX || op == LT_REDUCE_MIN ? in : out;
    if (!lt_dtype_is_float(decides)) return LT_INT64;
    return decides == LT_FLOAT64 ? LT_FLOAT64 : LT_FLOAT32;
}

static lt_rows_op norm_rows(double p)
{
    if (p == 2) return LT_ROWS_SUM_SQUARE;
    if (p == 1) return LT_ROWS_SUM_ABS;
    if (p == 0) return LT_ROWS_COUNT;
    if (isinf(p)) return p > 0 ? LT_ROWS_MAX_ABS : LT_ROWS_MIN_ABS;
    return LT_ROWS_SUM_POWER;
}

static lt_rows_op rows_of(lt_reduction op, double parameter)
{
    switch (op) {
    case LT_REDUCE_PROD: return LT_ROWS_PROD;
    case LT_REDUCE_MAX:
    case LT_REDUCE_ANY: return LT_ROWS_MAX;
    case LT_REDUCE_MIN:
    case LT_REDUCE_ALL: return LT_ROWS_MIN;
    case LT_REDUCE_NORM: return norm_rows(parameter);
    default: return LT_ROWS_SUM;
    }
}

static join join_of(lt_rows_op rows)
{
    switch (rows) {
    case LT_ROWS_PROD: return JOIN_PROD;
    case LT_ROWS_MAX:
    case LT_ROWS_MAX_ABS: return JOIN_MAX;
    case LT_ROWS_MIN:
    case LT_ROWS_MIN_ABS: return JOIN_MIN;
    default: return JOIN_SUM;
    }
}

static void set_identity(plan *p, lt_rows_op rows)
{
    bool integers = p->type >= LT_ROWS_I64;
    if (p->join == JOIN_SUM || (p->join == JOIN_MAX && p->op == LT_REDUCE_NORM))
        p->identity.i = 0; /* 0.0 too */
    else if (p->join == JOIN_PROD)
        p->identity = integers ? (accumulator){.i = 1} : (accumulator){.d = 1};
    else if (p->type == LT_ROWS_U8)
        p->identity.i = rows == LT_ROWS_MIN;
    else if (p->join == JOIN_MAX)
        p->identity = integers ? (accumulator){.i = INT64_MIN} : (accumulator){.d = -INFINITY};
    else
        p->identity = integers ? (accumulator){.i = INT64_MAX} : (accumulator){.d = INFINITY};
    char *row = p->identity_row;
    for (int j = 0; j < LT_ROWS_WIDTH; j++)
        switch (p->type) {
        case LT_ROWS_F32: ((float *)row)[j] = (float)p->identity.d; break;
        case LT_ROWS_U8: ((uint8_t *)row)[j] = (uint8_t)p->identity.i; break;
        default: ((int64_t *)row)[j] = p->identity.i; break; /* a double has the same bits */
        }
}

static lt_status make_plan(plan *p, lt_reduction op, const lt_iter *it, int reduced_dims, double parameter)
{
    lt_dtype in = it->dtype[1], out = it->dtype[0];
    p->op = op;
    p->parameter = parameter;
    p->read = read_dtype(op, in, out);
    p->size = (int64_t)lt_dtype_size(p->read);
    p->in_size = (int64_t)lt_dtype_size(in);
    p->type = p->read == LT_FLOAT32   ? LT_ROWS_F32
              : p->read == LT_FLOAT64 ? LT_ROWS_F64
              : p->read == LT_INT64   ? LT_ROWS_I64
                                      : LT_ROWS_U8;
    lt_rows_op rows = rows_of(op, parameter);
    p->rows = lt_loops.rows[rows][p->type];
    if (p->rows == NULL || (op == LT_REDUCE_MEAN && p->type == LT_ROWS_I64))
        return lt_error(LT_ERR_RUNTIME, "\"%s\" not implemented for '%s'",
                        op == LT_REDUCE_MEAN ? "mean" : "norm", lt_dtype_scalar_name(in));
    p->join = join_of(rows);
    static const lt_rows_op joined_by[] = {LT_ROWS_SUM, LT_ROWS_PROD, LT_ROWS_MAX, LT_ROWS_MIN};
    p->join_rows = lt_loops.rows[joined_by[p->join]][p->type];
    p->gather = lt_loops.cast[p->read][in];
    p->convert = in == p->read ? NULL : p->gather;
    p->store = lt_loops.cast[out][p->type >= LT_ROWS_I64 ? LT_INT64 : LT_FLOAT64];
    p->count = 1;
    for (int d = 0; d < reduced_dims; d++) p->count *= it->sizes[d];
    set_identity(p, rows);
    return LT_OK;
}

/* ---- joining and finishing -------------------------------------------------------------------------- */

static double join_double(join join, double a, double b)
{
    switch (join) {
    case JOIN_SUM: return a + b;
    case JOIN_PROD: return a * b;
    case JOIN_MAX: return b > a || b != b ? b : a;
    default: return b < a || b != b ? b : a;
    }
}

static int64_t join_int(join join, int64_t a, int64_t b)
{
    switch (join) {
    case JOIN_SUM: return (int64_t)((uint64_t)a + (uint64_t)b);
    case JOIN_PROD: return (int64_t)((uint64_t)a * (uint64_t)b);
    case JOIN_MAX: return b > a ? b : a;
    default: return b < a ? b : a;
    }
}

static void join_into(const plan *p, accumulator *a, accumulator b)
{
    if (p->type >= LT_ROWS_I64)
        a->i = join_int(p->join, a->i, b.i);
    else
        a->d = join_double(p->join, a->d, b.d);
}

static accumulator lane_at(const plan *p, const void *lanes, int64_t j)
{
    switch (p->type) {
    case LT_ROWS_F32: return (accumulator){.d = ((const float *)lanes)[j]};
    case LT_ROWS_F64: return (accumulator){.d = ((const double *)lanes)[j]};
    case LT_ROWS_I64: return (accumulator){.i = ((const int64_t *)lanes)[j]};
    default: return (accumulator){.i = ((const uint8_t *)lanes)[j]};
    }
}

/* Joins the first n lanes into a; overwrites them. */
static void fold(const plan *p, accumulator *a, char *lanes, int64_t n)
{
    if (n == LT_ROWS_WIDTH)
        for (; n > 8; n /= 2) p->join_rows(lanes, lanes + n / 2 * p->size, 0, 1, n / 2, 0);
    for (int64_t j = 0; j < n; j++) join_into(p, a, lane_at(p, lanes, j));
}

static accumulator finish(const plan *p, accumulator a)
{
    if (p->op == LT_REDUCE_MEAN) a.d /= (double)p->count;
    if (p->op == LT_REDUCE_NORM && p->parameter != 1 && p->parameter != 0 && !isinf(p->parameter))
        a.d = p->parameter == 2 ? sqrt(a.d) : pow(a.d, 1 / p->parameter);
    return a;
}

static void store(const plan *p, char *out, int64_t stride, accumulator *a, int64_t n)
{
    for (int64_t j = 0; j < n; j++) a[j] = finish(p, a[j]);
    p->store((char *[]){out, (char *)a}, (int64_t[]){stride, sizeof *a}, n, NULL);
}

/* ---- along the lines ---------------------------------------------------------------------------------- */

/* n elements of the dtype read, dense. */
static void reduce_dense(const plan *p, accumulator *a, const char *in, int64_t n)
{
    _Alignas(64) char lanes[LT_ROWS_WIDTH * 8];
    const int64_t row = LT_ROWS_WIDTH * p->size;
    int64_t rows = n / LT_ROWS_WIDTH, rest = n % LT_ROWS_WIDTH;
    while (rows > 0) {
        int64_t batch = rows < FLUSH ? rows : FLUSH;
        memcpy(lanes, p->identity_row, (size_t)row);
        p->rows(lanes, in, row, batch, LT_ROWS_WIDTH, p->parameter);
        fold(p, a, lanes, LT_ROWS_WIDTH);
        in += batch * row;
        rows -= batch;
    }
    if (rest == 0) return;
    memcpy(lanes, p->identity_row, (size_t)(rest * p->size));
    p->rows(lanes, in, 0, 1, rest, p->parameter);
    fold(p, a, lanes, rest);
}

/* Context of the loops below: they are walked over the reduced dimensions. Operand 1 is the input. */
typedef struct line {
    const plan *plan;
    accumulator *total;
} line;

static void reduce_run(char *const *ptrs, const int64_t *strides, int64_t n, const void *context)
{
    const line *l = context;
    const plan *p = l->plan;
    if (p->convert == NULL && strides[1] == p->size) {
        reduce_dense(p, l->total, ptrs[1], n);
        return;
    }
    _Alignas(64) char block[BLOCK * 8];
    for (int64_t from = 0; from < n; from += BLOCK) {
        int64_t m = n - from < BLOCK ? n - from : BLOCK;
        p->gather((char *[]){block, ptrs[1] + from * strides[1]}, (int64_t[]){p->size, strides[1]}, m, NULL);
        reduce_dense(p, l->total, block, m);
    }
}

/* One result of which every chunk of elements is a job. */
typedef struct long_line {
    const plan *plan;
    const lt_iter *it;
    int reduced_dims;
    char *const *ptrs;
    int64_t chunk;
    accumulator *parts;
} long_line;

static void reduce_chunk(const void *context, int64_t job)
{
    const long_line *j = context;
    const int64_t count = j->plan->count, from = job * j->chunk, to = from + j->chunk;
    line l = {j->plan, &j->parts[job]};
    j->parts[job] = j->plan->identity;
    lt_cpu_walk(j->it, j->reduced_dims, j->ptrs, from, to < count ? to : count, reduce_run, &l);
}

static lt_status reduce_long_line(const plan *p, const lt_iter *it, int reduced_dims, char *const *ptrs)
{
    accumulator parts[MOST_CHUNKS];
    int64_t chunk = (p->count + MOST_CHUNKS - 1) / MOST_CHUNKS;
    if (chunk < CHUNK) chunk = CHUNK;
    /* whole rows of lanes, so that chunks begin aligned when the data do */
    chunk = (chunk + FLUSH * LT_ROWS_WIDTH - 1) / (FLUSH * LT_ROWS_WIDTH) * (FLUSH * LT_ROWS_WIDTH);
    const int chunks = (int)((p->count + chunk - 1) / chunk);
    const long_line job = {p, it, reduced_dims, ptrs, chunk, parts};
    LT_TRY(lt_cpu_share(chunks, lt_cpu_threads_for(p->count), reduce_chunk, &job));
    accumulator total = parts[0];
    for (int c = 1; c < chunks; c++) join_into(p, &total, parts[c]);
    store(p, ptrs[0], 0, &total, 1);
    return LT_OK;
}

/* Addresses of result number `index` (counted along the dimensions that stay), operands 0 and 1. */
static void result_at(const lt_iter *it, int first_dim, int64_t index, char **ptrs)
{
    ptrs[0] = it->data[0];
    ptrs[1] = it->data[1];
    for (int d = first_dim; d < it->ndim; d++) {
        int64_t position = index % it->sizes[d];
        index /= it->sizes[d];
        ptrs[0] += position * it->strides[0][d];
        ptrs[1] += position * it->strides[1][d];
    }
}

/* Short lines: a batch of results is a job. */
typedef struct short_lines {
    const plan *plan;
    const lt_iter *it;
    int reduced_dims;
    int64_t results, batch;
} short_lines;

static void reduce_batch(const void *context, int64_t job)
{
    const short_lines *j = context;
    const int64_t first = job * j->batch, end = first + j->batch;
    for (int64_t r = first; r < end && r < j->results; r++) {
        char *ptrs[2];
        accumulator total = j->plan->identity;
        line l = {j->plan, &total};
        result_at(j->it, j->reduced_dims, r, ptrs);
        lt_cpu_walk(j->it, j->reduced_dims, ptrs, 0, j->plan->count, reduce_run, &l);
        store(j->plan, ptrs[0], 0, &total, 1);
    }
}

static lt_status reduce_lines(const plan *p, const lt_iter *it, int reduced_dims, int64_t results)
{
    if (p->count >= 2 * CHUNK) {
        for (int64_t r = 0; r < results; r++) {
            char *ptrs[2];
            result_at(it, reduced_dims, r, ptrs);
            LT_TRY(reduce_long_line(p, it, reduced_dims, ptrs));
        }
        return LT_OK;
    }
    const int threads = results > 1 ? lt_cpu_threads_for(it->numel) : 1;
    const int64_t batch = 1 + LT_CPU_GRAIN / p->count;
    const short_lines job = {p, it, reduced_dims, results, batch};
    return lt_cpu_share((results + batch - 1) / batch, threads, reduce_batch, &job);
}

/* ---- down the columns ------------------------------------------------------------------------------- */

typedef struct columns {
    const plan *plan;
    int64_t width;
    accumulator *totals; /* width of them */
    char *lanes;         /* width accumulators of the dtype read */
    int64_t *pending;    /* rows in lanes that have not been joined into totals */
} columns;

static void clear_lanes(const columns *c)
{
    const plan *p = c->plan;
    for (int64_t j = 0; j < c->width; j += LT_ROWS_WIDTH) {
        int64_t n = c->width - j < LT_ROWS_WIDTH ? c->width - j : LT_ROWS_WIDTH;
        memcpy(c->lanes + j * p->size, p->identity_row, (size_t)(n * p->size));
    }
    *c->pending = 0;
}

static void flush_lanes(const columns *c)
{
    if (*c->pending == 0) return;
    for (int64_t j = 0; j < c->width; j++) join_into(c->plan, &c->totals[j], lane_at(c->plan, c->lanes, j));
    clear_lanes(c);
}

/* n rows, strides[1] apart. */
static void reduce_rows(char *const *ptrs, const int64_t *strides, int64_t n, const void *context)
{
    const columns *c = context;
    const plan *p = c->plan;
    const char *row = ptrs[1];
    _Alignas(64) char block[TILE * 8];
    while (n > 0) {
        if (*c->pending == FLUSH) flush_lanes(c);
        int64_t m = FLUSH - *c->pending < n ? FLUSH - *c->pending : n;
        if (p->convert == NULL) {
            p->rows(c->lanes, row, strides[1], m, c->width, p->parameter);
        } else {
            for (int64_t i = 0; i < m; i++) {
                p->convert((char *[]){block, (char *)row + i * strides[1]}, (int64_t[]){p->size, p->in_size},
                           c->width, NULL);
                p->rows(c->lanes, block, 0, 1, c->width, p->parameter);
            }
        }
        *c->pending += m;
        row += m * strides[1];
        n -= m;
    }
}

/* Rows [from, to) of a tile into totals. */
static void reduce_tile(const plan *p, const lt_iter *it, int reduced_dims, char *const *ptrs, int64_t from,
                        int64_t to, accumulator *totals, int64_t width)
{
    _Alignas(64) char lanes[TILE * 8];
    int64_t pending = 0;
    columns c = {p, width, totals, lanes, &pending};
    for (int64_t j = 0; j < width; j++) totals[j] = p->identity;
    clear_lanes(&c);
    lt_cpu_walk(it, reduced_dims, ptrs, from, to, reduce_rows, &c);
    flush_lanes(&c);
}

/* Tiles of up to TILE columns, each cut into `chunks` runs of rows; partial results of several
 * chunks are kept and joined in order. */
typedef struct tiled {
    const plan *plan;
    const lt_iter *it;
    int reduced_dims; /* the dense dimension comes right after them */
    int64_t tiles_across, chunks, rows, width;
    accumulator *parts; /* NULL for one chunk */
} tiled;

/* Column where a tile begins; *n: how many columns it has, ptrs: where its group of columns starts. */
static int64_t tile_at(const tiled *t, int64_t tile, int64_t *n, char **ptrs)
{
    const int64_t column = tile % t->tiles_across * TILE, left = t->it->sizes[t->reduced_dims] - column;
    *n = left < TILE ? left : TILE;
    result_at(t->it, t->reduced_dims + 1, tile / t->tiles_across, ptrs);
    return column;
}

static void store_tile(const tiled *t, char *out, int64_t column, accumulator *totals, int64_t n)
{
    const int64_t stride = t->it->strides[0][t->reduced_dims];
    store(t->plan, out + column * stride, stride, totals, n);
}

static void reduce_tile_chunk(const void *context, int64_t job)
{
    const tiled *t = context;
    char *ptrs[2];
    int64_t n, column = tile_at(t, job / t->chunks, &n, ptrs), count = t->plan->count;
    int64_t from = job % t->chunks * t->rows, to = from + t->rows < count ? from + t->rows : count;
    accumulator here[TILE], *totals = t->parts != NULL ? t->parts + job * t->width : here;
    ptrs[1] += column * t->plan->in_size;
    reduce_tile(t->plan, t->it, t->reduced_dims, ptrs, from < to ? from : to, to, totals, n);
    if (t->parts == NULL) store_tile(t, ptrs[0], column, totals, n);
}

static void join_tile(const tiled *t, int64_t tile)
{
    char *ptrs[2];
    int64_t n, column = tile_at(t, tile, &n, ptrs);
    accumulator *totals = t->parts + tile * t->chunks * t->width;
    for (int64_t chunk = 1; chunk < t->chunks; chunk++)
        for (int64_t j = 0; j < n; j++) join_into(t->plan, &totals[j], totals[chunk * t->width + j]);
    store_tile(t, ptrs[0], column, totals, n);
}

static lt_status reduce_columns(const plan *p, const lt_iter *it, int reduced_dims, int64_t results)
{
    const int64_t columns_total = it->sizes[reduced_dims], tiles_across = (columns_total + TILE - 1) / TILE;
    const int64_t outer = results / columns_total, tiles = outer * tiles_across;
    const int64_t width = columns_total < TILE ? columns_total : TILE;
    int64_t chunks = tiles >= MOST_CHUNKS ? 1 : p->count * width / CHUNK;
    if (chunks > MOST_CHUNKS) chunks = MOST_CHUNKS;
    if (chunks < 1) chunks = 1;
    const int64_t rows = (p->count + chunks - 1) / chunks;
    accumulator *parts = NULL;
    if (chunks > 1) parts = lt_mem_alloc((size_t)(tiles * chunks * width) * sizeof *parts);
    if (chunks > 1 && parts == NULL) return LT_ERR_MEMORY;
    const tiled t = {p, it, reduced_dims, tiles_across, chunks, rows, width, parts};
    lt_status status = lt_cpu_share(tiles * chunks, lt_cpu_threads_for(it->numel), reduce_tile_chunk, &t);
    for (int64_t tile = 0; parts != NULL && status == LT_OK && tile < tiles; tile++) join_tile(&t, tile);
    lt_mem_free(parts);
    return status;
}

/* ---- entry ---------------------------------------------------------------------------------------------- */

static bool by_columns(const plan *p, const lt_iter *it, int reduced_dims)
{
    if (reduced_dims == 0 || reduced_dims >= it->ndim) return false;
    return it->strides[1][reduced_dims] == p->in_size && it->strides[1][0] != p->in_size &&
           it->sizes[reduced_dims] >= 4;
}

lt_status lt_cpu_reduce(lt_reduction op, const lt_iter *it, int reduced_dims, double parameter)
{
    plan p;
    LT_TRY(make_plan(&p, op, it, reduced_dims, parameter));
    int64_t results = 1;
    for (int d = reduced_dims; d < it->ndim; d++) results *= it->sizes[d];
    if (results == 0) return LT_OK;
    if (p.count > 0 && by_columns(&p, it, reduced_dims)) return reduce_columns(&p, it, reduced_dims, results);
    if (p.count > 0) return reduce_lines(&p, it, reduced_dims, results);
    for (int64_t r = 0; r < results; r++) {
        char *ptrs[2];
        accumulator total = p.identity;
        result_at(it, reduced_dims, r, ptrs);
        store(&p, ptrs[0], 0, &total, 1);
    }
    return LT_OK;
}
