/* softmax.c - softmax and log_softmax of one contiguous line, forward and backward, in float and double.
 * The maximum is subtracted first, so that no exponential overflows; sums are taken in blocks, which are
 * added in double. A line with a nan, with an infinity, or of minus infinities alone becomes nan. */
#include "../loops.h"
#include "vector_math.h"

#define BLOCK 2048
#define LANES 64

#define SOFTMAX(s)                                                                                 \
    static T line_max_##s(const T *in, int64_t n)                                                  \
    {                                                                                              \
        T lane[LANES], most = (T)-INFINITY;                                                        \
        int64_t i = 0;                                                                             \
        if (n >= LANES) {                                                                          \
            for (int j = 0; j < LANES; j++) lane[j] = in[j];                                       \
            for (i = LANES; i + LANES <= n; i += LANES)                                            \
                _Pragma("omp simd") for (int j = 0; j < LANES; j++) lane[j] =                      \
                    in[i + j] > lane[j] ? in[i + j] : lane[j];                                     \
            for (int j = 0; j < LANES; j++) most = lane[j] > most ? lane[j] : most;                \
        }                                                                                          \
        for (; i < n; i++) most = in[i] > most ? in[i] : most;                                     \
        return most;                                                                               \
    }                                                                                              \
    static void probabilities_##s(T *out, const T *in, int64_t n, T most)                          \
    {                                                                                              \
        double total = 0;                                                                          \
        for (int64_t from = 0; from < n; from += BLOCK) {                                          \
            int64_t to = from + BLOCK < n ? from + BLOCK : n;                                      \
            T sum = 0;                                                                             \
            _Pragma("omp simd reduction(+ : sum)") for (int64_t i = from; i < to; i++)             \
            {                                                                                      \
                T e = M(exp)(in[i] - most);                                                        \
                out[i] = e;                                                                        \
                sum += e;                                                                          \
            }                                                                                      \
            total += sum;                                                                          \
        }                                                                                          \
        T scale = (T)total;                                                                        \
        _Pragma("omp simd") for (int64_t i = 0; i < n; i++) out[i] /= scale;                       \
    }                                                                                              \
    static void log_probabilities_##s(T *out, const T *in, int64_t n, T most)                      \
    {                                                                                              \
        double total = 0;                                                                          \
        for (int64_t from = 0; from < n; from += BLOCK) {                                          \
            int64_t to = from + BLOCK < n ? from + BLOCK : n;                                      \
            T sum = 0;                                                                             \
            _Pragma("omp simd reduction(+ : sum)") for (int64_t i = from; i < to; i++)             \
                sum += M(exp)(in[i] - most);                                                       \
            total += sum;                                                                          \
        }                                                                                          \
        T shift = (T)log(total);                                                                   \
        _Pragma("omp simd") for (int64_t i = 0; i < n; i++) out[i] = in[i] - most - shift;         \
    }                                                                                              \
    static void forward_##s(bool log, void *out, const void *in, int64_t n)                        \
    {                                                                                              \
        T most = line_max_##s(in, n);                                                              \
        if (log)                                                                                   \
            log_probabilities_##s(out, in, n, most);                                               \
        else                                                                                       \
            probabilities_##s(out, in, n, most);                                                   \
    }                                                                                              \
    static void backward_##s(bool log, void *grad_in, const void *grad, const void *result, int64_t n) \
    {                                                                                              \
        T *out = grad_in;                                                                          \
        const T *g = grad, *y = result;                                                            \
        double total = 0;                                                                          \
        for (int64_t from = 0; from < n; from += BLOCK) {                                          \
            int64_t to = from + BLOCK < n ? from + BLOCK : n;                                      \
            T sum = 0;                                                                             \
            if (log) {                                                                             \
                _Pragma("omp simd reduction(+ : sum)") for (int64_t i = from; i < to; i++) sum += g[i]; \
            } else {                                                                               \
                _Pragma("omp simd reduction(+ : sum)") for (int64_t i = from; i < to; i++)         \
                    sum += g[i] * y[i];                                                            \
            }                                                                                      \
            total += sum;                                                                          \
        }                                                                                          \
        T s = (T)total;                                                                            \
        if (log) {                                                                                 \
            _Pragma("omp simd") for (int64_t i = 0; i < n; i++) out[i] = g[i] - M(exp)(y[i]) * s;  \
        } else {                                                                                   \
            _Pragma("omp simd") for (int64_t i = 0; i < n; i++) out[i] = (g[i] - s) * y[i];        \
        }                                                                                          \
    }

#define T float
#define M(g) g##f
SOFTMAX(f32)
#undef T
#undef M
#define T double
#define M(g) g
SOFTMAX(f64)
#undef T
#undef M

const lt_softmax_loops LT_LOOP(softmax)[2] = {{forward_f32, backward_f32}, {forward_f64, backward_f64}};
