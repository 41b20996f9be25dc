/* scan_extreme.c - the largest or smallest element so far along a dimension, with its position: the last one of
 * equals; a nan counts as extreme. Lines are brought block by block into float, double or int64 (exactly). */
#include "cpu.h"
#include "dtype.h"
#include "lines.h"
#include "threads.h"

typedef struct extreme_job {
    lt_lines lines; /* view 0: input, 1: values, 2: positions */
    lt_dtype read;
    bool maximum;
} extreme_job;

/* What a line has come to before a block. */
typedef struct so_far {
    union {
        float f32;
        double f64;
        int64_t i64;
    } value;
    int64_t index;
} so_far;

/* Dense elements x, from number `from` of the line on, become the extremes up to each. */
#define FOLLOW(s, T)                                                                               \
    static void follow_##s(bool maximum, so_far *best, T *x, int64_t *index, int64_t from, int64_t n) \
    {                                                                                              \
        T value = from == 0 ? x[0] : best->value.s;                                                \
        int64_t at = from == 0 ? 0 : best->index;                                                  \
        for (int64_t i = 0; i < n; i++) {                                                          \
            bool wins = maximum ? x[i] >= value : x[i] <= value;                                   \
            if (x[i] != x[i] || (wins && value == value)) {                                        \
                value = x[i];                                                                      \
                at = from + i;                                                                     \
            }                                                                                      \
            x[i] = value;                                                                          \
            index[i] = at;                                                                         \
        }                                                                                          \
        best->value.s = value;                                                                     \
        best->index = at;                                                                          \
    }
FOLLOW(f32, float)
FOLLOW(f64, double)
FOLLOW(i64, int64_t)
#undef FOLLOW

static void run_line(const void *context, int64_t line)
{
    const extreme_job *j = context;
    const lt_lines *lines = &j->lines;
    union {
        float f32[LT_LINES_BLOCK];
        double f64[LT_LINES_BLOCK];
        int64_t i64[LT_LINES_BLOCK];
    } block;
    int64_t index[LT_LINES_BLOCK];
    so_far best = {.index = 0};
    char *in = lt_line_at(lines, 0, line), *values = lt_line_at(lines, 1, line), *indices = lt_line_at(lines, 2, line);
    for (int64_t from = 0; from < lines->length; from += LT_LINES_BLOCK) {
        int64_t n = lines->length - from < LT_LINES_BLOCK ? lines->length - from : LT_LINES_BLOCK;
        lt_line_load(lines, 0, in, from, n, &block, j->read);
        if (j->read == LT_FLOAT32)
            follow_f32(j->maximum, &best, block.f32, index, from, n);
        else if (j->read == LT_FLOAT64)
            follow_f64(j->maximum, &best, block.f64, index, from, n);
        else
            follow_i64(j->maximum, &best, block.i64, index, from, n);
        lt_line_store(lines, 1, values, from, n, &block, j->read);
        lt_line_store(lines, 2, indices, from, n, index, LT_INT64);
    }
}

lt_status lt_cpu_scan_extreme(bool maximum, const lt_array *values, const lt_array *indices, const lt_array *in, int dim)
{
    extreme_job j = {.maximum = maximum};
    j.read = in->dtype == LT_FLOAT64 ? LT_FLOAT64 : lt_dtype_is_float(in->dtype) ? LT_FLOAT32 : LT_INT64;
    lt_lines_of(&j.lines, (const lt_array *const[]){in, values, indices}, 3, dim);
    return lt_cpu_share(j.lines.count, lt_cpu_threads_for(j.lines.count > 1 ? j.lines.count * j.lines.length : 0),
                        run_line, &j);
}
