/* pool.c - the loops of pooling: one element of every window of a row at a time, so that neighbouring windows are
 * the lanes of vector registers. */
#include "../loops.h"

#define POOL(s, T)                                                                                 \
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
        T *to = sum;                                                                               \
        const T *from = in;                                                                        \
        if (step == 1)                                                                             \
            _Pragma("omp simd") for (int64_t i = 0; i < n; i++) to[i] += from[i];                  \
        else                                                                                       \
            _Pragma("omp simd") for (int64_t i = 0; i < n; i++) to[i] += from[i * step];           \
    }                                                                                              \
    static double line_##s(const void *in, int64_t n)                                              \
    {                                                                                              \
        const T *from = in;                                                                        \
        T sum = 0;                                                                                 \
        _Pragma("omp simd reduction(+ : sum)") for (int64_t i = 0; i < n; i++) sum += from[i];     \
        return (double)sum;                                                                        \
    }
POOL(f32, float)
POOL(f64, double)
#undef POOL

const lt_pool_loops LT_LOOP(pool)[2] = {{extremes_f32, sums_f32, line_f32}, {extremes_f64, sums_f64, line_f64}};
