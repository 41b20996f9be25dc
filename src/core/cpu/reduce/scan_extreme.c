/* scan_extreme.c - the running maximum or minimum along a dimension (cummax, cummin), with its
 * position: the last one of equals; a nan counts as extreme. Contiguous 1-D slices ("lines") go
 * straight through the vector loops, and so do interleaved slices; others are converted block by
 * block to float, double or int64 (exactly). */
#include <string.h>

#include "cpu/cpu.h"
#include "dtypes/dtype.h"
#include "context/interrupt.h"
#include "cpu/common/slices.h"
#include "cpu/common/loops.h"
#include "cpu/common/threads.h"
#include "cpu/common/sizes.h"

typedef struct scan_extreme_job {
    lt_slices lines; /* view 0: input, 1: values, 2: positions */
    lt_dtype read;
    int type; /* LT_ROWS_F32 ... */
    bool maximum, dense;
    int64_t batch; /* slices of a job */
} scan_extreme_job;

static void run_line(const scan_extreme_job *j, int64_t line)
{
    const lt_slices *lines = &j->lines;
    const lt_scan_loops *loops = &lt_loops.scan[j->type];
    int64_t place = 0;
    lt_total best; /* an element's bytes */
    char *in = lt_slice_at(lines, 0, line), *values = lt_slice_at(lines, 1, line),
         *indices = lt_slice_at(lines, 2, line);
    if (lines->length == 0) return;
    if (j->dense) {
        memcpy(&best, in, lt_dtype_size(j->read));
        for (int64_t from = 0; from < lines->length && !lt_interrupted();
             from += LT_INTERRUPT_STEP) {
            const int64_t n =
                lines->length - from < LT_INTERRUPT_STEP ? lines->length - from : LT_INTERRUPT_STEP;
            int64_t *places = (int64_t *)(void *)(indices + from * lines->step[2]);
            loops->follow(j->maximum,
                          &(lt_running_extreme){in + from * lines->step[0], from, n, &best, &place,
                                                values + from * lines->step[1], places});
        }
        return;
    }
    lt_slice_load(lines, 0, in, 0, 1, &best, j->read);
    _Alignas(64) char block[LT_BLOCK * 8];
    int64_t index[LT_BLOCK];
    for (int64_t from = 0; from < lines->length && !lt_interrupted(); from += LT_BLOCK) {
        int64_t n = lines->length - from < LT_BLOCK ? lines->length - from : LT_BLOCK;
        lt_slice_load(lines, 0, in, from, n, block, j->read);
        loops->follow(j->maximum,
                      &(lt_running_extreme){block, from, n, &best, &place, block, index});
        lt_slice_store(lines, 1, values, from, n, block, j->read);
        lt_slice_store(lines, 2, indices, from, n, index, LT_INT64);
    }
}

static void scan_extreme_rows(const void *context, int64_t job)
{
    const scan_extreme_job *j = context;
    const int64_t end = (job + 1) * j->batch;
    for (int64_t l = job * j->batch; l < end && l < j->lines.count; l++) run_line(j, l);
}

static void scan_extreme_columns(const void *context, int64_t job)
{
    const scan_extreme_job *j = context;
    const lt_slices *lines = &j->lines;
    const int64_t across = lines->sizes[0], tiles = (across + LT_COLUMNS - 1) / LT_COLUMNS;
    const int64_t column = job % tiles * LT_COLUMNS, first = job / tiles * across + column;
    const int64_t n = across - column < LT_COLUMNS ? across - column : LT_COLUMNS,
                  size = (int64_t)lt_dtype_size(j->read);
    const lt_dtype place_dtype = j->type == LT_ROWS_F32 ? LT_INT32 : LT_INT64;
    const lt_loop widen = lt_loops.cast[LT_INT64][place_dtype];
    const int64_t widen_strides[] = {sizeof(int64_t), (int64_t)lt_dtype_size(place_dtype)};
    _Alignas(64) char best[LT_COLUMNS * 8], place[LT_COLUMNS * 8] = {0};
    char *in = lt_slice_at(lines, 0, first), *values = lt_slice_at(lines, 1, first),
         *indices = lt_slice_at(lines, 2, first);
    memcpy(best, in, (size_t)(n * size));
    for (int64_t i = 0; i < lines->length && !lt_interrupted(); i++) {
        lt_loops.scan[j->type].across(
            j->maximum, true, &(lt_extreme_rows){in + i * lines->step[0], 0, 1, n, i, best, place});
        memcpy(values + i * lines->step[1], best, (size_t)(n * size));
        widen((char *[]){indices + i * lines->step[2], place}, widen_strides, n, NULL);
    }
}

lt_status lt_cpu_scan_extreme(bool maximum, const lt_array *values, const lt_array *indices,
                              const lt_array *in, int dim)
{
    scan_extreme_job j = {.maximum = maximum};
    lt_slices_of(&j.lines, (const lt_array *const[]){in, values, indices}, 3, dim);
    j.type = lt_slices_type(in->dtype, &j.read);
    j.dense = in->dtype == j.read && lt_slices_are_dense(&j.lines, 3);
    const int threads = lt_cpu_threads_for(j.lines.count > 1 ? j.lines.count * j.lines.length : 0);
    if (in->dtype == j.read && lt_slices_are_interleaved(&j.lines, 3) &&
        j.lines.sizes[0] >= LT_LANES && j.lines.length < INT32_MAX) {
        const int64_t tiles = (j.lines.sizes[0] + LT_COLUMNS - 1) / LT_COLUMNS;
        return lt_parallel_for(j.lines.count / j.lines.sizes[0] * tiles, threads,
                               scan_extreme_columns, &j);
    }
    j.batch = 1 + LT_CPU_GRAIN / 4 / (j.lines.length + 1);
    return lt_parallel_for((j.lines.count + j.batch - 1) / j.batch, threads, scan_extreme_rows, &j);
}
