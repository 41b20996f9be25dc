/* recurrent.cu - one step of a recurrent layer: one thread per unit of a row computes all its gates
 * (cell.h). The caller does the matrix products before and after. */
#include "cuda.h"
#include "formulas/cell.h"
#include "kernels/launch.cuh"
#include "kernels/quotients.cuh"

enum { BLOCK = 256 };

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
    C *h = static_cast<C *>(s.h) + at, *k = static_cast<C *>(s.kept) + row * 4 * n + i;
    switch (s.cell) {
    case LT_CELL_TANH: *h = lt_cell_tanh(x[0], g[0] + b[0]); break;
    case LT_CELL_RELU: *h = lt_cell_relu(x[0], g[0] + b[0]); break;
    case LT_CELL_GRU:
        *h = lt_cell_gru(x[0], x[n], x[2 * n], g[0] + b[0], g[n] + b[n], g[2 * n] + b[2 * n],
                         static_cast<const C *>(s.h_prev)[at], k, k + n, k + 2 * n, k + 3 * n);
        break;
    default:
        *h = lt_cell_lstm(x[0], x[n], x[2 * n], x[3 * n], g[0] + b[0], g[n] + b[n],
                          g[2 * n] + b[2 * n], g[3 * n] + b[3 * n],
                          static_cast<const C *>(s.c_prev)[at], k, k + n, k + 2 * n, k + 3 * n,
                          static_cast<C *>(s.c) + at);
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
    switch (s.cell) {
    case LT_CELL_TANH: dx[0] = lt_cell_tanh_backward(grad, *h); break;
    case LT_CELL_RELU: dx[0] = lt_cell_relu_backward(grad, *h); break;
    case LT_CELL_GRU:
        static_cast<C *>(s.grad_h_prev)[at] +=
            lt_cell_gru_backward(grad, static_cast<const C *>(s.h_prev)[at], k[0], k[n], k[2 * n],
                                 k[3 * n], dx, dx + n, dx + 2 * n, dg + 2 * n);
        dg[0] = dx[0];
        dg[n] = dx[n];
        break;
    default:
        static_cast<C *>(s.grad_c_prev)[at] += lt_cell_lstm_backward(
            grad, static_cast<const C *>(s.grad_c)[at], static_cast<const C *>(s.c_prev)[at],
            static_cast<const C *>(s.c)[at], k[0], k[n], k[2 * n], k[3 * n], dx, dx + n, dx + 2 * n,
            dx + 3 * n);
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
