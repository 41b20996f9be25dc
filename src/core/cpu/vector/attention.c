/* attention.c - what attention does to rows of scores between its products, in float and double. */
#include "cpu/common/loops.h"
#include "vector_math.h"

#define LANES 32

#define ATTENTION(s)                                                                                                   \
    static double step_##s(void *scores, int64_t n, double *most, double *sum)                                         \
    {                                                                                                                  \
        T *x = scores, lane[LANES], top = (T)*most, total = 0;                                                         \
        int64_t i = 0;                                                                                                 \
        for (int j = 0; j < LANES; j++) lane[j] = top;                                                                 \
        for (; i + LANES <= n; i += LANES)                                                                             \
            _Pragma("omp simd") for (int j = 0; j < LANES; j++) lane[j] = x[i + j] > lane[j] ? x[i + j] : lane[j];     \
        for (; i < n; i++) top = x[i] > top ? x[i] : top;                                                              \
        for (int j = 0; j < LANES; j++) top = lane[j] > top ? lane[j] : top;                                           \
        const T shift = top == (T)-INFINITY ? 0 : top;                                                                 \
        _Pragma("omp simd reduction(+ : total)") for (int64_t k = 0; k < n; k++)                                       \
        {                                                                                                              \
            T e = M(exp)(x[k] - shift);                                                                                \
            x[k] = e;                                                                                                  \
            total += e;                                                                                                \
        }                                                                                                              \
        const double factor = *most == -INFINITY ? 0 : exp(*most - (double)top);                                       \
        *most = (double)top;                                                                                           \
        *sum = *sum * factor + (double)total;                                                                          \
        return factor;                                                                                                 \
    }                                                                                                                  \
    static void multiply_##s(void *row, int64_t n, double factor)                                                      \
    {                                                                                                                  \
        T *x = row, f = (T)factor;                                                                                     \
        _Pragma("omp simd") for (int64_t i = 0; i < n; i++) x[i] *= f;                                                 \
    }                                                                                                                  \
    static void weights_##s(void *scores, int64_t n, double logsumexp)                                                 \
    {                                                                                                                  \
        T *x = scores, shift = (T)logsumexp;                                                                           \
        _Pragma("omp simd") for (int64_t i = 0; i < n; i++) x[i] = M(exp)(x[i] - shift);                               \
    }                                                                                                                  \
    static void slopes_##s(void *grad, const void *p, int64_t n, double delta, double scale)                           \
    {                                                                                                                  \
        T *g = grad, d = (T)delta, by = (T)scale;                                                                      \
        const T *w = p;                                                                                                \
        _Pragma("omp simd") for (int64_t i = 0; i < n; i++) g[i] = (g[i] - d) * w[i] * by;                             \
    }                                                                                                                  \
    static double dot_##s(const void *a, const void *b, int64_t n)                                                     \
    {                                                                                                                  \
        const T *x = a, *y = b;                                                                                        \
        T total = 0;                                                                                                   \
        _Pragma("omp simd reduction(+ : total)") for (int64_t i = 0; i < n; i++) total += x[i] * y[i];                 \
        return (double)total;                                                                                          \
    }

#define T    float
#define M(g) g##f
ATTENTION(f32)
#undef T
#undef M
#define T    double
#define M(g) g
ATTENTION(f64)
#undef T
#undef M

const lt_attention_loops LT_LOOP(attention)[2] = {
    {step_f32, multiply_f32, weights_f32, slopes_f32, dot_f32},
    {step_f64, multiply_f64, weights_f64, slopes_f64, dot_f64},
};
