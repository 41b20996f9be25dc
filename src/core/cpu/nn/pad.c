/* pad.c - padding with a tensor's own elements: each row is written once, its ends while it is in
 * cache. Strided passes over the ends of all rows would load each cache line of the result again.
 */
#include "cpu/common/copy_bytes.h"
#include "cpu/common/threads.h"
#include "cpu/cpu.h"

typedef struct pad_job {
    const lt_padding *p;
    char *y;
    const char *x;
    int64_t rows, all; /* of a job; of the result */
} pad_job;

static inline __attribute__((always_inline)) void
fill(const lt_padding *p, char *to, const char *from, size_t size, int64_t first, int64_t end)
{
    for (int64_t i = first; i < end; i++)
        memcpy(to + i * (int64_t)size,
               from + lt_pad_source(p->mode, i - p->before[2], p->in[2]) * (int64_t)size, size);
}

static inline __attribute__((always_inline)) void fill_ends(const lt_padding *p, char *to,
                                                            const char *from, size_t size)
{
    fill(p, to, from, size, 0, p->before[2]);
    fill(p, to, from, size, p->before[2] + p->in[2], p->out[2]);
}

static void pad_row(const lt_padding *p, char *to, const char *from)
{
    lt_copy_bytes(to + p->before[2] * p->size, from, (size_t)(p->in[2] * p->size));
    switch (p->size) {
    case 1: fill_ends(p, to, from, 1); break;
    case 2: fill_ends(p, to, from, 2); break;
    case 4: fill_ends(p, to, from, 4); break;
    case 8: fill_ends(p, to, from, 8); break;
    default: fill_ends(p, to, from, 16);
    }
}

/* The first row of a plane of the result. */
static int64_t source_rows(const lt_padding *p, int64_t volume, int64_t plane)
{
    return (volume * p->in[0] + lt_pad_source(p->mode, plane - p->before[0], p->in[0])) * p->in[1];
}

static void pad_rows(const void *context, int64_t index)
{
    const pad_job *j = context;
    const lt_padding *p = j->p;
    const int64_t first = index * j->rows,
                  end = first + j->rows < j->all ? first + j->rows : j->all;
    /* incremented per row, which avoids a division */
    int64_t line = first % p->out[1], plane = first / p->out[1] % p->out[0],
            volume = first / p->out[1] / p->out[0];
    int64_t from = source_rows(p, volume, plane);
    for (int64_t row = first; row < end; row++) {
        const int64_t from_row = from + lt_pad_source(p->mode, line - p->before[1], p->in[1]);
        pad_row(p, j->y + row * p->out[2] * p->size, j->x + from_row * p->in[2] * p->size);
        if (++line < p->out[1]) continue;
        line = 0;
        if (++plane == p->out[0]) plane = 0, volume++;
        from = source_rows(p, volume, plane);
    }
}

lt_status lt_cpu_pad(const lt_padding *p, void *y, const void *x)
{
    pad_job j = {.p = p,
                 .y = y,
                 .x = x,
                 .rows = 1 + LT_CPU_GRAIN / LT_CPU_MOVED / p->out[2],
                 .all = p->outer * p->out[0] * p->out[1]};
    return lt_parallel_for((j.all + j.rows - 1) / j.rows,
                           lt_cpu_threads_for(LT_CPU_MOVED * j.all * p->out[2]), pad_rows, &j);
}
