/* recurrent.cu - one step of a recurrent layer: one thread per unit of a row computes all its gates
 * (cell.h). The caller does the matrix products before and after. */
#include "cuda.h"
#include "formulas/cell.h"
#include "kernels/launch.cuh"
#include "kernels/quotients.cuh"

enum { BLOCK = 256 };

template <class C>
static __device__ __forceinline__ void store_gates(C *to, const C *values, int64_t n)
{
    for (int j = 0; j < 4; j++) to[j * n] = values[j];
}

template <class C>
static __global__ void __launch_bounds__(BLOCK)
    forward(lt_cell_step s, int gates, lt_quotients by_hidden)
{
    const int64_t n = s.hidden, at = lt_thread_number();
    if (at >= s.rows * n) return;
    const int64_t row = by_hidden.of(at), i = at - row * n;
    const C *x = static_cast<const C *>(s.x) + row * gates * n + i,
            *b = static_cast<const C *>(s.bias) + i;
    const C *g = static_cast<const C *>(s.g) + row * gates * n + i;
    C *h = static_cast<C *>(s.h) + at, *k = static_cast<C *>(s.kept) + row * 4 * n + i, kept[4];
    const auto sum = [&](int gate) { return x[gate * n] + (g[gate * n] + b[gate * n]); };
    switch (s.cell) {
    case LT_CELL_TANH: *h = lt_cell_tanh(x[0], g[0] + b[0]); break;
    case LT_CELL_RELU: *h = lt_cell_relu(x[0], g[0] + b[0]); break;
    case LT_CELL_GRU:
        kept[0] = sum(0), kept[1] = sum(1), kept[3] = g[2 * n] + b[2 * n];
        *h = lt_cell_gru(x[2 * n], kept[3], static_cast<const C *>(s.h_prev)[at], &kept[0],
                         &kept[1], &kept[2]);
        store_gates(k, kept, n);
        break;
    default:
        for (int j = 0; j < 4; j++) kept[j] = sum(j);
        *h = lt_cell_lstm(static_cast<const C *>(s.c_prev)[at], &kept[0], &kept[1], &kept[2],
                          &kept[3], static_cast<C *>(s.c) + at);
        store_gates(k, kept, n);
        break;
    }
}

template <class C>
static __global__ void __launch_bounds__(BLOCK)
    backward(lt_cell_step s, int gates, lt_quotients by_hidden)
{
    const int64_t n = s.hidden, at = lt_thread_number();
    if (at >= s.rows * n) return;
    const int64_t row = by_hidden.of(at), i = at - row * n;
    const C grad = static_cast<const C *>(s.grad_h)[at];
    const C *h = static_cast<const C *>(s.h) + at,
            *k = static_cast<const C *>(s.kept) + row * 4 * n + i;
    C *dx = static_cast<C *>(s.grad_x) + row * gates * n + i,
      *dg = static_cast<C *>(s.grad_g) + row * gates * n + i;
    C d[4] = {}, d_c; /* of gates: their values, then their gradients */
    if (s.cell == LT_CELL_GRU || s.cell == LT_CELL_LSTM)
        for (int j = 0; j < 4; j++) d[j] = k[j * n];
    switch (s.cell) {
    case LT_CELL_TANH: dx[0] = lt_cell_tanh_backward(grad, *h); break;
    case LT_CELL_RELU: dx[0] = lt_cell_relu_backward(grad, *h); break;
    case LT_CELL_GRU:
        static_cast<C *>(s.grad_h_prev)[at] += lt_cell_gru_backward(
            grad, static_cast<const C *>(s.h_prev)[at], &d[0], &d[1], &d[2], &d[3]);
        dx[0] = dg[0] = d[0];
        dx[n] = dg[n] = d[1];
        dx[2 * n] = d[2];
        dg[2 * n] = d[3];
        break;
    default:
        d_c = lt_cell_lstm_output_backward(grad, static_cast<const C *>(s.grad_c)[at],
                                           static_cast<const C *>(s.c)[at], &d[3]);
        static_cast<C *>(s.grad_c_prev)[at] +=
            lt_cell_lstm_backward(d_c, static_cast<const C *>(s.c_prev)[at], &d[0], &d[1], &d[2]);
        store_gates(dx, d, n);
        break;
    }
}

template <class C> static lt_status launch_cell(const lt_cell_step *step, bool back)
{
    cudaStream_t stream;
    LT_TRY(lt_cuda_enter(step->device.index, &stream));
    const int64_t units = step->rows * step->hidden;
    const unsigned blocks = lt_blocks(units, BLOCK);
    const lt_quotients by_hidden(step->hidden, units);
    if (back)
        LT_LAUNCH((backward<C>), blocks, BLOCK, stream, *step, lt_cell_gates(step->cell),
                  by_hidden);
    else
        LT_LAUNCH((forward<C>), blocks, BLOCK, stream, *step, lt_cell_gates(step->cell), by_hidden);
    return lt_cuda_launched(step->device.index, stream, "cell");
}

lt_status lt_cuda_cell(const lt_cell_step *step)
{
    return step->dtype == LT_FLOAT64 ? launch_cell<double>(step, false)
                                     : launch_cell<float>(step, false);
}

lt_status lt_cuda_cell_backward(const lt_cell_step *step)
{
    return step->dtype == LT_FLOAT64 ? launch_cell<double>(step, true)
                                     : launch_cell<float>(step, true);
}
