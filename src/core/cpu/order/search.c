/* search.c - searchsorted: binary search for positions in ascending rows. A nan is larger than
 * every number. */
#include "cpu/cpu.h"
#include "error.h"
#include "cpu/common/threads.h"
#include "cpu/common/sizes.h"

typedef struct search_job {
    bool right;
    lt_dtype dtype;
    const void *sorted, *values;
    int64_t n, count, chunks;
    int64_t *out;
} search_job;

/* Binary search: the first index of `sorted` with an element that is not before the value. LT_LANES
 * values are searched in lockstep, so that their reads from memory overlap. */
#define SEARCH(s, T)                                                                               \
    static void search_##s(bool right, const T *sorted, int64_t n, const T *values, int64_t count, \
                           int64_t *out)                                                           \
    {                                                                                              \
        for (int64_t i = 0; i < count; i += LT_LANES, values += LT_LANES, out += LT_LANES) {       \
            const int lanes = count - i < LT_LANES ? (int)(count - i) : LT_LANES;                  \
            for (int k = 0; k < lanes; k++) out[k] = 0;                                            \
            for (int64_t left = n, half; left > 0; left -= half) {                                 \
                half = (left + 1) / 2;                                                             \
                const T *last = sorted + half - 1; /* of the first half */                         \
                for (int k = 0; k < lanes; k++) {                                                  \
                    const T v = values[k], x = last[out[k]];                                       \
                    const bool before = (right ? x <= v : x < v) | (v != v);                       \
                    out[k] += before ? half : 0;                                                   \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }
SEARCH(f32, float)
SEARCH(f64, double)
SEARCH(i32, int32_t)
SEARCH(i64, int64_t)
#undef SEARCH

static void run_search(const void *context, int64_t chunk)
{
    const search_job *j = context;
    const int64_t line = chunk / j->chunks, from = chunk % j->chunks * LT_CPU_PIECE;
    const int64_t n = j->count - from < LT_CPU_PIECE ? j->count - from : LT_CPU_PIECE,
                  at = line * j->count + from, start = line * j->n;
    switch (j->dtype) {
    case LT_FLOAT32:
        search_f32(j->right, (const float *)j->sorted + start, j->n, (const float *)j->values + at,
                   n, j->out + at);
        break;
    case LT_FLOAT64:
        search_f64(j->right, (const double *)j->sorted + start, j->n,
                   (const double *)j->values + at, n, j->out + at);
        break;
    case LT_INT32:
        search_i32(j->right, (const int32_t *)j->sorted + start, j->n,
                   (const int32_t *)j->values + at, n, j->out + at);
        break;
    default:
        search_i64(j->right, (const int64_t *)j->sorted + start, j->n,
                   (const int64_t *)j->values + at, n, j->out + at);
        break;
    }
}

lt_status lt_cpu_search(bool right, lt_dtype dtype, const void *sorted, int64_t n,
                        const void *values, int64_t count, int64_t lines, int64_t *out)
{
    if (dtype != LT_FLOAT32 && dtype != LT_FLOAT64 && dtype != LT_INT32 && dtype != LT_INT64)
        return lt_error(LT_ERR_TYPE, "searchsorted: no kernel for %s", lt_dtype_name(dtype));
    if (count == 0 || lines == 0) return LT_OK;
    search_job j = {.right = right,
                    .dtype = dtype,
                    .sorted = sorted,
                    .values = values,
                    .n = n,
                    .count = count,
                    .chunks = (count + LT_CPU_PIECE - 1) / LT_CPU_PIECE,
                    .out = out};
    return lt_parallel_for(lines * j.chunks, lt_cpu_threads_for(8 * lines * count), run_search, &j);
}
