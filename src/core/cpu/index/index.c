/* index.c - reads and writes elements at positions stored in tensors (gather, scatter). One kernel
 * serves x[index], x[index] = y, gather and scatter (gather.c): it walks the iterator, converts a
 * block of indices to byte offsets, checking them, and moves or combines the elements there. Where
 * the indices are constant along the innermost dimension, the run is one copy; rows that are
 * contiguous on both sides are moved as single elements.
 *
 * Reads are partitioned over the threads. Writes are partitioned along a dimension of the indexed
 * tensor that has no index, so that only one thread writes an element, and of several values for it
 * the last one remains, as with one thread. */
#include "index.h"

#include <string.h>

#include "user_index.h"
#include "cpu/cpu.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "cpu/common/fetch.h"
#include "cpu/common/for_each.h"
#include "context/interrupt.h"
#include "kernels_arithmetic.h"
#include "cpu/common/threads.h"
#include "cpu/common/sizes.h"

#define ROWS (-1)
/* tuning: rows; a random row is prefetched so many rows before it is added; index_add of rows of 64
 * takes 1.22 of its time with half of it (Zen 5, 2026-11-28) */
#define AHEAD 8
#define ASKED (8 * LT_PREFETCHED_SLICE) /* bytes of a row that are prefetched */

typedef struct indexing {
    lt_iter it;
    const lt_index_args *args;
    int64_t row; /* elements that are moved as one */
    lt_move_loop move;
    lt_loop copy, combine; /* combine: for whole runs; NULL: move combines */
    const lt_scalar *params;
    bool put;
    /* dimension along which writes are partitioned, ROWS: within each row; parts 0: chunks of
     * elements */
    int split, parts;
    int64_t chunk;
    int bad_index; /* number of the first index tensor found with a bad value, or -1 */
    int64_t bad_value;
} indexing;

/* A job's part. row: the elements of each row that it moves, at most the row of `indexing`. */
typedef struct index_part {
    indexing *x;
    int64_t row;
} index_part;

/* ---- indices --------------------------------------------------------------------------------- */

static void record_bad(indexing *x, int k, const char *p, int64_t stride, int64_t n)
{
    const int64_t size = x->args->sizes[k];
    for (int64_t i = 0; i < n; i++, p += stride) {
        const int64_t value = lt_index_from(*(const int64_t *)(const void *)p, x->args->base[k]);
        if (value >= -size && value < size) continue;
        int none = -1;
        if (__atomic_compare_exchange_n(&x->bad_index, &none, k, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            x->bad_value = value;
        return;
    }
}

/* Computes the byte offsets of n elements of a run, or with offsets NULL only checks the indices;
 * false: an index is out of range. */
static bool locate_offsets(indexing *x, char *const *ptrs, const int64_t *strides, int64_t n,
                           int64_t *offsets)
{
    const lt_index_args *args = x->args;
    if (args->count == 0 && offsets != NULL) /* no index: the elements themselves */
        for (int64_t i = 0; i < n; i++) offsets[i] = i * strides[1];
    for (int k = 0; k < args->count; k++) {
        const lt_locating what = offsets == NULL ? LT_LOCATE_LOOK
                                 : k > 0         ? LT_LOCATE_ADD
                                                 : LT_LOCATE_BEGIN;
        const uint64_t outside =
            lt_loops.locate[what](&(lt_located_indices){.indices = ptrs[2 + k],
                                                        .stride = strides[2 + k],
                                                        .n = n,
                                                        .base = (uint64_t)args->base[k],
                                                        .size = (uint64_t)args->sizes[k],
                                                        .step = args->strides[k],
                                                        .own = strides[1]},
                                  offsets);
        if (outside >> 63) {
            record_bad(x, k, ptrs[2 + k], strides[2 + k], n);
            return false;
        }
    }
    return true;
}

static bool constant_along(const lt_index_args *args, const int64_t *strides)
{
    for (int k = 0; k < args->count; k++)
        if (strides[2 + k] != 0) return false;
    return true;
}

static lt_status range_error(const indexing *x)
{
    return lt_index_error("", x->bad_value, x->args->dims[x->bad_index],
                          x->args->sizes[x->bad_index], "");
}

/* ---- elements -------------------------------------------------------------------------------- */

/* Rows of small elements, which are moved as one, may be unaligned. With a constant `bytes`, the
 * compiler replaces memcpy by a load and a store. */
static inline __attribute__((always_inline)) void get_sized(const char *base,
                                                            const int64_t *offsets, char *dense,
                                                            int64_t stride, int64_t n,
                                                            int64_t bytes)
{
    for (int64_t i = 0; i < n; i++) memcpy(dense + i * stride, base + offsets[i], (size_t)bytes);
}

static inline __attribute__((always_inline)) void put_sized(char *base, const int64_t *offsets,
                                                            const char *dense, int64_t stride,
                                                            int64_t n, int64_t bytes)
{
    for (int64_t i = 0; i < n; i++) memcpy(base + offsets[i], dense + i * stride, (size_t)bytes);
}

static void get_elements(char *base, const int64_t *offsets, char *dense, int64_t stride, int64_t n,
                         int64_t bytes)
{
    switch (bytes) {
    case 1: get_sized(base, offsets, dense, stride, n, 1); break;
    case 2: get_sized(base, offsets, dense, stride, n, 2); break;
    case 4: get_sized(base, offsets, dense, stride, n, 4); break;
    case 8: get_sized(base, offsets, dense, stride, n, 8); break;
    default: get_sized(base, offsets, dense, stride, n, bytes);
    }
}

static void put_elements(char *base, const int64_t *offsets, char *dense, int64_t stride, int64_t n,
                         int64_t bytes)
{
    switch (bytes) {
    case 1: put_sized(base, offsets, dense, stride, n, 1); break;
    case 2: put_sized(base, offsets, dense, stride, n, 2); break;
    case 4: put_sized(base, offsets, dense, stride, n, 4); break;
    case 8: put_sized(base, offsets, dense, stride, n, 8); break;
    default: put_sized(base, offsets, dense, stride, n, bytes);
    }
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Loops of vector/pointwise accept contiguous elements and a scalar: other runs go through buffers.
 * Values that all go to one element (stride 0) are combined one after the other. */
static void combine_run(const indexing *x, char *at, int64_t stride, char *values,
                        int64_t value_stride, int64_t n)
{
    const int64_t size = (int64_t)lt_dtype_size(x->it.dtype[1]);
    const bool as_they_are = value_stride == size || value_stride == 0;
    _Alignas(64) char old[LT_BLOCK * 8], added[LT_BLOCK * 8];
    if (stride == size && as_they_are) {
        x->combine((char *[]){at, at, values}, (int64_t[]){size, size, value_stride}, n, x->params);
        return;
    }
    const int64_t block = stride == 0 ? 1 : LT_BLOCK;
    for (int64_t from = 0; from < n; from += block) {
        const int64_t m = n - from < block ? n - from : block;
        char *to = at + from * stride, *value = values + from * value_stride;
        x->copy((char *[]){old, to}, (int64_t[]){size, stride}, m, NULL);
        if (!as_they_are)
            x->copy((char *[]){added, value}, (int64_t[]){size, value_stride}, m, NULL);
        x->combine((char *[]){old, old, as_they_are ? value : added},
                   (int64_t[]){size, size, as_they_are ? value_stride : size}, m, x->params);
        x->copy((char *[]){to, old}, (int64_t[]){stride, size}, m, NULL);
    }
}

/* Combines whole rows, and prefetches later ones, since their addresses are random. */
static void combine_rows(const indexing *x, char *base, const int64_t *offsets, char *values,
                         int64_t stride, int64_t n, int64_t row)
{
    const int64_t size = (int64_t)lt_dtype_size(x->it.dtype[1]), bytes = row * size,
                  asked = bytes < ASKED ? bytes : ASKED;
    for (int64_t i = 0; i < n; i++) {
        char *at = base + offsets[i];
        if (i + AHEAD < n) lt_fetch(base + offsets[i + AHEAD], asked);
        x->combine((char *[]){at, at, values + i * stride}, (int64_t[]){size, size, size}, row,
                   x->params);
    }
}

/* Prefetches the elements one page ahead in contiguous data: the hardware prefetcher does not cross
 * pages. */
static inline __attribute__((always_inline)) void ask(const char *from, int64_t stride, int64_t n)
{
    if (stride > 0 && stride <= (int64_t)sizeof(int64_t))
        lt_fetch(from + LT_FETCHED_PAGE, n * stride);
}

static void do_run(char *const *ptrs, const int64_t *strides, int64_t n, const void *context)
{
    const index_part *mine = context;
    indexing *x = mine->x;
    int64_t offsets[LT_BLOCK];
    const int64_t bytes = mine->row * (int64_t)lt_dtype_size(x->it.dtype[1]);
    if (__atomic_load_n(&x->bad_index, __ATOMIC_RELAXED) >= 0 || lt_interrupted()) return;
    if (x->row == 1 && x->copy != NULL && constant_along(x->args, strides)) {
        if (!locate_offsets(x, ptrs, strides, 1, offsets)) return;
        char *at = ptrs[1] + offsets[0];
        if (x->combine != NULL)
            combine_run(x, at, strides[1], ptrs[0], strides[0], n);
        else if (x->put)
            x->copy((char *[]){at, ptrs[0]}, (int64_t[]){strides[1], strides[0]}, n, NULL);
        else
            x->copy((char *[]){ptrs[0], at}, strides, n, NULL);
        return;
    }
    char *p[LT_ITER_OPERANDS];
    for (int k = 0; k < x->it.operands; k++) p[k] = ptrs[k];
    for (int64_t from = 0; from < n; from += LT_BLOCK) {
        const int64_t m = n - from < LT_BLOCK ? n - from : LT_BLOCK;
        if (x->put) ask(p[0], strides[0], m);
        if (lt_interrupted() || !locate_offsets(x, p, strides, m, offsets)) return;
        if (x->args->count > 0) ask(p[2], strides[2], m);
        if (x->row > 1 && x->combine != NULL)
            combine_rows(x, p[1], offsets, p[0], strides[0], m, mine->row);
        else
            x->move(p[1], offsets, p[0], strides[0], m, bytes);
        for (int k = 0; k < x->it.operands; k++) p[k] += m * strides[k];
    }
}

static void check_run(char *const *ptrs, const int64_t *strides, int64_t n, const void *context)
{
    locate_offsets((indexing *)context, ptrs, strides,
                   constant_along(((const indexing *)context)->args, strides) ? 1 : n, NULL);
}

/* ---- walking --------------------------------------------------------------------------------- */

static void drop_dimension(lt_iter *it)
{
    it->numel /= it->sizes[0];
    it->ndim--;
    memmove(it->sizes, it->sizes + 1, (size_t)it->ndim * sizeof *it->sizes);
    for (int k = 0; k < it->operands; k++)
        memmove(it->strides[k], it->strides[k] + 1, (size_t)it->ndim * sizeof *it->strides[k]);
}

/* Treats a row as one element if it is contiguous on both sides and no index varies along it. */
static void gather_rows(indexing *x)
{
    lt_iter *it = &x->it;
    const int64_t size = (int64_t)lt_dtype_size(it->dtype[1]);
    if (it->ndim < 2 || it->strides[0][0] != size || it->strides[1][0] != size) return;
    for (int k = 0; k < x->args->count; k++)
        if (it->strides[2 + k][0] != 0) return;
    x->row = it->sizes[0];
    drop_dimension(it);
}

/* Exchanges a short inner dimension with a long one. */
static void avoid_short_runs(lt_iter *it)
{
    if (!lt_cpu_exchanges(it)) return;
    const int64_t size = it->sizes[0];
    it->sizes[0] = it->sizes[1];
    it->sizes[1] = size;
    for (int k = 0; k < it->operands; k++) {
        const int64_t stride = it->strides[k][0];
        it->strides[k][0] = it->strides[k][1];
        it->strides[k][1] = stride;
    }
}

static void run_index_part(const void *context, int64_t number)
{
    indexing *x = (indexing *)context;
    const lt_iter *it = &x->it;
    const int d = x->split;
    index_part whole = {x, x->row};
    if (x->parts == 0) {
        const int64_t from = number * x->chunk, to = from + x->chunk;
        lt_cpu_walk(it, it->ndim, it->data, from, to < it->numel ? to : it->numel, do_run, &whole);
        return;
    }
    lt_iter mine = *it;
    const int64_t size = d == ROWS ? x->row : it->sizes[d], first = size * number / x->parts,
                  n = size * (number + 1) / x->parts - first;
    for (int k = 0; k < it->operands; k++)
        mine.data[k] += first * (d != ROWS ? it->strides[k][d]
                                 : k < 2   ? (int64_t)lt_dtype_size(it->dtype[k])
                                           : 0);
    if (d == ROWS) {
        whole.row = n;
    } else {
        mine.sizes[d] = n;
        mine.numel = it->numel / size * n;
    }
    if (mine.numel > 0 && n > 0)
        lt_cpu_walk(&mine, mine.ndim, mine.data, 0, mine.numel, do_run, &whole);
}

/* Partitions writes along a dimension without an index, so that each element belongs to one part.
 */
static void split_writing(indexing *x, int threads)
{
    x->parts = 1;
    int64_t longest = 0;
    for (int d = 0; d < x->it.ndim; d++) {
        if (x->it.strides[1][d] == 0 || x->it.sizes[d] <= longest) continue;
        longest = x->it.sizes[d];
        x->split = d;
    }
    if (x->row > longest && x->row >= LT_SHORT_SLICE) {
        longest = x->row;
        x->split = ROWS;
    }
    if (longest > 1) x->parts = threads < longest ? threads : (int)longest;
}

static lt_status run_all(indexing *x)
{
    const int64_t numel = x->it.numel;
    const int threads = lt_cpu_threads_for(numel * x->row);
    lt_status status;
    if (threads == 1 && numel <= LT_CPU_GRAIN / x->row) {
        lt_cpu_walk(&x->it, x->it.ndim, x->it.data, 0, numel, do_run, &(index_part){x, x->row});
        status = lt_interrupted() ? lt_stopped() : LT_OK;
    } else if (threads > 1 && x->put && !x->args->distinct) {
        split_writing(x, threads);
        status = lt_parallel_for(x->parts, x->parts, run_index_part, x);
    } else { /* one thread processes the chunks in order */
        x->chunk = x->row < LT_CPU_GRAIN ? LT_CPU_GRAIN / x->row : 1;
        status = lt_parallel_for((numel + x->chunk - 1) / x->chunk, threads, run_index_part, x);
    }
    return x->bad_index >= 0 ? range_error(x) : status;
}

static indexing begin_indexing(const lt_iter *it, const lt_index_args *args)
{
    return (indexing){.it = *it,
                      .args = args,
                      .row = 1,
                      .copy = lt_loops.cast[it->dtype[1]][it->dtype[1]],
                      .bad_index = -1};
}

lt_status lt_cpu_index_get(const lt_iter *it, const lt_index_args *args)
{
    indexing x = begin_indexing(it, args);
    if (it->numel == 0) return LT_OK;
    gather_rows(&x);
    avoid_short_runs(&x.it);
    x.move = get_elements;
    return run_all(&x);
}

lt_status lt_cpu_index_combine(const lt_iter *it, const lt_index_args *args, lt_scatter_mode mode)
{
    static const lt_scalar one = {LT_SCALAR_INT, {.i = 1}, 0};
    static const int pointwise[] = {[LT_SCATTER_ADD] = LT_PW_ADD,
                                    [LT_SCATTER_MUL] = LT_PW_MUL,
                                    [LT_SCATTER_MAX] = LT_PW_MAXIMUM,
                                    [LT_SCATTER_MIN] = LT_PW_MINIMUM};
    const lt_dtype dtype = it->dtype[1];
    indexing x = begin_indexing(it, args);
    x.put = true;
    if (it->numel == 0) return LT_OK;
    if (!args->fresh) {
        LT_TRY(lt_cpu_for_each(it, check_run, &x));
        if (x.bad_index >= 0) return range_error(&x);
    }
    if (mode == LT_SCATTER_SET) {
        gather_rows(&x);
        x.move = put_elements;
    } else {
        x.move = lt_combine_loop(mode, dtype);
        x.params = mode == LT_SCATTER_ADD ? &one : NULL;
        /* loops on half types accept scalars as float only */
        x.combine = lt_dtype_is_half(dtype) ? NULL : lt_pointwise_loops[pointwise[mode]][dtype];
        if (x.combine == NULL)
            x.copy = NULL;
        else
            gather_rows(&x);
    }
    avoid_short_runs(&x.it);
    return run_all(&x);
}

lt_status lt_cpu_index_put(const lt_iter *it, const lt_index_args *args, bool accumulate)
{
    return lt_cpu_index_combine(it, args, accumulate ? LT_SCATTER_ADD : LT_SCATTER_SET);
}
