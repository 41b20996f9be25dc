/* softmax.c - softmax and log_softmax of one contiguous line, or of neighbouring ones side by side, forward and
 * backward, in float and double. The maximum is subtracted first, so that no exponential overflows; sums are taken in
 * blocks, which are added in double. A line with a nan, with an infinity, or of minus infinities alone becomes nan. */
#include "cpu/common/loops.h"
#include "interrupt.h"
#include "exponential.h"
#include "vector_math.h"

#define BLOCK 2048
#define LANES 64
#define ROWS 128 /* rows of lines side by side that are summed before their sums are added in double */

#define SIMD _Pragma("omp simd")

#define SOFTMAX(s)                                                                                 \
    static T line_max_##s(const T *in, int64_t n)                                                  \
    {                                                                                              \
        T lane[LANES], most = (T)-INFINITY;                                                        \
        int64_t i = 0;                                                                             \
        if (n >= LANES) {                                                                          \
            for (int j = 0; j < LANES; j++) lane[j] = in[j];                                       \
            for (i = LANES; i + LANES <= n; i += LANES)                                            \
                SIMD for (int j = 0; j < LANES; j++) lane[j] = in[i + j] > lane[j] ? in[i + j] : lane[j]; \
            for (int half = LANES / 2; half > 0; half /= 2)                                        \
                SIMD for (int j = 0; j < half; j++) lane[j] = lane[half + j] > lane[j] ? lane[half + j] : lane[j]; \
            most = lane[0];                                                                        \
        }                                                                                          \
        for (; i < n; i++) most = in[i] > most ? in[i] : most;                                     \
        return most;                                                                               \
    }                                                                                              \
    static void probabilities_##s(T *out, const T *in, int64_t n, T most)                          \
    {                                                                                              \
        double total = 0;                                                                          \
        for (int64_t from = 0; from < n && !lt_interrupted(); from += BLOCK) {                     \
            int64_t to = from + BLOCK < n ? from + BLOCK : n;                                      \
            T sum = 0;                                                                             \
            _Pragma("omp simd reduction(+ : sum)") for (int64_t i = from; i < to; i++)             \
            {                                                                                      \
                T e = EXP(in[i] - most);                                                           \
                out[i] = e;                                                                        \
                sum += e;                                                                          \
            }                                                                                      \
            total += sum;                                                                          \
        }                                                                                          \
        T scale = (T)(1 / total);                                                                  \
        SIMD for (int64_t i = 0; i < n; i++) out[i] *= scale;                                      \
    }                                                                                              \
    static void log_probabilities_##s(T *out, const T *in, int64_t n, T most)                      \
    {                                                                                              \
        double total = 0;                                                                          \
        for (int64_t from = 0; from < n && !lt_interrupted(); from += BLOCK) {                     \
            int64_t to = from + BLOCK < n ? from + BLOCK : n;                                      \
            T sum = 0;                                                                             \
            _Pragma("omp simd reduction(+ : sum)") for (int64_t i = from; i < to; i++)             \
                sum += EXP(in[i] - most);                                                          \
            total += sum;                                                                          \
        }                                                                                          \
        T shift = (T)log(total);                                                                   \
        SIMD for (int64_t i = 0; i < n; i++) out[i] = in[i] - most - shift;                        \
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
        for (int64_t from = 0; from < n && !lt_interrupted(); from += BLOCK) {                     \
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
            SIMD for (int64_t i = 0; i < n; i++) out[i] = g[i] - EXP(y[i]) * s;                    \
        } else {                                                                                   \
            SIMD for (int64_t i = 0; i < n; i++) out[i] = (g[i] - s) * y[i];                       \
        }                                                                                          \
    }                                                                                              \
    static void columns_##s(bool logs, void *out_at, int64_t out_step, const void *in_at, int64_t in_step, int64_t n, \
                            int64_t width)                                                         \
    {                                                                                              \
        T most[LT_SOFTMAX_COLUMNS], scale[LT_SOFTMAX_COLUMNS];                                     \
        double total[LT_SOFTMAX_COLUMNS] = {0};                                                    \
        T *out = out_at;                                                                           \
        const T *in = in_at;                                                                       \
        memcpy(most, in, (size_t)width * sizeof *most);                                            \
        for (int64_t i = 1; i < n; i++) {                                                          \
            const T *x = in + i * in_step;                                                         \
            SIMD for (int64_t j = 0; j < width; j++) most[j] = x[j] > most[j] ? x[j] : most[j];    \
        }                                                                                          \
        for (int64_t from = 0; from < n; from += ROWS) {                                           \
            T sum[LT_SOFTMAX_COLUMNS] = {0};                                                       \
            for (int64_t i = from; i < n && i < from + ROWS; i++) {                                \
                const T *x = in + i * in_step;                                                     \
                T *y = out + i * out_step;                                                         \
                if (logs) {                                                                         \
                    SIMD for (int64_t j = 0; j < width; j++) sum[j] += EXP(x[j] - most[j]);        \
                } else {                                                                           \
                    SIMD for (int64_t j = 0; j < width; j++) sum[j] += y[j] = EXP(x[j] - most[j]); \
                }                                                                                  \
            }                                                                                      \
            SIMD for (int64_t j = 0; j < width; j++) total[j] += sum[j];                           \
        }                                                                                          \
        for (int64_t j = 0; j < width; j++) scale[j] = (T)(logs ? log(total[j]) : 1 / total[j]);  \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const T *x = in + i * in_step;                                                         \
            T *y = out + i * out_step;                                                             \
            if (logs) {                                                                             \
                SIMD for (int64_t j = 0; j < width; j++) y[j] = x[j] - most[j] - scale[j];         \
            } else {                                                                               \
                SIMD for (int64_t j = 0; j < width; j++) y[j] *= scale[j];                         \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void columns_backward_##s(bool log, void *grad_in, int64_t in_step, const void *grad, int64_t grad_step, \
                                     const void *result, int64_t result_step, int64_t n, int64_t width) \
    {                                                                                              \
        double total[LT_SOFTMAX_COLUMNS] = {0};                                                    \
        T all[LT_SOFTMAX_COLUMNS];                                                                 \
        for (int64_t from = 0; from < n; from += ROWS) {                                           \
            T sum[LT_SOFTMAX_COLUMNS] = {0};                                                       \
            for (int64_t i = from; i < n && i < from + ROWS; i++) {                                \
                const T *g = (const T *)grad + i * grad_step, *y = (const T *)result + i * result_step; \
                if (log) {                                                                         \
                    SIMD for (int64_t j = 0; j < width; j++) sum[j] += g[j];                       \
                } else {                                                                           \
                    SIMD for (int64_t j = 0; j < width; j++) sum[j] += g[j] * y[j];                \
                }                                                                                  \
            }                                                                                      \
            SIMD for (int64_t j = 0; j < width; j++) total[j] += sum[j];                           \
        }                                                                                          \
        for (int64_t j = 0; j < width; j++) all[j] = (T)total[j];                                  \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const T *g = (const T *)grad + i * grad_step, *y = (const T *)result + i * result_step; \
            T *out = (T *)grad_in + i * in_step;                                                   \
            if (log) {                                                                             \
                SIMD for (int64_t j = 0; j < width; j++) out[j] = g[j] - EXP(y[j]) * all[j];       \
            } else {                                                                               \
                SIMD for (int64_t j = 0; j < width; j++) out[j] = (g[j] - all[j]) * y[j];          \
            }                                                                                      \
        }                                                                                          \
    }

#define T float
#define EXP inline_expf
SOFTMAX(f32)
#undef T
#undef EXP
#define T double
#define EXP exp
SOFTMAX(f64)
#undef T
#undef EXP

const lt_softmax_loops LT_LOOP(softmax)[2] = {{forward_f32, backward_f32, columns_f32, columns_backward_f32},
                                              {forward_f64, backward_f64, columns_f64, columns_backward_f64}};
