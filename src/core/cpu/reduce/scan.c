/* scan.c - prefix scans along a dimension (cumsum, cumprod, logcumsumexp), accumulated in double or
 * int64. Contiguous 1-D slices ("lines") go straight through the vector loops, and so do
 * interleaved slices; others are converted block by block to double or int64. */
#include <math.h>

#include "cpu/cpu.h"
#include "dtypes/dtype.h"
#include "context/interrupt.h"
#include "cpu/common/slices.h"
#include "cpu/common/loops.h"
#include "cpu/common/threads.h"
#include "cpu/common/sizes.h"

/* log(exp(a) + exp(b)); of two equal infinities the result is the same infinity. */
static double log_add(double a, double b)
{
    double most = a > b || a != a ? a : b, least = a > b || a != a ? b : a;
    return isinf(most) && most == least ? most : most + log1p(exp(least - most));
}

typedef struct scan_job {
    lt_slices lines; /* view 0: input, 1: output */
    lt_scan op;
    int type; /* LT_ROWS_F32 ... */
    bool dense;
    int64_t batch; /* slices of a job */
} scan_job;

static void begin_totals(const scan_job *j, lt_total *totals, int64_t n)
{
    lt_total first = {.d = j->op == LT_SCAN_PROD  ? 1
                           : j->op == LT_SCAN_SUM ? 0
                                                  : -(double)INFINITY};
    if (j->type == LT_ROWS_I64) first.i = j->op == LT_SCAN_PROD;
    for (int64_t l = 0; l < n; l++) totals[l] = first;
}

static void accumulate_block(const scan_job *j, void *block, int64_t n, lt_total *so_far)
{
    double *x = block;
    if (j->op != LT_SCAN_LOGSUMEXP)
        lt_loops.scan[j->type == LT_ROWS_I64 ? LT_ROWS_I64 : LT_ROWS_F64].line(j->op, block, block,
                                                                               n, so_far);
    else
        for (int64_t i = 0; i < n; i++) x[i] = so_far->d = log_add(so_far->d, x[i]);
}

static void scan_tile(const scan_job *j, int64_t first, int64_t last)
{
    const lt_slices *lines = &j->lines;
    lt_total totals[LT_LANES];
    char *in[LT_LANES], *out[LT_LANES];
    _Alignas(64) char block[LT_BLOCK * 8];
    const lt_dtype computed = j->type == LT_ROWS_I64 ? LT_INT64 : LT_FLOAT64;
    begin_totals(j, totals, last - first);
    for (int64_t l = 0; l < last - first; l++) {
        in[l] = lt_slice_at(lines, 0, first + l);
        out[l] = lt_slice_at(lines, 1, first + l);
    }
    for (int64_t from = 0; from < lines->length && !lt_interrupted(); from += LT_BLOCK) {
        int64_t n = lines->length - from < LT_BLOCK ? lines->length - from : LT_BLOCK;
        for (int64_t l = 0; l < last - first; l++) {
            lt_slice_load(lines, 0, in[l], from, n, block, computed);
            accumulate_block(j, block, n, &totals[l]);
            lt_slice_store(lines, 1, out[l], from, n, block, computed);
        }
    }
}

static void scan_rows(const void *context, int64_t job)
{
    const scan_job *j = context;
    const int64_t end = (job + 1) * j->batch, last = end < j->lines.count ? end : j->lines.count;
    for (int64_t l = job * j->batch; l < last; l += j->dense ? 1 : LT_LANES) {
        if (!j->dense) {
            scan_tile(j, l, l + LT_LANES < last ? l + LT_LANES : last);
            continue;
        }
        lt_total total;
        const int64_t length = j->lines.length;
        char *in = lt_slice_at(&j->lines, 0, l), *out = lt_slice_at(&j->lines, 1, l);
        begin_totals(j, &total, 1);
        for (int64_t from = 0; from < length && !lt_interrupted(); from += LT_INTERRUPT_STEP) {
            const int64_t n = length - from < LT_INTERRUPT_STEP ? length - from : LT_INTERRUPT_STEP;
            lt_loops.scan[j->type].line(j->op, out + from * j->lines.step[1],
                                        in + from * j->lines.step[0], n, &total);
        }
    }
}

static void run_short(const void *context, int64_t job)
{
    const scan_job *j = context;
    const lt_slices *lines = &j->lines;
    const int64_t end = (job + 1) * j->batch, last = end < lines->count ? end : lines->count;
    const int64_t size = (int64_t)lt_dtype_size(lines->dtype[0]);
    for (int64_t l = job * j->batch, n; l < last; l += n) {
        n = lt_slices_in_row(lines, l, last);
        lt_loops.scan[j->type].lines(j->op, lt_slice_at(lines, 1, l), lines->strides[1][0] / size,
                                     lt_slice_at(lines, 0, l), lines->strides[0][0] / size,
                                     lines->length, n);
    }
}

static void scan_columns(const void *context, int64_t job)
{
    const scan_job *j = context;
    const lt_slices *lines = &j->lines;
    const int64_t across = lines->sizes[0], tiles = (across + LT_COLUMNS - 1) / LT_COLUMNS;
    const int64_t column = job % tiles * LT_COLUMNS, first = job / tiles * across + column;
    const int64_t n = across - column < LT_COLUMNS ? across - column : LT_COLUMNS;
    const char *in = lt_slice_at(lines, 0, first);
    char *out = lt_slice_at(lines, 1, first);
    lt_total totals[LT_COLUMNS];
    begin_totals(j, totals, n);
    const int64_t rows = LT_INTERRUPT_STEP / LT_COLUMNS;
    for (int64_t row = 0; row < lines->length && !lt_interrupted(); row += rows)
        lt_loops.scan[j->type].side_by_side(
            j->op,
            &(lt_scan_columns){.in = in + row * lines->step[0],
                               .out = out + row * lines->step[1],
                               .in_step = lines->step[0],
                               .out_step = lines->step[1],
                               .length = lines->length - row < rows ? lines->length - row : rows,
                               .n = n,
                               .so_far = totals});
}

lt_status lt_cpu_scan(lt_scan op, const lt_array *out, const lt_array *in, int dim)
{
    scan_job j = {.op = op};
    lt_dtype read;
    lt_slices_of(&j.lines, (const lt_array *const[]){in, out}, 2, dim);
    j.type = lt_slices_type(out->dtype, &read);
    const lt_slices *lines = &j.lines;
    const bool direct = in->dtype == read && out->dtype == read && op != LT_SCAN_LOGSUMEXP;
    const int threads = lt_cpu_threads_for(lines->count > 1 ? lines->count * lines->length : 0);
    if (direct && lt_slices_are_interleaved(lines, 2)) {
        const int64_t tiles = (lines->sizes[0] + LT_COLUMNS - 1) / LT_COLUMNS;
        return lt_parallel_for(lines->count / lines->sizes[0] * tiles, threads, scan_columns, &j);
    }
    j.dense = direct && lt_slices_are_dense(lines, 2);
    j.batch = LT_LANES * (1 + LT_CPU_GRAIN / (lines->length + 1) / (4 * LT_LANES));
    const bool some = j.dense && lines->length <= LT_SHORT_SLICE && lines->ndim > 0;
    return lt_parallel_for((lines->count + j.batch - 1) / j.batch, threads,
                           some ? run_short : scan_rows, &j);
}
