/* roll.c - see roll.h. Along a dimension that is rolled, its last entries come first and the others
 * after them: two runs of elements, each of which lies in one piece, take turns. */
#include "roll.h"

#include "cpu/common/copy_bytes.h"
#include "cpu/common/threads.h"
#include "dtypes/dtype.h"

enum { CHUNK = 131072 }; /* most elements that a thread takes at once */

/* Elements [at, at + n), moved on along the first dimension alone, which leaves a block of all its
 * entries together. */
static void gather_first(const lt_chain_roll *r, const char *data, int64_t size, char *to,
                         int64_t at, int64_t n)
{
    const int64_t block = r->size[0] * r->step[0], back = r->by[0] * r->step[0];
    int64_t place = at % block;
    for (int64_t m; n > 0; at += m, n -= m, to += m * size) {
        const bool wrapped = place < back;
        m = (wrapped ? back : block) - place;
        if (m > n) m = n;
        lt_copy_bytes(to, data + (at + (wrapped ? block : 0) - back) * size, (size_t)(m * size));
        place = place + m < block ? place + m : 0;
    }
}

/* How much further element `at` lies than it would if the dimensions after the first one were not
 * rolled; *run: so do all until that one. */
static int64_t moved(const lt_chain_roll *r, int64_t at, int64_t *run)
{
    int64_t further = 0;
    *run = INT64_MAX;
    for (int k = 1; k < r->n; k++) {
        const int64_t entries = at / r->step[k], i = entries % r->size[k],
                      end = i < r->by[k] ? r->by[k] : r->size[k];
        const int64_t left = (end - i) * r->step[k] - (at - entries * r->step[k]);
        if (left < *run) *run = left;
        further += ((i < r->by[k] ? r->size[k] : 0) - r->by[k]) * r->step[k];
    }
    return further;
}

void lt_gather_rolled(const lt_chain_value *v, char *to, int64_t from, int64_t n)
{
    const int64_t size = (int64_t)lt_dtype_size(v->dtype);
    for (int64_t run; n > 0; from += run, n -= run, to += run * size) {
        const int64_t further = moved(v->roll, from, &run);
        if (run > n) run = n;
        gather_first(v->roll, v->data + further * size, size, to, from, run);
    }
}

typedef struct job {
    const lt_chain_value *value;
    char *to;
    int64_t numel, piece;
} job;

static void run_piece(const void *context, int64_t i)
{
    const job *j = context;
    const int64_t from = i * j->piece, n = from + j->piece < j->numel ? j->piece : j->numel - from;
    lt_gather_rolled(j->value, j->to + from * (int64_t)lt_dtype_size(j->value->dtype), from, n);
}

lt_status lt_cpu_roll(const lt_chain_value *v, char *to, int64_t numel)
{
    const int threads = lt_cpu_threads_for(LT_CPU_MOVED * numel);
    const job j = {v, to, numel, lt_cpu_piece(numel, CHUNK, threads)};
    return lt_cpu_share((numel + j.piece - 1) / j.piece, threads, run_piece, &j);
}
