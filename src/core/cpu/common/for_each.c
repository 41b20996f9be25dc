/* for_each.c - see for_each.h. */
#include "for_each.h"

#include "context/interrupt.h"
#include "threads.h"

#define ALONE (2 * LT_CPU_GRAIN / LT_CPU_MOVED) /* fewer elements use one thread */
/* tuning: elements; a shorter inner dimension is exchanged with a long outer one, since few calls
 * with long strided runs are faster than many calls with short dense ones; adding a number to rows
 * of 10 takes 2.00 times as long with 8 (Zen 5, 2026-11-28) */
#define SHORT_RUN 16

void lt_cpu_walk(const lt_iter *it, int ndim, char *const *ptrs, int64_t from, int64_t to,
                 lt_loop loop, const void *context)
{
    int64_t position[LT_MAX_DIMS], rest = from;
    char *at[LT_ITER_OPERANDS];
    int64_t strides[LT_ITER_OPERANDS];
    const int operands = it->operands;
    for (int k = 0; k < operands; k++) {
        strides[k] = ndim > 0 ? it->strides[k][0] : 0;
        at[k] = ptrs[k];
    }
    for (int d = 0; d < ndim; d++) {
        position[d] = rest % it->sizes[d];
        rest /= it->sizes[d];
        for (int k = 0; k < operands; k++) at[k] += position[d] * it->strides[k][d];
    }
    int64_t left = to - from;
    const bool is_long = left > LT_INTERRUPT_STEP;
    while (left > 0 && !(is_long && lt_interrupted())) {
        int64_t run = ndim > 0 ? it->sizes[0] - position[0] : 1;
        if (run > left) run = left;
        loop(at, strides, run, context);
        left -= run;
        if (left == 0) break;
        /* The run ended at the end of dimension 0: return to its start and advance the outer
         * dimensions. */
        for (int k = 0; k < operands; k++) at[k] -= position[0] * strides[k];
        position[0] = 0;
        for (int d = 1; d < ndim; d++) {
            for (int k = 0; k < operands; k++) at[k] += it->strides[k][d];
            if (++position[d] < it->sizes[d]) break;
            for (int k = 0; k < operands; k++) at[k] -= it->sizes[d] * it->strides[k][d];
            position[d] = 0;
        }
    }
}

typedef struct chunk_walk {
    const lt_iter *it;
    lt_loop loop;
    const void *context;
    int64_t piece; /* elements of a job */
} chunk_walk;

static void visit_chunk(const void *context, int64_t c)
{
    const chunk_walk *w = context;
    const int64_t from = c * w->piece, to = from + w->piece;
    lt_cpu_walk(w->it, w->it->ndim, w->it->data, from, to < w->it->numel ? to : w->it->numel,
                w->loop, w->context);
}

static lt_status large(const lt_iter *it, lt_loop loop, const void *context)
{
    const int threads = lt_cpu_threads_for(LT_CPU_MOVED * it->numel);
    const chunk_walk w = {it, loop, context, lt_cpu_piece(it->numel, LT_CPU_GRAIN, threads)};
    return lt_parallel_for((it->numel + w.piece - 1) / w.piece, threads, visit_chunk, &w);
}

bool lt_cpu_exchanges(const lt_iter *it)
{
    return it->ndim >= 2 && it->sizes[0] < SHORT_RUN && it->sizes[1] > 4 * it->sizes[0];
}

static void exchange_inner(lt_iter *it)
{
    int64_t size = it->sizes[0];
    it->sizes[0] = it->sizes[1];
    it->sizes[1] = size;
    for (int k = 0; k < it->operands; k++) {
        int64_t stride = it->strides[k][0];
        it->strides[k][0] = it->strides[k][1];
        it->strides[k][1] = stride;
    }
}

/* Most calls: few elements in a single run. */
static void one_run(const lt_iter *it, lt_loop loop, const void *context)
{
    int64_t strides[LT_ITER_OPERANDS];
    for (int k = 0; k < it->operands; k++) strides[k] = it->ndim > 0 ? it->strides[k][0] : 0;
    loop(it->data, strides, it->numel, context);
}

lt_status lt_cpu_for_each(const lt_iter *it, lt_loop loop, const void *context)
{
    if (it->numel == 0) return LT_OK;
    if (it->ndim <= 1 && it->numel < ALONE) {
        one_run(it, loop, context);
        return LT_OK;
    }
    if (lt_cpu_exchanges(it)) {
        lt_iter exchanged = *it;
        exchange_inner(&exchanged);
        if (it->numel >= ALONE) return large(&exchanged, loop, context);
        lt_cpu_walk(&exchanged, it->ndim, it->data, 0, it->numel, loop, context);
        return LT_OK;
    }
    if (it->numel >= ALONE) return large(it, loop, context);
    lt_cpu_walk(it, it->ndim, it->data, 0, it->numel, loop, context);
    return LT_OK;
}
