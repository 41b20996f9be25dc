/* recurrent.c - the loops of recurrent cells (cell.h): rows [from, to) of one step, forward and backward, in float and
 * double. Within a row every group of gates is dense, so that all units are one vector loop. */
#include "cpu/common/loops.h"
#include "vector_math.h"

#include "formulas/cell.h"

#define SIMD _Pragma("omp simd")
#define ROW(T, p, width) ((T *)(p) + row * (width))

#define RNN(name, s, T)                                                                            \
    static void name##_##s(const lt_cell_step *step, int64_t from, int64_t to)                     \
    {                                                                                              \
        const int64_t n = step->hidden;                                                            \
        const T *b = step->bias;                                                                   \
        for (int64_t row = from; row < to; row++) {                                                \
            const T *x = ROW(const T, step->x, n), *g = ROW(const T, step->g, n);                  \
            T *h = ROW(T, step->h, n);                                                             \
            SIMD for (int64_t i = 0; i < n; i++) h[i] = lt_cell_##name##_##s(x[i], g[i] + b[i]);   \
        }                                                                                          \
    }                                                                                              \
    static void name##_backward_##s(const lt_cell_step *step, int64_t from, int64_t to)            \
    {                                                                                              \
        const int64_t n = step->hidden;                                                            \
        for (int64_t row = from; row < to; row++) {                                                \
            const T *grad = ROW(const T, step->grad_h, n), *h = ROW(const T, step->h, n);          \
            T *out = ROW(T, step->grad_x, n);                                                      \
            SIMD for (int64_t i = 0; i < n; i++) out[i] = lt_cell_##name##_backward_##s(grad[i], h[i]); \
        }                                                                                          \
    }

#define GRU(s, T)                                                                                  \
    static void gru_##s(const lt_cell_step *step, int64_t from, int64_t to)                        \
    {                                                                                              \
        const int64_t n = step->hidden;                                                            \
        const T *b = step->bias;                                                                   \
        for (int64_t row = from; row < to; row++) {                                                \
            const T *x = ROW(const T, step->x, 3 * n), *g = ROW(const T, step->g, 3 * n);          \
            const T *before = ROW(const T, step->h_prev, n);                                       \
            T *k = ROW(T, step->kept, 4 * n), *h = ROW(T, step->h, n);                             \
            SIMD for (int64_t i = 0; i < n; i++)                                                   \
            {                                                                                      \
                T r, z, m, q;                                                                      \
                h[i] = lt_cell_gru_##s(x[i], x[n + i], x[2 * n + i], g[i] + b[i], g[n + i] + b[n + i], \
                                       g[2 * n + i] + b[2 * n + i], before[i], &r, &z, &m, &q);    \
                k[i] = r;                                                                          \
                k[n + i] = z;                                                                      \
                k[2 * n + i] = m;                                                                  \
                k[3 * n + i] = q;                                                                  \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void gru_backward_##s(const lt_cell_step *step, int64_t from, int64_t to)               \
    {                                                                                              \
        const int64_t n = step->hidden;                                                            \
        for (int64_t row = from; row < to; row++) {                                                \
            const T *grad = ROW(const T, step->grad_h, n), *before = ROW(const T, step->h_prev, n); \
            const T *k = ROW(const T, step->kept, 4 * n);                                          \
            T *dx = ROW(T, step->grad_x, 3 * n), *dg = ROW(T, step->grad_g, 3 * n);                \
            T *dh = ROW(T, step->grad_h_prev, n);                                                  \
            SIMD for (int64_t i = 0; i < n; i++)                                                   \
            {                                                                                      \
                T r, z, m, q;                                                                      \
                dh[i] += lt_cell_gru_backward_##s(grad[i], before[i], k[i], k[n + i], k[2 * n + i], \
                                                  k[3 * n + i], &r, &z, &m, &q);                   \
                dx[i] = dg[i] = r;                                                                 \
                dx[n + i] = dg[n + i] = z;                                                         \
                dx[2 * n + i] = m;                                                                 \
                dg[2 * n + i] = q;                                                                 \
            }                                                                                      \
        }                                                                                          \
    }

#define LSTM(s, T)                                                                                 \
    static void lstm_##s(const lt_cell_step *step, int64_t from, int64_t to)                       \
    {                                                                                              \
        const int64_t n = step->hidden;                                                            \
        const T *b = step->bias;                                                                   \
        for (int64_t row = from; row < to; row++) {                                                \
            const T *x = ROW(const T, step->x, 4 * n), *g = ROW(const T, step->g, 4 * n);          \
            const T *before = ROW(const T, step->c_prev, n);                                       \
            T *k = ROW(T, step->kept, 4 * n), *h = ROW(T, step->h, n), *c = ROW(T, step->c, n);    \
            SIMD for (int64_t i = 0; i < n; i++)                                                   \
            {                                                                                      \
                T in, forget, cell, out, c_new;                                                    \
                h[i] = lt_cell_lstm_##s(x[i], x[n + i], x[2 * n + i], x[3 * n + i], g[i] + b[i],   \
                                        g[n + i] + b[n + i], g[2 * n + i] + b[2 * n + i],          \
                                        g[3 * n + i] + b[3 * n + i], before[i], &in, &forget, &cell, &out, &c_new); \
                k[i] = in;                                                                         \
                k[n + i] = forget;                                                                 \
                k[2 * n + i] = cell;                                                               \
                k[3 * n + i] = out;                                                                \
                c[i] = c_new;                                                                      \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void lstm_backward_##s(const lt_cell_step *step, int64_t from, int64_t to)              \
    {                                                                                              \
        const int64_t n = step->hidden;                                                            \
        for (int64_t row = from; row < to; row++) {                                                \
            const T *grad_h = ROW(const T, step->grad_h, n), *grad_c = ROW(const T, step->grad_c, n); \
            const T *before = ROW(const T, step->c_prev, n), *c = ROW(const T, step->c, n);        \
            const T *k = ROW(const T, step->kept, 4 * n);                                          \
            T *dx = ROW(T, step->grad_x, 4 * n), *dc = ROW(T, step->grad_c_prev, n);               \
            SIMD for (int64_t i = 0; i < n; i++)                                                   \
            {                                                                                      \
                T in, forget, cell, out;                                                           \
                dc[i] += lt_cell_lstm_backward_##s(grad_h[i], grad_c[i], before[i], c[i], k[i], k[n + i], \
                                                   k[2 * n + i], k[3 * n + i], &in, &forget, &cell, &out); \
                dx[i] = in;                                                                        \
                dx[n + i] = forget;                                                                \
                dx[2 * n + i] = cell;                                                              \
                dx[3 * n + i] = out;                                                               \
            }                                                                                      \
        }                                                                                          \
    }

#define CELLS(s, T) RNN(tanh, s, T) RNN(relu, s, T) GRU(s, T) LSTM(s, T)
CELLS(f32, float)
CELLS(f64, double)

#define ENTRY(name)                                                                                \
    {                                                                                              \
        {name##_f32, name##_f64}, {name##_backward_f32, name##_backward_f64},                      \
    }
const lt_cell_loop LT_LOOP(cells)[LT_CELLS][2][2] = {ENTRY(tanh), ENTRY(relu), ENTRY(gru), ENTRY(lstm)};
