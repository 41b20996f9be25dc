/* pool.c - the loops of pooling: one element of every window of a row at a time, so that neighbouring windows are
 * the lanes of vector registers. */
#include "cpu/common/loops.h"

/* S: what sums are held in, modulo 2^64 of integers. */
#define POOL(s, T, S)                                                                              \
    static void extremes_##s(void *best, int32_t *place, const void *in, int64_t step, int64_t n, int32_t first) \
    {                                                                                              \
        T *most = best;                                                                            \
        const T *from = in;                                                                        \
        if (place == NULL) {                                                                       \
            _Pragma("omp simd") for (int64_t i = 0; i < n; i++)                                    \
            {                                                                                      \
                const T v = from[i * step];                                                        \
                most[i] = v > most[i] || v != v ? v : most[i];                                     \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        _Pragma("omp simd") for (int64_t i = 0; i < n; i++)                                        \
        {                                                                                          \
            const T v = from[i * step], old = most[i];                                             \
            const bool more = v > old || v != v;                                                   \
            most[i] = more ? v : old;                                                              \
            place[i] = more ? first + (int32_t)(i * step) : place[i];                              \
        }                                                                                          \
    }                                                                                              \
    static void sums_##s(void *sum, const void *in, int64_t step, int64_t n)                       \
    {                                                                                              \
        S *to = sum;                                                                               \
        const S *from = in;                                                                        \
        if (step == 1)                                                                             \
            _Pragma("omp simd") for (int64_t i = 0; i < n; i++) to[i] += from[i];                  \
        else                                                                                       \
            _Pragma("omp simd") for (int64_t i = 0; i < n; i++) to[i] += from[i * step];           \
    }                                                                                              \
    static void line_##s(void *to, const void *in, int64_t n)                                      \
    {                                                                                              \
        const S *from = in;                                                                        \
        S sum = 0;                                                                                 \
        _Pragma("omp simd reduction(+ : sum)") for (int64_t i = 0; i < n; i++) sum += from[i];     \
        *(S *)to += sum;                                                                           \
    }
POOL(f32, float, float)
POOL(f64, double, double)
POOL(i64, int64_t, uint64_t)
#undef POOL

const lt_pool_loops LT_LOOP(pool)[3] = {
    {extremes_f32, sums_f32, line_f32}, {extremes_f64, sums_f64, line_f64}, {extremes_i64, sums_i64, line_i64}};
