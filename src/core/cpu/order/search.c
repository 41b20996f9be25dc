/* search.c - searchsorted: binary search for positions in ascending rows. A nan is larger than
 * every number. */
#include "cpu/cpu.h"
#include "error.h"
#include "cpu/common/threads.h"
#include "cpu/common/sizes.h"

typedef struct search_job {
    const lt_search *s;
    int64_t chunks; /* of the values of a row */
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
    const lt_search *s = j->s;
    const int64_t line = chunk / j->chunks, from = chunk % j->chunks * LT_CPU_PIECE;
    const int64_t n = s->count - from < LT_CPU_PIECE ? s->count - from : LT_CPU_PIECE,
                  at = line * s->count + from, start = line * s->n;
    switch (s->dtype) {
    case LT_FLOAT32:
        search_f32(s->right, (const float *)s->sorted + start, s->n, (const float *)s->values + at,
                   n, s->out + at);
        break;
    case LT_FLOAT64:
        search_f64(s->right, (const double *)s->sorted + start, s->n,
                   (const double *)s->values + at, n, s->out + at);
        break;
    case LT_INT32:
        search_i32(s->right, (const int32_t *)s->sorted + start, s->n,
                   (const int32_t *)s->values + at, n, s->out + at);
        break;
    default:
        search_i64(s->right, (const int64_t *)s->sorted + start, s->n,
                   (const int64_t *)s->values + at, n, s->out + at);
        break;
    }
}

lt_status lt_cpu_search(const lt_search *s)
{
    if (s->dtype != LT_FLOAT32 && s->dtype != LT_FLOAT64 && s->dtype != LT_INT32 &&
        s->dtype != LT_INT64)
        return lt_error(LT_ERR_TYPE, "searchsorted: no kernel for %s", lt_dtype_name(s->dtype));
    if (s->count == 0 || s->lines == 0) return LT_OK;
    const search_job j = {.s = s, .chunks = (s->count + LT_CPU_PIECE - 1) / LT_CPU_PIECE};
    return lt_parallel_for(s->lines * j.chunks, lt_cpu_threads_for(8 * s->lines * s->count),
                           run_search, &j);
}
