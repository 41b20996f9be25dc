/* fused_reduce.c - reductions of a value that a fusion group computes (compile/fusion.h). The value
 * passes from the fused loops to the reduction through L1, in pieces. Pieces of a row are
 * accumulated as one row, and blocks begin at the same elements as without the reduction, so
 * results have the same bits as from the two ops one after the other. */
#include "cpu/cpu.h"
#include "cpu/common/for_each.h"
#include "cpu/reduce/reduce.h"

enum {
    /* Elements passed to a reduction at a time: few, so that they stay in L1 beside the operands of
     * the next block. */
    PIECE = 2 * LT_SLICE_BLOCK,
    LINE = 8192 /* elements of the longest row that is passed as a whole */
};
_Static_assert(PIECE / LT_REDUCE_SLICES * LT_REDUCE_BATCH <= LINE,
               "a batch of short rows fits into the buffer");
_Static_assert(LT_REDUCE_SLICES % LT_FUSED_UNIT == 0,
               "jobs begin where blocks do, so that no two of them write an element");

/* A thread's run and its buffer for a piece or a row. */
typedef struct workspace {
    lt_fused_run run;
    _Alignas(64) char piece[(LINE + LT_FUSED_AROUND) * 8];
} workspace;

/* Computes elements [from, from + n) of the reduced value. */
static char *elements(workspace *w, int64_t from, int64_t n)
{
    return lt_fused_elements(&w->run, from, n, w->piece);
}

/* Reduces elements [at, at + n) of a row, piece by piece: accumulates in *part and stores the sum
 * in *total at the last piece, or, for loops without that, accumulates each piece in *total. */
static void take_pieces(const lt_reduce_plan *p, workspace *w, int64_t at, int64_t n,
                        lt_slice_part *part, lt_total *total)
{
    for (int64_t end = at + n; at < end; at += PIECE) {
        const int64_t m = end - at < PIECE ? end - at : PIECE;
        char *here = elements(w, at, m);
        if (p->convert == NULL && p->passes[0]->piece != NULL)
            p->passes[0]->piece(part, here, m, p->parameter, at + m == end ? total : NULL);
        else
            lt_reduce_line(p, 0, p->parameter, here, m, total);
    }
}

void lt_reduce_fused_part(const lt_reduce_plan *p, int64_t from, int64_t to, lt_total *total)
{
    workspace w;
    lt_slice_part part = {0};
    lt_fused_begin(&w.run, p->fusion);
    take_pieces(p, &w, from, to - from, &part, total);
}

void lt_reduce_fused_lines(const lt_reduce_plan *p, char *out, int64_t first, int64_t n)
{
    const int64_t step = p->it->ndim > p->reduced_dims ? p->it->strides[0][p->reduced_dims] : 0;
    if (p->count > LINE || (p->npasses == 1 && p->count > PIECE)) {
        for (int64_t j = 0; j < n; j++) {
            lt_total total;
            lt_reduce_begin(p, 0, &total, 1);
            lt_reduce_fused_part(p, (first + j) * p->count, (first + j + 1) * p->count, &total);
            lt_reduce_store(p, out + j * step, 0, &total, NULL, 1);
        }
        return;
    }
    workspace w;
    lt_fused_begin(&w.run, p->fusion);
    int64_t at_once = p->count < PIECE ? PIECE / p->count : 1;
    if (at_once >= LT_REDUCE_SLICES)
        at_once = LT_REDUCE_BATCH; /* the loops process short rows side by side */
    for (int64_t j = 0; j < n; j += at_once) {
        const int64_t m = n - j < at_once ? n - j : at_once;
        char *const ptrs[] = {out + j * step, elements(&w, (first + j) * p->count, m * p->count)};
        lt_reduce_batch(p, ptrs, m);
    }
}

void lt_reduce_fused_rows(const lt_reduce_plan *p, int64_t from, int64_t to, int64_t at_once,
                          lt_loop take, const void *context)
{
    const int64_t width = p->it->sizes[1];
    workspace w;
    lt_fused_begin(&w.run, p->fusion);
    for (int64_t at = from; at < to; at += at_once) {
        const int64_t n = to - at < at_once ? to - at : at_once;
        take((char *[]){NULL, elements(&w, at * width, n * width)},
             (int64_t[]){0, width * p->in_size}, n, context);
    }
}

/* Supports reductions of contiguous rows, or of columns, in the order of the fusion. A long row is
 * split into jobs, which have to begin at multiples of LT_FUSED_UNIT. */
bool lt_cpu_reduces_fusion(int op, const lt_iter *it, int reduced_dims)
{
    const int64_t size = it->ndim > 0 ? (int64_t)lt_dtype_size(it->dtype[1]) : 0;
    const bool two = op == LT_REDUCE_VAR || op == LT_REDUCE_STD || op == LT_REDUCE_LOGSUMEXP;
    if (reduced_dims != 1 || it->ndim > 2 || it->sizes[0] == 0) return false;
    const int64_t count = it->sizes[0], width = it->ndim == 2 ? it->sizes[1] : 1;
    if (it->strides[1][0] != size) /* reduces columns */
        return !two && width >= 4 && width <= LT_REDUCE_TILE && it->strides[1][1] == size &&
               it->strides[1][0] == width * size;
    if (it->ndim == 2 && it->strides[1][1] != count * size) return false;
    return count <= LINE ||
           (!two && (count % LT_FUSED_UNIT == 0 || it->ndim == 1 || count < LT_REDUCE_LONG));
}
