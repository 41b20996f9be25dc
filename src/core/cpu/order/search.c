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

#define T       float
#define S(name) name##_f32
#include "search.inc"
#undef T
#undef S
#define T       double
#define S(name) name##_f64
#include "search.inc"
#undef T
#undef S
#define T       int32_t
#define S(name) name##_i32
#include "search.inc"
#undef T
#undef S
#define T       int64_t
#define S(name) name##_i64
#include "search.inc"
#undef T
#undef S

static void run_search(const void *context, int64_t chunk)
{
    const search_job *j = context;
    const lt_search *s = j->s;
    const int64_t line = chunk / j->chunks, from = chunk % j->chunks * LT_CPU_PIECE;
    const int64_t n = s->count - from < LT_CPU_PIECE ? s->count - from : LT_CPU_PIECE,
                  at = line * s->count + from, start = line * s->n;
    switch (s->dtype) {
    case LT_FLOAT32:
        search_row_f32(s->right, (const float *)s->sorted + start, s->n,
                       (const float *)s->values + at, n, s->out + at);
        break;
    case LT_FLOAT64:
        search_row_f64(s->right, (const double *)s->sorted + start, s->n,
                       (const double *)s->values + at, n, s->out + at);
        break;
    case LT_INT32:
        search_row_i32(s->right, (const int32_t *)s->sorted + start, s->n,
                       (const int32_t *)s->values + at, n, s->out + at);
        break;
    default:
        search_row_i64(s->right, (const int64_t *)s->sorted + start, s->n,
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
