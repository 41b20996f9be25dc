/* extreme.c - the largest or smallest element along a dimension with its position (max, argmax).
 * For a contiguous 1-D slice ("line") the extreme of each block is computed first; its position is
 * searched once, in the best block. Interleaved slices are compared row by row, and so are short
 * contiguous ones, which are transposed first. Others are converted block by block to float, double
 * or int64 (exactly). */
#include <string.h>

#include "cpu/cpu.h"
#include "dtypes/dtype.h"
#include "context/interrupt.h"
#include "cpu/common/slices.h"
#include "cpu/common/loops.h"
#include "memory/alloc.h"
#include "saturating.h"
#include "cpu/common/threads.h"
#include "cpu/common/sizes.h"

/* Contiguous slices are transposed up to SHORT elements, TURNED at a time: argmax along slices of
 * 100 elements takes 0.57 of the time that it takes with LT_SHORT_SLICE (Zen 5, 2026-11-28). */
#define SHORT  (4 * LT_SHORT_SLICE)
#define TURNED (LT_SHORT_SLICES / 2)

/* The result of a slice or a part of it. */
typedef struct best {
    lt_total value;
    int64_t index; /* -1: nothing yet */
} best;

typedef struct extreme_job {
    lt_slices lines; /* view 0: input, 1: values, 2: indices */
    lt_dtype read;
    int type; /* LT_ROWS_F32 ... */
    bool maximum, values, indices, dense;
    const lt_reduce_loops *most;
    const lt_scan_loops *loops;
    int64_t batch;         /* slices of a job */
    int64_t chunks, chunk; /* parts of a slice that are jobs; elements of one */
    best *parts;
} extreme_job;

static bool beats(const extreme_job *j, const best *b, lt_total value)
{
    if (b->index < 0) return true;
    if (j->type == LT_ROWS_I64) return j->maximum ? value.i > b->value.i : value.i < b->value.i;
    const double old = b->value.d, new = value.d;
    return old == old && ((j->maximum ? new > old : new < old) || new != new);
}

/* Merges n contiguous elements into b; the first is number `from` of its slice. */
static void extend(const extreme_job *j, best *b, const char *x, int64_t from, int64_t n)
{
    const int64_t size = (int64_t)lt_dtype_size(j->read);
    int64_t winner = -1;
    for (int64_t at = 0; at < n; at += LT_SLICE_BLOCK) {
        lt_total value = j->most->identity;
        j->most->line(&value, x + at * size, 0, 1,
                      n - at < LT_SLICE_BLOCK ? n - at : LT_SLICE_BLOCK, 0);
        if (!beats(j, b, value)) continue;
        winner = at;
        *b = (best){value, from + at};
    }
    if (winner < 0) return;
    const int64_t m = n - winner < LT_SLICE_BLOCK ? n - winner : LT_SLICE_BLOCK;
    b->index = from + winner + j->loops->find(x + winner * size, m, b->value);
}

static void store_best(const extreme_job *j, int64_t line, const best *b)
{
    const lt_dtype kept = j->type == LT_ROWS_I64 ? LT_INT64 : LT_FLOAT64;
    if (j->values)
        lt_slice_store(&j->lines, 1, lt_slice_at(&j->lines, 1, line), 0, 1, &b->value, kept);
    if (j->indices) *(int64_t *)(void *)lt_slice_at(&j->lines, 2, line) = b->index;
}

/* Elements [from, to) of slices [first, last), at most LT_LANES of them. */
static void extreme_tile(const extreme_job *j, int64_t first, int64_t last, int64_t from,
                         int64_t to, best *found)
{
    const lt_slices *lines = &j->lines;
    _Alignas(64) char block[LT_SLICE_BLOCK * 8];
    char *at[LT_LANES];
    for (int64_t l = first; l < last; l++) {
        at[l - first] = lt_slice_at(lines, 0, l);
        found[l - first].index = -1;
        if (j->dense)
            extend(j, &found[l - first], at[l - first] + from * lines->step[0], from, to - from);
    }
    for (; !j->dense && from < to; from += LT_SLICE_BLOCK) {
        int64_t n = to - from < LT_SLICE_BLOCK ? to - from : LT_SLICE_BLOCK;
        for (int64_t l = 0; l < last - first; l++) {
            lt_slice_load(lines, 0, at[l], from, n, block, j->read);
            extend(j, &found[l], block, from, n);
        }
    }
}

/* Stores value and place of n adjacent slices in the outputs. */
static void store_row(const extreme_job *j, int64_t first, int64_t n, char *value, char *place)
{
    const lt_slices *lines = &j->lines;
    const lt_dtype place_dtype = j->type == LT_ROWS_F32 ? LT_INT32 : LT_INT64;
    if (j->values)
        lt_loops.cast[lines->dtype[1]][j->read](
            (char *[]){lt_slice_at(lines, 1, first), value},
            (int64_t[]){lines->strides[1][0], (int64_t)lt_dtype_size(j->read)}, n, NULL);
    if (j->indices)
        lt_loops.cast[LT_INT64][place_dtype](
            (char *[]){lt_slice_at(lines, 2, first), place},
            (int64_t[]){lines->strides[2][0], (int64_t)lt_dtype_size(place_dtype)}, n, NULL);
}

/* Short contiguous slices, transposed to interleaved ones. */
static void run_turned(const void *context, int64_t job)
{
    const extreme_job *j = context;
    const lt_slices *lines = &j->lines;
    const int64_t end = (job + 1) * j->batch, last = end < lines->count ? end : lines->count;
    const int64_t size = (int64_t)lt_dtype_size(j->read), length = lines->length;
    _Alignas(64) char rows[TURNED * SHORT * 8], value[TURNED * 8], place[TURNED * 8];
    for (int64_t l = job * j->batch, n; l < last; l += n) {
        n = lt_slices_in_row(lines, l, l + TURNED < last ? l + TURNED : last);
        lt_loops.turn[size == 8](rows, TURNED, lt_slice_at(lines, 0, l),
                                 lines->strides[0][0] / size, n, length);
        memcpy(value, rows, (size_t)(n * size));
        memset(place, 0, sizeof place);
        j->loops->across(j->maximum, false,
                         &(lt_extreme_rows){rows + TURNED * size, TURNED * size, length - 1, n, 1,
                                            value, place});
        store_row(j, l, n, value, place);
    }
}

static void extreme_rows(const void *context, int64_t job)
{
    const extreme_job *j = context;
    const int64_t end = (job + 1) * j->batch, last = end < j->lines.count ? end : j->lines.count;
    best found[LT_LANES];
    for (int64_t l = job * j->batch; l < last; l += LT_LANES) {
        const int64_t n = last - l < LT_LANES ? last - l : LT_LANES;
        extreme_tile(j, l, l + n, 0, j->lines.length, found);
        for (int64_t i = 0; i < n; i++) store_best(j, l + i, &found[i]);
    }
}

static void extreme_chunk(const void *context, int64_t job)
{
    const extreme_job *j = context;
    const int64_t line = job / j->chunks, from = job % j->chunks * j->chunk, to = from + j->chunk;
    extreme_tile(j, line, line + 1, from, to < j->lines.length ? to : j->lines.length,
                 j->parts + job);
}

static lt_status run_long_lines(extreme_job *j, int threads)
{
    j->chunk = LT_CPU_GRAIN;
    j->chunks = (j->lines.length + LT_CPU_GRAIN - 1) / LT_CPU_GRAIN;
    j->parts = lt_mem_array(lt_mul_sat(j->lines.count, j->chunks), sizeof *j->parts);
    if (j->parts == NULL) return LT_ERR_MEMORY;
    lt_status status = lt_parallel_for(j->lines.count * j->chunks, threads, extreme_chunk, j);
    for (int64_t l = 0; l < j->lines.count && status == LT_OK; l++) {
        best b = j->parts[l * j->chunks];
        for (int64_t c = 1; c < j->chunks; c++)
            if (beats(j, &b, j->parts[l * j->chunks + c].value)) b = j->parts[l * j->chunks + c];
        store_best(j, l, &b);
    }
    lt_mem_free(j->parts);
    return status;
}

static void extreme_columns(const void *context, int64_t job)
{
    const extreme_job *j = context;
    const lt_slices *lines = &j->lines;
    const int64_t across = lines->sizes[0], tiles = (across + LT_COLUMNS - 1) / LT_COLUMNS;
    const int64_t column = job % tiles * LT_COLUMNS, first = job / tiles * across + column;
    const int64_t n = across - column < LT_COLUMNS ? across - column : LT_COLUMNS,
                  size = (int64_t)lt_dtype_size(j->read);
    _Alignas(64) char row[LT_COLUMNS * 8], value[LT_COLUMNS * 8], place[LT_COLUMNS * 8] = {0};
    const lt_loop load = lt_loops.cast[j->read][lines->dtype[0]];
    const int64_t load_strides[] = {size, lines->strides[0][0]};
    char *in = lt_slice_at(lines, 0, first);
    load((char *[]){value, in}, load_strides, n, NULL);
    if (lines->dtype[0] == j->read) {
        const int64_t rows = LT_INTERRUPT_STEP / LT_COLUMNS;
        for (int64_t i = 1; i < lines->length && !lt_interrupted(); i += rows)
            j->loops->across(j->maximum, false,
                             &(lt_extreme_rows){in + i * lines->step[0], lines->step[0],
                                                lines->length - i < rows ? lines->length - i : rows,
                                                n, i, value, place});
    } else {
        for (int64_t i = 1; i < lines->length && !lt_interrupted(); i++) {
            load((char *[]){row, in + i * lines->step[0]}, load_strides, n, NULL);
            j->loops->across(j->maximum, false, &(lt_extreme_rows){row, 0, 1, n, i, value, place});
        }
    }
    store_row(j, first, n, value, place);
}

lt_status lt_cpu_extreme(bool maximum, const lt_array *values, const lt_array *indices,
                         const lt_array *in, int dim)
{
    extreme_job j = {.maximum = maximum, .values = values != NULL, .indices = indices != NULL};
    lt_slices_of(&j.lines, (const lt_array *const[]){in, values, indices}, 3, dim);
    j.type = lt_slices_type(in->dtype, &j.read);
    j.most = &lt_loops.rows[maximum ? LT_ROWS_MAX : LT_ROWS_MIN][j.type];
    j.loops = &lt_loops.scan[j.type];
    j.dense = in->dtype == j.read && lt_slices_are_dense(&j.lines, 1);
    const int64_t length = j.lines.length;
    const int threads = lt_cpu_threads_for(j.lines.count * length);
    if (lt_slices_are_interleaved(&j.lines, 1) && length < INT32_MAX) {
        const int64_t tiles = (j.lines.sizes[0] + LT_COLUMNS - 1) / LT_COLUMNS;
        return lt_parallel_for(j.lines.count / j.lines.sizes[0] * tiles, threads, extreme_columns,
                               &j);
    }
    if (length >= 2 * LT_CPU_GRAIN) return run_long_lines(&j, threads);
    j.batch = LT_LANES * (1 + LT_CPU_GRAIN / (length + 1) / (4 * LT_LANES));
    const bool turned = j.dense && length <= SHORT && length > 0 && j.lines.ndim > 0 &&
                        j.lines.sizes[0] >= TURNED / 2;
    return lt_parallel_for((j.lines.count + j.batch - 1) / j.batch, threads,
                           turned ? run_turned : extreme_rows, &j);
}
