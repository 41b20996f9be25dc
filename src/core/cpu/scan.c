/* scan.c - along a dimension: the largest or smallest element with its position, and running totals. Lines
 * are brought block by block into float, double or int64 (exactly); running totals are kept in double. */
#include <math.h>

#include "cpu.h"
#include "dtype.h"
#include "interrupt.h"
#include "lines.h"
#include "loops.h"
#include "threads.h"

/* ---- extremes ----------------------------------------------------------------------------------------- */

#define LONG 128

/* Best element so far of a line. */
typedef struct best {
    union {
        float f32;
        double f64;
        int64_t i64;
    } value;
    int64_t index;
} best;

/* Position of the first extreme of n dense elements; a nan counts as extreme. Long blocks: the value comes
 * from the vector loop, then it is looked for. extend: takes in a block of a line; the first one, from 0, is
 * all there is, and nothing is compared with it. */
#define EXTREME(s, T, TYPE, FIELD)                                                                 \
    static int64_t first_extreme_##s(bool maximum, const T *x, int64_t n)                          \
    {                                                                                              \
        int64_t at = 0;                                                                            \
        if (n >= LONG) {                                                              \
            const lt_reduce_loops *loops = &lt_loops.rows[maximum ? LT_ROWS_MAX : LT_ROWS_MIN][TYPE]; \
            lt_total total = loops->identity;                                                      \
            loops->line(&total, (const char *)x, 0, 1, n, 0);                                      \
            T most = (T)total.FIELD;                                                               \
            if (most == most)                                                                      \
                while (x[at] != most) at++;                                                        \
            else                                                                                   \
                while (x[at] == x[at]) at++;                                                       \
            return at;                                                                             \
        }                                                                                          \
        for (int64_t i = 1; i < n && x[at] == x[at]; i++)                                          \
            if ((maximum ? x[i] > x[at] : x[i] < x[at]) || x[i] != x[i]) at = i;                   \
        return at;                                                                                 \
    }                                                                                              \
    static void extend_##s(bool maximum, best *b, const void *block, int64_t from, int64_t n)      \
    {                                                                                              \
        const T *x = block;                                                                        \
        int64_t at = first_extreme_##s(maximum, x, n);                                             \
        if (from > 0) {                                                                            \
            T old = b->value.s;                                                                    \
            bool better = maximum ? x[at] > old : x[at] < old;                                     \
            if (old != old || !(better || x[at] != x[at])) return;                                 \
        }                                                                                          \
        b->value.s = x[at];                                                                        \
        b->index = from + at;                                                                      \
    }
EXTREME(f32, float, LT_ROWS_F32, d)
EXTREME(f64, double, LT_ROWS_F64, d)
EXTREME(i64, int64_t, LT_ROWS_I64, i)
#undef EXTREME

typedef void (*extend_fn)(bool, best *, const void *, int64_t, int64_t);

/* Lines [first, last). View 0: input, 1: values, 2: indices. */
static void extreme_tile(const lt_lines *lines, bool maximum, lt_dtype read, bool values, bool indices,
                         int64_t first, int64_t last)
{
    extend_fn extend = read == LT_FLOAT32 ? extend_f32 : read == LT_FLOAT64 ? extend_f64 : extend_i64;
    best found[LT_LINES_TILE];
    char *at[LT_LINES_TILE];
    _Alignas(64) char block[LT_LINES_BLOCK * 8];
    const bool dense = lines->dtype[0] == read && lines->step[0] == (int64_t)lt_dtype_size(read);
    for (int64_t l = first; l < last; l++) at[l - first] = lt_line_at(lines, 0, l);
    for (int64_t from = 0; from < lines->length; from += LT_LINES_BLOCK) {
        int64_t n = lines->length - from < LT_LINES_BLOCK ? lines->length - from : LT_LINES_BLOCK;
        for (int64_t l = 0; l < last - first; l++) {
            if (!dense) lt_line_load(lines, 0, at[l], from, n, block, read);
            extend(maximum, &found[l], dense ? at[l] + from * lines->step[0] : block, from, n);
        }
    }
    for (int64_t l = first; l < last; l++) {
        best *b = &found[l - first];
        if (values) lt_line_store(lines, 1, lt_line_at(lines, 1, l), 0, 1, &b->value, read);
        if (indices) lt_line_store(lines, 2, lt_line_at(lines, 2, l), 0, 1, &b->index, LT_INT64);
    }
}

typedef struct extreme_job {
    lt_lines lines;
    lt_dtype read;
    bool maximum, values, indices;
} extreme_job;

static void run_extreme(const void *context, int64_t tile)
{
    const extreme_job *j = context;
    const int64_t first = tile * LT_LINES_TILE, last = first + LT_LINES_TILE;
    extreme_tile(&j->lines, j->maximum, j->read, j->values, j->indices, first,
                 last < j->lines.count ? last : j->lines.count);
}

/* Threads for tiles of lines; one line alone is one job. */
static int threads_for_lines(const lt_lines *lines)
{
    return lt_cpu_threads_for(lines->count > 1 ? lines->count * lines->length : 0);
}

lt_status lt_cpu_extreme(bool maximum, const lt_array *values, const lt_array *indices, const lt_array *in, int dim)
{
    extreme_job j = {.maximum = maximum, .values = values != NULL, .indices = indices != NULL};
    j.read = in->dtype == LT_FLOAT64 ? LT_FLOAT64 : lt_dtype_is_float(in->dtype) ? LT_FLOAT32 : LT_INT64;
    lt_lines_of(&j.lines, (const lt_array *const[]){in, values, indices}, 3, dim);
    return lt_cpu_share((j.lines.count + LT_LINES_TILE - 1) / LT_LINES_TILE, threads_for_lines(&j.lines), run_extreme,
                        &j);
}

/* ---- running totals ---------------------------------------------------------------------------------- */

/* log(exp(a) + exp(b)); two infinities alike stay what they are. */
static double log_add(double a, double b)
{
    double most = a > b || a != a ? a : b, least = a > b || a != a ? b : a;
    return isinf(most) && most == least ? most : most + log1p(exp(least - most));
}

typedef union total {
    double d;
    uint64_t i;
} total;

/* Turns n dense elements into running totals that go on from `so_far`. */
static void accumulate_double(lt_scan op, double *x, int64_t n, total *so_far)
{
    double t = so_far->d;
    if (op == LT_SCAN_SUM)
        for (int64_t i = 0; i < n; i++) x[i] = t += x[i];
    else if (op == LT_SCAN_PROD)
        for (int64_t i = 0; i < n; i++) x[i] = t *= x[i];
    else
        for (int64_t i = 0; i < n; i++) x[i] = t = log_add(t, x[i]);
    so_far->d = t;
}

static void accumulate_int(lt_scan op, uint64_t *x, int64_t n, total *so_far)
{
    uint64_t t = so_far->i;
    if (op == LT_SCAN_SUM)
        for (int64_t i = 0; i < n; i++) x[i] = t += x[i];
    else
        for (int64_t i = 0; i < n; i++) x[i] = t *= x[i];
    so_far->i = t;
}

typedef struct scan_job {
    lt_lines lines; /* view 0: input, 1: output */
    lt_scan op;
} scan_job;

static void scan_tile(const lt_lines *lines, lt_scan op, bool integers, int64_t first, int64_t last)
{
    total totals[LT_LINES_TILE];
    char *in[LT_LINES_TILE], *out[LT_LINES_TILE];
    _Alignas(64) char block[LT_LINES_BLOCK * 8];
    const lt_dtype computed = integers ? LT_INT64 : LT_FLOAT64;
    for (int64_t l = 0; l < last - first; l++) {
        if (integers)
            totals[l].i = op == LT_SCAN_PROD;
        else
            totals[l].d = op == LT_SCAN_PROD ? 1 : op == LT_SCAN_SUM ? 0 : -(double)INFINITY;
        in[l] = lt_line_at(lines, 0, first + l);
        out[l] = lt_line_at(lines, 1, first + l);
    }
    for (int64_t from = 0; from < lines->length; from += LT_LINES_BLOCK) {
        int64_t n = lines->length - from < LT_LINES_BLOCK ? lines->length - from : LT_LINES_BLOCK;
        for (int64_t l = 0; l < last - first; l++) {
            lt_line_load(lines, 0, in[l], from, n, block, computed);
            if (integers)
                accumulate_int(op, (uint64_t *)(void *)block, n, &totals[l]);
            else
                accumulate_double(op, (double *)(void *)block, n, &totals[l]);
            lt_line_store(lines, 1, out[l], from, n, block, computed);
        }
    }
}

static void run_scan(const void *context, int64_t tile)
{
    const scan_job *j = context;
    const int64_t first = tile * LT_LINES_TILE, last = first + LT_LINES_TILE;
    scan_tile(&j->lines, j->op, !lt_dtype_is_float(j->lines.dtype[1]), first,
              last < j->lines.count ? last : j->lines.count);
}

lt_status lt_cpu_scan(lt_scan op, const lt_array *out, const lt_array *in, int dim)
{
    scan_job j = {.op = op};
    lt_lines_of(&j.lines, (const lt_array *const[]){in, out}, 2, dim);
    return lt_cpu_share((j.lines.count + LT_LINES_TILE - 1) / LT_LINES_TILE, threads_for_lines(&j.lines), run_scan, &j);
}
