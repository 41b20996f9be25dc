/* rnn_network.h - recurrent networks of cuDNN's stand-in: layout of the weights, and forward and
 * backward in float or double, with matrix products of OpenBLAS.
 *
 * - The weight buffer has gaps, so that callers must query the offsets of the weights.
 * - The reserve space starts with a mark. forward sets it; backward_data requires it, replaces it
 *   by another mark and overwrites the kept gates with NaN; backward_weights requires the second
 *   mark. */
#ifndef LT_SIM_CUDNN_RNN_NETWORK_H
#define LT_SIM_CUDNN_RNN_NETWORK_H

#include "libraries/cudnn_rnn_api.h"
#include "cudnn.h"

#include <cmath>

struct cudnnRNNStruct {
    cudnnRNNMode_t cell;
    bool bias, two_ways, padded, set = false;
    cudnnDataType_t type;
    cudnnMathType_t math;
    int input, hidden, layers;
};
struct cudnnRNNDataStruct {
    cudnnDataType_t type;
    int steps = 0, batch, size;
    bool equal; /* all sequences have all steps */
};

namespace lt_sim {

constexpr size_t gap = 48; /* elements between the weights of two directions */
constexpr double forward_mark = 1234, data_mark = 4321;

/* Sizes and offsets that follow from the descriptors. A row is one step of one sequence, in
 * step-major order. */
struct Layout {
    cudnnRNNMode_t cell;
    cudnnDataType_t type;
    bool bias, rounded; /* products round floats to TF32 */
    int64_t gates, ways, layers, input, hidden, steps, batch;

    explicit Layout(const cudnnRNNStruct *n, const cudnnRNNDataStruct *x = nullptr)
        : cell(n->cell), type(n->type), bias(n->bias),
          rounded(n->type == CUDNN_DATA_FLOAT && n->math == CUDNN_DEFAULT_MATH),
          gates(cell == CUDNN_LSTM  ? 4
                : cell == CUDNN_GRU ? 3
                                    : 1),
          ways(n->two_ways ? 2 : 1), layers(n->layers), input(n->input), hidden(n->hidden),
          steps(x != nullptr ? x->steps : 0), batch(x != nullptr ? x->batch : 0)
    {}
    int64_t rows() const { return steps * batch; }
    int64_t wide() const { return gates * hidden; }
    int64_t inputs(int64_t layer) const { return layer == 0 ? input : ways * hidden; }
    int64_t state() const { return layers * ways * batch * hidden; }
    int64_t outputs() const { return rows() * ways * hidden; }
    /* Weights of a direction of a layer, in elements: matrices, then biases, then the gap. */
    int64_t own(int64_t layer) const
    {
        return wide() * (inputs(layer) + hidden) + (bias ? 2 * wide() : 0) + (int64_t)gap;
    }
    int64_t first(int64_t at) const
    {
        int64_t sum = 0;
        for (int64_t i = 0; i < at; i++) sum += own(i / ways);
        return sum;
    }
    int64_t weights() const { return first(layers * ways); }
    int64_t matrix(int64_t at, int64_t product) const
    {
        const int64_t in = inputs(at / ways);
        return product < gates ? first(at) + product * hidden * in
                               : first(at) + wide() * in + (product - gates) * hidden * hidden;
    }
    int64_t of_bias(int64_t at, int64_t product) const
    {
        return first(at) + wide() * (inputs(at / ways) + hidden) + product * hidden;
    }
    /* Layout of the reserve space, in elements of the compute type: the mark; per layer its output;
     * per direction 4 numbers per unit, the states c, and the gradients of the gates with respect
     * to input and state. */
    int64_t kept_of_way() const { return rows() * (5 * hidden + 2 * wide()); }
    int64_t kept() const { return 1 + layers * (outputs() + ways * kept_of_way()); }
    size_t kept_bytes() const { return (size_t)kept() * (type == CUDNN_DATA_DOUBLE ? 8 : 4); }
    size_t weight_bytes() const { return (size_t)bytes_of(weights(), type); }
};

template <class T> T sigmoid(T x) { return 1 / (1 + std::exp(-x)); }

template <class T> class Network {
  public:
    /* weights: the buffer of weights or of their gradients. */
    Network(const Layout &l, const void *weights) : l(l), w(read<T>(weights, l.weights(), l.type))
    {}

    void forward(const void *x, void *y, const void *h0, void *h, const void *c0, void *c, T *kept)
    {
        std::vector<T> in = read<T>(x, l.rows() * l.input, l.type), h_in = state(h0),
                       c_in = state(c0), h_out((size_t)l.state()), c_out((size_t)l.state());
        std::vector<T> memory; /* used if there is no reserve space */
        if (kept == nullptr) memory.resize((size_t)l.kept()), kept = memory.data();
        kept[0] = (T)forward_mark;
        for (int64_t layer = 0; layer < l.layers; layer++) {
            for (int64_t way = 0; way < l.ways; way++) {
                const size_t at = (size_t)((layer * l.ways + way) * l.batch * l.hidden);
                run(layer, way, in, &h_in[at], &c_in[at], kept, &h_out[at], &c_out[at]);
            }
            in.assign(output(kept, layer), output(kept, layer) + l.outputs());
        }
        write(y, in, l.type, 1, 0);
        if (h != nullptr) write(h, h_out, l.type, 1, 0);
        if (l.cell == CUDNN_LSTM && c != nullptr) write(c, c_out, l.type, 1, 0);
    }

    void backward_data(const void *dy, void *dx, const void *h0, const void *dh, void *dh0,
                       const void *c0, const void *dc, void *dc0, T *kept)
    {
        std::vector<T> grad = read<T>(dy, l.outputs(), l.type), h_in = state(h0), c_in = state(c0),
                       dh_all = state(dh), dc_all = state(dc), below;
        for (int64_t layer = l.layers; layer-- > 0;) {
            below.assign((size_t)(l.rows() * l.inputs(layer)), 0);
            for (int64_t way = 0; way < l.ways; way++) {
                const size_t at = (size_t)((layer * l.ways + way) * l.batch * l.hidden);
                run_back(layer, way, grad, &h_in[at], &c_in[at], kept, &dh_all[at], &dc_all[at]);
                times(CblasNoTrans, l.rows(), l.inputs(layer), l.wide(), grad_x(kept, layer, way),
                      &w[(size_t)l.matrix(layer * l.ways + way, 0)], 1, below.data());
            }
            grad = below;
        }
        kept[0] = (T)data_mark;
        write(dx, grad, l.type, 1, 0);
        if (dh0 != nullptr) write(dh0, dh_all, l.type, 1, 0);
        if (l.cell == CUDNN_LSTM && dc0 != nullptr) write(dc0, dc_all, l.type, 1, 0);
    }

    /* Adds the gradients to the buffer. */
    void backward_weights(const void *x, const void *h0, void *gradients, T *kept)
    {
        std::vector<T> in = read<T>(x, l.rows() * l.input, l.type), h_in = state(h0);
        for (int64_t layer = 0; layer < l.layers; layer++) {
            for (int64_t way = 0; way < l.ways; way++) {
                const int64_t at = layer * l.ways + way;
                const T *dx = grad_x(kept, layer, way), *dg = grad_g(kept, layer, way);
                const std::vector<T> before =
                    states_before(layer, way, kept, &h_in[(size_t)(at * l.batch * l.hidden)]);
                outer(l.inputs(layer), dx, in, &w[(size_t)l.matrix(at, 0)]);
                outer(l.hidden, dg, before, &w[(size_t)l.matrix(at, l.gates)]);
                for (int64_t i = 0; l.bias && i < l.rows() * l.wide(); i++) {
                    w[(size_t)(l.of_bias(at, 0) + i % l.wide())] += dx[i];
                    w[(size_t)(l.of_bias(at, l.gates) + i % l.wide())] += dg[i];
                }
            }
            in.assign(output(kept, layer), output(kept, layer) + l.outputs());
        }
        write(gradients, w, l.type, 1, 0);
    }

  private:
    const Layout l;
    std::vector<T> w;

    void round(std::vector<T> &v) const
    {
        if (l.rounded)
            for (T &x : v) x = (T)tf32((float)x);
    }
    std::vector<T> state(const void *p) const
    {
        return p != nullptr ? read<T>(p, l.state(), l.type) : std::vector<T>((size_t)l.state());
    }

    T *output(T *kept, int64_t layer) const
    {
        return kept + 1 + layer * (l.outputs() + l.ways * l.kept_of_way());
    }
    T *gates_of(T *kept, int64_t layer, int64_t way) const
    {
        return output(kept, layer) + l.outputs() + way * l.kept_of_way();
    }
    T *cells(T *kept, int64_t layer, int64_t way) const
    {
        return gates_of(kept, layer, way) + l.rows() * 4 * l.hidden;
    }
    T *grad_x(T *kept, int64_t layer, int64_t way) const
    {
        return cells(kept, layer, way) + l.rows() * l.hidden;
    }
    T *grad_g(T *kept, int64_t layer, int64_t way) const
    {
        return grad_x(kept, layer, way) + l.rows() * l.wide();
    }

    /* c [m, n] = beta c + a [m, k] b; b is [k, n], or [n, k] if transposed. */
    void times(CBLAS_TRANSPOSE tb, int64_t m, int64_t n, int64_t k, const T *a, const T *b, T beta,
               T *c) const
    {
        std::vector<T> left(a, a + m * k), right(b, b + k * n);
        round(left), round(right);
        product(CblasNoTrans, tb, m, n, k, left.data(), k, right.data(), tb == CblasNoTrans ? n : k,
                beta, c);
    }
    /* sum += grad^T in */
    void outer(int64_t columns, const T *grad, const std::vector<T> &in, T *sum) const
    {
        std::vector<T> left(grad, grad + l.rows() * l.wide()), right(in);
        round(left), round(right);
        product(CblasTrans, CblasNoTrans, l.wide(), columns, l.rows(), left.data(), l.wide(),
                right.data(), columns, 1, sum);
    }

    /* The state before step k (0-based, in the direction's order) of a sequence. */
    const T *before(int64_t layer, int64_t way, int64_t k, int64_t sequence, T *kept,
                    const T *h0) const
    {
        if (k == 0) return h0 + sequence * l.hidden;
        return output(kept, layer) + (row(way, k - 1, sequence) * l.ways + way) * l.hidden;
    }
    int64_t row(int64_t way, int64_t k, int64_t sequence) const
    {
        return (way == 0 ? k : l.steps - 1 - k) * l.batch + sequence;
    }
    /* The states before all steps, in row order. */
    std::vector<T> states_before(int64_t layer, int64_t way, T *kept, const T *h0) const
    {
        std::vector<T> all((size_t)(l.rows() * l.hidden));
        for (int64_t k = 0; k < l.steps; k++)
            for (int64_t b = 0; b < l.batch; b++)
                std::copy_n(before(layer, way, k, b, kept, h0), l.hidden,
                            &all[(size_t)(row(way, k, b) * l.hidden)]);
        return all;
    }

    void run(int64_t layer, int64_t way, const std::vector<T> &in, const T *h0, const T *c0,
             T *kept, T *h_last, T *c_last) const
    {
        const int64_t at = layer * l.ways + way, n = l.hidden;
        std::vector<T> x((size_t)(l.rows() * l.wide())), g((size_t)(l.batch * l.wide())),
            h((size_t)(l.batch * n));
        times(CblasTrans, l.rows(), l.wide(), l.inputs(layer), in.data(),
              &w[(size_t)l.matrix(at, 0)], 0, x.data());
        for (int64_t k = 0; k < l.steps; k++) {
            for (int64_t b = 0; b < l.batch; b++)
                std::copy_n(before(layer, way, k, b, kept, h0), n, &h[(size_t)(b * n)]);
            times(CblasTrans, l.batch, l.wide(), n, h.data(), &w[(size_t)l.matrix(at, l.gates)], 0,
                  g.data());
            for (int64_t i = 0; i < l.batch * n; i++) {
                const int64_t b = i / n, unit = i % n, r = row(way, k, b);
                T sx[4], sg[4];
                for (int64_t j = 0; j < l.gates; j++) {
                    const int64_t to = j * n + unit;
                    sx[j] = x[(size_t)(r * l.wide() + to)];
                    sg[j] = g[(size_t)(b * l.wide() + to)];
                    if (!l.bias) continue;
                    sx[j] += w[(size_t)(l.of_bias(at, 0) + to)];
                    sg[j] += w[(size_t)(l.of_bias(at, l.gates) + to)];
                }
                T *c = cells(kept, layer, way) + r * n + unit;
                const T c_before =
                    k == 0 ? c0[i] : cells(kept, layer, way)[row(way, k - 1, b) * n + unit];
                const T value = cell(sx, sg, h[(size_t)i], c_before,
                                     gates_of(kept, layer, way) + (r * n + unit) * 4, c);
                output(kept, layer)[(r * l.ways + way) * n + unit] = value;
                if (k == l.steps - 1) h_last[i] = value, c_last[i] = *c;
            }
        }
    }

    /* Returns a unit's new state; s receives its gates, c its cell state. */
    T cell(const T *x, const T *g, T h, T c_before, T *s, T *c) const
    {
        switch (l.cell) {
        case CUDNN_RNN_TANH: return std::tanh(x[0] + g[0]);
        case CUDNN_RNN_RELU: return std::max(x[0] + g[0], T(0));
        case CUDNN_GRU:
            s[0] = sigmoid(x[0] + g[0]);
            s[1] = sigmoid(x[1] + g[1]);
            s[2] = std::tanh(x[2] + s[0] * g[2]);
            s[3] = g[2];
            return (1 - s[1]) * s[2] + s[1] * h;
        default:
            s[0] = sigmoid(x[0] + g[0]);
            s[1] = sigmoid(x[1] + g[1]);
            s[2] = std::tanh(x[2] + g[2]);
            s[3] = sigmoid(x[3] + g[3]);
            *c = s[1] * c_before + s[0] * s[2];
            return s[3] * std::tanh(*c);
        }
    }

    /* dh, dc: on entry the gradients of the last state, on return of the first. */
    void run_back(int64_t layer, int64_t way, const std::vector<T> &grad, const T *h0, const T *c0,
                  T *kept, T *dh, T *dc) const
    {
        const int64_t at = layer * l.ways + way, n = l.hidden;
        T *dx = grad_x(kept, layer, way), *dg = grad_g(kept, layer, way);
        std::vector<T> step((size_t)(l.batch * l.wide()));
        for (int64_t k = l.steps; k-- > 0;) {
            for (int64_t i = 0; i < l.batch * n; i++) {
                const int64_t b = i / n, unit = i % n, r = row(way, k, b);
                T *s = gates_of(kept, layer, way) + (r * n + unit) * 4;
                const T *c = cells(kept, layer, way);
                const T h = output(kept, layer)[(r * l.ways + way) * n + unit];
                const T c_before = k == 0 ? c0[i] : c[row(way, k - 1, b) * n + unit];
                T of_x[4], of_g[4];
                dh[i] = cell_back(dh[i] + grad[(size_t)((r * l.ways + way) * n + unit)], h,
                                  before(layer, way, k, b, kept, h0)[unit], c[r * n + unit],
                                  c_before, s, of_x, of_g, &dc[i]);
                for (int64_t j = 0; j < l.gates; j++) {
                    dx[r * l.wide() + j * n + unit] = of_x[j];
                    dg[r * l.wide() + j * n + unit] = step[(size_t)(b * l.wide() + j * n + unit)] =
                        of_g[j];
                    s[j] = NAN;
                }
            }
            times(CblasNoTrans, l.batch, n, l.wide(), step.data(),
                  &w[(size_t)l.matrix(at, l.gates)], 1, dh);
        }
    }

    /* Computes the gradients of a unit's gates with respect to input (of_x) and previous state
     * (of_g). Returns the direct part of the previous state's gradient. */
    T cell_back(T grad, T h, T h_before, T c, T c_before, const T *s, T *of_x, T *of_g, T *dc) const
    {
        switch (l.cell) {
        case CUDNN_RNN_TANH: of_x[0] = of_g[0] = grad * (1 - h * h); return 0;
        case CUDNN_RNN_RELU: of_x[0] = of_g[0] = h > 0 ? grad : 0; return 0;
        case CUDNN_GRU:
            of_x[2] = grad * (1 - s[1]) * (1 - s[2] * s[2]);
            of_x[0] = of_g[0] = of_x[2] * s[3] * s[0] * (1 - s[0]);
            of_x[1] = of_g[1] = grad * (h_before - s[2]) * s[1] * (1 - s[1]);
            of_g[2] = of_x[2] * s[0];
            return grad * s[1];
        default: {
            const T t = std::tanh(c), all = *dc + grad * s[3] * (1 - t * t);
            of_x[0] = all * s[2] * s[0] * (1 - s[0]);
            of_x[1] = all * c_before * s[1] * (1 - s[1]);
            of_x[2] = all * s[0] * (1 - s[2] * s[2]);
            of_x[3] = grad * t * s[3] * (1 - s[3]);
            std::copy_n(of_x, 4, of_g);
            *dc = all * s[1];
            return 0;
        }
        }
    }
};

} // namespace lt_sim

#endif
