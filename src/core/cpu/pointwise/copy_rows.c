/* copy_rows.c - copies of many short rows, dense ones or such as repeat an element. A call of a
 * loop for each row costs as much as the row, and a walk across the rows touches every line of the
 * cache again for each column: a row is written in a few stores here, many rows a call. */
#include "copy_rows.h"

#include <string.h>

#include "cpu/common/copy_bytes.h"
#include "cpu/common/for_each.h"
#include "cpu/common/threads.h"
#include "dtypes/dtype.h"

enum {
    SHORT = 1024,   /* bytes of a row from which a call costs little beside it */
    CHUNK = 131072, /* most elements that a thread takes at once */
    WIDE = 16       /* bytes of a store */
};

/* Along the rows; dimension 0 of the iterator is the next one. */
typedef struct rows {
    lt_iter it;
    lt_loop copy;
    size_t bytes;  /* of a row */
    int64_t piece; /* rows of a job */
} rows;

static void copy_dense(char *const *ptrs, const int64_t *strides, int64_t n, const void *context)
{
    const rows *r = context;
    for (int64_t i = 0; i < n; i++)
        lt_copy_bytes(ptrs[0] + i * strides[0], ptrs[1] + i * strides[1], r->bytes);
}

#define REPEAT(bits)                                                                               \
    static void repeat_##bits(char *const *ptrs, const int64_t *strides, int64_t n,                \
                              const void *context)                                                 \
    {                                                                                              \
        const size_t bytes = ((const rows *)context)->bytes;                                       \
        for (int64_t i = 0; i < n; i++) {                                                          \
            char *out = ptrs[0] + i * strides[0];                                                  \
            const uint##bits##_t x = *(const uint##bits##_t *)(ptrs[1] + i * strides[1]);          \
            uint##bits##_t many[WIDE * 8 / bits];                                                  \
            for (int k = 0; k < WIDE * 8 / bits; k++) many[k] = x;                                 \
            if (bytes < WIDE) {                                                                    \
                for (size_t k = 0; k < bytes / sizeof x; k++) ((uint##bits##_t *)out)[k] = x;      \
                continue;                                                                          \
            }                                                                                      \
            for (size_t k = 0; k + WIDE <= bytes; k += WIDE) memcpy(out + k, many, WIDE);          \
            memcpy(out + bytes - WIDE, many, WIDE);                                                \
        }                                                                                          \
    }
REPEAT(8)
REPEAT(16)
REPEAT(32)
REPEAT(64)
#undef REPEAT

static lt_loop repeat_for(size_t size)
{
    switch (size) {
    case 1: return repeat_8;
    case 2: return repeat_16;
    case 4: return repeat_32;
    default: return repeat_64;
    }
}

bool lt_cpu_copies_rows(const lt_iter *it)
{
    const int64_t size = (int64_t)lt_dtype_size(it->dtype[0]);
    if (it->ndim < 2 || it->dtype[0] != it->dtype[1] || it->sizes[0] * size > SHORT || size > 8)
        return false;
    return it->strides[0][0] == size && (it->strides[1][0] == size || it->strides[1][0] == 0);
}

static void run_rows(const void *context, int64_t job)
{
    const rows *r = context;
    const int64_t from = job * r->piece, to = from + r->piece;
    lt_cpu_walk(&r->it, r->it.ndim, r->it.data, from, to < r->it.numel ? to : r->it.numel, r->copy,
                r);
}

lt_status lt_cpu_copy_rows(const lt_iter *it)
{
    const size_t size = lt_dtype_size(it->dtype[0]);
    const int threads = lt_cpu_threads_for(LT_CPU_MOVED * it->numel);
    rows r; /* not zeroed as a whole */
    r.it.ndim = it->ndim - 1;
    r.it.operands = 2;
    r.it.numel = it->numel / it->sizes[0];
    memcpy(r.it.sizes, it->sizes + 1, (size_t)r.it.ndim * sizeof *it->sizes);
    for (int k = 0; k < 2; k++) {
        memcpy(r.it.strides[k], it->strides[k] + 1, (size_t)r.it.ndim * sizeof *it->sizes);
        r.it.data[k] = it->data[k];
    }
    r.copy = it->strides[1][0] == 0 ? repeat_for(size) : copy_dense;
    r.bytes = (size_t)it->sizes[0] * size;
    r.piece = 1 + lt_cpu_piece(it->numel, CHUNK, threads) / it->sizes[0];
    return lt_cpu_share((r.it.numel + r.piece - 1) / r.piece, threads, run_rows, &r);
}
