/* band.c - copies a band of diagonals of matrices and sets the rest to zero (tril, triu), row by
 * row. */
#include <string.h>

#include "cpu/common/copy_bytes.h"
#include "cpu/common/threads.h"
#include "cpu/cpu.h"

typedef struct band_job {
    const lt_band *band;
    char *y;
    const char *x;
    int64_t rows, all; /* of a job; of all matrices */
} band_job;

/* Columns [*from, *to) of row i; none when they are equal. */
static void band_columns(const lt_band *b, int64_t i, int64_t *from, int64_t *to)
{
    const int64_t first = i + b->low, end = i + b->high + 1;
    *to = end < 0 ? 0 : end < b->columns ? end : b->columns;
    *from = first < 0 ? 0 : first < *to ? first : *to;
}

static void keep_band_rows(const void *context, int64_t index)
{
    const band_job *j = context;
    const lt_band *b = j->band;
    const int64_t row_bytes = b->columns * b->size, first = index * j->rows;
    const int64_t end = first + j->rows < j->all ? first + j->rows : j->all;
    for (int64_t row = first; row < end; row++) {
        char *const to = j->y + row * row_bytes;
        int64_t from, until;
        band_columns(b, row % b->rows, &from, &until);
        from *= b->size, until *= b->size;
        if (from > 0) memset(to, 0, (size_t)from);
        if (j->x != j->y)
            lt_copy_bytes(to + from, j->x + row * row_bytes + from, (size_t)(until - from));
        if (until < row_bytes) memset(to + until, 0, (size_t)(row_bytes - until));
    }
}

lt_status lt_cpu_band(const lt_band *b, void *y, const void *x)
{
    const int64_t all = b->matrices * b->rows;
    const band_job j = {.band = b,
                        .y = y,
                        .x = x,
                        .rows = 1 + LT_CPU_GRAIN / LT_CPU_MOVED / b->columns,
                        .all = all};
    return lt_parallel_for((all + j.rows - 1) / j.rows,
                           lt_cpu_threads_for(LT_CPU_MOVED * all * b->columns), keep_band_rows, &j);
}
