/* range.c - arithmetic sequences (arange, linspace). */
#include "cpu/cpu.h"
#include "dtypes/dtype.h"
#include "cpu/common/loops.h"
#include "cpu/common/threads.h"
#include "cpu/common/sizes.h"

typedef struct arange_job {
    char *out;
    int64_t n, size;
    bool integers, as_computed; /* computed as integers; stored without a conversion */
    lt_scalar start, step;
    /* factor of step for the first element; its increment per element: 1 or -1 */
    int64_t zeroth, direction;
    lt_loop convert;
} arange_job;

typedef uint64_t two_integers __attribute__((vector_size(16), aligned(8), may_alias));

/* first + j * by for j < m, by vector additions: without AVX-512 there is no vector product of
 * 64-bit integers. */
static void fill_integers(uint64_t *out, uint64_t first, uint64_t by, int64_t m)
{
    enum { LANES = 8 }; /* fixed: four registers of two */
    two_integers a = {first, first + by}, b = a + 2 * by, c = b + 2 * by, d = c + 2 * by;
    int64_t j = 0;
    for (; j + LANES <= m; j += LANES) {
        two_integers *at = (two_integers *)(out + j);
        at[0] = a, at[1] = b, at[2] = c, at[3] = d;
        a += LANES * by, b += LANES * by, c += LANES * by, d += LANES * by;
    }
    for (; j < m; j++) out[j] = first + (uint64_t)j * by;
}

static void fill_range_chunk(const void *context, int64_t job)
{
    const arange_job *r = context;
    const int64_t end = (job + 1) * LT_CPU_GRAIN < r->n ? (job + 1) * LT_CPU_GRAIN : r->n;
    const uint64_t step_of_integers = (uint64_t)r->step.v.i,
                   by = (uint64_t)r->direction * step_of_integers;
    const uint64_t first = (uint64_t)r->start.v.i + (uint64_t)r->zeroth * step_of_integers;
    const double start = lt_scalar_double(r->start), step = lt_scalar_double(r->step),
                 direction = (double)r->direction;
    union {
        uint64_t i[LT_BLOCK];
        double d[LT_BLOCK];
    } block;
    uint64_t *i = block.i;
    double *d = block.d;
    for (int64_t from = job * LT_CPU_GRAIN; from < end; from += LT_BLOCK) {
        const int64_t m = end - from < LT_BLOCK ? end - from : LT_BLOCK;
        if (r->as_computed) {
            i = (uint64_t *)r->out + from;
            d = (double *)r->out + from;
        }
        if (r->integers) {
            fill_integers(i, first + (uint64_t)from * by, by, m);
        } else {
            const double times = (double)(r->zeroth + r->direction * from);
            _Pragma("omp simd") for (int64_t j = 0; j < m; j++) d[j] =
                start + (times + direction * (double)(int)j) * step;
        }
        if (!r->as_computed)
            r->convert((char *[]){r->out + from * r->size, (char *)&block}, (int64_t[]){r->size, 8},
                       m, NULL);
    }
}

/* Computes in int64 if start and step are integers, else in double, from the index, so that no
 * error accumulates; converts block by block if the result has another dtype. */
lt_status lt_cpu_range(const lt_array *out, lt_scalar start, lt_scalar step, bool backwards)
{
    arange_job r = {.out = out->data,
                    .n = 1,
                    .size = (int64_t)lt_dtype_size(out->dtype),
                    .start = start,
                    .step = step,
                    .direction = backwards ? -1 : 1};
    for (int d = 0; d < out->ndim; d++) r.n *= out->sizes[d];
    r.zeroth = backwards ? r.n - 1 : 0;
    r.integers = start.kind != LT_SCALAR_FLOAT && step.kind != LT_SCALAR_FLOAT;
    r.as_computed = out->dtype == (r.integers ? LT_INT64 : LT_FLOAT64);
    r.convert = lt_loops.cast[out->dtype][r.integers ? LT_INT64 : LT_FLOAT64];
    return lt_parallel_for((r.n + LT_CPU_GRAIN - 1) / LT_CPU_GRAIN,
                           lt_cpu_threads_for(LT_CPU_MOVED * r.n), fill_range_chunk, &r);
}
