/* count.c - a whole number added at each of many indices into few dense elements of int64, as
 * bincount does: every thread has tables of its own. Sums of integers have no order. */
#include <string.h>

#include "context/interrupt.h"
#include "cpu/common/loops.h"
#include "cpu/common/scratch.h"
#include "cpu/common/threads.h"
#include "index.h"

enum {
    BLOCK = 512,        /* indices that are looked at together */
    TABLE = 512 * 1024, /* bytes of the tables of a thread, which lie in its second-level cache */
    WORTH = 8           /* times as many indices as all tables have elements, at least */
};

typedef struct counting {
    const int64_t *index;
    int64_t n, bins, value, parts;
    uint64_t base;
    int64_t *tables;
    _Atomic bool *outside; /* an index is out of range */
} counting;

/* A thread has two tables, for indices by turns: an element that is read right after it was written
 * has the processor wait. In each there is a place for every index from -bins to bins. */
static int64_t length_of(int64_t bins) { return 2 * (2 * bins + 1); }

static void count_part(const void *context, int64_t part)
{
    const counting *c = context;
    const int64_t length = length_of(c->bins), end = c->n * (part + 1) / c->parts;
    int64_t *const table = c->tables + part * length, *const even = table + c->bins,
                   *const odd = even + length / 2;
    memset(table, 0, (size_t)length * sizeof *table);
    for (int64_t from = c->n * part / c->parts; from < end; from += BLOCK) {
        const int64_t n = end - from < BLOCK ? end - from : BLOCK, *const at = c->index + from;
        if (lt_loops.locate[LT_LOCATE_LOOK]((const char *)at, sizeof *at, n, c->base,
                                            (uint64_t)c->bins, 0, 0, NULL) >>
            63) {
            *c->outside = true;
            return;
        }
        if (lt_interrupted()) return;
        for (int64_t i = 0; i + 1 < n; i += 2) {
            even[at[i]] += c->value;
            odd[at[i + 1]] += c->value;
        }
        if (n % 2 != 0) even[at[n - 1]] += c->value;
    }
}

static void add_table(int64_t *to, const counting *c, const int64_t *table)
{
    const int64_t *const at = table + c->bins;
    for (int64_t i = 0; i < c->bins; i++) to[i] += at[i + (int64_t)c->base] + at[i - c->bins];
}

lt_status lt_cpu_count(const lt_array *out, const lt_array *index, int64_t value, bool *done)
{
    lt_scratch memory;
    _Atomic bool outside = false;
    *done = false;
    if (out->ndim != 1 || index->ndim != 1 || out->strides[0] != 1 || index->strides[0] != 1 ||
        index->dtype != LT_INT64)
        return LT_OK;
    const int threads = lt_cpu_threads_for(index->sizes[0]);
    counting c = {(const int64_t *)(const void *)index->data,
                  index->sizes[0],
                  out->sizes[0],
                  value,
                  threads,
                  (uint64_t)index->base,
                  NULL,
                  &outside};
    if (c.bins > TABLE / 4 / (int64_t)sizeof(int64_t) || length_of(c.bins) * threads * WORTH > c.n)
        return LT_OK;
    c.tables = lt_scratch_take(&memory, length_of(c.bins) * threads, sizeof *c.tables);
    if (c.tables == NULL) return LT_ERR_MEMORY;
    const lt_status status = lt_cpu_share(threads, threads, count_part, &c);
    /* else nothing was written, and who looks at all of them says which one it is */
    *done = status != LT_OK || !outside;
    for (int64_t t = 0; t < 2 * threads && status == LT_OK && *done; t++)
        add_table((int64_t *)(void *)out->data, &c, c.tables + t * (length_of(c.bins) / 2));
    lt_scratch_give(&memory, c.tables);
    return status;
}
